"""What keeps a gaming day open, and what goes over by name."""

from datetime import datetime
from typing import Any

import pytest

from casino.reports.verifying import verification
from casino.staff.models import Role, TerminalKind
from casino.tables.models import CarryoverOnClose
from ledger.models import Transaction
from tests.casino.cage.test_bank import Bank
from tests.casino.cage.test_variances import WHY, Closed
from tests.casino.cage.test_vault import Vault as CountedVault
from tests.casino.days.test_days import CARRIED, FIRST, SECOND, THIRD, blocked, close, count_drawer, opened
from tests.casino.hands import test_later_rulings as later_rulings
from tests.casino.hands.test_ruling import RULING, disputed
from tests.casino.kit import TRAY, Desk, Kit
from tests.casino.scene import fingerprint
from tests.casino.superuser import unguarded
from tests.casino.tables.test_carryover import kitty_table
from tests.casino.transfers.test_transfers import Ends, floor_at, refusal
from tests.casino.transfers.test_tronc import Tips
from tests.casino.transfers.test_vault import Vault

HELD = {str(value): count for value, count in TRAY.items()}


def names(carried: dict[str, Any], *kinds: str) -> dict[str, Any]:
    """What goes over of other kinds than these."""
    return {kind: found for kind, found in carried.items() if found and kind not in kinds}


def counted(kit: Kit, pieces: dict[str, int]) -> tuple[int, Desk]:
    """A count of the tray of T1 that waits for its witness, and that."""
    found = kit.dealer().ok("tray-counts", {"purpose": "check", "pieces": pieces})["last_event"]["tray_count"]
    return int(found["tray_count"]), floor_at(kit, TerminalKind.TABLE, "T1")


def whole(kit: Kit) -> None:
    """Nothing is found in the house."""
    found = verification(kit.house)
    assert found["ok"], found["audit_findings"]


def test_an_open_dispute_keeps_the_day_open(kit: Kit) -> None:
    office = opened(kit, FIRST)
    floor = disputed(kit)
    count_drawer(kit)
    assert blocked(office.post(f"days/{FIRST}/close", version=1)) == [("hand", "T1-000001", "disputed")]
    kit.approved(floor, "hand/ruling", RULING)
    assert names(close(kit, office, FIRST)["carried"], "tables") == {}


def test_a_held_carry_goes_over_by_name(kit: Kit) -> None:
    office = opened(kit, FIRST)
    desk = kitty_table(kit, CarryoverOnClose.HOLD)
    held = kit.approved(desk, "close")["last_event"]["held"]
    count_drawer(kit)
    carried = close(kit, office, FIRST)["carried"]
    assert carried["balances"] == [
        {"table": "T1", "number": "2080", "kind": "carry held", "amount": sum(held.values())}
    ]  # fmt: skip


def test_an_open_approval_goes_over_by_name(kit: Kit) -> None:
    office = opened(kit, FIRST)
    kit.office(Role.CAGE_SUPERVISOR).post("duty", {"amount": 5, "reason": "November"})
    carried = close(kit, office, FIRST)["carried"]
    assert carried["approvals"] == [{"approval": 1, "operation": "bookDuty", "state": "requested"}]
    whole(kit)


def test_movements_of_chips_and_counts_of_trays_that_wait_go_over_by_name(kit: Kit) -> None:
    office, vault = opened(kit, FIRST), Vault(kit)
    kit.table()
    done, waits = vault.moved("set_aside", {"100": 1})["move"], vault.note("set_aside", {"100": 2})
    number, floor = counted(kit, HELD)
    office.ok("days", {"day": SECOND})
    later = vault.note("set_aside", {"100": 3})
    carried = close(kit, office, FIRST)["carried"]
    assert carried.keys() == set(CARRIED)
    assert carried["chip_moves"] == [{"move": waits, "kind": "set_aside", "state": "waiting"}]
    assert carried["tray_counts"] == [{"tray_count": 1, "table": "T1", "purpose": "check"}]
    assert "pieces" not in str(carried)
    floor.ok(f"tray-counts/{number}/witness", {"pieces": HELD})
    assert vault.count(vault.one, waits, {"100": 2}).is_success
    after = close(kit, office, SECOND)["carried"]
    assert [one["move"] for one in after["chip_moves"]] == [later]
    assert done != waits and after["tray_counts"] == []
    whole(kit)


