"""Sources of people: sign-ins while the house is closed, reads of persons, approvals, rights without a use."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from casino.reports.catalogue import a24_approvals, a26_access_review
from casino.reports.exceptions.source import Found, asked_for, asks_for_days, event_link
from casino.reports.frame import registry
from casino.reports.frame.movements import events
from casino.reports.frame.reading import fetched
from casino.reports.frame.report import Scope, Sensitivity
from casino.reports.frame.trail import at, staff


def after_hours(scope: Scope) -> Iterator[Found]:
    """Sign-ins while no gaming day was open, once the house has opened one."""
    for day, chain, seq, doc in asked_for(scope, "staff.signed_in"):
        if not day and _first_day(scope) is not None and at(doc) > _first_day(scope):
            yield Found(f"{doc['actor']} signed in", at(doc), None, doc["actor"], event_link(chain, seq))


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


def after_hours_again(scope: Scope) -> int | None:
    """Their number, from the events of days."""
    if asks_for_days(scope):
        return None
    [(found,)] = fetched(_AFTER_HOURS, [scope.house.id, scope.as_of.event])
    return int(found)


#: Operations by which somebody reads a person, or a file of a report; the run of a file is in the address.
_PERSON, _FILE, _RUN = "readPerson", "readReportFile", re.compile(r"/report-runs/([0-9]+)/")


def _of_persons() -> list[str]:
    """Ids of reports that name persons."""
    return [one.id for one in registry.reports().values() if one.sensitivity is Sensitivity.PERSONS]


def persons(scope: Scope) -> Iterator[Found]:
    """Reads of persons, by their reference or in a file of a report that names them."""
    reports = {doc["data"]["run"]: doc["data"]["report"] for *_, doc in events(scope, ("report.requested",))}
    naming = set(_of_persons())
    for _, chain, seq, doc in asked_for(scope, "data.read"):
        data, what = doc["data"], ""
        if data.get("operation") == _PERSON:
            what = "a person"
        elif data.get("operation") == _FILE and (run := _RUN.search(data["subject"])):
            report = reports.get(int(run[1]), "")
            what = f"{report}, run {run[1]}" if report in naming else ""
        if what:
            yield Found(f"{doc['actor']} read {what}", at(doc), None, doc["actor"], event_link(chain, seq))


#: The same by the rows of the runs.
_PERSONS = """
SELECT count(*) FROM audit_event event WHERE event.house_id = %s AND event.id <= %s
AND event.doc ->> 'kind' = 'data.read' AND (event.doc -> 'data' ->> 'operation' = %s
    OR event.doc -> 'data' ->> 'operation' = %s AND EXISTS (
        SELECT FROM reports_reportrun run WHERE run.house_id = event.house_id AND run.report = ANY(%s)
        AND event.doc -> 'data' ->> 'subject' LIKE '%%/report-runs/' || run.number || '/%%'))
"""


def persons_again(scope: Scope) -> int | None:
    """Their number, from the rows of the runs."""
    if asks_for_days(scope):
        return None
    [(found,)] = fetched(_PERSONS, [scope.house.id, scope.as_of.event, _PERSON, _FILE, _of_persons()])
    return int(found)


def approvals(scope: Scope) -> Iterator[Found]:
    """Approvals that wait."""
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


def approvals_again(scope: Scope) -> int:
    """Their number, from the events."""
    event = scope.as_of.event
    [(found,)] = fetched(_ASKED, [scope.house.id, event, scope.as_of.at, event])
    return int(found)


def unused(scope: Scope) -> Iterator[Found]:
    """People with roles that they have not used, as the access review has them, which reads all that everybody has ever
    done; where days are asked for, from the newest event back."""
    if asks_for_days(scope):
        yield from (_unused_roles(login, roles) for login, roles in _unused_by_event(scope).items())
        return
    people = a26_access_review.REPORT.sections[0]
    names = [column.name for column in people.columns]
    for row in people.rows(Scope(scope.house, scope.as_of, {})):
        person = dict(zip(names, row, strict=True))
        if person["active"] and person["unused"]:
            login = str(person["person"])
            yield _unused_roles(login, str(person["unused"]).split())


def _unused_roles(login: str, roles: Sequence[str]) -> Found:
    return Found(f"{login}: {' '.join(roles)}", None, None, login, "access-review")


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


def unused_again(scope: Scope) -> int | None:
    """Their number, from the newest event of each role."""
    return None if asks_for_days(scope) else len(_unused_by_event(scope))


def _unused_by_event(scope: Scope) -> dict[str, list[str]]:
    """By person the roles that were not used for long."""
    people = staff(scope)
    held = [(login, role) for login, person in people.items() if person.active for role in person.roles]
    logins, roles = [login for login, _ in held], [role for _, role in held]
    rows = fetched(_USED, [logins, roles, scope.house.id, scope.as_of.event])
    used = {(login, role): last for login, role, last in rows}
    now, late = scope.as_of.at, a26_access_review.UNUSED
    found = {
        login: [role for role in person.roles if now - used.get((login, role), person.roles_since) > late]
        for login, person in people.items()
        if person.active
    }
    return {login: roles for login, roles in found.items() if roles}
