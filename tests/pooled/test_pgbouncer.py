"""What must not go through a real pgbouncer in transaction mode does not: it is refused when it connects. The evening
that is played through it is `make pooler`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from django.db import connections
from django.db.backends.postgresql.base import DatabaseWrapper

from casino.core.direct import BehindPoolerError
from casino.doctor import database as doctor
from casino.settings import database
from casino.verification.snapshot_reader import moment
from deploy.processes import CHECKOUT
from tests.casino.kit import Kit
from tests.ha.programs import Missing
from tests.pooled import pgbouncer
from tests.pooled.pgbouncer import PgBouncer

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("live_db")]
NAMES = {"default": "DATABASE_URL", "owner": "DATABASE_OWNER_URL", "sequencer": "DATABASE_SEQUENCER_URL"}


@pytest.fixture(params=[""], ids=["as the operators have it"])
def pooler(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[PgBouncer]:
    """pgbouncer before the tests' own database, for all three logins; two sessions, so that they are soon shared."""
    entry = connections.settings["default"]
    if "options" in entry["OPTIONS"]:
        pytest.skip("the application and the owner have one login here, which a pooler refuses")
    logins = {}
    for name in NAMES.values():
        parts = urlsplit(os.environ[name])
        logins[str(parts.username)] = str(parts.password)
    logins |= verifiers()
    where = f"host={entry['HOST']} dbname={entry['NAME']}" + (f" port={entry['PORT']}" if entry["PORT"] else "")
    changes = {"default_pool_size": "2", "ignore_startup_parameters": request.param}
    try:
        with pgbouncer.running(tmp_path / "pgbouncer", where, logins, changes) as made:
            yield made
    except Missing as error:
        pytest.skip(str(error))


def verifiers() -> dict[str, str]:
    """What the server has in place of a password, as the page has it copied; nothing where we may not read it."""
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
        if cursor.fetchone() != (True,):
            return {}
        cursor.execute("SELECT rolname, rolpassword FROM pg_authid WHERE rolname = 'casino_app'")
        found: dict[str, str] = dict(cursor.fetchall())
    assert found["casino_app"].startswith("SCRAM-SHA-256$")
    return found


def through(pooler: PgBouncer, name: str) -> str:
    """This URL of the environment, through the pooler."""
    parts = urlsplit(os.environ[name])
    return f"postgresql://{parts.username}:{parts.password}@127.0.0.1:{pooler.port}/casino"


def run(command: tuple[str, ...], **environ: str) -> subprocess.CompletedProcess[str]:
    """How a command of manage.py ends with this in its environment."""
    return subprocess.run(
        (sys.executable, "manage.py", *command), cwd=CHECKOUT, env=dict(os.environ) | environ, capture_output=True,
        text=True, timeout=120, check=False,
    )  # fmt: skip


def test_two_clients_hold_the_lock_of_the_one_sequencer_at_once(pooler: PgBouncer) -> None:
    """Why it refuses: the lock belongs to a session, and the session to the next client."""
    url = through(pooler, "DATABASE_SEQUENCER_URL")
    with psycopg.connect(url, autocommit=True) as first, psycopg.connect(url, autocommit=True) as second:
        taken = [one.execute("SELECT pg_try_advisory_lock(4711)").fetchone() for one in (first, second)]
    assert taken == [(True,), (True,)]
    # It is still held when both have gone.
    with psycopg.connect(os.environ["DATABASE_SEQUENCER_URL"], autocommit=True) as direct:
        assert direct.execute("SELECT pg_try_advisory_lock(4711)").fetchone() == (False,)


def test_the_sequencer_refuses_to_run_through_it(pooler: PgBouncer) -> None:
    done = run(("sequence_audit",), DATABASE_SEQUENCER_URL=through(pooler, "DATABASE_SEQUENCER_URL"))
    assert done.returncode == 1
    assert "The connection of sequencer leads to a pooler" in done.stderr
    assert "Traceback" not in done.stderr and "sequencing" not in done.stdout + done.stderr


def test_the_owner_migrates_nothing_through_it(pooler: PgBouncer) -> None:
    done = run(("migrate", "--database", "owner"), DATABASE_OWNER_URL=through(pooler, "DATABASE_OWNER_URL"))
    assert done.returncode != 0
    assert "The connection of owner leads to a pooler" in done.stderr


@pytest.mark.parametrize("pooler", ["options"], indirect=True, ids=["a pooler that ignores options"])
def test_a_role_that_the_pooler_forgets_is_not_worked_as_another(pooler: PgBouncer) -> None:
    """Asked for the application's role, such a pooler gives the owner's session without a word."""
    url = through(pooler, "DATABASE_OWNER_URL")
    entry = connections.settings["default"] | database(url, role="casino_app")
    assert "casino_app" in entry["OPTIONS"]["options"]
    with psycopg.connect(url, options="-c role=casino_app") as forgotten:
        assert forgotten.execute("SELECT current_user").fetchone() == (urlsplit(url).username,)
    with pytest.raises(BehindPoolerError):
        DatabaseWrapper(entry, "default").ensure_connection()


def test_a_snapshot_is_not_shared_through_it(pooler: PgBouncer, settings: Any) -> None:
    kit = Kit.found()
    url = through(pooler, "DATABASE_URL")
    connections.settings["direct"] = connections.settings["default"] | database(url, role="casino_app")
    settings.CASINO_SNAPSHOTS = "direct"
    try:
        with pytest.raises(BehindPoolerError), moment(kit.house):
            pass
    finally:
        connections["direct"].close()
        del connections["direct"]
        del connections.settings["direct"]


def test_statements_stay_prepared_after_a_transaction_that_was_rolled_back(pooler: PgBouncer) -> None:
    """psycopg then forgets them, and says so: an older pgbouncer would pass that on to one session alone."""
    url = through(pooler, "DATABASE_URL")
    with psycopg.connect(url, prepare_threshold=0) as first, psycopg.connect(url, prepare_threshold=0) as second:
        for _ in range(6):
            for one in (first, second):
                assert one.execute("SELECT %s::int + 1", [1]).fetchone() == (2,)
                one.rollback()
        for one in (first, second):
            assert one.execute("SELECT %s::int + 1", [1]).fetchone() == (2,)
            one.commit()
        assert any(int(str(one["prepared_statements"])) for one in pooler.shown("SERVERS"))


def test_the_doctor_says_that_there_is_a_pooler(pooler: PgBouncer, settings: Any) -> None:
    entry, before = connections.settings["default"], dict(connections.settings["default"])
    connections["default"].close()
    entry |= {"HOST": "127.0.0.1", "PORT": str(pooler.port), "NAME": "casino"}
    try:
        assert [one.code for one in doctor.pooling()] == ["pooler_not_named"]
        settings.CASINO_POOLER = "transaction"
        assert [one.level for one in doctor.pooling()] == ["ok"]
    finally:
        connections["default"].close()
        entry |= before
    assert list(doctor.pooling()) == []


def test_the_operators_file_has_what_the_page_says() -> None:
    page = (CHECKOUT / "docs" / "how-to" / "pool-connections.md").read_text(encoding="utf-8")
    table = page.partition("## What must not be changed")[2].partition("\n## ")[0]
    wanted = re.findall(r"^\| `(.+?)` \|", table, re.MULTILINE)
    text = pgbouncer.FILE.read_text(encoding="utf-8")
    assert len(wanted) == 4
    assert [one for one in wanted if one not in text.splitlines()] == []
