"""What a witness checks: notes of C2SP, Ed25519, and consistency proofs of RFC 6962."""

import base64
import binascii
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

ED25519 = b"\x01"
COSIGNATURE = b"\x04"
#: First line of what both keys of a log sign when one takes the other's place.
ROTATION = "cukassza log key rotation v1"
_NAME = re.compile(r"[^\s+]+")
_SIZE = re.compile(r"0|[1-9][0-9]{0,17}", re.ASCII)


class Malformed(Exception):
    """Text that is not what it should be; says what was expected."""


@dataclass(frozen=True, slots=True)
class LogKey:
    """The key that signs a log's checkpoints: the name it signs under, and 32 bytes of Ed25519."""

    name: str
    public: bytes

    @classmethod
    def parse(cls, vkey: str) -> "LogKey":
        """From `<name>+<8 hex digits>+<base64>`. Raises Malformed."""
        name, _, rest = vkey.strip().partition("+")
        digits, _, encoded = rest.partition("+")
        raw = bytes_of(encoded)
        if not _NAME.fullmatch(name) or len(raw) != 33 or raw[:1] != ED25519:
            raise Malformed("a log's key is <name>+<8 hex digits>+<base64 of 01 and 32 bytes>")
        if key_id(name, ED25519, raw[1:]).hex() != digits:
            raise Malformed(f"the key's own hash is {key_id(name, ED25519, raw[1:]).hex()}, not {digits}")
        return cls(name, raw[1:])

    def covers(self, origin: str) -> bool:
        """Whether a checkpoint of this origin is of the key's log: its name, with the number of an epoch or without."""
        rest = origin.removeprefix(self.name)
        return origin.startswith(self.name) and (rest == "" or re.fullmatch(r"/[1-9][0-9]{0,8}", rest) is not None)

    @property
    def vkey(self) -> str:
        """`<name>+<8 hex digits>+<base64>`."""
        encoded = base64.b64encode(ED25519 + self.public).decode()
        return f"{self.name}+{key_id(self.name, ED25519, self.public).hex()}+{encoded}"

    def is_among(self, signatures: Sequence[tuple[str, bytes, bytes]], body: str) -> bool:
        """Whether one of these signature lines is the key's good signature over a body."""
        own = (self.name, key_id(self.name, ED25519, self.public))
        return any(line[:2] == own and self.has_signed(body, line[2]) for line in signatures)

    def has_signed(self, body: str, signature: bytes) -> bool:
        """Whether this is the key's signature over the body of a note."""
        try:
            Ed25519PublicKey.from_public_bytes(self.public).verify(signature, body.encode())
        except (InvalidSignature, ValueError):
            return False
        return True


@dataclass(frozen=True, slots=True)
class Note:
    """A checkpoint as it was sent: its body, what the body says, and the signature lines (name, key id, signature)."""

    body: str
    origin: str
    size: int
    root: bytes
    signatures: tuple[tuple[str, bytes, bytes], ...]

    @classmethod
    def parse(cls, text: str) -> "Note":
        """Read a note strictly. Raises Malformed."""
        body, gap, tail = text.rpartition("\n\n")
        lines = body.split("\n")
        if not gap or len(lines) < 3 or not tail.endswith("\n") or any(not line for line in lines):
            raise Malformed("a checkpoint is origin, size, root, an empty line and signatures, a line each")
        root = bytes_of(lines[2])
        if len(root) != 32:
            raise Malformed("a root is 32 bytes in base64")
        return cls(f"{body}\n", lines[0], size_of(lines[1]), root, tuple(map(_signature, tail[:-1].split("\n"))))


@dataclass(frozen=True, slots=True)
class Rotation:
    """What a log's old and new key have signed: the new one signs every checkpoint larger than `size`."""

    body: str
    origin: str
    size: int
    root: bytes
    old: LogKey
    new: LogKey
    signatures: tuple[tuple[str, bytes, bytes], ...]

    @classmethod
    def parse(cls, text: str) -> "Rotation":
        """Read a rotation strictly. Raises Malformed, also where one of its keys has not signed it."""
        body, gap, tail = text.rpartition("\n\n")
        lines = body.split("\n")
        if not gap or len(lines) != 6 or lines[0] != ROTATION or not tail.endswith("\n"):
            raise Malformed("a rotation is its title, origin, size, root, two keys, an empty line and signatures")
        root = bytes_of(lines[3])
        if len(root) != 32:
            raise Malformed("a root is 32 bytes in base64")
        keys = LogKey.parse(lines[4]), LogKey.parse(lines[5])
        signatures = tuple(map(_signature, tail[:-1].split("\n")))
        found = cls(f"{body}\n", lines[1], size_of(lines[2]), root, *keys, signatures)
        for key in keys:
            if not key.covers(found.origin) or not key.is_among(found.signatures, found.body):
                raise Malformed(f"{key.vkey} is no key of {found.origin}, or has not signed this")
        return found


def place_of(origin: str, size: int) -> tuple[int, int]:
    """Epoch and size of a checkpoint; epoch 0 of a log that has none."""
    number = origin.rpartition("/")[2]
    return (int(number) if re.fullmatch(r"[1-9][0-9]{0,8}", number, re.ASCII) else 0), size


def _signature(line: str) -> tuple[str, bytes, bytes]:
    dash, name, encoded = [*line.split(" "), "", ""][:3]
    raw = bytes_of(encoded)
    if dash != "\u2014" or line.count(" ") != 2 or not _NAME.fullmatch(name) or len(raw) < 5:
        raise Malformed("a signature line is a dash, a name and base64 of the key's id and the signature")
    return name, raw[:4], raw[4:]


def key_id(name: str, kind: bytes, public: bytes) -> bytes:
    """The 4 bytes by which notes name a key."""
    return hashlib.sha256(name.encode() + b"\n" + kind + public).digest()[:4]


def size_of(text: str) -> int:
    """A number of leaves in its one decimal form. Raises Malformed."""
    if not _SIZE.fullmatch(text):
        raise Malformed("a size is a whole number in decimal digits")
    return int(text)


def bytes_of(encoded: str) -> bytes:
    """Bytes of padded base64 in its one form. Raises Malformed."""
    try:
        raw = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError) as error:
        raise Malformed("expected base64") from error
    if base64.b64encode(raw).decode() != encoded:
        raise Malformed("expected base64 in its canonical form")
    return raw


def is_consistent(old: int, old_root: bytes, new: int, new_root: bytes, path: Sequence[bytes]) -> bool:
    """Whether the path proves that the tree of `new` leaves begins with the tree of `old` leaves, `old` from 1 on
    (RFC 6962, 2.1.2)."""
    if old == new:
        return not path and old_root == new_root
    left = list(path)
    try:
        roots = _roots(old, new, left, old_root, whole=True)
    except IndexError:
        return False
    return not left and roots == (old_root, new_root)


def _roots(old: int, new: int, path: list[bytes], old_root: bytes, *, whole: bool) -> tuple[bytes, bytes]:
    """Roots of the first `old` leaves and of all `new` ones, computed from the end of a proof as RFC 6962 makes it,
    which is used up; `whole` says that the old tree is the one whose root is known. Raises IndexError for a proof that
    is too short."""
    if old == new:
        root = old_root if whole else path.pop()
        return root, root
    split = 1 << (new - 1).bit_length() - 1
    beside = path.pop()
    if old <= split:
        before, after = _roots(old, split, path, old_root, whole=whole)
        return before, _node(after, beside)
    before, after = _roots(old - split, new - split, path, old_root, whole=False)
    return _node(beside, before), _node(beside, after)


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()
