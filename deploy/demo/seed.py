"""Founding the demo house as any house is founded: the operator's two commands, which found and rehearse, and requests.

Every demo founds a new one, `DEMO-1`, `DEMO-2` ..., so that nothing already booked has to be deleted, which PostgreSQL
would refuse. Two administrators hire, so that the person who approves something does not have the password from the
same hands as the person who asked.
"""

import re
import secrets
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deploy.demo.client import Refused, Terminal
from deploy.demo.evening import EveningError, RecordedTable
from deploy.demo.logins import Credentials, Login
from deploy.demo.words import Words

ROOT = Path(__file__).resolve().parents[2]
DRAWER, OFFICE = "C1", "office-1"
#: So many tables share a dealer: a password's hash costs a third of a second, on purpose.
TABLES_OF_A_DEALER = 5
CURRENCY = "HUF"
#: The demo's chips: face value in forints -> colour. Each divides the next, and tax may be any whole amount.
CHIPS = {
    1: "white", 5: "grey", 25: "yellow", 100: "red", 500: "green", 1_000: "blue", 5_000: "purple", 25_000: "orange",
    100_000: "black",
}  # fmt: skip
#: Pieces of each small denomination in the vault, at least, in the cashier's drawer, and in each table's tray.
VAULT_OF_EACH, DRAWER_OF_EACH, TRAY_OF_EACH = 40_000, 4_000, 1_000
#: Control points of the house that amounts of the evening would reach.
OF_AN_EVENING = (
    *("float_by_manager_above", "identity_from"),
    *("exchange_by_supervisor_from", "exchange_by_manager_from"),
)
#: From this on a fill or credit is approved by a second person, in minor units: the evening has one such fill.
TRANSFER_APPROVED = 5_000
#: How many times the chips of all seats the owners pay in, so that cash covers every tray.
CAPITAL = 100
#: No tray and no float of the evening is worth as much, in minor units: tables open with what was stocked. The demo
#: counts openers all the same.
WORTH_OF_NO_TRAY = 10**12
#: Bonuses of every seat that a table's tray can pay before it needs a fill.
TRAY_BONUSES = 100
#: What the command says of a code that another house has, and of the key of the terminal in the office.
_TAKEN, _KEY = "[house_exists]", re.compile(r"with the key (\S+)")
#: Seconds in which the first checkpoint of a new house comes.
CHECKPOINT_PATIENCE = 30.0
#: Most houses that are tried for a free number.
_MOST_HOUSES = 1_000


