"""What a migration may not do while a house plays and processes of the release before run on its schema.

`make check` looks at every migration that came after the release before (`casino/release.toml`). Squawk, a linter of
PostgreSQL's SQL, says which statements lock what others need or break who runs; it knows neither Django nor which
tables are of this release only. The rest is here: what the release before uses, code, and migrations that cannot be
undone as a whole. (`django-migration-linter` looks for words in the SQL, not at its grammar, and knows of no release
before; `django-pg-migration-tools` has operations, not rules.)

A refusal names a code and says what to do instead. What is done on purpose says so with its reason in the migration
(`casino.core.schema.on_purpose`), or in `casino/release.toml` for a migration of somebody else's.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db.migrations import RunPython, RunSQL

from casino.core import schema
from casino.core.release import Allowed
from casino.reference.new_migrations import Before, NewMigration, Step

#: The oldest PostgreSQL that a house runs on, in whose words the SQL is judged.
POSTGRESQL = "15.0"
#: Rules of squawk about taste, or about what `manage.py migrate` sees to (`lock_timeout`, trying again).
NOT_ASKED = (
    "ban-char-field",
    "prefer-bigint-over-int",
    "prefer-bigint-over-smallint",
    "prefer-identity",
    "prefer-robust-stmts",
    "prefer-text-field",
    "prefer-timestamp-tz",
    "require-lock-timeout",
    "require-statement-timeout",
)
_CONTRACT = (
    "Take it out of the models in this release and leave it in the database (`SeparateDatabaseAndState` with "
    "`state_operations`; a column needs NULL or a `db_default` by then). Drop it in the release after, which nobody of "
    "the release before uses any more."
)
_BESIDE = (
    "Add what is new beside the old (expand), fill it, let this release write both, and drop the old one in the "
    "release after (contract)."
)
_NOT_VALID = (
    "Add it as NOT VALID (`AddConstraintNotValid`), and validate it in a migration of its own (`ValidateConstraint`), "
    "which locks nobody out."
)
_INDEX = "`AddIndexBesideWrites` of `casino.core.schema`, alone in a migration with `atomic = False`."
#: What to do instead, by rule of squawk; for others it is what squawk says.
INSTEAD: Mapping[str, str] = {
    "adding-required-field": "Give the column a `db_default`, or let it be NULL: the release before does not name it.",
    "adding-not-nullable-field": "Add a CHECK (... IS NOT NULL) as NOT VALID, validate it, and set NOT NULL in "
    "the release after, when nobody writes NULL any more.",
    "adding-field-with-default": "A default that is computed for each row, or a generated column, writes the whole "
    "table again. Add it as NULL, set the default afterwards, fill it in portions.",
    "adding-foreign-key-constraint": f"Add the column with `db_constraint=False`, `db_index=False`. {_NOT_VALID}",
    "ban-drop-column": _CONTRACT,
    "ban-drop-table": _CONTRACT,
    "ban-drop-view": _CONTRACT,
    "ban-drop-function": f"{_CONTRACT} A function with other parameters gets another name.",
    "ban-drop-not-null": "The release before does not expect NULL when it reads: say in a reason why this release "
    "writes none yet, or that the release before bears it.",
    "ban-drop-constraint": "The release before relies on it when it reads: say in a reason that this release writes "
    "nothing yet that it refuses.",
    "ban-drop-default": "Keep the default in the database (`db_default`): the release before does not name the column.",
    "changing-column-type": _BESIDE,
    "renaming-column": _BESIDE,
    "renaming-table": f"Keep the table's name (`db_table`). Otherwise: {_BESIDE}",
    "constraint-missing-not-valid": _NOT_VALID,
    "disallowed-unique-constraint": f"Make a unique index first: {_INDEX} Then ADD CONSTRAINT ... USING INDEX.",
    "require-concurrent-index-creation": _INDEX,
    "require-concurrent-index-deletion": "`RemoveIndexConcurrently`, alone in a migration with `atomic = False`.",
}
#: Our own rules.
CODE = "code-without-reason"
BINDING = "binds-the-release-before"
TIMEOUT = "changes-timeout"
MIXED = "code-beside-schema"
NOT_ATOMIC = "several-outside-a-transaction"
NOT_AGAIN = "index-not-made-again"
EVERYTHING = "protects-everything"
NO_REASON = "reason-without-refusal"
OURS: Mapping[str, str] = {
    CODE: "Say in a reason what it does to rows and functions that the release before uses meanwhile, and how long.",
    BINDING: "What the release before writes is refused if it does not fit. Say in a reason why it fits, or add it in "
    "the release after.",
    TIMEOUT: "`manage.py migrate` sets how long locks are waited for. Leave that to it.",
    MIXED: "What changes the schema holds its locks until the code is done: put them into two migrations.",
    NOT_ATOMIC: "Half of it stays if the other half fails: one operation for each migration with `atomic = False`.",
    NOT_AGAIN: f"An index that was left behind invalid stops the next try. {_INDEX}",
    EVERYTHING: "It makes every trigger of the app again and locks every table. Name those that have changed.",
    NO_REASON: "Nothing of this code is refused here: take the reason out.",
}
_TABLE = r'(?:"?public"?\.)?"?([a-z_][a-z0-9_]*)"?'
_NAMED = re.compile(
    rf"(?:ALTER TABLE|DROP TABLE)(?: IF EXISTS)?(?: ONLY)? {_TABLE}"
    rf"|(?:CREATE|DROP)\b[^;(]*?\bON {_TABLE}",
    re.IGNORECASE,
)
_COLUMN = re.compile(r'DROP COLUMN(?: IF EXISTS)? "?([a-z_][a-z0-9_]*)"?', re.IGNORECASE)
_BINDS = re.compile(r"\bADD CONSTRAINT\b|\bCREATE UNIQUE INDEX\b|\bCREATE (?:CONSTRAINT )?TRIGGER\b", re.I)
_ROWS = re.compile(r"\s*(?:INSERT|UPDATE|DELETE|SELECT|WITH)\b", re.IGNORECASE)
_USING_INDEX = re.compile(r"\bUSING INDEX\b", re.IGNORECASE)
_SETTING = re.compile(r"\b(?:lock_timeout|statement_timeout|idle_in_transaction_session_timeout)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a migration is refused."""

    migration: str
    code: str
    what: str
    instead: str

    def __str__(self) -> str:
        what = " ".join(self.what.split())
        return f"{self.migration}: {self.code}\n    {what[:200]}\n    {self.instead}"


