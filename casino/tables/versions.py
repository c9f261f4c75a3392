"""The terms of a table as versions: agreed on, in force from an opening on, ended by the next ones. None is edited."""

from typing import Any

from casino.core import sql
from casino.houses.models import ClockTimestamp
from casino.tables.models import Table, TableTerms

#: Terms of a table that can change, by their columns.
CHANGING = ("options", "seats", "min_stack", "max_stack", "carryover_on_close")


def in_force(table: Table) -> dict[str, Any]:
    """The terms of the table that can change."""
    return {name: getattr(table, name) for name in CHANGING}


def beginning(table: Table, by: str) -> sql.Statement:
    """What stores the terms of a new table, in force at once."""
    first = in_force(table) | {"carryover_on_close": str(table.carryover_on_close)}
    return sql.inserting(_new(table, 1, first, by, begun_at=ClockTimestamp()))


def agree(table: Table, terms: dict[str, Any] | None, by: str) -> None:
    """Let these terms wait for the next opening instead of any that do; with None, no others than those in force."""
    ended = sql.updating(_to_come(table), ended_at=ClockTimestamp())
    _, [last] = sql.together(ended, table.terms.order_by("-number").values_list("number", flat=True)[:1])
    if terms is not None:
        _new(table, last + 1, terms, by).save(force_insert=True)
    table.terms_to_come = terms
    Table.objects.filter(id=table.id).update(terms_to_come=terms)


def bring(table: Table) -> None:
    """Put the terms in force that wait for the table's opening, which the caller records."""
    if table.terms_to_come is None:
        return
    new = {**table.terms_to_come, "terms_to_come": None}
    Table.objects.filter(id=table.id).update(**new)
    for name, value in new.items():
        setattr(table, name, value)
    table.terms.filter(ended_at=None, begun_at__isnull=False).update(ended_at=ClockTimestamp())
    _to_come(table).update(begun_at=ClockTimestamp())


def _to_come(table: Table) -> Any:
    return table.terms.filter(ended_at=None, begun_at=None)


def _new(table: Table, number: int, terms: dict[str, Any], by: str, **times: Any) -> TableTerms:
    return TableTerms(house_id=table.house_id, table=table, number=number, terms=terms, set_by=by, **times)