def chips_worth(amount: int, of_each: int) -> dict[int, int]:
    """So many chips of every denomination but the largest, and of that what makes it worth `amount` at least."""
    *small, largest = CHIPS
    rest = amount - of_each * sum(small)
    return dict.fromkeys(small, of_each) | {largest: max(-(-rest // largest), 0)}


@dataclass(frozen=True, slots=True)
class Founded:
    """A new house that is live: everybody's ways in, and how many requests beside the operator's commands it took."""

    credentials: Credentials
    requests: int
    #: Seconds of its rehearsal.
    rehearsed: float


def found_house(base_url: str, tables: Iterable[RecordedTable], *, after: int = 0) -> Founded:
    """Found the next demo house, whose number is above `after`, with these tables, at a server that is ready; rehearse
    it, and let three people sign that it goes live. Raises EveningError where a table cannot be what its records say, a
    command refuses or the house lacks something, and Refused."""
    tables = list(tables)
    founders = begin_house(after)
    with ExitStack() as stack:
        admin, deputy, third, auditor = (stack.enter_context(Terminal(base_url, login)) for login in founders)
        house = HouseSetUp(base_url, founders[0], admin)
        people = house.people(admin, deputy, third, dealers=-(-len(tables) // TABLES_OF_A_DEALER))
        supervisor = stack.enter_context(Terminal(base_url, people["supervisor"]))
        house.stock(admin, auditor, supervisor, chips=8 * sum(table.max_stack for table in tables), tables=len(tables))
        for table in tables:
            house.set_up(table, supervisor)
        rehearsed = rehearse(house.code)
        manager = stack.enter_context(Terminal(base_url, people["manager"]))
        go_live(admin, auditor, manager)
    requests = house.requests + sum(one.requests for one in (admin, auditor, deputy, third, supervisor, manager))
    return Founded(house.credentials(tables, people, founders[-1]), requests, rehearsed)


def rehearse(code: str) -> float:
    """The operator's part before the house goes live; the seconds that it took. Raises EveningError with what did not
    pass."""
    started = time.monotonic()
    command = [sys.executable, str(ROOT / "manage.py"), "rehearse", code]
    rehearsed = subprocess.run(command, text=True, capture_output=True, check=False)
    if rehearsed.returncode:
        raise EveningError(f"{code} did not pass its rehearsal: {rehearsed.stdout}{rehearsed.stderr.strip()}")
    return time.monotonic() - started


def go_live(admin: Terminal, auditor: Terminal, manager: Terminal) -> None:
    """Three people sign what the house is; with the third signature it is live. Raises EveningError for a house that
    lacks something."""
    deadline = time.monotonic() + CHECKPOINT_PATIENCE
    while lacking := _lacking(found := auditor.get("house/readiness")):
        # The first checkpoint outside the database comes a second after the first event.
        if lacking != {"checkpoints"} or time.monotonic() > deadline:
            raise EveningError(f"the house lacks {', '.join(sorted(lacking))}")
        time.sleep(0.1)
    signed = {"digest": found["signatures"]["digest"]}
    for person in (admin, auditor, manager):
        stage = person.post("house/go-live", signed, version=None)["stage"]
    if stage != "live":
        raise EveningError(f"three people have signed, and the house is {stage}")


def _lacking(readiness: dict[str, Any]) -> set[str]:
    """What a house lacks, but for what comes with going live and after it."""
    return {one["item"] for one in readiness["items"] if not one["ready"]} - {"signatures", "day"}


#: What a demo house says of itself.
IDENTITY = {
    "legal_name": "Demo Card Room Ltd", "tax_id": "00000000-0-00", "licence_number": "DEMO-1",
    "address": "1 Demo Street", "legal_profile": "custom", "languages": ["en"], "reason": "the house is set up",
}  # fmt: skip
#: Who is there from the founding: three administrators, for the largest trades take three people of whom no two have
#: their passwords from the same one, and the auditor.
FOUNDERS = {"admin": "admin", "deputy": "admin", "third": "admin", "auditor": "auditor"}


def begin_house(after: int = 0) -> list[Login]:
    """The operator's part: the next demo house whose number is above `after`, its founders in the order of `FOUNDERS`,
    and the terminal in the office. Raises EveningError where the command refuses."""
    passwords = [secrets.token_urlsafe(12) for _ in FOUNDERS]
    for number in range(after + 1, after + _MOST_HOUSES):
        code = f"DEMO-{number}"
        logins = [f"{name}@{code}" for name in FOUNDERS]
        founded = subprocess.run(
            [
                sys.executable, str(ROOT / "manage.py"), "found_house", code, "--name", f"Demo house {number}",
                "--currency", CURRENCY,
                *(word for login, role in zip(logins, FOUNDERS.values(), strict=True) for word in (f"--{role}", login)),
                # Its passwords are kept in a file, and a reader of it could read second factors' secrets beside them.
                "--no-second-factor",
            ],
            input="\n".join(passwords) + "\n", text=True, capture_output=True, check=False,
        )  # fmt: skip
        if founded.returncode and _TAKEN in founded.stderr:
            continue
        key = _KEY.search(founded.stdout)
        if founded.returncode or key is None:
            raise EveningError(f"{code} was not founded: {founded.stderr.strip()}")
        people = zip(logins, passwords, FOUNDERS.values(), strict=True)
        return [Login(login, password, OFFICE, key[1], [role]) for login, password, role in people]
    raise EveningError("there are too many demo houses")


@dataclass(slots=True)
class HouseSetUp:
    """A house that is being set up by its administrator."""

    base_url: str
    founder: Login
    admin: Terminal
    #: Keys of terminals by their code.
    keys: dict[str, str] = field(default_factory=dict)
    declarations: dict[str, dict[str, Any]] = field(default_factory=dict)
    #: Requests of everybody who has changed a first password.
    changes: list[int] = field(default_factory=list)

    @property
    def requests(self) -> int:
        """Requests of the people who were hired."""
        return sum(self.changes)

    @property
    def code(self) -> str:
        """Its code, which every login ends with."""
        return self.founder.login.partition("@")[2]

    # --- People ------------------------------------------------------------------------------------------------------

    def hired(self, admin: Terminal, name: str, role: str) -> Login:
        """A new person in the office, who has changed the first password."""
        login, first, own = f"{name}@{self.code}", secrets.token_urlsafe(12), secrets.token_urlsafe(12)
        person = {"login": login, "name": name.capitalize(), "roles": [role], "password": first}
        admin.post("staff", person, version=None)
        at_office = Login(login, first, OFFICE, self.founder.terminal_key, [role])
        with Terminal(self.base_url, at_office) as terminal:
            terminal.post("password", {"old": first, "new": own}, version=None)
        self.changes.append(terminal.requests)
        return Login(login, own, OFFICE, self.founder.terminal_key, [role])

    def people(self, admin: Terminal, deputy: Terminal, third: Terminal, *, dealers: int) -> dict[str, Login]:
        """Everybody who works in the house, by name. Nobody has two roles; who approves is hired by the deputy, but for
        the supervisor who approves what the manager asks for, and compliance, who approves beside the manager."""
        asking = {f"dealer-{number}": "dealer" for number in range(1, dealers + 1)}
        asking |= {"cashier": "cashier", "floor": "floor", "supervisor-2": "cage_supervisor"}
        deciding = {
            "manager": "manager", "supervisor": "cage_supervisor", "counter-1": "count", "counter-2": "count",
        }  # fmt: skip

        def hire(by: Terminal, roles: Mapping[str, str]) -> dict[str, Login]:
            return {name: self.hired(by, name, role) for name, role in roles.items()}

        each = ((admin, asking), (deputy, deciding), (third, {"compliance": "compliance"}))
        with ThreadPoolExecutor(len(each)) as pool:
            found = [pool.submit(hire, by, roles) for by, roles in each]
            return {name: login for one in found for name, login in one.result().items()}

    def enrol(self, code: str, kind: str, location: str) -> None:
        """A terminal at a table or drawer."""
        asked = {"terminal": code, "kind": kind, "location": location}
        self.keys[code] = self.admin.post("terminals", asked, version=None)["key"]

    # --- Money, chips, places ----------------------------------------------------------------------------------------

    def stock(self, admin: Terminal, auditor: Terminal, supervisor: Terminal, *, chips: int, tables: int) -> None:
        """Who the house is; chips, the vault, the drawer, and control points that no buy-in of the evening reaches."""
        admin.post("house/identity", IDENTITY, version=None)
        colours = {str(value): colour for value, colour in CHIPS.items()}
        admin.post("chip-sets", {"chip_set": "MAIN", "denominations": colours}, version=None)
        # Enough for every tray, and for a drawer that could pay everybody at once.
        pieces = chips_worth(4 * chips, max(VAULT_OF_EACH, 2 * (DRAWER_OF_EACH + TRAY_OF_EACH * tables)))
        supervisor.post("vault/opening", {"capital": CAPITAL * chips, "pieces": named(pieces)}, version=None)
        admin.post("drawers", {"drawer": DRAWER}, version=None)
        self.enrol("cage-1", "cage", DRAWER)
        points = dict.fromkeys(OF_AN_EVENING, 4 * chips) | {"transfer_approved_from": TRANSFER_APPROVED}
        points |= dict.fromkeys(("opener_required_above", "float_most"), WORTH_OF_NO_TRAY)
        reason = "one cashier serves the whole evening"
        admin.post_approved("limits", {"points": points, "reason": reason}, auditor)

    def set_up(self, table: RecordedTable, supervisor: Terminal) -> None:
        """A table as its records have it, with its console and its tray: change for the tax, and bonuses where the
        game has them."""
        if table.game not in self.declarations:
            self.declarations[table.game] = self.admin.get(f"games/{table.game}")
        options = agreed(table, self.declarations[table.game])
        terms = {
            "table": table.code, "game": table.game, "options": options, "seat_count": table.seats, "min_stack": 1,
            "max_stack": table.max_stack, "carryover_on_close": "split",
        }  # fmt: skip
        try:
            made = self._made(terms)
        except Refused as refused:
            raise EveningError(f"table {table.code}: {refused.problem['detail']} [{refused.code}]") from refused
        pieces = named(tray_of(options, table.seats))
        supervisor.post(f"tables/{table.code}/tray", {"pieces": pieces}, version=made["version"])
        self.enrol(f"console-{table.code}", "table", table.code)

    def _made(self, terms: dict[str, Any]) -> dict[str, Any]:
        """The table; the house says which least stack its game needs."""
        try:
            return self.admin.post("tables", terms, version=None)
        except Refused as refused:
            if refused.code != "min_stack_too_small":
                raise
            return self.admin.post("tables", terms | {"min_stack": refused.problem["min"]}, version=None)

    def credentials(self, tables: list[RecordedTable], people: dict[str, Login], auditor: Login) -> Credentials:
        """Everybody's ways in."""

        def at(login: Login, terminal: str) -> Login:
            return Login(login.login, login.password, terminal, self.keys[terminal], login.roles)

        dealers = [login for login in people.values() if login.roles == ["dealer"]]
        consoles = {table.code: f"console-{table.code}" for table in tables}
        return Credentials(
            house=self.code,
            dealers={
                code: at(dealers[number // TABLES_OF_A_DEALER], console)
                for number, (code, console) in enumerate(consoles.items())
            },
            cashier=at(people["cashier"], "cage-1"),
            auditor=auditor,
            # The floor decides at the cashier's terminal on credits that arrive short.
            floor={code: at(people["floor"], console) for code, console in (consoles | {DRAWER: "cage-1"}).items()},
            manager=people["manager"],
            admin=self.founder,
            counters=(people["counter-1"], people["counter-2"]),
            supervisor=people["supervisor"],
            second_supervisor=people["supervisor-2"],
            # Both sign at the cashier's terminal too.
            cage_supervisor=at(people["supervisor"], "cage-1"),
            cage_manager=at(people["manager"], "cage-1"),
        )


def agreed(table: RecordedTable, declaration: dict[str, Any]) -> dict[str, Any]:
    """A table's options. Records leave out what is usual in their game, a house must say it: where that is no limit at
    all, a limit is said that no recorded amount and no other option exceeds."""
    usual = {one["name"]: one.get("default") for one in declaration["options"] if not one["required"]}
    must_set = [name for name in declaration["policy"]["must_set"] if name in usual]
    known = [value for value in table.options.values() if type(value) is int]
    limit = max(largest_amount(table, Words(declaration)), *known, 1)
    stated = {name: limit if usual[name] is None else usual[name] for name in must_set}
    return stated | table.options


def largest_amount(table: RecordedTable, words: Words) -> int:
    """The largest amount that a line of the table's records names, in minor units."""
    lines = {line for hand in table.hands for line in hand["acts"]}
    return max((amount for line in lines for amount in words.amounts(line)), default=0)


def tray_of(options: Mapping[str, Any], seats: int) -> dict[int, int]:
    """The chips that a table with these options gets for its tray."""
    bonus = sum(value for name, value in options.items() if name.startswith("bonus") and type(value) is int)
    return chips_worth(TRAY_BONUSES * seats * bonus, TRAY_OF_EACH)


def named(pieces: Mapping[int, int]) -> dict[str, int]:
    """Pieces as requests have them."""
    return {str(value): count for value, count in pieces.items() if count}
