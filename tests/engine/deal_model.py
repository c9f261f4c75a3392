"""The deal once more, from the standards and the docstrings of ``engine.deal.shuffle`` and ``engine.deal.opening``,
using nothing of the engine: HMAC from RFC 2104, HMAC-DRBG from SP 800-90A (10.1.2), trees and paths from RFC 6962
(2.1) by their recursive definitions.

``python -m tests.engine.deal_model`` writes the published vectors, ``tests/engine/golden/deal_vectors.json``, again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path

VECTORS = Path(__file__).parent / "golden" / "deal_vectors.json"
ALGORITHM = b"hmac-drbg-sha256/fisher-yates-u32"
TELL32 = [rank + suit for suit, rank in product("albh", "AKOUX987")]
FRENCH32 = [rank + suit for suit, rank in product("cdhs", "AKQJT987")]


def sha256(data: bytes) -> bytes:
    """SHA-256."""
    return hashlib.sha256(data).digest()


def mac(key: bytes, data: bytes) -> bytes:
    """RFC 2104 with SHA-256, whose blocks have 64 bytes."""
    key = (sha256(key) if len(key) > 64 else key).ljust(64, b"\x00")
    inner = sha256(bytes(byte ^ 0x36 for byte in key) + data)
    return sha256(bytes(byte ^ 0x5C for byte in key) + inner)


class Drbg:
    """SP 800-90A, 10.1.2: HMAC_DRBG_Instantiate, _Update and _Generate by their steps, without reseeding."""

    def __init__(self, entropy_input: bytes, nonce: bytes, personalization_string: bytes) -> None:
        self.key, self.v = b"\x00" * 32, b"\x01" * 32
        self.update(entropy_input + nonce + personalization_string)

    def update(self, provided_data: bytes) -> None:
        """10.1.2.2."""
        self.key = mac(self.key, self.v + b"\x00" + provided_data)
        self.v = mac(self.key, self.v)
        if provided_data == b"":
            return
        self.key = mac(self.key, self.v + b"\x01" + provided_data)
        self.v = mac(self.key, self.v)

    def generate(self, number_of_bytes: int) -> bytes:
        """10.1.2.5."""
        temp = b""
        while len(temp) < number_of_bytes:
            self.v = mac(self.key, self.v)
            temp += self.v
        self.update(b"")
        return temp[:number_of_bytes]


def parts(*items: bytes) -> bytes:
    """Each item after its length."""
    return b"".join(len(item).to_bytes(4, "big") + item for item in items)


def four(number: int) -> bytes:
    """Big-endian."""
    return number.to_bytes(4, "big")


def commitment(seed: bytes, hand: str) -> str:
    """What is shown before client seeds are taken."""
    return sha256(parts(b"commit-v1", ALGORITHM, hand.encode(), seed)).hex()


def shuffled(cards: Sequence[str], seed: bytes, hand: str, client_seeds: dict[int, str], redeal: int) -> list[str]:
    """The cards as dealt; ``redeal`` is 0 for the deck."""
    purpose = [b"redeal-v1", ALGORITHM, four(redeal)] if redeal else [b"deck-v1", ALGORITHM]
    said = [item for chair, text in sorted(client_seeds.items()) for item in (bytes([chair]), text.encode())]
    source = Drbg(seed, hand.encode(), parts(*purpose, *said))
    deck, words = list(cards), []
    for last in range(len(deck) - 1, 0, -1):
        choices = last + 1
        while True:
            if not words:
                block = source.generate(128)
                words = [int.from_bytes(block[at : at + 4], "big") for at in range(0, 128, 4)]
            word = words.pop(0)
            if word < 2**32 - 2**32 % choices:
                break
        pick = word % choices
        deck[last], deck[pick] = deck[pick], deck[last]
    return deck


def salt(seed: bytes, hand: str, pack: int, place: int) -> bytes:
    """The salt of one card."""
    return mac(mac(seed, parts(b"salt-v1", ALGORITHM, hand.encode(), four(pack))), four(place))


def leaves(cards: Sequence[str], seed: bytes, hand: str, pack: int) -> list[bytes]:
    """Each card's leaf, not hashed yet."""
    return [
        parts(b"card-v1", ALGORITHM, hand.encode(), four(pack), four(at), card.encode(), salt(seed, hand, pack, at))
        for at, card in enumerate(cards)
    ]


def split(count: int) -> int:
    """The largest power of two below ``count``."""
    power = 1
    while power * 2 < count:
        power *= 2
    return power


def tree_hash(entries: Sequence[bytes]) -> bytes:
    """MTH of RFC 6962, 2.1."""
    if len(entries) == 1:
        return sha256(b"\x00" + entries[0])
    at = split(len(entries))
    return sha256(b"\x01" + tree_hash(entries[:at]) + tree_hash(entries[at:]))


def path(place: int, entries: Sequence[bytes]) -> list[bytes]:
    """PATH of RFC 6962, 2.1.1."""
    if len(entries) == 1:
        return []
    at = split(len(entries))
    if place < at:
        return [*path(place, entries[:at]), tree_hash(entries[at:])]
    return [*path(place - at, entries[at:]), tree_hash(entries[:at])]


def opening(cards: Sequence[str], seed: bytes, hand: str, pack: int, place: int) -> dict[str, object]:
    """What opens one card."""
    return {
        "pack": pack,
        "position": place,
        "size": len(cards),
        "card": cards[place],
        "salt": salt(seed, hand, pack, place).hex(),
        "path": [node.hex() for node in path(place, leaves(cards, seed, hand, pack))],
    }


SEEDS = (bytes(range(32)), bytes(32), b"\xff" * 32, sha256(b"cukassza"))
CLIENT_SEEDS: tuple[dict[int, str], ...] = (
    {},
    {1: "bob", 3: "alice"},
    {2: "~" * 64, 10: "!", 99: "a,b{c}"},
)


def vector(seed: bytes, hand: str, game: str, client_seeds: dict[int, str]) -> dict[str, object]:
    """One deal with two redeals, each of the pack without four cards, everything that comes of it, two openings."""
    pack = FRENCH32 if game == "faerbeln" else TELL32
    packs = [shuffled(pack, seed, hand, client_seeds, 0)]
    rest = [card for card in pack if card not in packs[0][:4]]
    packs += [shuffled(rest, seed, hand, client_seeds, number) for number in (1, 2)]
    return {
        "hand": hand,
        "game": game,
        "pack": "".join(pack),
        "seed": seed.hex(),
        "client_seeds": {str(chair): text for chair, text in client_seeds.items()},
        "commit": commitment(seed, hand),
        "decks": ["".join(cards) for cards in packs],
        "salts": [[salt(seed, hand, number, at).hex() for at in (0, 27)] for number in range(3)],
        "cards_roots": [tree_hash(leaves(cards, seed, hand, n)).hex() for n, cards in enumerate(packs)],
        "openings": [opening(packs[0], seed, hand, 0, 5), opening(packs[2], seed, hand, 2, 27)],
    }


def vectors() -> dict[str, object]:
    """Everything that is published."""
    hands = ("hand-0001", "T1-000124", "T1-000124x2")
    found = [
        vector(seed, hands[at % 3], game, said)
        for at, (seed, (game, said)) in enumerate(product(SEEDS, product(("ferbli", "faerbeln"), CLIENT_SEEDS)))
    ]
    about = "Deals of Cukassza: engine/deal/shuffle.py and engine/deal/opening.py say how they are made."
    return {"about": about, "algorithm": ALGORITHM.decode(), "vectors": found}


if __name__ == "__main__":
    VECTORS.write_text(json.dumps(vectors(), indent=1) + "\n")
