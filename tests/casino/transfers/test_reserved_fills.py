"""The pieces of a fill that a table asks for are set aside in the drawer until they are sent, or the fill is cancelled,
or an hour has passed."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from casino.audit import verifier
from casino.chips import selectors as chips
from casino.core import sql
from casino.days import open_work
from casino.reports import tasks
from casino.reports.verifying import verification
from casino.staff.models import Role
from casino.transfers.models import RESERVED_SECONDS
from casino.verification import exporting
from ledger.models import Hold
from tests.casino.devices import events
from tests.casino.kit import Kit
from tests.casino.superuser import unguarded
from tests.casino.transfers.test_transfers import REASON, Ends, ends, named, refusal

__all__ = ["ends"]

#: Of 100 pieces of each denomination in the drawer.
ASKED = {"100": 90, "25": 40}


def asked(ends: Ends, **changed: Any) -> dict[str, Any]:
    """A fill that the table asks for."""
    body = {"drawer": "C1", "pieces": ASKED} | changed
    found: dict[str, Any] = ends.dealer.ok("fills", body)["last_event"]["transfer"]
    return found


def held(kit: Kit) -> list[tuple[str, str]]:
    """Holds with their states, the oldest first."""
    return list(Hold.objects.filter(book=kit.house.id).order_by("id").values_list("key", "state"))


def assert_rebuilt(kit: Kit, folder: Path) -> None:
    """Verification finds nothing, nor does the verifier in an export."""
    report = verification(kit.house)
    assert report["ok"], {name: found for name, found in report.items() if found}
    exporting.export_house(kit.house, folder / "export")
    assert verifier.verify_export(folder / "export").findings == []


def bought(ends: Ends, **body: Any) -> Any:
    """Chips that the cage sells."""
    return ends.cashier.post("bearer-buy-ins", body)


def test_what_a_table_asks_for_is_not_sold_and_then_sent(ends: Ends, tmp_path: Path) -> None:
    before = ends.values()
    fill = asked(ends)
    assert (fill["state"], fill["reservation"]) == ("requested", "pending")
    assert held(ends.kit) == [("fill:1", "pending")] and ends.values() == before, "nothing has moved"
    assert refusal(bought(ends, amount=1_100, pieces={"100": 11})) == (409, "drawer_short")
    assert bought(ends, amount=1_000, pieces={"100": 10}).status_code == 201
    # What the house works out leaves them alone too.
    answer = bought(ends, amount=2_000).json()
    assert "100" not in answer["last_event"]["exchanged"], answer
    ends.cashier.refresh()
    sent = ends.cashier.ok(f"fills/{fill['serial']}/send", {})["last_event"]["transfer"]
    assert (sent["state"], sent["sent"], sent["reservation"]) == ("sent", ASKED, "voided")
    assert held(ends.kit) == [("fill:1", "voided")]
    assert_rebuilt(ends.kit, tmp_path)


def test_other_chips_are_sent_instead_and_the_rest_is_free_again(ends: Ends) -> None:
    fill = asked(ends)
    ends.cashier.ok(f"fills/{fill['serial']}/send", {"pieces": {"5": 10}})
    assert held(ends.kit) == [("fill:1", "voided")]
    assert bought(ends, amount=10_000, pieces={"100": 100}).status_code == 201


@pytest.mark.parametrize("at", ["dealer", "cashier"])
def test_a_cancelled_fill_sets_nothing_aside(ends: Ends, tmp_path: Path, at: str) -> None:
    fill = asked(ends)
    desk = getattr(ends, at)
    desk.refresh()
    cancelled = desk.ok(f"fills/{fill['serial']}/cancel", REASON)["last_event"]["transfer"]
    assert cancelled["reservation"] == "voided" and held(ends.kit) == [("fill:1", "voided")]
    assert_rebuilt(ends.kit, tmp_path)


def test_two_fills_do_not_count_on_the_same_chips(ends: Ends) -> None:
    assert asked(ends)["reservation"] == "pending"
    second = asked(ends)
    assert second["reservation"] == "", "the drawer has only ten of them left: it is asked for all the same"
    assert refusal(ends.cashier.post(f"fills/{second['serial']}/send", {})) == (409, "drawer_short")


def test_amounts_and_credits_set_nothing_aside(ends: Ends) -> None:
    by_amount = ends.dealer.ok("fills", {"drawer": "C1", "amount": 500})
    assert by_amount["last_event"]["transfer"]["reservation"] == ""
    credit = ends.cashier.ok("credits", {"table": "T1", "pieces": {"100": 1}})
    assert credit["last_event"]["transfer"]["reservation"] == ""
    assert held(ends.kit) == []


def an_hour_later(kit: Kit) -> None:
    """The holds of the house run out. What was moved is moved back before it is verified."""
    _older(kit, -timedelta(seconds=RESERVED_SECONDS))


def _older(kit: Kit, by: timedelta) -> None:
    with unguarded("ledger_hold", "ledger_reserve") as cursor:
        cursor.execute(
            "UPDATE ledger_hold SET created_at = created_at + %s, expires_at = expires_at + %s WHERE book = %s",
            [by, by, kit.house.id],
        )
        cursor.execute(
            "UPDATE ledger_reserve r SET expires_at = h.expires_at FROM ledger_hold h"
            " WHERE h.id = r.hold_id AND h.book = %s",
            [kit.house.id],
        )


def test_after_an_hour_others_may_have_them(ends: Ends, tmp_path: Path) -> None:
    kit, fill = ends.kit, asked(ends)
    an_hour_later(kit)
    # Nobody has marked it yet, and they are free all the same: for what the house works out, too.
    assert chips.available(kit.house, "9120/C1")[100] == chips.rack(kit.house, "9120/C1")[100] == 100
    assert bought(ends, amount=2_000, pieces={"100": 20}).status_code == 201
    assert tasks.expire_holds(str(kit.house.id)) is True
    assert events(kit, "holds.expired")[0]["data"] == {"hold_count": 1, "holds": ["fill:1"]}
    ends.cashier.refresh()
    sent = ends.cashier.ok(f"fills/{fill['serial']}/send", {"pieces": {"100": 1}})["last_event"]["transfer"]
    assert sent["reservation"] == "expired" and held(kit) == [("fill:1", "expired")]
    _older(kit, timedelta(seconds=RESERVED_SECONDS))
    # As the rows say now, it was marked an hour before its time; and nothing else is wrong.
    exporting.export_house(kit.house, tmp_path / "export")
    [finding] = verifier.verify_export(tmp_path / "export").findings
    assert (finding.code, finding.place) == ("state_event_differs", "ledger.Hold fill:1")


def test_a_reservation_that_no_event_records_is_found(ends: Ends) -> None:
    fill = asked(ends)
    with unguarded("transfers_transfer") as cursor:
        cursor.execute("UPDATE transfers_transfer SET reservation = '' WHERE house_id = %s", [ends.kit.house.id])
    assert not verification(ends.kit.house)["ok"]
    assert ends.row(named(fill)).reservation == ""


def test_open_holds_go_over_to_the_next_day_by_name(ends: Ends) -> None:
    asked(ends)
    carried = open_work.carrying(ends.kit.house, "2026-06-01", None)
    [one] = carried.described(sql.together(*carried.reads))["holds"]
    assert one["hold"] == "fill:1" and one["until"].endswith("Z")


def test_a_drawer_with_reserved_chips_is_not_counted(ends: Ends) -> None:
    asked(ends)
    ends.cashier.refresh()
    assert refusal(ends.cashier.post("count", ends.kit.held())) == (409, "drawer_has_open_work")
    assert ends.kit.office(Role.MANAGER).get("transfers?drawer=C1").json()["results"][0]["reservation"] == "pending"
