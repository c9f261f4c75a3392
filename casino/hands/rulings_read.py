"""Reading what was decided on a hand, and what waits for a decision."""

from typing import Any

from casino.approvals.models import Approval, ApprovalKind, ApprovalState
from casino.core.errors import Conflict
from casino.hands import readings, selectors
from casino.hands.models import Hand, HandState
from casino.hands.readings import Claim
from casino.houses.models import ClockTimestamp, House


def of(house: House, name: str) -> dict[str, Any]:
    """The hand's stored result, its readings, and its rulings, the oldest first; amounts in minor units. Raises
    NotFound, Conflict hand_in_play."""
    hand = selectors.get(house, name)
    if hand.state == HandState.PLAYING:
        raise Conflict(f"Hand {name} is still being played.", code="hand_in_play")
    return {
        "hand": hand.name,
        "table": hand.table.code,
        "state": hand.state,
        "stored": hand.result,
        "recorded": readings.recorded(hand),
        "asked": _asked(hand),
        "ruling": hand.ruling,
        "later": [
            {
                "ruling": row.number,
                "tax_refunded": row.tax_refunded,
                "fee_refunded": row.fee_refunded,
                "made_good": row.made_good,
                "collected": row.collected,
                "readings": row.readings,
                "reason": row.reason,
                "settlement": row.settlement,
                "at": row.at,
            }
            for row in hand.later_rulings.order_by("number")
        ],
    }


def _asked(hand: Hand) -> list[dict[str, Any]]:
    """What rulings that wait for a manager claim of the hand."""
    waiting = Approval.objects.filter(
        house=hand.house, kind=ApprovalKind.RULING, state=ApprovalState.REQUESTED, expires_at__gt=ClockTimestamp()
    )
    found = []
    for one in waiting.order_by("number"):
        named = one.body.get("hand") or one.path.rstrip("/").split("/")[-2]
        if named == hand.name:
            claims = [Claim(claim["line"], claim["text"]) for claim in one.body.get("claimed", ())]
            found.append({"approval": one.number} | readings.claimed(hand, claims))
    return found
