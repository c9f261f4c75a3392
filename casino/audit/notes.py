"""Checkpoints as the house writes them and reads them back: C2SP checkpoints, signed under an Ed25519 key.

A checkpoint has three lines: the log's origin, its size, its root. The house signs them twice: as a signed note's
Ed25519 signature, and as cosignature/v1 (C2SP tlog-cosignature), whose line has the time at which that was done.

The verifier's own code for them is in `verifier/notes.py`; see `merkle.py` for why there are two.
"""

import base64
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

_ED25519, _COSIGNATURE = b"\x01", b"\x04"
#: First line of what both keys sign at a rotation.
ROTATION = "cukassza log key rotation v1"
_BASE64 = "[A-Za-z0-9+/]+={0,2}"
_NAME = r"[^\s+]+"
_NOTE = re.compile(rf"([^\n]+)\n(0|[1-9][0-9]{{0,18}})\n({_BASE64})\n\n((?:— {_NAME} {_BASE64}\n){{2,}})")
_VKEY = re.compile(rf"({_NAME})\+([0-9a-f]{{8}})\+({_BASE64})")


class NoteUnreadable(Exception):
    """Text that is no note, no key, or a note without the key's good signature."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key that verifies notes: the name it signs under, and 32 bytes of Ed25519."""

    name: str
    public: bytes

    @property
    def hash(self) -> bytes:
        """What names the key in a note: the first 4 bytes of SHA-256(name || LF || 0x01 || public key)."""
        return self._hash(_ED25519)

    @property
    def time_hash(self) -> bytes:
        """What names the key in the line that has the time: the same with 0x04."""
        return self._hash(_COSIGNATURE)

    def _hash(self, kind: bytes) -> bytes:
        return hashlib.sha256(self.name.encode() + b"\n" + kind + self.public).digest()[:4]

    @property
    def text(self) -> str:
        """`<name>+<8 hex digits>+<base64>`, the vkey of C2SP's signed-note."""
        return f"{self.name}+{self.hash.hex()}+{base64.b64encode(_ED25519 + self.public).decode()}"

    @classmethod
    def parse(cls, vkey: str) -> "Key":
        """The key of this text. Raises NoteUnreadable."""
        match = _VKEY.fullmatch(vkey)
        raw = bytes_of(match[3]) if match else b""
        if match is None or len(raw) != 33 or raw[:1] != _ED25519:
            raise NoteUnreadable("a key is <name>+<8 hex digits>+<base64 of 01 and 32 bytes>")
        key = cls(match[1], raw[1:])
        if key.text != vkey:
            raise NoteUnreadable(f"the key's own hash is {key.hash.hex()}, not {match[2]}")
        return key

    def has_signed(self, text: str, signature: bytes) -> bool:
        """Whether this is the key's signature over a text."""
        try:
            Ed25519PublicKey.from_public_bytes(self.public).verify(signature, text.encode())
        except (InvalidSignature, ValueError):
            return False
        return True


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What a note says: the log's origin, how many leaves it has, their root (32 bytes), and when it was signed (POSIX
    seconds)."""

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
        """What is signed with the time (C2SP tlog-cosignature v1)."""
        return f"cosignature/v1\ntime {self.seconds}\n{self.text}"


@dataclass(frozen=True, slots=True)
class Rotation:
    """What the old and the new key of a log sign when one takes the other's place: the log's origin, size and root
    (32 bytes) of the last checkpoint under the old key, and both keys.

    Its first line is no origin of a log and its second no number, so that it is no checkpoint.
    """

    origin: str
    size: int
    root: bytes
    old: Key
    new: Key

    @property
    def text(self) -> str:
        """What is signed, with the line end at its end."""
        root = base64.b64encode(self.root).decode()
        return f"{ROTATION}\n{self.origin}\n{self.size}\n{root}\n{self.old.text}\n{self.new.text}\n"

    def note(self, old_signature: bytes, new_signature: bytes) -> str:
        """The signed note."""
        lines = (
            _line(self.old.name, self.old.hash + old_signature),
            _line(self.new.name, self.new.hash + new_signature),
        )
        return f"{self.text}\n{''.join(lines)}"


def _line(name: str, signature: bytes) -> str:
    return f"— {name} {base64.b64encode(signature).decode()}\n"


def note_text(checkpoint: Checkpoint, key: Key, signature: bytes, timed_signature: bytes) -> str:
    """The whole note: the signed text, an empty line, the line of the key, the line of the key with the time.

    The signatures are over `checkpoint.text` and `checkpoint.timed_text`.
    """
    time = checkpoint.seconds.to_bytes(8, "big")
    lines = (key.hash + signature, key.time_hash + time + timed_signature)
    return "\n".join((checkpoint.text, "".join(_line(key.name, line) for line in lines)))


def verified(note: str, vkey: str) -> Checkpoint:
    """The checkpoint of a note that this key has signed. Raises NoteUnreadable."""
    key, match = Key.parse(vkey), _NOTE.fullmatch(note)
    root = bytes_of(match[3]) if match else b""
    if match is None or len(root) != 32:
        raise NoteUnreadable("a note is origin, size, root, an empty line and two or more signatures, a line each")
    (name, raw), (timed_name, timed) = (_signature(line) for line in match[4].splitlines()[:2])
    checkpoint = Checkpoint(match[1], int(match[2]), root, int.from_bytes(timed[4:12], "big"))
    if (name, raw[:4]) != (key.name, key.hash) or not key.has_signed(checkpoint.text, raw[4:]):
        raise NoteUnreadable(f"no good signature of {key.name}+{key.hash.hex()}")
    named = (timed_name, timed[:4]) == (key.name, key.time_hash)
    if not named or not key.has_signed(checkpoint.timed_text, timed[12:]):
        raise NoteUnreadable(f"no good signature of {key.name}+{key.time_hash.hex()} with the time")
    return checkpoint


def _signature(line: str) -> tuple[str, bytes]:
    _, name, encoded = line.split(" ")
    return name, bytes_of(encoded)


def joined(notes: Iterable[str]) -> str:
    """The text of a file of notes: one after another, each followed by an empty line."""
    return "".join(f"{note}\n" for note in notes)


def bytes_of(encoded: str) -> bytes:
    """Bytes of padded standard base64 in its one canonical form. Raises NoteUnreadable."""
    try:
        raw = base64.b64decode(encoded, validate=True)
    except ValueError as error:
        raise NoteUnreadable(f"no base64: {encoded!r}") from error
    if base64.b64encode(raw).decode() != encoded:
        raise NoteUnreadable(f"no canonical base64: {encoded!r}")
    return raw
