"""Which gaming day it is: the date on the wall of the house, where a date lasts until the cut-off of the next one.

With the cut-off 06:00, what happens at two in the morning of the 2nd belongs to the day of the 1st.
"""

from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from casino.core import sql


def day_at(moment: datetime, time_zone: str, cut_off: str) -> date:
    """The gaming day of a moment."""
    local = moment.astimezone(ZoneInfo(time_zone)).replace(tzinfo=None)
    behind = time.fromisoformat(cut_off)
    return (local - timedelta(hours=behind.hour, minutes=behind.minute)).date()


def due(time_zone: str, cut_off: str, now: datetime | None = None) -> date:
    """The gaming day of now, by the database's clock; `now`: that, where it was read."""
    return day_at(now or sql.database_time(), time_zone, cut_off)


def ends_at(day: date, time_zone: str, cut_off: str) -> datetime:
    """When a gaming day has its cut-off, on the date after its own."""
    return datetime.combine(day + timedelta(days=1), time.fromisoformat(cut_off), ZoneInfo(time_zone))
