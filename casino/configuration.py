"""Every environment variable that the house reads, declared once: name, type, default, meaning.

`casino/settings.py` takes its values from `read()`, and `docs/reference/settings.md` is generated from the same fields.
Nothing secret has a default. A value that cannot be used, and a `CASINO_...` variable that is not declared here, stop
the process before it does anything: a misspelled name would otherwise leave a default in force unnoticed.
"""

import difflib
import ipaddress
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from django.core.exceptions import ImproperlyConfigured

from casino.core import key_sources

BASE_DIR = Path(__file__).resolve().parent.parent
PREFIX = "CASINO_"
#: Variables with the prefix that other programs of this project read.
ELSEWHERE = {
    "CASINO_VAR": "The folder of the embedded servers and generated keys; `deploy.embedded` reads it (default: `var`).",
    "CASINO_PROXY": "The address of the proxy in front, `127.0.0.1`: what it says of a client's address and of TLS "
    "counts (`X-Forwarded-For`, `X-Forwarded-Proto`); `deploy.web` reads it (default: none; no such header counts).",
}
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
FORMATS = ("text", "json")

T = TypeVar("T")


def variable(
    name: str, parse: Callable[[str], T], *, meaning: str, default: Any = MISSING, shown: str = "", secret: bool = False
) -> Any:
    """A field of `Configuration` that is read from the variable `name`; required where it has no default.

    `parse` turns the text into the value and raises ValueError saying what is expected. `shown` is the default as the
    reference prints it. No message shows the value of a secret.
    """
    metadata = {"name": name, "parse": parse, "meaning": meaning, "shown": shown, "secret": secret}
    return field(default=default, metadata=metadata, repr=not secret)


def _text(value: str) -> str:
    return value


def _flag(value: str) -> bool:
    if value not in ("0", "1"):
        raise ValueError("expected 0 or 1")
    return value == "1"


def _days(value: str) -> int:
    if not value.isascii() or not value.isdecimal() or int(value) < 1:
        raise ValueError("expected a whole number of days, 1 or more")
    return int(value)


def _seconds(value: str) -> float:
    try:
        seconds = float(value)
    except ValueError:
        seconds = 0.0
    if not 0.05 <= seconds <= 15:
        raise ValueError("expected seconds, from 0.05 to 15")
    return seconds


def _key(value: str) -> str:
    key_sources.parse(value)
    return value


def _witnesses(value: str) -> tuple[str, ...]:
    found = tuple(one.strip() for one in value.split(","))
    if not all(re.fullmatch(r"https?://[^\s#]+#[^\s+]+\+[0-9a-f]{8}\+[A-Za-z0-9+/]+={0,2}", one) for one in found):
        raise ValueError("expected https://ADDRESS#VKEY, several separated by commas")
    return found


def _address(value: str) -> str:
    if not re.fullmatch(r"https?://[^\s]+", value):
        raise ValueError("expected https://ADDRESS")
    return value


def _interval(value: str) -> int:
    if not value.isascii() or not value.isdecimal() or not 10 <= int(value) <= 2_678_400:
        raise ValueError("expected whole seconds, from 10 to 2678400 (31 days)")
    return int(value)


def _socket(value: str) -> str:
    # The shortest limit of the systems that we know; one byte ends the path.
    if len(os.fsencode(value)) > 103:
        raise ValueError("expected a path of 103 bytes at most")
    return value


def _streams(value: str) -> int:
    if not value.isascii() or not value.isdecimal() or not 1 <= int(value) <= 100_000:
        raise ValueError("expected a whole number, from 1 to 100000")
    return int(value)


def _level(value: str) -> str:
    if value not in LEVELS:
        raise ValueError(f"expected one of {', '.join(LEVELS)}")
    return value


def _format(value: str) -> str:
    if value not in FORMATS:
        raise ValueError(f"expected one of {', '.join(FORMATS)}")
    return value


def _networks(value: str) -> tuple[str, ...]:
    try:
        return tuple(str(ipaddress.ip_network(one.strip())) for one in value.split(",") if one.strip())
    except ValueError:
        raise ValueError("expected addresses or networks such as 10.0.0.0/24, separated by commas") from None


