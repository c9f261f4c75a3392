"""The measurements of `make bench ARGS=proof` of an export and a live house, from end to end; how fast anything was is
not looked at."""

import os
import subprocess
import sys

import pytest


@pytest.mark.long
def test_exported_and_live_events_are_verified_without_a_finding() -> None:
    """In a process and a database of its own: the long evening is put into an empty one."""
    ours = ("DATABASE_", "REDIS_", "CASINO_", "DJANGO_")
    environ = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    command = [sys.executable, "-m", "tests.bench.proof.verification", "600", "--runs", "1"]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split("  ")[0] for line in lines] == ["export verified"] * 3 + ["live house verified"] * 3
    assert sum("goal" in line for line in lines) == 4
