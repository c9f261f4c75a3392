"""Migrations that would stop play or break the release before are refused, each with a code and what to do instead."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import pytest
from django.contrib.postgres.operations import AddConstraintNotValid, AddIndexConcurrently, ValidateConstraint
from django.core.management import CommandError, call_command, get_commands
from django.db import migrations, models
from django.db.migrations import Migration, SeparateDatabaseAndState
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from pytest_django import Settings

from casino.core import release
from casino.core.release import Allowed
from casino.core.schema import AddIndexBesideWrites, install, on_purpose, protect
from casino.houses.models import ClockTimestamp
from casino.reference import migration_rules as rules
from casino.reference import new_migrations
from casino.reference.migration_rules import Refusal

pytestmark = pytest.mark.usefixtures("live_db")
NOTE = migrations.AddField("webhook", "note", models.CharField(max_length=40, null=True))
CHECK = models.CheckConstraint(condition=models.Q(number__gt=0), name="live_webhook_from_1")
INDEX = models.Index(fields=["destination"], name="live_webhook_destination")
#: As the release before leaves a column that it has stopped using, and as the one after drops it.
STATE_ONLY = SeparateDatabaseAndState(state_operations=[migrations.RemoveField("webhook", "problem")])
DROP = migrations.RunSQL('ALTER TABLE "live_webhook" DROP COLUMN "problem"')


def nothing(*_: Any) -> None:
    """What a migration runs."""


def read(*lists: Sequence[Operation], atomic: bool = True, baseline: int = 1) -> list[new_migrations.NewMigration]:
    """Migrations of the app `live` with these operations, of which the first `baseline` are of the release before."""
    loader = MigrationLoader(None)
    keys = [("live", "0001_initial")]
    for number, operations in enumerate(lists, start=2):
        key = ("live", f"{number:04}_later")
        migration = Migration(key[1], "live")
        migration.operations, migration.atomic = list(operations), atomic
        loader.graph.add_node(key, migration)
        loader.graph.add_dependency(migration, key, keys[-1])
        keys.append(key)
    before = {**release.own().migrations, "live": keys[baseline - 1][1]}
    return list(new_migrations.read(before, loader=loader))


def refused(*lists: Sequence[Operation], atomic: bool = True, baseline: int = 1) -> list[Refusal]:
    """What is refused of such migrations."""
    return rules.refusals(read(*lists, atomic=atomic, baseline=baseline))


BAD = {
    "a column that the release before names": (migrations.RemoveField("webhook", "problem"), {"ban-drop-column"}),
    "a table": (migrations.DeleteModel("WebhookPosition"), {"ban-drop-table"}),
    "a column under another name": (migrations.RenameField("webhook", "problem", "trouble"), {"renaming-column"}),
    "a table under another name": (migrations.RenameModel("WebhookPosition", "Place"), {"renaming-table"}),
    "a column that must be given": (
        migrations.AddField("webhook", "note", models.CharField(max_length=40, default="")),
        {"ban-drop-default"},
    ),
    "a column that must not be NULL any more": (
        migrations.AlterField("webhook", "approval", models.PositiveIntegerField()),
        {"adding-not-nullable-field"},
    ),
    "a column that may be NULL now": (
        migrations.AlterField("webhook", "problem", models.CharField(max_length=40, default="", null=True)),
        {"ban-drop-not-null"},
    ),
    "another type": (
        migrations.AlterField("webhook", "number", models.BigIntegerField()),
        {"changing-column-type", "ban-drop-constraint"},
    ),
    "a default that is computed for each row": (
        migrations.AddField("webhook", "seen_at", models.DateTimeField(db_default=ClockTimestamp())),
        {"adding-field-with-default"},
    ),
    "an index while others wait": (
        migrations.AddIndex("webhook", INDEX),
        {"require-concurrent-index-creation"},
    ),
    "the index of a reference, and its constraint": (
        migrations.AddField("webhook", "other", models.ForeignKey("live.Webhook", models.PROTECT, null=True)),
        {"adding-foreign-key-constraint", "require-concurrent-index-creation"},
    ),
    "a constraint that reads the table": (
        migrations.AddConstraint("webhook", CHECK),
        {"constraint-missing-not-valid", rules.BINDING},
    ),
    "a constraint for what the release before writes": (
        AddConstraintNotValid("webhook", CHECK),
        {rules.BINDING},
    ),
    "a unique constraint": (
        migrations.AddConstraint("webhook", models.UniqueConstraint(fields=["chains"], name="live_webhook_chains")),
        {"constraint-missing-not-valid", "disallowed-unique-constraint", rules.BINDING},
    ),
    "a unique column": (
        migrations.AddField("webhook", "code", models.CharField(max_length=8, null=True, unique=True)),
        {"disallowed-unique-constraint", "require-concurrent-index-creation"},
    ),
    "code without a reason": (migrations.RunPython(nothing), {rules.CODE}),
    "SQL without a reason": (migrations.RunSQL("UPDATE live_webhook SET problem = ''"), {rules.CODE}),
    "functions without a reason": (install("live"), {rules.CODE}),
    "every trigger of an app": (protect("live"), {rules.CODE, rules.EVERYTHING}),
    "a function that is dropped": (
        migrations.RunSQL("DROP FUNCTION audit_require_recorded()"),
        {rules.CODE, "ban-drop-function"},
    ),
    "a wait for locks of its own": (migrations.RunSQL("SET lock_timeout = 0"), {rules.CODE, rules.TIMEOUT}),
    "a reason for nothing": (
        on_purpose(migrations.AlterModelOptions("webhook", {}), "ban-drop-column", "It is not needed."),
        {rules.NO_REASON},
    ),
    "an empty reason": (on_purpose(migrations.RunPython(nothing), rules.CODE, " "), {rules.CODE}),
}


@pytest.mark.parametrize("case", BAD)
def test_what_would_stop_play_or_break_the_release_before_is_refused(case: str) -> None:
    operation, codes = BAD[case]
    found = refused([operation])
    assert {one.code for one in found} == codes
    for one in found:
        assert one.migration == "live.0002_later" and one.instead and one.what
        assert "squawkhq.com" not in one.instead


GOOD = {
    "a column that may be NULL": NOTE,
    "a column with a default in the database": migrations.AddField(
        "webhook", "note", models.CharField(max_length=40, db_default="")
    ),
    "more room in a column, with a reason": on_purpose(
        migrations.AlterField("webhook", "problem", models.TextField(default="")),
        "changing-column-type",
        "PostgreSQL keeps both in the same form: nothing is written again.",
    ),
    "a table of its own": migrations.CreateModel(
        "Note",
        [
            ("id", models.BigAutoField(primary_key=True)),
            ("text", models.CharField(max_length=40, unique=True)),
            ("number", models.PositiveIntegerField(db_index=True)),
        ],
        options={"constraints": [models.CheckConstraint(condition=models.Q(number__gt=0), name="live_note_number")]},
    ),
    "a field that the models stop using": STATE_ONLY,
    "code with a reason": on_purpose(migrations.RunPython(nothing), rules.CODE, "It changes nothing."),
    "functions with a reason": on_purpose(install("live"), rules.CODE, "They answer the same questions."),
    "triggers of a table, with a reason": on_purpose(
        protect("live", "live_webhook"), rules.CODE, "Nobody writes to webhooks in play."
    ),
    "a constraint of which the author knows why it holds": on_purpose(
        AddConstraintNotValid("webhook", CHECK), rules.BINDING, "Numbers were given from 1 in every release."
    ),
    "a constraint that is validated": ValidateConstraint("webhook", "live_webhook_ended"),
    "another name that only people read": migrations.AlterModelOptions("webhook", {"verbose_name": "subscription"}),
}


@pytest.mark.parametrize("case", GOOD)
def test_what_play_and_the_release_before_bear_is_accepted(case: str) -> None:
    assert refused([GOOD[case]]) == []


def test_an_index_beside_running_writes() -> None:
    assert refused([AddIndexBesideWrites("webhook", INDEX)], atomic=False) == []
    [found] = refused([AddIndexConcurrently("webhook", INDEX)], atomic=False)
    assert found.code == rules.NOT_AGAIN
    found_two = refused([AddIndexBesideWrites("webhook", INDEX), NOTE], atomic=False)
    assert {one.code for one in found_two} == {rules.NOT_ATOMIC}


def test_a_step_that_drops_comes_a_release_after_that_which_stopped_using() -> None:
    """Contract and expand in one release: processes of the release before still name the column."""
    drop = SeparateDatabaseAndState(
        database_operations=[on_purpose(migrations.RunSQL(str(DROP.sql)), rules.CODE, "The last step.")]
    )
    assert {one.code for one in refused([STATE_ONLY], [drop])} == {"ban-drop-column"}
    assert {one.code for one in refused([STATE_ONLY, drop])} == {"ban-drop-column"}
    assert refused([STATE_ONLY], [drop], baseline=2) == [], "the release before has stopped"


def test_reasons_count_for_what_an_operation_consists_of() -> None:
    whole = SeparateDatabaseAndState(database_operations=[migrations.RunPython(nothing)])
    assert [one.code for one in refused([whole])] == [rules.CODE]
    assert refused([on_purpose(whole, rules.CODE, "It changes nothing.")]) == []


def test_code_and_schema_are_two_migrations() -> None:
    code = on_purpose(migrations.RunPython(nothing), rules.CODE, "It changes nothing.")
    assert [one.code for one in refused([NOTE, code])] == [rules.MIXED]
    assert refused([NOTE], [code]) == []


def test_a_table_of_this_release_is_its_own() -> None:
    """What only this release has may be changed until it is released."""
    made = GOOD["a table of its own"]
    later = [
        migrations.AddField("note", "at", models.DateTimeField(default=None)),
        migrations.RenameField("note", "text", "words"),
        migrations.DeleteModel("Note"),
    ]
    assert refused([made], *([one] for one in later)) == []


def test_migrations_of_others_are_excused_in_the_file_of_the_release() -> None:
    found = read([migrations.RemoveField("webhook", "problem")])
    excuse = Allowed("live.0002_later", "ban-drop-column", "It has no house yet.")
    assert rules.refusals(found, [excuse]) == []
    assert rules.refusals(found, [Allowed("live.0002_later", "ban-drop-column", "")])
    assert rules.refusals(found, [Allowed("live.0003_later", "ban-drop-column", "It has no house yet.")])


def test_every_migration_of_the_release_before_is_still_there(monkeypatch: pytest.MonkeyPatch) -> None:
    own = release.own()
    gone = release.Release(own.before, own.moved, {**own.migrations, "live": "0007_gone"})
    monkeypatch.setattr(release, "own", lambda: gone)
    with pytest.raises(CommandError, match=r"live\.0007_gone was in the release"):
        call_command("migrations")


def test_the_command_names_code_place_and_remedy(settings: Settings) -> None:
    said = io.StringIO()
    call_command("migrations", stdout=said)
    assert said.getvalue() == f"0 migrations after {release.own().before}\n"
    settings.MIGRATION_MODULES = {"live": "tests.casino.later.live"}
    call_command("migrations", stdout=said)
    assert said.getvalue().endswith(f"2 migrations after {release.own().before}\n")
    settings.MIGRATION_MODULES = {"live": "tests.casino.later.bad"}
    with pytest.raises(CommandError) as error:
        call_command("migrations")
    lines = str(error.value).splitlines()
    assert lines[0] == "1 refusals (docs/how-to/upgrade.md):"
    assert lines[1] == "live.0002_no_problem: ban-drop-column"
    assert lines[2] == '    ALTER TABLE "live_webhook" DROP COLUMN "problem" CASCADE;'
    assert lines[3].strip().startswith("Take it out of the models in this release and leave it in the database")


def test_the_migrations_of_a_house_wait_patiently() -> None:
    """What the rules leave out, because `manage.py migrate` sees to it."""
    assert get_commands()["migrate"] == "casino.houses"
    assert "require-lock-timeout" in rules.NOT_ASKED


def test_every_remedy_is_for_a_rule_that_is_asked() -> None:
    assert not rules.INSTEAD.keys() & set(rules.NOT_ASKED)
