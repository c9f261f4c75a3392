"""Clients that are idle, or slow on purpose, while a house plays: nobody notices them."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import httpx
import pytest

from deploy.processes import Processes, address, application, listen
from tests.services import TestServices

IDLE, SLOW = 500, 50
#: Seconds after which an answer is late.
LATE = 2.0
#: Requests cut off at different places: within the headers, and within the body.
CUT_OFF = (
    b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ",
    b"POST /api/v1/sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    b'Content-Length: 5000\r\n\r\n{"login": "',
)


@contextmanager
def hangers_on(port: int) -> Iterator[None]:
    """Idle connections, and others that send one more byte of a request every half second."""
    stop = threading.Event()
    with ExitStack() as stack:
        there = [stack.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(IDLE + SLOW)]
        slow = there[IDLE:]
        for number, connection in enumerate(slow):
            connection.sendall(CUT_OFF[number % len(CUT_OFF)])

        def drip() -> None:
            while not stop.wait(0.5):
                for connection in slow:
                    connection.sendall(b"a")

        dripping = threading.Thread(target=drip)
        dripping.start()
        try:
            yield
        finally:
            stop.set()
            dripping.join()


@pytest.mark.long
def test_idle_and_slow_clients_hold_nobody_up(services: TestServices, live_db: None) -> None:
    from casino.staff.models import Role, TerminalKind
    from tests.casino.kit import SAMPLE, Desk, Kit, as_action

    kit = Kit.found()
    kit.table()
    kit.seated()
    token = kit.token(Role.DEALER, TerminalKind.TABLE, "T1")
    with listen(0) as listener:
        [web] = [program for program in application(listener) if program.name == "web"]
        with (
            Processes([web], environ=dict(os.environ)) as processes,
            httpx.Client(base_url=address(listener), headers={"Authorization": f"Bearer {token}"}) as http,
        ):
            processes.wait_ready(f"{address(listener)}/healthz")
            desk = Desk(http, "/api/v1/tables/T1")
            desk.refresh()
            desk.ok("hands", {"mode": "physical", "button": 4})
            took = []
            with hangers_on(listener.getsockname()[1]):
                for line in SAMPLE[:8]:
                    began = time.monotonic()
                    # A connection of its own, as another client would have.
                    assert httpx.get(f"{address(listener)}/healthz", timeout=10).status_code == 200
                    healthy = time.monotonic()
                    desk.ok("hand/actions", {"actions": [as_action(line)]})
                    took += [healthy - began, time.monotonic() - healthy]
            assert max(took) < LATE, took
            assert processes.restarts_of("web") == 0
    kit.close()