def test_a_tray_that_is_witnessed_late_belongs_to_the_day_of_its_first_count(kit: Kit) -> None:
    office = opened(kit, FIRST)
    kit.table()
    short = HELD | {"100": HELD["100"] - 2}
    number, floor = counted(kit, short)
    office.ok("days", {"day": SECOND})
    floor.ok(f"tray-counts/{number}/witness", {"pieces": short})
    close(kit, office, FIRST)
    [late] = kit.office().get(f"days/{FIRST}").json()["adjustments"]
    assert (late["booked_in"], late["kind"]) == (SECOND, "tray.counted")
    assert (late["table"], late["tray_count"]) == ("T1", number)
    assert [row["debit"] for row in late["accounts"] if row["number"] == "5210"] == [200]
    assert Transaction.objects.get(book=kit.house.id, kind="tray.counted").metadata["for_day"] == FIRST
    whole(kit)


def test_a_waiting_count_that_is_not_named_is_found(kit: Kit) -> None:
    office = opened(kit, FIRST)
    kit.table()
    counted(kit, HELD)
    with unguarded("transfers_traycount") as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute("UPDATE transfers_traycount SET state = 'replaced' WHERE house_id = %s", [kit.house.id])
    assert close(kit, office, FIRST)["carried"]["tray_counts"] == []
    found = verification(kit.house)["audit_findings"]
    assert "day_differs" in {one["code"] for one in found}


def test_bags_counts_of_the_vault_and_shares_go_over_by_name(kit: Kit) -> None:
    office, tips, bank, vault = opened(kit, FIRST), Tips(kit), Bank(kit), CountedVault(kit)
    tips.counted()
    dealer = kit.runner()
    office.ok("tronc/share", {"points": {dealer: 1}})
    bag = bank.sent("B-1", 500)
    vault.one.ok("vault/counts", vault.held())
    kit.close_drawer(kit.cashier())
    carried = close(kit, office, FIRST)["carried"]
    assert carried["bank_bags"] == [{"number": bag, "way": "to_bank", "bag": "B-1"}]
    assert carried["vault_counts"] == [{"vault_count": 1, "state": "counting"}]
    share = {"pool": 1, "login": dealer, "amount": 630}
    assert carried["tronc_shares"] == [share]
    whole(kit)
    opened(kit, SECOND)
    assert bank.arrives(bag, 500).is_success
    after = close(kit, office, SECOND)["carried"]
    assert (after["bank_bags"], after["tronc_shares"]) == ([], [share])
    whole(kit)


# --- What is booked later for a day ---------------------------------------------------------------------------------


def adjustments(kit: Kit) -> list[tuple[Any, ...]]:
    """What was booked later for the first day, and why."""
    rows = kit.office().get(f"days/{FIRST}").json()["adjustments"]
    return [(row["kind"], row["booked_in"], row["reason"]) for row in rows]


def test_a_count_of_the_vault_that_is_signed_off_late_belongs_to_its_day(kit: Kit) -> None:
    office, vault = opened(kit, FIRST), CountedVault(kit)
    number = vault.both(cash=-5)["vault_count"]
    kit.close_drawer(kit.cashier())
    office.ok("days", {"day": SECOND})
    assert close(kit, office, FIRST)["carried"]["vault_counts"] == [{"vault_count": number, "state": "counted"}]
    vault.manager.ok(f"vault/counts/{number}/sign-off", {"reason": "five are missing"})
    assert adjustments(kit) == [("vault.count_signed_off", SECOND, "five are missing")]
    [row] = kit.office().get(f"days/{FIRST}").json()["adjustments"]
    assert row["vault_count"] == number
    whole(kit)


