"""`verify.pyz package FILE`: the package of a gaming day: its manifest names every file and its SHA-256, and every
report with its class."""

import argparse
import hashlib
import stat
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .arguments import Parser
from .canonical import decoded
from .events import Row
from .files import MANIFEST, described, opened
from .findings import Unusable, printable
from .report_classes import CLASSES, SEALED

LARGEST = 1 << 30
"""Bytes that a package may have, and each of its files."""
FOLDER = "reports/"
_BLOCK = 1 << 20


def main(arguments: Sequence[str]) -> int:
    """The command: 0 when the package is as its manifest says, 1 when it is not. Raises Unusable."""
    given = _arguments(arguments)
    wrong, said = judged(given.file, given.sha256)
    print("\n".join(map(printable, wrong or said)))
    return 1 if wrong else 0


def judged(path: Path, sha256: str | None = None) -> tuple[list[str], list[str]]:
    """What is wrong with a package, a sentence with its code each, and what is to be said where nothing is. `sha256`:
    what an auditor has signed. Raises Unusable."""
    with opened(path, follow=True) as file:
        digest = _digest(file)
        try:
            with zipfile.ZipFile(file) as archive:
                wrong, manifest = _problems(archive)
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError) as error:
            raise Unusable(f"{path} is no package: {error}") from error
    if sha256 is not None and sha256 != digest:
        wrong.insert(0, f"package_differs: its SHA-256 is {digest}, not {sha256}")
    reports = manifest["reports"]
    said = [f"{len(manifest['files'])} files as the manifest says; {len(reports)} reports, each with its class"]
    by_class = sorted({(one["sensitivity"], one["report"]) for one in reports}) if not wrong else []
    said += [f"class {name}: {', '.join(ids)}" for name, ids in _grouped(by_class).items()]
    return wrong, [*said, f"SHA-256 {digest}: compare it with the one that was signed, or give it as --sha256"]


def _grouped(pairs: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, report in pairs:
        found.setdefault(name, []).append(report)
    return found


def _problems(archive: zipfile.ZipFile) -> tuple[list[str], Row]:
    """What is wrong, and the manifest. Raises Unusable for one that cannot be used."""
    names = archive.namelist()
    if len(set(names)) < len(names) or MANIFEST not in names:
        raise Unusable("a package has one manifest.json, and no file twice")
    if any(one.file_size > LARGEST or one.compress_type != zipfile.ZIP_STORED for one in archive.infolist()):
        raise Unusable("the files of a package are not compressed, and none has more than a GiB")
    if any(stat.S_ISLNK(one.external_attr >> 16) for one in archive.infolist()):
        raise Unusable("a package has no links")
    manifest = _manifest(archive)
    listed = {one["name"]: one for one in manifest["files"]}
    wrong = [f"file_unknown: {name} is not in the manifest" for name in sorted({*names} - {*listed, MANIFEST})]
    for name, one in sorted(listed.items()):
        if name not in names:
            wrong.append(f"file_missing: {name} is in the manifest, and not in the package")
        elif _described(archive, name) != (one["size"], one["sha256"]):
            wrong.append(f"file_differs: {name} is not the file that the manifest names")
    for report in manifest["reports"]:
        wrong += _of_report(archive, report, listed)
    return wrong, manifest


def _of_report(archive: zipfile.ZipFile, report: Row, listed: Mapping[str, Any]) -> list[str]:
    """What is wrong with what the manifest says of one report, and with what its own file says of its class."""
    name, said = report.get("report"), report.get("sensitivity")
    known = CLASSES.get(name) if isinstance(name, str) else None
    if known is None:
        return [f"report_unknown: no report {name!r} is known to this program"]
    wrong = []
    if said != known:
        wrong.append(f"class_differs: report {name} is of class {known}, and the manifest says {said!r}")
    if known == SEALED:
        wrong.append(f"report_sealed: report {name} is in no package")
    own = f"{FOLDER}{name}.json"
    files = report.get("files")
    if type(files) is not list or any(file not in listed for file in files):
        wrong.append(f"file_missing: a file of report {name} is not in the manifest")
    elif own in files and own in archive.namelist():
        head = _read(archive, own).get("head")
        found = head.get("sensitivity") if type(head) is dict else None
        if found != known:
            wrong.append(f"class_differs: report {name} is of class {known}, and {own} says {found!r}")
    return wrong


def _manifest(archive: zipfile.ZipFile) -> Row:
    found = _read(archive, MANIFEST)
    files, reports = found.get("files"), found.get("reports")
    if type(files) is not list or type(reports) is not list or any(type(one) is not dict for one in reports):
        raise Unusable("the manifest of a package lists its files and its reports")
    if any(type(one) is not dict or {"name", "size", "sha256"} - one.keys() for one in files):
        raise Unusable("a file of a manifest has a name, a size and a SHA-256")
    if any(type(one["name"]) is not str for one in files):
        raise Unusable("the name of a file is a text")
    return found


def _read(archive: zipfile.ZipFile, name: str) -> Row:
    """A file that is a JSON object. Raises Unusable."""
    try:
        found = decoded(archive.read(name).decode())
    except (ValueError, RecursionError, zipfile.BadZipFile) as error:
        raise Unusable(f"{name} is no JSON: {error}") from error
    if type(found) is not dict:
        raise Unusable(f"{name} is no JSON object")
    return found


def _described(archive: zipfile.ZipFile, name: str) -> tuple[int, str]:
    """Bytes and SHA-256 of a file; nothing of one that cannot be read as it was packed."""
    try:
        with archive.open(name) as file:
            return described(file)
    except zipfile.BadZipFile:
        return -1, ""


def _digest(file: Any) -> str:
    digest, size = hashlib.sha256(), 0
    while block := file.read(_BLOCK):
        size += len(block)
        if size > LARGEST:
            raise Unusable("a package has a GiB at most")
        digest.update(block)
    file.seek(0)
    return digest.hexdigest()


def _arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = Parser(prog="verify.pyz package", description="Verify the package of a gaming day.")
    parser.add_argument("file", type=Path, help="what GET days/DAY/package answered")
    parser.add_argument("--sha256", help="the SHA-256 that an auditor has signed (64 digits)")
    return parser.parse_args(arguments)
