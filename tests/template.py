"""A migrated database that test databases are copied from: migrating takes as long as hundreds of small tests.

One template is kept on the checkout's embedded server, for exactly the sources that it was made of: after any change of
them the first test process that needs a database migrates it, and replaces the template by a copy of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path

import psycopg
from psycopg import sql

Administrator = psycopg.Connection[tuple[object, ...]]

ROOT = Path(__file__).resolve().parents[1]
#: What decides how a migrated database looks: migrations, what they import, declarations, SQL, the installed versions.
#: Which module matters is not worth finding out; a module too many costs one more migration.
SOURCES = ("casino", "ledger", "engine")
SUFFIXES = frozenset({".py", ".sql"})
LOCK_FILE = "requirements.lock"
PREFIX = "template_casino_"
#: Key of the advisory lock which one process holds that looks for the template, makes or copies it.
MAKING = 7_305_411


@cache
def name() -> str:
    """The template's name, with a digest of all that it is made of."""
    found = hashlib.sha256((ROOT / LOCK_FILE).read_bytes())
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in SUFFIXES:
                content = path.read_bytes()
                found.update(f"{path.relative_to(ROOT)} {len(content)}\n".encode())
                found.update(content)
    return f"{PREFIX}{found.hexdigest()[:24]}"


def create(connection: Administrator, database: str, migrate: Callable[[], object]) -> None:
    """Create a migrated database: a copy of the template, otherwise `migrate` migrates it, and the template is a copy
    of it.

    `migrate` leaves no connection open. The connection commits by itself, and other processes which do the same are
    connected to the same database: there they wait for each other.
    """
    template = name()
    connection.execute("SELECT pg_advisory_lock(%s)", [MAKING])
    try:
        if template in _templates(connection):
            _copy(connection, template, database)
            return
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(database)))
        migrate()
        for old in _templates(connection):
            connection.execute(sql.SQL("DROP DATABASE {}").format(sql.Identifier(old)))
        _copy(connection, database, template)
    finally:
        connection.execute("SELECT pg_advisory_unlock(%s)", [MAKING])


def _templates(connection: Administrator) -> list[str]:
    like = PREFIX.replace("_", r"\_") + "%"
    return [
        str(found) for (found,) in connection.execute("SELECT datname FROM pg_database WHERE datname LIKE %s", [like])
    ]


def _copy(connection: Administrator, source: str, target: str) -> None:
    copy = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
    connection.execute(copy.format(sql.Identifier(target), sql.Identifier(source)))
