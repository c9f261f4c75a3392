"""The web worker: gunicorn's processes, waitress's connections.

A worker that gives each connection a thread is stopped by as many clients that are idle or slow. Waitress reads a
request whole, body included, in one loop over all connections, and only then gives it to a thread; what a client does
not take of an answer waits in that loop, too. An idle or slow connection costs a descriptor and some memory. Gunicorn
keeps what it does well: it loads the application once and forks, all workers accept from one socket, which is open
before they are, a worker whose loop stands still is killed, and a stop lets requests end.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Sequence
from typing import Any

from gunicorn.workers.base import Worker
from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.server import TcpWSGIServer
from waitress.task import ThreadedTaskDispatcher

#: Seconds after which a connection is closed on which nothing happens.
IDLE_SECONDS = 60
#: Connections that a worker holds at most; then it accepts none until some are closed. Below the 1,024 descriptors that
#: a process may have in many places.
MOST_CONNECTIONS = 900
#: A request's body at most, in bytes. The application accepts less, and says so in words of its own.
LONGEST_BODY = 1 << 20
#: Seconds between two signs of life, and after which a stop is noticed.
TURN = 0.5


class BufferingWorker(Worker):  # type: ignore[misc] # gunicorn has no types
    """Waits for connections in one thread, and runs requests in `threads` others."""

    def run(self) -> None:
        """Serve until the worker is to stop, then end what is under way."""
        # It would say for each request that waits for a thread how many there are.
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)
        connections: dict[int, Any] = {}
        dispatcher = ThreadedTaskDispatcher()
        dispatcher.set_thread_count(self.cfg.threads)
        servers = [self._server(listener.sock, connections, dispatcher) for listener in self.sockets]
        while self.alive and self.ppid == os.getppid():
            self._turn(connections)
        until = time.monotonic() + self.cfg.graceful_timeout
        while _under_way(servers) and time.monotonic() < until:
            self._turn(connections)

    def _server(
        self, listening: socket.socket, connections: dict[int, Any], dispatcher: ThreadedTaskDispatcher
    ) -> TcpWSGIServer:
        options = Adjustments(
            sockets=[listening],
            threads=self.cfg.threads,
            backlog=self.cfg.backlog,
            channel_timeout=IDLE_SECONDS,
            connection_limit=MOST_CONNECTIONS,
            max_request_body_size=LONGEST_BODY,
            # A proxy in front is for gunicorn's settings, and the application reads no such header.
            clear_untrusted_proxy_headers=False,
            ident=None,
        )
        where = (listening.family, listening.type, listening.proto, listening.getsockname())
        return TcpWSGIServer(self.wsgi, connections, True, listening, dispatcher, options, where, bind_socket=False)

    def _turn(self, connections: dict[int, Any]) -> None:
        """Say that the worker is alive, and look after every connection that has something to do."""
        self.notify()
        wasyncore.loop(timeout=TURN, use_poll=True, map=connections, count=1)


def _under_way(servers: Sequence[TcpWSGIServer]) -> bool:
    """Accept no more connections, and close those without a request; whether there are others."""
    busy = False
    for server in servers:
        server.accepting = False
        for channel in list(server.active_channels.values()):
            if channel.requests or channel.total_outbufs_len:
                busy = True
            else:
                channel.will_close = True
    return busy
