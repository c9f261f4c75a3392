"""How faults are made: signals to processes, frozen for a while, and clocks that are wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from tests.faults.scene import Scene

CLOCK = Path(__file__).with_name("clock.c")


def children(pid: int) -> list[int]:
    """The living children of a process."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found += map(int, task.read_text().split())
    return found


def family(pid: int) -> list[int]:
    """A process and all its descendants."""
    return [pid, *(one for child in children(pid) for one in family(child))]


def send(pids: Iterable[int], number: signal.Signals) -> None:
    """Signal processes; one that is gone is what we want."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


@contextmanager
def frozen(pids: Iterable[int], seconds: float) -> Iterator[None]:
    """Stop processes for so long, with what is done meanwhile; those that are still there then go on."""
    stopped = list(pids)
    begun = time.monotonic()
    send(stopped, signal.SIGSTOP)
    try:
        yield
        time.sleep(max(0.0, seconds - (time.monotonic() - begun)))
    finally:
        send(stopped, signal.SIGCONT)


def compiled(folder: Path, source: Path) -> Path:
    """A library for LD_PRELOAD in this folder. Raises CalledProcessError."""
    library = folder / f"{source.stem}.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"], check=True)
    return library


@contextmanager
def clock_off(scene: Scene, names: Iterable[str], seconds: int) -> Iterator[None]:
    """Start programs again with a clock that is so much ahead, and after that with the true one."""
    library = compiled(scene.at.layout.var, CLOCK)
    programs = {program.name: program for program in scene.at.processes.programs if program.name in names}
    wrong = ("env", f"LD_PRELOAD={library}", f"CLOCK_OFF={seconds}")
    try:
        for name, program in programs.items():
            scene.at.processes.replace(replace(program, command=(*wrong, *program.command)))
            scene.at.processes.kill(name)
        yield
    finally:
        for name, program in programs.items():
            scene.at.processes.replace(program)
            scene.at.processes.kill(name)
