"""A24: approvals from the request to their use, and who approves for whom."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from casino.approvals.models import ApprovalKind, ApprovalState
from casino.audit.events.registry import EVENTS, ApprovedEvent
from casino.reports import approved
from casino.reports.frame.columns import Column, Row, Type, coded, count, money, ref, text, time
from casino.reports.frame.filters import DAYS, LEAST, PERSON, is_large
from casino.reports.frame.movements import events
from casino.reports.frame.reading import fetched, stream
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
from casino.reports.frame.trail import DaysOfEvents, at, minutes
from casino.staff.models import Role

_KINDS = ("approval.requested", "approval.approved", "approval.refused", "approval.withdrawn", "approval.expired")
STATE = Filter("state", FilterKind.CHOICE, "Only approvals in this state.", choices=tuple(ApprovalState.values))
KIND = Filter("kind", FilterKind.CHOICE, "Only approvals of this kind.", choices=tuple(ApprovalKind.values))
#: Events of what an approval was used for, of the kinds that have a member for one.
_USES = """
SELECT event.id, (event.doc -> 'data' ->> 'approval')::bigint, event.doc ->> 'kind', event.doc ->> 'chain',
    (event.doc ->> 'seq')::bigint, event.doc ->> 'at', event.doc ->> 'actor', event.doc ->> 'approver'
FROM audit_event event WHERE event.house_id = %s AND event.id <= %s
AND event.doc ->> 'kind' = ANY(%s) AND event.doc -> 'data' ? 'approval' ORDER BY event.id
"""
#: Decisions of the rows among those that events have; a decision never changes.
_DECIDED = """
SELECT count(*) FROM approvals_approval approval
JOIN staff_staff person ON person.id = approval.decided_by_id
JOIN audit_event event ON event.house_id = approval.house_id AND event.id <= %s
    AND event.doc ->> 'kind' IN ('approval.approved', 'approval.refused')
    AND (event.doc -> 'data' ->> 'approval')::bigint = approval.number AND event.doc ->> 'actor' = person.login
WHERE approval.house_id = %s
"""
_NUMBERS = "SELECT count(*) FROM approvals_approval WHERE house_id = %s AND number <= %s"


@dataclass(slots=True)
class _Asked:
    """One approval, as the events have it."""

    event: int
    doc: dict[str, Any]
    state: str = ApprovalState.REQUESTED
    decided_by: str = ""
    decided_at: datetime | None = None
    decided_at_terminal: str = ""
    reason: str = ""
    ended_at: datetime | None = None
    used_by: str = ""
    used_for: str = ""

    def decide(self, doc: dict[str, Any]) -> None:
        """Take an event about it up. What one of several people has approved is no decision before the last one's."""
        if "waits_for" in doc["data"]:
            return
        self.state = doc["kind"].partition(".")[2]
        if self.state in (ApprovalState.APPROVED, ApprovalState.REFUSED):
            self.decided_by, self.decided_at, self.decided_at_terminal = doc["actor"], at(doc), doc["terminal"]
            self.reason = doc.get("reason", "")
        if self.state != ApprovalState.APPROVED:
            self.ended_at = at(doc)


def _uses(scope: Scope) -> Iterator[tuple[Any, ...]]:
    kinds = [kind for kind, declared in EVENTS.items() if issubclass(declared, ApprovedEvent)]
    return stream(_USES, [scope.house.id, scope.as_of.event, kinds])


def _approvals(scope: Scope) -> dict[int, _Asked]:
    """All of them by number. One that nobody used in time is expired, whether or not that is noted yet."""
    found: dict[int, _Asked] = {}
    for event, _, _, doc in events(scope, _KINDS):
        number = doc["data"]["approval"]
        if doc["kind"] == "approval.requested":
            found[number] = _Asked(event, doc)
        else:
            found[number].decide(doc)
    for _, number, kind, chain, seq, when, _, _ in _uses(scope):
        if number in found:
            one = found[number]
            one.state, one.ended_at = ApprovalState.USED, datetime.fromisoformat(when)
            one.used_by, one.used_for = f"{chain}#{seq}", kind
    for one in found.values():
        is_open = one.state in (ApprovalState.REQUESTED, ApprovalState.APPROVED)
        if is_open and datetime.fromisoformat(one.doc["data"]["expires"]) <= scope.as_of.at:
            one.state = ApprovalState.EXPIRED
    return found


def _wanted(scope: Scope) -> Iterator[tuple[int, _Asked]]:
    days, asked = DaysOfEvents(scope), scope.filters
    for number, one in sorted(_approvals(scope).items()):
        if (
            days.takes(one.event)
            and is_large(scope, one.doc["data"].get("amount"))
            and asked.get("state") in (None, one.state)
            and asked.get("kind") in (None, one.doc["data"]["kind"])
            and ("person" not in asked or asked["person"] in (one.doc["actor"], one.decided_by))
        ):
            yield number, one


