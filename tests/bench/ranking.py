"""Ranking of hands, in plain Python and with NumPy, each against a named reference in the same process."""

import random
from collections.abc import Callable

from engine.kernel.cards import TELL32
from engine.vying.ranking import card_numbers, ferbli_ranking
from tests.bench.alternate import Comparison, compare

HANDS = 200_000
ARRAY = 4_000_000


def bench_ranking() -> Comparison:
    """Keys of hands given as card strings, against PokerKit's look-up of as many five-card hands of ready cards."""
    ranking = ferbli_ranking(["Oa"], "general")
    hands = _hands(HANDS)

    def ours() -> int:
        return len(ranking.keys_of(hands))

    return compare("ranking, hands of card strings", "hands", ours, "PokerKit's look-up", _pokerkit())


def bench_ranking_numbers() -> Comparison:
    """Keys of hands given as bytes, against the same look-up."""
    ranking = ferbli_ranking(["Oa"], "general")
    numbers = card_numbers(_hands(HANDS))

    def ours() -> int:
        return len(ranking.keys_of_numbers(numbers))

    return compare("ranking, hands of four bytes", "hands", ours, "PokerKit's look-up", _pokerkit())


def bench_ranking_batch() -> Comparison:
    """Checked keys of an array of hands, against one bare NumPy look-up a hand in a table of the same size."""
    import numpy as np

    from engine.vying.batch import card_array, keys_batch

    ranking = ferbli_ranking(["Oa"], "general")
    hands = np.tile(card_array(_hands(HANDS)), (ARRAY // HANDS, 1))
    table = np.zeros(1 << 20, dtype=np.uint16)
    places = (hands.astype(np.intp) * (1 << np.arange(0, 20, 5))).sum(axis=1)

    def ours() -> int:
        return len(keys_batch(ranking, hands))

    def bare() -> int:
        return len(table[places])

    return compare("ranking, array of hands", "hands", ours, "a bare NumPy look-up", bare)


def _hands(count: int) -> list[tuple[str, ...]]:
    """Different from each other by chance, the same ones in every run."""
    chance = random.Random("ranking")
    return [tuple(chance.sample(TELL32.cards, 4)) for _ in range(count)]


def _pokerkit() -> Callable[[], int]:
    """PokerKit ranks no hand of four cards, so hands of five of its own cards, made before the clock starts."""
    from pokerkit import Card, Deck, StandardHighHand

    chance = random.Random("reference")
    cards: tuple[Card, ...] = Deck.STANDARD.value
    hands = [tuple(chance.sample(cards, 5)) for _ in range(HANDS // 100)]
    find = StandardHighHand.lookup.get_entry

    def look_up() -> int:
        for hand in hands:
            _ = find(hand).index
        return len(hands)

    return look_up
