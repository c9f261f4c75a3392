"""Probabilities by which statistics are judged: chi-square, normal, Poisson, and many tests at once.

Everything is computed from the formulas that are named, and the tests of this module compare it with published tables.
Results are floating-point numbers; a report rounds them to millionths, which no machine's rounding changes in practice.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

#: Where sums and continued fractions end: below this, a further step changes nothing that a report shows.
_PRECISION, _MOST_STEPS = 1e-13, 100_000
#: Stands for zero in a denominator of a continued fraction.
_TINY = 1e-300


def upper_gamma(a: float, x: float) -> float:
    """The regularised incomplete gamma function Q(a, x) = Γ(a, x) / Γ(a), for a > 0 and x >= 0.

    Abramowitz and Stegun, Handbook of Mathematical Functions: the series 6.5.29 below x = a + 1, and above the even
    part of the continued fraction 6.5.31, evaluated by the method of Lentz as modified by Thompson and Barnett (J.
    Comput. Phys. 64, 1986, 490-509).
    """
    if a <= 0 or x < 0:
        raise ValueError(f"Q({a}, {x}) is not defined here")
    if x == 0:
        return 1.0
    scale = math.exp(a * math.log(x) - x - math.lgamma(a))
    found = 1 - scale * _series(a, x) if x < a + 1 else scale * _fraction(a, x)
    return min(max(found, 0.0), 1.0)


def _series(a: float, x: float) -> float:
    term = total = 1 / a
    for step in range(1, _MOST_STEPS):
        term *= x / (a + step)
        total += term
        if term < total * _PRECISION:
            return total
    raise ArithmeticError(f"the series of Q({a}, {x}) does not end")


def _fraction(a: float, x: float) -> float:
    b = x + 1 - a
    c, d = 1 / _TINY, 1 / (b or _TINY)
    found = d
    for step in range(1, _MOST_STEPS):
        numerator = -step * (step - a)
        b += 2
        d = 1 / (numerator * d + b or _TINY)
        c = b + numerator / c or _TINY
        found *= c * d
        if abs(c * d - 1) < _PRECISION:
            return found
    raise ArithmeticError(f"the continued fraction of Q({a}, {x}) does not end")


def chi_square_tail(statistic: float, degrees: int) -> float:
    """The probability of a chi-square at least as large: Q(degrees / 2, statistic / 2) (Abramowitz and Stegun
    26.4.19)."""
    return upper_gamma(degrees / 2, statistic / 2)


def normal_tails(z: float) -> float:
    """The probability of a standard normal at least as far from 0, on either side (Abramowitz and Stegun 26.2.29)."""
    return math.erfc(abs(z) / math.sqrt(2))


def poisson_tails(count: int, mean: float) -> float:
    """Twice the smaller of the probabilities of at most and of at least `count`, no more than 1, where `mean` is
    expected (Abramowitz and Stegun 26.4.21: P(N <= n) = Q(n + 1, mean))."""
    at_most = upper_gamma(count + 1, mean)
    at_least = 1.0 if count == 0 else 1 - upper_gamma(count, mean)
    return min(1.0, 2 * min(at_most, at_least))


def holm(probabilities: Sequence[float]) -> list[float]:
    """Adjusted probabilities of several tests, in their order: where none below a level is taken for a finding, the
    chance of any false finding is at most that level (Holm, Scandinavian Journal of Statistics 6, 1979, 65-70)."""
    order = sorted(range(len(probabilities)), key=lambda at: probabilities[at])
    found, most = [0.0] * len(probabilities), 0.0
    for rank, at in enumerate(order):
        most = max(most, min(1.0, (len(order) - rank) * probabilities[at]))
        found[at] = most
    return found


def quadratic_form(values: Sequence[Fraction], matrix: Sequence[Sequence[Fraction]]) -> Fraction:
    """v' M^-1 v for a symmetric matrix that has an inverse, in exact fractions. Raises ZeroDivisionError where it has
    none."""
    size = len(values)
    rows = [[*matrix[at], values[at]] for at in range(size)]
    for at in range(size):
        pivot = next((row for row in range(at, size) if rows[row][at]), at)
        rows[at], rows[pivot] = rows[pivot], rows[at]
        head = rows[at][at]
        rows[at] = [value / head for value in rows[at]]
        for other in range(size):
            if other != at and rows[other][at]:
                factor = rows[other][at]
                rows[other] = [mine - factor * its for mine, its in zip(rows[other], rows[at], strict=True)]
    return sum((value * rows[at][-1] for at, value in enumerate(values)), Fraction(0))
