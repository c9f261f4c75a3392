"""A counted drawer goes to another cashier, who counts the same and opens a drawer with it."""

import json
from typing import Any

import pytest

from casino.cage.founding import create_drawer
from casino.cage.models import Handover, Shift
from casino.reports.verifying import verification
from casino.staff.models import Role, TerminalKind
from tests.casino.kit import ACTOR, Desk, Kit
from tests.casino.transfers.test_transfers import refusal

CASH, FOREIGN = 123_457, 400
FLOAT = {"5000": 11, "1000": 13, "500": 17, "100": 19, "25": 23, "5": 29, "1": 31}
WHY = {"reason": "the night shift begins"}


class Windows:
    """Drawer C1, which trades, and C2, which is closed, with a cashier at each."""

    def __init__(self, kit: Kit) -> None:
        self.kit = kit
        kit.players("anna")
        create_drawer(house=kit.house, code="C2", actor=ACTOR)
        self.leaving, self.taking = kit.cashier("C1"), kit.cashier("C2")
        kit.open_drawer(self.leaving, cash=CASH, pieces=FLOAT)
        self.leaving.ok("buy-ins", {"player": "anna", "amount": 7_919})
        self.leaving.ok("foreign-chips", {"amount": FOREIGN, "issuer": "Casino Wien"})

    def count(self, **more: int) -> None:
        """The leaving cashier counts what is there, but for what is named."""
        held = self.kit.held()
        self.leaving.ok("count", held | {name: held[name] + amount for name, amount in more.items()})

    def offer(self, desk: Desk | None = None) -> dict[str, Any]:
        """C1 is offered to C2."""
        desk = desk or self.leaving
        desk.refresh()
        return desk.ok("hand-over", {"to_drawer": "C2"} | WHY)

    def takes(self, **counted: Any) -> dict[str, Any]:
        """The body of the taking cashier, who has counted what is there."""
        return {"from_drawer": "C1"} | self.kit.held() | counted

    def z(self, drawer: str, number: int = 1) -> dict[str, Any]:
        """A Z slip."""
        answer = self.kit.office().get(f"drawers/{drawer}/shifts/{number}/z")
        assert answer.status_code == 200, answer.text
        return dict(answer.json())


@pytest.fixture
def windows(kit: Kit) -> Windows:
    """Two drawers."""
    return Windows(kit)


def test_all_of_a_drawer_goes_to_another_cashier(windows: Windows) -> None:
    kit = windows.kit
    held = kit.held()
    windows.count()
    offered = windows.offer()
    assert (offered["last_event"]["handover"]["to_drawer"], offered["state"]) == ("C2", "counted")
    assert kit.balance("1020/C1") == held["cash"]
    seen = windows.taking.refresh()["handover"]
    assert (seen["drawer"], seen["kind"], "cash" in seen, "foreign" in seen) == ("C1", "hand_over", False, False)
    taken = windows.taking.ok("take-over", windows.takes())
    event = taken["last_event"]
    assert (taken["state"], event["shift"], event["float_cash"], event["float_pieces"]) == (
        "open", 1, held["cash"], held["pieces"],
    )  # fmt: skip
    assert (event["taken_from"]["drawer"], event["taken_from"]["foreign"]) == ("C1", FOREIGN)
    assert kit.held("C1") == {"cash": 0, "pieces": {}, "foreign": 0} and kit.held("C2") == held
    assert windows.leaving.refresh()["state"] == "closed"
    left = windows.z("C1")
    assert (left["handed_to"], left["variance"]) == ("C2", 0)
    assert all(row["equal"] for row in left["equalities"]), left["equalities"]
    assert any(row["name"] == "accepted count = handed over to C2: cash" for row in left["equalities"])
    windows.taking.ok("cash-outs", {"player": "anna", "amount": 100})
    kit.close_drawer(windows.taking)
    mine = windows.z("C2")
    assert mine["handed_to"] is None and all(row["equal"] for row in mine["equalities"]), mine["equalities"]
    [opening] = [row for row in mine["movements"] if row["kind"] == "drawer.opened"]
    assert (opening["cash_in"], opening["foreign_in"]) == (held["cash"], FOREIGN)
    kit.sequence()
    assert not verification(kit.house)["audit_findings"]


def test_the_taking_cashier_counts_without_knowing(windows: Windows) -> None:
    kit = windows.kit
    held = kit.held()
    windows.count()
    windows.offer()
    wrong = ({"cash": held["cash"] + 1}, {"foreign": 0}, {"pieces": held["pieces"] | {"1": 1}})
    for counted in wrong:
        answer = windows.taking.post("take-over", windows.takes(**counted))
        assert refusal(answer) == (409, "handover_differs")
        assert str(held["cash"]) not in answer.text and json.dumps(held["pieces"]) not in answer.text
    assert kit.held() == held and not Shift.objects.filter(house=kit.house, drawer__code="C2").exists()
    windows.taking.ok("take-over", windows.takes())


