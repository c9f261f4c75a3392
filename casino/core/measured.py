"""What the processes of the web count of themselves: requests, refusals, actions. `casino/metrics` shows it.

Every label has few values: operations, codes of errors and games are declared, everything else counts as one. No label
names a person, a token, an address of a device or an amount.
"""

from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from prometheus_client import CollectorRegistry, Counter, Histogram

#: Upper bounds of durations, in seconds.
BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
#: The methods that are distinguished.
_METHODS = frozenset({"GET", "HEAD", "POST", "OPTIONS"})


class Kind(StrEnum):
    """How the numbers of a metric behave."""

    COUNTER = "counter"
    HISTOGRAM = "histogram"
    GAUGE = "gauge"


@dataclass(frozen=True, slots=True)
class Metric:
    """One declared metric: its name as it is shown, without what Prometheus adds (`_total`, `_bucket` ...)."""

    name: str
    kind: Kind
    meaning: str
    labels: tuple[str, ...] = ()

    @property
    def series(self) -> frozenset[str]:
        """The names under which its numbers are found."""
        match self.kind:
            case Kind.COUNTER:
                return frozenset({f"{self.name}_total"})
            case Kind.HISTOGRAM:
                return frozenset(f"{self.name}_{part}" for part in ("bucket", "count", "sum"))
        return frozenset({self.name})


REQUESTS = Metric(
    "cukassza_requests", Kind.COUNTER,
    "Requests by operation (of the API, or the route of a screen), method and class of status (`2xx`).",
    ("operation", "method", "status"),
)  # fmt: skip
SECONDS = Metric(
    "cukassza_request_seconds", Kind.HISTOGRAM,
    "Seconds from a request that has arrived whole to its answer, by operation.", ("operation",),
)  # fmt: skip
REFUSALS = Metric(
    "cukassza_refusals", Kind.COUNTER,
    "Refusals by operation and code of the error; through screens as well.", ("operation", "code"),
)  # fmt: skip
ACTIONS = Metric(
    "cukassza_actions", Kind.COUNTER, "Actions of hands that were taken by requests, by game.", ("game",)
)  # fmt: skip
SPANS = Metric(
    "cukassza_spans_dropped", Kind.COUNTER,
    "Spans of traces that were dropped: `queue_full`, or `not_taken` by the collector.", ("reason",),
)  # fmt: skip
#: What a process counts, in the order of the reference.
OF_PROCESSES = (REQUESTS, SECONDS, REFUSALS, ACTIONS, SPANS)

#: The numbers of this process; with shared files, those of it alone.
REGISTRY = CollectorRegistry()
_requests = Counter(REQUESTS.name, REQUESTS.meaning, REQUESTS.labels, registry=REGISTRY)
_seconds = Histogram(SECONDS.name, SECONDS.meaning, SECONDS.labels, registry=REGISTRY, buckets=BUCKETS)
_refusals = Counter(REFUSALS.name, REFUSALS.meaning, REFUSALS.labels, registry=REGISTRY)
_actions = Counter(ACTIONS.name, ACTIONS.meaning, ACTIONS.labels, registry=REGISTRY)
_spans = Counter(SPANS.name, SPANS.meaning, SPANS.labels, registry=REGISTRY)

#: Game and number of the actions that the request under way has taken; they count when it has succeeded.
_taken: ContextVar[tuple[str, int] | None] = ContextVar("casino_actions_taken", default=None)


def request_begins() -> None:
    """Nothing has been taken yet."""
    _taken.set(None)


def taken(game: str, actions: int) -> None:
    """Note that the request under way takes actions of a hand, if it succeeds."""
    _taken.set((game, actions))


def request_ended(operation: str, method: str, status: int, seconds: float) -> None:
    """Count a request that was answered."""
    known = method if method in _METHODS else "other"
    count, duration = _of_request(operation, known, status // 100)
    count.inc()
    duration.observe(seconds)
    if (acted := _taken.get()) is not None and status < 400:
        game, actions = acted
        _actions.labels(game).inc(actions)


@lru_cache(maxsize=1_024)
def _of_request(operation: str, method: str, status: int) -> tuple[Counter, Histogram]:
    """Where requests like this are counted; to look for it costs more than to count."""
    return _requests.labels(operation, method, f"{status}xx"), _seconds.labels(operation)


def refused(operation: str, code: str) -> None:
    """Count a refusal by its code."""
    _refusals.labels(operation, code).inc()


def spans_dropped(count: int, reason: str) -> None:
    """Count spans that nobody will see."""
    _spans.labels(reason).inc(count)
