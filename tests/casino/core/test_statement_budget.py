"""Round trips to PostgreSQL of the operations that consoles repeat all evening, counted on the wire.

libpq writes down every message; each `Query` or `Sync` that the client sends is one round trip. BEGIN and COMMIT count,
authentication and idempotency too.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.db import connection

from casino.audit import guard
from casino.hands import subject
from tests.casino.kit import SAMPLE, Desk, Kit, as_action

pytestmark = pytest.mark.usefixtures("live_db")

#: Round trips at most, see docs/explanation/how-it-is-built.md.
AN_ACTION = 5
#: Of a hand and a sign-in that this process knows: one statement.
A_KNOWN_ACTION = 1
A_TABLE_READ = 2


@contextmanager
def round_trips() -> Iterator[list[str]]:
    """What the client asks of the server inside: one line of libpq's trace for each round trip, there at the end."""
    connection.ensure_connection()
    server, asked = connection.connection.pgconn, []
    with tempfile.NamedTemporaryFile() as file:
        server.trace(file.fileno())
        try:
            yield asked
        finally:
            server.untrace()
            asked += _asked(Path(file.name).read_text(encoding="utf-8", errors="replace"))


def _asked(trace: str) -> list[str]:
    fields = [line.split("\t") for line in trace.splitlines()]
    return [" ".join(line[3:])[:200] for line in fields if line[1:2] == ["F"] and line[3] in ("Query", "Sync")]


@pytest.fixture
def desk(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A dealer's console in the middle of a hand; the process has its accounts and its prepared statements, and has
    just compared the log with the checkpoints outside, as it does twice a minute."""
    monkeypatch.setattr(guard, "GOOD_FOR", 3600.0)
    kit.table()
    desk = kit.seated(stacks=(900_000,) * 4)
    for known in (True, False):
        desk.ok("hands", {"mode": "physical"})
        for line in SAMPLE:
            if not known:
                subject.forget_all()
            desk.act(line)
        kit.settle()
        desk.refresh()
    desk.ok("hands", {"mode": "physical"})
    return desk


def test_an_accepted_action_takes_one_round_trip(desk: Desk) -> None:
    for line in SAMPLE[:-1]:
        with round_trips() as asked:
            desk.ok("hand/actions", {"actions": [as_action(line)]})
        assert len(asked) <= A_KNOWN_ACTION, (line, asked)


def test_an_action_that_this_process_has_not_followed_takes_as_many(desk: Desk) -> None:
    for line in SAMPLE[:8]:
        subject.forget_all()
        with round_trips() as asked:
            desk.ok("hand/actions", {"actions": [as_action(line)]})
        assert len(asked) <= AN_ACTION, (line, asked)


def test_a_repeated_request_takes_no_more(desk: Desk) -> None:
    version = desk.version
    action = {"actions": [as_action(SAMPLE[0])]}
    first = desk.post("hand/actions", action, key="same", version=version)
    with round_trips() as asked:
        again = desk.post("hand/actions", action, key="same", version=version)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.content == first.content
    assert len(asked) <= AN_ACTION, asked


def test_a_table_is_read_in_two_round_trips(desk: Desk) -> None:
    for _ in range(6):
        with round_trips() as asked:
            desk.refresh()
    assert len(asked) <= A_TABLE_READ, asked
