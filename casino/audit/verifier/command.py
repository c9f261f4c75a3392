"""The command line: `verify.pyz FOLDER --checkpoints FILE --key FILE`."""

import argparse
import hashlib
import json
import sys
import time
import zipimport
from collections.abc import Sequence
from pathlib import Path

from .export import verify_export
from .findings import Unusable, summary
from .notes import read_keys, read_notes


def main(arguments: Sequence[str] | None = None) -> int:
    """The command: 0 when nothing was found, 1 when something was, 2 for input that cannot be used."""
    parser = argparse.ArgumentParser(description="Verify an export of a house's audit trail.")
    parser.add_argument("folder", type=Path, help="what manage.py export_audit wrote")
    parser.add_argument("--checkpoints", type=Path, action="append", default=[], help="checkpoints that you hold")
    parser.add_argument("--key", help="the house's key that you hold: its text, or a file of it")
    parser.add_argument(
        "--accept-epoch", type=int, action="append", default=[], metavar="N",
        help="an epoch that was opened after a restore, when you have asked the two people who opened it",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args(arguments)
    started = time.monotonic()
    try:
        keys = read_keys(given.key) if given.key else []
        held = [read_notes(path, str(path), held=True) for path in given.checkpoints]
        report = verify_export(given.folder, held, keys, given.accept_epoch, _own_sha256())
    except Unusable as error:
        print(error, file=sys.stderr)
        return 2
    seconds = time.monotonic() - started
    if given.json:
        print(json.dumps(report.as_json() | {"seconds": round(seconds, 3)}, ensure_ascii=False, indent=1))
    else:
        print(summary(report, seconds))
    return 1 if report.found else 0


def _own_sha256() -> str | None:
    """SHA-256 of the archive that this runs from, None where it runs from a folder."""
    loader = sys.modules[__name__].__loader__
    if not isinstance(loader, zipimport.zipimporter):
        return None
    return hashlib.sha256(Path(loader.archive).read_bytes()).hexdigest()
