"""The evening's proof: trail, ledger and hands are exported, and a program that needs nothing of the house checks them
against the checkpoints that were kept outside the database."""

import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deploy.demo.client import Refused, Terminal
from deploy.demo.evening import EveningError

CHECKOUT = Path(__file__).resolve().parents[2]
#: Seconds within which the last event of the evening must be in the log.
PATIENCE = 30.0


@dataclass(frozen=True, slots=True)
class Proof:
    """What `verify.pyz` said of the exported evening: its findings, notices and counts."""

    folder: Path
    said: dict[str, Any]

    @property
    def ok(self) -> bool:
        """Nothing was found in what is there to be proven."""
        return bool(self.said["ok"] and self.said["counts"]["leaves"])

    @property
    def verdict(self) -> str:
        """One line for the report, in rich's markup."""
        return f"  [{'green]yes' if self.ok else 'red]NO '}[/] verify.pyz, alone with the exported trail, finds nothing"

    def lines(self, command: str) -> list[str]:
        """For people."""
        counts = ", ".join(f"{count:,} {name}" for name, count in self.said["counts"].items())
        found = [f"{one['code']} at {one['place']}: {one['problem']}" for one in self.said["findings"][:20]]
        return [f"Verified from outside, in {self.said['seconds']:.1f} s: {counts}: {self.said['found']} findings.",
                *found, *self.said["notices"], f"Again: {command}"]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Exported:
    """An exported house, and the checkpoints that were held before."""

    folder: Path
    held: list[Path]


def export(house: str, folder: Path) -> Exported:
    """Export the house into `folder`, and `verify.pyz` beside it. Raises EveningError."""
    shutil.rmtree(folder, ignore_errors=True)
    held = _hold(house, folder.with_suffix(".held"))
    _program(folder).unlink(missing_ok=True)  # of an earlier version, perhaps
    _run([sys.executable, "manage.py", "export_audit", house, str(folder)])
    return Exported(folder, held)


def verify(exported: Exported) -> tuple[Proof, str]:
    """Let `verify.pyz` check what was exported, isolated from what is installed; returns what it said and the
    command. Raises EveningError."""
    command = ["-I", str(_program(exported.folder)), str(exported.folder)]
    for file in exported.held:
        command += ["--checkpoints", str(file)]
    command += ["--key", str(exported.held[0].with_suffix(".vkey"))]
    said = _run([sys.executable, *command, "--json"], also=1)
    return Proof(exported.folder, json.loads(said)), f"python3 {' '.join(command)}"


@dataclass(frozen=True, slots=True)
class Archived:
    """The evening's gaming day in an archive, and what `verify.pyz archive` said of it."""

    folder: Path
    said: str
    ok: bool

    @property
    def verdict(self) -> str:
        """One line for the report, in rich's markup."""
        return f"  [{'green]yes' if self.ok else 'red]NO '}[/] the day is in an archive, which proves itself"


def archive(exported: Exported, house: str, day: str) -> Archived:
    """Archive everything up to the closing of a day, and let `verify.pyz` check that with the checkpoints and the key
    that were held before. Raises EveningError."""
    _run([sys.executable, "manage.py", "archive", house, "--until", day])
    [folder] = Path(os.environ["CASINO_ARCHIVE_DIR"].split(os.pathsep)[0]).glob(f"{house}-????????/0001")
    command = [sys.executable, "-I", str(_program(exported.folder)), "archive", str(folder)]
    for file in exported.held:
        command += ["--checkpoints", str(file)]
    done = subprocess.run(
        [*command, "--key", str(exported.held[0].with_suffix(".vkey"))], capture_output=True, text=True, check=False
    )
    return Archived(folder, (done.stdout + done.stderr).strip(), done.returncode == 0)


def _program(folder: Path) -> Path:
    return folder.parent / "verify.pyz"


def _hold(house: str, folder: Path) -> list[Path]:
    """Copies of the checkpoints outside the database and of their keys, as an auditor holds them: from before the
    export, which is recorded itself and so makes the log longer than what it exports. Raises EveningError."""
    shutil.rmtree(folder, ignore_errors=True)
    held = []
    for number, kept in enumerate(os.environ["CASINO_CHECKPOINT_DIR"].split(os.pathsep), 1):
        for file in Path(kept).glob(f"{house}-????????.checkpoints"):
            copy = folder / str(number) / file.name
            copy.parent.mkdir(parents=True)
            shutil.copyfile(file, copy)
            shutil.copyfile(file.with_suffix(".vkey"), copy.with_suffix(".vkey"))
            held.append(copy)
    if not held:
        raise EveningError(f"No checkpoint of {house} was kept outside the database.")
    return held


def wait_for(auditor: Terminal, receipt: dict[str, Any]) -> None:
    """Wait until the event of a receipt is in the log. Raises Refused where it is not soon."""
    path = f"audit/proofs/inclusion?chain={receipt['chain']}&seq={receipt['seq']}"
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            auditor.get(path)
            return
        except Refused as refused:
            # The sequencer has no checkpoint over it yet, or none at all.
            if refused.code not in ("not_in_the_log_yet", "not_found") or time.monotonic() > deadline:
                raise
        time.sleep(0.1)


def _run(command: list[str], *, also: int = 0) -> str:
    """What a command printed. Raises EveningError when it ends otherwise than with 0, or with `also`."""
    done = subprocess.run(command, capture_output=True, text=True, cwd=CHECKOUT, check=False)
    if done.returncode not in (0, also):
        raise EveningError(f"{' '.join(command[:4])} ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    return done.stdout
