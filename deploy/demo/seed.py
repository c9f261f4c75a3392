"""Seeding the demo house: the only part of the demo that does not go through HTTP.

A house is founded once: vault, drawer, tables, staff, terminals. Every demo founds a new one, `DEMO-1`, `DEMO-2` ...,
so that nothing already booked has to be deleted, which PostgreSQL would refuse.
"""

import json
import secrets
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from deploy.demo.evening import EveningError, RecordedTable
from deploy.demo.words import Words

DRAWER = "C1"
#: So many tables share a dealer: a password's hash costs a third of a second, on purpose.
TABLES_OF_A_DEALER = 5
CURRENCY = "HUF"
#: The demo's chips: face value in forints -> colour. Each divides the next, and tax may be any whole amount.
CHIPS = {
    1: "white", 5: "grey", 25: "yellow", 100: "red", 500: "green", 1_000: "blue", 5_000: "purple", 25_000: "orange",
    100_000: "black",
}  # fmt: skip
#: Pieces of each small denomination in the vault, in the cashier's drawer, and in each table's tray.
VAULT_OF_EACH, DRAWER_OF_EACH, TRAY_OF_EACH = 40_000, 4_000, 1_000
#: Bonuses that a table's tray can pay before it needs a fill.
TRAY_BONUSES = 100


@dataclass(frozen=True, slots=True)
class Login:
    """The credentials for one terminal."""

    login: str
    password: str
    terminal: str
    terminal_key: str
    roles: list[str]


@dataclass(frozen=True, slots=True)
class Credentials:
    """A demo house and everybody's way in: dealers by table, cashier, auditor, floor manager by table and drawer."""

    house: str
    dealers: dict[str, Login]
    cashier: Login
    auditor: Login
    floor: dict[str, Login]
    #: The floor manager's way in at the office, where gaming days are opened; None in a house founded without.
    manager: Login | None = None
    #: The administrator's at the office, who hires, and signs with the auditor; None in a house founded without.
    admin: Login | None = None
    #: The cage supervisor's at the drawer, who counts out floats and takes skims, and the manager's, who signs large
    #: ones; None in a house founded without.
    supervisor: Login | None = None
    cage_manager: Login | None = None

    def save(self, folder: Path) -> None:
        """Keep them for `make run`, readable by the owner only; demo passwords are in no repository."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = folder / f"{self.house}.json"
        path.touch(mode=0o600)
        path.write_text(json.dumps(asdict(self), indent=1))

    @classmethod
    def load(cls, path: Path) -> "Credentials":
        """The inverse of `save`."""
        data = json.loads(path.read_text())
        return cls(
            house=data["house"],
            dealers={code: Login(**login) for code, login in data["dealers"].items()},
            cashier=Login(**data["cashier"]),
            auditor=Login(**data["auditor"]),
            floor={code: Login(**login) for code, login in data["floor"].items()},
            manager=Login(**data["manager"]) if data.get("manager") else None,
            admin=Login(**data["admin"]) if data.get("admin") else None,
            supervisor=Login(**data["supervisor"]) if data.get("supervisor") else None,
            cage_manager=Login(**data["cage_manager"]) if data.get("cage_manager") else None,
        )


def chips_worth(amount: int, of_each: int) -> dict[int, int]:
    """So many chips of every denomination but the largest, and of that what makes it worth `amount` at least."""
    *small, largest = CHIPS
    rest = amount - of_each * sum(small)
    return dict.fromkeys(small, of_each) | {largest: max(-(-rest // largest), 0)}


def found_house(tables: Iterable[RecordedTable]) -> Credentials:
    """Found the next demo house with these tables. Needs Django to be set up; commits one transaction."""
    from django.db import transaction

    from casino.api.http import problems
    from casino.audit.founding import found_house
    from casino.audit.services import Actor
    from casino.cage.services import create_drawer, open_vault
    from casino.chips.services import introduce
    from casino.hands.terms import bonuses, set_up_table
    from casino.houses.models import House
    from casino.tables.models import CarryoverOnClose
    from casino.tables.services import Terms, stock_tray

    tables = list(tables)
    actor = Actor(staff="demo", role="system", terminal="", request="seed")
    chips = 8 * sum(table.max_stack for table in tables)
    with transaction.atomic():
        number = House.objects.filter(code__startswith="DEMO-").count() + 1
        house = found_house(code=f"DEMO-{number}", name=f"Demo house {number}", currency=CURRENCY, actor=actor)
        introduce(house=house, code="MAIN", denominations=CHIPS, actor=actor)
        # Enough for every tray, and for a drawer that could pay everybody at once.
        open_vault(house=house, capital=chips, chips=chips_worth(4 * chips, VAULT_OF_EACH), actor=actor)
        create_drawer(house=house, code=DRAWER, actor=actor)
        for table in tables:
            try:
                terms = Terms(max_stack=table.max_stack, carryover_on_close=CarryoverOnClose.SPLIT, **_agreed(table))
                stocked = set_up_table(house=house, code=table.code, terms=terms, actor=actor)
            except Exception as error:
                problem = problems.describe(error)
                if problem is None:
                    raise
                raise EveningError(f"table {table.code}: {problem['detail']} [{problem['code']}]") from error
            # Change for the tax, and bonuses where the game has them.
            promised = TRAY_BONUSES * bonuses(table.game, table.options, table.seats)
            stock_tray(table=stocked, pieces=chips_worth(promised, TRAY_OF_EACH), actor=actor)
        return _hire(house.code, [table.code for table in tables])


def _agreed(table: RecordedTable) -> dict[str, Any]:
    """A table's game, options, seats and least stack. Records leave out what is usual in their game, a house must say
    it: where that is no limit at all, a limit is said that no recorded amount exceeds."""
    from casino.hands.terms import rules
    from casino.hands.verbs import declaration

    agreed, declared = rules(table.game, table.options, table.seats), declaration(table.game)
    usual = {name: getattr(agreed, name) for name in declared["policy"]["must_set"]}
    limit = max(largest_amount(table, Words(declared)), agreed.least_stack)
    stated = {name: limit if value is None else value for name, value in usual.items()}
    return {
        "game": table.game,
        "options": stated | table.options,
        "seats": table.seats,
        "min_stack": max(agreed.least_stack, 1),
    }


def largest_amount(table: RecordedTable, words: Words) -> int:
    """The largest amount that a line of the table's records names, in minor units."""
    lines = {line for hand in table.hands for line in hand["acts"]}
    return max((amount for line in lines for amount in words.amounts(line)), default=0)


