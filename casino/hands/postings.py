"""From the engine's money events to the events of the books: one table, read by play and by settlement alike."""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from casino.bookkeeping.accounts import Account
from casino.bookkeeping.postings import EVENTS, Posting, posting
from casino.chips.changing import Desk
from casino.hands.models import Hand
from casino.hands.snapshot import HandSnapshot
from engine.kernel.purse import AT_ONCE, HOUSE, PUT_IN, Move, place_kind

#: (Source, target, why) of a move -> the event that books it, and the name its amount has there. Dr and Cr stand in
#: `house.events` only.
BOOKED: dict[tuple[str, str, str], tuple[str, str]] = {
    ("carry", "pot", "carry_in"): ("carried_in", "amount"),
    ("seat", "pot", "stake"): ("stake", "amount"),
    ("seat", "pot", "penalty"): ("missing_stake", "amount"),
    ("pot", "seat", "returned"): ("stake_returned", "amount"),
    ("pot", "seat", "award"): ("award", "net"),
    ("pot", "house", "tax"): ("award", "tax"),
    ("pot", "carry", "carry_out"): ("carried_out", "amount"),
    ("house", "seat", "bonus"): ("bonus", "amount"),
    ("seat", "seat", "points"): ("points_paid", "amount"),
    ("carry", "kitty", "carry_in"): ("carried_in", "amount"),
    ("seat", "kitty", "stake"): ("kitty_stake", "amount"),
    ("seat", "kitty", "penalty"): ("kitty_paid", "amount"),
    ("kitty", "seat", "share"): ("trick_paid", "amount"),
    ("kitty", "bank", "banked"): ("banked", "amount"),
    ("bank", "kitty", "topped_up"): ("topped_up", "amount"),
    ("kitty", "carry", "carry_out"): ("carried_out", "amount"),
}
_DISPUTE = "dispute"
"""What freezes the pot, as a part of a key; after disputes that were withdrawn with a number."""


#: The event that books what a player pays for a seat.
FEE = "table_fee"


class Fee(NamedTuple):
    """What a player pays the house for a seat, in minor units."""

    player: str
    amount: int


def fees(hand: Hand | HandSnapshot) -> list[Fee]:
    """Fees for seats, paid with the hand's settlement."""
    amounts = hand.fees.get("amounts", ())
    return [Fee(seat["player"], amount) for seat, amount in zip(hand.seats, amounts, strict=False) if amount]


def key(hand: Hand | HandSnapshot, part: int | str) -> str:
    """The ledger's key of what a hand posts: `part` is the first line that brings it, or one of `endings`."""
    return f"hand:{hand.name}:{part}"


def dispute(hand: Hand | HandSnapshot) -> str:
    """The part of the key under which the dispute of the hand posts that is under way, or would be the next."""
    return _disputes(hand.disputes_withdrawn)[-1]


def withdrawn(hand: Hand | HandSnapshot) -> list[str]:
    """The parts of the keys under which disputes have posted that were withdrawn, the oldest first."""
    return _disputes(hand.disputes_withdrawn)[:-1]


def _disputes(withdrawn_count: int) -> list[str]:
    return [_DISPUTE, *(f"{_DISPUTE}-{number}" for number in range(2, withdrawn_count + 2))]


def endings(withdrawn_count: int = 0) -> list[str]:
    """The parts of what a hand posts besides its lines, of whose disputes so many were withdrawn."""
    return ["settlement", *_disputes(withdrawn_count), "ruling"]


def keys(hand: Hand) -> list[str]:
    """Every key under which the hand may have posted something; 0 is what comes with the start."""
    lines = hand.lines.filter(house=hand.house_id).count()
    return [key(hand, part) for part in (*range(lines + 1), *endings(hand.disputes_withdrawn))]


def standing(hand: Hand, lines: int) -> list[str]:
    """The keys of what stands of a hand of so many lines: all but the disputes that were withdrawn, which have their
    mirrors."""
    return [key(hand, part) for part in (*range(lines + 1), "settlement", dispute(hand), "ruling")]


def at_once(moves: Sequence[Move], ending: int) -> list[Move]:
    """The moves that are posted as soon as they happen: all but those that wait for the settlement.

    `ending` is the place in `moves` where those of the hand's last line begin. A forced payment in the middle of a hand
    is posted at once, one that comes with the end is settled with it.
    """
    return [move for at, move in enumerate(moves) if at < ending or move.why in AT_ONCE]


