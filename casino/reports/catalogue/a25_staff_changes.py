"""A25: who was hired, given roles, passwords and terminals, or taken off, by whom and why; and who is what now."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from casino.reports.frame.columns import Column, Row, Type, coded, count, ref, text, time
from casino.reports.frame.filters import DAYS
from casino.reports.frame.movements import events
from casino.reports.frame.reading import fetched
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
from casino.reports.frame.trail import DaysOfEvents, at, staff, staff_rows
from casino.staff.models import Role

_KINDS = (
    "staff.hired", "staff.roles_changed", "staff.deactivated", "staff.activated", "staff.password_set",
    "staff.password_changed", "staff.pin_set", "staff.second_factor_begun", "staff.second_factor_confirmed",
    "staff.second_factor_reset", "staff.passkey_registered", "staff.passkey_removed", "staff.player_linked",
    "staff.unlocked", "rota.entered", "rota.withdrawn", "terminal.enrolled", "terminal.revoked",
)  # fmt: skip
PERSON = Filter("person", FilterKind.PERSON, "Only changes of this person, or by this person.")
ROLE = Filter("role", FilterKind.CHOICE, "Only this role.", choices=tuple(Role.values))
#: Terminals: enrolled by the rows, as of the moment; a row knows until when it was in use.
_TERMINALS = """
SELECT count(*) FROM staff_terminal terminal WHERE terminal.house_id = %s AND EXISTS (
    SELECT FROM audit_event event WHERE event.house_id = terminal.house_id AND event.id <= %s
    AND event.doc ->> 'kind' = 'terminal.enrolled' AND event.doc -> 'data' ->> 'terminal' = terminal.code)
"""


def _before_after(doc: dict[str, Any]) -> tuple[str, str]:
    """What was, and what is, in words; empty where an event has no such thing."""
    data = doc["data"]
    match doc["kind"]:
        case "staff.hired":
            return "", " ".join(data["roles"]) + ("" if data.get("active", True) else " (not active yet)")
        case "staff.roles_changed":
            return " ".join(data["before"]), " ".join(data["after"])
        case "staff.activated" | "staff.deactivated":
            return _word(data["before"]), _word(data["after"])
        case "staff.player_linked":
            return data.get("before", ""), data.get("after", "")
        case "rota.entered":
            return "", f"{data['role']} {data['location']}".strip()
        case "terminal.enrolled":
            return "", f"{data['kind']} {data['location']}".strip()
        case "rota.withdrawn":
            return f"entry {data['entry']}", ""
    return "", ""


def _times(doc: dict[str, Any]) -> tuple[datetime | None, datetime | None]:
    """From when until when somebody stands on the rota; nothing of another change."""
    if doc["kind"] != "rota.entered":
        return None, None
    return datetime.fromisoformat(doc["data"]["starts"]), datetime.fromisoformat(doc["data"]["ends"])


def _roles(doc: dict[str, Any]) -> set[str]:
    """The roles that a change names."""
    data = doc["data"]
    changed = (data.get("before"), data.get("after")) if doc["kind"] == "staff.roles_changed" else ()
    return {data.get("role", ""), *data.get("roles", ()), *(role for roles in changed for role in roles or ())}


def _word(active: bool) -> str:
    return "active" if active else "not active"


def _subject(doc: dict[str, Any]) -> str:
    """Whose login it is about, or which terminal; a password that was changed is the actor's own."""
    data = doc["data"]
    return str(data.get("login") or data.get("terminal") or (doc["actor"] if doc["kind"].startswith("staff.") else ""))


def _changes(scope: Scope) -> Iterator[tuple[int, str, int, dict[str, Any]]]:
    days, person, role = DaysOfEvents(scope), scope.filters.get("person"), scope.filters.get("role")
    for event, chain, seq, doc in events(scope, _KINDS, days.range):
        named = person in (None, doc["actor"], _subject(doc)) and (role is None or role in _roles(doc))
        if named and days.takes(event):
            yield event, chain, seq, doc


def _rows(scope: Scope) -> Iterator[Row]:
    days = DaysOfEvents(scope)
    for event, chain, seq, doc in _changes(scope):
        data = doc["data"]
        yield (
            days.of(event) or None, at(doc), _subject(doc), doc["kind"], *_before_after(doc), *_times(doc),
            doc["actor"], doc["role"], doc.get("approver", ""), data.get("approval"), doc.get("reason", ""),
            data.get("ended_session_count"), f"{chain}#{seq}",
        )  # fmt: skip


def _people(scope: Scope) -> Iterator[Row]:
    wanted, role = scope.filters.get("person"), scope.filters.get("role")
    ended: dict[str, int] = {}
    for _, _, _, doc in events(scope, _KINDS):
        login = _subject(doc)
        ended[login] = ended.get(login, 0) + doc["data"].get("ended_session_count", 0)
    for login, person in staff(scope).items():
        if wanted in (None, login) and (role is None or role in person.roles):
            yield (
                login, " ".join(person.roles), person.roles_since, person.active, person.active_since, person.hired,
                ended.get(login, 0),
            )  # fmt: skip


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    people, rows = staff(scope), staff_rows(scope)
    yield Equality("people by events = rows", len(people), len(rows), Type.COUNT)
    agree = sum(_agrees(rows.get(login), person.roles, person.active) for login, person in people.items())
    yield Equality("people whose roles and state by events are those of the rows = rows", agree, len(rows), Type.COUNT)
    enrolled = sum(1 for _ in events(scope, ("terminal.enrolled",)))
    [(terminals,)] = fetched(_TERMINALS, [scope.house.id, scope.as_of.event])
    yield Equality("terminals that were enrolled = rows", enrolled, terminals, Type.COUNT)


def _agrees(row: tuple[list[str], bool] | None, roles: tuple[str, ...], active: bool) -> bool:
    return row is not None and sorted(row[0]) == sorted(roles) and row[1] == active


REPORT = Report(
    id="staff-changes",
    number="A25",
    version=2,
    title="Staff and rights changes",
    text="Every change of people, roles, passwords, second factors, the rota and terminals; and the staff as those "
    "changes have made it.",
    roles=(Role.ADMIN, Role.AUDITOR),
    sections=(
        Section(
            "changes",
            "Changes",
            (
                Column("day", "Gaming day", Type.DAY), time("at", "At"), ref("subject", "Person or terminal"),
                text("change", "Change"), text("before", "Before"), text("after", "After"), time("starts", "From"),
                time("ends", "Until"), ref("person", "By"),
                coded("role", "As"), ref("approver", "Approver"), count("approval", "Approval", total=False),
                text("reason", "Reason"), count("sessions", "Sessions ended"), ref("event", "Event"),
            ),
            _rows,
            groups=("day", "change", "subject", "person"),
        ),
        Section(
            "people",
            "Staff",
            (
                ref("person", "Person"), text("roles", "Roles"), time("roles_since", "Roles since"),
                Column("active", "Active", Type.FLAG), time("active_since", "State since"), time("hired", "Hired"),
                count("sessions", "Sessions ended"),
            ),
            _people,
        ),
    ),
    equalities=_equalities,
    filters=(*DAYS, PERSON, ROLE),
    sensitivity=Sensitivity.STAFF,
    retention=Retention.BOOKS,
)  # fmt: skip
