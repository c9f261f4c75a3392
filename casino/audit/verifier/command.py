"""The command line: `verify.pyz FOLDER --checkpoints FILE --key FILE`, `verify.pyz receipt FILE --key FILE`,
`verify.pyz package FILE`, and `verify.pyz archive FOLDER ... --key FILE`."""

import argparse
import contextlib
import hashlib
import io
import json
import os
import sys
import time
import zipimport
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from . import archives, packages, receipts
from .cosignatures import parse_witness
from .export import verify_export
from .findings import Unusable, printable, summary
from .notes import read_keys, read_notes

UNUSABLE = 2
#: Commands besides the verification of an export.
_COMMANDS = {"archive": archives.main, "receipt": receipts.main, "package": packages.main}


class _Parser(argparse.ArgumentParser):
    """Arguments; what is wrong with them is printed like everything else."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        raise Unusable(message)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command: 0 when nothing was found, 1 when something was, 2 for input that cannot be used."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # an old terminal still shows what it can
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        # An export in a folder of this name is given as ./receipt.
        command = _COMMANDS.get(given[0]) if given else None
        return _verify(given) if command is None else command(given[1:])
    except Unusable as error:
        print(printable(str(error)), file=sys.stderr)
    except MemoryError:
        print("the input is too large for the memory of this machine", file=sys.stderr)
    except BrokenPipeError:
        # Who reads the answer has gone; the interpreter must not try to write the rest to them once more.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return UNUSABLE


def _verify(arguments: Sequence[str]) -> int:
    given = _arguments(arguments)
    started = time.monotonic()
    keys = read_keys(given.key) if given.key else []
    held = [read_notes(path, str(path), held=True) for path in given.checkpoints]
    witnesses = [parse_witness(vkey) for vkey in given.witness]
    report = verify_export(given.folder, held, keys, given.accept_epoch, _own_sha256(), witnesses)
    seconds = time.monotonic() - started
    if given.json:
        answer = json.dumps(report.as_json() | {"seconds": round(seconds, 3)}, indent=1)
        print(answer.replace("\x7f", "\\u007f"))  # the one control character that JSON leaves as it is
    else:
        print(summary(report, seconds))
    sys.stdout.flush()
    return 1 if report.found else 0


def _arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = _Parser(description="Verify an export of a house's audit trail.")
    parser.add_argument("folder", type=Path, help="what manage.py export_audit wrote")
    parser.add_argument("--checkpoints", type=Path, action="append", default=[], help="checkpoints that you hold")
    parser.add_argument("--key", help="the house's key that you hold: its text, or a file of it")
    parser.add_argument(
        "--witness", action="append", default=[], metavar="VKEY",
        help="the key of a witness that must have cosigned one of the checkpoints that you hold",
    )  # fmt: skip
    parser.add_argument(
        "--accept-epoch", type=int, action="append", default=[], metavar="N",
        help="an epoch that was opened after a restore, when you have asked the two people who opened it",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser.parse_args(arguments)


def _own_sha256() -> str | None:
    """SHA-256 of the archive that this runs from, None where it runs from a folder."""
    loader = sys.modules[__name__].__loader__
    if not isinstance(loader, zipimport.zipimporter):
        return None
    return hashlib.sha256(Path(loader.archive).read_bytes()).hexdigest()
