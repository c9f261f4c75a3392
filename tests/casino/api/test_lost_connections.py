"""The database goes away in the middle of a request: the answer says what is known, and the same request sent again
finds out the rest."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import psycopg
import pytest
from django.db import OperationalError, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.postgresql.base import DatabaseWrapper

from casino.api.http import attempts
from casino.audit.models import Event
from casino.core import sql
from casino.hands.models import CardException
from casino.tables import services
from tests.casino.devices import Device, key_of
from tests.casino.kit import Desk, Kit, as_action

SEAT = {"seat": 3, "player": "T1-u3", "amount": 500}


@pytest.fixture
def desk(kit: Kit) -> Desk:
    """A dealer's console at an open table with two players and a third who stands beside it."""
    kit.table()
    desk = kit.seated(stacks=(5_000, 5_000))
    kit.players("T1-u3", chips=1_000)
    return desk


def end_the_connection() -> None:
    """The server ends the application's connection, as when it is stopped."""
    number = connection.connection.info.backend_pid
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [number])


@contextmanager
def at_the_commit(monkeypatch: pytest.MonkeyPatch, happens: Callable[[Callable[[], None]], None]) -> Iterator[None]:
    """Let this happen in the place of the next COMMIT of the application's, which it is given: also of one that is sent
    with the last statement of its transaction."""
    commit, last = BaseDatabaseWrapper._commit, sql.last  # type: ignore[attr-defined]

    def as_ever() -> None:
        monkeypatch.setattr(BaseDatabaseWrapper, "_commit", commit)
        monkeypatch.setattr(sql, "last", last)

    def instead(self: Any) -> None:
        if self.alias != "default":
            commit(self)
            return
        as_ever()
        with self.wrap_database_errors:
            happens(lambda: commit(self))

    def instead_of_last(*statements: sql.Statement, using: str) -> Any:
        as_ever()
        *_, found = sql.together(*statements, using=using)
        with connection.wrap_database_errors:
            happens(lambda: commit(connection))
        return found

    monkeypatch.setattr(BaseDatabaseWrapper, "_commit", instead)
    monkeypatch.setattr(sql, "last", instead_of_last)
    yield
    as_ever()


def refusal(answer: httpx.Response) -> tuple[int, str, str]:
    """Status, code and when to try again."""
    return answer.status_code, answer.json()["code"], answer.headers["Retry-After"]


def sittings(kit: Kit) -> int:
    """How many players have sat down, by the audit trail."""
    return Event.objects.filter(chain__house=kit.house, doc__kind="table.sat_down", doc__data__seat=3).count()


def cut_off_before(commit: Callable[[], None]) -> None:
    """A COMMIT that does not reach the server."""
    end_the_connection()
    commit()


def assert_carried_out_now(kit: Kit, desk: Desk) -> None:
    """Nothing was written, and the same request sent again is carried out, once."""
    assert sittings(kit) == 0
    again = desk.post("seats", SEAT, key="same")
    assert (again.status_code, again.headers.get("Idempotency-Replayed"), sittings(kit)) == (201, None, 1)


