"""The cage: chips against cash, and counts that find what is over or short."""

import pytest

from casino.bookkeeping import chart
from casino.chips.selectors import in_use
from casino.core.denominations import canonical
from casino.reports.selectors import custody, house_report
from casino.reports.verifying import verification
from tests.casino.kit import CHIPS, Kit


def test_chips_sold_and_bought_back_leave_cash_and_custody_as_they_were(kit: Kit) -> None:
    kit.players("anna")
    cashier = kit.cashier()
    kit.open_drawer(cashier, cash=10_000, chips=50_000)
    bought = cashier.ok("buy-ins", {"player": "anna", "amount": 7_000})
    assert kit.balance("1020/C1", "9120/C1") == [17_000, 43_000]
    assert bought["last_event"]["player_chips"] == 7_000
    assert (bought["last_event"]["kind"], bought["last_event"]["player"]) == ("cage.buy_in", "anna")
    assert bought.keys() - cashier.get().json().keys() == {"last_event", "audit"}
    assert custody(kit.house) == {"chips_in_circulation": 7_000, "chip_liability": 7_000, "equal": True}
    sold = cashier.ok("cash-outs", {"player": "anna", "amount": 7_000})
    assert sold["last_event"]["player_chips"] == 0
    assert kit.balance("1020/C1", "9120/C1") == [10_000, 50_000]
    assert kit.balance("2010/anna", "9170/C1") == [0, 0]


@pytest.mark.some_now(2)
@pytest.mark.parametrize(
    ("cash", "chips", "cash_variance", "chip_variance"),
    [(17_000, 43_000, 0, 0), (16_500, 43_000, -500, 0), (17_000, 42_900, 0, -100), (17_300, 43_050, 300, 50)],
    ids=["exact", "cash short", "chips short", "both over"],
)
def test_a_count_posts_what_is_over_or_short_and_everything_goes_to_the_vault(
    kit: Kit, cash: int, chips: int, cash_variance: int, chip_variance: int
) -> None:
    kit.players("anna")
    cashier = kit.cashier()
    kit.open_drawer(cashier, cash=10_000, chips=50_000)
    cashier.ok("buy-ins", {"player": "anna", "amount": 7_000})
    held = chart.rack(kit.house, "9120/C1", "MAIN")
    apart = canonical(in_use(kit.house), abs(chip_variance))
    counted = held + apart if chip_variance > 0 else held - apart
    closed = kit.close_drawer(cashier, cash=cash, pieces=counted.as_json())
    found = closed["last_event"]["reconciliation"]
    assert (found["cash_variance"], found["chip_variance"]) == (cash_variance, chip_variance)
    assert (found["expected_cash"], found["expected_chips"]) == (17_000, 43_000)
    assert found["counted_chips"] == chips
    assert kit.balance("1020/C1", "9120/C1") == [0, 0]
    assert kit.balance("1010", "9110") == [CHIPS - 10_000 + cash, CHIPS - 50_000 + chips]
    assert kit.balance("5200/C1", "5210/C1") == [-cash_variance, -chip_variance]
    report = house_report(kit.house)
    assert report["custody"]["equal"]
    assert report["trial_balance"]["balanced"]
    assert verification(kit.house)["ok"]


def test_a_second_shift_starts_from_an_empty_drawer(kit: Kit) -> None:
    cashier = kit.cashier()
    kit.open_drawer(cashier, cash=1_000, chips=2_000)
    kit.close_drawer(cashier)
    opened = kit.open_drawer(cashier, cash=500, chips=600)
    assert opened["shift"] == 2
    assert kit.balance("1020/C1", "9120/C1") == [500, 600]
