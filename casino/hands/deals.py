"""Electronic deals: a secret seed, committed to before the deal and kept sealed in the hand's row.

Commitment, generator and shuffle are `engine.shuffle`'s. The row holds the seed only under AES-GCM, bound to its hand;
whoever can read the database but not the seal key learns no card from it.
"""

import secrets

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings

from casino.hands.models import Hand, Mode
from engine.game import Shuffle, rules_version
from engine.shuffle import SEED_BYTES, commitment, reshuffled, shuffled_deck

_NONCE = 12


def commit(hand: Hand) -> None:
    """Draw a hand's seed, seal it into the row and set its commitment; the caller saves both before any card falls."""
    seed = secrets.token_bytes(SEED_BYTES)
    nonce = secrets.token_bytes(_NONCE)
    hand.sealed_seed = nonce + _cipher().encrypt(nonce, seed, _context(hand))
    hand.commitment = commitment(seed, hand.name)


def open_seed(hand: Hand) -> bytes:
    """The seed of a hand. Raises cryptography's InvalidTag when row or key is not the right one."""
    sealed = bytes(hand.sealed_seed)
    return _cipher().decrypt(sealed[:_NONCE], sealed[_NONCE:], _context(hand))


def deck(hand: Hand) -> tuple[str, ...] | None:
    """The hand's deck, top first; None in physical mode, where the pack is in the dealer's hands."""
    if hand.mode == Mode.PHYSICAL:
        return None
    return shuffled_deck(rules_version(hand.rules).pack_for(hand.options), open_seed(hand), hand.name, {})


def shuffle(hand: Hand) -> Shuffle | None:
    """Shuffles the hand's redeals from its seed; None in physical mode, where the dealer shuffles.

    The seed is opened when a redeal is wanted, which is rare; the same seed always gives the same packs.
    """
    if hand.mode == Mode.PHYSICAL:
        return None
    return lambda cards, number: reshuffled(cards, open_seed(hand), hand.name, {}, number)


def _cipher() -> AESGCM:
    return AESGCM(bytes.fromhex(settings.CASINO_SEAL_KEY))


def _context(hand: Hand) -> bytes:
    return f"{hand.house_id}/{hand.name}".encode()
