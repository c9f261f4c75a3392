"""Card commitments: each card of a dealt pack is salted and hashed, the hashes are the leaves of one tree, and its root
is published when the pack is dealt. Opening a card shows it, its salt and its path: a viewer of the card can check that
it lay at that place from the start, and learns nothing about any other.

Salt
    ``HMAC-SHA-256(key, place)`` with ``key = HMAC-SHA-256(seed, encode("salt-v1", ALGORITHM, hand id, pack))``. A
    place counts from 0, the top of the pack; pack 0 is the deck, pack 1 the first redeal of the hand. Numbers are 4
    bytes, big-endian; ``encode`` and ``ALGORITHM`` are those of :mod:`engine.deal.shuffle`. One salt reveals neither
    another one nor the seed.
Leaf
    ``SHA-256(0x00 || encode("card-v1", ALGORITHM, hand id, pack, place, card, salt))``
Root
    the Merkle tree hash of RFC 6962, section 2.1, over the pack's leaves in dealing order, a node being
    ``SHA-256(0x01 || left || right)``; in hex.
Opening
    ``{"pack", "position", "size", "card", "salt", "path"}``: pack and place, how many cards the pack has, salt and path
    in hex, the path from the leaf upwards as in RFC 6962, section 2.1.1.

The tree is built here although the audit log hashes its own in the same way
(``casino/audit/verifier/merkle.py``): the engine takes nothing from the house, and that file must run on its own.

>>> seed, deck = bytes(range(32)), ("Aa", "Ka", "Oa")
>>> root = pack_root(deck, seed, "hand-0001", 0)
>>> king = openings(deck, seed, "hand-0001", 0, [1])[0]
>>> king["position"], king["card"], len(king["path"])
(1, 'Ka', 2)
>>> check_opening(king, "hand-0001", [root])
>>> check_opening(king | {"card": "Aa"}, "hand-0001", [root])
Traceback (most recent call last):
    ...
engine.errors.OpeningMismatch: Aa at place 1 of pack 0 does not lead to the root
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from engine.deal.shuffle import ALGORITHM, encode
from engine.errors import MalformedOpening, OpeningMismatch

_HASH = re.compile(r"[0-9a-f]{64}")
_CARD = re.compile(r"[0-9A-Z][a-z]")
_KEYS = ("pack", "position", "size", "card", "salt", "path")
MAX_CARDS = 255
"""Cards of a pack; more than any pack has."""
MAX_PACKS = 20_000


def pack_root(cards: Sequence[str], seed: bytes, hand_id: str, pack: int) -> str:
    """The hex root over ``cards`` in dealing order; ``pack`` is 0 for the deck, n for the hand's n-th redeal."""
    return _levels(_leaves(cards, _salts(seed, hand_id, pack, len(cards)), hand_id, pack))[-1][0].hex()


def openings(
    cards: Sequence[str], seed: bytes, hand_id: str, pack: int, positions: Iterable[int]
) -> list[dict[str, Any]]:
    """Openings of the cards at these places, as JSON holds them."""
    salts = _salts(seed, hand_id, pack, len(cards))
    levels = _levels(_leaves(cards, salts, hand_id, pack))
    return [
        {
            "pack": pack,
            "position": position,
            "size": len(cards),
            "card": cards[position],
            "salt": salts[position].hex(),
            "path": [node.hex() for node in _path(levels, position)],
        }
        for position in positions
    ]


def check_opening(opening: Mapping[str, Any], hand_id: str, roots: Sequence[str]) -> None:
    """Make sure that an opening leads to the root of its pack; ``roots``: the deck's, then each redeal's.

    Raises :class:`MalformedOpening` for what is no opening, :class:`OpeningMismatch` for one that leads elsewhere.
    """
    _require_form(opening)
    pack, position, size, card = (opening[key] for key in ("pack", "position", "size", "card"))
    if pack >= len(roots):
        raise MalformedOpening(f"there is no root of pack {pack}", packs=len(roots))
    found = leaf(hand_id, pack, position, card, bytes.fromhex(opening["salt"]))
    place, last = position, size - 1
    for step in map(bytes.fromhex, opening["path"]):
        if not last:
            raise OpeningMismatch(f"the path of {card} is too long", size=size)
        if place & 1 or place == last:
            found = _node(step, found)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            found = _node(found, step)
        place, last = place >> 1, last >> 1
    if last or found.hex() != roots[pack]:
        raise OpeningMismatch(f"{card} at place {position} of pack {pack} does not lead to the root", root=roots[pack])


