"""The state of the installation, read when it is asked for: few statements, each bounded in time, kept for a moment.

A part that cannot be read is missing, and `cukassza_scrape_failed` says so; the others are there.
"""

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import redis
from django.conf import settings
from django.db import DatabaseError, InterfaceError, transaction
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from casino import __version__
from casino.audit import guard, outside
from casino.audit import selectors as audit
from casino.core import guards, heartbeat, noted, sql
from casino.core.errors import HouseError
from casino.core.measured import Metric
from casino.days import packages
from casino.evidence.models import LegalHold
from casino.golive import rehearsals
from casino.hands import bonus, services
from casino.houses import control_points
from casino.houses.models import House
from casino.live.webhooks import ALARMING
from casino.metrics import backups, declared
from casino.metrics.database import SERVER, server
from casino.reports import runs
from casino.tables.models import TableState
from casino.verification import catalogue

log = logging.getLogger(__name__)

#: Seconds for which what was read is good: several who ask at once cost no more than one.
GOOD_FOR = 5.0
#: Milliseconds that a statement may take.
STATEMENT_TIMEOUT = 2_000
#: The tasks of the outbox, and those of them that settle a hand.
SETTLES = (services.RESOLVE, bonus.RESOLVE_CONFIRMED)
TASKS = (*SETTLES, runs.TASK, packages.TASK, rehearsals.TASK)

#: One row a house; every count has an index, or a table with few rows.
_HOUSES = """
SELECT house.code, house.is_sandbox,
    coalesce((
        SELECT extract(epoch FROM clock_timestamp() - min(created_at))::float FROM houses_outboxmessage message
        WHERE message.done_at IS NULL AND message.house_id = house.id AND message.task = ANY(%s)), 0),
    (SELECT count(*) FROM tables_table WHERE tables_table.house_id = house.id AND tables_table.state = %s),
    (SELECT count(*) FROM chips_imbalance found WHERE found.house_id = house.id AND found.cleared_at IS NULL),
    coalesce((
        SELECT sum(head.seq - coalesce(mark.seq, 0)) FROM audit_chainhead head
        LEFT JOIN audit_mark mark ON mark.chain_id = head.id WHERE head.house_id = house.id), 0)::bigint,
    (SELECT count(*) FROM live_webhookposition here JOIN live_webhook hook ON hook.id = here.webhook_id
        WHERE hook.house_id = house.id AND hook.ended_at IS NULL AND here.attempts >= %s),
    (SELECT count(*) FROM staff_passkey seen WHERE seen.house_id = house.id AND seen.clone_seen_at IS NOT NULL)
FROM houses_house house ORDER BY house.code
"""
#: Epoch and size of each house's newest checkpoint.
_SIGNED = "SELECT DISTINCT ON (house_id) house_id, epoch, size FROM audit_log ORDER BY house_id, epoch DESC"
_OUTBOX = """
SELECT task, count(*), count(*) FILTER (WHERE last_error <> ''),
    extract(epoch FROM clock_timestamp() - min(created_at))::float
FROM houses_outboxmessage WHERE done_at IS NULL GROUP BY task
"""

Sample = tuple[Metric, tuple[str, ...], float]


def _flag(value: bool) -> float:
    return 1.0 if value else 0.0


def _bounded(statement: str, parameters: list[Any]) -> list[tuple[Any, ...]]:
    """The rows of a statement that may take `STATEMENT_TIMEOUT` at most."""
    with transaction.atomic():
        limit = ("SELECT set_config('statement_timeout', %s::text, true)", [str(STATEMENT_TIMEOUT)])
        return sql.together(limit, (statement, parameters))[1]


def _houses() -> Iterator[Sample]:
    """What is said of each house, but for what lies outside the database."""
    late = audit.behind(0.0)
    parameters = [list(SETTLES), TableState.DISPUTED.value, ALARMING]
    for code, sandbox, unsettled, disputed, imbalances, waiting, failing, cloned in _bounded(_HOUSES, parameters):
        labels = (code, str(int(sandbox)))
        yield declared.UNSETTLED, labels, unsettled
        yield declared.DISPUTED, labels, disputed
        yield declared.IMBALANCES, labels, imbalances
        yield declared.LOG_BEHIND, labels, late.get(code, 0.0)
        yield declared.LOG_WAITING, labels, waiting
        yield declared.WEBHOOKS, labels, failing
        yield declared.PASSKEYS_CLONED, labels, cloned


def _verifications() -> Iterator[Sample]:
    """The last verification of each house, which is noted on the broker."""
    verified = noted.verifications()
    for code, sandbox in House.objects.order_by("code").values_list("code", "is_sandbox"):
        if (last := verified.get(code)) is not None:
            labels = (code, str(int(sandbox)))
            yield declared.VERIFIED_AT, labels, last.at
            yield declared.VERIFIED_WHOLE_AT, labels, last.whole_at
            yield declared.FINDINGS, labels, last.findings


