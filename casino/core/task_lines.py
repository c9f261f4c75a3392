"""Lines of the log in a worker and in beat: the settings say how they look, and each names its task."""

import logging
from collections.abc import Sequence
from typing import Any

from celery.signals import setup_logging, task_postrun, task_prerun

from casino.core import log_lines


def connect() -> None:
    """Listen to Celery. It sets up no handlers of its own then: `LOGGING` of the settings is for every process."""
    setup_logging.connect(_already_set_up, weak=False, dispatch_uid="casino.task_lines")
    task_prerun.connect(_begins, weak=False, dispatch_uid="casino.task_lines")
    task_postrun.connect(_ends, weak=False, dispatch_uid="casino.task_lines")


def _already_set_up(**_: Any) -> None:
    """Django has; Python's warnings become lines as well."""
    logging.captureWarnings(True)


def _begins(task: Any = None, args: Sequence[Any] = (), **_: Any) -> None:
    about = {"task": str(task.name)}
    if request := (getattr(task.request, "headers", None) or {}).get(log_lines.HEADER):
        about["request"] = str(request)
    if len(args) == 2 and isinstance(args[1], int):  # the work of a message of the outbox: its house and its id
        about["message_id"] = str(args[1])
    log_lines.begin(**about)


def _ends(**_: Any) -> None:
    log_lines.begin()
