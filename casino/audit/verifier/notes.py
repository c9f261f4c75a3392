"""Checkpoints as C2SP signed notes (tlog-checkpoint), and the keys that sign them.

The house signs a checkpoint twice: the note as it is, and as cosignature/v1 (tlog-cosignature) with the time.
"""

import base64
import binascii
import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from .ed25519 import ed25519_verify, is_key
from .files import lines_of, unreadable, whole
from .findings import Unusable

_AFTER_ALL_TIME = 253402300800
"""The first second of the year 10000."""


@dataclass(frozen=True, slots=True)
class Key:
    """A verifier's key: the name it signs under, the hash by which notes name it, and 32 bytes of Ed25519."""

    name: str
    hash: bytes
    public: bytes

    @property
    def text(self) -> str:
        """`<name>+<8 hex digits>+<base64>`, the vkey of C2SP's signed-note."""
        encoded = base64.b64encode(b"\x01" + self.public).decode()
        return f"{self.name}+{self.hash.hex()}+{encoded}"

    def has_signed(self, note: "Note", good: Callable[[bytes, bytes, bytes], bool] = ed25519_verify) -> bool:
        """Whether the first two signatures of a note are this key's, over the checkpoint and over it with the time."""
        (name, hashed, signature), (timed_name, timed_hash, timed) = note.signatures[:2]
        said, timed_said = note.checkpoint.text.encode(), note.checkpoint.timed_text.encode()
        return (
            (name, hashed) == (self.name, self.hash)
            and (timed_name, timed_hash) == (self.name, key_hash(self.name, self.public, b"\x04"))
            and good(self.public, said, signature)
            and good(self.public, timed_said, timed[8:])
        )


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What a note says: the log's origin, how many leaves it has, their root (32 bytes), and when the house says that
    it signed that (POSIX seconds)."""

    origin: str
    size: int
    root: bytes
    seconds: int

    @property
    def text(self) -> str:
        """What is signed, with the line end at its end."""
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"

    @property
    def timed_text(self) -> str:
        """What is signed with the time."""
        return f"cosignature/v1\ntime {self.seconds}\n{self.text}"

    @property
    def at(self) -> str:
        """When it was signed (RFC 3339, UTC)."""
        return datetime.fromtimestamp(self.seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True, slots=True)
class Note:
    """A checkpoint and its signatures: (key name, key hash of 4 bytes, signature). The first two are the house's: over
    the checkpoint, and 8 bytes of time before the one over both."""

    checkpoint: Checkpoint
    signatures: tuple[tuple[str, bytes, bytes], ...]


def key_hash(name: str, public: bytes, kind: bytes = b"\x01") -> bytes:
    """First 4 bytes of SHA-256(name || LF || kind || public key), as signed notes name a key: kind 0x01 for Ed25519,
    0x04 for Ed25519 with the time."""
    return hashlib.sha256(name.encode() + b"\n" + kind + public).digest()[:4]


def key_of(name: str, public: bytes) -> Key:
    """The key of this name. Raises Unusable for a name with a space or a plus sign, or bytes that are no key."""
    if not name or any(one.isspace() or one == "+" for one in name) or len(public) != 32:
        raise Unusable(f"no key of the name {name!r} with {len(public)} bytes: 32 bytes, and no space or plus sign")
    if not is_key(public):
        raise Unusable(f"{public.hex()} is no key of Ed25519: it names no point, or one of small order")
    return Key(name, key_hash(name, public), public)


def parse_key(vkey: str) -> Key:
    """A key from its text. Raises Unusable."""
    name, _, rest = vkey.partition("+")
    digits, _, encoded = rest.partition("+")
    raw = base64_bytes(encoded)
    if raw is None or len(raw) != 33 or raw[0] != 1:
        raise Unusable("a key is <name>+<8 hex digits>+<base64 of 01 and 32 bytes>")
    key = key_of(name, raw[1:])
    if key.text != vkey:
        raise Unusable(f"the key's own hash is {key.hash.hex()}, not {digits}")
    return key


def parse_keys(text: str) -> list[Key]:
    """Keys, a line each and nothing else; none where a log was never begun. Raises Unusable."""
    keys = [parse_key(line) for line in text.split("\n") if line]
    if "".join(f"{key.text}\n" for key in keys).removesuffix("\n") != text.removesuffix("\n"):
        raise Unusable("keys stand on a line each, with nothing around them")
    return keys


def parse_note(text: str) -> Note:
    """A note from its text, read strictly: it is the only way to write what it says. Raises Unusable."""
    body, gap, tail = text.rpartition("\n\n")
    lines = body.split("\n")
    if not gap or len(lines) != 3 or not tail.endswith("\n"):
        raise Unusable("a note is origin, size, root, an empty line and signatures, a line each")
    origin, size, root = lines[0], lines[1], base64_bytes(lines[2])
    if not origin or not is_number(size) or root is None or len(root) != 32:
        raise Unusable(f"no checkpoint: origin {origin!r}, size {size!r}, root {lines[2]!r}")
    signatures = signatures_of(tail)
    if len(signatures) < 2 or signatures[0][0] != signatures[1][0] or len(signatures[1][2]) != 72:
        raise Unusable("the second signature of a note is its first signer's, with the time")
    seconds = int.from_bytes(signatures[1][2][:8], "big")
    if seconds >= _AFTER_ALL_TIME:
        raise Unusable(f"no time of a signature: second {seconds}")
    return Note(Checkpoint(origin, int(size), root, seconds), signatures)


def signatures_of(tail: str) -> tuple[tuple[str, bytes, bytes], ...]:
    """The signature lines of a note: key name, key hash of 4 bytes, signature. Raises Unusable."""
    if not tail.endswith("\n"):
        raise Unusable("a signature line has its end")
    signatures: list[tuple[str, bytes, bytes]] = []
    for line in tail[:-1].split("\n"):
        dash, _, rest = line.partition(" ")
        name, _, encoded = rest.partition(" ")
        raw = base64_bytes(encoded)
        if dash != "—" or not name or raw is None or len(raw) < 5:
            raise Unusable(f"no signature line: {line!r}")
        if any((name, raw[:4]) == known[:2] for known in signatures):
            raise Unusable(f"two signatures of one key: {line!r}")
        signatures.append((name, raw[:4], raw[4:]))
    return tuple(signatures)


def verify_note(text: str, vkey: str) -> Checkpoint:
    """The checkpoint of a note that this key has signed. Raises Unusable for a note without its good signatures."""
    note, key = parse_note(text), parse_key(vkey)
    if key.has_signed(note):
        return note.checkpoint
    raise Unusable(f"no good signatures of {key.name}+{key.hash.hex()}")


def split_notes(text: str) -> list[str]:
    """The notes of a file: one after another, each followed by one empty line; the last may be cut."""
    blocks = text.split("\n\n")
    notes = [f"{body}\n\n{tail}\n" for body, tail in zip(blocks[0::2], blocks[1::2], strict=False)]
    if len(blocks) % 2 == 0:  # no empty line after the last: its own text says whether it is whole
        notes[-1] = f"{blocks[-2]}\n\n{blocks[-1]}"
    elif blocks[-1]:
        notes.append(blocks[-1])
    return notes


def join_notes(notes: Iterable[str]) -> str:
    """The text of a file of notes, the reverse of `split_notes`."""
    return "".join(f"{note}\n" for note in notes)


def base64_bytes(text: str) -> bytes | None:
    """Bytes of padded standard base64 in its one canonical form, None for anything else."""
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return raw if base64.b64encode(raw).decode() == text else None


def is_number(text: str) -> bool:
    """Whether this is an integer from 0 in its one canonical form."""
    return text.isascii() and text.isdigit() and (text == "0" or text[0] != "0") and len(text) < 20


def log_name(code: str, house: str) -> str:
    """What identifies a house's log: its code, as far as notes can carry it, and 8 digits of its id (UUID text)."""
    plain = "".join(one if one.isascii() and (one.isalnum() or one in "-_.") else "_" for one in code)
    return f"cukassza/{plain}-{house[:8]}"


