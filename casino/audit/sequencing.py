"""The sequencer: makes the events of the chains leaves of each house's log, and signs what it has become.

One transaction a round and house: leaves, complete tiles, checkpoint; after its commit the note is appended to the
files outside. Killed at any point it loses nothing: what is not committed is taken again, and notes that the database
has and a file has not are appended when the house is next taken up.
"""

import logging
import time
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.db import connections, transaction

from casino.audit import guard, outside, signed_rows
from casino.audit.merkle import Frontier
from casino.audit.models import SignedCheckpoint
from casino.audit.notes import Checkpoint
from casino.audit.proofs import Hashes
from casino.audit.refusals import log_refusals
from casino.audit.signed_rows import RowsDiffer
from casino.audit.signing import Signer, origin
from casino.core.errors import HouseError, LogDamaged
from casino.houses.models import House

log = logging.getLogger(__name__)

ALIAS = "sequencer"
#: Seconds between two checkpoints of a house, or after a failure.
INTERVAL = 1.0
#: Events of one chain that one round takes; what is left is taken at once.
MOST = 20_000
#: Seconds behind the events from which on the log says so.
LATE = 10.0

#: Chains that are ahead of their marks, and epochs that have not begun yet.
_PENDING = """
SELECT DISTINCT head.house_id FROM audit_chainhead head LEFT JOIN audit_mark mark ON mark.chain_id = head.id
WHERE head.seq > coalesce(mark.seq, 0)
UNION SELECT house_id FROM audit_log WHERE vkey = ''
"""
_SEQUENCE = "SELECT event_id, leaf_hash FROM audit_sequence(%s, %s, %s, %s, %s, %s)"
_PUBLISH = "SELECT audit_publish(%s, %s, %s, %s, %s, %s, %s::smallint[], %s::bigint[], %s::bytea[])"
_REFUSE = "SELECT audit_refuse(%s, %s, %s)"
_TAKE_UP = "SELECT audit_take_up_log(%s, %s, %s, %s)"
_KEY = "SELECT audit_key_of_log(%s, %s)"
_NOW_AND_FIRST = "SELECT clock_timestamp(), (SELECT doc ->> 'at' FROM audit_event WHERE id = %s)"

#: A tile that became complete: level (1 and up), number in its level, hash of 32 bytes.
Tile = tuple[int, int, bytes]


@dataclass(slots=True)
class _Followed:
    """A house's log as this process knows it: what the database must say when the next round begins."""

    house: House
    signer: Signer
    epoch: int
    tree: Frontier
    #: Root of the last checkpoint, None before the first, and the size it is of.
    root: bytes | None
    published: int
    #: How long the files outside were left.
    lengths: dict[Path, int]


