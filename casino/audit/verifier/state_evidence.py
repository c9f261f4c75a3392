"""Complaints, legal holds and the sealed register, rebuilt from the house's chain.

Of evidence, the hash of a hand's record must be the one that the hand's events have. A hold is set and lifted by two
persons, but for that of a complaint; what it covers is neither forgotten nor deleted (`state_retention.py`).
"""

from datetime import datetime
from typing import Any

from .state_approvals import Approvals, moved
from .state_columns import HOUSE, ID, Model, hashed, proved, transient
from .state_people import SYSTEM
from .state_rows import TOLERANCE, Handler, Near, Row, Rows, seconds_between

HAND = "hands.Hand"
COMPLAINT, TEXT, HOLD = "evidence.Complaint", "evidence.ComplaintText", "evidence.LegalHold"
ENTRY = "evidence.SealedEntry"
_OPENED, _ANSWERED = "complaint.opened", "complaint.answered"
_ESCALATED, _CLOSED = "complaint.escalated", "complaint.closed"
_SET, _LIFTED = f"legal_hold.set, {_OPENED}", f"legal_hold.lifted, {_CLOSED}"
MODELS = (
    Model(
        COMPLAINT,
        "number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(
                ("number", "kind", "player", "arrived_at", "due_at", "evidence", "opened_by", "opened_at"),
                proved(_OPENED),
            ),
            "state": proved(f"{_OPENED}, {_ANSWERED}, {_ESCALATED}, {_CLOSED}"),
            **dict.fromkeys(("answered_by", "answered_at"), proved(_ANSWERED)),
            **dict.fromkeys(("adr", "escalated_by", "escalated_at"), proved(_ESCALATED)),
            **dict.fromkeys(("outcome", "ended_by", "ended_at"), proved(_CLOSED)),
        },
    ),
    Model(
        TEXT,
        "complaint/step",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(("complaint", "step", "sealed_sha256"), proved("the event of the step")),
            "sealed": hashed("the event of the step"),
        },
    ),
    Model(
        HOLD,
        "number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(
                ("number", "scope", "player", "hand", "complaint", "first_day", "last_day", "reason", "set_by",
                 "set_at"),
                proved(_SET),
            ),
            **dict.fromkeys(("lifted_by", "lifted_at", "lifted_reason"), proved(_LIFTED)),
        },
    ),
    Model(
        ENTRY,
        "number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(("number", "sealed_sha256", "at"), proved("sealed.entry, retention.ran")),
            **dict.fromkeys(
                ("wrapped", "sealed"), transient("`sealed_sha256` is of both; who holds the seal key opens them")
            ),
        },
    ),
)  # fmt: skip
#: From which state each step leads on.
_FROM = {
    "answered": ("open",), "escalated": ("open", "answered"), "closed": ("open", "answered", "escalated"),
}  # fmt: skip
#: Outcomes of what nobody has answered.
_WITHOUT_ANSWER = ("settled", "withdrawn")
_ANSWER_DAYS = ("complaint_answer_days", 56)


