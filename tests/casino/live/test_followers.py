"""One reader's connection: what waits for a slow reader is bounded, and a reader that reads nothing is cut."""

from __future__ import annotations

import asyncio
import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from casino.live import followers, handover, positions
from casino.live.followers import Follower
from casino.live.handover import Asked
from casino.live.hints import Head, Hint
from casino.live.rights import Followed, Scope

CHAIN = "table/T1"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"


def asked(wait: int | None = None) -> Asked:
    """A table's stream that begins at its beginning."""
    return Asked("digest", uuid.uuid4(), Followed(Scope.TABLE, "T1"), 7, {CHAIN: 0}, wait)


def hint(seq: int) -> Hint:
    """An event of that number."""
    return Hint(CHAIN, seq, "table.opened", seq)


@contextmanager
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Both ends of a connection that holds little."""
    here, there = socket.socketpair()
    for one in (here, there):
        one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        one.setblocking(False)
    with there:
        yield here, there


async def connected(here: socket.socket, wait: int | None = None) -> tuple[Follower, list[Follower]]:
    """A follower on a connection, and the list of those that are gone."""
    gone: list[Follower] = []
    follower = Follower(asked(wait), HEAD, b"", gone.append)
    await asyncio.get_running_loop().connect_accepted_socket(lambda: follower, here)
    return follower, gone


async def read_until(there: socket.socket, ending: bytes) -> bytes:
    """What comes up to this, or until the end."""
    found = b""
    async with asyncio.timeout(10):
        while not found.endswith(ending):
            more = await asyncio.get_running_loop().sock_recv(there, 65_536)
            if not more:
                return found
            found += more
    return found


def test_a_slow_reader_is_sent_no_more_until_it_has_read_and_then_all(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        with pair() as (here, there):
            follower, gone = await connected(here)
            sent = 0
            while follower.is_ready:
                sent += 1
                follower.send(CHAIN, [hint(sent)])
                assert sent < 10_000, "what waits for a reader is bounded"
            follower.send(CHAIN, [hint(sent + 1)])
            assert follower.position == {CHAIN: sent}, "it is not sent, and not lost"
            follower.beat()
            assert gone == [], "there is time to catch up"
            last = f"id: {sent}\n".encode()
            text = await read_until(there, b"\n\n")
            while last not in text:
                text += await read_until(there, b"\n\n")
            assert follower.is_ready
            follower.send(CHAIN, [hint(seq) for seq in range(1, sent + 2)])
            text += await read_until(there, b"\n\n")
            ids = [int(line[4:]) for line in text.split(b"\n") if line.startswith(b"id: ")]
            assert ids == list(range(1, sent + 2))

    asyncio.run(run())


def test_a_reader_that_reads_nothing_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(followers, "SLOW", 0.05)

    async def run() -> None:
        with pair() as (here, _):
            follower, gone = await connected(here)
            seq = 0
            while follower.is_ready:
                seq += 1
                follower.send(CHAIN, [hint(seq)])
            await asyncio.sleep(0.1)
            follower.beat()
            await asyncio.sleep(0)
            assert gone == [follower]

    asyncio.run(run())


def test_what_waits_is_answered_once() -> None:
    async def run() -> None:
        with pair() as (here, there):
            follower, gone = await connected(here, wait=1)
            follower.send(CHAIN, [hint(1), hint(2)])
            follower.send(CHAIN, [hint(3)])
            follower.end()
            head, _, body = (await read_until(there, b"never")).partition(b"\r\n\r\n")
            assert f"Content-Length: {len(body)}".encode() in head
            assert body.count(b'"seq"') == 2 and b'"position": "2"' in body
            assert gone == [follower]

    asyncio.run(run())


def test_a_message_that_is_too_long_is_refused() -> None:
    assert handover.taken(bytearray(handover.framed({"a": 1}))[:-1]) is ...
    with pytest.raises(ValueError, match="bytes"):
        handover.taken(bytearray(b"\xff\xff\xff\xff{}"))


def test_positions_name_each_chain_once_and_only_known_ones() -> None:
    heads = [Head(1, uuid.uuid4(), "house/H", 9), Head(2, uuid.uuid4(), "table/T1", 4)]
    position = positions.parse("table/T1:3", heads, of_house=True)
    assert position == {"house/H": 0, "table/T1": 3}
    assert positions.parse(positions.text(position, of_house=True), heads, of_house=True) == position
    assert positions.is_ahead({"house/H": 9, "table/T1": 5}, heads)
    assert not positions.is_ahead({"house/H": 9, "table/T1": 4}, heads)
    for wrong in ("table/T2:1", "table/T1", "3", "table/T1:3,", ",", "table/T1:x"):
        with pytest.raises(ValueError, match="position"):
            positions.parse(wrong, heads, of_house=True)
