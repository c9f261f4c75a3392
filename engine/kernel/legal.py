"""What may be done now: one :class:`Legal` for each verb on offer, whose arguments say what they may be.

>>> offer = Legal("p4", "ks", (Range(200, 400, 100), Target(1)))
>>> list(offer.lines())
['p4 ks 200 p1', 'p4 ks 300 p1', 'p4 ks 400 p1']
>>> offer.contains("p4 ks 300 p1"), offer.contains("p4 ks 250 p1")
(True, False)
>>> offer.as_dict()
{'actor': 'p4', 'verb': 'ks', 'min': 200, 'max': 400, 'step': 100, 'target': 1}
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice, pairwise, permutations, product
from random import Random
from typing import NamedTuple

from engine.errors import AmountOutOfRange, CardMismatch, CardNotInPack, EngineError, VerbNotLegal, WrongTarget
from engine.kernel.cards import UNKNOWN, split_cards
from engine.kernel.grammar import Action

Places = tuple[tuple[int, ...], ...]
"""Sets of places among a seat's cards, counted from 0 in the order of dealing."""

_NUMBER = re.compile(r"0|[1-9][0-9]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Range:
    """A whole number from ``low`` to ``high``, in steps: minor units, or with ``name`` "count" a number of things."""

    low: int
    high: int
    step: int = 1
    name: str = "amount"

    def texts(self) -> Iterator[str]:
        """Every number."""
        return map(str, range(self.low, self.high + 1, max(self.step, 1)))

    def accepts(self, text: str) -> bool:
        """Whether it is one of them, in canonical spelling."""
        if not _NUMBER.fullmatch(text) or not self.low <= int(text) <= self.high:
            return False
        return (int(text) - self.low) % max(self.step, 1) == 0

    def as_dict(self) -> dict[str, object]:
        """``min``, ``max``, ``step``; of a number of things ``count``, the most, and the range if there is a choice."""
        bounds: dict[str, object] = {"min": self.low, "max": self.high, "step": self.step}
        if self.name == "amount":
            return bounds
        return {"count": self.high} | (bounds if self.low < self.high else {})


@dataclass(frozen=True, slots=True)
class Target:
    """This seat; ``cards``: how many cards it is about to get, where the line names none."""

    seat: int
    cards: int | None = None

    def texts(self) -> Iterator[str]:
        """Its name."""
        yield f"p{self.seat}"

    def accepts(self, text: str) -> bool:
        """Whether it is its name."""
        return text == f"p{self.seat}"

    def as_dict(self) -> dict[str, object]:
        """``target``."""
        return {"target": self.seat}


@dataclass(frozen=True, slots=True)
class Seats:
    """Some of these seats, ascending, at least ``least`` of them and all of ``must``."""

    choices: tuple[int, ...]
    must: tuple[int, ...] = ()
    least: int = 1

    def texts(self) -> Iterator[str]:
        """Every choice, fewer seats first."""
        for size in range(self.least, len(self.choices) + 1):
            for chosen in combinations(self.choices, size):
                if set(self.must) <= set(chosen):
                    yield " ".join(f"p{seat}" for seat in chosen)

    def accepts(self, text: str) -> bool:
        """Whether it is one of them."""
        return text in self.texts()

    def as_dict(self) -> dict[str, object]:
        """``targets``, and ``must`` where some have to be named."""
        found: dict[str, object] = {"targets": list(self.choices)}
        return found | {"must": list(self.must)} if self.must else found


@dataclass(frozen=True, slots=True)
class Rows:
    """One of these rows of cards, as texts: a card that may be played, a hand in the order of dealing."""

    rows: tuple[str, ...]

    def texts(self) -> Iterator[str]:
        """Every row."""
        return iter(self.rows)

    def accepts(self, text: str) -> bool:
        """Whether it is one of them."""
        return text in self.rows

    def as_dict(self) -> dict[str, object]:
        """``cards``, and ``count`` of one of them."""
        return {"cards": list(self.rows), "count": len(self.rows[0]) // 2 if self.rows else 0}


@dataclass(frozen=True, slots=True)
class Pick:
    """Any ``count`` cards of ``pool``, each once; a pool of None is not known to the viewer, and then ``least`` may be
    fewer than that. ``places``: only cards that lie at one of these sets of places; ``unknown``: any of them may be
    ``??``; ``if_held``: possible only if the seat holds the cards, which the viewer does not know."""

    count: int
    pool: tuple[str, ...] | None = None
    places: Places | None = None
    unknown: bool = False
    least: int | None = None
    if_held: bool = False

    def texts(self) -> Iterator[str]:
        """Every set of cards, as long as the pool is known; the order within a set is that of the pool."""
        if self.pool is None:
            return
        if self.places is None:
            yield from map("".join, combinations(self.pool, self.count))
        else:
            yield from dict.fromkeys("".join(self.pool[at] for at in places) for places in self.places)

    def accepts(self, text: str) -> bool:
        """Whether it names so many cards of the pool, in any order."""
        try:
            named = split_cards(text)
        except CardNotInPack:
            return False
        if self.pool is None:
            return (self.count if self.least is None else self.least) <= len(named) <= self.count
        if len(named) != self.count:
            return False
        if self.places is None:
            known = [card for card in named if card != UNKNOWN or not self.unknown]
            return len(set(known)) == len(known) and set(known) <= set(self.pool)
        return any(sorted(named) == sorted(split_cards(row)) for row in self.texts())

    def as_dict(self) -> dict[str, object]:
        """``count``, and ``least``, ``if_held`` or ``places``; never the pool."""
        found: dict[str, object] = {"count": self.count}
        if self.least is not None:
            found["least"] = self.least
        if self.if_held:
            found["if_held"] = True
        return found if self.places is None else found | {"places": self.places}


@dataclass(frozen=True, slots=True)
class Parts:
    """Rows of cards put together of one choice for each part, in the order of the parts: each choice is a text and what
    it weighs, the weights come to ``most`` at the most, and the row is not empty."""

    parts: tuple[tuple[tuple[str, int], ...], ...]
    most: int

    def texts(self) -> Iterator[str]:
        """Every row; there can be millions."""
        return (text for text in self._rows(0, self.most) if text)

    def _rows(self, at: int, most: int) -> Iterator[str]:
        """The possible totals of the parts from this one on."""
        if at == len(self.parts):
            yield ""
            return
        for text, weight in self.parts[at]:
            if weight <= most:
                for rest in self._rows(at + 1, most - weight):
                    yield text + rest

    def accepts(self, text: str) -> bool:
        """Whether it is one of them."""
        return bool(text) and self._accepts(text, 0, self.most)

    def _accepts(self, text: str, at: int, most: int) -> bool:
        if at == len(self.parts):
            return not text
        return any(
            weight <= most and text.startswith(choice) and self._accepts(text[len(choice) :], at + 1, most - weight)
            for choice, weight in self.parts[at]
        )

    def draw(self, random: Random) -> str:
        """One of the first thousand, drawn by the caller's generator."""
        return random.choice(list(islice(self.texts(), 1000)))

    def as_dict(self) -> dict[str, object]:
        """Nothing: how many cards there are is part of the choice."""
        return {}


@dataclass(frozen=True, slots=True)
class Order:
    """These cards, all of them, in any order; where some of them are ``??``, those may be named as well, as cards of
    ``free``."""

    cards: tuple[str, ...]
    free: tuple[str, ...] = ()

    def texts(self) -> Iterator[str]:
        """Every order of the cards as they are known, each text once; there can be millions."""
        if len({*self.cards}) == len(self.cards):
            yield from map("".join, permutations(self.cards))
        else:  # several are unknown
            yield from dict.fromkeys(map("".join, permutations(self.cards)))

    def accepts(self, text: str) -> bool:
        """Whether it names just these cards."""
        if len(text) != 2 * len(self.cards):
            return False
        named, held = split_cards(text), [card for card in self.cards if card != UNKNOWN]
        others = [card for card in named if card != UNKNOWN and card not in held]
        known = len(named) - named.count(UNKNOWN)
        return len({*named} - {UNKNOWN}) == known and {*held} <= {*named} and {*others} <= {*self.free}

    def draw(self, random: Random) -> str:
        """One of them, drawn by the caller's generator."""
        return "".join(random.sample(self.cards, len(self.cards)))

    def as_dict(self) -> dict[str, object]:
        """``count``."""
        return {"count": len(self.cards)}


@dataclass(frozen=True, slots=True)
class Some:
    """From ``least`` to ``most`` cards of a hand, each once and in the order in which ``pool`` names them.

    ``blind`` cards of the hand are not known: each may be named as one of ``free`` (cards of the pool that are not
    known to be in the hand). Where there are such, ``??`` stands for any card of the hand, which has ``size``, and
    comes last.
    """

    least: int
    most: int
    pool: tuple[str, ...]
    blind: int = 0
    free: frozenset[str] = frozenset()
    size: int = 0

    def texts(self) -> Iterator[str]:
        """Every choice, fewer cards first, cards with names before ``??``."""
        for size in range(self.least, self.most + 1):
            for unnamed in range(min(self.size, size) + 1 if self.blind else 1):
                for named in combinations(self.pool, size - unnamed):
                    if len(self.free.intersection(named)) <= self.blind:
                        yield "".join(named) + UNKNOWN * unnamed

    def accepts(self, text: str) -> bool:
        """Whether it is one of them."""
        try:
            cards = split_cards(text)
        except CardNotInPack:
            return False
        named = tuple(card for card in cards if card != UNKNOWN)
        unnamed = len(cards) - len(named)
        if not self.least <= len(cards) <= self.most or cards != (*named, *(UNKNOWN,) * unnamed):
            return False
        places = [self.pool.index(card) if card in self.pool else -1 for card in named]
        in_order = all(one < other for one, other in pairwise((-1, *places)))
        return in_order and bool(self.blind or not unnamed) and len(self.free.intersection(named)) <= self.blind

    def as_dict(self) -> dict[str, object]:
        """``cards`` of the hand that are known, ``count``, the most, and ``least`` where that is fewer."""
        found: dict[str, object] = {"cards": [card for card in self.pool if card not in self.free], "count": self.most}
        return found | ({"least": self.least} if self.least < self.most else {})


@dataclass(frozen=True, slots=True)
class Words:
    """One of these words."""

    words: tuple[str, ...]

    def texts(self) -> Iterator[str]:
        """Every word."""
        return iter(self.words)

    def accepts(self, text: str) -> bool:
        """Whether it is one of them."""
        return text in self.words

    def as_dict(self) -> dict[str, object]:
        """``words``."""
        return {"words": list(self.words)}


@dataclass(frozen=True, slots=True)
class Secret:
    """What only its maker knows: a commitment, or the nonce that opens one. ``unbound`` is the text that binds nobody,
    where there is one; nothing else can be enumerated. ``held``: the amounts that may be committed to."""

    form: str
    unbound: str | None = None
    held: Range | None = None

    def texts(self) -> Iterator[str]:
        """The text without a commitment, if it is allowed."""
        return iter(() if self.unbound is None else (self.unbound,))

    def accepts(self, text: str) -> bool:
        """Whether it has the form; whether it opens anything is not known here."""
        return re.fullmatch(self.form, text, re.ASCII) is not None

    def as_dict(self) -> dict[str, object]:
        """The range of what may be committed to, else nothing."""
        return {} if self.held is None else self.held.as_dict()


Domain = Range | Target | Seats | Rows | Pick | Some | Order | Parts | Words | Secret


class NotOffered(NamedTuple):
    """A verb of a game that may not be used now: who writes it, the ``phases`` that it belongs to at a table with these
    options, and whether it is one of them now. Then the declaration of the verb says what it takes besides
    (:attr:`engine.kernel.grammar.Verb.only`)."""

    by: str
    verb: str
    phases: tuple[str, ...]
    in_phase: bool


def _refusal(action: Action, domain: Domain) -> EngineError:
    """The error of an action whose argument is not in this domain."""
    expected = domain.as_dict()
    if isinstance(domain, Range):
        what = f"{action.amount} is not from {domain.low} to {domain.high} in steps of {domain.step}"
        return AmountOutOfRange(what, min=domain.low, max=domain.high, step=domain.step)
    if isinstance(domain, Target | Seats):
        return WrongTarget(f"{action.text!r} names the wrong seat", **expected)
    if isinstance(domain, Rows | Pick | Some | Order | Parts):
        return CardMismatch(f"p{action.actor} may not name {''.join(action.cards)}")
    return VerbNotLegal(f"{action.text!r} is not legal now", **expected)


def _fixed(domain: Domain, text: str) -> Domain:
    """The domain with this text as its only one."""
    if isinstance(domain, Range):
        return Range(int(text), int(text), domain.step, domain.name)
    if isinstance(domain, Seats):
        named = tuple(int(name[1:]) for name in text.split(" "))
        return Seats(named, named, len(named))
    if isinstance(domain, Rows | Pick | Some | Order | Parts):
        return Rows((text,))
    return Words((text,)) if isinstance(domain, Words) else domain


@dataclass(frozen=True, slots=True)
class Legal:
    """One kind of action that would be accepted now: an actor, a verb, and for each argument of the line, in its order,
    what it may be."""

    actor: str
    verb: str
    arguments: tuple[Domain, ...] = ()

    def lines(self) -> Iterator[str]:
        """Every line that it offers, in a fixed order; those with a :class:`Secret` only as far as it can be said.

        The number of lines can be astronomical where cards are dealt; they come one by one.
        """
        said = f"{self.actor} {self.verb}"
        if len(self.arguments) == 1:  # lazily, as the pool of a deal demands
            for text in self.arguments[0].texts():
                yield f"{said} {text}"
            return
        for texts in product(*(argument.texts() for argument in self.arguments[:-1])):
            before = " ".join((said, *texts))
            if not self.arguments:
                yield before
                continue
            for text in self.arguments[-1].texts():
                yield f"{before} {text}"

    def contains(self, line: str) -> bool:
        """Whether the line is one of those that this offer contains, without enumerating them."""
        actor, verb, *words = line.split(" ")
        if (actor, verb) != (self.actor, self.verb):
            return False
        if not self.arguments:
            return not words
        if len(words) < len(self.arguments):
            return False
        *first, last = self.arguments
        texts = [*words[: len(first)], " ".join(words[len(first) :])]
        return all(domain.accepts(text) for domain, text in zip((*first, last), texts, strict=True))

    def require(self, action: Action) -> None:
        """Raise the typed refusal of an action of this actor and verb that is not among its lines: a number out of
        range, another seat, other cards."""
        if self.contains(action.text):
            return
        words = action.text.split(" ")[2:]
        for at, argument in enumerate(self.arguments):
            text = " ".join(words[at:]) if at == len(self.arguments) - 1 else words[at]
            if not argument.accepts(text):
                raise _refusal(action, argument)
        raise VerbNotLegal(f"{action.text!r} is not legal now", verbs=[self.verb])

    def only(self, line: str) -> Legal:
        """The same with this one of its lines left."""
        words, found = line.split(" ")[2:], []
        for at, argument in enumerate(self.arguments):
            last = at == len(self.arguments) - 1
            found.append(_fixed(argument, " ".join(words[at:]) if last else words[at]))
        return Legal(self.actor, self.verb, tuple(found))

    def as_dict(self) -> dict[str, object]:
        """JSON-able form, without the fields that do not apply."""
        found: dict[str, object] = {"actor": self.actor, "verb": self.verb}
        for argument in self.arguments:
            found |= argument.as_dict()
        return found

    # -- the arguments one by one, for callers that know the verb ------------------------------------------------------

    @property
    def amount(self) -> Range | None:
        """The range of the amount of money, or of a number of things where there is a choice."""
        ranges = (one for one in self.arguments if isinstance(one, Range))
        return next((one for one in ranges if one.name == "amount" or one.low < one.high), None)

    @property
    def min(self) -> int | None:
        """The smallest amount."""
        return self.amount.low if self.amount else None

    @property
    def max(self) -> int | None:
        """The largest amount."""
        return self.amount.high if self.amount else None

    @property
    def step(self) -> int | None:
        """The step between amounts."""
        return self.amount.step if self.amount else None

    @property
    def target(self) -> int | None:
        """The seat that it is aimed at."""
        return next((one.seat for one in self.arguments if isinstance(one, Target)), None)

    @property
    def count(self) -> int | None:
        """How many cards, or looks."""
        for one in self.arguments:
            if isinstance(one, Pick):
                return one.count
            if isinstance(one, Rows):
                return len(one.rows[0]) // 2
            if isinstance(one, Order):
                return len(one.cards)
            if isinstance(one, Some):
                return one.most
            if isinstance(one, Range) and one.name == "count":
                return one.high
        return next((one.cards for one in self.arguments if isinstance(one, Target)), None)

    @property
    def places(self) -> Places | None:
        """The sets of places that may be turned up, if not any."""
        return next((one.places for one in self.arguments if isinstance(one, Pick)), None)
