"""Archives of closed periods, for those who read them: `NUMBER` in a folder of the house, in each folder of
`CASINO_ARCHIVE_DIR`.

`manifest.json` names the section, its two signed checkpoints and the other files with their SHA-256; `events.jsonl.gz`
has the events as they were hashed, a line each, 256 in each member of the compressed file, so that one can be read by
itself; `ledger.jsonl.gz` has the transactions that they record. What is read is as it was hashed, or it is refused.
"""

import gzip
import hashlib
import json
import os
import stat
import uuid
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import BinaryIO

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS

from casino.audit.models import Archive, Event, Leaf
from casino.audit.signing import label
from casino.core.errors import ArchiveUnreadable
from casino.houses.models import House

MANIFEST, EVENTS, LEDGER = "manifest.json", "events.jsonl.gz", "ledger.jsonl.gz"
FILES = (MANIFEST, EVENTS, LEDGER)
#: Events in each member of the compressed file.
BLOCK = 256
#: Bytes that a manifest may have, as the verifier reads it.
LONGEST = 1 << 22
#: So many proved copies there must be before anything is put away.
LEAST_COPIES = 2


def folders() -> list[Path]:
    """Where archives are kept outside the database; none where nothing is archived."""
    return list(settings.CASINO_ARCHIVE_DIRS)


def folder_of(root: Path, house: House, number: int) -> Path:
    """The folder of an archive."""
    return root / label(house) / f"{number:04}"


def of(house: House, number: int, using: str = DEFAULT_DB_ALIAS) -> Archive | None:
    """An archive of a house, None where there is none of this number."""
    return Archive.objects.using(using).filter(house=house, number=number).select_related("house").first()


@dataclass(frozen=True, slots=True)
class Copy:
    """One copy of an archive: its manifest is the one that was recorded, its other files are as long as that says."""

    archive: Archive
    folder: Path
    #: Where each block of events begins, and where the last one ends, in bytes.
    blocks: tuple[int, ...]

    def block(self, number: int) -> list[bytes]:
        """So many events in the order of their leaves. Raises ArchiveUnreadable."""
        blocks, archive = self.blocks, self.archive
        if not 0 <= number < len(blocks) - 1:
            raise _unreadable(self, f"has no block {number}")
        try:
            with _opened(self.folder / EVENTS) as file:
                file.seek(blocks[number])
                lines = gzip.decompress(file.read(blocks[number + 1] - blocks[number])).split(b"\n")
        except (OSError, EOFError, zlib.error) as error:
            raise _unreadable(self, f"cannot be read: {error}") from error
        if len(lines) != min(BLOCK, archive.size - archive.first - number * BLOCK) + 1 or lines.pop():
            raise _unreadable(self, f"has other events in block {number}")
        return lines


def _unreadable(copy: Copy, problem: str) -> ArchiveUnreadable:
    return ArchiveUnreadable(f"{copy.folder / EVENTS} {problem}.", archive=copy.archive.number)


def copies(archive: Archive) -> list[Copy]:
    """The copies that the folders have; one with another manifest is none, nor is one that was cut off."""
    found = []
    for root in folders():
        folder = folder_of(root, archive.house, archive.number)
        try:
            blocks = _blocks(folder, archive.sha256)
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            continue
        if blocks is not None:
            found.append(Copy(archive, folder, blocks))
    return found


def _blocks(folder: Path, sha256: str) -> tuple[int, ...] | None:
    """Where the blocks of events begin and end, None for what is not this archive. Raises OSError, and what comes of
    values that no manifest has."""
    with _opened(folder / MANIFEST) as file:
        raw = file.read(LONGEST)
    if hashlib.sha256(raw).hexdigest() != sha256:
        return None
    manifest = json.loads(raw)
    lengths = {name: manifest["files"][name]["bytes"] for name in (EVENTS, LEDGER)}
    if any((folder / name).stat().st_size != length for name, length in lengths.items()):
        return None
    blocks = (*manifest["blocks"], lengths[EVENTS])
    return blocks if blocks == tuple(sorted(map(int, blocks))) else None


def _opened(path: Path) -> BinaryIO:
    """A regular file, to be read: who can write to a folder of archives lets nobody wait for a pipe. Raises OSError."""
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(f"{path} is no regular file")
    return file


def require_copy(archive: Archive) -> None:
    """Raises ArchiveUnreadable where no folder has a copy."""
    if not copies(archive):
        raise _missing(archive)


