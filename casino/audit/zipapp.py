"""`verify.pyz`: the verifier by itself, one file that any Python from 3.11 on runs and that needs nothing of the house.

`python -m casino.audit.zipapp FILE` writes it and prints its SHA-256. The same sources give the same bytes, whatever
the machine, its clock, its umask or its Python: entries are sorted, not compressed, and of one date and mode.
"""

import hashlib
import io
import sys
import zipfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

FILE = "verify.pyz"
PACKAGE = "verifier"
_SOURCES = Path(__file__).parent / PACKAGE
_INTERPRETER = b"#!/usr/bin/env python3\n"
_MAIN = b"import sys\n\nfrom verifier.command import main\n\nsys.exit(main())\n"
#: The earliest moment that a zip archive can name.
_DATE = (1980, 1, 1, 0, 0, 0)
_REGULAR_FILE_READABLE_BY_ALL = 0o100644 << 16
_UNIX = 3


@cache
def built() -> bytes:
    """The archive of the verifier as it is installed here."""
    sources = {f"{PACKAGE}/{path.name}": path.read_bytes() for path in _SOURCES.glob("*.py")}
    return packed(sources | {"__main__.py": _MAIN})


def packed(sources: Mapping[str, bytes]) -> bytes:
    """An archive of these files (names from its top) that Python runs."""
    archive = io.BytesIO()
    archive.write(_INTERPRETER)
    with zipfile.ZipFile(archive, "a", zipfile.ZIP_STORED) as files:
        for name in sorted(sources):
            entry = zipfile.ZipInfo(name, _DATE)
            entry.create_system, entry.external_attr = _UNIX, _REGULAR_FILE_READABLE_BY_ALL
            files.writestr(entry, sources[name])
    return archive.getvalue()


def sha256() -> str:
    """SHA-256 of the archive, 64 hex digits."""
    return hashlib.sha256(built()).hexdigest()


def write_beside(folder: Path) -> tuple[Path, bool]:
    """Write the archive beside a folder; returns its path, and False where a file of the name is there with other
    bytes. That one stays: it may be the copy that somebody trusts. Raises OSError."""
    path = folder.resolve().parent / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("xb") as file:
            file.write(built())
    except FileExistsError:
        return path, path.read_bytes() == built()
    return path, True


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(built())
    print(f"{sha256()}  {sys.argv[1]}")
