"""Whether real deals look like chance: ``python -m tests.soak.shuffles``, and a part of ``make soak``.

Decks are dealt as a house deals them, each from a seed, a hand id and client seeds of its own, all derived from fixed
words, so that a run gives the same figures every time. They are judged as SP 800-22 judges (section 4.2): the deals are
cut into batches, every test gives a p-value for each of them, and a batch passes with 0.01 or more (99 %). So many of
them must pass as chance lets pass (4.2.1), and from 55 batches on the p-values must be spread evenly (4.2.2), which
also catches deals that are smoother than chance.

frequency     SP 800-22, 2.1: as many ones as zeros among the generator's bits
runs          SP 800-22, 2.3: as many changes from one bit to the next as there should be
serial        circular correlation of the generator's words, each with the next (Knuth, TAOCP 2, 3.3.2 K)
permutation   the orders of the first five cards of a deck, 120 of them, equally likely (TAOCP 2, 3.3.2 P)
position      each card as likely at each place: chi-square of the 32 x 32 table, with 31 x 31 degrees of freedom
neighbours    no card follows another more often than any other does: 32 x 31 ordered pairs

``--bias`` deals with a fault instead, and then a finding is what is wanted: ``tests/engine/deal/test_statistics.py``
makes sure that every test catches one.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from engine.deal.shuffle import HmacDrbg, below, encode, shuffled_deck
from engine.kernel.cards import TELL32

BATCHES = 100
HANDS = 5_000
"""Decks of a batch: five for each ordered pair of cards."""
WORDS = 50_000
"""32-bit words of the generator that a batch looks at."""
ALPHA = 0.01
EVENLY = 0.0001
"""What the p-values of p-values must reach (SP 800-22, 4.2.2)."""
ENOUGH_FOR_EVENLY = 55
SELDOM = 0.00135
"""Beyond three standard deviations on one side (SP 800-22, 4.2.1)."""
ORDERED = 5
"""Cards whose order is looked at."""

Deck = tuple[str, ...]
Words = Sequence[int]


class Finding(NamedTuple):
    """One test of one batch: what it measured and how likely chance gives as much or more."""

    test: str
    measured: float
    p: float


class Verdict(NamedTuple):
    """One test over all batches: how many passed, how many must, and how evenly the p-values are spread."""

    test: str
    passed: int
    needed: int
    batches: int
    evenness: float | None

    @property
    def ok(self) -> bool:
        """Whether chance would do."""
        return self.passed >= self.needed and (self.evenness is None or self.evenness >= EVENLY)


# --- What is tested ---------------------------------------------------------------------------------------------------


def seed_of(number: int) -> bytes:
    """The seed of one deal."""
    return hashlib.sha256(f"cukassza statistics {number}".encode()).digest()


def dealt(hands: range) -> Iterator[Deck]:
    """Decks of these hands, each with its own seed, id and up to seven client seeds."""
    for number in hands:
        said = {chair: f"{chair}-{number}" for chair in range(1, 1 + number % 8)}
        yield shuffled_deck(TELL32, seed_of(number), f"T1-{number:06d}", said)


def words(deals: range) -> list[int]:
    """32-bit words of the generator, 32 of each deal's: what the shuffles draw from."""
    found: list[int] = []
    for number in deals:
        block = HmacDrbg(seed_of(number), f"W-{number}".encode(), encode("statistics")).generate(128)
        found += (int.from_bytes(block[at : at + 4], "big") for at in range(0, 128, 4))
    return found


# --- The tests --------------------------------------------------------------------------------------------------------


def frequency(drawn: Words) -> Finding:
    """SP 800-22, 2.1.4."""
    bits, ones = 32 * len(drawn), sum(word.bit_count() for word in drawn)
    excess = abs(2 * ones - bits) / math.sqrt(bits)
    return Finding("frequency", ones / bits, math.erfc(excess / math.sqrt(2)))


def runs(drawn: Words) -> Finding:
    """SP 800-22, 2.3.4; where the frequency test would fail already, so does this one."""
    bits = 32 * len(drawn)
    share = sum(word.bit_count() for word in drawn) / bits
    if abs(share - 0.5) >= 2 / math.sqrt(bits):
        return Finding("runs", 0.0, 0.0)
    within = sum(((word ^ (word >> 1)) & 0x7FFFFFFF).bit_count() for word in drawn)
    across = sum((one & 1) != (other >> 31) for one, other in pairwise(drawn))
    changes = within + across + 1
    expected = 2 * bits * share * (1 - share)
    spread = 2 * math.sqrt(2 * bits) * share * (1 - share)
    return Finding("runs", changes, math.erfc(abs(changes - expected) / spread))


