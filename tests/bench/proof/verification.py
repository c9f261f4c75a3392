"""Verifying events of recorded hands, exported and in a live house, against only reading and hashing the same."""

import argparse
import gc
import hashlib
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from django.db import connection, transaction

from tests.bench.alternate import Comparison, compare
from tests.bench.database import database

if TYPE_CHECKING:
    from casino.houses.models import House

EVENTS = 30_000
#: The most events of a live house.
LIVE = 100_000
GOAL, LIVE_GOAL = 0.4, 0.5
#: Counted runs of each.
RUNS, LIVE_RUNS = 7, 5
#: A checkpoint for so many events: about what two cores write in the second between two of them, at ten hands.
EVERY = 250


def _lines(folder: Path) -> Iterator[list[bytes]]:
    with (folder / "events-1.jsonl").open("rb") as file:
        while lines := file.readlines(1 << 15):
            yield lines


def comparisons(events: int = EVENTS, *, runs: int = RUNS) -> list[Comparison]:
    """Verification of an export (everything: chains, tree, signatures, ledger, hands and rows) against three ways of
    only reading and hashing its events: as JSON one by one, to which the goal refers, as JSON many at a time, and as
    lines without looking inside. Django must be set up."""
    from casino.audit import verifier
    from tests.bench.proof.recorded import write_recorded

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        world = write_recorded(folder, events, every=EVERY)
        held = [verifier.read_notes(folder / "checkpoints", "held", held=True)]
        keys = [verifier.parse_key(world.vkey)]

        def verified() -> int:
            report = verifier.verify_export(folder, held, keys)
            if report.found or report.counts["events"] != world.count:
                raise AssertionError(report.as_json())
            return report.counts["events"]

        def as_json() -> int:
            gc.disable()
            count = 0
            for lines in _lines(folder):
                for line in lines:
                    hashlib.sha256(b"\x00" + line[:-1]).digest()
                    json.loads(line)
                count += len(lines)
            gc.enable()
            return count

        def as_batches() -> int:
            gc.disable()
            count = 0
            for lines in _lines(folder):
                _hashed = [hashlib.sha256(b"\x00" + line[:-1]).digest() for line in lines]
                count += len(json.loads(b"[" + b",".join(lines) + b"]"))
            gc.enable()
            return count

        def as_lines() -> int:
            return sum(
                len([hashlib.sha256(b"\x00" + line[:-1]).digest() for line in lines]) for lines in _lines(folder)
            )

        return [
            compare("export verified", "events", verified, name, reference, runs=runs)
            for name, reference in (
                ("json.loads and SHA-256 of each line", as_json),
                ("the same, many lines at a time", as_batches),
                ("hashing lines unread", as_lines),
            )
        ]


def live_comparisons(events: int = EVENTS, *, runs: int = LIVE_RUNS) -> list[Comparison]:
    """Verification of a live house against streaming its events, transactions and hands and no more, by the wall clock:
    PostgreSQL works beside the reader. Needs a database of its own (`tests.bench.database`)."""
    from casino.verification import auditing
    from tests.bench.proof.loading import load
    from tests.bench.proof.recorded import write_recorded

    with tempfile.TemporaryDirectory() as place:
        count = write_recorded(Path(place), events, every=EVERY).count
        house = load(Path(place))

    def verified() -> int:
        report = auditing.verify_house(house)
        # Of its rows only books and hands are loaded.
        found = [one.as_json() for one in report.findings if not one.code.startswith("state_")]
        if found or report.counts["events"] != count:
            raise AssertionError(found or report.counts)
        return count

    def reading(rows: Callable[["House"], int]) -> Callable[[], int]:
        def read() -> int:
            if (found := rows(house)) <= count:
                raise AssertionError(f"{found} rows: there are {count} events, and transactions and hands besides")
            return count

        return read

    return [
        compare("live house verified", "events", verified, name, reading(rows), clock=time.monotonic, runs=runs)
        for name, rows in (
            ("streaming its rows by psycopg's COPY", _by_copy),
            ("the same by Django's iterator()", _by_django),
            ("the same as verification reads them", _as_verification),
        )
    ]


def _by_copy(house: "House") -> int:
    """Plainly: the same queries under the same plans, by the library's own reader."""
    from casino.verification import snapshot_reader as moment

    found = 0
    for statement, parameters, without in (
        (moment._LEAVES, [house.id, 1], moment._UNSORTED),
        (moment._TRANSACTIONS, [house.id], moment._ALONG),
        (moment._HANDS, [house.id], moment._ALONG),
    ):
        with transaction.atomic(), connection.cursor() as cursor:
            for name in without:
                cursor.execute(f"SET LOCAL {name} = off")
            with cursor.cursor.copy(f"COPY ({statement}) TO STDOUT", parameters) as copy:
                found += sum(1 for _ in copy)
    return found


def _by_django(house: "House") -> int:
    from casino.audit.models import Event
    from casino.hands.models import Hand, HandLine
    from ledger.models import Entry, Transaction

    with transaction.atomic():
        return sum(
            sum(1 for _ in rows.values_list().iterator())
            for rows in (
                Event.objects.filter(chain__house=house).order_by("leaf__leaf_index"),
                Transaction.objects.filter(book=house.id).order_by("id"),
                Entry.objects.filter(transaction__book=house.id).order_by("transaction_id"),
                Hand.objects.filter(house=house).order_by("id"),
                HandLine.objects.filter(hand__house=house).order_by("hand_id", "seq"),
            )
        )


def _as_verification(house: "House") -> int:
    """Straight from libpq, many rows at a time."""
    from casino.verification.snapshot_reader import moment

    with moment(house) as there:
        found = sum(len(payloads) for payloads, _ in there.leaves(1))
        found += sum(len(lines) for lines in there.transactions())
        return found + sum(1 for _ in there.hands())


def main() -> None:
    """Measure, and print a line a comparison."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.proof.verification", description=__doc__)
    parser.add_argument("events", type=int, nargs="?", default=EVENTS, help=f"events of the export ({EVENTS:,})")
    parser.add_argument("--runs", type=int, help=f"counted runs of each ({RUNS} exported, {LIVE_RUNS} live)")
    given = parser.parse_args()
    with database():
        for found in comparisons(given.events, runs=given.runs or RUNS):
            print(found.line(), f"  goal {GOAL}" if found.reference_name.startswith("json.loads") else "", flush=True)
        for found in live_comparisons(min(given.events, LIVE), runs=given.runs or LIVE_RUNS):
            print(found.line(), f"  goal {LIVE_GOAL}", flush=True)


if __name__ == "__main__":
    main()
