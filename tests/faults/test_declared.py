"""`make faults`: what is declared is what the page says, and one fault goes through whole."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults import __main__ as program
from tests.faults import report
from tests.faults.declared import declared

CHECKOUT = Path(__file__).resolve().parents[2]
#: What faults were asked for (the list in the design): each is there under some name.
WANTED = (
    "web_killed", "worker_killed", "beat_killed", "sequencer_killed", "backend_killed", "postmaster_killed",
    "broker_killed", "broker_flushed", "idle_and_slow_clients", "broker_frozen", "answers_lost", "keys_reused",
    "requests_doubled", "tasks_repeated", "tasks_delayed", "web_clock_ahead", "workers_clock_ahead", "beat_clock_ahead",
    "disk_full", "connections_used_up", "row_locked", "idle_transaction", "database_away", "sessions_ended",
    "beat_frozen", "workers_frozen", "everything_killed",
)  # fmt: skip


def test_every_fault_is_declared_and_has_a_row_in_the_page() -> None:
    faults = declared()
    assert set(WANTED) <= faults.keys()
    written = report.PAGE.read_text(encoding="utf-8").partition(report.BEGIN)[2]
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \|.* \| (.+) \|$", written, flags=re.MULTILINE)
    assert [(name, words) for name, words, _ in rows] == [(one.name, one.words) for one in faults.values()]
    assert {violated for _, _, violated in rows} == {"nothing"}


def test_a_fault_that_is_not_known_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["--only", "web_killed", "sabotage"]) == 2
    assert "no such fault: sabotage" in capsys.readouterr().err


@pytest.mark.long
def test_a_fault_goes_through_in_an_installation_of_its_own() -> None:
    environ = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    command = [sys.executable, "-m", "tests.faults", "--only", "worker_killed"]
    done = subprocess.run(command, cwd=CHECKOUT, env=environ, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "| `worker_killed` |" in done.stdout and "1 faults, 0 with something violated" in done.stdout
