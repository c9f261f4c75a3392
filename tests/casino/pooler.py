"""A pooler in transaction mode between clients and PostgreSQL, as pgbouncer is one, and stricter.

Clients share a few server connections. Each transaction gets a server connection that is free, taken at random, and
gives it back when it has ended. Before the next one the pooler asks the server what the session has kept (`left`) and
then discards it, so that an application that counts on the state of its session fails, and one that only leaves some
behind is found out.

As in pgbouncer a client may not send `options` when it connects. With `prepares`, statements that clients have prepared
by protocol are prepared again wherever they are run (pgbouncer 1.21 and newer, `max_prepared_statements`); without it
they are lost like everything else.
"""

import hashlib
import queue
import random
import select
import socket
import struct
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

PORT = 5432
#: Seconds after which a silent peer is given up, and a server connection that nobody gives back.
PATIENCE = 20.0
_PROTOCOL, _SSL, _GSS = 196608, 80877103, 80877104
_PARAMETERS = (
    "server_version", "server_encoding", "client_encoding", "application_name", "is_superuser", "in_hot_standby",
    "session_authorization", "DateStyle", "IntervalStyle", "TimeZone", "integer_datetimes",
    "standard_conforming_strings", "default_transaction_read_only",
)  # fmt: skip
#: What a session has kept of what its transaction did.
_LEFT = """
SELECT format('setting %s = %s', name, setting) FROM pg_settings
WHERE source = 'session' AND name NOT IN ('transaction_isolation', 'transaction_read_only', 'transaction_deferrable')
UNION ALL SELECT format('role %s', current_user) WHERE current_user <> session_user
UNION ALL SELECT format('prepared statement %s', statement) FROM pg_prepared_statements WHERE name NOT LIKE 'pooled%'
UNION ALL SELECT format('advisory lock %s', objid) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory'
UNION ALL SELECT format('channel %s', channel) FROM pg_listening_channels() AS channel
UNION ALL SELECT format('temporary %s', relname) FROM pg_class WHERE relnamespace = pg_my_temp_schema()
UNION ALL SELECT format('cursor %s', name) FROM pg_cursors WHERE is_holdable
"""


class _Gone(Exception):
    """The peer has closed its connection."""


class Wire:
    """One end of a connection, read message by message."""

    def __init__(self, there: socket.socket) -> None:
        self.socket = there
        there.settimeout(PATIENCE)
        self._rest = b""

    def fileno(self) -> int:
        """For `select`."""
        return self.socket.fileno()

    def receive(self) -> None:
        """Read what has arrived. Raises _Gone."""
        try:
            part = self.socket.recv(65536)
        except ConnectionError:
            part = b""
        if not part:
            raise _Gone
        self._rest += part

    def messages(self) -> Iterator[tuple[bytes, bytes]]:
        """Kind and body of every message that has arrived whole; each is taken when it is asked for."""
        while len(self._rest) >= 5:
            [length] = struct.unpack_from("!I", self._rest, 1)
            if len(self._rest) <= length:
                return
            kind, body = self._rest[:1], self._rest[5 : 1 + length]
            self._rest = self._rest[1 + length :]
            yield kind, body

    def send(self, kind: bytes, body: bytes) -> None:
        """Send one message. Raises _Gone."""
        try:
            self.socket.sendall(kind + struct.pack("!I", len(body) + 4) + body)
        except ConnectionError:
            raise _Gone from None

    def startup(self) -> dict[str, str]:
        """The parameters with which a client connects; encryption is declined. Raises _Gone."""
        while True:
            while len(self._rest) < 8 or len(self._rest) < struct.unpack_from("!I", self._rest)[0]:
                self.receive()
            length, code = struct.unpack_from("!II", self._rest)
            body, self._rest = self._rest[8:length], self._rest[length:]
            if code not in (_SSL, _GSS):
                break
            self.socket.sendall(b"N")
        if code != _PROTOCOL:
            raise _Gone  # a request to cancel, which nobody here sends
        words = body.rstrip(b"\0").decode().split("\0")
        return dict(zip(words[::2], words[1::2], strict=True))


