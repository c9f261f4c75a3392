"""Sources of the proof: checks that found the books wrong, a log that nobody signed."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from casino.core import moments
from casino.reports.exceptions.source import Found, event_link
from casino.reports.frame.movements import events
from casino.reports.frame.reading import fetched
from casino.reports.frame.report import Scope
from casino.reports.frame.trail import at

#: After how long a log without a checkpoint is late.
UNSIGNED = timedelta(hours=1)


def imbalances(scope: Scope) -> Iterator[Found]:
    """Checks of the books that found something, and have not found it gone."""
    found: dict[str, Found] = {}
    for _, chain, seq, doc in events(scope, ("imbalance.found", "imbalance.cleared")):
        check = str(doc["data"]["check"])
        if doc["kind"] == "imbalance.cleared":
            found.pop(check, None)
        else:
            since = found[check].since if check in found else at(doc)
            found[check] = Found(f"check {check}", since, None, "", event_link(chain, seq))
    yield from found.values()


def open_imbalances(scope: Scope) -> int:
    """Found, and not found differently: less those that were cleared."""
    found = sum("before" not in doc["data"] for _, _, _, doc in events(scope, ("imbalance.found",)))
    return found - sum(1 for _ in events(scope, ("imbalance.cleared",)))


#: Stretches from one checkpoint to the next, the first one from the founding, the last one to the moment.
_STRETCHES = """
SELECT before, at FROM (
    SELECT lag(at) OVER (ORDER BY at, epoch, size) AS before, at FROM (
        SELECT at, epoch, size FROM audit_checkpoint WHERE house_id = %s AND at <= %s
        UNION ALL SELECT %s::timestamptz, NULL, NULL
    ) mark
) stretch WHERE before IS NULL OR at - before > %s ORDER BY at
"""
_FIRST = """
SELECT (doc ->> 'at')::timestamptz FROM audit_event WHERE house_id = %s AND id <= %s
AND doc ->> 'at' > %s AND doc ->> 'at' <= %s ORDER BY doc ->> 'at' LIMIT 1
"""


def _gaps(scope: Scope) -> list[tuple[datetime, datetime]]:
    """Times longer than an hour from an event to the checkpoint that covers it, as times between checkpoints in which
    something happened; the last one ends at the moment of the report. Only stretches of more than an hour have one."""
    house, moment = scope.house.id, scope.as_of
    found: list[tuple[datetime, datetime]] = []
    for before, until in fetched(_STRETCHES, [house, moment.at, moment.at, UNSIGNED]):
        begin = "" if before is None else moments.utc(before)
        for (first,) in fetched(_FIRST, [house, moment.event, begin, moments.utc(until)]):
            if until - first > UNSIGNED:
                found.append((first, until))
    return found


#: The same from the checkpoints: those that have, after the one before them, an event older than an hour.
_GAPS = """
WITH mark AS (
    SELECT at FROM audit_checkpoint WHERE house_id = %s AND at <= %s UNION ALL SELECT %s
), numbered AS (
    SELECT at, row_number() OVER (ORDER BY at) AS number FROM mark
)
SELECT count(*) FROM numbered LEFT JOIN numbered before ON before.number = numbered.number - 1
WHERE EXISTS (
    SELECT FROM audit_event WHERE house_id = %s AND id <= %s
    AND doc ->> 'at' > coalesce(to_char(before.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), '')
    AND doc ->> 'at' < to_char((numbered.at - %s) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
"""


def checkpoints(scope: Scope) -> Iterator[Found]:
    """Times without a checkpoint."""
    for first, until in _gaps(scope):
        hours = int((until - first).total_seconds()) // 3_600
        yield Found(f"no checkpoint for {hours} h", first, None, "", "audit/checkpoints")


def checkpoints_again(scope: Scope) -> int:
    """Their number, from the checkpoints."""
    house, moment = scope.house.id, scope.as_of
    [(found,)] = fetched(_GAPS, [house, moment.at, moment.at, house, moment.event, UNSIGNED])
    return int(found)
