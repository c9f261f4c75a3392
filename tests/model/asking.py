"""What may be said at one point of a hand, and whether a line says it."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from dataclasses import dataclass, field

AMOUNT = re.compile(r"[1-9][0-9]*\Z")
CARDS = re.compile(r"(?:[AKOUX987][albh]|\?\?)+\Z")

Check = Callable[[str], bool]


@dataclass(frozen=True)
class May:
    """One thing that may be said: by whom, with which verb, and what goes with it."""

    actor: str
    verb: str
    least: int | None = None
    most: int | None = None
    step: int | None = None
    target: int | None = None
    count: int | None = None
    words: tuple[Check, ...] = field(default=(), compare=False)

    def fits(self, words: list[str]) -> bool:
        """Whether the words of a line say this."""
        if words[:2] != [self.actor, self.verb] or len(words) != 2 + len(self.words):
            return False
        return all(check(word) for check, word in zip(self.words, words[2:], strict=True))


Asked = list[May]
Words = list[str]
Course = Generator[Asked, Words, None]
Question = Generator[Asked, Words, Words]


def seat_name(seat: int) -> str:
    return f"p{seat}"


def just(seat: int, verb: str) -> May:
    """A word alone: fold, check, stand, in."""
    return May(seat_name(seat), verb)


def money(seat: int, verb: str, least: int, most: int, step: int) -> May:
    """A verb with an amount from a range, in whole steps."""
    return May(seat_name(seat), verb, least, most, step, words=(within(least, most, step),))


def exactly(seat: int, verb: str, amount: int) -> May:
    """A verb with the one amount that is due."""
    return money(seat, verb, amount, amount, amount)


def charge(seat: int, target: int, count: int, most: int, least: int, step: int) -> May:
    """``ks N pM``."""
    checks = (within(least, most, step), literally(seat_name(target)))
    return May(seat_name(seat), "ks", least, most, step, target, count, checks)


def look(seat: int, count: int, fewest: int | None = None) -> May:
    """``lk N``: at all that it has not seen, no more and no fewer, unless ``fewest`` allows it."""
    if fewest is None or fewest >= count:
        return May(seat_name(seat), "lk", count=count, words=(literally(str(count)),))
    return May(seat_name(seat), "lk", fewest, count, 1, count=count, words=(within(fewest, count, 1),))


def deal(seat: int, count: int, right: Callable[[list[str]], bool]) -> May:
    """``d dh pN CARDS``."""
    return May("d", "dh", target=seat, count=count, words=(literally(seat_name(seat)), cards(count, right)))


def show(seat: int, verb: str, count: int, right: Callable[[list[str]], bool]) -> May:
    """``sm``, ``up`` and ``cu`` with so many cards, every one named."""
    return May(seat_name(seat), verb, count=count, words=(named(count, right),))


def within(least: int, most: int, step: int) -> Check:
    """An amount without leading zeros, in the range, a whole number of steps."""
    return lambda word: bool(AMOUNT.match(word)) and least <= int(word) <= most and int(word) % step == 0


def literally(expected: str) -> Check:
    return lambda word: word == expected


def cards(count: int, right: Callable[[list[str]], bool]) -> Check:
    """So many cards, ``??`` for an unknown one, that ``right`` finds possible."""

    def check(word: str) -> bool:
        if not CARDS.match(word) or len(word) != 2 * count:
            return False
        found = [word[at : at + 2] for at in range(0, len(word), 2)]
        known = [card for card in found if card != "??"]
        return len(known) == len(set(known)) and right(found)

    return check


def named(count: int, right: Callable[[list[str]], bool]) -> Check:
    """The same where ``??`` will not do."""
    return cards(count, lambda found: "??" not in found and right(found))
