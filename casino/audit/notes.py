"""Checkpoints as the house writes them and reads them back: C2SP signed notes under an Ed25519 key.

The verifier's own code for them is in `verifier/notes.py`; see `merkle.py` for why there are two.
"""

import base64
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

_ED25519 = b"\x01"
#: First line of what both keys sign at a rotation.
ROTATION = "cukassza log key rotation v1"
_BASE64 = "[A-Za-z0-9+/]+={0,2}"
_NAME = r"[^\s+]+"
_NOTE = re.compile(rf"([^\n]+)\n(0|[1-9][0-9]{{0,18}})\n({_BASE64})\nat ([^\n]+)\n\n((?:— {_NAME} {_BASE64}\n)+)")

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
        return hashlib.sha256(self.name.encode() + b"\n" + _ED25519 + self.public).digest()[:4]

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
    """What a note says: the log's origin, how many leaves it has, their root (32 bytes), the moment (RFC 3339, UTC)."""

    origin: str
    size: int
    root: bytes
    at: str

    @property
    def text(self) -> str:
        """What is signed, with the line end at its end."""
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\nat {self.at}\n"


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
        lines = (_line(self.old, old_signature), _line(self.new, new_signature))
        return f"{self.text}\n{''.join(lines)}"


def _line(key: Key, signature: bytes) -> str:
    return f"— {key.name} {base64.b64encode(key.hash + signature).decode()}\n"


def note_text(checkpoint: Checkpoint, key: Key, signature: bytes) -> str:
    """The whole note: the signed text, an empty line, one signature line."""
    return f"{checkpoint.text}\n{_line(key, signature)}"


def verified(note: str, vkey: str) -> Checkpoint:
    """The checkpoint of a note that this key has signed. Raises NoteUnreadable."""
    key, match = Key.parse(vkey), _NOTE.fullmatch(note)
    root = bytes_of(match[3]) if match else b""
    if match is None or len(root) != 32:
        raise NoteUnreadable("a note is origin, size, root, moment, an empty line and signatures, a line each")
    checkpoint = Checkpoint(match[1], int(match[2]), root, match[4])
    for line in match[5].splitlines():
        _, name, encoded = line.split(" ")
        raw = bytes_of(encoded)
        if (name, raw[:4]) == (key.name, key.hash) and key.has_signed(checkpoint.text, raw[4:]):
            return checkpoint
    raise NoteUnreadable(f"no good signature of {key.name}+{key.hash.hex()}")


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
