"""A26: what each person may do, since when, and does of it: for the review of rights."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from casino.reports.able import Able, able, by_rows, pair_of
from casino.reports.frame.columns import Column, Row, Type, coded, count, ref, text, time
from casino.reports.frame.denials import ASKED, REFUSED, SEALED_KINDS, SEALED_OPERATIONS
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
from casino.reports.frame.trail import STAFF_KINDS, at, staff, staff_rows
from casino.staff.models import Role

PERSON = Filter("person", FilterKind.PERSON, "Only this person.")
ROLE = Filter("role", FilterKind.CHOICE, "Only people who hold this role.", choices=tuple(Role.values))
OPERATION = Filter(
    "operation", FilterKind.CODE,
    "Only people who have used this operation, and of what they do only that: a kind of event, `cage.buy_in`, or the "
    "operation that was read or refused, `listEvents`. Of an operation of the API also who could use it.",
)  # fmt: skip
MOMENT = Filter(
    "moment", FilterKind.TIME,
    "Of the roles held only those that were held at this moment, with its offset: `2026-11-24T22:00:00+01:00`. With "
    "`role`: who held that one then. With `operation`: who could use it then.",
)  # fmt: skip
#: After how long a right that nobody has used, and a login, is called unused and dormant.
UNUSED, DORMANT = timedelta(days=90), timedelta(days=30)
_SIGNED_IN = "staff.signed_in"
#: What somebody tried who may not have been that person.
_NO_WORK = ("staff.sign_in_refused", "staff.locked_out")
#: How often an operation was used by people of the staff.
_TIMES = """
SELECT count(*) FROM audit_event event JOIN staff_staff person ON person.house_id = event.house_id
    AND person.login = event.doc ->> 'actor'
