"""One hand as its events have recorded it so far."""

from typing import NamedTuple

from .events import Row
from .shelf import declare

#: What a hand's first event records of it that its row holds too.
DEALT = (
    *("hand", "table", "number", "mode", "game", "rules", "options", "seats", "stacks", "carry", "series"),
    *("fees", "commitment", "client_seeds", "cards_roots"),
)


#: What the event that completes a hand's log records besides the log.
ENDING = ("digest", "result", "handle")
#: What an event of a bonus makes of its hand.
BONUS_STATES = {
    "hand.bonus_held": "awaiting_approval", "hand.bonus_confirmed": "approved", "hand.bonus_refused": "disputed",
}  # fmt: skip
WITHDRAWN = "hand.dispute_withdrawn"
#: Events of a dispute: a worker's, the floor's, and its end without a decision.
DISPUTES = frozenset(("hand.disputed", "hand.dispute_raised", WITHDRAWN))
#: From which states each event may come.
STATES_BEFORE = {
    "hand.acted": ("playing",),
    "hand.cards_entered": ("playing",),
    "hand.entry_corrected": ("playing",),
    "hand.line_corrected": ("playing",),
    "hand.bonus_held": ("ended",),
    "hand.bonus_confirmed": ("awaiting_approval",),
    "hand.bonus_refused": ("awaiting_approval",),
    "hand.settled": ("ended", "approved"),
    "hand.disputed": ("ended", "approved"),
    "hand.dispute_raised": ("playing", "ended", "awaiting_approval", "approved"),
    WITHDRAWN: ("disputed",),
    "hand.ruled": ("disputed",),
    "hand.voided": ("playing", "disputed"),
}


@declare
class Dispute(NamedTuple):
    """A dispute that the floor has raised: by whom, the state of the hand before it, what it has frozen in minor units,
    and its ledger transactions, each with what it moved by account code, debit positive."""

    by: str
    before: str
    frozen: int
    posted: dict[int, dict[str, int]]


@declare
class Hand:
    """A hand as its events have recorded it so far."""

    __slots__ = (
        *("at", "card_verbs", "chain", "dispute", "entered", "hashes", "line_hashes", "lines"),
        *("mirrored", "money", "posted", "state", "summary", "table"),
    )

    def __init__(self, data: Row, chain: str, at: int) -> None:
        self.summary: Row = {name: data[name] for name in DEALT if name in data}
        #: Verbs of its log that name cards, by what becomes of these; None where no event has recorded them.
        self.card_verbs: dict[str, list[str]] | None = data.get("card_verbs")
        self.table: str = data["table"]
        self.chain = chain
        self.lines: list[str] = []
        self.state = "playing"
        #: None where it is not disputed, or was not disputed by the floor.
        self.dispute: Dispute | None = None
        #: Account code -> what its postings moved there, debit positive.
        self.money: dict[str, int] = {}
        self.posted: list[int] = []
        self.mirrored: list[int] = []
        #: Cards that were entered: seat, index, and what was recorded of the card, its hash.
        self.entered: list[tuple[str, int, str]] = []
        #: Hashes of lines with face-down cards, by number: as they were added, and as they are after corrections.
        self.line_hashes: dict[str, str] = {}
        self.hashes: dict[str, str] = {}
        self.at = at


def entry_of(entry: Row) -> tuple[str, int, str]:
    return entry["actor"], entry["index"], entry["hash"]


def fees_of(dealt: Row) -> list[int]:
    """What each seat of a hand pays the house, p1 first, in minor units."""
    amounts: list[int] = dealt.get("fees", {}).get("amounts") or [0] * len(dealt["seats"])
    return amounts
