"""Postings that several threads of a process make at once, written together: one call and one commit for many.

`post` answers when its posting is committed, as `posting.post(..., alone=True)` does. While one thread is at the
database, others line up; the next one takes all that wait as a batch. A thread that is alone waits for nobody. All of
them use one connection of the process, so that its plans stay warm and threads need no connection.
"""

import copy
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from ledger.errors import LedgerError
from ledger.posting import (
    POST,
    Book,
    Leg,
    Posted,
    Posting,
    as_json,
    call,
    check_alone,
    moment,
    post_params,
    post_with,
    posted,
    signed,
    text,
)

MAX_BATCH = 128
"""Most postings of one batch: accounts stay locked until all of it is committed."""


@dataclass(slots=True, eq=False)
class _Request:
    """A posting that a thread waits for; `turn` is released when it is done, or when its thread shall lead."""

    book: str
    period: str | None
    posting: Posting
    turn: threading.Lock = field(default_factory=threading.Lock)
    done: bool = False
    result: Posted | None = None
    error: BaseException | None = None

    def answer(self) -> Posted:
        """What became of it. Raises what refused it."""
        if self.result is None:
            raise self.error or RuntimeError("a posting was neither made nor refused")
        return self.result


class _Line:
    """The requests for one database, whether a thread is writing some of them, and the connection that it uses."""

    def __init__(self, using: str) -> None:
        self.using = using
        self._lock = threading.Lock()
        self._waiting: list[_Request] = []
        self._led = False
        self._connection: BaseDatabaseWrapper | None = None

    def post(self, request: _Request) -> Posted:
        """Queue up; lead if no thread does, or if it is this thread's turn."""
        request.turn.acquire()
        with self._lock:
            self._waiting.append(request)
            leads = not self._led
            self._led = True
        if not leads:
            request.turn.acquire()
        if not request.done:
            self._lead()
        return request.answer()

    def close(self) -> None:
        """Hang up, where no thread is writing."""
        with self._lock:
            if self._connection is not None and not self._led:
                self._connection.close()
                self._connection = None

    def _lead(self) -> None:
        """Write the first batch, which begins with this thread's own request; then the first that waits leads on."""
        batch = self._take()
        try:
            self._settle(batch)
        except BaseException as error:  # a thread that fails or is stopped must not leave the others waiting for it
            for request in batch:
                if request.result is None and request.error is None:
                    request.error = copy.copy(error)
            raise
        finally:
            with self._lock:
                heir = self._waiting[0] if self._waiting else None
                self._led = heir is not None
            for request in batch:
                request.done = True
            for request in batch[1:]:
                request.turn.release()
            if heir is not None:
                heir.turn.release()

    def _take(self) -> list[_Request]:
        """The next batch: of one book and period, each key once, as a second request under a key replays the first."""
        with self._lock:
            first = self._waiting[0]
            batch: dict[str, _Request] = {}
            rest: list[_Request] = []
            for request in self._waiting:
                fits = (request.book, request.period) == (first.book, first.period)
                if fits and len(batch) < MAX_BATCH and request.posting.key not in batch:
                    batch[request.posting.key] = request
                else:
                    rest.append(request)
            self._waiting = rest
        return list(batch.values())

    def _settle(self, batch: Sequence[_Request]) -> None:
        """Write a batch; what is refused is taken out and the rest written, each alone if the refusal names no key."""
        connection = self._connected()
        left = list(batch)
        while len(left) > 1:
            try:
                results = self._write(connection, left)
            except LedgerError as error:
                refused = [request for request in left if request.posting.key == error.params.get("key")]
                if not refused:
                    break
                refused[0].error = error
                left.remove(refused[0])
                continue
            for request, result in zip(left, results, strict=True):
                request.result = result
            return
        for request in left:
            try:
                request.result = post_with(
                    connection, request.book, request.posting, request.period, alone=True, using=self.using
                )
            except LedgerError as error:
                request.error = error

    def _write(self, connection: BaseDatabaseWrapper, batch: Sequence[_Request]) -> list[Posted]:
        """A batch in one round trip and one database transaction."""
        params = post_params(batch[0].book, [request.posting for request in batch], batch[0].period)
        return posted(call(self.using, POST, params, alone=True, connection=connection)[0])

    def _connected(self) -> BaseDatabaseWrapper:
        """The connection of this queue, made again if it was lost or has become too old."""
        if self._connection is None:
            self._connection = connections.create_connection(self.using)
            self._connection.inc_thread_sharing()
        self._connection.close_if_unusable_or_obsolete()
        return self._connection


_lines: dict[str, _Line] = {}
_lines_lock = threading.Lock()


def post(
    book: Book,
    key: str,
    kind: str,
    legs: Sequence[Leg],
    metadata: Mapping[str, Any],
    occurred_at: datetime | None = None,
    *,
    period: str | None = None,
    using: str = DEFAULT_DB_ALIAS,
) -> Posted:
    """Post one transaction as `posting.post(..., alone=True)` does, together with what other threads post meanwhile.

    Each is judged after those before it in its batch. Raises what `posting.post` raises, each thread its own refusal. A
    lost connection is raised in every thread of the batch: posting the same key again shows whether it was committed.
    """
    check_alone(using)
    posting = Posting(text("key", key), text("kind", kind), list(legs), dict(metadata), moment(occurred_at))
    as_json(posting.metadata)  # what cannot be sent is refused here, and not with others in a batch
    for leg in legs:
        signed(leg.amount)
    with _lines_lock:
        line = _lines.setdefault(using, _Line(using))
    return line.post(_Request(str(book), period, posting))


def close() -> None:
    """Hang up the connections that `post` keeps, where no thread is posting; the next posting connects again."""
    with _lines_lock:
        lines = list(_lines.values())
    for line in lines:
        line.close()


# A child process must not speak on its parent's connections, nor wait for threads that it has not.
os.register_at_fork(after_in_child=_lines.clear)
