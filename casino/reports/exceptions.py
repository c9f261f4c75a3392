"""What an auditor must look at, source by source: each knows its rows, how grave they are, where more is to be read,
and how many there are by another way.

A source of a state (a drawer that is still open) says what is so at the moment of the report; one of events says what
has happened in the days that a run asks for. The limits are those of the specification of reports, not the house's
control points: those may change, and a report as of a moment must not."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple

from casino.bookkeeping.chart import COMMISSIONED, kind_of
from casino.core import moments
from casino.hands.models import UNSETTLED
from casino.reports.catalogue import (
    a08_chips,
    a09a_tray_counts,
    a10_transfers,
    a13_variances,
    a24_approvals,
    a26_access_review,
)
from casino.reports.frame import registry
from casino.reports.frame.denials import FAILED, REFUSED, denied, number_of_denied
from casino.reports.frame.movements import events
from casino.reports.frame.reading import balances, fetched
from casino.reports.frame.report import Scope, Sensitivity
from casino.reports.frame.trail import DaysOfEvents, at, place, staff

#: After how long a transfer, a settlement, and a log without a checkpoint are late.
TRANSFER, SETTLEMENT, UNSIGNED = timedelta(minutes=30), timedelta(minutes=10), timedelta(hours=1)
#: Events of a hand are looked for from so long before the begin that its row has: clocks of the two may differ.
_BEFORE = timedelta(minutes=1)
#: After how long an open drawer is one that nobody has closed; counts of one sign that are a trend.
OPEN_DRAWER, ONE_SIGN = timedelta(hours=24), 3


class Severity(StrEnum):
    """How grave: money or the proof may be wrong; somebody must act; worth a look."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Found(NamedTuple):
    """One row: what, since when, how much (minor units), who, and where it is to be read."""

    name: str
    since: datetime | None
    amount: int | None
    person: str
    link: str


@dataclass(frozen=True, slots=True)
class Source:
    """A source: its rows, and their number by another way, None where that is possible only without filters."""

    name: str
    severity: Severity
    report: str
    rows: Callable[[Scope], Iterator[Found]]
    number: Callable[[Scope], int | None]


