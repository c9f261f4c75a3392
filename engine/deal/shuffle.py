"""The deal: a committed seed, an HMAC-DRBG, and a Fisher-Yates shuffle that anyone can repeat.

Encoding
    ``encode(a, b, ...)`` writes each part as its length, 4 bytes big-endian, and its bytes. Texts are UTF-8.
Commitment
    ``SHA-256(encode("commit-v1", ALGORITHM, hand id, seed))``, recorded before any client seed is taken.
Client seeds
    After the commitment and before the deal each chair of the table may add a text of 1 to 64 visible ASCII characters.
    A device commits first, ``SHA-256(encode("client-commit-v1", ALGORITHM, hand id, chair, client seed))``, and reveals
    its text when no chair can commit any more: nobody chooses a text knowing those of all others.
    They go by the number of the chair at the table, dealt in or not: a seat that sits out has a say too.
Generator
    HMAC-DRBG with SHA-256 (NIST SP 800-90A, section 10.1.2), entropy input = the 32 bytes of the seed, nonce
    = the hand id, personalization string = ``encode("deck-v1", ALGORITHM, chair, client seed, chair, client
    seed, ...)`` by rising chair, a chair being one byte.
Shuffle
    The pack in its printed order, then for i from the last place down to 1: draw j from 0..i and swap. A draw
    takes big-endian 32-bit words from requests of 128 bytes; a word x >= 2**32 - 2**32 % m is thrown away,
    else j = x % m.
Redeal
    Within one hand the remaining cards, in the pack's printed order, are shuffled again with ``encode("redeal-v1",
    ALGORITHM, number, chair, client seed, ...)`` as personalization string, the number (1, 2, ...) being 4 bytes
    big-endian.
Shuffle of a hand
    A seat's hand that is fanned again is shuffled like the cards of a redeal; the number counts these shuffles.

>>> commitment(bytes(range(32)), "hand-0001")
'bf948e9034ab8f27d56320f90c4d6ce225db755778ea1a94527505726f8e6ec6'
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterator, Mapping, Sequence

from engine.errors import MalformedSetup
from engine.kernel.cards import Pack

ALGORITHM = "hmac-drbg-sha256/fisher-yates-u32"
"""Names everything this module's docstring fixes; a change of any of it needs another name."""

SEED_BYTES = 32
CLIENT_SEED = re.compile(r"[!-~]{1,64}")
"""What a player may add to the seed, as a whole."""
MAX_CHAIR = 255
_REQUEST = 128
_WORDS = 1 << 32


class HmacDrbg:
    """HMAC-DRBG over SHA-256 without reseeding or additional input; one instance serves one deal."""

    __slots__ = ("_key", "_value")

    def __init__(self, entropy: bytes, nonce: bytes, personalization: bytes = b"") -> None:
        self._key = bytes(32)
        self._value = b"\x01" * 32
        self._update(entropy + nonce + personalization)

    def _update(self, data: bytes) -> None:
        for separator in (b"\x00", b"\x01"):
            self._key = _hmac(self._key, self._value + separator + data)
            self._value = _hmac(self._key, self._value)
            if not data:
                return

    def generate(self, size: int) -> bytes:
        """The next ``size`` bytes, at most 65,536 a request (SP 800-90A, table 2)."""
        if not 0 <= size <= 1 << 16:
            raise ValueError(f"a request is for 0 to 65536 bytes, not {size}")
        out = b""
        while len(out) < size:
            self._value = _hmac(self._key, self._value)
            out += self._value
        self._update(b"")
        return out[:size]


def _hmac(key: bytes, data: bytes) -> bytes:
    return hmac.digest(key, data, "sha256")


def encode(*parts: str | bytes) -> bytes:
    """Length-prefixed concatenation: no two different lists of parts give the same bytes."""
    raw = [part.encode() if isinstance(part, str) else part for part in parts]
    return b"".join(len(part).to_bytes(4, "big") + part for part in raw)


def commitment(seed: bytes, hand_id: str) -> str:
    """The hex commitment to ``seed`` (32 bytes) for one hand."""
    _require_seed(seed)
    return hashlib.sha256(encode("commit-v1", ALGORITHM, hand_id, seed)).hexdigest()


def client_commitment(hand_id: str, chair: int, client_seed: str) -> str:
    """The hex commitment of a chair (1..255) to its client seed; it hides a text that cannot be guessed."""
    return hashlib.sha256(encode("client-commit-v1", ALGORITHM, hand_id, bytes([chair]), client_seed)).hexdigest()


def shuffled_deck(pack: Pack, seed: bytes, hand_id: str, client_seeds: Mapping[int, str]) -> tuple[str, ...]:
    """All cards of the pack in dealing order, top first; ``client_seeds`` by chair (1..255)."""
    return _shuffled(pack.cards, seed, hand_id, ["deck-v1", ALGORITHM], client_seeds)


def reshuffled(
    cards: Sequence[str], seed: bytes, hand_id: str, client_seeds: Mapping[int, str], number: int
) -> tuple[str, ...]:
    """``cards``, given in the pack's printed order, as dealt in the hand's redeal ``number`` (from 1)."""
    return _shuffled(cards, seed, hand_id, ["redeal-v1", ALGORITHM, number.to_bytes(4, "big")], client_seeds)


def _shuffled(
    cards: Sequence[str], seed: bytes, hand_id: str, purpose: list[str | bytes], client_seeds: Mapping[int, str]
) -> tuple[str, ...]:
    _require_seed(seed)
    parts = list(purpose)
    for chair in sorted(client_seeds):
        parts += [bytes([chair]), client_seeds[chair]]
    words = _words(HmacDrbg(seed, hand_id.encode(), encode(*parts)))
    deck = list(cards)
    for last in range(len(deck) - 1, 0, -1):
        pick = below(last + 1, words)
        deck[last], deck[pick] = deck[pick], deck[last]
    return tuple(deck)


def below(bound: int, words: Iterator[int]) -> int:
    """An unbiased number from 0 to ``bound`` - 1 out of 32-bit words."""
    limit = _WORDS - _WORDS % bound
    for word in words:
        if word < limit:
            return word % bound
    raise ValueError("the words ran out")


def _words(source: HmacDrbg) -> Iterator[int]:
    while True:
        block = source.generate(_REQUEST)
        for at in range(0, _REQUEST, 4):
            yield int.from_bytes(block[at : at + 4], "big")


def _require_seed(seed: bytes) -> None:
    if len(seed) != SEED_BYTES:
        raise MalformedSetup(f"a seed has {SEED_BYTES} bytes, not {len(seed)}", bytes=SEED_BYTES)
