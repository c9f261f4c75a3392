"""What a house still lacks before it can receive guests: one list, each item with what is missing.

The list says what is there, not whether it is right: counts, keys and people are looked at by those who sign for them.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import combinations, product
from typing import Any

from casino.audit import outside
from casino.bookkeeping.accounts import Account
from casino.chips import selectors as chips
from casino.core.errors import Conflict
from casino.hands import terms
from casino.houses import control_points, gaming_clock, identity
from casino.houses.models import House, HouseStage
from casino.reports import configuration, setting, signatures
from casino.reports.setting import Setting
from casino.staff import second_factor
from casino.staff.independence import are_independent
from casino.staff.models import Role, TerminalKind
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


def checklist(house: House, *, but: Collection[str] = (), only: Collection[str] | None = None) -> list[Item]:
    """Every item, in the order in which a house is founded; or all `but` these, or these `only`."""
    found = setting.read(house)
    wanted = set(CHECKS if only is None else only) - set(but)
    return [Item(code, tuple(missing(found))) for code, missing in CHECKS.items() if code in wanted]


def _identity(found: Setting) -> Iterator[str]:
    """Parts that nobody has said (`POST house/identity`), and what the legal profile demands of the control points."""
    parts = identity.parts_of(found.house, found.identity)
    for name in identity.missing_of(parts):
        yield f"{identity.REQUIRED[name]} ({name})"
    profile = parts["legal_profile"]
    if profile in identity.ADMITS and not control_points.in_force(found.house).admission_required:
        yield f"admission before play, which {profile} demands (admission_required of the control points)"


def _people(found: Setting) -> Iterator[str]:
    held = [set(person.roles) for person in found.people]
    for role, needed in _HOLDERS.items():
        number = sum(role in roles for roles in held)
        if number < needed:
            yield f"{needed} active {'person' if needed == 1 else 'people'} with the role {role}, there are {number}"


def _pairs(found: Setting) -> Iterator[str]:
    """Duties of two people for which no two are there whose passwords come from different administrators; where a role
    is missing, `people` says so."""
    for asks, decides, duty in _PAIRS:
        if not _have_independent(found, (asks, decides)):
            yield f"{asks} and {decides} with passwords from different administrators ({duty})"


def _largest_trades(found: Setting) -> Iterator[str]:
    """The largest trades take two people beside the cashier (`Trade.need` in `casino/players/thresholds.py`), and so
    three administrators; where a role is missing, `people` says so."""
    if not _have_independent(found, (Role.CASHIER, Role.MANAGER, Role.COMPLIANCE)):
        least = control_points.in_force(found.house).exchange_by_manager_from
        yield (
            "cashier, manager and compliance with passwords from three different administrators (trades from "
            f"{least} minor units on, exchange_by_manager_from)"
        )


def _have_independent(found: Setting, roles: Sequence[Role]) -> bool:
    """Whether there is a person of each role, all independent of each other; or nobody of one of the roles."""
    holders = [[person for person in found.people if role in person.roles] for role in roles]
    return not all(holders) or any(
        all(are_independent(one, other, found.logins) for one, other in combinations(people, 2))
        for people in product(*holders)
    )


def _second_factors(found: Setting) -> Iterator[str]:
    """People who need a second factor and have none, where the house asks for one."""
    if found.house.second_factor_required:
        for person in found.people:
            if not person.has_second_factor and second_factor.ROLES & set(person.roles):
                yield f"a second factor of {person.login}"


def _cover(found: Setting) -> Iterator[str]:
    """Whether cash covers what can be claimed at once: what is owed, and the chips in the trays, which the house may
    have to pay out without getting cash for them."""
    if found.vault_open and found.cover.free < 0:
        yield "as much cash as is owed to players, and lies in the trays"


def _chip_set(found: Setting) -> Iterator[str]:
    try:
        chips.in_use(found.house)
    except Conflict as error:
        yield error.detail


def _vault(found: Setting) -> Iterator[str]:
    if not found.vault_open:
        yield "capital and commissioned chips in the vault"


def _drawers(found: Setting) -> Iterator[str]:
    if not found.drawers:
        yield "a drawer"


def _tables(found: Setting) -> Iterator[str]:
    if not found.tables:
        yield "a table"


def _trays(found: Setting) -> Iterator[str]:
    """Trays without chips where players have some, and such as cannot pay what their games may promise a full table."""
    for table in found.tables:
        if table.max_stack and not any(found.pieces(table.account(Account.TRAY)).values()):
            yield f"{table.code}: chips in the tray"
            continue
        try:
            terms.require_tray(table)
        except Conflict as error:
            yield f"{table.code}: {error.detail}"


def _floats(found: Setting) -> Iterator[str]:
    """What the vault lacks for the floats of closed drawers and the first chips of empty trays, by their templates. Not
    how much: who draws on the vault counts it without knowing."""
    no_cash, denominations = proposals.vault_lacks(found.house, proposals.from_vault(found.house))
    if no_cash:
        yield "cash in the vault for all floats, by their templates"
    if denominations:
        yield f"chips of {', '.join(map(str, denominations))} in the vault for all floats and trays, by their templates"


def _terminals(found: Setting) -> Iterator[str]:
    """Places without a terminal."""
    wanted = [
        (TerminalKind.OFFICE, ""),
        *((TerminalKind.CAGE, code) for code in found.drawers),
        *((TerminalKind.TABLE, table.code) for table in found.tables),
    ]
    for kind, code in wanted:
        if (kind, code) not in found.terminals:
            yield f"a terminal of the kind {kind}" + (f" at {code}" if code else "")


def _checkpoints(found: Setting) -> Iterator[str]:
    """Folders outside the database that have no checkpoint of the house yet."""
    folders = outside.folders()
    if not folders:
        yield "a folder for checkpoints outside the database (CASINO_CHECKPOINT_DIRS)"
    for number, folder in enumerate(folders, 1):
        notes = outside.notes_file(folder, found.house)
        if not notes.exists() or not notes.stat().st_size:
            yield f"a checkpoint in folder {number} of CASINO_CHECKPOINT_DIRS; is the sequencer up?"


def _day(found: Setting) -> Iterator[str]:
    still_open = [day.name for day in found.days if day.closed_at is None]
    if not still_open:
        yield "an open gaming day"
    house = found.house
    if house.is_sandbox:
        return  # it opens days as it likes
    latest = gaming_clock.due(house.time_zone, house.day_cut_off, found.now) - _MOST_BEHIND
    for name in still_open:
        if date.fromisoformat(name) < latest:
            yield f"the close of the gaming day {name}, whose cut-off is past for more than 24 hours"


def _rehearsal(found: Setting) -> Iterator[str]:
    """Before the house is live: a rehearsal that its configuration of now has passed."""
    if found.house.stage == HouseStage.FOUNDING and configuration.passed(found.house) is None:
        yield "a rehearsal that the configuration of now has passed (POST rehearsals)"


def _signatures(found: Setting) -> Iterator[str]:
    """Before the house is live: the roles that have not signed what it is now."""
    if found.house.stage == HouseStage.FOUNDING:
        yield from (f"a signature of the role {role}" for role in signatures.describe(found.house)["missing"])


#: Each item's code, and what says what is missing.
CHECKS: dict[str, Callable[[Setting], Iterator[str]]] = {
    "identity": _identity,
    "people": _people,
    "pairs": _pairs,
    "largest_trades": _largest_trades,
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
    **dict.fromkeys(
        ("identity", "people", "pairs", "largest_trades", "chip_set", "drawers", "tables", "terminals"), (Role.ADMIN,)
    ),
    "second_factors": tuple(sorted(second_factor.ROLES)),
    **dict.fromkeys(("vault", "trays"), (Role.CAGE_SUPERVISOR,)),
    "cover": (Role.MANAGER,),
    "floats": (Role.ADMIN, Role.CAGE_SUPERVISOR),
    "checkpoints": ("operator",),
    "rehearsal": (Role.ADMIN,),
    "signatures": signatures.SIGNERS,
    "day": (Role.FLOOR, Role.MANAGER),
}
