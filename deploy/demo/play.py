"""Playing an evening through HTTP: one cashier, one console a table, all at the same time."""

import random
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from deploy.demo.client import Terminal
from deploy.demo.dealer import Console
from deploy.demo.evening import RecordedTable, players
from deploy.demo.seed import DRAWER, Credentials

#: The short electronic sitting after the recorded hands.
ELECTRONIC_HANDS = 12
ELECTRONIC_STACK = 200  # in vizis
SEED = 41

Progress = Callable[[str, int, int], None]


class Cashier:
    """The cashier's terminal. Dealers send players here for chips; one customer at a time, as at a real window."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._lock = threading.Lock()
        self._path = f"drawers/{DRAWER}"
        self.version: int = terminal.get(self._path)["version"]
        self.bought: dict[str, int] = {}

    def _write(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = self._terminal.post(f"{self._path}/{path}", body, version=self.version)
        self.version = answer["version"]
        return answer

    def open(self, *, cash: int, chips: int) -> None:
        """Open the drawer with its float."""
        with self._lock:
            self._write("open", {"cash": cash, "chips": chips})

    def register(self, refs: Iterable[str]) -> None:
        """Register players."""
        for ref in refs:
            self._terminal.post("players/register", {"player": ref}, version=None)
            self.bought[ref] = 0

    def buy_in(self, ref: str, amount: int) -> None:
        """Sell a player chips."""
        with self._lock:
            self._write("buy-ins", {"player": ref, "amount": amount})
            self.bought[ref] += amount

    def cash_out(self, ref: str, amount: int) -> None:
        """Buy a player's chips back."""
        with self._lock:
            self._write("cash-outs", {"player": ref, "amount": amount})

    def count_and_close(self) -> dict[str, Any]:
        """Count the drawer and close it. The demo's cashier counts what the drawer holds, so nothing is short."""
        with self._lock:
            drawer = self._terminal.get(self._path)
            return self._write("close", {"cash": drawer["cash"], "chips": drawer["chips"]})


@dataclass(slots=True)
class Played:
    """What was played and how fast."""

    recorded: int = 0
    electronic: list[str] = field(default_factory=list)
    recorded_seconds: float = 0.0
    requests: int = 0
    #: Cukassza that was waiting when each sitting closed, by table.
    cukassza_at_close: dict[str, list[int]] = field(default_factory=dict)


def play_evening(
    base_url: str, credentials: Credentials, tables: dict[str, RecordedTable], progress: Progress
) -> Played:
    """Buy-ins, recorded hands at all tables at once, an electronic sitting, cash-outs, the count."""
    played = Played()
    with Terminal(base_url, credentials.cashier) as terminal:
        cashier = Cashier(terminal)
        chips = 3 * sum(table.max_stack for table in tables.values())
        cashier.open(cash=chips, chips=chips)
        cashier.register(players(tables.values()))
        started = time.monotonic()
        with ThreadPoolExecutor(len(tables)) as pool:
            runs = [
                pool.submit(_play_table, base_url, credentials, table, cashier, played, progress)
                for table in tables.values()
            ]
            for run in runs:
                run.result()
        played.recorded_seconds = time.monotonic() - started
        _play_electronic(base_url, credentials, tables, cashier, played, progress)
        _cash_everybody_out(base_url, credentials, cashier)
        cashier.count_and_close()
        played.requests += terminal.requests
    return played


def _play_table(
    base_url: str,
    credentials: Credentials,
    table: RecordedTable,
    cashier: Cashier,
    played: Played,
    progress: Progress,
) -> None:
    with Terminal(base_url, credentials.dealers[table.code]) as terminal:
        console = Console(terminal, table.code, cashier.buy_in)
        for number, hand in enumerate(table.hands, start=1):
            console.play_recorded(hand)
            played.recorded += 1
            progress(table.code, number, len(table.hands))
        console.close()
        played.cukassza_at_close[table.code] = console.shared
        played.requests += terminal.requests


def _play_electronic(
    base_url: str,
    credentials: Credentials,
    tables: dict[str, RecordedTable],
    cashier: Cashier,
    played: Played,
    progress: Progress,
) -> None:
    """A short sitting with committed decks, at the table that seats most but not all: every rule has room."""
    table = sorted(tables.values(), key=lambda table: table.seats)[len(tables) // 2]
    choice = random.Random(SEED)  # noqa: S311 - which legal action the demo takes, not which card falls
    refs = table.hands[0]["seats"]
    stack = ELECTRONIC_STACK * int(table.options.get("vizi", 100))
    with Terminal(base_url, credentials.dealers[table.code]) as terminal:
        console = Console(terminal, table.code, cashier.buy_in)
        console.seat_players(refs, [stack] * len(refs))
        for number in range(1, ELECTRONIC_HANDS + 1):
            played.electronic.append(console.play_electronic(choice))
            progress(f"{table.code} electronic", number, ELECTRONIC_HANDS)
        console.close()
        played.cukassza_at_close[table.code] += console.shared
        played.requests += terminal.requests


def _cash_everybody_out(base_url: str, credentials: Credentials, cashier: Cashier) -> None:
    """Everybody goes home: all chips away from the tables become cash again."""
    with Terminal(base_url, credentials.auditor) as auditor:
        for player in auditor.get("reports/players")["players"]:
            if player["chips"]:
                cashier.cash_out(player["player"], player["chips"])
