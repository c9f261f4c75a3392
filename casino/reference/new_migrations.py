"""The migrations that came after the release before this one, operation by operation, with the SQL that each sends.

Nothing is applied. Django's schema editor asks the database for names of constraints, so the tables of the release
before should be there; where they are not, and it needs one, `NotMigrated` says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from django.db import connection
from django.db.migrations import Migration, RunPython, SeparateDatabaseAndState
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

from casino.core import schema
from casino.verification import catalogue

Key = tuple[str, str]


class NotMigrated(Exception):
    """The SQL of a migration cannot be made without the tables of the release before."""


@dataclass(frozen=True, slots=True)
class Before:
    """What the release before uses: its tables, and the columns of those that are models."""

    tables: frozenset[str]
    columns: Mapping[str, frozenset[str]]

    def uses(self, table: str, column: str | None = None) -> bool:
        """Whether it uses a table, or a column of it; where the columns are not known, it uses them all."""
        if table not in self.tables:
            return False
        return column is None or not self.columns.get(table) or column in self.columns[table]


@dataclass(frozen=True, slots=True)
class Step:
    """An operation, the statements that it sends (none for code), and what of it is on purpose: reasons by code."""

    operation: Operation
    statements: Sequence[str] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NewMigration:
    """A migration that the release before does not have."""

    name: str
    migration: Migration
    steps: Sequence[Step]
    before: Before = field(repr=False)


def read(baseline: Mapping[str, str], *, loader: MigrationLoader | None = None) -> Iterator[NewMigration]:
    """Every migration after those that `baseline` names as the newest of each app, in the order in which they run.

    Raises NotMigrated, and KeyError where a migration of the baseline is not there any more: `APP.NAME`.
    """
    loader = loader or MigrationLoader(None)
    old = _with_ancestors(loader, baseline)
    plan = [key for leaf in sorted(loader.graph.leaf_nodes()) for key in loader.graph.forwards_plan(leaf)]
    new = [key for key in dict.fromkeys(plan) if key not in old]
    if not new:
        return
    state = loader.project_state(sorted(old), at_end=True) if old else ProjectState()
    final = loader.project_state()
    before = _before(state, final)
    for app, name in new:
        migration = loader.graph.nodes[app, name]
        steps: list[Step] = []
        for operation in migration.operations:
            later = state.clone()
            operation.state_forwards(app, later)
            steps.extend(_steps(app, operation, state, later))
            state = later
        yield NewMigration(f"{app}.{name}", migration, steps, before)


def _with_ancestors(loader: MigrationLoader, baseline: Mapping[str, str]) -> set[Key]:
    found: set[Key] = set()
    for key in baseline.items():
        if key not in loader.graph.nodes:
            raise KeyError(".".join(key))
        found.update(loader.graph.forwards_plan(key))
    return found


def _before(state: ProjectState, final: ProjectState) -> Before:
    """What the models of this state use. Tables that no model has ever had are taken from the catalogue."""
    columns = _columns(state)
    ours = columns.keys() | _columns(final).keys()
    others = {name.removeprefix("table ") for name in catalogue.declared() if name.startswith("table ")} - ours
    return Before(frozenset(columns.keys() | others), columns)


def _columns(state: ProjectState) -> dict[str, frozenset[str]]:
    """The columns of every table of the models, none for a table between two of them. Read from the state as it is: to
    make classes of it takes longer than all the rest."""
    found: dict[str, frozenset[str]] = {}
    for (app, name), model in state.models.items():
        if model.options.get("proxy") or not model.options.get("managed", True):
            continue
        table = model.options.get("db_table") or f"{app}_{name}"
        between = {each for each, field in model.fields.items() if field.many_to_many}
        for each in between:
            if model.fields[each].remote_field.through is None:
                found[model.fields[each].db_table or f"{table}_{each}"] = frozenset()
        found[table] = frozenset(
            field.db_column or (f"{each}_id" if field.is_relation else each)
            for each, field in model.fields.items()
            if each not in between
        )
    return found


def _steps(app: str, operation: Operation, before: ProjectState, after: ProjectState) -> Iterator[Step]:
    """The operation, or those that it consists of, with their SQL."""
    if isinstance(operation, SeparateDatabaseAndState):
        state = before
        for part in operation.database_operations:
            later = state.clone()
            part.state_forwards(app, later)
            for step in _steps(app, part, state, later):
                yield replace(step, reasons={**schema.reasons_of(operation), **step.reasons})
            state = later
    elif isinstance(operation, schema.Protect) or (
        isinstance(operation, RunPython) and not isinstance(operation, schema.Install)
    ):
        yield Step(operation, reasons=schema.reasons_of(operation))
    else:
        yield Step(operation, _sql(app, operation, before, after), schema.reasons_of(operation))


def _sql(app: str, operation: Operation, before: ProjectState, after: ProjectState) -> list[str]:
    try:
        # In autocommit, so that what runs outside a transaction is not refused for being in one.
        with connection.schema_editor(collect_sql=True, atomic=False) as editor:
            operation.database_forwards(app, editor, before, after)
        # What is deferred is collected when the editor is left.
        return [statement for statement in editor.collected_sql if not statement.startswith("--")]
    except ValueError as error:
        raise NotMigrated(f"{operation.describe()}: {error}") from error
