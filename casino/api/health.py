"""Is the process alive, and can it work?"""

import logging
from collections.abc import Callable
from typing import Any

import redis
from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from casino import sql
from casino.api.problems import CONTENT_TYPE, document
from casino.audit.selectors import behind, refusals
from casino.house import guards
from casino.reports.auditing import SIGNED_WITHIN

log = logging.getLogger(__name__)

#: What makes a role too mighty for the running application.
_TOO_MIGHTY = """
SELECT rolsuper OR EXISTS (SELECT FROM pg_class WHERE relname = 'ledger_entry' AND relowner = pg_roles.oid)
FROM pg_roles WHERE rolname = current_user
"""


@require_safe
def healthz(_request: HttpRequest) -> JsonResponse:
    """The process answers; nothing else is asked."""
    return JsonResponse({"status": "ok"})


@require_safe
def readyz(_request: HttpRequest) -> JsonResponse:
    """Database, migrations, role, guards and broker; 503 with the first that is missing.

    A house whose audit log was rolled back is read-only until two people open a new epoch: the answer says how many
    are, and is 200, since reading is what is needed now. It is 200 too where logs stand still (check
    `log`): somebody has to look after the sequencer. Anybody may ask here, so the server's log says which and why.
    """
    checks: dict[str, Callable[[], str | None]] = {
        "database": _database,
        "migrations": _migrations,
        "role": _role,
        "guards": _guards,
        "broker": _broker,
    }
    for name, check in checks.items():
        problem = check()
        if problem is not None:
            return JsonResponse(document(503, "not_ready", problem, check=name), status=503, content_type=CONTENT_TYPE)
    answer: dict[str, Any] = {"status": "ready", "checks": [*checks, "log"]}
    if late := _late_logs():
        answer |= {"status": "degraded", "late_logs": late}
    refused = refusals()
    if refused:
        for one in refused:
            log.error("house %s is read-only (%s): %s", one["house"], one["code"], one["detail"])
        answer |= {"status": "read_only", "read_only_houses": len(refused)}
    return JsonResponse(answer)


def _database() -> str | None:
    try:
        connection.ensure_connection()
    except DatabaseError as error:
        return f"The database does not answer: {error}"
    return None


def _migrations() -> str | None:
    executor = MigrationExecutor(connection)
    missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return f"{len(missing)} migrations are missing; run `manage.py migrate --database owner`." if missing else None


def _role() -> str | None:
    with connection.cursor() as cursor:
        cursor.execute(_TOO_MIGHTY)
        row = cursor.fetchone()
    if row is None or row[0]:
        return "The application runs as a role that owns the ledger or is a superuser; it must not."
    return None


def _guards() -> str | None:
    found = guards.off(sql.rows(guards.THERE, []))
    return (
        "Guards of the database are off: " + "; ".join(f"{one.place}: {one.problem}" for one in found)
        if found
        else None
    )


def _late_logs() -> int:
    """How many houses have events that no checkpoint covers for too long."""
    late = behind(SIGNED_WITHIN.total_seconds())
    for code, seconds in late.items():
        log.error("house %s: its log is %.0f s behind its events; does the sequencer run?", code, seconds)
    return len(late)


def _broker() -> str | None:
    try:
        client = redis.Redis.from_url(settings.REDIS_URL, socket_timeout=2, socket_connect_timeout=2)
        client.ping()
    except redis.RedisError as error:
        return f"The broker does not answer: {error}"
    return None
