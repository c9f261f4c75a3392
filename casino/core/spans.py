"""Spans of OpenTelemetry, and how they leave the process: in batches, by a thread of their own, never in anybody's way.

At most `MOST` spans wait for that thread. Further ones are dropped, and so is what the collector does not take within
`PATIENCE`; both are counted. A process makes its thread with its first span: threads do not survive a fork.
"""

import atexit
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any

from celery.signals import task_postrun, task_prerun, worker_process_init, worker_process_shutdown
from django.db.backends.signals import connection_created
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import TraceIdRatioBased
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from casino import __version__
from casino.core import log_lines, measured, noted, tracing

log = logging.getLogger(__name__)

#: Spans that wait for the thread at most, and that it sends at once.
MOST, BATCH = 2_048, 256
#: Seconds between two batches.
EVERY = 1.0
#: Seconds that the collector has to take a batch.
PATIENCE = 2.0
#: Seconds for which a process that ends begins to send what waits.
CLOSING = 1.0

_PROPAGATOR = TraceContextTextMapPropagator()
#: Number and seconds of the statements of the span that is under way.
_statements: ContextVar[list[float] | None] = ContextVar("casino_traced_statements", default=None)


class Sent(SpanExporter):
    """Sends batches, counts those that were lost, and says in the log when that begins and ends."""

    def __init__(self, endpoint: str, taken: Callable[[int], None], lost: Callable[[int], None]) -> None:
        self._endpoint, self._taken, self._lost = endpoint, taken, lost
        self._inner = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces", timeout=PATIENCE)
        self._failing = False
        self._until = float("inf")

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send a batch; called by the thread alone."""
        self._taken(len(spans))
        result = SpanExportResult.FAILURE
        try:
            if time.monotonic() < self._until:
                result = self._inner.export(spans)
        finally:
            self._noted(result is SpanExportResult.SUCCESS, len(spans))
        return result

    def closing(self) -> None:
        """Begin to send nothing more after a moment; at once, where the collector takes nothing anyway."""
        self._until = 0.0 if self._failing else time.monotonic() + CLOSING

    def shutdown(self) -> None:
        """Close the connection."""
        self._inner.shutdown()

    def _noted(self, sent: bool, count: int) -> None:
        if not sent:
            self._lost(count)
        if sent and self._failing:
            log.info("the collector at %s takes spans again", self._endpoint)
        elif not sent and not self._failing:
            log.warning("the collector at %s takes no spans: they are dropped until it does", self._endpoint)
        self._failing = not sent


class Bounded(SpanProcessor):
    """OpenTelemetry's processor of batches, with a bound that counts what it drops."""

    def __init__(self, endpoint: str, lost: Callable[[int, str], None]) -> None:
        self._lock = threading.Lock()
        self._waiting = 0
        self._lost = lost
        self._exporter = Sent(endpoint, self._taken, lambda count: lost(count, "not_taken"))
        self._batches = BatchSpanProcessor(
            self._exporter, max_queue_size=MOST, max_export_batch_size=BATCH, schedule_delay_millis=EVERY * 1e3
        )

    def on_end(self, span: ReadableSpan) -> None:
        """Leave a span for the thread; called by whose span it is, which waits for nothing."""
        if span.context is None or not span.context.trace_flags.sampled:
            return
        with self._lock:
            full = self._waiting >= MOST
            self._waiting += not full
        if full:
            self._lost(1, "queue_full")
        else:
            self._batches.on_end(span)

    def shutdown(self) -> None:
        """Send what waits, for `CLOSING` and `PATIENCE` seconds at most."""
        self._exporter.closing()
        self._batches.shutdown()

    def _taken(self, count: int) -> None:
        with self._lock:
            self._waiting -= count


class Open(tracing.Part):
    """A span that is under way."""

    def __init__(self, span: trace.Span) -> None:
        self.span = span

    def note(self, **about: str | int) -> None:
        """Say something more of it."""
        for name, value in about.items():
            self.span.set_attribute(f"cukassza.{name}", value)

    def failed(self) -> None:
        """Say that it has failed, and nothing of why."""
        self.span.set_status(Status(StatusCode.ERROR))


