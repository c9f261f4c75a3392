"""Keys of whole arrays of hands, with NumPy (the extra ``batch``): one look-up a hand in a table of 2 MB.

A card is its place in the pack (0 to 31, :func:`card_array`). The table has a place for every four numbers of five
bits, in any order; places that name a card twice hold a mark instead of a key, so checking costs little.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import permutations
from typing import Any

from engine.errors import CardAlreadyDealt, CardNotInPack, WrongCount
from engine.kernel.cards import TELL32, Pack
from engine.vying.ranking import Ranking, card_numbers

try:
    import numpy as np
    from numpy.typing import NDArray
except ImportError as error:
    raise ImportError("arrays of hands need NumPy: install the extra 'batch'") from error

NO_HAND = 0xFFFF
"""Stands in the table where a card is named twice."""

_BLOCK = 1 << 16  # hands at a time: what is computed between stays in the processor's cache


def card_array(hands: Sequence[Sequence[str]], pack: Pack = TELL32) -> NDArray[np.uint8]:
    """Hands of four cards as an array ``(n, 4)`` of places in the pack; a hand that is none is refused."""
    return np.frombuffer(card_numbers(hands, pack), dtype=np.uint8).reshape(-1, 4)


def keys_batch(ranking: Ranking, hands: NDArray[np.uint8], *, checked: bool = True) -> NDArray[np.uint16]:
    """The key of every hand, as :meth:`Ranking.key` gives it. ``hands``: uint8, ``(n, 4)``, numbers of cards.

    A number above 31 or a card that occurs twice is refused. Without ``checked`` nobody looks: such a hand then has
    some wrong key or :data:`NO_HAND`. Fastest for an array whose hands lie one after the other (C order).
    """
    if hands.dtype != np.uint8 or hands.ndim != 2 or hands.shape[1] != 4:
        raise WrongCount("hands are an array of uint8 with four cards a row", dtype="uint8", shape=["n", 4])
    table = _table(ranking)
    words = np.ascontiguousarray(hands).view("<u4").ravel()
    keys = np.empty(len(words), dtype=np.uint16)
    for start in range(0, len(words), _BLOCK):
        block = words[start : start + _BLOCK]
        if checked and np.bitwise_or.reduce(block) & 0xE0E0E0E0:
            raise CardNotInPack("a card's number is its place in the pack", min=0, max=31)
        # The places are below the table's length as they are; "clip" only spares NumPy a second look.
        np.take(table, _places(block), out=keys[start : start + _BLOCK], mode="clip")
    if checked and len(keys) and keys.max() == NO_HAND:
        raise CardAlreadyDealt("a card occurs twice in one hand", hand=int(keys.argmax()))
    return keys


def _places(words: NDArray[Any]) -> NDArray[np.intp]:
    """Four numbers of five bits, one in each byte of a word, moved together to twenty bits."""
    pairs = (words & 0x001F001F) | (words >> 3 & 0x03E003E0)
    return ((pairs & 0x3FF) | (pairs >> 6 & 0xFFC00)).astype(np.intp)


@lru_cache(maxsize=16)
def _table(ranking: Ranking) -> NDArray[np.uint16]:
    """The table of one ranking, read only."""
    table = np.full(1 << 20, NO_HAND, dtype=np.uint16)
    keys = ranking.keys
    held = np.array(list(keys), dtype=np.int64)
    bits = (held[:, None] >> np.arange(32)) & 1
    cards = np.nonzero(bits)[1].reshape(-1, 4)
    for order in permutations(range(4)):
        table[cards[:, order] @ (1 << np.arange(0, 20, 5))] = list(keys.values())
    table.setflags(write=False)
    return table