@dataclass(frozen=True, slots=True)
class House:
    """Whose log it is: id (UUID text), code, and the currency in which hands are played."""

    id: str
    code: str
    currency: str

    @property
    def origin(self) -> str:
        """The origin of the house's checkpoints without the epoch, which is the signing key's name too."""
        return log_name(self.code, self.id)


@dataclass(frozen=True, slots=True)
class Notes:
    """Checkpoints from one place. `held`: somebody else kept them, so the house cannot have changed them afterwards.
    `complete`: every checkpoint up to the last must be there (the house's own file outside the database)."""

    name: str
    texts: Sequence[str]
    held: bool = False
    complete: bool = False


def read_notes(path: Path, name: str, *, held: bool = False, complete: bool = False) -> Notes:
    """The notes of a file. Raises Unusable for one that cannot be read."""
    return Notes(name, split_notes(notes_text(path)), held, complete)


def notes_text(path: Path, *, follow: bool = True) -> str:
    """The text of a file of notes. Raises Unusable."""
    try:
        return "\n".join(line.decode() for lines in lines_of(path, follow=follow) for line in lines)
    except ValueError as error:
        raise unreadable(path, error) from error


def read_keys(given: str) -> list[Key]:
    """Keys from the text of one, or from a file that holds them, a line each. Raises Unusable."""
    if "+" in given and not os.path.exists(given):  # noqa: PTH110 - False for what can be no path, where Path raises
        return [parse_key(given.strip())]
    return parse_keys(whole(Path(given), follow=True))
