"""Electronic deals: a secret seed, committed to before the deal and kept sealed in the rows of deal and hand.

Commitment, generator and shuffle are `engine.deal.shuffle`'s, card commitments `engine.deal.opening`'s. A row holds the
seed only sealed (`casino/houses/sealing.py`), bound to house and hand: without the seal key, the database shows no
card.
"""

import secrets
from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter
from typing import Any, Protocol
from uuid import UUID

import engine
from casino.core import canonical, sql
from casino.core.work import Work
from casino.hands.models import Deal, Hand, Mode
from casino.hands.snapshot import HandSnapshot
from casino.houses import sealing
from engine.deal.opening import openings, pack_root
from engine.deal.shuffle import SEED_BYTES, commitment, reshuffled, shuffled_deck
from engine.kernel.setup import Setup
from engine.record.format import client_seeds_of
from engine.registry import Shuffle, rules_version


class Sealed(Protocol):
    """A row with a sealed seed, as it is read: a deal's, or a hand's."""

    @property
    def house_id(self) -> UUID:
        """The house that the seed is bound to."""

    @property
    def name(self) -> str:
        """Name of the hand that the seed is bound to."""

    @property
    def sealed_seed(self) -> bytes | memoryview:
        """As `casino/houses/sealing.py` seals it."""


_ROOTS = "UPDATE hands_hand SET cards_roots = %s::jsonb WHERE id = %s::bigint"


def commit(deal: Deal) -> None:
    """Draw a seed, seal it into the deal and set its commitment; the caller saves both before any card falls."""
    seed = secrets.token_bytes(SEED_BYTES)
    deal.sealed_seed = sealing.seal(deal.house_id, seed, _context(deal))
    deal.commitment = commitment(seed, deal.name)


def open_seed(row: Sealed) -> bytes:
    """The seed of a deal or a hand. Raises SealedUnreadable when the row is another, SealKeyWrong."""
    return sealing.unseal(row.house_id, row.sealed_seed, _context(row))


def recommitted(row: Sealed) -> str:
    """The commitment to the sealed seed, made again. Raises as open_seed."""
    return commitment(open_seed(row), row.name)


def deck(hand: Hand | HandSnapshot) -> tuple[str, ...] | None:
    """The hand's deck, top first; None in physical mode, where the pack is in the dealer's hands."""
    if hand.mode == Mode.PHYSICAL:
        return None
    pack = rules_version(hand.rules).pack_for(hand.options)
    return shuffled_deck(pack, open_seed(hand), hand.name, by_chair(hand.client_seeds))


def shuffle(hand: Hand | HandSnapshot) -> Shuffle | None:
    """Shuffles what is shuffled again in the course of the hand from its seed: packs of redeals, or the cards of a seat
    that holds them out as a fan. None in physical mode, where people shuffle.

    The seed is opened when a shuffle is wanted; the same seed always gives the same order.
    """
    if hand.mode == Mode.PHYSICAL:
        return None
    said = by_chair(hand.client_seeds)
    return lambda cards, number: reshuffled(cards, open_seed(hand), hand.name, said, number)


def by_chair(client_seeds: dict[str, str]) -> dict[int, str]:
    """Client seeds as the engine takes them. Raises the engine's MalformedRecord for what was never taken as such."""
    return client_seeds_of("client_seeds", client_seeds)


def salted_digest(hand: Hand | HandSnapshot, game: engine.Hand) -> str:
    """The digest of a hand's final state as row and events have it. An electronic hand's is hashed with its seed: of
    the state alone, which covers the deck, folded cards could be found by trying all that they can be."""
    digest = game.digest()
    return digest if hand.mode == Mode.PHYSICAL else canonical.sha256([hand.name, digest, open_seed(hand).hex()])


def packs(setup: Setup) -> tuple[tuple[str, ...], ...]:
    """The deck and the redeals so far; none in physical mode."""
    return () if setup.deck is None else (setup.deck, *setup.redeals)


def commit_to_cards(hand: Hand, setup: Setup, work: Work) -> bool:
    """Keep the roots over the cards of packs that are new, the deck's and later that of each redeal, with what the work
    writes next; says whether there was one, which everybody must see."""
    missing = roots(hand, setup, known=len(hand.cards_roots))
    if not missing:
        return False
    hand.cards_roots = [*hand.cards_roots, *missing]
    work.soon(sql.Bound(_ROOTS, [canonical.dumps(hand.cards_roots), hand.id]))
    return True


def roots(hand: Hand | HandSnapshot, setup: Setup, *, known: int = 0) -> list[str]:
    """The roots over the cards of the packs, without those of the first `known`. Raises as open_seed."""
    wanted = list(enumerate(packs(setup)))[known:]
    seed = open_seed(hand) if wanted else b""
    return [pack_root(cards, seed, hand.name, number) for number, cards in wanted]


def opened(hand: Hand, setup: Setup, places: Iterable[tuple[int, int]]) -> list[dict[str, Any]]:
    """The openings of the cards at these places (pack, place), pack by pack."""
    dealt, seed = packs(setup), open_seed(hand)
    found: list[dict[str, Any]] = []
    for number, in_pack in groupby(sorted(places), key=itemgetter(0)):
        found += openings(dealt[number], seed, hand.name, number, [place for _, place in in_pack])
    return found


def _context(row: Sealed) -> bytes:
    return f"seed/{row.name}".encode()
