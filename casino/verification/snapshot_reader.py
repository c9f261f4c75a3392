"""Everything that a house's audit trail is made of, as it was at one moment, in streams of flat memory.

One snapshot (REPEATABLE READ, READ ONLY) is shared by several connections, so that events, transactions and hands can
be read side by side; each stream is a `COPY ... TO STDOUT`, which PostgreSQL fills while the reader works.
"""

import json
import re
import select
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from django.conf import settings
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import pq

from casino.audit import verifier
from casino.core import sql
from casino.houses.models import House
from casino.verification import away_texts, catalogue, state_reader
from casino.verification.catalogue import Catalogue

BATCH = 128
"""Rows that are handed on together."""

_UTC = """to_char({} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""
#: A row is the payload and, in one text, what the columns beside it say: both hashes, chain, number, place in the log;
#: where the text was put away, an excerpt of it, and last the archive that has it.
_LEAVES = """
    SELECT e.payload, concat_ws(' ', e.leaf_hash, encode(l.leaf_hash, 'hex'), c.name, e.seq, l.leaf_index, e.archive)
    FROM audit_leaf l LEFT JOIN audit_event e ON e.id = l.event_id AND e.house_id = l.house_id
    LEFT JOIN audit_chainhead c ON c.id = e.chain_id AND c.house_id = e.house_id
    WHERE l.house_id = %s AND l.epoch = %s AND l.leaf_index >= %s AND l.leaf_index < %s ORDER BY l.leaf_index
"""
#: Whether an epoch has texts that were put away, from a leaf on.
_PUT_AWAY = "SELECT FROM audit_archive WHERE house_id = %s AND epoch = %s AND size > %s AND is_put_away LIMIT 1"
_NO_END = 1 << 62
#: Transactions of the events of a section.
_OF_LEAVES = """t.id IN (
    SELECT (posting ->> 'tx')::bigint FROM audit_leaf l JOIN audit_event e ON e.id = l.event_id
    CROSS JOIN LATERAL jsonb_array_elements(e.doc -> 'postings') posting
    WHERE l.house_id = %s AND l.epoch = %s AND l.leaf_index >= %s AND l.leaf_index < %s)"""
_TAIL = """
    SELECT e.payload, concat_ws(' ', e.leaf_hash, c.name, e.seq)
    FROM audit_event e JOIN audit_chainhead c ON c.id = e.chain_id AND c.house_id = e.house_id
    WHERE e.house_id = %s AND e.id > %s AND NOT EXISTS (SELECT FROM audit_leaf l WHERE l.event_id = e.id) ORDER BY e.id
"""
#: The same by the chains' marks, where these account for every event: quicker by far.
_RECENT = """
    SELECT e.payload, concat_ws(' ', e.leaf_hash, c.name, e.seq)
    FROM audit_chainhead c LEFT JOIN audit_mark m ON m.chain_id = c.id
    JOIN audit_event e ON e.house_id = c.house_id AND e.chain_id = c.id AND e.seq > coalesce(m.seq, 0)
    WHERE c.house_id = %s ORDER BY e.id
"""
_ACCOUNTED = """
    SELECT (SELECT count(*) FROM audit_event WHERE house_id = %s)
        = (SELECT count(*) FROM audit_leaf WHERE house_id = %s)
        + (SELECT coalesce(sum(c.seq - coalesce(m.seq, 0)), 0) FROM audit_chainhead c
           LEFT JOIN audit_mark m ON m.chain_id = c.id WHERE c.house_id = %s)
