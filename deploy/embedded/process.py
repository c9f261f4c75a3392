"""Is a process still there, and is it the one we mean? Pids are reused, and the dead linger as zombies."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

POLL_SECONDS = 0.02
PR_SET_PDEATHSIG = 1
# Loaded once, before any fork: a child of a threaded process must not load libraries.
LIBC = ctypes.CDLL(None)


def command_line(pid: int) -> str:
    """The command line of a living process; empty when it is gone, a zombie, or not readable."""
    proc = Path(f"/proc/{pid}/cmdline")
    if Path("/proc/self/cmdline").exists():
        try:
            return proc.read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except OSError:
            return ""
    done = subprocess.run(["ps", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def read_pid(file: Path) -> int | None:
    """The number on the first line of a pid file, None when there is no such file or no number in it."""
    try:
        first = file.read_text(encoding="utf-8", errors="replace").split("\n", 1)[0].strip()
    except FileNotFoundError:
        return None
    return int(first) if first.isdigit() else None


def wait_until(condition: Callable[[], bool], *, seconds: float) -> bool:
    """Poll `condition` until it holds; False when it still does not after `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True


def send(pid: int, number: signal.Signals) -> None:
    """Send a signal; a process that is already gone is what we want."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def signalled_when_parent_dies(number: signal.Signals) -> Callable[[], None]:
    """A `preexec_fn`: the child gets this signal when the thread that started it ends (on Linux only)."""
    parent = os.getpid()

    def prepare() -> None:
        if sys.platform == "linux":
            LIBC.prctl(PR_SET_PDEATHSIG, number)
            if os.getppid() != parent:  # the parent died before the request
                os._exit(1)

    return prepare


def last_log_line(log: Path, *, default: str) -> str:
    """The last line of a server's log that says what went wrong, for a one-line message."""
    if not log.exists():
        return default
    lines = [line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    serious = [line for line in lines[-40:] if "FATAL" in line or "PANIC" in line or "# " in line]
    return (serious or lines or [default])[-1]
