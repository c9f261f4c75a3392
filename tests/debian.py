"""Debian's packages without root: downloaded and checked by apt in a state folder of its own, and unpacked under var/.

Nothing is installed, and nothing outside the folder is changed.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path


class NotUnpacked(Exception):
    """Packages cannot be had on this machine; the message says why."""

    code = "not_unpacked"


def unpacked(folder: Path, packages: Sequence[str]) -> Path:
    """The root below which these packages lie, with those that they need and this machine lacks; unpacks them in this
    folder if they are not there yet. Raises NotUnpacked."""
    root, done = folder / "root", folder / "done"
    if not done.exists():
        shutil.rmtree(root, ignore_errors=True)
        found = _downloaded(folder / "apt", packages)
        for package in found:
            _run("dpkg-deb", "--extract", str(package), str(root))
        done.write_text("\n".join(one.name for one in found) + "\n", encoding="utf-8")
    return root


def libraries(root: Path) -> str:
    """The folders of the shared libraries below a root, for `LD_LIBRARY_PATH`."""
    found = {str(path.parent) for path in root.rglob("*.so*") if path.is_file() or path.is_symlink()}
    return ":".join(sorted(found))


def _downloaded(folder: Path, packages: Sequence[str]) -> list[Path]:
    options = ["-o", "Debug::NoLocking=1", "-o", "Dir::State::status=/var/lib/dpkg/status", "-qq"]
    for name, value in (("Dir::State", folder / "state"), ("Dir::Cache", folder / "cache")):
        (value / ("lists" if name == "Dir::State" else "archives") / "partial").mkdir(parents=True, exist_ok=True)
        options += ["-o", f"{name}={value}"]
    _run("apt-get", *options, "update")
    _run("apt-get", *options, "--yes", "--download-only", "--no-install-recommends", "install", *packages)
    found = sorted((folder / "cache" / "archives").glob("*.deb"))
    if not found:
        raise NotUnpacked(f"apt-get has downloaded none of {', '.join(packages)}")
    return found


def _run(*command: str) -> None:
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    except FileNotFoundError as error:
        raise NotUnpacked(f"{command[0]} is missing to unpack packages") from error
    if done.returncode:
        said = done.stderr.strip()[-400:] or done.stdout.strip()[-400:]
        raise NotUnpacked(f"{command[0]} has failed with {done.returncode}: {said}")
