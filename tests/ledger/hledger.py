"""A real hledger for the tests: the one on PATH, else Debian's, unpacked under var/tools without being installed.

Needs no root. `apt-get download` uses the machine's package lists; where those are absent or out of date, lists of our
own are fetched beside the cache. Where there is no apt or no network a test is skipped, but fails when CI is set.
"""

import fcntl
import json
import os
import shutil
import subprocess
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest

from deploy.embedded.layout import private_dir, var_dir

SECONDS = 180
UTF8 = {**os.environ, "LC_ALL": "C.UTF-8"}


class Unavailable(Exception):
    """There is no hledger here and none can be had."""


def need_hledger() -> Path:
    """The program, or a skipped test (a failed one when CI is set)."""
    found = _once()
    if isinstance(found, Path):
        return found
    if os.environ.get("CI"):
        pytest.fail(found)
    pytest.skip(found)


def hledger(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run it, in a locale where it reads UTF-8."""
    command = [need_hledger(), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=UTF8, timeout=SECONDS, check=False)


def refusal(journal: Path) -> str:
    """What `hledger check --strict` has against a journal; nothing if all is well."""
    checked = hledger("-f", journal, "check", "--strict")
    assert (checked.returncode == 0) == (checked.stderr == ""), checked
    return checked.stderr


def balances(journal: Path) -> dict[tuple[str, str], int]:
    """What hledger's balance report says, in units of the last decimal place, by account and commodity; no zeros."""
    printed = hledger("-f", journal, "balance", "--flat", "--no-total", "--output-format", "json")
    assert printed.returncode == 0, printed.stderr
    return {
        (name, amount["acommodity"]): amount["aquantity"]["decimalMantissa"]
        for name, _, _, amounts in json.loads(printed.stdout)[0]
        for amount in amounts
        if amount["aquantity"]["decimalMantissa"]
    }


@cache
def _once() -> Path | str:
    try:
        return find()
    except Unavailable as error:
        return f"hledger is not on PATH and cannot be fetched: {error}"


def find() -> Path:
    """PATH, the cache, Debian; raises Unavailable."""
    installed = shutil.which("hledger")
    if installed:
        return Path(installed)
    tools = private_dir(var_dir()) / "tools"
    tools.mkdir(exist_ok=True)
    with (tools / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        program = tools / "hledger" / "usr" / "bin" / "hledger"
        if not program.exists():
            _fetch(tools / "hledger")
    _run([program, "--version"], program.parent)
    return program


def _fetch(target: Path) -> None:
    """Download and unpack the package; nothing is left behind by a failure."""
    with tempfile.TemporaryDirectory(dir=target.parent) as name:
        folder = Path(name)
        try:
            _run(["apt-get", "download", "hledger"], folder)
        except Unavailable:
            own = _own_lists(folder)
            with suppress(Unavailable):  # some archive may fail while Debian's answers; the download will record
                _run(["apt-get", *own, "update"], folder)
            _run(["apt-get", *own, "download", "hledger"], folder)
        (package,) = folder.glob("hledger_*.deb")
        _run(["dpkg", "-x", package, folder / "unpacked"], folder)
        (folder / "unpacked").rename(target)


def _own_lists(folder: Path) -> list[str]:
    """Options that keep everything apt writes in a folder of ours."""
    for part in ("state/lists/partial", "cache/archives/partial"):
        (folder / part).mkdir(parents=True)
    return [
        *("-o", f"Dir::State={folder}/state"),
        *("-o", "Dir::State::status=/var/lib/dpkg/status"),
        *("-o", f"Dir::Cache={folder}/cache"),
        *("-o", "APT::Sandbox::User=root"),  # only means something to root: the folder is closed to user _apt
        *("-o", "Acquire::Retries=1", "-o", "Acquire::http::Timeout=20"),
    ]


def _run(command: list[str | Path], folder: Path) -> None:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{command[0]}: {error}") from error
    if done.returncode:
        raise Unavailable(f"{' '.join(map(str, command))}: {done.stderr.strip()[-400:]}")
