"""Chips of a withdrawn set that a drawer has taken back are counted with it, and go to the vault with its close."""

from typing import Any

import pytest

from casino.bookkeeping import chart
from casino.cage.founding import create_drawer
from casino.cage.models import Handover, Shift
from casino.reports.verifying import verification
from casino.staff.models import Role
from tests.casino.chips.test_chip_sets import FROM_C1, WHY, Sets
from tests.casino.kit import ACTOR, Kit
from tests.casino.reports.test_catalogue_of_control import broken
from tests.casino.transfers.test_transfers import refusal


class Taken(Sets):
    """Drawer C1 has taken one chip of the withdrawn set MAIN back, worth `value`; NEXT is in use."""

    def __init__(self, kit: Kit) -> None:
        super().__init__(kit)
        self.changed()
        self.value = next(iter(self.out()))
        self.worth = int(self.value)
        assert self.redeem({self.value: 1}).is_success

    def pieces(self, code: str = "9115/C1", chip_set: str = "MAIN") -> dict[str, int]:
        """The chips of a set in one place."""
        return chart.rack(self.kit.house, code, chip_set).as_json()

    def z(self, drawer: str = "C1", number: int = 2) -> dict[str, Any]:
        """A Z slip, of which all sums are equal."""
        answer = self.kit.office().get(f"drawers/{drawer}/shifts/{number}/z")
        assert answer.status_code == 200, answer.text
        slip = dict(answer.json())
        assert all(row["equal"] for row in slip["equalities"]), slip["equalities"]
        return slip

    def proved(self) -> None:
        """The verifier rebuilds everything, and the books balance."""
        self.whole()
        self.kit.sequence()
        assert not verification(self.kit.house)["audit_findings"]


@pytest.fixture
def taken(kit: Kit) -> Taken:
    """A drawer with a withdrawn chip."""
    return Taken(kit)


def test_they_are_counted_and_set_aside_with_the_close(taken: Taken) -> None:
    x = taken.kit.office().post("drawers/C1/x-readings")
    assert x.status_code == 201 and x.json()["expected"]["withdrawn"] == {"MAIN": {taken.value: 1}}, x.text
    assert all(row["equal"] for row in x.json()["equalities"])
    held = taken.kit.held()
    assert held["withdrawn"] == {"MAIN": {taken.value: 1}}
    taken.cashier.refresh()
    assert taken.cashier.ok("count", held)["last_event"]["agrees"]
    closed = taken.cashier.ok("close")["last_event"]["reconciliation"]
    assert closed["expected_withdrawn"] == closed["counted_withdrawn"] == {"MAIN": {taken.value: 1}}
    assert closed["withdrawn_variance"] == 0 and closed["first_count"]["withdrawn"] == held["withdrawn"]
    assert (taken.pieces(), taken.pieces("9115")) == ({}, {taken.value: 1})
    slip = taken.z()
    assert slip["variance"] == 0
    [redeemed] = [row for row in slip["movements"] if row["kind"] == "cage.chips_redeemed"]
    assert redeemed["withdrawn"] == {"MAIN": {taken.value: 1}}
    [kept] = [row for row in slip["assertions"] if row["account"] == "9115/C1" and row["balance"]]
    assert kept["commodity"].endswith(f".MAIN.{taken.value}")
    assert f"returned to the vault: withdrawn pieces of {taken.value} of MAIN" in str(slip["equalities"])
    taken.proved()


def test_those_that_nobody_names_were_counted_as_none(taken: Taken) -> None:
    kit, held = taken.kit, taken.kit.held()
    short = {name: held[name] for name in ("cash", "pieces", "foreign")}
    taken.cashier.refresh()
    answer = taken.cashier.post("count", short)
    assert answer.status_code == 200 and not answer.json()["last_event"]["agrees"]
    assert "withdrawn" not in answer.json()["last_event"]["count"]  # nobody learns of them
    taken.cashier.refresh()
    assert refusal(taken.cashier.post("close")) == (409, "count_differs")
    again = kit.supervisor().ok("recount", short)
    assert not again["last_event"]["agrees"]
    closed = kit.supervisor(role=Role.MANAGER).ok("sign-off", {"reason": "it is nowhere"})["last_event"]
    assert closed["reconciliation"]["withdrawn_variance"] == -taken.worth
    assert closed["reconciliation"]["chip_variance"] == 0
    # It is with the public again, and the house owes it to nobody known.
    assert kit.balance("5210/C1", "2015/C1") == [taken.worth, taken.worth]
    assert (taken.pieces(), taken.pieces("9115")) == ({}, {})
    assert taken.z()["variance"] == -taken.worth
    taken.proved()


