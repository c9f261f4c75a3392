"""Two desks that work out chips at the same moment: the second waits, and counts on none that the first has taken."""

import pytest

from casino.bookkeeping import chart
from casino.cage.founding import create_drawer
from casino.chips import floats
from tests.casino.core.test_races import meanwhile
from tests.casino.kit import ACTOR, PIECES, Kit


def test_a_float_is_not_made_of_chips_that_another_drawer_takes(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    create_drawer(house=kit.house, code="C2", actor=ACTOR)
    one, two = kit.cashier("C1"), kit.cashier("C2")
    all_of_it = {"cash": 0, "pieces": {"1": PIECES[1]}}
    for code in ("C1", "C2"):
        kit.supervisor(code).ok("handovers", {"kind": "float"} | all_of_it)
    one.refresh(), two.refresh()
    first, second, waited = meanwhile(
        monkeypatch, floats, "from_vault",
        second=lambda: two.post("open", all_of_it),
        first=lambda: one.post("open", all_of_it),
    )  # fmt: skip
    assert (first.status_code, second.status_code) == (200, 409), (first.text, second.text)
    assert waited
    assert second.json()["code"] == "no_exact_change"
    assert chart.rack(kit.house, "9120/C1", "MAIN").pieces == {1: PIECES[1]}
    assert chart.rack(kit.house, "9120/C2", "MAIN").value == 0


def test_two_tables_do_not_count_on_the_same_chip_of_the_public(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    """One chip of 500 is in circulation: the first tip takes it, the second one is made of others."""
    bought = {"T1": {"5000": 3, "1000": 4, "500": 1, "100": 5}, "T2": {"5000": 4}}
    kit.players(*bought)
    cashier = kit.cashier()
    kit.open_drawer(cashier, cash=0, pieces={"5000": 7, "1000": 4, "500": 1, "100": 5})
    dealers = []
    for code, pieces in bought.items():
        kit.table(code)
        cashier.ok("buy-ins", {"player": code, "amount": 20_000, "pieces": pieces})
        dealer = kit.dealer(code)
        dealer.ok("open")
        dealer.ok("seats", {"seat": 1, "player": code, "amount": 20_000})
        dealers.append(dealer)
    one, two = dealers
    first, second, waited = meanwhile(
        monkeypatch, chart, "held_in",
        second=lambda: two.post("tips", {"seat": 1, "amount": 500}),
        first=lambda: one.post("tips", {"seat": 1, "amount": 500}),
    )  # fmt: skip
    assert (first.status_code, second.status_code) == (201, 201), (first.text, second.text)
    assert waited
    assert chart.rack(kit.house, "9160/T1", "MAIN").pieces == {500: 1}
    assert chart.rack(kit.house, "9160/T2", "MAIN").pieces == {100: 5}
    assert not chart.public(kit.house, "MAIN").shortage
