"""The folder in which the processes of the web share what they count.

Nothing here imports `prometheus_client`: it reads the environment once, when it is imported.
"""

import os
from pathlib import Path

#: The environment variable that makes `prometheus_client` keep its numbers in files of this folder.
VARIABLE = "PROMETHEUS_MULTIPROC_DIR"


def share(folder: Path) -> None:
    """Have this process and those that are forked from it count in this folder, and make it ready for a web that
    starts: files of processes that have ended are removed. Raises OSError.

    While the web runs they stay: a counter that fell would look as if it had begun again.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for path in folder.glob("*.db"):
        if not _lives(path.stem.rpartition("_")[2]):
            path.unlink(missing_ok=True)
    os.environ[VARIABLE] = str(folder)


def _lives(pid: str) -> bool:
    if not pid.isdecimal():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True  # it belongs to somebody else
    return True
