"""What a cluster is made of: Debian's etcd and haproxy, Patroni in an environment of its own, the project's PostgreSQL.
Nothing is installed, and nothing outside var/ is changed."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from deploy import embedded
from deploy.embedded.account import Account, choose_account
from deploy.embedded.binaries import find_postgres
from deploy.processes import CHECKOUT
from tests import debian

LOCK_FILE = CHECKOUT / "deploy" / "patroni" / "requirements.lock"
#: Programs of PostgreSQL that Patroni runs beside the three that every server needs.
NEEDED = ("pg_basebackup", "pg_controldata", "pg_isready", "pg_rewind")
_SYSTEM = "/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin"


class Missing(Exception):
    """This machine lacks something that is needed; the message says what."""


@dataclass(frozen=True)
class Programs:
    """Where they are; `libraries` are the folders of what Debian's packages need."""

    etcd: Path
    haproxy: Path
    libraries: str
    #: The folder with patroni and patronictl.
    patroni: Path
    #: The folder with postgres, initdb and the others.
    postgres: Path
    account: Account

    def environ(self) -> dict[str, str]:
        """The environment of etcd and haproxy."""
        return {**os.environ, "LD_LIBRARY_PATH": self.libraries}


def account_of_servers() -> Account:
    """Who runs PostgreSQL: ourselves. Raises Missing."""
    account = choose_account(nobody_before=False)
    if account.uid is not None:
        raise Missing("root may not enter a user namespace here, and PostgreSQL refuses root: run as an ordinary user")
    return account


def all_found() -> Programs:
    """Everything, unpacked and installed where it was not. Raises Missing."""
    account = account_of_servers()
    postgres = find_postgres().bin
    if absent := [name for name in NEEDED if not (postgres / name).is_file()]:
        raise Missing(f"{postgres} lacks {', '.join(absent)}")
    etcd, haproxy, root = _debian("etcd", "etcd-server"), _debian("haproxy", "haproxy"), _folder() / "debian" / "root"
    return Programs(etcd, haproxy, debian.libraries(root), patroni(), postgres, account)


@cache
def haproxy() -> tuple[Path, dict[str, str]]:
    """haproxy alone, and its environment. Raises Missing."""
    program = _debian("haproxy", "haproxy")
    return program, {**os.environ, "LD_LIBRARY_PATH": debian.libraries(_folder() / "debian" / "root")}


def patroni() -> Path:
    """The folder of Patroni's programs, installed as locked. Raises Missing."""
    folder = _folder() / "patroni"
    stamp, wanted = folder / "installed", hashlib.sha256(LOCK_FILE.read_bytes()).hexdigest()
    if not stamp.exists() or stamp.read_text(encoding="ascii") != wanted:
        _run(sys.executable, "-m", "venv", "--clear", str(folder))
        options = ("--quiet", "--disable-pip-version-check", "--no-input", "--require-hashes", "--no-deps")
        _run(str(folder / "bin" / "python"), "-m", "pip", "install", *options, "-r", str(LOCK_FILE))
        stamp.write_text(wanted, encoding="ascii")
    return folder / "bin"


def _debian(program: str, package: str) -> Path:
    if installed := shutil.which(program, path=_SYSTEM):
        return Path(installed)
    try:
        root = debian.unpacked(_folder() / "debian", ("etcd-server", "haproxy"))
    except debian.NotUnpacked as error:
        raise Missing(f"{package} is not installed and cannot be unpacked: {error}") from error
    found = [path for path in root.glob(f"usr/*bin/{program}") if path.is_file()]
    if not found:
        raise Missing(f"Debian's {package} has no {program}")
    return found[0]


def _folder() -> Path:
    return embedded.var_dir() / "ha"


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Missing(f"{' '.join(command[:4])} has failed: {done.stderr.strip()[-400:]}")
