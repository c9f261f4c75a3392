"""`make restore-drill`: an evening is played on a database that is backed up; the newest backup is drilled meanwhile.
Then the machine dies, the database is restored at a random second, and docs/how-to/restore.md is followed step by step.

Prints how long each step took. Exit code 0 if everything is as the page says, 1 otherwise. Where this machine lacks
something the drill is skipped, with the reason, and the exit code is 0.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from deploy.backups import cluster as clusters
from deploy.backups.cluster import Restored
from deploy.backups.pgbackrest import PgBackRest
from deploy.embedded.process import wait_until
from deploy.processes import CHECKOUT
from tests.drill import configuration, programs, server
from tests.drill.server import Server
from tests.ha import house as houses
from tests.ha import rolled_back
from tests.ha.house import House

#: Seconds of play at the least before WAL that was archived is waited for, and how long it is waited for.
PLAY, PATIENCE = 30.0, 180.0
#: Seconds before the last archived WAL was there that are not asked for: something must have been committed after the
#: second that is.
MARGIN = 6.0
#: Seconds by which an event may be older than its commit.
COMMIT = 5.0
#: The step of the page with which the house is open again.
FIRST_WRITE = "7 sign in and write"
REASON = "the disk of the database machine died"


class Unexpected(Exception):
    """Something is not as the pages say; the message says what."""


@dataclass
class Table:
    """What was done, and how long it took."""

    rows: list[tuple[str, float, str]] = field(default_factory=list)

    @contextmanager
    def row(self, name: str) -> Iterator[list[str]]:
        """Take the time of a step; what is put into the list is said of it."""
        said: list[str] = []
        began = time.monotonic()
        yield said
        self.add(name, time.monotonic() - began, " ".join(said))

    def add(self, name: str, seconds: float, said: str) -> None:
        """A row, printed at once."""
        self.rows.append((name, seconds, said))
        print(f"| {name} | {seconds:.1f} s | {said} |", flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Drill; returns the exit code."""
    parser = argparse.ArgumentParser(prog="make restore-drill ARGS=...", description=__doc__)
    parser.add_argument("--keep", action="store_true", help="keep the folder with data, configurations and logs")
    parser.add_argument("--seed", type=int, help="choose the second as the drill that printed this number")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        found = programs.all_found()
    except programs.Missing as error:
        print(f"restore-drill: skipped: {error}")
        return 0
    seed = random.SystemRandom().randrange(10**6) if options.seed is None else options.seed
    folder = Path(tempfile.mkdtemp(prefix="restore-drill-", dir="/tmp"))
    print(f"seed {seed}", "| step | took | besides |", "|---|---|---|", sep="\n", flush=True)
    try:
        drilled(folder, found, random.Random(seed))
    except Exception:
        traceback.print_exc()
        print(f"restore-drill: it has failed; everything is in {folder}", file=sys.stderr)
        return 1
    if options.keep:
        print(f"everything is in {folder}")
    else:
        shutil.rmtree(folder)
    print("everything is as the pages say")
    return 0


def drilled(folder: Path, found: programs.Programs, choice: random.Random) -> None:
    """All of it. Raises Unexpected, and what a step raises."""
    table = Table()
    with server.running(folder, found) as first, houses.running(folder, first) as house:
        records = folder / "records"
        with table.row("full backup into both repositories") as said:
            said.append(_command(first, records, "back-up"))
        house.begin()
        began = time.time()
        time.sleep(PLAY)
        with table.row("incremental backup, under play") as said:
            said.append(_command(first, records, "back-up"))
        at = _wait_archived(first, began + PLAY)
        _drill_of_the_operator(first, records, table)
        target = choice.uniform(began + COMMIT, at - MARGIN)
        before = first.events(house.credentials.house)
        first.kill()
        died = time.monotonic()
        with restored(folder, first, target, table) as second:
            _move(house, second, table)
            _compare(before, server.events(second.url("postgres", "casino"), house.credentials.house), target, table)
            _by_the_page(house, folder, table, died)
            with table.row("verify_house") as said:
                said.append(_verified(house))
            with table.row("full backup of the restored cluster") as said:
                said.append(_command(second_machine(folder, first, second), records, "back-up", "--type=full"))
        print(f"the consoles of the evening ended with: {house.given_up()}")


