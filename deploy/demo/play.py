"""Playing an evening through HTTP: one cashier, one console a table, all at the same time."""

import random
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from deploy.demo import story
from deploy.demo.client import Terminal
from deploy.demo.dealer import Console
from deploy.demo.evening import EveningError, RecordedTable, players
from deploy.demo.logins import Credentials
from deploy.demo.seed import DRAWER, DRAWER_OF_EACH, chips_worth

#: The short electronic sessions after the recorded hands: at a table that a console can play without knowing cards, and
#: at one where players' devices choose them.
ELECTRONIC_HANDS, CHOSEN_HANDS = 8, 2
ELECTRONIC_STACK = 200  # times the least that a seat must bring
SEED = 41
#: Chips that go to a tray before the evening, of such a worth that a second person approves it, and back after it.
FILL = {"100": 50, "25": 40, "5": 40}
CREDIT = {"100": 30, "25": 40, "5": 40}
#: Cash of the drawer's float, in minor units, and what a skim leaves there.
DRAWER_CASH = 1_000_000
#: Cash that a player puts down at a table, and the dealer's tip from it, in minor units.
DROP, TIP = 1_000, 100

Progress = Callable[[str, int, int], None]


class Cashier:
    """The cashier's terminal, where a supervisor and a manager sign too. Dealers send players here for chips; one
    customer at a time, as at a real window."""

    def __init__(self, terminal: Terminal, supervisor: Terminal, manager: Terminal) -> None:
        self.terminal, self._supervisor, self._manager = terminal, supervisor, manager
        self._lock = threading.Lock()
        self._path = f"drawers/{DRAWER}"
        self.version: int = terminal.get(self._path)["version"]
        #: Cash in the drawer as its cashier keeps count of it; the house does not say.
        self._cash = 0

    def _write(self, path: str, body: dict[str, Any], *, by: Terminal | None = None) -> dict[str, Any]:
        answer = (by or self.terminal).post(f"{self._path}/{path}", body, version=self.version)
        self.version = answer["version"]
        return answer

    def _offer(self, kind: str, offered: dict[str, Any], *, by: Terminal) -> int:
        """Count something out; returns the handover's number."""
        handover = self._write("handovers", {"kind": kind} | offered, by=by)["last_event"]["handover"]
        return int(handover["handover"])

    def open(self, *, cash: int, pieces: dict[int, int]) -> None:
        """Open the drawer with its float: cash, and chips by denomination, which the supervisor counts out."""
        offered = {"cash": cash, "pieces": {str(value): count for value, count in pieces.items()}}
        with self._lock:
            number = self._offer("float", offered, by=self._supervisor)
            self._write(f"handovers/{number}/sign", {}, by=self._manager)
            self._write("open", offered)
            self._cash = cash

    def _skim(self) -> None:
        """Give the vault the cash above what the drawer needs."""
        offered = {"cash": self._cash - DRAWER_CASH, "pieces": {}}
        number = self._offer("skim", offered, by=self.terminal)
        self._write(f"handovers/{number}/take", offered, by=self._supervisor)
        self._cash = DRAWER_CASH

    def _replenish(self, cash: int) -> None:
        """Get cash from the vault."""
        offered = {"cash": cash, "pieces": {}}
        number = self._offer("replenishment", offered, by=self._supervisor)
        self._write(f"handovers/{number}/sign", {}, by=self._manager)
        self._write(f"handovers/{number}/take", offered)
        self._cash += cash

    def register(self, refs: Iterable[str]) -> None:
        """Register players."""
        for ref in refs:
            self.terminal.post("players/register", {"player": ref}, version=None)

    def buy_in(self, ref: str, amount: int) -> None:
        """Sell a player chips."""
        with self._lock:
            answer = self._write("buy-ins", {"player": ref, "amount": amount})
            self._cash += amount
            if answer["skim_due"]:
                self._skim()

    def cash_out(self, ref: str, amount: int) -> None:
        """Buy a player's chips back."""
        with self._lock:
            if amount > self._cash:
                self._replenish(amount - self._cash + DRAWER_CASH)
            self._write("cash-outs", {"player": ref, "amount": amount})
            self._cash -= amount

    def send_fill(self, table: str, pieces: dict[str, int], approver: Terminal) -> int:
        """Send chips to a table's tray, which somebody approves; returns the fill's number."""
        with self._lock:
            fill = {"table": table, "pieces": pieces}
            sent = self.terminal.post_approved(f"{self._path}/fills", fill, approver, version=self.version)
            self.version = sent["version"]
            return int(sent["last_event"]["transfer"]["serial"])

    def correct_buy_in(self, ref: str, keyed: int, amount: int) -> None:
        """Sell a player chips, keyed wrongly; the supervisor takes the entry back and makes the right one."""
        with self._lock:
            wrong = self._write("buy-ins", {"player": ref, "amount": keyed})["audit"]["seq"]
            right = {"kind": "cage.buy_in", "player": ref, "amount": amount}
            correction = {"entry": wrong, "right": right, "reason": "a nought too many"}
            self._write("corrections", correction, by=self._supervisor)
            self._cash += amount

    def void_buy_in(self, ref: str, amount: int) -> None:
        """Key a buy-in for a player who bought nothing; the supervisor takes it back, and nothing stands for it."""
        with self._lock:
            wrong = self._write("buy-ins", {"player": ref, "amount": amount})["audit"]["seq"]
            self._write("corrections", {"entry": wrong, "reason": "the player bought nothing"}, by=self._supervisor)

    def receive_credit(self, number: int, pieces: dict[str, int], carrier: str) -> None:
        """Count what somebody has brought back from a table, and take it in."""
        with self._lock:
            self._write(f"credits/{number}/receive", {"pieces": pieces, "carrier": carrier})

    def pay_share(self, pool: int, login: str) -> None:
        """Give a member of the staff the own share of the tips."""
        with self._lock:
            paid = self._write("tronc-shares", {"pool": pool, "login": login})
            self._cash -= paid["last_event"]["share"]["amount"]

    def count_and_close(self, auditor: Terminal, missing: int) -> str:
        """Count the drawer, in which so much cash is missing: a supervisor counts it again, a manager signs the
        difference off, and it is closed. The demo's people find the rest as the auditor's X reading has it."""
        with self._lock:
            held = auditor.post(f"{self._path}/x-readings", {}, version=None)["expected"]
            if held["cash"] != self._cash:
                raise EveningError(f"the cashier has {self._cash} in cash, the books {held['cash']}")
            found = {"cash": self._cash - missing, "pieces": held["pieces"], "foreign": held["foreign"]}
            self._write("count", found)
            self._write("recount", found, by=self._supervisor)
            self._write("sign-off", {"reason": "a note is missing, and was not found again"}, by=self._manager)
        return f"The drawer was {missing:,} short by a blind count and by a second one; a manager signed it off."