def refusals(found: Sequence[NewMigration], allowed: Sequence[Allowed] = ()) -> list[Refusal]:
    """What may not stay of these migrations, in their order."""
    said = _squawk(found)
    refused: list[Refusal] = []
    for one in found:
        leave = {each.code for each in allowed if each.migration == one.name and each.reason.strip()}
        for number, step in enumerate(one.steps):
            codes = {**_own(one, step), **said.get((one.name, number), {})}
            reasons = {code for code, reason in step.reasons.items() if reason.strip()}
            refused += [
                Refusal(one.name, code, what, _instead(code, what))
                for code, what in codes.items()
                if code not in reasons | leave
            ]
            refused += [
                Refusal(one.name, NO_REASON, code, OURS[NO_REASON]) for code in step.reasons if code not in codes
            ]
    return refused


def _instead(code: str, what: str) -> str:
    return OURS.get(code) or INSTEAD.get(code) or f"See https://squawkhq.com/docs/{code} ({what})"


def _own(one: NewMigration, step: Step) -> dict[str, str]:
    """What our own rules refuse of an operation: the statement or the operation by code."""
    operation = step.operation
    said = operation.describe()
    found = {}
    if isinstance(operation, RunPython | RunSQL):
        found[CODE] = said
        if _is_code(step) and any(_sends_schema(other) for other in one.steps):
            found[MIXED] = said
    if isinstance(operation, schema.Protect) and not operation.tables:
        found[EVERYTHING] = said
    if not one.migration.atomic and len(one.migration.operations) > 1:
        found[NOT_ATOMIC] = said
    if isinstance(operation, AddIndexConcurrently) and not isinstance(operation, schema.AddIndexBesideWrites):
        found[NOT_AGAIN] = said
    for statement in step.statements:
        if _SETTING.search(statement):
            found[TIMEOUT] = statement
        if _BINDS.search(statement) and not _USING_INDEX.search(statement) and _concerns(statement, one.before):
            found[BINDING] = statement
    return found


def _is_code(step: Step) -> bool:
    """Whether an operation changes rows, for as long as it likes."""
    if isinstance(step.operation, RunPython):
        return not isinstance(step.operation, schema.Install | schema.Protect)
    return any(_ROWS.match(statement) for statement in step.statements)


def _sends_schema(step: Step) -> bool:
    """Whether an operation changes the schema, and so has locks until its migration is done."""
    return any(not _ROWS.match(statement) for statement in step.statements)


def _concerns(statement: str, before: Before) -> bool:
    """Whether a statement concerns what the release before uses; so does one that names no table we can read."""
    named = _NAMED.search(statement)
    if named is None:
        return True
    column = _COLUMN.search(statement)
    table = next(name for name in named.groups() if name)
    return before.uses(table.lower(), column and column[1].lower())


def _squawk(found: Sequence[NewMigration]) -> dict[tuple[str, int], dict[str, str]]:
    """What squawk refuses: the statement by code, for each migration and number of the operation in it."""
    said: dict[tuple[str, int], dict[str, str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for atomic in (True, False):
            chosen = [one for one in found if one.migration.atomic is atomic]
            lines = {one.name: _write(Path(folder) / f"{one.name}.sql", one) for one in chosen}
            for violation in _run([Path(folder) / f"{name}.sql" for name in lines], atomic=atomic):
                name = Path(violation["file"]).stem
                number, statement = lines[name][violation["line"]]
                before = next(one.before for one in chosen if one.name == name)
                if _concerns(statement, before):
                    said.setdefault((name, number), {}).setdefault(violation["rule_name"], statement)
    return said


def _write(file: Path, one: NewMigration) -> list[tuple[int, str]]:
    """Write the SQL of a migration; returns for each line which operation it is of, and its statement."""
    lines: list[tuple[int, str]] = []
    text: list[str] = []
    for number, step in enumerate(one.steps):
        for statement in step.statements:
            rows = statement.splitlines() or [""]
            text += rows
            lines += [(number, statement)] * len(rows)
    file.write_text("\n".join(text) + "\n", encoding="utf-8")
    return lines


def _run(files: Sequence[Path], *, atomic: bool) -> Iterator[dict[str, Any]]:
    """What squawk says of these files. Raises FileNotFoundError without it: it is one of the tools of development."""
    if not files:
        return
    program = Path(sys.executable).with_name("squawk")
    options = [f"--exclude={rule}" for rule in NOT_ASKED] + ["--assume-in-transaction"] * atomic
    command = [str(program), "--reporter=json", f"--pg-version={POSTGRESQL}", *options, *map(str, files)]
    # A folder without a configuration of its own.
    done = subprocess.run(command, cwd=files[0].parent, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1) or not done.stdout.strip():
        raise RuntimeError(f"squawk ended with {done.returncode}: {done.stderr.strip()}")
    yield from json.loads(done.stdout)
