"""The checklist before the first evening names what is missing, item by item, until nothing is."""

from collections.abc import Iterator

import pytest

from casino.houses import control_points
from casino.reports import readiness
from casino.staff.models import Role, Staff, TerminalKind
from tests.casino.api.test_places import CHIP_SET, TABLE, TRAY, VAULT, made
from tests.casino.kit import IDENTITY, Desk, Kit
from tests.casino.scene import assert_problem


@pytest.fixture
def kit(live_db: None) -> Iterator[Kit]:
    """A house that has only been founded."""
    kit = Kit.found(bare=True)
    yield kit
    kit.close()


def lacking(auditor: Desk) -> dict[str, list[str]]:
    """What is missing, by item."""
    answer = auditor.get("house/readiness").json()
    assert answer["ready"] == all(one["ready"] for one in answer["items"])
    assert all(one["ready"] == (not one["missing"]) for one in answer["items"])
    return {one["item"]: one["missing"] for one in answer["items"] if one["missing"]}


def test_a_house_that_was_only_founded_lacks_everything(kit: Kit) -> None:
    found = lacking(kit.office())
    assert found.keys() == {"identity", "people", "chip_set", "vault", "drawers", "tables", "checkpoints", "day"}
    assert found["identity"][0] == "its legal name (legal_name)"
    assert "1 active person with the role dealer, there are 0" in found["people"]
    assert not any("auditor" in missing for missing in found["people"])


def test_items_go_one_by_one(kit: Kit) -> None:
    auditor, admin, keeper = kit.office(), kit.office(Role.ADMIN), kit.office(Role.CAGE_SUPERVISOR)
    made(admin, "house/identity", IDENTITY | {"reason": "as the licence says"})
    made(admin, "chip-sets", CHIP_SET)
    made(keeper, "vault/opening", VAULT)
    made(admin, "drawers", {"drawer": "C1"})
    made(admin, "tables", TABLE)
    found = lacking(auditor)
    assert found.keys() == {"people", "trays", "terminals", "checkpoints", "day"}
    assert found["terminals"] == ["a terminal of the kind cage at C1", "a terminal of the kind table at T1"]
    assert found["trays"][0].startswith("T1: ")
    made(keeper, "tables/T1/tray", {"pieces": TRAY})
    kit.token(Role.DEALER, TerminalKind.TABLE, "T1")
    kit.token(Role.CASHIER, TerminalKind.CAGE, "C1")
    kit.sequence()
    assert lacking(auditor).keys() == {"people", "day"}
    for role in (Role.ADMIN, Role.FLOOR, Role.COUNT, Role.COUNT, Role.COMPLIANCE, Role.MANAGER):
        kit.office(role)
    kit.office(Role.FLOOR).ok("days", {"day": "2020-02-28"})
    assert lacking(auditor) == {}


def test_every_item_says_who_can_put_it_right(kit: Kit) -> None:
    items = kit.office().get("house/readiness").json()["items"]
    assert {one["item"]: one["who"] for one in items}["identity"] == ["admin"]
    assert all(one["who"] for one in items)


def test_two_people_of_one_line_of_passwords_are_no_pair(kit: Kit) -> None:
    kit.office(Role.ADMIN)
    kit.office(Role.MANAGER)
    assert "pairs" not in lacking(kit.office())
    admin = Staff.objects.get(house=kit.house, roles=[Role.ADMIN])
    Staff.objects.filter(house=kit.house, roles=[Role.MANAGER]).update(hired_by=admin.login)
    assert lacking(kit.office())["pairs"] == [
        "admin and manager with passwords from different administrators (settings and people)"
    ]


def test_the_largest_trades_take_three_lines_of_passwords(kit: Kit) -> None:
    kit.office(Role.ADMIN)
    for role in (Role.CASHIER, Role.MANAGER, Role.COMPLIANCE):
        assert "largest_trades" not in lacking(kit.office())
        kit.office(role)
    assert "largest_trades" not in lacking(kit.office())
    # One administrator hired manager and compliance, and has left: that person may still know both passwords.
    people = Staff.objects.filter(house=kit.house)
    giver = people.get(roles=[Role.ADMIN])
    of_one = people.filter(roles__in=([Role.MANAGER], [Role.COMPLIANCE]))
    of_one.update(hired_by=giver.login, password_givers=[giver.login])
    least = control_points.in_force(kit.house).exchange_by_manager_from
    missing = [
        "cashier, manager and compliance with passwords from three different administrators (trades from "
        f"{least} minor units on, exchange_by_manager_from)"
    ]
    assert lacking(kit.office())["largest_trades"] == missing
    kit.office(Role.ADMIN)
    people.filter(pk=giver.pk).update(is_active=False)
    found = lacking(kit.office())
    assert found["largest_trades"] == missing and "pairs" not in found
    # A third line, or another person of one that is apart from the rest, is enough.
    people.filter(roles=[Role.COMPLIANCE]).update(hired_by="found_house", password_givers=["found_house"])
    assert "largest_trades" not in lacking(kit.office())


def test_who_needs_a_second_factor_and_has_none_is_named(live_db: None) -> None:
    kit = Kit.found(bare=True, second_factor_required=True)
    login = kit.hire(Role.AUDITOR, TerminalKind.OFFICE, "")[0].staff.login
    kit.hire(Role.DEALER, TerminalKind.OFFICE, "")
    found = {item.code: item.missing for item in readiness.checklist(kit.house)}
    assert found["second_factors"] == (f"a second factor of {login}",)
    kit.close()


def test_cash_covers_what_can_be_claimed(kit: Kit) -> None:
    admin, keeper = kit.office(Role.ADMIN), kit.office(Role.CAGE_SUPERVISOR)
    made(admin, "chip-sets", CHIP_SET)
    made(keeper, "vault/opening", VAULT | {"capital": 1})
    made(admin, "tables", TABLE)
    assert "cover" not in lacking(kit.office())
    made(keeper, "tables/T1/tray", {"pieces": TRAY})
    assert lacking(kit.office())["cover"] == ["as much cash as is owed to players, and lies in the trays"]


def test_a_retired_table_lacks_nothing(kit: Kit) -> None:
    auditor, admin = kit.office(), kit.office(Role.ADMIN)
    made(admin, "chip-sets", CHIP_SET)
    made(admin, "tables", TABLE)
    assert "tables" not in lacking(auditor)
    admin.ok("tables/T1/retire", {"reason": "never used"}, version=1)
    found = lacking(auditor)
    assert found["tables"] == ["a table"] and "trays" not in found


def test_who_leaves_is_missed(kit: Kit) -> None:
    admin, second = kit.office(Role.ADMIN), kit.office(Role.FLOOR)
    assert not any("role floor" in missing for missing in lacking(kit.office())["people"])
    rows = admin.get("staff?role=floor").json()["results"]
    person = rows[0]["login"]
    admin.ok(f"staff/{person}/deactivate", {"reason": "has left the house"}, version=rows[0]["version"])
    assert any("role floor" in missing for missing in lacking(kit.office())["people"])
    assert_problem(second.get("house"), 401, "not_authenticated")
