"""Debian's Chromium: the one that is installed, or one that is unpacked under var/, without root.

`python -m tests.browser.chromium` prints where it is. `CHROMIUM` names another program.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from deploy import embedded
from tests import debian

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
    try:
        root = debian.unpacked(folder, PACKAGES)
    except debian.NotUnpacked as error:
        raise NoBrowser(f"no Chromium is installed (install one, or name it in CHROMIUM), and {error}") from error
    return Chromium(
        root / "usr/lib/chromium/chromium",
        {"LD_LIBRARY_PATH": debian.libraries(root), "FONTCONFIG_FILE": str(_fonts(folder, root))},
    )


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


if __name__ == "__main__":
    chosen = found()
    print(chosen.program)
    for name, value in chosen.environ.items():
        print(f"{name}={value[:200]}")
