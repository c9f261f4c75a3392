"""What has been waiting too long in a house: transfers, bags of cash, chips set aside, disputed hands.

Bank days are those of the house's time zone but Saturdays and Sundays; nobody keeps a list of holidays.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import F
from django.db.models.functions import Coalesce

from casino.approvals.selectors import database_time
from casino.cage.models import BagState, BankBag
from casino.hands.models import Hand, HandState
from casino.houses.models import House
from casino.transfers.models import EXCEPTION_AFTER, UNDER_WAY, ChipMove, MoveKind, MoveState, Transfer

#: How long each may wait: minutes, bank days of 24 hours, days.
DISPUTE_MINUTES, BAG_BANK_DAYS, SET_ASIDE_DAYS = 60, 3, 90
_SATURDAY = 5


class AlarmKind(StrEnum):
    """What waits."""

    TRANSFER = "transfer"
    BAG = "bank_bag"
    SET_ASIDE = "set_aside"
    DISPUTE = "dispute"


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something that has waited too long: its name, and since when it waits."""

    kind: AlarmKind
    name: str
    since: datetime

    def as_json(self) -> dict[str, Any]:
        """As the answer has it."""
        return {"alarm": self.kind, "name": self.name, "since": self.since}


def alarms(house: House, now: datetime | None = None) -> list[Alarm]:
    """Everything that has waited too long at this moment, by default the database's; the oldest first."""
    at = now or database_time()
    found = [*_transfers(house, at), *_bags(house, at), *_set_aside(house, at), *_disputes(house, at)]
    return sorted(found, key=lambda one: one.since)


def bank_time(since: datetime, until: datetime, zone: ZoneInfo) -> timedelta:
    """How much of the time between two moments was on bank days of the zone."""
    passed, at = timedelta(0), since.astimezone(zone)
    end = until.astimezone(zone)
    while at < end:
        midnight = (at + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
        if at.weekday() < _SATURDAY:
            # Moments are subtracted as what they are: a day on which clocks are changed has 23 or 25 hours.
            passed += timedelta(seconds=min(midnight, end).timestamp() - at.timestamp())
        at = midnight
    return passed


# --- Parts ----------------------------------------------------------------------------------------------------------


def _transfers(house: House, now: datetime) -> Iterator[Alarm]:
    found = Transfer.objects.filter(house=house, state__in=UNDER_WAY).annotate(since=Coalesce("sent_at", "opened_at"))
    for one in found.filter(since__lte=now - timedelta(minutes=EXCEPTION_AFTER)):
        yield Alarm(AlarmKind.TRANSFER, f"{one.kind} {one.serial}", one.since)


def _bags(house: House, now: datetime) -> Iterator[Alarm]:
    zone = ZoneInfo(house.time_zone)
    for bag in BankBag.objects.filter(house=house, state=BagState.IN_TRANSIT):
        if bank_time(bag.sent_at, now, zone) > timedelta(days=BAG_BANK_DAYS):
            yield Alarm(AlarmKind.BAG, f"bag {bag.number}", bag.sent_at)


def _set_aside(house: House, now: datetime) -> Iterator[Alarm]:
    """Chips that were set aside and not destroyed, by set: those that came first go first."""
    came: dict[tuple[str, str], list[tuple[datetime, int]]] = defaultdict(list)
    went: dict[tuple[str, str], int] = defaultdict(int)
    done = ChipMove.objects.filter(house=house, state=MoveState.DONE).exclude(kind=MoveKind.DELIVERY)
    for move in done.annotate(code=F("chip_set__code")).order_by("ended_at", "id"):
        for value, count in (move.counted or {}).items():
            if move.kind == MoveKind.DESTRUCTION:
                went[move.code, value] += count
            elif move.ended_at is not None:
                came[move.code, value].append((move.ended_at, count))
    oldest: dict[str, datetime] = {}
    for (code, value), arrivals in came.items():
        gone = went[code, value]
        for at, count in arrivals:
            gone -= count
            if gone < 0:
                oldest[code] = min(at, oldest.get(code, at))
                break
    for code, at in oldest.items():
        if now - at > timedelta(days=SET_ASIDE_DAYS):
            yield Alarm(AlarmKind.SET_ASIDE, f"chips of set {code}", at)


def _disputes(house: House, now: datetime) -> Iterator[Alarm]:
    late = now - timedelta(minutes=DISPUTE_MINUTES)
    for hand in Hand.objects.filter(house=house, state=HandState.DISPUTED, disputed_at__lt=late):
        if hand.disputed_at is not None:
            yield Alarm(AlarmKind.DISPUTE, f"hand {hand.name}", hand.disputed_at)
