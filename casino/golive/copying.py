"""A sandbox house that is set up as another house is: its configuration, and the chips that lie in vault and trays."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any

from django.db.models import QuerySet

from casino.approvals import identity as said
from casino.approvals.control_points import set_at_founding
from casino.audit.events.tables import TrayStocked
from casino.audit.founding import found_house
from casino.audit.models import Event
from casino.audit.services import Actor
from casino.bookkeeping import books, chart
from casino.bookkeeping.accounts import Account
from casino.cage.founding import create_drawer, open_vault
from casino.chips import selectors as chips
from casino.chips.models import ChipSet
from casino.chips.services import introduce
from casino.core.denominations import Chips
from casino.core.errors import Conflict
from casino.hands.terms import set_up_table
from casino.houses import control_points, identity
from casino.houses.models import House
from casino.reports import configuration
from casino.staff.models import Role, Staff, Terminal, TerminalKind
from casino.staff.services import copy_person, enrol_terminal
from casino.tables.models import Table
from casino.tables.services import Terms, stock_key, stock_tray
from casino.transfers import templates


@dataclass(slots=True)
class Copy:
    """A sandbox copy: the house, its people by role, its terminals by kind and place, and their keys."""

    house: House
    people: dict[Role, list[Staff]] = field(default_factory=dict)
    terminals: dict[tuple[TerminalKind, str], Terminal] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Stock:
    """What a copy begins with: cash of the vault in minor units, the chips of vault and trays together, and of those
    what lies in each tray, by table; chips of the set in use."""

    cash: int
    chips: Chips
    trays: dict[str, Chips]


def next_code(code: str, mark: str) -> str:
    """The first code `HOUSE-R1`, `HOUSE-R2` ... of the house of this code after those that were used."""
    return next_after(code, mark, used_codes(code, mark))


def used_codes(code: str, mark: str) -> QuerySet[Any, str]:
    """What `next_code` reads, for who reads it with something else; `next_after` takes what it has found."""
    return House.objects.filter(code__startswith=f"{code}-{mark}").values_list("code", flat=True)


def next_after(code: str, mark: str, used: Iterable[str]) -> str:
    """As `next_code`, by what `used_codes` has found."""
    ends = [one[len(code) + 1 + len(mark) :] for one in used]
    numbers = [int(end) for end in ends if re.fullmatch(r"[0-9]+", end)]
    return f"{code}-{mark}{max(numbers, default=0) + 1}"


def require_length(code: str) -> None:
    """Refuse a code that is longer than a house can have. Raises Conflict house_code_too_long."""
    most = House._meta.get_field("code").max_length
    if most is not None and len(code) > most:
        raise Conflict("The code of the house is too long for a copy.", code="house_code_too_long", max=most)


def stock_of_now(house: House) -> Stock:
    """What lies in vault and trays now. Raises Conflict no_chip_set, vault_not_open."""
    _require_vault(house)
    trays = {table.code: chips.rack(house, table.account(Account.TRAY)) for table in configuration.tables_in_use(house)}
    cash = chart.balances(house, [Account.VAULT_CASH])[Account.VAULT_CASH]
    return Stock(cash, sum(trays.values(), chips.rack(house, Account.VAULT_CHIPS)), trays)


def stock_at_first(house: House) -> Stock:
    """What vault and trays held before anybody played: the owners' capital, all chips that there are, and in each tray
    what it was stocked with. Raises as :func:`stock_of_now`."""
    _require_vault(house)
    chip_set = chips.in_use(house).code
    trays = {}
    for table in configuration.tables_in_use(house):
        table.house = house
        trays[table.code] = _first_stock(table)
    capital = chart.balances(house, [Account.HOUSE_CAPITAL])[Account.HOUSE_CAPITAL]
    return Stock(capital, chart.rack(house, Account.COMMISSIONED, chip_set), trays)


def _first_stock(table: Table) -> Chips:
    """The chips of the set in use that a table's tray was stocked with; none where it has had none yet."""
    chip_set = chips.in_use(table.house).code
    if not books.posted_under(table.house, [stock_key(table)]):
        return Chips(chip_set, {})
    event = Event.objects.filter(
        house=table.house, chain__house=table.house, chain__name=table.chain, doc__kind=TrayStocked.KIND
    ).latest("seq")
    return Chips(chip_set, {int(value): count for value, count in event.doc["data"]["chips"].items()})