def test_before_the_commit_nothing_was_changed(kit: Kit, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    take_seat = services.take_seat

    def interrupted(*arguments: Any) -> Any:
        player = take_seat(*arguments)
        end_the_connection()
        return player

    monkeypatch.setattr(services, "take_seat", interrupted)
    assert refusal(desk.post("seats", SEAT, key="same")) == (503, "database_unavailable", "1")
    monkeypatch.undo()
    assert_carried_out_now(kit, desk)


def test_where_the_commit_was_not_carried_out_the_same_request_is(
    kit: Kit, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with at_the_commit(monkeypatch, cut_off_before):
        assert refusal(desk.post("seats", SEAT, key="same")) == (503, "outcome_unknown", "1")
    assert_carried_out_now(kit, desk)


def test_where_only_the_answer_to_the_commit_was_lost_the_same_request_gets_it(
    kit: Kit, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = desk.version

    def lost(commit: Callable[[], None]) -> None:
        commit()
        connection.connection.close()
        raise psycopg.OperationalError("server closed the connection unexpectedly")

    with at_the_commit(monkeypatch, lost):
        assert refusal(desk.post("seats", SEAT, key="same")) == (503, "outcome_unknown", "1")
    assert sittings(kit) == 1
    again = desk.post("seats", SEAT, key="same", version=version)
    assert (again.status_code, again.headers["Idempotency-Replayed"], sittings(kit)) == (201, "true", 1)


def test_a_sensitive_read_whose_event_may_be_lost_is_not_given(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    office = kit.office()

    with at_the_commit(monkeypatch, cut_off_before):
        assert refusal(office.get("audit/events")) == (503, "database_unavailable", "1")
    assert office.get("audit/events").status_code == 200


@pytest.mark.parametrize("method", ["get", "post"])
def test_a_database_that_is_away_is_said_to_be(desk: Desk, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    def refused(*_: object) -> None:
        raise psycopg.OperationalError("connection refused")

    connection.close()
    monkeypatch.setattr(DatabaseWrapper, "get_new_connection", refused)
    answer = desk.get() if method == "get" else desk.post("seats", SEAT)
    assert refusal(answer) == (503, "database_unavailable", "1")
    monkeypatch.undo()
    assert desk.get().status_code == 200


def test_an_action_that_finds_no_database_was_not_carried_out(
    kit: Kit, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One for which everything is remembered, so that its first statement writes it: there is no connection to send it
    through."""

    def refused(*_: object) -> None:
        raise psycopg.OperationalError("connection refused")

    desk.deal()
    desk.act("p1 po 100")
    connection.close()
    monkeypatch.setattr(DatabaseWrapper, "get_new_connection", refused)
    answer = desk.post("hand/actions", {"actions": [as_action("p2 cc 100")]}, key="same")
    assert refusal(answer) == (503, "database_unavailable", "1")
    monkeypatch.undo()
    again = desk.post("hand/actions", {"actions": [as_action("p2 cc 100")]}, key="same")
    assert (again.status_code, again.headers.get("Idempotency-Replayed")) == (200, None)


def test_a_refusal_that_cannot_be_recorded_says_that_the_database_is_away(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_state, connect = services.require_state, DatabaseWrapper.get_new_connection

    def refused(self: Any, *arguments: Any) -> Any:
        if self.alias != "default":
            return connect(self, *arguments)
        raise psycopg.OperationalError("connection refused")

    def interrupted(*arguments: Any) -> None:
        require_state(*arguments)
        monkeypatch.setattr(DatabaseWrapper, "get_new_connection", refused)
        end_the_connection()
        raise services.Conflict("refused", code="table_closed")

    monkeypatch.setattr(services, "require_state", interrupted)
    assert refusal(desk.post("seats", SEAT)) == (503, "database_unavailable", "1")
    monkeypatch.undo()
    assert desk.get().status_code == 200


def test_a_refusal_that_has_kept_an_exception_does_not_say_that_nothing_was_changed(
    kit: Kit, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The exception is committed; then the refusal cannot be recorded."""

    def interrupted(*_: Any) -> None:
        raise OperationalError("lost") from psycopg.OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(attempts, "record_refused", interrupted)
    answer = desk.post("deck-check", {"cards": "AaAa"}, key="same")
    assert refusal(answer) == (503, "outcome_unknown", "1")
    assert CardException.objects.filter(house=kit.house).count() == 1
    monkeypatch.undo()
    assert desk.post("deck-check", {"cards": "AaAa"}, key="same").status_code == 422
    assert CardException.objects.filter(house=kit.house).count() == 1


def test_what_a_device_has_added_is_answered_from_the_same_transaction(kit: Kit, desk: Desk) -> None:
    """Nothing is read after the commit, where the connection may be lost."""
    device = Device(kit, key_of(desk, 1))
    desk.ok("deal")
    hand = device.get("deal").json()["hand"]
    statements: list[str] = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        statements.append("in" if connection.in_atomic_block else "out")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        assert device.commit(hand, "seven-of-bells").status_code == 200
    assert statements[-1] == "in" and "out" in statements
