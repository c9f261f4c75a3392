"""A23 through HTTP: what is an exception, what is none, and whether each source agrees with its own report."""

from dataclasses import replace
from datetime import timedelta

from casino.audit.events.house import ImbalanceFound
from casino.reports.exceptions import SOURCES, proof
from casino.reports.frame import as_of, registry
from casino.reports.frame.columns import Sums
from casino.reports.frame.report import Scope
from casino.staff.models import Role
from tests.casino.kit import Kit
from tests.casino.reports.test_catalogue import made, rows
from tests.casino.reports.test_catalogue_of_control import forged
from tests.casino.transfers.test_tray_counts import HELD, Trays

NAME = "exceptions"


def at_later(kit: Kit, hours: float) -> Scope:
    """As if the report were made some hours later, and nothing had happened."""
    moment = as_of.now(kit.house)
    return Scope(kit.house, replace(moment, at=moment.at + timedelta(hours=hours)), {})


def by_source(scope: Scope) -> dict[str, list[str]]:
    """The names of exceptions by source; every equality of the report holds."""
    report, results = registry.get(NAME), {}
    for section in report.sections:
        results[section.name] = sums = Sums(section.columns)
        for row in section.rows(scope):
            sums.add(row)
    assert [one for one in report.equalities(scope, results) if not one.holds] == []
    found: dict[str, list[str]] = {}
    for row in report.sections[1].rows(scope):
        found.setdefault(str(row[1]), []).append(str(row[2]))
    return found


def test_what_must_be_looked_at_is_listed_with_its_source(kit: Kit) -> None:
    trays = Trays(kit)
    trays.both(HELD, "closer")
    trays.both(HELD | {"100": HELD["100"] - 2}, "opener")
    trays.ends.cashier.refresh()
    trays.ends.filled()
    office = kit.office(Role.MANAGER)
    assert office.get("audit/events").status_code == 403
    report = made(kit, NAME)
    counts = {row["source"]: row for row in rows(report)}
    assert list(counts) == [source.name for source in SOURCES]
    assert (counts["openers"]["exceptions"], counts["openers"]["severity"]) == (1, "medium")
    assert counts["refused"]["exceptions"] >= 1
    quiet = {"imbalance", "chips", "settling", "cards", "drawer_open", "transfers", "failed", "rights_unused"}
    assert {name for name in quiet if counts[name]["exceptions"]} == set()
    [opener] = [row for row in rows(report, 1) if row["source"] == "openers"]
    assert (opener["amount"], opener["what"]) == (-200, "table T1, tray count 2: differs_from_closer")
    assert [row["source"] for row in rows(made(kit, NAME, severity="low"))] == [
        "sign_in_refused", "refused", "rights_unused",
    ]  # fmt: skip
    # Two hours later the fill is late; after two days the drawer should have been closed, and nobody has signed.
    kit.sequence()
    kit.office(Role.MANAGER)
    later = by_source(at_later(kit, 2))
    assert later["transfers"] == ["fill 1, T1 and C1"] and "drawer_open" not in later
    assert later["checkpoints"] == ["no checkpoint for 2 h"]
    assert by_source(at_later(kit, 48))["drawer_open"] == ["drawer C1"]
    assert len(by_source(at_later(kit, 24 * 91))["rights_unused"]) >= 3
    refused = kit.office(Role.MANAGER).post(f"reports/{NAME}/runs", {"formats": ["json"]})
    assert refused.status_code == 403


def test_hands_cards_and_checks_that_nobody_has_dealt_with(kit: Kit) -> None:
    kit.office(Role.MANAGER).ok("days", {"day": "2024-05-01"})
    kit.worked_hand()
    assert by_source(at_later(kit, 1))["settling"] == ["hand T1-000001"]
    assert kit.settle() == ["settled"]
    assert "settling" not in by_source(at_later(kit, 1))
    forged(kit, kit.house.chain, ImbalanceFound(check="custody", after={}))
    forged(kit, kit.house.chain, ImbalanceFound(check="custody", after={"a": 1}, before={}))
    assert by_source(at_later(kit, 0))["imbalance"] == ["check custody"]
    # A source that says less than its report is seen.
    scope = at_later(kit, 0)
    assert proof.open_imbalances(scope) == 1


def test_files_that_name_persons_are_reads_of_persons(kit: Kit) -> None:
    made(kit, "exclusions")
    made(kit, "player-activity")
    [row] = rows(made(kit, NAME, source="persons_read"))
    assert row["exceptions"] == 1
    [read] = rows(made(kit, NAME, source="persons_read"), 1)
    assert read["what"].endswith("read exclusions, run 1") and read["person"].startswith("compliance")
