"""Where the time of a settlement goes: what to look at when a goal is not reached."""

import cProfile
import io
import os
import pstats
import statistics
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import count, islice

import psycopg
from psycopg import sql

from tests.bench.ledger import ours, pgbench
from tests.bench.ledger.crowd import Crowd
from tests.bench.ledger.workload import Settlement, settlements, tables_of

SECONDS = 1.5
ROUNDS = 3
FUNCTIONS_SHOWN = 14
PROFILED = 300
"""Settlements under cProfile."""
SAMPLE_SECONDS = 0.01

# Triggers that look at what a posting writes: on INSERT of transactions and entries, on UPDATE of accounts. Those that
# also stand for DELETE or TRUNCATE refuse everything and are not met. The one on entries moves the balances as well, so
# no posting is possible without it; its share shows in its time as a function.
_TRIGGERS = """
SELECT tgrelid::regclass::text, tgname, tgenabled::text FROM pg_trigger
WHERE NOT tgisinternal AND tgenabled <> 'D' AND tgtype & (8 | 32) = 0
  AND CASE tgrelid::regclass::text WHEN 'ledger_account' THEN tgtype & 16 <> 0
      WHEN 'ledger_transaction' THEN tgtype & 4 <> 0 ELSE false END
ORDER BY 1, 2
"""
_ENABLE = {"A": "ENABLE ALWAYS", "O": "ENABLE", "R": "ENABLE REPLICA"}
_WAITS = """
SELECT coalesce(wait_event_type || ': ' || wait_event, 'running') FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle' AND backend_type = 'client backend'
"""


def run(*, seconds: float = SECONDS, rounds: int = ROUNDS, clients: Sequence[int] = (1, 4, 16)) -> None:
    """Print the profile; the database is there."""
    for lines in (
        in_functions(seconds),
        in_django(seconds),
        waits(seconds, max(clients)),
        guards(seconds, rounds, clients),
    ):
        print(*lines, sep="\n", flush=True)


def ways() -> dict[str, Callable[[Sequence[Settlement]], None]]:
    """How the ledger can be posted to through Django, on a book of its own each."""
    made: dict[str, Callable[[Sequence[Settlement]], None]] = {"post in atomic": ours.Posted(ours.open_book())}
    if ours.has_alone():
        made["post alone"] = ours.PostedAlone(ours.open_book())
    return made


def in_functions(seconds: float) -> Iterator[str]:
    """Time in each function of the ledger, as PostgreSQL tracks it, a settlement of one client."""
    from django.conf import settings
    from django.db import connection, connections

    role, name = sql.Identifier(settings.CASINO_APP_ROLE), sql.Identifier(connection.settings_dict["NAME"])
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True) as owner:
        setting = "ALTER ROLE {} IN DATABASE {} {} track_functions"
        try:
            owner.execute(sql.SQL(setting + " = 'all'").format(role, name, sql.SQL("SET")))
        except psycopg.errors.InsufficientPrivilege:
            yield "time in functions: the owner of this database may not switch tracking on"
            return
        connections.close_all()
        done = _settle(ours.open_book(), ours.Posted, seconds)
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_stat_force_next_flush()")
            cursor.execute("SELECT 1")
            cursor.execute(
                "SELECT funcname, calls, total_time, self_time FROM pg_stat_user_functions"
                " WHERE calls >= %s ORDER BY self_time DESC",
                [done],
            )
            rows = cursor.fetchall()
        owner.execute(sql.SQL(setting).format(role, name, sql.SQL("RESET")))
    connections.close_all()
    yield f"functions of PostgreSQL, us a settlement of one client ({done:,} of them)     total      self"
    for function, calls, total, alone in rows:
        yield f"  {function:68}{total * 1000 / calls:9.1f} {alone * 1000 / calls:9.1f}"


