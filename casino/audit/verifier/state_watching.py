"""Unknown persons, lines of the log of transactions, returns that were filed and rates of the euro, rebuilt from
events; and trades of an unknown person judged by what the log knew: the sums that an event says are those of the lines
before it, and from the threshold on it must be known who it is.

A trade's own event makes its line. What was withdrawn, and what a correction has taken back, counts no more.
"""

from typing import Any

from .state_approvals import Approvals, moved
from .state_columns import HOUSE, ID, Model, hashed, proved
from .state_flows import DIRECTIONS
from .state_rows import Handler, Near, Row, Rows

UNKNOWN, LINE = "watching.UnknownPerson", "watching.LogLine"
FILING, RATE = "watching.Filing", "watching.EuroRate"
_OPENED, _IDENTIFIED = "unknown_person.opened", "unknown_person.identified"
_TRADES = ("cage.bearer_buy_in", "cage.bearer_cash_out")
_ENTERED, _WITHDRAWN = f"log_line.entered, {', '.join(_TRADES)}", "log_line.withdrawn"
MODELS = (
    Model(
        UNKNOWN,
        "number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(("number", "opened_by", "opened_at"), proved(_OPENED)),
            "description": hashed(_OPENED),
            **dict.fromkeys(("player", "identified_by", "identified_at"), proved(_IDENTIFIED)),
        },
    ),
    Model(
        LINE,
        "number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(
                ("number", "unknown_person", "player", "capacity", "transaction", "day", "place", "kind", "direction",
                 "amount", "entered_by", "entered_at"),
                proved(_ENTERED),
            ),
            "note": hashed(_ENTERED),
            **dict.fromkeys(("withdrawn_by", "withdrawn_at", "withdrawn_reason"), proved(_WITHDRAWN)),
        },
    ),
    Model(
        FILING,
        "number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(
                ("number", "transaction", "return_number", "filed_on", "filed_by", "filed_at", "approval"),
                proved("return.filed"),
            ),
        },
    ),
    Model(
        RATE,
        "number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(
                ("number", "valid_from", "millionths", "source", "set_by", "set_at", "approval"),
                proved("euro_rate.set"),
            ),
        },
    ),
)  # fmt: skip
#: Seconds by which the earliest date on earth is ahead of UTC.
_EARLIEST_DATE = 14 * 3_600.0
#: SHA-256 of no bytes: nothing was said.
_NOTHING = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


