"""Opening and closing a gaming day.

As in a casino, a day may stay open after the next one has begun: hands dealt before that are settled first, and then it
is closed. Postings always go into the newest open day. Drawers are counted before their day closes. Tables may stay
open over the turn of the day: the closing snapshot records their contents, and the event names what goes over.
"""

from datetime import date, timedelta

from casino.approvals.gate import Need
from casino.approvals.models import ApprovalKind
from casino.audit.events import AuditEvent
from casino.audit.events.house import DayClosed, DayOpened
from casino.core import locks, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, Unprocessable
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.days import open_work, packages
from casino.houses import days, gaming_clock, identity, stages
from casino.houses.days import Day
from casino.houses.models import House
from casino.staff.models import Role

#: The days of a house, written to at its office.
_DAYS = OfHouse(lock=locks.lock_days, office=True)


#: A manager closes a day, and a cage supervisor approves it.
CLOSES = Need(kind=ApprovalKind.DAY, roles=(Role.CAGE_SUPERVISOR,))


def open_day(*, command: Command, name: str) -> Answer:
    """Open a gaming day; `name` is its date. From the first one on, the house no longer books without days.

    It is the date on the wall of the house, until the cut-off of the next one (`casino/houses/gaming_clock.py`). A
    sandbox may play ahead and behind: it opens any later day up to tomorrow. Raises Conflict house_not_live,
    day_exists, day_not_later or day_not_due, Unprocessable day_too_early.
    """

    def change(house: House, work: Work) -> Outcome:
        stages.require_serving(house)
        before = days.days(house)
        if any(day.name == name for day in before):
            raise Conflict(f"The gaming day {name} exists already.", code="day_exists", day=name)
        if before and name < before[-1].name:
            raise Conflict(
                f"Gaming days follow each other; the last one is {before[-1].name}.",
                code="day_not_later",
                last=before[-1].name,
            )
        _require_due(identity.wind_clock(house), name)
        return _outcome(days.begin(house, name), DayOpened(day=name), status=201)

    return write.write(command, _DAYS, change)


def _require_due(house: House, name: str) -> None:
    """Refuse a day that is not the one of now. Raises Conflict day_not_due, Unprocessable day_too_early."""
    due = gaming_clock.due(house.time_zone, house.day_cut_off)
    if house.is_sandbox:
        if date.fromisoformat(name) > due + timedelta(days=1):
            raise Unprocessable(f"The gaming day {name} is too far in the future.", code="day_too_early")
    elif name != due.isoformat():
        raise Conflict(
            f"It is the gaming day {due.isoformat()} until {house.day_cut_off} of the next date in {house.time_zone}.",
            code="day_not_due",
            expected={"day": due.isoformat(), "time_zone": house.time_zone, "day_cut_off": house.day_cut_off},
        )


def close_day(*, command: Command, name: str) -> Answer:
    """Close a gaming day: it takes no more postings, and a snapshot keeps the balance of every account. Its
    package is made next (`packages`).

    Raises NotFound, Conflict day_closed, earlier_day_open, or day_blocked while something that began before the next
    day was opened (anything, where there is no next day) is not done: a hand is being played, waits for its settlement,
    for the approval of a bonus or for a ruling; a drawer is open or counted; chips are in transit. Raises Conflict
    approval_required once nothing keeps it from being closed.
    """

    def change(house: House, work: Work) -> Outcome:
        others = days.days(house)
        day = days.named(others, name)
        command.require_version(day.version)
        if day.closed_at is not None:
            raise Conflict(f"The gaming day {name} is closed.", code="day_closed", day=name)
        earlier = [other.name for other in others if other.name < name and other.closed_at is None]
        if earlier:
            raise Conflict(
                f"Gaming days close in order; {earlier[0]} is still open.",
                code="earlier_day_open",
                open=earlier,
            )
        following = [other for other in others if other.name > name]
        until = following[0].opened_at if following else None
        open_work.require_done(house, until)
        work.require_approval(CLOSES)
        carried = open_work.carrying(house, name, until)
        ended, totals, found = days.end(house, name, *carried.reads)
        event = DayClosed(
            day=name,
            snapshot=ended.snapshot,
            totals=totals,
            carried=carried.described(found),
            package=packages.COMING,
        )
        work.enqueue(task=packages.TASK, subject=name)
        return _outcome(ended, event)

    return write.write(command, _DAYS, change)


def _outcome(day: Day, event: AuditEvent, *, status: int = 200) -> Outcome:
    return Outcome(event, {**day.as_json(), **event.data}, status, version=day.version)
