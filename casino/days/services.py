"""Opening and closing a gaming day.

As in a casino, a day may stay open after the next one has begun: hands dealt before that are settled first, and then it
is closed. Postings always go into the newest open day. Tables and drawers may stay open over the turn of the day,
because the closing snapshot records their contents.
"""

from datetime import date, timedelta

from django.utils import timezone

from casino.audit.events import AuditEvent
from casino.audit.events.house import DayClosed, DayOpened
from casino.core import locks, write
from casino.core.errors import Conflict, Unprocessable
from casino.core.write import Answer, Command, OfHouse, Outcome, Work
from casino.hands.models import UNSETTLED, Hand
from casino.houses import days
from casino.houses.days import Day
from casino.houses.models import House
from casino.tables.models import Table

#: The days of a house, written to at its office.
_DAYS = OfHouse(lock=locks.lock_days, office=True)
#: Hands that a refusal names at most.
NAMED = 20


def open_day(*, command: Command, name: str) -> Answer:
    """Open a gaming day; `name` is its date. From the first one on, the house no longer books without days.

    Raises Conflict day_exists or day_not_later, Unprocessable day_too_early for a date after tomorrow (UTC), because a
    day can never be undone.
    """

    def change(house: House, work: Work) -> Outcome:
        before = days.days(house)
        if any(day.name == name for day in before):
            raise Conflict(f"The gaming day {name} exists already.", code="day_exists", day=name)
        if before and name < before[-1].name:
            raise Conflict(
                f"Gaming days follow each other; the last one is {before[-1].name}.",
                code="day_not_later",
                last=before[-1].name,
            )
        if date.fromisoformat(name) > timezone.now().date() + timedelta(days=1):
            raise Unprocessable(f"The gaming day {name} is too far in the future.", code="day_too_early")
        return _outcome(days.begin(house, name), DayOpened(day=name), status=201)

    return write.write(command, _DAYS, change)


def close_day(*, command: Command, name: str) -> Answer:
    """Close a gaming day: it takes no more postings, and a snapshot keeps the balance of every account.

    Raises NotFound, Conflict day_closed, earlier_day_open, or hands_unsettled while a hand that was dealt before the
    next day was opened (any hand, where there is no next day) is being played, waits for its settlement or is disputed.
    """

    def change(house: House, work: Work) -> Outcome:
        day = days.get(house, name)
        command.require_version(day.version)
        if day.closed_at is not None:
            raise Conflict(f"The gaming day {name} is closed.", code="day_closed", day=name)
        others = days.days(house)
        earlier = [other.name for other in others if other.name < name and other.closed_at is None]
        if earlier:
            raise Conflict(
                f"Gaming days close in order; {earlier[0]} is still open.",
                code="earlier_day_open",
                open=earlier,
            )
        following = [other for other in others if other.name > name]
        _require_settled(house, following[0] if following else None)
        ended = days.end(house, name)
        event = DayClosed(day=name, snapshot=ended.snapshot, totals=days.totals(house, name))
        return _outcome(ended, event)

    return write.write(command, _DAYS, change)


def _require_settled(house: House, following: Day | None) -> None:
    """Refuse while a hand of the day is unsettled. Every table is locked until the day has closed, in the order of
    their ids: no hand is dealt, played or settled meanwhile."""
    for table in Table.objects.filter(house=house).order_by("id").values_list("id", flat=True):
        locks.lock(Table, locks.Rank.DESK, id=table)
    unsettled = Hand.objects.filter(house=house, state__in=UNSETTLED)
    if following is not None:
        unsettled = unsettled.filter(started_at__lt=following.opened_at)
    hands = list(unsettled.order_by("id").values_list("name", flat=True)[:NAMED])
    if hands:
        raise Conflict(
            f"Hand {hands[0]} is not settled; settle or void every hand of the day first.",
            code="hands_unsettled",
            hands=hands,
        )


def _outcome(day: Day, event: AuditEvent, *, status: int = 200) -> Outcome:
    return Outcome(event, {**day.as_json(), **event.data}, status, version=day.version)
