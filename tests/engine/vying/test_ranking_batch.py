"""Many hands at once: card strings, bytes and NumPy arrays give what the single look-up gives."""

from __future__ import annotations

import subprocess
import sys
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pytest

from engine.errors import CardAlreadyDealt, CardNotInPack, CardUnknown, WrongCount
from engine.kernel.cards import FRENCH32, TELL32
from engine.vying.batch import NO_HAND, card_array, keys_batch
from engine.vying.ranking import Ranking, card_numbers, faerbeln_ranking, ferbli_ranking

RANKINGS = [
    ferbli_ranking(),
    ferbli_ranking(["Oa"], "general"),
    ferbli_ranking(["Xa", "Xl", "Xb", "Xh", "Oa"], "kis_nagy"),
    faerbeln_ranking(),
    faerbeln_ranking(FRENCH32),
]


@pytest.mark.parametrize("subject", RANKINGS)
def test_every_hand_in_every_order_has_the_key_of_the_single_look_up(subject: Ranking):
    hands = list(combinations(subject.pack.cards, 4))
    keys = [subject.key(hand) for hand in hands]
    assert subject.keys_of(hands) == keys
    numbers = card_array(hands, subject.pack)
    for order in permutations(range(4)):
        turned = numbers[:, order]
        assert keys_batch(subject, turned).tolist() == keys
        assert subject.keys_of_numbers(turned.tobytes()) == keys


def test_unchecked_keys_are_the_same_and_no_hand_is_marked():
    subject = RANKINGS[0]
    numbers = card_array(list(combinations(TELL32.cards, 4)))
    assert (keys_batch(subject, numbers, checked=False) == keys_batch(subject, numbers)).all()
    assert keys_batch(subject, np.array([[1, 2, 3, 1]], dtype=np.uint8), checked=False).tolist() == [NO_HAND]


def test_more_hands_than_one_block():
    subject = RANKINGS[1]
    numbers = np.tile(card_array(list(combinations(TELL32.cards, 4))), (3, 1))
    keys = keys_batch(subject, numbers)
    assert keys.tolist() == 3 * list(subject.keys.values())
    assert (keys_batch(subject, np.asfortranarray(numbers)) == keys).all()


def test_no_hands_have_no_keys():
    assert keys_batch(RANKINGS[0], card_array([])).tolist() == []
    assert RANKINGS[0].keys_of([]) == RANKINGS[0].keys_of_numbers(b"") == []


@pytest.mark.parametrize(("cards", "error"), [
    ([0, 1, 2, 0], CardAlreadyDealt),
    ([0, 0, 2, 3], CardAlreadyDealt),
    ([5, 1, 1, 0], CardAlreadyDealt),
    ([0, 1, 2, 32], CardNotInPack),
    ([255, 1, 2, 3], CardNotInPack),
    ([32, 0, 1, 2], CardNotInPack),
])  # fmt: skip
def test_numbers_that_are_no_hand_are_refused(cards: list[int], error: type[Exception]):
    good = [0, 1, 2, 3]
    array = np.array([good] * 70_000 + [cards] + [good], dtype=np.uint8)
    with pytest.raises(error):
        keys_batch(RANKINGS[0], array)
    with pytest.raises(error):
        RANKINGS[0].keys_of_numbers(bytes(good + cards + good))


@pytest.mark.parametrize("array", [
    np.zeros((3, 5), dtype=np.uint8), np.zeros(4, dtype=np.uint8), np.zeros((2, 4), dtype=np.int64),
])  # fmt: skip
def test_an_array_of_another_shape_or_type_is_refused(array: np.ndarray):
    with pytest.raises(WrongCount):
        keys_batch(RANKINGS[0], array)


def test_bytes_that_are_no_whole_hands_are_refused():
    with pytest.raises(WrongCount):
        RANKINGS[0].keys_of_numbers(b"\0\1\2\3\4")


@pytest.mark.parametrize(("hand", "error"), [
    (("Aa", "Al", "Ab"), WrongCount),
    (("Aa", "Al", "Ab", "Aa"), CardAlreadyDealt),
    (("Aa", "Al", "Ab", "??"), CardUnknown),
    (("Aa", "Al", "Ab", "Ac"), CardNotInPack),
])  # fmt: skip
def test_cards_that_are_no_hand_have_no_numbers(hand: tuple[str, ...], error: type[Exception]):
    with pytest.raises(error):
        card_numbers([hand])


def test_without_numpy_the_engine_ranks_and_says_what_is_missing():
    script = (
        "import sys; sys.modules['numpy'] = None\n"
        "import engine.vying.ranking as ranking, engine.vying.ferbli\n"
        "assert ranking.ferbli_ranking().key(('Aa', 'Al', 'Ab', 'Ah')) == 608\n"
        "import engine.vying.batch\n"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "ImportError: arrays of hands need NumPy: install the extra 'batch'" in done.stderr
