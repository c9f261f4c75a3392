"""The measurements of `make bench ARGS=http` from end to end; how fast anything was is not looked at."""

import os
import socket
import struct
import threading
from pathlib import Path

import pytest

from tests.bench.http import goals, report, stage, statements, usage
from tests.bench.http.crowd import BARE, Done
from tests.bench.http.proxy import Asked, Frontend, target
from tests.bench.http.report import Measured, Plan, Run
from tests.bench.http.servers import running
from tests.bench.http.wire import Wire, parsed, prepared
from tests.percentiles import percentile

PLAN = Plan(clients=(2,), rounds=1, seconds=1.5)


@pytest.mark.long
@pytest.mark.usefixtures("bench_db")
def test_everything_is_measured_and_leaves_right_books() -> None:
    from casino.hands.models import Hand, HandState
    from ledger import checks

    house = stage.set_up(2)
    with running() as servers:
        for clients in PLAN.clients:
            measured = report.measure(house, servers, clients, PLAN)
            assert set(measured.runs) == {"physical", "electronic", BARE}
            for what, [one] in measured.runs.items():
                assert len(one.done) == clients
                assert all(done.latencies and done.made >= len(done.latencies) for done in one.done), what
                assert all(done.hands for done in one.done) == (what != BARE)
            if usage.measurable():
                assert measured.runs["physical"][0].cpu["web"] > 0
                assert measured.runs["physical"][0].cpu["PostgreSQL"] > 0
            # A deal, the actions, a look at the table; another look where the last hand was not settled yet.
            assert measured.requests_a_hand("electronic") >= 2 + len(house.scripts["electronic"].actions)
            assert len(list(report.lines(measured))) == 7
            assert len(report.goals_of(measured)) == (6 if usage.measurable() else 2)
        counted = {one.name: one for one in statements.count(house)}
        report.settle(house)
    [bare, *actions] = counted.values()
    # The last of them; before the token's look-up the framework may have asked whether the connection still works.
    for one in bare.asked:
        assert one.round_trips == len(one.statements)
        assert [text.split()[0] for text in one.statements[-4:]] == ["SELECT", "BEGIN", "INSERT", "COMMIT"]
    for one in actions:
        assert all(_ends_a_write(asked.statements[-1]) for asked in one.asked)
    assert stage.bare_rows() > 0
    assert set(Hand.objects.filter(house=house.kit.house).values_list("state", flat=True)) == {HandState.SETTLED}
    assert checks.verify(house.kit.house.id) == []


def _ends_a_write(statement: str) -> bool:
    """COMMIT, or the one statement that is a whole write."""
    return statement == "COMMIT" or "core_record" in statement


# --- The client -----------------------------------------------------------------------------------------------------


def answering(*answers: bytes) -> int:
    """The port of a server that answers requests in turn, each with one of these; an answer that says so closes."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        waiting = list(answers)
        with listener:
            while waiting:
                connection, _ = listener.accept()
                with connection:
                    answer_until_closed(connection, waiting)

    threading.Thread(target=serve, daemon=True).start()
    return int(listener.getsockname()[1])


def answer_until_closed(connection: socket.socket, waiting: list[bytes]) -> None:
    """Answer the requests of one connection, every answer in two pieces."""
    while waiting:
        received = b""
        while b"\r\n\r\n" not in received:
            part = connection.recv(4096)
            if not part:
                return
            received += part
        answer = waiting.pop(0)
        connection.sendall(answer[: len(answer) // 2])
        connection.sendall(answer[len(answer) // 2 :])
        if b"Connection: close" in answer:
            return


def test_a_wire_is_kept_where_the_server_keeps_it_and_opened_again_where_not() -> None:
    kept = b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nETag: "7"\r\n\r\nab'
    closed = b"HTTP/1.1 409 Conflict\r\nConnection: close\r\ncontent-length: 0\r\n\r\n"
    wire = Wire("127.0.0.1", answering(kept, closed, kept))
    request, _ = prepared("GET", "/x", "t")
    assert wire.send(request) == (200, {b"content-length": b"2", b"etag": b'"7"'}, b"ab")
    assert wire.send(request)[0] == 409
    assert wire.send(request)[0] == 200
    wire.close()


def test_a_server_that_goes_away_within_an_answer_is_an_error() -> None:
    wire = Wire("127.0.0.1", answering(b"HTTP/1.1 200 OK\r\nX: Connection: close\r\nContent-Length: 9\r\n\r\nab"))
    with pytest.raises(ConnectionError, match="within an answer"):
        wire.send(prepared("GET", "/x", "t")[0])


def test_a_prepared_write_is_whole_once_version_and_key_stand_in_it() -> None:
    before, after = prepared("POST", "/p", "secret", '{"a":1}')
    head, _, body = (before + b'3"\r\nIdempotency-Key: k' + after).partition(b"\r\n\r\n")
    assert body == b'{"a":1}'
    first, _, rest = head.partition(b"\r\n")
    assert first == b"POST /p HTTP/1.1"
    assert parsed(b"HTTP/1.1 200 OK\r\n" + rest)[1] == {
        b"host": b"127.0.0.1", b"authorization": b"Bearer secret", b"content-type": b"application/json",
        b"content-length": b"7", b"if-match": b'"3"', b"idempotency-key": b"k",
    }  # fmt: skip


# --- Counting -------------------------------------------------------------------------------------------------------


def message(kind: bytes, *parts: bytes) -> bytes:
    """A message of PostgreSQL's protocol."""
    body = b"".join(parts)
    return kind + struct.pack("!I", len(body) + 4) + body