"""
_OCCURRED, _POSTED = _UTC.format("t.occurred_at"), _UTC.format("t.posted_at")
#: Transactions as lines of an export, of what PostgreSQL brings along and nothing of ours, which could be replaced.
#: Metadata with lists or objects in it have a line that is not canonical, made by PostgreSQL, beginning otherwise.
_TRANSACTIONS = f"""
    SELECT CASE WHEN m.nested OR jsonb_typeof(t.metadata) IS DISTINCT FROM 'object' THEN json_build_object(
        'about', json_build_array(t.idempotency_key, t.kind, t.metadata, {_OCCURRED}, {_POSTED}),
        'id', t.id, 'legs', l.legs::json, 'reverses', t.reverses_id)::text
    ELSE concat(
        '{{{{"about":[', to_json(t.idempotency_key), ',', to_json(t.kind), ',{{{{', m.flat, '}}}},',
        coalesce('"' || {_OCCURRED} || '"', 'null'), ',"', {_POSTED}, '"],"id":', t.id, ',"legs":', l.legs,
        ',"reverses":', coalesce(t.reverses_id::text, 'null'), '}}}}')
    END
    FROM ledger_transaction t,
    LATERAL (SELECT string_agg(concat(to_json(key), ':', value), ',' ORDER BY key COLLATE "C") AS flat,
                    bool_or(jsonb_typeof(value) IN ('array', 'object')) AS nested
             FROM jsonb_each(CASE jsonb_typeof(t.metadata) WHEN 'object' THEN t.metadata END)) m,
    LATERAL (SELECT concat('[', string_agg(concat('[', account_id, ',', version, ',', amount, ',', balance_after, ']'),
                    ',' ORDER BY account_id, version), ']') AS legs
             FROM ledger_entry WHERE transaction_id = t.id) l
    WHERE t.book = %s AND {{}} ORDER BY t.id
"""  # noqa: S608 - made of constants
_ACCOUNTS = """
    SELECT json_build_object('id', id, 'code', code, 'commodity', commodity, 'normal_side', normal_side,
                             'balance', balance, 'version', version)
    FROM ledger_account WHERE book = %s AND (version > 0 OR balance <> 0) ORDER BY id
"""
_HANDS = """
    SELECT json_build_object(
        'hand', h.name, 'table', t.code, 'number', h.number, 'mode', h.mode, 'game', h.game, 'rules', h.rules,
        'options', h.options, 'seats', h.seats, 'stacks', h.stacks, 'carry', h.carry,
        'fees', nullif(h.fees, '{}'::jsonb), 'series', h.series,
        'commitment', nullif(h.commitment, ''), 'client_seeds', nullif(h.client_seeds, '{}'::jsonb),
        'cards_roots', nullif(h.cards_roots, '[]'::jsonb), 'state', h.state, 'digest', nullif(h.digest, ''),
        'result', h.result, 'handle', h.handle, 'ruling', h.ruling, 'settlement', h.settlement,
        'log', coalesce((SELECT json_agg(l.text ORDER BY l.seq) FROM hands_log l
            WHERE l.house_id = h.house_id AND l.hand_id = h.id), '[]'),
        'line_hashes', (SELECT json_object_agg(l.seq, l.hash ORDER BY l.seq) FROM hands_handline l
            WHERE l.house_id = h.house_id AND l.hand_id = h.id AND l.hash <> ''))
    FROM hands_hand h JOIN tables_table t ON t.id = h.table_id
    WHERE h.house_id = %s AND (%s::bigint[] IS NULL OR h.id = ANY(%s::bigint[])) ORDER BY h.id
"""
#: Hands that were dealt since the tables had dealt these, and those of these names.
_SINCE = """
    SELECT h.id FROM tables_table t
    LEFT JOIN unnest(%s::text[], %s::bigint[]) AS seen (code, number) ON seen.code = t.code
    CROSS JOIN LATERAL (SELECT h.id FROM hands_hand h WHERE h.house_id = t.house_id AND h.table_id = t.id
                        AND h.number > coalesce(seen.number, 0)) h
    WHERE t.house_id = %s
    UNION SELECT id FROM hands_hand WHERE house_id = %s AND name = ANY(%s)
"""
#: `encode` breaks lines of base64, which an export does not.
_TIMESTAMPS = f"""
    SELECT t.epoch, t.size, json_build_object(
        'at', {_UTC.format("t.at")}, 'epoch', t.epoch, 'note', coalesce(c.note, ''),
        'response', translate(encode(t.response, 'base64'), chr(10), ''), 'size', t.size)::text
    FROM audit_timestamp t LEFT JOIN audit_checkpoint c
        ON c.house_id = t.house_id AND c.epoch = t.epoch AND c.size = t.size
    WHERE t.house_id = %s AND (t.epoch, t.size) > (%s, %s) ORDER BY t.epoch, t.size LIMIT {BATCH}
