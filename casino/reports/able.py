"""Who could use an operation of the API, and when: held one of the roles that it takes, with a login that was active.

Roles and logins are rebuilt from the events that changed them. Which roles an operation takes is what this version of
the program declares; an approval, a terminal or a second factor that it needs besides is not looked at."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from casino.reports.frame.movements import events
from casino.reports.frame.reading import fetched
from casino.reports.frame.report import Scope
from casino.reports.frame.trail import STAFF_KINDS, at, staff_rows
from casino.staff import rights
from casino.staff.duties import refused_pair
from casino.staff.models import Role

#: The last event about the staff up to a moment.
_LAST = """
SELECT coalesce(max(id), 0) FROM audit_event
WHERE house_id = %s AND id <= %s AND doc ->> 'kind' = ANY(%s) AND (doc ->> 'at')::timestamptz <= %s
"""


@dataclass(frozen=True, slots=True)
class Able:
    """A person who could use the operation by a role from one moment to another; None: still can. `pair`: two roles
    that the person held then and that exclude each other, with which a request is refused; empty: none."""

    login: str
    role: str
    begun: datetime
    until: datetime | None
    pair: str

    def at(self, moment: datetime) -> bool:
        """Whether it was so at a moment."""
        return self.begun <= moment and (self.until is None or moment < self.until)


def able(scope: Scope, operation: str) -> list[Able]:
    """Everybody, by login, begin and role, up to the moment of the report."""
    taken = frozenset(map(str, rights.roles_of(operation)))
    return sorted(_able(scope, taken), key=lambda one: (one.login, one.begun, one.role))


def _able(scope: Scope, taken: Collection[str]) -> Iterator[Able]:
    roles: dict[str, tuple[str, ...]] = {}
    active: dict[str, bool] = {}
    since: dict[tuple[str, str, str], datetime] = {}
    for _, _, _, doc in events(scope, STAFF_KINDS):
        data, login = doc["data"], doc["data"]["login"]
        if doc["kind"] == "staff.hired":
            roles[login], active[login] = tuple(data["roles"]), data.get("active", True)
        elif doc["kind"] == "staff.roles_changed":
            roles[login] = tuple(data["after"])
        else:
            active[login] = data["after"]
        now = {(login, role, pair_of(roles[login])) for role in roles[login] if role in taken and active[login]}
        for who, role, pair in [one for one in since if one[0] == login and one not in now]:
            yield Able(who, role, since.pop((who, role, pair)), at(doc), pair)
        for one in now:
            since.setdefault(one, at(doc))
    for (login, role, pair), begun in since.items():
        yield Able(login, role, begun, None, pair)


def pair_of(roles: Collection[str]) -> str:
    """The first pair of these roles that exclude each other, in words; empty where there is none."""
    pair = refused_pair(roles)
    return "" if pair is None else " + ".join(pair.roles)


def by_rows(scope: Scope, operation: str, moment: datetime | None) -> set[tuple[str, Role]]:
    """Who could at a moment, None: that of the report, and by which role, as the rows of the staff had it: the rows of
    now, taken back to it by what later events say of before."""
    event = scope.as_of.event
    if moment is not None:
        [(event,)] = fetched(_LAST, [scope.house.id, event, list(STAFF_KINDS), moment])
    then = replace(scope, as_of=replace(scope.as_of, event=event))
    taken = rights.roles_of(operation)
    return {
        (login, role)
        for login, (roles, active) in staff_rows(then).items()
        if active
        for role in taken & set(map(Role, roles))
    }
