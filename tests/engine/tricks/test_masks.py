"""Sets of cards as whole numbers, and deals of unknown cards that are possible."""

from __future__ import annotations

from itertools import combinations
from random import Random

from engine.kernel.cards import FRENCH52, TELL32
from engine.tricks.duties import before
from engine.tricks.masks import can_be_dealt, masks_of


def test_masks_of_a_pack():
    for pack in (FRENCH52, TELL32):
        tables = masks_of(pack)
        assert tables.cards(tables.every) == pack.cards
        assert tables.mask(["??", "??"]) == 0
        for card in pack.cards:
            assert tables.cards(tables.bits[card]) == (card,)
            assert set(tables.cards(tables.suit_of[card])) == {each for each in pack.cards if each[1] == card[1]}
            assert set(tables.cards(tables.ranks[card[0]])) == {each for each in pack.cards if each[0] == card[0]}
            above = pack.ranks[: pack.ranks.index(card[0])]
            assert tables.cards(tables.higher[card]) == tuple(rank + card[1] for rank in above)


def test_what_a_hand_must_be_without_to_play_a_card():
    assert before((), 1) == 0
    assert before((0b1100, 0b0010), 0b0100) == 0
    assert before((0b1100, 0b0010), 0b0010) == 0b1100
    assert before((0b1100, 0b0010), 0b0001) == 0b1110


def dealt(counts: tuple[int, ...], free: int, lacks: tuple[int, ...]) -> bool:
    """Whether the cards can be dealt, by trying all deals."""
    if not counts:
        return True
    cards = [1 << at for at in range(8) if free >> at & 1 and not lacks[0] >> at & 1]
    return any(dealt(counts[1:], free & ~sum(some), lacks[1:]) for some in combinations(cards, counts[0]))


def test_unknown_cards_can_be_dealt_or_not():
    answers = set()
    for seed in range(2_000):
        random = Random(seed)
        free = random.getrandbits(8)
        counts = tuple(random.randint(0, 3) for _ in range(3))
        lacks = tuple(random.getrandbits(8) & random.getrandbits(8) for _ in range(3))
        wanted = dealt(counts, free, lacks)
        assert can_be_dealt(counts, free, lacks) == wanted
        answers.add(wanted)
    assert answers == {True, False}
