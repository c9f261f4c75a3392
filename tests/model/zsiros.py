"""A second opinion on Zsiros: a referee written from the rules text alone, which shares no code with the engine.

``judge`` replays a whole record, ``legal_lines`` says what may stand next after a prefix of a log, ``Referee`` does the
same line by line. The log is that of ``zsiros/1``; the section names in the docstrings are those of the rules text
(*Deal*, *Play*, *Sevens*, *Multiple tricks*, *Drawing*, *Calls*, *Scoring*). Masked cards (``??``) are not handled:
they are refused where they stand. ``zsiros_header`` says which records may be played at all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.model.zsiros_header import PACK, Case, case_of, header_fault

CALLS = ("uss", "ne_uss", "zsirt", "ne_zsirt")
HAND = 4  # cards of a full hand
UNKNOWN = "**"  # a card that only the log of a physical deal can show


@dataclass(frozen=True)
class Draw:
    """Cards are due to a seat; ``cards`` is None where only the log can say which."""

    seat: int
    count: int
    cards: tuple[str, ...] | None

    def lines(self) -> set[str]:
        """The one line that may stand; ``**`` for each card not known."""
        return {f"d dh p{self.seat + 1} {''.join(self.cards or [UNKNOWN] * self.count)}"}

    def read(self, line: str, seen: Sequence[str]) -> list[str] | None:
        """The cards that the line deals, None for a wrong line. ``seen``: cards that have left the pack."""
        form = f"d dh p{self.seat + 1} ((?:[AKOUX987][albh]){{{self.count}}})"
        found = re.fullmatch(form, line)
        if found is None:
            return None
        cards = [found[1][at : at + 2] for at in range(0, len(found[1]), 2)]
        if self.cards is not None:
            return cards if cards == list(self.cards) else None
        return cards if len({*cards, *seen}) == len(cards) + len(seen) else None


@dataclass(frozen=True)
class Turn:
    """A seat has to play one of ``cards``, or may end the trick."""

    seat: int
    cards: tuple[str, ...]
    may_stop: bool

    def acts(self) -> set[str]:
        """What the seat itself may do."""
        plays = {f"p{self.seat + 1} pl {card}" for card in self.cards}
        return plays | ({f"p{self.seat + 1} ps"} if self.may_stop else set())

    def automatic(self) -> str:
        """What happens when the clock has run out: the trick is conceded, else the first card in fixed order goes."""
        if self.may_stop:
            return f"p{self.seat + 1} ps"
        return f"p{self.seat + 1} pl {min(self.cards, key=PACK.index)}"


Course = Generator[Draw | Turn, Any, None]
Step = Generator[Draw | Turn, Any, int]


class Deal:
    """The cards while they are dealt and played. Seats count from 0 in play order; a side is a seat's parity."""

    def __init__(self, case: Case) -> None:
        self.case, self.seats = case, len(case.seats)
        self.deck = case.deck
        self.hands: list[list[str]] = [[] for _ in range(self.seats)]
        self.seen: list[str] = []  # cards that have left the pack
        self.drawn = [0] * self.seats  # cards that each seat took off the talon
        self.taken: tuple[list[str], list[str]] = ([], [])
        self.tricks = [0, 0]
        self.last = 0  # side that took the last trick
        self.pile: list[tuple[int, str]] = []  # the trick on the table: who played what

    def course(self) -> Course:
        """*Deal*, *Play*, *Drawing*: the whole deal, one question after the other."""
        for seat in range(self.seats):
            yield from self.draw(seat, HAND, dealing=True)
        winner = 0  # who sits at the dealer's right leads first
        while any(self.hands):
            winner = yield from self.trick(winner)
            yield from self.refill(winner)

    def round_from(self, seat: int) -> list[int]:
        """All seats in play order, this one first."""
        return [(seat + step) % self.seats for step in range(self.seats)]

    def trick(self, leader: int) -> Step:
        """*Multiple tricks*: rounds until the leader's side holds it, or the leader cannot or will not go on."""
        pile = self.pile = []
        while True:
            may_stop = bool(pile)
            for seat in self.round_from(leader):
                asked = may_stop and seat == leader
                cards = self.matching(leader, pile[0][1]) if asked else self.hands[seat]
                card = yield Turn(seat, tuple(cards), asked)
                if card is None:
                    return self.take(pile)
                self.hands[seat].remove(card)
                pile.append((seat, card))
            ours = self.holder(pile) % 2 == leader % 2
            if ours or not self.matching(leader, pile[0][1]):
                return self.take(pile)

    def matching(self, seat: int, lead: str) -> list[str]:
        """Cards of the hand that equal the lead: its rank, and the sevens."""
        return [card for card in self.hands[seat] if equals(card, lead)]

    def holder(self, pile: Sequence[tuple[int, str]]) -> int:
        """*Play*, *Sevens*: the seat whose card was the last to equal the lead."""
        return [seat for seat, card in pile if equals(card, pile[0][1])][-1]

    def take(self, pile: Sequence[tuple[int, str]]) -> int:
        """The trick goes to its holder's side; the holder draws first and leads next."""
        holder = self.holder(pile)
        self.last = holder % 2
        self.tricks[self.last] += 1
        self.taken[self.last].extend(card for _, card in pile)
        return holder

    def refill(self, winner: int) -> Course:
        """*Drawing*: to four cards again from the winner on, or an equal share of what is left."""
        share = (len(PACK) - len(self.seen)) // self.seats
        count = min(HAND - len(self.hands[winner]), share)
        single = self.case.opt["draw_mode"] == "single"
        passes, each = (count, 1) if single else (min(count, 1), count)
        for _ in range(passes):
            for seat in self.round_from(winner):
                yield from self.draw(seat, each, dealing=False)

    def draw(self, seat: int, count: int, *, dealing: bool) -> Course:
        """One line of cards for a seat."""
        cards = yield Draw(seat, count, self.due(seat, count, dealing))
        self.hands[seat] += cards
        self.seen += cards
        if not dealing:
            self.drawn[seat] += count

    def due(self, seat: int, count: int, dealing: bool) -> tuple[str, ...] | None:
        """The cards that a line must name: off the top, or those laid ready for the seat."""
        if self.deck is None:
            return None
        if dealing or self.case.opt["deal_model"] == "draw":
            return self.deck[len(self.seen) : len(self.seen) + count]
        talon, first = self.deck[HAND * self.seats :], self.drawn[seat]
        return tuple(talon[turn * self.seats + seat] for turn in range(first, first + count))


