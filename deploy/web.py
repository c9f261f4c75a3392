"""The web worker: gunicorn's processes, waitress's connections.

A worker that gives each connection a thread is stopped by as many clients that are idle or slow. Waitress reads a
request whole, body included, in one loop over all connections, and only then gives it to a thread; what a client does
not take of an answer waits in that loop, too. An idle or slow connection costs a descriptor and some memory, and that
for `REQUEST_SECONDS` at most from the first byte of a request: who drips bytes is answered 408. Gunicorn
keeps what it does well: it loads the application once and forks, all workers accept from one socket, which is open
before they are, a worker whose loop stands still is killed, and a stop lets requests end.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from typing import Any

from gunicorn.workers.base import Worker
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.server import TcpWSGIServer
from waitress.task import WSGITask
from waitress.utilities import build_http_date

from deploy.connections import Connections, Threads

#: Seconds after which a connection is closed on which nothing happens.
IDLE_SECONDS = 60
#: Seconds within which a request must have arrived whole, from its first byte on.
REQUEST_SECONDS = 15.0
#: The stable code of the refusal of a request that has not.
TOO_SLOW = "request_timeout"
#: Connections that a worker holds at most; then it accepts none until some are closed. Below the 1,024 descriptors that
#: a process may have in many places.
MOST_CONNECTIONS = 900
#: A request's body at most, in bytes. The application accepts less, and says so in words of its own.
LONGEST_BODY = 1 << 20
#: The key of the WSGI environment under which the application can give its connection to another process.
HAND_OVER = "cukassza.hand_over"
#: Seconds for which a worker that is to stop still reads from connections on which nothing happens. A client that is
#: about to send on one is answered there, and learns that it ends; who is silent finds it closed before the next
#: request.
LINGER = 1.0
#: Seconds between two signs of life, and after which a stop is noticed.
TURN = 0.5
#: The variable with the address of the proxy in front, `127.0.0.1`. What it says of a client's address and of TLS
#: counts (`X-Forwarded-For`, of which the last address, and `X-Forwarded-Proto`); what anybody else says does not.
PROXY = "CASINO_PROXY"


def _too_slow() -> bytes:
    """The answer to a request that did not arrive in time, which closes the connection."""
    problem = {
        "type": f"urn:cukassza:problem:{TOO_SLOW}",
        "title": "The request took too long",
        "status": 408,
        "code": TOO_SLOW,
        "detail": f"The request did not arrive within {REQUEST_SECONDS:.0f} s. Nothing was changed; send it again.",
    }
    body = json.dumps(problem).encode()
    head = (
        "HTTP/1.1 408 Request Timeout",
        "Content-Type: application/problem+json",
        f"Content-Length: {len(body)}",
        "Connection: close",
    )
    return "\r\n".join((*head, "", "")).encode() + body


class HandingOver(WSGITask):  # type: ignore[misc] # waitress has no types
    """A request whose connection the application may give to another process, which then answers.

    The application finds a function under `HAND_OVER` in its environment and calls it with `take`. When it has made its
    answer, `take(descriptor, head, body)` is called with the connection, the answer's head, without its length and its
    last empty line, and the body. If that returns true, another process has the connection, and it is forgotten here;
    if not, the answer is sent as it is.
    """

    _take: Callable[[int, bytes, bytes], bool] | None = None

    def __init__(self, channel: Channel, request: Any) -> None:
        super().__init__(channel, request)
        if channel.server.ends:
            # As if the client had asked for it: the answer says that it is the last one on this connection.
            request.headers["CONNECTION"] = "close"

    def get_environment(self) -> dict[str, Any]:
        """The environment, with the function."""
        environ: dict[str, Any] = super().get_environment()
        environ[HAND_OVER] = self._hand_over
        return environ

    def write(self, data: bytes) -> None:
        """Send a part of the body, the first with the head, or keep it until it is clear who sends it."""
        if self._take is None:
            channel, self.channel = self.channel, _Collecting(self.channel.server)
            try:
                super().write(data)
            finally:
                collecting, self.channel = self.channel, channel
            channel.write_soon(b"".join(collecting.parts))
        else:
            self._kept.append(data)
            self.content_bytes_written += len(data)

    def finish(self) -> None:
        """Give the connection away, or end the answer."""
        take, self._take = self._take, None
        if take is not None:
            body = b"".join(self._kept)
            # What was answered before on this connection must have been sent.
            idle = self.channel.connected and not self.channel.total_outbufs_len
            if idle and take(self.channel.socket.fileno(), self._head(), body):
                self.wrote_header = self.close_on_finish = True
                return
            self.content_bytes_written = 0
            super().write(body)
        super().finish()

    def _hand_over(self, take: Callable[[int, bytes, bytes], bool]) -> None:
        self._take = take
        self._kept: list[bytes] = []

    def _head(self) -> bytes:
        given = [f"{name}: {value}" for name, value in self.response_headers if name.lower() != "content-length"]
        date = f"Date: {build_http_date(self.start_time)}"
        lines = (f"HTTP/{self.version} {self.status}", *given, date, "Connection: close")
        return "".join(f"{line}\r\n" for line in lines).encode("latin-1")


class _Collecting:
    """In the place of a connection: what is written to it is sent together, in one packet."""

    def __init__(self, server: Any) -> None:
        self.server = server
        self.parts: list[bytes] = []

    def write_soon(self, data: bytes) -> int:
        """Keep it."""
        self.parts.append(data)
        return len(data)


#: The connection whose request a thread serves.
_serving = threading.local()


class Channel(HTTPChannel):  # type: ignore[misc] # waitress has no types
    """A connection that notes when the request began that has not arrived whole."""

    #: The request of which `began` is the beginning (`time.monotonic`); the attribute `request` is waitress's.
    _incomplete: Any = None
    began = 0.0
    task_class = HandingOver

    def received(self, data: bytes) -> bool:
        """Take bytes in."""
        taken: bool = super().received(data)
        if self.request is not self._incomplete:
            self._incomplete, self.began = self.request, time.monotonic()
        return taken

    def service(self) -> None:
        """Serve the request that has arrived, in a thread."""
        _serving.channel = self
        try:
            super().service()
        finally:
            _serving.channel = None

    def end_if_late(self, now: float) -> None:
        """Answer 408 and close, if the request should have arrived by now. Where an earlier request is under way, its
        answer comes first."""
        if self.request is None or self.requests or now - self.began < REQUEST_SECONDS or self.close_when_flushed:
            return
        answer = _too_slow()
        with self.outbuf_lock:
            self.outbufs[-1].append(answer)
            self.current_outbuf_count += len(answer)
            self.total_outbufs_len += len(answer)
            self.close_when_flushed = True


class Server(TcpWSGIServer):  # type: ignore[misc] # waitress has no types
    """Waitress's server with connections that have no more than `REQUEST_SECONDS` for a request."""

    channel_class = Channel
    #: Whether the worker is to stop: every answer is then the last on its connection.
    ends = False

    def pull_trigger(self) -> None:
        """Wake the loop for the connection that this thread serves, if nobody else has."""
        channel = getattr(_serving, "channel", None)
        if channel is None or self._map.served(channel._fileno):
            super().pull_trigger()

    def end_late(self) -> None:
        """Look after every connection."""
        now = time.monotonic()
        for channel in list(self.active_channels.values()):
            channel.end_if_late(now)
        self._map.touch_all()


