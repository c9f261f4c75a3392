"""Subjects without Django: PostgreSQL's own pgbench writes the rows bare, or calls the posting function."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from deploy.embedded.binaries import find_postgres
from tests.bench.ledger import ours
from tests.bench.ledger.workload import AMOUNTS, KIND, ROLES, TABLES, TABLES_PER_CLIENT, Stage

SHORT_RUN = 100
"""Settlements of each client in less than a second."""
HANDS = 25_000
"""Numbers that each run has for itself, more than a client can use up."""

# A colon in a string would be taken for a variable, hence chr(58): the keys look like everybody's.
_HEAD = f"""\
\\set table :client_id * {TABLES_PER_CLIENT} + random(0, {TABLES_PER_CLIENT - 1})
\\set hand :hand + 1
"""
_NAME = "'T' || :table::text || '-' || :hand::text"
_KEY = f"'hand' || chr(58) || {_NAME} || chr(58) || 'settlement'"
_ACCOUNTS = ":pot + :table::bigint", ":first + :table::bigint", ":second + :table::bigint"
_TAX = {False: ":tax + :table::bigint", True: ":house"}

_RAW_TABLES = """
CREATE SCHEMA bench_raw;
CREATE TABLE bench_raw.account (LIKE ledger_account INCLUDING DEFAULTS INCLUDING IDENTITY INCLUDING INDEXES);
CREATE TABLE bench_raw.transaction (LIKE ledger_transaction INCLUDING DEFAULTS INCLUDING IDENTITY INCLUDING INDEXES);
CREATE TABLE bench_raw.entry (LIKE ledger_entry INCLUDING DEFAULTS INCLUDING IDENTITY INCLUDING INDEXES);
"""
# Room on the pages is left as in the ledger's own tables. Columns that the script does not fill stay empty.
_LIKE_OURS = """
DO $$ DECLARE c record; BEGIN
    FOR c IN SELECT replace(relname, 'ledger_', 'bench_raw.') AS name, array_to_string(reloptions, ', ') AS options
             FROM pg_class WHERE relname IN ('ledger_account', 'ledger_transaction', 'ledger_entry')
               AND reloptions IS NOT NULL
    LOOP EXECUTE format('ALTER TABLE %s SET (%s)', c.name, c.options); END LOOP;
    FOR c IN SELECT attrelid::regclass AS name, attname FROM pg_attribute
             WHERE attrelid IN ('bench_raw.transaction'::regclass, 'bench_raw.entry'::regclass)
               AND attnum > 0 AND attnotnull AND NOT atthasdef AND attidentity = ''
               AND attnum <> ALL (SELECT unnest(conkey) FROM pg_constraint WHERE conrelid = attrelid AND contype = 'p')
    LOOP EXECUTE format('ALTER TABLE %s ALTER %I DROP NOT NULL', c.name, c.attname); END LOOP;
END $$
"""


@dataclass(frozen=True, slots=True)
class Pgbench:
    """One subject; `url` says as whom."""

    title: str
    program: Path
    url: str
    script: dict[bool, str]
    """By whether it is hot."""
    stage: Stage
    options: str = ""
    runs: Iterator[int] = field(default_factory=count)

    def rate(self, clients: int, seconds: float, *, hot: bool) -> float:
        """Settlements per second. pgbench runs for whole seconds; less than one is a number of settlements instead."""
        length = ["-T", str(int(seconds))] if seconds >= 1 else ["-t", str(SHORT_RUN)]
        numbers = dict(zip(ROLES, self.stage.tables[0], strict=True))
        numbers |= {"house": self.stage.house, "hand": next(self.runs) * HANDS}
        with tempfile.NamedTemporaryFile("w", suffix=".sql") as script:
            script.write(_HEAD + self.script[hot])
            script.flush()
            command = [str(self.program), "-n", "-M", "prepared", *length]
            command += ["-c", str(clients), "-j", str(min(2, clients)), "-f", script.name]
            for name, value in numbers.items():
                command += ["-D", f"{name}={value}"]
            done = subprocess.run(
                [*command, self.url],
                capture_output=True,
                text=True,
                check=False,
                env=os.environ | {"PGOPTIONS": self.options},
            )
        found = re.search(r"^tps = ([0-9.]+)", done.stdout, re.MULTILINE)
        failed = re.search(r"^number of failed transactions: ([0-9]+)", done.stdout, re.MULTILINE)
        if done.returncode != 0 or found is None or (failed is not None and failed.group(1) != "0"):
            raise RuntimeError(f"pgbench: {done.stderr or done.stdout}")
        return float(found.group(1))

    def close(self) -> None:
        """Nothing stays running."""


def program() -> Path | None:
    """pgbench of the server's own programs, else of the PATH."""
    beside = find_postgres().bin / "pgbench"
    found = shutil.which("pgbench")
    return beside if beside.is_file() else Path(found) if found else None


