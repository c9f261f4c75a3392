"""A throw-away installation, as `make run` starts one: embedded servers with their keeper, web, workers, beat and
sequencer, in a folder of its own."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from deploy import embedded
from deploy.embedded.layout import Layout, open_layout
from deploy.embedded.process import read_pid
from deploy.processes import PRIVATE, Processes, address, application, listen

#: What would name servers and keys of somebody else.
NAMES = (
    "DATABASE_URL", "REDIS_URL", "CELERY_BROKER_URL", "CASINO_SECRET_KEY", "CASINO_SEAL_KEY", "CASINO_CHECKPOINT_DIR",
    "DJANGO_SETTINGS_MODULE", *PRIVATE,
)  # fmt: skip


#: A connection of the database's owner.
Owner = psycopg.Connection[tuple[object, ...]]


@dataclass(frozen=True)
class Installation:
    """The servers and processes on which faults fall."""

    processes: Processes
    root: str
    urls: embedded.ServiceUrls
    layout: Layout

    def database(self) -> Owner:
        """A connection of the owner's. Raises psycopg.OperationalError."""
        return psycopg.connect(self.urls.database_owner_url, autocommit=True, connect_timeout=5)

    def broker(self) -> redis.Redis:
        """A client that does not wait for long and does not try again."""
        return redis.Redis.from_url(
            self.urls.redis_url, socket_timeout=2, socket_connect_timeout=2, retry=Retry(NoBackoff(), 0)
        )

    def pid_of_server(self, name: str) -> int | None:
        """The pid of `postgres` or `valkey`, as its pid file says."""
        layout = self.layout
        return read_pid(layout.pg / "postmaster.pid" if name == "postgres" else layout.valkey / "server.pid")


@contextmanager
def installed(environ: Mapping[str, str] | None = None) -> Iterator[Installation]:
    """Everything up, and Django set up in this process to found houses; nothing is left afterwards. `environ` is set
    besides."""
    var = Path(tempfile.mkdtemp(prefix="faults-"))
    for name in NAMES:
        os.environ.pop(name, None)
    os.environ["CASINO_VAR"] = str(var)
    os.environ.update(environ or {})
    try:
        urls = embedded.ensure()
        _set_up(urls)
        with embedded.Keeper(), listen(0) as listener, Processes(application(listener)) as processes:
            processes.wait_ready(f"{address(listener)}/readyz")
            yield Installation(processes, address(listener), urls, open_layout(var))
    finally:
        embedded.remove(var=var)
        shutil.rmtree(var, ignore_errors=True)


def _set_up(urls: embedded.ServiceUrls) -> None:
    os.environ.update(urls.as_environ())
    os.environ["DJANGO_SETTINGS_MODULE"] = "casino.settings"
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", database="owner", verbosity=0)
