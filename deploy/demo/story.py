"""What goes wrong on an evening, and what two people do about it: counts of trays, a fill that is approved, a wrong
entry at the cage that is corrected, a ruling, and a drawer that is short."""

from collections.abc import Iterator
from typing import Any

from deploy.demo.client import Terminal
from deploy.demo.dealer import Console
from deploy.demo.logins import Credentials
from deploy.demo.seed import named, tray_of

#: What a player puts down at the window, and what the cashier keys first, in minor units.
BOUGHT, KEYED = 5_000, 50_000
#: A note that is missing in the drawer at the end, in minor units.
MISSING = 200


def count_openers(consoles: dict[str, Console], credentials: Credentials) -> str:
    """Dealer and floor count every tray, each without seeing the other's count, before the tables open."""
    for code, console in consoles.items():
        pieces = named(tray_of(console.table["options"], console.table["seat_count"]))
        counted = console.write("tray-counts", {"purpose": "opener", "pieces": pieces})
        number = counted["last_event"]["tray_count"]["tray_count"]
        with Terminal(console.terminal.base_url, credentials.floor[code]) as floor:
            floor.post(
                f"{console.path}/tray-counts/{number}/witness", {"pieces": pieces}, version=console.table["version"]
            )
        console.refresh()
    return "Every tray was counted by dealer and floor before its table opened."


def refund_tax(console: Console, credentials: Credentials, auditor: Terminal, manager: Terminal) -> str:
    """The winner of a taxed hand, who still sits there, disputes its tax; the floor asks to refund it, and the manager
    rules so."""
    found = next(_taxed(console, auditor), None)
    if found is None:
        return f"Nobody disputed anything at {console.code}, where no tax was taken."
    hand, winner = found
    ruling = {
        "tax_refunded": [{"actor": winner, "amount": hand["tax"]}],
        "reason": "the sign at the table said that small pots are free",
    }
    path = f"{console.path}/hands/{hand['hand']}/rulings"
    with Terminal(console.terminal.base_url, credentials.floor[console.code]) as floor:
        floor.post_approved(path, ruling, manager, version=console.table["version"])
    console.refresh()
    return f"The tax of hand {hand['hand']} ({hand['tax']:,}) was disputed, and refunded by a manager's ruling."


def _taxed(console: Console, auditor: Terminal) -> Iterator[tuple[dict[str, Any], str]]:
    """Hands of a table that were taxed, the newest first, with the seat that won most and is still taken."""
    seated = {seat["player"] for seat in console.table["seats"]}
    for row in reversed(auditor.pages("reports/hands")):
        if row["tax"] and row["hand"].rpartition("-")[0] == console.code:
            record = auditor.get(f"hands/{row['hand']}")
            winner = max(range(len(record["net"])), key=lambda seat: record["net"][seat])
            if record["seats"][winner] in seated:
                yield row, f"p{winner + 1}"
