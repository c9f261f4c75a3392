"""Who a house is: versions that are only added, and the clock of its gaming days."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

import pytest
from django.db import DatabaseError, transaction

from casino.audit.verifier import state_identity
from casino.houses import gaming_clock, identity
from casino.houses.models import House, Identity
from casino.staff.models import Role
from casino.verification.auditing import verify_house
from tests.casino.api.test_places import CHIP_SET, made
from tests.casino.kit import IDENTITY, Desk, Kit
from tests.casino.scene import assert_problem
from tests.casino.superuser import unguarded

REASON = {"reason": "as the licence says"}


@pytest.fixture
def bare(live_db: None) -> Iterator[Kit]:
    """A house that has only been founded."""
    kit = Kit.found(bare=True)
    yield kit
    kit.close()


def codes(kit: Kit) -> list[str]:
    return [found.code for found in verify_house(kit.house).findings if found.code != "not_signed"]


def at(monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    """Let the database's clock say so when a day is opened."""
    now = datetime.fromisoformat(moment).replace(tzinfo=UTC)
    monkeypatch.setattr(gaming_clock, "due", lambda zone, cut_off, read=None: gaming_clock.day_at(now, zone, cut_off))


def due(desk: Desk, day: str = "2020-02-29") -> str:
    """The day that would be opened, as the refusal of another one says."""
    found: str = assert_problem(desk.post("days", {"day": day}), 409, "day_not_due")["expected"]["day"]
    return found


def test_an_identity_is_said_part_by_part_and_every_version_stays(bare: Kit) -> None:
    admin = bare.office(Role.ADMIN)
    before = admin.get("house/identity").json()
    assert before["missing"] == ["legal_name", "tax_id", "licence_number", "address", "legal_profile", "languages"]
    assert (before["identity"]["number"], before["identity"]["name"]) == (0, "Test house")
    assert (before["clock"]["time_zone"], before["clock"]["day_cut_off"]) == ("UTC", "06:00")
    first = admin.ok("house/identity", IDENTITY | {"name": "The Room", "time_zone": "Europe/Budapest"} | REASON)
    assert first["missing"] == [] and first["clock"]["time_zone"] == "Europe/Budapest"
    second = admin.ok("house/identity", {"address": "2 Main Street"} | REASON)
    assert (second["identity"]["number"], second["identity"]["address"]) == (2, "2 Main Street")
    assert [one["address"] for one in second["history"]] == ["1 Main Street"]
    assert admin.get("house").json()["name"] == "The Room"
    items = {one["item"]: one["ready"] for one in bare.office().get("house/readiness").json()["items"]}
    assert items["identity"]
    assert codes(bare) == []


def test_what_nobody_knows_is_refused(bare: Kit) -> None:
    admin = bare.office(Role.ADMIN)
    for part, code in (
        ({"time_zone": "Europe/Buda"}, "unknown_time_zone"), ({"currency": "XYZ"}, "unknown_currency"),
        ({"languages": ["hu", "xx"]}, "unknown_language"),
        ({"currency": "JPY", "currency_exponent": 2}, "too_many_places"),
    ):  # fmt: skip
        assert_problem(admin.post("house/identity", part | REASON), 422, code)
    for wrong in ({}, {"legal_profile": "XX"}, {"day_cut_off": "24:00"}, {"languages": ["hu", "hu"]}, {"tax_id": 1}):
        assert_problem(admin.post("house/identity", wrong | REASON), 400, "invalid_request")
    assert_problem(admin.post("house/identity", {"name": "Test house"} | REASON), 409, "no_change")
    assert_problem(bare.office(Role.MANAGER).post("house/identity", IDENTITY | REASON), 403, "forbidden")
    assert not Identity.objects.filter(house=bare.house).exists()


def test_the_currency_stays_once_there_are_chips(bare: Kit) -> None:
    admin = bare.office(Role.ADMIN)
    changed = admin.ok("house/identity", {"currency": "EUR", "currency_exponent": 2} | REASON)
    assert changed["identity"]["currency"] == "EUR"
    house = admin.get("house").json()
    assert (house["currency"], house["currency_exponent"]) == ("EUR", 2)
    made(admin, "chip-sets", CHIP_SET)
    for other in ({"currency": "HUF"}, {"currency_exponent": 1}):
        refused = assert_problem(admin.post("house/identity", other | REASON), 409, "currency_in_use")
        assert refused["expected"] == {"currency": "EUR", "currency_exponent": 2}
    with pytest.raises(DatabaseError, match="keeps its currency"), transaction.atomic():
        House.objects.filter(id=bare.house.id).update(currency="HUF")
    assert codes(bare) == []


def test_an_identity_that_no_event_records_is_found(bare: Kit) -> None:
    admin = bare.office(Role.ADMIN)
    admin.ok("house/identity", IDENTITY | REASON)
    with pytest.raises(DatabaseError), transaction.atomic():
        Identity.objects.filter(house=bare.house).update(parts={})
    with unguarded() as cursor:
        cursor.execute("UPDATE houses_house SET day_cut_off = '09:00' WHERE id = %s", [bare.house.id])
    places = [found.place for found in verify_house(bare.house).findings]
    assert f"houses.House {bare.house.code}, day_cut_off" in places


