"""What a cashier has keyed wrong is taken back and made right by a supervisor, once, in the same shift."""

from typing import Any

import pytest

from casino.reports.verifying import verification
from casino.staff.models import Role, Staff
from tests.casino.kit import Desk, Kit
from tests.casino.transfers.test_transfers import refusal

REASON = {"reason": "keyed one nought too many"}


@pytest.fixture
def cashier(kit: Kit) -> Desk:
    """A cashier at a drawer with chips, and two players."""
    kit.players("anna", "bela")
    kit.table()
    desk = kit.cashier()
    kit.open_drawer(desk, cash=200_000, pieces={"5000": 50, "1000": 50, "500": 50})
    return desk


def keyed(cashier: Desk, path: str, body: dict[str, Any]) -> int:
    """An entry; returns its number, which the receipt has."""
    number: int = cashier.ok(path, body)["audit"]["seq"]
    return number


def corrected(kit: Kit, entry: int, right: dict[str, Any] | None = None, *, by: Desk | None = None) -> Any:
    """A supervisor's correction."""
    desk = by or kit.supervisor()
    desk.refresh()
    return desk.post("corrections", {"entry": entry} | ({"right": right} if right else {}) | REASON)


def test_a_buy_in_of_the_wrong_amount_is_made_right(kit: Kit, cashier: Desk) -> None:
    wrong = keyed(cashier, "buy-ins", {"player": "anna", "amount": 50_000})
    right = {"kind": "cage.buy_in", "player": "anna", "amount": 5_000, "pieces": {"5000": 1}}
    answer = corrected(kit, wrong, right)
    assert answer.status_code == 201, answer.text
    event = answer.json()["last_event"]
    assert (event["kind"], event["corrects"], event["was"]) == ("cage.corrected", wrong, "cage.buy_in")
    assert (event["right"]["kind"], event["right"]["amount"], len(event["mirrors"])) == ("cage.buy_in", 5_000, 1)
    assert kit.balance("2010/anna", "1020/C1", "9120/C1") == [5_000, 205_000, 320_000]
    assert verification(kit.house)["ok"]


def test_an_entry_is_corrected_once_and_not_by_its_cashier(kit: Kit, cashier: Desk) -> None:
    wrong = keyed(cashier, "buy-ins", {"player": "anna", "amount": 5_000})
    assert refusal(cashier.post("corrections", {"entry": wrong} | REASON)) == (403, "forbidden")
    Staff.objects.filter(house=kit.house, roles=[Role.CASHIER]).update(roles=[Role.CASHIER, Role.CAGE_SUPERVISOR])
    assert refusal(cashier.post("corrections", {"entry": wrong} | REASON)) == (403, "four_eyes")
    assert corrected(kit, wrong).status_code == 201
    assert kit.balance("2010/anna", "1020/C1") == [0, 200_000]
    assert refusal(corrected(kit, wrong)) == (409, "already_corrected")
    assert kit.balance("2010/anna", "1020/C1") == [0, 200_000]


def test_the_wrong_player_is_made_right_though_the_chips_are_gone(kit: Kit, cashier: Desk) -> None:
    """Anna has sat down with chips that Bela had bought: what she lacks for the mirror is booked for no player."""
    wrong = keyed(cashier, "buy-ins", {"player": "anna", "amount": 10_000})
    dealer = kit.dealer()
    dealer.ok("open")
    dealer.ok("seats", {"seat": 1, "player": "anna", "amount": 6_000})
    event = corrected(kit, wrong, {"kind": "cage.buy_in", "player": "bela", "amount": 10_000}).json()["last_event"]
    assert event["attributed"] == 6_000
    assert kit.balance("2010/anna", "2010/bela", "2020/T1/anna", "2015/C1") == [0, 10_000, 6_000, -6_000]
    assert verification(kit.house)["ok"]


