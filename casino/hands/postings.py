"""From the engine's money events to the ledger's legs: one table, read by play and by settlement alike."""

from collections.abc import Iterable, Sequence

from casino.hands.models import Hand
from casino.house.books import Line
from engine.events import Move, MoveKind

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
#: Posted as soon as they happen, whatever the line that brings them.
AT_ONCE = frozenset({MoveKind.CARRY_IN, MoveKind.STAKE})


def at_once(moves: Sequence[Move], ending: int) -> list[Move]:
    """The moves that are posted as soon as they happen: all but those that wait for the settlement.

    `ending` is the place in `moves` where those of the hand's last line begin. A forced payment in the middle of a hand
    (a redeal of cuhhkassza) is posted at once, one that comes with the end (the missing vizi) is settled with it.
    """
    return [move for at, move in enumerate(moves) if at < ending or move.kind in AT_ONCE]


def at_settlement(moves: Sequence[Move], ending: int) -> list[Move]:
    """The moves that wait for the worker: what the hand's last line brings, stakes apart."""
    return [move for move in moves[ending:] if move.kind not in AT_ONCE]


def lines(hand: Hand, moves: Iterable[Move]) -> list[Line]:
    """What these moves debit and credit."""
    return [
        (_account(hand, debit, move.seat), _account(hand, credit, move.seat), move.amount)
        for move in moves
        for debit, credit in LINES[move.kind]
    ]


def _account(hand: Hand, number: str, seat: int) -> str:
    return hand.table.stack_account(hand.player_of(seat)) if number == "2020" else hand.table.account(number)
