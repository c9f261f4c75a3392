"""What the referees of the shedding games (Esel, Pacal, Old Maid) share: records before the log, logs, results.

A referee is a class with ``options``, ``seats``, ``keys`` and a generator ``course`` that yields what may stand next: a
set of lines, or a :class:`Fan`. It gets back the line that stands there. Cards that nobody knows (``??``) are not its
business. Written from the pages and the rules text; no code is shared with the engine.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

PACK = [rank + suit for suit in "albh" for rank in "AKOUX987"]  # in fixed order
NEEDED = {"v", "game", "rules", "opt", "hand", "seats", "dealer", "stacks", "carry", "series", "acts", "deck"}
ALLOWED = NEEDED | {"net", "tax", "carry_out", "series_out", "prev", "commit", "seed", "client_seeds", "state"}


@dataclass(frozen=True)
class Fan:
    """The whole hand of a seat in any order."""

    seat: int
    cards: tuple[str, ...]

    def takes(self, line: str) -> bool:
        head = f"d fn p{self.seat} "
        return line.startswith(head) and sorted(cut(line[len(head) :])) == sorted(self.cards)

    def some(self, random: Random) -> str:
        return f"d fn p{self.seat} {''.join(random.sample(self.cards, len(self.cards)))}"


Next = set[str] | Fan
Course = Generator[Next, str, None]


@dataclass(frozen=True)
class Verdict:
    """``index``: None for a good record, -1 for a fault before the log, else the first wrong line from 0, or the number
    of lines where some are missing or a result differs."""

    index: int | None
    reason: str = ""
    net: tuple[int, ...] | None = None
    series_out: dict[str, Any] | None = None

    @property
    def ok(self) -> bool:
        return self.index is None


class Deal:
    """One deal of a game: hands by seat (from 1), the pack from its top, results when it is over."""

    game = ""
    options: Mapping[str, tuple[type, Any, tuple[Any, ...] | int]] = {}  # name: type, default, values or the least
    seats = range(4, 5)
    keys: tuple[str, ...] = ("order", "deals", "lost")

    def __init__(self, record: Mapping[str, Any]) -> None:
        self.opt = {name: default for name, (_, default, _) in self.options.items()} | record["opt"]
        self.n = len(record["seats"])
        self.ids, self.before = list(record["seats"]), record["series"]
        self.pack = cut(record["deck"])
        self.hands: dict[int, list[str]] = {seat: [] for seat in self.everybody()}
        self.net = [0] * self.n
        self.after: dict[str, Any] = json.loads(json.dumps(self.before))

    def everybody(self) -> range:
        return range(1, self.n + 1)

    def left_of(self, seat: int) -> int:
        return seat % self.n + 1

    def course(self) -> Course:
        raise NotImplementedError

    def give(self, seat: int, count: int) -> Course:
        """The pack's next cards go to a seat."""
        cards, self.pack = self.pack[:count], self.pack[count:]
        yield {f"d dh p{seat} {''.join(cards)}"}
        self.hands[seat] += cards

    def act(self, seat: int, acts: list[str], automatic: str) -> Generator[Next, str, str]:
        """A seat's act: one of these (without the seat's name), or ``au`` and then the automatic one."""
        me = f"p{seat} "
        line = yield {me + act for act in acts} | {me + "au"}
        if line == me + "au":
            line = yield {me + automatic}
        return line[len(me) :]

    def has_lost(self, seat: int) -> None:
        """The loser pays every other seat, and is counted."""
        for other in self.everybody():
            self.net[other - 1] += self.opt["forfeit"]
        self.net[seat - 1] -= self.n * self.opt["forfeit"]
        self.after["lost"][self.before["order"].index(self.ids[seat - 1])] += 1

    @staticmethod
    def shape_fault(series: Mapping[str, Any]) -> str:
        """What is wrong with the keys of the series that only this game has."""
        return ""

    def liking(self, line: str) -> float:
        """How often random play picks the line against the others."""
        return 1.0

    @staticmethod
    def random_keys(random: Random) -> dict[str, Any]:
        """Some values of those keys."""
        return {}


class Reader:
    """Follows one deal line by line."""

    def __init__(self, deal: Deal) -> None:
        self.deal = deal
        self._course = deal.course()
        self.next: Next | None = next(self._course)

    def takes(self, line: object) -> bool:
        """Whether the line may stand here; if so, the deal goes on."""
        if not isinstance(line, str) or self.next is None:
            return False
        if not (self.next.takes(line) if isinstance(self.next, Fan) else line in self.next):
            return False
        try:
            self.next = self._course.send(line)
        except StopIteration:
            self.next = None
        return True


def judge(kind: type[Deal], record: Any) -> Verdict:
    """Judge a parsed record strictly; nothing is repaired."""
    fault = header_fault(kind, record)
    if fault:
        return Verdict(-1, fault)
    deal, acts = kind(record), record["acts"]
    reader = Reader(deal)
    for index, line in enumerate(acts):
        if not reader.takes(line):
            return Verdict(index, f"{line!r} stands where may be: {reader.next}")
    if reader.next is not None:
        return Verdict(len(acts), f"the log ends before {reader.next}")
    results = {"net": deal.net, "tax": 0, "carry_out": 0, "series_out": deal.after}
    for key, value in results.items():
        if key in record and json.dumps(record[key], sort_keys=True) != json.dumps(value, sort_keys=True):
            return Verdict(len(acts), f"{key} differs", tuple(deal.net), deal.after)
    return Verdict(None, "", tuple(deal.net), deal.after)