"""  # noqa: S608 - made of constants
#: Streams begin at once and keep nothing: along the indexes, not by hashing or sorting the whole. What is made of few
#: rows for each row of a stream may be sorted: else an aggregate's order would cost a walk over a whole index.
_ALONG = ("enable_hashjoin", "enable_mergejoin", "jit")
_UNSORTED = (*_ALONG, "enable_sort")
#: A few rows, sorted.
_WHOLE = ("jit",)

_CANONICAL = b'{"about":['

Stored = tuple[list[bytes], list[bytes]]
"""Payloads, and for each what the columns beside it say."""


@dataclass(frozen=True, slots=True)
class Hands:
    """How far hands were read: by table the number of its last hand, and the names of those that were not over."""

    numbers: dict[str, int]
    unfinished: list[str]


@dataclass(frozen=True, slots=True)
class Since:
    """How far a house was read: so many leaves of its last epoch, hands, ids of a ledger transaction and of an event
    before which nothing is new, and the transaction id of PostgreSQL before which no row was written that is new."""

    epoch: int
    size: int
    hands: Hands
    transaction: int
    event: int
    bound: int


class Moment:
    """A house as it was when the `moment` block began."""

    def __init__(self, stack: ExitStack, using: str, house: House, since: Since | None = None) -> None:
        self.house, self._since = house, since
        self._hands: list[int] | None = None
        self._stack, self._using = stack, using
        self._first = self._connect("")
        [(self._snapshot,)] = self.rows("SELECT pg_export_snapshot()", [])

    def rows(self, statement: str, parameters: list[Any] | dict[str, Any]) -> list[tuple[Any, ...]]:
        """All rows of a small query."""
        with self._first.cursor() as cursor:
            cursor.execute(statement, parameters)
            return list(cursor.fetchall())

    def catalogue(self) -> Catalogue:
        """Every object of the database."""
        with self._first.cursor() as cursor:
            return catalogue.read(cursor)

    def rotations(self) -> list[tuple[int, int, str]]:
        """Where keys of the log were rotated: epoch, size of the last checkpoint under the key before, the new key."""
        found = self.rows(
            "SELECT epoch, size, vkey FROM audit_keyrotation WHERE house_id = %s ORDER BY epoch, size", [self.house.id]
        )
        return [(epoch, size, vkey) for epoch, size, vkey in found]

    def leaves(self, epoch: int, section: range | None = None) -> Iterator[Stored]:
        """The events of an epoch's leaves in their order, from where the reading goes on, or those of a section. Texts
        that were put away come from their archive."""
        first = self._since.size if self._since is not None else 0
        asked = section or range(first, _NO_END)
        stored = self._pairs(_LEAVES, [self.house.id, epoch, asked.start, asked.stop], _UNSORTED)
        away = self.rows(_PUT_AWAY, [self.house.id, epoch, asked.start])
        return away_texts.filled_in(self.house, stored) if away else stored

    def tail(self) -> Iterator[Stored]:
        """The events that are in no log yet, in the order in which they were written."""
        house = self.house.id
        if self._since is not None:
            return self._pairs(_TAIL, [house, self._since.event], _WHOLE)
        # Marks that were altered lead past events, which chains and heads then lack; one that lies beside its chain, as
        # under the number 0, would not be missed, were the events not counted.
        [(accounted,)] = self.rows(_ACCOUNTED, [house] * 3)
        return self._pairs(_RECENT, [house], _WHOLE) if accounted else self._pairs(_TAIL, [house, 0], _WHOLE)

    def transactions(self) -> Iterator[list[bytes]]:
        """The ledger's transactions as lines of an export, canonical JSON, in the order of their ids: `about` is what
        `verifier.about_of` hashes, legs are account, version, amount, balance after it."""
        first = self._since.transaction if self._since is not None else 0
        return self._transactions("t.id > %s", first)

    def some_transactions(self, ids: Collection[int]) -> Iterator[dict[str, Any]]:
        """Those of these ids, as the verifier reads them."""
        return verifier.transactions_of(self._transactions("t.id = ANY(%s)", list(ids)))

    def transactions_of_leaves(self, epoch: int, section: range) -> Iterator[list[bytes]]:
        """Those that the events of a section record."""
        return self._transactions(_OF_LEAVES, self.house.id, epoch, section.start, section.stop)

    def _transactions(self, where: str, *values: Any) -> Iterator[list[bytes]]:
        for lines in self._copied(_TRANSACTIONS.format(where), [self.house.id, *values], _ALONG):
            yield [line if line.startswith(_CANONICAL) else _made_canonical(line) for line in lines]

    def accounts(self) -> Iterator[dict[str, Any]]:
        """The ledger's accounts that were ever posted to."""
        return self._objects(_ACCOUNTS)

    def timestamps(self) -> Iterator[dict[str, Any]]:
        """The time stamps of checkpoints as lines of an export, in the order of the checkpoints."""
        after: tuple[Any, ...] = (-1, -1) if self._since is None else (self._since.epoch, self._since.size - 1)
        while found := self.rows(_TIMESTAMPS, [self.house.id, *after]):
            yield from (json.loads(line) for _, _, line in found)
            after = found[-1][:2]

    def hands(self) -> Iterator[dict[str, Any]]:
        """The hands in the order in which they were dealt, with the keys of events; what is not there is left out."""
        ids = self.hands_since()
        rows = _objects(self._copied(_HANDS, [self.house.id, ids, ids], _ALONG))
        return ({key: value for key, value in row.items() if value is not None} for row in rows)

    def hands_since(self) -> list[int] | None:
        """Ids of the hands that are read again or for the first time; None for all."""
        if self._since is not None and self._hands is None:
            self._hands = hands_since(self._since.hands, self.house, self.rows)
        return self._hands

    def counts(self) -> dict[str, int]:
        """How many rows there are of each model of the house's state."""
        return {name: self.rows(query, [self.house.id])[0][0] for name, query in state_reader.counting().items()}

    def state(self) -> Iterator[dict[str, Any]]:
        """The rows of the house's state, model by model, as `state_reader` reads them: one stream after the other, on
        one connection, since to connect costs more than most models have rows."""
        connection = self._ready(_ALONG)
        for query in state_reader.queries() if self._since is None else state_reader.changes(self._since.bound):
            values = {"house": self.house.id, "hands": self.hands_since()}
            _send(connection, query, values)
            yield from _objects(_batches(connection))
        connection.close()

    def _connect(self, snapshot: str) -> BaseDatabaseWrapper:
        connection = connections[self._using].copy()
        self._stack.callback(connection.close)
        connection.set_autocommit(False)
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            cursor.execute(sql.OUR_TABLES)
            if snapshot:
                cursor.execute("SET TRANSACTION SNAPSHOT %s", [snapshot])
        return connection

    def _objects(self, statement: str) -> Iterator[dict[str, Any]]:
        return _objects(self._copied(statement, [self.house.id], _ALONG))

    def _pairs(self, statement: str, parameters: list[Any], without: tuple[str, ...]) -> Iterator[Stored]:
        stream = self._copied(statement, parameters, without)
        parted = ([row.rpartition(b"\t") for row in rows] for rows in stream)
        return (([payload for payload, _, _ in rows], [columns for _, _, columns in rows]) for rows in parted)

    def _copied(self, statement: str, parameters: list[Any], without: tuple[str, ...]) -> Iterator[list[bytes]]:
        """The rows of a query as COPY writes them, unescaped, on a connection of the stream's own; PostgreSQL plans it
        `without` these, and begins before the first row is asked for."""
        connection = self._ready(without)
        _send(connection, statement, parameters)
        return _closing(connection)

    def _ready(self, without: tuple[str, ...]) -> BaseDatabaseWrapper:
        """A connection for streams, of which PostgreSQL plans each `without` these."""
        connection = self._connect(self._snapshot)
        with connection.cursor() as cursor:
            cursor.execute("; ".join(f"SET LOCAL {name} = off" for name in without))
        return connection


