"""A33: the register of disputed hands, how long each was open, and what became of its pot; and that of complaints."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from casino.bookkeeping.accounts import Account
from casino.evidence.models import Complaint
from casino.reports.frame.columns import Column, Row, Type, coded, count, money, ref, text, time
from casino.reports.frame.filters import DAYS, EVER, TABLE, DayRange
from casino.reports.frame.movements import events, held_before, recorded
from casino.reports.frame.reading import balances
from casino.reports.frame.report import (
    Equality,
    Filter,
    FilterKind,
    Report,
    Results,
    Retention,
    Scope,
    Section,
    Sensitivity,
)
from casino.reports.frame.span import turns
from casino.reports.frame.trail import DaysOfEvents, at, minutes, place
from casino.staff.models import Role

_BEGIN = ("hand.disputed", "hand.dispute_raised", "hand.bonus_refused")
_STATE_AFTER = {"hand.ruled": "ruled", "hand.voided": "voided", "hand.dispute_withdrawn": "withdrawn"}
_KINDS = (*_BEGIN, *_STATE_AFTER, "hand.ruled_later")
_COMPLAINTS = ("complaint.opened", "complaint.answered", "complaint.escalated", "complaint.closed")
STATE = Filter(
    "state", FilterKind.CHOICE, "Only disputes and complaints in this state.",
    choices=("open", *_STATE_AFTER.values(), "answered", "escalated", "closed"),
)  # fmt: skip
PLAYER = Filter("player", FilterKind.CODE, "Only complaints of this player.")


@dataclass(slots=True)
class _Dispute:
    """A hand that was disputed, from when to when."""

    hand: str
    event: int
    table: str
    begun: dict[str, Any]
    state: str = "open"
    ended: datetime | None = None
    ended_by: str = ""
    approver: str = ""
    decision: str = ""
    awarded: int = 0
    tax: int = 0
    later: int = 0

    @property
    def frozen(self) -> int:
        """What lay in the pot and the bank of the seats, minor units."""
        return int(self.begun["data"]["frozen"])

    def end(self, doc: dict[str, Any]) -> None:
        """Take up what was decided; a later ruling leaves the first one as it is."""
        if doc["kind"] == "hand.ruled_later":
            self.later += 1
            return
        self.state = _STATE_AFTER[doc["kind"]]
        self.ended, self.ended_by, self.approver = at(doc), doc["actor"], doc.get("approver", "")
        self.decision = doc.get("reason", "")
        if self.state == "ruled":
            self.awarded, self.tax = sum(doc["data"]["awards"].values()), doc["data"]["tax"]


def _disputes(scope: Scope) -> list[_Dispute]:
    """All of them as they were raised. A hand whose dispute was withdrawn may be disputed again."""
    found: list[_Dispute] = []
    newest: dict[str, _Dispute] = {}
    for event, chain, _, doc in events(scope, _KINDS):
        hand = doc["data"]["hand"]
        if doc["kind"] in _BEGIN:
            newest[hand] = _Dispute(hand, event, place(chain), doc)
            found.append(newest[hand])
        elif hand in newest:
            newest[hand].end(doc)
    return found


@dataclass(slots=True)
class _Complaint:
    """A complaint and its steps so far: who, when."""

    event: int
    opened: dict[str, Any]
    state: str = "open"
    answered: datetime | None = None
    answered_by: str = ""
    escalated: datetime | None = None
    adr: str = ""
    ended: datetime | None = None
    outcome: str = ""

    @property
    def due(self) -> datetime:
        """Until when it must be answered."""
        return datetime.fromisoformat(self.opened["data"]["due"])

    def late(self, moment: datetime) -> int:
        """Whole days after it was due at which it was answered or ended, or by which it is late now; 0: in time."""
        done = min((at for at in (self.answered, self.ended) if at is not None), default=moment)
        return max(0, (done - self.due).days + 1) if done > self.due else 0

    def step(self, doc: dict[str, Any]) -> None:
        """Take up a step."""
        self.state = doc["kind"].partition(".")[2]
        if self.state == "answered":
            self.answered, self.answered_by = at(doc), doc["actor"]
        elif self.state == "escalated":
            self.escalated, self.adr = at(doc), doc["data"]["adr"]
        else:
            self.ended, self.outcome = at(doc), doc["data"]["outcome"]


def _complaints(scope: Scope) -> dict[int, _Complaint]:
    """All of them by number."""
    found: dict[int, _Complaint] = {}
    for event, _, _, doc in events(scope, _COMPLAINTS):
        number = doc["data"]["complaint"]
        if doc["kind"] == "complaint.opened":
            found[number] = _Complaint(event, doc)
        elif number in found:
            found[number].step(doc)
    return found


def _complaint_rows(scope: Scope) -> Iterator[Row]:
    days, asked = DaysOfEvents(scope), scope.filters
    for number, one in _complaints(scope).items():
        data = one.opened["data"]
        if (
            days.takes(one.event)
            and asked.get("player") in (None, data.get("player"))
            and asked.get("state") in (None, one.state)
        ):
            named = [item.get("hand") or f"{item['chain']}#{item['last_seq']}" for item in data["evidence"]]
            video = [item["video"] for item in data["evidence"] if item["video"]]
            hashes = [item.get("record_sha256") or item["leaf_hash"] for item in data["evidence"]]
            yield (
                number, days.of(one.event) or None, data["complaint_kind"], data.get("player", ""),
                datetime.fromisoformat(data["arrived"]), one.due, one.opened["actor"], " ".join(named),
                " ".join(hashes), "; ".join(video), one.state, one.answered, one.answered_by, one.escalated, one.adr,
                one.outcome, one.ended, one.late(scope.as_of.at), data["legal_hold"],
            )  # fmt: skip


def _complaint_equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    found = _complaints(scope)
    yield Equality("last number of the complaints = complaints", max(found, default=0), len(found), Type.COUNT)
    holds = {doc["data"]["legal_hold"] for _, _, _, doc in events(scope, ("complaint.opened", "legal_hold.set"))}
    yield Equality(
        "last number of the legal holds = legal holds that were set", max(holds, default=0), len(holds), Type.COUNT
    )
    rows = Complaint.objects.filter(house=scope.house, number__lte=max(found, default=0))
    yield Equality("complaints of the events = rows", len(found), rows.count(), Type.COUNT)


def _rows(scope: Scope) -> Iterator[Row]:
    days, asked = DaysOfEvents(scope), scope.filters
    for one in _disputes(scope):
        if (
            days.takes(one.event)
            and asked.get("table") in (None, one.table)
            and asked.get("state") in (None, one.state)
        ):
            begun = at(one.begun)
            yield (
                days.of(one.event) or None, one.hand, one.table, begun, one.begun["actor"], one.begun["kind"],
                one.begun.get("reason", ""), one.state, one.ended, minutes(begun, one.ended or scope.as_of.at),
                one.ended_by, one.approver, one.decision, one.later, one.frozen, one.awarded, one.tax,
                one.frozen if one.state == "open" else 0,
            )  # fmt: skip


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    yield from _of_disputes(scope, results)
    yield from _complaint_equalities(scope, results)


def _frozen(scope: Scope, waiting: int) -> Equality:
    """What is frozen by the events' postings: all of them, or, where a run asks for days, those since the newest day
    was opened."""
    newest = max((turn.day for turn in turns(scope) if turn.opens), default=None)
    if "from" not in scope.filters or newest is None:
        said = -sum(recorded(scope, (Account.DISPUTED_POT,), EVER).values())
        return Equality("frozen in open disputes = what the events record on 2070", waiting, said, Type.MONEY)
    said = sum(held_before(scope, (Account.DISPUTED_POT,), newest).values())
    said -= sum(recorded(scope, (Account.DISPUTED_POT,), DayRange(newest, None)).values())
    return Equality(
        "frozen in open disputes = what the snapshot of an earlier closing gives, which A32 proves, and the events "
        "record on 2070 since",
        waiting, said, Type.MONEY,
    )  # fmt: skip


def _of_disputes(scope: Scope, results: Results) -> Iterator[Equality]:
    found = _disputes(scope)
    waiting = sum(one.frozen for one in found if one.state == "open")
    held = sum(one.balance for one in balances(scope) if one.number == Account.DISPUTED_POT)
    yield Equality("frozen in open disputes = balances of 2070", waiting, held, Type.MONEY)
    yield _frozen(scope, waiting)
    if not scope.filters:
        totals = results["disputes"].totals
        ruled = sum(one.frozen for one in found if one.state == "ruled")
        yield Equality(
            "awarded and taxed = frozen in disputes that were ruled",
            totals["awarded"] + totals["tax"],
            ruled,
            Type.MONEY,
        )


REPORT = Report(
    id="disputes",
    number="A33c",
    version=2,
    title="Disputes and complaints",
    text="Every hand that was disputed: why, for how long, what was decided by whom, and what of it is still frozen; "
    "and every complaint: its evidence, when it was due, what became of it.",
    roles=(Role.FLOOR, Role.COMPLIANCE, Role.AUDITOR, Role.MANAGER),
    sections=(
        Section(
            "disputes",
            "Disputed hands",
            (
                Column("day", "Gaming day", Type.DAY), ref("hand", "Hand"), ref("table", "Table"),
                time("since", "Since"), ref("by", "By"), coded("kind", "How"), text("reason", "Reason"),
                coded("state", "State"), time("ended_at", "Ended at"), count("minutes", "Minutes", total=False),
                ref("ended_by", "Decided by"), ref("approver", "Approver"), coded("decision", "Decision"),
                count("later", "Later rulings"), money("frozen", "Frozen"), money("awarded", "Awarded"),
                money("tax", "Tax"), money("open", "Still frozen"),
            ),
            _rows,
            groups=("day", "table", "state"),
        ),
        Section(
            "complaints",
            "Complaints",
            (
                count("number", "Number", total=False), Column("day", "Gaming day", Type.DAY), coded("kind", "About"),
                ref("player", "Player"), time("received_at", "Received at"), time("due_at", "Due at"),
                ref("opened_by", "Opened by"), text("evidence", "Evidence"), text("hashes", "Hashes"),
                text("video", "Video"), coded("state", "State"), time("answered_at", "Answered at"),
                ref("answered_by", "Answered by"), time("escalated_at", "Escalated at"), text("adr", "To"),
                coded("outcome", "Outcome"), time("ended_at", "Ended at"), count("late", "Days late", total=False),
                count("legal_hold", "Legal hold", total=False),
            ),
            _complaint_rows,
            groups=("day", "kind", "state", "outcome"),
        ),
    ),
    equalities=_equalities,
    filters=(*DAYS, TABLE, STATE, PLAYER),
    sensitivity=Sensitivity.PLAYERS,
    retention=Retention.BOOKS,
)  # fmt: skip
