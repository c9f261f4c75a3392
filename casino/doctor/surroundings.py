"""What a process finds around it: its settings, the clocks, the broker."""

import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import redis
from django.conf import settings
from django.db import DatabaseError, connection

from casino.celery import TASK_HARD_LIMIT
from casino.core import heartbeat
from casino.doctor.findings import Finding, Level, ok
from casino.metrics import exposition

#: Seconds by which clocks may differ: what signs in with a second factor and what expires is wrong beyond it.
MOST_APART = 1.0
_LOOPBACK = {"127.0.0.1", "localhost", "[::1]"}
#: The broker must not throw messages away where its memory is full; an outbox would send them again, late.
_KEEPS = ("noeviction", "volatile-ttl", "volatile-lru", "volatile-lfu", "volatile-random")


def web() -> Iterator[Finding]:
    """Settings of what is served."""
    part = "settings"
    if settings.DEBUG:
        yield Finding(
            part, Level.FAILURE, "debug", "CASINO_DEBUG is on: errors show code and settings to anybody.",
            "Unset CASINO_DEBUG.",
        )  # fmt: skip
    if "*" in settings.ALLOWED_HOSTS:
        yield Finding(
            part, Level.FAILURE, "any_host", "CASINO_ALLOWED_HOSTS allows every name.", "Name the house's own."
        )
    elif set(settings.ALLOWED_HOSTS) <= _LOOPBACK:
        yield Finding(
            part, Level.NOTE, "loopback_only", "The API answers under names of this machine only.",
            "Name the house's host in CASINO_ALLOWED_HOSTS.",
        )  # fmt: skip
    insecure = [one for one in settings.CASINO_CORS_ORIGINS if not one.startswith("https://")]
    if insecure:
        yield Finding(
            part, Level.WARNING, "insecure_origin", f"Pages of {', '.join(insecure)} may call the API without TLS.",
            "Write https://.",
        )  # fmt: skip
    if settings.CASINO_LOCK_TIMEOUT >= TASK_HARD_LIMIT:
        yield Finding(
            part, Level.FAILURE, "lock_timeout", f"A write waits {settings.CASINO_LOCK_TIMEOUT:g} s for a lock, a task "
            f"is killed after {TASK_HARD_LIMIT} s.", "Lower CASINO_LOCK_TIMEOUT.",
        )  # fmt: skip
    yield from _metrics(part)
    yield from _streams(part)


def _metrics(part: str) -> Iterator[Finding]:
    """Whether the token that reads the metrics is one, and is kept from others."""
    file = settings.CASINO_METRICS_TOKEN_FILE
    if file is None:
        return
    try:
        token, mode = exposition.token_of(file), file.stat().st_mode
    except OSError as error:
        yield Finding(
            part, Level.WARNING, "metrics_token_unreadable", f"{file} cannot be read: {error.strerror}. Nobody reads "
            "/metrics.", "Let the application's user read it.",
        )  # fmt: skip
        return
    if not token:
        yield Finding(
            part, Level.WARNING, "metrics_token_short", f"{file} has no token of {exposition.LEAST} characters: nobody "
            "reads /metrics.", f"openssl rand -hex 24 > {file}",
        )  # fmt: skip
    elif mode & (stat.S_IROTH | stat.S_IWOTH):
        yield Finding(
            part, Level.WARNING, "metrics_token_open", f"Others may read {file}, which lets them read /metrics.",
            f"chmod o= {file}",
        )  # fmt: skip


def _streams(part: str) -> Iterator[Finding]:
    folder = Path(settings.CASINO_STREAMS_SOCKET).parent
    if not folder.is_dir():
        yield Finding(
            part, Level.NOTE, "no_streams", f"{folder} is not there yet: nothing listens for streams.",
            "Start `manage.py send_hints`.",
        )  # fmt: skip
    elif folder.stat().st_mode & (stat.S_IWOTH | stat.S_IWGRP):
        yield Finding(
            part, Level.FAILURE, "streams_open", f"Others may write to {folder}, where web hands over connections.",
            f"chmod go-w {folder}",
        )  # fmt: skip
    else:
        yield ok(part, "settings of the web processes")


def clocks() -> Iterator[Finding]:
    """The clock of this machine against those of the database and the broker."""
    for name, read in (("database", _of_database), ("broker", _of_broker)):
        began = time.time()
        try:
            theirs = read()
        except (DatabaseError, redis.RedisError) as error:
            yield Finding(
                "clock", Level.NOTE, "clock_unknown", f"The {name}'s clock cannot be read: {str(error).strip()}"
            )
            continue
        ended = time.time()
        # What the answer's way took says nothing about the clock.
        apart = max(began - theirs, theirs - ended, 0.0)
        if apart > MOST_APART:
            yield Finding(
                "clock", Level.FAILURE, "clock_off", f"The {name}'s clock is {apart:.1f} s away from this machine's.",
                "Have both machines follow one time service.",
            )  # fmt: skip
        else:
            yield ok("clock", f"the {name}'s clock agrees with this machine's")


def _of_database() -> float:
    with connection.cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())::float8")
        return float(cursor.fetchone()[0])


def _of_broker() -> float:
    with heartbeat.broker() as client:
        seconds, microseconds = client.time()
    return float(seconds) + float(microseconds) / 1e6


def broker() -> Iterator[Finding]:
    """The broker answers, and keeps what it was given; how many messages wait."""
    try:
        with heartbeat.broker() as client:
            server = client.info("server")
            policy = client.info("memory").get("maxmemory_policy", "")
    except redis.RedisError as error:
        yield Finding(
            "broker", Level.FAILURE, "broker_unreachable", f"The broker does not answer: {error}",
            "Start it, or mend REDIS_URL.",
        )  # fmt: skip
        return
    version = server.get("valkey_version") or server.get("redis_version")
    yield ok("broker", f"{'Valkey' if 'valkey_version' in server else 'Redis'} {version}")
    if policy and policy not in _KEEPS:
        yield Finding(
            "broker", Level.WARNING, "broker_evicts", f"maxmemory-policy is {policy}: messages may be thrown away.",
            "Set it to noeviction.",
        )  # fmt: skip


def user() -> Iterator[Finding]:
    """Who runs this."""
    if os.geteuid() == 0:
        yield Finding("process", Level.WARNING, "root", "This runs as root.", "Run every process as a user of its own.")
    else:
        yield ok("process", f"runs as user {os.geteuid()}")
