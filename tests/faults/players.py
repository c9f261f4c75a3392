"""Play at five tables over HTTP, by clients that repeat what was not answered under the same key, and remember what the
house has acknowledged."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from deploy.demo.client import Terminal
from deploy.demo.dealer import Console
from deploy.demo.evening import HERE, RecordedTable, load, players
from deploy.demo.logins import Credentials, Login
from deploy.demo.play import DRAWER_CASH, Cashier
from deploy.demo.seed import DRAWER_OF_EACH, chips_worth, found_house
from tests.casino.live.receiver import Receiving
from tests.faults.following import Following
from tests.faults.receiving import Deliveries

#: What a fault may do to a request before it is sent: nothing, unless it replaces this.
BeforeSending = Callable[["Client", str, str, bytes | None, dict[str, str]], None]


@dataclass
class Journal:
    """What clients saw, with monotonic times. Written by many threads; appending to a list is atomic."""

    #: When a write was acknowledged.
    accepted: list[float] = field(default_factory=list)
    #: Chain and number of the event of each acknowledged write.
    receipts: list[tuple[str, int]] = field(default_factory=list)
    #: When a hand was seen to be settled, and for how many seconds a console had waited.
    settled: list[tuple[float, float]] = field(default_factory=list)
    #: Why requests were sent again.
    missed: Counter[str] = field(default_factory=Counter)
    hands: int = 0

    def longest_gap(self, begin: float, end: float) -> float:
        """The longest time without an acknowledged write, in seconds."""
        times = [begin, *sorted(at for at in self.accepted if begin <= at <= end), end]
        return max(later - earlier for earlier, later in pairwise(times))


class Client(Terminal):
    """A terminal that keeps a journal; a fault may meddle with its requests."""

    before: BeforeSending | None = None

    def __init__(self, root: str, login: Login, journal: Journal) -> None:
        self.journal = journal
        super().__init__(root, login)

    @property
    def authorization(self) -> str:
        """Its token, as a header."""
        return self._token["Authorization"]

    def missed(self, why: str) -> None:
        """Count it."""
        self.journal.missed[why] += 1

    def _exchange(self, method: str, path: str, content: bytes | None, sent: dict[str, str]) -> tuple[int, Any]:
        if Client.before is not None and "Idempotency-Key" in sent:
            Client.before(self, method, path, content, sent)
        status, answer = super()._exchange(method, path, content, sent)
        if status < 400 and "Idempotency-Key" in sent:
            self.journal.accepted.append(time.monotonic())
            self.journal.receipts.append((answer["audit"]["chain"], answer["audit"]["seq"]))
        return status, answer

    def raw(self, method: str, path: str, content: bytes | None, headers: dict[str, str]) -> tuple[int, Any]:
        """One exchange past the journal."""
        return super()._exchange(method, path, content, headers)

    def send_and_hang_up(self, method: str, path: str, content: bytes | None, headers: dict[str, str]) -> None:
        """Send a request and do not wait for its answer."""
        self._http.request(method, self._root + path, content, headers)
        self._http.close()


class Table(Console):
    """A console that notes how long it waited for settlements."""

    def wait_until_settled(self) -> None:
        """Wait, and note it."""
        begun = time.monotonic()
        super().wait_until_settled()
        client = self.terminal
        assert isinstance(client, Client)
        client.journal.settled.append((time.monotonic(), time.monotonic() - begun))


@dataclass
class Play:
    """A house at whose tables recorded hands are played until they are to stop, or have no more."""

    root: str
    credentials: Credentials
    tables: dict[str, RecordedTable]
    #: The length of each chain when the house was founded: what lies before was written by no client of this play.
    founding: dict[str, int]
    deliveries: Deliveries | None = None
    journal: Journal = field(default_factory=Journal)
    #: Seconds between two hands of a table.
    pause: float = 0.0
    _stop: threading.Event = field(default_factory=threading.Event)
    _pool: ThreadPoolExecutor = field(default_factory=ThreadPoolExecutor)
    _running: list[Future[None]] = field(default_factory=list)
    _clients: list[Client] = field(default_factory=list)
    _following: Following | None = None

    @classmethod
    def founded(cls, root: str, receiving: Receiving | None = None) -> Play:
        """Found a house for the recorded evening of Ferbli, whose hints this receiver is to get, if there is one."""
        from casino.audit.models import ChainHead

        tables = load(HERE / "evening.jsonl")
        known = found_house(root, tables.values()).credentials
        deliveries = None if receiving is None else cls._subscribed(root, known, receiving)
        heads = ChainHead.objects.filter(house__code=known.house)
        return cls(root, known, tables, dict(heads.values_list("name", "seq")), deliveries)

    @staticmethod
    def _subscribed(root: str, known: Credentials, receiving: Receiving) -> Deliveries:
        chains = ["table/*", "drawer/*", f"house/{known.house}"]
        body = {"destination": "scanner", "chains": chains, "reason": "it listens through the fault"}
        with Terminal(root, known.admin) as admin, Terminal(root, known.manager) as manager:
            answer = admin.post_approved("webhooks", body, manager)
        return Deliveries.of(receiving, known.house, answer)

    def begin(self) -> None:
        """Open the drawer and play at all tables at once."""
        at_the_drawer = (self.credentials.cashier, self.credentials.cage_supervisor, self.credentials.cage_manager)
        cashier = Cashier(*map(self._client, at_the_drawer))
        chips = 3 * sum(table.max_stack for table in self.tables.values())
        cashier.open(cash=DRAWER_CASH, pieces=chips_worth(chips, DRAWER_OF_EACH))
        cashier.register(players(self.tables.values()))
        consoles = {
            code: Table(self._client(self.credentials.dealers[code]), code, cashier.buy_in) for code in self.tables
        }
        [floor, *_] = self.credentials.floor.values()
        self._following = Following(self.root, self._client(floor).authorization)
        self._running = [self._pool.submit(self._play, consoles[code], table) for code, table in self.tables.items()]

    @property
    def following(self) -> Following:
        """Who follows the house. Raises AssertionError before the play has begun."""
        assert self._following is not None
        return self._following

    def _client(self, login: Login) -> Client:
        self._clients.append(Client(self.root, login, self.journal))
        return self._clients[-1]

    def _play(self, console: Table, table: RecordedTable) -> None:
        for hand in table.hands:
            if self._stop.is_set():
                return
            console.play_recorded(hand)
            self.journal.hands += 1
            self._stop.wait(self.pause)

    def end(self) -> None:
        """Let every hand in play be ended and settled. Raises what a console met that it could not repeat."""
        self._stop.set()
        try:
            for one in self._running:
                one.result()
        finally:
            self._pool.shutdown()
            for client in self._clients:
                client.close()

    @property
    def over(self) -> bool:
        """Whether nobody plays any more."""
        return all(one.done() for one in self._running)