@dataclass(slots=True)
class Played:
    """The number of hands and the rate."""

    recorded: int = 0
    electronic: list[str] = field(default_factory=list)
    #: Players' own devices at the electronic hands, and how many cards they found to be those committed to.
    devices: int = 0
    openings: int = 0
    recorded_seconds: float = 0.0
    requests: int = 0
    #: Name of the gaming day, and the place of its closing in the audit trail.
    day: str = ""
    closing: dict[str, Any] = field(default_factory=dict)
    #: The house's report when all hands were played and nobody had cashed out.
    at_its_height: dict[str, Any] = field(default_factory=dict)
    #: What else happened, a sentence each.
    happened: list[str] = field(default_factory=list)
    #: Name of the hand that was disputed.
    disputed: str = ""
    #: The slip of the drawer's shift.
    z: dict[str, Any] = field(default_factory=dict)


def play_evening(
    base_url: str, credentials: Credentials, tables: dict[str, RecordedTable], progress: Progress
) -> Played:
    """A gaming day from opening to closing: buy-ins, recorded hands at all tables at once, electronic sessions at some
    of them, cash-outs, the count."""
    played = Played(day="")
    with ExitStack() as stack:
        at_the_drawer = [
            stack.enter_context(Terminal(base_url, login))
            for login in (credentials.cashier, credentials.cage_supervisor, credentials.cage_manager)
        ]
        cashier = Cashier(*at_the_drawer)
        auditor = stack.enter_context(Terminal(base_url, credentials.auditor))
        consoles = _consoles(stack, base_url, credentials, tables, cashier)
        manager = stack.enter_context(Terminal(base_url, credentials.manager))
        played.day = manager.get("house/identity")["clock"]["due_day"]
        version = manager.post("days", {"day": played.day}, version=None)["version"]
        chips = 3 * sum(table.max_stack for table in tables.values())
        cashier.open(cash=DRAWER_CASH, pieces=chips_worth(chips, DRAWER_OF_EACH))
        cashier.register(players(tables.values()))
        busiest = max(tables.values(), key=lambda table: len(table.hands)).code
        supervisor = stack.enter_context(Terminal(base_url, credentials.supervisor))
        closer = stack.enter_context(Terminal(base_url, credentials.second_supervisor))
        played.happened.append(story.count_openers(consoles, credentials))
        for console in consoles.values():
            _swap_boxes(console, 1)
        played.happened.append(_fill(cashier, consoles[busiest], supervisor, credentials.manager.login))
        played.happened += _key_wrongly(cashier, players(tables.values())[0])
        _play_tables(consoles, tables, played, progress)
        staked = _with_a_pot(consoles, tables, busiest)
        played.disputed, said = story.dispute(consoles[staked], tables[staked].hands[0], credentials, manager)
        played.happened.append(said)
        _between_hands(consoles[busiest])
        played.at_its_height = auditor.get("reports/house")
        for console in consoles.values():
            console.close()
        _credit(cashier, consoles[busiest], credentials.manager.login)
        counters = [stack.enter_context(Terminal(base_url, login)) for login in credentials.counters]
        _count_boxes(consoles, counters, supervisor, auditor.get("reports/house"))
        _share_tips(cashier, supervisor, sorted({login.login for login in credentials.dealers.values()}))
        for player in auditor.pages("reports/players"):
            if player["chips"]:
                cashier.cash_out(player["player"], player["chips"])
        played.happened.append(cashier.count_and_close(auditor, story.MISSING))
        played.z = auditor.get(f"drawers/{DRAWER}/shifts/1/z")
        played.closing = manager.post_approved(f"days/{played.day}/close", {}, closer, version=version)["audit"]
        terminals = [*at_the_drawer, auditor, manager, supervisor, closer, *counters]
        terminals += [console.terminal for console in consoles.values()]
        played.requests += sum(terminal.requests for terminal in terminals)
    return played


