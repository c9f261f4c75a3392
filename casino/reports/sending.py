"""Sends the files that schedules have asked for: tried again until they are there, each attempt an event.

A worker takes a delivery for itself; one that dies leaves it to the next, which sends the same files to the same place
again. Nothing is given up but what will never be made, or what is withdrawn with its schedule; what does not arrive is
an alarm (`delivery_failing`).
"""

import logging
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db.models import Q, QuerySet

from casino.audit.events.reports import DeliveryFailed, DeliverySent
from casino.audit.services import Actor
from casino.core import leases, locks
from casino.core.destinations import NotSent
from casino.core.errors import Gone
from casino.core.work import Work
from casino.days import packages
from casino.days.models import Package
from casino.houses.control_points import ControlPoints
from casino.houses.models import ClockTimestamp, House
from casino.reports import destinations, runs, schedules
from casino.reports.alarms_of_counts import Sign
from casino.reports.destinations import Parcel, Sent
from casino.reports.models import Delivery, DeliveryState, ReportRun, RunState

log = logging.getLogger(__name__)

#: For how long a worker has a delivery for itself.
LEASE = timedelta(minutes=15)
#: How long one waits whose files are not made yet, and that failed: the first time, and at most.
NOT_MADE, FIRST, LONGEST = timedelta(seconds=15), timedelta(minutes=1), timedelta(hours=6)
#: Attempts after which a delivery is an alarm.
ALARMING = 3
#: Deliveries that one task sends.
MOST = 20
#: Why there will never be anything to send: the run has failed or was cancelled.
_NEVER = "report_not_made"


def send_due(house: House) -> dict[int, str]:
    """Send what is due of a house, but of schedules that must stop; returns the states by number."""
    schedules.stop_lost(house)
    waiting = Delivery.objects.filter(house=house, state=DeliveryState.WAITING, next_at__lte=ClockTimestamp())
    free = waiting.filter(Q(worked_until=None) | Q(worked_until__lt=ClockTimestamp()))
    return {one.number: _send(house, one) for one in free.order_by("number")[:MOST]}


def failing(house: House, _points: ControlPoints, _now: datetime) -> Iterator[Sign]:
    """Deliveries that failed several times and still wait, and those that will never be made while no later one of the
    same schedule has arrived."""
    found = Delivery.objects.filter(house=house).filter(
        Q(state=DeliveryState.WAITING, attempts__gte=ALARMING) | Q(state=DeliveryState.FAILED)
    )
    for one in found.order_by("number"):
        later = Delivery.objects.filter(
            house=house, schedule=one.schedule, destination=one.destination, number__gt=one.number,
            state=DeliveryState.SENT,
        )  # fmt: skip
        if one.state == DeliveryState.WAITING or not later.exists():
            yield Sign(f"delivery {one.number}", one.created_at)


def _send(house: House, one: Delivery) -> str:
    if not leases.take(_of(one), LEASE):
        return "taken"
    try:
        parcel = _parcel(house, one)
        if parcel is None:
            _of(one).update(worked_until=None, next_at=ClockTimestamp() + NOT_MADE)
            return "not_made"
        destinations.named(house.code, one.destination).send(parcel)
    except NotSent as problem:
        log.warning("house %s: delivery %s: %s: %s", house.code, one.number, problem.code, problem)
        return _failed(house, one, problem.code)
    except ImproperlyConfigured as problem:
        log.error("house %s: delivery %s: %s", house.code, one.number, problem)
        return _failed(house, one, "misconfigured")
    return _sent(house, one, parcel)


def _of(one: Delivery) -> QuerySet[Delivery]:
    return Delivery.objects.filter(id=one.pk, state=DeliveryState.WAITING)


def _parcel(house: House, one: Delivery) -> Parcel | None:
    """The files of a delivery; None while they are not made. Raises NotSent for those that will never be."""
    files = _package(house, one) if one.run is None else _files(house, one.run)
    if files is None:
        return None
    subject = f"{house.name}: {one.schedule}, {one.period}"
    return Parcel(house.code, f"{house.code}/{one.schedule}/{one.period}", subject, files)


def _package(house: House, one: Delivery) -> list[Sent] | None:
    found = Package.objects.filter(house=house, day=one.period).first()
    if found is None:
        return None
    name, address = f"{house.code}-{found.day}.zip", f"api/v1/days/{found.day}/package"
    try:
        content = packages.content_of(found)
    except Gone as gone:
        raise NotSent(_NEVER, gone.detail) from gone
    return [Sent(name, found.size, found.sha256, address, iter([content]))]


def _files(house: House, number: int) -> list[Sent] | None:
    run: ReportRun = runs.find(house, number)
    if run.state == RunState.WAITING:
        return None
    if run.state != RunState.MADE:
        raise NotSent(_NEVER, f"run {number} is {run.state}")
    return [
        Sent(one.name, one.size, one.sha256, f"api/v1/report-runs/{number}/files/{one.name}", runs.content_of(one))
        for one in run.files.order_by("name")
    ]


def _sent(house: House, one: Delivery, parcel: Parcel) -> str:
    attempt = one.attempts + 1
    event = DeliverySent(
        delivery=one.number, attempt=attempt, destination=one.destination,
        files=[file.as_json() for file in parcel.files],
    )  # fmt: skip
    columns = {"state": DeliveryState.SENT, "problem": "", "ended_at": ClockTimestamp()}
    return _note(house, one, event, columns | {"attempts": attempt})


def _failed(house: House, one: Delivery, code: str) -> str:
    attempt = one.attempts + 1
    event = DeliveryFailed(delivery=one.number, attempt=attempt, destination=one.destination, problem=code)
    columns: dict[str, Any] = {"attempts": attempt, "problem": code}
    if code == _NEVER:
        columns |= {"state": DeliveryState.FAILED, "ended_at": ClockTimestamp()}
    else:
        columns["next_at"] = ClockTimestamp() + min(FIRST * 2 ** min(one.attempts, 20), LONGEST)
    return _note(house, one, event, columns)


def _note(house: House, one: Delivery, event: Any, columns: dict[str, Any]) -> str:
    """Keep what became of an attempt, with its event, unless the delivery was withdrawn meanwhile."""

    def operation() -> str:
        locks.lock_reports(house.id)
        found = columns
        if not _of(one).update(worked_until=None, **found):
            return str(DeliveryState.WITHDRAWN)
        Work(house, Actor.system("clock:deliveries")).record(chain=house.chain, event=event)
        return str(found.get("state", DeliveryState.WAITING))

    return locks.in_transaction(operation)