def header_fault(kind: type[Deal], record: Any) -> str:
    """What is wrong before the first line; an empty text where nothing is."""
    if not isinstance(record, dict) or not NEEDED <= record.keys() <= ALLOWED:
        return "keys"
    if (record["v"], record["game"], record["rules"]) != ("chr/1", kind.game, f"{kind.game}/1"):
        return "game"
    for fault in (_seats_fault(kind, record), _option_fault(kind, record), _series_fault(kind, record)):
        if fault:
            return fault
    worst = record["opt"].get("forfeit", 0) * (len(record["seats"]) - 1)
    if min(record["stacks"]) < worst:
        return "a stack does not cover the worst"
    if not isinstance(record["deck"], str) or sorted(cut(record["deck"])) != sorted(PACK):
        return "deck"
    return ""


def _seats_fault(kind: type[Deal], record: dict[str, Any]) -> str:
    seats, stacks = record["seats"], record["stacks"]
    if not isinstance(seats, list) or len(seats) not in kind.seats or len(set(seats)) != len(seats):
        return "seats"
    if len(stacks) != len(seats) or not all(whole(stack) for stack in stacks):
        return "stacks"
    if record["dealer"] != len(seats) or record["carry"] != 0 or not whole(record["carry"]) or not record["hand"]:
        return "dealer, carry or hand"
    return ""


def _option_fault(kind: type[Deal], record: dict[str, Any]) -> str:
    opt = record["opt"]
    if not isinstance(opt, dict) or not opt.keys() <= kind.options.keys():
        return "an unknown option"
    for name, (type_, default, values) in kind.options.items():
        if name not in opt:
            if default is None:
                return f"{name} is missing"
            continue
        value = opt[name]
        good = value >= values if type(value) is int and isinstance(values, int) else not isinstance(values, int)
        if type(value) is not type_ or not good or (isinstance(values, tuple) and value not in values):
            return f"{name} cannot be {value!r}"
    return ""


def _series_fault(kind: type[Deal], record: dict[str, Any]) -> str:
    series, seats = record["series"], record["seats"]
    if not isinstance(series, dict) or set(series) != set(kind.keys):
        return "keys of the series"
    order, lost = series["order"], series["lost"]
    if not isinstance(order, list) or sorted(order) != sorted(seats) or series["deals"] != seats[-1]:
        return "order or dealer"
    first = order.index(seats[0])
    if order[first:] + order[:first] != seats:
        return "the seats are not the order, turned"
    if not isinstance(lost, list) or len(lost) != len(seats) or not all(whole(count) for count in lost):
        return "lost"
    return kind.shape_fault(series)


def whole(value: object) -> bool:
    """An integer from 0; a boolean is none."""
    return type(value) is int and value >= 0


def cut(text: str) -> list[str]:
    """The cards of a text of two characters each."""
    return [text[at : at + 2] for at in range(0, len(text), 2)]


# Random deals.


def random_record(kind: type[Deal], random: Random, *, clock: float = 0.05) -> dict[str, Any]:
    """A random legal deal of any table of the game, played to its end, with all results."""
    record = random_head(kind, random)
    deal = kind(record)
    reader = Reader(deal)
    while reader.next is not None:
        line = reader.next.some(random) if isinstance(reader.next, Fan) else deal_line(random, deal, reader.next, clock)
        assert reader.takes(line), line
        record["acts"].append(line)
    return record | {"net": deal.net, "tax": 0, "carry_out": 0, "series_out": deal.after}


def deal_line(random: Random, deal: Deal, lines: set[str], clock: float) -> str:
    """One of the lines: ``au`` seldom, others as often as the game likes them."""
    weights = [clock if line.endswith(" au") else deal.liking(line) for line in sorted(lines)]
    return random.choices(sorted(lines), weights)[0]


def random_head(kind: type[Deal], random: Random) -> dict[str, Any]:
    """A record before its first line; now and then a stack just covers the worst loss."""
    opt: dict[str, Any] = {}
    for name, (type_, default, values) in kind.options.items():
        if default is not None and random.random() < 0.6:
            continue
        opt[name] = random.choice(values) if isinstance(values, tuple) else random.choice((values, values + 40, 300))
        assert type(opt[name]) is type_
    n = random.choice(list(kind.seats))
    order = random.sample([f"q{number}" for number in range(11, 20)], n)
    series = {"order": order, "deals": random.choice(order), "lost": [random.randrange(9) for _ in order]}
    first = order.index(series["deals"]) + 1
    worst = opt.get("forfeit", 0) * (n - 1)
    return {
        "v": "chr/1", "game": kind.game, "rules": f"{kind.game}/1", "opt": opt, "hand": f"Q-{random.randint(1, 99):06}",
        "seats": order[first:] + order[:first], "dealer": n, "stacks": [random.choice((worst, 10**6)) for _ in order],
        "carry": 0, "series": series | kind.random_keys(random), "deck": "".join(random.sample(PACK, 32)), "acts": [],
    }  # fmt: skip
