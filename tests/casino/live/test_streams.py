"""Streams of hints over real HTTP: what is sent, to whom, when they end, and that nothing is lost or sent twice."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.utils import timezone

from casino.audit.models import ChainHead, Event
from casino.houses.control_points import default_of
from casino.live.handover import MOST_OF_A_TOKEN
from casino.staff.models import Role, Staff, Terminal, TerminalKind, TerminalToken
from deploy.embedded.process import wait_until
from tests import kept_connections
from tests.casino.kit import Desk, Kit
from tests.casino.live.readers import PATIENCE, Reader, bearer, happen, writers
from tests.deploy.web_and_hints import Running, running


def recorded(kit: Kit, chain: str) -> int:
    """The number of the last event of a chain."""
    return ChainHead.objects.get(house=kit.house, name=chain).seq


def test_a_stream_begins_with_the_last_event_and_goes_on_with_each(up: Running, kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    before = recorded(kit, "table/T1")
    token = kit.token(Role.DEALER, TerminalKind.TABLE, "T1")
    with Reader(up.url("tables/T1/stream"), token) as reader:
        reader.until(lambda: len(reader.hints) == 1)
        reader.until_held()
        dealer.ok("hands", {"mode": "physical", "button": 4})
        reader.until(lambda: len(reader.hints) == 2)
        dealer.act("p1 po 100")
        reader.until(lambda: len(reader.hints) == 3)
        assert reader.seqs("table/T1") == [before, before + 1, before + 2]
        assert [(hint["kind"], hint["version"]) for hint in reader.hints[1:]] == [
            ("hand.dealt", dealer.version - 1), ("hand.acted", dealer.version),
        ]  # fmt: skip
        assert reader.last == str(before + 2)
        assert (reader.held, reader.lost) == (True, 0), "it stays open"


def test_a_hint_says_nothing_but_that_something_happened(up: Running, kit: Kit) -> None:
    kit.table()
    with Reader(up.url("stream"), kit.token(Role.FLOOR, TerminalKind.OFFICE, "")) as floor:
        floor.until(lambda: "table/T1" in {hint["chain"] for hint in floor.hints})
        with Reader(up.url("stream"), kit.token(Role.AUDITOR, TerminalKind.OFFICE, "")) as auditor:
            seq = happen(kit.house, kit.house.chain)
            for reader in (floor, auditor):
                reader.until(lambda reader=reader: seq in reader.seqs(kit.house.chain))  # type: ignore[misc]
            assert all(set(hint) == {"chain", "seq", "version", "kind"} for hint in floor.hints)
            kinds = [hint["kind"] for reader in (floor, auditor) for hint in reader.hints if hint["seq"] == seq]
            assert set(kinds) == {None, "house.duty"}, "what changes no table is named to those who read the trail"


# --- Nothing is lost, nothing comes twice -----------------------------------------------------------------------------


@pytest.mark.slow
def test_nothing_is_lost_and_nothing_comes_twice_whatever_is_cut(up: Running, kit: Kit) -> None:
    """Five writers, three readers; connections, the sending process and the web processes are cut again and again."""
    for code in ("T1", "T2"):
        kit.table(code)
    house, floor = kit.house, kit.token(Role.FLOOR, TerminalKind.OFFICE, "")
    chains = ["table/T1", "table/T1", "table/T2", "drawer/C1", house.chain]
    begun = {chain: recorded(kit, chain) for chain in chains}
    chance = random.Random(41)
    with ExitStack() as stack:
        one = stack.enter_context(Reader(up.url("tables/T1/stream"), floor))
        drawer = stack.enter_context(Reader(up.url("drawers/C1/stream"), floor))
        whole = stack.enter_context(Reader(up.url("stream"), floor))
        readers = (one, drawer, whole)
        for reader in readers:
            reader.until(lambda reader=reader: bool(reader.hints))  # type: ignore[misc]
        with writers(*(lambda chain=chain: happen(house, chain) for chain in chains)):  # type: ignore[misc]
            for step in range(16):
                time.sleep(chance.uniform(0.05, 0.4))
                chance.choice(readers).cut()
                if step % 4 == 1:
                    up.processes.kill("hints", chance.choice([signal.SIGKILL, signal.SIGTERM]))
                if step == 10:
                    up.processes.kill("web")
            for reader in readers:
                reader.until(lambda: all(recorded(kit, chain) > first + 10 for chain, first in begun.items()), 60)
                while reader.opened <= 2:
                    opened = reader.opened
                    reader.cut()
                    reader.until(lambda reader=reader, opened=opened: reader.opened > opened)  # type: ignore[misc]
        for reader, mine in ((one, ["table/T1"]), (drawer, ["drawer/C1"]), (whole, sorted(set(chains)))):
            for chain in mine:
                last = recorded(kit, chain)
                reader.until(lambda reader=reader, chain=chain, last=last: last in reader.seqs(chain), 60)  # type: ignore[misc]
                seen = reader.seqs(chain)
                assert seen == list(range(begun[chain], last + 1)), (chain, reader.others)
        committed = Event.objects.filter(house=house, chain__name="table/T1", seq__gte=begun["table/T1"])
        assert one.seqs("table/T1") == list(committed.order_by("seq").values_list("seq", flat=True))


def test_what_was_missed_is_answered_from_the_database(up: Running, kit: Kit) -> None:
    kit.table()
    token = kit.token(Role.DEALER, TerminalKind.TABLE, "T1")
    before = recorded(kit, "table/T1")
    for _ in range(450):
        happen(kit.house, "table/T1")
    with Reader(up.url(f"tables/T1/stream?after={before}"), token) as reader:
        reader.until(lambda: len(reader.hints) == 450)
        reader.until_held()
        assert reader.seqs("table/T1") == list(range(before + 1, before + 451))
        assert reader.lost == 0


def test_a_reader_that_has_seen_more_than_there_is_reads_again(up: Running, kit: Kit) -> None:
    kit.table()
    token, last = kit.token(Role.DEALER, TerminalKind.TABLE, "T1"), recorded(kit, "table/T1")
    with Reader(up.url("tables/T1/stream"), token, last=str(last + 7)) as reader:
        reader.until(lambda: reader.seqs("table/T1") == [last])
        assert reader.others == ["reset"]
    answer = httpx.get(up.url(f"tables/T1/changes?after={last + 7}&wait=20"), headers=bearer(token))
    assert (answer.json()["reset"], answer.json()["position"]) == (True, str(last))


# --- Who may follow, and for how long ---------------------------------------------------------------------------------


def _sign_out(token: TerminalToken) -> None:
    token.delete()


def _expire(token: TerminalToken) -> None:
    TerminalToken.objects.filter(digest=token.digest).update(expiry=timezone.now())


def _deactivate(token: TerminalToken) -> None:
    Staff.objects.filter(id=token.user_id).update(is_active=False)


def _take_role(token: TerminalToken) -> None:
    Staff.objects.filter(id=token.user_id).update(roles=[Role.CASHIER])


def _revoke_terminal(token: TerminalToken) -> None:
    Terminal.objects.filter(id=token.terminal_id).update(revoked_at=timezone.now())


def _give_password(token: TerminalToken) -> None:
    Staff.objects.filter(id=token.user_id).update(must_change_password=True)


def _leave_alone(token: TerminalToken) -> None:
    long_ago = timezone.now() - timedelta(minutes=default_of("idle_minutes_at_tables"), seconds=1)
    TerminalToken.objects.filter(digest=token.digest).update(last_seen_at=long_ago)


ENDS = [_sign_out, _expire, _deactivate, _take_role, _revoke_terminal, _give_password, _leave_alone]


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
@pytest.mark.parametrize("busy", [False, True], ids=["idle", "busy"])
def test_a_stream_ends_with_the_right_to_it(
    up: Running, kit: Kit, end: Callable[[TerminalToken], None], busy: bool
) -> None:
    kit.table()
    context, token = kit.hire(Role.DEALER, TerminalKind.TABLE, "T1")
    with Reader(up.url("tables/T1/stream"), token) as reader:
        reader.until_held()
        reader.again = False
        happen(kit.house, "table/T1")
        reader.until(lambda: len(reader.hints) == 2)
        end(TerminalToken.objects.get(user=context.staff))
        if busy:
            happen(kit.house, "table/T1")
        reader.until(lambda: reader.lost == 1)
        assert len(reader.hints) == 2, "no hint comes after the right has gone"


def test_a_stream_ends_when_the_person_signs_out(up: Running, kit: Kit) -> None:
    kit.table()
    token = kit.token(Role.DEALER, TerminalKind.TABLE, "T1")
    with Reader(up.url("tables/T1/stream"), token) as reader:
        reader.until_held()
        reader.again = False
        key = {"Idempotency-Key": "leaving", "Content-Type": "application/json"}
        answer = httpx.post(up.url("sign-out"), headers=bearer(token) | key, content=b"{}")
        assert answer.is_success, answer.text
        reader.until(lambda: reader.lost == 1)


def test_dealers_and_cashiers_follow_their_own_place(kit: Kit) -> None:
    for code in ("T1", "T2"):
        kit.table(code)
    dealer, cashier = kit.dealer(), kit.cashier()
    floor, auditor = kit.office(Role.FLOOR), kit.office(Role.AUDITOR)
    refused = [
        (dealer, "tables/T2", "wrong_terminal"), (dealer, "tables/T9", "wrong_terminal"),
        (dealer, "drawers/C1", "forbidden"), (dealer, "", "forbidden"),
        (cashier, "drawers/C9", "wrong_terminal"), (cashier, "tables/T1", "forbidden"), (cashier, "", "forbidden"),
        (floor, "tables/T9", "not_found"), (floor, "drawers/C9", "not_found"),
    ]  # fmt: skip
    for kind in ("stream", "changes"):
        for desk, path, code in refused:
            answer = desk.get(f"/api/v1/{path}/{kind}".replace("//", "/"))
            assert answer.json()["code"] == code, (path, kind, answer.text)
        for desk, path in ((dealer, "tables/T1/"), (cashier, "drawers/C1/"), (floor, "tables/T2/"), (floor, ""),
                           (auditor, "drawers/C1/"), (auditor, "")):  # fmt: skip
            assert desk.get(f"/api/v1/{path}{kind}").status_code == 200, (path, kind)


def test_a_dealer_at_an_office_terminal_follows_no_table(kit: Kit) -> None:
    kit.table()
    office = Desk(kit.http(kit.token(Role.DEALER, TerminalKind.OFFICE, "")), "/api/v1")
    assert office.get("tables/T1/stream").json()["code"] == "wrong_terminal"


def test_houses_hear_nothing_of_each_other(up: Running, kit: Kit) -> None:
    other = Kit.found()
    for one in (kit, other):
        one.table()
    tokens = {one.house.code: one.token(Role.FLOOR, TerminalKind.OFFICE, "") for one in (kit, other)}
    with (
        Reader(up.url("stream"), tokens[kit.house.code]) as mine,
        Reader(up.url("stream"), tokens[other.house.code]) as theirs,
        Reader(up.url("tables/T1/stream"), tokens[kit.house.code]) as table,
    ):
        for reader, one, chains in (
            (mine, kit, ("table/T1", kit.house.chain)), (theirs, other, ("table/T1", other.house.chain)),
            (table, kit, ("table/T1",)),
        ):  # fmt: skip
            last = {chain: [recorded(one, chain)] for chain in chains}
            reader.until(lambda reader=reader, last=last: all(reader.seqs(of)[-1:] == last[of] for of in last))  # type: ignore[misc]
            reader.until_held()
        before = len(mine.hints), len(table.hints)
        for _ in range(3):
            happen(other.house, "table/T1")
            seq = happen(other.house, other.house.chain)
        theirs.until(lambda: seq in theirs.seqs(other.house.chain))
        assert (len(mine.hints), len(table.hints)) == before
        assert other.house.chain not in {hint["chain"] for hint in mine.hints}
        # Nor does a position of theirs open anything.
        answer = httpx.get(up.url(f"stream?after={theirs.last}"), headers=bearer(tokens[kit.house.code]))
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid_parameter")
    other.close()


@pytest.mark.parametrize("after", ["x", "-1", "1.5", "", "9" * 19, "1,2", "٣"])
def test_what_is_no_position_is_refused(kit: Kit, after: str) -> None:
    kit.table()
    floor = kit.office(Role.FLOOR)
    for path in ("tables/T1/stream", "tables/T1/changes"):
        answer = floor.http.get(f"/api/v1/{path}", params={"after": after})
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid_parameter"), after
    if after.isascii() and after:
        assert floor.get("tables/T1/stream", **{"Last-Event-ID": after}).status_code == 400


# --- How many ---------------------------------------------------------------------------------------------------------


def test_a_token_has_so_many_streams_at_most(up: Running, kit: Kit) -> None:
    kit.table()
    token = kit.token(Role.DEALER, TerminalKind.TABLE, "T1")
    url = up.url("tables/T1/stream")
    with ExitStack() as stack:
        readers = [stack.enter_context(Reader(url, token)) for _ in range(MOST_OF_A_TOKEN)]
        for reader in readers:
            reader.until_held()
        refused = _refused(url, token)
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_streams"), refused.text
        assert int(refused.headers["Retry-After"]) > 0
        others = kit.token(Role.DEALER, TerminalKind.TABLE, "T1")
        with Reader(url, others) as other:
            other.until(lambda: bool(other.hints))
        readers[0].again = False
        readers[0].cut()
        with Reader(url, token) as again:
            again.until(lambda: bool(again.hints))


@pytest.mark.slow
def test_the_process_takes_so_many_streams_at_most(services: object, kit: Kit) -> None:
    kit.table()
    one, two = (kit.token(Role.DEALER, TerminalKind.TABLE, "T1") for _ in range(2))
    with running(CASINO_MOST_STREAMS="1") as up:
        url = up.url("tables/T1/stream")
        with Reader(url, one) as reader:
            reader.until_held()
            events = recorded(kit, "table/T1")
            refused = _refused(url, two)
            assert (refused.status_code, refused.json()["code"]) == (503, "streams_full")
            assert int(refused.headers["Retry-After"]) > 0
            assert recorded(kit, "table/T1") == events, "a refusal for want of room is no event, or it would be a hint"


def _refused(url: str, token: str) -> httpx.Response:
    """The refusal of one stream more. Where the process that sends hints has not answered in time, a request is
    answered with what is known instead."""
    end = time.monotonic() + PATIENCE
    while (answer := httpx.get(url, headers=bearer(token))).status_code == 200:
        assert time.monotonic() < end
    return answer


# --- When the process is away -----------------------------------------------------------------------------------------


def test_a_process_that_stands_still_delays_no_request(up: Running, kit: Kit) -> None:
    kit.table()
    token = kit.token(Role.DEALER, TerminalKind.TABLE, "T1")
    last = recorded(kit, "table/T1")
    up.processes.kill("hints", signal.SIGSTOP)
    try:
        for path in ("tables/T1/stream", f"tables/T1/changes?after={last}&wait=20"):
            # Sooner than the request would wait.
            answer = httpx.get(up.url(path), headers=bearer(token), timeout=10)
            assert answer.status_code == 200
        assert answer.json() == {"position": str(last), "reset": False, "hints": []}
        ready = httpx.get(f"{up.root}/readyz", timeout=10)
        assert ready.status_code in (200, 503)
        with Reader(up.url("tables/T1/stream"), token) as reader:
            reader.until(lambda: bool(reader.hints))
            for _ in range(5):
                happen(kit.house, "table/T1")
            reader.until(lambda: reader.seqs("table/T1")[-1:] == [last + 5])
            assert reader.seqs("table/T1") == list(range(last, last + 6)), "who asks again misses nothing"
    finally:
        up.processes.kill("hints", signal.SIGCONT)


@pytest.mark.slow
def test_a_process_that_died_is_back_and_streams_go_on(up: Running, kit: Kit) -> None:
    kit.table()
    token, last = kit.token(Role.DEALER, TerminalKind.TABLE, "T1"), recorded(kit, "table/T1")
    with Reader(up.url("tables/T1/stream"), token) as reader:
        reader.until(lambda: bool(reader.hints))
        up.processes.kill("hints")
        happen(kit.house, "table/T1")
        reader.until(lambda: len(reader.hints) == 2)
        up.processes.pid_of("hints")
        reader.until_held()
        happen(kit.house, "table/T1")
        reader.until(lambda: len(reader.hints) == 3)
        assert reader.seqs("table/T1") == [last, last + 1, last + 2]


# --- Requests that wait -----------------------------------------------------------------------------------------------


def test_a_request_waits_until_something_happens(up: Running, kit: Kit) -> None:
    kit.table()
    token, last = kit.token(Role.DEALER, TerminalKind.TABLE, "T1"), recorded(kit, "table/T1")

    def changes(after: int, wait: int) -> tuple[dict[str, Any], float]:
        began = time.monotonic()
        answer = httpx.get(up.url(f"tables/T1/changes?after={after}&wait={wait}"), headers=bearer(token), timeout=40)
        assert answer.status_code == 200, answer.text
        return answer.json(), time.monotonic() - began

    found, took = changes(last - 1, 20)
    assert (found["position"], took < 20) == (str(last), True), "what is known is answered at once"
    _until_waits(lambda: changes(last, 2)[1] > 1.5)
    found, took = changes(last, 2)
    assert found == {"position": str(last), "reset": False, "hints": []}
    assert took < PATIENCE, "an empty answer comes when the time is over"
    with writers(lambda: time.sleep(0.5) or happen(kit.house, "table/T1", version=77)):
        # It may be empty early.
        while not (found := changes(last, 20)[0])["hints"]:
            pass
    assert int(found["position"]) > last
    assert found["hints"][:1] == [{"chain": "table/T1", "seq": last + 1, "version": 77, "kind": "table.closed"}]


def _until_waits(waits: Callable[[], bool]) -> None:
    """Wait until a request waits: a web process that found nobody to give it to answers at once for two seconds."""
    end = time.monotonic() + PATIENCE
    while not waits():
        assert time.monotonic() < end


def test_requests_that_wait_one_after_the_other_miss_nothing(up: Running, kit: Kit) -> None:
    for code in ("T1", "T2"):
        kit.table(code)
    floor, house = kit.token(Role.FLOOR, TerminalKind.OFFICE, ""), kit.house
    seen: dict[str, list[int]] = {"table/T1": [], "table/T2": []}
    with httpx.Client(headers=bearer(floor), timeout=40) as client:
        position = client.get(up.url("changes")).json()["position"]
        begun = {chain: recorded(kit, chain) for chain in seen}

        def take(wait: int) -> str:
            found = client.get(up.url("changes"), params={"after": position, "wait": wait}).json()
            for hint in found["hints"]:
                seen.setdefault(hint["chain"], []).append(hint["seq"])
            assert not found["reset"]
            return str(found["position"])

        with writers(*(lambda chain=chain: happen(house, chain) for chain in begun)):  # type: ignore[misc]
            for _ in range(25):
                position = take(10)
        while any(seen[chain][-1:] != [recorded(kit, chain)] for chain in begun):
            position = take(0)
    for chain, first in begun.items():
        assert seen[chain] == list(range(first + 1, recorded(kit, chain) + 1))


# --- What it costs ----------------------------------------------------------------------------------------------------


def test_streams_hold_no_connection_to_the_database(up: Running, kit: Kit) -> None:
    kit.table()
    tokens = [kit.token(Role.DEALER, TerminalKind.TABLE, "T1") for _ in range(6)]
    earlier = sessions()
    with ExitStack() as stack:
        readers = [stack.enter_context(Reader(up.url("tables/T1/stream"), token)) for token in tokens for _ in range(6)]
        for reader in readers:
            reader.until_held()
        kept_connections.close()
        # Sixteen threads of web processes, the reader of hints and the sender of webhooks, wherever those were not
        # there before, for 36 streams. What was closed takes a moment to go.
        assert wait_until(lambda: len(sessions() - earlier) <= 16 + 2, seconds=5), sessions() - earlier


def sessions() -> set[int]:
    """Process ids of the sessions that the application, and tests, have in this database."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND usename = session_user")
        return {pid for (pid,) in cursor.fetchall()}


@pytest.mark.slow
def test_a_lost_session_is_opened_again_and_streams_stay(up: Running, kit: Kit) -> None:
    from django.db import connection, connections

    kit.table()
    token, last = kit.token(Role.DEALER, TerminalKind.TABLE, "T1"), recorded(kit, "table/T1")
    with Reader(up.url("tables/T1/stream"), token) as reader:
        reader.until_held()
        opened = reader.opened
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            mine = cursor.fetchone()[0]
        with connections["owner"].cursor() as cursor:
            others = [pid for pid in sessions() if pid != mine]
            cursor.execute("SELECT pg_terminate_backend(pid) FROM unnest(%s::int[]) AS pid", [others])
        happen(kit.house, "table/T1")
        reader.until(lambda: len(reader.hints) == 2)
        assert (reader.seqs("table/T1"), reader.opened) == ([last, last + 1], opened)