def raw(tool: Path) -> Pgbench:
    """The same rows in tables of the same columns, keys and indexes; no check, no trigger, no reading before."""
    from django.db import connections

    stage = _stage()
    with connections["owner"].cursor() as cursor:
        cursor.execute(_RAW_TABLES)
        cursor.execute(_LIKE_OURS)
        cursor.execute("INSERT INTO bench_raw.account SELECT * FROM ledger_account WHERE book = %s", [stage.book])
    # One order of locks for everybody, also while the tables are small and a hash join would look cheaper.
    options = "-c enable_hashjoin=off -c enable_mergejoin=off -c enable_seqscan=off"
    script = {hot: _raw_script(stage.book, hot) for hot in (False, True)}
    return Pgbench("pgbench, bare rows", tool, os.environ["DATABASE_OWNER_URL"], script, stage, options)


def function(tool: Path) -> Pgbench:
    """The posting function as the application's role calls it, one round trip a settlement."""
    from django.conf import settings

    stage = _stage()
    script = {hot: _function_script(stage.book, hot) for hot in (False, True)}
    options = f"-c role={settings.CASINO_APP_ROLE}"
    return Pgbench("pgbench, ledger_post()", tool, os.environ["DATABASE_URL"], script, stage, options)


def _stage() -> Stage:
    stage = ours.open_book()
    for place in range(len(AMOUNTS)):
        first = stage.tables[0][place]
        if [accounts[place] for accounts in stage.tables] != list(range(first, first + TABLES)):
            raise RuntimeError("ids of accounts opened together are not in sequence; pgbench could not find them")
    return stage


def _raw_script(book: str, hot: bool) -> str:
    legs = ", ".join(f"({account}, {amount})" for account, amount in zip((*_ACCOUNTS, _TAX[hot]), AMOUNTS, strict=True))
    return f"""\
WITH posted AS (
    INSERT INTO bench_raw.transaction (book, idempotency_key, kind, posted_at, metadata)
    VALUES ('{book}', {_KEY}, '{KIND}', clock_timestamp(), jsonb_build_object('hand', {_NAME}))
    RETURNING id, posted_at
), moved AS (
    UPDATE bench_raw.account a
    SET balance = balance - leg.amount, version = version + 1, posted_at = posted.posted_at
    FROM (VALUES {legs}) AS leg (account, amount), posted WHERE a.id = leg.account
    RETURNING a.id, a.version, leg.amount, a.balance
)
INSERT INTO bench_raw.entry (account_id, version, transaction_id, amount, balance_after)
SELECT moved.id, moved.version, posted.id, moved.amount, moved.balance FROM moved, posted;
"""


def _function_script(book: str, hot: bool) -> str:
    accounts = ", ".join((*_ACCOUNTS, _TAX[hot]))
    return f"""\
SELECT * FROM ledger_post('{book}', NULL, ARRAY[{_KEY}], ARRAY['{KIND}'], ARRAY[jsonb_build_object('hand', {_NAME})],
    ARRAY[NULL::timestamptz], ARRAY[NULL::bigint], '{{1, 1, 1, 1}}'::integer[], ARRAY[{accounts}]::bigint[],
    '{{{", ".join(map(str, AMOUNTS))}}}'::bigint[]);
"""
