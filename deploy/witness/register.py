"""What a witness keeps: its key, the logs it knows, and the last checkpoint of each that it has cosigned."""

import base64
import os
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from deploy.witness.checking import COSIGNATURE, LogKey, Malformed, Note, Rotation, is_consistent, key_id, place_of

_TABLES = """
CREATE TABLE IF NOT EXISTS log (vkey TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS cosigned (
    origin TEXT PRIMARY KEY, size INTEGER NOT NULL, root BLOB NOT NULL, note TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS rotation (
    epoch INTEGER NOT NULL, size INTEGER NOT NULL, old TEXT NOT NULL, new TEXT NOT NULL, note TEXT NOT NULL,
    PRIMARY KEY (old, epoch, size));
"""


class Refused(Exception):
    """A checkpoint that is not cosigned, with the HTTP status that C2SP's tlog-witness gives the reason."""

    def __init__(self, status: int, text: str, *, size: int | None = None) -> None:
        super().__init__(text)
        self.status, self.size = status, size


@dataclass(frozen=True, slots=True)
class Cosigner:
    """A witness's own key, under its name."""

    name: str
    private: Ed25519PrivateKey

    @property
    def public(self) -> bytes:
        """32 bytes of Ed25519."""
        return self.private.public_key().public_bytes_raw()

    @property
    def vkey(self) -> str:
        """`<name>+<8 hex digits>+<base64 of 04 and the key>`, as verifiers of cosignatures take it."""
        encoded = base64.b64encode(COSIGNATURE + self.public).decode()
        return f"{self.name}+{key_id(self.name, COSIGNATURE, self.public).hex()}+{encoded}"

    def line(self, body: str, seconds: int) -> str:
        """The signature line over a checkpoint's body at this time (POSIX seconds): C2SP tlog-cosignature v1."""
        signature = self.private.sign(f"cosignature/v1\ntime {seconds}\n{body}".encode())
        stamped = key_id(self.name, COSIGNATURE, self.public) + seconds.to_bytes(8, "big") + signature
        return f"\u2014 {self.name} {base64.b64encode(stamped).decode()}\n"


