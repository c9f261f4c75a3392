"""Giving a connection to the process that sends the hints.

A web process authenticates a request for a stream, checks rights and answers what is known already, like any request.
Then it gives the connection away, open as it is, over a unix socket (SCM_RIGHTS), and is free. It asks first, so that a
process that is full refuses, and one that is away or stands still keeps nobody waiting: the answer is then what is
known already, and ends there. Clients come again by themselves, so that hints go on, only slower.

A message on the unix socket is four bytes of length and JSON. The first asks (`Asked`), and is answered `yes` or why
not; the second is the answer's head and the body so far, with the connection beside it. `null` asks whether the process
is alive.
"""

import json
import logging
import socket
import struct
import time
from dataclasses import asdict, dataclass
from threading import Lock
from typing import Any, Self
from uuid import UUID

from django.conf import settings

from casino.live.errors import StreamsFull, TooManyStreams
from casino.live.rights import Followed, Scope

log = logging.getLogger(__name__)

#: Streams and waiting requests that a token has at most.
MOST_OF_A_TOKEN = 8
#: Seconds that the other process is given to answer.
PATIENCE = 0.3
#: Seconds for which it is not asked after it has not answered.
AWAY_FOR = 2.0
#: The longest message, in bytes.
LONGEST = 8 << 20
#: Answers; `BLINDED`: the database has not answered for long.
YES, FULL, TOO_MANY, BLINDED = "yes", "full", "too_many", "blinded"
_LENGTH = struct.Struct(">I")


@dataclass(frozen=True, slots=True)
class Asked:
    """A stream that is wanted: the token's digest, the house, what is followed, the chain's id (None for all of the
    house) and the position that the reader has; `wait`: seconds to wait for the first hints, None for a stream."""

    digest: str
    house: UUID
    followed: Followed
    chain: int | None
    position: dict[str, int]
    wait: int | None

    def as_json(self) -> dict[str, Any]:
        """For `from_json`."""
        return {**asdict(self), "house": str(self.house)}

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Self:
        """What `as_json` has described."""
        followed = Followed(Scope(found["followed"]["scope"]), found["followed"]["code"])
        return cls(found["digest"], UUID(found["house"]), followed, found["chain"], found["position"], found["wait"])


def framed(message: Any) -> bytes:
    """A message as it is sent."""
    body = json.dumps(message).encode()
    return _LENGTH.pack(len(body)) + body


def taken(buffer: bytearray) -> Any:
    """Take the first whole message out of what was received; Ellipsis where there is none yet. Raises ValueError for
    one that is too long, or no JSON."""
    if len(buffer) < _LENGTH.size:
        return ...
    [length] = _LENGTH.unpack_from(buffer)
    if length > LONGEST:
        raise ValueError(f"a message of {length} bytes")
    end = _LENGTH.size + length
    if len(buffer) < end:
        return ...
    body = bytes(buffer[_LENGTH.size : end])
    del buffer[:end]
    return json.loads(body)


class Ticket:
    """A place that the other process keeps for one stream."""

    def __init__(self, there: socket.socket) -> None:
        self._there = there

    def hand_over(self, connection: int, head: bytes, body: bytes) -> bool:
        """Give a connection away by its descriptor, with the head of the answer (without its last empty line) and what
        is sent first; says whether it was taken. It may be closed here afterwards."""
        message = framed({"head": head.decode("latin-1"), "body": body.decode()})
        try:
            sent = socket.send_fds(self._there, [message], [connection])
            if sent < len(message):
                self._there.sendall(message[sent:])
        except OSError as error:
            log.warning("a stream was not handed over: %s", error)
            return False
        finally:
            self._there.close()
        return True


class _OfThisProcess:
    """Until when (`monotonic`) the other process is not asked."""

    lock = Lock()
    away_until = 0.0


def ask(asked: Asked) -> Ticket | None:
    """A place for a stream, None where nobody answers. Raises TooManyStreams, StreamsFull."""
    if time.monotonic() < _OfThisProcess.away_until:
        return None
    there, answer = _exchange(asked.as_json())
    if there is None:
        with _OfThisProcess.lock:
            _OfThisProcess.away_until = time.monotonic() + AWAY_FOR
        return None
    if answer == YES:
        return Ticket(there)
    there.close()
    if answer == BLINDED:
        return None
    raise TooManyStreams(MOST_OF_A_TOKEN) if answer == TOO_MANY else StreamsFull()


def is_alive() -> bool:
    """Whether the process that sends the hints answers."""
    there, answer = _exchange(None)
    if there is not None:
        there.close()
    return bool(answer == YES)


def _exchange(message: Any) -> tuple[socket.socket | None, Any]:
    """Ask, and the answer with the connection that it came over; None for both where there is none in time."""
    there = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    there.settimeout(PATIENCE)
    until = time.monotonic() + PATIENCE
    try:
        there.connect(settings.CASINO_STREAMS_SOCKET)
        there.sendall(framed(message))
        buffer = bytearray()
        while (answer := taken(buffer)) is ...:
            there.settimeout(max(0.001, until - time.monotonic()))
            received = there.recv(4096)
            if not received:
                raise ConnectionError("closed without an answer")
            buffer += received
    except OSError as error:
        there.close()
        log.warning("the process that sends the hints does not answer: %s", error)
        return None, None
    return there, answer