def test_every_kind_of_trade_is_corrected(kit: Kit, cashier: Desk) -> None:
    cashier.ok("buy-ins", {"player": "anna", "amount": 20_000, "pieces": {"5000": 4}})
    before = kit.held()
    entries = (
        ("cash-outs", {"player": "anna", "amount": 5_000}, "cage.cash_out",
         {"player": "anna", "amount": 10_000, "pieces": {"5000": 2}}),
        ("bearer-buy-ins", {"amount": 500}, "cage.bearer_buy_in", {"amount": 1_000}),
        ("bearer-cash-outs", {"amount": 5_000, "pieces": {"5000": 1}}, "cage.bearer_cash_out",
         {"amount": 1_000, "pieces": {"1000": 1}}),
        ("exchanges", {"given": {"5000": 1}, "wanted": {"1000": 5}}, "cage.exchange",
         {"given": {"5000": 1}, "wanted": {"500": 10}}),
        ("foreign-chips", {"amount": 4_000, "issuer": "Wien"}, "cage.foreign_chips",
         {"amount": 400, "issuer": "Baden"}),
    )  # fmt: skip
    for path, body, kind, right in entries:
        cashier.refresh()
        answer = corrected(kit, keyed(cashier, path, body), {"kind": kind} | right)
        assert (answer.status_code, answer.json()["last_event"]["right"]["kind"]) == (201, kind), answer.text
    held = kit.held()
    assert held["cash"] - before["cash"] == -10_000 + 1_000 - 1_000 - 400
    assert {value: held["pieces"][value] - count for value, count in before["pieces"].items()} == {
        "5000": 3, "1000": 0, "500": -10,
    }  # fmt: skip
    assert held["foreign"] == 400
    kit.close_drawer(cashier)
    z = kit.office().get("drawers/C1/shifts/1/z").json()
    assert [row for row in z["equalities"] if not row["equal"]] == []
    assert {row["kind"]: row["count"] for row in z["movements"]}["cage.corrected"] == 5
    assert verification(kit.house)["ok"]


def test_what_is_no_entry_of_the_shift_is_not_corrected(kit: Kit, cashier: Desk) -> None:
    old = keyed(cashier, "buy-ins", {"player": "anna", "amount": 5_000})
    supervisor = kit.supervisor()
    assert refusal(corrected(kit, 999, by=supervisor)) == (404, "not_found")
    assert refusal(corrected(kit, old - 1, by=supervisor)) == (404, "not_found")
    cashier.refresh()
    cashier.ok("count", kit.held())
    assert refusal(corrected(kit, old, by=supervisor)) == (409, "drawer_counted")
    cashier.refresh()
    cashier.ok("close")
    kit.open_drawer(cashier, cash=10_000, chips=0)
    assert refusal(corrected(kit, old, by=supervisor)) == (404, "not_found")


@pytest.mark.parametrize(
    "right",
    [
        {"kind": "cage.tronc_paid"},
        {"kind": "cage.buy_in", "amount": 5_000},
        {"kind": "cage.buy_in", "amount": 5_000, "player": "anna", "issuer": "Wien"},
        {"kind": "cage.exchange", "wanted": {"500": 1}},
        {"amount": 5},
    ],
)
def test_a_right_entry_names_what_its_kind_needs(kit: Kit, cashier: Desk, right: dict[str, Any]) -> None:
    wrong = keyed(cashier, "buy-ins", {"player": "anna", "amount": 5_000})
    assert refusal(corrected(kit, wrong, right)) == (400, "invalid_request")
    assert kit.balance("2010/anna") == 5_000


def test_a_right_entry_that_is_refused_takes_nothing_back(kit: Kit, cashier: Desk) -> None:
    wrong = keyed(cashier, "buy-ins", {"player": "anna", "amount": 5_000})
    nobody = {"kind": "cage.buy_in", "player": "nobody", "amount": 5_000}
    assert refusal(corrected(kit, wrong, nobody)) == (404, "not_found")
    assert kit.balance("2010/anna", "1020/C1") == [5_000, 205_000]


def test_a_day_turns_over_what_is_right(kit: Kit, cashier: Desk) -> None:
    kit.office(Role.FLOOR).ok("days", {"day": "2020-02-29"})
    wrong = keyed(cashier, "buy-ins", {"player": "anna", "amount": 50_000})
    assert corrected(kit, wrong, {"kind": "cage.buy_in", "player": "anna", "amount": 5_000}).is_success
    report = kit.office().get("days/2020-02-29").json()
    assert report["drawers"] == [{"drawer": "C1", "buy_ins": 5_000, "cash_outs": 0}]
