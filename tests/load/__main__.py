"""`make load`: many tables at once in an installation as `make run` starts one, in a closed loop, in which every table
plays as fast as it is answered and its players think, and in an open loop, in which hands are due at a given rate.

In the end it says what the database has grown by for a hand. Exit code 0 if everything was settled, verified and
balances, 1 otherwise.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Iterator

from tests.faults.house import installed
from tests.load.loops import closed, open_
from tests.load.measured import Result, grown
from tests.load.parts import Parts
from tests.load.proof import violations
from tests.load.room import MODES, RECORDS, Room, opened

LOOPS = ("both", "closed", "open")
#: Without --rate the open loop is asked for this share of what the closed one has reached.
SHARE = 0.5


def main(arguments: list[str] | None = None) -> int:
    """Play, print, prove; returns the exit code."""
    options = _parsed(arguments)
    # One that is ended leaves no servers behind, whichever way.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with (
        installed() as installation,
        opened(installation.root, options.tables, options.games, options.modes, options.seed) as room,
    ):
        parts = Parts(installation)
        # Processes that have just begun prepare their statements and import what they need.
        results = [closed(room, parts, options.warm_up, 0.0)]
        before = parts.sizes()
        for run in _runs(room, parts, options):
            results.append(run)
            print(*run.lines(), sep="\n", flush=True)
        print(grown(before, parts.sizes(), sum(result.hands for result in results[1:])), flush=True)
        found = violations(room, sum(result.hands for result in results))
    print(*(f"violated: {one}" for one in found), sep="\n", end="\n" if found else "")
    print("every hand is settled, the trail is verified, the books balance" if not found else "IT DOES NOT HOLD")
    return 1 if found else 0


def _runs(room: Room, parts: Parts, options: argparse.Namespace) -> Iterator[Result]:
    """The runs that were asked for, in turn."""
    rate = options.rate
    for _ in range(options.rounds):
        if options.loop in ("both", "closed"):
            result = closed(room, parts, options.seconds, options.think_closed / 1000)
            yield result
            rate = rate or SHARE * result.hands_a_second
        if options.loop in ("both", "open"):
            yield open_(room, parts, options.seconds, options.think / 1000, rate, options.seed)


def _parsed(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make load ARGS=...", description=__doc__)
    parser.add_argument("--tables", type=int, default=64, metavar="N", help="tables that play at once (64)")
    parser.add_argument("--seconds", type=float, default=30.0, metavar="S", help="seconds of each run (30)")
    parser.add_argument("--loop", choices=LOOPS, default="both", help="which loops, the closed one first (both)")
    parser.add_argument("--rate", type=float, metavar="R", help="hands a second of the open loop (half of the closed)")
    parser.add_argument("--think", type=float, default=100.0, metavar="MS", help="thought before each act (100)")
    parser.add_argument(
        "--think-closed", type=float, default=0.0, metavar="MS", help="the same in the closed loop (0: what it bears)"
    )
    parser.add_argument("--rounds", type=int, default=1, metavar="K", help="so many times, in turn (1)")
    parser.add_argument("--games", nargs="+", choices=sorted(RECORDS), default=list(RECORDS), help="games (all)")
    parser.add_argument("--modes", nargs="+", choices=MODES, default=list(MODES), help="how tables deal (both)")
    parser.add_argument("--warm-up", type=float, default=5.0, metavar="S", help="seconds of play before all (5)")
    parser.add_argument("--seed", type=int, default=41, help="of everything random")
    options = parser.parse_args(arguments)
    if options.loop == "open" and options.rate is None:
        parser.error("--loop open needs --rate")
    return options


if __name__ == "__main__":
    sys.exit(main())
