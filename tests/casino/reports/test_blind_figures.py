"""No report shows those who count what they must count without knowing it."""

import json
import re
from typing import Any

import pytest

from casino.reports.frame import registry
from casino.reports.frame.report import COUNTED, FIGURES
from casino.staff.models import Role
from tests.casino.kit import Desk, Kit
from tests.casino.reports.test_catalogue import NEEDED, made, rows
from tests.casino.reports.test_runs import asked, downloaded
from tests.casino.transfers.test_transfers import Ends

#: Amounts that nothing else in the house is.
BOUGHT = 31_337
FILL = {"25": 13, "500": 7}
FILL_WORTH = 13 * 25 + 7 * 500


@pytest.fixture
def busy(kit: Kit) -> Kit:
    """An open drawer, and a fill on its way to a table."""
    kit.office(Role.MANAGER).ok("days", {"day": "2024-05-01"})
    ends = Ends(kit)
    kit.players("anna")
    ends.cashier.refresh()
    ends.cashier.ok("buy-ins", {"player": "anna", "amount": BOUGHT})
    ends.dealer.refresh()
    ends.cashier.refresh()
    ends.cashier.ok("fills", {"table": "T1", "pieces": FILL})
    return kit


def secrets(kit: Kit) -> set[str]:
    """What the open drawer must hold, what was sold at it, and what is on its way, as files would write it."""
    held = kit.held()
    chips = kit.balance("9120/C1")
    return {str(held["cash"]), str(chips), str(BOUGHT), str(FILL_WORTH)}


def says(found: bytes, figure: str) -> bool:
    """Whether a figure stands there as a number: among the digits of hashes and ids any four come by chance."""
    return re.search(rf"(?<![0-9A-Za-z]){figure}(?![0-9A-Za-z])".encode(), _IDS.sub(b"", found)) is not None


_IDS = re.compile(rb"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def all_of(office: Desk, kit: Kit, report: str, **body: Any) -> bytes:
    """Everything that somebody gets of a report: the run, its equalities, its files."""
    formats = ["json", "csv"]
    run = asked(office, report, formats=formats, **body)
    assert kit.make_reports() == ["made"], report
    run = office.get(f"report-runs/{run['run']}").json()
    assert [one for one in run["equalities"] if not one["holds"]] == [], report
    return json.dumps(run).encode() + b"".join(downloaded(office, run).values())


#: Reports that name what a player has bought to those who need to know it; none names a drawer's contents.
_NAME_BUY_INS = {"player-activity", "player-statement"}


@pytest.mark.parametrize("role", [Role.CASHIER, Role.CAGE_SUPERVISOR, Role.FLOOR, Role.COUNT])
def test_no_byte_of_a_report_says_what_must_be_counted_blind(busy: Kit, role: Role) -> None:
    office, hidden = busy.office(role), secrets(busy)
    if role == Role.CASHIER:
        assert [one for one in registry.reports().values() if role in one.roles] == []
        assert office.get("reports").status_code == 403
        return
    readable = [one for one in registry.reports().values() if role in one.roles]
    assert readable
    for report in readable:
        needed = {one.name: NEEDED[one.name] for one in report.filters if one.required}
        found = all_of(office, busy, report.id, filters=needed)
        seen = hidden - ({str(BOUGHT)} if report.id in _NAME_BUY_INS else set())
        assert [one for one in seen if says(found, one)] == [], report.id
        if role in report.blind_roles:
            assert FIGURES in report.filters, report.id
            assert b'"figures": "counted"' in found


def test_who_does_not_count_reads_the_figures_and_after_the_count_all_do(busy: Kit) -> None:
    hidden = secrets(busy)
    auditor = busy.office(Role.AUDITOR)
    assert all(
        any(says(all_of(auditor, busy, report), one) for one in hidden)
        for report in ("drawer-history", "cage-summary", "transfers")
    )
    # Who may know can ask for what those see who count.
    narrow = all_of(auditor, busy, "drawer-history", filters={"figures": COUNTED})
    assert not says(narrow, str(BOUGHT))
    history = rows(made(busy, "drawer-history", figures=COUNTED))
    assert {(row["cash"], row["running_cash"], row["note"]) for row in history} == {
        (None, None, "to be counted without knowing it")
    }
    # The fill is received, and the drawer counted and closed.
    [fill] = auditor.get("transfers").json()["results"]
    dealer = busy.dealer()
    dealer.ok(f"fills/{fill['serial']}/receive", {"pieces": FILL, "carrier": busy.runner()})
    busy.close_drawer(busy.cashier())
    supervisor = busy.office(Role.CAGE_SUPERVISOR)
    for report in ("drawer-history", "transfers"):
        assert any(says(all_of(supervisor, busy, report), one) for one in (str(BOUGHT), str(FILL_WORTH))), report
    places = {
        (row["number"], row["place"]): row for row in rows(made(busy, "cage-summary", figures=COUNTED))
    }  # fmt: skip
    assert places["1020", "C1"]["closing"] == 0 and places["1010", "vault"]["closing"] is None