class Copies:
    """All copies of an archive, read as one: where one is damaged, the next is asked. Raises ArchiveUnreadable."""

    def __init__(self, archive: Archive) -> None:
        self._archive, self._copies = archive, copies(archive)
        #: What was read last, of which the next events often are.
        self._read: tuple[Copy, int, list[bytes]] | None = None
        if not self._copies:
            raise _missing(archive)

    def of_leaves(self, hashes: Mapping[int, str], *, checked: bool = True) -> Iterator[tuple[int, bytes]]:
        """The events of these leaves of the section, in their order, each with the hash (64 hex digits) that is given;
        unless they shall be `checked`, with whatever text there is where no copy has the right one."""
        for block, leaves in groupby(sorted(hashes), lambda leaf: (leaf - self._archive.first) // BLOCK):
            yield from self._texts(block, {leaf: hashes[leaf] for leaf in leaves}, checked).items()

    def _texts(self, block: int, hashes: Mapping[int, str], checked: bool) -> dict[int, bytes]:
        problem: ArchiveUnreadable | None = None
        others: dict[int, bytes] = {}
        for copy in self._copies:
            try:
                texts = self._block(copy, block, hashes)
            except ArchiveUnreadable as error:
                problem = problem or error
                continue
            wrong = [leaf for leaf, text in texts.items() if _hash(text) != hashes[leaf]]
            if not wrong:
                return texts
            others = others or texts
            problem = problem or _unreadable(copy, f"has another text for leaf {wrong[0]} than the one that was hashed")
        if others and not checked:
            return others
        assert problem is not None  # noqa: S101 - there is one copy at least
        raise problem

    def _block(self, copy: Copy, block: int, leaves: Iterable[int]) -> dict[int, bytes]:
        if self._read is None or self._read[:2] != (copy, block):
            self._read = copy, block, copy.block(block)
        lines, start = self._read[2], self._archive.first + block * BLOCK
        if any(leaf - start >= len(lines) for leaf in leaves):
            raise _unreadable(copy, f"has no leaf {max(leaves)}")
        return {leaf: lines[leaf - start] for leaf in leaves}


def _hash(text: bytes) -> str:
    return hashlib.sha256(b"\x00" + text).hexdigest()


def _missing(archive: Archive) -> ArchiveUnreadable:
    asked = ", ".join(str(folder_of(root, archive.house, archive.number)) for root in folders())
    return ArchiveUnreadable(
        f"Archive {archive.number} of {archive.house.code} (SHA-256 {archive.sha256}) is in none of the folders of "
        f"CASINO_ARCHIVE_DIR ({asked or 'none is set'}). Bring a copy of it back.",
        archive=archive.number,
    )


def opened(archive: Archive, name: str) -> BinaryIO:
    """A file of an archive, as it was made. Raises ArchiveUnreadable."""
    for held in copies(archive):
        try:
            return _opened(held.folder / name)
        except OSError:
            continue
    raise _missing(archive)


class Texts:
    """The texts of events of one house that were put away, as they were hashed; copies stay open for the next."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._copies: dict[int, Copies] = {}

    def of(self, number: int, hashes: Mapping[int, str]) -> Iterator[tuple[int, str]]:
        """Of an archive the texts of these leaves, whose hashes (64 hex digits) are given. Raises ArchiveUnreadable."""
        for leaf, text in self.copies(number).of_leaves(hashes):
            yield leaf, text.decode()

    def copies(self, number: int) -> Copies:
        """Those of an archive. Raises ArchiveUnreadable."""
        if number not in self._copies:
            self._copies[number] = Copies(recorded(self._house, number))
        return self._copies[number]


def fill_in(house: House, events: Iterable[Event]) -> None:
    """Let these events have their texts as they were hashed, also where these were put away. Raises
    ArchiveUnreadable."""
    away = {event.id: event for event in events if event.archive is not None}
    if not away:
        return
    leaves = dict(Leaf.objects.filter(house=house, event__in=away).values_list("event_id", "leaf_index"))
    # Of two epochs two leaves have one number, but not in one archive.
    by_archive: dict[int, dict[int, Event]] = {}
    for id_, event in away.items():
        assert event.archive is not None  # noqa: S101 - or it would not be among them
        if id_ not in leaves:
            raise ArchiveUnreadable(f"An event of archive {event.archive} is in no log.", archive=event.archive)
        by_archive.setdefault(event.archive, {})[leaves[id_]] = event
    found = Texts(house)
    for number, events_of in by_archive.items():
        for leaf, text in found.of(number, {leaf: event.leaf_hash for leaf, event in events_of.items()}):
            events_of[leaf].payload = text


def recorded(house: House, number: int) -> Archive:
    """An archive that rows of events name. Raises ArchiveUnreadable where there is none of this number."""
    found = of(house, number)
    if found is None:
        raise ArchiveUnreadable(f"Events of {house.code} lie in archive {number}, which there is not.", archive=number)
    return found


def put_away_of(house: uuid.UUID, epoch: int, using: str = DEFAULT_DB_ALIAS) -> list[Archive]:
    """The archives of an epoch whose texts lie in the files only, in the order of their leaves."""
    found = Archive.objects.using(using).filter(house=house, epoch=epoch, is_put_away=True)
    return list(found.select_related("house").order_by("first"))
