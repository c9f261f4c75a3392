"""What was refused and what failed, as reports count it.

Two things are no denials of a report. A write that needs an approval is refused once and then made: that is its
ordinary first step, and stands among the approvals. And what compliance does in the sealed register may not be read out
of any report, not even that it was done."""

from collections.abc import Iterator, Sequence
from typing import Any

from casino.reports.frame.filters import EVER, DayRange
from casino.reports.frame.movements import events
from casino.reports.frame.reading import fetched
from casino.reports.frame.report import Scope

REFUSED, FAILED = "attempt.refused", "attempt.failed"
#: Code of the refusal of a write that another person must approve first.
ASKED = "approval_required"
#: Kinds of events and operations of the sealed register.
SEALED_KINDS = ("sealed.entry",)
SEALED_OPERATIONS = ("readSealed", "writeSealed", "readSealedCase", "readSealedReport")
_NUMBER = """
SELECT count(*) FROM audit_event WHERE house_id = %s AND id <= %s AND doc ->> 'kind' = ANY(%s)
AND coalesce(doc -> 'data' ->> 'code', '') <> %s AND coalesce(doc -> 'data' ->> 'operation', '') <> ALL(%s)
"""


def denied(
    scope: Scope, kinds: Sequence[str] = (REFUSED, FAILED), days: DayRange = EVER
) -> Iterator[tuple[int, str, int, dict[str, Any]]]:
    """Denials up to the moment, as `events` has them."""
    for event, chain, seq, doc in events(scope, kinds, days):
        data = doc["data"]
        if data.get("code") != ASKED and data.get("operation") not in SEALED_OPERATIONS:
            yield event, chain, seq, doc


def number_of_denied(scope: Scope, kinds: Sequence[str] = (REFUSED, FAILED)) -> int:
    """How many there are up to the moment, as the database counts them."""
    asked = [scope.house.id, scope.as_of.event, list(kinds), ASKED, list(SEALED_OPERATIONS)]
    [(found,)] = fetched(_NUMBER, asked)
    return int(found)
