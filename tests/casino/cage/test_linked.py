"""What one person pays in, or is paid, in several transactions is added up before each of them."""

from typing import Any

import pytest

from casino.approvals.control_points import set_at_founding
from casino.cage.founding import create_drawer
from casino.players import thresholds
from casino.staff.models import Role
from casino.verification.auditing import verify_house
from tests.casino.busy import PERSON
from tests.casino.core.test_races import meanwhile
from tests.casino.kit import ACTOR, Desk, Kit
from tests.casino.scene import assert_problem, last_event, recorded_since
from tests.casino.transfers.test_transfers import refusal

FROM = 5_000
SUMS = ("gaming_day", "linked_hours", "linked_days", "linked_long_days")


def control(kit: Kit, **points: int) -> None:
    """Set control points."""
    set_at_founding(house=kit.house, points=points, actor=ACTOR)


@pytest.fixture
def cashier(kit: Kit) -> Desk:
    """A cashier at an open drawer on an open gaming day, and Anna and Bela, whom nobody knows."""
    control(kit, identity_from=FROM)
    kit.office(Role.FLOOR).ok("days", {"day": "2026-11-24"})
    kit.players("anna", "bela")
    desk = kit.cashier()
    kit.open_drawer(desk, cash=500_000, pieces={"5000": 20, "1000": 40, "500": 20, "100": 40})
    return desk


def know(cashier: Desk, player: str = "anna") -> None:
    """Record who a player is."""
    cashier.ok(f"/api/v1/players/{player}/person", {"person": PERSON, "reason": "first_record"}, version=1)
    cashier.refresh()


def buy(cashier: Desk, amount: int, player: str = "anna") -> dict[str, Any]:
    """Sell chips; returns the event."""
    found: dict[str, Any] = cashier.ok("buy-ins", {"player": player, "amount": amount})["last_event"]
    return found


def test_several_small_ones_reach_the_threshold_together(kit: Kit, cashier: Desk) -> None:
    buy(cashier, 3_000)
    last = last_event()
    problem = assert_problem(cashier.post("buy-ins", {"player": "anna", "amount": 2_000}), 409, "identity_required")
    assert (problem["amount"], problem["linked"]) == (FROM, sorted(SUMS))
    assert [event["kind"] for event in recorded_since(last)] == ["attempt.refused"]
    assert "threshold_reached" not in buy(cashier, 1_900)
    buy(cashier, 4_000, "bela")
    know(cashier)
    assert buy(cashier, 100)["threshold_reached"] == {"direction": "in", "sums": dict.fromkeys(SUMS, 5_000)}
    assert verify_house(kit.house).findings == []


@pytest.mark.parametrize(
    ("path", "more"),
    [
        ("buy-ins", {}),
        ("noncash-buy-ins", {"means": "card", "reference": "T-1"}),
        ("bearer-buy-ins", None),
        ("cash-outs", {}),
    ],
)
def test_every_way_of_paying_in_counts_and_nothing_else(
    kit: Kit, cashier: Desk, path: str, more: dict[str, Any] | None
) -> None:
    cashier.ok("noncash-buy-ins", {"player": "anna", "amount": 4_000, "means": "card", "reference": "T-0"})
    body = {"amount": 1_000} | ({} if more is None else {"player": "anna"} | more)
    answer = cashier.post(path, body)
    if path.endswith("buy-ins") and more is not None:
        assert refusal(answer) == (409, "identity_required")
    else:
        assert answer.status_code == 201, answer.text


def test_what_is_paid_out_is_added_up_by_itself(kit: Kit, cashier: Desk) -> None:
    know(cashier)
    cashier.ok("buy-ins", {"player": "anna", "amount": 20_000, "pieces": {"1000": 20}})
    know(cashier, "bela")
    for number in (1, 2):
        paid = cashier.ok("cash-outs", {"player": "bela", "amount": 3_000, "pieces": {"1000": 3}})["last_event"]
        assert ("threshold_reached" in paid) == (number == 2)
    assert paid["threshold_reached"] == {"direction": "out", "sums": dict.fromkeys(SUMS, 6_000)}
    assert verify_house(kit.house).findings == []


def test_a_window_that_is_nothing_is_not_looked_at(kit: Kit, cashier: Desk) -> None:
    control(kit, linked_hours=0, linked_days=0)
    buy(cashier, 4_000)
    problem = assert_problem(cashier.post("buy-ins", {"player": "anna", "amount": 1_000}), 409, "identity_required")
    assert problem["linked"] == ["gaming_day", "linked_long_days"]


def test_a_deposit_and_its_return_count(kit: Kit, cashier: Desk) -> None:
    know(cashier)
    assert "threshold_reached" not in cashier.ok("deposits", {"player": "anna", "amount": 4_000})["last_event"]
    assert buy(cashier, 1_000)["threshold_reached"]["sums"]["linked_hours"] == FROM
    cashier.ok("deposits/draw", {"player": "anna", "amount": 1_000})
    assert buy(cashier, 100)["threshold_reached"]["sums"]["linked_hours"] == FROM + 100
    returned = cashier.ok("deposits/return", {"player": "anna", "amount": 3_000})["last_event"]
    assert "threshold_reached" not in returned
    assert verify_house(kit.house).findings == []