class BufferingWorker(Worker):  # type: ignore[misc] # gunicorn has no types
    """Waits for connections in one thread, and runs requests in `threads` others."""

    def run(self) -> None:
        """Serve until the worker is to stop, then end what is under way."""
        connections = Connections()
        dispatcher = Threads(self.cfg.threads)
        servers = [self._server(listener.sock, connections, dispatcher) for listener in self.sockets]
        looked = time.monotonic()
        while self.alive and self.ppid == os.getppid():
            self._turn(connections)
            if time.monotonic() - looked >= TURN:
                looked = time.monotonic()
                for server in servers:
                    server.end_late()
        stopped = time.monotonic()
        until = stopped + self.cfg.graceful_timeout
        while _under_way(servers, stopped + LINGER) and time.monotonic() < until:
            connections.touch_all()
            self._turn(connections)
        dispatcher.shutdown(1.0)
        for server in servers:
            for channel in list(server.active_channels.values()):
                channel.handle_close()
            server.trigger.close()

    def _server(self, listening: socket.socket, connections: Connections, dispatcher: Threads) -> Server:
        options = Adjustments(
            sockets=[listening],
            threads=self.cfg.threads,
            backlog=self.cfg.backlog,
            channel_timeout=IDLE_SECONDS,
            connection_limit=MOST_CONNECTIONS,
            max_request_body_size=LONGEST_BODY,
            ident=None,
            **_of_proxy(os.environ.get(PROXY, "")),
        )
        where = (listening.family, listening.type, listening.proto, listening.getsockname())
        return Server(self.wsgi, connections, True, listening, dispatcher, options, where, bind_socket=False)

    def _turn(self, connections: Connections) -> None:
        """Say that the worker is alive, and look after every connection that has something to do."""
        self.notify()
        connections.turn(TURN)


def _of_proxy(address: str) -> dict[str, Any]:
    """What waitress is to believe a proxy at this address; without one, nobody, and no such header reaches the
    application. Raises ValueError for what is no address."""
    if not address:
        return {"clear_untrusted_proxy_headers": True}
    return {
        "trusted_proxy": str(ip_address(address)),
        "trusted_proxy_count": 1,
        "trusted_proxy_headers": {"x-forwarded-for", "x-forwarded-proto"},
        "clear_untrusted_proxy_headers": True,
    }


def _under_way(servers: Sequence[Server], idle_until: float) -> bool:
    """Accept no more connections, and close those without a request when the time (`monotonic`) of idle ones is over;
    whether there are others."""
    busy, lingers = False, time.monotonic() < idle_until
    for server in servers:
        server.accepting, server.ends = False, True
        for channel in list(server.active_channels.values()):
            if channel.requests or channel.total_outbufs_len or lingers:
                busy = True
            else:
                channel.will_close = True
    return busy
