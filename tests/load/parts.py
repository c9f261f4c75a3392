"""The parts of an installation: what each has used of the CPU, how long hands waited for their settlement, and what the
tables of the database and its write-ahead log have grown by."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tests.bench.http import usage
from tests.faults.house import Installation

#: Part -> the supervisor's names of its processes.
PROCESSES = {
    "web": ("web",), "hints": ("hints",), "workers": ("worker", "worker-2", "worker-files"),
    "sequencer": ("sequencer",), "beat": ("beat",),
}  # fmt: skip
SERVERS = {"database": "postgres", "broker": "valkey"}
#: Clients and supervisor are one process.
LOAD = "load generator"
_AGES = """
SELECT extract(epoch FROM done_at - created_at)::float FROM houses_outboxmessage
JOIN houses_house house ON house.id = house_id
WHERE house.code = %s AND created_at >= %s AND task LIKE 'hands.%%' AND done_at IS NOT NULL
"""


#: With indexes and what is stored beside the rows; the log since the beginning of the cluster.
_SIZES = """
SELECT relname, pg_total_relation_size(oid) FROM pg_class
WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
"""
_LOG = "SELECT pg_current_wal_insert_lsn() - '0/0'"
#: What the write-ahead log is called among the tables.
LOG = "write-ahead log"


@dataclass(frozen=True)
class Parts:
    """The parts of what was installed."""

    at: Installation

    def cpu(self) -> dict[str, float]:
        """CPU seconds of each part until now; empty where there is no /proc."""
        if not usage.measurable():
            return {}
        pids = {name: self.at.processes.pid_of(name) for names in PROCESSES.values() for name in names}
        pids |= {name: pid for name in SERVERS.values() if (pid := self.at.pid_of_server(name)) is not None}
        running = usage.processes()
        used = usage.of_trees({name: pid for name, pid in pids.items() if pid in running}, running)
        parts = PROCESSES | {part: (name,) for part, name in SERVERS.items()}
        return {part: sum(used.get(name, 0.0) for name in names) for part, names in parts.items()} | {
            LOAD: running[os.getpid()].own
        }

    def now(self) -> datetime:
        """The database's clock."""
        [(moment,)] = self._rows("SELECT clock_timestamp()", [])
        assert isinstance(moment, datetime)
        return moment

    def sizes(self) -> dict[str, int]:
        """Bytes of each table, and of the write-ahead log as it was written."""
        [(log,)] = self._rows(_LOG, [])
        return {str(name): int(size) for name, size in self._rows(_SIZES, [])} | {LOG: int(log)}

    def ages(self, house: str, since: datetime) -> list[float]:
        """Seconds from the end of each hand since this moment to its settlement."""
        return [float(age) for (age,) in self._rows(_AGES, [house, since])]

    def _rows(self, statement: str, parameters: list[Any]) -> list[tuple[Any, ...]]:
        with self.at.database() as connection:
            return connection.execute(statement, parameters).fetchall()  # type: ignore[arg-type]
