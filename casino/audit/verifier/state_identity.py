"""Who was paid or paid in: from an amount on that the house's control points say, a player of whom it was recorded
before who it is."""

from .state_approvals import Approvals
from .state_people import PERSON_KEY
from .state_rows import Handler, Row, Rows

#: Sales of chips and payments for them, and whose they are: a player's, or of somebody without a name.
_TRADES = (
    *("cage.buy_in", "cage.cash_out", "cage.bearer_buy_in", "cage.bearer_cash_out"),
    *("cage.noncash_buy_in", "cage.noncash_paid", "table.buy_in"),
)
_PAID_LATER = ("cage.payout_released", "payout.paid_by_bank")


class Identity:
    """Judges trades by the persons that events before them have recorded; who was forgotten is not known any more."""

    def __init__(self, rows: Rows, approvals: Approvals) -> None:
        self._rows, self._approvals = rows, approvals
        self.handlers: dict[str, Handler] = {
            **dict.fromkeys((*_TRADES, *_PAID_LATER), self._traded),
            "cage.corrected": self._corrected,
        }

    def _traded(self, doc: Row) -> None:
        self._judge(doc, doc["data"])

    def _corrected(self, doc: Row) -> None:
        right = doc["data"].get("right") or {}
        if right.get("kind") in _TRADES:
            self._judge(doc, right)

    def _judge(self, doc: Row, trade: Row) -> None:
        amount, player = trade["amount"], trade.get("player")
        if player is not None and self._rows.seek(PERSON_KEY, player) is not None:
            return
        limits = [points["identity_from"] for points in self._approvals.in_force_about(doc["at"])]
        if amount >= max(limits):
            problem = f"{doc['kind']} of {amount} with {player or 'somebody without a name'}, from {max(limits)} on"
            self._rows.find(
                "identity_missing", f"{doc['chain']}#{doc['seq']}", f"{problem} it must be recorded who that is"
            )