class Register:
    """A witness's folder: `key` (mode 0600) and `witness.sqlite`."""

    def __init__(self, folder: Path) -> None:
        """Of a folder that `create` has made. Raises FileNotFoundError for another one: a witness that has forgotten
        what it cosigned must not go on under its old name."""
        self.folder = folder
        name, digits = (folder / "key").read_text(encoding="utf-8").split()
        self.cosigner = Cosigner(name, Ed25519PrivateKey.from_private_bytes(bytes.fromhex(digits)))
        if not self._file.exists():
            raise FileNotFoundError(f"{self._file} is missing: what was cosigned is not known")

    @classmethod
    def create(cls, folder: Path, name: str) -> "Register":
        """A new witness with a new key. Raises FileExistsError where there is one, Malformed for its name."""
        if not name or any(one.isspace() or one == "+" for one in name):
            raise Malformed("a witness's name has no space and no plus sign")
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(folder / "key", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(f"{name} {Ed25519PrivateKey.generate().private_bytes_raw().hex()}\n")
        with closing(sqlite3.connect(folder / "witness.sqlite")) as database:
            database.executescript(_TABLES)
        return cls(folder)

    @property
    def _file(self) -> Path:
        return self.folder / "witness.sqlite"

    def _open(self) -> sqlite3.Connection:
        database = sqlite3.connect(self._file, timeout=10, isolation_level=None)
        database.execute("PRAGMA synchronous = FULL")
        return database

    def add_log(self, vkey: str) -> None:
        """Cosign checkpoints that this key has signed. Raises Malformed."""
        LogKey.parse(vkey)
        with closing(self._open()) as database:
            database.execute("INSERT OR IGNORE INTO log VALUES (?)", [vkey.strip()])

    def remove_log(self, vkey: str) -> None:
        """Cosign nothing more that this key has signed. Raises Malformed for a key that is not known."""
        with closing(self._open()) as database:
            if not database.execute("DELETE FROM log WHERE vkey = ?", [vkey.strip()]).rowcount:
                raise Malformed(f"{vkey} is not known here")

    def latest(self, origin: str) -> str | None:
        """The newest checkpoint that was cosigned of a log, with the cosignature; None for an unknown one."""
        with closing(self._open()) as database:
            row = database.execute("SELECT note FROM cosigned WHERE origin = ?", [origin]).fetchone()
        return row and str(row[0])

    def cosign(self, old: int, proof: Sequence[bytes], text: str) -> str:
        """The signature line over a checkpoint whose tree has only grown; remembered before it is returned.

        Raises Malformed for what is no checkpoint, and Refused.
        """
        note = Note.parse(text)
        with closing(self._open()) as database:
            # Comparing with what was cosigned last and remembering this one must not be torn apart.
            database.execute("BEGIN IMMEDIATE")
            keys = [LogKey.parse(vkey) for (vkey,) in database.execute("SELECT vkey FROM log")]
            rotations = database.execute("SELECT epoch, size, old, new FROM rotation ORDER BY epoch, size").fetchall()
            _require_signed(note, [key for key in keys if key.covers(note.origin)], rotations)
            known = database.execute("SELECT size, root FROM cosigned WHERE origin = ?", [note.origin]).fetchone()
            _require_grown(note, old, proof, known or (0, b""))
            line = self.cosigner.line(note.body, int(time.time()))
            database.execute(
                "INSERT OR REPLACE INTO cosigned VALUES (?, ?, ?, ?)", [note.origin, note.size, note.root, text + line]
            )
            database.execute("COMMIT")
        return line

    def rotate(self, text: str) -> None:
        """Take another key for a log whose key is known here: the old one counts up to the rotation's size, the new one
        behind it. A rotation that is known already is taken again.

        Raises Malformed for what is no rotation or lacks a signature; Refused where the old key is not one that is
        known here, is not the log's any more, or another history was cosigned.
        """
        rotation = Rotation.parse(text)
        epoch, size = place_of(rotation.origin, rotation.size)
        with closing(self._open()) as database:
            database.execute("BEGIN IMMEDIATE")
            if database.execute("SELECT 1 FROM rotation WHERE note = ?", [text]).fetchone():
                return
            known = {vkey for (vkey,) in database.execute("SELECT vkey FROM log")}
            rotations = database.execute("SELECT epoch, size, old, new FROM rotation ORDER BY epoch, size").fetchall()
            # It signs now, and will not again from there on: no key gets two successors.
            if rotation.old.vkey not in known or not _signs(rotation.old.vkey, (epoch, size + 1), rotations):
                raise Refused(403, f"{rotation.old.vkey} is no key of the log {rotation.origin} here")
            row = database.execute("SELECT size, root FROM cosigned WHERE origin = ?", [rotation.origin]).fetchone()
            if row is not None and (row[0] > size or (row[0] == size and row[1] != rotation.root)):
                raise Refused(409, f"{row[0]} leaves were cosigned last, or another root", size=row[0])
            database.execute("INSERT OR IGNORE INTO log VALUES (?)", [rotation.new.vkey])
            values = [epoch, size, rotation.old.vkey, rotation.new.vkey, text]
            database.execute("INSERT INTO rotation VALUES (?, ?, ?, ?, ?)", values)
            database.execute("COMMIT")


def _require_signed(note: Note, keys: Sequence[LogKey], rotations: Sequence[tuple[int, int, str, str]]) -> None:
    if not keys:
        raise Refused(404, f"no log {note.origin} is known here")
    place = place_of(note.origin, note.size)
    if not any(_signs(key.vkey, place, rotations) and key.is_among(note.signatures, note.body) for key in keys):
        raise Refused(403, f"no key that the log {note.origin} has at {note.size} leaves has signed this checkpoint")


def _signs(vkey: str, place: tuple[int, int], rotations: Sequence[tuple[int, int, str, str]]) -> bool:
    """Whether a key signs checkpoints of this epoch and size, by the rotations in their order."""
    before = [new for epoch, size, old, new in rotations if vkey in (old, new) and (epoch, size) < place]
    later = [new for epoch, size, old, new in rotations if vkey in (old, new) and (epoch, size) >= place]
    return before[-1] == vkey if before else not later or later[0] != vkey


def _require_grown(note: Note, old: int, proof: Sequence[bytes], known: tuple[int, bytes]) -> None:
    size, root = known
    if old > note.size:
        raise Refused(400, f"the old size {old} is larger than the checkpoint's {note.size}")
    if old != size:
        raise Refused(409, f"{size} leaves were cosigned last", size=size)
    if old == note.size and old and note.root != root:
        raise Refused(409, f"another root was cosigned for {size} leaves", size=size)
    if not old:
        if proof:
            raise Refused(422, "there is nothing to be consistent with, so the proof is empty")
    elif not is_consistent(old, root, note.size, note.root, proof):
        raise Refused(422, f"the proof does not lead from {old} leaves to {note.size}")