def hands_since(position: Hands, house: House, rows: Callable[[str, list[Any]], Sequence[Any]]) -> list[int]:
    """Ids of the hands of a house behind a position."""
    codes, numbers = list(position.numbers), list(position.numbers.values())
    found = rows(_SINCE, [codes, numbers, house.id, house.id, list(position.unfinished)])
    return sorted(id_ for (id_,) in found)


def _send(connection: BaseDatabaseWrapper, statement: str, parameters: list[Any] | dict[str, Any]) -> None:
    """Let PostgreSQL begin to send the rows of a query."""
    raw: psycopg.Connection[Any] = connection.connection
    query = psycopg.ClientCursor(raw).mogrify(f"COPY ({statement}) TO STDOUT", parameters)
    raw.pgconn.send_query(query.encode())


def _objects(stream: Iterator[list[bytes]]) -> Iterator[dict[str, Any]]:
    return (row for rows in stream for row in json.loads(b"[" + b",".join(rows) + b"]"))


def _made_canonical(line: bytes) -> bytes:
    return verifier.json_text(json.loads(line)).encode()


def _batches(connection: BaseDatabaseWrapper) -> Iterator[list[bytes]]:
    rows: list[bytes] = []
    for row in _received(connection.connection.pgconn):
        rows.append(row)
        if len(rows) == BATCH:
            yield unescaped(rows)
            rows = []
    if rows:
        yield unescaped(rows)


