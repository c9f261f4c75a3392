"""What somebody must look at in a house: what has been waiting too long (transfers, bags of cash, chips set aside,
disputed hands), and what counts and approvals show (`alarms_of_counts.py`). From when on, the control points say.

Bank days are those of the house's time zone but Saturdays and Sundays; nobody keeps a list of holidays.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import F
from django.db.models.functions import Coalesce

from casino.cage.models import BagState, BankBag
from casino.core.sql import database_time
from casino.hands.models import Hand, HandState
from casino.houses.control_points import ControlPoints, in_force
from casino.houses.models import House
from casino.reports import (
    alarms_of_cash,
    alarms_of_complaints,
    alarms_of_passkeys,
    alarms_of_remittances,
    alarms_of_webhooks,
    schedules,
    sending,
)
from casino.reports import alarms_of_counts as counts
from casino.transfers.models import UNDER_WAY, ChipMove, MoveKind, MoveState, Transfer

_SATURDAY = 5


class AlarmKind(StrEnum):
    """What it is about."""

    TRANSFER = "transfer"
    BAG = "bank_bag"
    SET_ASIDE = "set_aside"
    DISPUTE = "dispute"
    DIFFERENCE = "difference"
    DIFFERENCES = "differences_of_one_sign"
    TRAY = "tray_difference"
    TRAY_REPORT = "tray_difference_to_report"
    BOX = "uncounted_box"
    DRAWER = "drawer_not_closed"
    VAULT = "uncounted_vault"
    SKIM = "skim_due"
    PAIR = "reverse_pair"
    DELIVERY = "delivery_failing"
    SCHEDULE = "schedule_stopped"
    COMPLAINT = "complaint_due"
    WEBHOOK = "webhook_failing"
    PASSKEY = "passkey_cloned"
    REMITTANCE = "remittance_due"


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something to look at: its name, since when it waits or when it was found, and of a difference how much, in minor
    units: short is negative."""

    kind: AlarmKind
    name: str
    since: datetime
    amount: int | None = None

    def as_json(self) -> dict[str, Any]:
        """As the answer has it."""
        return {"alarm": self.kind, "name": self.name, "since": self.since, "amount": self.amount}


#: What names people by what they did: for auditor and manager.
ABOUT_PEOPLE = frozenset((AlarmKind.DIFFERENCE, AlarmKind.DIFFERENCES, AlarmKind.PAIR))
#: What counts and approvals show.
_SHOWN: dict[AlarmKind, Callable[[House, ControlPoints, datetime], Iterator[counts.Sign]]] = {
    AlarmKind.DIFFERENCE: counts.differences,
    AlarmKind.DIFFERENCES: counts.of_one_sign,
    AlarmKind.TRAY: counts.trays,
    AlarmKind.TRAY_REPORT: counts.trays_to_report,
    AlarmKind.BOX: counts.boxes,
    AlarmKind.DRAWER: counts.drawers,
    AlarmKind.VAULT: counts.vault,
    AlarmKind.SKIM: alarms_of_cash.skims,
    AlarmKind.PAIR: counts.pairs,
    AlarmKind.DELIVERY: sending.failing,
    AlarmKind.SCHEDULE: schedules.stopped,
    AlarmKind.COMPLAINT: alarms_of_complaints.due,
    AlarmKind.WEBHOOK: alarms_of_webhooks.failing,
    AlarmKind.PASSKEY: alarms_of_passkeys.cloned,
    AlarmKind.REMITTANCE: alarms_of_remittances.due,
}


def alarms(house: House, now: datetime | None = None) -> list[Alarm]:
    """Everything that somebody must look at at this moment, by default the database's; the oldest first."""
    at, points = now or database_time(), in_force(house)
    found = [
        *_transfers(house, at - timedelta(minutes=points.transfer_exception_minutes)),
        *_bags(house, at, points.bag_bank_days),
        *_set_aside(house, at - timedelta(days=points.set_aside_days)),
        *_disputes(house, at - timedelta(minutes=points.dispute_minutes)),
    ]
    for kind, shown in _SHOWN.items():
        found += [Alarm(kind, one.name, one.since, one.amount) for one in shown(house, points, at)]
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


def _transfers(house: House, late: datetime) -> Iterator[Alarm]:
    found = Transfer.objects.filter(house=house, state__in=UNDER_WAY).annotate(since=Coalesce("sent_at", "opened_at"))
    for one in found.filter(since__lte=late):
        yield Alarm(AlarmKind.TRANSFER, f"{one.kind} {one.serial}", one.since)


def _bags(house: House, now: datetime, days: int) -> Iterator[Alarm]:
    zone = ZoneInfo(house.time_zone)
    for bag in BankBag.objects.filter(house=house, state=BagState.IN_TRANSIT):
        if bank_time(bag.sent_at, now, zone) > timedelta(days=days):
            yield Alarm(AlarmKind.BAG, f"bag {bag.number}", bag.sent_at)


def _set_aside(house: House, late: datetime) -> Iterator[Alarm]:
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
        if at < late:
            yield Alarm(AlarmKind.SET_ASIDE, f"chips of set {code}", at)


def _disputes(house: House, late: datetime) -> Iterator[Alarm]:
    for hand in Hand.objects.filter(house=house, state=HandState.DISPUTED, disputed_at__lt=late):
        if hand.disputed_at is not None:
            yield Alarm(AlarmKind.DISPUTE, f"hand {hand.name}", hand.disputed_at)
