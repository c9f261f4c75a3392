"""Hints to the broker, sent beside the requests: a request never waits for the broker.

A request leaves a message with a thread of its own process, which speaks to the broker. A broker that is away, or that
does not answer, delays nothing but hints. A hint that is lost costs some seconds: the sweeper sends every message again
that is still open (`casino.core.outbox`).
"""

import atexit
import logging
import os
import queue
import threading
from collections.abc import Callable

from casino.core import log_lines, tracing
from casino.houses.models import OutboxMessage

log = logging.getLogger(__name__)

#: Most messages that wait for the thread.
MOST = 1_000
#: Seconds that a process which ends waits for the thread.
PATIENCE = 1.0


class Hints:
    """Messages that wait to be hinted at, and the thread that passes them to `send`. Every process starts
    its own thread with its first message: threads do not survive a fork."""

    def __init__(self, send: Callable[[OutboxMessage], object]) -> None:
        self._send = send
        self._begin()
        os.register_at_fork(after_in_child=self._begin)
        atexit.register(self.drain, PATIENCE)

    def _begin(self) -> None:
        self._waiting: queue.Queue[OutboxMessage] = queue.Queue(MOST)
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def leave(self, message: OutboxMessage) -> None:
        """Leave a message whose row is committed. It never waits; where too many wait already, the sweeper sends it."""
        message.request, message.traceparent = log_lines.about().get("request", ""), tracing.here()
        try:
            self._waiting.put_nowait(message)
        except queue.Full:
            log.warning("%d hints wait for the broker; the sweeper will send %s", MOST, message)
            return
        if self._thread is None:
            self._start()

    def drain(self, patience: float) -> bool:
        """Wait until every message was passed on, at most `patience` seconds; says whether that is so."""
        waiting = self._waiting
        with waiting.all_tasks_done:
            return waiting.all_tasks_done.wait_for(lambda: not waiting.unfinished_tasks, patience)

    def _start(self) -> None:
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, args=[self._waiting], name="hints", daemon=True)
                self._thread.start()

    def _work(self, waiting: "queue.Queue[OutboxMessage]") -> None:
        while True:
            message = waiting.get()
            try:
                self._send(message)
            except Exception:
                # The thread must outlive whatever the broker's client raises; the sweeper sends the message.
                log.exception("the hint at %s was not sent; the sweeper will send it", message)
            finally:
                waiting.task_done()
