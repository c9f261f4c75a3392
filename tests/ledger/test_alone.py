"""The ledger in a project of its own, without the house around it."""

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connections
from psycopg import sql

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def environment(live_db: None) -> Iterator[dict[str, str]]:
    """A database of its own, which knows nothing of a house."""
    name = f"alone_{uuid.uuid4().hex}"
    with connections["owner"].cursor() as cursor:
        cursor.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    used = connections["owner"].settings_dict
    database = {key: used[key] for key in ("ENGINE", "USER", "PASSWORD", "HOST", "PORT")} | {"NAME": name}
    yield {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.ledger.alone_settings",
        "LEDGER_ALONE_DATABASE": json.dumps(database),
        "PYTHONPATH": str(ROOT),
    }
    with connections["owner"].cursor() as cursor:
        cursor.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.mark.slow
def test_migrates_and_keeps_the_promises_of_its_readme(environment: dict[str, str]) -> None:
    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("-m", "django", "migrate", "--database", "owner", "--verbosity", "0")
    run("-m", "django", "check", "--database", "default")
    tried = run(
        "-c",
        "import django, doctest; django.setup();"
        "print(doctest.testfile('ledger/README.md', module_relative=False));"
        "from django.db import connection as c;"
        "r = c.cursor(); r.execute('SELECT current_user'); print(r.fetchone()[0])",
    )
    assert "TestResults(failed=0, attempted=" in tried
    assert tried.splitlines()[-1] == "ledger_app"