class Watching:
    """Rows of what was written down for compliance."""

    def __init__(self, rows: Rows, approvals: Approvals) -> None:
        self._rows, self._approvals = rows, approvals
        #: The ledger's transactions by event, and those that were taken back.
        self._posted: dict[tuple[str, int], list[int]] = {}
        self._undone: set[int] = set()
        self.handlers: dict[str, Handler] = {
            _OPENED: self._opened,
            _IDENTIFIED: self._identified,
            "log_line.entered": self._entered,
            _WITHDRAWN: self._withdrawn,
            "return.filed": self._filed,
            "euro_rate.set": self._rate_set,
            **dict.fromkeys(DIRECTIONS, self._traded),
            "cage.corrected": self._corrected,
        }

    # --- Unknown persons ---------------------------------------------------------------------------------------------

    def _opened(self, doc: Row) -> None:
        number = doc["data"]["unknown_person"]
        self._require_next(doc, UNKNOWN, number)
        self._rows.add(
            UNKNOWN, str(number), number=number, description=doc["data"]["description_sha256"],
            opened_by=doc["actor"], opened_at=Near(doc["at"]), player=None, identified_by=None, identified_at=None,
        )  # fmt: skip

    def _identified(self, doc: Row) -> None:
        row = self._unidentified(doc, doc["data"]["unknown_person"])
        row.update(player=doc["data"]["player"], identified_by=doc["actor"], identified_at=Near(doc["at"]))

    def _unidentified(self, doc: Row, number: int) -> Row:
        row = self._rows.get(UNKNOWN, str(number))
        if row["player"] is not None:
            self._differs(doc, f"unknown person {number} is {row['player']} already")
        return row

    # --- Lines -------------------------------------------------------------------------------------------------------

    def _traded(self, doc: Row) -> None:
        """Remember what it posted; a trade that names an unknown person is a line too."""
        posted = [one["tx"] for one in doc.get("postings", ())]
        self._posted[doc["chain"], doc["seq"]] = posted
        data = doc["data"]
        if "unknown_person" not in data:
            return
        number, linked = data["unknown_person"], data.get("linked")
        self._unidentified(doc, number)
        said: dict[str, Any] = linked if isinstance(linked, dict) else {}
        place = doc["chain"].partition("/")[2]
        self._add(
            doc, data["log_line"], str(number), None, capacity="self", transaction=next(iter(posted), None),
            day=said.get("day") or "", place=place, kind=doc["kind"], direction=DIRECTIONS[doc["kind"]],
            amount=data["amount"], note=_NOTHING,
        )  # fmt: skip
        paid = self._sums(str(number), said.get("day") or "")
        expected = {"day": said.get("day"), "paid_in": paid["in"], "paid_out": paid["out"]}
        if said != expected:
            self._differs(doc, f"it says {said} of unknown person {number}, the log has {expected}")
        self._judge(doc, number, paid[DIRECTIONS[doc["kind"]]])

    def _judge(self, doc: Row, number: int, paid: int) -> None:
        threshold = max(points["identity_from"] for points in self._approvals.in_force_about(doc["at"]))
        if paid >= threshold:
            problem = f"unknown person {number} has come to {paid} with it, from {threshold} on it must be known who"
            self._rows.find("identity_missing", f"{doc['chain']}#{doc['seq']}", problem)

    def _corrected(self, doc: Row) -> None:
        """What is taken back counts no more."""
        self._undone.update(self._posted.get((doc["chain"], doc["data"]["corrects"]), ()))
        undone = {one.get("reverses") for one in doc.get("postings", ())}
        self._posted[doc["chain"], doc["seq"]] = [
            one["tx"] for one in doc.get("postings", ()) if one.get("reverses") is None
        ]
        self._undone.update(one for one in undone if one is not None)

    def _entered(self, doc: Row) -> None:
        data = doc["data"]
        number, transaction = data.get("unknown_person"), data.get("transaction")
        if (number is None) == ("player" not in data):
            self._differs(doc, "a line is about an unknown person or about a player")
        if number is not None:
            self._unidentified(doc, number)
        if transaction is not None:
            self._require_free(doc, transaction, data["capacity"])
        self._add(
            doc, data["line"], None if number is None else str(number), data.get("player"), capacity=data["capacity"],
            transaction=transaction, day=data["day"], place=data["place"], kind=data["line_kind"],
            direction=data["direction"], amount=data["amount"], note=data.get("note_sha256") or _NOTHING,
        )  # fmt: skip

    def _require_free(self, doc: Row, transaction: int, capacity: str) -> None:
        if transaction in self._undone:
            self._differs(doc, f"transaction {transaction} was taken back before")
        standing = [
            row
            for row in self._rows.of(LINE).values()
            if row["transaction"] == transaction and row["withdrawn_at"] is None and row["capacity"] == "self"
        ]
        if capacity == "self" and standing:
            self._differs(doc, f"line {standing[0]['number']} says who has made transaction {transaction}")

    def _add(self, doc: Row, number: int, person: str | None, player: str | None, **columns: Any) -> None:
        self._require_next(doc, LINE, number)
        self._rows.add(
            LINE, str(number), number=number, unknown_person=person, player=player, entered_by=doc["actor"],
            entered_at=Near(doc["at"]), withdrawn_by=None, withdrawn_at=None, withdrawn_reason="", **columns,
        )  # fmt: skip

    def _withdrawn(self, doc: Row) -> None:
        row = self._rows.get(LINE, str(doc["data"]["line"]))
        if row["withdrawn_at"] is not None:
            self._differs(doc, f"line {row['number']} was withdrawn before")
        row.update(withdrawn_by=doc["actor"], withdrawn_at=Near(doc["at"]), withdrawn_reason=doc["reason"])

    def _sums(self, person: str, day: str) -> dict[str, int]:
        """What the lines of a person's gaming day come to, by direction."""
        found = {"in": 0, "out": 0}
        for row in self._rows.of(LINE).values() if day else ():
            counts = row["withdrawn_at"] is None and row["transaction"] not in self._undone
            if row["unknown_person"] == person and row["day"] == day and counts:
                found[row["direction"]] = found.get(row["direction"], 0) + row["amount"]
        return found

    # --- Returns and rates -------------------------------------------------------------------------------------------

    def _filed(self, doc: Row) -> None:
        data = doc["data"]
        self._require_next(doc, FILING, data["filing"])
        if any(row["transaction"] == data["transaction"] for row in self._rows.of(FILING).values()):
            self._differs(doc, f"a return about transaction {data['transaction']} was filed before")
        if data["filed_on"] > moved(doc["at"], _EARLIEST_DATE)[:10]:
            self._differs(doc, f"it was filed on {data['filed_on']}, and noted before")
        self._rows.add(
            FILING, str(data["filing"]), number=data["filing"], transaction=data["transaction"],
            return_number=data["return_number"], filed_on=data["filed_on"], filed_by=doc["actor"],
            filed_at=Near(doc["at"]), approval=data.get("approval"),
        )  # fmt: skip

    def _rate_set(self, doc: Row) -> None:
        data = doc["data"]
        self._require_next(doc, RATE, data["number"])
        self._rows.add(
            RATE, str(data["number"]), number=data["number"], valid_from=data["valid_from"],
            millionths=data["millionths"], source=data["source"], set_by=doc["actor"], set_at=Near(doc["at"]),
            approval=data.get("approval"),
        )  # fmt: skip

    # --- Findings ----------------------------------------------------------------------------------------------------

    def _require_next(self, doc: Row, model: str, number: int) -> None:
        if number != 1 and self._rows.seek(model, str(number - 1)) is None:
            self._rows.find("serial_gap", f"{model} {number}", f"number {number - 1} is missing before it")

    def _differs(self, doc: Row, problem: str) -> None:
        self._rows.find("log_of_transactions_differs", f"{doc['chain']}#{doc['seq']}", problem)