WHERE event.house_id = %s AND event.id <= %s
AND (event.doc ->> 'kind' = %s OR event.doc #>> '{data,operation}' = %s)
AND event.doc ->> 'kind' <> ALL(%s) AND coalesce(event.doc #>> '{data,operation}', '') <> ALL(%s)
"""
#: What everybody of the staff has done: by kind, role and operation. OFFSET 0 keeps the planner from reading millions
#: of events in the order of an index, to group them by a sort.
_DONE = """
SELECT actor, kind, role, operation, sum(times)::bigint, min(first), max(last), array_agg(DISTINCT terminal) FROM (
    SELECT actor, kind, role, operation, terminal, count(*) AS times, min(at) AS first, max(at) AS last FROM (
        SELECT doc ->> 'actor' AS actor, doc ->> 'kind' AS kind, coalesce(doc ->> 'role', '') AS role,
            coalesce(doc #>> '{data,operation}', '') AS operation, doc ->> 'terminal' AS terminal, doc ->> 'at' AS at
        FROM audit_event WHERE house_id = %s AND id <= %s OFFSET 0
    ) said GROUP BY 1, 2, 3, 4, 5
) done GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
"""
#: How often each person was refused what had to wait for an approval first.
_ASKED = """
SELECT doc ->> 'actor', count(*) FROM audit_event
WHERE house_id = %s AND id <= %s AND doc ->> 'kind' = %s AND doc -> 'data' ->> 'code' = %s GROUP BY 1
"""
_SIGN_INS = """
SELECT count(*) FROM audit_event event JOIN staff_staff person ON person.house_id = event.house_id
    AND person.login = event.doc ->> 'actor'
WHERE event.house_id = %s AND event.id <= %s AND event.doc ->> 'kind' = 'staff.signed_in'
"""


@dataclass(slots=True)
class _Work:
    """What one person has done: numbers, and when each role was used last."""

    sign_ins: int = 0
    refused: int = 0
    reads: int = 0
    #: Refusals and failures; of them those that only asked for an approval.
    denied: int = 0
    asked: int = 0
    changes: int = 0
    last_in: datetime | None = None
    last: datetime | None = None
    roles: dict[str, datetime] = field(default_factory=dict)
    terminals: set[str] = field(default_factory=set)
    #: By kind of event and operation: how often, first, last.
    operations: dict[tuple[str, str], tuple[int, datetime, datetime]] = field(default_factory=dict)

    def add(
        self, kind: str, role: str, operation: str, times: int, first: datetime, last: datetime, terminals: list[str]
    ) -> None:
        """Take up what was done under one kind. What was done in the sealed register shows nowhere, but that a right is
        used and that somebody works."""
        if kind in SEALED_KINDS or operation in SEALED_OPERATIONS:
            self._used(role, last)
            return
        self.terminals |= set(terminals) - {"", None}
        if kind == _SIGNED_IN:
            self.sign_ins += times
            self.last_in = max(self.last_in or last, last)
        elif kind in _NO_WORK:
            self.refused += times
            return
        elif kind == "data.read":
            self.reads += times
        elif kind.startswith("attempt."):
            self.denied += times
        else:
            self.changes += times
        self._used(role, last)
        before = self.operations.get((kind, operation), (0, first, last))
        self.operations[kind, operation] = before[0] + times, min(before[1], first), max(before[2], last)

    def _used(self, role: str, last: datetime) -> None:
        self.last = max(self.last or last, last)
        if role:
            self.roles[role] = max(self.roles.get(role, last), last)


def _done(scope: Scope) -> dict[str, _Work]:
    found: dict[str, _Work] = {}
    for actor, kind, role, operation, times, first, last, terminals in fetched(
        _DONE, [scope.house.id, scope.as_of.event]
    ):
        work = found.setdefault(actor, _Work())
        begin, end = datetime.fromisoformat(first), datetime.fromisoformat(last)
        work.add(kind, role, operation, times, begin, end, terminals)
    for actor, times in fetched(_ASKED, [scope.house.id, scope.as_of.event, REFUSED, ASKED]):
        found[actor].asked = times
    return found


def _wanted(scope: Scope) -> set[str]:
    asked = scope.filters
    return {
        login
        for login, person in staff(scope).items()
        if asked.get("person") in (None, login)
        and ("role" not in asked or asked["role"] in person.roles)
        and (OPERATION.name not in asked or login in _users(scope))
    }


def _users(scope: Scope) -> set[str]:
    """Who has used the operation that a run asks for."""
    done = scope.once("done", _done).items()
    return {login for login, work in done if any(_is_asked(scope, *one) for one in work.operations)}


def _is_asked(scope: Scope, kind: str, operation: str) -> bool:
    return scope.filters.get(OPERATION.name) in (None, kind, operation)


def _people(scope: Scope) -> Iterator[Row]:
    wanted, done, now = _wanted(scope), scope.once("done", _done), scope.as_of.at
    for login, person in staff(scope).items():
        if login not in wanted:
            continue
        work = done.get(login, _Work())
        idle = (now - (work.last or person.hired)).days
        unused = [role for role in person.roles if now - work.roles.get(role, person.roles_since) > UNUSED]
        yield (
            login, " ".join(person.roles), person.active, person.hired, person.roles_since, len(work.terminals),
            work.last_in, work.sign_ins, work.refused, work.changes, work.reads, work.asked,
            work.denied - work.asked, " ".join(unused),
            pair_of(person.roles), idle, person.active and idle > DORMANT.days,
            None if person.active else (now - person.active_since).days,
        )  # fmt: skip


def _held(scope: Scope) -> Iterator[Row]:
    """Which role was held from when until when, while the login was active or not."""
    asked = scope.filters
    since: dict[tuple[str, str], datetime] = {}
    ended: list[tuple[str, str, datetime, datetime]] = []
    for _, _, _, doc in events(scope, STAFF_KINDS):
        data = doc["data"]
        after = data["roles"] if doc["kind"] == "staff.hired" else data["after"]
        if isinstance(after, bool):
            continue
        for login, role in [one for one in since if one[0] == data["login"] and one[1] not in after]:
            ended.append((login, role, since.pop((login, role)), at(doc)))
        for role in after:
            since.setdefault((data["login"], role), at(doc))
    still = [(login, role, begun, None) for (login, role), begun in since.items()]
    for login, role, begun, until in sorted([*ended, *still], key=lambda one: (one[0], one[2], one[1])):
        if asked.get("person") in (None, login) and _holds(scope, login, role, begun, until):
            yield login, role, begun, until


def _holds(scope: Scope, login: str, role: str, begun: datetime, until: datetime | None) -> bool:
    """Whether a run asks for a role that was held from one moment to another."""
    moment = _moment(scope)
    if moment is None:
        return login in _wanted(scope)
    return begun <= moment and (until is None or moment < until) and scope.filters.get("role") in (None, role)


def _pairs(scope: Scope) -> Iterator[Row]:
    """When somebody held two roles that exclude each other, while the login was active or not."""
    wanted, since = _wanted(scope), dict[str, tuple[str, datetime]]()
    found: list[tuple[str, str, datetime, datetime | None]] = []
    for _, _, _, doc in events(scope, STAFF_KINDS):
        data, login = doc["data"], doc["data"]["login"]
        after = data["roles"] if doc["kind"] == "staff.hired" else data["after"]
        if isinstance(after, bool):
            continue
        pair, (before, begun) = pair_of(after), since.get(login, ("", at(doc)))
        if pair != before:
            if before:
                found.append((login, before, begun, at(doc)))
            since[login] = pair, at(doc)
    found += [(login, pair, begun, None) for login, (pair, begun) in since.items() if pair]
    for login, pair, begun, until in sorted(found, key=lambda one: (one[0], one[2])):
        if login in wanted:
            yield login, pair, begun, until


def _could(scope: Scope) -> list[Able]:
    """Who could use the operation that a run asks for, at its moment where it names one."""
    return scope.once("able", _read_able)


def _read_able(scope: Scope) -> list[Able]:
    asked, moment = scope.filters, _moment(scope)
    if OPERATION.name not in asked:
        return []
    return [
        one
        for one in able(scope, asked[OPERATION.name])
        if asked.get("person") in (None, one.login)
        and asked.get("role") in (None, one.role)
        and (moment is None or one.at(moment))
    ]


def _moment(scope: Scope) -> datetime | None:
    return datetime.fromisoformat(scope.filters[MOMENT.name]) if MOMENT.name in scope.filters else None


def _able(scope: Scope) -> Iterator[Row]:
    for one in _could(scope):
        yield one.login, one.role, one.begun, one.until, one.pair


def _operations(scope: Scope) -> Iterator[Row]:
    wanted = _wanted(scope)
    for login, work in sorted(scope.once("done", _done).items()):
        if login in wanted:
            for (kind, operation), (times, first, last) in sorted(work.operations.items()):
                if _is_asked(scope, kind, operation):
                    yield login, kind, operation, times, first, last


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    people, rows = staff(scope), staff_rows(scope)
    left = sum(not person.active for person in people.values())
    yield Equality(
        "people who are not active by events = by rows",
        left,
        sum(not active for _, active in rows.values()),
        Type.COUNT,
    )
    if not scope.filters:
        held = sum(until is None for _, _, _, until in _held(scope))
        yield Equality(
            "roles held by events = roles of the rows", held, sum(len(roles) for roles, _ in rows.values()), Type.COUNT
        )
        pairs = sum(until is None for _, _, _, until in _pairs(scope))
        of_rows = sum(bool(pair_of(roles)) for roles, _ in rows.values())
        yield Equality("pairs held by events = pairs of the rows", pairs, of_rows, Type.COUNT)
        [(sign_ins,)] = fetched(_SIGN_INS, [scope.house.id, scope.as_of.event])
        yield Equality(
            "sign-ins by person = sign-ins of the trail", results["people"].totals["sign_ins"], sign_ins, Type.COUNT
        )
    if OPERATION.name in scope.filters:
        yield from _could_by_rows(scope)
        if not scope.filters.keys() - {OPERATION.name}:
            yield _used(scope, results)
        return
    totals = results["people"].totals
    done = sum(totals[name] for name in ("sign_ins", "changes", "reads", "asked", "denied"))
    yield Equality("what people have done = operations", done, results["operations"].totals["times"], Type.COUNT)


def _could_by_rows(scope: Scope) -> Iterator[Equality]:
    """Of a moment, or of now: events forwards from the founding, against the rows taken back by later events."""
    asked, moment = scope.filters, _moment(scope)
    found = {(one.login, one.role) for one in _could(scope) if moment is not None or one.until is None}
    wanted = {
        (login, str(role))
        for login, role in by_rows(scope, asked[OPERATION.name], moment)
        if asked.get("person") in (None, login) and asked.get("role") in (None, str(role))
    }
    yield Equality("who could use it, by events = by rows", len(found), len(wanted), Type.COUNT)
    yield Equality("who could use it, by events and rows alike = by rows", len(found & wanted), len(wanted), Type.COUNT)


def _used(scope: Scope, results: Results) -> Equality:
    asked, hidden = scope.filters[OPERATION.name], [*SEALED_KINDS, *SEALED_OPERATIONS, *_NO_WORK]
    [(times,)] = fetched(_TIMES, [scope.house.id, scope.as_of.event, asked, asked, hidden, hidden])
    return Equality("uses by person = uses of the trail", results["operations"].totals["times"], times, Type.COUNT)


REPORT = Report(
    id="access-review",
    number="A26",
    version=4,
    title="Access review",
    text="What each person may do, from when until when, what each does of it, and what should be looked at: rights "
    "that are not used for 90 days, pairs of roles that exclude each other, logins that rest for 30 days. Of an "
    "operation who could use it and when, by the roles that this version of the program lets use it.",
    roles=(Role.AUDITOR,),
    sections=(
        Section(
            "people",
            "People",
            (
                ref("person", "Person"), text("roles", "Roles"), Column("active", "Active", Type.FLAG),
                time("hired", "Hired"), time("roles_since", "Roles since"),
                count("terminals", "Terminals", total=False), time("last_sign_in", "Last sign-in"),
                count("sign_ins", "Sign-ins"), count("refused", "Sign-ins refused"), count("changes", "Changes"),
                count("reads", "Reads"), count("asked", "Asked for approval"), count("denied", "Denials"),
                text("unused", "Roles not used for 90 days"),
                text("pair", "Roles that exclude each other"), count("idle", "Days without work", total=False),
                Column("dormant", "Dormant", Type.FLAG), count("left_days", "Left, days ago", total=False),
            ),
            _people,
        ),
        Section(
            "held",
            "Roles held",
            (ref("person", "Person"), ref("role", "Role"), time("from", "From"), time("until", "Until")),
            _held,
            groups=("role", "person"),
        ),
        Section(
            "operations",
            "Operations used",
            (
                ref("person", "Person"), coded("kind", "Event"), ref("operation", "Operation"), count("times", "Times"),
                time("first", "First"), time("last", "Last"),
            ),
            _operations,
            groups=("person", "kind", "operation"),
        ),
        Section(
            "pairs",
            "Roles held that exclude each other",
            (ref("person", "Person"), text("pair", "Roles"), time("from", "From"), time("until", "Until")),
            _pairs,
            groups=("person", "pair"),
        ),
        Section(
            "able",
            "Who could use the operation",
            (
                ref("person", "Person"), ref("role", "By the role"), time("from", "From"), time("until", "Until"),
                text("pair", "Roles that excluded each other"),
            ),
            _able,
            groups=("role", "person"),
        ),
    ),
    equalities=_equalities,
    filters=(PERSON, ROLE, OPERATION, MOMENT),
    sensitivity=Sensitivity.STAFF,
    retention=Retention.BOOKS,
)  # fmt: skip
