"""What was written into the database since some moment: every row that another transaction has made.

Tests share a database that grows, and nothing is ever removed from it: to make every row of it text took tests that
look for a word longer than everything else they do.
"""

import json
from collections.abc import Iterable

from django.db import connections

from casino.houses.models import House

_TABLES = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY relname"
#: A transaction as a number that grows: of the ages of two the difference stays.
_NUMBER = "(age('3'::xid) - age({0}))::bigint"
#: Every transaction before this one has ended: what the others have written has at least this number.
_NOW = f"SELECT {_NUMBER.format('pg_snapshot_xmin(pg_current_snapshot())::xid')}"
#: The transaction that has founded a house: its first events were never changed since.
_FOUNDED = f"SELECT min({_NUMBER.format('xmin')}) FROM audit_event WHERE house_id = %s"


def now() -> int:
    """The moment, for `since`."""
    return _number(_NOW, [])


def founded(house: House) -> int:
    """The moment when the house was founded."""
    return _number(_FOUNDED, [house.id])


def since(moment: int, text: str = "row_to_json(r)::text") -> set[tuple[str, str]]:
    """Table and text of every row that was inserted or updated since then; `text` is what makes a row `r` text."""
    with connections["owner"].cursor() as cursor:
        cursor.execute(_TABLES)
        tables = [name for (name,) in cursor.fetchall()]
        every = (
            f"SELECT '{name}', {text} FROM \"{name}\" r WHERE {_NUMBER.format('r.xmin')} >= {moment}" for name in tables
        )
        cursor.execute(" UNION ALL ".join(every))
        return set(cursor.fetchall())


def assert_nowhere(house: House, *texts: str) -> None:
    """None of these texts stands in any row that was written since the house was founded, in the clear, escaped or in
    hexadecimal."""
    rows = since(founded(house), "r::text")
    assert {"houses_house", "audit_event"} <= {table for table, _ in rows}
    assert [(table, form) for table, row in rows for form in forms_of(texts) if form in row] == []


def forms_of(texts: Iterable[str]) -> set[str]:
    """How PostgreSQL and JSON may write these texts."""
    return {form for text in texts for form in (text, json.dumps(text)[1:-1], text.encode().hex())}


def _number(statement: str, parameters: list[object]) -> int:
    with connections["owner"].cursor() as cursor:
        cursor.execute(statement, parameters)
        [(number,)] = cursor.fetchall()
    return int(number)
