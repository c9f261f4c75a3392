"""`make faults`: every fault under play, one house each, and what must hold afterwards.

Exit code 0 if nothing was violated; 1 otherwise; 2 for a fault that is not known.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.casino.live.receiver import Receiving, receiver, write
from tests.faults import report
from tests.faults.declared import Fault, declared
from tests.faults.house import Installation, installed
from tests.faults.invariants import violations
from tests.faults.players import Play
from tests.faults.report import HEAD, Result
from tests.faults.scene import NotRecovered, Scene

#: Seconds of play before a fault, and after the house is well again.
BEFORE, AFTER = 2.0, 2.0


def main(arguments: list[str] | None = None) -> int:
    """Run faults; returns the exit code."""
    known = declared()
    parser = argparse.ArgumentParser(prog="make faults ARGS=...", description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these faults alone")
    parser.add_argument("--list", action="store_true", help="name the faults, and run none")
    parser.add_argument("--write", action="store_true", help="write the table of docs/explanation/faults.md")
    options = parser.parse_args(arguments)
    if options.list:
        print(*(f"{one.name:24} {one.words}" for one in known.values()), sep="\n")
        return 0
    if unknown := sorted(set(options.only or ()) - known.keys()):
        print(f"faults: no such fault: {', '.join(unknown)}; --list names them", file=sys.stderr)
        return 2
    chosen = [one for one in known.values() if not options.only or one.name in options.only]
    # One that is ended leaves no servers behind, whichever way.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    print(*HEAD, sep="\n", flush=True)
    results = []
    with listening() as receiving, installed() as installation:
        for one in chosen:
            results.append(run(installation, one, receiving))
            print(results[-1].row(), flush=True)
    if options.write:
        report.write(results)
    violated = [result.name for result in results if result.violations]
    print(f"\n{len(results)} faults, {len(violated)} with something violated {' '.join(violated)}")
    return 1 if violated else 0


@contextmanager
def listening() -> Iterator[Receiving]:
    """A receiver of webhooks, in the operator's file of destinations for all processes that are started inside."""
    with tempfile.TemporaryDirectory(prefix="faults-d-") as folder, receiver() as receiving:
        os.environ["CASINO_DESTINATIONS"] = write(Path(folder), receiving)
        yield receiving
    del os.environ["CASINO_DESTINATIONS"]


def run(installation: Installation, one: Fault, receiving: Receiving) -> Result:
    """One fault in a house of its own."""
    installation.processes.wait_ready(f"{installation.root}/readyz")
    play = Play.founded(installation.root, receiving)
    play.begin()
    begun = time.monotonic()
    time.sleep(BEFORE)
    found: list[str] = []
    recovery = None
    try:
        recovery = one.inject(Scene(installation, play))
        time.sleep(AFTER)
    except (NotRecovered, AssertionError) as error:
        found.append(str(error))
    if play.over:
        found.append("play was over before the fault")
    ended = time.monotonic()
    try:
        play.end()
    except Exception as error:
        found.append(f"a console gave up: {error!r}")
    found += violations(play)
    journal = play.journal
    slowest = max((seconds for _, seconds in journal.settled), default=0.0)
    gap = journal.longest_gap(begun, ended)
    return Result(one.name, one.words, journal.hands, dict(journal.missed), gap, slowest, recovery, found)


if __name__ == "__main__":
    sys.exit(main())
