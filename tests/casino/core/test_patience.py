"""A lock that somebody holds: a write waits some seconds, is refused as busy, and has changed nothing."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

import httpx
import psycopg
import pytest
from django.conf import settings
from django.db import connections, transaction

from casino.audit.models import Event
from casino.core import patience
from casino.hands import automatic, subject, tasks
from casino.hands.models import HandState
from casino.houses.models import OutboxMessage
from casino.staff.models import Role
from tests.casino.core.test_concurrency import at_once
from tests.casino.kit import Desk, Kit
from tests.casino.scene import assert_problem

#: Seconds that a write waits here.
WAITS = 0.4
#: Most that it may take on a machine with much to do, and still have been refused for the lock.
TOOK = 3.0
ACTION = {"actions": [{"actor": "p1", "verb": "po", "amount": 100}]}
SEAT = {"seat": 3, "player": "T1-u3", "amount": 500}


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Writes wait briefly."""
    monkeypatch.setattr(settings, "CASINO_LOCK_TIMEOUT", WAITS)


@pytest.fixture
def desk(kit: Kit) -> Desk:
    """A dealer's console at an open table with two players and a third who stands beside it."""
    kit.table()
    desk = kit.seated(stacks=(5_000, 5_000))
    kit.players("T1-u3", chips=1_000)
    return desk


@contextmanager
def held(statement: str, *parameters: Any) -> Iterator[None]:
    """Somebody has locked this in a session of their own, and does not go on."""
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"]) as other:
        other.execute(statement, parameters)
        yield
        other.rollback()


def table_of(kit: Kit) -> tuple[str, Any]:
    """The row of the table."""
    return "SELECT FROM tables_table WHERE house_id = %s FOR UPDATE", kit.house.id


def chain_of(kit: Kit) -> tuple[str, Any]:
    """The heads of the house's audit chains, which every write appends to."""
    return "SELECT FROM audit_chainhead WHERE house_id = %s FOR UPDATE", kit.house.id


def accounts_of(kit: Kit) -> tuple[str, Any]:
    """The accounts of the house."""
    return "SELECT FROM ledger_account WHERE book = %s ORDER BY id FOR UPDATE", kit.house.id


def events(kit: Kit) -> int:
    """How many events the house has."""
    return Event.objects.filter(chain__house=kit.house).count()


def assert_busy(answer: httpx.Response) -> None:
    """Refused because of a lock, with the seconds after which to try again."""
    problem = assert_problem(answer, 503, "busy")
    assert answer.headers["Retry-After"] == str(problem["retry_after"]) == str(patience.RETRY_AFTER)
    assert "Nothing was changed" in problem["detail"]


@pytest.mark.some_now(3)
@pytest.mark.parametrize("lock", [table_of, chain_of, accounts_of])
@pytest.mark.parametrize("way", ["one statement", "hand read under the lock", "row locked"])
def test_a_write_that_meets_a_held_lock_is_refused_in_time_and_changes_nothing(
    kit: Kit, desk: Desk, lock: Any, way: str
) -> None:
    if way != "row locked":
        desk.ok("hands", {"mode": "physical", "button": 2})
    path, body = ("seats", SEAT) if way == "row locked" else ("hand/actions", ACTION)
    if way == "hand read under the lock":
        subject.forget_all()
    version, before = desk.version, events(kit)
    with held(*lock(kit)):
        began = monotonic()
        assert_busy(desk.post(path, body, key="same", version=version))
        assert WAITS <= monotonic() - began < TOOK
        assert events(kit) == before
    again = desk.post(path, body, key="same", version=version)
    assert again.is_success and "Idempotency-Replayed" not in again.headers, again.text
    assert events(kit) == before + 1


def test_a_gaming_day_that_somebody_is_closing_does_not_hold_up_the_office(kit: Kit) -> None:
    office = kit.office(Role.MANAGER)
    name = f"gaming days of {kit.house.id}"
    with held("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", name):
        assert_busy(office.post("days", {"day": "2030-01-01"}))


def test_a_sensitive_read_waits_no_longer_for_its_event(kit: Kit) -> None:
    office = kit.office()
    with held(*chain_of(kit)):
        began = monotonic()
        assert_busy(office.get("audit/events"))
        assert monotonic() - began < TOOK
    assert office.get("audit/events").status_code == 200


def test_a_terminal_that_has_waited_in_vain_waits_briefly_until_a_write_of_it_succeeds(
    kit: Kit, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "SHORT", 0.01)
    version = desk.version
    with held(*table_of(kit)):
        assert_busy(desk.post("seats", SEAT, key="same", version=version))
        began = monotonic()
        assert_busy(desk.post("seats", SEAT, key="same", version=version))
        assert monotonic() - began < WAITS
    assert desk.post("seats", SEAT, key="same", version=version).is_success
    desk.refresh()
    with held(*table_of(kit)):
        began = monotonic()
        assert_busy(desk.post("seats/3/leave"))
        assert monotonic() - began >= WAITS


def test_another_table_goes_on_while_one_is_held(kit: Kit, desk: Desk) -> None:
    kit.table("T2")
    other = kit.seated("T2", stacks=(5_000, 5_000))
    other.ok("hands", {"mode": "physical", "button": 2})
    version = desk.version
    with held("SELECT FROM tables_table WHERE house_id = %s AND code = 'T1' FOR UPDATE", kit.house.id):
        refused, taken = at_once(
            lambda: desk.post("seats", SEAT, version=version), lambda: other.post("hand/actions", ACTION)
        )
    assert_busy(refused)
    assert taken.is_success


def test_a_task_says_for_itself_how_long_it_waits(kit: Kit, desk: Desk) -> None:
    with patience.at_most(automatic.PATIENCE):
        assert patience.lock_timeout() == "2000ms"
    assert patience.lock_timeout() == f"{round(WAITS * 1000)}ms"


def test_a_settlement_keeps_no_worker_from_other_tables(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that somebody holds: the settlement waits briefly, not for a minute as a person may, and is sent again.
    The trail has no word of it."""
    monkeypatch.setattr(settings, "CASINO_LOCK_TIMEOUT", 60.0)
    kit.worked_hand()
    message = OutboxMessage.objects.get(house=kit.house)
    with held(*table_of(kit)), pytest.raises(patience.Busy):
        tasks.resolve_hand(str(kit.house.id), message.id)
    assert not Event.objects.filter(chain__house=kit.house, doc__kind="hand.settlement_failed").exists()
    assert tasks.resolve_hand(str(kit.house.id), message.id) == HandState.SETTLED


def test_nothing_of_it_stays_in_the_session(kit: Kit, desk: Desk) -> None:
    desk.ok("seats", SEAT)
    with transaction.atomic(), connections["default"].cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone() == ("0",)
