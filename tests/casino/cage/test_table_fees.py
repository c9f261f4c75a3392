"""Table fees in cash: paid at the cage for the time at a table that charges none in chips."""

from typing import Any

import pytest

from casino.reports.selectors import house_report
from casino.reports.verifying import verification
from casino.staff.models import Role, TerminalKind
from tests.casino.devices import code
from tests.casino.kit import Desk, Kit
from tests.casino.transfers.test_transfers import floor_at

FEE: dict[str, Any] = {"player": "anna", "table": "Z1", "amount": 2_000, "minutes": 120}


@pytest.fixture
def cashier(kit: Kit) -> Desk:
    """A cashier at an open drawer; Anna, and tables of Zsíros and of Ferbli."""
    kit.players("anna")
    kit.table()
    kit.table_for("zsiros", {"stake": 100, "players": 4}, code="Z1", seats=4, max_stack=50_000)
    desk = kit.cashier()
    kit.open_drawer(desk, cash=100_000)
    return desk


def test_a_fee_is_paid_in_cash_and_stands_in_every_report(kit: Kit, cashier: Desk) -> None:
    before = kit.balance("1020/C1")
    kit.office(Role.MANAGER).ok("days", {"day": "2026-01-01"})
    paid = cashier.ok("table-fees", FEE)
    event = paid["last_event"]
    assert (event["kind"], event["player"], event["table"]) == ("cage.table_fee", "anna", "Z1")
    assert (event["amount"], event["minutes"], paid["audit"]["chain"]) == (2_000, 120, "drawer/C1")
    assert kit.balance("1020/C1", "4020/Z1", "2010/anna") == [before + 2_000, 2_000, 0]
    fees = {row["table"]: row["fees"] for row in house_report(kit.house)["tables"]}
    assert fees == {"T1": 0, "Z1": 2_000}
    report = kit.office().get("days/2026-01-01").json()
    assert report["turnover"]["fees"] == 2_000
    assert {row["table"]: row["fees"] for row in report["tables"]} == fees
    kit.close_drawer(cashier)
    slip = kit.office().get("drawers/C1/shifts/1/z").json()
    [row] = [one for one in slip["movements"] if one["kind"] == "cage.table_fee"]
    assert (row["count"], row["cash_in"], row["cash_out"]) == (1, 2_000, 0)
    assert all(one["equal"] for one in slip["equalities"])
    assert verification(kit.house)["ok"]


def test_nobody_pays_twice_nor_for_what_has_no_fee(kit: Kit, cashier: Desk) -> None:
    assert code(cashier.post("table-fees", FEE | {"table": "T1"})) == (422, "no_seat_fee")
    assert code(cashier.post("table-fees", FEE | {"table": "T7"})) == (404, "not_found")
    assert code(cashier.post("table-fees", FEE | {"player": "bela"})) == (404, "not_found")
    for wrong in ({"amount": 0}, {"minutes": 0}, {"minutes": 24 * 60 + 1}):
        assert code(cashier.post("table-fees", FEE | wrong)) == (400, "invalid_request")
    floor = floor_at(kit, TerminalKind.TABLE, "Z1")
    floor.refresh()
    floor.ok("seat-fee", {"amount": 50, "per": "deal", "reason": "from now on in chips"})
    refused = cashier.post("table-fees", FEE)
    assert (code(refused), refused.json()["amount"]) == ((409, "fee_in_chips"), 50)
    assert kit.balance("4020/Z1") == 0
    assert verification(kit.house)["ok"]


def test_only_the_cage_takes_a_fee_and_only_at_an_open_drawer(kit: Kit, cashier: Desk) -> None:
    assert code(kit.supervisor(role=Role.MANAGER).post("table-fees", FEE)) == (403, "forbidden")
    assert code(cashier.post("table-fees", FEE, version=1)) == (412, "version_conflict")
    assert code(kit.dealer("Z1").post("/api/v1/drawers/C1/table-fees", FEE, version=cashier.version)) == (
        403,
        "forbidden",
    )
    kit.close_drawer(cashier)
    assert code(cashier.post("table-fees", FEE)) == (409, "drawer_closed")


def test_a_retired_table_has_no_fee(kit: Kit, cashier: Desk) -> None:
    kit.office(Role.ADMIN).ok("tables", {
        "table": "Z2", "game": "zsiros", "options": {"stake": 100, "players": 4}, "seat_count": 4,
        "min_stack": 2_000, "max_stack": 50_000, "carryover_on_close": "split",
    })  # fmt: skip
    kit.office(Role.ADMIN).ok("tables/Z2/retire", {"reason": "never used"}, version=1)
    assert code(cashier.post("table-fees", FEE | {"table": "Z2"})) == (409, "table_retired")


def test_a_supervisor_takes_a_wrong_fee_back_once(kit: Kit, cashier: Desk) -> None:
    before = kit.balance("1020/C1")
    wrong = cashier.ok("table-fees", FEE)["audit"]["seq"]
    body = {"entry": wrong, "reason": "another table was meant"}
    assert code(cashier.post("corrections", body)) == (403, "forbidden")
    supervisor = kit.supervisor()
    supervisor.refresh()
    corrected = supervisor.ok("corrections", body)["last_event"]
    assert (corrected["corrects"], corrected["was"]) == (wrong, "cage.table_fee")
    assert kit.balance("1020/C1", "4020/Z1") == [before, 0]
    assert code(supervisor.post("corrections", body)) == (409, "already_corrected")
    kit.office(Role.MANAGER).ok("days", {"day": "2026-01-01"})
    assert verification(kit.house)["ok"]
