"""The process that sends the hints: it takes connections from web processes, looks at the ends of the chains ten times
a second over one connection to the database, and sends every reader what is new.

It looks instead of being called: so no write waits for it, or for the broker, and nothing is lost on the way. While
nobody follows anything it does not look. Rights are asked again with every hint, and every `RIGHTS` seconds where there
is none; a stream whose token is no longer good ends. So do all streams when the database has not answered for `BLIND`
seconds: nobody knows then whose tokens are good.
"""

import asyncio
import logging
import os
import signal
import socket
import time
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from django.db import DatabaseError, InterfaceError, connection

from casino.core import sql
from casino.live import hints, rights
from casino.live.followers import Follower
from casino.live.handover import BLINDED, FULL, MOST_OF_A_TOKEN, TOO_MANY, YES, Asked, framed, taken
from casino.live.hints import Head, Hint
from casino.live.rights import Sender

log = logging.getLogger(__name__)

#: Seconds between two looks at the chains.
EVERY = 0.1
#: Seconds between two looks after one that has failed.
AFTER_FAILURE = 0.5
#: Seconds between two looks at the rights of a reader without hints.
RIGHTS = 2.0
#: Seconds between two signs of life on a stream.
BEAT = 2.0
#: Seconds without the database after which every stream is ended.
BLIND = 10.0
#: Milliseconds for which a reader's network may confirm nothing.
UNHEARD = 30_000
#: Seconds within which a web process hands over what it has asked for.
HANDING_OVER = 5.0

T = TypeVar("T")


