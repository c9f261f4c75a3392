"""Waitress's connections, the loop over them, and the threads that serve their requests.

Waitress's own loop asks every connection before each turn whether it wants to read or to write, and makes a new list of
all for the kernel. A room has a connection for every screen, of which one at a time has something to do, and there are
two or three turns to a request. Here a connection is asked again only when something has happened to it.
"""

from __future__ import annotations

import logging
import select
import threading
import time
from collections import deque
from queue import Empty, SimpleQueue
from typing import Any

from waitress import wasyncore

log = logging.getLogger("waitress")

_READ = select.POLLIN | select.POLLPRI


class Connections(dict[int, Any]):
    """What waitress knows by descriptor: listening sockets, connections, and the pipe that wakes the loop."""

    def __init__(self) -> None:
        super().__init__()
        self._poll = select.poll()
        #: What the kernel is asked to wait for, by descriptor.
        self._wanted: dict[int, int] = {}
        #: Descriptors that are to be asked before the next turn.
        self._touched: set[int] = set()
        #: Those that listen. While there are too many connections, they wait until one is closed.
        self._listening: set[int] = set()
        #: As `_touched`, from other threads.
        self._served: deque[int] = deque()
        self._woken = False

    def __setitem__(self, descriptor: int, one: Any) -> None:
        super().__setitem__(descriptor, one)
        self._touched.add(descriptor)

    def __delitem__(self, descriptor: int) -> None:
        super().__delitem__(descriptor)
        self._touched |= {descriptor, *self._listening}

    def served(self, descriptor: int | None) -> bool:
        """Note, from the thread of a request, that its connection is to be asked; whether the loop must be woken to see
        that. None: the connection has been closed."""
        if descriptor is not None:
            self._served.append(descriptor)
        woken, self._woken = self._woken, True
        return not woken

    def touch_all(self) -> None:
        """Ask every connection before the next turn."""
        self._touched.update(self)
        self._listening = {descriptor for descriptor, one in self.items() if one.accepting}

    def turn(self, seconds: float) -> None:
        """Wait at most so long for something to happen, and see to it."""
        # What is served from now on wakes the loop again; what was before is seen here.
        self._woken = False
        while self._served:
            self._touched.add(self._served.popleft())
        for descriptor in self._touched:
            self._ask(descriptor)
        self._touched = set()
        for descriptor, flags in self._poll.poll(int(seconds * 1000)):
            if (one := self.get(descriptor)) is not None:
                self._touched.add(descriptor)
                wasyncore.readwrite(one, flags)

    def _ask(self, descriptor: int) -> None:
        one, flags = self.get(descriptor), 0
        if one is not None:
            # A listening socket never writes.
            flags = (_READ if one.readable() else 0) | (select.POLLOUT if one.writable() and not one.accepting else 0)
        if flags == self._wanted.get(descriptor, 0):
            return
        if flags:
            self._poll.register(descriptor, flags)
            self._wanted[descriptor] = flags
        else:
            self._poll.unregister(descriptor)
            del self._wanted[descriptor]


class Threads:
    """The threads that serve requests in the order in which they arrived, in the place of waitress's task dispatcher,
    which takes four locks and wakes a thread twice for each."""

    def __init__(self, count: int) -> None:
        self._tasks: SimpleQueue[Any] = SimpleQueue()
        self._threads = [threading.Thread(target=self._serve, name=f"web-{one}", daemon=True) for one in range(count)]
        for thread in self._threads:
            thread.start()

    def add_task(self, task: Any) -> None:
        """Let a thread serve the request that has arrived on a connection."""
        self._tasks.put(task)

    def shutdown(self, seconds: float) -> None:
        """Give up what nobody serves yet, and wait at most so long for the rest."""
        try:
            while True:
                self._tasks.get_nowait().cancel()
        except Empty:
            pass
        for _ in self._threads:
            self._tasks.put(None)
        until = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(until - time.monotonic(), 0.0))

    def _serve(self) -> None:
        while (task := self._tasks.get()) is not None:
            try:
                task.service()
            except BaseException:
                log.exception("a request was not served to its end")