def _hosts(value: str) -> tuple[str, ...]:
    return tuple(host for host in value.split(",") if host)


def _origins(value: str) -> tuple[str, ...]:
    found = _hosts(value)
    if not all(re.fullmatch(r"https?://[^\s/]+", one) for one in found):
        raise ValueError("expected https://HOST, several separated by commas, without a path")
    return found


def _folders(value: str) -> tuple[Path, ...]:
    folders = tuple(Path(folder) for folder in value.split(os.pathsep) if folder)
    if not folders:
        raise ValueError("names no folder: a log without a copy outside the database proves nothing")
    return folders


def _postgresql(value: str) -> str:
    if value.partition(":")[0] not in ("postgres", "postgresql"):
        raise ValueError("expected the URL of a PostgreSQL database (postgresql://...): it keeps the ledger's promises")
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """The values of one process."""

    database_url: str = variable(
        "DATABASE_URL",
        _postgresql,
        meaning="The database of the running application, which always works as the role `CASINO_APP_ROLE`.",
        secret=True,
    )
    database_owner_url: str | None = variable(
        "DATABASE_OWNER_URL",
        _postgresql,
        default=None,
        shown="`DATABASE_URL`",
        meaning="A login that owns the tables; only `migrate --database owner` and `open_epoch` use it.",
        secret=True,
    )
    database_sequencer_url: str | None = variable(
        "DATABASE_SEQUENCER_URL",
        _postgresql,
        default=None,
        shown="`DATABASE_OWNER_URL`",
        meaning="A login that is a member of `CASINO_SEQUENCER_ROLE`; only the sequencer's process uses it.",
        secret=True,
    )
    app_role: str = variable(
        "CASINO_APP_ROLE",
        _text,
        default="casino_app",
        meaning="The role of the application; the migrations grant it its rights.",
    )
    sequencer_role: str = variable(
        "CASINO_SEQUENCER_ROLE",
        _text,
        default="casino_sequencer",
        meaning="The role of the sequencer; the migrations grant it its rights.",
    )
    prepared_statements: bool = variable(
        "CASINO_PREPARED_STATEMENTS",
        _flag,
        default=True,
        shown="`1`",
        meaning=(
            "`0` prepares no statement on the server: for a pooler in transaction mode that does not keep them "
            "(pgbouncer before 1.21, or with `max_prepared_statements = 0`)."
        ),
    )
    lock_timeout: float = variable(
        "CASINO_LOCK_TIMEOUT",
        _seconds,
        default=5.0,
        shown="`5`",
        meaning="Seconds that a write waits for a lock that another one holds, before it is refused as `busy`.",
    )
    redis_url: str = variable(
        "REDIS_URL",
        _text,
        meaning="The server that speaks the Redis protocol. Its content may be lost at any time.",
        secret=True,
    )
    celery_broker_url: str | None = variable(
        "CELERY_BROKER_URL",
        _text,
        default=None,
        shown="`REDIS_URL`",
        meaning="The broker of Celery, where it is another server.",
        secret=True,
    )
    queue_prefix: str | None = variable(
        "CASINO_QUEUE_PREFIX",
        _text,
        default=None,
        shown="made from server, port and name in `DATABASE_URL`",
        meaning=(
            "How queues are named on the broker. Set the same prefix for all processes of a database where they spell "
            "its URL differently, and another one for each database."
        ),
    )
    secret_key: str = variable("CASINO_SECRET_KEY", _text, meaning="Django's signing key.", secret=True)
    seal_key: str = variable(
        "CASINO_SEAL_KEY",
        _key,
        meaning=(
            "The seal key, which wraps the keys that seal cards and personal data: `file:PATH`, `hex:DIGITS` (64 hex "
            "digits) or `command:PROGRAM ...` ([keys](../how-to/keys.md))."
        ),
        secret=True,
    )
    seal_key_old: str = variable(
        "CASINO_SEAL_KEY_OLD",
        _key,
        default="",
        shown="none",
        meaning="The seal key before `CASINO_SEAL_KEY`, while `rotate_seal_key` is not done. It wraps nothing.",
        secret=True,
    )
    log_key: str = variable(
        "CASINO_LOG_KEY",
        _key,
        default="",
        shown="none",
        meaning=(
            "The Ed25519 key that signs the audit log's checkpoints, named as `CASINO_SEAL_KEY` is. For the sequencer "
            "alone."
        ),
        secret=True,
    )
    log_key_old: str = variable(
        "CASINO_LOG_KEY_OLD",
        _key,
        default="",
        shown="none",
        meaning="The log key before `CASINO_LOG_KEY`, while `rotate_log_key` is not done. For the sequencer alone.",
        secret=True,
    )
    checkpoint_dirs: tuple[Path, ...] = variable(
        "CASINO_CHECKPOINT_DIR",
        _folders,
        default=(BASE_DIR / "var" / "checkpoints",),
        shown="`var/checkpoints`",
        meaning="Folders outside the database that keep the checkpoints, separated as in `PATH`.",
    )
    witnesses: tuple[str, ...] = variable(
        "CASINO_WITNESSES",
        _witnesses,
        default=(),
        shown="none",
        meaning="Witnesses that cosign the checkpoints, separated by commas: `https://ADDRESS#VKEY` "
        "(`python -m deploy.witness` runs one).",
    )
    timestamp_url: str = variable(
        "CASINO_TIMESTAMP_URL",
        _address,
        default="",
        shown="none",
        meaning="A time-stamp authority (RFC 3161) that stamps the checkpoints: `https://ADDRESS`.",
    )
    timestamp_certificates: str = variable(
        "CASINO_TIMESTAMP_CERTIFICATES",
        _text,
        default="",
        shown="none",
        meaning="PEM file with the root certificates of the authority, and of earlier ones: time stamps are taken and "
        "verified under them. Set with `CASINO_TIMESTAMP_URL`.",
    )
    timestamp_interval: int = variable(
        "CASINO_TIMESTAMP_INTERVAL",
        _interval,
        default=3600,
        meaning="Seconds between two time stamps of a house, at least; nothing is stamped twice.",
    )
    retention_days: int = variable(
        "CASINO_RETENTION_DAYS",
        _days,
        # Card rooms fall under Hungary's act LIII of 2017 (section 1, 1 i); its sections 56 to 58 require eight years
        # from the end of the business relationship.
        default=2922,
        meaning="Days for which personal data are kept after a player's last activity (2922 days are eight years).",
    )
    destinations: str = variable(
        "CASINO_DESTINATIONS",
        _text,
        default="",
        shown="none",
        meaning="A file of TOML with the destinations of scheduled reports: a folder, mail, a store of S3's protocol "
        "([how](../how-to/send-reports.md)); and of webhooks ([how](../how-to/receive-webhooks.md)).",
    )
    address: str = variable(
        "CASINO_ADDRESS",
        _address,
        default="",
        shown="that of the request",
        meaning="Where browsers of players reach the house, `https://house.example`: the QR codes on paper lead there.",
    )
    unclaimed_days: int = variable(
        "CASINO_UNCLAIMED_DAYS",
        _days,
        default=90,
        meaning="Days for which found chips wait for their owner before the house remits or keeps their worth.",
    )
    allowed_hosts: tuple[str, ...] = variable(
        "CASINO_ALLOWED_HOSTS",
        _hosts,
        default=("127.0.0.1", "localhost", "[::1]"),
        shown="`127.0.0.1,localhost,[::1]`",
        meaning="Host names under which the API answers, separated by commas.",
    )
    passkey_host: str = variable(
        "CASINO_PASSKEY_HOST",
        _text,
        default="",
        shown="that of the request",
        meaning="The host for which passkeys are made, or a domain above it (`house.example` for "
        "`cage.house.example` too). Passkeys that were made for another one are not taken.",
    )
    passkey_origins: tuple[str, ...] = variable(
        "CASINO_PASSKEY_ORIGINS",
        _origins,
        default=(),
        shown="the host of the request, over HTTPS",
        meaning="Origins of the pages that may ask for a passkey, separated by commas: `https://house.example`.",
    )
    cors_origins: tuple[str, ...] = variable(
        "CASINO_CORS_ORIGINS",
        _hosts,
        default=(),
        shown="none",
        meaning="Origins of pages elsewhere that browsers let call the API, separated by commas: `https://a.example`.",
    )
    streams_socket: str = variable(
        "CASINO_STREAMS_SOCKET",
        _socket,
        default=str(BASE_DIR / "var" / "streams.sock"),
        shown="`var/streams.sock`",
        meaning="The unix socket over which the web processes give connections to `manage.py send_hints`, in a folder "
        "that only the application's user may enter. `deploy.processes` chooses one for each installation.",
    )
    most_streams: int = variable(
        "CASINO_MOST_STREAMS",
        _streams,
        default=500,
        meaning="Streams and waiting requests that `manage.py send_hints` serves at most. Each takes a descriptor.",
    )
    debug: bool = variable(
        "CASINO_DEBUG", _flag, default=False, shown="`0`", meaning="`1` turns Django's debug mode on; never in a house."
    )
    log_level: str = variable(
        "CASINO_LOG_LEVEL",
        _level,
        default="INFO",
        meaning=f"The least level that goes to stderr: {', '.join(f'`{level}`' for level in LEVELS)}.",
    )
    log_format: str = variable(
        "CASINO_LOG_FORMAT",
        _format,
        default="text",
        meaning="How lines of the log are written: `text`, or `json`, one object a line, with a line for each request "
        "([watch](../how-to/watch.md)).",
    )
    metrics_dir: str | None = variable(
        "CASINO_METRICS_DIR",
        _text,
        default=None,
        shown="none",
        meaning="The folder in which the processes of one web share what they count. Without it `/metrics` counts for "
        "the process that answers; no other web may use it. `deploy.processes` chooses one for each installation.",
    )
    metrics_from: tuple[str, ...] = variable(
        "CASINO_METRICS_FROM",
        _networks,
        default=(),
        shown="none",
        meaning="Addresses and networks that may read `/metrics`, separated by commas. With "
        "`CASINO_METRICS_TOKEN_FILE` both are asked for; with neither nobody may.",
    )
    metrics_token_file: str | None = variable(
        "CASINO_METRICS_TOKEN_FILE",
        _text,
        default=None,
        shown="none",
        meaning="A file with the bearer token that may read `/metrics`, of 20 characters or more; read each time.",
    )
    backup_records: str | None = variable(
        "CASINO_BACKUP_RECORDS",
        _text,
        default=None,
        shown="none",
        meaning="The folder in which `python -m deploy.backups` notes the last backups and drills of restoring, for "
        "`/metrics` and `manage.py doctor`.",
    )


