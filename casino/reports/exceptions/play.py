"""Sources of hands and cards: hands that nobody settles, packs that were not right."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from casino.core import moments
from casino.hands.models import UNSETTLED
from casino.reports.exceptions.source import Found
from casino.reports.frame.movements import events
from casino.reports.frame.reading import fetched
from casino.reports.frame.report import Scope
from casino.reports.frame.trail import at, place

#: After how long a settlement is late.
SETTLEMENT = timedelta(minutes=10)
#: Events of a hand are looked for from so long before the begin that its row has: clocks of the two may differ.
_BEFORE = timedelta(minutes=1)
#: Hands that had not ended at the moment, with the first begin of any: by their rows, and by the events that have ended
#: some since.
_OPEN_HANDS = """
SELECT array_agg(name), min(started_at) FROM (
    SELECT name, started_at FROM hands_hand WHERE house_id = %s AND state = ANY(%s)
    UNION SELECT name, started_at FROM hands_hand WHERE house_id = %s AND name IN (
        SELECT doc #>> '{data,hand}' FROM audit_event WHERE house_id = %s AND id > %s
        AND doc ->> 'kind' IN ('hand.settled', 'hand.ruled', 'hand.voided'))
) hand
"""
#: Of these hands those whose log is complete, or that are disputed, since too long, and that nothing has ended. Their
#: events are looked for from the begin of the first one on.
_WAITING = """
SELECT over.doc -> 'data' ->> 'hand', min(over.doc ->> 'at') FROM audit_event over
WHERE over.house_id = %s AND over.id <= %s AND (over.doc ->> 'at')::timestamptz < %s
AND over.doc ->> 'at' >= %s AND over.doc -> 'data' ->> 'hand' = ANY(%s)
AND (over.doc -> 'data' ? 'log' OR over.doc ->> 'kind' IN ('hand.disputed', 'hand.dispute_raised'))
AND over.doc ->> 'kind' IN ('hand.dealt', 'hand.acted', 'hand.disputed', 'hand.dispute_raised')
AND NOT EXISTS (
    SELECT FROM audit_event ended WHERE ended.house_id = over.house_id AND ended.id <= %s
    AND (ended.doc ->> 'kind' IN ('hand.settled', 'hand.ruled', 'hand.voided')
        OR ended.doc ->> 'kind' = 'hand.dispute_withdrawn' AND ended.id > over.id AND NOT over.doc -> 'data' ? 'log')
    AND ended.doc ->> 'at' >= %s AND ended.doc -> 'data' ->> 'hand' = over.doc -> 'data' ->> 'hand')
GROUP BY 1 ORDER BY 1
"""


def settling(scope: Scope) -> Iterator[Found]:
    """Hands that are over, or disputed, and that nobody has settled or decided in time."""
    house, event = scope.house.id, scope.as_of.event
    [(hands, first)] = fetched(_OPEN_HANDS, [house, [*UNSETTLED], house, house, event])
    if not hands:
        return
    begin = moments.utc(first - _BEFORE)
    asked = [house, event, scope.as_of.at - SETTLEMENT, begin, hands, event, begin]
    for hand, since in fetched(_WAITING, asked):
        yield Found(f"hand {hand}", datetime.fromisoformat(since), None, "", f"hands/{hand}")


#: What happened to hands that nothing has ended; of their acts only those that complete the log. No table is dealt a
#: hand before the one before it has ended, so that it is the last one of its chain.
_UNENDED = """
WITH unended AS MATERIALIZED (
    SELECT chain.id AS chain_id, dealt.seq AS since, dealt.hand FROM audit_chainhead chain CROSS JOIN LATERAL (
        SELECT seq, doc #>> '{data,hand}' AS hand FROM audit_event
        WHERE house_id = %(house)s AND chain_id = chain.id AND id <= %(event)s AND doc ->> 'kind' = 'hand.dealt'
        ORDER BY seq DESC LIMIT 1
    ) dealt CROSS JOIN LATERAL (
        SELECT count(*) AS ends FROM audit_event WHERE house_id = %(house)s AND chain_id = chain.id
        AND seq > dealt.seq AND id <= %(event)s AND doc ->> 'kind' IN ('hand.settled', 'hand.ruled', 'hand.voided')
        AND doc #>> '{data,hand}' = dealt.hand
    ) ended WHERE chain.house_id = %(house)s AND chain.name LIKE 'table/%%' AND ends = 0
)
SELECT hand, kinds, times, complete FROM unended CROSS JOIN LATERAL (
    SELECT array_agg(doc ->> 'kind' ORDER BY id) AS kinds, array_agg((doc ->> 'at')::timestamptz ORDER BY id) AS times,
        array_agg(doc #> '{data,log}' IS NOT NULL ORDER BY id) AS complete
    FROM audit_event WHERE house_id = %(house)s AND chain_id = unended.chain_id AND seq >= unended.since
    AND id <= %(event)s AND doc #>> '{data,hand}' = unended.hand
    AND (doc ->> 'kind' IN ('hand.dealt', 'hand.disputed', 'hand.dispute_raised', 'hand.dispute_withdrawn')
        OR doc ->> 'kind' = 'hand.acted' AND doc #> '{data,log}' IS NOT NULL)
) said
"""


def settling_again(scope: Scope) -> int:
    """By going through what happened to each hand that has not ended."""
    moment = {"house": scope.house.id, "event": scope.as_of.event}
    since = [_waits_since(*events_of) for _, *events_of in fetched(_UNENDED, moment)]
    return sum(one is not None and scope.as_of.at - one > SETTLEMENT for one in since)


def _waits_since(kinds: Sequence[str], times: Sequence[datetime], complete: Sequence[bool]) -> datetime | None:
    """When the log of a hand was complete, or else when it was disputed; None where it waits for nobody."""
    waits, disputed = None, False
    for kind, moment, ended in zip(kinds, times, complete, strict=True):
        if ended:
            waits = waits or moment
        elif kind in ("hand.disputed", "hand.dispute_raised") and waits is None:
            waits, disputed = moment, True
        elif kind == "hand.dispute_withdrawn" and disputed:
            waits, disputed = None, False
    return waits


def cards(scope: Scope) -> Iterator[Found]:
    """Packs that were not right, and are not cleared."""
    found: dict[tuple[str, int], Found] = {}
    for _, chain, _, doc in events(scope, ("cards.exception", "cards.exception_cleared")):
        number = chain, doc["data"]["exception"]
        if doc["kind"] == "cards.exception_cleared":
            found.pop(number, None)
        else:
            table = place(chain)
            found[number] = Found(
                f"table {table}: {doc['data']['kind']}", at(doc), None, doc["actor"], f"tables/{table}"
            )  # fmt: skip
    yield from found.values()


_OPEN = """
SELECT count(*) FILTER (WHERE doc ->> 'kind' = ANY(%s)) - count(*) FILTER (WHERE doc ->> 'kind' = ANY(%s))
FROM audit_event WHERE house_id = %s AND id <= %s AND doc ->> 'kind' = ANY(%s)
"""


def cards_again(scope: Scope) -> int:
    """Their number: those that were found less those that were cleared."""
    found, cleared = ["cards.exception"], ["cards.exception_cleared"]
    [(number,)] = fetched(_OPEN, [found, cleared, scope.house.id, scope.as_of.event, found + cleared])
    return int(number)
