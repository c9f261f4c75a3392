"""`python -m tests.bench.partitions`: whether transactions and entries that are partitioned by time cost less.

The same rows stand twice in a database of their own, with the ledger's columns and indexes, without its triggers: in
one table each, and in one partition a month each (`RANGE (id)`: ids grow with time). A unique key of a partitioned
table must contain what it is partitioned by, so PostgreSQL no longer holds that a posting's key is used once: a table
of keys beside it does, as it would have to. Both are asked the same, in turn, over prepared statements.
"""

import argparse
import os
import random
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import psycopg

from tests.bench.database import database
from tests.bench.growth.meter import cpu

#: Five years of eight tables: 20 million entries in 60 months.
TRANSACTIONS, MONTHS = 5_000_000, 60
#: Legs of a transaction; players, who have accounts beside 10 seats and a pot of eight tables and one of the house.
LEGS, PLAYERS = 4, 10_000
BOOK = UUID("6b1d3f0e-0000-4000-8000-000000000001")
ROUNDS, TIMES = 5, 400

_COLUMNS = """
CREATE TABLE {schema}.transaction (
    id bigint NOT NULL, book uuid NOT NULL, idempotency_key text NOT NULL, kind text NOT NULL, period_id integer,
    posted_at timestamptz NOT NULL, metadata jsonb NOT NULL, PRIMARY KEY (id)) {by_id};
CREATE TABLE {schema}.entry (
    account_id bigint NOT NULL, version bigint NOT NULL, transaction_id bigint NOT NULL, amount bigint NOT NULL,
    balance_after bigint NOT NULL, PRIMARY KEY ({entry_key})) {by_transaction};
CREATE TABLE {schema}.key (digest uuid NOT NULL, transaction_id bigint NOT NULL);
"""
_INDEXES = """
CREATE INDEX ON {schema}.entry (transaction_id);
CREATE INDEX ON {schema}.transaction USING brin (period_id);
"""
_DIGEST = "md5({book}::text || 'hand-' || {key})::uuid"
_FILL = """
INSERT INTO {schema}.transaction
SELECT n, %(book)s, 'hand-' || n, 'bet', 1 + (n * %(days)s / %(transactions)s)::integer,
       timestamptz '2021-01-01' + n * (interval '1 month' * %(months)s / %(transactions)s),
       jsonb_build_object('hand', 'T' || n %% 8 || '-' || n / 30, 'line', n %% 30)
FROM generate_series(1::bigint, %(transactions)s) n
"""
#: Legs of transaction n: a seat and the pot of a table, the house, a player.
_ACCOUNT = f"""(ARRAY[n %% 8 * 11 + 1 + n / 8 %% 10, n %% 8 * 11 + 11, 89,
                      90 + (n * 2654435761) %% {PLAYERS}])[leg]"""
_FILL_ENTRIES = f"""
INSERT INTO {{schema}}.entry
SELECT account, row_number() OVER (PARTITION BY account ORDER BY n), n, CASE leg %% 2 WHEN 0 THEN 100 ELSE -100 END, n
FROM (SELECT n, leg, {_ACCOUNT} AS account
      FROM generate_series(1::bigint, %(transactions)s) n, generate_series(1, {LEGS}) leg) legs
ORDER BY n
"""
_POST = f"""
INSERT INTO {{schema}}.entry
SELECT {_ACCOUNT}, %(version)s, n, 100, 100 FROM (SELECT %(id)s::bigint AS n) one, generate_series(1, {LEGS}) leg
"""


@dataclass
class Side:
    """One of the two: its connection, its schema, whether it is partitioned, what it was filled with."""

    connection: psycopg.Connection
    schema: str
    partitioned: bool
    next_id: int = 0
    of_a_player: int = 0

    def sql(self, text: str, **parts: str) -> str:
        """A statement of this schema."""
        return text.format(schema=self.schema, **parts)

    def run(self, text: str, values: Sequence[object] | Mapping[str, object] = ()) -> list[tuple[object, ...]]:
        """One prepared statement."""
        cursor = self.connection.execute(text, values, prepare=True)
        return cursor.fetchall() if cursor.description else []


