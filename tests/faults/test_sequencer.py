"""The sequencer as a process: killed at any point, twice at once, without its database for a while."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from casino.audit.management.commands import sequence_audit
from deploy.embedded.process import signalled_when_parent_dies, wait_until
from tests.casino.logs import chain_order, note, notes_outside

CHECKOUT = Path(__file__).parents[2]
COMMAND = (sys.executable, "manage.py", "sequence_audit")
#: Ends itself as by kill -9 at a point of one house's round: before the commit, between commit and file, or within the
#: note.
DYING = """
import os, signal, sys
import django
django.setup()
from casino.audit import outside, sequencing
point, mine = sys.argv[1:]
def die():
    os.kill(os.getpid(), signal.SIGKILL)
store, append, write = sequencing.Sequencer._store, outside.append, outside._append
def dying_store(self, followed, *args):
    found = store(self, followed, *args)
    if followed.house.code == mine:
        die()
    return found
def dying_append(folder, house, notes, **options):
    if house.code == mine:
        die()
    return append(folder, house, notes, **options)
def dying_write(path, data, length=None):
    if not path.name.startswith(mine + "-"):
        return write(path, data, length)
    write(path, data[:70], length)
    die()
if point == "before the commit":
    sequencing.Sequencer._store = dying_store
elif point == "between commit and file":
    outside.append = dying_append
elif point == "within the note":
    outside._append = dying_write