def at_settlement(moves: Sequence[Move], ending: int) -> list[Move]:
    """The moves that wait for the worker: what the hand's last line brings, stakes apart."""
    return [move for move in moves[ending:] if move.why not in AT_ONCE]


def handle(moves: Iterable[Move]) -> int:
    """Money that seats played for, by actions or because the rules make them, in minor units."""
    return sum([move.amount for move in moves if move.why in PUT_IN])


#: The owner of the money before a move and after it: players of seats; empty for places that are not seats.
Ends = tuple[str, str]


def ends_of(move: Move, seats: Sequence[Mapping[str, Any]]) -> Ends:
    """The players between whom a move goes; `seats` are the hand's, p1 first."""
    source, target = move.source, move.target
    return (
        seats[source - 1]["player"] if source > 0 else "",
        seats[target - 1]["player"] if target > 0 else "",
    )


def _places(table: str, loser: str, winner: str) -> dict[str, str]:
    """The places of the event that books a move."""
    if loser and winner:
        return {"table": table, "loser": loser, "winner": winner}
    player = loser or winner
    return {"table": table, "player": player} if player else {"table": table}


@lru_cache(maxsize=1 << 16)
def _accounts(source: int, target: int, why: str, table: str, ends: Ends) -> tuple[tuple[str, str], ...]:
    kinds = place_kind(source), place_kind(target)
    name, amount = BOOKED[*kinds, why]
    crossing = "chips" if "house" in kinds else amount
    found = _places(table, *ends)
    return tuple(
        (line.debit.format(**found), line.credit.format(**found))
        for line in EVENTS[name].lines
        if line.what in (amount, crossing)
    )


def accounts(move: Move, table: str, ends: Ends) -> tuple[tuple[str, str], ...]:
    """Codes that a move debits and credits with its amount: the money, and where chips cross between the public and
    the house, those chips at their face value. Chips that are only changed cancel each other out. What verification
    expects of the ledger."""
    return _accounts(min(move.source, 1), min(move.target, 1), move.why.value, table, ends)


def fee_accounts(fee: Fee, table: str) -> tuple[tuple[str, str], ...]:
    """Codes that a fee debits and credits with its amount, its chips at their face value."""
    places = {"table": table, "player": fee.player}
    return tuple((line.debit.format(**places), line.credit.format(**places)) for line in EVENTS[FEE].lines)


@lru_cache(maxsize=1 << 16)
def _text(source: int, target: int, why: str, amount: int, table: str, ends: Ends) -> str:
    [(debit, credit)] = _accounts(source, target, why, table, ends)
    legs = sorted({debit: amount, credit: -amount}.items(), key=lambda leg: (len(leg[0]), leg[0]))
    return json.dumps(dict(legs))


def text(move: Move, table: str, ends: Ends) -> str:
    """What a move that changes two accounts does to them, as PostgreSQL writes the `jsonb` of codes and amounts (debits
    positive): shorter codes first. Equal texts are equal postings, and compared without being read."""
    return _text(min(move.source, 1), min(move.target, 1), move.why.value, move.amount, table, ends)


def events(hand: Hand, moves: Iterable[Move], *, fees: Iterable[Fee] = ()) -> list[Posting]:
    """What these moves and fees are in the books, the chips of tax, bonus and fee worked out.

    Chips change places only where they cross between the public and the house: stakes, awards and pots stay with the
    public. Raises Conflict no_exact_change and InsufficientFunds, see `chips.changing`.
    """
    desk = Desk(hand.house, hand.table.account(Account.TRAY), hand.table.code)
    found = [event for move in moves for event in _events(hand, move, desk)]
    for fee in fees:
        chips, before = desk.for_the_box(fee.amount)
        places = {"table": hand.table.code, "player": fee.player}
        found += [*before, posting(FEE, places, amount=fee.amount, chips=chips)]
    return found


def _events(hand: Hand, move: Move, desk: Desk) -> list[Posting]:
    name, amount = BOOKED[move.key]
    found = _places(hand.table.code, *ends_of(move, hand.seats))
    if move.target == HOUSE:
        chips, before = desk.for_the_box(move.amount)
        return [*before, posting(name, found, chips=chips, **{amount: move.amount})]
    if move.source == HOUSE:
        chips, change = desk.pay_out(move.amount)
        return [posting(name, found, chips=chips, change=change, **{amount: move.amount})]
    return [posting(name, found, **{amount: move.amount})]
