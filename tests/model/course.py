"""What the referees of the later trick games have in common: a deal shown as a course of questions, one after the
other, and a referee that reads a log line by line against them. It shares no code with the engine.

A course is a generator: it yields a :class:`Question`, is sent the line that was said, and returns what the deal comes
to. Heads of records are judged by :mod:`tests.model.heads`. Masked cards (``??``) are refused where they stand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

TELL = tuple(rank + suit for suit in "albh" for rank in "AKOUX987")  # in fixed order
FRENCH = tuple(rank + suit for suit in "cdhs" for rank in "AKQJT987")


@dataclass(frozen=True)
class Question:
    """What may be said now: ``acts`` of the seat to act (1, 2, ...; 0 is the house), of which ``auto`` stands after its
    clock ran out; ``beside`` is what others may say without being asked."""

    seat: int
    acts: tuple[str, ...]
    auto: str = ""
    beside: tuple[str, ...] = ()


@dataclass(frozen=True)
class Unknown:
    """The house deals ``count`` cards that only the log can show: ``lead`` is the line up to them, ``seen`` are the
    cards that can be none of them."""

    lead: str
    count: int
    pack: tuple[str, ...]
    seen: tuple[str, ...]

    def fits(self, line: str) -> bool:
        """Whether the line deals so many cards of the pack, all new."""
        if not line.startswith(self.lead):
            return False
        cards = cut(line[len(self.lead) :])
        return len(cards) == len({*cards}) == self.count and {*cards} <= {*self.pack} - {*self.seen}


Course = Generator[Question | Unknown, str, dict[str, Any]]


def cut(text: str) -> list[str]:
    """The cards of a text of two characters each."""
    return re.findall("..?", text)


def turn(seat: int, acts: Sequence[str], auto: str = "", beside: Sequence[str] = ()) -> Question:
    """A seat is asked; ``acts`` are said without the actor, the automatic one is the first unless named."""
    said = tuple(f"p{seat} {act}" for act in acts)
    return Question(seat, said, f"p{seat} {auto}" if auto else said[0], tuple(beside))


class Cards:
    """The pack as it leaves the house's hand: off a deck that is known, or as the log says."""

    def __init__(self, pack: tuple[str, ...], deck: str | None) -> None:
        self.pack, self.deck = pack, None if deck is None else cut(deck)
        self.seen: list[str] = []
        self.top = 0

    def deal(self, seat: int, count: int) -> Generator[Question | Unknown, str, list[str]]:
        """``d dh`` of the next cards to a seat."""
        return (yield from self.name(f"d dh p{seat} ", count, self.next(count)))

    def next(self, count: int) -> list[str]:
        """The next cards of a known deck, which thereby leave it."""
        self.top += count
        return (self.deck or [])[self.top - count : self.top]

    def name(self, lead: str, count: int, cards: list[str]) -> Generator[Question | Unknown, str, list[str]]:
        """A line of the house that names cards: these, or any new ones where the deck is not known."""
        if self.deck is None:
            line = yield Unknown(lead, count, self.pack, tuple(self.seen))
            cards = cut(line[len(lead) :])
        else:
            yield Question(0, (lead + "".join(cards),))
        self.seen += cards
        return cards


class Referee:
    """Follows one deal line by line; ``result`` is there when it is over."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._timed = False
        self.result: dict[str, Any] | None = None
        self.open: Question | Unknown | None = next(course)

    def lines(self) -> set[str]:
        """Every line that may stand next; of a deal that nobody knows only how it begins."""
        if self.open is None:
            return set()
        if isinstance(self.open, Unknown):
            return {self.open.lead + "**" * self.open.count}
        if self._timed:
            return {self.open.auto}
        clock = {f"p{self.open.seat} au"} if self.open.seat else set()
        return {*self.open.acts, *self.open.beside} | clock

    def accepts(self, line: object) -> bool:
        """Whether the line may stand here; if so, the deal goes on."""
        if not isinstance(line, str) or self.open is None:
            return False
        if isinstance(self.open, Unknown):
            return self.open.fits(line) and self._go_on(line)
        if line not in self.lines():
            return False
        self._timed = line.endswith(" au")
        return self._timed or self._go_on(line)

    def _go_on(self, line: str) -> bool:
        try:
            self.open = self._course.send(line)
        except StopIteration as over:
            self.open, self.result = None, over.value
        return True


@dataclass(frozen=True)
class Verdict:
    """``index``: None for a good record, -1 for a fault before the log, else the first wrong line from 0 (the number of
    lines when some are missing or a derived key differs). ``result``: the derived keys of a deal played to its end."""

    index: int | None
    reason: str = ""
    result: Mapping[str, Any] | None = None

    @property
    def ok(self) -> bool:
        """Whether the record is good."""
        return self.index is None


@dataclass(frozen=True)
class Model:
    """A game's referee. ``fault``: what is wrong with a record before its log, None if nothing; ``course``: its deal;
    ``head``: a random record before its first line; ``choose``: one of the lines that may be said."""

    fault: Callable[[Mapping[str, Any]], str | None]
    course: Callable[[Mapping[str, Any]], Course]
    head: Callable[[Random], dict[str, Any]]
    choose: Callable[[Random, Question], str] = lambda random, question: random.choice(question.acts)

    def judge(self, record: Mapping[str, Any]) -> Verdict:
        """Replay a record strictly; nothing is repaired."""
        fault = self.fault(record)
        if fault:
            return Verdict(-1, fault)
        referee, acts = Referee(self.course(record)), record["acts"]
        for index, line in enumerate(acts):
            if not referee.accepts(line):
                return Verdict(index, f"{line!r} stands where may be: {sorted(referee.lines()) or 'the end'}")
        if referee.result is None:
            return Verdict(len(acts), f"the log ends before {sorted(referee.lines())}")
        wrong = [key for key, value in referee.result.items() if key in record and not same(record[key], value)]
        if wrong:
            return Verdict(len(acts), f"differs: {', '.join(wrong)}", referee.result)
        return Verdict(None, "", referee.result)

    def random_record(self, random: Random, *, physical: bool = False, clock: float = 0.05) -> dict[str, Any]:
        """A random legal deal, played to its end, with all derived keys. ``clock``: how often ``au`` comes before an
        act; ``physical``: without a deck, the cards stand in the log only."""
        record = self.head(random)
        referee = Referee(self.course(record))
        while isinstance(referee.open, Question):
            for line in self.said(random, referee.open, clock):
                assert referee.accepts(line), line
                record["acts"].append(line)
        assert referee.result
        if physical:
            del record["deck"]
        return record | referee.result

    def said(self, random: Random, question: Question, clock: float) -> list[str]:
        """What is said to a question: now and then something beside it, or the clock runs out first."""
        if question.beside and random.random() < 0.3:
            return [random.choice(question.beside)]
        if question.seat and random.random() < clock:
            return [f"p{question.seat} au", question.auto]
        return [self.choose(random, question)]


def same(left: object, right: object) -> bool:
    """Equal as JSON: neither true nor 1.0 is 1."""
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)
