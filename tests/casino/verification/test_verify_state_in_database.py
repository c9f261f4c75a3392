"""Each column of each model altered in the database itself, by a superuser without any guard: what the declared list
calls proved is found there, whatever the reader of the rows does with its type."""

from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.db import IntegrityError, connections, models, transaction

from casino.audit.verifier.state import MODELS
from casino.verification import auditing
from casino.verification.auditing import verify_house
from tests.casino.kit import Kit
from tests.casino.superuser import unguarded

#: Model, column, table, database column (quoted, for some are SQL's own words), its type, primary key's column.
Place = tuple[str, str, str, str, str, str]


def places() -> list[list[Place]]:
    """Every column that is compared, in passes: one column of each model in each."""
    by_model = []
    for name, declared in MODELS.items():
        meta = apps.get_model(name)._meta
        found = []
        for column, of in declared.columns.items():
            field: Any = meta.get_field(column)
            if of.compared and not field.primary_key:
                kind = str(field.db_type(connections["owner"]))
                found.append((name, column, meta.db_table, quoted(field.column), kind, str(meta.pk.column)))
        by_model.append(found)
    return [[found[at] for found in by_model if at < len(found)] for at in range(max(map(len, by_model)))]


def quoted(column: str) -> str:
    return connections["owner"].ops.quote_name(column)


def altered(place: Place) -> str:
    """An SQL expression of another value than the column has."""
    name, column, table, there, _, _ = place
    field: Any = apps.get_model(name)._meta.get_field(column)
    if field.choices and not isinstance(field, ArrayField):
        values = [str(value) for value, _ in field.choices]
        return f"CASE WHEN {there} = '{values[0]}' THEN '{values[-1]}' ELSE '{values[0]}' END"
    if isinstance(field, models.ForeignKey):
        return (
            f"coalesce((SELECT min(id) FROM {field.related_model._meta.db_table} o WHERE o.id <> {table}.{there}), -1)"
        )
    if isinstance(field, ArrayField):
        return f"array_append({there}, 'auditor')"
    if isinstance(field, models.DateTimeField):
        return f"coalesce({there}, now()) + interval '1 day'"
    if isinstance(field, models.JSONField):
        return """'{"x": 1}'"""
    if isinstance(field, models.BooleanField):
        return f"NOT {there}"
    if isinstance(field, models.BinaryField):
        return f"{there} || '\\x00'::bytea"
    if isinstance(field, models.IntegerField):
        return f"coalesce({there}, 0) + 1"
    if type(field) is models.DateField:
        return f"{there} + 1"
    size = field.max_length
    return f"left({there}, {size - 1}) || '~'" if size else f"{there} || '~'"


@pytest.mark.slow
def test_each_column_that_is_altered_in_the_database_is_found(evening: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    # The verifications take longer than the last events may be without a checkpoint; no sequencer runs beside them.
    monkeypatch.setattr(auditing, "SIGNED_WITHIN", timedelta(days=1))
    tried, refused = 0, []
    for places_now in places():
        before: list[tuple[Place, Any, str]] = []
        with unguarded(*{place[2] for place in places_now}) as cursor:
            cursor.execute("SET LOCAL session_replication_role = replica")
            for place in places_now:
                _, _, table, column, _, key = place
                cursor.execute(f"SELECT {key}::text, {column}::text FROM {table} WHERE {_of_house(place)} "
                               f"AND {column} IS NOT NULL ORDER BY {key} DESC LIMIT 1", [evening.house.id])  # fmt: skip
                row = cursor.fetchone()
                if row is None:
                    continue
                tried += 1
                try:
                    with transaction.atomic(using="owner"):
                        statement = f"UPDATE {table} SET {column} = {altered(place)} WHERE {key}::text = %s"
                        cursor.execute(statement, [row[0]])
                    before.append((place, *row))
                except IntegrityError as error:
                    refused.append((place[:2], str(error)))
        found = [(one.code, one.place) for one in verify_house(evening.house).findings]
        for (name, column, *_), _, _ in before:
            own = [(code, place) for code, place in found if place.startswith(f"{name} ")]
            assert any(code == "state_extra" or place.endswith(f", {column}") for code, place in own), (column, found)
        with unguarded(*{place[2] for place in places_now}) as cursor:
            cursor.execute("SET LOCAL session_replication_role = replica")
            for (_, _, table, column, kind, key), row_key, value in before:
                cursor.execute(f"UPDATE {table} SET {column} = %s::{kind} WHERE {key}::text = %s", [value, row_key])
        assert verify_house(evening.house).findings == []
    # Constraints refuse these by themselves; movements of chips and chip sets have many.
    assert len(refused) < tried / 10, (tried, refused)


def _of_house(place: Place) -> str:
    names = {field.name for field in apps.get_model(place[0])._meta.concrete_fields}
    return "book = %s" if "book" in names else "house_id = %s" if "house" in names else "id = %s"
