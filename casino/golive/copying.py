"""A sandbox house that is set up as another house is: its configuration, and the chips that lie in vault and trays."""

import re
from dataclasses import dataclass, field, fields

from casino.approvals import identity as said
from casino.approvals.control_points import set_at_founding
from casino.audit.founding import found_house
from casino.audit.services import Actor
from casino.bookkeeping import chart
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
from casino.tables.services import Terms, stock_tray
from casino.transfers import templates


@dataclass(slots=True)
class Copy:
    """A sandbox copy: the house, its people by role, its terminals by kind and place, and their keys."""

    house: House
    people: dict[Role, list[Staff]] = field(default_factory=dict)
    terminals: dict[tuple[TerminalKind, str], Terminal] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict, repr=False)


def next_code(house: House, mark: str) -> str:
    """The first code `HOUSE-R1`, `HOUSE-R2` ... after those that were used."""
    used = House.objects.filter(code__startswith=f"{house.code}-{mark}").values_list("code", flat=True)
    ends = [code[len(house.code) + 2 :] for code in used]
    numbers = [int(end) for end in ends if re.fullmatch(r"[0-9]+", end)]
    return f"{house.code}-{mark}{max(numbers, default=0) + 1}"


def copy(house: House, code: str, actor: Actor, *, people: bool = True) -> Copy:
    """Found a sandbox house that is configured as `house` is now. With `people` everybody active is there with their
    roles and no password, so that nobody can sign in.

    The vault holds what vault and trays of the house hold, and each tray its own part of that. Raises ValidationError
    where the code is too long, Conflict no_chip_set, and what setting up a table is refused with.
    """
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
    trays = {table.code: chips.rack(house, table.account(Account.TRAY)) for table in tables}
    _stock(house, made.house, trays, actor)
    for drawer in configuration.drawers_in_use(house):
        create_drawer(house=made.house, code=drawer, actor=actor)
    for table in tables:
        set_up = set_up_table(house=made.house, code=table.code, terms=_terms(table), actor=actor)
        if trays[table.code]:
            stock_tray(table=set_up, pieces=trays[table.code].as_json(), actor=actor)
    templates.copy(source=house, made=made.house, actor=actor)
    if people:
        _people(house, made, actor)
    _terminals(made, actor)
    return made


def _stock(house: House, made: House, trays: dict[str, Chips], actor: Actor) -> None:
    """Chip sets, the one in use first, and what vault and trays hold of that."""
    ladder = chips.in_use(house)
    sets = {one.code: one for one in ChipSet.objects.filter(house=house).prefetch_related("denominations")}
    for code in (ladder.code, *sorted(sets.keys() - {ladder.code})):
        colours = {one.value: one.colour for one in sets[code].denominations.all()}
        introduce(house=made, code=code, denominations=colours, actor=actor)
        if code == ladder.code:
            if not chart.is_open(house, Account.VAULT_CASH):
                raise Conflict("The house has no capital and no chips in the vault yet.", code="vault_not_open")
            cash = chart.balances(house, [Account.VAULT_CASH])[Account.VAULT_CASH]
            whole = sum(trays.values(), chips.rack(house, Account.VAULT_CHIPS))
            open_vault(house=made, capital=cash, chips=whole.as_json(), actor=actor)


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
