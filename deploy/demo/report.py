"""The evening's report: read through HTTP by the auditor, compared with the records, printed for people."""

from dataclasses import dataclass, field
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from deploy.demo import story
from deploy.demo.client import Terminal
from deploy.demo.evening import RecordedTable
from deploy.demo.play import Played
from deploy.demo.story import MISSING

#: Racks that hold nothing when the evening is over: drawer, transit, tax box, tip box.
EMPTIED = ("9120", "9140", "9150", "9160")


@dataclass(slots=True)
class Report:
    """The house's report of the evening, compared with the records."""

    house: dict[str, Any]
    at_its_height: dict[str, Any]
    verification: dict[str, Any]
    #: The gaming day: its turnover, and the trial balance of its closing snapshot.
    day: dict[str, Any]
    #: One line for every recorded hand whose net, tax, bonus or carry in the ledger, or what it leaves to the next one,
    #: is not the record's.
    differences: list[str] = field(default_factory=list)
    compared: int = 0
    #: The slip of the drawer's shift.
    z: dict[str, Any] = field(default_factory=dict)
    #: What must have happened, and whether it did.
    stories: dict[str, bool] = field(default_factory=dict)

    @property
    def checks(self) -> dict[str, bool]:
        """Every condition of a closed evening by name."""
        report, found = self.house, self.verification
        return self.stories | {
            "every recorded hand's net, tax, bonus and carry in the ledger, and its series, equal the record's": (
                not self.differences
            ),
            "every hand is settled": all(not table["unsettled_count"] for table in report["tables"]),
            "no pot, no cukassza and no bank is left": all(
                not table["pot"] + table["cukassza"] + table["bank"] for table in report["tables"]
            ),
            "chips in circulation equal the chip liability, at the height of the evening and after it": (
                report["custody"]["equal"] and self.at_its_height["custody"]["equal"]
            ),
            "the trial balance balances in every commodity": report["trial_balance"]["balanced"],
            "the drawer is closed, and differs by what the manager has signed off": [
                (drawer["closed"], drawer["cash_variance"], drawer["chip_variance"]) for drawer in report["drawers"]
            ]
            == [(True, -MISSING, 0)],
            "the drawer's Z slip has the variance that a blind count found and a second one, and equal sums": (
                self.z["variance"] == -MISSING
                and self.z["first_count"] is not None
                and self.z["recount"] is not None
                and all(row["equal"] for row in self.z["equalities"])
            ),
            "racks are where they belong: tax boxes counted, tips paid out, nothing in transit or in a drop": (
                _nothing_left(report)
            ),
            "the gaming day is closed and its snapshot agrees with the entries": (
                self.day["closed_at"] is not None
                and self.day["snapshot_findings"] == []
                and self.day["trial_balance"]["balanced"]
            ),
            "the outbox is empty": not report["open_message_count"],
            "every hand's replay agrees with the ledger": not found["hand_findings"],
            "the audit trail is whole": not found["audit_findings"],
            "every promise of the ledger holds": not found["book_findings"],
        }

    @property
    def ok(self) -> bool:
        """Whether all of it balances."""
        return all(self.checks.values())


def _nothing_left(report: dict[str, Any]) -> bool:
    """Whether drawers, transit, tax boxes, tip boxes and drop boxes are empty."""
    racks = report["chips"]["racks"]
    chips = [rack["pieces"] for number in EMPTIED for rack in racks[number]["places"].values()]
    return not any(chips) and not any(row["drop"] + row["tips"] for row in report["tables"])


def collect(auditor: Terminal, tables: dict[str, RecordedTable], played: Played) -> Report:
    """Ask the house for everything, and compare each recorded hand's money in the ledger with its record."""
    report = Report(
        auditor.get("reports/house"),
        played.at_its_height,
        auditor.get("reports/verification"),
        auditor.get(f"days/{played.day}"),
        z=played.z,
        stories=story.found(auditor, list(tables), played.disputed, played.z),
    )
    money = {hand["hand"]: hand for hand in auditor.pages("reports/hands")}
    for table in tables.values():
        for number, hand in enumerate(table.hands, start=1):
            report.compared += 1
            name = f"{table.code}-{number:06d}"
            found = money.get(name)
            if found is not None and "series_out" in hand:
                # What a hand leaves to the next one is no money, so only the hand's record has it.
                found |= {"series_out": auditor.get(f"hands/{name}").get("series_out")}
            report.differences += compare(hand, found)
    return report


def compare(record: dict[str, Any], found: dict[str, Any] | None) -> list[str]:
    """What the house says about one hand against its record, where the record says anything."""
    if found is None:
        return [f"{record['hand']}: the house does not know it"]
    expected = {key: record[key] for key in ("net", "tax", "carry_out", "series_out") if key in record}
    if "bonus" in record:
        expected["bonus"] = sum(record["bonus"])
    return [
        f"{record['hand']}: {key} is {found[key]} in the house and {value} in the record"
        for key, value in expected.items()
        if found[key] != value
    ]


