"""The package of the evening's gaming day: waited for, downloaded by the auditor, checked with its manifest, signed."""

import hashlib
import json
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deploy.demo.client import Terminal
from deploy.demo.evening import EveningError

MANIFEST = "manifest.json"
#: Seconds within which the package must have been made; the house is verified for it.
PATIENCE = 300.0


@dataclass(frozen=True, slots=True)
class Packaged:
    """The package: where it was written to, its manifest, and the files that are not what the manifest says."""

    path: Path
    manifest: dict[str, Any]
    altered: list[str]

    @property
    def ok(self) -> bool:
        """Whether all of it is as the manifest says, and what must be equal in it is."""
        return not self.altered and not self.manifest["broken"] and self.manifest["verified"]

    def lines(self) -> list[str]:
        """For people: which equalities held."""
        named = [("the day", self.manifest["equalities"])]
        named += [(f"{one['number']} {one['title']}", one["equalities"]) for one in self.manifest["reports"]]
        found = [f"The day's package: {self.path}, {len(self.manifest['files'])} files. What is equal in it:"]
        for title, equalities in named:
            held = sum(one["holds"] for one in equalities)
            found.append(f"  {'yes' if held == len(equalities) else 'NO '} {title}: {held} of {len(equalities)}")
            found += [
                f"      {one['equality']}: {one['one']:,} <> {one['other']:,}" for one in equalities if not one["holds"]
            ]
        return [*found, *(f"  NO  {name} is not what the manifest says" for name in self.altered)]


def fetch(auditor: Terminal, day: str, path: Path) -> Packaged:
    """Wait for the package of a closed day, write it to `path`, check it and sign it. Raises EveningError."""
    deadline = time.monotonic() + PATIENCE
    while (said := auditor.get(f"days/{day}")["package"])["state"] == "coming":
        if time.monotonic() > deadline:
            raise EveningError(f"The package of {day} was not made within {PATIENCE:.0f} s.")
        time.sleep(0.5)
    with path.open("wb") as file:
        auditor.download(f"days/{day}/package", file)
    if hashlib.sha256(path.read_bytes()).hexdigest() != said["sha256"]:
        raise EveningError(f"The package of {day} has another SHA-256 than the one that was recorded.")
    packaged = read(path)
    auditor.post(f"days/{day}/package/sign", {"sha256": said["sha256"]}, version=None)
    return packaged


def read(path: Path) -> Packaged:
    """A package that was downloaded, compared with its manifest."""
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read(MANIFEST))
        digests = {one: hashlib.sha256(archive.read(one)).hexdigest() for one in archive.namelist() if one != MANIFEST}
    named = {one["name"]: one["sha256"] for one in manifest["files"]}
    altered = sorted(name for name in named.keys() | digests.keys() if named.get(name) != digests.get(name))
    return Packaged(path, manifest, altered)