class Server:
    """A connection to PostgreSQL: opened, examined and cleaned through psycopg, used message by message in between."""

    def __init__(self, url: str) -> None:
        self.connection = psycopg.connect(url, autocommit=True, prepare_threshold=None)
        self.wire = Wire(socket.socket(fileno=socket.dup(self.connection.fileno())))

    def clean(self) -> list[str]:
        """Make the session as new; returns what had to be discarded."""
        left = [str(what) for (what,) in self.connection.execute(_LEFT)]
        self.connection.execute("DISCARD ALL")
        return left

    def close(self) -> None:
        """End the session."""
        self.wire.socket.close()
        self.connection.close()


@dataclass(slots=True)
class Conversation:
    """What a client has asked of the server that it has now, and what of the answers it must not see."""

    #: Answers that are to come, in order: kind, and whether the client gets it. `Z` ends each part.
    awaited: deque[tuple[bytes, bool]] = field(default_factory=deque)
    #: Whether something was asked that no Sync has followed yet.
    unfinished: bool = False
    status: bytes = b"T"

    @property
    def over(self) -> bool:
        """Whether the transaction has ended and nothing is under way."""
        return self.status == b"I" and not self.awaited and not self.unfinished

    def asked(self, kind: bytes) -> None:
        """Note a message of the client."""
        self.unfinished = kind not in (b"Q", b"S", b"F")
        if not self.unfinished:
            self.awaited.append((b"Z", True))

    def answered(self, kind: bytes, body: bytes) -> bool:
        """Note a message of the server; returns whether the client gets it."""
        if kind in (b"1", b"3"):
            return self.awaited.popleft()[1]
        if kind == b"Z":
            while self.awaited.popleft()[0] != b"Z":
                pass  # an error has skipped it
            self.status = body
        return True


class Statements:
    """The statements that one client has prepared, under names that no other client's have."""

    def __init__(self) -> None:
        self._known: dict[bytes, tuple[bytes, bytes]] = {}

    def rewritten(self, kind: bytes, body: bytes, conversation: Conversation) -> Iterator[tuple[bytes, bytes]]:
        """The client's message as the server gets it, after those that prepare its statement there."""
        if kind == b"P" and not body.startswith(b"\0"):
            name, rest = body.split(b"\0", 1)
            shared = b"pooled_" + hashlib.sha256(rest).hexdigest()[:40].encode()
            self._known[name] = shared, rest
            yield from _prepared(shared, rest, conversation, shown=True)
        elif kind == b"B":
            portal, name, rest = body.split(b"\0", 2)
            shared = yield from self._again(name, conversation)
            yield kind, b"\0".join((portal, shared, rest))
        elif kind in (b"D", b"C") and body.startswith(b"S"):
            shared = yield from self._again(body[1:-1], conversation)
            if kind == b"C":
                conversation.awaited.append((b"3", True))
            yield kind, b"S" + shared + b"\0"
        else:
            if kind in (b"P", b"C"):
                conversation.awaited.append((b"1" if kind == b"P" else b"3", True))
            yield kind, body

    def _again(self, name: bytes, conversation: Conversation) -> Iterator[tuple[bytes, bytes]]:
        if name not in self._known:
            return name
        shared, rest = self._known[name]
        yield from _prepared(shared, rest, conversation, shown=False)
        return shared


def _prepared(name: bytes, rest: bytes, conversation: Conversation, *, shown: bool) -> Iterator[tuple[bytes, bytes]]:
    """Messages that prepare a statement, whether or not the server has it; `shown`: the client awaits the answer."""
    conversation.awaited += [(b"3", False), (b"1", shown)]
    yield b"C", b"S" + name + b"\0"
    yield b"P", name + b"\0" + rest


