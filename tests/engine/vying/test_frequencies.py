"""Exact frequencies of kinds of hand, against what the rules' own counting says."""

from itertools import combinations
from math import comb
from random import Random

import pytest

from engine.kernel.cards import FRENCH32, FRENCH52, TELL32
from engine.vying.frequencies import frequencies, frequencies_of
from engine.vying.ranking import faerbeln_ranking, ferbli_ranking


def test_ferbli_counts_are_those_of_the_rules() -> None:
    """Four of a kind: one a rank. Banda: four of the eight cards of a suit. Three of a kind: 8 ranks, 4 ways to leave
    a suit out, 28 other cards."""
    found = dict(zip(*(lambda one: (one.names, one.counts))(frequencies(ferbli_ranking())), strict=True))
    assert found["four of a kind"] == 8
    assert found["banda"] == 4 * comb(8, 4) == 280
    assert found["three of a kind"] == 8 * 4 * 28 == 896
    assert sum(found.values()) == comb(32, 4) == 35_960


def test_a_41_is_an_ace_and_three_cards_of_ten_points_of_its_suit() -> None:
    for pack in (TELL32, FRENCH32):
        assert frequencies(faerbeln_ranking(pack)).watched == {"41 in one suit": 4 * comb(4, 3)}


def test_pairs_sum_to_all_pairs_and_are_alike_both_ways() -> None:
    found = frequencies(ferbli_ranking())
    assert sum(map(sum, found.pairs)) == found.total_pairs == comb(32, 4) * comb(28, 4)
    for one, row in enumerate(found.pairs):
        assert sum(row) == found.counts[one] * comb(28, 4)
        assert [found.pairs[other][one] for other in range(len(row))] == list(row)


def test_pairs_of_some_hands_counted_one_by_one() -> None:
    """Of the quartets: each of the 8, beside every hand of the other 28 cards."""
    ranking = faerbeln_ranking()
    quartet = ranking.names.index("quartet")
    counted = [0] * len(ranking.names)
    rank = Random(1).choice(TELL32.ranks)
    rest = [card for card in TELL32.cards if card[0] != rank]
    for hand in combinations(rest, 4):
        counted[ranking.find(hand)[0] // 100] += 1
    # The points of ranks differ, the number of quartets that are left does not.
    assert counted[quartet] == 7
    assert frequencies(ranking).pairs[quartet][quartet] == 8 * 7


@pytest.mark.parametrize("game, pack", [("barbu", FRENCH52), ("ferbli", FRENCH32), ("zsiros", TELL32)])
def test_games_that_rank_no_such_hands_have_none(game: str, pack: object) -> None:
    assert frequencies_of(game, pack.cards) is None  # type: ignore[attr-defined]