def _closing(connection: BaseDatabaseWrapper) -> Iterator[list[bytes]]:
    yield from _batches(connection)
    connection.close()


def _received(connection: pq.abc.PGconn) -> Iterator[bytes]:
    """The rows that the COPY sends, without their line ends.

    What has arrived is taken from libpq at once: psycopg's own reader waits again for each row, at twice the price.
    """
    while connection.flush():
        _wait(connection, select.POLLIN | select.POLLOUT)
    _expect(connection, pq.ExecStatus.COPY_OUT)
    count = 0
    while count >= 0:
        count, row = connection.get_copy_data(1)
        if count > 0:
            yield bytes(row[:-1])
        elif count == 0:
            _wait(connection)
    _expect(connection, pq.ExecStatus.COMMAND_OK)
    # What ends a query comes after its result: until then the connection takes no other.
    if _result(connection) is not None:
        raise psycopg.OperationalError("the stream did not end")


def _result(connection: pq.abc.PGconn) -> pq.abc.PGresult | None:
    """What the connection answers next; None at the end of a query."""
    while connection.is_busy():
        _wait(connection)
    return connection.get_result()


def _expect(connection: pq.abc.PGconn, status: pq.ExecStatus) -> None:
    result = _result(connection)
    if result is None:
        raise psycopg.OperationalError("the stream ended too early")
    if result.status != status:
        raise psycopg.errors.error_from_result(result)


def _wait(connection: pq.abc.PGconn, events: int = select.POLLIN) -> None:
    poll = select.poll()
    poll.register(connection.socket, events)
    if poll.poll()[0][1] != select.POLLOUT:
        connection.consume_input()


_ESCAPED = re.compile(rb"\\(.)", re.DOTALL)
_MEANING = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v", b"N": b""}


def unescaped(rows: list[bytes]) -> list[bytes]:
    """Rows of COPY's text format with its escapes undone; null becomes nothing."""
    return [_ESCAPED.sub(lambda found: _MEANING.get(found[1], found[1]), row) if b"\\" in row else row for row in rows]


@contextmanager
def moment(house: House, *, since: Since | None = None) -> Iterator[Moment]:
    """The house as it is now, for as long as the block lasts; with `since` what came after that. Read past a pooler
    where there is one."""
    with ExitStack() as stack:
        yield Moment(stack, settings.CASINO_SNAPSHOTS, house, since)
