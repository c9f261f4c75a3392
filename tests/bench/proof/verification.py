"""Verifying a million exported events, and a live house, against merely reading and hashing the same."""

import gc
import hashlib
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from django.db import transaction

from tests.bench.alternate import Comparison, compare
from tests.bench.proof.evening import write

EVENTS = 1_000_000
LIVE = 100_000
GOAL, LIVE_GOAL = 0.4, 0.5
#: A checkpoint for so many events: about what two cores write in the second between two of them, at ten hands.
EVERY = 250


def _lines(folder: Path) -> Iterator[list[bytes]]:
    with (folder / "events-1.jsonl").open("rb") as file:
        while lines := file.readlines(1 << 15):
            yield lines


def comparisons(events: int = EVENTS, *, runs: int = 3) -> list[Comparison]:
    """Verification of an export (everything: chains, tree, signatures, ledger and hands) against three ways of merely
    reading and hashing its events: as JSON one by one, as JSON many at a time, and as lines without looking inside."""
    from casino.audit import verify

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        world = write(folder, events, every=EVERY)
        held = [verify.read_notes(folder / "checkpoints", "held", held=True)]
        keys = [verify.parse_key(world.vkey)]

        def verified() -> int:
            report = verify.verify_export(folder, held, keys)
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
                ("reading as JSON and hashing", as_json),
                ("the same, many lines at a time", as_batches),
                ("hashing lines unread", as_lines),
            )
        ]


def live_comparisons(events: int = LIVE, *, runs: int = 5) -> list[Comparison]:
    """Verification of a live house against streaming its events, transactions and hands and no more, by the wall clock:
    PostgreSQL works beside the reader. Streamed as verification itself reads them (COPY, straight from libpq), and as
    Django does it. Needs a database of its own (`tests.bench.database`)."""
    from casino.reports import auditing
    from casino.reports.moment import moment
    from tests.bench.proof.loading import load

    with tempfile.TemporaryDirectory() as place:
        count = write(Path(place), events, every=EVERY).count
        house = load(Path(place))

    def verified() -> int:
        report = auditing.verify_house(house)
        if report.found or report.counts["events"] != count:
            raise AssertionError(report.as_json())
        return count

    def streamed() -> int:
        with moment(house) as there:
            found = sum(len(payloads) for payloads, _ in there.leaves(1))
            for stream in (there.transactions(), there.hands()):
                for _ in stream:
                    pass
        return found

    def iterated() -> int:
        from casino.audit.models import Event
        from casino.hands.models import Hand, HandLine
        from ledger.models import Entry, Transaction

        with transaction.atomic():
            events = Event.objects.filter(chain__house=house).order_by("leaf__leaf_index").values_list()
            found = sum(1 for _ in events.iterator())
            for rows in (
                Transaction.objects.filter(book=house.id).order_by("id").values_list(),
                Entry.objects.filter(transaction__book=house.id).order_by("transaction_id").values_list(),
                Hand.objects.filter(house=house).order_by("id").values_list(),
                HandLine.objects.filter(hand__house=house).order_by("hand_id", "seq").values_list(),
            ):
                for _ in rows.iterator():
                    pass
        return found

    return [
        compare("live house verified", "events", verified, name, reference, clock=time.monotonic, runs=runs)
        for name, reference in (
            ("streaming its rows by COPY", streamed),
            ("streaming them by Django's iterator()", iterated),
        )
    ]


if __name__ == "__main__":
    import sys

    from tests.bench.database import database

    exported, live = [int(text) for text in sys.argv[1:3]] or [EVENTS, LIVE]
    with database():
        for comparison in comparisons(exported):
            print(comparison.line(), f"  goal {GOAL}", flush=True)
        for comparison in live_comparisons(live):
            print(comparison.line(), f"  goal {LIVE_GOAL}", flush=True)
