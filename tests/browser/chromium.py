"""Debian's Chromium: the one that is installed, or one that is unpacked under var/, without root.

`python -m tests.browser.chromium` prints where it is. Packages come through apt, in a state folder of its own, and are
checked by it as ever; nothing is installed. `CHROMIUM` names another program.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from deploy import embedded

PACKAGES = ("chromium", "fonts-dejavu-core")
#: Where a Chromium is looked for that somebody has installed.
NAMES = ("chromium", "chromium-browser", "google-chrome")


class NoBrowser(Exception):
    """No Chromium is installed, and none can be unpacked; the message says why."""

    code = "no_browser"


@dataclass(frozen=True)
class Chromium:
    """A Chromium: its program, and the environment that it needs besides the usual one."""

    program: Path
    environ: dict[str, str] = field(default_factory=dict)


def found() -> Chromium:
    """The Chromium to use; unpacks one where none is installed. Raises NoBrowser."""
    if named := os.environ.get("CHROMIUM"):
        return Chromium(Path(named))
    installed = next((path for path in map(shutil.which, NAMES) if path), None)
    return Chromium(Path(installed)) if installed else unpacked(embedded.var_dir() / "browser")


def unpacked(folder: Path) -> Chromium:
    """A Chromium in this folder, unpacked there if it is not yet. Raises NoBrowser."""
    root, done = folder / "root", folder / "done"
    if not done.exists():
        shutil.rmtree(root, ignore_errors=True)
        packages = _downloaded(folder / "apt")
        for package in packages:
            _run("dpkg-deb", "--extract", str(package), str(root))
        done.write_text("\n".join(one.name for one in packages) + "\n", encoding="utf-8")
    libraries = sorted({str(path.parent) for path in root.rglob("*.so*") if path.is_file() or path.is_symlink()})
    return Chromium(
        root / "usr/lib/chromium/chromium",
        {"LD_LIBRARY_PATH": ":".join(libraries), "FONTCONFIG_FILE": str(_fonts(folder, root))},
    )


def _downloaded(folder: Path) -> list[Path]:
    """The packages, and those that they need and this machine lacks."""
    options = ["-o", "Debug::NoLocking=1", "-o", "Dir::State::status=/var/lib/dpkg/status", "-qq"]
    for name, value in (("Dir::State", folder / "state"), ("Dir::Cache", folder / "cache")):
        (value / ("lists" if name == "Dir::State" else "archives") / "partial").mkdir(parents=True, exist_ok=True)
        options += ["-o", f"{name}={value}"]
    _run("apt-get", *options, "update")
    _run("apt-get", *options, "--yes", "--download-only", "--no-install-recommends", "install", *PACKAGES)
    found = sorted((folder / "cache" / "archives").glob("*.deb"))
    if not found:
        raise NoBrowser("apt-get has downloaded no package of Chromium")
    return found


def _fonts(folder: Path, root: Path) -> Path:
    """A configuration of fonts that finds those that were unpacked, and those of the machine."""
    path = folder / "fonts.conf"
    path.write_text(
        '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>'
        f"<dir>{root}/usr/share/fonts</dir><dir>/usr/share/fonts</dir><cachedir>{folder}/fonts-cache</cachedir>"
        "</fontconfig>\n",
        encoding="utf-8",
    )
    return path


def _run(*command: str) -> None:
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    except FileNotFoundError as error:
        raise NoBrowser(
            f"no Chromium is installed, and {command[0]} is missing to unpack one: install Chromium, or name it in "
            "CHROMIUM"
        ) from error
    if done.returncode:
        raise NoBrowser(
            f"no Chromium is installed, and {command[0]} has failed with {done.returncode}: "
            f"{done.stderr.strip()[-400:] or done.stdout.strip()[-400:]}"
        )


if __name__ == "__main__":
    chosen = found()
    print(chosen.program)
    for name, value in chosen.environ.items():
        print(f"{name}={value[:200]}")