def _hire(house_code: str, table_codes: list[str]) -> Credentials:
    """Staff and terminals: some dealers, a cashier with a supervisor and a manager, an auditor, an administrator, one
    floor manager."""
    from casino.audit.services import Actor
    from casino.houses.models import House
    from casino.staff.models import Role, TerminalKind
    from casino.staff.services import enrol_terminal, hire

    house = House.objects.get(code=house_code)
    actor = Actor(staff="demo", role="system", terminal="", request="seed")
    passwords: dict[str, str] = {}

    def person(name: str, role: Role) -> str:
        login = f"{name}@{house.code}"
        passwords[login] = secrets.token_urlsafe(12)
        hire(house=house, login=login, name=name.capitalize(), roles=[role], password=passwords[login], actor=actor)
        return login

    def terminal(code: str, kind: TerminalKind, place: str) -> tuple[str, str]:
        return code, enrol_terminal(house=house, code=code, kind=kind, location=place, actor=actor)[1]

    def way_in(login: str, at: tuple[str, str], role: Role) -> Login:
        return Login(login, passwords[login], at[0], at[1], [role.value])

    needed = -(-len(table_codes) // TABLES_OF_A_DEALER)
    dealers = [person(f"dealer-{number}", Role.DEALER) for number in range(1, needed + 1)]
    at_tables = {code: terminal(f"console-{code}", TerminalKind.TABLE, code) for code in table_codes}
    cage = terminal("cage-1", TerminalKind.CAGE, DRAWER)
    floor = person("floor", Role.FLOOR)
    office = terminal("office-1", TerminalKind.OFFICE, "")
    return Credentials(
        house=house.code,
        dealers={
            code: way_in(dealers[number // TABLES_OF_A_DEALER], at, Role.DEALER)
            for number, (code, at) in enumerate(at_tables.items())
        },
        cashier=way_in(person("cashier", Role.CASHIER), cage, Role.CASHIER),
        auditor=way_in(person("auditor", Role.AUDITOR), office, Role.AUDITOR),
        # The floor signs soft counts at the cashier's terminal.
        floor={code: way_in(floor, at, Role.FLOOR) for code, at in (at_tables | {DRAWER: cage}).items()},
        manager=way_in(floor, office, Role.FLOOR),
        admin=way_in(person("admin", Role.ADMIN), office, Role.ADMIN),
        supervisor=way_in(person("supervisor", Role.CAGE_SUPERVISOR), cage, Role.CAGE_SUPERVISOR),
        cage_manager=way_in(person("manager", Role.MANAGER), cage, Role.MANAGER),
    )


def newest_house(logins: Path) -> Credentials | None:
    """The newest demo house of the connected database whose logins are kept in the folder `logins`."""
    from casino.houses.models import House

    for code in House.objects.filter(code__startswith="DEMO-").order_by("-opened_at").values_list("code", flat=True):
        path = logins / f"{code}.json"
        if path.exists():
            return Credentials.load(path)
    return None