from django.core.management import call_command
call_command("sequence_audit")
"""


@contextmanager
def running(command: tuple[str, ...], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that writes to `log`, killed at the end if it still runs."""
    with log.open("ab") as file:
        process = subprocess.Popen(
            command,
            cwd=CHECKOUT,
            env=dict(os.environ),
            stdout=file,
            stderr=file,
            preexec_fn=signalled_when_parent_dies(signal.SIGKILL),
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def kit(live_db: None) -> Iterator[object]:
    """A house whose log has been begun."""
    from tests.casino.kit import Kit

    found = Kit.found()
    found.sequence()
    yield found
    found.close()


def followed(kit) -> bool:  # type: ignore[no-untyped-def]
    """Whether every event is in the log, and every checkpoint in the file."""
    from casino.audit.models import Event, SignedCheckpoint

    if Event.objects.filter(chain__house=kit.house, leaf=None).exists():
        return False
    stored = SignedCheckpoint.objects.filter(house=kit.house).order_by("size").values_list("note", flat=True)
    return notes_outside(kit) == list(stored)


@contextmanager
def writing(kit) -> Iterator[Callable[[], int]]:  # type: ignore[no-untyped-def]
    """A writer that records events all the time; the value is their number."""
    from django.db import connections

    stop, count = threading.Event(), [0]

    def write() -> None:
        try:
            while not stop.wait(0.005):
                note(kit, f"table/T{count[0] % 3}", 1)
                count[0] += 1
        finally:
            connections.close_all()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield lambda: count[0]
    finally:
        stop.set()
        writer.join()


@pytest.mark.slow
@pytest.mark.some_now(3)
@pytest.mark.parametrize("point", ["between commit and file", "before the commit", "within the note"])
def test_killed_at_a_point_it_goes_on_without_loss(kit, tmp_path: Path, point: str) -> None:  # type: ignore[no-untyped-def]
    from casino.audit.models import Log

    size = Log.objects.get(house=kit.house).size
    note(kit, "table/T1", 5)
    with running((sys.executable, "-c", DYING, point, kit.house.code), tmp_path / "dying") as dying:
        assert dying.wait(timeout=30) == -signal.SIGKILL, (tmp_path / "dying").read_text()
    assert Log.objects.get(house=kit.house).size == size + (0 if point == "before the commit" else 5)
    assert not followed(kit)
    note(kit, "table/T1", 1)
    with running(COMMAND, tmp_path / "log"):
        assert wait_until(lambda: followed(kit), seconds=20), (tmp_path / "log").read_text()
    assert Log.objects.get(house=kit.house).size == size + 6
    chain_order(kit)


@pytest.mark.long
def test_killed_again_and_again_while_the_house_writes(kit, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    from casino.audit.models import Log, SignedCheckpoint

    size = Log.objects.get(house=kit.house).size
    with writing(kit) as written:
        for number in range(4):
            with running(COMMAND, tmp_path / "log") as sequencer:
                checkpoints = SignedCheckpoint.objects.filter(house=kit.house).count()
                wait_until(
                    lambda before=checkpoints: SignedCheckpoint.objects.filter(house=kit.house).count() > before,
                    seconds=20,
                )
                time.sleep(0.31 * number)
                sequencer.kill()
    with running(COMMAND, tmp_path / "log") as sequencer:
        assert wait_until(lambda: followed(kit), seconds=20), (tmp_path / "log").read_text()
        sequencer.terminate()
        assert sequencer.wait(timeout=10) == 0, "SIGTERM is a good end"
    assert Log.objects.get(house=kit.house).size == size + written()
    chain_order(kit)


@pytest.mark.slow
def test_a_second_sequencer_waits_for_the_first(kit, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    first_log, second_log = tmp_path / "first", tmp_path / "second"
    with running(COMMAND, first_log) as first:
        assert wait_until(lambda: "sequencing" in first_log.read_text(), seconds=20)
        with running(COMMAND, second_log) as second:
            assert wait_until(lambda: "another sequencer runs" in second_log.read_text(), seconds=20)
            note(kit, "table/T1", 3)
            assert wait_until(lambda: followed(kit), seconds=10)
            assert "INFO casino.audit.management.commands.sequence_audit sequencing" not in second_log.read_text()
            assert second.poll() is None
            first.kill()
            note(kit, "table/T1", 3)
            assert wait_until(lambda: followed(kit), seconds=10), second_log.read_text()
            assert second_log.read_text().count("another sequencer") == 1


@pytest.mark.slow
def test_without_its_connection_it_waits_for_its_lock_and_goes_on(kit, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """With the connection its lock is gone, so it goes on only when it has the lock again. The process stays: during a
    failover it could be started so often in vain that systemd gives it up."""
    from django.db import connections

    log, lock = tmp_path / "log", [sequence_audit.LOCK]
    with running(COMMAND, log) as sequencer, connections["owner"].cursor() as cursor:
        assert wait_until(lambda: "sequencing" in log.read_text(), seconds=20)
        cursor.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_locks WHERE locktype = 'advisory' "
            "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        )
        assert cursor.fetchall() == [(True,)], "nobody else holds such a lock"
        cursor.execute("SELECT pg_try_advisory_lock(%s)", lock)
        assert cursor.fetchone() == (True,)
        assert wait_until(lambda: "another sequencer runs" in log.read_text(), seconds=20), log.read_text()
        note(kit, "table/T1", 3)
        time.sleep(1)
        assert not followed(kit)
        cursor.execute("SELECT pg_advisory_unlock(%s)", lock)
        assert wait_until(lambda: followed(kit), seconds=20), log.read_text()
        assert sequencer.poll() is None
    assert log.read_text().count("the database is away") == 1
    assert "Traceback" not in log.read_text()
    chain_order(kit)


@pytest.mark.slow
def test_what_is_no_lost_connection_ends_it(kit, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """A right that it lacks does not come by waiting."""
    from django.db import connections

    log = tmp_path / "log"
    with running(COMMAND, log) as sequencer, connections["owner"].cursor() as cursor:
        assert wait_until(lambda: "sequencing" in log.read_text(), seconds=20)
        cursor.execute("REVOKE SELECT ON audit_chainhead FROM casino_sequencer")
        try:
            assert sequencer.wait(timeout=20) != 0
        finally:
            cursor.execute("GRANT SELECT ON audit_chainhead TO casino_sequencer")
    assert "permission denied" in log.read_text()


def test_without_its_key_it_says_what_is_missing(live_db: None) -> None:
    environ = {name: value for name, value in os.environ.items() if name != "CASINO_LOG_KEY"}
    done = subprocess.run(COMMAND, cwd=CHECKOUT, env=environ, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 1
    assert "CASINO_LOG_KEY" in done.stderr and "Traceback" not in done.stderr
