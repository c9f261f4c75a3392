"""Celery: the broker is only a hint, the outbox is the truth.

Every setting here answers a measured fault: late acknowledgement so that a killed worker's task is delivered again,
a hard limit below the visibility timeout so that no task runs twice at once, short socket time-outs so that a
half-open connection is noticed, and the sweeper (`hands.sweep_outbox`) that sends again what got lost anyway.
"""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")

#: Seconds after which the broker hands an unacknowledged task to another worker.
VISIBILITY_TIMEOUT = 30
#: Seconds after which a task is killed; below the visibility timeout, or it would run twice at once.
TASK_HARD_LIMIT = 20

app = Celery("casino")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
