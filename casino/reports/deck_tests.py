"""Tests of whether packs of cards were shuffled fairly: what is counted of decks, and how likely it is of fair ones.

A deck is its cards as places in the pack's printed order (0 to n - 1), in the order in which they came off the pack:
all n, or only the first m of them. Every moment used here is exact for decks that are random permutations, whatever m:

card x position
    How often each card came at each place. Of whole decks, rows and columns sum to the number of decks, and the usual
    chi-square times (n - 1) / n has (n - 1)**2 degrees of freedom (Anderson, Use of contingency tables in the analysis
    of consumer preference studies, Biometrics 15, 1959, 582-590). With d the differences from N / n, of the first m
    places the same reasoning gives (n - 1) / N * sum over cards of (sum of d**2 + (sum of d)**2 / (n - m)), with
    m * (n - 1) degrees.
runs
    Cards of the first and of the second half of the pack, as they follow each other: the number of runs of one kind
    (Wald and Wolfowitz, Ann. Math. Statist. 11, 1940, 147-162; NIST/SEMATECH e-Handbook 1.3.5.13). Mean
    1 + 2ab / m, variance 2ab(2ab - m) / (m**2 (m - 1)), where a and b cards of the m are of each kind.
serial correlation
    The sum of products of cards that follow each other, the first after the last (Wald and Wolfowitz, Ann. Math.
    Statist. 14, 1943, 378-388, whose mean and variance over all orders of the same cards are used).
deal to deal
    How alike two decks are that one table dealt one after the other: the sum of the squared differences of each card's
    places, as in Spearman's rank correlation; its mean is n (n**2 - 1) / 6, and its variance the mean's square over
    n - 1. Whole decks only.
kinds of hand
    Four cards that lie together are a hand; a deck has several. The counts of their kinds have the covariance of hands
    that share no card, which is exact (`engine.vying.frequencies`); the quadratic form of their differences is a
    chi-square. Kinds that are expected fewer than five times are put together with the next ones (Cochran, Biometrics
    10, 1954, 417-451). Not the hands with which seats ended: those depend on who folded.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from math import sqrt

from casino.hands.decks import HAND, Kinds
from casino.reports.probability import chi_square_tail, normal_tails, poisson_tails, quadratic_form

#: Decks below which nothing is tested, and nothing is shown: few decks say nothing, and would show folded cards.
LEAST_DECKS = 2_000
#: How often something must be expected for a chi-square to be one (Cochran).
LEAST_EXPECTED = 5


@dataclass(frozen=True, slots=True)
class Test:
    """One test: its name, its statistic (a chi-square, a standard score, or a count), the degrees of freedom of a
    chi-square, how often it was expected of a count, and the probability of such decks if they are fair."""

    name: str
    statistic: float
    degrees: int | None
    expected: float | None
    probability: float


@dataclass(slots=True)
class _Order:
    """Sums over decks of m known cards: of the differences from the mean, and of the variances, in whole numbers over
    denominators that depend on m alone."""

    runs: int = 0
    runs_variance: int = 0
    serial: int = 0
    serial_variance: int = 0


@dataclass(frozen=True, slots=True)
class Facts:
    """What one deck adds: counted once, and added to every group that the deck belongs to."""

    places: tuple[int, ...]
    size: int
    order: _Order
    keys: tuple[int, ...]
    #: The sum of squared differences to the deck before it at its table; None where there is none to compare.
    apart: int | None = None

    def after(self, before: tuple[int, ...] | None) -> "Facts":
        """The same where `before` is the deck that its table dealt before it."""
        if before is None or not len(before) == len(self.places) == self.size:
            return self
        place_of = {card: at for at, card in enumerate(before)}
        return replace(self, apart=sum((at - place_of[card]) ** 2 for at, card in enumerate(self.places)))


def facts(places: tuple[int, ...], size: int, kinds: Kinds | None) -> Facts:
    """Of one deck by itself."""
    hands = len(places) // HAND
    keys = tuple(kinds.of(bytes(places[: HAND * hands]))) if kinds is not None and hands else ()
    return Facts(places, size, _ordered(places, size), keys)


def _ordered(places: Sequence[int], size: int) -> _Order:
    m = len(places)
    if m < 3:
        return _Order()
    low = [2 * card < size for card in places]
    a = sum(low)
    runs = 1 + sum(one != other for one, other in pairwise(low))
    twice = 2 * a * (m - a)
    one, two, three, four = (sum(card**power for card in places) for power in range(1, 5))
    product = sum(card * after for card, after in zip(places, (*places[1:], places[0]), strict=True))
    mean = one**2 - two
    spread = one**4 - 4 * one**2 * two + 4 * one * three + two**2 - 2 * four
    return _Order(
        runs=m * runs - m - twice,
        runs_variance=twice * (twice - m),
        serial=(m - 1) * product - mean,
        serial_variance=((two**2 - four) * (m - 2) + spread) * (m - 1) - mean**2 * (m - 2),
    )


@dataclass(slots=True)
class Decks:
    """What was counted of the decks of one group; `kinds` where its game ranks hands."""

    size: int
    kinds: Kinds | None = None
    deck_count: int = 0
    #: By the number of known cards: how many decks, and how often each card came at each place (place by place).
    counted: Counter[int] = field(default_factory=Counter)
    matrices: dict[int, list[int]] = field(default_factory=dict)
    orders: dict[int, _Order] = field(default_factory=dict)
    keys: Counter[int] = field(default_factory=Counter)
    apart: int = 0
    pair_count: int = 0

    def add(self, deck: Facts) -> None:
        """Count a deck."""
        m = len(deck.places)
        self.deck_count += 1
        self.counted[m] += 1
        matrix = self.matrices.setdefault(m, [0] * (m * self.size))
        for at, card in enumerate(deck.places):
            matrix[at * self.size + card] += 1
        order = self.orders.setdefault(m, _Order())
        order.runs += deck.order.runs
        order.runs_variance += deck.order.runs_variance
        order.serial += deck.order.serial
        order.serial_variance += deck.order.serial_variance
        self.keys.update(deck.keys)
        if deck.apart is not None:
            self.apart += deck.apart
            self.pair_count += 1

    @property
    def enough(self) -> bool:
        """Whether there are decks enough to say something."""
        return self.deck_count >= LEAST_DECKS

    def tests(self) -> Iterator[Test]:
        """Every test that these decks allow; none of too few."""
        if not self.enough:
            return
        yield from self._positions()
        yield from self._runs()
        if self.pair_count:
            mean = Fraction(self.size * (self.size**2 - 1), 6)
            z = float(self.pair_count * mean - self.apart) / (float(mean) * sqrt(self.pair_count / (self.size - 1)))
            yield Test("deal to deal", z, None, None, normal_tails(z))
        if self.kinds is not None:
            yield from self._kinds(self.kinds)

    def hands(self) -> int:
        """Hands of four cards that lie together, in all decks."""
        return sum(m // HAND * count for m, count in self.counted.items())

    def by_kind(self) -> list[int]:
        """How many hands of each kind came, from the lowest to the highest."""
        found = [0] * (len(self.kinds.frequencies.names) if self.kinds is not None else 0)
        for key, count in self.keys.items():
            found[key // 100] += count
        return found

    def watched(self) -> Counter[str]:
        """How many hands came that are watched by themselves, by name."""
        found: Counter[str] = Counter()
        for key, count in self.keys.items():
            for name in self.kinds.watched(key) if self.kinds is not None else ():
                found[name] += count
        return found

    def _positions(self) -> Iterator[Test]:
        total, degrees, n = Fraction(0), 0, self.size
        for m, count in self.counted.items():
            if count < LEAST_EXPECTED * n:
                continue
            squares, sums = 0, [0] * n
            for at, seen in enumerate(self.matrices[m]):
                apart = n * seen - count
                squares += apart**2
                sums[at % n] += apart
            rest = Fraction(sum(one**2 for one in sums), n - m) if m < n else Fraction(0)
            total += Fraction(n - 1, count * n**2) * (squares + rest)
            degrees += min(m, n - 1) * (n - 1)
        if degrees:
            found = float(total)
            yield Test("card x position", found, degrees, None, chi_square_tail(found, degrees))

    def _runs(self) -> Iterator[Test]:
        runs = serial = runs_variance = serial_variance = Fraction(0)
        for m, order in self.orders.items():
            if m < 3:
                continue
            runs += Fraction(order.runs, m)
            runs_variance += Fraction(order.runs_variance, m**2 * (m - 1))
            serial += Fraction(order.serial, m - 1)
            serial_variance += Fraction(order.serial_variance, (m - 1) ** 2 * (m - 2))
        for name, apart, variance in (("runs", runs, runs_variance), ("serial correlation", serial, serial_variance)):
            if variance:
                z = float(apart) / sqrt(variance)
                yield Test(name, z, None, None, normal_tails(z))

    def _kinds(self, kinds: Kinds) -> Iterator[Test]:
        exact, hands = kinds.frequencies, self.hands()
        pairs = sum((m // HAND) * (m // HAND - 1) * count for m, count in self.counted.items())
        shares = [Fraction(count, exact.total) for count in exact.counts]
        together = _put_together([float(hands * share) for share in shares])
        if len(together) > 1:
            seen = self.by_kind()
            parts = together[:-1]  # the last one follows from the others
            p = [sum((shares[kind] for kind in part), Fraction(0)) for part in parts]
            apart = [sum(seen[kind] for kind in part) - hands * share for part, share in zip(parts, p, strict=True)]
            both = [
                [Fraction(sum(exact.pairs[a][b] for a in one for b in other), exact.total_pairs) for other in parts]
                for one in parts
            ]
            covariance = [
                [
                    hands * ((p[i] if i == j else 0) - p[i] * p[j]) + pairs * (both[i][j] - p[i] * p[j])
                    for j in range(len(parts))
                ]
                for i in range(len(parts))
            ]
            found = float(quadratic_form(apart, covariance))
            yield Test("kinds of hand", found, len(parts), None, chi_square_tail(found, len(parts)))
        for name, count in exact.watched.items():
            expected = float(Fraction(hands * count, exact.total))
            seen_of_it = self.watched()[name]
            yield Test(name, float(seen_of_it), None, expected, poisson_tails(seen_of_it, expected))


def _put_together(expected: Sequence[float]) -> list[list[int]]:
    """Places of what is expected, those that are expected too seldom together with the next rarest ones."""
    order = sorted(range(len(expected)), key=lambda at: expected[at])
    found: list[list[int]] = []
    part: list[int] = []
    for at in order:
        part.append(at)
        if sum(expected[one] for one in part) >= LEAST_EXPECTED:
            found.append(part)
            part = []
    if part:
        # The rarest come first, so the last part is short of five only where everything is.
        found = [*found[:-1], [*found[-1], *part]] if found else [part]
    return found
