"""Work on many pieces by two processes: a report that replays every hand of a year takes half the time.

Results come in the order of the pieces, so that a report is the same, no matter which of the two has made a part of it.
What is small is worked off alone, and so is everything on a machine with one core, and in a process with threads, such
as those of the web.
"""

import os
import signal
import threading
from collections.abc import Callable, Generator, Iterable
from contextlib import closing, suppress
from itertools import islice
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Generic, TypeVar, cast

from django.db import connections

T = TypeVar("T")
R = TypeVar("R")

#: Pieces that are worked off before a second process begins.
ALONE = 20
#: What a worker does at these is not for its child: time limits, and the end of all workers.
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1)


class HalfLost(RuntimeError):
    """The second process has ended in the middle of its work."""


def in_order(work: Callable[[T], R], pieces: Iterable[T]) -> Generator[R, None, None]:
    """What `work` makes of each piece, in their order; every second one is made by a child of this process, once there
    are more than ALONE. `work` may read what is committed, and changes nothing; pieces and results can be pickled.
    Raises HalfLost where the child dies, and what `work` raises there."""
    rest = iter(pieces)
    yield from map(work, islice(rest, ALONE))
    pair = list(islice(rest, 2))
    if len(pair) < 2 or not may_divide():
        yield from map(work, pair)
        yield from map(work, rest)
        return
    with closing(_Half(work)) as other:
        while len(pair) == 2:
            other.give(pair[1])
            yield work(pair[0])
            yield other.take()
            pair = list(islice(rest, 2))
        yield from map(work, pair)


def may_divide() -> bool:
    """Whether there may be a child: it has a core of its own, and this process has no other thread, whose locks the
    child would have for ever."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores > 1 and threading.active_count() == 1


class _Half(Generic[T, R]):
    """A child process that works off one piece after another, until nobody gives it any."""

    def __init__(self, work: Callable[[T], R]) -> None:
        self._pipe, theirs = Pipe()
        self._child = os.fork()
        if self._child == 0:
            self._pipe.close()
            _serve(theirs, work)
        theirs.close()

    def give(self, piece: T) -> None:
        """Send it a piece. Raises HalfLost."""
        try:
            self._pipe.send(piece)
        except OSError as error:
            raise HalfLost from error

    def take(self) -> R:
        """What it made of the piece. Raises HalfLost, and what the work has raised."""
        try:
            made, found = self._pipe.recv()
        except (EOFError, OSError) as error:
            raise HalfLost from error
        if not made:
            raise found
        return cast(R, found)

    def close(self) -> None:
        """End it, whatever it is at."""
        self._pipe.close()
        with suppress(ProcessLookupError):
            os.kill(self._child, signal.SIGKILL)
        os.waitpid(self._child, 0)


def _serve(pipe: Connection, work: Callable[[T], R]) -> None:
    """The child: answers pieces until the pipe is closed, and ends without what a process does at its end: files and
    connections that it has inherited belong to its parent."""
    try:
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        for alias in connections:
            with suppress(AttributeError):  # one that was never used
                del connections[alias]
        while True:
            piece = pipe.recv()
            answer: tuple[bool, R | Exception]
            try:
                answer = True, work(piece)
            except Exception as error:  # the parent raises it
                answer = False, error
            pipe.send(answer)
    except (EOFError, OSError):
        pass
    finally:
        os._exit(0)