def show(console: Console, report: Report, played: Played) -> None:
    """Print it."""
    currency = report.house["currency"]
    console.print(f"\n[bold]House {report.house['house']}[/bold], amounts in minor units of {currency}\n")
    console.print(_tables(report))
    console.print(_trial_balance(report))
    console.print(_drawers(report))
    moved = report.day["turnover"]
    console.print(
        f"Gaming day {report.day['day']}: handle {moved['handle']:,} in {moved['hand_count']} hands, "
        f"tax {moved['tax']:,}, bonus {moved['bonus']:,}, buy-ins {moved['buy_ins']:,}, "
        f'cash-outs {moved["cash_outs"]:,}; closed with the snapshot "{report.day["snapshot"]}".\n'
    )
    height, custody, found = report.at_its_height["custody"], report.house["custody"], report.verification
    speed = played.recorded / played.recorded_seconds
    console.print(
        f"Chips in circulation at the height of the evening {height['chips_in_circulation']:,}, "
        f"chip liability {height['chip_liability']:,}; after it "
        f"{custody['chips_in_circulation']:,} and {custody['chip_liability']:,}.\n"
        f"Replayed {found['hand_count']} hands: {len(found['hand_findings'])} findings. "
        f"Verified {found['event_count']} events in {found['chain_count']} chains under "
        f"{found['checkpoint_count']} checkpoints: {len(found['audit_findings'])} findings. "
        f"Ledger: {len(found['book_findings'])} findings.\n"
        f"Compared {report.compared} recorded hands with the ledger: {len(report.differences)} differences.\n"
        f"Played {played.recorded} recorded and {len(played.electronic)} electronic hands with "
        f"{played.requests} requests; recorded hands at {speed:.1f} hands/s.\n"
        f"Of the electronic ones, devices of players ({played.devices}) added seeds, and checked {played.openings} "
        f"cards against what the house had committed to.\n"
    )
    console.print("What else happened:")
    for line in played.happened:
        console.print(f"  {line}")
    z = report.z
    console.print(
        f"Z slip {z['z']} of drawer {z['drawer']}: {sum(row['count'] for row in z['movements']):,} movements, "
        f"{len(z['equalities'])} equal sums, variance {z['variance']:,}, closed by {z['closed_by']}.\n"
    )
    for line in report.differences[:20]:
        console.print(f"  {line}")
    for key in ("hand_findings", "audit_findings", "book_findings"):
        for finding in found[key][:20]:
            console.print(f"  {key}: {finding}")
    for name, held in report.checks.items():
        console.print(f"  [{'green' if held else 'red'}]{'yes' if held else 'NO '}[/] {name}")


def _grid(title: str) -> Table:
    return Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)


def _tables(report: Report) -> Table:
    out = _grid("Tables")
    waiting = {row["table"]: row["cukassza"] for row in report.at_its_height["tables"]}
    for name in ("table", "game", "seats", "hands", "handle", "tax", "bonus", "cukassza", "after closing"):
        out.add_column(name, justify="left" if name in ("table", "game") else "right")
    for row in report.house["tables"]:
        out.add_row(
            row["table"],
            row["game"],
            str(row["seat_count"]),
            str(row["settled_count"]),
            f"{row['handle']:,}",
            f"{row['tax']:,}",
            f"{row['bonus']:,}",
            f"{waiting[row['table']]:,}",
            f"{row['cukassza']:,}",
        )
    return out


def _trial_balance(report: Report) -> Table:
    out = _grid("Trial balance")
    for name in ("commodity", "no.", "kind", "accounts", "debit", "credit"):
        out.add_column(name, justify="right" if name in ("accounts", "debit", "credit") else "left")
    balance = report.house["trial_balance"]
    for row in balance["rows"]:
        out.add_row(
            row["commodity"],
            row["number"],
            row["kind"],
            str(row["account_count"]),
            f"{row['debit']:,}",
            f"{row['credit']:,}",
        )
    for commodity, total in balance["totals"].items():
        out.add_row(commodity, "", "[bold]total[/bold]", "", f"{total['debit']:,}", f"{total['credit']:,}")
    return out


def _drawers(report: Report) -> Table:
    out = _grid("Drawers")
    for name in ("drawer", "shift", "of", "float", "expected", "counted", "variance"):
        out.add_column(name, justify="left" if name in ("drawer", "of") else "right")
    for row in report.house["drawers"]:
        for what, variance in (("cash", "cash_variance"), ("chips", "chip_variance")):
            values = (row[f"float_{what}"], row[f"expected_{what}"], row[f"counted_{what}"], row[variance])
            shown = ["open" if value is None else f"{value:,}" for value in values]
            out.add_row(row["drawer"], str(row["shift"]), what, *shown)
    return out
