"""`make runbooks`: what docs/how-to/runbooks.md has commands for goes wrong under play, and they are run.

Exit code 0 if every command did what the page says and nothing was lost; 1 otherwise; 2 for a runbook that is not
tried.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

from tests.faults.house import Installation, installed

#: Seconds between two hands of a table: people shuffle, and the play must last.
PAUSE = 3.0


def main(arguments: list[str] | None = None) -> int:
    """Run the trials; returns the exit code."""
    parser = argparse.ArgumentParser(prog="make runbooks ARGS=...", description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="HEADING", help="these runbooks alone")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    failed = []
    with tempfile.TemporaryDirectory(prefix="runbooks-", dir="/tmp") as folder:
        two = ":".join(str(Path(folder) / name) for name in ("near", "away"))
        with installed({"CASINO_CHECKPOINT_DIR": two}) as installation:
            from tests.runbooks import trials

            if unknown := sorted(set(options.only or ()) - trials.ALL.keys()):
                print(f"runbooks: not tried: {', '.join(unknown)}", file=sys.stderr)
                return 2
            for heading in trials.ALL:
                if (not options.only or heading in options.only) and not tried(installation, heading, Path(folder)):
                    failed.append(heading)
    print(f"{len(failed)} failed {', '.join(failed)}".strip())
    return 1 if failed else 0


def tried(installation: Installation, heading: str, folder: Path) -> bool:
    """One runbook in a house of its own; prints its commands."""
    from django.db import connections

    from tests.faults.invariants import violations
    from tests.faults.players import Play
    from tests.runbooks import trials
    from tests.runbooks.room import NOTICED, Room

    began = time.monotonic()
    connections.close_all()  # the one before may have restarted the database
    installation.processes.wait_ready(f"{installation.root}/readyz", seconds=NOTICED)
    play = Play.founded(installation.root)
    play.pause = PAUSE
    own = folder / heading.replace(" ", "-")
    own.mkdir()
    room = Room(heading, installation, play, own)
    room.meant["HOUSE"] = room.house
    play.begin()
    found: list[str] = []
    try:
        room.until_written()
        trials.ALL[heading](room)
        # A house that was stopped, was changed or has moved is judged by its own trial.
        if heading not in ("Wrong clock", "Suspected tampering", "New hardware"):
            found = violations(play)
    except Exception:
        traceback.print_exc()
        found = ["it has failed"]
        try:
            play.end()
        except Exception as error:
            print(f"a console gave up: {error!r}")
    print(f"\n## {heading}: {'; '.join(found) or 'as the page says'}, {time.monotonic() - began:.0f} s")
    print(*(f"    {line}" for line in room.done), sep="\n", flush=True)
    return not found


if __name__ == "__main__":
    sys.exit(main())
