"""Traces: what a request led to, from its transaction over the outbox to the task that works it off.

Off, which is the default, a part of a trace costs one comparison, and nothing of OpenTelemetry is imported. With
`CASINO_OTLP_ENDPOINT`, `casino.core.spans` makes spans and sends them. A part is traced where something that it is part
of is: a request, or a task of the outbox. The clock, commands and the sequencer leave no spans.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

#: The header with the trace and the span that something follows (W3C Trace Context), of requests and tasks.
HEADER = "traceparent"


class Part:
    """A part of a trace; this one is none, and keeps nothing."""

    def __enter__(self) -> "Part":
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def note(self, **about: str | int) -> None:
        """Say something more of it: codes and numbers that name no person, no card and no amount."""

    def failed(self) -> None:
        """Say that it has failed."""


class Tracer(Protocol):
    """What makes spans: `casino.core.spans.Tracer`. Its methods are the functions of this module."""

    def request(self, method: str, traceparent: str) -> AbstractContextManager[Part]:
        """A request."""

    def part(self, name: str, about: Mapping[str, str | int]) -> AbstractContextManager[Part]:
        """A part of what is traced."""

    def sending(self, task: str, traceparent: str) -> AbstractContextManager[Part]:
        """A message to a task."""

    def here(self) -> str:
        """What this thread is at."""

    def counted(self, execute: Callable[..., Any], *asked: Any) -> Any:
        """A statement."""


_NONE = Part()
_tracer: Tracer | None = None


def begin(tracer: Tracer | None) -> None:
    """Trace with this from now on; None ends it."""
    global _tracer
    _tracer = tracer


def request(method: str, traceparent: str) -> AbstractContextManager[Part]:
    """A request; the trace that its client names goes on."""
    return _NONE if _tracer is None else _tracer.request(method, traceparent)


def part(name: str, **about: str | int) -> AbstractContextManager[Part]:
    """A part of what this thread is at; of nothing, it is none."""
    return _NONE if _tracer is None else _tracer.part(name, about)


def sending(task: str, traceparent: str) -> AbstractContextManager[Part]:
    """A message to a task, sent for what has left it."""
    return _NONE if _tracer is None or not traceparent else _tracer.sending(task, traceparent)


def here() -> str:
    """What this thread is at, as `traceparent` names it; empty where that is not traced."""
    return "" if _tracer is None else _tracer.here()


def counted(execute: Callable[..., Any], *asked: Any) -> Any:
    """Send a statement, and count it in the part of a trace that is under way. Django calls it for every cursor of a
    connection that has it among its `execute_wrappers`; nothing of the statement is kept."""
    return execute(*asked) if _tracer is None else _tracer.counted(execute, *asked)