class Sequencer:
    """Follows the logs of all houses of one database. Only one may run; a second one changes nothing but fails."""

    def __init__(self, signer: Signer, old: Signer | None = None) -> None:
        """`signer` has the key; `old` has the one before it, which signs until the log's key is rotated. The connection
        is that of alias `sequencer`."""
        self._signer, self._old = signer, old
        self._followed: dict[uuid.UUID, _Followed] = {}
        self._due: dict[uuid.UUID, float] = {}
        self._complaints: dict[uuid.UUID, str] = {}

    @property
    def refused(self) -> int:
        """How many houses' logs could not go on at their last try."""
        return len(self._complaints)

    def round(self) -> int:
        """Publish a checkpoint for every house whose chains have grown and whose time has come; returns how many.

        A house that fails is reported once and tried again later, the others go on. What the connection itself raises
        is not caught: with the connection the lock of the one sequencer is gone, and another `Sequencer` starts over.
        """
        published = 0
        for house_id in self.pending():
            if time.monotonic() < self._due.get(house_id, 0.0):
                continue
            self._due[house_id] = time.monotonic() + INTERVAL
            try:
                published += self.publish(house_id) is not None
                if self._complaints.pop(house_id, None):
                    log.warning("the log of house %s goes on", house_id)
            except (HouseError, OSError) as error:
                self._complain(house_id, error)
        return published

    def pending(self) -> list[uuid.UUID]:
        """Houses with events that are not in their log yet."""
        with connections[ALIAS].cursor() as cursor:
            cursor.execute(_PENDING)
            return [house_id for (house_id,) in cursor.fetchall()]

    def publish(self, house_id: uuid.UUID) -> Checkpoint | None:
        """One round for one house; the new checkpoint, None when there was nothing new.

        Raises a LogRefused when the log cannot go on, OSError when it cannot be kept outside; either way the log is
        taken up again the next time. Where the rows are not what was to be signed, the house writes nothing until they
        are and the log was signed again.
        """
        followed = self._followed.get(house_id) or self._take_up(house_id)
        self._followed.pop(house_id, None)
        try:
            return self._grow(followed)
        except RowsDiffer as error:
            with transaction.atomic(using=ALIAS):
                _rows(_REFUSE, [house_id, followed.epoch, error.detail])
            raise

    def _grow(self, followed: _Followed) -> Checkpoint | None:
        """The round of `publish` for a house as this process knows it. Raises RowsDiffer besides what that raises."""
        house_id = followed.house.id
        tiles: list[Tile] = []
        grown = Frontier(followed.tree.size, followed.tree.roots, lambda *tile: tiles.append(tile))
        with log_refusals(), transaction.atomic(using=ALIAS):
            key = followed.signer.key(followed.house).text
            known = [house_id, followed.epoch, followed.tree.size, followed.root, key, MOST]
            leaves = _rows(_SEQUENCE, known)
            grown.extend(bytes(leaf) for _, leaf in leaves)
            if grown.size == followed.published:
                checkpoint = None
            else:
                signed = followed.published, followed.root
                signed_rows.require_rows(house_id, followed.epoch, signed, grown, ALIAS)
                checkpoint, note = self._store(followed, grown, tiles, leaves[0][0] if leaves else None)
        if checkpoint is not None:
            for folder, length in followed.lengths.items():
                followed.lengths[folder] = outside.append(folder, followed.house, [note], length=length)
            followed.tree, followed.root, followed.published = grown, checkpoint.root, grown.size
        self._followed[house_id] = followed
        if len(leaves) >= MOST:
            self._due[house_id] = 0.0
        return checkpoint

    def _store(
        self, followed: _Followed, grown: Frontier, tiles: list[Tile], first: int | None
    ) -> tuple[Checkpoint, str]:
        """Sign the tree and keep checkpoint and tiles; `first` is the id of the oldest new event."""
        house, epoch = followed.house, followed.epoch
        [(now, since)] = _rows(_NOW_AND_FIRST, [first])
        at = now.astimezone(UTC).replace(microsecond=0)  # notes have whole seconds
        checkpoint = Checkpoint(origin(house, epoch), grown.size, grown.root(), int(at.timestamp()))
        note = followed.signer.note(house, checkpoint)
        columns = [list(column) for column in zip(*tiles, strict=True)]
        _rows(_PUBLISH, [house.id, epoch, grown.size, checkpoint.root, at, note, *(columns or [[], [], []])])
        if since and (late := (at - datetime.fromisoformat(since)).total_seconds()) > LATE:
            log.warning("the log of house %s was %.0f s behind its oldest new event", house.code, late)
        return checkpoint, note

    def _take_up(self, house_id: uuid.UUID) -> _Followed:
        """Read the state of a house's log, after comparing it with the checkpoints outside, and bring those up to it.

        Raises a LogRefused when the two do not fit, or when the log was kept under another key.
        """
        house = House.objects.using(ALIAS).get(id=house_id)
        guard.examine(house, using=ALIAS)
        epoch = guard.current_epoch(house, ALIAS) or 1
        signer = self._signer_of(house, epoch)
        key = signer.key(house)
        with log_refusals(), transaction.atomic(using=ALIAS):
            _rows(_TAKE_UP, [house_id, epoch, origin(house, epoch), key.text])
            [(size,)] = _rows("SELECT size FROM audit_log WHERE house_id = %s AND epoch = %s", [house_id, epoch])
            tree = Hashes(house_id, epoch, ALIAS).frontier(size)
        for folder in outside.folders():
            outside.prepare(folder, house, key)
        last = SignedCheckpoint.objects.using(ALIAS).filter(house=house, epoch=epoch).order_by("-size").first()
        if last is not None and (last.size, bytes(last.root)) != (size, tree.root()):
            raise LogDamaged(
                f"The {size} leaves of the log of {house.code} do not have the root of its last checkpoint."
            )
        lengths = {folder: self._catch_up(folder, house) for folder in outside.folders()}
        root, published = (bytes(last.root), last.size) if last else (None, 0)
        return _Followed(house, signer, epoch, tree, root, published, lengths)

    def _signer_of(self, house: House, epoch: int) -> Signer:
        """The old key where it is the log's still; else the new one, which the database takes or refuses."""
        [(vkey,)] = _rows(_KEY, [house.id, epoch])
        return self._old if self._old is not None and self._old.key(house).text == vkey else self._signer

    def _catch_up(self, folder: Path, house: House) -> int:
        """Bring the files of a folder up to the database; returns the length of the file of notes."""
        if caught_up := outside.catch_up(folder, house, ALIAS):
            log.warning("%d checkpoints of house %s were not in %s yet", caught_up, house.code, folder)
        return outside.notes_file(folder, house).stat().st_size

    def _complain(self, house_id: uuid.UUID, error: Exception) -> None:
        text = f"{type(error).__name__}: {error}"
        if self._complaints.get(house_id) != text:
            log.error("the log of house %s does not grow: %s", house_id, text)
        self._complaints[house_id] = text


def _rows(statement: str, parameters: list[Any]) -> list[Any]:
    with connections[ALIAS].cursor() as cursor:
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())