def _rows(scope: Scope) -> Iterator[Row]:
    days = DaysOfEvents(scope)
    for number, one in _wanted(scope):
        data, when = one.doc["data"], at(one.doc)
        yield (
            number, days.of(one.event) or None, data["kind"], data["operation"], data["path"], data["request_hash"],
            data.get("amount"), one.doc["actor"], when, one.doc["terminal"], str(one.state), one.decided_by,
            one.decided_at, one.decided_at_terminal, one.reason,
            None if one.decided_at is None else minutes(when, one.decided_at), one.ended_at, one.used_for, one.used_by,
        )  # fmt: skip


def _pairs(scope: Scope) -> Iterator[Row]:
    """Who decided for whom, the most often first, with how often it was the other way round."""
    found: dict[tuple[str, str], list[int]] = {}
    for _, one in _wanted(scope):
        if one.decided_by:
            row = found.setdefault((one.doc["actor"], one.decided_by), [0, 0])
            row[one.state == ApprovalState.REFUSED] += 1
    asked: dict[str, int] = {}
    for (person, _), row in found.items():
        asked[person] = asked.get(person, 0) + sum(row)
    for (person, by), (given, refused) in sorted(found.items(), key=lambda pair: (-pair[1][0], pair[0])):
        back = found.get((by, person), [0, 0])[0]
        yield person, by, given, refused, (given + refused) * 10_000 // asked[person], back


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    house, event = scope.house.id, scope.as_of.event
    found = _approvals(scope)
    used: set[int] = set()
    uses = rightly = 0
    for id_, number, _, _, _, _, actor, approver in _uses(scope):
        one = found.get(number)
        uses += 1
        used.add(number)
        rightly += one is not None and id_ > one.event and approver == one.decided_by != actor == one.doc["actor"]
    yield Equality("events that name an approval = approvals that they name", uses, len(used), Type.COUNT)
    yield Equality(
        "events that name an approval = uses that another person had approved for their actor",
        uses,
        rightly,
        Type.COUNT,
    )
    missing = sum(1 for _ in approved.without(scope))
    yield Equality("events that needed an approval and name none = none", missing, 0, Type.COUNT)
    last = max(found, default=0)
    [(rows,)] = fetched(_NUMBERS, [house, last])
    yield Equality("approvals that were asked for = their last number", len(found), last, Type.COUNT)
    yield Equality("approvals that were asked for = rows", len(found), rows, Type.COUNT)
    decided = sum(bool(one.decided_by) for one in found.values())
    [(held,)] = fetched(_DECIDED, [event, house])
    yield Equality("decisions of the events = decisions of the rows", decided, held, Type.COUNT)
    pairs = results["pairs"].totals
    shown = sum(bool(one.decided_by) for _, one in _wanted(scope))
    yield Equality("decisions by pair = decided rows", pairs["approved"] + pairs["refused"], shown, Type.COUNT)


REPORT = Report(
    id="approvals",
    number="A24",
    version=2,
    title="Approvals",
    text="What a second person was asked for, what was decided and how fast, what it was used for, and who approves "
    "for whom how often.",
    roles=(Role.AUDITOR, Role.MANAGER),
    sections=(
        Section(
            "approvals",
            "Approvals",
            (
                count("approval", "No.", total=False), Column("day", "Gaming day", Type.DAY), coded("kind", "Kind"),
                ref("operation", "Operation"), ref("path", "Address"), ref("request_hash", "Hash of the request"),
                money("amount", "Amount"), ref("asked_by", "Asked by"), time("asked_at", "Asked at"),
                ref("terminal", "Terminal"), coded("state", "State"), ref("decided_by", "Decided by"),
                time("decided_at", "Decided at"), ref("decided_terminal", "Decided at terminal"),
                text("reason", "Reason"), count("minutes", "Minutes", total=False), time("ended_at", "Ended at"),
                text("used_for", "Used for"), ref("used_by", "By event"),
            ),
            _rows,
            groups=("day", "kind", "state", "asked_by", "decided_by"),
        ),
        Section(
            "pairs",
            "Who decides for whom",
            (
                ref("asked_by", "Asked by"), ref("decided_by", "Decided by"), count("approved", "Approved"),
                count("refused", "Refused"), Column("share", "Of what the person asked", Type.SHARE),
                count("back", "The other way round", total=False),
            ),
            _pairs,
        ),
    ),
    equalities=_equalities,
    filters=(*DAYS, PERSON, KIND, STATE, LEAST),
    sensitivity=Sensitivity.STAFF,
    retention=Retention.BOOKS,
)  # fmt: skip
