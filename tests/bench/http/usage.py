"""CPU time of processes and all their children, from /proc."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Process:
    """A process: its parent, its CPU seconds, and those of its children that have ended and were waited for."""

    parent: int
    own: float
    ended: float


def measurable() -> bool:
    """Whether this system has /proc (Linux)."""
    return (PROC / "self" / "stat").exists()


def processes() -> dict[int, Process]:
    """Every process of the machine that still runs, by its pid."""
    found = {}
    for folder in PROC.iterdir():
        if folder.name.isdigit():
            try:
                found[int(folder.name)] = parsed((folder / "stat").read_text())
            except (FileNotFoundError, ProcessLookupError):
                continue  # it has ended since the folder was listed
    return found


def parsed(stat: str) -> Process:
    """A line of /proc/PID/stat (proc(5)); the name of the program, in parentheses, may hold anything."""
    fields = stat.rpartition(")")[2].split()
    user, system, children_user, children_system = (int(field) / TICK for field in fields[11:15])
    return Process(int(fields[1]), user + system, children_user + children_system)


def of_trees(roots: Mapping[str, int], found: Mapping[int, Process]) -> dict[str, float]:
    """CPU seconds of each root with everything below it."""
    below: dict[int, list[int]] = {}
    for pid, process in found.items():
        below.setdefault(process.parent, []).append(pid)
    return {name: sum(found[pid].own + found[pid].ended for pid in _tree(root, below)) for name, root in roots.items()}


def _tree(root: int, below: Mapping[int, list[int]]) -> Iterable[int]:
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        yield pid
        waiting += below.get(pid, [])


def parent_of(pid: int) -> int:
    """The parent of a running process."""
    return parsed((PROC / str(pid) / "stat").read_text()).parent
