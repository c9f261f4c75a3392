"""What a player pays the house for a seat, where the game has no pot to tax.

A table asks so much for every deal, or for every hour. Who pays is settled when a hand is dealt: the fee is set aside
then, so that the hand cannot lose it, and paid with the hand's settlement. A hand that is voided or ruled on pays none.
An hour begins with a deal that paid for one; a player who has paid may leave and come back in the same session.
"""

from collections.abc import Sequence
from typing import Any

import engine
from casino.chips import selectors as chips
from casino.core import sql
from casino.core.errors import Unprocessable
from casino.hands.models import HandState
from casino.houses.models import House
from casino.tables.models import FeePer, Seating, Table

_PAID = """
SELECT DISTINCT seat.value->>'player'
FROM hands_hand hand, jsonb_array_elements(hand.seats) WITH ORDINALITY AS seat (value, number)
WHERE hand.session_id = %s AND hand.state = %s AND hand.fees->>'per' = %s
  AND (hand.fees->'amounts'->>(seat.number::int - 1))::bigint > 0
  AND hand.started_at > clock_timestamp() - interval '1 hour'
"""


def require_terms(house: House, game: str, max_stack: int, amount: int) -> None:
    """Refuse a fee that the table's game does not take, or that chips cannot make: `amount` in minor units, 0 for none.

    Raises Unprocessable no_seat_fee or amount_not_payable.
    """
    if not amount:
        return
    require_charged_by_seat(game)
    if not max_stack:
        raise Unprocessable(
            "Players have no chips at this table, so no player could pay a fee.", code="no_seat_fee", max_stack=0
        )
    chips.in_use(house).require_payable(amount, "A seat's fee")


def require_charged_by_seat(game: str) -> None:
    """Refuse a fee for a seat where the house takes tax of the pot. Raises Unprocessable no_seat_fee."""
    if engine.game_info(game).policy.charge != "seat":
        raise Unprocessable(f"A table of {game} pays tax, so it has no seat fee.", code="no_seat_fee", charge="tax")


def due(table: Table, order: Sequence[Seating]) -> dict[str, Any]:
    """What the players of a deal, p1 first, owe for it, as `Hand.fees` keeps it; nothing where no player owes a fee."""
    if not table.seat_fee:
        return {}
    paid: set[str] = set()
    if table.seat_fee_per == FeePer.HOUR:
        paid = {player for (player,) in sql.rows(_PAID, [order[0].session_id, HandState.SETTLED, FeePer.HOUR])}
    amounts = [0 if seating.player.ref in paid else table.seat_fee for seating in order]
    return {"per": str(table.seat_fee_per), "amounts": amounts} if any(amounts) else {}


def of_seat(fees: dict[str, Any], seat: int) -> int:
    """What the engine's seat (1 is p1) pays, in minor units."""
    amounts = fees.get("amounts")
    return int(amounts[seat - 1]) if amounts else 0