def in_django(seconds: float) -> Iterator[str]:
    """What Python does meanwhile: its CPU time, and its functions by their own time under cProfile."""
    for name, write in ways().items():
        work = settlements_of(write)
        list(map(write, islice(work, 50)))
        started, used = time.perf_counter(), time.process_time()
        done = 0
        while time.perf_counter() - started < seconds:
            write(next(work))
            done += 1
        elapsed, used = time.perf_counter() - started, time.process_time() - used
        yield f"{name}: {done / elapsed:,.0f}/s from one client, {used / done * 1e6:.0f} us of its CPU each"
        profile = cProfile.Profile()
        profile.enable()
        for batch in islice(work, PROFILED):
            write(batch)
        profile.disable()
        out = io.StringIO()
        pstats.Stats(profile, stream=out).strip_dirs().sort_stats("tottime").print_stats(FUNCTIONS_SHOWN)
        text = out.getvalue().splitlines()
        yield from (f"  {line}" for line in text[text.index(next(t for t in text if "ncalls" in t)) :] if line)


def settlements_of(write: Callable[[Sequence[Settlement]], None]) -> Iterator[list[Settlement]]:
    """One at a time, on the first client's tables."""
    assert isinstance(write, ours.Posted)
    return ([one] for one in settlements(write.stage, tables_of(0), hot=False))


def _settle(stage: ours.Stage, way: type[ours.Posted], seconds: float) -> int:
    """How many settlements one client makes."""
    write = way(stage)
    work = settlements_of(write)
    stop = time.monotonic() + seconds
    for done in count():
        if time.monotonic() > stop:
            return done
        write(next(work))
    raise AssertionError("unreachable")


def waits(seconds: float, clients: int) -> Iterator[str]:
    """What the server's processes are seen doing, spread and hot."""
    with closing(Crowd("alone" if ours.has_alone() else "post", clients)) as crowd:
        for hot in (False, True):
            with _sampled() as seen:
                rate = crowd.rate(clients, seconds, hot=hot)
            total = sum(seen.values()) or 1
            parts = ", ".join(f"{name} {number / total:.0%}" for name, number in seen.most_common(7))
            yield f"{clients} clients, {'hot' if hot else 'spread'}, {rate:,.0f}/s; not idle: {parts}"


@contextmanager
def _sampled() -> Iterator[Counter[str]]:
    seen: Counter[str] = Counter()
    over = threading.Event()

    def sample() -> None:
        with psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True) as connection:
            while not over.wait(SAMPLE_SECONDS):
                seen.update(str(row[0]) for row in connection.execute(_WAITS))

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()


def guards(seconds: float, rounds: int, clients: Sequence[int]) -> Iterator[str]:
    """What the posting function gains with each guard switched off in turn (spread, by pgbench, without Django)."""
    tool = pgbench.program()
    if tool is None:
        yield "guards: there is no pgbench"
        return
    subject = pgbench.function(tool)
    rates: dict[str, dict[int, list[float]]] = {}
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True) as owner:
        found = [tuple(map(str, row)) for row in owner.execute(_TRIGGERS).fetchall()]
        cases = {"everything on": [], **{f"without {name}": [(t, name, how)] for t, name, how in found}}
        for _ in range(rounds):
            for case, triggers in {**cases, "without any of these": found}.items():
                with _disabled(owner, triggers):
                    for number in clients:
                        by_clients = rates.setdefault(case, {}).setdefault(number, [])
                        by_clients.append(subject.rate(number, seconds, hot=False))
    yield "ledger_post() by pgbench, settlements/s".ljust(48) + "".join(f"{f'{n} clients':>22}" for n in clients)
    for case, measured in rates.items():
        cells = ""
        for number, mine in measured.items():
            times = statistics.median(a / b for a, b in zip(mine, rates["everything on"][number], strict=True))
            cells += f"{statistics.median(mine):>14,.0f} ({times:.2f} x)"
        yield f"  {case:46}{cells}"


@contextmanager
def _disabled(owner: psycopg.Connection[tuple[object, ...]], triggers: Sequence[tuple[str, ...]]) -> Iterator[None]:
    alter = "ALTER TABLE {} {} TRIGGER {}"
    for table, name, _ in triggers:
        owner.execute(sql.SQL(alter).format(sql.Identifier(table), sql.SQL("DISABLE"), sql.Identifier(name)))
    try:
        yield
    finally:
        for table, name, how in triggers:
            owner.execute(sql.SQL(alter).format(sql.Identifier(table), sql.SQL(_ENABLE[how]), sql.Identifier(name)))
