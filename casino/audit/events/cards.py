"""Cards of a real pack: entries by a scanner or the dealer, corrections, exceptions, checks.

Only its holder may know a face-down card. So the event of an entry has only the index of the card and a hash: SHA-256
of the canonical JSON `[hand, actor, index, card, salt]`. The event that ends the hand has `entered`, with card and salt
of the entries that everybody has seen by then. What an exception has found in a hand is a hash too, which nothing
opens but the house (`GET exceptions/cards`)."""

from typing import Annotated

from casino.audit.events.fields import CardIndex, Hand, HandActor, JsonObject, JsonObjects, Reason
from casino.audit.events.registry import AuditEvent, TableEvent, event

ExceptionNumber = Annotated[int, "number of the exception, from 1 at the table"]
ExceptionKind = Annotated[
    str,
    "`duplicate`, `missing`, `foreign` (not of the pack), `differs` (another card was shown than entered), or `deck` "
    "(several of them in a deck check)",
]
FoundHash = Annotated[str, "salted hash of which cards, the problem, and the action that was refused, in a hand"]
ExceptionHand = Annotated[Hand, "name of the hand; absent if none was in play"]


@event("hand.cards_entered", chain="table")
class CardsEntered(TableEvent):
    """Cards that had been dealt unknown were entered."""

    hand: Hand
    entries: Annotated[
        JsonObjects, "`actor` (seat of the hand), `index` (of the card, from 0 in the order of dealing), `hash`"
    ]


@event("hand.entry_corrected", chain="table")
class EntryCorrected(TableEvent):
    """The floor corrected a card that had been entered wrong."""

    hand: Hand
    actor: HandActor
    index: CardIndex
    hash: Annotated[str, "hash of the right card, hexadecimal"]
    reason: Reason


@event("hand.line_corrected", chain="table")
class LineCorrected(TableEvent):
    """The floor corrected the cards of a line of the log. The line itself stays; from now on the correction counts."""

    hand: Hand
    line: Annotated[int, "number of the line in the log, from 1"]
    before: Annotated[str, "the line as everybody saw it"]
    after: Annotated[str, "the corrected line as everybody sees it"]
    line_hash: Annotated[str | None, "hash of the corrected line, if it has face-down cards"] = None
    reason: Reason


@event("cards.exception", chain="table")
class CardExceptionKept(AuditEvent):
    """A request was refused because cards cannot be as they were entered. No hand is dealt at the table until the floor
    clears it."""

    exception: ExceptionNumber
    kind: ExceptionKind
    hand: ExceptionHand | None = None
    found: Annotated[JsonObject | None, "which cards, where no hand is in play"] = None
    found_hash: FoundHash | None = None


@event("cards.exception_cleared", chain="table")
class CardExceptionCleared(TableEvent):
    """The floor has cleared an exception; the reason explains it."""

    exception: ExceptionNumber
    kind: ExceptionKind
    hand: ExceptionHand | None = None
    found: Annotated[JsonObject | None, "which cards, and the problem, where no hand was in play"] = None
    found_hash: FoundHash | None = None
    reason: Reason


@event("table.deck_checked", chain="table")
class DeckChecked(TableEvent):
    """Between hands, all cards of the table's pack were entered: each is there once."""

    pack: Annotated[str, "name of the pack"]
    cards: Annotated[int, "number of its cards"]
