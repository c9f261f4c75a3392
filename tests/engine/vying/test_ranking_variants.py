"""Variations: wild cards and grigáré, against a model that tries everything."""

from __future__ import annotations

import doctest
from collections import Counter, defaultdict
from itertools import combinations, pairwise, permutations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import CardAlreadyDealt, CardNotInPack, CardUnknown, OptionOutOfRange, WrongCount
from engine.kernel.cards import FRENCH32, TELL32, split_cards
from engine.vying import ranking
from engine.vying.ranking import Ranking, faerbeln_ranking, ferbli_ranking
from tests.engine.vying.ranking_model import HANDS, KINDS, PACK, worth

SANTA = ("Oa",)
TENS = ("Xa", "Xl", "Xb", "Xh")
SEVENS = ("7h", "7l", "7a")
WAYS = ("off", "general", "kis_nagy")
NATURAL, SUBSTITUTE = "natural", "substitute"

Case = tuple[tuple[str, ...], str, str]
CASES: list[Case] = [
    ((), "off", NATURAL), ((), "general", NATURAL), ((), "kis_nagy", NATURAL),
    (SANTA, "off", NATURAL), (TENS, "off", NATURAL), ((*TENS, *SANTA), "off", NATURAL), (SEVENS, "off", NATURAL),
    (SEVENS[:2], "off", NATURAL), (SEVENS[:1], "off", NATURAL),
    (SANTA, "general", NATURAL), ((*TENS, *SANTA), "general", NATURAL), ((*TENS, *SANTA), "kis_nagy", NATURAL),
    (SEVENS, "kis_nagy", NATURAL),
    ((), "general", SUBSTITUTE), (SANTA, "off", SUBSTITUTE), (SANTA, "general", SUBSTITUTE),
    ((*TENS, *SANTA), "general", SUBSTITUTE), (SEVENS, "general", SUBSTITUTE), (SANTA, "kis_nagy", SUBSTITUTE),
    ((*TENS, *SANTA), "kis_nagy", SUBSTITUTE),
]  # fmt: skip


def same_order(subject: Ranking, hands: list[tuple[str, ...]]) -> None:
    """Keys order hands as the model does: each worth has one key, and a higher worth a higher one."""
    keys = defaultdict(set)
    for hand, key in zip(hands, subject.keys_of(hands), strict=True):
        keys[worth(hand, subject.wild, subject.grigare, subject.grigare_wild)].add(key)
    assert all(len(found) == 1 for found in keys.values())
    in_order = [found.pop() for _, found in sorted(keys.items())]
    assert all(lower < higher for lower, higher in pairwise(in_order))


@pytest.mark.some_now(28)
@pytest.mark.parametrize(("wild", "grigare", "grigare_wild"), CASES)
def test_every_hand_ranks_as_in_the_model(wild: tuple[str, ...], grigare: str, grigare_wild: str):
    subject = ferbli_ranking(wild, grigare, grigare_wild)
    assert len(HANDS) == 35_960
    same_order(subject, HANDS)
    assert len(subject.names) == len(KINDS[grigare])
    for hand, key in zip(HANDS, subject.keys_of(HANDS), strict=True):
        assert key // 100 == worth(hand, wild, grigare, grigare_wild)[0]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    wild=st.sets(st.sampled_from(PACK), max_size=32),
    grigare=st.sampled_from(WAYS),
    grigare_wild=st.sampled_from([NATURAL, SUBSTITUTE]),
    hands=st.lists(st.lists(st.sampled_from(PACK), min_size=4, max_size=4, unique=True), min_size=2, max_size=20),
)
def test_any_wild_cards_and_any_hands_rank_as_in_the_model(
    wild: set[str], grigare: str, grigare_wild: str, hands: list[list[str]]
):
    subject = ferbli_ranking(wild, grigare, grigare_wild)
    ranked = [subject.rank(hand) for hand in hands]
    worths = [worth(hand, wild, grigare, grigare_wild) for hand in hands]
    for (one, first), (other, second) in combinations(zip(ranked, worths, strict=True), 2):
        assert (one.key > other.key, one.key == other.key) == (first > second, first == second)


@pytest.mark.long
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(wild=st.sets(st.sampled_from(PACK), max_size=32), grigare=st.sampled_from(WAYS))
def test_table_and_rules_agree_for_any_wild_cards(wild: set[str], grigare: str):
    subject = ferbli_ranking(wild, grigare)
    for hand in HANDS[::37]:
        assert subject.key(hand) == subject.rank(hand).key


@pytest.mark.parametrize("subject", [
    ferbli_ranking(), ferbli_ranking(SANTA, "general"), faerbeln_ranking(), faerbeln_ranking(FRENCH32),
])  # fmt: skip
def test_the_order_of_the_cards_is_of_no_account(subject: Ranking):
    for hand in list(combinations(subject.pack.cards, 4))[::53]:
        assert len(set(subject.keys_of(list(permutations(hand))))) == 1