def fill(side: Side, transactions: int, months: int) -> float:
    """The tables with their rows; returns seconds."""
    began = time.monotonic()
    run = side.connection.execute
    partitioned = side.partitioned
    run(f"CREATE SCHEMA {side.schema}")
    run(
        side.sql(
            _COLUMNS,
            by_id="PARTITION BY RANGE (id)" if partitioned else "",
            by_transaction="PARTITION BY RANGE (transaction_id)" if partitioned else "",
            entry_key="account_id, version" + (", transaction_id" if partitioned else ""),
        )
    )
    if partitioned:
        for table in ("transaction", "entry"):
            for month in range(months + 1):  # one for what is posted now
                low, next_low = (at * transactions // months + 1 for at in (month, month + 1))
                high = str(next_low) if month < months else "MAXVALUE"
                run(
                    f"CREATE TABLE {side.schema}.{table}_{month} PARTITION OF {side.schema}.{table} "
                    f"FOR VALUES FROM ({low}) TO ({high})"
                )
    values = {"book": BOOK, "transactions": transactions, "months": months, "days": months * 30}
    run(side.sql(_FILL), values)
    run(side.sql(_FILL_ENTRIES), values)
    run(side.sql(_INDEXES))
    if partitioned:
        run(side.sql("INSERT INTO {schema}.key SELECT " + _DIGEST + ", n FROM generate_series(1::bigint, %s) n",
                     book=f"'{BOOK}'", key="n"), [transactions])  # fmt: skip
        run(side.sql("CREATE UNIQUE INDEX ON {schema}.key (digest)"))
    else:
        run(side.sql("CREATE UNIQUE INDEX ON {schema}.transaction ((md5(book::text || idempotency_key)::uuid))"))
    side.next_id, side.of_a_player = transactions, transactions // PLAYERS
    run(f"VACUUM (ANALYZE) {side.schema}.transaction, {side.schema}.entry, {side.schema}.key")
    return time.monotonic() - began


# What is asked --------------------------------------------------------------------------------------------------------


def _post(side: Side, versions: Iterator[int]) -> None:
    side.next_id += 1
    number = side.next_id
    with side.connection.transaction():
        if side.partitioned:
            side.run(side.sql("INSERT INTO {schema}.key VALUES (" + _DIGEST + ", %s)", book="%s", key="%s::text"),
                     [BOOK, number, number])  # fmt: skip
        side.run(
            side.sql("INSERT INTO {schema}.transaction VALUES (%s, %s, %s, 'bet', 1800, clock_timestamp(), %s)"),
            [number, BOOK, f"hand-{number}", '{"hand": "T1-000001", "line": 3}'],
        )
        side.run(side.sql(_POST), {"version": next(versions), "id": number})


def _find(side: Side, number: int) -> None:
    if side.partitioned:
        text = (
            "SELECT t.* FROM {schema}.key k JOIN {schema}.transaction t ON t.id = k.transaction_id WHERE k.digest = "
            + _DIGEST
        )
    else:
        text = "SELECT * FROM {schema}.transaction WHERE md5(book::text || idempotency_key)::uuid = " + _DIGEST
    found = side.run(side.sql(text, book="%s", key="%s::text"), [BOOK, number])
    assert len(found) == 1


def _legs(side: Side, number: int) -> None:
    assert len(side.run(side.sql("SELECT * FROM {schema}.entry WHERE transaction_id = %s"), [number])) == LEGS


def _version(side: Side, number: int) -> None:
    text = "SELECT * FROM {schema}.entry WHERE account_id = %s AND version = %s"
    assert len(side.run(side.sql(text), [90 + number % PLAYERS, 1 + number % side.of_a_player])) == 1


def _newest(side: Side, number: int) -> None:
    text = "SELECT * FROM {schema}.entry WHERE account_id = %s ORDER BY version DESC LIMIT 50"
    assert len(side.run(side.sql(text), [1 + number % 80])) == 50


def measure(side: Side, work: Callable[[], None]) -> float:
    """Milliseconds of CPU of the server that one of TIMES takes."""
    backend = [side.connection.info.backend_pid]
    before = cpu(backend)
    for _ in range(TIMES):
        work()
    return (cpu(backend) - before) * 1e3 / TIMES


def compare(sides: tuple[Side, Side], transactions: int) -> None:
    """Each question to both in turn; medians, and the median of the ratios."""
    versions = iter(range(10**9, 2 * 10**9))
    asked: dict[str, Callable[[Side, int], None]] = {
        "post a transaction of four legs": lambda side, _: _post(side, versions),
        "find a transaction by its key": _find,
        "legs of a transaction": _legs,
        "an entry by account and version": _version,
        "the newest 50 of an account": _newest,
    }
    print(f"{'ms of the server':34}{'one table':>12}{'partitions':>12}  ratio")
    for name, one in asked.items():
        costs = []
        for turn in range(ROUNDS + 1):
            costs.append([_asked(side, one, transactions, turn) for side in sides])
        whole, parted = (statistics.median(pair[at] for pair in costs[1:]) for at in (0, 1))
        ratio = statistics.median(pair[1] / pair[0] for pair in costs[1:])
        print(f"{name:34}{whole:>12.3f}{parted:>12.3f}  {ratio:.2f}", flush=True)


def _asked(side: Side, one: Callable[[Side, int], None], transactions: int, turn: int) -> float:
    numbers = random.Random(turn)
    return measure(side, lambda: one(side, numbers.randrange(1, transactions)))


def maintain(side: Side, months: int) -> None:
    """Room, and seconds of what an operator runs."""
    size = (
        "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relnamespace = %s::regnamespace AND relkind = 'r'"
    )
    [[room]] = side.run(size, [side.schema])
    newest = f"_{months}" if side.partitioned else ""
    said = []
    for what in ("VACUUM (FREEZE)", "VACUUM", "ANALYZE"):
        began = time.monotonic()
        side.connection.execute(f"{what} {side.schema}.transaction, {side.schema}.entry")
        said.append(f"{what} {time.monotonic() - began:.1f} s")
    began = time.monotonic()
    side.connection.execute(f"REINDEX TABLE {side.schema}.entry{newest}")
    said.append(f"REINDEX of the newest entries {time.monotonic() - began:.1f} s")
    print(f"{side.schema}: {int(str(room)) / 1e9:.2f} GB; " + ", ".join(said), flush=True)


def main() -> None:
    """Fill both, compare, drop them."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.partitions", description=__doc__)
    parser.add_argument("--transactions", type=int, default=TRANSACTIONS, help=f"of both ({TRANSACTIONS:,})")
    parser.add_argument("--months", type=int, default=MONTHS, help=f"partitions ({MONTHS})")
    given = parser.parse_args()
    with database():
        sides = [
            Side(psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True), schema, partitioned)
            for schema, partitioned in (("whole", False), ("parted", True))
        ]
        try:
            for side in sides:
                side.connection.execute("SET max_parallel_workers_per_gather = 0")
                print(f"{side.schema}: filled in {fill(side, given.transactions, given.months):.0f} s", flush=True)
            compare((sides[0], sides[1]), given.transactions)
            for side in sides:
                maintain(side, given.months)
        finally:
            for side in sides:
                side.connection.close()


if __name__ == "__main__":
    main()
