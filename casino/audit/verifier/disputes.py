"""Disputes of hands: what they freeze, and that only the floor's own are withdrawn, by who raised them or a manager."""

from typing import Protocol

from .events import Row, place_of
from .hand import WITHDRAWN, Dispute, Hand


class Wrong(Protocol):
    """Takes the name of a hand, what is wrong with it, and the code of that."""

    def __call__(self, name: str, problem: str, code: str = ...) -> None:
        """Report it."""


class Disputes:
    """Judges the disputes of hands in a house of this currency."""

    KEPT = ()

    def __init__(self, wrong: Wrong, currency: str) -> None:
        self._wrong, self._currency = wrong, currency

    def take(self, hand: Hand, doc: Row) -> None:
        """The next event of a dispute of the hand, whose postings count already."""
        if doc["kind"] == WITHDRAWN:
            self._withdrawn(hand, doc)
        else:
            self._disputed(hand, doc)

    def _disputed(self, hand: Hand, doc: Row) -> None:
        """By a worker, or by the floor, whose event says what the hand was `before`."""
        data = doc["data"]
        if "before" in data:
            posted = {one["tx"]: self._moved(one) for one in doc.get("postings", ()) if "legs" in one}
            hand.dispute = Dispute(doc["actor"], hand.state, data["frozen"], posted)
        if data.get("before", hand.state) != hand.state:
            self._wrong(data["hand"], f"its dispute says that it was {data['before']}, it was {hand.state}")
        hand.state = "disputed"
        self.frozen(hand, data)

    def _moved(self, posting: Row) -> dict[str, int]:
        """What a posting moved of the house's money, by account code, debit positive."""
        moved: dict[str, int] = {}
        for code, commodity, amount in posting["legs"]:
            if commodity == self._currency:
                moved[code] = moved.get(code, 0) + amount
        return moved

    def _withdrawn(self, hand: Hand, doc: Row) -> None:
        """A dispute of the floor is withdrawn by who has raised it, or a manager: its postings are mirrored, nothing
        else is posted, and the hand goes on from where it was."""
        name, data, raised = doc["data"]["hand"], doc["data"], hand.dispute
        if raised is None:
            self._wrong(name, f"{place_of(doc)} withdraws a dispute of it, which the floor has not raised")
            hand.state = data["after"]
            return
        hand.dispute, hand.state = None, raised.before
        said = {"after": raised.before, "raised_by": raised.by, "returned": raised.frozen}
        for key, due in said.items():
            if data[key] != due:
                self._wrong(name, f"the withdrawal of its dispute says {key} {data[key]}, the dispute {due}")
        if doc["actor"] != raised.by and doc["role"] != "manager":
            problem = f"{doc['actor']} withdraws the dispute that {raised.by} has raised, and is no manager"
            self._wrong(name, problem, "not_your_dispute")
        mirrors = {one.get("reverses"): one["tx"] for one in doc.get("postings", ())}
        if mirrors.keys() != raised.posted.keys() or data["mirror"] != next(iter(mirrors.values()), None):
            problem = f"its dispute posted {sorted(raised.posted)}; withdrawn, reversed was {mirrors}"
            self._wrong(name, f"{problem}, and said to be {data['mirror']}", "hand_money_differs")
        for number, moved in raised.posted.items():
            hand.posted.remove(number)
            if number in hand.mirrored:
                hand.mirrored.remove(number)
                for code, amount in moved.items():
                    hand.money[code] = hand.money.get(code, 0) - amount

    def frozen(self, hand: Hand, data: Row) -> None:
        """The pot lies apart, as much of it as the event says."""
        expected = {f"2030/{hand.table}": 0, f"2070/{hand.table}": -data["frozen"]}
        for code, amount in expected.items():
            if hand.money.get(code, 0) != amount:
                problem = f"{code} moved by {hand.money.get(code, 0)}, debit positive; frozen are {data['frozen']}"
                self._wrong(data["hand"], problem, "hand_money_differs")
