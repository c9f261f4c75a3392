"""Verifying the audit trail of a live house: the verifier of exports, fed from the database at one moment.

Besides what an export shows, the database keeps hashes, places, tiles, heads and marks beside the events; they must say
the same. The database's whole catalogue, with the triggers that keep all of it, must be as the migrations make it. The
checkpoints outside the database and their key are what the answer rests on.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from django.conf import settings

from casino.audit import outside, verifier
from casino.audit.verifier import Books, Chain, Event, Hands, Key, Keys, Notes, Report, Row, Shelf, Trees, Verifier
from casino.core import moments
from casino.hands import verbs
from casino.houses.models import House
from casino.verification import marks
from casino.verification.marks import Mark
from casino.verification.snapshot_reader import Moment, Stored, moment

#: How long a checkpoint may be in the database and not outside yet.
OUTSIDE_WITHIN = timedelta(seconds=60)
#: How long an event may be without a checkpoint, where a log was begun; the sequencer takes about a second.
SIGNED_WITHIN = timedelta(seconds=60)


@verifier.no_collector()
def verify_house(
    house: House, held: Sequence[Notes] = (), keys: Sequence[Key] = (), *, mark: Mark | None = None,
    keep: Path | None = None,
) -> Report:  # fmt: skip
    """Verify everything of a house against the checkpoints outside the database and those `held` besides.

    `keys`: trusted beforehand; without them the keys beside the checkpoints outside are. With a `mark` what came since
    it was made; `keep` is a new file for another one, which is good only if nothing was found. Raises
    verifier.Unusable.
    """
    report = Report()
    # Before the moment: the database is written first, so that what the files say must be in it.
    files = [notes for folder in outside.folders() if (notes := _outside(folder, house, mark)) is not None]
    trusted = list(keys) or outside_keys(house)
    with moment(house, since=mark.since if mark else None) as there:
        for difference in there.catalogue().differences():
            report.find("catalogue_differs", difference.subject, difference.detail, -1)
        return _Live(report, there, files, held, trusted, mark, keep).verify()


def _outside(folder: Path, house: House, mark: Mark | None) -> Notes | None:
    path = outside.notes_file(folder, house)
    if not path.exists():
        return None
    if mark is not None:
        return Notes(str(path), mark.newer(path, house), held=True, complete=True)
    return verifier.read_notes(path, str(path), held=True, complete=True)


def outside_keys(house: House) -> list[Key]:
    """The keys beside the checkpoints outside. Raises verifier.Unusable."""
    files = [path for folder in outside.folders() if (path := outside.key_file(folder, house)).exists()]
    return [key for path in files for key in verifier.parse_keys(path.read_text(encoding="utf-8"))]


@lru_cache(maxsize=16)
def _public(raw: bytes) -> Ed25519PublicKey:
    return Ed25519PublicKey.from_public_bytes(raw)


def _signed(public: bytes, message: bytes, signature: bytes) -> bool:
    """Whether a signature is good, by OpenSSL: a hundred times quicker than the verifier's own."""
    try:
        _public(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


class _LiveTrees(Trees):
    """Trees that keep their tiles, a 256th of the leaves, to be compared with those of the database."""

    def __init__(self, report: Report, house: verifier.House, keys: Keys, sources: Sequence[Notes]) -> None:
        super().__init__(report, house, keys, sources, _signed)
        self.tiles: dict[tuple[int, int], bytes] = {}

    def begin(self, epoch: int) -> None:
        """The leaves of an epoch follow."""
        self.tiles = {}
        super().begin(epoch)

    def formed(self, epoch: int, level: int, number: int, root: bytes) -> None:
        """A tile has become complete."""
        self.tiles[level, number] = root


class _Live:
    """One verification of one house."""

    def __init__(
        self, report: Report, there: Moment, files: Sequence[Notes], held: Sequence[Notes], keys: Sequence[Key],
        mark: Mark | None, keep: Path | None,
    ) -> None:  # fmt: skip
        self._report, self._there, self._mark, self._keep = report, there, mark, keep
        house = verifier.House(str(there.house.id), there.house.code, there.house.currency)
        self._logs = there.rows(
            "SELECT epoch, size, origin, vkey FROM audit_log WHERE house_id = %s ORDER BY epoch", [there.house.id]
        )
        #: By epoch the size of the database's newest checkpoint.
        self._sizes: dict[int, int] = {}
        own = self._own_notes()
        [(now,)] = there.rows("SELECT transaction_timestamp()", [])
        self._now: datetime = now
        #: Older events than this, in the form that they have it, must be under a checkpoint; the oldest that is not.
        self._limit = moments.utc(now - SIGNED_WITHIN)
        self._late: Row | None = None
        self._signed = 0
        self._require_outside(files, own)
        self._origin = house.origin
        self._trusted = Keys(self._own_keys(), keys, {epoch: size for epoch, size, *_ in self._logs})
        self.trees = _LiveTrees(report, house, self._trusted, [own, *files, *held])
        books = Books(report, there.accounts(), verifier.transactions_of(there.transactions()), there.some_transactions)
        shelf = mark.shelf if mark is not None else Shelf()
        hands = Hands(report, there.hands(), house.currency, verbs.declared_of_cards, shelf)
        self._verifier = Verifier(
            report, house, self.trees, books, hands, there.state, shelf, there.counts if mark else None
        )
        self._columns: list[bytes] = []
        verifier.trust(report, [*files, *held], keys)
        self._judge_timestamps(own)

    def verify(self) -> Report:
        """Everything, once."""
        there, checks = self._there, self._verifier
        tail = self._payloads(there.tail())  # what it takes to find it is done beside the rest
        if self._mark is not None:
            self._mark.take_up(checks, [epoch for epoch, *_ in self._logs])
        for epoch, size, origin, vkey in self._logs if self._mark is None else self._logs[-1:]:
            # The sequencer goes on with the newest epoch only.
            self._signed = self._sizes.get(epoch, 0) if epoch == self._logs[-1][0] else sys.maxsize
            leaves = self._payloads(there.leaves(epoch))
            if self._mark is None:
                checks.epoch(epoch, leaves, self._beside_leaves)
            else:
                checks.go_on(leaves, self._beside_leaves)
            self._compare_log(epoch, size, origin, vkey)
            self._compare_tiles(epoch)
        if self._keep is not None:
            marks.keep(checks, there, self._keep)
        logged = {chain: seq for chain, (seq, _, _) in checks.chains.heads.items()}
        checks.tail(tail, self._beside_tail)
        self._compare_heads(logged)
        self._require_signed()
        return checks.finish()

    def _own_notes(self) -> Notes:
        rows = self._there.rows(
            "SELECT epoch, size, root, at, note FROM audit_checkpoint "
            "WHERE house_id = %s AND (epoch, size) >= (%s, %s) ORDER BY epoch, size",
            [self._there.house.id, *(self._mark.place if self._mark else (0, 0))],
        )
        for epoch, size, root, at, text in rows:
            self._sizes[epoch] = size
            try:
                point = verifier.parse_note(text).checkpoint
            except verifier.Unusable:
                continue  # reported with its place when the trees read it
            said = point.origin.rpartition("/")[2], point.size, point.root, point.seconds
            if said != (str(epoch), size, bytes(root), at.timestamp()):
                place = f"the database, checkpoint of epoch {epoch} over {size} leaves"
                self._report.find("checkpoint_row_differs", place, "its columns and its note say different things", -1)
        return Notes("the database", [text for *_, text in rows])

    def _judge_timestamps(self, own: Notes) -> None:
        """Those of the database name its checkpoints, and are signed under the certificates of the setting."""
        stamps = map(verifier.stamp_of, self._there.timestamps())
        verifier.judge_timestamps(self._report, stamps, frozenset(own.texts), _signature_check())

    def _own_keys(self) -> dict[int, Chain]:
        rotations = self._there.rotations()
        return {
            epoch: [
                *((0, verifier.parse_key(vkey)) for _ in range(1) if vkey),
                *((size + 1, verifier.parse_key(key)) for rotated, size, key in rotations if rotated == epoch),
            ]
            for epoch, *_, vkey in self._logs
        }

    def _require_outside(self, files: Sequence[Notes], own: Notes) -> None:
        """A file outside may lack checkpoints of the last moments, not older ones."""
        if not own.texts:
            return
        if not files:
            self._report.find("outside_checkpoints_missing", "the files outside the database", "there are none", -1)
        for file in files:
            count = len(file.texts)
            late = own.texts[count] if count < len(own.texts) else None
            if late is not None and _age(late) > OUTSIDE_WITHIN:
                problem = f"it ends after {count} checkpoints, the database has {len(own.texts)}"
                self._report.find("outside_checkpoint_missing", file.name, problem, -1)

    def _payloads(self, stored: Iterator[Stored]) -> Iterator[list[bytes]]:
        for payloads, self._columns in stored:
            yield payloads

    def _beside_leaves(self, docs: Sequence[Event | None], hashes: Sequence[bytes]) -> None:
        first = self.trees.size - len(docs)
        self._look_for_late(docs[max(0, self._signed - first) :])
        wanted = [
            f"{(text := hashed.hex())} {text} {chain} {seq} {at}"
            for at, (hashed, (chain, seq)) in enumerate(zip(hashes, _places(docs), strict=True), first)
        ]
        self._compare(docs, wanted)

    def _beside_tail(self, docs: Sequence[Event | None], hashes: Sequence[bytes]) -> None:
        self._look_for_late(docs)
        self._compare(
            docs, [f"{hashed.hex()} {chain} {seq}" for hashed, (chain, seq) in zip(hashes, _places(docs), strict=True)]
        )

    def _look_for_late(self, docs: Sequence[Event | None]) -> None:
        """Of events under no checkpoint, the oldest one that should be under one."""
        for event in docs:
            # An event that is not made like one is found where it is read.
            doc = verifier.row_of(event) if event is not None else None
            at = doc.get("at") if doc is not None else None
            if isinstance(at, str) and at < self._limit and (self._late is None or at < self._late["at"]):
                self._late = doc

    def _require_signed(self) -> None:
        """A log that was begun follows the events; one that was not has no sequencer yet."""
        if self._logs and self._late is not None:
            now = self._now.astimezone(UTC).isoformat()
            problem = f"recorded at {self._late['at']}, and no checkpoint covers it at {now}"
            self._report.find("log_behind", verifier.place_of(self._late), problem)

    def _compare(self, docs: Sequence[Event | None], wanted: Sequence[str]) -> None:
        """The columns beside each event against what its payload gives."""
        there = [column.decode(errors="replace") for column in self._columns]
        if there == wanted:
            return
        for at, (doc, one, column) in enumerate(zip(docs, wanted, there, strict=True)):
            if doc is not None and column != one:
                problem = f"its column is {column!r}, its payload gives {one!r}"
                self._report.find("columns_differ", verifier.place_of(doc), problem, self._report.now + at)

    def _compare_log(self, epoch: int, size: int, origin: str, vkey: str) -> None:
        place, trees = f"log of epoch {epoch}", self.trees
        if trees.sizes[epoch] != size:
            problem = f"it says {size} leaves and has {trees.sizes[epoch]}"
            self._report.find("log_row_differs", place, problem)
        if origin != f"{self._origin}/{epoch}":
            self._report.find("log_row_differs", place, f"its origin is {origin}")
        if vkey and not self._trusted.leads(epoch):
            self._report.find("key_differs", place, f"it names the key {vkey}, which is not trusted")

    def _compare_tiles(self, epoch: int) -> None:
        rows = self._there.rows(
            "SELECT level, tile_index, hash FROM audit_tile WHERE house_id = %s AND epoch = %s "
            "AND (tile_index + 1) * 256::numeric ^ level > %s",
            [self._there.house.id, epoch, self._mark.place[1] if self._mark else 0],
        )
        stored = {(level, number): bytes(root) for level, number, root in rows}
        for level, number in sorted(self.trees.tiles.keys() | stored.keys()):
            if self.trees.tiles.get((level, number)) != stored.get((level, number)):
                place = f"epoch {epoch}, tile {number} of level {level}"
                first = number * 256**level
                self._report.find("tile_differs", place, f"it is not the root of the leaves from {first} on")

    def _compare_heads(self, logged: dict[str, int]) -> None:
        """Each chain's head names its last event, and its mark the last one that is in the log."""
        rows = self._there.rows(
            "SELECT c.name, c.seq, c.hash, coalesce(m.seq, 0) FROM audit_chainhead c "
            "LEFT JOIN audit_mark m ON m.chain_id = c.id WHERE c.house_id = %s",
            [self._there.house.id],
        )
        heads = self._verifier.chains.heads
        for name, seq, hashed, mark in rows:
            there = heads.get(name, (0, verifier.GENESIS, ""))[:2]
            if there[0] != seq:
                problem = f"the chain's head names event {seq}, the last event is {there[0]}"
                self._report.find("head_differs", f"{name}#{there[0] + 1}", problem)
            elif there[1] != hashed:
                self._report.find("head_differs", f"{name}#{seq}", "the chain's head holds another hash")
            if mark != logged.get(name, 0):
                problem = f"it says that {mark} events are in the log; it has {logged.get(name, 0)}"
                self._report.find("mark_differs", f"mark of {name}", problem)
        for name in heads.keys() - {row[0] for row in rows}:
            self._report.find("head_differs", f"{name}#1", "the chain has no head")


def _signature_check() -> Callable[[verifier.Stamp], str | None] | None:
    """What checks the signature of a time stamp under the certificates of the setting; None where it is not set."""
    if not settings.CASINO_TIMESTAMP_CERTIFICATES:
        return None
    # X.509 costs 70 ms of CPU at the start of a process; houses without an authority do without.
    from casino.audit import timestamping

    certificates = timestamping.trusted()

    def problem(stamp: verifier.Stamp) -> str | None:
        try:
            timestamping.checked(stamp.response, stamp.note, certificates)
        except timestamping.TimeStampWrong as error:
            return str(error)
        return None

    return problem


def _places(docs: Sequence[Event | None]) -> list[tuple[Any, Any]]:
    return [(None, None) if doc is None else verifier.chain_and_seq(doc) for doc in docs]


def _age(note: str) -> timedelta:
    try:
        at = datetime.fromisoformat(verifier.parse_note(note).checkpoint.at)
    except (verifier.Unusable, ValueError):
        return timedelta(0)  # the trees report that it cannot be read
    return datetime.now(UTC) - at
