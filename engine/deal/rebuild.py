"""Dealing an electronic hand again: from seed, hand id and client seeds come the packs and the roots of their card
commitments, which are compared with what a record holds. What an auditor does once the seed may be known."""

from __future__ import annotations

from typing import NamedTuple

from engine.deal.opening import pack_root
from engine.deal.shuffle import commitment, reshuffled, shuffled_deck
from engine.errors import CommitMismatch, DeckMismatch, MalformedRecord, RootMismatch
from engine.record.format import Record
from engine.registry import played_by


class Deal(NamedTuple):
    """What seed and client seeds give: the commitment, the deck and then each redeal, and a root for each of them."""

    commit: str
    packs: tuple[tuple[str, ...], ...]
    roots: tuple[str, ...]


def rebuilt(record: Record) -> Deal:
    """The deal of a record with its seed, redeals included as far as the record holds packs for them.

    Which cards were shuffled again is what the record's own packs say; whether they are those that the game leaves for
    a redeal is replay's business. Raises :class:`MalformedRecord` for a record without a seed.
    """
    if record.seed is None:
        raise MalformedRecord("a record without its seed cannot be dealt again", keys=["seed"])
    seed = bytes.fromhex(record.seed)
    packs = tuple(_packs(record, seed))
    roots = tuple(pack_root(cards, seed, record.hand, number) for number, cards in enumerate(packs))
    return Deal(commitment(seed, record.hand), packs, roots)


def _packs(record: Record, seed: bytes) -> list[tuple[str, ...]]:
    pack = played_by(record.game, record.rules).pack_for(record.opt)
    packs = [shuffled_deck(pack, seed, record.hand, record.client_seeds)]
    for number, redeal in enumerate(record.redeals, 1):
        held = frozenset(redeal)
        cards = [card for card in pack.cards if card in held]
        packs.append(reshuffled(cards, seed, record.hand, record.client_seeds, number))
    return packs


def check_commit(record: Record) -> None:
    """The seed opens the commitment, where the record holds both; raises :class:`CommitMismatch`."""
    if record.seed is not None and record.commit is not None:
        expected = commitment(bytes.fromhex(record.seed), record.hand)
        if record.commit != expected:
            raise CommitMismatch("the seed does not open the commitment", commit=expected)


def check_deal(record: Record) -> None:
    """Commitment and packs are what the seed gives, as far as the record holds them.

    Without a commitment nothing says that the deck was made from the seed. Raises :class:`CommitMismatch` or
    :class:`DeckMismatch`.
    """
    check_commit(record)
    if record.seed is None or record.commit is None or record.deck is None:
        return
    for number, (held, dealt) in enumerate(zip(record.packs, _packs(record, bytes.fromhex(record.seed)), strict=True)):
        if held != dealt:
            raise DeckMismatch(f"pack {number} is not what the seeds give", pack=number, cards="".join(dealt))


def check_roots(deal: Deal, roots: object) -> None:
    """The roots published when the packs were dealt are those of these cards; raises :class:`RootMismatch`."""
    if roots != list(deal.roots):
        raise RootMismatch("the cards are not those that the roots were made of", cards_roots=list(deal.roots))
