"""Prepared HTTP/1.1 requests over a socket, and what a console does with them: the cheapest client that there is.

Nothing but the standard library: the clients run on the machine that they load.
"""

import json
import socket
import time
from collections.abc import Callable
from itertools import count

TIMEOUT = 30.0
#: Seconds between two looks at a table that is not open yet.
POLL = 0.02
#: Seconds until a hand that is not settled is an error.
PATIENCE = 60.0


class Wire:
    """One client's connection: kept alive where the server keeps it, opened again where it says `Connection: close`."""

    def __init__(self, host: str, port: int) -> None:
        self._address = (host, port)
        self._socket: socket.socket | None = None

    def send(self, request: bytes) -> tuple[int, dict[bytes, bytes], bytes]:
        """Send one request; returns status, headers (names in lower case) and body. Raises OSError."""
        if self._socket is None:
            self._socket = socket.create_connection(self._address, TIMEOUT)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.sendall(request)
        head, body = self._head(self._socket)
        status, headers = parsed(head)
        missing = int(headers[b"content-length"]) - len(body)
        while missing > 0:
            part = self._received(self._socket)
            body += part
            missing -= len(part)
        if headers.get(b"connection", b"").lower() == b"close":
            self.close()
        return status, headers, body

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _head(self, wire: socket.socket) -> tuple[bytes, bytes]:
        """The answer's head, and what of its body came with it."""
        received = b""
        while b"\r\n\r\n" not in received:
            received += self._received(wire)
        head, _, body = received.partition(b"\r\n\r\n")
        return head, body

    def _received(self, wire: socket.socket) -> bytes:
        part = wire.recv(65536)
        if not part:
            self.close()
            raise ConnectionError("the server closed the connection within an answer")
        return part


def parsed(head: bytes) -> tuple[int, dict[bytes, bytes]]:
    """Status and headers of an answer's head; names in lower case."""
    first, *lines = head.split(b"\r\n")
    pairs = (line.partition(b":") for line in lines)
    return int(first.split(b" ", 2)[1]), {name.strip().lower(): value.strip() for name, _, value in pairs}


def prepared(method: str, path: str, token: str, body: str | None = None) -> tuple[bytes, bytes]:
    """A request as bytes, cut where a write's version and key belong: `before + version + key + after`."""
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {token}"]
    if body is None:
        return "\r\n".join([*lines, "", ""]).encode(), b""
    content = body.encode()
    lines += ["Content-Type: application/json", f"Content-Length: {len(content)}", 'If-Match: "']
    return "\r\n".join(lines).encode(), b"\r\n\r\n" + content


class Refused(RuntimeError):
    """The server gave another answer than the one that the measurement counts."""


class Console:
    """A table's console: plays whole hands. `timed` is called with start and end of every accepted action."""

    def __init__(self, wire: Wire, table: str, token: str, client: str, scripts: dict[str, dict[str, object]]) -> None:
        path = f"/api/v1/tables/{table}"
        self._wire, self._token, self._client = wire, token, client
        self._read, _ = prepared("GET", path, token)
        self._deal = {mode: prepared("POST", f"{path}/hands", token, str(one["deal"])) for mode, one in scripts.items()}
        self._prepare = prepared("POST", f"{path}/deal", token, "{}")
        self._actions = {
            mode: [prepared("POST", f"{path}/hand/actions", token, body) for body in one["actions"]]  # type: ignore[attr-defined]
            for mode, one in scripts.items()
        }
        self._keys = count()
        self._version = b""
        self.requests = 0

    def play(
        self, mode: str, timed: Callable[[float, float], None], before_actions: Callable[[], object] = lambda: None
    ) -> None:
        """Play a hand from the deal to its last action; `before_actions` is called once it is dealt. Raises Refused."""
        self._wait_until_open()
        if mode == "electronic":
            self._write(self._prepare)
        self._write(self._deal[mode])
        before_actions()
        for request in self._actions[mode]:
            started = time.monotonic()
            self._write(request)
            timed(started, time.monotonic())

    def _wait_until_open(self) -> None:
        """Read the table until its last hand is settled."""
        deadline = time.monotonic() + PATIENCE
        while True:
            table = json.loads(self._answer(self._read)[1])
            if table["state"] == "open":
                self._version = str(table["version"]).encode()
                return
            if time.monotonic() > deadline:
                raise Refused(f"table {table['table']} is {table['state']} after {PATIENCE:.0f} s")
            time.sleep(POLL)

    def _write(self, request: tuple[bytes, bytes]) -> None:
        before, after = request
        key = f'"\r\nIdempotency-Key: {self._client}-{next(self._keys)}'.encode()
        headers, _ = self._answer(before + self._version + key + after)
        self._version = headers[b"etag"].strip(b'"')

    def _answer(self, request: bytes) -> tuple[dict[bytes, bytes], bytes]:
        self.requests += 1
        status, headers, body = self._wire.send(request)
        if status not in (200, 201):
            raise Refused(f"{status} {body.decode(errors='replace')[:500]}")
        return headers, body


class BareClient:
    """Writes through the bare view, with the headers and the body of an action."""

    def __init__(self, wire: Wire, token: str, client: str, body: str) -> None:
        self._wire, self._client = wire, client
        self._before, self._after = prepared("POST", "/bench/bare", token, body)
        self._keys = count(1)

    def write(self) -> None:
        """One request. Raises Refused."""
        number = next(self._keys)
        key = f'{number}"\r\nIdempotency-Key: {self._client}-{number}'.encode()
        status, _, body = self._wire.send(self._before + key + self._after)
        if status != 201:
            raise Refused(f"{status} {body.decode(errors='replace')[:500]}")
