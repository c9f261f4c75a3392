"""Cards of a pack in the dealer's hands: what a scanner or the dealer told of them, corrections, exceptions, checks.

A card that lies face down is nobody's business while a hand is played, so of an entry the events tell where the card
lies and a hash: SHA-256 of the canonical JSON `[hand, actor, place, card, salt]`. The event that ends the hand tells
`entered`, card and salt of every entry, and `corrected`, every correction with the cards."""

from typing import Any

from casino.audit.events.registry import Told, event, told


@event("hand.cards_entered", chain="table")
def entered(*, hand: str, entries: list[dict[str, Any]]) -> Told:
    """Cards that had been dealt unknown were entered; `place` counts a seat's cards from 0 in the order of dealing."""
    return told(hand=hand, entries=entries)


@event("hand.entry_corrected", chain="table")
def entry_corrected(*, hand: str, actor: str, place: int, hash: str, reason: str) -> Told:
    """The floor corrected a card that had been entered wrong; the hash is that of the right one."""
    return told(hand=hand, actor=actor, place=place, hash=hash, reason=reason)


@event("hand.line_corrected", chain="table")
def line_corrected(*, hand: str, line: int, before: str, after: str, reason: str) -> Told:
    """The floor corrected the cards of a line of the log, which counts from 1; both as everybody saw them. The line
    itself stays, what counts from now on is the correction."""
    return told(hand=hand, line=line, before=before, after=after, reason=reason)


@event("cards.exception", chain="table")
def exception(*, exception: int, kind: str, hand: str | None = None, found: dict[str, Any] | None = None) -> Told:
    """A request was refused because cards cannot be as they were entered: `duplicate`, `missing`, `foreign` (not of the
    pack), `differs` (another card was shown than entered), or `deck` (several of them in a deck check). No hand is
    dealt at the table until the floor clears it. `found` says which cards, where no hand is in play."""
    return told(exception=exception, kind=kind, hand=hand, found=found)


@event("cards.exception_cleared", chain="table")
def exception_cleared(
    *, exception: int, kind: str, hand: str | None = None, found: dict[str, Any], reason: str
) -> Told:
    """The floor looked into an exception and says what it was."""
    return told(exception=exception, kind=kind, hand=hand, found=found, reason=reason)


@event("table.deck_checked", chain="table")
def deck_checked(*, pack: str, cards: int) -> Told:
    """Between hands, all cards of the table's pack were entered: each is there once."""
    return told(pack=pack, cards=cards)