class Streams:
    """Every reader that this process serves, `most` at most."""

    def __init__(self, listening: socket.socket, most: int) -> None:
        self._listening, self._most = listening, most
        self._followers: set[Follower] = set()
        #: Digests of the tokens that places are kept for.
        self._kept: list[str] = []
        self._conversations: set[asyncio.Task[None]] = set()
        # The one thread that speaks to the database.
        self._reader = ThreadPoolExecutor(1, "reader")
        self._looked = self._rights_looked = time.monotonic()

    async def run(self, stop: asyncio.Event) -> None:
        """Serve until `stop`."""
        asyncio.get_running_loop().add_reader(self._listening, self._accept)
        tasks = [asyncio.create_task(one) for one in (self._look_on(), self._beat_on())]
        waiting: list[asyncio.Task[Any]] = [asyncio.create_task(stop.wait()), *tasks]
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                if task.done():
                    task.result()  # neither ends by itself: this raises
        finally:
            asyncio.get_running_loop().remove_reader(self._listening)
            for one in (*waiting, *self._conversations):
                one.cancel()
            for follower in list(self._followers):
                follower.end()
            await asyncio.sleep(0)
            self._reader.submit(connection.close)
            self._reader.shutdown()

    # --- Taking connections -----------------------------------------------------------------------------------------

    def _accept(self) -> None:
        """A web process has something to ask."""
        try:
            there, _ = self._listening.accept()
        except BlockingIOError:
            return
        there.setblocking(False)
        conversation = asyncio.create_task(self._converse(there))
        self._conversations.add(conversation)
        conversation.add_done_callback(self._conversations.remove)

    async def _converse(self, there: socket.socket) -> None:
        """One question, its answer, and the connection that follows."""
        with there:
            try:
                async with asyncio.timeout(HANDING_OVER):
                    await self._answer(there)
            except (OSError, ValueError) as error:  # TimeoutError is an OSError
                log.info("a web process has not handed over what it asked for: %r", error)

    async def _answer(self, there: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        message, _ = await _message(there)
        if message is None:
            await loop.sock_sendall(there, framed(YES if self._sees else BLINDED))
            return
        asked = Asked.from_json(message)
        answer = self._place_for(asked.digest)
        if answer != YES:
            await loop.sock_sendall(there, framed(answer))
            return
        self._kept.append(asked.digest)
        try:
            await loop.sock_sendall(there, framed(YES))
            handed, files = await _message(there)
        finally:
            self._kept.remove(asked.digest)
        if handed is None or len(files) != 1:
            for number in files:
                os.close(number)
            raise ValueError(f"{len(files)} connections in place of one")
        await self._follow(asked, handed, files[0])

    def _place_for(self, digest: str) -> str:
        """Whether another stream of a token has a place, or why not."""
        if not self._sees:
            return BLINDED
        digests = [*self._kept, *(follower.asked.digest for follower in self._followers)]
        if digests.count(digest) >= MOST_OF_A_TOKEN:
            return TOO_MANY
        return YES if len(digests) < self._most else FULL

    async def _follow(self, asked: Asked, handed: dict[str, str], file: int) -> None:
        """Serve a reader over this connection from here on."""
        connected = socket.socket(fileno=file)
        connected.setblocking(False)
        if connected.family != socket.AF_UNIX and hasattr(socket, "TCP_USER_TIMEOUT"):
            # Else the kernel gives a reader up whose network is gone after a quarter of an hour.
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNHEARD)
        follower = Follower(asked, handed["head"].encode("latin-1"), handed["body"].encode(), self._followers.remove)
        self._followers.add(follower)
        try:
            await asyncio.get_running_loop().connect_accepted_socket(lambda: follower, connected)
        except BaseException:
            self._followers.remove(follower)
            connected.close()
            raise

    # --- Looking ----------------------------------------------------------------------------------------------------

    @property
    def _sees(self) -> bool:
        """Whether the database has answered lately, or nobody has needed it to."""
        return not self._followers or time.monotonic() - self._looked < BLIND

    async def _beat_on(self) -> None:
        """Signs of life, and the end of streams that nobody can vouch for."""
        beaten = time.monotonic()
        while True:
            await asyncio.sleep(EVERY)
            if not self._sees:
                log.error("the database has not answered for %.0f s: every stream ends", BLIND)
                for follower in list(self._followers):
                    follower.end()
            elif time.monotonic() - beaten >= BEAT:
                beaten = time.monotonic()
                for follower in list(self._followers):
                    follower.beat()

    async def _look_on(self) -> None:
        """Look at the chains, again and again."""
        while True:
            pause = EVERY
            if self._followers:
                try:
                    await self._look()
                except (DatabaseError, InterfaceError) as error:
                    log.warning("the chains cannot be read: %s", error)
                    pause = AFTER_FAILURE
                else:
                    self._looked = time.monotonic()
            else:
                self._looked = time.monotonic()
            await asyncio.sleep(pause)

    async def _look(self) -> None:
        """Tell every reader what is new, and end those that may no longer follow."""
        followers = [follower for follower in self._followers if follower.is_ready]
        heads = await self._read(lambda: _heads(followers))
        behind = {follower: wanted for follower in followers if (wanted := _wanted(follower, heads))}
        idle = time.monotonic() - self._rights_looked >= RIGHTS
        concerned: Collection[Follower] = list(self._followers) if idle else behind
        if not concerned:
            return
        wanted = [one for several in behind.values() for one in several]
        # A reader that comes back after long to a house of many chains is sent little of each at a time.
        each = max(1, hints.AT_A_TIME // max(map(len, behind.values()), default=1))
        digests = sorted({follower.asked.digest for follower in concerned})
        found, senders = await self._read(lambda: (hints.after(wanted, each), rights.senders(digests)))
        if idle:
            self._rights_looked = time.monotonic()
        for follower in concerned:
            _tell(follower, senders.get(follower.asked.digest), behind.get(follower, ()), found)

    async def _read(self, read: Callable[[], T]) -> T:
        """Read from the database, in the thread that does."""
        return await asyncio.get_running_loop().run_in_executor(self._reader, _reading, read)


def _reading(read: Callable[[], T]) -> T:
    """Read over a connection that is there. Raises DatabaseError, InterfaceError, after which it is opened again."""
    sql.drop_lost_connections()
    try:
        return read()
    except (DatabaseError, InterfaceError):
        connection.close()
        raise


def _heads(followers: Iterable[Follower]) -> list[Head]:
    """The ends of all chains that somebody follows."""
    houses = {follower.asked.house for follower in followers if follower.asked.chain is None}
    chains = {follower.asked.chain for follower in followers if follower.asked.chain is not None}
    return hints.heads(houses, chains)


def _wanted(follower: Follower, heads: Iterable[Head]) -> list[hints.Wanted]:
    """Where a reader is behind the chains that it follows. One that is ahead of them has seen another database: it is
    ended, and learns of it when it comes again."""
    asked, position = follower.asked, follower.position
    mine = [one for one in heads if (one.house == asked.house if asked.chain is None else one.id == asked.chain)]
    if any(position.get(one.name, 0) > one.seq for one in mine):
        follower.end()
        return []
    return [(one, position.get(one.name, 0)) for one in mine if one.seq > position.get(one.name, 0)]


def _tell(
    follower: Follower, sender: Sender | None, wanted: Iterable[hints.Wanted], found: dict[tuple[int, int], list[Hint]]
) -> None:
    """Send a reader the hints that it wants, or end its stream where it may have none."""
    asked = follower.asked
    if sender is None or sender.house != asked.house or not sender.may_follow(asked.followed):
        follower.end()
        return
    follower.whole = sender.whole
    for head, position in wanted:
        follower.send(head.name, found.get((head.id, position), []))


async def _message(there: socket.socket) -> tuple[dict[str, str] | None, list[int]]:
    """The next message of a web process, with the descriptors beside it. Raises OSError, ValueError."""
    buffer, files = bytearray(), []
    while (message := taken(buffer)) is ...:
        await _readable(there)
        received, more, _, _ = socket.recv_fds(there, 65_536, 1)
        files += more
        if not received:
            for number in files:
                os.close(number)
            raise ConnectionError("closed before it was done")
        buffer += received
    return message, files


async def _readable(there: socket.socket) -> None:
    """Wait until there is something to read."""
    loop = asyncio.get_running_loop()
    there_is = asyncio.Event()
    loop.add_reader(there, there_is.set)
    try:
        await there_is.wait()
    finally:
        loop.remove_reader(there)


def listen(path: Path) -> socket.socket:
    """A listening unix socket at this path, in place of one that was left there; only our own user may connect."""
    path.unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        listening.bind(str(path))
    except OSError:
        listening.close()
        raise
    finally:
        os.umask(before)
    listening.listen(128)
    listening.setblocking(False)
    return listening


async def serve(path: Path, most: int) -> None:
    """Serve at this path until SIGTERM or SIGINT."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    with listen(path) as listening:
        try:
            await Streams(listening, most).run(stop)
        finally:
            path.unlink(missing_ok=True)
