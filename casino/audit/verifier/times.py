"""When events happened: not before the checkpoint before them, not after the one that covers them, and in each chain
not before the event before them, with a tolerance."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from .events import Event, Row, place_of
from .findings import Report

TOLERANCE = timedelta(seconds=60)
"""By so much the time of an event may be beside its checkpoints, or before the event before it: a transaction lasts no
longer, and clocks are set."""
MOST = 20_000
"""Events of one chain that the sequencer takes at a time: behind more, events may wait for a later checkpoint."""
_FORM = "%Y-%m-%dT%H:%M:%S.%fZ"


def shifted(at: str, by: timedelta) -> str:
    """A moment (RFC 3339, UTC) later by this, in the form of events; what is no moment stays as it is."""
    try:
        return (datetime.fromisoformat(at) + by).astimezone(UTC).strftime(_FORM)
    except (ValueError, OverflowError):
        return at


def moment_of(event: Event) -> str | None:
    """The time that an event names, None where it names none."""
    at = event[1] if isinstance(event, tuple) else event.get("at")
    return at if isinstance(at, str) else None


class Times:
    """The times of the events of an epoch between the times that its checkpoints were signed at."""

    KEPT = ("_size", "_before", "_earliest")

    def __init__(self, report: Report) -> None:
        self._report = report
        self._points: list[tuple[int, str]] = []
        #: Leaves so far, and at the last checkpoint.
        self._size = self._before = 0
        self._earliest = ""

    def begin(self, points: Sequence[tuple[int, str]]) -> None:
        """The leaves of an epoch follow, with checkpoints over so many leaves at these times, by size."""
        self._points, self._earliest = list(points), ""
        self._size = self._before = 0

    def go_on(self, points: Sequence[tuple[int, str]]) -> None:
        """More leaves of the epoch follow those that were taken, under these checkpoints."""
        self._points = [point for point in points if point[0] > self._size]

    def take(self, events: Sequence[Event | None], number: int) -> None:
        """The next leaves; `number` is that of the first over all epochs."""
        start = 0
        while start < len(events):
            size, latest = self._covering()
            count = len(events) - start if size is None else min(len(events) - start, size - self._size)
            self._judge(events[start : start + count], number + start, latest)
            start, self._size = start + count, self._size + count
            if size == self._size:
                self._passed()

    def _covering(self) -> tuple[int | None, str]:
        """Size of the checkpoint that covers the next leaf, None where none does, and the latest time of that leaf."""
        if not self._points:
            return None, ""
        size, at = self._points[0]
        return size, shifted(at, TOLERANCE)

    def _passed(self) -> None:
        size, at = self._points.pop(0)
        # A sequencer that took all it may has left events behind, older than its checkpoint.
        self._earliest = shifted(at, -TOLERANCE) if size - self._before < MOST else ""
        self._before = size

    def _judge(self, events: Sequence[Event | None], number: int, latest: str) -> None:
        moments = [moment for event in events if event is not None and (moment := moment_of(event)) is not None]
        if not moments or (min(moments) >= self._earliest and (not latest or max(moments) <= latest)):
            return
        for at, event in enumerate(events, number):
            moment = moment_of(event) if event is not None else None
            if event is None or moment is None:
                continue  # found where it is read
            if moment < self._earliest:
                self._wrong(event, at, f"the checkpoint before it was signed later than {self._earliest}")
            elif latest and moment > latest:
                self._wrong(event, at, f"the checkpoint over it was signed before {latest}")

    def _wrong(self, event: Event | Row, at: int, problem: str) -> None:
        self._report.find("time_differs", place_of(event), f"it is of {moment_of(event)}; {problem}", at)
