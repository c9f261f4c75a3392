"""The load generator: its sums at once, a small run of a whole installation where time is taken for it."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.load.measured import Result, Sample, Taken, grown, shares
from tests.load.parts import LOG
from tests.load.room import ELECTRONIC, MODES, RECORDS, tables_of
from tests.percentiles import percentile

CHECKOUT = Path(__file__).resolve().parents[2]


def result(rate: float | None = None) -> Result:
    """A hundred requests, each a millisecond later than the last one, ten hands, and a refusal."""
    taken = Taken([Sample("POST hand/actions", 5.0, 5.0 + number / 1000) for number in range(1, 101)], [5.0] * 10)
    taken.samples.append(Sample("POST deal", 5.0, 9.0, "table_settling"))
    taken.late = 2
    return Result("closed loop", 2.0, taken, {"web": 0.5, "database": 0.3}, [0.05, 0.07], rate)


def test_a_request_counts_from_when_it_was_due() -> None:
    found = result()
    assert found.latencies() == pytest.approx(list(range(1, 101)))
    assert [percentile(found.latencies(), share) for share in (0.5, 0.99, 1.0)] == pytest.approx([50, 99, 100])
    assert (found.hands, found.hands_a_second, dict(found.refusals)) == (10, 5.0, {"table_settling": 1})
    assert found.latencies("POST deal") == [], "what was refused is counted by its code"


def test_the_report_has_every_part() -> None:
    text = "\n".join(result(rate=6.0).lines())
    for part in (
        "5.0 hands/s of 6.0 asked for, 2 of them begun late", "1 x table_settling", "p50    50.0 ms", "settlement",
        "web 50.0 ms, database 30.0 ms; all 80.0 ms, 0.40 cores",
    ):  # fmt: skip
        assert part in text, text
    assert shares([]).startswith("p50     0.0 ms")


def test_what_grows_is_counted_for_a_hand_without_what_is_archived() -> None:
    before = {"audit_event": 80_000, "small": 0, LOG: 1_000_000}
    after = {"audit_event": 280_000, "small": 600, "new": 41_000, LOG: 1_900_000}
    found = grown(before, after, 10)
    assert found == "disk a hand: audit_event 20.0 KB, new 4.1 KB; all 24.2 KB, write-ahead log 90.0 KB"


def test_tables_take_games_and_modes_in_turn_and_share_no_player() -> None:
    tables = tables_of(9, list(RECORDS), list(MODES))
    assert len(tables) == 9 and {table.game for table in tables.values()} == set(RECORDS)
    refs = [{ref for hand in table.hands for ref in hand["seats"]} for table in tables.values()]
    assert sum(map(len, refs)) == len(set.union(*refs))
    assert [bool(table.hands[0]["acts"]) for table in tables.values()] == [True, False] * 4 + [True]
    assert all(not table.hands[0]["acts"] for table in tables_of(3, ["ferbli"], [ELECTRONIC]).values())


@pytest.mark.long
def test_a_small_run_settles_every_hand_and_balances() -> None:
    arguments = ["--tables", "4", "--seconds", "4", "--warm-up", "2", "--think", "20"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.load", *arguments], cwd=CHECKOUT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    for part in (
        "closed loop, 4 tables",
        "open loop, 4 tables",
        "POST hand/actions",
        "settlement",
        "disk a hand: ",
        "the books balance",
    ):
        assert part in done.stdout, done.stdout
    assert done.stdout.count("refused: none") == 2, done.stdout
