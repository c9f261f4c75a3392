"""What the programs that try real servers have in common: a folder for logs, what is said at the end, the exit code."""

import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

from tests.ha.programs import Missing


def judged(name: str, tried: Callable[[Path], list[str]], *, keep: bool) -> int:
    """Try in a new folder, which goes afterwards if all held and nobody wants to `keep` it; `tried` returns what did
    not hold. The exit code: 0 too where something is Missing, which is said."""
    folder = Path(tempfile.mkdtemp(prefix=f"{name}-", dir="/tmp"))
    try:
        violated = tried(folder)
    except Missing as error:
        shutil.rmtree(folder)
        print(f"{name}: skipped: {error}")
        return 0
    except Exception:
        traceback.print_exc()
        print(f"{name}: the trial has failed; logs are in {folder}", file=sys.stderr)
        return 1
    if keep or violated:
        print(f"configurations and logs: {folder}")
    else:
        shutil.rmtree(folder)
    print(*(f"VIOLATED {one}" for one in violated), f"{len(violated)} violations", sep="\n")
    return 1 if violated else 0
