"""From the engine's money events to the events of the books: one table, read by play and by settlement alike."""

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache

from casino.chips.changing import Desk
from casino.hands.models import Hand
from casino.hands.stored import StoredHand
from casino.house.events import EVENTS, Happened, happened
from engine.kernel.purse import Move, Why

#: Kind of move -> the event that books it, and the name its amount has there. Dr and Cr stand in `house.events` only.
BOOKED: dict[Why, tuple[str, str]] = {
    Why.CARRY_IN: ("carried_in", "amount"),
    Why.STAKE: ("stake", "amount"),
    Why.PENALTY: ("missing_vizi", "amount"),
    Why.RETURNED: ("stake_returned", "amount"),
    Why.AWARD: ("award", "net"),
    Why.TAX: ("award", "tax"),
    Why.CARRY_OUT: ("carried_out", "amount"),
    Why.BONUS: ("bonus", "amount"),
}
#: What a hand posts once, besides what its lines post.
ENDINGS = ("settlement", "dispute", "ruling")
#: Posted as soon as they happen, whatever the line that brings them.
AT_ONCE = frozenset({Why.CARRY_IN, Why.STAKE})
#: Money that seats put into the pot.
_PUT_IN = (Why.STAKE, Why.PENALTY)


def key(hand: Hand | StoredHand, part: int | str) -> str:
    """The ledger's key of what a hand posts: `part` is the first line that brings it, or one of ENDINGS."""
    return f"hand:{hand.name}:{part}"


def keys(hand: Hand) -> list[str]:
    """Every key under which the hand may have posted something; 0 stands for what comes with the start."""
    return [key(hand, part) for part in (*range(hand.lines.count() + 1), *ENDINGS)]


def at_once(moves: Sequence[Move], ending: int) -> list[Move]:
    """The moves that are posted as soon as they happen: all but those that wait for the settlement.

    `ending` is the place in `moves` where those of the hand's last line begin. A forced payment in the middle of a hand
    (a redeal of cuhhkassza) is posted at once, one that comes with the end (the missing vizi) is settled with it.
    """
    return [move for at, move in enumerate(moves) if at < ending or move.kind in AT_ONCE]


def at_settlement(moves: Sequence[Move], ending: int) -> list[Move]:
    """The moves that wait for the worker: what the hand's last line brings, stakes apart."""
    return [move for move in moves[ending:] if move.kind not in AT_ONCE]


def handle(moves: Iterable[Move]) -> int:
    """Money that seats put into the pot, by actions or because the rules make them, in minor units."""
    return sum([move.amount for move in moves if move.kind in _PUT_IN])


@lru_cache(maxsize=1 << 16)
def accounts(kind: Why, table: str, player: str) -> tuple[tuple[str, str], ...]:
    """Codes that a move of this kind debits and credits with its amount: the money, and where chips cross between the
    public and the house, those chips at their face value. Chips that are only changed cancel each other out.

    `player`: the seat's player, empty for moves without a seat. What verification expects of the ledger.
    """
    name, amount = BOOKED[kind]
    crossing = "chips" if kind in (Why.TAX, Why.BONUS) else amount
    return tuple(
        (line.debit.format(table=table, player=player), line.credit.format(table=table, player=player))
        for line in EVENTS[name].lines
        if line.what in (amount, crossing)
    )


@lru_cache(maxsize=1 << 16)
def text(kind: Why, amount: int, table: str, player: str) -> str:
    """What a move that changes two accounts does to them, as PostgreSQL writes the `jsonb` of codes and amounts (debits
    positive): shorter codes first. Equal texts are equal postings, and compared without being read."""
    [(debit, credit)] = accounts(kind, table, player)
    legs = sorted({debit: amount, credit: -amount}.items(), key=lambda leg: (len(leg[0]), leg[0]))
    return json.dumps(dict(legs))


def events(hand: Hand, moves: Iterable[Move]) -> list[Happened]:
    """What these moves are in the books, the chips of tax and bonus worked out.

    Chips change places only where they cross between the public and the house: stakes, awards and pots stay with the
    public. Raises Conflict chips_cannot_make and InsufficientFunds, see `chips.changing`.
    """
    desk = Desk(hand.house, hand.table.account("9130"), hand.table.code)
    return [event for move in moves for event in _events(hand, move, desk)]


def _events(hand: Hand, move: Move, desk: Desk) -> list[Happened]:
    name, amount = BOOKED[move.kind]
    places = {"table": hand.table.code}
    if move.seat:
        places["player"] = hand.player_of(move.seat)
    match move.kind:
        case Why.TAX:
            chips, before = desk.for_the_box(move.amount)
            return [*before, happened(name, places, tax=move.amount, chips=chips)]
        case Why.BONUS:
            chips, change = desk.pay_out(move.amount)
            return [happened(name, places, amount=move.amount, chips=chips, change=change)]
    return [happened(name, places, **{amount: move.amount})]