def serial(drawn: Words) -> Finding:
    """Each word with the next, the last with the first; the coefficient is about normal for so many words."""
    count, total, squares = len(drawn), sum(drawn), sum(word * word for word in drawn)
    products = sum(one * other for one, other in pairwise(drawn)) + drawn[-1] * drawn[0]
    coefficient = (count * products - total * total) / (count * squares - total * total)
    z = (coefficient + 1 / (count - 1)) * math.sqrt(count)
    return Finding("serial", coefficient, math.erfc(abs(z) / math.sqrt(2)))


def permutation(decks: Sequence[Deck]) -> Finding:
    """Orders of the first cards, by where they stand in the pack as it is printed."""
    rank = {card: at for at, card in enumerate(TELL32.cards)}
    orders = Counter(tuple(sorted(range(ORDERED), key=lambda at: rank[deck[at]])) for deck in decks)
    return chi_square("permutation", list(orders.values()), math.factorial(ORDERED), math.factorial(ORDERED) - 1)


def position(decks: Sequence[Deck]) -> Finding:
    """Cards by places. Rows and columns of the table have fixed sums, and for such a table (n/(n-1)) times the usual
    sum is chi-square's; for 32 cards that is the factor 31/32."""
    cells: Counter[tuple[int, str]] = Counter()
    for deck in decks:
        cells.update(enumerate(deck))
    return chi_square("position", list(cells.values()), 32 * 32, 31 * 31, scale=31 / 32)


def neighbours(decks: Sequence[Deck]) -> Finding:
    """Which card follows which, at one place of each deck, so that no two of the pairs hang together."""
    pairs = Counter(deck[number % 31 :][:2] for number, deck in enumerate(decks))
    return chi_square("neighbours", list(pairs.values()), 32 * 31, 32 * 31 - 1)


OF_WORDS: tuple[Callable[[Words], Finding], ...] = (frequency, runs, serial)
OF_DECKS: tuple[Callable[[Sequence[Deck]], Finding], ...] = (permutation, position, neighbours)


def chi_square(test: str, counts: Sequence[int], cells: int, degrees: int, scale: float = 1.0) -> Finding:
    """Equally likely cells, those with nothing in them included."""
    expected = sum(counts) / cells
    distance = sum((count - expected) ** 2 for count in counts) / expected + (cells - len(counts)) * expected
    return Finding(test, distance * scale, upper_tail(distance * scale, degrees))


def upper_tail(distance: float, degrees: int) -> float:
    """How likely chi-square is at least so large: Wilson and Hilferty's approximation, good to three digits here."""
    spread = 2 / (9 * degrees)
    return 1 - normal(((distance / degrees) ** (1 / 3) - (1 - spread)) / math.sqrt(spread))


def normal(z: float) -> float:
    """The normal distribution's share below ``z``."""
    return math.erfc(-z / math.sqrt(2)) / 2


# --- Faults, to show that the tests can fail --------------------------------------------------------------------------


def modulo(hands: range) -> Iterator[Deck]:
    """A shuffle that takes a byte modulo the number of cards instead of throwing biased draws away."""
    for number in hands:
        drawn = HmacDrbg(seed_of(number), b"modulo").generate(31)
        deck = list(TELL32.cards)
        for last in range(31, 0, -1):
            pick = drawn[31 - last] % (last + 1)
            deck[last], deck[pick] = deck[pick], deck[last]
        yield tuple(deck)


def anywhere(hands: range) -> Iterator[Deck]:
    """A shuffle that swaps each card with any place instead of one not dealt yet: a well-known mistake."""
    for number in hands:
        source = iter(words_of(number, 64))
        deck = list(TELL32.cards)
        for at in range(32):
            pick = below(32, source)
            deck[at], deck[pick] = deck[pick], deck[at]
        yield tuple(deck)


def riffled(hands: range) -> Iterator[Deck]:
    """Cards that stick together: one deck in a hundred keeps a pair that was printed side by side."""
    for number, deck in enumerate(dealt(hands)):
        if number % 100:
            yield deck
            continue
        rest = [card for card in deck if card not in ("Aa", "Ka")]
        place = number % 31
        yield (*rest[:place], "Aa", "Ka", *rest[place:])


DECK_FAULTS: dict[str, Callable[[range], Iterator[Deck]]] = {"modulo": modulo, "anywhere": anywhere, "riffled": riffled}


def words_of(number: int, count: int) -> list[int]:
    """Words of one deal."""
    block = HmacDrbg(seed_of(number), b"words").generate(4 * count)
    return [int.from_bytes(block[at : at + 4], "big") for at in range(0, 4 * count, 4)]


