"""The addresses and keys that the rest of the project reads from the environment."""

from __future__ import annotations

import os
import secrets
import shlex
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, quote, urlencode, urlsplit, urlunsplit

from deploy.embedded.layout import Layout, private_dir

DATABASE = "casino"
OWNER = "casino"
APP_ROLE = "casino_app"
SEQUENCER_ROLE = "casino_sequencer"


@dataclass(frozen=True)
class ServiceUrls:
    """Where the services are. Roles: the owner only migrates, the application uses `database_url`, the sequencer of the
    audit log a separate URL."""

    database_owner_url: str = field(repr=False)
    database_url: str = field(repr=False)
    database_sequencer_url: str = field(repr=False)
    redis_url: str
    celery_broker_url: str
    secret_key: str = field(repr=False)
    #: Where the two keys come from; they may be the keys themselves.
    seal_key: str = field(repr=False)
    log_key: str = field(repr=False)
    checkpoint_dir: str
    archive_dir: str

    def as_environ(self) -> dict[str, str]:
        """The environment variables that casino.settings reads."""
        return {
            "DATABASE_OWNER_URL": self.database_owner_url,
            "DATABASE_URL": self.database_url,
            "DATABASE_SEQUENCER_URL": self.database_sequencer_url,
            "REDIS_URL": self.redis_url,
            "CELERY_BROKER_URL": self.celery_broker_url,
            "CASINO_SECRET_KEY": self.secret_key,
            "CASINO_SEAL_KEY": self.seal_key,
            "CASINO_LOG_KEY": self.log_key,
            "CASINO_CHECKPOINT_DIR": self.checkpoint_dir,
            "CASINO_ARCHIVE_DIR": self.archive_dir,
        }

    def as_exports(self) -> str:
        """Lines for `eval` in a shell."""
        return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in self.as_environ().items())


@dataclass(frozen=True)
class Given:
    """What the environment already names; an empty string means: not given, use the embedded server."""

    database: str
    database_owner: str
    database_sequencer: str
    redis: str
    broker: str


def postgres_url(layout: Layout, role: str, database: str = DATABASE) -> str:
    """`postgresql://role:password@%2Fabs%2Frun/database`."""
    return f"postgresql://{role}:{password_of(layout, role)}@{quote(str(layout.run), safe='')}/{database}"


def password_of(layout: Layout, role: str) -> str:
    """The password with which a role signs in to the embedded PostgreSQL."""
    return kept_secret(layout.var, f"database_{role}")


def valkey_url(socket: Path) -> str:
    """`unix:///abs/run/valkey.sock`."""
    return f"unix://{socket}"


def broker_url(redis_url: str) -> str:
    """Celery's spelling of a Redis URL: unix sockets differ (`redis+socket://`, `virtual_host` for `db`)."""
    parts = urlsplit(redis_url)
    if parts.scheme != "unix":
        return redis_url
    query = {("virtual_host" if name == "db" else name): values[-1] for name, values in parse_qs(parts.query).items()}
    # urlunsplit drops the empty authority of schemes it does not know, and kombu needs the three slashes.
    tail = urlunsplit(("", "", parts.path, urlencode(query), ""))
    return f"redis+socket://{parts.netloc}{tail}"


def given_urls(environ: Mapping[str, str], layout: Layout | None) -> Given:
    """The servers named by the environment; URLs of our own embedded servers do not count as given.

    They are there after `eval "$(python -m deploy.embedded env)"`, and must not keep `up` from starting them.
    """
    own = _own_urls(layout) if layout else frozenset()
    names = ("DATABASE_URL", "DATABASE_OWNER_URL", "DATABASE_SEQUENCER_URL", "REDIS_URL", "CELERY_BROKER_URL")
    values = {name: "" if environ.get(name) in own else environ.get(name, "") for name in names}
    return Given(
        database=values["DATABASE_URL"] or values["DATABASE_OWNER_URL"],
        database_owner=values["DATABASE_OWNER_URL"] or values["DATABASE_URL"],
        # Without a separate login, the sequencer connects as the owner and switches to its role.
        database_sequencer=values["DATABASE_SEQUENCER_URL"] or values["DATABASE_OWNER_URL"] or values["DATABASE_URL"],
        redis=values["REDIS_URL"],
        broker=values["CELERY_BROKER_URL"],
    )


def _own_urls(layout: Layout) -> frozenset[str]:
    """Every URL that `env` prints for the embedded servers."""
    redis = valkey_url(layout.valkey_socket)
    databases = tuple(postgres_url(layout, role) for role in (OWNER, APP_ROLE, SEQUENCER_ROLE))
    return frozenset((*databases, redis, broker_url(redis)))


def kept_secret(var: Path, name: str) -> str:
    """The secret of this name (32 random bytes in hexadecimal), made at the first call."""
    return kept_secret_file(var, name).read_text(encoding="utf-8").strip()


def kept_secret_file(var: Path, name: str) -> Path:
    """The file of the secret of this name, made at the first call; mode 0600."""
    path = private_dir(var / "secrets") / name
    if not path.exists():
        descriptor, half = tempfile.mkstemp(dir=path.parent)  # mode 0600
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_hex(32))
        try:
            os.link(half, path)  # fails if another process was first: then its secret counts
        except FileExistsError:
            pass
        finally:
            Path(half).unlink()
    return path
