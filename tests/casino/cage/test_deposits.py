"""Deposits: cash that the house keeps for a player whom it knows, drawn in chips and returned in cash."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connections

from casino.bookkeeping import chart
from casino.reports.selectors import custody
from casino.reports.verifying import verification
from casino.staff.models import Role
from tests.casino.busy import PERSON
from tests.casino.kit import Desk, Kit
from tests.casino.transfers.test_transfers import refusal

#: From here on, an exchange needs a supervisor.
BY_SUPERVISOR = 2_000_000


@pytest.fixture
def cashier(kit: Kit) -> Desk:
    """A cashier at an open drawer; Anna, whom the house knows, and Bela, whom it does not."""
    kit.players("anna", "bela")
    desk = kit.cashier()
    kit.open_drawer(desk, cash=5_000_000, pieces={"100000": 20, "5000": 20, "1000": 20})
    desk.ok("/api/v1/players/anna/person", {"person": PERSON, "reason": "first_record"}, version=1)
    desk.refresh()
    return desk


def moved(desk: Desk, what: str, amount: int, player: str = "anna", **more: Any) -> Any:
    """The answer to a movement of a deposit."""
    return desk.post(f"deposits{what}", {"player": player, "amount": amount} | more)


def test_a_deposit_is_taken_drawn_and_returned(kit: Kit, cashier: Desk) -> None:
    taken = moved(cashier, "", 50_000).json()["last_event"]
    assert (taken["kind"], taken["deposit"]) == ("cage.deposit_taken", 50_000)
    assert kit.balance("1020/C1", "2090/anna", "2010/anna") == [5_050_000, 50_000, 0]
    assert custody(kit.house) == {"chips_in_circulation": 0, "chip_liability": 0, "equal": True}
    drawn = moved(cashier, "/draw", 6_000, pieces={"1000": 6}).json()["last_event"]
    assert (drawn["deposit"], drawn["player_chips"], drawn["exchanged"]) == (44_000, 6_000, {"1000": 6})
    assert kit.balance("1020/C1", "2090/anna", "2010/anna") == [5_050_000, 44_000, 6_000]
    assert custody(kit.house) == {"chips_in_circulation": 6_000, "chip_liability": 6_000, "equal": True}
    auditor = kit.office()
    # What keeps a player from being forgotten.
    assert {code: held for code, held, _ in chart.of_player(kit.house, "anna")} == {
        "2010/anna": 6_000, "2090/anna": 44_000,
    }  # fmt: skip
    [row] = auditor.get("deposits").json()["results"]
    assert (row["player"], row["deposit"]) == ("anna", 44_000)
    report = {one["player"]: one for one in auditor.get("reports/players").json()["results"]}
    assert report["anna"] == {"player": "anna", "chips": 6_000, "deposit": 44_000}
    assert report["bela"] == {"player": "bela", "chips": 0, "deposit": 0}
    assert moved(cashier, "/return", 44_000).json()["last_event"]["deposit"] == 0
    assert kit.balance("1020/C1", "2090/anna") == [5_006_000, 0]
    assert auditor.get("deposits").json()["results"] == []
    assert verification(kit.house)["ok"]


@pytest.mark.parametrize("what", ["/draw", "/return"])
def test_nobody_gets_more_than_lies_there(kit: Kit, cashier: Desk, what: str) -> None:
    assert refusal(moved(cashier, what, 1_000)) == (409, "insufficient_funds")
    assert moved(cashier, "", 5_000).is_success
    assert refusal(moved(cashier, what, 6_000)) == (409, "insufficient_funds")
    assert refusal(moved(cashier, what, 1_000, "bela")) == (409, "insufficient_funds")
    assert kit.balance("2090/anna") == 5_000
    assert verification(kit.house)["ok"]


def test_a_deposit_is_of_a_player_whom_the_house_knows(kit: Kit, cashier: Desk) -> None:
    assert refusal(moved(cashier, "", 1_000, "bela")) == (404, "no_person")
    assert refusal(moved(cashier, "", 1_000, "nobody")) == (404, "not_found")
    assert refusal(moved(cashier, "", 0)) == (400, "invalid_request")
    assert refusal(kit.supervisor(role=Role.MANAGER).post("deposits", {"player": "anna", "amount": 1})) == (
        403, "forbidden",
    )  # fmt: skip
    kit.close_drawer(cashier)
    assert refusal(moved(cashier, "", 1_000)) == (409, "drawer_closed")
    assert refusal(moved(cashier, "/return", 1_000)) == (409, "drawer_closed")


def test_a_large_deposit_is_approved_both_ways(kit: Kit, cashier: Desk) -> None:
    body = {"player": "anna", "amount": BY_SUPERVISOR}
    assert refusal(cashier.post("deposits", body)) == (409, "approval_required")
    kit.approved(cashier, "deposits", body, by=Role.CAGE_SUPERVISOR)
    assert kit.balance("2090/anna") == BY_SUPERVISOR
    assert refusal(cashier.post("deposits/return", body)) == (409, "approval_required")
    returned = kit.approved(cashier, "deposits/return", body, by=Role.CAGE_SUPERVISOR)
    assert (returned["last_event"]["deposit"], kit.balance("2090/anna")) == (0, 0)
    assert verification(kit.house)["ok"]


def test_a_z_slip_has_deposits(kit: Kit, cashier: Desk) -> None:
    moved(cashier, "", 9_000)
    moved(cashier, "/draw", 2_000)
    moved(cashier, "/return", 3_000)
    kit.close_drawer(cashier)
    slip = kit.office().get("drawers/C1/shifts/1/z").json()
    kinds = {row["kind"]: row for row in slip["movements"]}
    assert (kinds["cage.deposit_taken"]["cash_in"], kinds["cage.deposit_returned"]["cash_out"]) == (9_000, 3_000)
    assert (kinds["cage.deposit_drawn"]["cash_out"], kinds["cage.deposit_drawn"]["chips_out"]) == (0, 2_000)
    assert all(one["equal"] for one in slip["equalities"])


def test_a_deposit_is_returned_once(kit: Kit, cashier: Desk) -> None:
    """Two drawers pay the same deposit at the same moment."""
    moved(cashier, "", 9_000)
    kit.office(Role.ADMIN).ok("drawers", {"drawer": "C2"})
    other = kit.cashier("C2")
    kit.open_drawer(other, cash=20_000, pieces={})

    def returns(desk: Desk) -> int:
        try:
            return int(moved(desk, "/return", 9_000).status_code)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(returns, (cashier, other))) == [201, 409]
    assert kit.balance("2090/anna") == 0
    assert verification(kit.house)["ok"]