def _outside() -> Iterator[Sample]:
    """Whether each house may write, and how far its files outside have come."""
    signed = {house: (epoch, size) for house, epoch, size in _bounded(_SIGNED, [])}
    for house in House.objects.order_by("code"):
        labels = (house.code, str(int(house.is_sandbox)))
        yield declared.READ_ONLY, labels, _flag(guard.refusal(house) is not None)
        for number, folder in enumerate(outside.folders(), 1):
            try:
                ending = outside.ending(folder, house)
            except HouseError:
                continue  # then the house is read-only
            epoch, size = signed.get(house.id, (0, 0))
            place = ending.place if ending is not None else (0, 0)
            behind = size - place[1] if place[0] == epoch else size
            yield declared.FOLDER_LAG, (*labels, str(number)), max(behind, 0)


def _outbox() -> Iterator[Sample]:
    found = {task: numbers for task, *numbers in _bounded(_OUTBOX, [])}
    for task in dict.fromkeys((*TASKS, *found)):
        count, failed, oldest = found.get(task, (0, 0, 0.0))
        yield declared.OUTBOX_OPEN, (task,), count
        yield declared.OUTBOX_FAILED, (task,), failed
        yield declared.OUTBOX_OLDEST, (task,), oldest


def _protection() -> Iterator[Sample]:
    yield declared.GUARDS_OFF, (), len(guards.off(sql.rows(guards.THERE, [])))
    yield declared.CATALOGUE, (), len(catalogue.lately())


def _broker() -> Iterator[Sample]:
    signs = heartbeat.signs()
    for part in heartbeat.Part:
        yield declared.HEARTBEAT, (part.value,), signs.silent_for.get(part, math.inf)
    yield declared.WORKERS_SILENT, (), len(heartbeat.silent_workers())
    yield declared.LOGS_REFUSED, (), signs.refused_logs
    yield declared.WORKER_SPANS, (), noted.dropped_spans()
    for queue, waiting in signs.waiting.items():
        yield declared.QUEUE, (queue,), waiting


def _server() -> Iterator[Sample]:
    [row] = _bounded(SERVER, [])
    for metric, labels, value in server(row):
        yield metric, labels, value
        if metric is declared.ANSWERS_OLDEST:
            yield declared.PRUNING_LATE, (), _late(value)


def _late(oldest: float) -> float:
    """Seconds for which an answer of this age should have been gone, whichever house it is of."""
    if LegalHold.objects.filter(lifted_at=None).exists():
        return 0.0
    longest = max((control_points.in_force(house).retain_answers_days for house in House.objects.all()), default=0)
    return max(oldest - longest * 86_400, 0.0)


def _backups() -> Iterator[Sample]:
    if settings.CASINO_BACKUP_RECORDS is not None:
        yield from backups.samples(backups.read(settings.CASINO_BACKUP_RECORDS))


#: Each part that is read by itself, under the name that `cukassza_scrape_failed` has for it.
SOURCES: Mapping[str, Callable[[], Iterator[Sample]]] = {
    "houses": _houses, "verifications": _verifications, "outside": _outside, "outbox": _outbox,
    "protection": _protection, "broker": _broker,
    "server": _server, "backups": _backups,
}  # fmt: skip


def read() -> list[Sample]:
    """The whole state now."""
    found: list[Sample] = [(declared.BUILD, (__version__,), 1.0)]
    for name, source in SOURCES.items():
        try:
            samples = list(source())
        except (DatabaseError, InterfaceError, redis.RedisError, OSError) as error:
            log.warning("metrics of %s cannot be read: %s", name, error)
            found.append((declared.SCRAPE_FAILED, (name,), 1.0))
        else:
            found += [*samples, (declared.SCRAPE_FAILED, (name,), 0.0)]
    return found


class State(Collector):
    """The state for a registry of `prometheus_client`; what was read is good for `GOOD_FOR` seconds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._until = 0.0
        self._samples: list[Sample] = []

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Every declared metric, also one of which there is nothing to say now."""
        families = {
            metric: GaugeMetricFamily(metric.name, metric.meaning, labels=metric.labels) for metric in declared.OF_STATE
        }
        for metric, labels, value in self._now():
            families[metric].add_metric(labels, float(value))
        yield from families.values()

    def _now(self) -> list[Sample]:
        with self._lock:
            if time.monotonic() >= self._until:
                self._samples, self._until = read(), time.monotonic() + GOOD_FOR
            return self._samples
