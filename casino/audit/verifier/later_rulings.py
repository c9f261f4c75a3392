"""Rulings on hands whose money has moved: each the next one of its hand, and its postings exactly what it decides."""

from typing import Any

from .events import Row, place_of
from .findings import Report
from .hand import Hand, fees_of
from .shelf import Shelf, Shelved, declare

RULED_LATER = "hand.ruled_later"


@declare
class _Over:
    """A hand whose money has moved: its table, who sat where, the tax that was not refunded, its next ruling."""

    __slots__ = ("fees", "next", "players", "table", "tax")

    def __init__(self, hand: Hand) -> None:
        summary = hand.summary
        self.table = hand.table
        self.players = [seat["player"] for seat in summary["seats"]]
        decided: Any = summary["ruling"] if hand.state == "ruled" else summary.get("result")
        self.tax: int = (decided or {}).get("tax", 0)
        #: Only a settlement takes fees.
        self.fees = list(fees_of(summary)) if hand.state == "settled" else [0] * len(self.players)
        self.next = 2 if hand.state == "ruled" else 1


class LaterRulings:
    """Later rulings against the hands that they are on."""

    KEPT = ()

    def __init__(self, report: Report, currency: str, shelf: Shelf) -> None:
        self._report, self._currency = report, currency
        self._over: Shelved[_Over] = Shelved(shelf, "hands that are over")

    def over(self, name: str, hand: Hand) -> None:
        """The money of a hand has moved, unless it is void."""
        if hand.state in ("settled", "ruled"):
            self._over[name] = _Over(hand)

    def shelve(self) -> None:
        """Set aside what is no longer needed in memory."""
        self._over.shelve()

    def take(self, doc: Row) -> None:
        """The next later ruling."""
        data = doc["data"]
        name = data["hand"]
        hand = self._over.get(name)
        if hand is None or doc["chain"] != f"table/{hand.table}":
            self._wrong(name, f"{place_of(doc)} rules on it, and its money has not moved there")
            return
        if data["ruling"] != hand.next:
            self._wrong(name, f"{place_of(doc)} is ruling {data['ruling']} on it, the next one is {hand.next}")
        hand.next += 1
        hand.tax -= sum(data["tax_refunded"].values())
        if hand.tax < 0:
            self._wrong(name, f"{place_of(doc)} refunds {-hand.tax} more than its tax", "hand_money_differs")
        for actor, amount in (data.get("fee_refunded") or {}).items():
            seat = int(actor[1:]) if actor[1:].isdecimal() else 0
            if 0 < seat <= len(hand.fees):
                hand.fees[seat - 1] -= amount
        if min(hand.fees, default=0) < 0:
            problem = f"{place_of(doc)} refunds {-min(hand.fees)} more than a seat's fee"
            self._wrong(name, problem, "hand_money_differs")
        expected, moved = _due(hand, data), self._moved(doc)
        for code in sorted(expected.keys() | moved.keys()):
            if moved.get(code, 0) != expected.get(code, 0):
                problem = f"{place_of(doc)}: {code} moved by {moved.get(code, 0)}, debit positive; the ruling says "
                self._wrong(name, f"{problem}{expected.get(code, 0)}", "hand_money_differs")
        posted = [posting["tx"] for posting in doc.get("postings", ())]
        if posted != ([] if data["settlement"] is None else [data["settlement"]]):
            self._wrong(name, f"{place_of(doc)} names transaction {data['settlement']}, and records {posted}")

    def _moved(self, doc: Row) -> dict[str, int]:
        """What the event's postings moved in money, by account code, debit positive."""
        moved: dict[str, int] = {}
        for posting in doc.get("postings", ()):
            for code, commodity, amount in posting.get("legs", ()):
                if commodity == self._currency:
                    moved[code] = moved.get(code, 0) + amount
        return moved

    def _wrong(self, name: str, problem: str, code: str = "hand_differs") -> None:
        self._report.find(code, f"hand {name}", problem)


def _due(hand: _Over, data: Row) -> dict[str, int]:
    """What a ruling moves, by account code, debit positive."""
    due: dict[str, int] = {}

    def add(code: str, amount: int) -> None:
        due[code] = due.get(code, 0) + amount

    def stack(actor: str) -> str:
        number = int(actor[1:]) if actor[1:].isdecimal() else 0
        player = hand.players[number - 1] if 0 < number <= len(hand.players) else actor
        return f"2020/{hand.table}/{player}"

    for name, source in (("tax_refunded", "4010"), ("fee_refunded", "4020"), ("made_good", "5230")):
        for actor, amount in (data.get(name) or {}).items():
            add(f"{source}/{hand.table}", amount)
            add(stack(actor), -amount)
    for one in data["collected"]:
        add(stack(one["loser"]), one["amount"])
        add(stack(one["winner"]), -one["amount"])
    return {code: amount for code, amount in due.items() if amount}
