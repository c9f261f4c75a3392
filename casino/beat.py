"""Beat's scheduler: it keeps nothing in a file, bears a clock that is set, and fills no queue that nobody empties."""

import logging
from typing import Any

from celery.beat import ScheduleEntry, Scheduler
from celery.schedules import crontab
from django.conf import settings

from casino.core import heartbeat

log = logging.getLogger(__name__)

#: Messages that may wait in a queue; with more of them beat adds nothing, because workers are away or too slow. Every
#: task of the clock does all there is to do, so nothing is lost by sending it later.
FULL = 50


class Clock(Scheduler):  # type: ignore[misc]  # Celery has no annotations
    """Celery's scheduler in memory. A file would remember times of a clock that was wrong."""

    def setup_schedule(self) -> None:
        """Read the schedule. What is sent at intervals is due at once: nobody knows for how long beat was away."""
        super().setup_schedule()
        for entry in self.schedule.values():
            if not isinstance(entry.schedule, crontab):
                entry.last_run_at -= entry.schedule.run_every

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """One iteration; returns the seconds until the next one. An entry that was run at a time that has not come yet,
        since the clock was set back, counts as run now: it would not be sent until that time is reached again."""
        for entry in self.schedule.values():
            now = entry.default_now()
            if entry.last_run_at > now:
                entry.last_run_at = now
                self._heap = None
        seconds: float = super().tick(*args, **kwargs)
        return seconds

    def apply_async(self, entry: ScheduleEntry, producer: Any = None, advance: bool = True, **kwargs: Any) -> Any:
        """Send the task of an entry, unless its queue is full. Raises RedisError."""
        queue = entry.options.get("queue", settings.CELERY_TASK_DEFAULT_QUEUE)
        if heartbeat.waiting(queue) < FULL:
            return super().apply_async(entry, producer=producer, advance=advance, **kwargs)
        log.error("%s is not sent: %d messages wait in the queue %s; do workers run?", entry.name, FULL, queue)
        if entry.task == heartbeat.CANARY:
            # Beat lives; whom the full queue is to be blamed on, the worker's own sign of life says.
            heartbeat.live(heartbeat.Part.BEAT)
        if advance:
            self.reserve(entry)
        return None