_COUNT = """
SELECT count(*) FROM audit_event WHERE house_id = %s AND id <= %s AND doc ->> 'kind' = ANY(%s)
"""
_OPEN = """
SELECT count(*) FILTER (WHERE doc ->> 'kind' = ANY(%s)) - count(*) FILTER (WHERE doc ->> 'kind' = ANY(%s))
FROM audit_event WHERE house_id = %s AND id <= %s AND doc ->> 'kind' = ANY(%s)
"""
#: Drawers whose newest event of opening or closing is an opening, and was too long ago.
_DRAWERS = """
SELECT count(*) FROM (
    SELECT DISTINCT ON (doc ->> 'chain') doc ->> 'kind' AS kind, (doc ->> 'at')::timestamptz AS at FROM audit_event
    WHERE house_id = %s AND id <= %s AND doc ->> 'kind' IN ('drawer.opened', 'drawer.reopened', 'drawer.closed')
    ORDER BY doc ->> 'chain', id DESC
) newest WHERE kind <> 'drawer.closed' AND at < %s
"""
#: Hands that had not ended at the moment, with the first begin of any: by their rows, and by the events that have ended
#: some since.
_OPEN_HANDS = """
SELECT array_agg(name), min(started_at) FROM hands_hand hand WHERE house_id = %s AND (state = ANY(%s) OR name IN (
    SELECT doc #>> '{data,hand}' FROM audit_event WHERE house_id = %s AND id > %s
    AND doc ->> 'kind' IN ('hand.settled', 'hand.ruled', 'hand.voided')))
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


def _since(scope: Scope, *kinds: str) -> Iterator[tuple[str, str, int, dict[str, Any]]]:
    """Events of these kinds in the days asked for: day, chain, number in the chain, payload."""
    days = DaysOfEvents(scope)
    for event, chain, seq, doc in events(scope, kinds):
        if days.takes(event):
            yield days.of(event), chain, seq, doc


def _number(scope: Scope, *kinds: str) -> int | None:
    """How many events of these kinds there are; None where days are asked for."""
    if scope.filters.keys() & {"from", "until"}:
        return None
    [(found,)] = fetched(_COUNT, [scope.house.id, scope.as_of.event, list(kinds)])
    return int(found)


def _event_link(chain: str, seq: int) -> str:
    return f"audit/events: {chain}#{seq}"


# --- Money and chips --------------------------------------------------------------------------------------------------


def _chips(scope: Scope) -> Iterator[Found]:
    for row in a08_chips.REPORT.sections[1].rows(scope):
        commodity, _, kind, where, held, worth = row
        if int(str(held)) < 0:
            yield Found(f"{commodity}: {held} pieces in {kind} {where}".rstrip(), None, int(str(worth)), "", "chips")


def _negative(scope: Scope) -> int:
    return sum(
        held.balance < 0 for held in balances(scope) if kind_of(held.code).custody and held.number != COMMISSIONED
    )


def _one_sign(scope: Scope) -> Iterator[Found]:
    for row in a13_variances.people(scope):
        who, kind, *_ = row
        run, month = int(str(row[8])), int(str(row[12]))
        if run >= ONE_SIGN:
            yield Found(
                f"{who}: the newest {run} differences of {kind} have one sign", None, month, str(who), "variances"
            )


def _runs(scope: Scope) -> int:
    """The same from the counts themselves: the last ones that differ are all over, or all short."""
    found = 0
    for counter in a13_variances.counts_of(scope).values():
        signs = [amount > 0 for _, amount in counter.sizes if amount][-ONE_SIGN:]
        found += len(signs) == ONE_SIGN and len(set(signs)) == 1
    return found


def _openers(scope: Scope) -> Iterator[Found]:
    for one in a09a_tray_counts.wanted(scope):
        if one.part.get("exception"):
            table, serial = one.part["table"], one.part["tray_count"]
            yield Found(
                f"table {table}, tray count {serial}: {one.part['exception']}", one.ended, one.part.get("variance"),
                one.part["counted_by"], f"tray-counts?table={table}",
            )  # fmt: skip


def _opener_events(scope: Scope) -> int:
    return sum(bool(doc["data"]["tray_count"]["exception"]) for *_, doc in _since(scope, "tray.confirmed"))


def _late(scope: Scope) -> Iterator[Found]:
    for row in a10_transfers.REPORT.sections[0].rows(Scope(scope.house, scope.as_of, {})):
        kind, serial, state, table, drawer, asked, who, sent, *_ = row
        since = sent or asked
        under_way = state in ("requested", "sent", "declined")
        if under_way and isinstance(since, datetime) and scope.as_of.at - since > TRANSFER:
            yield Found(f"{kind} {serial}, {table} and {drawer}", since, None, str(who), "transfers")


#: Transfers of which the newest event ended nothing, by when they were sent, or else asked for.
_TRANSFERS = """
SELECT count(*) FROM (
    SELECT coalesce(min((doc ->> 'at')::timestamptz) FILTER (WHERE doc ->> 'kind' LIKE '%%.sent'),
            min((doc ->> 'at')::timestamptz)) AS since,
        bool_or(doc ->> 'kind' LIKE '%%.received' OR doc ->> 'kind' LIKE '%%.cancelled') AS ended
    FROM audit_event WHERE house_id = %s AND id <= %s
    AND (doc ->> 'kind' LIKE 'fill.%%' OR doc ->> 'kind' LIKE 'credit.%%')
    GROUP BY doc -> 'data' -> 'transfer' ->> 'transfer'
) one WHERE NOT ended AND since < %s
"""


def _late_again(scope: Scope) -> int:
    [(found,)] = fetched(_TRANSFERS, [scope.house.id, scope.as_of.event, scope.as_of.at - TRANSFER])
    return int(found)


def _drawers(scope: Scope) -> Iterator[Found]:
    opened: dict[str, tuple[datetime, str]] = {}
    for _, chain, _, doc in events(scope, ("drawer.opened", "drawer.reopened", "drawer.closed")):
        if doc["kind"] == "drawer.closed":
            opened.pop(chain, None)
        else:
            opened[chain] = at(doc), doc["actor"]
    for chain, (since, who) in sorted(opened.items()):
        if scope.as_of.at - since > OPEN_DRAWER:
            yield Found(f"drawer {place(chain)}", since, None, who, f"drawers/{place(chain)}")


def _drawers_again(scope: Scope) -> int:
    [(found,)] = fetched(_DRAWERS, [scope.house.id, scope.as_of.event, scope.as_of.at - OPEN_DRAWER])
    return int(found)


# --- Hands and cards --------------------------------------------------------------------------------------------------


def _settling(scope: Scope) -> Iterator[Found]:
    house, event = scope.house.id, scope.as_of.event
    [(hands, first)] = fetched(_OPEN_HANDS, [house, [*UNSETTLED], house, event])
    if not hands:
        return
    begin = moments.utc(first - _BEFORE)
    asked = [house, event, scope.as_of.at - SETTLEMENT, begin, hands, event, begin]
    for hand, since in fetched(_WAITING, asked):
        yield Found(f"hand {hand}", datetime.fromisoformat(since), None, "", f"hands/{hand}")


#: What happened to hands that nothing has ended, from the first of their deals on; of their acts only those that
#: complete the log.
_UNENDED = """
WITH unended AS MATERIALIZED (
    SELECT doc #>> '{data,hand}' AS hand, min(id) AS dealt FROM audit_event
    WHERE house_id = %s AND id <= %s AND doc ->> 'kind' IN ('hand.dealt', 'hand.settled', 'hand.ruled', 'hand.voided')
    GROUP BY 1 HAVING NOT bool_or(doc ->> 'kind' <> 'hand.dealt')
)
SELECT doc #>> '{data,hand}', array_agg(doc ->> 'kind' ORDER BY id), array_agg((doc ->> 'at')::timestamptz ORDER BY id),
    array_agg(doc #> '{data,log}' IS NOT NULL ORDER BY id)
FROM audit_event WHERE house_id = %s AND id <= %s AND id >= (SELECT min(dealt) FROM unended)
AND doc #>> '{data,hand}' IN (SELECT hand FROM unended)
AND (doc ->> 'kind' IN ('hand.dealt', 'hand.disputed', 'hand.dispute_raised', 'hand.dispute_withdrawn')
    OR doc ->> 'kind' = 'hand.acted' AND doc #> '{data,log}' IS NOT NULL) GROUP BY 1
"""


def _settling_again(scope: Scope) -> int:
    """By going through what happened to each hand that has not ended."""
    moment = [scope.house.id, scope.as_of.event]
    since = [_waits_since(*events_of) for _, *events_of in fetched(_UNENDED, [*moment, *moment])]
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


def _cards(scope: Scope) -> Iterator[Found]:
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


def _opened_less_closed(scope: Scope, opened: str, closed: str) -> int:
    [(found,)] = fetched(_OPEN, [[opened], [closed], scope.house.id, scope.as_of.event, [opened, closed]])
    return int(found)


# --- The proof, people ------------------------------------------------------------------------------------------------


def _imbalances(scope: Scope) -> Iterator[Found]:
    found: dict[str, Found] = {}
    for _, chain, seq, doc in events(scope, ("imbalance.found", "imbalance.cleared")):
        check = str(doc["data"]["check"])
        if doc["kind"] == "imbalance.cleared":
            found.pop(check, None)
        else:
            since = found[check].since if check in found else at(doc)
            found[check] = Found(f"check {check}", since, None, "", _event_link(chain, seq))
    yield from found.values()


def _open_imbalances(scope: Scope) -> int:
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


def _checkpoints(scope: Scope) -> Iterator[Found]:
    for first, until in _gaps(scope):
        hours = int((until - first).total_seconds()) // 3_600
        yield Found(f"no checkpoint for {hours} h", first, None, "", "audit/checkpoints")


def _checkpoints_again(scope: Scope) -> int:
    house, moment = scope.house.id, scope.as_of
    [(found,)] = fetched(_GAPS, [house, moment.at, moment.at, house, moment.event, UNSIGNED])
    return int(found)


def _said(*kinds: str) -> Callable[[Scope], Iterator[Found]]:
    """What is an exception each time that it happens."""

    def rows(scope: Scope) -> Iterator[Found]:
        for _, chain, seq, doc in _since(scope, *kinds):
            data = doc["data"]
            words = data.get("operation") or data.get("code") or doc["kind"]
            yield Found(f"{doc['kind']}: {words}", at(doc), None, doc["actor"], _event_link(chain, seq))

    return rows


def _denied(kind: str) -> Callable[[Scope], Iterator[Found]]:
    """What was refused, or failed, each time."""

    def rows(scope: Scope) -> Iterator[Found]:
        days = DaysOfEvents(scope)
        for event, chain, seq, doc in denied(scope, (kind,)):
            if days.takes(event):
                words = doc["data"].get("operation") or doc["data"].get("code") or kind
                yield Found(f"{kind}: {words}", at(doc), None, doc["actor"], _event_link(chain, seq))

    return rows


def _denied_again(kind: str) -> Callable[[Scope], int | None]:
    """Their number, None where days are asked for."""
    return lambda scope: None if scope.filters.keys() & {"from", "until"} else number_of_denied(scope, (kind,))


def _after_hours(scope: Scope) -> Iterator[Found]:
    """Sign-ins while no gaming day was open, once the house has opened one."""
    for day, chain, seq, doc in _since(scope, "staff.signed_in"):
        if not day and _first_day(scope) is not None and at(doc) > _first_day(scope):
            yield Found(f"{doc['actor']} signed in", at(doc), None, doc["actor"], _event_link(chain, seq))


def _first_day(scope: Scope) -> Any:
    def first(scope: Scope) -> datetime | None:
        return next((at(doc) for _, _, _, doc in events(scope, ("day.opened",))), None)

    return scope.once("first day", first)


#: Sign-ins after the first day was opened, less those while some day was open.
_AFTER_HOURS = """
SELECT count(*) FROM audit_event event WHERE event.house_id = %s AND event.id <= %s
AND event.doc ->> 'kind' = 'staff.signed_in' AND EXISTS (
    SELECT FROM audit_event opened WHERE opened.house_id = event.house_id AND opened.id < event.id
    AND opened.doc ->> 'kind' = 'day.opened')
AND NOT EXISTS (
    SELECT FROM audit_event opened WHERE opened.house_id = event.house_id AND opened.id < event.id
    AND opened.doc ->> 'kind' = 'day.opened' AND NOT EXISTS (
        SELECT FROM audit_event closed WHERE closed.house_id = event.house_id AND closed.id < event.id
        AND closed.id > opened.id AND closed.doc ->> 'kind' = 'day.closed'
        AND closed.doc -> 'data' ->> 'day' = opened.doc -> 'data' ->> 'day'))
"""


def _after_hours_again(scope: Scope) -> int | None:
    if scope.filters.keys() & {"from", "until"}:
        return None
    [(found,)] = fetched(_AFTER_HOURS, [scope.house.id, scope.as_of.event])
    return int(found)


#: Operations by which somebody reads a person, or a file of a report; the run of a file is in the address.
_PERSON, _FILE, _RUN = "readPerson", "readReportFile", re.compile(r"/report-runs/([0-9]+)/")


def _of_persons() -> list[str]:
    """Ids of reports that name persons."""
    return [one.id for one in registry.reports().values() if one.sensitivity is Sensitivity.PERSONS]


def _persons(scope: Scope) -> Iterator[Found]:
    """Reads of persons, by their reference or in a file of a report that names them."""
    reports = {doc["data"]["run"]: doc["data"]["report"] for *_, doc in events(scope, ("report.requested",))}
    naming = set(_of_persons())
    for _, chain, seq, doc in _since(scope, "data.read"):
        data, what = doc["data"], ""
        if data.get("operation") == _PERSON:
            what = "a person"
        elif data.get("operation") == _FILE and (run := _RUN.search(data["subject"])):
            report = reports.get(int(run[1]), "")
            what = f"{report}, run {run[1]}" if report in naming else ""
        if what:
            yield Found(f"{doc['actor']} read {what}", at(doc), None, doc["actor"], _event_link(chain, seq))


#: The same by the rows of the runs.
_PERSONS = """
SELECT count(*) FROM audit_event event WHERE event.house_id = %s AND event.id <= %s
AND event.doc ->> 'kind' = 'data.read' AND (event.doc -> 'data' ->> 'operation' = %s
    OR event.doc -> 'data' ->> 'operation' = %s AND EXISTS (
        SELECT FROM reports_reportrun run WHERE run.house_id = event.house_id AND run.report = ANY(%s)
        AND event.doc -> 'data' ->> 'subject' LIKE '%%/report-runs/' || run.number || '/%%'))
"""


def _persons_again(scope: Scope) -> int | None:
    if scope.filters.keys() & {"from", "until"}:
        return None
    [(found,)] = fetched(_PERSONS, [scope.house.id, scope.as_of.event, _PERSON, _FILE, _of_persons()])
    return int(found)


def _approvals(scope: Scope) -> Iterator[Found]:
    for row in a24_approvals.REPORT.sections[0].rows(Scope(scope.house, scope.as_of, {"state": "requested"})):
        number, kind, amount, who, since = row[0], row[2], row[6], row[7], row[8]
        asked = since if isinstance(since, datetime) else None
        worth = None if amount is None else int(str(amount))
        yield Found(f"approval {number}: {kind}", asked, worth, str(who), f"approvals/{number}")


#: What was asked for, has not expired, and nobody has decided on, withdrawn or used.
_ASKED = """
SELECT count(*) FROM audit_event asked WHERE asked.house_id = %s AND asked.id <= %s
AND asked.doc ->> 'kind' = 'approval.requested' AND (asked.doc -> 'data' ->> 'expires')::timestamptz > %s
AND NOT EXISTS (
    SELECT FROM audit_event ended WHERE ended.house_id = asked.house_id AND ended.id <= %s AND ended.id > asked.id
    AND ended.doc -> 'data' -> 'approval' = asked.doc -> 'data' -> 'approval' AND NOT ended.doc -> 'data' ? 'waits_for')
"""


def _approvals_again(scope: Scope) -> int:
    event = scope.as_of.event
    [(found,)] = fetched(_ASKED, [scope.house.id, event, scope.as_of.at, event])
    return int(found)


def _unused(scope: Scope) -> Iterator[Found]:
    people = a26_access_review.REPORT.sections[0]
    names = [column.name for column in people.columns]
    for row in people.rows(Scope(scope.house, scope.as_of, {})):
        person = dict(zip(names, row, strict=True))
        if person["active"] and person["unused"]:
            login = str(person["person"])
            yield Found(f"{login}: {person['unused']}", None, None, login, "access-review")


#: When each of these people has done something in this role for the last time: along the index of who did what, from
#: the newest event back to the first one that fits.
_USED = """
SELECT asked.login, asked.role, newest.at FROM unnest(%s::text[], %s::text[]) AS asked (login, role)
CROSS JOIN LATERAL (
    SELECT (doc ->> 'at')::timestamptz AS at FROM audit_event
    WHERE house_id = %s AND doc ->> 'actor' = asked.login AND id <= %s AND doc ->> 'role' = asked.role
    AND doc ->> 'kind' NOT IN ('staff.sign_in_refused', 'staff.locked_out') ORDER BY id DESC LIMIT 1
) newest
"""


def _unused_again(scope: Scope) -> int:
    people = staff(scope)
    held = [(login, role) for login, person in people.items() if person.active for role in person.roles]
    logins, roles = [login for login, _ in held], [role for _, role in held]
    rows = fetched(_USED, [logins, roles, scope.house.id, scope.as_of.event])
    used = {(login, role): last for login, role, last in rows}
    now, late = scope.as_of.at, a26_access_review.UNUSED
    return sum(
        person.active and any(now - used.get((login, role), person.roles_since) > late for role in person.roles)
        for login, person in people.items()
    )


def _said_of(name: str, severity: Severity, report: str, *kinds: str) -> Source:
    return Source(name, severity, report, _said(*kinds), lambda scope: _number(scope, *kinds))


SOURCES = (
    Source("imbalance", Severity.HIGH, "", _imbalances, _open_imbalances),
    Source("chips", Severity.HIGH, "chips", _chips, _negative),
    Source("differences_of_one_sign", Severity.HIGH, "variances", _one_sign, _runs),
    Source("settling", Severity.HIGH, "disputes", _settling, _settling_again),
    Source(
        "cards", Severity.HIGH, "", _cards,
        lambda scope: _opened_less_closed(scope, "cards.exception", "cards.exception_cleared"),
    ),
    Source("drawer_open", Severity.HIGH, "drawer-counts", _drawers, _drawers_again),
    Source("checkpoints", Severity.HIGH, "", _checkpoints, _checkpoints_again),
    Source("failed", Severity.HIGH, "overrides", _denied(FAILED), _denied_again(FAILED)),
    Source("openers", Severity.MEDIUM, "tray-counts", _openers, _opener_events),
    Source("transfers", Severity.MEDIUM, "transfers", _late, _late_again),
    Source("approvals", Severity.MEDIUM, "approvals", _approvals, _approvals_again),
    _said_of("locked_out", Severity.MEDIUM, "access-review", "staff.locked_out"),
    Source("after_hours", Severity.MEDIUM, "access-review", _after_hours, _after_hours_again),
    Source("persons_read", Severity.MEDIUM, "access-review", _persons, _persons_again),
    _said_of("sign_in_refused", Severity.LOW, "access-review", "staff.sign_in_refused"),
    Source("refused", Severity.LOW, "overrides", _denied(REFUSED), _denied_again(REFUSED)),
    Source("rights_unused", Severity.LOW, "access-review", _unused, _unused_again),
)  # fmt: skip
