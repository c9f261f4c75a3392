"""The image, built by buildah from the project's own file, on a base that is made of Debian's packages.

No registry is asked: the base stands for `python:3.13-slim`, which is a Python on the same Debian.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deploy.processes import CHECKOUT
from tests.ha.programs import Missing

FILE = CHECKOUT / "deploy" / "container" / "Containerfile"
#: The Debian whose Python is 3.13.
RELEASE = "trixie"
PACKAGES = ("python3", "python3-venv", "python-is-python3", "ca-certificates")
NEEDED = ("buildah", "debootstrap", "unshare", "setpriv")
#: The certificates that this machine trusts, where pip looks for others: a proxy may stand before the index.
CERTIFICATES = Path("etc/ssl/certs/ca-certificates.crt")


@dataclass(frozen=True)
class Image:
    """A built image: the folder of its files, which may be changed, and how its processes are started."""

    root: Path
    user: str
    workdir: str
    entrypoint: tuple[str, ...]
    environment: dict[str, str]


def require() -> None:
    """Raises Missing where this machine cannot build an image."""
    if absent := [name for name in NEEDED if shutil.which(name) is None]:
        raise Missing(f"{', '.join(absent)} is not installed (Debian: apt-get install buildah debootstrap)")
    if os.geteuid() != 0:
        raise Missing("debootstrap, and mounts of a container, need root")


@dataclass(frozen=True)
class Builder:
    """What builds, with its store in a folder."""

    folder: Path

    def base(self) -> str:
        """Make the base; returns its name. Raises Missing where Debian's packages cannot be had."""
        root = self.folder / "base"
        command = ["debootstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}", RELEASE, str(root)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Missing(f"debootstrap: {done.stdout.strip()[-500:]} {done.stderr.strip()[-500:]}")
        if (trusted := Path("/") / CERTIFICATES).is_file():
            shutil.copy(trusted, root / CERTIFICATES)
            (root / "etc" / "pip.conf").write_text(f"[global]\ncert = /{CERTIFICATES}\n", encoding="ascii")
        container = self._said("from", "scratch")
        self._said("copy", "--quiet", container, str(root), "/")
        self._said("commit", "--quiet", "--rm", container, "localhost/base")
        shutil.rmtree(root)
        return "localhost/base"

    def built(self, base: str, name: str, **arguments: str) -> Image:
        """Build the image as the page says, from the checkout, and lay out its files. Raises CalledProcessError."""
        given = {"BASE": base, **arguments}
        self._said(
            "build", "--isolation", "chroot", "--pull-never", "--file", str(FILE), "--tag", name,
            "--ignorefile", f"{FILE}.containerignore",
            *(word for key, value in given.items() for word in ("--build-arg", f"{key}={value}")), str(CHECKOUT),
        )  # fmt: skip
        container = self._said("from", "--pull-never", name)
        config: dict[str, Any] = json.loads(self._said("inspect", container))["Docker"]["config"]
        return Image(
            Path(self._said("mount", container)),
            config["User"],
            config["WorkingDir"],
            tuple(config["Entrypoint"]),
            dict(line.split("=", 1) for line in config["Env"]),
        )

    def remove(self) -> None:
        """Remove everything that was built."""
        for words in (("umount", "--all"), ("rm", "--all"), ("rmi", "--all", "--force")):
            subprocess.run([*self._command, *words], capture_output=True, check=False)

    @property
    def _command(self) -> list[str]:
        store, run = self.folder / "store", self.folder / "run"
        return ["buildah", "--root", str(store), "--runroot", str(run), "--storage-driver", "vfs"]

    def _said(self, *words: str) -> str:
        done = subprocess.run([*self._command, *words], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"buildah {words[0]}: {done.stdout[-2000:]}\n{done.stderr[-4000:]}")
        return done.stdout.strip()