class Document(NamedTuple):
    """Openings with what they are checked against: the hand's id, and the root of each of its packs."""

    hand: str
    roots: list[str]
    openings: list[dict[str, Any]]


def opening_document(fields: Mapping[str, Any]) -> Document:
    """The openings in an answer of the house, whatever else it holds: ``{"hand", "cards_roots", "openings"}``.

    Raises :class:`MalformedOpening`.
    """
    hand, roots, found = (fields.get(key) for key in ("hand", "cards_roots", "openings"))
    if type(hand) is not str:
        raise MalformedOpening("openings belong to a hand, named by its id", keys=["hand", "cards_roots", "openings"])
    if type(roots) is not list or not all(type(root) is str and _HASH.fullmatch(root) for root in roots):
        raise MalformedOpening("cards_roots is a list of 64 lower-case hexadecimal digits each")
    if type(found) is not list or not {dict}.issuperset(map(type, found)):
        raise MalformedOpening("openings is a list of objects")
    return Document(hand, roots, found)


def leaf(hand_id: str, pack: int, position: int, card: str, salt: bytes) -> bytes:
    """Hash of one card at its place."""
    parts = encode("card-v1", ALGORITHM, hand_id, _number(pack), _number(position), card, salt)
    return hashlib.sha256(b"\x00" + parts).digest()


def _leaves(cards: Sequence[str], salts: Sequence[bytes], hand_id: str, pack: int) -> list[bytes]:
    return [leaf(hand_id, pack, at, card, salts[at]) for at, card in enumerate(cards)]


def _salts(seed: bytes, hand_id: str, pack: int, count: int) -> list[bytes]:
    key = hmac.digest(seed, encode("salt-v1", ALGORITHM, hand_id, _number(pack)), "sha256")
    return [hmac.digest(key, _number(position), "sha256") for position in range(count)]


def _number(value: int) -> bytes:
    return value.to_bytes(4, "big")


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


def _levels(leaves: list[bytes]) -> list[list[bytes]]:
    """The tree from its leaves up to its root. A last node without a neighbour goes up as it is, which makes the left
    subtree of every node the largest full one, as RFC 6962 wants it."""
    levels = [leaves]
    while len(levels[-1]) > 1:
        below = levels[-1]
        above = [_node(below[at], below[at + 1]) for at in range(0, len(below) - 1, 2)]
        levels.append(above + below[len(above) * 2 :])
    return levels


def _path(levels: Sequence[Sequence[bytes]], position: int) -> list[bytes]:
    path = []
    for level in levels[:-1]:
        if position ^ 1 < len(level):
            path.append(level[position ^ 1])
        position >>= 1
    return path


def _require_form(opening: Mapping[str, Any]) -> None:
    """Refuse what is no opening, before anything is computed with it."""
    if set(opening) != set(_KEYS):
        raise MalformedOpening(f"an opening has the keys {', '.join(_KEYS)}", keys=list(_KEYS))
    numbers = [opening[key] for key in ("pack", "position", "size")]
    if {type(number) for number in numbers} != {int}:
        raise MalformedOpening("pack, position and size are whole numbers")
    pack, position, size = numbers
    if not (0 <= pack <= MAX_PACKS and 0 <= position < size <= MAX_CARDS):
        raise MalformedOpening("there is no such place", packs=MAX_PACKS, cards=MAX_CARDS)
    card, path = opening["card"], opening["path"]
    if type(card) is not str or not _CARD.fullmatch(card):
        raise MalformedOpening("a card is two characters, rank and suit")
    if type(path) is not list or not all(type(step) is str and _HASH.fullmatch(step) for step in path):
        raise MalformedOpening("a path is a list of 64 lower-case hexadecimal digits each")
    if type(opening["salt"]) is not str or not _HASH.fullmatch(opening["salt"]):
        raise MalformedOpening("a salt has 64 lower-case hexadecimal digits")