def _consoles(
    stack: ExitStack, base_url: str, credentials: Credentials, tables: Iterable[str], cashier: Cashier
) -> dict[str, Console]:
    """The consoles of all tables; several dealers sign in at a time."""
    with ThreadPoolExecutor(story.AT_ONCE) as pool:
        signing = {code: pool.submit(Terminal, base_url, credentials.dealers[code]) for code in tables}
    terminals = {code: stack.enter_context(terminal.result()) for code, terminal in signing.items()}
    return {code: Console(terminal, code, cashier.buy_in) for code, terminal in terminals.items()}


def _fill(cashier: Cashier, console: Console, approver: Terminal, carrier: str) -> str:
    """Small chips from the cage to a table's tray."""
    number = cashier.send_fill(console.code, FILL, approver)
    console.write(f"fills/{number}/receive", {"pieces": FILL, "carrier": carrier})
    return f"A fill went to {console.code} after a cage supervisor had approved it."


def _key_wrongly(cashier: Cashier, ref: str) -> list[str]:
    """A buy-in with a nought too many, and one that was none."""
    cashier.correct_buy_in(ref, story.KEYED, story.BOUGHT)
    cashier.void_buy_in(ref, story.NOT_BOUGHT)
    return [
        f"A buy-in was keyed as {story.KEYED:,}; a supervisor took it back and made it {story.BOUGHT:,}.",
        f"A buy-in of {story.NOT_BOUGHT:,} was keyed for a player who bought nothing; a supervisor voided it.",
    ]


def _with_a_pot(consoles: dict[str, Console], tables: dict[str, RecordedTable], busiest: str) -> str:
    """A table in whose game stakes lie in a pot while a hand is played, the one with most hands; else the busiest."""
    betting = [code for code in tables if consoles[code].words.blind]
    return max(betting, key=lambda code: len(tables[code].hands), default=busiest)


def _credit(cashier: Cashier, console: Console, carrier: str) -> None:
    """Most of it back, when the table is closed."""
    sent = console.write("credits", {"drawer": DRAWER, "pieces": CREDIT})
    cashier.receive_credit(sent["last_event"]["transfer"]["serial"], CREDIT, carrier)