def test_a_difference_is_counted_again_and_signed_off_before_the_drawer_is_offered(windows: Windows) -> None:
    kit = windows.kit
    held = kit.held()
    found = held | {"cash": held["cash"] - 7}
    windows.leaving.ok("count", found)
    assert refusal(windows.leaving.post("hand-over", {"to_drawer": "C2"} | WHY)) == (409, "count_differs")
    recounter, signer = kit.supervisor(), kit.supervisor()
    recounter.ok("recount", found)
    windows.leaving.refresh()
    assert refusal(windows.leaving.post("hand-over", {"to_drawer": "C2"} | WHY)) == (403, "forbidden")
    recounter.refresh()
    assert refusal(recounter.post("hand-over", {"to_drawer": "C2"} | WHY)) == (403, "four_eyes")
    listed = windows.taking.get("/api/v1/shifts?drawer=C1").json()["results"]
    assert [row["counted_cash"] for row in listed] == [None]
    windows.offer(signer)
    assert kit.balance("5200/C1") == 0
    assert refusal(windows.taking.post("take-over", {"from_drawer": "C1"} | held)) == (409, "handover_differs")
    windows.taking.ok("take-over", {"from_drawer": "C1"} | found)
    assert kit.balance("5200/C1") == 7 and kit.held("C2") == found
    left = windows.z("C1")
    assert (left["cash_variance"], left["reason"]) == (-7, WHY["reason"])
    assert left["closed_by"] == Shift.objects.get(house=kit.house, drawer__code="C1").closed_by.login
    assert all(row["equal"] for row in left["equalities"])
    kit.sequence()
    assert not verification(kit.house)["audit_findings"]


def test_it_is_offered_only_to_another_drawer_that_is_closed_and_free(windows: Windows) -> None:
    kit, leaving, taking = windows.kit, windows.leaving, windows.taking
    assert refusal(leaving.post("hand-over", {"to_drawer": "C2"} | WHY)) == (409, "drawer_open")
    windows.count()
    assert refusal(leaving.post("hand-over", {"to_drawer": "C1"} | WHY)) == (409, "no_change")
    assert refusal(leaving.post("hand-over", {"to_drawer": "C9"} | WHY)) == (404, "not_found")
    supervisor = kit.supervisor("C2")
    supervisor.ok("handovers", {"kind": "float", "cash": 100, "pieces": {}})
    assert refusal(leaving.post("hand-over", {"to_drawer": "C2"} | WHY)) == (409, "handover_open")
    taking.refresh()
    taking.ok("open", {"cash": 100, "pieces": {}})
    assert refusal(leaving.post("hand-over", {"to_drawer": "C2"} | WHY)) == (409, "drawer_open")
    kit.close_drawer(taking)
    windows.offer()
    supervisor.refresh()
    supervisor.ok("handovers", {"kind": "float", "cash": 100, "pieces": {}})
    taking.refresh()
    assert refusal(taking.post("take-over", windows.takes())) == (409, "handover_open")


def test_a_drawer_that_is_not_offered_is_not_taken(windows: Windows) -> None:
    kit, taking = windows.kit, windows.taking
    assert refusal(taking.post("take-over", windows.takes())) == (409, "no_float")
    assert refusal(taking.post("take-over", windows.takes(from_drawer="C2"))) == (409, "no_change")
    windows.count()
    windows.offer()
    leaving = windows.leaving
    assert refusal(leaving.post("close")) == (409, "drawer_has_open_work")
    create_drawer(house=kit.house, code="C3", actor=ACTOR)
    assert refusal(kit.cashier("C3").post("take-over", windows.takes())) == (409, "no_float")
    leaving.ok("handovers/2/withdraw", WHY)
    taking.refresh()
    assert refusal(taking.post("take-over", windows.takes())) == (409, "no_float")
    assert leaving.ok("close")["state"] == "closed"


def test_nobody_takes_over_what_they_have_counted_or_offered(windows: Windows) -> None:
    kit = windows.kit
    windows.count()
    windows.offer()
    for role in (Role.CAGE_SUPERVISOR, Role.FLOOR):
        assert refusal(kit.supervisor("C2", role=role).post("take-over", windows.takes())) == (403, "forbidden")
    context, token = kit.hire(Role.CASHIER, TerminalKind.CAGE, "C2")
    Shift.objects.filter(house=kit.house, drawer__code="C1").update(opened_by=context.staff)
    opener = Desk(kit.http(token), "/api/v1/drawers/C2")
    opener.refresh()
    assert refusal(opener.post("take-over", windows.takes())) == (403, "four_eyes")
    Handover.objects.filter(house=kit.house, kind="hand_over").update(offered_by=context.staff)
    assert refusal(opener.post("take-over", windows.takes())) == (403, "four_eyes")


def test_an_offer_that_names_another_taker_is_found(windows: Windows) -> None:
    kit = windows.kit
    windows.count()
    windows.offer()
    windows.taking.ok("take-over", windows.takes())
    kit.sequence()
    assert not verification(kit.house)["audit_findings"]
    Shift.objects.filter(house=kit.house, drawer__code="C1").update(handed_to=None)
    Handover.objects.filter(house=kit.house, kind="hand_over").update(foreign=FOREIGN - 1)
    places = {finding["place"] for finding in verification(kit.house)["audit_findings"]}
    assert {"cage.Shift C1/1, handed_to", "cage.Handover C1/2, foreign"} <= places, places
