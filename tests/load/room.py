"""A house with many tables, founded over HTTP, and its tables with people at them who play what the house offers."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from typing import Any

from deploy.demo.client import Refused, Terminal
from deploy.demo.dealer import COMPELLED, Console
from deploy.demo.evening import HERE, RecordedTable, load
from deploy.demo.logins import Credentials, Login
from deploy.demo.play import DRAWER_CASH, Cashier
from deploy.demo.seed import DRAWER_OF_EACH, chips_worth, found_house
from tests.load.hints import Hints
from tests.load.measured import Sample, Taken

#: Recorded evenings whose tables show how a game is set up, by the game.
RECORDS = {"ferbli": "evening.jsonl", "faerbeln": "faerbeln.jsonl"}
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
    """`POST hand/actions` of `tables/T1/hand/actions`."""
    return f"{method} {path.partition('/')[2].partition('/')[2] or 'table'}"


@dataclass
class Pace:
    """How long players think: evenly spread around `think` seconds."""

    think: float
    choice: random.Random

    def pause(self) -> float:
        """Seconds until the next act."""
        return self.think * self.choice.uniform(0.5, 1.5)


class Table(Console):
    """A table at which random legal actions are taken, hand after hand."""

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
        """A hand that is to begin at `due` (`monotonic`), from the commitment to the deck to the settlement."""
        self._wait(due)
        self.write("deal", {})
        self._think()
        hand = self.write("hands", {"mode": "electronic"})
        while hand["actor"] is not None:
            self._think()
            hand = self._act(hand)
        self.wait_until_settled()
        self.client.taken.hands.append(time.monotonic())

    def bring_more(self) -> None:
        """Whoever has little left buys chips, outside of what is measured."""
        for seat in self.table["seats"]:
            if seat["stack"] < LOW:
                self.sell_chips(seat["player"], STACK)
                self.table |= self.write(f"seats/{seat['seat']}/chips", {"amount": STACK})

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

    def _act(self, hand: dict[str, Any]) -> dict[str, Any]:
        """One random action that the house offers and the cards allow; the hand after it."""
        refusal: Refused | None = None
        for action in self.words.choices(hand, self.pace.choice):
            try:
                return self.write("hand/actions", {"actions": [action]})
            except Refused as refused:
                if refused.code not in COMPELLED:
                    raise
                refusal = refused
        raise refusal or AssertionError(f"nothing is offered at {self.code}")

    def _think(self) -> None:
        self._wait(time.monotonic() + self.pace.pause())

    def _wait(self, due: float) -> None:
        """Wait until the next request is due."""
        time.sleep(max(0.0, due - time.monotonic()))
        self.client.due = due


@dataclass(frozen=True)
class Room:
    """A house and its open tables."""

    root: str
    credentials: Credentials
    tables: list[Table]
    taken: Taken

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
def opened(root: str, count: int, games: list[str], seed: int) -> Iterator[Room]:
    """A new house with so many open tables of these games in turn, with four people at each."""
    recorded = tables_of(count, games)
    known = found_house(root, recorded.values()).credentials
    taken = Taken()
    clients = [Client(root, login, taken) for login in (known.cashier, known.cage_supervisor, known.cage_manager)]
    cashier = Cashier(*clients)
    pieces = chips_worth(2 * SEATS * STACK * count, DRAWER_OF_EACH)
    cashier.open(cash=DRAWER_CASH, pieces=pieces)
    cashier.register(ref for table in recorded.values() for ref in table.hands[0]["seats"])
    with ThreadPoolExecutor(AT_ONCE) as pool:
        dealers = list(pool.map(lambda code: Client(root, known.dealers[code], taken), recorded))
    tables = [
        Table(client, code, cashier, Pace(0.0, random.Random(f"{seed}/{code}")))  # noqa: S311 - which legal action is taken
        for client, code in zip(dealers, recorded, strict=True)
    ]
    try:
        for table in tables:
            hand = recorded[table.code].hands[0]
            table.seat_players(hand["seats"], hand["stacks"])
        yield Room(root, known, tables, taken)
    finally:
        for table in tables:
            table.hints.end()
        for client in (*clients, *dealers):
            client.close()


def tables_of(count: int, games: list[str]) -> dict[str, RecordedTable]:
    """So many tables, each set up as one of its game's recorded evening, by code."""
    patterns = {game: next(iter(load(HERE / RECORDS[game]).values())) for game in games}
    found = {}
    for number, game in zip(range(1, count + 1), cycle(games), strict=False):
        code = f"L{number}"
        hand = {"seats": [f"l{number}-{seat}" for seat in range(1, SEATS + 1)], "stacks": [STACK] * SEATS, "carry": 0}
        found[code] = RecordedTable(code, game, patterns[game].options, [hand | {"acts": []}])
    return found
