"""Who signs for what another person has done is independent of that person, at the desks as in the office."""

from collections.abc import Callable
from typing import Any

import pytest

from casino.bookkeeping import chart
from casino.chips.selectors import in_use
from casino.staff.models import Role, Staff
from tests.casino.kit import Kit
from tests.casino.scene import assert_problem

#: How one of two people came to be no second person for the other: columns of who signed first, given who signs now.
WAYS: dict[str, Callable[[str], dict[str, Any]]] = {
    "hired": lambda login: {"hired_by": login},
    "gave a password": lambda login: {"password_givers": [login]},
}


def staff(kit: Kit, role: Role) -> Staff:
    return Staff.objects.filter(house=kit.house, roles=[role]).latest("id")


def tie(first: Staff, second: Staff, way: str) -> None:
    """Let the second have hired the first, or given them a password, past every event."""
    Staff.objects.filter(pk=first.pk).update(**WAYS[way](second.login))


def refused(answer: Any, by: Staff) -> None:
    assert assert_problem(answer, 403, "four_eyes")["giver"] == by.login


@pytest.mark.parametrize("way", WAYS)
def test_a_handover_is_signed_and_taken_by_somebody_independent(kit: Kit, way: str) -> None:
    cashier, keeper, manager = kit.cashier(), kit.supervisor(), kit.supervisor(role=Role.MANAGER)
    offered = keeper.ok("handovers", {"kind": "float", "cash": 5_000, "pieces": {}})["last_event"]["handover"]
    tie(staff(kit, Role.CAGE_SUPERVISOR), staff(kit, Role.MANAGER), way)
    manager.refresh()
    refused(manager.post(f"handovers/{offered['handover']}/sign"), staff(kit, Role.MANAGER))
    tie(staff(kit, Role.CASHIER), staff(kit, Role.CAGE_SUPERVISOR), way)
    cashier.refresh()
    refused(cashier.post("open", {"cash": 5_000, "pieces": {}}), staff(kit, Role.CAGE_SUPERVISOR))


def test_a_difference_is_signed_off_by_somebody_independent(kit: Kit) -> None:
    cashier = kit.cashier()
    kit.open_drawer(cashier, cash=5_000, chips=5_000)
    count = kit.held() | {"cash": 4_000}
    cashier.refresh()
    cashier.ok("count", count)
    second = kit.supervisor()
    tie(staff(kit, Role.CASHIER), staff(kit, Role.CAGE_SUPERVISOR), "hired")
    second.refresh()
    refused(second.post("recount", count), staff(kit, Role.CAGE_SUPERVISOR))
    kit.supervisor().ok("recount", count)
    manager = kit.supervisor(role=Role.MANAGER)
    tie(staff(kit, Role.CAGE_SUPERVISOR), staff(kit, Role.MANAGER), "gave a password")
    refused(manager.post("sign-off", {"reason": "counted twice"}), staff(kit, Role.MANAGER))


def test_the_witness_of_a_tray_is_independent(kit: Kit) -> None:
    kit.table()
    dealer, floor = kit.dealer(), kit.dealer(role=Role.FLOOR)
    pieces = chart.rack(kit.house, "9130/T1", in_use(kit.house).code).as_json()
    number = dealer.ok("tray-counts", {"purpose": "opener", "pieces": pieces})["last_event"]["tray_count"]
    tie(staff(kit, Role.DEALER), staff(kit, Role.FLOOR), "hired")
    floor.refresh()
    refused(floor.post(f"tray-counts/{number['tray_count']}/witness", {"pieces": pieces}), staff(kit, Role.FLOOR))


def test_two_who_count_the_vault_are_independent(kit: Kit) -> None:
    one, other = kit.office(Role.CAGE_SUPERVISOR), kit.office(Role.MANAGER)
    count = {"cash": 1, "pieces": {}, "foreign": 0}
    one.ok("vault/counts", count)
    tie(staff(kit, Role.CAGE_SUPERVISOR), staff(kit, Role.MANAGER), "hired")
    refused(other.post("vault/counts", count), staff(kit, Role.MANAGER))