class Tracer:
    """Makes spans; one for the process, and for those that are forked from it."""

    def __init__(self, endpoint: str, share: float) -> None:
        self._endpoint, self._share = endpoint, share
        self._lost: Callable[[int, str], None] = measured.spans_dropped
        self._tasks: dict[str, AbstractContextManager[Open]] = {}
        self._begin()
        os.register_at_fork(after_in_child=self._begin)
        atexit.register(self.close)
        connection_created.connect(self._opened, dispatch_uid="casino.spans")
        for signal, receiver in (
            (task_prerun, self._task_begins), (task_postrun, self._task_ends),
            (worker_process_init, self._in_worker), (worker_process_shutdown, self._worker_ends),
        ):  # fmt: skip
            signal.connect(receiver, dispatch_uid="casino.spans")

    def _begin(self) -> None:
        """Nothing is made yet in this process."""
        self._starting = threading.Lock()
        self._provider: TracerProvider | None = None

    def request(self, method: str, traceparent: str) -> AbstractContextManager[Open]:
        """As `tracing.request`."""
        return self._span(method, SpanKind.SERVER, _context(traceparent), {"http.request.method": method})

    def part(self, name: str, about: Mapping[str, str | int]) -> AbstractContextManager[tracing.Part]:
        """As `tracing.part`."""
        if not trace.get_current_span().get_span_context().is_valid:
            return tracing.Part()
        return self._span(name, SpanKind.INTERNAL, None, {f"cukassza.{key}": value for key, value in about.items()})

    def sending(self, task: str, traceparent: str) -> AbstractContextManager[Open]:
        """As `tracing.sending`."""
        return self._span(f"send {task}", SpanKind.PRODUCER, _context(traceparent), {"cukassza.task": task})

    def here(self) -> str:
        """As `tracing.here`."""
        carrier: dict[str, str] = {}
        _PROPAGATOR.inject(carrier)
        return carrier.get(tracing.HEADER, "")

    def counted(self, execute: Callable[..., Any], *asked: Any) -> Any:
        """As `tracing.counted`."""
        counts = _statements.get()
        if counts is None:
            return execute(*asked)
        begun = time.perf_counter()
        found = execute(*asked)
        counts[0] += 1
        counts[1] += time.perf_counter() - begun
        return found

    def close(self) -> None:
        """Send what waits."""
        if self._provider is not None:
            self._provider.shutdown()

    @contextmanager
    def _span(
        self, name: str, kind: SpanKind, context: Context | None, attributes: Mapping[str, str | int]
    ) -> Iterator[Open]:
        """A span around what is done inside. Of an error its class is kept, whose words may be anything."""
        counts = [0.0, 0.0]
        with self._made().start_as_current_span(
            name, context, kind, dict(attributes), record_exception=False, set_status_on_exception=False
        ) as span:
            token = _statements.set(counts)
            try:
                yield Open(span)
            except BaseException as error:
                span.set_attribute("error.type", type(error).__name__)
                raise
            finally:
                _statements.reset(token)
                span.set_attribute("cukassza.statements", int(counts[0]))
                span.set_attribute("cukassza.statements_ms", round(counts[1] * 1e3, 3))

    def _made(self) -> trace.Tracer:
        with self._starting:
            if self._provider is None:
                about: dict[str, str | int] = {"service.name": "cukassza", "service.version": __version__}
                about["process.pid"] = os.getpid()
                self._provider = TracerProvider(
                    sampler=TraceIdRatioBased(self._share), resource=Resource({**about}), shutdown_on_exit=False
                )
                self._provider.add_span_processor(Bounded(self._endpoint, self._lost))
        return self._provider.get_tracer("cukassza", __version__)

    def _opened(self, connection: Any, **_: Any) -> None:
        if tracing.counted not in connection.execute_wrappers:
            connection.execute_wrappers.append(tracing.counted)

    def _task_begins(self, task_id: str, task: Any, args: Sequence[Any] = (), **_: Any) -> None:
        """A task of the outbox: its house and the message's id. What the clock sends is not traced."""
        headers = getattr(task.request, "headers", None) or {}
        if not (len(args) == 2 and isinstance(args[1], int)):
            return
        attributes: dict[str, str | int] = {"cukassza.task": str(task.name), "cukassza.message_id": args[1]}
        if log_lines.HEADER in headers:
            attributes["cukassza.request"] = str(headers[log_lines.HEADER])
        context = _context(str(headers.get(tracing.HEADER, "")))
        span = self._span(f"run {task.name}", SpanKind.CONSUMER, context, attributes)
        span.__enter__()
        self._tasks[task_id] = span

    def _task_ends(self, task_id: str, state: str | None = None, **_: Any) -> None:
        span = self._tasks.pop(task_id, None)
        if span is None:
            return
        if state == "FAILURE":
            Open(trace.get_current_span()).failed()
        span.__exit__(None, None, None)

    def _in_worker(self, **_: Any) -> None:
        self._lost = noted.spans_dropped

    def _worker_ends(self, **_: Any) -> None:
        self.close()


def _context(traceparent: str) -> Context:
    """What a header names; nothing where it is none."""
    return _PROPAGATOR.extract({tracing.HEADER: traceparent}, Context())