def equals(card: str, lead: str) -> bool:
    """*Sevens*: the same rank, or a seven for it. A led seven is only a seven."""
    return card[0] in (lead[0], "7")


class Referee:
    """Follows one deal line by line."""

    def __init__(self, case: Case) -> None:
        self.case, self.deal = case, Deal(case)
        self._course = self.deal.course()
        self._clock_ran_out = False
        self.open: Draw | Turn | None = next(self._course)

    def lines(self) -> set[str]:
        """Every line that may stand next; empty when the deal is over. A physical draw has ``**`` for its cards."""
        if self.open is None:
            return set()
        if isinstance(self.open, Draw):
            return self.open.lines()
        if self._clock_ran_out:
            return {self.open.automatic()}
        return self.open.acts() | {f"p{self.open.seat + 1} au"} | self.calls(self.open.seat)

    def calls(self, seat: int) -> set[str]:
        """*Calls*: with four, the partner of the seat whose turn it is, and nobody else."""
        if self.deal.seats != 4 or self.case.opt["calls"] == "off":
            return set()
        return {f"p{(seat + 2) % 4 + 1} cl {word}" for word in CALLS}

    def accepts(self, line: object) -> bool:
        """Whether the line may stand here; if so, the deal goes on."""
        if not isinstance(line, str) or self.open is None:
            return False
        if isinstance(self.open, Draw):
            cards = self.open.read(line, self.deal.seen)
            return cards is not None and self._go_on(cards)
        if line not in self.lines():
            return False
        verb, *rest = line.split(" ")[1:]
        if verb == "cl":
            return True
        self._clock_ran_out = verb == "au"
        return self._clock_ran_out or self._go_on(rest[0] if verb == "pl" else None)

    def _go_on(self, answer: object) -> bool:
        try:
            self.open = self._course.send(answer)
        except StopIteration:
            self.open = None
        return True