def heavy(deals: range) -> list[int]:
    """Ones come a little more often: the highest bit of one word in ten is set."""
    return [word | 0x80000000 if number % 10 == 0 else word for number, word in enumerate(words(deals))]


def sticky(deals: range) -> list[int]:
    """A bit is like the one before it a little more often; as many ones as zeros."""
    set_or_clear = {0: lambda word: word | 0xC, 20: lambda word: word & ~0xC}
    return [set_or_clear.get(at % 40, int)(word) for at, word in enumerate(words(deals))]


def trailing(deals: range) -> list[int]:
    """A word takes something over from the one before it."""
    drawn = words(deals)
    return [drawn[0], *((one // 64 + other - other // 64) % 2**32 for one, other in pairwise(drawn))]


WORD_FAULTS: dict[str, Callable[[range], list[int]]] = {"heavy": heavy, "sticky": sticky, "trailing": trailing}


# --- Running ----------------------------------------------------------------------------------------------------------


class Batch(NamedTuple):
    """Which deals to look at: the number of the batch, its decks and words, and a fault by its name."""

    number: int
    hands: int = HANDS
    words: int = WORDS
    bias: str = ""


def examine(batch: Batch) -> list[Finding]:
    """All tests on one batch."""
    deals = batch.words // 32
    drawn = WORD_FAULTS.get(batch.bias, words)(range(batch.number * deals, (batch.number + 1) * deals))
    hands = range(batch.number * batch.hands, (batch.number + 1) * batch.hands)
    decks = list(DECK_FAULTS.get(batch.bias, dealt)(hands))
    return [test(drawn) for test in OF_WORDS] + [test(decks) for test in OF_DECKS]


def verdicts(found: Sequence[Sequence[Finding]]) -> list[Verdict]:
    """What the batches say together."""
    return [_verdict(column) for column in zip(*found, strict=True)]


def _verdict(column: Sequence[Finding]) -> Verdict:
    batches = len(column)
    passed = sum(finding.p >= ALPHA for finding in column)
    evenness = None
    if batches >= ENOUGH_FOR_EVENLY:
        tenths = Counter(min(int(finding.p * 10), 9) for finding in column)
        evenness = chi_square("evenness", list(tenths.values()), 10, 9).p
    return Verdict(column[0].test, passed, needed(batches), batches, evenness)


def needed(batches: int) -> int:
    """How many batches must pass: fewer would happen to chance as seldom as three standard deviations, by the binomial
    distribution itself, whose tail is longer than the normal one's where failures are few."""
    allowed, tail = 0, 1 - (1 - ALPHA) ** batches
    while tail > SELDOM:
        allowed += 1
        tail -= math.comb(batches, allowed) * ALPHA**allowed * (1 - ALPHA) ** (batches - allowed)
    return batches - allowed


def report(found: Sequence[Sequence[Finding]], seconds: float, batch: Batch) -> bool:
    """Print what the batches say; whether all of it is like chance."""
    batches = len(found)
    decks, bits = batches * batch.hands, 32 * batches * batch.words
    print(f"shuffles: {decks:,} decks and {bits:,} bits in {batches} batches, {seconds:,.1f} s")
    for verdict in (recorded := verdicts(found)):
        even = "" if verdict.evenness is None else f", evenness of p {verdict.evenness:.4f}"
        passed = f"{verdict.passed} of {batches} batches pass at 99 % (at least {verdict.needed})"
        print(f"  {verdict.test:12} {passed}{even}: {'ok' if verdict.ok else 'NOT LIKE CHANCE'}")
    return all(verdict.ok for verdict in recorded)


def main() -> int:
    """Run it; 1 when a test fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak.shuffles", description="Statistics of deals at 99 %.")
    parser.add_argument("--batches", type=int, default=BATCHES, help=f"({BATCHES})")
    parser.add_argument("--hands", type=int, default=HANDS, help=f"decks of a batch ({HANDS:,})")
    parser.add_argument("--words", type=int, default=WORDS, help=f"32-bit words of a batch ({WORDS:,})")
    parser.add_argument("--bias", choices=[*WORD_FAULTS, *DECK_FAULTS], default="", help="deal with this fault")
    asked = parser.parse_args()
    began = time.monotonic()
    batches = [Batch(number, asked.hands, asked.words, asked.bias) for number in range(asked.batches)]
    found = [examine(batch) for batch in batches]
    return 0 if report(found, time.monotonic() - began, batches[0]) else 1


if __name__ == "__main__":
    raise SystemExit(main())
