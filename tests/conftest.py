"""Root fixtures: every test that needs a server gets a real one.

Settings are read from the environment when Django starts, so `pytest_configure` only *plans* the addresses
(no server is started) and sets Django up; pytest-django finds it ready. The first test that asks for
`live_db` (or `db`) starts PostgreSQL, makes a database of this process's own, migrated by its owner or copied from one
that was, and leaves the application's role connected. A run of tests/engine alone needs neither Django nor a server:
the engine is pure.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from hypothesis import settings
from pytest_django.plugin import DjangoDbBlocker

from deploy.embedded import EmbeddedError
from tests import installation, kept_catalogue, kept_connections, slow
from tests.services import PrivateValkey, TestServices

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper

SERVICES = pytest.StashKey[TestServices]()
INSTALLATION = pytest.StashKey[installation.Installation]()
ENGINE_TESTS = Path(__file__).parent / "engine"

# How long an example takes says more of the machine than of the code.
settings.register_profile("house", settings(), deadline=None)
settings.load_profile("house")


def pytest_configure(config: pytest.Config) -> None:
    """Point the environment at this process's own database and Valkey, and set Django up."""
    if engine_only(config) or is_xdist_controller(config):
        return
    if os.environ.get("DJANGO_SETTINGS_MODULE"):
        # pytest-django has loaded it before this file, and the tests would write into the database it names.
        raise pytest.UsageError("unset DJANGO_SETTINGS_MODULE: the tests choose it, with a database of their own")
    try:
        services = config.stash[SERVICES] = TestServices(os.environ)
    except EmbeddedError as error:
        raise pytest.UsageError(str(error)) from error
    os.environ.update(services.environ())
    os.environ["DJANGO_SETTINGS_MODULE"] = "casino.settings"
    import django

    django.setup()
    hash_passwords_quickly()
    kept_catalogue.install()
    kept_connections.install()
    wait_for_no_signature()


def hash_passwords_quickly() -> None:
    """The hasher of the settings, with the least work that it takes: tests sign in a great deal, and guess nothing."""
    from django.contrib.auth.hashers import Argon2PasswordHasher

    Argon2PasswordHasher.time_cost, Argon2PasswordHasher.memory_cost, Argon2PasswordHasher.parallelism = 1, 8, 1


def wait_for_no_signature() -> None:
    """Commands give the sequencer some seconds to sign the event of an export; here it runs only where a test does."""
    from casino.verification import command_audit as unattended

    unattended.PATIENCE = 0.2


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Before `-m` chooses: of tests marked `some_now(N)` all cases but each N-th are long; what is long is slow, and
    what took long when it was measured."""
    slow.mark_long_cases(items)
    slow.mark_measured(items)
    installation.bring_together(items)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """What runs for several tests ends before one that does not ask for it."""
    if INSTALLATION in item.config.stash and "installed" not in getattr(nextitem, "fixturenames", ()):
        item.config.stash[INSTALLATION].end()


def pytest_collection_finish() -> None:
    """Modules stay: the garbage collector need not look at all that they hold again and again, nor so often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Leave no server of our own and no temporary folder behind."""
    if SERVICES in config.stash:
        config.stash[SERVICES].remove()


def engine_only(config: pytest.Config) -> bool:
    """Whether every path of this run lies in tests/engine."""
    paths = [(config.invocation_params.dir / arg.split("::")[0]).resolve() for arg in config.args]
    return bool(paths) and all(path.is_relative_to(ENGINE_TESTS) for path in paths)


def is_xdist_controller(config: pytest.Config) -> bool:
    """Whether we only hand tests to workers; they inherit our environment, so it must stay as it was."""
    return bool(config.getoption("dist", "no") != "no") and not hasattr(config, "workerinput")


@pytest.fixture(scope="session")
def services(pytestconfig: pytest.Config) -> TestServices:
    """PostgreSQL and Valkey of this test process, running."""
    planned = pytestconfig.stash[SERVICES]
    planned.start()
    return planned


@pytest.fixture(scope="session")
def django_db_setup(services: TestServices, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """A fresh database, migrated on alias `owner` or copied from one; replaces pytest-django's, which would flush
    tables and fail.

    The runtime role may not TRUNCATE, by design, so nothing is ever cleaned up: tests make houses of their
    own.
    """
    from django.core.management import call_command
    from django.db import connections

    def migrate() -> None:
        call_command("migrate", database="owner", verbosity=0, interactive=False)
        connections.close_all()

    with django_db_blocker.unblock():
        try:
            services.create_database(migrate=migrate, durable=False)
            yield
        finally:
            connections.close_all()
            kept_connections.close()
            services.drop_database()


@pytest.fixture
def live_db(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Database access as the running application has it: real commits, no wrapping transaction, no flush.

    Connections go on to the next test, as a new one costs as much as a small test; but no test inherits a transaction,
    a session setting or a lock.
    """
    from django.db import connections

    with django_db_blocker.unblock():
        try:
            yield
        finally:
            for connection in connections.all(initialized_only=True):
                make_as_new(connection)


@pytest.fixture
def whole_db(live_db: None) -> None:
    """The same for a whole application that has to be ready: what tests left in the outbox counts as done. Some leave
    what can never be done, and an old message says that the outbox stands still."""
    from casino.houses.models import ClockTimestamp, OutboxMessage

    OutboxMessage.objects.filter(done_at=None).update(done_at=ClockTimestamp())


@pytest.fixture(scope="session")
def _installation(
    services: TestServices, django_db_setup: None, tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> Iterator[installation.Installation]:
    """It ends before the database is dropped, whatever happens to the tests."""
    from tests.casino.metrics.reading import token_file

    folder = tmp_path_factory.mktemp("installed")
    token_file(folder)
    found = pytestconfig.stash[INSTALLATION] = installation.Installation(folder)
    yield found
    found.end()


@pytest.fixture
def installed(_installation: installation.Installation, whole_db: None) -> installation.Installation:
    """An installation with the settings of the tests, which is ready; it runs on while tests ask for it."""
    _installation.up()
    return _installation


@pytest.fixture
def bench_db(whole_db: None) -> Iterator[None]:
    """The same for a measurement, whose own tables and those of its references are gone afterwards: in a house's
    database they would be objects that no migration has made."""
    from django.db import connections

    from casino.verification import catalogue

    yield
    with connections["owner"].cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS bench_bare; DROP SCHEMA IF EXISTS bench_raw, reference CASCADE")
    assert catalogue.now().differences() == []


#: What a session can have that a new one has not; the statements that it has prepared stay.
AS_NEW = "DISCARD TEMP; RESET ALL; UNLISTEN *; SELECT pg_advisory_unlock_all()"


def make_as_new(connection: BaseDatabaseWrapper) -> None:
    """Put an open connection back to how it was when it was opened; where it cannot be used any more, close it."""
    if connection.connection is None:
        return
    if connection.in_atomic_block or not connection.get_autocommit():
        connection.close()
        return
    try:
        # Past Django's cursor, which tests may have wrapped.
        connection.connection.execute(AS_NEW, prepare=False)
    except psycopg.Error:
        connection.close()


@pytest.fixture
def private_valkey() -> Iterator[PrivateValkey]:
    """A running Valkey of the test's own: `url`, `broker_url`, `kill()`, `start()`."""
    server = PrivateValkey()
    try:
        server.start()
        yield server
    finally:
        server.remove()


@pytest.fixture
def own_valkey(private_valkey: PrivateValkey) -> str:
    """The URL of a Valkey of the test's own, for tests that flush or stop it."""
    return private_valkey.url
