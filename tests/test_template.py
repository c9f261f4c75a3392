"""The database that test databases are copied from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from tests import template
from tests.services import TestServices, worker_name


@pytest.fixture
def of_its_own(services: TestServices, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Names of templates and databases which nothing else has; the databases to drop."""
    made = [f"of_{worker_name()}_{number}" for number in range(3)]
    monkeypatch.setattr(template, "PREFIX", f"template_of_{worker_name()}_")
    monkeypatch.setattr(template, "MAKING", template.MAKING + 1)
    yield made
    with services.administrator() as connection:
        for name in (*made, template.PREFIX + "a", template.PREFIX + "b"):
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(name)))


def test_a_database_is_migrated_once_for_the_same_sources_and_copied_afterwards(
    services: TestServices, of_its_own: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    migrated: list[str] = []

    def create(database: str, digest: str) -> int:
        """Create it; how many rows its table has, which its migration makes."""

        def migrate() -> None:
            migrated.append(database)
            with services.administrator(database) as connection:
                connection.execute("CREATE TABLE made (by text); INSERT INTO made VALUES ('a migration')")

        monkeypatch.setattr(template, "name", lambda: template.PREFIX + digest)
        with services.administrator() as connection:
            template.create(connection, database, migrate)
        with services.administrator(database) as connection:
            row = connection.execute("SELECT count(*) FROM made").fetchone()
            connection.execute("INSERT INTO made VALUES ('a test')")
        assert row is not None
        return int(str(row[0]))

    first, second, third = of_its_own
    assert [create(first, "a"), create(second, "a")] == [1, 1]
    assert migrated == [first]
    assert create(third, "b") == 1
    assert migrated == [first, third]
    with services.administrator() as connection:
        # Nobody needs the one of the sources as they were.
        assert templates(connection) == [template.PREFIX + "b"]


def templates(connection: psycopg.Connection[tuple[object, ...]]) -> list[str]:
    """The templates of this test on the server."""
    rows = connection.execute("SELECT datname FROM pg_database").fetchall()
    return [str(name) for (name,) in rows if str(name).startswith(template.PREFIX)]


@pytest.mark.parametrize(
    "changed", ["casino/a/migrations/0001.py", "casino/a/sql/b.sql", "ledger/roles.py", "requirements.lock"]
)
def test_any_change_of_the_sources_asks_for_another_template(
    changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(template, "ROOT", tmp_path)
    (tmp_path / changed).parent.mkdir(parents=True, exist_ok=True)
    for path in (tmp_path / "requirements.lock", tmp_path / changed):
        path.write_text("1")
    before = template.name.__wrapped__()
    (tmp_path / changed).write_text("2")
    assert template.name.__wrapped__() != before
    (tmp_path / changed).write_text("1")
    assert template.name.__wrapped__() == before