CONVERSATION = b"".join(
    [
        message(b"", struct.pack("!I", 196608), b"user\0x\0\0"),
        message(b"Q", b"BEGIN\0"),
        # A pipeline: one prepared statement twice, another one, one Sync.
        message(b"P", b"s1\0", b"SELECT\n  $1\0", b"\0\0"),
        message(b"B", b"\0", b"s1\0", b"\0\0"),
        message(b"E", b"\0", b"\0\0\0\0"),
        message(b"B", b"\0", b"s1\0", b"\0\0"),
        message(b"E", b"\0", b"\0\0\0\0"),
        message(b"P", b"\0", b"INSERT\0", b"\0\0"),
        message(b"B", b"\0", b"\0", b"\0\0"),
        message(b"E", b"\0", b"\0\0\0\0"),
        message(b"S"),
        message(b"Q", b"COMMIT\0"),
        message(b"X"),
    ]
)


@pytest.mark.parametrize("length", [1, 7, len(CONVERSATION)])
def test_statements_and_round_trips_are_counted_whatever_pieces_they_come_in(length: int) -> None:
    frontend, asked = Frontend(), Asked()
    for at in range(0, len(CONVERSATION), length):
        frontend.feed(CONVERSATION[at : at + length], asked)
    assert asked.statements == ["BEGIN", "SELECT $1", "SELECT $1", "INSERT", "COMMIT"]
    assert asked.round_trips == 3


@pytest.mark.parametrize(
    ("url", "where"),
    [
        ("postgresql://u@%2Frun%2Fpg/db", (socket.AF_UNIX, "/run/pg/.s.PGSQL.5432")),
        ("postgresql://u:p@10.0.0.1:6000/db", (socket.AF_INET, ("10.0.0.1", 6000))),
        ("postgresql:///db?host=/run/pg", (socket.AF_UNIX, "/run/pg/.s.PGSQL.5432")),
    ],
)
def test_the_proxy_finds_the_server_that_a_url_names(url: str, where: object) -> None:
    assert target(url) == where


def test_cpu_of_a_tree_is_that_of_all_its_processes_and_of_those_that_ended() -> None:
    found = {
        1: usage.Process(0, 100.0, 50.0),
        10: usage.Process(1, 1.0, 0.5),
        11: usage.Process(10, 2.0, 0.0),
        12: usage.Process(11, 4.0, 0.25),
        20: usage.Process(1, 8.0, 0.0),
    }
    assert usage.of_trees({"web": 10, "worker": 20}, found) == {"web": 7.75, "worker": 8.0}


def test_a_programs_name_may_hold_parentheses_and_spaces() -> None:
    fields = ["S", "42", *["0"] * 9, *(str(usage.TICK * number) for number in (1, 2, 3, 4)), "20"]
    assert usage.parsed(f"7 (a) (b c) {' '.join(fields)}") == usage.Process(42, 3.0, 7.0)


@pytest.mark.skipif(not usage.measurable(), reason="no /proc")
def test_this_process_has_used_cpu() -> None:
    assert usage.of_trees({"us": os.getpid()}, usage.processes())["us"] > 0
    assert usage.parent_of(os.getpid()) == os.getppid()


# --- Figures --------------------------------------------------------------------------------------------------------


def done(*latencies: float, hands: int = 0, others: int = 0) -> Done:
    """What a client did."""
    return Done(list(latencies), len(latencies), hands, others, 0.1)


def test_rates_are_compared_run_by_run_and_cpu_is_reported_by_hand() -> None:
    measured = Measured(2)
    measured.runs["physical"] = [
        Run([done(0.1, 0.1, hands=1, others=2), done(0.2, hands=1, others=2)], 1.0, {"web": 0.19, "PostgreSQL": 0.06}),
        Run([done(0.1, 0.1, hands=1, others=2), done(0.1, hands=1, others=2)], 1.0, {"web": 0.1, "PostgreSQL": 0.06}),
    ]
    measured.runs[BARE] = [Run([done(0.05), done(0.1)], 1.0, {"web": 0.1}), Run([done(0.02), done(0.02)], 1.0, {})]
    comparison = measured.comparison("physical")
    assert (comparison.low, comparison.high) == (pytest.approx(0.2), pytest.approx(0.5))
    assert measured.milliseconds("physical", "hands") == pytest.approx({"web": 72.5, "PostgreSQL": 30.0})
    assert measured.requests_a_hand("physical") == (6 + 8) / 4
    reached = {goal.name: goal.reached for goal in report.goals_of(measured)}
    assert reached == {
        "2 clients, physical: of the bare view": False,
        "2 clients, physical: CPU a hand, web": True,
        "2 clients, physical: CPU a hand, PostgreSQL": True,
    }
    assert goals.of_ratio("x", 0.5).reached


def test_percentiles_are_values_that_were_measured() -> None:
    assert percentile([1.0, 2.0, 3.0, 4.0], 0.5) == 2.0
    assert percentile([1.0, 2.0, 3.0, 4.0], 0.99) == 4.0
    assert percentile([5.0], 0.01) == 5.0


def test_the_bare_view_is_no_address_of_the_product() -> None:
    urls = Path(__file__).resolve().parents[2] / "casino"
    assert not [path for path in urls.rglob("*.py") if "bench" in path.read_text(encoding="utf-8")]