def test_a_recount_that_finds_them_again(taken: Taken) -> None:
    kit, held = taken.kit, taken.kit.held()
    taken.cashier.refresh()
    assert not taken.cashier.ok("count", held | {"withdrawn": {}})["last_event"]["agrees"]
    assert kit.supervisor().ok("recount", held)["last_event"]["agrees"]
    kit.supervisor(role=Role.MANAGER).ok("sign-off", {"reason": "it was under the tray"})
    assert (taken.pieces("9115"), kit.balance("5210/C1")) == ({taken.value: 1}, 0)
    assert Shift.objects.get(house=kit.house, drawer__code="C1", closed_at__isnull=False, number=2).reason
    taken.proved()


def test_more_than_the_books_have_and_of_a_drawer_that_took_none(taken: Taken) -> None:
    kit = taken.kit
    kit.close_drawer(taken.cashier, withdrawn={"MAIN": {taken.value: 3}})
    assert kit.balance("5210/C1", "2015/C1") == [-2 * taken.worth, -2 * taken.worth]
    assert (taken.pieces(), taken.pieces("9115")) == ({}, {taken.value: 3})
    assert taken.z()["withdrawn_variance"] == 2 * taken.worth
    create_drawer(house=kit.house, code="C2", actor=ACTOR)
    other = kit.cashier("C2")
    kit.open_drawer(other, cash=100, pieces={})
    kit.close_drawer(other, withdrawn={"MAIN": {taken.value: 1}})
    assert (taken.pieces("9115/C2"), taken.pieces("9115")) == ({}, {taken.value: 4})
    taken.z("C2", 1)
    taken.proved()


def test_chips_of_one_set_do_not_make_up_for_those_of_another(taken: Taken) -> None:
    held = taken.kit.held()
    taken.cashier.refresh()
    exchanged = {"withdrawn": {}, "pieces": held["pieces"] | {taken.value: held["pieces"].get(taken.value, 0) + 1}}
    assert not taken.cashier.ok("count", held | exchanged)["last_event"]["agrees"]


def test_sets_that_were_never_withdrawn_are_refused_whatever_the_books_have(taken: Taken) -> None:
    held = taken.kit.held()
    taken.cashier.refresh()
    for withdrawn, expected in (
        ({"NEXT": {"100": 1}}, (409, "chip_set_not_withdrawn")),
        ({"NEXT": {}}, (409, "chip_set_not_withdrawn")),
        ({"GONE": {"100": 1}}, (422, "unknown_chip_set")),
        ({"MAIN": {"7": 1}}, (422, "unknown_denomination")),
        ({"MAIN": {"100": -1}}, (400, "invalid_request")),
        ({"MAIN\0": {"100": 1}}, (400, "invalid_request")),
        ({"MAIN": 3}, (400, "invalid_request")),
        ([], (400, "invalid_request")),
    ):
        assert refusal(taken.cashier.post("count", held | {"withdrawn": withdrawn})) == expected, withdrawn
    assert taken.cashier.refresh()["state"] == "open"


def test_none_comes_to_the_vault_while_the_drawer_stands_still(taken: Taken) -> None:
    kit, body = taken.kit, {"kind": "withdrawn", "paper": "all of it", "pieces": {taken.value: 1}} | FROM_C1
    held = kit.held()
    taken.cashier.refresh()
    taken.cashier.ok("count", held)
    assert refusal(taken.supervisor.post("chip-moves", body)) == (409, "drawer_counted")
    taken.cashier.ok("close")
    assert refusal(taken.supervisor.post("chip-moves", body)) == (409, "drawer_closed")
    assert taken.pieces("9115") == {taken.value: 1}


