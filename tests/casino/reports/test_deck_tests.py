"""Fair packs give alarms as seldom as is said, unfair ones are found."""

from collections import Counter
from collections.abc import Callable, Iterator
from random import Random

import pytest

from casino.hands.decks import Kinds, kinds
from casino.reports.deck_tests import LEAST_DECKS, Decks, facts
from casino.reports.probability import holm
from engine.deal.shuffle import shuffled_deck
from engine.kernel.cards import TELL32

SIZE = 32
Deck = tuple[int, ...]
NAMES = ["card x position", "runs", "serial correlation", "deal to deal", "kinds of hand", "41 in one suit"]


@pytest.fixture(scope="module")
def ranked() -> Kinds:
    """A game that ranks hands, and pays for one of them."""
    found = kinds("faerbeln", "tell32")
    assert found is not None
    return found


def fair(rng: Random) -> Iterator[Deck]:
    while True:
        yield tuple(rng.sample(range(SIZE), SIZE))


def counted(decks: Iterator[Deck], ranked: Kinds | None, many: int = LEAST_DECKS) -> Decks:
    """So many decks of one table."""
    found, before = Decks(SIZE, ranked), None
    for _ in range(many):
        deck = next(decks)
        found.add(facts(deck, SIZE, ranked).after(before))
        before = deck
    return found


def probabilities(decks: Decks) -> dict[str, float]:
    return {test.name: test.probability for test in decks.tests()}


def test_fair_packs_alarm_as_seldom_as_is_said(ranked: Kinds) -> None:
    """Of 60 fair houses, each test is below 0.2 in 12 on average (the standard deviation is 3.1: at most 24, at least
    2, but for one run in ten thousand), and Holm's rule at 1 % alarms in at most 0.6 (so hardly ever in 4)."""
    low, alarms = Counter[str](), 0
    for seed in range(60):
        found = probabilities(counted(fair(Random(seed)), ranked))
        assert list(found) == NAMES
        low.update(name for name, p in found.items() if p < 0.2)
        alarms += min(holm(list(found.values()))) < 0.01
    assert all(2 <= low[name] <= 24 for name in NAMES), low
    assert alarms < 4


def test_first_cards_of_a_pack_are_judged_as_fairly_as_whole_packs(ranked: Kinds) -> None:
    low = Counter[str]()
    for seed in range(40):
        rng = Random(seed)
        dealt = (tuple(rng.sample(range(SIZE), (8, 12, 16)[at % 3])) for at in range(LEAST_DECKS))
        found = probabilities(counted(dealt, ranked))
        assert list(found) == [name for name in NAMES if name != "deal to deal"]
        low.update(name for name, p in found.items() if p < 0.2)
    assert all(low[name] <= 18 for name in NAMES) and all(low[name] for name in NAMES[:3]), low


def test_the_shuffle_of_the_house_is_fair(ranked: Kinds) -> None:
    order = {card: at for at, card in enumerate(TELL32.cards)}
    decks = (
        tuple(order[card] for card in shuffled_deck(TELL32, bytes(28) + number.to_bytes(4, "big"), f"T1-{number}", {}))
        for number in range(LEAST_DECKS)
    )
    found = probabilities(counted(decks, ranked))
    assert min(holm(list(found.values()))) > 0.01
    again = (
        tuple(order[card] for card in shuffled_deck(TELL32, bytes(28) + number.to_bytes(4, "big"), f"T1-{number}", {}))
        for number in range(LEAST_DECKS)
    )
    assert probabilities(counted(again, ranked)) == found


def _off_by_one(rng: Random) -> Iterator[Deck]:
    """The well-known mistake: every place is swapped with any place, not with those that are left."""
    while True:
        deck = list(range(SIZE))
        for at in range(SIZE):
            other = rng.randrange(SIZE)
            deck[at], deck[other] = deck[other], deck[at]
        yield tuple(deck)


def _two_riffles(rng: Random) -> Iterator[Deck]:
    """A dealer who riffles the cards of the last deal twice."""
    deck = rng.sample(range(SIZE), SIZE)
    while True:
        for _ in range(2):
            cut = sum(rng.random() < 0.5 for _ in range(SIZE))
            left, right, deck = deck[:cut], deck[cut:], []
            while left or right:
                from_left = rng.random() < len(left) / (len(left) + len(right))
                deck.append(left.pop(0) if from_left else right.pop(0))
        yield tuple(deck)


def _clumped(rng: Random) -> Iterator[Deck]:
    """Suits stay together: the cards of two decks in three are left as they were picked up, half by half."""
    while True:
        deck = rng.sample(range(SIZE), SIZE)
        if rng.random() < 0.1:
            deck.sort(key=lambda card: card < SIZE // 2)
        yield tuple(deck)


def _ace_on_top(rng: Random) -> Iterator[Deck]:
    """One card lies on top in one deck of sixteen more than it should."""
    while True:
        deck = rng.sample(range(SIZE), SIZE)
        if rng.random() < 1 / 16:
            at = deck.index(0)
            deck[0], deck[at] = deck[at], deck[0]
        yield tuple(deck)


def _too_many_41s(rng: Random) -> Iterator[Deck]:
    """A hand of 41 points is dealt on top in one deck of a hundred."""
    while True:
        deck = rng.sample(range(SIZE), SIZE)
        if rng.random() < 0.01:
            suit = 8 * rng.randrange(4)
            hand = [suit, suit + 1, suit + 2, suit + 3]
            deck = hand + [card for card in deck if card not in hand]
        yield tuple(deck)


def _flushes(rng: Random) -> Iterator[Deck]:
    """Four cards of one suit lie on top in one deck of twenty more than they should."""
    while True:
        deck = rng.sample(range(SIZE), SIZE)
        if rng.random() < 0.05:
            suit = 8 * rng.randrange(4)
            hand = [suit + card for card in rng.sample(range(8), 4)]
            deck = list(dict.fromkeys([*hand, *deck]))
        yield tuple(deck)


@pytest.mark.parametrize(
    "unfair, by",
    [
        (_off_by_one, "card x position"), (_two_riffles, "deal to deal"), (_clumped, "runs"),
        (_clumped, "serial correlation"), (_ace_on_top, "card x position"), (_too_many_41s, "41 in one suit"),
        (_flushes, "kinds of hand"),
    ],
)  # fmt: skip
def test_an_unfair_pack_is_found(unfair: Callable[[Random], Iterator[Deck]], by: str, ranked: Kinds) -> None:
    found = probabilities(counted(unfair(Random(5)), ranked, 3_000))
    adjusted = dict(zip(found, holm(list(found.values())), strict=True))
    assert adjusted[by] < 0.01, found


def test_too_few_decks_say_nothing(ranked: Kinds) -> None:
    found = counted(fair(Random(1)), ranked, LEAST_DECKS - 1)
    assert not found.enough and list(found.tests()) == []
