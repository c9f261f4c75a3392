"""The server of the database, as far as the application's role may look: its own sessions whole, of others that they
are there; locks of everybody."""

from collections.abc import Iterator
from typing import Any

from casino.core import sql
from casino.core.measured import Metric
from casino.metrics import declared

#: One row; the order is that of `server`.
SERVER = """
SELECT
    (SELECT count(*) FROM pg_locks WHERE NOT granted),
    coalesce((SELECT extract(epoch FROM clock_timestamp() - min(waitstart)) FROM pg_locks WHERE NOT granted), 0)::float,
    coalesce(extract(epoch FROM clock_timestamp() - min(state_change) FILTER (
        WHERE state LIKE 'idle in transaction%%')), 0)::float,
    count(*) FILTER (WHERE wait_event = 'SyncRep'),
    coalesce(extract(epoch FROM clock_timestamp() - min(query_start) FILTER (WHERE wait_event = 'SyncRep')), 0)::float,
    count(*),
    pg_database_size(current_database()),
    (SELECT max(age(datfrozenxid)) FROM pg_database),
    (SELECT greatest(coalesce(sum(reltuples), 0), 0)::bigint FROM pg_class
        WHERE oid = 'staff_answeredrequest'::regclass
            OR oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 'staff_answeredrequest'::regclass)),
    coalesce((SELECT extract(epoch FROM clock_timestamp() - at) FROM staff_answeredrequest ORDER BY id LIMIT 1),
        0)::float,
    (SELECT greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = 'houses_outboxmessage'::regclass),
    coalesce((SELECT extract(epoch FROM clock_timestamp() - done_at) FROM houses_outboxmessage
        WHERE done_at IS NOT NULL ORDER BY id LIMIT 1), 0)::float,
    pg_is_in_recovery(),
    current_setting('synchronous_standby_names') <> '',
    (SELECT count(*) FROM pg_stat_replication)
FROM pg_stat_activity WHERE datname = current_database()
"""

_STANDBYS = "SELECT current_setting('synchronous_standby_names') <> '', (SELECT count(*) FROM pg_stat_replication)"


def misses_standby() -> bool:
    """Whether commits wait for a synchronous standby and none takes the server's log: then no write is confirmed."""
    [(wanted, there)] = sql.rows(_STANDBYS, [])
    return bool(wanted and not there)


def server(row: tuple[Any, ...]) -> Iterator[tuple[Metric, tuple[str, ...], float]]:
    """The metrics of a row of `SERVER`."""
    metrics = (
        declared.LOCKS, declared.LOCK_WAIT, declared.IDLE, declared.SYNC_WAITS, declared.SYNC_WAIT,
        declared.CONNECTIONS, declared.SIZE, declared.XID_AGE, declared.ANSWERS, declared.ANSWERS_OLDEST,
        declared.MESSAGES, declared.MESSAGES_OLDEST, declared.RECOVERY, declared.STANDBY_WANTED, declared.STANDBYS,
    )  # fmt: skip
    for metric, value in zip(metrics, row, strict=True):
        yield metric, (), float(value)
