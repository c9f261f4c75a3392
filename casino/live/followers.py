"""The connections of readers: one for each stream, one for each request that waits."""

import asyncio
import time
from collections.abc import Callable, Sequence

from casino.live import hints, positions
from casino.live.handover import Asked
from casino.live.hints import Hint

#: Bytes that wait for a reader before it is sent nothing more until it has read them.
WAITING = 65_536
#: Seconds after which a reader that reads nothing is cut.
SLOW = 15.0
#: Milliseconds after which a browser opens a stream again that was cut.
RETRY = 1_000
#: A page sees events only, no comments: so that it can say that it has heard nothing.
HEARTBEAT = b"event: beat\ndata: {}\n\n"


class Follower(asyncio.Protocol):
    """One connection. It is sent what follows its position, and never anything twice."""

    def __init__(self, asked: Asked, head: bytes, body: bytes, gone: Callable[["Follower"], None]) -> None:
        self.asked = asked
        self.position = dict(asked.position)
        #: Whether hints tell this reader what every event is; asked again with each look at the rights.
        self.whole = False
        self._head, self._body, self._gone = head, body, gone
        self._transport: asyncio.Transport | None = None
        self._full_since: float | None = None
        self._due: asyncio.TimerHandle | None = None

    @property
    def is_ready(self) -> bool:
        """Whether it is connected, and takes more."""
        return self._transport is not None and not self._transport.is_closing() and self._full_since is None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin the answer; what waits for hints is answered without any when its time is over."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - what TCP connections have
        self._transport = transport
        transport.set_write_buffer_limits(high=WAITING)
        if self.asked.wait is None:
            transport.write(self._head + b"\r\n" + self._body + b"retry: %d\n\n" % RETRY)
        else:
            self._due = asyncio.get_running_loop().call_later(self.asked.wait, self._answer, ())

    def connection_lost(self, error: Exception | None) -> None:
        """Forget it."""
        self._transport = None
        if self._due is not None:
            self._due.cancel()
        self._gone(self)

    def pause_writing(self) -> None:
        """The reader does not keep up."""
        self._full_since = time.monotonic()

    def resume_writing(self) -> None:
        """The reader has caught up."""
        self._full_since = None

    def send(self, chain: str, found: Sequence[Hint]) -> None:
        """Send hints of a chain that follow the position."""
        fresh = [hint for hint in found if hint.seq > self.position.get(chain, 0)]
        if not fresh or not self.is_ready:
            return
        if self.asked.wait is not None:
            self.position[chain] = fresh[-1].seq
            self._answer(fresh)
            return
        assert self._transport is not None  # noqa: S101 - it is ready
        events = []
        for hint in fresh:
            self.position[chain] = hint.seq
            events.append(hints.event_of(hint, self._position(), whole=self.whole))
        self._transport.write(b"".join(events))

    def beat(self) -> None:
        """A sign of life for what stands between, and the reader; one that has read nothing for long is cut."""
        if self._full_since is not None and time.monotonic() - self._full_since > SLOW:
            self.cut()
        elif self.asked.wait is None and self.is_ready and self._transport is not None:
            self._transport.write(HEARTBEAT)

    def end(self) -> None:
        """End it in good order: a stream is closed, what waits is answered without hints."""
        if self.asked.wait is not None and self.is_ready:
            self._answer(())
        elif self._transport is not None:
            self._transport.close()

    def cut(self) -> None:
        """Close the connection at once, whatever was not sent."""
        if self._transport is not None:
            self._transport.abort()

    def _position(self) -> str:
        return positions.text(self.position, of_house=self.asked.followed.of_house)

    def _answer(self, found: Sequence[Hint]) -> None:
        """Answer a request that has waited, and close."""
        if self._transport is None or self._transport.is_closing():
            return
        body = hints.answer_of((hint.shown(whole=self.whole) for hint in found), self._position())
        self._transport.write(self._head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._transport.close()
