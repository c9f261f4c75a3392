"""Two writes at the same moment of which one takes away what the other rests on; the second waits and sees it."""

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, connections
from django.utils import timezone

from casino.core.errors import HouseError
from casino.evidence import forgetting
from casino.staff import sessions
from casino.staff.credentials import Credentials
from casino.staff.models import Role, TerminalToken
from casino.staff.services import hire as hire_at_founding
from casino.tables import services as tables
from casino.tables.models import Seating
from tests.casino.kit import ACTOR, Desk, Kit
from tests.casino.scene import assert_problem
from tests.casino.staff.test_roster import OTHER, PASSWORD, change, enrol, hire, sign_in

#: Seconds to wait for another writer that has to wait for us.
PATIENCE = 10.0
_WAITING = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


def somebody_waits() -> bool:
    """Whether somebody comes to wait for a lock of the database."""
    until = time.monotonic() + PATIENCE
    with connections["owner"].cursor() as cursor:
        while time.monotonic() < until:
            cursor.execute(_WAITING)
            if cursor.fetchone() != (0,):
                return True
            time.sleep(0.01)
    return False


def meanwhile(
    monkeypatch: pytest.MonkeyPatch, module: Any, name: str, second: Callable[[], Any], first: Callable[[], Any]
) -> tuple[Any, Any, bool]:
    """Call `first`; once it has passed the function `name`, in its transaction, start `second` and go on when that
    waits. Returns both results, and whether it waited."""
    real, found, waited = getattr(module, name), [], []

    def run() -> None:
        try:
            found.append(second())
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)

    def passed(*args: Any, **options: Any) -> Any:
        result = real(*args, **options)
        assert connection.in_atomic_block
        monkeypatch.setattr(module, name, real)
        thread.start()
        waited.append(somebody_waits())
        return result

    monkeypatch.setattr(module, name, passed)
    mine = first()
    thread.join()
    return mine, found[0], waited[0]


def test_no_token_is_issued_for_a_password_that_was_just_replaced(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    kit.table("T1")
    office = kit.office(Role.ADMIN)
    who, key = hire(kit, office), enrol(office)
    reset = {"password": OTHER, "reason": "forgotten"}
    done, entered, waited = meanwhile(
        monkeypatch, sessions, "end",
        second=lambda: sign_in(kit, who, key),
        first=lambda: change(office, f"staff/{who}/password", reset),
    )  # fmt: skip
    assert waited and done.status_code == 200
    assert_problem(entered, 403, "sign_in_refused")
    assert not TerminalToken.objects.filter(user__login=who, expiry__gt=timezone.now()).exists()
    assert sign_in(kit, who, key, OTHER).status_code == 201


def test_a_person_who_is_let_go_during_sign_in_does_not_get_in(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    kit.table("T1")
    office = kit.office(Role.ADMIN)
    who, key = hire(kit, office), enrol(office)
    _, entered, waited = meanwhile(
        monkeypatch, sessions, "end",
        second=lambda: sign_in(kit, who, key),
        first=lambda: change(office, f"staff/{who}/deactivate", {"reason": "left the house"}),
    )  # fmt: skip
    assert waited
    assert_problem(entered, 403, "sign_in_refused")
    # Nothing is left that would let this person in after being taken back.
    assert not TerminalToken.objects.filter(user__login=who, expiry__gt=timezone.now()).exists()


@pytest.fixture
def signers(kit: Kit) -> list[Credentials]:
    """An administrator and an auditor who may forget players."""
    found = []
    for name, role in (("ann", Role.ADMIN), ("bea", Role.AUDITOR)):
        login = f"{name}@{kit.house.code}"
        hire_at_founding(house=kit.house, login=login, name=name, roles=[role], password=PASSWORD, actor=ACTOR)
        found.append(Credentials(login, PASSWORD))
    return found


def known(kit: Kit, player: str) -> None:
    """Record who a player is."""
    person = {"name": "Nobody At All", "born": "1970-01-01", "document": "000000AA"}
    body = {"person": person, "reason": "first_record"}
    assert kit.cashier().post(f"/api/v1/players/{player}/person", body, version=1).status_code == 201


def about_to_sit_down(kit: Kit) -> tuple[Desk, dict[str, Any]]:
    """The dealer of a table, and the request that seats anna, who is on record."""
    kit.table("T1")
    dealer = kit.seated("T1", stacks=(5_000, 5_000))
    kit.players("anna")
    known(kit, "anna")
    return dealer, {"seat": 3, "player": "anna", "amount": 5_000}


def forget(kit: Kit, signers: list[Credentials], player: str) -> str:
    """Forget a player; returns the code of the refusal, or nothing."""
    try:
        forgetting.forget(house=kit.house, ref=player, reason="it is over", first=signers[0], second=signers[1])
    except HouseError as error:
        return error.code
    return ""


@pytest.mark.parametrize("path", ["seats", "buy-ins", "the cage's buy-ins"])
def test_who_is_being_forgotten_does_not_come_back(
    kit: Kit, signers: list[Credentials], settings: Any, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    kit.keep_nobody(settings)
    dealer, body = about_to_sit_down(kit)
    desk = dealer
    if path.startswith("the cage"):
        desk, path, body = kit.cashier(), "buy-ins", {"player": "anna", "amount": 5_000}
    done, seated, waited = meanwhile(
        monkeypatch, forgetting, "last_activity",
        second=lambda: desk.post(path, body),
        first=lambda: forget(kit, signers, "anna"),
    )  # fmt: skip
    assert waited and done == ""
    assert_problem(seated, 410, "person_forgotten")
    assert not Seating.objects.filter(player__ref="anna", player__house=kit.house).exists()


def test_who_is_sitting_down_is_not_forgotten(
    kit: Kit, signers: list[Credentials], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit.keep_nobody(settings)
    dealer, body = about_to_sit_down(kit)
    seated, refused, waited = meanwhile(
        monkeypatch, tables, "require_limits",
        second=lambda: forget(kit, signers, "anna"),
        first=lambda: dealer.post("buy-ins", body),
    )  # fmt: skip
    assert waited and seated.status_code == 201
    assert refused == "player_seated"
