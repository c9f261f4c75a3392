"""Start, stop and describe the services that the environment does not already name."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from deploy.embedded.layout import Layout, locked, open_layout, var_dir
from deploy.embedded.postgres import Postgres
from deploy.embedded.urls import (
    APP_ROLE,
    OWNER,
    SEQUENCER_ROLE,
    Given,
    ServiceUrls,
    broker_url,
    given_urls,
    kept_secret,
    kept_secret_file,
    postgres_url,
    valkey_url,
)
from deploy.embedded.valkey import Valkey

#: Where archives are kept; who makes one creates no folder for them.
_ARCHIVES = "archives"


@dataclass(frozen=True)
class ServiceStatus:
    """One line of `status`: `where` is "embedded" or "given", `version` is None when nobody answers."""

    name: str
    where: str
    version: str | None


def ensure(*, environ: Mapping[str, str] = os.environ, var: Path | None = None) -> ServiceUrls:
    """Make sure that PostgreSQL and Valkey answer, and say where; servers named by `environ` are left alone.

    Safe to call again and from several processes at once. Raises `EmbeddedError` subclasses.
    """
    var = var_dir() if var is None else var
    with locked(var):
        layout = open_layout(var)
        named = given_urls(environ, layout)
        if not named.database:
            Postgres(layout).start()
        if not named.redis:
            Valkey(layout).start()
        (layout.var / _ARCHIVES).mkdir(exist_ok=True)
    return _urls(environ, layout, named)


def urls(*, environ: Mapping[str, str] = os.environ, var: Path | None = None) -> ServiceUrls:
    """What `ensure` would return, without starting anything."""
    var = var_dir() if var is None else var
    with locked(var):
        layout = open_layout(var)
    return _urls(environ, layout, given_urls(environ, layout))


def given(*, environ: Mapping[str, str] = os.environ, var: Path | None = None) -> Given:
    """Which servers the environment names, other than our own embedded ones."""
    var = var_dir() if var is None else var
    return given_urls(environ, open_layout(var) if var.exists() else None)


def dead(*, environ: Mapping[str, str] = os.environ, var: Path | None = None) -> list[str]:
    """The names of embedded servers that have ended, and that nobody stopped with `down`."""
    var = var_dir() if var is None else var
    if not var.exists():
        return []
    layout = open_layout(var)
    named = given_urls(environ, layout)
    found = [] if named.database or not Postgres(layout).has_died() else ["PostgreSQL"]
    return found if named.redis or not Valkey(layout).has_died() else [*found, "Valkey"]


def down(*, var: Path | None = None) -> None:
    """Stop the embedded servers that run; servers named by the environment are never touched."""
    var = var_dir() if var is None else var
    if not var.exists():
        return
    with locked(var):
        layout = open_layout(var)
        Valkey(layout).stop()
        Postgres(layout).stop()


def remove(*, var: Path | None = None) -> None:
    """Stop the embedded servers and remove everything they kept: data, secrets, sockets, logs."""
    var = var_dir() if var is None else var
    if not var.exists():
        return
    down(var=var)
    with locked(var):
        layout = open_layout(var)
        for folder in (layout.run, layout.home, layout.var):
            if folder.exists():  # the first two may lie inside the third, or in places of their own
                shutil.rmtree(folder)


def status(*, environ: Mapping[str, str] = os.environ, var: Path | None = None) -> tuple[ServiceStatus, ServiceStatus]:
    """Whether each service answers. A given server is not asked: its health is not ours to judge."""
    var = var_dir() if var is None else var
    named = given(environ=environ, var=var)
    versions: tuple[str | None, str | None] = (None, None)
    if var.exists():
        layout = open_layout(var)
        versions = (Postgres(layout).version(), Valkey(layout).version())
    return (
        ServiceStatus("postgresql", *(("given", "") if named.database else ("embedded", versions[0]))),
        ServiceStatus("valkey", *(("given", "") if named.redis else ("embedded", versions[1]))),
    )


def _urls(environ: Mapping[str, str], layout: Layout, named: Given) -> ServiceUrls:
    redis_url = named.redis or valkey_url(layout.valkey_socket)
    return ServiceUrls(
        database_owner_url=named.database_owner or postgres_url(layout, OWNER),
        database_url=named.database or postgres_url(layout, APP_ROLE),
        database_sequencer_url=named.database_sequencer or postgres_url(layout, SEQUENCER_ROLE),
        redis_url=redis_url,
        celery_broker_url=named.broker or broker_url(redis_url),
        secret_key=environ.get("CASINO_SECRET_KEY") or kept_secret(layout.var, "secret_key"),
        seal_key=environ.get("CASINO_SEAL_KEY") or f"file:{kept_secret_file(layout.var.resolve(), 'seal_key')}",
        log_key=environ.get("CASINO_LOG_KEY") or f"file:{kept_secret_file(layout.var.resolve(), 'log_key')}",
        checkpoint_dir=environ.get("CASINO_CHECKPOINT_DIR") or str(layout.var / "checkpoints"),
        archive_dir=environ.get("CASINO_ARCHIVE_DIR") or str(layout.var / _ARCHIVES),
    )
