"""Changing rows with every guard switched off, as only a database superuser can."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connections, transaction

_TRIGGERS = """
SELECT tgrelid::regclass::text, tgname FROM pg_trigger
WHERE NOT tgisinternal AND tgrelid = ANY(%s::regclass[]) AND tgenabled = 'A'
"""


@contextmanager
def unguarded(*tables: str, trigger: str = "USER") -> Iterator[Any]:
    """A cursor of the owner's while these tables have no triggers, or not this one; they have them again afterwards."""
    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        cursor.execute(_TRIGGERS, [list(tables)])
        triggers = cursor.fetchall()
        for table in tables:
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER {trigger}")
        yield cursor
        # Deferred triggers of what was done meanwhile stand in the way of altering the table again.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for table in tables:
            cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER {trigger}")
        for table, name in triggers:
            cursor.execute(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name}")
