"""Cards and packs.

A card is two ASCII characters, rank then suit (``Kl`` is the king of leaves); ``??`` is a card that is not
known. Plain strings keep records, logs and hands one notation, and interning makes comparing them cheap.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from operator import add
from typing import Any

from engine.errors import CardNotInPack

UNKNOWN = "??"
"""A card in play that the writer of the line does not know."""


@dataclass(frozen=True, slots=True)
class Pack:
    """A pack: ranks from high to low, suits in the order used to lay the pack out."""

    name: str
    ranks: str
    suits: str
    cards: tuple[str, ...] = field(init=False)
    members: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        cards = tuple(rank + suit for suit in self.suits for rank in self.ranks)
        object.__setattr__(self, "cards", cards)
        object.__setattr__(self, "members", frozenset(cards))

    def __reduce__(self) -> tuple[Any, ...]:
        # A pickled hand names its pack in three words, and all hands of a process share the packs.
        return _pack, (self.name, self.ranks, self.suits)


@cache
def _pack(name: str, ranks: str, suits: str) -> Pack:
    return Pack(name, ranks, suits)


TELL32 = Pack("tell32", "AKOUX987", "albh")
"""William Tell pattern, 32 cards: acorns, leaves, bells, hearts (Ferbli, "Players, Cards and Ranking of
Hands")."""

FRENCH32 = Pack("french32", "AKQJT987", "cdhs")
"""Piquet pack of 32 cards (Färbeln, infobox: Tell or Piquet pack)."""

FRENCH52 = Pack("french52", "AKQJT98765432", "cdhs")
"""Full French pack."""

PACKS = {pack.name: pack for pack in (TELL32, FRENCH32, FRENCH52)}


def split_cards(text: str) -> tuple[str, ...]:
    """Cut ``"Kl8b"`` into ``("Kl", "8b")``; an odd length raises :class:`CardNotInPack`."""
    if len(text) % 2:
        raise CardNotInPack(f"{text!r} is not a row of two-character cards")
    return tuple(map(add, text[::2], text[1::2]))


def require_in_pack(cards: Iterable[str], pack: Pack) -> None:
    """Raise :class:`CardNotInPack` for the first card that is neither in the pack nor ``??``."""
    for card in cards:
        if card not in pack.members and card != UNKNOWN:
            raise CardNotInPack(f"{card!r} is not a card of the pack", pack=pack.name, card=card)


def require_full_deck(cards: Sequence[str], pack: Pack) -> None:
    """Raise :class:`CardNotInPack` unless the cards are the whole pack, each card once."""
    if len(cards) == len(pack.cards) and pack.members == set(cards):
        return
    strangers = [card for card in cards if card not in pack.members]
    missing = sorted(pack.members - set(cards))
    raise CardNotInPack(
        "the deck is not the whole pack, each card once", pack=pack.name, strangers=strangers, missing=missing
    )
