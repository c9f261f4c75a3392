"""Services of `compose.yaml` as containers: each in namespaces of its own, with the image's files read-only, the mounts
and variables that the file names, no capability, and the image's user.

The network is this machine's: names of servers lead to it, and the web listens at a free port.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from deploy.embedded.process import signalled_when_parent_dies
from deploy.processes import CHECKOUT
from tests.images.building import Image

COMPOSE = CHECKOUT / "deploy" / "container" / "compose.yaml"
#: What a container is started by: `ROOT SOURCE TARGET ro|rw ... -- UID WORKDIR [NAME=VALUE ...] COMMAND ...`.
START = """
set -eu
root=$1; shift
mount --make-rprivate /
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
while [ "$1" != -- ]; do
    mount --bind "$1" "$root$2"
    if [ "$3" = ro ]; then mount -o remount,bind,ro "$root$2"; fi
    shift 3
done
shift
mount -t proc proc "$root/proc"
mount -t tmpfs tmpfs "$root/tmp"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/dev/shm"
user=$1; place=$2; shift 2
chroot "$root" setpriv --reuid "${user%:*}" --regid "${user#*:}" --clear-groups --no-new-privs \
    --bounding-set=-all --inh-caps=-all env -i --chdir="$place" "$@" &
# As `init: true` does: signals are passed on.
own=$!
trap 'kill -TERM "$own"' TERM
while :; do
    code=0; wait "$own" || code=$?
    kill -0 "$own" 2>/dev/null || exit "$code"
done
"""
NAMESPACES = ("unshare", "--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child")


@dataclass
class Containers:
    """Of one image; `folder` has what compose would mount: `etc`, and a folder for each volume. Words of commands are
    replaced as `changed` says."""

    image: Image
    folder: Path
    changed: dict[str, str]
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        whole: dict[str, Any] = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))
        self.services: dict[str, Any] = {
            name: one for name, one in whole["services"].items() if one["image"] == "cukassza"
        }
        self._secrets: dict[str, Any] = whole["secrets"]
        self._volumes = set(whole["volumes"])
        hosts = self.folder / "etc" / "hosts"
        hosts.write_text("127.0.0.1 localhost database broker\n", encoding="ascii")

    def command(self, name: str, words: list[str]) -> list[str]:
        """What starts these words of the image in a container of a service."""
        one = self.services[name]
        if not (one["read_only"] and one["init"] and one["cap_drop"] == ["ALL"] and one["tmpfs"] == ["/tmp"]):
            raise AssertionError(f"{name} is not started as compose.yaml says: START gives it neither more nor less")
        mounts = [(self.folder / "etc" / "hosts", "/etc/hosts", "ro")]
        for volume in one["volumes"]:
            source, target, *mode = volume.split(":")
            mounts.append((self._source(source, target), target, "ro" if mode == ["ro"] else "rw"))
        for secret in one.get("secrets", []):
            mounts.append((self._etc(self._secrets[secret]["file"]), f"/run/secrets/{secret}", "ro"))
        for source, target, _ in mounts:
            self._make_place(source, target)
        environment = {**self.image.environment, **one.get("environment", {})}
        placed = [str(part) for mount in mounts for part in mount]
        given = [f"{key}={value}" for key, value in environment.items()]
        return [
            *NAMESPACES, "sh", "-c", START, "start", str(self.image.root), *placed, "--",
            self.image.user, self.image.workdir, *given, *words,
        ]  # fmt: skip

    def own(self, name: str) -> list[str]:
        """The service's own command, behind the image's entry point."""
        return [*self.image.entrypoint, *(self._replaced(word) for word in self.services[name]["command"])]

    def start(self, name: str) -> None:
        """Start a service; what it says goes to a file."""
        with (self.folder / f"{name}.log").open("ab") as log:
            self.running[name] = subprocess.Popen(
                self.command(name, self.own(name)), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                preexec_fn=signalled_when_parent_dies(signal.SIGKILL),
            )  # fmt: skip

    def done(self, name: str, words: list[str]) -> subprocess.CompletedProcess[str]:
        """Run these words to their end in a container of a service, as `compose run` does."""
        return subprocess.run(self.command(name, words), capture_output=True, text=True, check=False)

    def healthy(self, name: str) -> subprocess.CompletedProcess[str]:
        """Run the service's own check of its health."""
        kind, *words = self.services[name]["healthcheck"]["test"]
        assert kind == "CMD"
        return self.done(name, [self._replaced(word) for word in words])

    def stop(self) -> dict[str, int]:
        """End all of them, as compose does; returns how each has ended. Raises TimeoutExpired."""
        for process in self.running.values():
            # `unshare` passes no signal on; its child is the container's first process.
            for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
                os.kill(int(child), signal.SIGTERM)
        try:
            return {name: process.wait(timeout=30) for name, process in self.running.items()}
        finally:
            for process in self.running.values():
                process.kill()
            self.running.clear()

    def _replaced(self, word: str) -> str:
        for old, new in self.changed.items():
            word = word.replace(old, new)
        return word

    def _source(self, source: str, target: str) -> Path:
        if source not in self._volumes:
            return self._etc(source)
        volume = self.folder / source
        if not volume.exists():
            # A new volume begins as the image has its place.
            shutil.copytree(self.image.root / target.lstrip("/"), volume, symlinks=True)
            before = (self.image.root / target.lstrip("/")).stat()
            volume.chmod(before.st_mode & 0o7777)
            shutil.chown(volume, before.st_uid, before.st_gid)
        return volume

    def _etc(self, path: str) -> Path:
        return self.folder / path.lstrip("/")

    def _make_place(self, source: Path, target: str) -> None:
        place = self.image.root / target.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            place.mkdir(exist_ok=True)
        else:
            place.touch()
