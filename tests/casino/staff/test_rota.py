"""The rota: entries, refusals, withdrawal, and who is on duty outside of it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from casino.staff.models import Role, RotaEntry, Staff, TerminalKind
from casino.verification import auditing
from tests.casino.kit import Desk, Kit
from tests.casino.scene import assert_problem, last_event, recorded_since

NIGHT = ("2030-01-01T18:00:00Z", "2030-01-02T02:00:00Z")


def entry(who: str, *, at: tuple[str, str] = NIGHT, **other: Any) -> dict[str, Any]:
    """A dealer at T1 for a night."""
    place = {"login": who, "role": "dealer", "kind": "table", "location": "T1"}
    return place | {"starts_at": at[0], "ends_at": at[1]} | other


@pytest.fixture
def dealer(kit: Kit) -> str:
    """Login of a dealer of T1, who is signed in there."""
    kit.table("T1")
    return kit.hire(Role.DEALER, TerminalKind.TABLE, "T1")[0].staff.login


@pytest.mark.parametrize("role", [Role.FLOOR, Role.MANAGER, Role.ADMIN])
def test_an_entry_is_written_read_and_withdrawn(kit: Kit, dealer: str, role: Role) -> None:
    desk, last = kit.office(role), last_event()
    made = desk.ok("rota", entry(dealer))
    me = Staff.objects.get(house=kit.house, roles=[role]).login
    number = made["rota_entry"]
    assert {name: made[name] for name in ("login", "role", "kind", "location", "entered_by", "withdrawn_by")} == {
        "login": dealer, "role": "dealer", "kind": "table", "location": "T1", "entered_by": me, "withdrawn_by": None,
    }  # fmt: skip
    assert (made["starts_at"], made["ends_at"]) == ("2030-01-01T18:00:00.000000Z", "2030-01-02T02:00:00.000000Z")
    [row] = kit.dealer().get("/api/v1/rota?location=T1&withdrawn=false&from=2030-01-01T00:00:00Z").json()["results"]
    assert (row["rota_entry"], row["version"]) == (number, 1)
    gone = desk.ok(f"rota/{number}/withdraw", {"reason": "is ill"}, version=1)
    assert (gone["withdrawn_by"], gone["version"]) == (me, 2)
    assert_problem(desk.post(f"rota/{number}/withdraw", {"reason": "is ill"}, version=2), 409, "no_change")
    assert_problem(desk.post(f"rota/{number}/withdraw", {"reason": "is ill"}, version=1), 412, "version_conflict")
    assert desk.get("rota?withdrawn=false").json()["results"] == []
    entered, withdrawn = recorded_since(last, "rota.entered", "rota.withdrawn")
    assert entered["data"] == {
        "entry": number, "login": dealer, "role": "dealer", "kind": "table", "location": "T1",
        "starts": "2030-01-01T18:00:00.000000Z", "ends": "2030-01-02T02:00:00.000000Z",
    }  # fmt: skip
    assert (withdrawn["data"], withdrawn["reason"]) == ({"entry": number}, "is ill")
    assert auditing.verify_house(kit.house).findings == []


@pytest.mark.parametrize(
    ("changed", "status", "code"),
    [
        ({"login": "nobody"}, 404, "not_found"),
        ({"location": "T9"}, 404, "not_found"),
        ({"kind": "cage", "location": "C9"}, 404, "not_found"),
        ({"kind": "office"}, 400, "invalid_request"),
        ({"location": ""}, 400, "invalid_request"),
        ({"starts_at": "2030-01-01T18:00:00"}, 400, "invalid_request"),
        ({"starts_at": "tonight"}, 400, "invalid_request"),
        ({"role": "floor"}, 409, "role_not_held"),
        ({"ends_at": NIGHT[0]}, 422, "rota_times"),
        ({"ends_at": "2030-01-02T10:00:01Z"}, 422, "rota_times"),
    ],
)
def test_what_cannot_be(kit: Kit, dealer: str, changed: dict[str, Any], status: int, code: str) -> None:
    assert_problem(kit.office(Role.MANAGER).post("rota", entry(dealer) | changed), status, code)
    assert not RotaEntry.objects.filter(house=kit.house).exists()


def test_nobody_is_at_two_places_at_once(kit: Kit, dealer: str) -> None:
    manager = kit.office(Role.MANAGER)
    number = manager.ok("rota", entry(dealer))["rota_entry"]
    inside = ("2030-01-02T01:00:00Z", "2030-01-02T03:00:00Z")
    assert assert_problem(manager.post("rota", entry(dealer, at=inside)), 409, "rota_overlap")["rota_entry"] == number
    after = (NIGHT[1], "2030-01-02T03:00:00Z")
    manager.ok("rota", entry(dealer, at=after))
    manager.ok(f"rota/{number}/withdraw", {"reason": "changes shifts"}, version=1)
    manager.ok("rota", entry(dealer))
    numbers = [row["rota_entry"] for row in manager.get("rota").json()["results"]]
    assert sorted(numbers) == [1, 2, 3], "a refusal leaves no gap"


def test_who_is_on_duty_outside_of_the_rota_is_shown_and_not_refused(kit: Kit, dealer: str) -> None:
    manager = kit.office(Role.MANAGER)

    def on_rota() -> bool:
        [row] = [one for one in manager.get("staff/on-duty").json()["results"] if one["login"] == dealer]
        [session] = row["sessions"]
        return bool(session["on_rota"])

    assert on_rota() is False
    now = datetime.now(UTC)
    around = tuple((now + timedelta(hours=hours)).isoformat() for hours in (-1, 1))
    number = manager.ok("rota", entry(dealer, at=(around[0], around[1])))["rota_entry"]
    assert on_rota() is True
    manager.ok(f"rota/{number}/withdraw", {"reason": "changes shifts"}, version=1)
    assert on_rota() is False


def test_one_house_knows_nothing_of_another_ones_rota(kit: Kit, dealer: str) -> None:
    number = kit.office(Role.MANAGER).ok("rota", entry(dealer))["rota_entry"]
    other = Kit.found()
    theirs: Desk = other.office(Role.MANAGER)
    assert theirs.get("rota").json()["results"] == []
    assert_problem(theirs.post(f"rota/{number}/withdraw", {"reason": "not mine"}, version=1), 404, "not_found")
    login = other.hire(Role.DEALER, TerminalKind.OFFICE, "")[0].staff.login
    assert theirs.ok("rota", entry(login, kind="office", location=""))["rota_entry"] == 1, "each counts for itself"
    assert_problem(theirs.post("rota", entry(dealer, kind="office", location="")), 404, "not_found")
    other.close()