def declared() -> tuple[Field[Any], ...]:
    """The declarations, in the order of the reference."""
    return fields(Configuration)


def read(environ: Mapping[str, str]) -> Configuration:
    """The configuration of an environment; an empty variable counts as not set. Raises ImproperlyConfigured."""
    _refuse_unknown(environ)
    return Configuration(**{one.name: _value(one, environ.get(one.metadata["name"], "")) for one in declared()})


def _refuse_unknown(environ: Mapping[str, str]) -> None:
    known = [*ELSEWHERE, *(one.metadata["name"] for one in declared())]
    for name in sorted(environ):
        if name.startswith(PREFIX) and name not in known:
            close = difflib.get_close_matches(name, known, 1, cutoff=0.8)
            hint = f"; did you mean {close[0]}?" if close else f". Known are: {', '.join(sorted(known))}"
            raise ImproperlyConfigured(f"{name} is not a setting{hint}")


def _value(one: Field[Any], text: str) -> Any:
    name = one.metadata["name"]
    if text:
        try:
            return one.metadata["parse"](text)
        except ValueError as error:
            given = "" if one.metadata["secret"] else f", got {text!r}"
            raise ImproperlyConfigured(f"{name}: {error}{given}.") from error
    if one.default is MISSING:
        hint = 'eval "$(.venv/bin/python -m deploy.embedded env)"'
        raise ImproperlyConfigured(f"{name} is not set. Run through `make`, or: {hint}")
    return one.default
