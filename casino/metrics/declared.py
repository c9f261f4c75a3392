"""Every metric of the state, declared once: name, labels, meaning; `docs/reference/metrics.md` is generated from them.

Labels have few values: codes of houses, tasks, queues, parts, folders by their number. Nothing names a person or an
amount of money.
"""

from casino.core.measured import OF_PROCESSES, Kind, Metric

#: `sandbox` is 1 for a house that is for tests and rehearsals: no rule pages for it.
_HOUSE = ("house", "sandbox")


def _gauge(name: str, meaning: str, *labels: str) -> Metric:
    return Metric(f"cukassza_{name}", Kind.GAUGE, meaning, labels)


# --- The code ---------------------------------------------------------------------------------------------------------
BUILD = _gauge("build_info", "1, with the version of the code that answers.", "version")

# --- Houses ----------------------------------------------------------------------------------------------------------
UNSETTLED = _gauge(
    "unsettled_seconds", "Age of the oldest hand that is over and not settled, by its message in the outbox; 0: none.",
    *_HOUSE,
)  # fmt: skip
DISPUTED = _gauge("disputed_tables", "Tables that stand still with a disputed hand.", *_HOUSE)
IMBALANCES = _gauge("imbalances", "Open imbalances: chips against money, or a snapshot against entries.", *_HOUSE)
READ_ONLY = _gauge("house_read_only", "1 for a house that may write nothing because of its log.", *_HOUSE)
LOG_BEHIND = _gauge("log_behind_seconds", "Age of the oldest event that is not in the log yet; 0: none.", *_HOUSE)
LOG_WAITING = _gauge("log_waiting_events", "Events of all chains that no checkpoint covers yet.", *_HOUSE)
WEBHOOKS = _gauge(
    "webhook_chains_failing", "Chains of webhooks whose receiver has not taken several attempts in a row.", *_HOUSE
)
PASSKEYS_CLONED = _gauge("passkeys_cloned", "Passkeys in use of which there may be a copy.", *_HOUSE)
FOLDER_LAG = _gauge(
    "outside_folder_lag_leaves",
    "Leaves by which the last checkpoint in a folder outside is behind the database's; folders are numbered from 1 as "
    "in `CASINO_CHECKPOINT_DIR`.",
    *_HOUSE, "folder",
)  # fmt: skip
VERIFIED_AT = _gauge(
    "verified_timestamp_seconds", "When the house was last verified (`verify_house`), whole or from a mark on.", *_HOUSE
)
VERIFIED_WHOLE_AT = _gauge("verified_whole_timestamp_seconds", "When the house was last verified whole.", *_HOUSE)
FINDINGS = _gauge("verification_findings", "Findings of the last verification of the house.", *_HOUSE)

# --- The installation ------------------------------------------------------------------------------------------------
SCRAPE_FAILED = _gauge(
    "scrape_failed", "1 where this part of the state could not be read; its metrics are missing then.", "source"
)
GUARDS_OFF = _gauge("guards_off", "Triggers that protect written rows and are missing or off.")
CATALOGUE = _gauge("catalogue_differences", "Objects of the database that are not as the migrations make them.")
OUTBOX_OPEN = _gauge("outbox_open_messages", "Open messages of the outbox, by the task that works them off.", "task")
OUTBOX_FAILED = _gauge("outbox_failed_messages", "Those of them that were tried and have failed.", "task")
OUTBOX_OLDEST = _gauge("outbox_oldest_seconds", "Age of the oldest open message of the outbox; 0: none.", "task")
HEARTBEAT = _gauge(
    "heartbeat_age_seconds", "Seconds since beat, a worker or the sequencer was heard of; +Inf: never.", "part"
)
WORKERS_SILENT = _gauge("silent_workers", "Workers that stand still while others run.")
LOGS_REFUSED = _gauge("sequencer_refused_logs", "Houses whose log the sequencer cannot let go on.")
WORKER_SPANS = _gauge("worker_spans_dropped", "Spans of traces that workers have dropped, since the broker was empty.")
QUEUE = _gauge("queue_messages", "Messages that wait in a queue of the broker.", "queue")
BACKED_UP = _gauge(
    "backup_timestamp_seconds",
    "When the last good backup in a repository ended; 0: never. Only where `CASINO_BACKUP_RECORDS` is set.",
    "repository",
)
DRILLED = _gauge(
    "restore_drill_timestamp_seconds",
    "When a backup was last restored and verified; 0: never. Only where `CASINO_BACKUP_RECORDS` is set.",
)
DRILL_FAILED = _gauge("restore_drill_failed", "1 where the last restore drill has found that a backup is no good.")

# --- The server of the database --------------------------------------------------------------------------------------
LOCKS = _gauge("database_lock_waits", "Sessions that wait for a lock.")
LOCK_WAIT = _gauge("database_lock_wait_seconds", "For how long the oldest of them has waited; 0: none.")
IDLE = _gauge(
    "database_idle_transaction_seconds",
    "Age of the oldest session that is idle in a transaction, as far as the application's role sees them; 0: none.",
)
SYNC_WAITS = _gauge("database_sync_waits", "Commits of the application that wait for a synchronous standby.")
SYNC_WAIT = _gauge("database_sync_wait_seconds", "For how long the oldest of them has waited; 0: none.")
CONNECTIONS = _gauge("database_connections", "Sessions in this database.")
SIZE = _gauge("database_size_bytes", "Size of the database.")
XID_AGE = _gauge("database_xid_age", "Transactions since the oldest that is not frozen.")
ANSWERS = _gauge("answered_requests", "Answers that are kept under an Idempotency-Key: an estimate.")
ANSWERS_OLDEST = _gauge("answered_requests_oldest_seconds", "Age of the oldest of them; 0: none.")
PRUNING_LATE = _gauge(
    "pruning_late_seconds",
    "For how long the oldest answer has outlived the days of the house that keeps them longest; 0 under a legal hold.",
)
MESSAGES = _gauge("outbox_messages", "Messages of the outbox that are kept, most of them done: an estimate.")
MESSAGES_OLDEST = _gauge("outbox_done_oldest_seconds", "For how long the oldest that is done has been so; 0: none.")
RECOVERY = _gauge("database_in_recovery", "1 on a standby: nothing can be written.")
STANDBY_WANTED = _gauge("synchronous_standby_wanted", "1 where commits wait for a synchronous standby.")
STANDBYS = _gauge("standbys", "Standbys that take the log of the database's server now.")

OF_STATE = (
    BUILD, UNSETTLED, DISPUTED, IMBALANCES, READ_ONLY, LOG_BEHIND, LOG_WAITING, WEBHOOKS, PASSKEYS_CLONED,
    FOLDER_LAG, VERIFIED_AT, VERIFIED_WHOLE_AT, FINDINGS,
    SCRAPE_FAILED, GUARDS_OFF, CATALOGUE, OUTBOX_OPEN, OUTBOX_FAILED, OUTBOX_OLDEST, HEARTBEAT,
    WORKERS_SILENT, LOGS_REFUSED, WORKER_SPANS, QUEUE, BACKED_UP, DRILLED, DRILL_FAILED, LOCKS, LOCK_WAIT, IDLE,
    SYNC_WAITS, SYNC_WAIT, CONNECTIONS, SIZE, XID_AGE,
    ANSWERS, ANSWERS_OLDEST, PRUNING_LATE, MESSAGES, MESSAGES_OLDEST, RECOVERY, STANDBY_WANTED, STANDBYS,
)  # fmt: skip
EVERY: tuple[Metric, ...] = (*OF_PROCESSES, *OF_STATE)