def counted(subject: Ranking) -> dict[str, int]:
    """Hands by kind, over the whole pack."""
    return dict(Counter(subject.names[key // 100] for key in subject.keys.values()))


def test_golden_counts_of_the_variants():
    plain = {
        "four of a kind": 8, "banda": 280, "three of a kind": 896, "three-card ferbli": 5376, "two aces": 2016,
        "two-card ferbli": 23_814, "one of each suit": 3570,
    }  # fmt: skip
    assert counted(ferbli_ranking()) == plain
    # Four suits leave only "one of each suit" (no two aces in a sequence) for the 120 to come from.
    general = plain | {"grigáré": 120, "one of each suit": 3570 - 120}
    assert counted(ferbli_ranking(grigare="general")) == general
    two = plain | {"kis grigáré": 1, "nagy grigáré": 1, "one of each suit": 3570 - 2}
    assert counted(ferbli_ranking(grigare="kis_nagy")) == two
    assert counted(ferbli_ranking(PACK)) == {"four of a kind": 35_960}


FALLING = {
    "santa": [
        "AaAlAbOa", "KlKbKhOa", "7a7l7bOa", "AlKlUlOa", "AaKaUaXa", "AlKlOa7b", "AhKhXh7l", "AhOa7l8b", "AhKhXl7b",
    ],
    "tens": ["XaXlXbXh", "XaXlXb7h", "XaXlAbKb", "XaXlAb7h", "XaXl9b8h", "XaKbOb7h", "XaAb7l8h", "XaKl7b8h"],
}  # fmt: skip


@pytest.mark.parametrize(("wild", "hands"), [(SANTA, FALLING["santa"]), (TENS, FALLING["tens"])])
def test_hands_with_wild_cards_from_the_highest_to_the_lowest(wild: tuple[str, ...], hands: list[str]):
    keys = ferbli_ranking(wild).keys_of([split_cards(hand) for hand in hands])
    assert all(higher > lower for higher, lower in pairwise(keys)), keys


@pytest.mark.parametrize(("wild", "hand", "category", "points"), [
    (SANTA, "AhKhXhOa", "banda", 42),  # the text's own number
    (SANTA, "AaKaXaOa", "banda", 42),  # in its own suit it is worth 11 as well
    (TENS, "KhXhXaXl", "four of a kind", 40),
    (TENS, "KhOhXaXl", "banda", 42),
    (TENS, "AhKhXaXl", "banda", 43),
    (TENS, "XaXlXbXh", "four of a kind", 44),
    ((*TENS, *SANTA), "XaXlXbOa", "four of a kind", 44),
    (SANTA, "AhKhOa7l", "three-card ferbli", 32),
    (SANTA, "AhOa7l8b", "two aces", 22),
    (SANTA, "KhOa7l8b", "two-card ferbli", 21),
    (SANTA, "OaOlOb7h", "three of a kind", 30),
])  # fmt: skip
def test_what_wild_cards_make(wild: tuple[str, ...], hand: str, category: str, points: int):
    rank = ferbli_ranking(wild).rank(split_cards(hand))
    assert (rank.category, rank.points) == (category, points)


def test_a_natural_hand_does_not_beat_one_with_wild_cards():
    santa = ferbli_ranking(SANTA)
    assert santa.key(split_cards("KaKlKb7h")) == santa.key(split_cards("KaKlOa7h"))
    assert santa.key(split_cards("AaAl7b8h")) == santa.key(split_cards("AaOa7b8h"))


def test_grigare_goes_by_its_top_card_and_a_wild_card_is_only_itself_in_it():
    general = ferbli_ranking(SANTA, "general")
    falling = ["AaKlObUh", "KaOlUbXh", "OaUlXb9h", "UaXl9b8h", "XaUl9b8h", "Xa9l8b7h"]
    keys = general.keys_of([split_cards(hand) for hand in falling])
    assert keys == [508, 507, 506, 505, 505, 504]
    assert general.rank(split_cards("AbKlOaUh")).text == "grigáré, ace high"
    assert general.rank(split_cards("AbKlOaXh")).category == "two aces"  # not an under
    assert ferbli_ranking(grigare="general").key(split_cards("AbKlOaUh")) == 508


def test_a_wild_card_stands_in_a_sequence_for_any_needed_card_where_the_table_says_so():
    general = ferbli_ranking(SANTA, "general", SUBSTITUTE)
    hands = [split_cards(hand) for hand in ("AbKlOaUh", "AbKlOaXh", "AbKlOaOh", "XbUlOa9h", "9b8lOa7h", "XbOa8l7h")]
    assert [general.rank(hand).text for hand in hands] == [
        "grigáré, ace high", "two aces", "grigáré, ace high", "grigáré, over high", "grigáré, ten high",
        "grigáré, ten high",
    ]  # fmt: skip
    for hand in ("XbUlOa7h", "XbUbOa9h", "XbXlOa9h", "XbUlOa9l"):  # two missing, a suit twice, a rank twice
        assert general.rank(split_cards(hand)).category != "grigáré"
    assert general.rank(split_cards("XbUlOa9h")).points == 39  # over, under, ten and nine
    assert general.key(split_cards("XbUlOa9h")) == general.key(split_cards("Xb9lOhUa"))  # a natural one is no better
    tens = ferbli_ranking(TENS, "general", SUBSTITUTE)
    assert tens.rank(split_cards("AaKlXbXh")).text == "grigáré, ace high"  # three aces are less
    assert tens.rank(split_cards("AaXlXbXh")).category == "four of a kind"  # and four are more


def test_golden_counts_of_sequences_with_wild_cards():
    """Without a wild card in hand there are as many as ever; natural ones are never fewer."""
    assert counted(ferbli_ranking((), "general", SUBSTITUTE)) == counted(ferbli_ranking((), "general"))
    santa = ferbli_ranking(SANTA, "general", SUBSTITUTE)
    plain = [hand for hand in HANDS if "Oa" not in hand]
    assert sum(santa.names[key // 100] == "grigáré" for key in santa.keys_of(plain)) == 120 - 3 * 6
    two = ferbli_ranking(SANTA, "kis_nagy", SUBSTITUTE)
    assert (counted(two)["kis grigáré"], counted(two)["nagy grigáré"]) == (1 + 4, 1 + 4)


def test_a_wild_card_is_any_needed_card_of_kis_and_nagy_too():
    subject = ferbli_ranking(SANTA, "kis_nagy", SUBSTITUTE)
    kis, nagy, four = subject.keys_of([split_cards(hand) for hand in ("7a8lOaXh", "UaOlKbOa", "AaAlAbAh")])
    assert kis > nagy > four
    assert ferbli_ranking((*TENS, *SANTA), "kis_nagy", SUBSTITUTE).rank(split_cards("XaXlXbOa")).text == "kis grigáré"


def test_only_two_hands_are_kis_and_nagy_grigare():
    subject = ferbli_ranking((*TENS, *SANTA), "kis_nagy")
    kis, nagy, four = subject.keys_of([split_cards(hand) for hand in ("7a8l9bXh", "UaOlKbAh", "AaAlAbAh")])
    assert kis > nagy > four
    assert subject.rank(split_cards("7a8l9bXb")).category != "kis grigáré"


def test_keys_of_plain_ferbli_are_what_they_were():
    """Category times 100 plus strength, as recorded hands and the tests of the game know them."""
    hands = ["AaAlAbAh", "AaKaOaXa", "7a7l7b8h", "9h8h7hAb", "AaAl8b7h", "8a7aXlKb", "8a8l7b7h"]
    assert [ferbli_ranking().key(split_cards(hand)) for hand in hands] == [608, 541, 401, 324, 222, 115, 8]


def test_the_order_of_the_wild_cards_is_of_no_account():
    one = ferbli_ranking(["Oa", *TENS])
    assert one is ferbli_ranking(reversed(one.wild))
    assert one.wild == tuple(card for card in TELL32.cards if card in {"Oa", *TENS})
    assert one is not ferbli_ranking(TENS)


@pytest.mark.parametrize(("wild", "grigare", "error"), [
    (["Oa", "Oa"], "off", CardAlreadyDealt),
    (["Qc"], "off", CardNotInPack),
    (["Oc"], "off", CardNotInPack),
    ("Oa", "off", CardNotInPack),  # a text is not a list of cards
    (["??"], "off", CardUnknown),
    ([], "on", OptionOutOfRange),
    ([], "", OptionOutOfRange),
])  # fmt: skip
def test_what_is_no_variant_is_refused(wild: list[str], grigare: str, error: type[Exception]):
    with pytest.raises(error):
        ferbli_ranking(wild, grigare)


def test_a_wild_card_stands_in_a_sequence_in_one_of_two_ways():
    with pytest.raises(OptionOutOfRange):
        ferbli_ranking((), "general", "any")


@pytest.mark.parametrize(("hand", "error"), [
    (("Aa", "Al", "8b"), WrongCount),
    (("Aa", "Al", "8b", "8h", "7h"), WrongCount),
    (("Aa", "Al", "8b", "??"), CardUnknown),
    (("Aa", "Al", "8b", "Aa"), CardAlreadyDealt),
    (("Aa", "Al", "8b", "8c"), CardNotInPack),
])  # fmt: skip
def test_the_table_refuses_what_the_rules_refuse(hand: tuple[str, ...], error: type[Exception]):
    subject = ferbli_ranking(SANTA)
    good = ("Aa", "Al", "8b", "8h")
    for call in (lambda: subject.rank(hand), lambda: subject.key(hand), lambda: subject.keys_of([good, hand])):
        with pytest.raises(error):
            call()


def test_the_example_of_the_docstring_runs():
    result = doctest.testmod(ranking)
    assert result.attempted and not result.failed
