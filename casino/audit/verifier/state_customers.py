"""Who was paid, paid in or put down chips that were not booked: from an amount on that the house's control points say,
a player of whom it was recorded before who it is."""

from .state_approvals import Approvals
from .state_people import PERSON_KEY
from .state_rows import Handler, Row, Rows

#: Sales of chips and payments for them, and whose they are: a player's, or of somebody without a name.
_TRADES = (
    *("cage.buy_in", "cage.cash_out", "cage.bearer_buy_in", "cage.bearer_cash_out"),
    *("cage.noncash_buy_in", "cage.noncash_paid", "table.buy_in"),
)
_PAID_LATER = ("cage.payout_released", "payout.paid_by_bank")


class Customers:
    """Judges trades by the persons that events before them have recorded; who was forgotten is not known any more."""

    def __init__(self, rows: Rows, approvals: Approvals) -> None:
        self._rows, self._approvals = rows, approvals
        self.handlers: dict[str, Handler] = {
            **dict.fromkeys((*_TRADES, *_PAID_LATER), self._traded),
            "cage.corrected": self._corrected,
            **dict.fromkeys(("table.sat_down", "table.chips_added"), self._put_down),
        }

    def _traded(self, doc: Row) -> None:
        self._judge(doc, doc["data"])

    def _corrected(self, doc: Row) -> None:
        right = doc["data"].get("right") or {}
        if right.get("kind") in _TRADES:
            self._judge(doc, right)

    def _put_down(self, doc: Row) -> None:
        """Chips that lie in front of a player now: what was brought and not booked is a trade without a name."""
        data, table = doc["data"], doc["chain"].partition("/")[2]
        brought, player = data.get("brought", 0), data["player"]
        if brought:
            self._judge(doc, {"amount": brought, "player": player})
        posted: dict[str, int] = {}
        for posting in doc.get("postings", ()):
            for code, _, amount in posting.get("legs", ()):
                posted[code] = posted.get(code, 0) + amount
        owed_to_nobody = f"2015/{table}"
        if not brought and owed_to_nobody not in posted:
            return
        booked = {f"2010/{player}": data["amount"] - brought, owed_to_nobody: brought}
        recorded = booked | {f"2020/{table}/{player}": -data["amount"]}
        if brought < 0 or posted != {code: amount for code, amount in recorded.items() if amount}:
            problem = f"{player} put down {data['amount']}, of which {brought} were not booked; posted was {posted}"
            self._rows.find("state_event_differs", f"{doc['chain']}#{doc['seq']}", problem)

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
