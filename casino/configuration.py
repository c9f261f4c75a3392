"""Every setting of the house, declared once: name of its variable, key in the configuration file, type, default,
meaning.

`casino/settings.py` takes its values from `read()`; `docs/reference/settings.md` and the example of a configuration
file, `deploy/cukassza.toml`, are generated from the same fields. Nothing secret has a default. A value that cannot be
used, and a name that is not declared here, stop the process before it does anything: a misspelled name would otherwise
leave a default in force unnoticed.
"""

import os
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from casino.core import setting_kinds as kinds
from casino.core import setting_sources as sources
from casino.core.setting_kinds import Kind
from casino.core.setting_sources import NotSet, Setting, Sources, UnknownSetting, WrongSetting

BASE_DIR = Path(__file__).resolve().parent.parent
PREFIX = "CASINO_"
#: Variables with the prefix that are no settings.
ELSEWHERE = {
    sources.CONFIG: f"The configuration file (default: `{sources.DEFAULT_FILE}`, if it exists). `/dev/null` is none.",
    "CASINO_VAR": "The folder of the embedded servers and generated keys; `deploy.embedded` reads it (default: `var`).",
}


def variable(
    name: str, key: str, kind: Kind[Any], *, meaning: str, default: Any = MISSING, shown: str = "", example: str = "",
    secret: bool = False, private: bool = False,
) -> Any:  # fmt: skip
    """A field of `Configuration` that is the variable `name` and `section.key` of the file; required where it has no
    default.

    `shown` is the default as the reference prints it, `example` what the example of a file sets, as TOML. No message
    shows the value of a secret; `private` is one that a single process may know.
    """
    said = {"name": name, "key": key, "kind": kind, "meaning": meaning, "shown": shown, "example": example}
    return field(default=default, metadata={**said, "secret": secret, "private": private}, repr=not secret)


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """The values of one process."""

    database_url: str = variable(
        "DATABASE_URL",
        "database.url",
        kinds.POSTGRESQL,
        meaning="The database of the running application, which always works as the role `CASINO_APP_ROLE`.",
        secret=True,
    )
    database_owner_url: str | None = variable(
        "DATABASE_OWNER_URL",
        "database.owner_url",
        kinds.POSTGRESQL,
        default=None,
        shown="`DATABASE_URL`",
        meaning="A login that owns the tables; only `migrate --database owner` and `open_epoch` use it.",
        secret=True,
        private=True,
    )
    database_sequencer_url: str | None = variable(
        "DATABASE_SEQUENCER_URL",
        "database.sequencer_url",
        kinds.POSTGRESQL,
        default=None,
        shown="`DATABASE_OWNER_URL`",
        meaning="A login that is a member of `CASINO_SEQUENCER_ROLE`; only the sequencer's process uses it.",
        secret=True,
        private=True,
    )
    database_direct_url: str | None = variable(
        "DATABASE_DIRECT_URL",
        "database.direct_url",
        kinds.POSTGRESQL,
        default=None,
        shown="`DATABASE_URL`",
        meaning="The application's login past a pooler, for what shares a snapshot between connections: verification "
        "and exports. Needed with `CASINO_POOLER`.",
        secret=True,
    )
    pooler: str | None = variable(
        "CASINO_POOLER",
        "database.pooler",
        kinds.POOLER,
        default=None,
        shown="none",
        meaning="`transaction`: `DATABASE_URL` leads to a pooler in transaction mode. Every process then refuses to "
        "start with addresses that are not safe behind one ([pool connections](../how-to/pool-connections.md)).",
    )
    app_role: str = variable(
        "CASINO_APP_ROLE",
        "database.app_role",
        kinds.TEXT,
        default="casino_app",
        meaning="The role of the application; the migrations grant it its rights.",
    )
    sequencer_role: str = variable(
        "CASINO_SEQUENCER_ROLE",
        "database.sequencer_role",
        kinds.TEXT,
        default="casino_sequencer",
        meaning="The role of the sequencer; the migrations grant it its rights.",
    )
    prepared_statements: bool = variable(
        "CASINO_PREPARED_STATEMENTS",
        "database.prepared_statements",
        kinds.FLAG,
        default=True,
        shown="`1`",
        meaning=(
            "`0` prepares no statement on the server: for a pooler in transaction mode that does not keep them "
            "(pgbouncer before 1.22, or with `max_prepared_statements = 0`)."
        ),
    )
    lock_timeout: float = variable(
        "CASINO_LOCK_TIMEOUT",
        "database.lock_timeout",
        kinds.SECONDS,
        default=5.0,
        shown="`5`",
        meaning="Seconds that a write waits for a lock that another one holds, before it is refused as `busy`.",
    )
    newer_release: str = variable(
        "CASINO_NEWER_RELEASE",
        "database.newer_release",
        kinds.TEXT,
        default="",
        shown="the folder of the code",
        meaning="A folder with the code of the release after this one: while it promises to bear this version, the "
        "database may be as it makes it ([upgrade](../how-to/upgrade.md)). The default is right where new code takes "
        "the place of the old.",
    )
    redis_url: str = variable(
        "REDIS_URL",
        "broker.url",
        kinds.TEXT,
        meaning="The server that speaks the Redis protocol. Its content may be lost at any time.",
        secret=True,
    )
    celery_broker_url: str | None = variable(
        "CELERY_BROKER_URL",
        "broker.celery_url",
        kinds.TEXT,
        default=None,
        shown="`REDIS_URL`",
        meaning="The broker of Celery, where it is another server.",
        secret=True,
    )
    queue_prefix: str | None = variable(
        "CASINO_QUEUE_PREFIX",
        "broker.queue_prefix",
        kinds.TEXT,
        default=None,
        shown="made from server, port and name in `DATABASE_URL`",
        meaning=(
            "How queues are named on the broker. Set the same prefix for all processes of a database where they spell "
            "its URL differently, and another one for each database."
        ),
    )
    secret_key: str = variable(
        "CASINO_SECRET_KEY", "keys.secret_key", kinds.TEXT, meaning="Django's signing key.", secret=True
    )
    secret_key_old: str = variable(
        "CASINO_SECRET_KEY_OLD",
        "keys.secret_key_old",
        kinds.TEXT,
        default="",
        shown="none",
        meaning="Another of Django's signing keys, which counts too while `CASINO_SECRET_KEY` is rotated "
        "([keys](../how-to/keys.md#rotate-djangos-signing-key)). Nothing is signed with it.",
        secret=True,
    )
    seal_key: str = variable(
        "CASINO_SEAL_KEY",
        "keys.seal_key",
        kinds.KEY,
        meaning=(
            "The seal key, which wraps the keys that seal cards and personal data: `file:PATH`, `hex:DIGITS` (64 hex "
            "digits) or `command:PROGRAM ...` ([keys](../how-to/keys.md))."
        ),
        secret=True,
    )
    seal_key_old: str = variable(
        "CASINO_SEAL_KEY_OLD",
        "keys.seal_key_old",
        kinds.KEY,
        default="",
        shown="none",
        meaning="The seal key before `CASINO_SEAL_KEY`, while `rotate_seal_key` is not done. It wraps nothing.",
        secret=True,
    )
    log_key: str = variable(
        "CASINO_LOG_KEY",
        "keys.log_key",
        kinds.KEY,
        default="",
        shown="none",
        meaning=(
            "The Ed25519 key that signs the audit log's checkpoints, named as `CASINO_SEAL_KEY` is. For the sequencer "
            "alone."
        ),
        secret=True,
        private=True,
    )
    log_key_old: str = variable(
        "CASINO_LOG_KEY_OLD",
        "keys.log_key_old",
        kinds.KEY,
        default="",
        shown="none",
        meaning="The log key before `CASINO_LOG_KEY`, while `rotate_log_key` is not done. For the sequencer alone.",
        secret=True,
        private=True,
    )
    checkpoint_dirs: tuple[Path, ...] = variable(
        "CASINO_CHECKPOINT_DIR",
        "checkpoints.folders",
        kinds.FOLDERS,
        default=(BASE_DIR / "var" / "checkpoints",),
        shown="`var/checkpoints`",
        example='["/var/lib/cukassza/checkpoints"]',
        meaning="Folders outside the database that keep the checkpoints.",
    )
    mark_dir: str | None = variable(
        "CASINO_MARK_DIR",
        "checkpoints.marks",
        kinds.TEXT,
        default=None,
        shown="none: every verification reads everything",
        example='"/var/lib/cukassza/marks"',
        meaning="The folder outside the database in which `verify_house --keep-mark` keeps how far each house was "
        "verified. Written by the account that runs it, read by the workers.",
    )
    archive_dirs: tuple[Path, ...] = variable(
        "CASINO_ARCHIVE_DIR",
        "checkpoints.archives",
        kinds.FOLDERS,
        default=(),
        shown="none: nothing is archived",
        example='["/var/lib/cukassza/archives"]',
        meaning="Folders outside the database that keep the archives of closed periods, the same in each. Written by "
        "`manage.py archive`, read by every process.",
    )
    witnesses: tuple[str, ...] = variable(
        "CASINO_WITNESSES",
        "checkpoints.witnesses",
        kinds.WITNESSES,
        default=(),
        shown="none",
        meaning="Witnesses that cosign the checkpoints: `https://ADDRESS#VKEY` (`python -m deploy.witness` runs one).",
    )
    timestamp_url: str = variable(
        "CASINO_TIMESTAMP_URL",
        "checkpoints.timestamp_url",
        kinds.ADDRESS,
        default="",
        shown="none",
        meaning="A time-stamp authority (RFC 3161) that stamps the checkpoints: `https://ADDRESS`.",
    )
    timestamp_certificates: str = variable(
        "CASINO_TIMESTAMP_CERTIFICATES",
        "checkpoints.timestamp_certificates",
        kinds.TEXT,
        default="",
        shown="none",
        meaning="PEM file with the root certificates of the authority, and of earlier ones: time stamps are taken and "
        "verified under them. Set with `CASINO_TIMESTAMP_URL`.",
    )
    timestamp_interval: int = variable(
        "CASINO_TIMESTAMP_INTERVAL",
        "checkpoints.timestamp_interval",
        kinds.INTERVAL,
        default=3600,
        meaning="Seconds between two time stamps of a house, at least; nothing is stamped twice.",
    )
    retention_days: int = variable(
        "CASINO_RETENTION_DAYS",
        "house.retention_days",
        kinds.DAYS,
        # Card rooms fall under Hungary's act LIII of 2017 (section 1, 1 i); its sections 56 to 58 require eight years
        # from the end of the business relationship.
        default=2922,
        meaning="Days for which personal data are kept after a player's last activity (2922 days are eight years).",
    )
    destinations: str = variable(
        "CASINO_DESTINATIONS",
        "house.destinations",
        kinds.TEXT,
        default="",
        shown="none",
        meaning="A file of TOML with the destinations of scheduled reports: a folder, mail, a store of S3's protocol "
        "([how](../how-to/send-reports.md)); and of webhooks ([how](../how-to/receive-webhooks.md)).",
    )
    unclaimed_days: int = variable(
        "CASINO_UNCLAIMED_DAYS",
        "house.unclaimed_days",
        kinds.DAYS,
        default=90,
        meaning="Days for which found chips wait for their owner before the house remits or keeps their worth.",
    )
    address: str = variable(
        "CASINO_ADDRESS",
        "web.address",
        kinds.ADDRESS,
        default="",
        shown="that of the request",
        example='"https://house.example"',
        meaning="Where browsers of players reach the house, `https://house.example`: the QR codes on paper lead there.",
    )
    allowed_hosts: tuple[str, ...] = variable(
        "CASINO_ALLOWED_HOSTS",
        "web.allowed_hosts",
        kinds.HOSTS,
        default=("127.0.0.1", "localhost", "[::1]"),
        shown="`127.0.0.1,localhost,[::1]`",
        example='["house.example"]',
        meaning="Host names under which the API answers.",
    )
    proxy: str = variable(
        "CASINO_PROXY",
        "web.proxy",
        kinds.IP_ADDRESS,
        default="",
        shown="none; no such header counts",
        example='"127.0.0.1"',
        meaning="The address of the proxy in front: what it says of a client's address and of TLS counts "
        "(`X-Forwarded-For`, `X-Forwarded-Proto`).",
    )
    passkey_host: str = variable(
        "CASINO_PASSKEY_HOST",
        "web.passkey_host",
        kinds.TEXT,
        default="",
        shown="that of the request",
        meaning="The host for which passkeys are made, or a domain above it (`house.example` for "
        "`cage.house.example` too). Passkeys that were made for another one are not taken.",
    )
    passkey_origins: tuple[str, ...] = variable(
        "CASINO_PASSKEY_ORIGINS",
        "web.passkey_origins",
        kinds.ORIGINS,
        default=(),
        shown="the host of the request, over HTTPS",
        meaning="Origins of the pages that may ask for a passkey: `https://house.example`.",
    )
    cors_origins: tuple[str, ...] = variable(
        "CASINO_CORS_ORIGINS",
        "web.cors_origins",
        kinds.HOSTS,
        default=(),
        shown="none",
        meaning="Origins of pages elsewhere that browsers let call the API: `https://a.example`.",
    )
    debug: bool = variable(
        "CASINO_DEBUG",
        "web.debug",
        kinds.FLAG,
        default=False,
        shown="`0`",
        meaning="`1` turns Django's debug mode on; never in a house.",
    )
    streams_socket: str = variable(
        "CASINO_STREAMS_SOCKET",
        "streams.socket",
        kinds.SOCKET,
        default=str(BASE_DIR / "var" / "streams.sock"),
        shown="`var/streams.sock`",
        example='"/run/cukassza/hints.sock"',
        meaning="The unix socket over which the web processes give connections to `manage.py send_hints`, in a folder "
        "that only the application's user may enter. `deploy.processes` chooses one for each installation.",
    )
    most_streams: int = variable(
        "CASINO_MOST_STREAMS",
        "streams.most",
        kinds.STREAMS,
        default=500,
        meaning="Streams and waiting requests that `manage.py send_hints` serves at most. Each takes a descriptor.",
    )
    log_level: str = variable(
        "CASINO_LOG_LEVEL",
        "logging.level",
        kinds.LEVEL,
        default="INFO",
        meaning=f"The least level that goes to stderr: {', '.join(f'`{level}`' for level in kinds.LEVELS)}.",
    )
    log_format: str = variable(
        "CASINO_LOG_FORMAT",
        "logging.format",
        kinds.FORMAT,
        default="text",
        example='"json"',
        meaning="How lines of the log are written: `text`, or `json`, one object a line, with a line for each request "
        "([watch](../how-to/watch.md)).",
    )
    metrics_dir: str | None = variable(
        "CASINO_METRICS_DIR",
        "metrics.folder",
        kinds.TEXT,
        default=None,
        shown="none",
        meaning="The folder in which the processes of one web share what they count. Without it `/metrics` counts for "
        "the process that answers; no other web may use it. `deploy.processes` chooses one for each installation.",
    )
    metrics_from: tuple[str, ...] = variable(
        "CASINO_METRICS_FROM",
        "metrics.from",
        kinds.NETWORKS,
        default=(),
        shown="none",
        meaning="Addresses and networks that may read `/metrics`. With "
        "`CASINO_METRICS_TOKEN_FILE` both are asked for; with neither nobody may.",
    )
    metrics_token_file: str | None = variable(
        "CASINO_METRICS_TOKEN_FILE",
        "metrics.token_file",
        kinds.TEXT,
        default=None,
        shown="none",
        meaning="A file with the bearer token that may read `/metrics`, of 20 characters or more; read each time.",
    )
    otlp_endpoint: str = variable(
        "CASINO_OTLP_ENDPOINT",
        "telemetry.endpoint",
        kinds.ADDRESS,
        default="",
        shown="none; nothing is traced",
        meaning="The collector of OpenTelemetry that takes traces, by OTLP over HTTP: `http://127.0.0.1:4318` "
        "([watch](../how-to/watch.md#traces)).",
    )
    traced_share: float = variable(
        "CASINO_TRACED_SHARE",
        "telemetry.share",
        kinds.SHARE,
        default=1.0,
        shown="`1`",
        meaning="The share of requests that is traced, with all that they lead to: more than 0, and 1 for every one.",
    )
    backup_records: str | None = variable(
        "CASINO_BACKUP_RECORDS",
        "backups.records",
        kinds.TEXT,
        default=None,
        shown="none",
        example='"/var/lib/cukassza-backups"',
        meaning="The folder in which `python -m deploy.backups` notes the last backups and drills of restoring, for "
        "`/metrics` and `manage.py doctor`.",
    )


