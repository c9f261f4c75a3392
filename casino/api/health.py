"""Is the process alive, and can it work?"""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import redis
from django.db import DatabaseError, connection
from django.db.migrations.recorder import MigrationRecorder
from django.http import HttpRequest, JsonResponse
from django.urls import path
from django.views.decorators.http import require_safe

from casino.api.http.problems import CONTENT_TYPE, document
from casino.audit.selectors import behind, refusals
from casino.core import guards, heartbeat, outbox, release, sql
from casino.core.heartbeat import Part
from casino.live import handover
from casino.metrics.database import misses_standby
from casino.verification import catalogue
from casino.verification.auditing import SIGNED_WITHIN

log = logging.getLogger(__name__)

#: Checks that are made only if another one passed: what it rests on. A worker that hears nothing from beat is silent.
RESTS_ON = {
    "migrations": "database",
    "role": "migrations",
    "guards": "role",
    "catalogue": "guards",
    "outbox": "migrations",
    "beat": "broker",
    "worker": "beat",
}
_SILENT = {Part.BEAT: "beat_silent", Part.WORKER: "worker_silent"}
#: Objects of the catalogue that the server's log names at most.
MOST_NAMED = 10
#: Seconds after which a hand that is over and not settled says that the outbox stands still.
STANDS_STILL = 60.0
#: Whether the role has more rights than the running application may have.
_TOO_MIGHTY = """
SELECT rolsuper OR EXISTS (SELECT FROM pg_class WHERE relname = 'ledger_entry' AND relowner = pg_roles.oid)
FROM pg_roles WHERE rolname = current_user
"""


@require_safe
def livez(_request: HttpRequest) -> JsonResponse:
    """The process answers; nothing else is checked, also under its older name `healthz`."""
    return JsonResponse({"status": "ok"})


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a check failed: a stable code for everybody, words for the server's log."""

    code: str
    detail: str


def examined(refused: Callable[[], list[dict[str, str]]] = refusals) -> Iterator[tuple[str, Problem | None]]:
    """Each check that can be made, in turn, with why it failed; what a failed one carries is not made."""
    checks: dict[str, Callable[[], Problem | None]] = {
        "database": _database,
        "migrations": _migrations,
        "role": _role,
        "guards": _guards,
        "catalogue": _catalogue,
        "outbox": lambda: _outbox([one["house"] for one in refused()]),
        "broker": _broker,
        "beat": lambda: _heard(Part.BEAT),
        "worker": lambda: _heard(Part.WORKER),
    }
    passed: set[str] = set()
    for name, check in checks.items():
        if name in RESTS_ON and RESTS_ON[name] not in passed:
            continue
        problem = check()
        if problem is None:
            passed.add(name)
        yield name, problem


@require_safe
def readyz(_request: HttpRequest) -> JsonResponse:
    """Database, migrations, role, guards, catalogue, outbox, broker, beat and worker; 503 with the names of those that
    failed. Consoles can work while beat, a worker or the outbox stands still, but no hand is settled.

    A house whose audit log was rolled back is read-only until two people open a new epoch. The answer gives their
    number; its status is 200, because reading still works. It is also 200 if a log is not being signed (check `log`):
    then the sequencer needs attention. So does one of several workers that stands still (check `workers`), the
    process that sends hints (check `streams`), without which consoles ask for what is new, a sequencer that is not
    heard of (check `sequencer`), and a database that waits for a standby which is not there (check `replicas`). Anyone
    may call this, so the answer has only names, codes and numbers. The server's log names the houses, workers and
    reasons.
    """
    refused = cache(refusals)  # reads every house's files outside: once for this answer
    found = dict(examined(refused))
    problems = {name: problem for name, problem in found.items() if problem is not None}
    for name, problem in problems.items():
        log.error("not ready, %s (%s): %s", name, problem.code, problem.detail)
    if problems:
        failed = [{"check": name, "code": problem.code} for name, problem in problems.items()]
        names = ", ".join(one["check"] for one in failed)
        refusal = document(503, "not_ready", f"Not ready: {names}. The server's log says why.", failed=failed)
        return JsonResponse(refusal, status=503, content_type=CONTENT_TYPE)
    answer: dict[str, Any] = {
        "status": "ready",
        "checks": [*found, "log", "sequencer", "workers", "streams", "replicas"],
    }
    counts = {
        "late_log_count": _late_logs(),
        "silent_sequencer_count": _silent_sequencers(),
        "silent_worker_count": _silent_workers(),
        "silent_streams_count": _silent_streams(),
        "missing_standby_count": _missing_standbys(),
    }
    if any(counts.values()):
        answer |= {"status": "degraded"} | {name: count for name, count in counts.items() if count}
    if refused():
        for one in refused():
            log.error("house %s is read-only (%s): %s", one["house"], one["code"], one["detail"])
        answer |= {"status": "read_only", "read_only_house_count": len(refused())}
    return JsonResponse(answer)


