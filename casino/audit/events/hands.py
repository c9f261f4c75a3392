"""Hands, in enough detail to rebuild every one of them from the events of an export.

Only its holder may know a face-down card, and a folded card stays face down when the hand is over. So `lines` and `log`
show `??`, and of each line with such cards the event has a hash: SHA-256 of the canonical JSON `[hand, number of the
line, line, salt]`. The event that completes the log has the `log` as everybody has seen it by then, the salts of lines
whose cards everybody has seen, the `digest` of the engine's final state, the `result` and the `handle`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from casino.audit.events.declared import Mark
from casino.audit.events.fields import (
    DIGEST,
    Commitment,
    Digest,
    FirstLine,
    Hand,
    JsonObject,
    JsonObjects,
    LedgerTransaction,
    Lines,
    OpenedEntries,
    Reason,
    Result,
)
from casino.audit.events.registry import ApprovedEvent, AuditEvent, TableEvent, event

TableVersion = Annotated[int, "version of the table after this event; the next write names it in If-Match"]
Readings = Annotated[
    JsonObject,
    "what the hand comes to as it was `recorded`, and as it is `claimed` (with its `lines`), if it is: each a "
    "`result`, or the line and the code with which replay `refused` it",
]
Bonus = Annotated[int, "bonuses of all seats of the hand together, minor units"]


@dataclass(frozen=True, kw_only=True)
class HandProgress(AuditEvent):
    """Lines that a write added to a hand's log, and what the event has in addition at the end of the hand."""

    hand: Hand
    first_line: FirstLine
    lines: Lines
    table_version: TableVersion
    cards_roots: Annotated[
        Sequence[str] | None,
        "roots over the committed cards of every pack so far, hexadecimal; present where this event adds one",
    ] = None
    line_hashes: Annotated[
        Mapping[str, str] | None, "hashes of those of `lines` that have face-down cards, by number of the line"
    ] = None
    log: Annotated[
        Sequence[str] | None, "all lines of the log as everybody has seen them by then, at the end of the hand"
    ] = None
    line_salts: Annotated[
        Mapping[str, str] | None,
        "salts of lines that had face-down cards and that everybody has seen by then, by number of the line, at the "
        "end of the hand",
    ] = None
    digest: Annotated[Digest | None, DIGEST + ", at the end of the hand"] = None
    result: Result | None = None
    handle: Annotated[int | None, "money that the seats played for, minor units, at the end of the hand"] = None
    next_button: Annotated[int | None, "number of the seat that deals next, at the end of the hand"] = None
    record_hash: Annotated[
        str | None, "SHA-256 of the hand's record, which the table's next record names, at the end of the hand"
    ] = None


@event("hand.dealt", chain="table")
class HandDealt(HandProgress):
    """A hand has begun. The event has everything that the further course of the hand depends on."""

    table: Annotated[str, "code of the table"]
    number: Annotated[int, "number of the hand at the table, from 1"]
    mode: Annotated[str, "`electronic` or `physical`"]
    game: Annotated[str, "name of the game"]
    rules: Annotated[str | None, "id of the version of the rules; absent in older events"] = None
    options: Annotated[JsonObject, "every option of the game"]
    seats: Annotated[JsonObjects, "`seat` at the table and `player`, in play order; the dealer is the last"]
    stacks: Annotated[Sequence[int], "minor units of each seat, in play order, less its fee"]
    carry: Annotated[int, "money carried into the hand, minor units"]
    fees: Annotated[
        JsonObject | None,
        "what each seat pays the house when the hand is settled (`amounts`, minor units), for every `deal` or `hour` "
        "(`per`); no part of `stacks`",
    ] = None
    series: Annotated[
        JsonObject, "the series before the hand: `series` of the session's last settled result, or a new one"
    ]
    series_begins: Annotated[bool | None, "true if these players do not continue the session's last series"] = None
    button: Annotated[int, "number of the seat that holds the button at the table"]
    commitment: Annotated[Commitment | None, "commitment to the seed of an electronic deal, hexadecimal"] = None
    client_seeds: Annotated[Mapping[str, str] | None, "client seeds by seat at the table"] = None
    card_verbs: Annotated[
        Mapping[str, Sequence[str]] | None,
        "verbs of the log whose lines name cards, by what becomes of the cards: `dealt` to a seat, `opened`, `played` "
        "out of a hand, `shown` as a whole hand, `turned` up, `laid_away`; under `reopens` those after which cards "
        "come from a new pack; absent in older events",
    ] = None


@event("hand.acted", chain="table")
class HandActed(HandProgress):
    """Lines were added to a hand's log: actions of players, cards that became known."""

    entered: OpenedEntries | None = None
    automatic: Annotated[
        str | None,
        "seat of the hand (`p2`) whose time to act ran out, so that the worker played the automatic act; `d` if the "
        "house's time ran out",
    ] = None


@event("hand.settled", chain="table")
class HandSettled(AuditEvent):
    """A worker replayed a hand with the stored result, and paid."""

    hand: Hand
    result: Result
    digest: Digest
    settlement: Annotated[LedgerTransaction | None, Mark.NULL, "id of the ledger transaction, null if nothing moved"]
    table_version: TableVersion


