"""Debian's packages without root: downloaded and checked by apt in a state folder of its own, and unpacked under var/.

Nothing is installed, and nothing outside the folder is changed.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

#: With what Debian signs the lists of its packages.
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


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


def of_release(folder: Path, release: str, packages: Sequence[str]) -> Path:
    """The root below which these packages of another release of Debian lie, and no others: name what they need, too.
    Their programs are run by `loaded`. Raises NotUnpacked."""
    root, done = folder / "root", folder / "done"
    if not done.exists():
        shutil.rmtree(folder, ignore_errors=True)
        fetched = folder / "fetched"
        fetched.mkdir(parents=True)
        if not KEYRING.is_file():
            raise NotUnpacked(f"{KEYRING} is missing to tell Debian's packages from others")
        sources, status = folder / "sources.list", folder / "status"
        sources.write_text(f"deb [signed-by={KEYRING}] http://deb.debian.org/debian {release} main\n", encoding="ascii")
        status.touch()
        options = ["-o", f"Dir::Etc::sourcelist={sources}", "-o", "Dir::Etc::sourceparts=/dev/null"]
        options += _options(folder, status)
        _run("apt-get", *options, "update")
        _run("apt-get", *options, "download", *packages, cwd=fetched)
        for package in sorted(fetched.glob("*.deb")):
            _run("dpkg-deb", "--extract", str(package), str(root))
        done.write_text("\n".join(packages) + "\n", encoding="utf-8")
    return root


def loaded(root: Path, program: str) -> list[str]:
    """The command that runs a program below a root with the C library and the other libraries that lie there. Raises
    NotUnpacked."""
    loaders = sorted(root.glob("usr/lib*/**/ld-linux*.so*"))
    if not loaders:
        raise NotUnpacked(f"there is no loader below {root}")
    return [str(loaders[0]), "--library-path", libraries(root), str(root / program)]


def libraries(root: Path) -> str:
    """The folders of the shared libraries below a root, for `LD_LIBRARY_PATH`."""
    found = {str(path.parent) for path in root.rglob("*.so*") if path.is_file() or path.is_symlink()}
    return ":".join(sorted(found))


def _options(folder: Path, status: Path) -> list[str]:
    """Of apt, with a state folder of its own; `status` is the list of what is installed."""
    options = ["-o", "Debug::NoLocking=1", "-o", f"Dir::State::status={status}", "-qq"]
    for name, value in (("Dir::State", folder / "state"), ("Dir::Cache", folder / "cache")):
        (value / ("lists" if name == "Dir::State" else "archives") / "partial").mkdir(parents=True, exist_ok=True)
        options += ["-o", f"{name}={value}"]
    return options


def _downloaded(folder: Path, packages: Sequence[str]) -> list[Path]:
    options = _options(folder, Path("/var/lib/dpkg/status"))
    _run("apt-get", *options, "update")
    _run("apt-get", *options, "--yes", "--download-only", "--no-install-recommends", "install", *packages)
    found = sorted((folder / "cache" / "archives").glob("*.deb"))
    if not found:
        raise NotUnpacked(f"apt-get has downloaded none of {', '.join(packages)}")
    return found


def _run(*command: str, cwd: Path | None = None) -> None:
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=cwd)
    except FileNotFoundError as error:
        raise NotUnpacked(f"{command[0]} is missing to unpack packages") from error
    if done.returncode:
        said = done.stderr.strip()[-400:] or done.stdout.strip()[-400:]
        raise NotUnpacked(f"{command[0]} has failed with {done.returncode}: {said}")
