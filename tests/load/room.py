"""A house with many tables, founded over HTTP, and its tables with people at them.

Half of the tables deal a real pack, as most tables of a card room do: their consoles send recorded hands gesture by
gesture, an action with the cards that it brings. The others deal electronically, and every action is a request: a
random one of those that the house offers.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, islice, product
from typing import Any

from deploy.demo.client import Refused, Terminal
from deploy.demo.dealer import Console, first_taken
from deploy.demo.evening import HERE, RecordedTable, load, players
from deploy.demo.logins import Credentials, Login
from deploy.demo.play import DRAWER_CASH, Cashier
from deploy.demo.seed import DRAWER_OF_EACH, chips_worth, found_house
from tests.load.hints import Hints
from tests.load.measured import Sample, Taken

#: Recorded evenings by their game.
RECORDS = {"ferbli": "evening.jsonl", "faerbeln": "faerbeln.jsonl"}
PHYSICAL, ELECTRONIC = "physical", "electronic"
MODES = (PHYSICAL, ELECTRONIC)
#: Recorded tables with more seats are left out: their hands are longer than those of a usual table.
MOST_SEATS = 5
SEATS = 4
#: What a player brings, in minor units, and below which more is bought between two hands.
STACK, LOW = 400_000, 100_000
#: Seconds that a console waits for a hint before it reads the table anyway, and for a settlement in all.
HINT_PATIENCE, SETTLEMENT_PATIENCE = 2.0, 60.0
#: Dealers that sign in at a time; a password's hash takes a core for a while.
AT_ONCE = 4


class Client(Terminal):
    """A terminal that notes how long each request took, from the moment at which it was due."""

    def __init__(self, root: str, login: Login, taken: Taken) -> None:
        self.taken = taken
        #: When the next request is due (`monotonic`); None: when it is sent.
        self.due: float | None = None
        super().__init__(root, login)

    @property
    def token(self) -> Mapping[str, str]:
        """Its header."""
        return self._token

    def missed(self, why: str) -> None:
        """Count it."""
        self.taken.repeated[why] += 1

    def _send(self, method: str, path: str, body: dict[str, Any] | None, headers: dict[str, str]) -> Any:
        due, self.due = self.due or time.monotonic(), None
        code = ""
        try:
            return super()._send(method, path, body, headers)
        except Refused as refused:
            code = refused.code
            raise
        finally:
            self.taken.samples.append(Sample(_operation(method, path), due, time.monotonic(), code))


def _operation(method: str, path: str) -> str:
    """`POST hand/actions` of `tables/T1/hand/actions`, `POST seats/N/leave` of `tables/T1/seats/4/leave`."""
    _, _, within = path.partition("/")
    _, _, asked = within.partition("/")
    return f"{method} {re.sub('[0-9]+', 'N', asked) or 'table'}"


@dataclass
class Pace:
    """How long players think: evenly spread around `think` seconds."""

    think: float
    choice: random.Random

    def pause(self) -> float:
        """Seconds until the next act."""
        return self.think * self.choice.uniform(0.5, 1.5)


class Table(Console):
    """A table at which hand after hand is played: `play` one, then `make_ready` for the next."""

    def __init__(self, client: Client, code: str, cashier: Cashier, pace: Pace) -> None:
        super().__init__(client, code, cashier.buy_in)
        self.client, self.pace = client, pace
        self.hints = Hints(client.base_url, code, client.token)
        self._seq = 0

    def write(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """One write, whose event is noted."""
        answer = super().write(path, body)
        self._seq = answer["audit"]["seq"]
        return answer

    def play(self, due: float) -> None:
        """A hand that is to begin at `due` (`monotonic`), to its settlement."""
        self._wait(due)
        self._begin_and_act()
        self.wait_until_settled()
        self.client.taken.hands.append(time.monotonic())

    def make_ready(self) -> None:
        """Whatever is to be done before the next hand: who sits, with which chips."""
        raise NotImplementedError

    def _begin_and_act(self) -> None:
        raise NotImplementedError

    def wait_until_settled(self) -> None:
        """Wait for the hint that the worker has settled the hand, and read the table."""
        deadline = time.monotonic() + SETTLEMENT_PATIENCE
        beyond = self._seq
        while True:
            self.hints.wait_beyond(beyond, HINT_PATIENCE)
            beyond = max(self.hints.last, beyond)
            self.refresh()
            if self.table["state"] == "open":
                return
            if self.table["state"] != "settling" or time.monotonic() > deadline:
                raise AssertionError(f"table {self.code} is {self.table['state']}, and its hand is not settled")

    def _think(self) -> None:
        self._wait(time.monotonic() + self.pace.pause())

    def _wait(self, due: float) -> None:
        """Wait until the next request is due."""
        time.sleep(max(0.0, due - time.monotonic()))
        self.client.due = due


class ElectronicTable(Table):
    """Random legal actions."""

    def __init__(self, client: Client, recorded: RecordedTable, cashier: Cashier, pace: Pace) -> None:
        super().__init__(client, recorded.code, cashier, pace)
        self._refs, self._stacks = recorded.hands[0]["seats"], recorded.hands[0]["stacks"]

    def make_ready(self) -> None:
        """Open it, where it is closed; players who have little left buy chips."""
        if self.table["state"] == "closed":
            self.seat_players(self._refs, self._stacks)
        for seat in self.table["seats"]:
            if seat["stack"] < LOW:
                self.sell_chips(seat["player"], STACK)
                self.table |= self.write(f"seats/{seat['seat']}/chips", {"amount": STACK})

    def _begin_and_act(self) -> None:
        self.write("deal", {})
        self._think()
        hand = self.write("hands", {"mode": ELECTRONIC})
        while hand["actor"] is not None:
            self._think()
            hand = self._act(hand)

    def _act(self, hand: dict[str, Any]) -> dict[str, Any]:
        """One random action that the house offers and the cards allow; the hand after it."""
        taken = first_taken(self.write, self.words.choices(hand, self.pace.choice))
        if taken is None:
            raise AssertionError(f"nothing is offered at {self.code}")
        return taken


class PhysicalTable(Table):
    """Recorded hands, over and over."""

    def __init__(self, client: Client, recorded: RecordedTable, cashier: Cashier, pace: Pace) -> None:
        super().__init__(client, recorded.code, cashier, pace)
        self._hands = cycle(recorded.hands)
        self._next: dict[str, Any] = {}

    def make_ready(self) -> None:
        """The people and stacks of the next hand."""
        if not self._next:
            self._next = next(self._hands)
        self.prepare(self._next)

    def _begin_and_act(self) -> None:
        hand, self._next = self._next, {}
        self.write("hands", {"mode": PHYSICAL})
        for gesture in self.words.gestures(hand["acts"]):
            self._think()
            self.write("hand/actions", {"actions": [self.words.as_action(line) for line in gesture]})


#: What plays a mode.
PLAYS: dict[str, type[ElectronicTable] | type[PhysicalTable]] = {
    PHYSICAL: PhysicalTable, ELECTRONIC: ElectronicTable,
}  # fmt: skip


@dataclass(frozen=True)
class Room:
    """A house and its open tables."""

    root: str
    credentials: Credentials
    tables: list[Table]

    def take(self) -> Taken:
        """A new account for all tables, for the next run."""
        taken = Taken()
        for table in self.tables:
            table.client.taken = taken
        return taken

    def think(self, seconds: float) -> None:
        """From now on players think for so long."""
        for table in self.tables:
            table.pace.think = seconds


@contextmanager
def opened(root: str, count: int, games: list[str], modes: list[str], seed: int) -> Iterator[Room]:
    """A new house with so many open tables of these games and modes in turn, with people at each."""
    recorded = tables_of(count, games, modes)
    known = found_house(root, recorded.values()).credentials
    taken = Taken()
    clients = [Client(root, login, taken) for login in (known.cashier, known.cage_supervisor, known.cage_manager)]
    cashier = Cashier(*clients)
    cashier.open(
        cash=DRAWER_CASH, pieces=chips_worth(sum(table.max_stack for table in recorded.values()), DRAWER_OF_EACH)
    )
    cashier.register(players(recorded.values()))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        dealers = list(pool.map(lambda code: Client(root, known.dealers[code], taken), recorded))
    tables: list[Table] = []
    try:
        for client, table, mode in zip(dealers, recorded.values(), cycle(modes), strict=False):
            pace = Pace(0.0, random.Random(f"{seed}/{table.code}"))
            tables.append(PLAYS[mode](client, table, cashier, pace))
            tables[-1].make_ready()
        yield Room(root, known, tables)
    finally:
        for one in tables:
            one.hints.end()
        for client in (*clients, *dealers):
            client.close()


def tables_of(count: int, games: list[str], modes: list[str]) -> dict[str, RecordedTable]:
    """So many tables, each set up as a table of its game's recorded evening, by code; modes change from table to table,
    games after each of them. Hands to be dealt electronically are none: only their seats and stacks count."""
    patterns = {game: cycle(_patterns(game)) for game in games}
    turns = islice(cycle(product(games, modes)), count)
    found = {}
    for number, (game, mode) in enumerate(turns, 1):
        pattern = next(patterns[game])
        table = RecordedTable(f"L{number}", game, pattern.options)
        if mode == ELECTRONIC:
            seats = [f"l{number}-{seat}" for seat in range(1, SEATS + 1)]
            table.hands = [{"seats": seats, "stacks": [STACK] * SEATS, "carry": 0, "acts": []}]
        else:
            table.hands = [hand | {"seats": [f"l{number}-{ref}" for ref in hand["seats"]]} for hand in pattern.hands]
        found[table.code] = table
    return found


def _patterns(game: str) -> list[RecordedTable]:
    return [table for table in load(HERE / RECORDS[game]).values() if table.seats <= MOST_SEATS]
