"""Corrections at a drawer: each takes back one entry of the same shift that stands, with all that it has posted and
nothing else, by another person, who is independent of the one who made it; what it makes instead posts what it says."""

from typing import Any

from .state_people import related
from .state_rows import Handler, Row, Rows

#: What a kind of entry does with the cash of its drawer: takes its amount in, pays it out, or neither.
_CASH = {
    "cage.buy_in": 1, "cage.bearer_buy_in": 1, "cage.cash_out": -1, "cage.bearer_cash_out": -1,
    "cage.foreign_chips": -1, "cage.exchange": 0,
}  # fmt: skip
#: What can be taken back.
_ENTRIES = (*_CASH, "cage.table_fee")
#: With these the entries of a drawer are out of reach: a shift begins, or what it holds was counted.
_ENDS = ("drawer.opened", "drawer.reopened", "drawer.counted", "drawer.closed")


class Corrections:
    """Judges each correction by the entries of its shift."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        #: By chain of a drawer, of the shift in progress: kind, actor and transactions of each entry by its number;
        #: None where it was taken back.
        self._entries: dict[str, dict[int, tuple[str, str, list[int]] | None]] = {}
        self.handlers: dict[str, Handler] = {
            **dict.fromkeys(_ENTRIES, self._entered),
            **dict.fromkeys(_ENDS, self._ended),
            "cage.corrected": self._corrected,
        }

    def _entered(self, doc: Row) -> None:
        posted = [posting["tx"] for posting in doc.get("postings", ())]
        self._entries.setdefault(doc["chain"], {})[doc["seq"]] = doc["kind"], doc["actor"], posted

    def _ended(self, doc: Row) -> None:
        self._entries.pop(doc["chain"], None)

    def _corrected(self, doc: Row) -> None:
        data, entries = doc["data"], self._entries.get(doc["chain"], {})
        number = data["corrects"]
        self._judge_right(doc)
        if number not in entries:
            self._differs(doc, f"entry {number} is none of this shift that can be corrected")
            return
        entry = entries[number]
        if entry is None:
            self._differs(doc, f"entry {number} was corrected before")
            return
        entries[number] = None
        kind, made_by, posted = entry
        if data["was"] != kind:
            self._differs(doc, f"entry {number} is {kind}, the correction says {data['was']}")
        mirrors = {one["reverses"]: one["tx"] for one in doc.get("postings", ()) if "reverses" in one}
        # By the keys of what they mirror, which events do not have.
        said = sorted(data["mirrors"].values())
        if sorted(mirrors) != sorted(posted) or said != sorted(mirrors.values()):
            self._differs(doc, f"entry {number} has posted {posted}; reversed was {mirrors}, and said to be {said}")
        self._judge_person(doc, made_by)

    def _judge_person(self, doc: Row, made_by: str) -> None:
        actor, place = doc["actor"], f"{doc['chain']}#{doc['seq']}"
        if made_by == actor:
            self._rows.find("same_person", place, f"{actor} has made the entry and corrects it")
        elif (by := related(self._rows, made_by, actor)) is not None:
            problem = f"{actor} corrects what {made_by} has entered, and {by} hired the other or gave a password"
            self._rows.find("approver_not_independent", place, problem)

    def _judge_right(self, doc: Row) -> None:
        """The cash that comes into the drawer by the right entry is what that says, and none where there is no entry:
        what lacked for the mirror was booked without cash."""
        right: dict[str, Any] = doc["data"].get("right") or {}
        kind, till = right.get("kind"), f"1020/{doc['chain'].partition('/')[2]}"
        posted = sum(
            amount for posting in doc.get("postings", ()) for code, _, amount in posting.get("legs", ()) if code == till
        )
        if right and kind not in _CASH:
            self._differs(doc, f"{kind} stands for it, which cannot")
            return
        amount = right.get("foreign_chips", right).get("amount", 0)
        moved = amount * _CASH[kind] if kind in _CASH else 0
        if posted != moved:
            self._differs(doc, f"the right entry brings {moved} into the drawer, posted was {posted}")

    def _differs(self, doc: Row, problem: str) -> None:
        self._rows.find("correction_differs", f"{doc['chain']}#{doc['seq']}", problem)