class Evidence:
    """Rows of complaints, holds and entries."""

    def __init__(self, rows: Rows, approvals: Approvals) -> None:
        self._rows, self._approvals = rows, approvals
        #: Hashes of hands' records, by hand.
        self._records: dict[str, str] = {}
        #: Number of the newest entry of the sealed register.
        self._entries = 0
        self.handlers: dict[str, Handler] = {
            _OPENED: self._opened,
            _ANSWERED: lambda doc: self._step(doc, "answered"),
            _ESCALATED: lambda doc: self._step(doc, "escalated"),
            _CLOSED: lambda doc: self._step(doc, "closed"),
            "legal_hold.set": self._set,
            "legal_hold.lifted": self._lifted,
            "sealed.entry": self._entry,
            "hand.dealt": self._record,
            "hand.acted": self._record,
        }

    # --- Complaints --------------------------------------------------------------------------------------------------

    def _record(self, doc: Row) -> None:
        if (digest := doc["data"].get("record_hash")) is not None:
            self._records[doc["data"]["hand"]] = digest

    def _opened(self, doc: Row) -> None:
        data, place = doc["data"], f"{COMPLAINT} {doc['data']['complaint']}"
        self._require_next(COMPLAINT, data["complaint"], place)
        if _after(data["arrived"], moved(doc["at"], TOLERANCE)):
            self._find(place, f"it was received at {data['arrived']}, after it was opened")
        name, default = _ANSWER_DAYS
        days = {points.get(name, default) for points in self._approvals.in_force_about(doc["at"])}
        if not any(seconds_between(moved(data["arrived"], 86_400 * one), data["due"]) < 1 for one in days):
            self._find(place, f"it is to be answered by {data['due']}, not {sorted(days)} days after {data['arrived']}")
        for one in data["evidence"]:
            self._judge_evidence(one, place)
        self._rows.add(
            COMPLAINT, str(data["complaint"]), number=data["complaint"], kind=data["complaint_kind"],
            player=data.get("player"), arrived_at=data["arrived"], due_at=data["due"], evidence=data["evidence"],
            opened_by=doc["actor"], opened_at=Near(doc["at"]), state="open", adr="", outcome="",
            **dict.fromkeys(("answered_by", "answered_at", "escalated_by", "escalated_at", "ended_by", "ended_at")),
        )  # fmt: skip
        self._text(doc, "open")
        self._add_hold(doc, "complaint", f"complaint {data['complaint']}", complaint=data["complaint"])

    def _judge_evidence(self, one: Row, place: str) -> None:
        if "hand" in one:
            known = self._records.get(one["hand"])
            if self._rows.seek(HAND, one["hand"]) is None:
                self._find(place, f"no event has dealt {one['hand']}")
            elif one["record_sha256"] != known:
                self._find(place, f"the record of {one['hand']} is {one['record_sha256']}, its events say {known}")
        elif self._rows.seek("cage.Drawer", one["drawer"]) is None:
            self._find(place, f"no event has set up {one['drawer']}")
        if one["first_seq"] > one["last_seq"]:
            self._find(place, f"its events end before they begin, in {one['chain']}")

    def _step(self, doc: Row, state: str) -> None:
        data, place = doc["data"], f"{COMPLAINT} {doc['data']['complaint']}"
        row = self._rows.get(COMPLAINT, str(data["complaint"]))
        if row["state"] not in _FROM[state]:
            self._find(place, f"it was {row['state']}, then {state}")
        who = {"answered": "answered", "escalated": "escalated", "closed": "ended"}[state]
        if state == "escalated":
            row["adr"] = data["adr"]
        if state == "closed":
            if row["state"] == "open" and data["outcome"] not in _WITHOUT_ANSWER:
                self._find(place, f"nobody has answered it, and it is {data['outcome']}")
            row["outcome"] = data["outcome"]
            self._end_hold(doc, data["legal_hold"], f"complaint {data['complaint']} is closed", data["complaint"])
        row.update({"state": state, f"{who}_by": doc["actor"], f"{who}_at": Near(doc["at"])})
        self._text(doc, state)

    def _text(self, doc: Row, step: str) -> None:
        number, digest = doc["data"]["complaint"], doc["data"]["text_sha256"]
        self._rows.add(
            TEXT, f"{number}/{step}", complaint=str(number), step=step, sealed=digest, sealed_sha256=digest
        )  # fmt: skip

    # --- Legal holds -------------------------------------------------------------------------------------------------

    def _set(self, doc: Row) -> None:
        data = doc["data"]
        what = {name: data.get(name) for name in ("player", "hand", "first_day", "last_day")}
        self._add_hold(doc, data["scope"], doc["reason"], **what)

    def _add_hold(self, doc: Row, scope: str, reason: str, **what: Any) -> None:
        number = doc["data"]["legal_hold"]
        self._require_next(HOLD, number, f"{HOLD} {number}")
        complaint = what.get("complaint")
        self._rows.add(
            HOLD, str(number), number=number, scope=scope, player=what.get("player"), hand=what.get("hand"),
            complaint=None if complaint is None else str(complaint), first_day=what.get("first_day") or "",
            last_day=what.get("last_day") or "", reason=reason, set_by=doc["actor"], set_at=Near(doc["at"]),
            lifted_by=None, lifted_at=None, lifted_reason="",
        )  # fmt: skip

    def _lifted(self, doc: Row) -> None:
        self._end_hold(doc, doc["data"]["legal_hold"], doc["reason"], None)

    def _end_hold(self, doc: Row, number: int, reason: str, complaint: int | None) -> None:
        row, place = self._rows.get(HOLD, str(number)), f"{HOLD} {number}"
        if row["lifted_at"] is not None:
            self._find(place, "it had been lifted")
        if row["complaint"] != (None if complaint is None else str(complaint)):
            self._find(place, f"it is of complaint {row['complaint']}, and {doc['kind']} ends it")
        row.update(lifted_by=doc["actor"], lifted_at=Near(doc["at"]), lifted_reason=reason)

    # --- The sealed register -----------------------------------------------------------------------------------------

    def _entry(self, doc: Row) -> None:
        data = doc["data"]
        if data["entry"] != self._entries + 1:
            self._rows.find("serial_gap", f"{ENTRY} {data['entry']}", f"it comes after {self._entries}")
        self._entries = data["entry"]
        # Runs of retention write one for each month that ends (`state_retention.py`).
        if doc["role"] not in ("compliance", SYSTEM):
            self._rows.find("actor_without_role", f"{ENTRY} {data['entry']}", f"{doc['role']} uses the sealed register")
        self._rows.add(
            ENTRY, str(data["entry"]), number=data["entry"], sealed_sha256=data["sealed_sha256"], at=Near(doc["at"])
        )  # fmt: skip

    def _require_next(self, model: str, number: int, place: str) -> None:
        before = len(self._rows.of(model))
        if number != before + 1:
            self._rows.find("serial_gap", place, f"it comes after {before}")

    def _find(self, place: str, problem: str) -> None:
        self._rows.find("state_event_differs", place, problem)


def _after(one: str, other: str) -> bool:
    """Whether a moment is later than another one."""
    return datetime.fromisoformat(one) > datetime.fromisoformat(other)
