"""The protection of an app's tables by PostgreSQL, as data: triggers, and the rights of the two roles that use them.

Every app declares a `PROTECTION` in its module `protection`. The migrations make triggers and rights from it
(`casino/core/schema.py`), live checks compare the database's triggers with it (`casino/core/guards.py`), and a test
compares it with the whole catalogue. What is not declared here does not exist.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache
from importlib import import_module
from importlib.util import find_spec

from django.apps import apps


class Keep(Enum):
    """The statements on a table that are refused for every role, also in replica mode."""

    FREE = "free"  # none: its rows may be emptied
    TABLE = "table"  # TRUNCATE
    ROWS = "rows"  # DELETE and TRUNCATE
    APPEND_ONLY = "append-only"  # UPDATE, DELETE and TRUNCATE
    VALUES = "values"  # UPDATE and TRUNCATE: a row is as it was inserted, or gone


@dataclass(frozen=True, slots=True)
class Trigger:
    """One trigger, ENABLE ALWAYS. Its name in the database is `table_name`."""

    name: str
    #: `BEFORE UPDATE OR DELETE`, for example.
    when: str
    function: str
    each: str = "ROW"
    #: Whether it is a constraint trigger, which waits for the end of the transaction.
    deferred: bool = False
    #: The name under which a trigger for a whole statement sees the rows that it has added.
    added: str = ""

    def statements(self, table: str) -> Iterator[str]:
        """SQL that creates or replaces the trigger."""
        name = f"{table}_{self.name}"
        yield f"DROP TRIGGER IF EXISTS {name} ON {table}"
        kind, defer = ("CONSTRAINT TRIGGER", " DEFERRABLE INITIALLY DEFERRED") if self.deferred else ("TRIGGER", "")
        seeing = f" REFERENCING NEW TABLE AS {self.added}" if self.added else ""
        yield (
            f"CREATE {kind} {name} {self.when} ON {table}{defer}{seeing} "
            f"FOR EACH {self.each} EXECUTE FUNCTION {self.function}()"
        )
        yield f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name}"


_REFUSE = "houses_refuse_change"
_NO_TRUNCATE = Trigger("no_truncate", "BEFORE TRUNCATE", _REFUSE, each="STATEMENT")
#: The triggers that enforce `Keep` for a table.
_KEEPING: dict[Keep, tuple[Trigger, ...]] = {
    Keep.FREE: (),
    Keep.TABLE: (_NO_TRUNCATE,),
    Keep.ROWS: (Trigger("no_delete", "BEFORE DELETE", _REFUSE), _NO_TRUNCATE),
    Keep.APPEND_ONLY: (Trigger("no_change", "BEFORE UPDATE OR DELETE", _REFUSE), _NO_TRUNCATE),
    Keep.VALUES: (Trigger("no_change", "BEFORE UPDATE", _REFUSE), _NO_TRUNCATE),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rights:
    """What a role may do with a table; `update` can be some columns only."""

    select: bool = True
    insert: bool = False
    update: bool | tuple[str, ...] = False
    delete: bool = False

    def privileges(self) -> set[str]:
        """Privileges on the whole table: `{"SELECT", "INSERT"}`."""
        named = {
            "SELECT": self.select,
            "INSERT": self.insert,
            "UPDATE": self.update is True,
            "DELETE": self.delete,
        }
        return {name for name, given in named.items() if given}

    def columns(self) -> tuple[str, ...]:
        """Columns that alone may be updated; empty where all may, or none."""
        return () if isinstance(self.update, bool) else self.update

    def statements(self, table: str, role: str) -> Iterator[str]:
        """SQL that grants them; `role` is quoted."""
        if whole := self.privileges():
            yield f"GRANT {', '.join(sorted(whole))} ON {table} TO {role}"
        if self.update and self.columns():
            yield f"GRANT UPDATE ({', '.join(self.columns())}) ON {table} TO {role}"


READ = Rights()
#: Rows are added and never changed.
ADD = Rights(insert=True)
WRITE = Rights(insert=True, update=True)
#: Rows come and go.
USE = Rights(insert=True, update=True, delete=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table or view: how it is kept, and the rights of the application's and the sequencer's role.

    Of a table that another package makes, `own_triggers` names those that come with it.
    """

    name: str
    keep: Keep = Keep.FREE
    triggers: tuple[Trigger, ...] = ()
    own_triggers: tuple[str, ...] = ()
    app: Rights | None = None
    sequencer: Rights | None = None

    def made(self) -> tuple[Trigger, ...]:
        """The triggers that the migrations make from this."""
        return (*_KEEPING[self.keep], *self.triggers)

    def guards(self) -> set[str]:
        """Names of all its triggers in the database."""
        return {f"{self.name}_{name}" for name in (*(one.name for one in self.made()), *self.own_triggers)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """One function with the types of its parameters, `audit_lock_log(uuid)`, and which role may execute it. No other
    role may: what PUBLIC gets from PostgreSQL is taken away."""

    signature: str
    app: bool = False
    sequencer: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Protection:
    """What an app declares."""

    tables: tuple[Table, ...] = ()
    functions: tuple[Function, ...] = ()


def of(app: str) -> Protection:
    """What an app, named as in `casino.APP`, declares."""
    found: Protection = import_module(f"casino.{app}.protection").PROTECTION
    return found


@cache
def declared() -> Protection:
    """The declarations of all installed apps together. A table may be declared by several apps, for example with a
    trigger of one app on a table of another; triggers and rights add up."""
    modules = [f"{config.name}.protection" for config in apps.get_app_configs() if config.name.startswith("casino.")]
    found = [import_module(name).PROTECTION for name in modules if find_spec(name)]
    return Protection(
        tables=tuple(table for one in found for table in one.tables),
        functions=tuple(function for one in found for function in one.functions),
    )
