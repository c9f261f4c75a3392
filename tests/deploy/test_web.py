"""A web worker's loop over its connections: a request that drips is ended, whatever else goes on."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from casino.api.http import problems
from casino.core.error_codes import ERROR_CODES
from deploy import web

HEAD = b"POST /anything HTTP/1.1\r\nHost: 127.0.0.1\r\n"
WHOLE = HEAD + b"Content-Length: 2\r\n\r\n{}"
#: Requests that are cut off within the headers, and within the body.
CUT_OFF = (HEAD + b"X-Slow: ", HEAD + b"Content-Length: 5000\r\n\r\n{")
#: For these tests, seconds for a request.
SECONDS = 0.6


def _take(connection: int, head: bytes, body: bytes) -> bool:
    """Answer in place of the worker, from a thread of its own and a descriptor of its own."""
    there = socket.socket(fileno=os.dup(connection))

    def answer() -> None:
        with there:
            there.setblocking(True)
            time.sleep(0.2)
            there.sendall(head + b"\r\nlive and " + body)

    threading.Thread(target=answer).start()
    return True


#: What an application gives its connection to.
TAKERS: dict[str, Callable[[int, bytes, bytes], bool]] = {"taken": _take, "refused": lambda *_: False}


def application(environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
    """Answers with the length of the body, after a while where that is wanted."""
    time.sleep(float(environ.get("HTTP_X_TAKES", 0)))
    if "HTTP_X_GIVES_AWAY" in environ:
        environ[web.HAND_OVER](TAKERS[environ["HTTP_X_GIVES_AWAY"]])
    body = str(len(environ["wsgi.input"].read())).encode()
    if "HTTP_X_WHO" in environ:
        forwarded = [name for name in environ if "FORWARDED" in name]
        body = json.dumps([environ["REMOTE_ADDR"], environ["wsgi.url_scheme"], forwarded]).encode()
    start("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]


def started(listening: socket.socket) -> web.BufferingWorker:
    """A worker of this process, as gunicorn makes one."""
    worker = web.BufferingWorker.__new__(web.BufferingWorker)
    worker.cfg = SimpleNamespace(threads=2, backlog=100, graceful_timeout=1)
    worker.sockets, worker.wsgi, worker.alive = [SimpleNamespace(sock=listening)], application, True
    worker.ppid, worker.notify = os.getppid(), lambda: None
    return worker


@contextmanager
def serving(proxy: str = "") -> Iterator[tuple[str, int]]:
    """Where a worker serves, behind a proxy at this address."""
    with pytest.MonkeyPatch.context() as patched, socket.create_server(("127.0.0.1", 0)) as listening:
        patched.setattr(web, "REQUEST_SECONDS", SECONDS)
        patched.setattr(web, "TURN", 0.05)
        patched.setenv(web.PROXY, proxy)
        worker = started(listening)
        thread = threading.Thread(target=worker.run)
        thread.start()
        try:
            yield listening.getsockname()
        finally:
            worker.alive = False
            thread.join()


@pytest.fixture
def address() -> Iterator[tuple[str, int]]:
    """Where a worker of this process serves, until the end of the test."""
    with serving() as found:
        yield found


def answer(connection: socket.socket) -> bytes:
    """The next answer of the application."""
    connection.settimeout(5)
    found = b""
    while b"\r\n\r\n2" not in found:
        found += connection.recv(65_536) or pytest.fail(f"closed after {found!r}")
    return found


def read_to_end(connection: socket.socket) -> bytes:
    """What comes until the worker closes the connection."""
    connection.settimeout(5)
    return b"".join(iter(lambda: connection.recv(65_536), b""))


@pytest.mark.parametrize("beginning", CUT_OFF, ids=["in the headers", "in the body"])
def test_a_request_that_drips_is_answered_408_and_closed(address: tuple[str, int], beginning: bytes) -> None:
    began = time.monotonic()
    with socket.create_connection(address) as connection:
        connection.sendall(beginning)
        while time.monotonic() - began < SECONDS - 0.2:
            connection.sendall(b"a")
            time.sleep(0.05)
        head, _, body = read_to_end(connection).partition(b"\r\n\r\n")
    assert SECONDS <= time.monotonic() - began < SECONDS + 1
    assert head.startswith(b"HTTP/1.1 408 ") and b"\r\nConnection: close" in head
    problem = json.loads(body)
    assert ERROR_CODES[problem["code"]].status == problem["status"] == 408
    assert problem.keys() == problems.document(408, "request_timeout", "").keys()
    assert problem["title"] == problems.document(408, "request_timeout", "")["title"]


def test_the_time_is_that_of_one_request_and_not_of_the_connection(address: tuple[str, int]) -> None:
    with socket.create_connection(address) as connection:
        for _ in range(5):
            connection.sendall(WHOLE)
            assert answer(connection).startswith(b"HTTP/1.1 200 OK")
            time.sleep(SECONDS / 3)


def test_a_request_that_takes_long_is_not_one_that_arrives_slowly(address: tuple[str, int]) -> None:
    """Nor does it matter that the next one has begun to arrive: it has its answer first."""
    slow = WHOLE.replace(b"Host", b"X-Takes: 1.2\r\nHost")
    with socket.create_connection(address) as connection:
        connection.sendall(slow + CUT_OFF[0])
        first, _, second = read_to_end(connection).partition(b"\r\n\r\n2")
    assert first.startswith(b"HTTP/1.1 200 OK")
    assert second.startswith(b"HTTP/1.1 408 ")


def test_others_are_answered_meanwhile(address: tuple[str, int]) -> None:
    dripping = [socket.create_connection(address) for _ in range(50)]
    for number, connection in enumerate(dripping):
        connection.sendall(CUT_OFF[number % 2])
    with socket.create_connection(address) as connection:
        connection.sendall(WHOLE)
        assert answer(connection).startswith(b"HTTP/1.1 200 OK")
    for connection in dripping:
        assert read_to_end(connection).startswith(b"HTTP/1.1 408 ")
        connection.close()


def test_a_connection_that_is_given_away_is_answered_by_who_has_it(address: tuple[str, int]) -> None:
    with socket.create_connection(address) as connection, socket.create_connection(address) as other:
        connection.sendall(HEAD + b"X-Gives-Away: taken\r\nContent-Length: 2\r\n\r\n{}")
        other.sendall(WHOLE)
        assert answer(other).endswith(b"2"), "the worker is free"
        head, _, body = read_to_end(connection).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\n") and b"\r\nConnection: close" in head
    assert b"Content-Length" not in head and b"\r\nContent-Type: text/plain" in head
    assert body == b"live and 2"


def test_a_connection_that_nobody_takes_is_answered_as_ever(address: tuple[str, int]) -> None:
    with socket.create_connection(address) as connection:
        for _ in range(2):  # it is kept
            connection.sendall(HEAD + b"X-Gives-Away: refused\r\nContent-Length: 2\r\n\r\n{}")
            found = answer(connection)
            assert b"\r\nContent-Length: 1\r\n" in found and found.endswith(b"\r\n\r\n2")


def test_an_answer_behind_another_is_not_given_away_before_it(address: tuple[str, int]) -> None:
    with socket.create_connection(address) as connection:
        given = HEAD + b"X-Gives-Away: taken\r\nContent-Length: 2\r\n\r\n{}"
        connection.sendall(WHOLE + given)
        text = b""
        while b"live and 2" not in text and text.count(b"\r\n\r\n2") < 2:
            connection.settimeout(5)
            text += connection.recv(65_536) or pytest.fail(f"closed after {text!r}")
    assert text.startswith(b"HTTP/1.1 200 OK") and text.count(b"HTTP/1.1 200 OK") == 2


#: What a proxy says of a client, with what the client itself has claimed before it.
FORWARDED = HEAD + (
    b"X-Who: 1\r\nX-Forwarded-For: 198.51.100.7, 203.0.113.9\r\nX-Forwarded-Proto: https\r\n"
    b"X-Forwarded-Host: elsewhere.example\r\nForwarded: for=198.51.100.8\r\nContent-Length: 0\r\n\r\n"
)  # fmt: skip


def who(address: tuple[str, int]) -> list[object]:
    """Whom the application takes a client for whose request came through a proxy."""
    with socket.create_connection(address) as connection:
        connection.sendall(FORWARDED.replace(b"Host", b"Connection: close\r\nHost", 1))
        found: list[object] = json.loads(read_to_end(connection).partition(b"\r\n\r\n")[2])
        return found


def test_nobody_says_who_a_client_is_but_the_proxy_that_is_named(address: tuple[str, int]) -> None:
    assert who(address) == ["127.0.0.1", "http", []]


@pytest.mark.parametrize(("proxy", "found"), [
    ("127.0.0.1", ["203.0.113.9", "https", ["HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO"]]),
    ("192.0.2.1", ["127.0.0.1", "http", []]),
])  # fmt: skip
def test_the_proxy_names_the_client_by_the_last_address(proxy: str, found: list[object]) -> None:
    with serving(proxy) as address:
        assert who(address) == found


def test_a_proxy_is_named_by_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(web.PROXY, "nginx")
    with socket.create_server(("127.0.0.1", 0)) as listening, pytest.raises(ValueError, match="nginx"):
        started(listening).run()


def test_a_worker_that_stops_answers_on_idle_connections_and_ends_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """A console's connection stays open between two requests; one that it sends on while the worker stops is answered,
    and learns that it was the last."""
    monkeypatch.setattr(web, "TURN", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        worker = started(listening)
        thread = threading.Thread(target=worker.run)
        thread.start()
        there = listening.getsockname()
        with socket.create_connection(there) as busy, socket.create_connection(there) as idle:
            for connection in (busy, idle):
                connection.sendall(WHOLE)
                assert b"Connection: close" not in answer(connection)
            worker.alive, began = False, time.monotonic()
            time.sleep(0.3)
            busy.sendall(WHOLE)
            found = answer(busy)
            assert found.startswith(b"HTTP/1.1 200 OK") and b"Connection: close" in found
            assert read_to_end(busy) == b"" and read_to_end(idle) == b""
            assert time.monotonic() - began >= web.LINGER
        thread.join()
