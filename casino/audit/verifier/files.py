"""The files of an export, read without trusting them: regular files only, no line without a limit."""

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, BinaryIO

from .findings import Unusable

MANIFEST, TAIL, CHECKPOINTS, TIMESTAMPS, LEDGER, HANDS, STATE = (
    *("manifest.json", "tail.jsonl", "checkpoints", "timestamps.jsonl"),
    *("ledger.jsonl", "hands.jsonl", "state.jsonl"),
)
LONGEST = 1 << 22
"""Bytes that a line, or a file that is no list of lines, may have."""
#: Bytes that are read at a time: what is made of them should still lie in the processor's cache when it is used.
_PORTION = 1 << 17
_DIRECTLY = getattr(os, "O_NOFOLLOW", 0)
#: A pipe without a writer would never open.
_AT_ONCE = getattr(os, "O_NONBLOCK", 0)


def events_of(epoch: int) -> str:
    """The file of an epoch's events."""
    return f"events-{epoch}.jsonl"


def names_of(epochs: Iterable[int]) -> set[str]:
    """The files of an export of a log with these epochs."""
    return {MANIFEST, TAIL, CHECKPOINTS, TIMESTAMPS, LEDGER, HANDS, STATE, *map(events_of, epochs)}


def opened(path: Path, *, follow: bool = False) -> BinaryIO:
    """A regular file, to be read; a symbolic link only where `follow` says so. Raises Unusable."""
    flags = os.O_RDONLY | _AT_ONCE | (0 if follow else _DIRECTLY)
    try:
        file = os.fdopen(os.open(path, flags), "rb")
    except (OSError, ValueError) as error:  # a directory, a link; ValueError for a name with a zero byte
        raise unreadable(path, error) from error
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise Unusable(f"{path} cannot be read: it is no regular file")
    return file


def whole(path: Path, *, follow: bool = False) -> str:
    """The text of a small file. Raises Unusable."""
    with opened(path, follow=follow) as file:
        try:
            raw = file.read(LONGEST + 1)
            if len(raw) > LONGEST:
                raise Unusable(f"{path} cannot be read: it is longer than {LONGEST} bytes")
            return raw.decode()
        except (OSError, ValueError) as error:
            raise unreadable(path, error) from error


def lines_of(path: Path, *, follow: bool = False) -> Iterator[list[bytes]]:
    """The lines of a file without their ends, many at a time; an empty one at the end where the last line has its end,
    as it must. Raises Unusable."""
    with opened(path, follow=follow) as file:
        begun, length = [b""], 0  # of a line whose end is not read yet
        while portion := _read(file, path):
            first, *lines = portion.split(b"\n")
            begun.append(first)
            length += len(first)
            if lines:
                *whole_lines, rest = b"".join(begun), *lines
                begun, length = [rest], len(rest)
                yield whole_lines
            if length > LONGEST:
                raise Unusable(f"{path} cannot be read: it has a line of more than {LONGEST} bytes")
        yield [b"".join(begun)]


def _read(file: BinaryIO, path: Path) -> bytes:
    try:
        return file.read(_PORTION)
    except OSError as error:
        raise unreadable(path, error) from error


def described(file: IO[bytes]) -> tuple[int, str]:
    """Bytes and SHA-256 (64 hex digits) of what is left of an open file. Raises what reading it raises."""
    digest, length = hashlib.sha256(), 0
    while portion := file.read(_PORTION):
        digest.update(portion)
        length += len(portion)
    return length, digest.hexdigest()


def unreadable(path: Path, error: Exception) -> Unusable:
    """What to raise for a file that cannot be read."""
    return Unusable(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}")


def unknown_names(folder: Path, known: set[str]) -> list[str]:
    """What lies in a folder besides these files. Raises Unusable."""
    try:
        return sorted(entry.name for entry in os.scandir(folder) if entry.name not in known)
    except (OSError, ValueError) as error:
        raise unreadable(folder, error) from error
