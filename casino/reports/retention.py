"""Retention: what need not be kept any more is deleted, and it is proved that it was.

These things end (`casino/reports/due.py`): the bytes of report files, by the class of their report, and of packages of
gaming days; stored answers of requests, and messages of the outbox that are done; the keys to persons' data, when a
player was last seen so long ago that the rules on money laundering want them no longer; entries of the sealed
register; marks of exclusions that are over. What a legal hold covers stays. Ledger, events, and the rows and hashes of
files and packages are never touched.

A run deletes a share, looks for what it has deleted, and records each thing with its hash; what is still found
afterwards fails the whole run. Answers and messages come by the thousand: they have short runs of their own, all day
(`PRUNED`), which take no lock that play takes.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db.models import Max

from casino.audit.events.evidence import RetentionRan
from casino.audit.events.players import PlayerForgotten
from casino.audit.services import Actor
from casino.core import canonical, locks, sql
from casino.core.work import Work
from casino.days.models import PackageContent
from casino.evidence import expiry
from casino.evidence.forgetting import StillThereError, destroy
from casino.evidence.models import RetentionRun, SealedEntry
from casino.houses.models import House, OutboxMessage
from casino.players.models import Person, PersonKey, Player
from casino.reports.due import (
    ANSWERS,
    ANSWERS_SPAN,
    FILE,
    KEY,
    MARKS,
    MESSAGES,
    MESSAGES_SPAN,
    PACKAGE,
    SEALED,
    Due,
    due,
    span,
)
from casino.reports.models import ReportPart
from casino.safeguards.models import ExclusionMark
from casino.staff.models import AnsweredRequest

#: Things that one run deletes at most; the next one goes on.
SHARE = 200


#: What is deleted all day, a share at a time.
PRUNED = (ANSWERS, MESSAGES)


def prune(house: House, by: str) -> RetentionRun | None:
    """Delete the oldest answers and messages that are due and under no hold, `due.ROWS` of each at most; None where
    there are none. Raises as `run`."""

    def operation() -> RetentionRun | None:
        locks.lock_evidence(house.id)
        moment = sql.database_time()
        return _deleted(house, by, moment, due(house, moment, PRUNED))

    made: RetentionRun | None = locks.in_transaction(operation)
    return made


def run(house: House, by: str) -> RetentionRun | None:
    """Delete what is due and under no hold, at most SHARE things; None where that is nothing. Raises StillThereError,
    and what writing raises."""

    def operation() -> RetentionRun | None:
        moment = sql.database_time()
        keys = [one for one in due(house, moment, [KEY]) if not one.holds][:SHARE]
        # Persons come before all series in the order of locks; what was read before is read again under them.
        locks.lock_safeguards(house.id)
        for player in sorted(one.id for one in keys):
            locks.lock_person(player)
        locks.lock_reports(house.id)
        locks.lock_evidence(house.id)
        locked = {one.id for one in keys}
        found = due(house, moment)
        return _deleted(house, by, moment, [one for one in found if one.holds or one.kind != KEY or one.id in locked])

    made: RetentionRun | None = locks.in_transaction(operation)
    return made


def still_there(house: House, items: Iterable[Mapping[str, Any]]) -> list[str]:
    """Names of those of these things, as an event has them, that are there now."""
    return [f"{item['kind']} {item['name']}" for item in items if _FOUND[item["kind"]](house, item["name"])]


# --- Parts ----------------------------------------------------------------------------------------------------------


def _deleted(house: House, by: str, moment: datetime, found: list[Due]) -> RetentionRun | None:
    """Delete what is under no hold of what was found, at most SHARE things."""
    free = [one for one in found if not one.holds][:SHARE]
    if not free:
        return None
    return _Run(house, by, moment).delete(free, sum(bool(one.holds) for one in found))


class _Run:
    """A run that deletes something; it holds the locks."""

    def __init__(self, house: House, by: str, moment: datetime) -> None:
        last = RetentionRun.objects.filter(house=house).aggregate(last=Max("number"))["last"] or 0
        self._house, self._by, self._moment, self._number = house, by, moment, last + 1
        self._work = Work(house, Actor.system(by))

    def delete(self, free: list[Due], held: int) -> RetentionRun:
        """Delete these things, look for them, and record the run, which a hold has kept so many others from."""
        how: dict[str, Callable[[Due], None]] = {
            FILE: self._file, KEY: self._key, PACKAGE: self._package, ANSWERS: self._answers,
            MESSAGES: self._messages, SEALED: self._sealed, MARKS: self._marks,
        }  # fmt: skip
        for one in free:
            how[one.kind](one)
        items = [one.as_json() for one in free]
        left = still_there(self._house, items)
        if left:
            raise StillThereError(f"house {self._house.code}: {', '.join(left)}")
        deleted = {kind: _summed(items, kind) for kind in sorted({one.kind for one in free})}
        row = RetentionRun.objects.create(
            house=self._house, number=self._number, deleted=deleted, held_count=held, by=self._by
        )
        self._work.record(
            chain=self._house.chain,
            event=RetentionRan(run=row.number, deleted=deleted, items=items, held_count=held, by=self._by, left=[]),
        )
        return row

    def _file(self, one: Due) -> None:
        ReportPart.objects.filter(house=self._house, file=one.id).delete()

    def _key(self, one: Due) -> None:
        player = Player.objects.get(house=self._house, pk=one.id)
        newest = Person.objects.filter(player=player).latest("version")
        event = PlayerForgotten(
            player=player.ref, version=newest.version, sealed_sha256=newest.sealed_sha256,
            last_activity=one.since.isoformat(), retention_days=one.days, retention_run=self._number,
            reason="retention",
        )  # fmt: skip
        destroy(self._work, player, event)

    def _package(self, one: Due) -> None:
        PackageContent.objects.filter(house=self._house, package=one.id).delete()

    def _answers(self, one: Due) -> None:
        _answers_of(self._house, one.name).delete()

    def _messages(self, one: Due) -> None:
        _messages_of(self._house, one.name).delete()

    def _sealed(self, one: Due) -> None:
        event = expiry.delete(self._house, _numbers(one.name), self._by, self._moment, one.days)
        self._work.record(chain=self._house.chain, event=event)

    def _marks(self, one: Due) -> None:
        ExclusionMark.objects.filter(house=self._house, exclusion=one.id).delete()


def _summed(items: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    these = [item for item in items if item["kind"] == kind]
    return {
        "count": len(these), "size": sum(item["size"] for item in these), "sha256": canonical.sha256(these),
    }  # fmt: skip


def _answers_of(house: House, name: str) -> Any:
    """The stored answers of a span."""
    begin, end = span(name, ANSWERS_SPAN)
    return AnsweredRequest.objects.filter(house=house, at__gte=begin, at__lt=end)


def _messages_of(house: House, name: str) -> Any:
    """The messages that were done on a date (UTC)."""
    begin, end = span(name, MESSAGES_SPAN)
    return OutboxMessage.objects.filter(house=house, done_at__gte=begin, done_at__lt=end)


def _numbers(name: str) -> tuple[int, int]:
    """First and last number of entries of the sealed register."""
    first, _, last = name.partition("-")
    return int(first), int(last)


def _parts_of(house: House, name: str) -> bool:
    number, _, file = name.partition("/")
    parts = ReportPart.objects.filter(house=house, file__house=house, file__name=file, file__run__number=int(number))
    return parts.exists()


#: By kind, whether what has this name is there.
_FOUND: Mapping[str, Callable[[House, str], bool]] = {
    FILE: _parts_of,
    KEY: lambda house, name: PersonKey.objects.filter(house=house, player__house=house, player__ref=name).exists(),
    PACKAGE: lambda house, name: PackageContent.objects.filter(house=house, package__day=name).exists(),
    ANSWERS: lambda house, name: _answers_of(house, name).exists(),
    MESSAGES: lambda house, name: _messages_of(house, name).exists(),
    SEALED: lambda house, name: SealedEntry.objects.filter(house=house, number__range=_numbers(name)).exists(),
    MARKS: lambda house, name: ExclusionMark.objects.filter(house=house, exclusion__number=int(name)).exists(),
}