def _between_hands(console: Console) -> None:
    """A player puts cash down at the table, and tips the dealer some of it."""
    console.refresh()
    richest = max(console.table["seats"], key=lambda seat: int(seat["stack"]))
    amount = min(DROP, console.table["limits"]["max_stack"] - richest["stack"])
    console.write("buy-ins", {"seat": richest["seat"], "amount": amount})
    console.write("tips", {"seat": richest["seat"], "amount": min(TIP, amount)})


def _swap_boxes(console: Console, number: int) -> list[dict[str, Any]]:
    """Empty boxes for a table; those that were there are taken off, sealed."""
    taken = []
    for kind in ("drop", "tax", "tip"):
        seal = {"seal": f"{console.code}-{kind}"} if number > 1 else {}
        swapped = console.write("boxes", {"kind": kind, "number": f"{console.code}-{kind}-{number}", **seal})
        taken.append(swapped["last_event"].get("taken", {}))
    return taken


def _count_boxes(
    consoles: dict[str, Console], counters: list[Terminal], supervisor: Terminal, report: dict[str, Any]
) -> None:
    """The boxes of every table. The demo's people count what the books say is there, so nothing is short."""
    drop = {row["table"]: row["drop"] for row in report["tables"]}
    racks = report["chips"]["racks"]
    for console in consoles.values():
        for box in _swap_boxes(console, 2):
            rack = {"tax": "9150", "tip": "9160"}.get(box["kind"])
            pieces = {} if rack is None else racks[rack]["places"].get(console.code, {}).get("pieces", {})
            found = {"cash": drop[console.code] if rack is None else 0, "pieces": pieces}
            path = f"boxes/{box['box']}"
            counters[0].post(f"{path}/bring", {"seal": box["seal"]}, version=None)
            for counter in counters:
                counter.post(f"{path}/counts", found, version=None)
            supervisor.post(f"{path}/receive", {}, version=None)


def _share_tips(cashier: Cashier, supervisor: Terminal, dealers: list[str]) -> None:
    """All tips in equal parts for the dealers, in cash."""
    pool = supervisor.post("tronc/share", {"points": dict.fromkeys(dealers, 1)}, version=None)["pool"]
    for share in pool["shares"]:
        cashier.pay_share(pool["pool"], share["login"])


def _play_tables(
    consoles: dict[str, Console], tables: dict[str, RecordedTable], played: Played, progress: Progress
) -> None:
    """All tables at the same time, one thread a console; some go on with electronic hands after their recorded ones."""
    electronic = _electronic_tables(consoles, tables)
    ended = []

    def play(table: RecordedTable) -> None:
        for number, hand in enumerate(table.hands, start=1):
            consoles[table.code].play_recorded(hand)
            progress(table.code, number, len(table.hands))
        ended.append(time.monotonic())
        if table.code in electronic:
            _play_electronic(consoles[table.code], table, electronic[table.code], played, progress)

    started = time.monotonic()
    with ThreadPoolExecutor(len(tables)) as pool:
        for run in [pool.submit(play, table) for table in tables.values()]:
            run.result()
    played.recorded_seconds = max(ended) - started
    played.recorded = sum(len(table.hands) for table in tables.values())


def _electronic_tables(consoles: dict[str, Console], tables: dict[str, RecordedTable]) -> dict[str, int]:
    """How many electronic hands which tables play: one of middling size whose game a console can play without knowing
    cards, and the first of another game."""
    blind = sorted((code for code in tables if consoles[code].words.blind), key=lambda code: tables[code].seats)
    others = [code for code in tables if code not in blind]
    middle = blind[len(blind) // 2 :][:1]
    return dict.fromkeys(middle, ELECTRONIC_HANDS) | dict.fromkeys(others[:1], CHOSEN_HANDS)


def _play_electronic(console: Console, table: RecordedTable, hands: int, played: Played, progress: Progress) -> None:
    """A separate short session with committed decks."""
    choice = random.Random(SEED)  # noqa: S311 - which legal action the demo takes, not which card falls
    refs = table.hands[0]["seats"]
    limits = console.table["limits"]
    stack = min(ELECTRONIC_STACK * limits["min_stack"], limits["max_stack"])
    console.close()
    console.seat_players(refs, [stack] * len(refs))
    devices = console.give_keys()
    for number in range(1, hands + 1):
        played.electronic.append(console.play_electronic(devices, choice))
        progress(f"{table.code} electronic", number, hands)
    for device in devices:
        device.close()
    played.devices += len(devices)
    played.openings += sum(device.checked for device in devices)
    played.requests += sum(device.requests for device in devices)