class Pooler:
    """Listens in a folder of its own, on a unix socket, for clients of the login and database of `url`."""

    def __init__(self, folder: Path, url: str, *, servers: int, prepares: bool, seed: int = 0) -> None:
        self.left: list[str] = []
        self.transactions = 0
        #: Statements that clients have prepared by protocol.
        self.prepared: set[bytes] = set()
        self._url, self.prepares = url, prepares
        self._random, self._lock = random.Random(seed), threading.Lock()
        self._idle: queue.SimpleQueue[Server] = queue.SimpleQueue()
        for _ in range(servers):
            self._idle.put(Server(url))
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / f".s.PGSQL.{PORT}"))
        self._listener.listen(64)
        threading.Thread(target=self._listen, daemon=True).start()

    def close(self) -> None:
        """Take no more clients, and end the sessions that are free."""
        self._listener.close()
        with suppress(queue.Empty):
            while True:
                self._idle.get_nowait().close()

    def _listen(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:  # closed
                return
            threading.Thread(target=self._serve, args=(Wire(client),), daemon=True).start()

    def _serve(self, client: Wire) -> None:
        statements = Statements()
        with client.socket, suppress(_Gone, TimeoutError):
            self._welcome(client)
            while True:
                for kind, body in client.messages():
                    if kind == b"X":
                        return
                    self._transaction(client, statements, kind, body)
                client.receive()

    def _welcome(self, client: Wire) -> None:
        parameters = client.startup()
        if "options" in parameters:
            words = "SFATAL", "VFATAL", "C08P01", f"Munsupported startup parameter: options={parameters['options']}"
            client.send(b"E", "\0".join((*words, "", "")).encode())
            raise _Gone
        server = self._borrowed()
        try:
            info = server.connection.info
            client.send(b"R", struct.pack("!I", 0))
            for name in _PARAMETERS:
                client.send(b"S", f"{name}\0{info.parameter_status(name) or ''}\0".encode())
            client.send(b"K", struct.pack("!II", 0, 0))
            client.send(b"Z", b"I")
        finally:
            self._idle.put(server)

    def _borrowed(self) -> Server:
        """A server connection that is free, by chance one or another; waits for one."""
        try:
            server = self._idle.get(timeout=PATIENCE)
        except queue.Empty:
            raise TimeoutError("no server connection is free") from None
        with self._lock:
            others = self._random.randrange(4)
        for _ in range(others):
            try:
                other = self._idle.get_nowait()
            except queue.Empty:
                break
            self._idle.put(server)
            server = other
        return server

    def _transaction(self, client: Wire, statements: Statements, kind: bytes, body: bytes) -> None:
        """From the client's first message to the end of the transaction, on one server connection."""
        server = self._borrowed()
        try:
            self._converse(client, server, statements, kind, body)
        except (_Gone, TimeoutError):
            # In the middle of a transaction: the server's session ends with it.
            server.close()
            self._idle.put(Server(self._url))
            raise
        left = server.clean()
        with self._lock:
            self.left += left
            self.transactions += 1
        self._idle.put(server)
        client.send(b"Z", b"I")

    def _converse(self, client: Wire, server: Server, statements: Statements, kind: bytes, body: bytes) -> None:
        """Pass on what both sides say until the transaction has ended; the last word, that the server is ready, is kept
        back until its session has been examined."""
        conversation = Conversation()
        self._pass_on(server, statements, conversation, kind, body)
        while not conversation.over:
            for kind, body in client.messages():
                if kind == b"X":
                    raise _Gone
                self._pass_on(server, statements, conversation, kind, body)
            ready, _, _ = select.select([client, server.wire], [], [], PATIENCE)
            if not ready:
                raise TimeoutError
            if client in ready:
                client.receive()
            if server.wire in ready:
                server.wire.receive()
                for kind, body in server.wire.messages():
                    if conversation.answered(kind, body) and not conversation.over:
                        client.send(kind, body)

    def _pass_on(
        self, server: Server, statements: Statements, conversation: Conversation, kind: bytes, body: bytes
    ) -> None:
        if self.prepares:
            sent = list(statements.rewritten(kind, body, conversation))
        else:
            sent = [(kind, body)]
            if kind in (b"P", b"C"):
                conversation.awaited.append((b"1" if kind == b"P" else b"3", True))
        conversation.asked(kind)
        if kind == b"P" and not body.startswith(b"\0"):
            self.prepared.add(body.partition(b"\0")[2])
        for each in sent:
            server.wire.send(*each)
