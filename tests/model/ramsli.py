"""An independent referee of Ramsli: plain Python from the description of the log and the rules text alone.

A deal is shown as one story (:func:`story`), a generator that stops wherever a line of the log must follow. It yields
what the line may be and is sent the line that was said. Nothing is looked up by phase, there is no state but the
story's own variables. It knows named cards only: records without a deck, but with every card named, are judged too.

>>> judge({"game": "ramsli"}).index
-1
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

SUITS, RANKS = "albh", "AKOUX987"
PACK = [rank + suit for suit in SUITS for rank in RANKS]


@dataclass
class Wanted:
    """What the next line may be. ``lines``: every line that a seat may write, its automatic act first. Or the house
    deals: ``begin`` and then ``count`` cards, ``cards`` where the deck says which."""

    actor: str
    lines: list[str] = field(default_factory=list)
    begin: str = ""
    count: int = 0
    cards: list[str] | None = None


@dataclass
class Verdict:
    """``index``: None for a good record, -1 for a fault before the log, else the first wrong line, or the number of
    lines where something is missing or the result is another one."""

    index: int | None
    reason: str = ""
    net: list[int] | None = None
    carry_out: int = 0
    series_out: dict[str, int] | None = None

    @property
    def ok(self) -> bool:
        """Whether the record stands."""
        return self.index is None


Story = Generator[Wanted, str, dict[str, Any]]


class Pack:
    """The cards that have not left it: known in their order, or only by what has been named."""

    def __init__(self, deck: Sequence[str] | None) -> None:
        self.order = None if deck is None else list(deck)
        self.named: set[str] = set()
        self.size = 32

    def top(self, count: int) -> list[str] | None:
        """The next cards, where they are known."""
        return None if self.order is None else self.order[:count]

    def gone(self, cards: Sequence[str], *, bottom: bool = False) -> None:
        """These have left it."""
        self.named.update(cards)
        self.size -= len(cards)
        if self.order is not None:
            self.order = self.order[:-1] if bottom else self.order[len(cards) :]


def cut(text: str) -> list[str]:
    """Two characters a card."""
    return [text[at : at + 2] for at in range(0, len(text), 2)]


def sorted_by_pack(cards: Sequence[str]) -> list[str]:
    """The order of the pack."""
    return sorted(cards, key=PACK.index)


def house(pack: Pack, begin: str, count: int, *, bottom: bool = False) -> Generator[Wanted, str, list[str]]:
    """The house takes cards off the pack."""
    known = pack.top(count)
    if bottom and pack.order is not None:
        known = pack.order[-1:]
    said = yield Wanted("d", begin=begin, count=count, cards=known)
    cards = cut(said.split(" ")[-1])
    pack.gone(cards, bottom=bottom)
    return cards


def subsets(hand: Sequence[str], sizes: Sequence[int]) -> Iterator[str]:
    """Cards to lay away, in the order of the pack."""
    for size in sizes:
        yield from ("".join(some) for some in combinations(sorted_by_pack(hand), size))


def from_seat(first: int, seats: int) -> list[int]:
    """All seats from this one on, clockwise."""
    return [(first - 1 + step) % seats + 1 for step in range(seats)]


def story(case: Mapping[str, Any]) -> Story:
    """One deal; returns who knocked, who played, the tricks, and how it ended."""
    seats, unit = len(case["seats"]), case["opt"]["unit"]
    dealer, everybody = seats, range(1, seats + 1)
    pack = Pack(cut(case["deck"]) if "deck" in case else None)
    hands: dict[int, list[str]] = {seat: [] for seat in everybody}
    shown: dict[str, Any] = {"knocker": 0, "playing": [], "tricks": dict.fromkeys(everybody, 0), "ending": "failed"}
    level = case["opt"]["bank_level"] * unit
    stake = case["series"]["kitty"] + 4 * unit
    if level:
        stake = min(stake, level)
    must = stake == 4 * unit
    yield Wanted(f"p{dealer}", [f"p{dealer} po {4 * unit}"])
    yield from two_cards(pack, hands)
    side = yield Wanted(f"p{dealer}", [f"p{dealer} cl top", f"p{dealer} cl bottom"])
    below = side.endswith("bottom")
    [turned] = yield from house(pack, "d up ", 1, bottom=below)
    yield from two_cards(pack, hands)
    choice = yield Wanted(f"p{dealer}", [f"p{dealer} lk 4", f"p{dealer} kn {turned}"])
    table: str | None = turned
    if " kn " in choice:
        table, shown["knocker"] = None, dealer
        hands[dealer].append(turned)
        yield from lay_one(hands, dealer)
    elif below:
        yield Wanted(f"p{dealer}", [f"p{dealer} kn"])
        shown["knocker"] = dealer
    else:
        shown["knocker"], table = yield from knocking(pack, turned, must, dealer)
        if table is None:
            return shown
    trump = (table or turned)[1]
    playing = from_seat(shown["knocker"] or 1, seats)
    if not must:
        others = []
        for seat in playing[1:]:
            answer = yield Wanted(f"p{seat}", [f"p{seat} ps", f"p{seat} in"])
            if answer.endswith("in"):
                others.append(seat)
        playing = [playing[0], *others]
        if not others:
            return shown | {"ending": "alone", "playing": playing}
    for seat in playing:
        table = yield from drawing(pack, hands, seat, trump, table)
    yield from tricks(hands, playing, trump, shown["tricks"])
    return shown | {"ending": "played", "playing": playing}


def two_cards(pack: Pack, hands: dict[int, list[str]]) -> Generator[Wanted, str, None]:
    """Half of the deal."""
    for seat in hands:
        hands[seat] += yield from house(pack, f"d dh p{seat} ", 2)


def lay_one(hands: dict[int, list[str]], seat: int) -> Generator[Wanted, str, None]:
    """One of five goes away."""
    said = yield Wanted(f"p{seat}", [f"p{seat} ds {card}" for card in sorted_by_pack(hands[seat])])
    hands[seat].remove(said.split(" ")[2])


def knocking(pack: Pack, card: str, must: bool, dealer: int) -> Generator[Wanted, str, tuple[int, str | None]]:
    """Who knocks on which card: 0 where nobody has to, no card where the deal has failed."""
    suits = {card[1]}
    while True:
        for seat in from_seat(dealer, dealer):
            answer = yield Wanted(f"p{seat}", [f"p{seat} ps", f"p{seat} kn"])
            if answer.endswith("kn"):
                return seat, card
        if must:
            return 0, card
        if len(suits) == 3:
            return 0, None
        while card[1] in suits:
            if not pack.size:
                return 0, None
            [card] = yield from house(pack, "d up ", 1)
        suits.add(card[1])


def drawing(
    pack: Pack, hands: dict[int, list[str]], seat: int, trump: str, table: str | None
) -> Generator[Wanted, str, str | None]:
    """A seat changes cards; returns what lies there for trump afterwards."""
    hand, me = hands[seat], f"p{seat}"
    while True:
        lines = [f"{me} ps"]
        if table not in (None, f"7{trump}") and f"7{trump}" in hand:
            lines.append(f"{me} ex 7{trump}")
        sizes = [size for size in (1, 2, 3) if size <= pack.size] + ([4] if pack.size >= 5 else [])
        lines += [f"{me} ds {cards}" for cards in subsets(hand, sizes)]
        if pack.size:
            lines.append(f"{me} cl up")
        said = yield Wanted(me, lines)
        if " ex " not in said:
            break
        hand.remove(f"7{trump}")
        hand.append(str(table))
        table = f"7{trump}"
    if said.endswith(" ps"):
        return table
    away = cut(said.split(" ")[2]) if " ds " in said else []
    for card in away:
        hand.remove(card)
    if away:
        hand += yield from house(pack, f"d dh {me} ", len(away))
    if len(away) in (0, 4):
        hand += yield from house(pack, f"d up {me} ", 1)
        yield from lay_one(hands, seat)
    return table


def tricks(hands: dict[int, list[str]], playing: list[int], trump: str, taken: dict[int, int]) -> Story:
    """Four tricks; each is counted for the seat that takes it."""
    leader = playing[0]
    for _ in range(4):
        at = playing.index(leader)
        table: list[tuple[int, str]] = []
        for seat in playing[at:] + playing[:at]:
            hand = hands[seat]
            may = hand
            if table:
                led = table[0][1][1]
                may = [card for card in hand if card[1] == led] or [card for card in hand if card[1] == trump] or hand
            said = yield Wanted(f"p{seat}", [f"p{seat} pl {card}" for card in sorted_by_pack(may)])
            card = said.split(" ")[2]
            hand.remove(card)
            table.append((seat, card))
        led = table[0][1][1]
        trumps = [one for one in table if one[1][1] == trump]
        inside = trumps or [one for one in table if one[1][1] == led]
        leader = min(inside, key=lambda one: RANKS.index(one[1][0]))[0]
        taken[leader] += 1
    return {}


def result(case: Mapping[str, Any], shown: Mapping[str, Any]) -> dict[str, Any]:
    """What the deal comes to."""
    seats, unit = len(case["seats"]), case["opt"]["unit"]
    level, bank = case["opt"]["bank_level"] * unit, case["series"]["bank"]
    net = [0] * seats
    net[-1] -= 4 * unit
    stake = case["series"]["kitty"] + 4 * unit
    if level and stake > level:
        bank, stake = bank + stake - level, level
    kitty = stake
    if shown["ending"] == "alone":
        net[shown["knocker"] - 1] += stake
        kitty = 0
    if shown["ending"] == "played":
        kitty = 0
        for seat in shown["playing"]:
            net[seat - 1] += shown["tricks"][seat] * stake // 4
            knocked = seat == shown["knocker"]
            if shown["tricks"][seat] < (2 if knocked else 1):
                net[seat - 1] -= stake * (2 if knocked else 1)
                kitty += stake * (2 if knocked else 1)
    if level:
        both = kitty + bank
        kitty = min(level, both) if kitty <= level else level
        bank = both - kitty
    return {"net": net, "tax": 0, "carry_out": kitty + bank, "series_out": {"kitty": kitty, "bank": bank}}


class Referee:
    """A deal in play: which lines may follow, and what it came to."""

    def __init__(self, case: Mapping[str, Any]) -> None:
        self.case = case
        self.play = story(case)
        self.wanted: Wanted | None = next(self.play)
        self.late = False
        self.named: set[str] = set()
        self.shown: dict[str, Any] = {}

    def lines(self) -> set[str] | None:
        """Every line that may follow; None where the house may deal what it likes."""
        if self.wanted is None:
            return set()
        wanted = self.wanted
        if wanted.actor != "d":
            return {wanted.lines[0]} if self.late else {*wanted.lines, f"{wanted.actor} au"}
        return None if wanted.cards is None else {wanted.begin + "".join(wanted.cards)}

    def accepts(self, line: str) -> bool:
        """Take the line if it may follow."""
        allowed = self.lines()
        if not (line in allowed if allowed is not None else self.free(line)):
            return False
        if self.wanted and self.wanted.actor != "d" and line == f"{self.wanted.actor} au":
            self.late = True
            return True
        self.late = False
        if self.wanted and self.wanted.actor == "d":
            self.named.update(cut(line.split(" ")[-1]))
        try:
            self.wanted = self.play.send(line)
        except StopIteration as end:
            self.wanted, self.shown = None, end.value
        return True

    def free(self, line: str) -> bool:
        """Whether the line deals as many cards as it must, none of which has been named before."""
        wanted = self.wanted
        if wanted is None or not line.startswith(wanted.begin):
            return False
        cards = cut(line[len(wanted.begin) :])
        return len(cards) == wanted.count == len(set(cards) & set(PACK) - self.named)


RESULTS = ("net", "tax", "carry_out", "series_out")
KEYS = {"v", "game", "rules", "opt", "hand", "seats", "dealer", "stacks", "carry", "series", "acts"}
MORE = {*RESULTS, "deck", "prev", "commit", "seed", "client_seeds", "state", "bonus"}


def judge(record: Mapping[str, Any]) -> Verdict:
    """The verdict on a whole record."""
    fault = header_fault(record)
    if fault:
        return Verdict(-1, fault)
    referee = Referee(record)
    for at, line in enumerate(record["acts"]):
        if not referee.accepts(line):
            return Verdict(at, f"{line!r} may not follow")
    if referee.wanted is not None:
        return Verdict(len(record["acts"]), "the log ends too early")
    found = result(record, referee.shown)
    wrong = [key for key in RESULTS if key in record and record[key] != found[key]]
    if wrong:
        return Verdict(len(record["acts"]), f"{wrong} come out otherwise")
    return Verdict(None, "", found["net"], found["carry_out"], found["series_out"])


def whole(value: object, low: int = 0) -> bool:
    """An integer, which a boolean is not."""
    return type(value) is int and low <= value <= 10**15


def header_fault(record: Mapping[str, Any]) -> str:
    """What is wrong before the log; "" if nothing is."""
    if not KEYS <= set(record) <= KEYS | MORE:
        return "keys are missing or unknown"
    if (record["v"], record["game"], record["rules"]) != ("chr/1", "ramsli", "ramsli/1"):
        return "no record of ramsli/1"
    opt, seats = record["opt"], record["seats"]
    if set(opt) != {"unit", "bank_level"} or not whole(opt["unit"], 1) or not whole(opt["bank_level"]):
        return "unit and bank_level are to be set"
    if opt["bank_level"] % 4:
        return "the level is a multiple of four"
    if not 2 <= len(seats) <= 6 or len(set(seats)) != len(seats) or record["dealer"] != len(seats):
        return "two to six seats, the last one deals"
    return money_fault(record) or deck_fault(record)


def money_fault(record: Mapping[str, Any]) -> str:
    """Kitty, bank, carry and stacks."""
    opt, series, four = record["opt"], record["series"], 4 * record["opt"]["unit"]
    level = opt["bank_level"] * opt["unit"]
    if set(series) != {"kitty", "bank"} or not all(whole(money) and money % four == 0 for money in series.values()):
        return "kitty and bank are multiples of four units"
    if (series["bank"] and series["kitty"] != level) or (level and series["kitty"] > level):
        return "a bank stands beside a full kitty"
    if record["carry"] != series["kitty"] + series["bank"]:
        return "the carry is the sum of both"
    stake = series["kitty"] + four
    least = 2 * (min(stake, level) if level else stake) + four
    if len(record["stacks"]) != len(record["seats"]) or not all(whole(stack, least) for stack in record["stacks"]):
        return "every stack covers the worst loss"
    return ""


def deck_fault(record: Mapping[str, Any]) -> str:
    """A deck is the whole pack."""
    return "" if "deck" not in record or sorted(cut(record["deck"])) == sorted(PACK) else "the deck is not the pack"
