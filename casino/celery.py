"""Celery: the broker is only a hint, the outbox is the truth.

Every setting here answers a measured fault: late acknowledgement so that a killed worker's task is delivered again,
a hard limit below the visibility timeout so that no task runs twice at once, short socket time-outs so that a
half-open connection is noticed, and the sweeper (`hands.sweep_outbox`) that sends again what got lost anyway.
"""

import hashlib
import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from celery import Celery, shared_task

from casino.core import task_lines

F = TypeVar("F", bound=Callable[..., Any])

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")

#: Seconds after which the broker hands an unacknowledged task to another worker.
VISIBILITY_TIMEOUT = 30
#: Seconds after which a task is killed; below the visibility timeout, or it would run twice at once.
TASK_HARD_LIMIT = 20
#: Seconds after which a task is interrupted, so that it can say what it was at.
TASK_SOFT_LIMIT = 12
#: The queue of settlements: they do not wait behind what the clock sends.
SETTLEMENT = "settlement"
#: The queue of reports and rehearsals, which may take minutes: a worker of its own makes them.
FILES = "files"
#: The queue of what the clock has done in every house: nothing waits behind it.
HOUSES = "houses"


def queue_prefix(database: Mapping[str, Any]) -> str:
    """How the names of a database's queues begin on the broker, `cukassza:9f86d081884c7d65:`.

    `database` is the entry of Django's DATABASES that the application uses. Server, port and name of the database are
    hashed, not the login: web, worker and beat agree without asking the database, and two databases share no queue.
    """
    options = database.get("OPTIONS", {})
    host = options.get("host") or database.get("HOST") or ""
    port = options.get("port") or database.get("PORT") or 5432
    identity = "\n".join((str(host), str(port), str(database["NAME"])))
    return f"cukassza:{hashlib.sha256(identity.encode()).hexdigest()[:16]}:"


def task(name: str, **limits: int) -> Callable[[F], F]:
    """A decorator that makes a function the task of this name, with time limits of its own if there are any
    (`soft_time_limit`, `time_limit`); the function keeps its type, which Celery's own decorator, without annotations,
    would take from it."""
    decorate: Callable[[F], F] = shared_task(name=name, **limits)
    return decorate


task_lines.connect()
app = Celery("casino")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