@event("hand.bonus_held", chain="table")
class BonusHeld(AuditEvent):
    """A worker replayed a hand with the stored result, which has a bonus that a second person must approve first.
    Nothing was paid."""

    hand: Hand
    bonus: Bonus
    table_version: TableVersion


@event("hand.bonus_confirmed", chain="table")
class BonusConfirmed(TableEvent, ApprovedEvent):
    """The floor has seen the cards that the bonus of a hand is for, and a manager approved it; the worker pays."""

    hand: Hand
    bonus: Bonus


@event("hand.bonus_refused", chain="table")
class BonusRefused(TableEvent):
    """The floor refused a bonus that waited for its approval. Nothing is paid, and the pot waits for a ruling."""

    hand: Hand
    bonus: Bonus
    frozen: Annotated[int, "the pot and the bank of the seats, minor units"]
    reason: Reason


@event("hand.settlement_failed", chain="table")
class SettlementFailed(AuditEvent):
    """A worker could not settle a hand and will try again: the tray lacks chips, for example, or no gaming day is open.
    Recorded when a problem first occurs, and when it becomes another one."""

    hand: Hand
    problem: Annotated[str, "class of the error"]


@event("hand.disputed", chain="table")
class HandDisputed(AuditEvent):
    """A worker's replay of a hand differs from the stored one. Nothing is paid, and the pot waits for a ruling. The
    reason names the difference."""

    hand: Hand
    frozen: Annotated[int, "the pot and the bank of the seats, minor units"]
    reason: Reason
    table_version: TableVersion


@event("hand.dispute_raised", chain="table")
class HandDisputeRaised(TableEvent):
    """The floor disputed a hand in play, or one that was over and not settled. Nothing more is played or paid, and the
    pot waits for a ruling or a void, unless the dispute is withdrawn."""

    hand: Hand
    before: Annotated[str, "state of the hand until then: `playing`, `ended`, `awaiting_approval` or `approved`"]
    frozen: Annotated[int, "the pot and the bank of the seats, minor units"]
    reason: Reason


@event("hand.dispute_withdrawn", chain="table")
class HandDisputeWithdrawn(TableEvent):
    """The person of the floor who had disputed a hand, or a manager, withdrew the dispute. What was frozen lies where
    it lay before, and the hand goes on: it is played on, or waits as it waited before. A dispute that a worker raised
    is not withdrawn."""

    hand: Hand
    after: Annotated[
        str,
        "state of the hand from then on, as before it: `playing`, `ended`, `awaiting_approval` or `approved`",
    ]
    raised_by: Annotated[str, "login of the person of the floor who had disputed it"]
    returned: Annotated[int, "what was frozen, minor units"]
    mirror: Annotated[
        LedgerTransaction | None,
        Mark.NULL,
        "ledger transaction that reverses the dispute's, null if nothing was frozen",
    ]
    reason: Reason


@event("hand.ruled", chain="table")
class HandRuled(TableEvent, ApprovedEvent):
    """The floor divided a disputed pot between the hand's seats and the house, and a manager approved it."""

    hand: Hand
    pot: Annotated[int, "the pot that was divided, minor units"]
    awards: Annotated[Mapping[str, int], "minor units by seat of the hand; `p1` is the first in play order"]
    tax: Annotated[int, "the house tax, minor units"]
    readings: Readings
    settlement: LedgerTransaction
    reason: Reason


@event("hand.ruled_later", chain="table")
class HandRuledLater(TableEvent, ApprovedEvent):
    """The floor ruled on a hand whose money had moved already, and a manager approved it; what was decided before
    stays."""

    hand: Hand
    ruling: Annotated[int, "number of the ruling of this hand, from 1"]
    tax_refunded: Annotated[Mapping[str, int], "tax paid back from the tray, minor units by seat of the hand"]
    made_good: Annotated[Mapping[str, int], "what the house has borne, from the tray, minor units by seat of the hand"]
    collected: Annotated[
        JsonObjects, "what seats have given: `loser`, `winner`, `amount` in minor units, `consent` in words"
    ]
    readings: Readings
    settlement: Annotated[LedgerTransaction | None, Mark.NULL, "id of the ledger transaction, null if nothing moved"]
    reason: Reason
    fee_refunded: Annotated[
        Mapping[str, int] | None, "fees for seats paid back from the tray, minor units by seat of the hand"
    ] = None


@event("hand.voided", chain="table")
class HandVoided(TableEvent, ApprovedEvent):
    """The floor voided a hand."""

    hand: Hand
    cause: Annotated[
        str, "why: `misdeal`, `exposed`, `pack`, `entry`, `broken_off`, `ruled` or `other`; the reason says more"
    ]
    pot: Annotated[int, "what lay in the middle of the table, minor units"]
    cards_shown: Annotated[bool, "whether a seat had shown its hand"]
    acted: Annotated[bool, "whether a seat had acted since the first card was dealt"]
    log_complete: Annotated[bool, "whether the hand was over, and disputed"]
    disputed: Annotated[bool | None, "true if the hand was disputed, over or not"] = None
    mirrors: Annotated[Mapping[str, int], "ledger transactions that reverse the hand's, by the key undone"]
    reason: Reason
