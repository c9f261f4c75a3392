"""The catalogue of the database, read once for as long as nobody changes it.

Each verification of a house compares the whole catalogue twice, with a statement that takes the server 40 ms, and most
tests verify theirs. Here a statement of a few milliseconds asks first whether any row of the system catalogues has
another place or another transaction than when the catalogue was read last. If none has, it is as it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any

from django.db.backends.utils import CursorWrapper

Reader = Callable[..., dict[str, str]]

#: Of what all databases of the server share only what concerns this one; of subscriptions what everybody may read.
_SAID = {
    "pg_database": "SELECT d.datdba, d.datacl FROM pg_catalog.pg_database d WHERE datname = current_database()",
    "pg_roles": "SELECT d FROM pg_catalog.pg_roles d",
    "pg_subscription": "SELECT d.subdbid, d.subname, d.subenabled FROM pg_catalog.pg_subscription d",
}
_TABLES = """
SELECT c.relname FROM pg_catalog.pg_class c
WHERE c.relnamespace = 'pg_catalog'::regnamespace AND c.relname = ANY (%s) AND c.relkind IN ('r', 'v')
ORDER BY c.relname
"""
#: By database, user and parameters: what the rows were like when the catalogue was read last, and the catalogue.
_kept: dict[Any, tuple[Any, dict[str, str]]] = {}


def install() -> None:
    """Let this process read the catalogue through here."""
    from ledger import catalogue

    catalogue.read = _reading(catalogue.read, catalogue._QUERY)
    catalogue.digest = lru_cache(maxsize=20_000)(catalogue.digest)


def forget() -> None:
    """Read the catalogue at the next question, whatever its rows say."""
    _kept.clear()


def _reading(read: Reader, query: str) -> Reader:
    names = sorted(set(re.findall(r"pg_catalog\.(pg_\w+)", query)))

    def kept(cursor: CursorWrapper, roles: Mapping[str, str], *, schema: str) -> dict[str, str]:
        about = cursor.connection.info
        of = (about.dbname, about.user, json.dumps(dict(roles)), schema)
        tables = _tables(cursor, names)
        cursor.execute(_question(tables))
        rows = cursor.fetchone()
        before = _kept.get(of)
        if before is None or before[0] != rows:
            _kept[of] = before = rows, read(cursor, roles, schema=schema)
        return dict(before[1])

    return kept


_found: list[tuple[str, ...]] = []


def _tables(cursor: CursorWrapper, names: list[str]) -> tuple[str, ...]:
    """Which of these names are system catalogues or views of them: a server has the same ones always."""
    if not _found:
        cursor.execute(_TABLES, [names])
        _found.append(tuple(name for (name,) in cursor.fetchall()))
    return _found[0]


@cache
def _question(tables: tuple[str, ...]) -> str:
    """A statement with a column for each of them: how many rows, and a sum over their places and transactions."""
    parts = []
    for name in tables:
        if name in _SAID:
            parts.append(f"(SELECT pg_catalog.string_agg(d::text, ';' ORDER BY d::text) FROM ({_SAID[name]}) d)")
        else:
            place = "pg_catalog.hashtidextended(ctid, xmin::text::bigint)"
            parts.append(f"(SELECT pg_catalog.concat(count(*), ' ', sum({place})) FROM pg_catalog.{name})")
    return f"SELECT {', '.join(parts)}"
