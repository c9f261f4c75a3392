"""Exclusions of players and limits that players have set, as the events up to the moment of a report have them."""

import json
from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from casino.reports.frame.reading import fetched
from casino.reports.frame.report import Scope
from casino.reports.frame.trail import at
from casino.safeguards.models import ExclusionKind, LimitKind, MinorState

_SET, _ASKED, _LIFTED, _LIMIT = "exclusion.set", "exclusion.lift_asked", "exclusion.lifted", "player.limit_set"
_MATCHED, _CLEARED = "exclusion.matched", "exclusion.match_cleared"
_MINOR, _NO_MINOR, _SETTLED = "minor.recorded", "minor.cleared", "minor.settled"
_REMITTED = "winnings.remitted"
_EXCLUDES = frozenset((_SET, _ASKED, _LIFTED, _MATCHED, _CLEARED))
#: They are few: read whole, in one round trip for both.
_NOTED = """
SELECT id, doc::text FROM audit_event WHERE house_id = %s AND doc ->> 'kind' = ANY(%s) AND id <= %s ORDER BY id
"""


@dataclass(slots=True)
class Exclusion:
    """One exclusion, as the events have it."""

    event: int
    doc: dict[str, Any]
    asked_at: datetime | None = None
    lifted: dict[str, Any] | None = None
    lifted_by_event: int | None = None
    #: The player, or those whom its marks have matched, also where that was cleared later.
    players: set[str] = field(default_factory=set)
    cleared: set[str] = field(default_factory=set)

    @property
    def player(self) -> str:
        """The player, or those whom it has matched, in words."""
        return ", ".join(sorted(self.players - self.cleared))

    def is_in_force(self, moment: datetime) -> bool:
        """Whether it counts at a moment: one at the player's own wish until it is lifted."""
        data = self.doc["data"]
        over = data["exclusion_kind"] != ExclusionKind.SELF and self.until is not None and self.until <= moment
        return self.lifted is None and not over

    @property
    def until(self) -> datetime | None:
        """Its end, or that of its term."""
        said = self.doc["data"].get("until")
        return None if said is None else datetime.fromisoformat(said)


def _noted(scope: Scope) -> list[tuple[int, dict[str, Any]]]:
    kinds = [*_EXCLUDES, _LIMIT, _MINOR, _NO_MINOR, _SETTLED, _REMITTED]
    rows = fetched(_NOTED, [scope.house.id, kinds, scope.as_of.event])
    return [(event, json.loads(doc)) for event, doc in rows]


def exclusions(scope: Scope) -> dict[int, Exclusion]:
    """All of them by number."""
    found: dict[int, Exclusion] = {}
    for event, doc in scope.once("protection", _noted):
        if doc["kind"] not in _EXCLUDES:
            continue
        data, number = doc["data"], doc["data"]["exclusion"]
        if doc["kind"] == _SET:
            players = {data["player"]} if "player" in data else set(data.get("matched", ()))
            found[number] = Exclusion(event, doc, players=players)
        elif doc["kind"] == _MATCHED:
            found[number].players.add(data["player"])
        elif doc["kind"] == _CLEARED:
            found[number].cleared.add(data["player"])
        elif doc["kind"] == _ASKED:
            found[number].asked_at = at(doc)
        else:
            found[number].lifted, found[number].lifted_by_event = doc, event
    return found


def excluded_players(scope: Scope) -> Set[str]:
    """Players of whom an exclusion is in force at the moment of the report."""
    in_force = [one for one in exclusions(scope).values() if one.is_in_force(scope.as_of.at)]
    return {player for one in in_force for player in one.players - one.cleared}


@dataclass(slots=True)
class RecordedMinor:
    """A player who was recorded as a minor, as the events have it: what recorded it, what settled or cleared it, and
    what has remitted the winnings."""

    doc: dict[str, Any]
    ended: dict[str, Any] | None = None
    remitted: dict[str, Any] | None = None

    @property
    def state(self) -> MinorState:
        """What has become of it."""
        if self.ended is None:
            return MinorState.RECORDED
        return MinorState.SETTLED if self.ended["kind"] == _SETTLED else MinorState.CLEARED


def minors(scope: Scope) -> dict[int, RecordedMinor]:
    """All of them by number."""
    found: dict[int, RecordedMinor] = {}
    for _, doc in scope.once("protection", _noted):
        if doc["kind"] == _MINOR:
            found[doc["data"]["minor"]] = RecordedMinor(doc)
        elif doc["kind"] in (_NO_MINOR, _SETTLED):
            found[doc["data"]["minor"]].ended = doc
        elif doc["kind"] == _REMITTED:
            for part in doc["data"]["minors"]:
                found[part["minor"]].remitted = doc
    return found


class LimitState(StrEnum):
    """What a limit is at a moment; `none`: it says that there is no limit any more."""

    IN_FORCE = "in_force"
    NONE = "none"
    TO_COME = "to_come"
    REPLACED = "replaced"


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit of a player: minor units, of time minutes, None where it says that there is none."""

    number: int
    player: str
    kind: str
    span: str
    most: int | None
    set_at: datetime
    starts_at: datetime
    set_by: str
    state: LimitState

    @property
    def amount(self) -> int | None:
        """Minor units of one that is of money."""
        return None if self.kind == LimitKind.TIME else self.most

    @property
    def minutes(self) -> int | None:
        """Of one that is of time."""
        return self.most if self.kind == LimitKind.TIME else None


def limits(scope: Scope) -> list[Limit]:
    """All that were ever set, in the order of their numbers, as they stand at the moment of the report."""
    docs = [doc for _, doc in scope.once("protection", _noted) if doc["kind"] == _LIMIT]
    newest: dict[tuple[str, str, str], int] = {}
    for doc in docs:
        data = doc["data"]
        if datetime.fromisoformat(data["starts_at"]) <= scope.as_of.at:
            newest[data["player"], data["limit"], data["span"]] = data["number"]
    return list(_limits(scope, docs, newest))


def _limits(scope: Scope, docs: list[dict[str, Any]], newest: dict[tuple[str, str, str], int]) -> Iterator[Limit]:
    for doc in docs:
        data = doc["data"]
        starts, most = datetime.fromisoformat(data["starts_at"]), data.get("most")
        counts = newest.get((data["player"], data["limit"], data["span"]), 0)
        state = LimitState.TO_COME if starts > scope.as_of.at and data["number"] > counts else LimitState.REPLACED
        if data["number"] == counts:
            state = LimitState.NONE if most is None else LimitState.IN_FORCE
        yield Limit(
            data["number"], data["player"], data["limit"], data["span"], most, at(doc), starts, doc["actor"], state
        )
