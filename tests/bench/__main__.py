"""`python -m tests.bench`: engine, ledger, the whole way of a bet and its proof, each against a named reference."""

import argparse
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from itertools import count

from tests.bench import games, library, live, replay, screens, tricks
from tests.bench.alternate import Comparison, compare
from tests.bench.database import database
from tests.bench.http import report as http
from tests.bench.ledger import profiling
from tests.bench.ledger import report as ledger
from tests.bench.proof import chain, hands, lag
from tests.bench.proof.verification import EVENTS
from tests.bench.ranking import bench_ranking, bench_ranking_batch, bench_ranking_numbers

PARTS = ("engine", "ledger", "application", "proof", "http", "live", "screens", "founding", "reports")


def bench_actions() -> Comparison:
    """An action through the HTTP application (token, lock, replay, posting, event, answer), against one posting."""
    from django.db import transaction

    from ledger.posting import CREDIT, AccountSpec, Leg, ensure_accounts, post
    from tests.casino.kit import SAMPLE, Kit

    kit = Kit.found()
    kit.table()
    dealer = kit.seated(stacks=(900_000, 900_000, 900_000, 900_000))
    keys = count()
    # A book that is no house: what a house posts needs an event.
    book = uuid.uuid4()
    with transaction.atomic():
        specs = [AccountSpec(code, code, "HUF", CREDIT, None) for code in ("stack", "pot")]
        stack, pot = ensure_accounts(book, specs).values()

    def hands() -> int:
        for _ in range(3):
            dealer.ok("hands", {"mode": "physical"})
            for line in SAMPLE:
                dealer.act(line)
            kit.settle()
            dealer.refresh()
        return 3 * len(SAMPLE)

    def postings() -> int:
        for _ in range(3 * len(SAMPLE)):
            for amount in (100, -100):
                with transaction.atomic():
                    post(book, f"bench-{next(keys)}", "bench", [Leg(stack, amount), Leg(pot, -amount)], {})
        return 6 * len(SAMPLE)

    return compare(
        "action through the application", "actions", hands, "a bare 2-leg posting", postings, clock=time.monotonic
    )


def bench_engine() -> None:
    """Replay and ranking; needs no server."""
    for comparison in (*replay.comparisons(), *tricks.comparisons(), *games.comparisons(), *library.comparisons()):
        print(comparison.line(), flush=True)
    for bench in (bench_ranking, bench_ranking_numbers, bench_ranking_batch):
        print(bench().line(), flush=True)


def bench_verification(events: int, *, quick: bool) -> None:
    """How fast a trail is verified: in a process of its own, because its evening is loaded into an empty database."""
    given = [str(events), *(["--runs", "1"] if quick else [])]
    subprocess.run([sys.executable, "-m", "tests.bench.proof.verification", *given], check=True)


def bench_founding() -> None:
    """A house from nothing: in a process of its own, because its database is a new one too."""
    subprocess.run([sys.executable, "-m", "tests.bench.founding"], check=True)


def bench_reports() -> None:
    """Files of reports, and the catalogue on an evening of eight tables: in a process with a database of its own."""
    subprocess.run([sys.executable, "-m", "tests.bench.reports"], check=True)


def bench_proof(*, quick: bool) -> None:
    """What the chain costs an action, how fast hands are verified, how far the log is behind."""
    for comparison, goal in ((chain.comparison(), f"{chain.GOAL} x"), (hands.comparison(), f"{hands.GOAL:,}/s")):
        print(comparison.line(), f"  goal {goal}", flush=True)
    lag.run(quick)


def main() -> None:
    """Print one line a comparison, of the parts that were asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument(
        "parts",
        nargs="*",
        metavar="PART",
        help=f"{', '.join(PARTS)} (all of them if none is named), or profile: the ledger's time",
    )
    parser.add_argument(
        "--quick", action="store_true", help="ledger, proof, http, live and screens in short rounds, for development"
    )
    parser.add_argument(
        "--events", type=int, default=EVENTS, help=f"events of recorded hands that proof verifies ({EVENTS:,})"
    )
    arguments = parser.parse_args()
    parts = arguments.parts or PARTS
    if unknown := set(parts) - {*PARTS, "profile"}:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    if "engine" in parts:
        bench_engine()
    if "proof" in parts:
        bench_verification(arguments.events, quick=arguments.quick)
    if "founding" in parts:
        bench_founding()
    if "reports" in parts:
        bench_reports()
    measured: dict[str, Callable[[], None]] = {
        "ledger": lambda: ledger.run(quick=arguments.quick),
        "profile": profiling.run,
        "proof": lambda: bench_proof(quick=arguments.quick),
        "application": lambda: print(bench_actions().line(), flush=True),
        "http": lambda: http.run(quick=arguments.quick),
        "live": lambda: live.run(quick=arguments.quick),
        "screens": lambda: screens.run(quick=arguments.quick),
    }
    if measured.keys() & set(parts):
        with database():
            for part in [one for one in measured if one in parts]:
                measured[part]()


if __name__ == "__main__":
    main()
