"""The triggers that protect written rows, and the check that the database still has all of them, enabled for every
role."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from casino.core import protection

#: Table, name and state of every trigger that there is.
THERE = """
SELECT c.relname, t.tgname, t.tgenabled::text FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
WHERE NOT t.tgisinternal AND c.relnamespace = 'public'::regnamespace
"""
_STATES = {
    "D": "it is disabled",
    "O": "it is enabled, but sleeps in replica mode; it must be ENABLE ALWAYS",
    "R": "it is enabled in replica mode only; it must be ENABLE ALWAYS",
}


@dataclass(frozen=True, slots=True)
class Off:
    """A guard that does not stand as the migrations have put it there."""

    table: str
    trigger: str
    problem: str

    @property
    def place(self) -> str:
        """Where it should be."""
        return f"table {self.table}, trigger {self.trigger}"


@cache
def wanted() -> tuple[tuple[str, str], ...]:
    """Table and name of every trigger that the apps declare, in order."""
    return tuple(sorted({(table.name, name) for table in protection.declared().tables for name in table.guards()}))


def off(there: Iterable[tuple[str, str, str]]) -> list[Off]:
    """Which guards are switched off or missing, by the rows of `THERE`."""
    states = {(table, trigger): state for table, trigger, state in there}
    found = ((table, trigger, states.get((table, trigger), "")) for table, trigger in wanted())
    return [Off(table, trigger, _STATES.get(state, "it is missing")) for table, trigger, state in found if state != "A"]
