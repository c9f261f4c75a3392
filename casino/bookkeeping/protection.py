"""The tables of the ledger, as it declares them itself (`ledger.catalogue`): their triggers and rights are its own."""

from collections import defaultdict

from casino.core.protection import READ, Protection, Table
from ledger import catalogue


def _tables() -> tuple[Table, ...]:
    """Every table of the ledger with its triggers; the application's role reads them all."""
    triggers: defaultdict[str, list[str]] = defaultdict(list)
    for entry in catalogue.declared():
        what, _, name = entry.partition(" ")
        if what == "trigger":
            table, _, trigger = name.partition(".")
            triggers[table].append(trigger.removeprefix(f"{table}_"))
    return tuple(Table(name=table, own_triggers=tuple(found), app=READ) for table, found in sorted(triggers.items()))


PROTECTION = Protection(tables=_tables())
