"""What a drill needs: pgBackRest, installed or unpacked from Debian's package without root, and a PostgreSQL of a
version that it knows, from the system."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from deploy import embedded
from deploy.embedded.account import Account
from tests import debian
from tests.ha.programs import Missing, account_of_servers

#: The newest PostgreSQL that a pgBackRest takes, by the version from which on it does.
TAKES = {(2, 41): 15, (2, 47): 16, (2, 54): 17, (2, 57): 18}
#: The least that the application takes.
LEAST = 15


@dataclass(frozen=True)
class Programs:
    """Where they are, and the account that they run under."""

    pgbackrest: Path
    #: The folder with postgres, initdb and pg_ctl.
    postgres: Path
    account: Account


def all_found() -> Programs:
    """Everything, unpacked where it was not. Raises Missing."""
    account = account_of_servers()
    program = _pgbackrest()
    return Programs(program, _postgres(_newest(program)), account)


def _pgbackrest() -> Path:
    if installed := shutil.which("pgbackrest"):
        return Path(installed)
    try:
        root = debian.unpacked(embedded.var_dir() / "pgbackrest", ("pgbackrest",))
    except debian.NotUnpacked as error:
        raise Missing(f"pgbackrest is not installed and cannot be unpacked: {error}") from error
    return (root / "usr" / "bin" / "pgbackrest").resolve()


def _newest(program: Path) -> int:
    """The newest PostgreSQL that this pgBackRest takes."""
    done = subprocess.run([program, "version"], capture_output=True, text=True, check=False)
    found = re.search(r"pgBackRest (\d+)\.(\d+)", done.stdout)
    if found is None:
        raise Missing(f"{program} does not run: {done.stderr.strip()[-300:]}")
    version = (int(found[1]), int(found[2]))
    return max((newest for since, newest in TAKES.items() if since <= version), default=LEAST - 1)


def _postgres(newest: int) -> Path:
    for version in range(newest, LEAST - 1, -1):
        folder = Path(f"/usr/lib/postgresql/{version}/bin")
        if all((folder / name).is_file() for name in ("postgres", "initdb", "pg_ctl")):
            return folder
    raise Missing(f"no PostgreSQL of a version from {LEAST} to {newest} is installed (Debian: postgresql-{LEAST})")
