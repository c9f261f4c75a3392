"""Events of what only goes with an approval, against the approvals that other people gave."""

import json
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any

from casino.audit.verifier.state_approvers import ONCE_LIVE, USED_FOR, needed
from casino.reports.frame.flows import Points
from casino.reports.frame.movements import events
from casino.reports.frame.reading import fetched, stream
from casino.reports.frame.report import Scope
from casino.reports.frame.trail import at

#: Kinds of which the verifier says who must approve them. What it takes to give somebody a role goes by the person.
NEEDING = frozenset(USED_FOR.keys() - {"staff.roles_changed", "staff.activated"})
#: Events of kinds that may need an approval, and that name none; of exchanges those that are large.
_WITHOUT = """
SELECT event.id, event.doc::text FROM audit_event event WHERE event.house_id = %s AND event.id <= %s
AND event.doc ->> 'kind' = ANY(%s) AND NOT event.doc -> 'data' ? 'approval'
AND (event.doc ->> 'kind' <> ALL(%s) OR (event.doc -> 'data' ->> 'amount')::bigint >= %s) ORDER BY event.id
"""
_EXCHANGES = sorted(kind for kind in NEEDING if USED_FOR[kind] == "exchange" and kind != "cage.corrected")
#: Events that name an approval which nobody else had given to their actor before.
_UNGIVEN = """
SELECT event.id FROM audit_event event WHERE event.house_id = %s AND event.doc ->> 'kind' = ANY(%s) AND event.id <= %s
AND event.doc -> 'data' ? 'approval' AND NOT EXISTS (
    SELECT FROM audit_event given WHERE given.house_id = event.house_id AND given.doc ->> 'kind' = 'approval.approved'
    AND given.doc -> 'data' -> 'approval' = event.doc -> 'data' -> 'approval' AND given.id < event.id
    AND given.doc ->> 'actor' = event.doc ->> 'approver' AND given.doc ->> 'actor' <> event.doc ->> 'actor')
"""
#: A write may have read the control points of a moment before.
_MOMENT = timedelta(seconds=5)


def without(scope: Scope, kinds: Iterable[str] = NEEDING) -> Iterator[tuple[int, dict[str, Any]]]:
    """Events of these kinds that needed an approval, by the control points of their time, and name none: id and
    payload."""
    points = Points(scope)
    live = next((event for event, *_ in events(scope, ("house.went_live",))), None)
    asked = [
        scope.house.id, scope.as_of.event, sorted(NEEDING.intersection(kinds)), _EXCHANGES,
        points.least("exchange_by_supervisor_from"),
    ]  # fmt: skip
    for event, text in stream(_WITHOUT, asked):
        doc = json.loads(text)
        if doc["kind"] in ONCE_LIVE and (live is None or event < live):
            continue
        if all(needed(doc, points.at(moment)) for moment in (at(doc) - _MOMENT, at(doc))):
            yield event, doc


def ungiven(scope: Scope, kinds: Iterable[str]) -> set[int]:
    """Ids of events of these kinds that name an approval which nobody else had given."""
    return {event for (event,) in fetched(_UNGIVEN, [scope.house.id, sorted(kinds), scope.as_of.event])}
