"""Verify an export of the audit trail: one file that needs Python's standard library and nothing else of the house.

Formats: RFC 6962 (Merkle tree), C2SP signed-note and tlog-checkpoint (checkpoints), RFC 8032 (Ed25519). Everything of
the house that hashes, signs or proves takes these functions from here.
"""

import base64
import binascii
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

GENESIS = "0" * 64
"""What the first event of a chain names as the one before it."""
EMPTY_ROOT = hashlib.sha256(b"").digest()
"""The root of a tree without leaves (RFC 6962, 2.1)."""


class Unusable(Exception):
    """Input that cannot be read as what it should be: a note, a key, a folder without an export in it."""


# --- The Merkle tree of RFC 6962 -------------------------------------------------------------------------------------


def leaf_hash(payload: bytes) -> bytes:
    """SHA-256(0x00 || payload), 32 bytes: the leaf of an event, and as hex digits the link that the next one holds."""
    return hashlib.sha256(b"\x00" + payload).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """SHA-256(0x01 || left || right), 32 bytes."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def root_of(hashes: Sequence[bytes]) -> bytes:
    """Root of a tree of these leaf hashes (or of perfect subtrees of one size), 32 bytes."""
    frontier = Frontier()
    frontier.extend(hashes)
    return frontier.root()


def _perfect(hashes: list[bytes]) -> bytes:
    """Root of 2**k hashes."""
    sha256 = hashlib.sha256
    while len(hashes) > 1:
        pairs = iter(hashes)
        hashes = [sha256(b"\x01" + left + right).digest() for left, right in zip(pairs, pairs, strict=True)]
    return hashes[0]


class Frontier:
    """A growing tree in logarithmic memory: the roots of its perfect subtrees, the largest (leftmost) first."""

    def __init__(self, size: int = 0, roots: Sequence[bytes] = ()) -> None:
        """A tree of `size` leaves whose perfect subtrees (one for each bit of `size`) have these roots."""
        if size < 0 or len(roots) != size.bit_count():
            raise ValueError(f"a tree of {size} leaves has {size.bit_count()} perfect subtrees, not {len(roots)}")
        self.size = size
        self.roots = list(roots)

    def add(self, leaf: bytes) -> None:
        """Append one leaf hash of 32 bytes."""
        self._push(leaf, 0)

    def extend(self, leaves: Sequence[bytes]) -> None:
        """Append many leaf hashes; quicker than one after another."""
        start, count = 0, len(leaves)
        while start < count:
            level = (count - start).bit_length() - 1
            if self.size:
                level = min(level, (self.size & -self.size).bit_length() - 1)
            self._push(_perfect(list(leaves[start : start + (1 << level)])), level)
            start += 1 << level

    def root(self) -> bytes:
        """Root of all leaves so far, 32 bytes."""
        if not self.roots:
            return EMPTY_ROOT
        found = self.roots[-1]
        for left in reversed(self.roots[:-1]):
            found = node_hash(left, found)
        return found

    def _push(self, root: bytes, level: int) -> None:
        """Append a perfect subtree of 2**level leaves; the size is a multiple of 2**level."""
        size = self.size >> level
        while size & 1:
            root = node_hash(self.roots.pop(), root)
            size >>= 1
        self.roots.append(root)
        self.size += 1 << level


def verify_inclusion(leaf: bytes, index: int, size: int, path: Sequence[bytes], root: bytes) -> bool:
    """Whether `path` (from the leaf upwards) proves that `leaf` is the hash of leaf `index` (from 0) of the tree of
    `size` leaves with this root (RFC 9162, 2.1.3.2)."""
    if not 0 <= index < size:
        return False
    number, last, found = index, size - 1, leaf
    for sibling in path:
        if last == 0:
            return False
        if number & 1 or number == last:
            found = node_hash(sibling, found)
            while not number & 1 and number:
                number, last = number >> 1, last >> 1
        else:
            found = node_hash(found, sibling)
        number, last = number >> 1, last >> 1
    return last == 0 and found == root


def verify_consistency(old: int, new: int, path: Sequence[bytes], old_root: bytes, new_root: bytes) -> bool:
    """Whether `path` proves that the tree of `new` leaves begins with the tree of `old` leaves (RFC 9162, 2.1.4.2)."""
    if not 0 <= old <= new:
        return False
    if old in (0, new):
        return not path and (old_root == (EMPTY_ROOT if old == 0 else new_root))
    rest = [old_root, *path] if old & (old - 1) == 0 else list(path)
    if not rest:
        return False
    number, last = old - 1, new - 1
    while number & 1:
        number, last = number >> 1, last >> 1
    before = after = rest[0]
    for sibling in rest[1:]:
        if last == 0:
            return False
        if number & 1 or number == last:
            before, after = node_hash(sibling, before), node_hash(sibling, after)
            while not number & 1 and number:
                number, last = number >> 1, last >> 1
        else:
            after = node_hash(after, sibling)
        number, last = number >> 1, last >> 1
    return last == 0 and before == old_root and after == new_root


# --- Ed25519 of RFC 8032 ---------------------------------------------------------------------------------------------

_P = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _P) % _P
_ROOT_OF_MINUS_ONE = pow(2, (_P - 1) // 4, _P)
_WINDOW = 5
_Point = tuple[int, int, int, int]  # extended homogeneous coordinates X, Y, Z, T: x = X/Z, y = Y/Z, xy = T/Z
_NEUTRAL: _Point = (0, 1, 1, 0)


def _plus(p: _Point, q: _Point) -> _Point:
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % _P, (p[1] + p[0]) * (q[1] + q[0]) % _P
    c, d = 2 * p[3] * q[3] * _D % _P, 2 * p[2] * q[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _decompressed(encoded: bytes) -> _Point | None:
    """The point that 32 bytes stand for (RFC 8032, 5.1.3), None for bytes that stand for none."""
    y = int.from_bytes(encoded, "little")
    sign, y = y >> 255, y & (1 << 255) - 1
    if y >= _P:
        return None
    x_squared = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    x = pow(x_squared, (_P + 3) // 8, _P)
    if (x * x - x_squared) % _P:
        x = x * _ROOT_OF_MINUS_ONE % _P
    if (x * x - x_squared) % _P or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = _P - x
    return x, y, 1, x * y % _P


@lru_cache(maxsize=16)
def _multiples(encoded: bytes) -> list[list[_Point]] | None:
    """Row i holds 0 to 31 times 32**i times the point, so that a product is a sum of one of each row."""
    point = _decompressed(encoded)
    if point is None:
        return None
    rows = []
    for _ in range(-(-256 // _WINDOW)):
        row = [_NEUTRAL]
        for _ in range((1 << _WINDOW) - 1):
            row.append(_plus(row[-1], point))
        rows.append(row)
        point = _plus(row[-1], point)
    return rows


def _times(number: int, rows: list[list[_Point]], start: _Point) -> _Point:
    """`start` plus `number` times the point of the rows."""
    mask = (1 << _WINDOW) - 1
    for row in rows:
        if digit := number & mask:
            start = _plus(start, row[digit])
        number >>= _WINDOW
    return start


_BASE = (4 * pow(5, -1, _P) % _P).to_bytes(32, "little")


def ed25519_verify(public: bytes, message: bytes, signature: bytes) -> bool:
    """Whether a signature of 64 bytes over `message` is of this public key of 32 bytes.

    Pure Python, about a millisecond a signature after the first of a key. Only public values are handled: it need not
    run in constant time.
    """
    if len(public) != 32 or len(signature) != 64:
        return False
    scalar = int.from_bytes(signature[32:], "little")
    key, base = _multiples(bytes(public)), _multiples(_BASE)
    if key is None or base is None or scalar >= _ORDER:
        return False
    challenge = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % _ORDER
    x, y, z, _ = _times(-challenge % _ORDER, key, _times(scalar, base, _NEUTRAL))
    inverse = pow(z, -1, _P)
    encoded = (y * inverse % _P) | ((x * inverse % _P) & 1) << 255
    return encoded.to_bytes(32, "little") == signature[:32]


# --- Checkpoints: C2SP signed notes ----------------------------------------------------------------------------------


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
class Note:
    """A checkpoint and its signatures: (key name, key hash of 4 bytes, signature)."""

    checkpoint: Checkpoint
    signatures: tuple[tuple[str, bytes, bytes], ...]


def key_hash(name: str, public: bytes) -> bytes:
    """First 4 bytes of SHA-256(name || LF || 0x01 || public key), as signed notes name an Ed25519 key."""
    return hashlib.sha256(name.encode() + b"\n\x01" + public).digest()[:4]


def key_of(name: str, public: bytes) -> Key:
    """The key of this name. Raises Unusable for a name with a space or a plus sign, or a key that is not 32 bytes."""
    if not name or any(one.isspace() or one == "+" for one in name) or len(public) != 32:
        raise Unusable(f"no key of the name {name!r} with {len(public)} bytes: 32 bytes, and no space or plus sign")
    return Key(name, key_hash(name, public), public)


def parse_key(vkey: str) -> Key:
    """A key from its text, white space around it ignored. Raises Unusable."""
    name, _, rest = vkey.strip().partition("+")
    digits, _, encoded = rest.partition("+")
    raw = _base64(encoded)
    if raw is None or len(raw) != 33 or raw[0] != 1:
        raise Unusable("a key is <name>+<8 hex digits>+<base64 of 01 and 32 bytes>")
    key = key_of(name, raw[1:])
    if key.text != vkey.strip():
        raise Unusable(f"the key's own hash is {key.hash.hex()}, not {digits}")
    return key


def note_text(checkpoint: Checkpoint, key: Key, signature: bytes) -> str:
    """The whole note: the signed text, an empty line, one signature line."""
    signed = base64.b64encode(key.hash + signature).decode()
    return f"{checkpoint.text}\n— {key.name} {signed}\n"


def parse_note(text: str) -> Note:
    """A note from its text, read strictly: it is the only way to write what it says. Raises Unusable."""
    body, gap, tail = text.rpartition("\n\n")
    lines = body.split("\n")
    if not gap or len(lines) != 4 or not lines[3].startswith("at ") or not tail.endswith("\n"):
        raise Unusable("a note is origin, size, root, moment, an empty line and signatures, a line each")
    origin, size, root, moment = lines[0], lines[1], _base64(lines[2]), lines[3][3:]
    if not origin or not _is_number(size) or root is None or len(root) != 32:
        raise Unusable(f"no checkpoint: origin {origin!r}, size {size!r}, root {lines[2]!r}")
    signatures = []
    for line in tail[:-1].split("\n"):
        dash, _, rest = line.partition(" ")
        name, _, encoded = rest.partition(" ")
        raw = _base64(encoded)
        if dash != "—" or not name or raw is None or len(raw) < 5:
            raise Unusable(f"no signature line: {line!r}")
        signatures.append((name, raw[:4], raw[4:]))
    return Note(Checkpoint(origin, int(size), root, moment), tuple(signatures))


def verify_note(text: str, vkey: str) -> Checkpoint:
    """The checkpoint of a note that this key has signed. Raises Unusable for a note without its good signature."""
    note, key = parse_note(text), parse_key(vkey)
    for name, hashed, signature in note.signatures:
        if (name, hashed) == (key.name, key.hash) and ed25519_verify(
            key.public, note.checkpoint.text.encode(), signature
        ):
            return note.checkpoint
    raise Unusable(f"no good signature of {key.name}+{key.hash.hex()}")


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


def _base64(text: str) -> bytes | None:
    """Bytes of padded standard base64 in its one canonical form, None for anything else."""
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return raw if base64.b64encode(raw).decode() == text else None


def _is_number(text: str) -> bool:
    """Whether this is an integer from 0 in its one canonical form."""
    return text.isascii() and text.isdigit() and (text == "0" or text[0] != "0") and len(text) < 20
