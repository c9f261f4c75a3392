"""The application keeps nothing in its database session: it works behind a pooler in transaction mode."""

import os
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from django.conf import settings
from django.db import OperationalError, connection, connections, transaction
from django.db.backends.postgresql.base import DatabaseWrapper

from casino.reports.verifying import verification
from casino.settings import database
from tests import kept_connections
from tests.casino.busy import AFTERWARDS, STEPS, Busy
from tests.casino.core.test_concurrency import at_once
from tests.casino.kit import Kit
from tests.casino.pooler import PORT, Pooler

#: How often a statement is run before it is prepared.
PREPARED_AFTER = 5
#: Server connections: as many as verification holds at once, which reads several streams of one snapshot.
SERVERS = 6


@pytest.fixture(params=[False, True], ids=["nothing prepared", "statements prepared"])
def pooler(request: pytest.FixtureRequest, live_db: None) -> Iterator[Pooler]:
    """The application's connections go through a pooler."""
    entry = connections.settings["default"]
    if "options" in entry["OPTIONS"]:
        pytest.skip("the application and the owner have one login here, which a pooler refuses")
    before = entry | {"OPTIONS": entry["OPTIONS"].copy()}
    with tempfile.TemporaryDirectory(prefix="cukassza-p-", dir="/tmp") as folder:
        made = Pooler(Path(folder), os.environ["DATABASE_URL"], servers=SERVERS, prepares=request.param)
        connections["default"].close()
        entry |= {"HOST": folder, "PORT": str(PORT)}
        entry["OPTIONS"] |= {"prepare_threshold": PREPARED_AFTER if request.param else None}
        try:
            yield made
        finally:
            connections["default"].close()
            kept_connections.close()
            entry |= before
            made.close()


@pytest.mark.some_now(2)
def test_a_busy_evening_leaves_nothing_in_the_sessions_of_a_pooler(pooler: Pooler) -> None:
    kit = Kit.found()
    busy = Busy(kit)
    for steps in (STEPS, AFTERWARDS):
        for name, step in steps.items():
            answer = step(busy)
            assert answer.is_success, f"{name}: {answer.text}"
        kit.settle()
    kit.close()
    found = verification(kit.house)
    assert found["ok"], {name: what for name, what in found.items() if name.endswith("findings") and what}
    assert pooler.left == []
    assert pooler.transactions > len(STEPS) + len(AFTERWARDS)
    assert bool(pooler.prepared) == pooler.prepares


@pytest.mark.slow
def test_more_clients_than_server_connections_write_at_the_same_time(pooler: Pooler) -> None:
    kit = Kit.found()
    cashier = kit.cashier()

    def register(number: int) -> int:
        return cashier.post("/api/v1/players/register", {"player": f"player-{number}"}).status_code

    clients = 3 * SERVERS
    assert at_once(*[partial(register, number) for number in range(clients)]) == [201] * clients
    kit.close()
    assert verification(kit.house)["ok"]
    assert pooler.left == []


@pytest.mark.parametrize(
    ("statement", "left"),
    [
        ("SET lock_timeout = '3s'", "setting lock_timeout = 3000"),
        ("SELECT set_config('work_mem', '8MB', false)", "setting work_mem = 8192"),
        ("SELECT pg_advisory_lock(7)", "advisory lock 7"),
        ("LISTEN lamps", "channel lamps"),
        ("PREPARE lamps AS SELECT 1", "prepared statement PREPARE lamps AS SELECT 1"),
        ("DECLARE lamps CURSOR WITH HOLD FOR SELECT 1", "cursor lamps"),
        ("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", "setting default_transaction_read_only = on"),
    ],
)
def test_what_a_session_keeps_is_found_and_is_not_there_in_the_next_transaction(
    pooler: Pooler, statement: str, left: str
) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    assert left in pooler.left
    found = len(pooler.left)
    with connection.cursor() as cursor:
        for _ in range(2 * SERVERS):
            cursor.execute("SHOW lock_timeout")
            assert cursor.fetchone() == ("0",)
    assert len(pooler.left) == found


def test_what_ends_with_its_transaction_is_not_left(pooler: Pooler) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL lock_timeout = '3s'")
        cursor.execute("SELECT pg_advisory_xact_lock(7)")
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone() == ("3s",)
    assert pooler.left == []


def test_a_login_of_the_owner_works_as_the_application_and_not_behind_a_pooler(pooler: Pooler) -> None:
    """The role belongs to the connection as it begins: a server grants it or there is no connection."""
    url, role = os.environ["DATABASE_OWNER_URL"], settings.CASINO_APP_ROLE
    entry = connections.settings["owner"] | database(url, role=role)
    direct = DatabaseWrapper(entry, "direct")
    with direct.cursor() as cursor:
        cursor.execute("RESET ROLE")
        cursor.execute("SELECT current_user, session_user <> current_user")
        assert cursor.fetchone() == (role, True)
    direct.close()
    pooled = DatabaseWrapper(entry | {"HOST": connections.settings["default"]["HOST"], "PORT": str(PORT)}, "pooled")
    with pytest.raises(OperationalError, match="unsupported startup parameter"):
        pooled.ensure_connection()
