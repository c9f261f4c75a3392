"""What a house still lacks before it can receive guests: one list, each item with what is missing.

The list says what is there, not whether it is right: counts, keys and people are looked at by those who sign for them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from casino.audit import outside
from casino.bookkeeping import chart
from casino.bookkeeping.accounts import Account
from casino.chips import selectors as chips
from casino.core.errors import Conflict
from casino.hands import terms
from casino.houses import days, gaming_clock, identity
from casino.houses.models import House, HouseStage
from casino.reports import configuration, signatures
from casino.staff.models import Role, Staff, Terminal, TerminalKind

#: Roles without which no evening can be run, and how many people each takes.
_HOLDERS = {
    Role.DEALER: 1, Role.FLOOR: 1, Role.CASHIER: 1, Role.CAGE_SUPERVISOR: 1, Role.COUNT: 2, Role.COMPLIANCE: 1,
    Role.MANAGER: 1, Role.AUDITOR: 1, Role.ADMIN: 2,
}  # fmt: skip


#: How far an open day may be behind the one that is due: its cut-off is past for less than 24 hours.
_MOST_BEHIND = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Item:
    """One item of the list: its code, and what is missing, in words; nothing where all is there."""

    code: str
    missing: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """As the answer has it."""
        return {"item": self.code, "ready": not self.missing, "missing": list(self.missing)}


def checklist(house: House) -> list[Item]:
    """Every item, in the order in which a house is founded."""
    return [Item(code, tuple(missing(house))) for code, missing in CHECKS.items()]


def _identity(house: House) -> Iterator[str]:
    """Parts that nobody has said (`POST house/identity`)."""
    for name in identity.missing(house):
        yield f"{identity.REQUIRED[name]} ({name})"


def _people(house: House) -> Iterator[str]:
    held = [set(person.roles) for person in Staff.objects.filter(house=house, is_active=True)]
    for role, needed in _HOLDERS.items():
        found = sum(role in roles for roles in held)
        if found < needed:
            yield f"{needed} active {'person' if needed == 1 else 'people'} with the role {role}, there are {found}"


def _chip_set(house: House) -> Iterator[str]:
    try:
        chips.in_use(house)
    except Conflict as error:
        yield error.detail


def _vault(house: House) -> Iterator[str]:
    if not chart.is_open(house, Account.VAULT_CASH):
        yield "capital and commissioned chips in the vault"


def _drawers(house: House) -> Iterator[str]:
    if not house.drawers.filter(retired_at=None).exists():
        yield "a drawer"


def _tables(house: House) -> Iterator[str]:
    if not configuration.tables_in_use(house):
        yield "a table"


def _trays(house: House) -> Iterator[str]:
    """Trays without chips where players have some, and such as cannot pay what their games may promise a full table."""
    for table in configuration.tables_in_use(house):
        table.house = house
        if table.max_stack and not chart.rack_value(house, table.account(Account.TRAY)):
            yield f"{table.code}: chips in the tray"
            continue
        try:
            terms.require_tray(table)
        except Conflict as error:
            yield f"{table.code}: {error.detail}"


def _terminals(house: House) -> Iterator[str]:
    """Places without a terminal."""
    enrolled = set(Terminal.objects.filter(house=house, revoked_at=None).values_list("kind", "location"))
    drawers = house.drawers.filter(retired_at=None).order_by("code").values_list("code", flat=True)
    wanted = [
        (TerminalKind.OFFICE, ""),
        *((TerminalKind.CAGE, code) for code in drawers),
        *((TerminalKind.TABLE, table.code) for table in configuration.tables_in_use(house)),
    ]
    for kind, code in wanted:
        if (kind, code) not in enrolled:
            yield f"a terminal of the kind {kind}" + (f" at {code}" if code else "")


def _checkpoints(house: House) -> Iterator[str]:
    """Folders outside the database that have no checkpoint of the house yet."""
    folders = outside.folders()
    if not folders:
        yield "a folder for checkpoints outside the database (CASINO_CHECKPOINT_DIRS)"
    for number, folder in enumerate(folders, 1):
        notes = outside.notes_file(folder, house)
        if not notes.exists() or not notes.stat().st_size:
            yield f"a checkpoint in folder {number} of CASINO_CHECKPOINT_DIRS; is the sequencer up?"


def _day(house: House) -> Iterator[str]:
    still_open = [day.name for day in days.days(house) if day.closed_at is None]
    if not still_open:
        yield "an open gaming day"
    if house.is_sandbox:
        return  # it opens days as it likes
    latest = gaming_clock.due(house.time_zone, house.day_cut_off) - _MOST_BEHIND
    for name in still_open:
        if date.fromisoformat(name) < latest:
            yield f"the close of the gaming day {name}, whose cut-off is past for more than 24 hours"


def _rehearsal(house: House) -> Iterator[str]:
    """Before the house is live: a rehearsal that its configuration of now has passed."""
    if house.stage == HouseStage.FOUNDING and configuration.passed(house) is None:
        yield "a rehearsal that the configuration of now has passed (manage.py rehearse)"


def _signatures(house: House) -> Iterator[str]:
    """Before the house is live: the roles that have not signed what it is now."""
    if house.stage == HouseStage.FOUNDING:
        yield from (f"a signature of the role {role}" for role in signatures.describe(house)["missing"])


#: Each item's code, and what says what is missing.
CHECKS: dict[str, Callable[[House], Iterator[str]]] = {
    "identity": _identity,
    "people": _people,
    "chip_set": _chip_set,
    "vault": _vault,
    "drawers": _drawers,
    "tables": _tables,
    "trays": _trays,
    "terminals": _terminals,
    "checkpoints": _checkpoints,
    "rehearsal": _rehearsal,
    "signatures": _signatures,
    "day": _day,
}
