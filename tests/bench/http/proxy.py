"""A proxy before PostgreSQL that counts what a client asks of it, in PostgreSQL's own protocol (version 3).

Every message is counted as it is on the wire, so nothing depends on how the client was written: BEGIN and COMMIT are
statements, and a pipeline of several statements with one Sync is one round trip.
"""

import socket
import struct
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, quote, unquote, urlsplit, urlunsplit

DEFAULT_PORT = 5432
#: Messages after which a client waits for an answer: a simple query, the end of an extended one or of a pipeline.
WAITING = {b"Q", b"S", b"H"}


@dataclass(slots=True)
class Asked:
    """What was asked: the text of every statement that was run, in order, and how often the client waited."""

    statements: list[str] = field(default_factory=list)
    round_trips: int = 0


class Frontend:
    """Reads the client's half of one connection, in pieces of any length."""

    def __init__(self) -> None:
        self._rest = b""
        self._started = False
        self._prepared: dict[bytes, str] = {}
        self._portals: dict[bytes, str] = {}

    def feed(self, part: bytes, asked: Asked) -> None:
        """Add what the messages in `part` ask."""
        self._rest += part
        while True:
            at = 1 if self._started else 0
            if len(self._rest) < at + 4:
                return
            [length] = struct.unpack_from("!I", self._rest, at)
            if len(self._rest) < at + length:
                return
            kind, body = self._rest[:at], self._rest[at + 4 : at + length]
            self._rest = self._rest[at + length :]
            self._started = True
            self._message(kind, body, asked)

    def _message(self, kind: bytes, body: bytes, asked: Asked) -> None:
        if kind in WAITING:
            asked.round_trips += 1
        if kind == b"Q":
            asked.statements.append(_text(body))
        elif kind == b"P":
            name, text, _ = body.split(b"\0", 2)
            self._prepared[name] = _text(text)
        elif kind == b"B":
            portal, name, _ = body.split(b"\0", 2)
            self._portals[portal] = self._prepared[name]
        elif kind == b"E":
            asked.statements.append(self._portals[body.split(b"\0", 1)[0]])


class Proxy:
    """Listens in a folder of its own; `url` is where clients connect, `take` says what they asked since the last call.

    Clients must not encrypt: `url` names a unix socket, where libpq does not.
    """

    def __init__(self, folder: Path, url: str) -> None:
        self._target = target(url)
        self._asked = Asked()
        self._lock = threading.Lock()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / f".s.PGSQL.{DEFAULT_PORT}"))
        self._listener.listen(16)
        parts = urlsplit(url)
        login = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
        self.url = urlunsplit(parts._replace(netloc=f"{login}{quote(str(folder), safe='')}", query=""))
        threading.Thread(target=self._serve, daemon=True).start()

    def take(self) -> Asked:
        """What was asked since the last call."""
        with self._lock:
            asked, self._asked = self._asked, Asked()
        return asked

    def close(self) -> None:
        """Take no more connections."""
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:  # closed
                return
            threading.Thread(target=self._connected, args=(client,), daemon=True).start()

    def _connected(self, client: socket.socket) -> None:
        """Pass both directions of one connection on until both have ended."""
        family, address = self._target
        with client, socket.socket(family) as server:
            server.connect(address)
            back = threading.Thread(target=self._pass, args=(server, client, None), daemon=True)
            back.start()
            self._pass(client, server, Frontend())
            back.join()

    def _pass(self, source: socket.socket, sink: socket.socket, frontend: Frontend | None) -> None:
        try:
            while part := source.recv(65536):
                if frontend is not None:
                    with self._lock:
                        frontend.feed(part, self._asked)
                sink.sendall(part)
        except ConnectionError:
            pass  # one end is gone without a word; the other one is let go below
        with suppress(OSError):  # it may be gone as well
            sink.shutdown(socket.SHUT_WR)


def target(url: str) -> tuple[socket.AddressFamily, str | tuple[str, int]]:
    """Where a PostgreSQL URL leads: the family and the address of its socket."""
    parts = urlsplit(url)
    place, _, port = parts.netloc.rpartition("@")[2].partition(":")
    host = unquote(place) or parse_qs(parts.query).get("host", [""])[0]
    number = int(port or DEFAULT_PORT)
    if host.startswith("/"):
        return socket.AF_UNIX, f"{host}/.s.PGSQL.{number}"
    return socket.AF_INET, (host or "127.0.0.1", number)


def _text(value: bytes) -> str:
    return " ".join(value.rstrip(b"\0").decode(errors="replace").split())
