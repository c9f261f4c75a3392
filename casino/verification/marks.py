"""Marks: how far a house was verified without a finding, so that the next verification reads what came since.

A mark is a file outside the database, in the folder of the setting: who could change it could hide what was altered
before it. It rests on the log, which goes on from there: a signed checkpoint over other leaves would not agree. What is
not read again is said in docs/how-to/prove.md.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection

from casino.audit import zipapp
from casino.audit.signing import label
from casino.audit.verifier import Shelf, Unusable, Verifier, kept, log_name, parse_note, split_notes
from casino.audit.verifier.ledger import WAITING
from casino.core.moments import utc
from casino.houses.models import House
from casino.verification.replaying import Tally
from casino.verification.snapshot_reader import Hands, Moment, Since

#: Of what this module writes: a mark of another one is of no use.
VERSION = 1
#: Transaction ids of PostgreSQL are compared within half of their circle.
MOST_TRANSACTIONS = 1 << 30
#: Events may be committed while so many that were begun earlier are not yet.
_EVENTS = 10_000
#: Bytes of a file of checkpoints that are read at first.
_PORTION = 1 << 18
_DATABASE = "SELECT system_identifier::text || '/' || current_database() FROM pg_control_system()"
_NOW = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint, transaction_timestamp()"
_UNLOGGED = """
    SELECT least((SELECT min(e.xid) FROM audit_event e WHERE e.house_id = %(house)s AND e.id > %(event)s
                  AND NOT EXISTS (SELECT FROM audit_leaf l WHERE l.event_id = e.id)), %(bound)s)
"""
_LAST_EVENT = """
    SELECT coalesce(max(event_id), 0) FROM audit_leaf WHERE house_id = %s AND epoch = %s AND leaf_index >= %s
