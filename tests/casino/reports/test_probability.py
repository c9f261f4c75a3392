"""Probabilities against published tables, and against sums that need no formula."""

import math
from fractions import Fraction
from itertools import pairwise, permutations
from statistics import fmean, pvariance

import pytest

from casino.reports.deck_tests import _ordered
from casino.reports.probability import chi_square_tail, holm, normal_tails, poisson_tails, quadratic_form, upper_gamma

#: Upper critical values of chi-square: NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.4, by degrees of
#: freedom: at 0.10, 0.05, 0.025, 0.01 and 0.001.
CRITICAL = {
    1: (2.706, 3.841, 5.024, 6.635, 10.828), 2: (4.605, 5.991, 7.378, 9.210, 13.816),
    5: (9.236, 11.070, 12.833, 15.086, 20.515), 10: (15.987, 18.307, 20.483, 23.209, 29.588),
    30: (40.256, 43.773, 46.979, 50.892, 59.703), 100: (118.498, 124.342, 129.561, 135.807, 149.449),
}  # fmt: skip


@pytest.mark.parametrize("degrees", CRITICAL)
def test_chi_square_is_that_of_the_tables(degrees: int) -> None:
    for value, level in zip(CRITICAL[degrees], (0.10, 0.05, 0.025, 0.01, 0.001), strict=True):
        assert chi_square_tail(value, degrees) == pytest.approx(level, rel=2e-3)


def test_an_even_number_of_degrees_is_a_finite_sum() -> None:
    """Q(n, x) is the sum of exp(-x) x**k / k! below n, for any whole n (Abramowitz and Stegun 6.5.13)."""
    for n in (1, 2, 7, 40):
        for x in (0.001, 0.5, 3.0, n - 0.5, n + 1.5, 2.0 * n, 90.0):
            exact = sum(math.exp(k * math.log(x) - x - math.lgamma(k + 1)) for k in range(n))
            assert upper_gamma(n, x) == pytest.approx(exact, rel=1e-9, abs=1e-14)
    assert upper_gamma(0.5, 0.0) == 1.0
    # 961 degrees, as a pack of 32 has: between the two ways to compute it, nothing jumps.
    near = [chi_square_tail(962 + step / 1000, 961) for step in range(-3, 4)]
    assert all(0 < one - other < 1e-5 for one, other in pairwise(near))
    with pytest.raises(ValueError, match="not defined"):
        upper_gamma(0, 1)


def test_normal_and_poisson() -> None:
    for z, level in ((1.644854, 0.10), (1.959964, 0.05), (-2.575829, 0.01)):
        assert normal_tails(z) == pytest.approx(level, rel=1e-5)
    below = sum(math.exp(-4) * 4**k / math.factorial(k) for k in range(2))
    assert poisson_tails(1, 4.0) == pytest.approx(2 * below)
    above = 1 - sum(math.exp(-4) * 4**k / math.factorial(k) for k in range(9))
    assert poisson_tails(9, 4.0) == pytest.approx(2 * above)
    assert poisson_tails(4, 4.0) == 1.0 and poisson_tails(0, 0.5) == 1.0


def test_holm_is_stepwise_and_monotone() -> None:
    """Worked by hand: 0.01 x 4, 0.02 x 3, 0.03 x 2 which is no more than the one before, 0.04 x 1 likewise."""
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([]) == [] and holm([0.7, 0.8]) == [1.0, 1.0]


def test_a_quadratic_form_is_exact() -> None:
    matrix = [[Fraction(0), Fraction(2)], [Fraction(2), Fraction(1)]]
    # The inverse is [[-1/4, 1/2], [1/2, 0]].
    assert quadratic_form([Fraction(3), Fraction(1)], matrix) == Fraction(-9, 4) + 3
    with pytest.raises(ZeroDivisionError):
        quadratic_form([Fraction(1), Fraction(1)], [[Fraction(1), Fraction(1)]] * 2)


@pytest.mark.parametrize("cards", [(0, 1, 2, 3, 4), (0, 1, 5, 6, 7, 9)])
def test_moments_of_an_order_are_those_of_all_orders(cards: tuple[int, ...]) -> None:
    """Over every order of the same cards: no difference on average, and the variance that is said."""
    found = [_ordered(order, 10) for order in permutations(cards)]
    m = len(cards)
    assert sum(one.runs for one in found) == sum(one.serial for one in found) == 0
    assert pvariance([one.runs / m for one in found]) == pytest.approx(found[0].runs_variance / (m**2 * (m - 1)))
    variance = found[0].serial_variance / ((m - 1) ** 2 * (m - 2))
    assert pvariance([one.serial / (m - 1) for one in found]) == pytest.approx(variance)
    assert fmean(one.serial_variance for one in found) == found[0].serial_variance