def declared() -> tuple[Setting, ...]:
    """The declarations, in the order of the reference."""
    return tuple(Setting(field=one.name, default=one.default, **one.metadata) for one in fields(Configuration))


def opened(environ: Mapping[str, str]) -> Sources:
    """Where a process of this environment finds its settings. Raises SettingRefused."""
    _refuse_unknown(environ)
    return sources.opened(environ, declared())


def read(environ: Mapping[str, str]) -> Configuration:
    """The configuration of an environment and of its file; an empty value counts as not set. Raises SettingRefused."""
    there = opened(environ)
    found = Configuration(**{one.field: _value(one, there) for one in declared()})
    if found.pooler is not None:
        _refuse_pooled(found)
    return found


def _refuse_pooled(found: Configuration) -> None:
    """Refuse addresses that a pooler in transaction mode would make unsafe: what a session has, others get."""
    parts = urlsplit(found.database_url)
    if parts.username != found.app_role:
        raise WrongSetting(
            f"CASINO_POOLER: the login of DATABASE_URL is not {found.app_role}. Its sessions would have to begin as "
            "that role, and a pooler lends them to others. Give the application a login of that name."
        )
    if "options" in parse_qs(parts.query):
        raise WrongSetting(
            "CASINO_POOLER: DATABASE_URL has options. They would hold for sessions that others get; set them with "
            "ALTER ROLE."
        )
    if found.database_direct_url is None:
        raise NotSet("DATABASE_DIRECT_URL is not set. With CASINO_POOLER it must lead to PostgreSQL past the pooler.")
    past = {
        "DATABASE_DIRECT_URL": found.database_direct_url,
        "DATABASE_OWNER_URL": found.database_owner_url,
        "DATABASE_SEQUENCER_URL": found.database_sequencer_url,
    }
    for name, url in past.items():
        if url is not None and _server(url) == _server(found.database_url):
            raise WrongSetting(f"{name} leads to the pooler, as DATABASE_URL does. It must lead past it.")