@dataclass(frozen=True)
class Verdict:
    """What the referee says of a record.

    ``index``: None for a good record, -1 for a fault before the log, else the first wrong line from 0 (the number of
    lines when some are missing or a derived key differs). The four results, in minor units, are there whenever the
    deal was played to its end.
    """

    ok: bool
    index: int | None
    net: tuple[int, ...] | None = None
    tax: int | None = None
    carry_out: int | None = None
    series_out: dict[str, Any] | None = None
    reason: str = ""


def judge(record: object) -> Verdict:
    """Replays a parsed ``chr/1`` record of ``zsiros/1`` strictly; nothing is repaired, nothing raises."""
    fault = header_fault(record)
    if fault:
        return Verdict(False, -1, reason=fault)
    assert isinstance(record, Mapping)
    referee, acts = Referee(case_of(record)), record["acts"]
    for index, line in enumerate(acts):
        if not referee.accepts(line):
            expected = ", ".join(sorted(referee.lines())) or "the end"
            return Verdict(False, index, reason=f"{line!r} stands where may be: {expected}")
    if referee.open is not None:
        return Verdict(False, len(acts), reason=f"the log ends before {', '.join(sorted(referee.lines()))}")
    results = results_of(referee)
    wrong = [key for key, value in results.items() if key in record and not same(record[key], value)]
    net = tuple(results["net"])
    others = {key: value for key, value in results.items() if key != "net"}
    if wrong:
        return Verdict(False, len(acts), net, **others, reason=f"differs: {', '.join(wrong)}")
    return Verdict(True, None, net, **others)


def legal_lines(record: Mapping[str, Any], upto: int | None = None) -> set[str]:
    """Every line that may stand after the first ``upto`` lines of the record's log (all of them if None).

    Calls and ``pN au`` are among them; the set is empty when the deal is over. Raises ValueError for a fault in the
    header or in those lines.
    """
    fault = header_fault(record)
    if fault:
        raise ValueError(fault)
    referee = Referee(case_of(record))
    for index, line in enumerate(record["acts"][:upto]):
        if not referee.accepts(line):
            raise ValueError(f"line {index} is wrong: {line!r}")
    return referee.lines()


def same(left: object, right: object) -> bool:
    """Equal as JSON: neither true nor 1.0 is 1."""
    try:
        return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)
    except (TypeError, ValueError):
        return False


# Scoring.


def points_of(cards: Sequence[str]) -> int:
    """*Scoring*: ten for each ace and each ten."""
    return sum(10 for card in cards if card[0] in "AX")


def score_of(points: Sequence[int], tricks: Sequence[int], last: int) -> tuple[int, int]:
    """*Scoring*: the winning side (0 or 1) and what it scores. ``last``: the side that took the last trick."""
    winner = last if points[0] == points[1] else int(points[1] > points[0])
    if tricks[1 - winner] == 0:
        return winner, 3
    return winner, 2 if points[winner] == 80 else 1


def results_of(referee: Referee) -> dict[str, Any]:
    """The derived keys of a deal that is over."""
    deal, case = referee.deal, referee.case
    winner, score = score_of([points_of(cards) for cards in deal.taken], deal.tricks, deal.last)
    amount = case.opt["stake"] * score
    net = [amount if seat % 2 == winner else -amount for seat in range(deal.seats)]
    return {"net": net, "tax": 0, "carry_out": 0, "series_out": series_after(case, winner, score)}


def series_after(case: Case, winner: int, score: int) -> dict[str, Any]:
    """The series of the next deal. Its sides are those of the chairs, no matter who leads in this one."""
    before = case.series
    side = before["order"].index(case.seats[winner]) % 2
    scores, games = list(before["score"]), list(before["games"])
    scores[side] += score
    if scores[side] >= case.opt["target"]:
        games[side] += 1
        scores = [0, 0]
    return {"order": list(before["order"]), "deals": case.seats[0], "score": scores, "games": games}
