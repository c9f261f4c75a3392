"""Migrations while others hold locks: they wait briefly, are undone as a whole, and say who stood in the way."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connections
from django.db.migrations.recorder import MigrationRecorder
from django.db.utils import ProgrammingError
from pytest_django import Settings

from casino.core import migrating

OWNER = "owner"
LATER = "tests.casino.later.live"
COLUMN = "SELECT count(*) FROM information_schema.columns WHERE table_name = 'live_webhook' AND column_name = 'note'"
#: What a transaction that has written holds.
WRITING = "LOCK TABLE live_webhook IN ROW EXCLUSIVE MODE"
VALID = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('live_webhook_note')"


@pytest.fixture
def later(live_db: None, settings: Settings) -> Iterator[None]:
    """The migrations of a later release, which are not applied; what they made is undone afterwards."""
    settings.MIGRATION_MODULES = {"live": LATER}
    yield
    with connections[OWNER].cursor() as cursor:
        cursor.execute("ALTER TABLE live_webhook DROP COLUMN IF EXISTS note")
        cursor.execute("DELETE FROM django_migrations WHERE app = 'live' AND name <> '0001_initial'")


def scalar(statement: str) -> Any:
    """The first value of what the database says."""
    with connections[OWNER].cursor() as cursor:
        cursor.execute(statement)
        row = cursor.fetchone()
    return None if row is None else row[0]


def migrate(to: str = "0003_webhook_note_index", **options: Any) -> str:
    """Migrate the app; returns what was said meanwhile. Raises CommandError with it."""
    said = io.StringIO()
    try:
        call_command("migrate", "live", to, database=OWNER, verbosity=0, stderr=said, no_color=True, **options)
    except CommandError as error:
        raise CommandError(f"{said.getvalue()}{error}") from error
    return said.getvalue()


@pytest.fixture
def with_column(later: None) -> None:
    """The first of them is applied, past the command, which builds the models of every app each time."""
    with connections[OWNER].cursor() as cursor:
        cursor.execute("ALTER TABLE live_webhook ADD COLUMN note varchar(40)")
    MigrationRecorder(connections[OWNER]).record_applied("live", "0002_webhook_note")


@contextmanager
def holding(statement: str) -> Iterator[Any]:
    """Another session in a transaction that has executed this."""
    other = connections["default"].copy("default")
    other.inc_thread_sharing()
    other.set_autocommit(False)
    try:
        with other.cursor() as cursor:
            cursor.execute(statement)
        yield other
    finally:
        other.rollback()
        other.close()


@pytest.mark.usefixtures("later")
def test_a_lock_that_is_held_undoes_the_migration_and_is_named() -> None:
    began = monotonic()
    with holding("SELECT FROM live_webhook"), pytest.raises(CommandError) as refused:
        migrate("0002_webhook_note", lock_seconds=0.5, lock_tries=2)
    said = str(refused.value)
    assert "waited for AccessExclusiveLock on live_webhook, for session" in said
    assert "casino_app" in said and "SELECT FROM live_webhook" in said
    assert "try 2 of 2" in said and "A lock was not free within 0.5 s, 2 times" in said
    assert scalar(COLUMN) == 0, "nothing of it is done"
    assert monotonic() - began < 60
    assert migrate("0002_webhook_note") == "" and scalar(COLUMN) == 1


@pytest.mark.usefixtures("later")
def test_it_is_tried_again_and_play_goes_on_between_the_tries() -> None:
    released = threading.Event()
    with holding("SELECT FROM live_webhook") as other:

        def let_go(seconds: float) -> None:
            assert scalar("SELECT count(*) FROM live_webhook") is not None, "nobody waits between two tries"
            other.rollback()
            released.set()

        connection = connections[OWNER]
        said: list[str] = []

        def add() -> None:
            with connection.cursor() as cursor:
                cursor.execute("ALTER TABLE live_webhook ADD COLUMN note text")

        migrating.patiently(connection, add, say=said.append, seconds=0.5, pause=let_go)
    assert released.is_set() and scalar(COLUMN) == 1
    assert said[0] == "\ntry 1 of 15: canceling statement due to lock timeout"
    assert scalar("SHOW lock_timeout") == "0", "the session waits as before again"


@pytest.mark.usefixtures("with_column")
def test_an_index_waits_for_old_transactions_and_holds_nobody_up() -> None:
    with holding(WRITING) as other:
        timer = threading.Timer(1.5, other.rollback)
        timer.start()
        assert migrate(lock_seconds=0.5, lock_tries=1) == ""
        timer.join()
    assert scalar(VALID) is True


@pytest.mark.usefixtures("with_column")
def test_an_index_that_a_try_left_behind_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrating, "CONCURRENT_SECONDS", 0.5)
    with holding(WRITING), pytest.raises(CommandError):
        migrate(lock_tries=1)
    assert scalar(VALID) is False, "PostgreSQL leaves it behind"
    assert migrate() == "" and scalar(VALID) is True
    with connections[OWNER].cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'live' AND name = '0003_webhook_note_index'")
    assert migrate() == "", "made, but its record lost"


@pytest.mark.usefixtures("later")
def test_other_errors_are_not_tried_again() -> None:
    tries = 0

    def wrong() -> None:
        nonlocal tries
        tries += 1
        with connections[OWNER].cursor() as cursor:
            cursor.execute("ALTER TABLE live_nothing ADD COLUMN note text")

    with pytest.raises(ProgrammingError, match="live_nothing"):
        migrating.patiently(connections[OWNER], wrong, say=print)
    assert tries == 1


@pytest.mark.parametrize("options", [{"lock_seconds": 0.0}, {"lock_tries": 0}])
def test_a_wait_without_end_or_no_try_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(CommandError, match="more than 0 seconds"):
        migrate(**options)