def test_a_hand_that_is_ruled_on_again_belongs_to_its_day(kit: Kit) -> None:
    office = opened(kit, FIRST)
    floor = later_rulings.settled(kit)
    count_drawer(kit)
    office.ok("days", {"day": SECOND})
    close(kit, office, FIRST)
    floor.refresh()
    kit.approved(floor, later_rulings.PATH, later_rulings.REMEDY)
    assert adjustments(kit) == [("hand.ruled_later", SECOND, later_rulings.REASON["reason"])]
    whole(kit)


@pytest.mark.parametrize(("what", "player"), [("attributions", "bela"), ("unattributions", "anna")])
def test_chips_that_are_attributed_late_belong_to_the_day_that_is_named(kit: Kit, what: str, player: str) -> None:
    office = opened(kit, FIRST)
    kit.players("anna", "bela", chips=1_000)
    count_drawer(kit)
    office.ok("days", {"day": SECOND})
    closed = close(kit, office, FIRST)
    body = {"place": "C1", "amount": 700, "reason": "seen on the film"}
    compliance = kit.office(Role.COMPLIANCE)
    for unknown in (THIRD, "2019-01-01", "C1"):
        before = fingerprint()
        refused = compliance.post(f"players/{player}/{what}", body | {"for_day": unknown})
        assert refusal(refused) == (404, "not_found")
        assert fingerprint() == before
    assert compliance.ok(f"players/{player}/{what}", body)["for_day"] is None
    assert adjustments(kit) == []
    assert compliance.ok(f"players/{player}/{what}", body | {"amount": 200, "for_day": FIRST})["for_day"] == FIRST
    kind = f"chips.{what.removesuffix('ions')}ed"
    assert adjustments(kit) == [(kind, SECOND, "seen on the film")]
    [row] = kit.office().get(f"days/{FIRST}").json()["adjustments"]
    assert row["place"] == "C1"
    moved = {one["number"]: one["debit"] - one["credit"] for one in row["accounts"]}
    assert moved == ({"2015": 200, "2010": -200} if what == "attributions" else {"2010": 200, "2015": -200})
    assert kit.office().get(f"days/{FIRST}").json()["snapshot"] == closed["snapshot"]
    # The open day is a day like another one: nothing of it is late.
    compliance.ok(f"players/{player}/{what}", body | {"amount": 1, "for_day": SECOND})
    assert kit.office().get(f"days/{SECOND}").json()["adjustments"] == []
    whole(kit)


def test_variances_that_are_offset_late_belong_to_the_day_of_their_shift(kit: Kit) -> None:
    office = opened(kit, FIRST)
    closed = Closed(kit)
    office.ok("days", {"day": SECOND})
    close(kit, office, FIRST)
    closed.offset(300)
    assert adjustments(kit) == [("variance.offset", SECOND, WHY["reason"])]
    [row] = kit.office().get(f"days/{FIRST}").json()["adjustments"]
    assert (row["place"], row["count"]) == ("C1", 1)
    whole(kit)


def test_what_is_on_hold_goes_over_by_name(kit: Kit) -> None:
    office = opened(kit, FIRST)
    office.ok("days", {"day": SECOND})
    ends = Ends(kit)
    fill = {"drawer": "C1", "pieces": {"100": 1}}
    ends.dealer.ok("fills", fill)
    ends.cashier.refresh()
    ends.cashier.ok("announced-cash-outs", {"amount": 500, "minutes": 90})
    until = ends.cashier.ok("announced-cash-outs", {"amount": 300, "minutes": 30})["last_event"]["until"]
    ends.cashier.ok("announced-cash-outs/1/withdraw", {"reason": "stays"})
    holds = close(kit, office, FIRST)["carried"]["holds"]
    assert [one["hold"] for one in holds] == ["cash_out:2", "fill:1"], "the first to run out first"
    assert datetime.fromisoformat(holds[0]["until"]) == datetime.fromisoformat(until)
    whole(kit)
