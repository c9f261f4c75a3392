"""Players, Cards and Ranking of Hands: golden numbers and the text's own examples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import combinations, pairwise

import pytest

from engine.errors import CardAlreadyDealt, CardNotInPack, CardUnknown, UnknownGame, WrongCount
from engine.kernel.cards import FRENCH32, TELL32, split_cards
from engine.vying.ranking import Rank, faerbeln_key, ferbli_ranking, is_forty_one, ranking_of

ALL_HANDS = list(combinations(TELL32.cards, 4))
rank_ferbli, ferbli_key = ferbli_ranking().rank, ferbli_ranking().key


def rank_hand(game: str, cards: Sequence[str]) -> Rank:
    """By the plain rules of the game, for the pack that the cards are of."""
    return ranking_of(game, cards).rank(cards)


rank_faerbeln = partial(rank_hand, "faerbeln")


def test_ferbli_has_44_classes_in_seven_categories():
    ranks = [rank_ferbli(hand) for hand in ALL_HANDS]
    assert len(ranks) == 35_960
    assert len({rank.key for rank in ranks}) == 44
    assert Counter(rank.category for rank in ranks) == {
        "four of a kind": 8,
        "banda": 280,
        "three of a kind": 896,
        "three-card ferbli": 5376,
        "two aces": 2016,
        "two-card ferbli": 23_814,
        "one of each suit": 3570,
    }


def test_faerbeln_has_43_classes():
    ranks = [rank_faerbeln(hand) for hand in ALL_HANDS]
    assert len({rank.key for rank in ranks}) == 43
    assert sum(rank.category == "four-card flush" and rank.points == 41 for rank in ranks) == 16
    lonely = [hand for hand in ALL_HANDS if all(len({card[at] for card in hand}) == 4 for at in (0, 1))]
    assert len(lonely) == 1680
    assert {rank_faerbeln(hand).points for hand in lonely} == {10, 11}


def test_the_table_says_what_the_rules_say():
    for hand in ALL_HANDS[::7]:
        assert ferbli_key(hand) == rank_ferbli(hand).key
        assert faerbeln_key(hand, TELL32) == rank_faerbeln(hand).key


def test_faerbelns_table_serves_the_piquet_pack_too():
    french = list(combinations(FRENCH32.cards, 4))
    for hand in french[::7]:
        assert faerbeln_key(hand, FRENCH32) == rank_faerbeln(hand).key
    assert sum(is_forty_one(faerbeln_key(hand, FRENCH32)) for hand in french) == 16


FAERBELN_FALLING = [
    "AaAlAbAh", "KaKlKbKh", "OaOlObOh", "UaUlUbUh", "XaXlXbXh", "7a7l7b7h",
    "AaKaOaUa", "AaKaOa9a", "Xh9h8h7h", "AaAlAb7h", "KaKlKb7h", "XaXlXb7h", "7a7l7bAh",
    "AaKaOa7l", "9a8a7aAl", "AaAl8b7h", "AaKa9b7h", "KaKl8b7h", "9a9l8b7h", "8a8l7b7h", "8a7aXlKb", "AaKlOb9h",
    "KaOlUb7h", "Xa9l8b7h",
]  # fmt: skip


def test_hands_of_faerbeln_from_the_highest_to_the_lowest():
    """Card combinations: quartet, four of a suit, prial, three of a suit, points; the rest by its highest card."""
    keys = [rank_faerbeln(split_cards(hand)).key for hand in FAERBELN_FALLING]
    for at, (higher, lower) in enumerate(pairwise(keys)):
        equal = FAERBELN_FALLING[at] in ("KaOlUb7h",)  # king or ten high: ten points either way
        assert higher == lower if equal else higher > lower, FAERBELN_FALLING[at : at + 2]


def test_the_fourth_card_does_not_count():
    """Card combinations: of three cards of one suit only those three count."""
    assert rank_faerbeln(split_cards("AaKaOa7l")).key == rank_faerbeln(split_cards("AbXbUbAh")).key


def test_two_pairs_are_not_added_up():
    """Card combinations: cards of the same rank, or of the same suit; the better one counts."""
    assert rank_faerbeln(split_cards("9a9l8b8h")).points == 18
    assert rank_faerbeln(split_cards("AaAl9a9l")).points == 22


FALLING = [
    "AaAlAbAh", "KaKlKbKh", "OaOlObOh", "UaUlUbUh", "XaXlXbXh", "9a9l9b9h", "8a8l8b8h", "7a7l7b7h",
    "AaKaOaUa", "AaKaOa9a", "Xa9a8a7a", "AaAlAb7h", "KaKlKb7h", "OaOlOb7h", "7a7l7bAh",
    "AaKaOa7l", "9a8a7aAl", "AaAl8b7h", "AaKa9b7h", "8a7aXlKb", "AaKlOb7h",
    "KaOlUb7h", "8a8l7b7h",
]  # fmt: skip


def test_hands_from_the_highest_to_the_lowest():
    keys = [rank_ferbli(split_cards(hand)).key for hand in FALLING]
    assert all(higher > lower for higher, lower in pairwise(keys)), keys


@pytest.mark.parametrize(("hand", "category", "points"), [
    ("AaKaOaXa", "banda", 41),
    ("Xh9h8h7h", "banda", 34),
    ("AhKhOh7b", "three-card ferbli", 31),
    ("9h8h7hAb", "three-card ferbli", 24),
    ("AaKa7l8l", "two-card ferbli", 21),
    ("8a7aXlKb", "two-card ferbli", 15),
    ("8a8l7b7h", "one of each suit", 8),
    ("AaAl8l7b", "two aces", 22),
    ("AaAlKlKa", "two aces", 22),
])  # fmt: skip
def test_categories_and_points(hand: str, category: str, points: int):
    rank = rank_ferbli(split_cards(hand))
    assert (rank.category, rank.points) == (category, points)


def test_cards_outside_the_combination_are_ignored():
    """The text: ace-ace-8-7 and ace-ace-king-king in mixed suits are equal."""
    assert rank_ferbli(split_cards("AaAl8b7h")).key == rank_ferbli(split_cards("AbAhKaKl")).key
    assert rank_ferbli(split_cards("AaKaOa7l")).key == rank_ferbli(split_cards("AlUlXl9h")).key


def test_kings_overs_unders_and_tens_differ_in_three_and_four_of_a_kind_only():
    assert rank_ferbli(split_cards("KaKlKb7h")).key > rank_ferbli(split_cards("OaOlOb7h")).key
    assert rank_ferbli(split_cards("KaOa9l7b")).key == rank_ferbli(split_cards("UaXa9l7b")).key


def test_faerbeln_takes_the_better_of_pair_and_suited_cards():
    """Card combinations: A-9-9-8 counts the two hearts (20), not the two nines (18)."""
    assert rank_faerbeln(split_cards("Ah9h9a8l")).points == 20
    assert rank_faerbeln(split_cards("AcKcQcJc")).key == rank_faerbeln(split_cards("AaKaOaUa")).key


@pytest.mark.parametrize(
    ("hand", "error"),
    [
        ("AaAl8b", WrongCount),
        ("AaAlAbAhKa", WrongCount),
        ("AaAl8b??", CardUnknown),
        ("AaAaAlAb", CardAlreadyDealt),
        ("AaAlAbAc", CardNotInPack),
        ("AaAlAbA", CardNotInPack),
    ],
)
def test_what_is_no_hand_is_refused(hand: str, error: type[Exception]):
    with pytest.raises(error):
        rank_hand("ferbli", split_cards(hand))


def test_a_game_without_hands_to_rank_is_refused():
    with pytest.raises(UnknownGame):
        rank_hand("barbu", split_cards("AaAlAbAh"))
