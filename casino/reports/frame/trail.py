"""What reports read from the audit trail: gaming days by event, places of chains, the staff as it was at a moment."""

import json
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from casino.reports.frame.filters import DayRange
from casino.reports.frame.movements import events
from casino.reports.frame.reading import fetched
from casino.reports.frame.report import Scope
from casino.reports.frame.span import turns


def at(doc: Mapping[str, Any]) -> datetime:
    """When an event was recorded."""
    return datetime.fromisoformat(doc["at"])


def place(chain: str) -> str:
    """Code of the table or drawer that a chain is of; empty for the chain of the house."""
    kind, _, code = chain.partition("/")
    return "" if kind == "house" else code


def minutes(begin: datetime, end: datetime) -> int:
    """Whole minutes from one moment to another."""
    return int((end - begin).total_seconds()) // 60


#: The same in SQL, of an event with the column `id`; `DaysOfEvents.parameters` are its parameters.
DAY_OF_EVENT = "(%(names)s::text[])[1 + width_bucket(id, %(bounds)s::bigint[])]"


class DaysOfEvents:
    """The gaming day in which an event was recorded: the newest that was open then."""

    def __init__(self, scope: Scope) -> None:
        self.range = DayRange.of(scope)
        self._ids: list[int] = []
        self._names: list[str] = []
        open_days: list[str] = []
        for turn in turns(scope):
            open_days = [day for day in open_days if day != turn.day]
            if turn.opens:
                open_days.append(turn.day)
            self._ids.append(turn.event)
            self._names.append(open_days[-1] if open_days else "")

    def of(self, event: int) -> str:
        """Name of the day; empty where none was open."""
        found = bisect_right(self._ids, event)
        return self._names[found - 1] if found else ""

    def takes(self, event: int) -> bool:
        """Whether the run has asked for this day."""
        return self.range.takes(self.of(event))

    @property
    def parameters(self) -> dict[str, list[Any]]:
        """Of DAY_OF_EVENT, and the names of the days that the run has asked for, `wanted`."""
        names = ["", *self._names]
        wanted = [name for name in dict.fromkeys(names) if self.range.takes(name)]
        return {"bounds": self._ids, "names": names, "wanted": wanted}


@dataclass(slots=True)
class Person:
    """A member of staff as the events have it: roles, whether active, since when."""

    login: str
    roles: tuple[str, ...]
    active: bool
    hired: datetime
    #: Since when the roles, and whether active, are as they are.
    roles_since: datetime
    active_since: datetime


#: What says who works in a house, and as what.
STAFF_KINDS = (
    "staff.hired", "staff.roles_changed", "staff.deactivated", "staff.activated",
)  # fmt: skip


def staff(scope: Scope) -> dict[str, Person]:
    """Everybody who was ever hired, by login, as the events up to the moment say."""
    found: dict[str, Person] = {}
    for _, _, _, doc in events(scope, STAFF_KINDS):
        data, when = doc["data"], at(doc)
        if doc["kind"] == "staff.hired":
            active = data.get("active", True)
            found[data["login"]] = Person(data["login"], tuple(data["roles"]), active, when, when, when)
            continue
        person = found[data["login"]]
        if doc["kind"] == "staff.roles_changed":
            person.roles, person.roles_since = tuple(data["after"]), when
        else:
            person.active, person.active_since = data["after"], when
    return dict(sorted(found.items()))


#: Rows as they were at the moment: what the first later event says of before. One statement, and so one snapshot.
_ROWS = """
SELECT person.login,
    coalesce((SELECT jsonb_path_query_array(event.doc, '$.data.before[*]') FROM audit_event event
        WHERE event.house_id = person.house_id AND event.doc ->> 'kind' = 'staff.roles_changed' AND event.id > %s
        AND event.doc -> 'data' ->> 'login' = person.login ORDER BY event.id LIMIT 1), to_jsonb(person.roles))::text,
    coalesce((SELECT (event.doc -> 'data' ->> 'before')::boolean FROM audit_event event
        WHERE event.house_id = person.house_id AND event.doc ->> 'kind' IN ('staff.deactivated', 'staff.activated')
        AND event.id > %s AND event.doc -> 'data' ->> 'login' = person.login ORDER BY event.id LIMIT 1),
        person.is_active)
FROM staff_staff person WHERE person.house_id = %s AND NOT EXISTS (
    SELECT FROM audit_event event WHERE event.house_id = person.house_id AND event.doc ->> 'kind' = 'staff.hired'
    AND event.id > %s AND event.doc -> 'data' ->> 'login' = person.login)
ORDER BY person.login
"""


def staff_rows(scope: Scope) -> dict[str, tuple[list[str], bool]]:
    """The rows of the staff as they were at the moment: roles, whether active, by login."""
    event = scope.as_of.event
    found = fetched(_ROWS, [event, event, scope.house.id, event])
    return {login: (json.loads(roles), active) for login, roles, active in found}


def opened_days(scope: Scope) -> list[str]:
    """Names of the gaming days that a run asks for and that were opened up to the moment, the first one first."""
    days = DayRange.of(scope)
    return sorted(doc["data"]["day"] for *_, doc in events(scope, ("day.opened",)) if days.takes(doc["data"]["day"]))


@dataclass(frozen=True, slots=True)
class SetUp:
    """For which game a table was set up, and in which area; empty: none is named."""

    game: str
    area: str


def tables(scope: Scope) -> dict[str, SetUp]:
    """Every table by its code; read once in a run."""
    return scope.once("tables", _tables)


def _tables(scope: Scope) -> dict[str, SetUp]:
    set_up = events(scope, ("table.set_up",))
    return {place(chain): SetUp(doc["data"]["game"], doc["data"].get("area", "")) for _, chain, _, doc in set_up}


def is_asked(scope: Scope, code: str) -> bool:
    """Whether a run shows a place by its code: it, and where it asks for a game or an area only tables of that."""
    asked, table = scope.filters, tables(scope).get(code)
    return (
        asked.get("place") in (None, code)
        and ("game" not in asked or (table is not None and table.game == asked["game"]))
        and ("area" not in asked or (table is not None and table.area == asked["area"]))
    )
