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
from casino.bookkeeping.cover import cover
from casino.chips import selectors as chips
from casino.core.errors import Conflict
from casino.hands import terms
from casino.houses import days, gaming_clock, identity
from casino.houses.models import House, HouseStage
from casino.reports import configuration, signatures
from casino.staff import second_factor
from casino.staff.models import Role, Staff, Terminal, TerminalKind
from casino.transfers import proposals

#: Roles without which no evening can be run, and how many people each takes.
_HOLDERS = {
    Role.DEALER: 1, Role.FLOOR: 1, Role.CASHIER: 1, Role.CAGE_SUPERVISOR: 1, Role.COUNT: 2, Role.COMPLIANCE: 1,
    Role.MANAGER: 1, Role.AUDITOR: 1, Role.ADMIN: 2,
}  # fmt: skip


#: How far an open day may be behind the one that is due: its cut-off is past for less than 24 hours.
_MOST_BEHIND = timedelta(days=1)


#: Duties of two people: who asks or begins, who approves or signs, and what.
_PAIRS = (
    (Role.ADMIN, Role.MANAGER, "settings and people"),
    (Role.ADMIN, Role.AUDITOR, "privileged roles, keys and the audit log"),
    (Role.MANAGER, Role.AUDITOR, "stages of the house"),
    (Role.MANAGER, Role.CAGE_SUPERVISOR, "the close of a gaming day"),
    (Role.CAGE_SUPERVISOR, Role.MANAGER, "bank, duty and large floats"),
    (Role.CASHIER, Role.CAGE_SUPERVISOR, "large exchanges and fills"),
    (Role.CASHIER, Role.MANAGER, "the largest exchanges"),
    (Role.FLOOR, Role.MANAGER, "voids, rulings and bonuses"),
)


@dataclass(frozen=True, slots=True)
class Item:
    """One item of the list: its code, what is missing, in words, nothing where all is there, and who can put it
    right."""

    code: str
    missing: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """As the answer has it."""
        who = [str(one) for one in WHO[self.code]]
        return {"item": self.code, "ready": not self.missing, "missing": list(self.missing), "who": who}


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


def _pairs(house: House) -> Iterator[str]:
    """Duties of two people for which no two are there whose passwords come from different administrators; where a role
    is missing, `people` says so."""
    people = list(Staff.objects.filter(house=house, is_active=True))
    logins = {person.login for person in people}
    for asks, decides, duty in _PAIRS:
        asking = [person for person in people if asks in person.roles]
        deciding = [person for person in people if decides in person.roles]
        pairs = ((one, other) for one in asking for other in deciding)
        if asking and deciding and not any(_independent(one, other, logins) for one, other in pairs):
            yield f"{asks} and {decides} with passwords from different administrators ({duty})"


def _independent(one: Staff, other: Staff, logins: set[str]) -> bool:
    """Whether one of the two may approve what the other asks for (`casino/approvals/services.py`)."""
    if one.pk == other.pk or one.hired_by == other.login or other.hired_by == one.login:
        return False
    both = {one.login, *one.password_givers} & {other.login, *other.password_givers}
    return not both & logins


def _second_factors(house: House) -> Iterator[str]:
    """People who need a second factor and have none, where the house asks for one."""
    if house.second_factor_required:
        for person in Staff.objects.filter(house=house, is_active=True, totp_since=None).order_by("login"):
            if second_factor.ROLES & set(person.roles):
                yield f"a second factor of {person.login}"


def _cover(house: House) -> Iterator[str]:
    """Whether cash covers what can be claimed at once: what is owed, and the chips in the trays, which the house may
    have to pay out without getting cash for them."""
    if chart.is_open(house, Account.VAULT_CASH) and cover(house).free < 0:
        yield "as much cash as is owed to players, and lies in the trays"


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


def _floats(house: House) -> Iterator[str]:
    """What the vault lacks for the floats of closed drawers and the first chips of empty trays, by their templates. Not
    how much: who draws on the vault counts it without knowing."""
    no_cash, denominations = proposals.vault_lacks(house, proposals.from_vault(house))
    if no_cash:
        yield "cash in the vault for all floats, by their templates"
    if denominations:
        yield f"chips of {', '.join(map(str, denominations))} in the vault for all floats and trays, by their templates"


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
        yield "a rehearsal that the configuration of now has passed (POST rehearsals)"


def _signatures(house: House) -> Iterator[str]:
    """Before the house is live: the roles that have not signed what it is now."""
    if house.stage == HouseStage.FOUNDING:
        yield from (f"a signature of the role {role}" for role in signatures.describe(house)["missing"])


#: Each item's code, and what says what is missing.
CHECKS: dict[str, Callable[[House], Iterator[str]]] = {
    "identity": _identity,
    "people": _people,
    "pairs": _pairs,
    "second_factors": _second_factors,
    "chip_set": _chip_set,
    "vault": _vault,
    "drawers": _drawers,
    "tables": _tables,
    "trays": _trays,
    "floats": _floats,
    "cover": _cover,
    "terminals": _terminals,
    "checkpoints": _checkpoints,
    "rehearsal": _rehearsal,
    "signatures": _signatures,
    "day": _day,
}
#: Who can put an item right: roles, or the person who operates the server. What cash lacks, the owners pay in.
WHO: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("identity", "people", "pairs", "chip_set", "drawers", "tables", "terminals"), (Role.ADMIN,)),
    "second_factors": tuple(sorted(second_factor.ROLES)),
    **dict.fromkeys(("vault", "trays"), (Role.CAGE_SUPERVISOR,)),
    "cover": (Role.MANAGER,),
    "floats": (Role.ADMIN, Role.CAGE_SUPERVISOR),
    "checkpoints": ("operator",),
    "rehearsal": (Role.ADMIN,),
    "signatures": signatures.SIGNERS,
    "day": (Role.FLOOR, Role.MANAGER),
}
