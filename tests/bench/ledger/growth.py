"""How many bytes a settlement takes, and how soon a balance of the past is found among a million entries."""

import random
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice

from tests.bench.ledger import ours
from tests.bench.ledger.workload import AMOUNTS, TABLES, Settlement, Stage, settlements

BATCH = 500
LOOK_UPS = 2000

_SIZES = """
SELECT c.relname, pg_table_size(c.oid) FROM pg_class c WHERE c.relkind = 'r' AND c.relname LIKE 'ledger\\_%'
UNION ALL
SELECT i.relname, pg_relation_size(i.oid) FROM pg_index x
JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class c ON c.oid = x.indrelid
WHERE c.relkind = 'r' AND c.relname LIKE 'ledger\\_%'
"""


@dataclass(frozen=True, slots=True)
class Grown:
    """What settlements took: `bytes_each` by table and index, of one of them."""

    settlements: int
    bytes_each: dict[str, float]

    @property
    def total(self) -> float:
        """Bytes a settlement, everything included."""
        return sum(self.bytes_each.values())

    def lines(self) -> list[str]:
        """The total, then its parts, the largest first."""
        parts = sorted(self.bytes_each.items(), key=lambda item: -item[1])
        head = f"bytes a settlement, over the {self.settlements:,} of these runs: {self.total:.0f}"
        return [head, *(f"  {name:42}{size:8.1f}" for name, size in parts if abs(size) >= 0.05)]


@dataclass(frozen=True, slots=True)
class Filled:
    """A book filled in batches, and what it took."""

    stage: Stage
    seconds: float
    grown: Grown

    @property
    def entries(self) -> int:
        """All legs."""
        return self.grown.settlements * len(AMOUNTS)

    def line(self) -> str:
        """One line for people."""
        rate = self.grown.settlements / self.seconds
        return (
            f"{self.entries:,} entries filled in {self.seconds:.0f} s ({rate:,.0f} settlements/s,"
            f" {self.grown.total:.0f} bytes each)"
        )


@dataclass(frozen=True, slots=True)
class LookUps:
    """Milliseconds of one way to ask for a balance of the past."""

    name: str
    entries: int
    median: float
    p99: float

    def line(self) -> str:
        """One line for people."""
        return (
            f"{self.name:22}of an account with {self.entries:,} entries: {self.median:.3f} ms (p99 {self.p99:.3f} ms)"
        )


def fill(count: int) -> Filled:
    """`count` settlements on all tables in turn, every tax on the house's one account, a row of its own."""
    stage = ours.open_book(lanes=False)
    write = ours.PostedTogether(stage) if ours.has_batches() else ours.PostedInOne(stage)
    work: Iterator[Settlement] = islice(settlements(stage, range(TABLES), hot=True), count)
    started = time.monotonic()

    def write_all() -> None:
        while batch := list(islice(work, BATCH)):
            write(batch)

    grown = grown_by(write_all)
    return Filled(stage, time.monotonic() - started, grown)


def grown_by(settle: Callable[[], object]) -> Grown:
    """What the tables and indexes of the ledger gain while only `settle` writes, over what it posts."""
    before, posted = sizes(), transactions()
    settle()
    count = transactions() - posted
    return Grown(count, {name: (size - before[name]) / count for name, size in sizes().items()})


def transactions() -> int:
    """How many there are, in all books."""
    from ledger.models import Transaction

    return Transaction.objects.count()


def sizes() -> dict[str, int]:
    """Bytes of each table of the ledger (with what belongs to it, without indexes) and of each index."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(_SIZES)
        return dict(cursor.fetchall())


def look_ups(filled: Filled) -> list[LookUps]:
    """`balance_at` and `balance_at_version` at random, of the account that every settlement touched."""
    from ledger.balances import balance, balance_at, balance_at_version
    from ledger.models import Entry

    account = filled.stage.house
    now = balance(account)
    first, last = (
        Entry.objects.values_list("transaction__posted_at", flat=True).get(account=account, version=version)
        for version in (1, now.version)
    )
    chance = random.Random("moments")
    moments = [first + timedelta(seconds=chance.random() * (last - first).total_seconds()) for _ in range(LOOK_UPS)]
    versions = [chance.randint(1, now.version) for _ in range(LOOK_UPS)]
    return [
        _timed("balance_at", now.version, [lambda moment=moment: balance_at(account, moment) for moment in moments]),
        _timed(
            "balance_at_version",
            now.version,
            [lambda version=version: balance_at_version(account, version) for version in versions],
        ),
    ]


def _timed(name: str, entries: int, calls: list[Callable[[], object]]) -> LookUps:
    for call in calls[: LOOK_UPS // 20]:
        call()
    taken = []
    for call in calls:
        started = time.perf_counter()
        call()
        taken.append((time.perf_counter() - started) * 1000)
    return LookUps(name, entries, statistics.median(taken), statistics.quantiles(taken, n=100)[98])