def test_a_day_keeps_its_clock_and_the_next_one_has_the_new_one(kit: Kit) -> None:
    admin, manager = kit.office(Role.ADMIN), kit.office(Role.MANAGER)
    manager.ok("days", {"day": "2020-02-28"})
    changed = admin.ok("house/identity", {"time_zone": "Europe/Budapest", "day_cut_off": "07:30"} | REASON)
    assert (changed["clock"]["time_zone"], changed["clock"]["day_cut_off"]) == ("UTC", "06:00")
    manager.ok("days", {"day": "2020-02-29"})
    clock = admin.get("house/identity").json()["clock"]
    assert (clock["time_zone"], clock["day_cut_off"]) == ("Europe/Budapest", "07:30")
    assert admin.get("house").json()["time_zone"] == "Europe/Budapest"
    assert codes(kit) == []


@pytest.mark.parametrize(
    ("moment", "day"),
    [("2026-03-29T04:00:00", "2026-03-29"),
     ("2026-03-29T03:59:59", "2026-03-28"), ("2026-10-24T23:30:00", "2026-10-24")],
)  # fmt: skip
def test_the_day_is_the_date_of_the_house_until_its_cut_off(moment: str, day: str) -> None:
    at = datetime.fromisoformat(moment).replace(tzinfo=UTC)
    assert gaming_clock.day_at(at, "Europe/Budapest", "06:00").isoformat() == day
    assert state_identity.day_at(f"{moment}.000000Z", 0, "Europe/Budapest", "06:00") == day
    assert state_identity.day_at(f"{moment}.000000Z", 0, "Nowhere/Else", "06:00") is None


def test_a_day_ends_at_its_cut_off() -> None:
    found = gaming_clock.ends_at(date(2026, 10, 24), "Europe/Budapest", "06:00")
    assert found.astimezone(UTC).isoformat() == "2026-10-25T05:00:00+00:00"


@pytest.fixture
def live(live_db: None) -> Iterator[Kit]:
    """A house that is live; nobody has signed for it."""
    kit = Kit.found(sandbox=False)
    with unguarded() as cursor:
        cursor.execute("UPDATE houses_house SET stage = 'live' WHERE id = %s", [kit.house.id])
    kit.house.refresh_from_db()
    yield kit
    kit.close()


def test_only_the_day_that_is_due_is_opened(live: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    manager = live.office(Role.MANAGER)
    at(monkeypatch, "2026-03-02T05:59:00")
    refused = assert_problem(manager.post("days", {"day": "2026-03-02"}), 409, "day_not_due")
    assert refused["expected"] == {"day": "2026-03-01", "time_zone": "UTC", "day_cut_off": "06:00"}
    assert due(manager) == "2026-03-01"
    at(monkeypatch, "2026-03-02T06:00:00")
    assert due(manager, "2026-03-03") == "2026-03-02"
    manager.ok("days", {"day": "2026-03-02"})
    assert_problem(manager.post("days", {"day": "2026-03-02"}), 409, "day_exists")


def test_the_verifier_finds_a_day_that_was_not_due(live: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    at(monkeypatch, "2026-03-02T06:00:00")
    live.office(Role.MANAGER).ok("days", {"day": "2026-03-02"})
    assert "day_not_due" in codes(live)


def test_a_day_that_is_open_for_too_long_is_named(live: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    manager = live.office(Role.MANAGER)

    def missing() -> list[str]:
        items = {one["item"]: one["missing"] for one in manager.get("house/readiness").json()["items"]}
        found: list[str] = items["day"]
        return found

    assert missing() == ["an open gaming day"]
    at(monkeypatch, "2026-03-02T06:00:00")
    manager.ok("days", {"day": "2026-03-02"})
    at(monkeypatch, "2026-03-04T05:59:00")
    assert missing() == []
    at(monkeypatch, "2026-03-04T06:00:00")
    assert missing() == ["the close of the gaming day 2026-03-02, whose cut-off is past for more than 24 hours"]


def test_once_live_a_manager_approves_the_identity(live: Kit) -> None:
    admin = live.office(Role.ADMIN)
    body = {"address": "3 Main Street"} | REASON
    held = assert_problem(admin.post("house/identity", body), 409, "approval_required")
    assert held["approval"]["roles"] == ["manager"]
    changed = live.approved(admin, "house/identity", body)
    assert (changed["identity"]["address"], changed["identity"]["approval"]) == ("3 Main Street", 1)


def test_a_late_change_of_the_currency_is_found(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    """As by an application and a database that were changed."""
    kit.office(Role.ADMIN).ok("house/identity", IDENTITY | REASON)
    monkeypatch.setattr(identity, "require_currency_free", lambda *_: None)
    monkeypatch.setattr(identity, "AT_ONCE", ("name",))
    kit.office(Role.ADMIN).ok("house/identity", {"currency_exponent": 2} | REASON)
    assert "currency_changed" in codes(kit)


def test_the_next_day_may_be_opened_before_midnight_in_a_sandbox(kit: Kit) -> None:
    tomorrow = (datetime.now(UTC) - timedelta(hours=6)).date() + timedelta(days=1)
    kit.office(Role.MANAGER).ok("days", {"day": tomorrow.isoformat()})
    later = {"day": (tomorrow + timedelta(days=2)).isoformat()}
    assert_problem(kit.office(Role.MANAGER).post("days", later), 422, "day_too_early")