def _database() -> Problem | None:
    try:
        connection.ensure_connection()
    except DatabaseError as error:
        return Problem("database_unreachable", f"The database does not answer: {error}")
    return None


def _migrations() -> Problem | None:
    """A schema older than this process's code. A newer one is the catalogue's matter."""
    missing = release.missing(MigrationRecorder(connection).applied_migrations())
    if missing:
        wanted = f"{len(missing)} migrations are missing ({', '.join(missing[:MOST_NAMED])}); run "
        return Problem("migrations_missing", f"{wanted}`manage.py migrate --database owner`.")
    return None


def _role() -> Problem | None:
    with connection.cursor() as cursor:
        cursor.execute(_TOO_MIGHTY)
        row = cursor.fetchone()
    if row is None or row[0]:
        return Problem(
            "role_too_mighty", "The application's role owns the ledger or is a superuser; it must be neither."
        )
    return None


def _guards() -> Problem | None:
    found = guards.off(sql.rows(guards.THERE, []))
    if found:
        return Problem("guards_off", "Off: " + "; ".join(f"{one.place}: {one.problem}" for one in found))
    return None


def _catalogue() -> Problem | None:
    """Triggers of another text, or rights, may let past what the guards are for: money is at stake."""
    found = catalogue.lately()
    if found:
        named = "; ".join(f"{one.subject}: {one.detail}" for one in found[:MOST_NAMED])
        more = f"; and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
        return Problem("catalogue_differs", f"The database is not as the migrations make it: {named}{more}")
    return None


def _late_logs() -> int:
    """How many houses have events that have waited too long for a checkpoint."""
    late = behind(SIGNED_WITHIN.total_seconds())
    for code, seconds in late.items():
        log.error("house %s: its log is %.0f s behind its events; does the sequencer run?", code, seconds)
    return len(late)


def _silent_sequencers() -> int:
    """1 while the sequencer is not heard of, else 0. Raises RedisError."""
    if not heartbeat.is_silent(Part.SEQUENCER):
        return 0
    log.error("nothing was heard of the sequencer for %d s: no log is signed", heartbeat.SILENT)
    return 1


def _missing_standbys() -> int:
    """1 while the database waits for a synchronous standby and none takes its log, else 0: then no write is confirmed.
    Raises DatabaseError."""
    if not misses_standby():
        return 0
    log.error("the database waits for a synchronous standby, and none is there: no write is confirmed")
    return 1


def _silent_workers() -> int:
    """How many of the workers stand still while others run. Raises RedisError."""
    silent = heartbeat.silent_workers()
    for name in silent:
        log.error("worker %s has begun no task for %d s", name, heartbeat.SILENT)
    return len(silent)


def _silent_streams() -> int:
    """1 while the process that sends the hints does not answer, else 0."""
    if handover.is_alive():
        return 0
    log.error("the process that sends the hints does not answer; consoles ask for what is new")
    return 1


def _outbox(read_only: list[str]) -> Problem | None:
    age = outbox.waiting_for(read_only)
    if age > STANDS_STILL:
        return Problem("outbox_stands_still", f"The oldest open message of the outbox is {age:.0f} s old.")
    return None


def _broker() -> Problem | None:
    try:
        with heartbeat.broker() as client:
            client.ping()
    except redis.RedisError as error:
        return Problem("broker_unreachable", f"The broker does not answer: {error}")
    return None


def _heard(part: Part) -> Problem | None:
    try:
        silent = heartbeat.is_silent(part)
    except redis.RedisError as error:
        return Problem("broker_unreachable", f"The broker does not answer: {error}")
    if silent:
        return Problem(_SILENT[part], f"Nothing was heard of {part} for {heartbeat.SILENT} s.")
    return None


urls = [
    path("livez", livez),
    path("healthz", livez),
    path("readyz", readyz),
]