def test_what_was_taken_back_by_a_correction_counts_no_more(kit: Kit, cashier: Desk) -> None:
    entry = cashier.ok("buy-ins", {"player": "anna", "amount": 4_000})["audit"]["seq"]
    right = {"kind": "cage.buy_in", "player": "anna", "amount": 3_000}
    kit.supervisor().ok("corrections", {"entry": entry, "right": right, "reason": "keyed wrong"})
    cashier.refresh()
    buy(cashier, 1_500)
    assert refusal(cashier.post("buy-ins", {"player": "anna", "amount": 500})) == (409, "identity_required")
    assert verify_house(kit.house).findings == []


def test_chips_booked_for_another_player_count_for_that_one(kit: Kit, cashier: Desk) -> None:
    buy(cashier, 4_000)
    compliance, body = kit.office(Role.COMPLIANCE), {"place": "C1", "amount": 4_000, "reason": "it was Bela"}
    compliance.ok("players/anna/unattributions", body)
    compliance.ok("players/bela/attributions", body)
    cashier.refresh()
    assert refusal(cashier.post("buy-ins", {"player": "bela", "amount": 1_000})) == (409, "identity_required")
    buy(cashier, 4_000)
    # Attributing is looked at as a buy-in is.
    compliance.ok("players/anna/unattributions", body | {"amount": 100})
    assert refusal(compliance.post("players/bela/attributions", body | {"amount": 1_000})) == (409, "identity_required")
    know(cashier, "bela")
    booked = compliance.ok("players/bela/attributions", body | {"amount": 1_000})
    assert booked["player_chips"] == 5_000
    assert recorded_since(last_event() - 1)[0]["data"]["threshold_reached"]["sums"]["gaming_day"] == 5_000
    assert verify_house(kit.house).findings == []


def test_a_correction_of_what_was_paid_counts_there(kit: Kit, cashier: Desk) -> None:
    cashier.ok("bearer-buy-ins", {"amount": 4_500, "pieces": {"1000": 4, "500": 1}})
    cashier.ok("cash-outs", {"player": "anna", "amount": 4_000, "pieces": {"1000": 4}})
    compliance, body = kit.office(Role.COMPLIANCE), {"place": "C1", "amount": 4_000, "reason": "it was Bela"}
    compliance.ok("players/anna/attributions", body | {"direction": "out"})
    cashier.refresh()
    paid = cashier.post("cash-outs", {"player": "anna", "amount": 500, "pieces": {"500": 1}})
    assert paid.status_code == 201, paid.text
    assert verify_house(kit.house).findings == []


def test_what_reaches_a_control_point_together_is_approved_once_for_each_multiple(kit: Kit, cashier: Desk) -> None:
    control(kit, identity_from=10**9, exchange_by_supervisor_from=5_000, exchange_by_manager_from=12_000)
    buy(cashier, 4_000)
    asked = assert_problem(cashier.post("buy-ins", {"player": "anna", "amount": 1_000}), 409, "approval_required")
    assert asked["approval"]["roles"] == ["cage_supervisor", "manager"]
    kit.approved(cashier, "buy-ins", {"player": "anna", "amount": 1_000}, by=Role.CAGE_SUPERVISOR)
    buy(cashier, 4_000)
    kit.approved(cashier, "buy-ins", {"player": "anna", "amount": 1_500}, by=Role.CAGE_SUPERVISOR)
    asked = assert_problem(cashier.post("buy-ins", {"player": "anna", "amount": 2_000}), 409, "approval_required")
    assert (asked["approval"]["roles"], asked["approval"]["every_role"]) == (["manager", "compliance"], True)
    assert verify_house(kit.house).findings == []


def test_two_cashiers_at_once_cannot_both_stay_below(kit: Kit, cashier: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    create_drawer(house=kit.house, code="C2", actor=ACTOR)
    other = kit.cashier("C2")
    kit.open_drawer(other, cash=500_000, pieces={"1000": 20})
    body = {"player": "anna", "amount": 3_000}
    first, second, waited = meanwhile(
        monkeypatch, thresholds, "check",
        second=lambda: other.post("buy-ins", body),
        first=lambda: cashier.post("buy-ins", body),
    )  # fmt: skip
    assert (first.status_code, waited, refusal(second)) == (201, True, (409, "identity_required")), second.text
    assert kit.balance("2010/anna") == 3_000
    assert verify_house(kit.house).findings == []


def test_the_cage_reads_what_the_next_transaction_is_added_to(kit: Kit, cashier: Desk) -> None:
    control(kit, linked_days=0)
    buy(cashier, 4_000)
    cashier.ok("noncash-buy-ins", {"player": "anna", "amount": 500, "means": "card", "reference": "T-1"})
    cashier.ok("cash-outs", {"player": "anna", "amount": 1_000, "pieces": {"1000": 1}})
    paid_in, nothing = dict.fromkeys(SUMS, 4_500) | {"linked_days": 0}, dict.fromkeys(SUMS, 0)
    for desk in (cashier, kit.office(Role.COMPLIANCE)):
        found = desk.get("/api/v1/players/anna/sums").json()
        assert (found["player"], found["known"], found["threshold"]) == ("anna", False, FROM)
        assert (found["paid_in"], found["paid_out"]["gaming_day"]) == (paid_in, 1_000)
    know(cashier, "bela")
    found = cashier.get("/api/v1/players/bela/sums").json()
    assert (found["known"], found["paid_in"], found["paid_out"]) == (True, nothing, nothing)
    assert refusal(cashier.get("/api/v1/players/vera/sums")) == (404, "not_found")