def test_they_go_along_with_a_drawer_that_is_handed_over(taken: Taken) -> None:
    kit = taken.kit
    create_drawer(house=kit.house, code="C2", actor=ACTOR)
    taking = kit.cashier("C2")
    held = kit.held()
    taken.cashier.refresh()
    taken.cashier.ok("count", held)
    offered = taken.cashier.ok("hand-over", {"to_drawer": "C2"} | WHY)["last_event"]["handover"]
    assert offered["withdrawn"] == held["withdrawn"]
    taking.refresh()
    without = {"from_drawer": "C1"} | held | {"withdrawn": {}}
    answer = taking.post("take-over", without)
    assert refusal(answer) == (409, "handover_differs") and "MAIN" not in answer.text
    event = taking.ok("take-over", {"from_drawer": "C1"} | held)["last_event"]
    assert event["taken_from"]["withdrawn"] == held["withdrawn"]
    assert (taken.pieces(), taken.pieces("9115/C2"), taken.pieces("9115")) == ({}, {taken.value: 1}, {})
    assert taken.z()["handed_to"] == "C2"
    kit.close_drawer(taking)
    assert (taken.pieces("9115/C2"), taken.pieces("9115")) == ({}, {taken.value: 1})
    [opening] = [row for row in taken.z("C2", 1)["movements"] if row["kind"] == "drawer.opened"]
    assert opening["withdrawn"] == held["withdrawn"]
    taken.proved()


@pytest.mark.parametrize("column", ["expected_withdrawn", "counted_withdrawn", "first_count"])
def test_the_verifier_finds_a_changed_count(taken: Taken, column: str) -> None:
    taken.kit.close_drawer(taken.cashier)
    taken.kit.sequence()
    shift = Shift.objects.get(house=taken.kit.house, drawer__code="C1", number=2)
    changed = {"MAIN": {taken.value: 2}}
    value = shift.first_count | {"withdrawn": changed} if column == "first_count" else changed
    Shift.objects.filter(pk=shift.pk).update(**{column: value})
    assert f"cage.Shift C1/2, {column}" in str(verification(taken.kit.house)["audit_findings"])


def test_the_verifier_finds_a_changed_handover(taken: Taken) -> None:
    kit = taken.kit
    create_drawer(house=kit.house, code="C2", actor=ACTOR)
    taken.cashier.refresh()
    taken.cashier.ok("count", kit.held())
    taken.cashier.ok("hand-over", {"to_drawer": "C2"} | WHY)
    kit.sequence()
    found = Handover.objects.filter(house=kit.house, state="offered")
    assert found.update(withdrawn={}) == 1
    assert "withdrawn" in str(verification(kit.house)["audit_findings"])


def test_slips_know_what_was_set_aside_in_the_middle_of_the_shift(taken: Taken) -> None:
    """It is recorded with the house, not with the drawer; one chip more than the books have is a variance of then."""
    office = taken.kit.office()
    office.ok("drawers/C1/x-readings", {})
    move = taken.note("withdrawn", {taken.value: 2}, chip_set="MAIN", drawer="C1")
    assert taken.count(taken.one, move, {taken.value: 2}).json()["move"]["state"] == "done"
    after = office.ok("drawers/C1/x-readings", {})
    assert after["expected"]["withdrawn"] == {}
    assert all(row["equal"] for row in after["equalities"]), after["equalities"]
    [aside] = [row for row in after["movements"] if row["kind"] == "chips.withdrawn_set_aside"]
    assert (aside["count"], aside["withdrawn"]) == (1, {"MAIN": {taken.value: -1}})
    taken.close()
    assert "chips.withdrawn_set_aside" in [row["kind"] for row in taken.z()["movements"]]
    assert (broken(taken.kit, "z-slips"), broken(taken.kit, "x-readings")) == ([], [])
    taken.proved()
