"""The next hand of a table before it exists: who plays and in which order, with which stacks and fees, and everything
that must be so before cards fall. A deal of a real pack asks this once; an electronic one when it is prepared, which
fixes seats and button before the first client seed, and again when it is dealt."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import engine
from casino.chips import changing
from casino.chips import selectors as chips_selectors
from casino.core import sql
from casino.core.errors import Conflict, Unprocessable
from casino.hands import exceptions, fees, postings, selectors, series, sessions, terms, trays
from casino.hands.models import Deal, Hand, Mode
from casino.safeguards import standing
from casino.tables import selectors as table_selectors
from casino.tables.carrying import in_play_order
from casino.tables.models import Seating, Table
from engine.errors import StackTooShort


@dataclass(frozen=True, slots=True)
class Ready:
    """A hand that may be dealt: its row, not saved yet, its state, and what the last settled hand left."""

    hand: Hand
    game: engine.Hand
    left: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Seen:
    """What the next hand of a table depends on: who sits there, which exceptions of cards are open, what the last
    settled hand left, and the chips that are out and in the tray."""

    seated: list[Seating]
    exceptions: list[int]
    left: Mapping[str, Any]
    chips: changing.Lying


def look(table: Table) -> Seen:
    """All of it in one round trip, and the chip set with it. The caller has locked the table."""
    return seen(table, sql.together(*asking(table)))


def asking(table: Table) -> list[sql.Statement]:
    """What `look` reads, for who reads it with something else; `seen` takes what it has found."""
    return [
        table_selectors.asking_seated(table), exceptions.asking_open(table), selectors.asking_series(table),
        *trays.asking(table), chips_selectors.reading(table.house),
    ]  # fmt: skip


def seen(table: Table, found: Sequence[list[Any]]) -> Seen:
    """The same, by what `asking` has found."""
    seated, open_ones, last, held, free, chip_set = found
    chips_selectors.read(table.house, chip_set)
    return Seen(
        table_selectors.those_seated(seated), [number for (number,) in open_ones], selectors.those_series(last),
        (held, free),
    )  # fmt: skip


def ready(
    table: Table, seen: Seen, order: list[Seating], announced: Sequence[str], deal: Deal | None = None,
    client_seeds: Mapping[str, str] | None = None,
) -> Ready:  # fmt: skip
    """The next hand of these seats, from the deal that is prepared or from a real pack, with these client seeds.

    Raises Conflict cards_exception_open, player_excluded, tray_too_small, no_exact_change, no_cukassza or
    session_under_way, Unprocessable stack_too_short, and the engine's errors.
    """
    exceptions.require_none_open(table, seen.exceptions)
    standing.require_none_excluded(table.house, [(seating.seat, seating.player) for seating in order])
    _require_tray(table, len(order), seen)
    left = seen.left
    hand = _row(table, order, left=left, announced=announced)
    if deal is not None:
        hand.mode, hand.client_seeds = Mode.ELECTRONIC, dict(client_seeds or {})
        hand.commitment, hand.sealed_seed = deal.commitment, bytes(deal.sealed_seed)
    if hand.series != left:
        sessions.require_paid(table, left)
    if announced and not hand.carry and "carry" in engine.game_info(table.game).policy.zones:
        raise Conflict("This is possible only in a deal that begins with a cukassza.", code="no_cukassza", carry=0)
    _require_fees(hand)
    try:
        game = engine.start(selectors.setup(hand))
    except StackTooShort as error:
        raise _too_short(hand, error) from error
    trays.require_change_for(table, [fee.amount for fee in postings.fees(hand)])
    return Ready(hand, game, left)


def play_order(table: Table, seen: Seen, button: int | None, sitting_out: Sequence[int]) -> list[Seating]:
    """The seats that are dealt in, in play order: first the seat after the button, last the button."""
    seated = seen.seated
    absent = sorted(set(sitting_out) - {seating.seat for seating in seated})
    if absent:
        raise Unprocessable(f"Seats {absent} are empty.", code="no_such_seat", seats=absent)
    dealt_in = [seating for seating in seated if seating.seat not in sitting_out]
    if button is not None:
        if table.button is not None:
            raise Conflict(
                "Only the first hand of a session names the button; after that it moves by itself.",
                code="button_already_known",
                button=table.button,
            )
        if button not in [seating.seat for seating in dealt_in]:
            raise Unprocessable(f"Seat {button} is not dealt in.", code="no_such_seat")
    least = terms.least_players(table.game, table.options)
    if len(dealt_in) < least:
        raise Conflict(f"A hand of {table.game} takes at least {least} players.", code="too_few_players", min=least)
    first_dealer = dealt_in[-1].seat
    wanted = button or table.button or first_dealer
    # A dealer who has left or sits out is replaced by the next in play order.
    dealer = in_play_order(dealt_in, after=wanted - 1)[0].seat
    return in_play_order(dealt_in, after=dealer)


def seats_of(order: Sequence[Seating]) -> list[dict[str, Any]]:
    """The play order as a row keeps it: [{"seat": 3, "player": "u12"}, ...], the button last."""
    return [{"seat": seating.seat, "player": seating.player.ref} for seating in order]


def _row(table: Table, order: list[Seating], *, left: Mapping[str, Any], announced: Sequence[str]) -> Hand:
    """The row of the next hand from a real pack, not saved yet."""
    held, carried = table_selectors.before_a_hand(table, order)
    owed = fees.due(table, order)
    options = engine.resolve(table.game, table.options, len(order), announced=announced)
    rules_id, players = engine.game_info(table.game).rules_id, [seating.player.ref for seating in order]
    carry = carried.whole
    return Hand(
        house=table.house,
        table=table,
        session=order[0].session,
        number=table.hands_dealt + 1,
        name=table.next_hand,
        mode=Mode.PHYSICAL,
        game=table.game,
        rules=rules_id,
        options=options,
        seats=seats_of(order),
        stacks=[held[seating.player.ref] - fees.of_seat(owed, seat) for seat, seating in enumerate(order, 1)],
        carry=carry,
        fees=owed,
        series=series.due(rules_id, table.game, options, players, left, carry),
        previous_hash=table.last_record_hash,
    )


def _require_fees(hand: Hand) -> None:
    """Refuse a deal if its players cannot pay for their seats. Raises Unprocessable stack_too_short."""
    for number, stack in enumerate(hand.stacks, 1):
        if stack < 0:
            raise _too_short(hand, StackTooShort("nothing is left for the fee", seat=number, min=0)) from None


def _require_tray(table: Table, seats: int, seen: Seen) -> None:
    policy = engine.game_info(table.game).policy
    trays.require_tray(table, policy, terms.rules(table.game, table.options, seats), seats, seen.chips)


def _too_short(hand: Hand, error: StackTooShort) -> Unprocessable:
    """The engine's refusal in the words of the table."""
    number = int(str(error.expected["seat"]))
    short, fee = hand.seats[number - 1], fees.of_seat(hand.fees, number)
    besides = f" besides the fee of {hand.table.house.money(fee)}" if fee else ""
    return Unprocessable(
        f"{short['player']} on seat {short['seat']} has too little for a hand: {error.message}{besides}. Add chips, or "
        "let the seat sit out.",
        code=error.code,
        min=int(str(error.expected["min"])) + fee,
        **short,
    )
