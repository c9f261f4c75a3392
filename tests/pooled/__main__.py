"""`make pooler`: an evening is played through pgbouncer in transaction mode, which is killed, frozen and paused.

Web, workers and beat reach the database through it; the sequencer, the owner and who exports past it. Exit code 0 if
nothing that was acknowledged is lost, clients saw nothing but success and 503 with Retry-After, and the evening and its
audit trail are whole; 1 otherwise. Where pgbouncer cannot be had the trial is skipped, with the reason, and the exit
code is 0.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from deploy.embedded.process import wait_until
from tests.faults.injecting import frozen
from tests.ha import house as houses
from tests.ha import journal as journals
from tests.ha.__main__ import ended, verified
from tests.ha.house import House
from tests.ha.journal import Journal
from tests.ha.judging import judged
from tests.pooled import server
from tests.pooled.server import APP, Pooled

#: Sessions of the pooler: fewer than there are threads and processes that want one.
SESSIONS = 6
#: Seconds of play before the first trial, and after each.
PLAY = 5.0
#: Seconds that the pooler is away. `query_wait_timeout` is 5 here.
AWAY = 8.0
#: Seconds without an acknowledged write that are borne beside those.
BORNE = 10.0
HEAD = (
    "| trial | acknowledged writes | lost | longest pause | clients saw |",
    "|---|---|---|---|---|",
)


@dataclass(frozen=True)
class Trial:
    """What is done to the pooler, in words and in code, and for how many seconds nothing can be written meanwhile."""

    words: str
    inject: Callable[[Pooled], None]
    away: float = 0.0


def nothing(_pooled: Pooled) -> None:
    """Play goes on."""


def sessions_ended(pooled: Pooled) -> None:
    """All sessions of the pooler are ended by PostgreSQL."""
    assert pooled.end_sessions(), "the pooler has no session"


def killed(pooled: Pooled) -> None:
    """The pooler is killed, and started again."""
    pooled.pooler.kill()
    time.sleep(1.0)
    pooled.pooler.start()


def stuck(pooled: Pooled) -> None:
    """The pooler answers nobody, and then goes on."""
    with frozen([pooled.pooler.pid], AWAY):
        pass


def stuck_and_replaced(pooled: Pooled) -> None:
    """The pooler answers nobody, and is replaced."""
    with frozen([pooled.pooler.pid], AWAY):
        pooled.pooler.kill()
    pooled.pooler.start()


def paused(pooled: Pooled) -> None:
    """The pooler gives nobody a session, for longer than anybody waits."""
    pooled.pooler.command("PAUSE")
    time.sleep(AWAY)
    pooled.pooler.command("RESUME")


ALL = (
    Trial("nothing happens", nothing),
    Trial("every session of the pooler ended by PostgreSQL", sessions_ended),
    Trial("the pooler killed, and started again a second later", killed, away=1.0),
    Trial(f"the pooler frozen for {AWAY:.0f} s", stuck, away=AWAY),
    Trial("the pooler frozen and replaced", stuck_and_replaced, away=AWAY),
    Trial(f"the pooler gives out no session for {AWAY:.0f} s (PAUSE)", paused, away=AWAY),
)


def main(arguments: list[str] | None = None) -> int:
    """Run the trials; returns the exit code."""
    parser = argparse.ArgumentParser(prog="make pooler ARGS=...", description=__doc__)
    parser.add_argument("--keep", action="store_true", help="keep the folder with configurations and logs")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    return judged("pooler", tried, keep=options.keep)


def tried(folder: Path) -> list[str]:
    """Every trial; what did not hold. Raises Missing."""
    begun = time.monotonic()
    with server.running(folder, sessions=SESSIONS) as pooled:
        os.environ |= {"CASINO_POOLER": "transaction", "DATABASE_DIRECT_URL": pooled.past(APP)}
        with houses.running(folder, pooled) as house, journals.kept() as journal:
            print(f"house up after {time.monotonic() - begun:.0f} s; {len(house.tables)} tables", *HEAD, sep="\n")
            house.begin()
            time.sleep(PLAY)
            violated = [one for trial in ALL for one in run(trial, pooled, house, journal)]
            violated += _pooled(pooled)
            violated += ended(house, journal)
            violated += verified(house, "verify_house", "verify_audit")
            exported = house.command("export_audit", house.credentials.house, str(folder / "export"))
            violated += [] if exported.returncode == 0 else [f"export_audit: {exported.stderr[-500:]}"]
            again = {one.name: house.processes.restarts_of(one.name) for one in house.processes.programs}
            print("\nstarted again:", ", ".join(f"{name} {count} x" for name, count in again.items()))
            took = time.monotonic() - begun
            print(f"{house.hands} hands, {len(journal.acknowledged):,} acknowledged writes; {took:.0f} s")
    return violated


def run(trial: Trial, pooled: Pooled, house: House, journal: Journal) -> list[str]:
    """One trial, with play after it; what did not hold."""
    begun, before = time.monotonic(), len(journal.acknowledged)
    trial.inject(pooled)
    time.sleep(PLAY)
    until = time.monotonic()
    if house.over:
        raise AssertionError(f"the evening was over before the trial: {trial.words}")
    pause = journals.longest_gap([one.at for one in journal.acknowledged], begun, until)
    acknowledged, lost = len(journal.acknowledged) - before, len(house.lost(journal.acknowledged[:]))
    saw = ", ".join(f"{count} x {what}" for what, count in sorted(journal.saw(begun, until).items()))
    print(f"| {trial.words} | {acknowledged:,} | {lost} | {pause:.1f} s | {saw or 'success alone'} |", flush=True)
    found = []
    if lost:
        found.append(f"{lost} acknowledged writes are lost")
    if not acknowledged:
        found.append("no write was acknowledged")
    if pause > trial.away + BORNE:
        found.append(f"no write was acknowledged for {pause:.1f} s")
    return [f"{trial.words}: {one}" for one in found]


def _pooled(pooled: Pooled) -> list[str]:
    """What is wrong with who goes through the pooler and who past it, while the evening is played."""
    found = []
    wait_until(lambda: bool(pooled.pooler.shown("SERVERS")), seconds=5)
    servers = [one for one in pooled.pooler.shown("SERVERS") if one["user"] == APP]
    clients = [one for one in pooled.pooler.shown("CLIENTS") if one["user"] == APP]
    kept = sum(int(str(one["prepared_statements"])) for one in servers)
    print(f"\n{len(clients)} clients in {len(servers)} sessions, which keep {kept} prepared statements")
    if not 0 < len(servers) <= SESSIONS < len(clients):
        found.append(f"{len(clients)} clients have {len(servers)} sessions, of {SESSIONS}")
    if not kept:
        found.append("the pooler keeps no prepared statement")
    with pooled.administrator() as connection:
        names = Counter(str(name) for (name,) in connection.execute(
            "SELECT usename FROM pg_stat_activity WHERE datname = 'casino'"
        ))  # fmt: skip
    if names["casino_sequencer"] != 1:
        found.append(f"the sequencer has {names['casino_sequencer']} sessions, expected one of its own")
    return found


if __name__ == "__main__":
    sys.exit(main())
