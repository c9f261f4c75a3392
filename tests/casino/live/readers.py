"""Readers of hints over real HTTP: a stream that is read in a thread and opened again as a browser does, and writers of
events that cost little."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import httpx

from casino.audit.services import record
from casino.core import locks
from casino.houses.models import House
from casino.live.followers import RETRY
from tests.casino.any_event import AnyEvent
from tests.casino.kit import ACTOR

#: Seconds that a test waits for what comes within a second.
PATIENCE = 20.0


def happen(house: House, chain: str, *, version: int | None = None, kind: str = "") -> int:
    """Something is recorded in a chain, in a transaction of its own; its number there."""
    content = {} if version is None else {f"{chain.partition('/')[0]}_version": version}
    kinds = {"table": "table.closed", "drawer": "drawer.closed", "house": "house.duty"}
    event = AnyEvent(kind=kind or kinds[chain.partition("/")[0]], content=content)
    receipt = locks.in_transaction(lambda: record(chain=chain, house=house, actor=ACTOR, event=event))
    return receipt.seq


def bearer(token: str) -> dict[str, str]:
    """The header of a token."""
    return {"Authorization": f"Bearer {token}"}


@dataclass
class Reader:
    """A stream as a browser reads it: opened again whenever it ends, with the last id that has come."""

    url: str
    token: str
    last: str | None = None
    hints: list[dict[str, Any]] = field(default_factory=list)
    #: When (`monotonic`) each of them came.
    times: list[float] = field(default_factory=list)
    #: Other events by their names, comments as `:`, statuses of answers that are no stream.
    others: list[str] = field(default_factory=list)
    #: How often the stream was opened, and how often it has ended.
    opened: int = 0
    ended: int = 0
    #: Whether the process that sends hints has it now: what it could not take was answered with what is known, and has
    #: ended. And how often a stream has ended that this process had.
    held: bool = False
    lost: int = 0
    #: Whether it is opened again when it has ended.
    again: bool = True
    pause: float = 0.05
    _stop: threading.Event = field(default_factory=threading.Event)
    _connection: Any = None

    def __enter__(self) -> Reader:
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self.cut()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()

    def until(self, well: Callable[[], bool], seconds: float = PATIENCE) -> None:
        """Wait until this holds."""
        end = time.monotonic() + seconds
        while not well():
            assert time.monotonic() < end, (self.opened, self.ended, self.others, len(self.hints), self.hints[-3:])
            time.sleep(0.01)

    def until_held(self) -> None:
        """Wait until the process that sends hints has it: on a loaded machine it may not have answered in time."""
        self.until(lambda: self.held)

    def seqs(self, chain: str) -> list[int]:
        """The numbers of a chain in the order in which they came."""
        return [hint["seq"] for hint in self.hints if hint["chain"] == chain]

    def cut(self) -> None:
        """Close the connection from this side, in the middle of whatever is sent."""
        connection = self._connection
        if connection is not None:
            with suppress(OSError):  # it has ended already
                connection.shutdown(socket.SHUT_RDWR)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._read()
            except (httpx.HTTPError, OSError, ValueError, RuntimeError) as error:
                self.others.append(type(error).__name__)
            self.lost += self.held
            self.held = False
            self.ended += 1
            if not self.again:
                return
            self._stop.wait(self.pause)

    def _read(self) -> None:
        resumed = {} if self.last is None else {"Last-Event-ID": self.last}
        with (
            httpx.Client(timeout=httpx.Timeout(5, read=30), trust_env=False) as client,
            client.stream("GET", self.url, headers=bearer(self.token) | resumed) as answer,
        ):
            self.opened += 1
            if answer.status_code != 200:
                self.others.append(str(answer.status_code))
                return
            assert answer.headers["content-type"] == "text/event-stream"
            self._connection = answer.extensions["network_stream"].get_extra_info("socket")
            self._events(answer.iter_lines())

    def _events(self, lines: Iterator[str]) -> None:
        """As the standard has it: an event counts when its empty line has come."""
        event: dict[str, str] = {}
        for line in lines:
            if line.startswith(":"):
                self.others.append(":")
            elif line:
                name, _, value = line.partition(": ")
                event[name] = value
                # A web process says another time, and that time first where the stream was handed over.
                self.held = value == str(RETRY) if name == "retry" else self.held
            else:
                self._take(event)
                event = {}

    def _take(self, event: dict[str, str]) -> None:
        if "data" not in event:
            return
        if event["event"] == "hint":
            self.hints.append(json.loads(event["data"]))
            self.times.append(time.monotonic())
            self.last = event["id"]
        else:
            self.others.append(event["event"])


@contextmanager
def writers(*writes: Callable[[], object]) -> Iterator[None]:
    """Each of these again and again, in a thread of its own, until the end."""
    from django.db import connection

    stop, failed = threading.Event(), []

    def work(write: Callable[[], object]) -> None:
        try:
            while not stop.wait(0.01):
                write()
        except Exception as error:  # the test's own thread raises it
            failed.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=[write]) for write in writes]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not failed, failed