"""


@dataclass(frozen=True, slots=True)
class Mark:
    """A verification that was kept: where to go on, when it was made, and since when the house was verified whole."""

    shelf: Shelf
    since: Since
    at: datetime
    whole_at: datetime
    #: What others that verified along have kept: by their names.
    beside: dict[str, Any]

    @property
    def place(self) -> tuple[int, int]:
        """Epoch and size of the last checkpoint under it."""
        return self.since.epoch, self.since.size

    def newer(self, path: Path, house: House) -> list[str]:
        """Of a file of a house's checkpoints the one under the mark and those after it, however long the file is.
        Raises Unusable for one that cannot be read."""
        begin = f"\n\n{log_name(house.code, str(house.id))}/".encode()
        length = _PORTION
        try:
            with path.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                while True:
                    file.seek(max(0, size - length))
                    read = file.read(length)
                    # Of the end of a file, what begins with a whole note.
                    text = read[read.find(begin) + 2 :] if length < size and begin in read else read
                    notes = split_notes(text.decode())
                    if length >= size or (text is not read and _place(notes[0]) < self.place):
                        return [note for note in notes if _place(note) >= self.place]
                    length *= 4
        except (OSError, ValueError) as error:
            raise Unusable(f"{path} cannot be read: {error}") from error

    def take_up(self, checks: Verifier, epochs: Sequence[int]) -> None:
        """Let a verifier go on from here. Raises Unusable where another epoch has been opened."""
        if list(epochs)[-1:] != [self.since.epoch]:
            raise Unusable(f"the mark was made in epoch {self.since.epoch}, the log is at {list(epochs)[-1:]}")
        kept.take_up(checks)


def _place(text: str) -> tuple[int, int]:
    """Epoch and size that a note names; the end of all for what cannot be read, which is reported where it is."""
    try:
        point = parse_note(text).checkpoint
        return int(point.origin.rpartition("/")[2]), point.size
    except (Unusable, ValueError):
        return (1 << 62, 0)


class Beside:
    """What the verifications of hands and books go on from: nothing without a mark."""

    def __init__(self, mark: Mark | None) -> None:
        kept_beside = mark.beside if mark is not None else {}
        #: How far hands were replayed.
        self.hands: Tally | None = Tally(**kept_beside["hands"]) if mark is not None else None
        #: The name of a snapshot of the ledger that was proved, None where there was none.
        self.snapshot: str | None = kept_beside.get("snapshot")


def beside(tally: Tally, snapshot: str | None) -> dict[str, Any]:
    """What `Beside` reads."""
    hands = {name: getattr(tally, name) for name in ("numbers", "unfinished", "left", "transaction")}
    return {"hands": hands, "snapshot": snapshot}


@contextmanager
def kept_file(house: House, keep: bool) -> Iterator[Path | None]:
    """A new file for the next mark of a house, gone afterwards if it was not put in its place; None where none is to be
    kept. Raises Unusable where the setting names no folder."""
    target = file_of(house)
    if not keep:
        yield None
        return
    if target is None:
        raise Unusable("CASINO_MARK_DIR names no folder for marks")
    target.parent.mkdir(parents=True, exist_ok=True)
    path = target.with_name(f"{target.name}.{os.getpid()}")
    try:
        path.unlink(missing_ok=True)
        yield path
    finally:
        path.unlink(missing_ok=True)


def file_of(house: House) -> Path | None:
    """Where the mark of a house lies; None where the setting names no folder."""
    folder: Path | None = settings.CASINO_MARK_DIR
    return None if folder is None else folder / f"{label(house)}.mark"


def newest(house: House) -> Mark | None:
    """The mark of a house, None where there is none. Raises Unusable for one that is of no use: it says why."""
    path = file_of(house)
    if path is None or not path.exists():
        return None
    shelf = Shelf(path, is_kept=True)
    about = kept.about(shelf)
    if about["version"] != VERSION or about["program"] != zipapp.sha256():
        raise Unusable("another version of the program has made the mark")
    if about["house"] != str(house.id) or about["database"] != _database():
        raise Unusable("the mark is of another house or another database")
    since = about["since"]
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint")
        [now] = cursor.fetchone()
    if not since["bound"] <= now < since["bound"] + MOST_TRANSACTIONS:
        raise Unusable(f"{now - since['bound']} transactions have passed since the mark was made")
    return Mark(
        shelf,
        Since(**(since | {"hands": Hands(**since["hands"])})),
        datetime.fromisoformat(about["at"]),
        datetime.fromisoformat(about["whole_at"]),
        about["beside"],
    )


def keep(checks: Verifier, there: Moment, path: Path) -> None:
    """Write how far a verification has come, behind the last leaf of the log, into a new file; none where there is no
    log yet on which a mark could rest."""
    epoch, size = max(checks.trees.sizes.items(), default=(0, 0))
    if not size:
        return
    [(bound, at)] = there.rows(_NOW, [])
    [(event,)] = there.rows(_LAST_EVENT, [there.house.id, epoch, max(0, size - _EVENTS)])
    [(bound,)] = there.rows(_UNLOGGED, {"house": there.house.id, "event": max(0, event - _EVENTS), "bound": bound})
    numbers, unfinished = checks.hands.unfinished
    since = {
        "epoch": epoch, "size": size, "hands": {"numbers": numbers, "unfinished": unfinished},
        "transaction": max(0, checks.books.reached - WAITING), "event": max(0, event - _EVENTS), "bound": bound,
    }  # fmt: skip
    about = {
        "version": VERSION, "program": zipapp.sha256(), "house": str(there.house.id), "database": _database(),
        "since": since, "at": utc(at), "whole_at": utc(at), "beside": {},
    }  # fmt: skip
    kept.keep(checks, path, about)


def put(house: House, path: Path, whole_at: datetime | None, beside: dict[str, Any]) -> None:
    """Put a file that `keep` has written in the place of the house's mark, with what others keep beside it; `whole_at`
    is when the house was verified whole, where it was not now."""
    target = file_of(house)
    if target is None:
        raise AssertionError("marks are made where the setting names a folder")
    shelf = Shelf(path)
    about = kept.about(shelf) | {"beside": beside}
    kept.note(shelf, about if whole_at is None else about | {"whole_at": utc(whole_at)})
    shelf.close()
    with path.open("rb") as file:
        os.fsync(file.fileno())
    path.replace(target)


def _database() -> str:
    """Which database this is, of all that there are."""
    with connection.cursor() as cursor:
        cursor.execute(_DATABASE)
        found: str = cursor.fetchone()[0]
    return found
