"""From the engine's money events to the ledger's legs: one table, read by play and by settlement alike."""

from collections.abc import Iterable

from casino.hands.models import Hand
from casino.house.books import Line
from engine.events import Event, Move, MoveKind

#: Kind of move -> its (debit, credit) pairs by account number, as in the chart's table of events.
LINES: dict[MoveKind, tuple[tuple[str, str], ...]] = {
    MoveKind.CARRY_IN: (("2040", "2030"),),
    MoveKind.STAKE: (("2020", "2030"),),
    MoveKind.PENALTY: (("2020", "2030"),),
    MoveKind.RETURNED: (("2030", "2020"),),
    MoveKind.AWARD: (("2030", "2020"),),
    MoveKind.TAX: (("2030", "4010"), ("9150", "9170")),
    MoveKind.CARRY_OUT: (("2030", "2040"),),
    MoveKind.BONUS: (("5100", "2020"), ("9170", "9130")),
}
#: Posted as soon as they happen; all others wait for the settlement.
AT_ONCE = frozenset({MoveKind.CARRY_IN, MoveKind.STAKE})


def moves(events: Iterable[Event], *, at_once: bool) -> list[Move]:
    """The money events among `events` that are posted at once, or those that wait for the settlement."""
    return [event for event in events if isinstance(event, Move) and (event.kind in AT_ONCE) == at_once]


def lines(hand: Hand, events: Iterable[Move]) -> list[Line]:
    """What these moves debit and credit."""
    return [
        (_account(hand, debit, move.seat), _account(hand, credit, move.seat), move.amount)
        for move in events
        for debit, credit in LINES[move.kind]
    ]


def _account(hand: Hand, number: str, seat: int) -> str:
    return hand.table.stack_account(hand.player_of(seat)) if number == "2020" else hand.table.account(number)
