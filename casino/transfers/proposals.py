"""What templates propose: the chips that bring a tray to its template, as far as a drawer can give them and still make
change; and floats and trays that are to come from the vault."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef

from casino.bookkeeping import chart
from casino.bookkeeping.accounts import Account
from casino.cage.models import Drawer, Shift
from casino.chips import selectors as chips
from casino.chips import templates
from casino.chips.models import PlaceKind
from casino.core import denominations
from casino.core.denominations import Chips
from casino.core.errors import Conflict
from casino.houses.models import House
from casino.tables.models import Table, TableState
from casino.transfers.models import Kind, Transfer, TransferState


@dataclass(frozen=True, slots=True)
class FillProposal:
    """What a tray lacks of its template (its number), and what of that a drawer can give and keep what its own template
    says."""

    template: int
    needed: Chips
    pieces: Chips


def fill(table: Table, drawer: Drawer) -> FillProposal:
    """The proposal of a fill. Chips on their way to the table count as there, chips that others have asked the drawer
    for as gone. Raises Conflict no_template, no_chip_set."""
    house = table.house
    wanted = templates.require(house, PlaceKind.TABLE, table.code)
    there = chips.rack(house, table.account(Account.TRAY)) + _coming(table, wanted.pieces.chip_set)
    needed = (wanted.pieces - there).surplus
    free = spare(drawer, chips.available(house, drawer.account(Account.CAGE_CHIPS)))
    given = {value: min(count, free[value]) for value, count in needed.pieces.items()}
    return FillProposal(template=wanted.number, needed=needed, pieces=Chips(needed.chip_set, given))


def to_send(table: Table, drawer: Drawer) -> Chips:
    """The chips of the proposal. Raises as :func:`fill`, Conflict tray_at_template where none are needed, drawer_short
    where none can be given."""
    found = fill(table, drawer)
    if not found.needed:
        raise Conflict(f"The tray of table {table.code} holds what its template says.", code="tray_at_template")
    if not found.pieces:
        raise Conflict(f"Drawer {drawer.code} does not hold enough for this.", code="drawer_short")
    return found.pieces


def spare(drawer: Drawer, held: Chips) -> Chips:
    """What a drawer that holds these chips can give and keep what its template says."""
    return (held - templates.least_of(drawer.house, drawer.code, held.chip_set)).surplus


def _coming(table: Table, chip_set: str) -> Chips:
    sent = Transfer.objects.filter(house=table.house_id, table=table, kind=Kind.FILL, state=TransferState.SENT)
    named = ({int(value): count for value, count in (one or {}).items()} for one in sent.values_list("sent", flat=True))
    return denominations.total(chip_set, (Chips(chip_set, pieces) for pieces in named))


@dataclass(frozen=True, slots=True)
class FromVault:
    """What a closed drawer, or a tray that holds nothing, gets from the vault by its template; cash in minor units."""

    kind: PlaceKind
    place: str
    template: int
    cash: int
    pieces: Chips

    def as_json(self) -> dict[str, Any]:
        """As the answer has it."""
        return {
            "kind": self.kind,
            "place": self.place,
            "template": self.template,
            "cash": self.cash,
            "pieces": self.pieces.as_json(),
            "value": self.cash + self.pieces.value,
        }


def from_vault(house: House) -> list[FromVault]:
    """What is to come from the vault, by the templates in force, drawers first."""
    found = {place: one for place, one in templates.all_in_force(house).items() if one.cash or one.pieces}
    places = [*_closed_drawers(house, found), *_empty_trays(house, found)]
    return [
        FromVault(kind, code, found[kind, code].number, found[kind, code].cash, found[kind, code].pieces)
        for kind, code in places
    ]


def vault_lacks(house: House, coming: list[FromVault]) -> tuple[bool, list[int]]:
    """Whether the vault has too little cash for all of this, and of which denominations too few chips. How much it
    holds is not said: it is counted without knowing."""
    if not coming:
        return False, []
    wanted = denominations.total(coming[0].pieces.chip_set, (one.pieces for one in coming))
    money = sum(one.cash for one in coming)
    if not chart.is_open(house, Account.VAULT_CASH):
        return bool(money), sorted(wanted.pieces)
    [cash], held = chart.contents(house, [Account.VAULT_CASH], Account.VAULT_CHIPS, wanted.chip_set)
    return cash < money, sorted((held - wanted).shortage.pieces)


def _closed_drawers(house: House, found: Mapping[templates.Place, templates.InForce]) -> list[templates.Place]:
    codes = [code for kind, code in found if kind == PlaceKind.DRAWER]
    if not codes:
        return []
    in_progress = Exists(Shift.objects.filter(drawer=OuterRef("pk"), closed_at=None))
    closed = Drawer.objects.filter(~in_progress, house=house, code__in=codes, retired_at=None)
    return [(PlaceKind.DRAWER, code) for code in closed.order_by("code").values_list("code", flat=True)]


def _empty_trays(house: House, found: Mapping[templates.Place, templates.InForce]) -> list[templates.Place]:
    """Tables without a chip of the set in use in their tray."""
    sets = {code: one.pieces.chip_set for (kind, code), one in found.items() if kind == PlaceKind.TABLE}
    if not sets:
        return []
    filled = chart.in_places(house, [Account.TRAY], next(iter(sets.values())))
    codes = [code for code in sets if f"{Account.TRAY}/{code}" not in filled]
    if not codes:
        return []
    tables = Table.objects.filter(house=house, code__in=codes).exclude(state=TableState.RETIRED)
    return [(PlaceKind.TABLE, code) for code in tables.order_by("code").values_list("code", flat=True)]