def _command(machine: Server | PgBackRest, records: Path, *words: str, environ: dict[str, str] | None = None) -> str:
    """What `python -m deploy.backups` says on a machine. Raises Unexpected."""
    pgbackrest = machine.pgbackrest if isinstance(machine, Server) else machine
    command = [sys.executable, "-m", "deploy.backups", "--configuration", str(pgbackrest.configuration)]
    command += ["--pgbackrest", str(pgbackrest.program), "--records", str(records), *words]
    done = subprocess.run(command, cwd=CHECKOUT, env=environ, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unexpected(f"{' '.join(words)} ended with {done.returncode}: {done.stdout[-1500:]}{done.stderr[-1500:]}")
    return done.stdout.strip().replace("\n", "; ") if "--json" not in words else done.stdout


def _wait_archived(first: Server, least: float) -> float:
    """Wait for WAL of this time to be archived; when it was."""
    if not wait_until(lambda: first.archived()[1] > least + MARGIN, seconds=PATIENCE):
        raise Unexpected(f"after {PATIENCE:.0f} s no WAL is archived but {first.archived()}")
    return first.archived()[1]


def _drill_of_the_operator(first: Server, records: Path, table: Table) -> None:
    """`python -m deploy.backups drill`, beside the house that plays."""
    checkpoints = _state(Path(os.environ["CASINO_CHECKPOINT_DIR"]))
    words = ("drill", "--programs", str(first.programs.postgres), "--json")
    with table.row("the operator's drill, under play") as said:
        found = json.loads(_command(first, records, *words, environ=dict(os.environ)))
        said.append(f"{found['cut_off_leaves']} leaves cut off, {found['cut_off_seconds']:.1f} s")
        said += [f"; {name} {seconds:.1f} s" for name, seconds in found["steps"].items()]
    if not found["houses"] or not found["ok"]:
        raise Unexpected(f"the drill has verified {found['houses']}: {found['problems']}")
    shrunk = {
        name for name, size in checkpoints.items() if _state(Path(os.environ["CASINO_CHECKPOINT_DIR"]))[name] < size
    }
    if shrunk:
        raise Unexpected(f"the drill has changed {shrunk}")
    if json.loads((records / "restore-drill.json").read_text())["good_at"] < time.time() - 60:
        raise Unexpected("the drill is not recorded")


def _state(folder: Path) -> dict[str, int]:
    return {file.name: file.stat().st_size for file in folder.iterdir()}


@contextmanager
def restored(folder: Path, first: Server, target: float, table: Table) -> Iterator[Restored]:
    """The database of the second machine, as it was at this time."""
    (folder / "second").mkdir()
    made = clusters.made(folder / "second", first.programs.postgres, first.programs.account)
    machine = second_machine(folder, first, made)
    when = datetime.fromtimestamp(target, UTC).isoformat(sep=" ", timespec="microseconds")
    try:
        with table.row("pgbackrest restore") as said:
            machine.run("restore", "--type=time", f"--target={when}", "--target-action=promote")
            said.append(f"to {when}")
        with table.row("recovery"):
            settings = configuration.postgresql(first.programs.pgbackrest, machine.configuration)
            made.start(clusters.APART | settings)
        yield made
    finally:
        clusters.thrown_away(made)


def second_machine(folder: Path, first: Server, made: Restored) -> PgBackRest:
    """pgBackRest on the second machine: the same repositories and passes."""
    where = folder / "second" / "pgbackrest"
    configuration.pgbackrest(
        where, repositories=first.repositories, data=made.data, socket=made.run, port=clusters.PORT,
        passes=first.passes,
    )  # fmt: skip
    return PgBackRest(first.programs.pgbackrest, where, "cukassza", first.programs.account)


def _move(house: House, second: Restored, table: Table) -> None:
    """Start the house's processes on the second machine."""
    logins = {"": "casino_app", "OWNER_": "casino", "SEQUENCER_": "casino_sequencer"}
    urls = {f"DATABASE_{name}URL": second.url(login, "casino") for name, login in logins.items()}
    with table.row("restart every process on the restored database"):
        house.processes.stop()
        house.environ.update(urls)
        house.processes.environ = house.environ
        house.processes.start()
        house.processes.wait_ready(f"{house.root}/readyz")


def _compare(before: dict[Any, Any], after: dict[Any, Any], target: float, table: Table) -> None:
    """The restored database has what was committed until that second, and nothing else."""
    with table.row("compare the events") as said:
        when = datetime.fromtimestamp(target, UTC).isoformat()
        late = [at for _, at in after.values() if at > when]
        other = [key for key, found in after.items() if before.get(key) != found]
        earlier = datetime.fromtimestamp(target - COMMIT, UTC).isoformat()
        missing = [at for key, (_, at) in before.items() if key not in after and at < earlier]
        if late or other or missing or len(after) == len(before):
            raise Unexpected(f"{len(late)} events are late, {len(other)} are others, {len(missing)} are missing")
        last = max(at for _, at in after.values())
        said.append(f"{len(after)} of {len(before)}, the last at {last}: cut at the second asked for")


def _by_the_page(house: House, folder: Path, table: Table, died: float) -> None:
    """Steps 1 to 9 of docs/how-to/restore.md."""
    began = time.monotonic()
    for name, said in rolled_back.steps(house, folder, REASON):
        table.add(name, time.monotonic() - began, said)
        if name == FIRST_WRITE:
            table.add("from the death to the first write", time.monotonic() - died, "the RTO of this run")
        began = time.monotonic()


def _verified(house: House) -> str:
    done = house.command("verify_house", house.credentials.house)
    if done.returncode:
        raise Unexpected(f"verify_house ended with {done.returncode}: {done.stdout[-1500:]}{done.stderr[-500:]}")
    found = json.loads(done.stdout)
    return f"ok: {found['hand_count']} hands, {found['event_count']} events"


if __name__ == "__main__":
    sys.exit(main())
