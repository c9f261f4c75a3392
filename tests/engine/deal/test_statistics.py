"""The statistics of ``make soak`` at a size for every change, and every fault they are for, caught."""

from __future__ import annotations

import pytest

from tests.soak import shuffles

#: Which tests must notice which fault.
CAUGHT_BY = {
    "heavy": {"frequency"}, "sticky": {"runs"}, "trailing": {"runs", "serial"}, "modulo": {"position"},
    "anywhere": {"permutation", "position"}, "riffled": {"neighbours"},
}  # fmt: skip


@pytest.mark.long
def test_real_deals_look_like_chance():
    found = [shuffles.examine(shuffles.Batch(number)) for number in range(6)]
    assert [verdict for verdict in shuffles.verdicts(found) if not verdict.ok] == []


@pytest.mark.long
@pytest.mark.parametrize("bias", [*shuffles.WORD_FAULTS, *shuffles.DECK_FAULTS])
def test_a_fault_is_noticed(bias: str):
    """By its tests, and in each of two batches: chance would not give that twice."""
    found = [shuffles.examine(shuffles.Batch(number, 20_000, 200_000, bias)) for number in range(2)]
    assert {verdict.test for verdict in shuffles.verdicts(found) if verdict.passed == 0} >= CAUGHT_BY[bias]


def test_deals_that_are_smoother_than_chance_are_noticed():
    smooth = [[shuffles.Finding("position", 900.0, 0.9 + number / 1000)] for number in range(60)]
    [verdict] = shuffles.verdicts(smooth)
    assert verdict.passed == 60 and not verdict.ok


def test_every_test_notices_some_fault():
    tests = {test.__name__ for test in (*shuffles.OF_WORDS, *shuffles.OF_DECKS)}
    assert set().union(*CAUGHT_BY.values()) == tests


@pytest.mark.parametrize(("batches", "needed"), [(1, 0), (2, 1), (6, 4), (60, 56), (100, 95), (1000, 979)])
def test_so_many_batches_must_pass(batches: int, needed: int):
    assert shuffles.needed(batches) == needed


@pytest.mark.parametrize(
    ("distance", "degrees", "p"),
    [(61.098, 31, 0.001), (44.985, 31, 0.05), (149.449, 100, 0.001), (140.233, 119, 0.09), (1064.9, 961, 0.0105)],
)
def test_the_tail_of_chi_square_is_that_of_the_tables(distance: float, degrees: int, p: float):
    assert shuffles.upper_tail(distance, degrees) == pytest.approx(p, rel=0.05)