def _server(url: str) -> tuple[str, str]:
    """The server and port that a URL names."""
    parts = urlsplit(url)
    query = parse_qs(parts.query)
    [host], [port] = query.get("host", [parts.hostname or ""]), query.get("port", [str(parts.port or 5432)])
    return unquote(host), port


def given() -> Sources:
    """Where this process finds its settings. Raises SettingRefused."""
    return opened(os.environ)


def read_one(name: str, environ: Mapping[str, str]) -> Any:
    """The value of one field, for a program that needs no other. Raises SettingRefused."""
    return _value(next(one for one in declared() if one.field == name), opened(environ))


def as_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """The same environment without file and credentials: what they have is in variables. Raises SettingRefused."""
    there = opened(environ)
    files = {sources.CONFIG, sources.CREDENTIALS, *(one.file_variable for one in declared() if one.secret)}
    found = {one.name: value.text for one in declared() if (value := there.find(one)) is not None}
    return {name: text for name, text in environ.items() if name not in files} | found | {sources.CONFIG: "/dev/null"}


def _refuse_unknown(environ: Mapping[str, str]) -> None:
    known = [*ELSEWHERE]
    for one in declared():
        known += [one.name, *([one.file_variable] if one.secret else [])]
    for name in sorted(environ):
        if name.startswith(PREFIX) and name not in known:
            raise UnknownSetting(f"{name} is not a setting{sources.nearest(name, known)}")


def _value(one: Setting, there: Sources) -> Any:
    found = there.find(one)
    if found is not None:
        try:
            return one.kind.parse(found.text)
        except ValueError as error:
            given = "" if one.secret else f", got {found.text!r}"
            raise WrongSetting(f"{found.where}: {error}{given}.") from error
    if one.default is MISSING:
        key = one.file_key if one.secret else one.key
        hint = 'eval "$(.venv/bin/python -m deploy.embedded env)"'
        file = there.file or "a configuration file"
        raise NotSet(f"{one.name} is not set, nor is {key} in {file}. Run through `make`, or: {hint}")
    return one.default