def _require_vault(house: House) -> None:
    chips.in_use(house)
    if not chart.is_open(house, Account.VAULT_CASH):
        raise Conflict("The house has no capital and no chips in the vault yet.", code="vault_not_open")


def copy(house: House, code: str, actor: Actor, *, people: bool = True, stock: Stock | None = None) -> Copy:
    """Found a sandbox house that is configured as `house` is now. With `people` everybody active is there with their
    roles and no password, so that nobody can sign in. Vault and trays begin with `stock`, by default with what those of
    the house hold now.

    Raises ValidationError where the code is too long or taken, Conflict no_chip_set, vault_not_open, and what setting
    up a table is refused with.
    """
    stock = stock or stock_of_now(house)
    made = Copy(
        found_house(
            code=code, name=house.name, currency=house.currency, currency_exponent=house.currency_exponent,
            time_zone=house.time_zone, second_factor_required=house.second_factor_required and people, sandbox=True,
            actor=actor,
        )
    )  # fmt: skip
    if identity.newest(house) is not None:
        said.set_at_founding(house=made.house, parts=identity.parts(house), actor=actor)
    points = control_points.in_force(house)
    set_at_founding(
        house=made.house, points={name: getattr(points, name) for name in control_points.NAMES}, actor=actor
    )
    tables = configuration.tables_in_use(house)
    _stock(house, made.house, stock, actor)
    for drawer in configuration.drawers_in_use(house):
        create_drawer(house=made.house, code=drawer, actor=actor)
    for table in tables:
        set_up = set_up_table(house=made.house, code=table.code, terms=_terms(table), actor=actor)
        if tray := stock.trays.get(table.code):
            stock_tray(table=set_up, pieces=tray.as_json(), actor=actor)
    templates.copy(source=house, made=made.house, actor=actor)
    if people:
        _people(house, made, actor)
    _terminals(made, actor)
    return made


def _stock(house: House, made: House, stock: Stock, actor: Actor) -> None:
    """Chip sets, the one in use first, and what the vault begins with of that."""
    ladder = chips.in_use(house)
    sets = {one.code: one for one in ChipSet.objects.filter(house=house).prefetch_related("denominations")}
    for code in (ladder.code, *sorted(sets.keys() - {ladder.code})):
        colours = {one.value: one.colour for one in sets[code].denominations.all()}
        introduce(house=made, code=code, denominations=colours, actor=actor)
        if code == ladder.code:
            open_vault(house=made, capital=stock.cash, chips=stock.chips.as_json(), actor=actor)


def _terms(table: Table) -> Terms:
    """The terms of a table as its next opening has them."""
    found = {name: getattr(table, name) for name in (one.name for one in fields(Terms))}
    found |= {name: value for name, value in (table.terms_to_come or {}).items() if name in found}
    return Terms(**found)


def _people(house: House, made: Copy, actor: Actor) -> None:
    for person in Staff.objects.filter(house=house, is_active=True).order_by("login"):
        roles = [Role(role) for role in person.roles]
        one = copy_person(house=made.house, login=person.login, name=person.name, roles=roles, actor=actor)
        for role in roles:
            made.people.setdefault(role, []).append(one)


def _terminals(made: Copy, actor: Actor) -> None:
    """A terminal in the office, and one at every drawer and table."""
    places = [
        (TerminalKind.OFFICE, "", "office"),
        *((TerminalKind.CAGE, code, f"cage-{code}") for code in made.house.drawers.values_list("code", flat=True)),
        *((TerminalKind.TABLE, code, f"table-{code}") for code in made.house.tables.values_list("code", flat=True)),
    ]
    for number, (kind, place, name) in enumerate(places):
        code = name if len(name) <= 32 else f"terminal-{number}"
        terminal, key = enrol_terminal(house=made.house, code=code, kind=kind, location=place, actor=actor)
        made.terminals[kind, place] = terminal
        made.keys[code] = key
