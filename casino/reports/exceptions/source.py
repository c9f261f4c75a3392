"""What a source of exceptions is, and what several of them are made of."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from casino.reports.frame.denials import denied, number_of_denied
from casino.reports.frame.movements import events
from casino.reports.frame.reading import fetched
from casino.reports.frame.report import Scope
from casino.reports.frame.trail import DaysOfEvents, at


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


def asks_for_days(scope: Scope) -> bool:
    """Whether a run asks for days, and not for all."""
    return bool(scope.filters.keys() & {"from", "until"})


def asked_for(scope: Scope, *kinds: str) -> Iterator[tuple[str, str, int, dict[str, Any]]]:
    """Events of these kinds in the days asked for: day, chain, number in the chain, payload."""
    days = DaysOfEvents(scope)
    for event, chain, seq, doc in events(scope, kinds, days.range):
        if days.takes(event):
            yield days.of(event), chain, seq, doc


def number_of(scope: Scope, *kinds: str) -> int | None:
    """How many events of these kinds there are; None where days are asked for."""
    if asks_for_days(scope):
        return None
    [(found,)] = fetched(_COUNT, [scope.house.id, scope.as_of.event, list(kinds)])
    return int(found)


def event_link(chain: str, seq: int) -> str:
    """Where an event is read."""
    return f"audit/events: {chain}#{seq}"


def _said(*kinds: str) -> Callable[[Scope], Iterator[Found]]:
    """What is an exception each time that it happens."""

    def rows(scope: Scope) -> Iterator[Found]:
        for _, chain, seq, doc in asked_for(scope, *kinds):
            data = doc["data"]
            words = data.get("operation") or data.get("code") or doc["kind"]
            yield Found(f"{doc['kind']}: {words}", at(doc), None, doc["actor"], event_link(chain, seq))

    return rows


def each_denied(kind: str) -> Callable[[Scope], Iterator[Found]]:
    """What was refused, or failed, each time."""

    def rows(scope: Scope) -> Iterator[Found]:
        days = DaysOfEvents(scope)
        for event, chain, seq, doc in denied(scope, (kind,), days.range):
            if days.takes(event):
                words = doc["data"].get("operation") or doc["data"].get("code") or kind
                yield Found(f"{kind}: {words}", at(doc), None, doc["actor"], event_link(chain, seq))

    return rows


def denied_again(kind: str) -> Callable[[Scope], int | None]:
    """Their number, None where days are asked for."""
    return lambda scope: None if asks_for_days(scope) else number_of_denied(scope, (kind,))


def said_of(name: str, severity: Severity, report: str, *kinds: str) -> Source:
    """The source of events that are exceptions each time."""
    return Source(name, severity, report, _said(*kinds), lambda scope: number_of(scope, *kinds))
