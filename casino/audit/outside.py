"""Checkpoints outside the database: one file a house in each folder of `CASINO_CHECKPOINT_DIR`.

`LABEL.checkpoints` holds notes one after another, each followed by an empty line, and only ever grows; `LABEL.vkey` the
keys that verify them, a line each. The database is written first: what a file lacks is in the database, and is appended
when the sequencer takes the log up again, the rest of a note that was cut by a crash included.
"""

import fcntl
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections

from casino.audit.notes import Checkpoint, Key, NoteUnreadable, verified
from casino.audit.signing import label
from casino.core.errors import OutsideCheckpointMissing, OutsideCheckpointUnreadable
from casino.houses.models import House

#: Bytes at a file's end that hold its last note and one that was cut.
TAIL = 8192
CHUNK = 1000
_STORED = """
SELECT epoch, size, note FROM audit_checkpoint WHERE house_id = %s AND (epoch, size) > (%s, %s)
ORDER BY epoch, size LIMIT %s
"""
_NOTE = re.compile(rb"[^\n]+\n[0-9]+\n[^\n]+\n\n(?:\xe2\x80\x94 [^\n]+\n)+\n")


@dataclass(frozen=True, slots=True)
class Ending:
    """How a file ends: its last whole note, None in an empty file, and the bytes of one that was cut after it."""

    note: str | None
    checkpoint: Checkpoint | None
    cut: bytes

    @property
    def place(self) -> tuple[int, int]:
        """Epoch and size of the last note; (0, 0) without one."""
        if self.checkpoint is None:
            return 0, 0
        return epoch_of(self.checkpoint), self.checkpoint.size


def epoch_of(checkpoint: Checkpoint) -> int:
    """The epoch that a checkpoint's origin names. Raises NoteUnreadable."""
    number = checkpoint.origin.rpartition("/")[2]
    if not re.fullmatch(r"[1-9][0-9]{0,8}", number, re.ASCII):
        raise NoteUnreadable(f"no epoch in the origin {checkpoint.origin!r}")
    return int(number)


def folders() -> list[Path]:
    """Where checkpoints are kept outside the database."""
    return list(settings.CASINO_CHECKPOINT_DIRS)


def notes_file(folder: Path, house: House) -> Path:
    """The file of a house's notes."""
    return folder / f"{label(house)}.checkpoints"


def key_file(folder: Path, house: House) -> Path:
    """The file of the keys that verify them."""
    return folder / f"{label(house)}.vkey"


def ending(folder: Path, house: House) -> Ending | None:
    """How the file of a house ends, None where there is none; the last note is verified with a key beside it.

    Raises OutsideCheckpointUnreadable for what is no note or not well signed, OutsideCheckpointMissing without a key.
    """
    path = notes_file(folder, house)
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - TAIL))
            tail = file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise OutsideCheckpointUnreadable(f"{path} cannot be read: {error.strerror}.", file=str(path)) from error
    notes = list(_NOTE.finditer(tail))
    if not notes:
        if size > TAIL:
            raise OutsideCheckpointUnreadable(f"{path} does not end with a signed note.", file=str(path))
        return Ending(None, None, tail)
    text = notes[-1].group()[:-1].decode(errors="replace")
    return Ending(text, _verified(text, key_file(folder, house)), tail[notes[-1].end() :])


def _verified(note: str, keys: Path) -> Checkpoint:
    try:
        lines = keys.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError as error:
        raise OutsideCheckpointMissing(
            f"The key {keys} is missing from the folder of its checkpoints.", file=str(keys)
        ) from error
    problem = f"{keys} holds no key"
    for line in lines:
        try:
            checkpoint = verified(note, line)
            epoch_of(checkpoint)
        except NoteUnreadable as error:
            problem = str(error)
        else:
            return checkpoint
    raise OutsideCheckpointUnreadable(f"The last checkpoint outside: {problem}.", file=str(keys))


def prepare(folder: Path, house: House, key: Key) -> None:
    """Make sure that both files exist, the key among the keys."""
    folder.mkdir(parents=True, exist_ok=True)
    keys = key_file(folder, house)
    if not keys.exists() or key.text not in keys.read_text(encoding="utf-8").splitlines():
        _append(keys, f"{key.text}\n".encode())
    notes = notes_file(folder, house)
    if not notes.exists():
        _append(notes, b"")
        sync(folder)


def sync(folder: Path) -> None:
    """Wait until the disk has what was put into a folder. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def append(folder: Path, house: House, notes: Iterable[str], *, cut: bytes = b"", length: int | None = None) -> int:
    """Append notes to the file of a house and wait until the disk has them; returns the file's length.

    `cut` is the part of the first note that the file already has, `length` the file's length. Raises OSError, and
    OutsideCheckpointUnreadable when `cut` is not the beginning of the first note, or the file is not as it was left.
    """
    path = notes_file(folder, house)
    text = "".join(f"{note}\n" for note in notes).encode()
    if not text.startswith(cut):
        raise OutsideCheckpointUnreadable(f"{path} ends with text that does not begin a checkpoint.", file=str(path))
    return _append(path, text[len(cut) :], length)


def catch_up(folder: Path, house: House, using: str) -> int:
    """Append every note that the database has and the file has not; returns how many there were."""
    found = ending(folder, house)
    place, cut = (found.place, found.cut) if found else ((0, 0), b"")
    total = 0
    for missing in stored(house, using, after=place):
        append(folder, house, missing, cut=cut)
        cut, total = b"", total + len(missing)
    if cut:
        append(folder, house, [], cut=cut)
    return total


def stored(house: House, using: str = DEFAULT_DB_ALIAS, *, after: tuple[int, int] = (0, 0)) -> Iterator[list[str]]:
    """The notes that the database has of a house behind this epoch and size, oldest first, many at a time."""
    while True:
        with connections[using].cursor() as cursor:
            cursor.execute(_STORED, [house.id, *after, CHUNK])
            rows = cursor.fetchall()
        if not rows:
            return
        after = rows[-1][:2]
        yield [note for _, _, note in rows]


def _append(path: Path, data: bytes, length: int | None = None) -> int:
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        # A sequencer that slept past the end of its lock must not write what the next one has written already.
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if length not in (None, os.fstat(descriptor).st_size):
            raise OutsideCheckpointUnreadable(f"Another process has written to {path}.", file=str(path))
        while data:
            data = data[os.write(descriptor, data) :]
        os.fsync(descriptor)
        return os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)
