"""Verify an export of the audit trail: one file that needs Python's standard library and nothing else of the house.

Formats: RFC 6962 (Merkle tree), C2SP signed-note and tlog-checkpoint (checkpoints), RFC 8032 (Ed25519). Everything of
the house that hashes, signs or proves takes these functions from here.
"""

import argparse
import base64
import binascii
import gc
import hashlib
import json
import re
import secrets
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile, zip_longest
from pathlib import Path
from typing import Any

GENESIS = "0" * 64
"""What the first event of a chain names as the one before it."""
TILE_BITS = 8
"""A tile is the root of 2**TILE_BITS hashes of the level below."""
EMPTY_ROOT = hashlib.sha256(b"").digest()
"""The root of a tree without leaves (RFC 6962, 2.1)."""


class Unusable(Exception):
    """Input that cannot be read as what it should be: a note, a key, a folder without an export in it."""


# --- The Merkle tree of RFC 6962 -------------------------------------------------------------------------------------


def leaf_hash(payload: bytes) -> bytes:
    """SHA-256(0x00 || payload), 32 bytes: the leaf of an event, and as hex digits the link that the next one holds."""
    return hashlib.sha256(b"\x00" + payload).digest()


def leaf_hashes(payloads: Iterable[bytes]) -> list[bytes]:
    """`leaf_hash` of many."""
    sha256 = hashlib.sha256
    return [sha256(b"\x00" + payload).digest() for payload in payloads]


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

    def __init__(
        self,
        size: int = 0,
        roots: Sequence[bytes] = (),
        formed: Callable[[int, int, bytes], object] | None = None,
    ) -> None:
        """A tree of `size` leaves whose perfect subtrees (one for each bit of `size`) have these roots.

        `formed` is called for every subtree of 256**n leaves that becomes complete: n, its number from 0, its root.
        """
        if size < 0 or len(roots) != size.bit_count():
            raise ValueError(f"a tree of {size} leaves has {size.bit_count()} perfect subtrees, not {len(roots)}")
        self.size = size
        self.roots = list(roots)
        self._formed = formed

    def add(self, leaf: bytes) -> None:
        """Append one leaf hash of 32 bytes."""
        self._push(leaf, 0)

    def extend(self, leaves: Sequence[bytes]) -> None:
        """Append many leaf hashes; quicker than one after another."""
        start, count = 0, len(leaves)
        while start < count:
            level = min((count - start).bit_length() - 1, TILE_BITS)
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
        added = 1 << level
        size = self.size >> level
        while True:
            if self._formed is not None and level and level % TILE_BITS == 0:
                self._formed(level // TILE_BITS, size, root)
            if not size & 1:
                break
            root = node_hash(self.roots.pop(), root)
            size, level = size >> 1, level + 1
        self.roots.append(root)
        self.size += added


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
_DIGIT = 256
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


#: A point as sums use it again and again: y - x, y + x, 2dxy of its affine coordinates.
_Ready = tuple[int, int, int]


def _plus_ready(p: _Point, q: _Ready) -> _Point:
    a, b, c = (p[1] - p[0]) * q[0] % _P, (p[1] + p[0]) * q[1] % _P, p[3] * q[2] % _P
    d = p[2] + p[2]
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


@lru_cache(maxsize=16)
def _multiples(encoded: bytes) -> list[list[_Ready]] | None:
    """Row i holds 1 to 128 times 256**i times the point: a product is a sum of one of each row, or of its negative."""
    point = _decompressed(encoded)
    if point is None:
        return None
    points = []
    for _ in range(32):
        multiple = point
        for _ in range(_DIGIT // 2):
            points.append(multiple)
            multiple = _plus(multiple, point)
        point = _plus(points[-1], points[-1])
    ready = _affine(points)
    return [ready[at : at + _DIGIT // 2] for at in range(0, len(ready), _DIGIT // 2)]


def _affine(points: list[_Point]) -> list[_Ready]:
    """All points with one inversion between them."""
    products = [1]
    for point in points:
        products.append(products[-1] * point[2] % _P)
    inverse = pow(products.pop(), -1, _P)
    found: list[_Ready] = []
    for before, (x, y, z, _) in zip(reversed(products), reversed(points), strict=True):
        own, inverse = inverse * before % _P, inverse * z % _P
        x, y = x * own % _P, y * own % _P
        found.append(((y - x) % _P, (y + x) % _P, 2 * _D * x * y % _P))
    return found[::-1]


def _times(number: int, rows: list[list[_Ready]], start: _Point) -> _Point:
    """`start` plus `number` (below the group's order) times the point of the rows."""
    for row in rows:
        number, digit = divmod(number, _DIGIT)
        if digit > _DIGIT // 2:
            minus, plus, twice = row[_DIGIT - digit - 1]
            start, number = _plus_ready(start, (plus, minus, -twice)), number + 1
        elif digit:
            start = _plus_ready(start, row[digit - 1])
    return start


_BASE = (4 * pow(5, -1, _P) % _P).to_bytes(32, "little")


def ed25519_verify(public: bytes, message: bytes, signature: bytes) -> bool:
    """Whether a signature of 64 bytes over `message` is of this public key of 32 bytes.

    Pure Python, a third of a millisecond a signature, and 30 for the first of a key. Only public values are handled: it
    need not run in constant time.
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


def parse_keys(text: str) -> list[Key]:
    """Keys, a line each and nothing else; none where a log was never begun. Raises Unusable."""
    keys = [parse_key(line) for line in text.split("\n") if line]
    if "".join(f"{key.text}\n" for key in keys).removesuffix("\n") != text.removesuffix("\n"):
        raise Unusable("keys stand on a line each, with nothing around them")
    return keys


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


# --- What is found ---------------------------------------------------------------------------------------------------

MANIFEST, TAIL, CHECKPOINTS, VKEY, LEDGER, HANDS = (
    *("manifest.json", "tail.jsonl", "checkpoints", "vkey"),
    *("ledger.jsonl", "hands.jsonl"),
)
KEPT = 500
"""Findings that a report keeps; the rest are only counted."""
LAST = 1 << 62
"""The place of a finding that has no place among the events."""
Row = dict[str, Any]
Parts = tuple[str, ...]
"""What `_ACTED` has taken apart: an event that adds lines to a hand's log, and posts two legs or nothing."""
Event = Row | Parts


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not what it must be: a stable code, the bad place, what is wrong with it.

    `at` is the number of the event, counted over all epochs, where it shows.
    """

    code: str
    place: str
    problem: str
    at: int = LAST

    def as_json(self) -> dict[str, str]:
        """As `--json` prints it."""
        return {"code": self.code, "place": self.place, "problem": self.problem}


#: First words of the codes of the ledger's findings and of the hands'.
_PARTS = dict.fromkeys(
    ("transaction", "entry", "account", "unbalanced", "mirror", "balance", "ledger"), 1
) | dict.fromkeys(("hand", "stacks"), 2)


class Report:
    """What a verification gave: findings, notices (what the reader must know, though nothing is wrong), and counts."""

    def __init__(self) -> None:
        self.kept: list[Finding] = []
        self.found = 0
        self.notices: list[str] = []
        self.counts: dict[str, int] = dict.fromkeys(
            ("events", "chains", "leaves", "checkpoints", "transactions", "accounts", "hands"), 0
        )
        #: The number, over all epochs, of the event that is looked at.
        self.now = 0

    @property
    def findings(self) -> list[Finding]:
        """What was found, the first bad place first: of the log, then of the ledger, then of hands; while the log is
        not whole, what it says of the others may not be true."""
        return sorted(self.kept, key=lambda finding: (_PARTS.get(finding.code.split("_")[0], 0), finding.at))

    def find(self, code: str, place: str, problem: str, at: int | None = None) -> None:
        """Add a finding; its place is the event that is looked at unless `at` says otherwise."""
        self.found += 1
        if len(self.kept) < KEPT:
            self.kept.append(Finding(code, place, problem, self.now if at is None else at))

    def notice(self, text: str) -> None:
        """Say something that is no finding, once."""
        if text not in self.notices:
            self.notices.append(text)

    def as_json(self) -> dict[str, Any]:
        """Everything, as `--json` prints it."""
        return {
            "ok": not self.found,
            "found": self.found,
            "findings": [finding.as_json() for finding in self.findings],
            "notices": self.notices,
            "counts": self.counts,
        }


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


# --- Chains ----------------------------------------------------------------------------------------------------------


class Chains:
    """Every chain's numbers without gaps, links, and times."""

    def __init__(self, report: Report) -> None:
        self._report = report
        #: Chain -> number, hash (64 hex digits) and moment of its last event.
        self.heads: dict[str, tuple[int, str, str]] = {}
        self._backwards = 0

    def take(self, doc: Row, link: str) -> None:
        """The next event in the order of the log, and its hash."""
        chain, seq, at = doc["chain"], doc["seq"], doc["at"]
        number, wanted, before = self.heads.get(chain) or (0, GENESIS, "")
        if seq != number + 1 or doc["prev"] != wanted or at < before:
            self._wrong(doc, number, wanted, before)
        self.heads[chain] = (seq, link, at)

    def finish(self) -> None:
        """No more events come."""
        self._report.counts["chains"] = len(self.heads)
        if self._backwards > 1:
            self._report.notice(f"the clock went back {self._backwards} times in all")

    def _wrong(self, doc: Row, number: int, wanted: str, before: str) -> None:
        chain, seq, find = doc["chain"], doc["seq"], self._report.find
        if type(seq) is not int or seq > number + 1:
            find("event_missing", f"{chain}#{number + 1}", f"the event is missing, {seq} follows {number}")
        elif seq <= number:
            find("event_out_of_order", f"{chain}#{seq}", f"the event comes after number {number}")
        elif doc["prev"] != wanted and seq == 1:
            find("link_broken", f"{chain}#1", "the first event of a chain names one before it")
        elif doc["prev"] != wanted:
            find("link_broken", f"{chain}#{number}", f"event {seq} was written behind another event {number} than this")
        elif doc["at"] < before:
            self._backwards += 1
            if self._backwards == 1:
                self._report.notice(f"{chain}#{seq}: the clock went back, from {before} to {doc['at']}")


# --- Logs and their checkpoints --------------------------------------------------------------------------------------

Signed = Callable[[bytes, bytes, bytes], bool]
"""Whether a signature is good: `ed25519_verify`, or something quicker."""


@dataclass(frozen=True, slots=True)
class _Known:
    """A signed checkpoint, where it was read."""

    size: int
    root: bytes
    place: str
    source: Notes


class Trees:
    """The Merkle tree of each epoch against every checkpoint that is known of it."""

    def __init__(
        self, report: Report, house: House, keys: Sequence[Key], sources: Sequence[Notes], signed: Signed,
        accepted: Collection[int] | None = None,
    ) -> None:  # fmt: skip
        """`accepted`: the epochs after the first whose opening the verifying person has looked into; None for all."""
        self._report, self._house, self._signed, self._accepted = report, house, signed, accepted
        self._keys = {(key.name, key.hash): key.public for key in keys}
        self._points: dict[int, dict[int, list[_Known]]] = {}
        self._sources = list(sources)
        self._judged: dict[str, bool] = {}
        self.sizes: dict[int, int] = {}
        self._bases: dict[int, int] = {}
        self._openings: dict[int, Row] = {}
        self._roots: dict[int, bytes] = {}
        self._agreed_at: dict[int, int] = {}
        self._losses: list[tuple[tuple[int, int], tuple[int, int]]] = []
        self._differing: dict[int, tuple[int, str, list[_Known]]] = {}
        for source in self._sources:
            self._read(source)
        report.counts["checkpoints"] = sum(self._judged.values())

    def _read(self, source: Notes) -> None:
        last = (0, -1)
        for number, text in enumerate(source.texts, 1):
            place, find = f"{source.name}, note {number}", self._report.find
            try:
                note = parse_note(text)
            except Unusable as error:
                find("note_unreadable", place, str(error), at=-1)
                continue
            point = note.checkpoint
            origin, _, epoch = point.origin.rpartition("/")
            if origin != self._house.origin or not _is_number(epoch):
                find("note_of_another_log", place, f"its origin is {point.origin}", at=-1)
            elif not self._is_signed(text, note):
                find("note_not_signed", place, "no key that is trusted has signed it", at=-1)
            else:
                here = (int(epoch), point.size)
                if here <= last:
                    find("notes_out_of_order", place, f"size {point.size} of epoch {epoch} follows {last[1]}", at=-1)
                last = here
                self._add(int(epoch), _Known(point.size, point.root, place, source))

    def _add(self, epoch: int, point: _Known) -> None:
        same = self._points.setdefault(epoch, {}).setdefault(point.size, [])
        for other in same:
            if other.root != point.root:
                place = f"epoch {epoch}, {point.size} leaves"
                self._report.find("split_view", place, f"two signed roots: {other.place} and {point.place}", at=-1)
        same.append(point)

    def _is_signed(self, text: str, note: Note) -> bool:
        if text not in self._judged:
            said = note.checkpoint.text.encode()
            self._judged[text] = any(
                (name, hashed) in self._keys and self._signed(self._keys[name, hashed], said, signature)
                for name, hashed, signature in note.signatures
            )
        return self._judged[text]

    @property
    def size(self) -> int:
        """How many leaves of the epoch have been read."""
        return self._tree.size

    def formed(self, epoch: int, level: int, number: int, root: bytes) -> None:
        """A tile has become complete; a caller that has kept tiles compares them."""

    def begin(self, epoch: int) -> None:
        """The leaves of an epoch follow."""
        self._epoch, self._tree = epoch, Frontier(formed=lambda *tile: self.formed(epoch, *tile))
        self._bases[epoch] = self._report.now
        self._sizes = sorted(self._points.get(epoch, {}))
        self._next = 0
        self._agreed, self._agreed_before = 0, ""
        self._wrong: list[_Known] = []

    def extend(self, hashes: list[bytes], docs: Sequence[Event | None]) -> None:
        """Leaf hashes in their order, and their events to name them by."""
        start, tree = 0, self._tree
        if tree.size == self._agreed:
            self._agreed_before = place_of(docs[0])
        while self._next < len(self._sizes) and (size := self._sizes[self._next]) <= tree.size + len(hashes) - start:
            count = size - tree.size
            tree.extend(hashes[start : start + count])
            start += count
            if self._agrees(size) and start < len(docs):
                self._agreed_before = place_of(docs[start])
            self._next += 1
        tree.extend(hashes[start:] if start else hashes)

    def _agrees(self, size: int) -> bool:
        root, points = self._tree.root(), self._points[self._epoch][size]
        bad = [point for point in points if point.root != root]
        self._wrong += bad
        if len(bad) == len(points):
            return False
        for point in self._wrong:
            problem = f"it is not the root of the first {point.size} leaves, which another checkpoint confirms"
            self._report.find("checkpoint_false", point.place, problem, at=self._bases[self._epoch] + point.size)
        self._wrong, self._agreed = [], size
        return True

    def end(self) -> None:
        """The epoch has no more leaves."""
        epoch, size = self._epoch, self._tree.size
        self.sizes[epoch], self._roots[epoch] = size, self._tree.root()
        self._tree = Frontier()  # the epoch's holds on to these trees, and they to it
        self._agreed_at[epoch] = self._agreed
        self._report.counts["leaves"] += size
        if self._wrong:
            self._differing[epoch] = (self._agreed, self._agreed_before, self._wrong)
        signed = max((one for one in self._sizes if one <= size), default=0)
        if size > signed:
            self._report.notice(f"epoch {epoch}: no checkpoint covers leaves {signed} to {size - 1} yet")

    def opened(self, epoch: int, doc: Row | None) -> None:
        """The first event of an epoch after the first: it must record what was lost."""
        data = doc.get("data") if doc is not None and doc.get("kind") == "log.epoch_opened" else None
        before = max((other for other in self.sizes if other < epoch), default=0)
        if not isinstance(data, dict) or (data.get("epoch"), data.get("restored_epoch")) != (epoch, before):
            place = f"epoch {epoch}, leaf 0"
            self._report.find("epoch_not_opened", place, f"its first event does not open it after epoch {before}")
        else:
            self._openings[epoch] = doc or {}

    def finish(self) -> None:
        """No more epochs come: judge what checkpoints know of leaves that are not there, and of each other."""
        for epoch, opening in self._openings.items():
            try:
                self._judge_opening(epoch, opening)
            except (Unusable, LookupError, TypeError, AttributeError) as error:
                place = f"epoch {epoch}, leaf 0"
                self._report.find("epoch_not_opened", place, f"it cannot be read: {error!r}", at=self._bases[epoch])
        for epoch in sorted(self._points.keys() | self.sizes.keys()):
            self._judge_end(epoch)
        own = {key for source in self._sources if not source.held for key in self._noted(source)}
        for source in self._sources:
            if source.held:
                self._compare(source, own)

    def _noted(self, source: Notes) -> list[tuple[int, int, bytes]]:
        return [
            (epoch, point.size, point.root)
            for epoch, sizes in self._points.items()
            for points in sizes.values()
            for point in points
            if point.source is source
        ]

    def _judge_end(self, epoch: int) -> None:
        size = self.sizes.get(epoch, 0)
        agreed, name, wrong = self._differing.get(epoch, (0, "", []))
        if wrong:  # an epoch explains leaves that are gone, never such as contradict what was signed
            later = len({point.size for point in wrong}) - 1
            more = f", nor that of {later} later ones" if later else ""
            self._report.find(
                "leaves_differ",
                f"epoch {epoch}, leaves {agreed} to {wrong[0].size - 1} (the first is {name})",
                f"they do not give the signed root of {wrong[0].place}{more}",
                at=self._bases[epoch] + wrong[0].size,  # behind whatever is found among them
            )
        beyond = [point for at, points in self._points.get(epoch, {}).items() if at > size for point in points]
        unexplained = [point for point in beyond if not self._explained(epoch, point.size)]
        if unexplained:
            most = max(unexplained, key=lambda point: point.size)
            self._report.find(
                "log_cut_off",
                f"epoch {epoch}, leaf {size}",
                f"the log ends there, {most.place} was signed over {most.size} leaves",
                at=self._bases.get(epoch, 0) + size,
            )

    def _judge_opening(self, epoch: int, opening: Row) -> None:
        """What an opening says of the log before it and of the checkpoint outside; it explains what was lost only where
        all of it is true, and signed."""
        data, place = opening["data"], f"epoch {epoch}, leaf 0 ({place_of(opening)})"
        before: int = data["restored_epoch"]
        size, root = self.sizes.get(before, 0), self._roots.get(before, EMPTY_ROOT)
        restored = (data.get("restored_size"), data.get("restored_root"))
        note = data.get("note")
        problem = None
        if not opening.get("approver") or opening["approver"] == opening["actor"]:
            problem = "an epoch is opened by two people"
        elif restored != (size, root.hex()):
            problem = f"it names {restored[0]} leaves as restored, or another root; the log has {size}"
        elif not self._agreed_at.get(epoch):
            problem = "no signed checkpoint covers it"
        elif note is not None:
            problem = self._judge_outside(data, note)
        elif (data.get("old_epoch"), data.get("old_size")) != (None, None):
            problem = "it names leaves as lost without the checkpoint outside that covers them"
        if problem is not None:
            self._report.find("epoch_not_opened", place, problem, at=self._bases[epoch])
            return
        lost = (before, size), (data.get("old_epoch") or 0, data.get("old_size") or 0)
        self._losses.append(lost)
        if self._accepted is not None and epoch not in self._accepted:
            problem = (
                f"{opening['actor']} and {opening['approver']} opened it ({opening.get('reason')}); ask both and "
                f"look at their paper, then verify with --accept-epoch {epoch}"
            )
            self._report.find("epoch_not_accepted", place, problem, at=self._bases[epoch])
        self._report.notice(
            f"epoch {epoch} was opened by {opening['actor']} and {opening['approver']} ({opening.get('reason')}): "
            f"the log outside had reached epoch {lost[1][0]}, {lost[1][1]} leaves; epoch {before}, "
            f"{lost[0][1]} leaves, was left of it"
        )

    def _judge_outside(self, data: Row, text: str) -> str | None:
        note = parse_note(text)
        point = note.checkpoint
        said = (f"{self._house.origin}/{data.get('old_epoch')}", data.get("old_size"), data.get("old_root"))
        if said != (point.origin, point.size, point.root.hex()):
            return "it says otherwise than the outside checkpoint in it"
        return None if self._is_signed(text, note) else "the outside checkpoint in it is not signed"

    def _explained(self, epoch: int, size: int) -> bool:
        """Whether the opening of a later epoch records that leaves up to this one were lost."""
        return any(first < (epoch, size) <= last for first, last in self._losses)

    def _compare(self, source: Notes, own: set[tuple[int, int, bytes]]) -> None:
        held = self._noted(source)
        for epoch, size, _ in sorted(set(held) - own):
            if self._explained(epoch, size):
                continue
            place = f"checkpoint of epoch {epoch} over {size} leaves"
            at = self._bases.get(epoch, 0) + size
            self._report.find("checkpoint_missing", place, f"{source.name} has it, the log's own do not", at)
        missing = sorted(key for key in own - set(held) if key[:2] <= max(held, default=(0, 0))[:2])
        for epoch, size, _ in missing if source.complete else ():
            place = f"{source.name}, checkpoint of epoch {epoch} over {size} leaves"
            at = self._bases.get(epoch, 0) + size
            self._report.find("outside_checkpoint_missing", place, "the log has it, this file has lost it", at)


def place_of(doc: Event | None) -> str:
    """`CHAIN#SEQ` of an event."""
    return "{}#{}".format(*chain_and_seq(doc)) if doc else "unreadable"


def chain_and_seq(doc: Event) -> tuple[Any, Any]:
    """The chain of an event and its number there, None for what it does not name."""
    return (doc[1], doc[15]) if isinstance(doc, tuple) else (doc.get("chain"), doc.get("seq"))


# --- The ledger ------------------------------------------------------------------------------------------------------


class _Account:
    """An account on its way through its entries: the version and balance reached, and entries that came early."""

    __slots__ = ("balance", "early", "end", "name", "side", "version")

    def __init__(self, row: Row) -> None:
        self.name: tuple[str, str] = (row["code"], row["commodity"])
        self.side: int = row["normal_side"]
        self.end: tuple[int, int] = (row["version"], row["balance"])
        self.version = self.balance = 0
        self.early: dict[int, tuple[int, int, int]] = {}

    def follows(self, version: int, amount: int, after: int) -> bool:
        """Whether this is simply the next entry."""
        return version == self.version + 1 and after == self.balance + amount * self.side and not self.early


_REMEMBERED = 50_000
_TAKEN_APART: Row = {}


class Books:
    """What events record of the ledger, against the ledger: each transaction recorded once, leg by leg; balances add
    up.

    Both come nearly in the order of transaction ids, so that only what is out of step has to be kept.
    """

    def __init__(self, report: Report, accounts: Iterable[Row], transactions: Callable[[], Iterator[Row]]) -> None:
        self._report = report
        self._accounts = {row["id"]: _Account(row) for row in accounts}
        self._again = transactions
        self._stream = transactions()
        #: Transaction -> posting, event and its number; nothing as posting where the event is taken apart.
        self._recorded: dict[int, tuple[Row, Event, int]] = {}
        self._top = self._reached = 0
        self._unrecorded: dict[int, Row] = {}
        #: Legs of the last transactions, for mirrors of them.
        self._legs: dict[int, list[list[Any]]] = {}
        self._older: dict[int, list[list[Any]]] = {}
        self._mirrors: dict[int, tuple[list[list[Any]], str, int]] = {}
        self._count = 0
        report.counts["accounts"] = len(self._accounts)

    def record(self, postings: Sequence[Row], doc: Row) -> None:
        """An event records these transactions."""
        for posting in postings:
            number = posting["tx"]
            if type(number) is not int:
                raise TypeError("a transaction is named by its number")
            if number in self._recorded:
                self._report.find(
                    "transaction_recorded_twice", f"transaction {number}", f"{place_of(doc)} records it again"
                )
                continue
            row = self._unrecorded.pop(number, None)
            if row is not None:
                self._compare(row, posting, doc, self._report.now)
            else:
                self._recorded[number] = (posting, doc, self._report.now)
                if number > self._top:
                    self._top = number

    def record_one(self, number: int, recorded: Parts) -> bool:
        """The same of an event that is taken apart; False, and nothing done, for what is not recorded the first time,
        or later than the ledger has it."""
        if number in self._recorded or number in self._unrecorded:
            return False
        self._recorded[number] = _TAKEN_APART, recorded, self._report.now
        if number > self._top:
            self._top = number
        return True

    def advance(self) -> None:
        """Read the ledger as far as events have recorded."""
        while self._reached < self._top:
            row = next(self._stream, None)
            if row is None:
                self._reached = LAST
                return
            self._read(row)

    def _read(self, row: Row) -> None:
        number = row["id"]
        if number <= self._reached:
            self._report.find("ledger_out_of_order", f"transaction {number}", f"it follows {self._reached}")
        self._reached = number
        self._count += 1
        row["legs"] = self._legs[number] = self._run(row)
        if len(self._legs) > _REMEMBERED:
            self._legs, self._older = {}, self._legs
        recorded = self._recorded.pop(number, None)
        if recorded is None:
            self._unrecorded[number] = row
        else:
            posting, doc, at = recorded
            if isinstance(doc, dict):
                self._compare(row, posting, doc, at)
            elif not self._is_recorded(row, doc):
                self._compare(row, row_of(doc)["postings"][0], doc, at)

    @staticmethod
    def _is_recorded(row: Row, recorded: Parts) -> bool:
        """Whether a transaction of two legs is what an event that is taken apart records of it."""
        legs = row["legs"]
        if row["about"] != recorded[6] or row["reverses"] is not None or len(legs) != 2:
            return False
        (code, commodity, amount), (other, another, rest) = legs
        if recorded[7] != code or recorded[8] != commodity:  # perhaps the same legs the other way round
            code, commodity, amount, other, another, rest = other, another, rest, code, commodity, amount
        return recorded[7:13] == (code, commodity, str(amount), other, another, str(rest))

    def _run(self, row: Row) -> list[list[Any]]:
        """Run a transaction's entries through their accounts; returns its legs as events record them."""
        legs = row["legs"]
        if len(legs) == 2:
            (one, version, amount, after), (other, their_version, rest, left) = legs
            first, second = self._accounts.get(one), self._accounts.get(other)
            if (
                first is not None
                and second is not None
                and first is not second
                and amount + rest == 0
                and version == first.version + 1
                and after == first.balance + amount * first.side
                and not first.early
                and their_version == second.version + 1
                and left == second.balance + rest * second.side
                and not second.early
            ):
                (code, commodity), (their_code, their_commodity) = first.name, second.name
                if commodity == their_commodity:
                    first.version, first.balance = version, after
                    second.version, second.balance = their_version, left
                    return [[code, commodity, amount], [their_code, commodity, rest]]
        return self._run_each(row)

    def _run_each(self, row: Row) -> list[list[Any]]:
        """The same for legs of which something may be unusual, or wrong."""
        accounts, legs = self._accounts, []
        sums: dict[str, int] = {}
        for account, version, amount, after in row["legs"]:
            known = accounts.get(account)
            if known is None:
                place = f"transaction {row['id']}"
                self._report.find("account_missing", place, f"it has an entry on account {account}, which is not there")
                continue
            code, commodity = known.name
            legs.append([code, commodity, amount])
            sums[commodity] = sums.get(commodity, 0) + amount
            if known.follows(version, amount, after):
                known.version, known.balance = version, after
            else:
                self._enter(known, version, (amount, after, row["id"]))
        if any(sums.values()):
            self._report.find("unbalanced", f"transaction {row['id']}", f"its legs sum to {sums}")
        return legs

    def _enter(self, known: _Account, version: int, entry: tuple[int, int, int]) -> None:
        """An entry that is not simply the next one: it waits for those before it, or it is wrong."""
        if version <= known.version or version in known.early:
            self._entry(known, entry[2], f"is version {version} once more")
            return
        known.early[version] = entry
        self._catch_up(known)

    def _catch_up(self, known: _Account) -> None:
        while (entry := known.early.pop(known.version + 1, None)) is not None:
            amount, after, number = entry
            known.version += 1
            known.balance += amount * known.side
            if after != known.balance:
                self._entry(known, number, f"says {after} after it, its entries give {known.balance}")
                known.balance = after

    def _entry(self, known: _Account, number: int, problem: str) -> None:
        place = f"transaction {number}, account {known.name[0]} {known.name[1]}"
        self._report.find("entry_differs", place, f"the entry {problem}")

    def _compare(self, row: Row, posting: Row, doc: Event, at: int) -> None:
        """A transaction against what an event records of it: usually the same, or the same legs the other way round."""
        same = row["reverses"] is None and posting.get("about") == row["about"]
        if same and (row["legs"] == (legs := posting.get("legs")) or row["legs"][::-1] == legs):
            return
        try:
            self._compare_parts(row, posting, place_of(doc), at)
        except (LookupError, TypeError, ValueError) as error:
            problem = f"{place_of(doc)} records it in a way that cannot be read: {error!r}"
            self._report.find("transaction_differs", f"transaction {row['id']}", problem, at)

    def _compare_parts(self, row: Row, posting: Row, place: str, at: int) -> None:
        number, find = row["id"], self._report.find
        reverses = posting.get("reverses")
        if row["reverses"] != reverses:
            find("transaction_differs", f"transaction {number}",
                 f"it reverses {row['reverses']} in the ledger, {reverses} as {place} records", at)  # fmt: skip
        elif reverses is not None:
            self._mirror(row, reverses, place, at)
        elif sorted(row["legs"]) != sorted(recorded := posting["legs"]):
            find(
                "transaction_differs",
                f"transaction {number}",
                f"{_difference(recorded, row['legs'])} ({place} records it)",
                at,
            )
        if posting.get("about") != row["about"]:
            find("transaction_differs", f"transaction {number}",
                 f"key, kind, metadata or a moment of it is not what {place} records", at)  # fmt: skip

    def _mirror(self, row: Row, reverses: int, place: str, at: int) -> None:
        negated = sorted([code, commodity, -amount] for code, commodity, amount in row["legs"])
        legs = self._legs.get(reverses) or self._older.get(reverses)
        original = sorted(legs) if legs is not None else None
        if original is None:
            self._mirrors[reverses] = (negated, f"transaction {row['id']} ({place})", at)
        elif original != negated:
            self._report.find(
                "mirror_differs", f"transaction {row['id']}", f"it is no mirror of {reverses} ({place})", at
            )

    def finish(self) -> None:
        """Read the rest of the ledger, and see that nothing is left over on either side."""
        for row in self._stream:
            self._read(row)
        self._report.counts["transactions"] = self._count
        self._look_up_mirrors()
        for number, (_, doc, at) in sorted(self._recorded.items()):
            place = place_of(doc)
            self._report.find("transaction_missing", f"transaction {number}",
                              f"{place} records it; the ledger does not have it, or it was recorded before",
                              at)  # fmt: skip
        for number in sorted(self._unrecorded):
            self._report.find(
                "transaction_unrecorded", f"transaction {number}", "the ledger has it, and no event records it"
            )
        for known in self._accounts.values():
            self._end(known)

    def _look_up_mirrors(self) -> None:
        if not self._mirrors:
            return
        for row in self._again():
            if row["id"] in self._mirrors:
                negated, place, at = self._mirrors.pop(row["id"])
                legs = sorted([*self._accounts[account].name, amount] for account, _, amount, _ in row["legs"])
                if legs != negated:
                    self._report.find("mirror_differs", place, f"it is no mirror of {row['id']}", at)
        for reverses, (_, place, at) in self._mirrors.items():
            self._report.find("mirror_differs", place, f"the ledger has no transaction {reverses} to reverse", at)

    def _end(self, known: _Account) -> None:
        place = f"account {known.name[0]} {known.name[1]}"
        if known.early:
            lost = f"entry {known.version + 1} is missing, {min(known.early)} is there"
            self._report.find("entry_missing", place, lost, at=LAST - 1)
        elif (known.version, known.balance) != known.end:
            problem = (
                f"it holds {known.end[1]} at version {known.end[0]}; "
                f"its entries give {known.balance} at version {known.version}"
            )
            self._report.find("balance_differs", place, problem, at=LAST - 1)


def about_of(fields: Sequence[Any]) -> str:
    """What events record of a transaction besides its legs, as one hash (SHA-256, 64 hex digits): of key, kind,
    metadata, and the moments when it happened, if that was said, and when it was posted."""
    return _hash_of(fields)


def _hash_of(value: Any) -> str:
    """SHA-256 of the canonical JSON, 64 hex digits."""
    return hashlib.sha256(json_text(value).encode()).hexdigest()


def _difference(recorded: list[list[Any]], legs: list[list[Any]]) -> str:
    only_recorded = [leg for leg in recorded if leg not in legs]
    only_there = [leg for leg in legs if leg not in recorded]
    return f"recorded {only_recorded or recorded}, in the ledger {only_there or legs}"


# --- Hands -----------------------------------------------------------------------------------------------------------

#: What a hand's first event records of it that its row holds too.
DEALT = (
    *("hand", "table", "number", "mode", "game", "rules", "options", "seats", "stacks", "carry", "series"),
    *("fees", "commitment", "client_seeds", "cards_roots"),
)
#: A table's session begins.
SESSION = "table.opened"
#: Events that record of a table what its hands are checked against.
OF_TABLES = frozenset({SESSION, "table.closed", "table.set_up", "table.seat_fee_changed"})
#: What the event that completes a hand's log records besides the log.
ENDING = ("digest", "result", "handle")
#: From which states each event may come.
_FROM = {
    "hand.acted": ("playing",),
    "hand.cards_entered": ("playing",),
    "hand.entry_corrected": ("playing",),
    "hand.line_corrected": ("playing",),
    "hand.settled": ("ended",),
    "hand.disputed": ("ended",),
    "hand.ruled": ("disputed",),
    "hand.voided": ("playing", "disputed"),
}


class _Hand:
    """A hand as its events have recorded it so far."""

    __slots__ = (
        *("at", "card_verbs", "chain", "corrected", "entered", "lines"),
        *("mirrored", "money", "posted", "state", "summary", "table"),
    )

    def __init__(self, data: Row, chain: str, at: int) -> None:
        self.summary: Row = {name: data[name] for name in DEALT if name in data}
        #: Verbs of its log that name cards, by what becomes of these; None where no event has recorded them.
        self.card_verbs: dict[str, list[str]] | None = data.get("card_verbs")
        self.table: str = data["table"]
        self.chain = chain
        self.lines: list[str] = []
        self.state = "playing"
        #: Account code -> what its postings moved there, debit positive.
        self.money: dict[str, int] = {}
        self.posted: list[int] = []
        self.mirrored: list[int] = []
        #: Cards that were entered: seat, index, and what was recorded of the card, its hash.
        self.entered: list[tuple[str, int, str]] = []
        #: Corrections of lines: number, line before and after as everybody saw them.
        self.corrected: list[tuple[int, str, str]] = []
        self.at = at


class _Deals:
    """Electronic deals that were committed to before their cards fell; each is dealt as it was recorded, or
    abandoned."""

    def __init__(self, report: Report) -> None:
        self._report = report
        #: By chain, as a table has one at a time: name, commitment, and seeds by chair as a hand records them.
        self._prepared: dict[str, tuple[str, str, dict[str, str]]] = {}
        self._used: set[str] = set()

    def take(self, doc: Row) -> None:
        """The next `deal.*` event of its table's chain."""
        kind, data, chain = doc["kind"], doc["data"], doc["chain"]
        name, prepared = data["hand"], self._prepared.get(chain)
        if kind == "deal.committed":
            if prepared is not None or name in self._used:
                self._differs(name, f"{place_of(doc)} commits to it and {prepared[0] if prepared else name} was before")
            self._used.add(name)
            self._prepared[chain] = name, data["commitment"], {}
        elif kind in ("deal.seed_taken", "deal.abandoned"):
            if prepared is None or prepared[0] != name:
                self._differs(name, f"{place_of(doc)} records {kind} of a deal that is not prepared")
            elif kind == "deal.seed_taken":
                if prepared[2].setdefault(str(data["seat"]), data["seed"]) != data["seed"]:
                    self._differs(name, f"{place_of(doc)} records another seed of seat {data['seat']}")
            else:
                if prepared[1] != data["commitment"]:
                    self._differs(name, f"it was abandoned with another commitment than {prepared[1]}")
                del self._prepared[chain]

    def dealt(self, doc: Row) -> None:
        """A `hand.dealt`: of the prepared deal with all that was recorded of it where there is one, or else of none."""
        data, name = doc["data"], doc["data"]["hand"]
        seeds = data.get("client_seeds", {})
        prepared = self._prepared.pop(doc["chain"], None)
        if prepared is None:
            if name in self._used:
                self._differs(name, "it was dealt under the name of a deal that was abandoned or dealt before")
            elif seeds:
                self._differs(name, f"it was dealt with client seeds {seeds}, and no deal of it was committed to")
            return
        committed, commitment, taken = prepared
        if committed != name:
            self._differs(name, f"it was dealt while {committed} was prepared")
        elif data["mode"] != "electronic" or data.get("commitment") != commitment:
            self._differs(name, f"it was dealt {data['mode']} with commitment {data.get('commitment')}; {commitment} "
                                "was committed to")  # fmt: skip
        elif seeds != taken:
            self._differs(name, f"it was dealt with client seeds {seeds}; {taken} were taken")

    def _differs(self, name: str, problem: str) -> None:
        self._report.find("deal_differs", f"hand {name}", problem)


def _entry_of(entry: Row) -> tuple[str, int, str]:
    return entry["actor"], entry["index"], entry["hash"]


class _Table:
    """What a hand's log says of cards, and what was entered beside it: the same cards in the same places."""

    def __init__(self, log: Sequence[str], entered: Sequence[Row], card_verbs: dict[str, list[str]]) -> None:
        #: By seat: cards as they were dealt, and as they were shown (both in the order of dealing).
        self._dealt: dict[str, list[str]] = {}
        self._shown: dict[str, list[str]] = {}
        #: By seat, cards that it turned up or played, each with the number of cards that it had been dealt by then.
        self._out: dict[str, list[tuple[str, int]]] = {}
        #: Cards that came off the pack face up: wherever they lie, none of them was dealt unseen.
        self._opened: set[str] = set()
        #: By seat, how many of its cards were dealt before a verb after which cards come of a new pack.
        self._counts: dict[str, int] = {}
        self._reopened = False
        #: The last entry of a card counts.
        self._entered: dict[tuple[str, int], str] = {(one["actor"], one["index"]): one["card"] for one in entered}
        reopening = card_verbs.get("reopens", ())
        role_of = {verb: role for role, verbs in card_verbs.items() if role != "reopens" for verb in verbs}
        for line in log:
            actor, verb, *words = line.split(" ")
            self._lay(role_of.get(verb), actor, words)
            self._reopened = self._reopened or verb in reopening

    def _lay(self, role: str | None, actor: str, words: Sequence[str]) -> None:
        """The cards of the next line come to lie where its verb says."""
        cards = _cards_of(next((word for word in words if _CARDS(word)), ""))
        if role == "dealt":
            seat = next(word for word in words if _SEAT(word))
            self._dealt.setdefault(seat, []).extend(cards)
            if not self._reopened:
                self._counts[seat] = len(self._dealt[seat])
        elif role == "shown":
            self._shown[actor] = cards
        elif role == "opened":
            self._opened.update(cards)
        elif role in ("turned", "played"):
            dealt = self._counts.get(actor, 0)
            unseen = [card for card in cards if card != _HIDDEN and card not in self._opened]
            self._out.setdefault(actor, []).extend((card, dealt) for card in unseen)

    def wrong(self) -> Iterator[tuple[str, str]]:
        """Places where an entry is not what the log says, or a card lies twice, and what is wrong there."""
        for (seat, index), card in self._entered.items():
            dealt = self._dealt.get(seat, [])
            if not 0 <= index < len(dealt):
                yield f"card {index} of {seat}", f"{card} was entered, the log deals {len(dealt)} cards to the seat"
            for known in (dealt[index : index + 1], self._shown.get(seat, [])[index : index + 1]):
                if known not in ([], [_HIDDEN], [card]):
                    yield f"card {index} of {seat}", f"{card} was entered, {known[0]} is in the log"
        lying = dict.fromkeys(self._opened, "everybody, face up,")
        for seat in self._dealt:
            held = self._held(seat)
            others, alien = self._others(seat, held)
            if alien:
                yield f"cards of {seat}", f"{alien} was turned up or played, and not entered"
            for card in (*held, *others):
                if card != _HIDDEN and card in lying:
                    yield f"cards of {seat}", f"{card} lies before {lying[card]} as well"
                lying.setdefault(card, seat)

    def _held(self, seat: str) -> list[str]:
        """All cards before a seat, as far as log or entries name them."""
        held = self._dealt[seat][: self._counts.get(seat, 0)]
        for index, card in enumerate(self._shown.get(seat, [])[: len(held)]):
            held[index] = card
        return [self._entered.get((seat, index), card) if card == _HIDDEN else card for index, card in enumerate(held)]

    def _others(self, seat: str, held: Sequence[str]) -> tuple[list[str], str]:
        """The cards that a seat turned up or played besides those known to lie before it, and the first of them for
        which none of the places that it had been dealt by then is left."""
        others, alien = [], ""
        for card, dealt in self._out.get(seat, []):
            if card not in held[:dealt] and card not in others:  # one that was turned up may be played later
                others.append(card)
                if not alien and len(others) > held[:dealt].count(_HIDDEN):
                    alien = card
        return others, alien


_HIDDEN = "??"
_CARDS = re.compile(r"(?:[A-Z0-9][a-z]|\?\?)+", re.ASCII).fullmatch
_SEAT = re.compile(r"p[1-9]", re.ASCII).fullmatch


def _cards_of(text: str) -> list[str]:
    return [text[at : at + 2] for at in range(0, len(text), 2)]


Declared = Callable[[Any], dict[str, list[str]] | None]
"""The verbs that name cards by rules of this id, as the engine declares them; None for rules that it does not know."""


class Hands:
    """Hands rebuilt from their events against the rows of the database, and what each moved against its result."""

    def __init__(self, report: Report, rows: Iterator[Row], currency: str, declared: Declared | None = None) -> None:
        """Hands with these rows in a house of this currency; `declared` where there is an engine to ask."""
        self._report, self._rows, self._currency, self._declared = report, rows, currency, declared
        self._open: dict[str, _Hand] = {}
        self._closed: dict[str, _Hand] = {}
        self._stored: dict[str, Row] = {}
        self._numbers: dict[str, int] = {}
        #: Balances of pots, cukasszas and stacks by account code, credit positive, as far as events have recorded.
        self._balances: dict[str, int] = {}
        #: By chain, the series that the session's last settled hand has left.
        self._left: dict[str, Row] = {}
        #: By chain, what a seat costs and for what, and who has paid for an hour of the session.
        self._fee: dict[str, tuple[int, str | None]] = {}
        self._paid: dict[str, set[str]] = {}
        #: By chain, what the last session has held for the next one.
        self._held: dict[str, Row | None] = {}
        self._deals = _Deals(report)

    def take(self, doc: Row) -> None:
        """The next event, in the order of its table's chain."""
        kind = doc["kind"]
        if kind == "hand.acted":
            hand = self._open.get(doc["data"]["hand"])
            if hand is not None and hand.state == "playing" and hand.chain == doc["chain"]:
                if "postings" in doc:
                    self._post_of_hand(doc["postings"], hand)
                self._lines(hand, doc["data"])
                return
        hand = self._hand_of(doc)
        if "postings" in doc:
            if hand is None:
                self._post(doc["postings"])
            else:
                self._post_of_hand(doc["postings"], hand)
        if hand is not None:
            if "lines" in doc["data"]:
                self._lines(hand, doc["data"])
            if kind != "hand.acted":
                self._after(hand, doc)

    def under_way(self, name: str, line: int) -> _Hand | None:
        """The hand that is played and whose next line is this one, None for any other."""
        hand = self._open.get(name)
        return hand if hand is not None and hand.state == "playing" and len(hand.lines) + 1 == line else None

    def take_lines(self, hand: _Hand, recorded: Parts) -> None:
        """The next event that is taken apart, of a hand that is under way."""
        _, _, _, _, lines, _, _, code, commodity, amount, other, another, rest, number, _, _ = recorded
        if '"' in lines:
            hand.lines += lines.split('","')
        else:
            hand.lines.append(lines)
        if number:
            hand.posted.append(int(number))
            money, currency = hand.money, self._currency
            if commodity == currency:
                money[code] = money.get(code, 0) + int(amount)
            if another == currency:
                money[other] = money.get(other, 0) + int(rest)

    def _wrong(self, name: str, problem: str, code: str = "hand_differs", at: int | None = None) -> None:
        self._report.find(code, f"hand {name}", problem, at)

    def _hand_of(self, doc: Row) -> _Hand | None:
        kind = doc["kind"]
        if kind == "hand.dealt":
            return self._dealt(doc)
        if kind[:5] == "hand.":
            return self._next(doc)
        if kind[:5] == "deal.":
            self._deals.take(doc)
        elif kind == SESSION:
            self._opened_table(doc)
        elif kind == "table.closed":
            self._held[doc["chain"]] = doc["data"].get("held")
        elif kind == "table.set_up":
            self._fee[doc["chain"]] = (doc["data"].get("seat_fee", 0), doc["data"].get("seat_fee_per"))
        elif kind == "table.seat_fee_changed":
            self._fee[doc["chain"]] = (doc["data"]["after"], doc["data"]["after_per"])
        return None

    def _dealt(self, doc: Row) -> _Hand:
        data = doc["data"]
        name, table = data["hand"], data["table"]
        hand = self._open[name] = _Hand(data, doc["chain"], self._report.now)
        self._report.counts["hands"] += 1
        stored = next(self._rows, None)
        if stored is not None:
            self._stored[stored["hand"]] = stored
        number = data["number"]
        last = self._numbers.get(table, 0)
        if number != last + 1:
            self._wrong(name, f"it is number {number} of its table and follows {last}", "hand_missing")
        self._numbers[table] = number
        if f"table/{table}" != doc["chain"] or data["button"] != data["seats"][-1]["seat"]:
            self._wrong(name, "its event is of another table, or names another dealer than its seats")
        there = [self._balances.get(f"2020/{table}/{seat['player']}", 0) for seat in data["seats"]]
        carry = self._balances.get(f"2040/{table}", 0) + self._balances.get(f"2050/{table}", 0)
        stacks = [stack + fee for stack, fee in zip(data["stacks"], _fees(data), strict=True)]
        if (there, carry) != (stacks, data["carry"]):
            self._wrong(name, f"it was dealt with stacks {stacks} (fees included) and cukassza {data['carry']}; events "
                              f"before it leave {there} and {carry}", "stacks_differ")  # fmt: skip
        self._require_fees(doc)
        self._deals.dealt(doc)
        self._goes_on(doc)
        if self._declared is not None and "card_verbs" in data:
            declared = self._declared(data.get("rules"))
            if data["card_verbs"] != declared:
                problem = f"cards are named by {data['card_verbs']} as its event records; its rules declare {declared}"
                self._wrong(name, problem, "hand_cards_differ")
        return hand

    def _opened_table(self, doc: Row) -> None:
        """A session goes on with what the last one has held, or starts over."""
        chain, resumed = doc["chain"], doc["data"].get("resumed")
        if resumed != self._held.get(chain):
            problem = f"{place_of(doc)} goes on with {resumed}; the last session held {self._held.get(chain)}"
            self._report.find("hand_differs", f"table {chain}", problem)
        if resumed is None:
            self._left[chain] = {}
        self._paid[chain] = set()

    def _require_fees(self, doc: Row) -> None:
        """Everybody who is dealt in pays what the table asks; by the hour, who has paid for one may pay nothing."""
        data, chain = doc["data"], doc["chain"]
        fee, per = self._fee.get(chain, (0, None))
        recorded = data.get("fees", {})
        paid = self._paid.get(chain, set()) if per == "hour" else set()
        for seat, amount in zip(data["seats"], _fees(data), strict=True):
            if amount != fee and (amount or seat["player"] not in paid):
                problem = f"{seat['player']} pays {amount} for the seat; the table asks {fee} for every {per}"
                self._wrong(data["hand"], problem)
        if recorded and recorded["per"] != per:
            self._wrong(data["hand"], f"its fees are for every {recorded['per']}, the table asks for every {per}")

    def _goes_on(self, doc: Row) -> None:
        """A hand goes on from what the last one of the session left, or says that it starts over: by what, only an
        engine knows."""
        data, chain = doc["data"], doc["chain"]
        left = self._left.get(chain, {})
        if data["series"] != left and data.get("series_begins") is not True:
            problem = f"it was dealt with series {data['series']}; the last settled hand left {left}"
            self._wrong(data["hand"], f"{problem}, and nothing says that it starts over")

    def _next(self, doc: Row) -> _Hand | None:
        name, kind = doc["data"]["hand"], doc["kind"]
        hand = self._open.get(name)
        if hand is None:
            self._wrong(name, f"{place_of(doc)} records {kind} of a hand that is not under way")
            return None
        if hand.chain != doc["chain"]:
            self._wrong(name, f"{place_of(doc)} records {kind} of it, its own chain is {hand.chain}")
        allowed = _FROM.get(kind)
        if allowed is not None and hand.state not in allowed:
            self._wrong(name, f"{place_of(doc)} records {kind} while it is {hand.state}")
        return hand

    def _post(self, postings: Sequence[Row]) -> None:
        for posting in postings:
            for code, commodity, amount in posting.get("legs", ()):
                if code[:2] == "20" and commodity == self._currency:
                    self._balances[code] = self._balances.get(code, 0) - amount

    def _post_of_hand(self, postings: Sequence[Row], hand: _Hand) -> None:
        """What a hand moves counts for the next one when it is over."""
        money, currency = hand.money, self._currency
        for posting in postings:
            if "reverses" in posting:
                hand.mirrored.append(posting["reverses"])
                continue
            hand.posted.append(posting["tx"])
            for code, commodity, amount in posting["legs"]:
                if commodity == currency:
                    money[code] = money.get(code, 0) + amount

    def _after(self, hand: _Hand, doc: Row) -> None:
        kind, data = doc["kind"], doc["data"]
        if kind == "hand.cards_entered":
            hand.entered += [_entry_of(entry) for entry in data["entries"]]
        elif kind == "hand.entry_corrected":
            hand.entered.append(_entry_of(data))
        elif kind == "hand.line_corrected":
            self._corrected(hand, data)
        elif kind == "hand.settled":
            self._settled(hand, data)
            if data["settlement"] is None and doc.get("postings"):
                self._wrong(data["hand"], f"{place_of(doc)} names no settlement, and records postings")
        elif kind == "hand.disputed":
            hand.state = "disputed"
            self._frozen(hand, data)
        elif kind == "hand.ruled":
            self._ruled(hand, data)
        elif kind == "hand.voided":
            self._voided(hand, data)

    def _lines(self, hand: _Hand, data: Row) -> None:
        if data["first_line"] != len(hand.lines) + 1:
            self._wrong(data["hand"], f"line {data['first_line']} follows line {len(hand.lines)}")
        hand.lines += data["lines"]
        if "cards_roots" in data:
            before = hand.summary.get("cards_roots", [])
            if data["cards_roots"][: len(before)] != before:
                problem = f"its cards had the roots {before}, later {data['cards_roots']}"
                self._wrong(data["hand"], problem, "deal_differs")
            hand.summary["cards_roots"] = data["cards_roots"]
        if "log" in data:
            self._complete(hand, data)
            hand.summary |= {name: data[name] for name in ENDING if name in data}
            hand.state = "ended"

    def _complete(self, hand: _Hand, data: Row) -> None:
        """The whole log with its cards replaces the lines as everybody saw them, and what was recorded of cards beside
        it comes to light."""
        name, log = data["hand"], data["log"]
        if len(log) != len(hand.lines):
            self._wrong(name, f"its log has {len(log)} lines, its events recorded {len(hand.lines)}")
        for number, (seen, line) in enumerate(zip(hand.lines, log, strict=False), 1):
            if seen != line and not _same_but_hidden(seen, line):
                self._report.find(
                    "hand_differs", f"hand {name}, line {number}", f"it was {seen!r}, its log says {line!r}"
                )
        hand.lines = hand.summary["log"] = log
        if hand.entered or "entered" in data:
            self._opened(hand, name, data.get("entered", []))
            self._agree(hand, name, log, data.get("entered", []))
        if hand.corrected or "corrected" in data:
            self._named(hand, name, data.get("corrected", []))

    def _agree(self, hand: _Hand, name: str, log: list[str], entered: list[Row]) -> None:
        """Cards that were entered against those that the log names."""
        if hand.card_verbs is None:
            problem = "cards were entered, and the event that dealt it does not say which verbs name cards"
            self._wrong(name, problem, "hand_cards_differ")
            return
        for place, problem in _Table(log, entered, hand.card_verbs).wrong():
            self._report.find("hand_cards_differ", f"hand {name}, {place}", problem)

    def _opened(self, hand: _Hand, name: str, opened: list[Row]) -> None:
        """Cards and salts of entries against the hashes that were recorded while the cards were secret."""
        for number, (recorded, entry) in enumerate(zip_longest(hand.entered, opened), 1):
            if recorded is None or entry is None:
                problem = f"{len(hand.entered)} cards were entered, the event that ends the hand records {len(opened)}"
            else:
                fields = [name, entry["actor"], entry["index"], entry["card"], entry["salt"]]
                if recorded == (entry["actor"], entry["index"], _hash_of(fields)):
                    continue
                problem = f"{entry['card']} at index {entry['index']} of {entry['actor']} is not what was entered"
            self._report.find("hand_cards_differ", f"hand {name}, entry {number}", problem)
            return

    def _named(self, hand: _Hand, name: str, named: list[Row]) -> None:
        """Corrections with their cards against what everybody saw of them."""
        for number, (recorded, one) in enumerate(zip_longest(hand.corrected, named), 1):
            if recorded is not None and one is not None:
                line, before, after = recorded
                seen = _same_but_hidden(before, one["before"]) and _same_but_hidden(after, one["after"])
                if line == one["line"] and seen:
                    continue
            problem = f"it was recorded as {recorded}, at the end as {one}"
            self._report.find("hand_cards_differ", f"hand {name}, correction {number}", problem)
            return

    def _corrected(self, hand: _Hand, data: Row) -> None:
        number = data["line"]
        # Cards turned up by several seats at once were recorded hidden, and may have been seen by everybody since.
        if not 1 <= number <= len(hand.lines) or not _same_but_hidden(hand.lines[number - 1], data["before"]):
            place = f"hand {data['hand']}, line {number}"
            self._report.find("hand_differs", place, f"a correction found {data['before']!r} there")
        else:
            hand.lines[number - 1] = data["after"]
        hand.corrected.append((number, data["before"], data["after"]))

    def _settled(self, hand: _Hand, data: Row) -> None:
        name, result, table = data["hand"], data["result"], hand.table
        for key in ("result", "digest"):
            if data[key] != hand.summary.get(key):
                self._wrong(name, f"{key} is {hand.summary.get(key)} at its end and {data[key]} when it was settled")
        fees = _fees(hand.summary)
        expected = {
            **{
                f"2020/{table}/{seat['player']}": fee - net
                for seat, net, fee in zip(hand.summary["seats"], result["net"], fees, strict=True)
            },
            f"4020/{table}": -sum(fees),
            f"2030/{table}": 0,
            **self._carried(hand, hand.summary["carry"] - result["carry_out"]),
            f"4010/{table}": -result["tax"],
            f"5100/{table}": sum(result["bonus"]),
        }
        self._money(hand, name, expected)
        if hand.summary.get("fees", {}).get("per") == "hour":
            players = (seat["player"] for seat, fee in zip(hand.summary["seats"], fees, strict=True) if fee)
            self._paid.setdefault(hand.chain, set()).update(players)
        self._left[hand.chain] = result.get("series", {})
        self._close(hand, name, "settled", data["settlement"])

    @staticmethod
    def _carried(hand: _Hand, less: int) -> dict[str, int]:
        """What a hand takes from cukassza and bank of its table, by so much less than it leaves there: which of it
        lies where, only an engine knows."""
        bank = f"2050/{hand.table}"
        moved = hand.money.get(bank, 0)
        return {f"2040/{hand.table}": less - moved, **({bank: moved} if moved else {})}

    def _money(self, hand: _Hand, name: str, expected: dict[str, int]) -> None:
        for code in expected | hand.money:
            if code[0] != "9" and hand.money.get(code, 0) != expected.get(code, 0):
                problem = (
                    f"{code} moved by {hand.money.get(code, 0)}, debit positive; it should by {expected.get(code, 0)}"
                )
                self._wrong(name, problem, "hand_money_differs")

    def _frozen(self, hand: _Hand, data: Row) -> None:
        expected = {f"2030/{hand.table}": 0, f"2070/{hand.table}": -data["frozen"]}
        for code, amount in expected.items():
            if hand.money.get(code, 0) != amount:
                problem = f"{code} moved by {hand.money.get(code, 0)}, debit positive; frozen are {data['frozen']}"
                self._wrong(data["hand"], problem, "hand_money_differs")

    def _ruled(self, hand: _Hand, data: Row) -> None:
        name, table, seats = data["hand"], hand.table, hand.summary["seats"]
        ruling = {key: data[key] for key in ("awards", "pot", "tax")}
        hand.summary["ruling"] = ruling
        if sum(ruling["awards"].values()) + ruling["tax"] != ruling["pot"]:
            self._wrong(name, f"awards and tax of {ruling} do not make its pot")
        lost = sum(hand.money.get(f"2020/{table}/{seat['player']}", 0) for seat in seats)
        whole = {f"2030/{table}": 0, f"2070/{table}": 0, **self._carried(hand, hand.summary["carry"]),
                 f"4010/{table}": -ruling["tax"]}  # fmt: skip
        moved = {code: hand.money.get(code, 0) for code in whole}
        if moved != whole or lost != ruling["tax"] - hand.summary["carry"]:
            self._wrong(
                name, f"its seats lost {lost}, it moved {moved}; the ruling says {ruling}", "hand_money_differs"
            )
        self._close(hand, name, "ruled", data.get("settlement"))

    def _voided(self, hand: _Hand, data: Row) -> None:
        name = data["hand"]
        if sorted(hand.posted) != sorted(hand.mirrored):
            problem = f"it is void; it posted {hand.posted} and reversed {hand.mirrored}"
            self._wrong(name, problem, "hand_money_differs")
        hand.money.clear()
        self._complete(hand, data)
        self._close(hand, name, "voided", None)

    def _close(self, hand: _Hand, name: str, state: str, settlement: int | None) -> None:
        hand.state = state
        if settlement is not None:
            hand.summary["settlement"] = settlement
            if settlement not in hand.posted:
                self._wrong(name, f"it names transaction {settlement} as its settlement and posted {hand.posted}")
        for code, amount in hand.money.items():
            if code[:2] == "20":
                self._balances[code] = self._balances.get(code, 0) - amount
        self._closed[name] = self._open.pop(name)

    def advance(self) -> None:
        """Compare the hands that are over with their rows, as far as both are there."""
        if self._closed:
            for name in [name for name in self._closed if name in self._stored]:
                self._compare(name, self._closed.pop(name), self._stored.pop(name))

    def finish(self) -> None:
        """No more events come: every hand has its row and every row its hand."""
        for stored in self._rows:
            self._stored[stored["hand"]] = stored
        for name, hand in (self._closed | self._open).items():
            row = self._stored.pop(name, None)
            if row is None:
                self._wrong(name, "events record it, and it has no row", "hand_missing", hand.at)
            else:
                self._compare(name, hand, row)
        for name in self._stored:
            self._wrong(name, "it has a row, and no event records it", "hand_unrecorded")

    def _compare(self, name: str, hand: _Hand, row: Row) -> None:
        recorded = hand.summary | {"state": hand.state}
        recorded.setdefault("log", hand.lines)
        if recorded == row:
            return
        for key in sorted(recorded.keys() | row.keys()):
            if recorded.get(key) == row.get(key):
                continue
            if key == "log":
                self._compare_logs(name, hand, recorded["log"], row.get("log") or [])
            else:
                problem = f"{key} is {recorded.get(key)} as events record, {row.get(key)} in its row"
                self._wrong(name, problem, "hand_row_differs", hand.at)

    def _compare_logs(self, name: str, hand: _Hand, recorded: list[str], stored: list[str]) -> None:
        for number, (seen, line) in enumerate(zip_longest(recorded, stored, fillvalue=""), 1):
            # While a hand is played its events hide the cards that lie face down, and its row may not.
            if seen != line and (hand.state != "playing" or not _same_but_hidden(seen, line)):
                problem = f"it is {seen!r} as events record, {line!r} as stored"
                self._report.find("hand_row_differs", f"hand {name}, line {number}", problem, hand.at)
                return


def _fees(dealt: Row) -> list[int]:
    """What each seat of a hand pays the house, p1 first, in minor units."""
    amounts: list[int] = dealt.get("fees", {}).get("amounts") or [0] * len(dealt["seats"])
    return amounts


def _same_but_hidden(seen: str, line: str) -> bool:
    """Whether a line as everybody saw it, cards that lay face down as `??`, is this line."""
    if len(seen) != len(line):
        return False
    return line.startswith(seen.rstrip("?")) or all(map(_is_or_hides, seen, line))


def _is_or_hides(seen: str, there: str) -> bool:
    return seen in ("?", there)


# --- Events ----------------------------------------------------------------------------------------------------------


def _refuse(text: str) -> Any:
    raise ValueError(f"{text} is no number of canonical JSON")


_decoded = json.JSONDecoder(parse_float=_refuse, parse_constant=_refuse).decode
#: Version of every event.
VERSION = 2
#: Every kind of event that a house records.
KINDS = frozenset((
    "attempt.failed", "attempt.refused", "cage.buy_in", "cage.cash_out", "cage.exchange", "cage.foreign_chips",
    "cage.tronc_paid", "cards.exception", "cards.exception_cleared", "chips.introduced", "credit.cancelled",
    "credit.received", "credit.requested", "credit.sent", "data.read", "day.closed", "day.opened",
    "deal.abandoned", "deal.committed", "deal.seed_taken", "drawer.closed", "drawer.opened", "drawer.set_up",
    "fill.cancelled", "fill.received", "fill.requested", "fill.sent", "hand.acted", "hand.cards_entered",
    "hand.dealt", "hand.disputed", "hand.entry_corrected", "hand.line_corrected", "hand.ruled", "hand.settled",
    "hand.settlement_failed", "hand.voided", "holds.expired", "house.duty", "house.founded", "imbalance.cleared",
    "imbalance.found", "log.epoch_opened", "player.forgotten", "player.person_recorded", "player.registered",
    "seat.key_issued", "seat.key_revoked", "snapshot.taken", "soft_count.confirmed", "soft_count.counted",
    "soft_count.voided", "staff.activated", "staff.deactivated", "staff.hired", "staff.locked_out",
    "staff.password_changed", "staff.password_set", "staff.roles_changed", "staff.sign_in_refused",
    "staff.signed_in", "staff.signed_out", "staff.unlocked", "table.buy_in", "table.chips_added",
    "table.client_seeds_changed", "table.closed", "table.deck_checked", "table.exchange", "table.left",
    "table.opened", "table.sat_down", "table.seat_fee_changed", "table.set_up", "table.time_to_act_changed",
    "table.tip", "table.tray_stocked", "terminal.enrolled", "terminal.revoked", "vault.opened",
))  # fmt: skip
json_text = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), check_circular=False).encode
_NOT_JSON = (ValueError, RecursionError)


#: The canonical text of nearly all events, lines added to a hand's log with one posting of two legs or none. A
#: line that matches is canonical, and needs no reader of JSON: four times as quick. All other events are read one by
#: one.
_TEXT, _COUNT = r'[^"\\\x00-\x1f]*', "[1-9][0-9]{0,17}"
_LEG = rf'\["({_TEXT})","({_TEXT})",(-?{_COUNT})\]'
_ACTED = re.compile(
    rf'^(?:\{{"actor":"{_TEXT}","at":"({_TEXT})","chain":"({_TEXT})",'
    rf'"data":\{{"first_line":({_COUNT}),"hand":"({_TEXT})","lines":\["({_TEXT}(?:","{_TEXT})*)"\],'
    rf'"table_version":{_COUNT}\}},"house":"({_TEXT})","kind":"hand\.acted",'
    rf'(?:"postings":\[\{{"about":"({_TEXT})","legs":\[{_LEG},{_LEG}\],"tx":({_COUNT})\}}\],)?'
    rf'"prev":"({_TEXT})","request":"{_TEXT}","role":"{_TEXT}","seq":({_COUNT}),"terminal":"{_TEXT}","v":2\}}|.*)$',
    re.MULTILINE,
).findall


def row_of(event: Event) -> Row:
    """What is verified of an event, as its JSON says it."""
    if isinstance(event, dict):
        return event
    at, chain, first, hand, lines, house, about, *legs, number, prev, seq = event
    doc = {
        "at": at,
        "chain": chain,
        "data": {"first_line": int(first), "hand": hand, "lines": lines.split('","')},
        "house": house,
        "kind": "hand.acted",
        "prev": prev,
        "seq": int(seq),
        "v": VERSION,
    }
    if number:
        code, commodity, amount, other, another, rest = legs
        both = [[code, commodity, int(amount)], [other, another, int(rest)]]
        doc["postings"] = [{"about": about, "legs": both, "tx": int(number)}]
    return doc


Beside = Callable[[Sequence[Event | None], Sequence[bytes]], None]


class Verifier:
    """Events in the order of the log, through every check."""

    def __init__(self, report: Report, house: House, trees: Trees, books: Books, hands: Hands) -> None:
        self._report, self._house = report, house
        self.trees, self.books, self.hands = trees, books, hands
        self.chains = Chains(report)
        # No writer of the lines can know it: it keeps them apart where many are read as one text.
        self._mark = secrets.randbits(60)

    def epoch(self, number: int, batches: Iterable[list[bytes]], beside: Beside | None = None) -> None:
        """The payloads of an epoch's leaves, in portions of any size above zero.

        `beside` is handed the events (None for what cannot be read) and hashes of each portion.
        """
        self.trees.begin(number)
        first = number > 1
        for lines in batches:
            hashes = leaf_hashes(lines)
            docs = self._documents(lines)
            self.trees.extend(hashes, docs)
            if beside is not None:
                beside(docs, hashes)
            self._events(docs, hashes, number if first else 0)
            first = False
        if first:
            self.trees.opened(number, None)
        self.trees.end()

    def tail(self, batches: Iterable[list[bytes]], beside: Beside | None = None) -> None:
        """Payloads that are in no log yet, in the order in which they were written; `beside` as for an epoch."""
        waiting = 0
        for lines in batches:
            waiting += len(lines)
            hashes, docs = leaf_hashes(lines), self._documents(lines)
            if beside is not None:
                beside(docs, hashes)
            self._events(docs, hashes)
        if waiting:
            self._report.notice(f"{waiting} events are not in the log yet: only their chains prove them")

    def finish(self) -> Report:
        """No more events come."""
        self._report.counts["events"] = self._report.now
        self.chains.finish()
        self.books.finish()
        self.hands.finish()
        self.trees.finish()
        return self._report

    def _documents(self, lines: list[bytes]) -> list[Event | None]:
        """The events of these lines, None for what cannot be read; each must be the one text of what it says."""
        try:
            found: list[Parts] = _ACTED(b"\n".join(lines).decode())
        except UnicodeDecodeError:
            found = []
        if len(found) != len(lines):
            return [*self._read(lines, range(len(lines)))]
        docs: list[Event | None] = [*found]
        others = [number for number, recorded in enumerate(found) if not recorded[0]]
        for number, doc in zip(others, self._read([lines[number] for number in others], others), strict=True):
            docs[number] = doc
        return docs

    def _read(self, lines: list[bytes], numbers: Sequence[int]) -> list[Row | None]:
        """Lines as JSON, all at once; `numbers` are their places in the portion."""
        mark = self._mark
        try:
            text = f"[{f',{mark},'.encode().join(lines).decode()}]"
            values: list[Any] = _decoded(text)
            if values[1::2] == [mark] * (len(lines) - 1) and len(values) % 2 and json_text(values) == text:
                return values[::2]
        except _NOT_JSON:
            pass  # one of them; each is looked at on its own below, and found
        return [self._document(line, self._report.now + number) for number, line in zip(numbers, lines, strict=True)]

    def _document(self, line: bytes, at: int) -> Row | None:
        try:
            text = line.decode()
            value = _decoded(text)
            canonical = json_text(value)
        except _NOT_JSON as error:
            self._report.find("not_json", f"event {at}", f"it cannot be read: {error}", at)
            return None
        if canonical != text:
            place = place_of(value) if isinstance(value, dict) else f"event {at}"
            self._report.find("not_canonical", place, "its text is not the canonical one of what it says", at)
        return value if isinstance(value, dict) else None

    def _events(self, docs: list[Event | None], hashes: list[bytes], opening: int = 0) -> None:
        report = self._report
        if opening:
            self.trees.opened(opening, None if docs[0] is None else row_of(docs[0]))
        for event, hashed in zip(docs, hashes, strict=True):
            try:
                if event is not None and not (type(event) is tuple and self._is_usual(event, hashed)):
                    self._take(row_of(event), hashed)
            except (LookupError, TypeError, ValueError, AttributeError) as error:
                report.find("not_an_event", f"event {report.now}", f"it is not made like one: {error!r}")
            report.now += 1
        self.books.advance()
        self.hands.advance()

    def _take(self, doc: Row, hashed: bytes) -> None:
        if doc["house"] != self._house.id:
            self._report.find("event_of_another_house", place_of(doc), f"it names house {doc['house']}")
        self.chains.take(doc, hashed.hex())
        if doc["v"] != VERSION or type(doc["v"]) is not int:
            problem = (
                f"it is of version {doc['v']!r}; events are of version {VERSION}, and nothing is made of any other"
            )
            self._report.find("unknown_version", place_of(doc), problem)
            return
        if doc["kind"] not in KINDS:
            self._report.find("unknown_kind", place_of(doc), f"no house records events of the kind {doc['kind']!r}")
        postings = doc.get("postings")
        if postings is not None:
            self.books.record(postings, doc)
            self.hands.take(doc)
        elif doc["kind"][:5] in ("hand.", "deal.") or doc["kind"] in OF_TABLES:
            self.hands.take(doc)

    def _is_usual(self, recorded: Parts, hashed: bytes) -> bool:
        """Take an event in which all is as it must be; False, and nothing done, for any other."""
        at, chain, line, name, _, house, _, _, _, _, _, _, _, posted, prev, seq = recorded
        number, wanted, before = self.chains.heads.get(chain) or (0, GENESIS, "")
        hand = self.hands.under_way(name, int(line))
        if hand is None or chain != hand.chain or house != self._house.id:
            return False
        if prev != wanted or int(seq) != number + 1 or at < before:
            return False
        if posted and not self.books.record_one(int(posted), recorded):
            return False
        self.chains.heads[chain] = (number + 1, hashed.hex(), at)
        self.hands.take_lines(hand, recorded)
        return True


# --- An export set ---------------------------------------------------------------------------------------------------

#: Bytes that are read at a time: what is made of them should still lie in the processor's cache when it is used.
_PORTION = 1 << 15
_ABOUT = b'{"about":['
_ACCOUNT = {"id": int, "code": str, "commodity": str, "normal_side": int, "balance": int, "version": int}
_ENTRY = rf"\[({_COUNT}),({_COUNT}),(-?{_COUNT}),(0|-?{_COUNT})\]"
#: A transaction of two legs, as nearly all are, taken apart without a reader of JSON.
_POSTED = re.compile(
    rf'^(?:\{{"about":(\[.*\]),"id":({_COUNT}),"legs":\[{_ENTRY},{_ENTRY}\],"reverses":null\}}|.*)$', re.MULTILINE
).findall


def _is_made_of(row: Any, types: dict[str, type]) -> bool:
    return type(row) is dict and all(type(row.get(key)) is wanted for key, wanted in types.items())


class Export:
    """A folder that `manage.py export_audit` wrote. Raises Unusable for one that is none."""

    def __init__(self, folder: Path, report: Report) -> None:
        self._folder, self._report = folder, report
        try:
            text = (folder / MANIFEST).read_bytes().decode()
            manifest = _decoded(text.removesuffix("\n"))
            if f"{json_text(manifest)}\n" != text or manifest.keys() != {"code", "currency", "epochs", "house", "tail"}:
                raise Unusable(f"{MANIFEST} is not code, currency, epochs, house and tail in canonical JSON")
            self.house = House(manifest["house"], manifest["code"], manifest["currency"])
            self.epochs: dict[int, int] = {int(epoch): size for epoch, size in manifest["epochs"].items()}
            self.keys = parse_keys((folder / VKEY).read_bytes().decode())
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            raise Unusable(f"{folder} is no export: {error}") from error
        self.size: int = manifest["tail"]

    def notes(self) -> Notes:
        """The log's own checkpoints."""
        return read_notes(self._folder / CHECKPOINTS, "the export")

    def payloads(self, name: str, size: int) -> Iterator[list[bytes]]:
        """The lines of a file of events, which must be so many."""
        count = 0
        for lines in self._portions(name):
            count += len(lines)
            yield lines
        if count != size:
            self._report.find("export_cut", name, f"it has {count} lines, the manifest says {size}")

    def accounts(self) -> list[Row]:
        """The accounts that head the ledger's file."""
        found = []
        with (self._folder / LEDGER).open("rb") as file:
            for line in takewhile(lambda line: line.startswith(b'{"account":'), file):
                [row] = _parsed(LEDGER, [line], {"account": dict})
                if row["account"].keys() != _ACCOUNT.keys() or not _is_made_of(row["account"], _ACCOUNT):
                    raise Unusable(f"{LEDGER} cannot be read: an account has {', '.join(_ACCOUNT)}")
                found.append(row["account"])
        return found

    def transactions(self) -> Iterator[Row]:
        """The ledger's transactions."""
        return transactions_of(self._portions(LEDGER))

    def hands(self) -> Iterator[Row]:
        """The rows of hands."""
        return self._rows(HANDS, {"hand": str})

    def _portions(self, name: str) -> Iterator[list[bytes]]:
        try:
            with (self._folder / name).open("rb") as file:
                while lines := file.readlines(_PORTION):
                    if not lines[-1].endswith(b"\n"):
                        self._report.find("export_cut", name, "its last line has no end")
                        lines[-1] += b"\n"
                    yield [line[:-1] for line in lines]
        except OSError as error:
            raise Unusable(f"{self._folder / name} cannot be read: {error}") from error

    def _rows(self, name: str, types: dict[str, type]) -> Iterator[Row]:
        for lines in self._portions(name):
            yield from _parsed(name, lines, types)


def transactions_of(portions: Iterable[list[bytes]]) -> Iterator[Row]:
    """The ledger's transactions from lines, those of accounts left out. Raises Unusable.

    A line is `{"about":[...],"id":...`: it contains what `about_of` hashes as it is, and needs no reading.
    """
    for lines in portions:
        try:
            found = _POSTED(b"\n".join(lines).decode())
        except UnicodeDecodeError as error:
            raise Unusable(f"{LEDGER} cannot be read: {error}") from error
        for one, line in zip(found, lines, strict=True):
            if one[1]:
                about, number, *legs = one
                numbers = list(map(int, legs))
                hashed = hashlib.sha256(about.encode()).hexdigest()
                yield {"about": hashed, "id": int(number), "legs": [numbers[:4], numbers[4:]], "reverses": None}
            elif not line.startswith(b'{"account":'):
                yield _transaction(line)


def _transaction(line: bytes) -> Row:
    cut = line.rfind(b',"id":')
    if cut < 0 or not line.startswith(_ABOUT):
        raise Unusable(f"{LEDGER} has a line that is neither an account nor a transaction")
    [row] = _parsed(LEDGER, [b"{" + line[cut + 1 :]], {"id": int, "legs": list})
    if row.keys() != {"id", "legs", "reverses"} or not all(
        type(leg) is list and [type(number) for number in leg] == [int] * 4 for leg in row["legs"]
    ):
        raise Unusable(f"{LEDGER} cannot be read: a transaction is about, id, legs of four numbers, reverses")
    return row | {"about": hashlib.sha256(line[len(_ABOUT) - 1 : cut]).hexdigest()}


def _parsed(name: str, lines: list[bytes], types: dict[str, type]) -> list[Row]:
    """Objects, one a line, that have what these keys must be."""
    try:
        found: list[Row] = _decoded(f"[{b','.join(lines).decode()}]")
    except _NOT_JSON as error:
        raise Unusable(f"{name} cannot be read: {error}") from error
    if len(found) != len(lines) or not all(_is_made_of(row, types) for row in found):
        raise Unusable(f"{name} cannot be read: its lines are not an object each with {', '.join(types)}")
    return found


def read_notes(path: Path, name: str, *, held: bool = False, complete: bool = False) -> Notes:
    """The notes of a file. Raises Unusable for one that cannot be read."""
    try:
        return Notes(name, split_notes(path.read_bytes().decode()), held, complete)
    except (OSError, ValueError) as error:
        raise Unusable(f"{path} cannot be read: {error}") from error


@contextmanager
def no_collector() -> Iterator[None]:
    """Nothing here makes cycles, and looking for them costs a third of the time. Around a function, so that what it
    made is gone when the collector looks again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@no_collector()
def verify_export(
    folder: Path, held: Sequence[Notes] = (), keys: Sequence[Key] = (), accepted: Collection[int] = ()
) -> Report:
    """Verify an export against checkpoints that others hold, under keys not taken from it, with the epochs after the
    first that the verifying person accepts. Raises Unusable."""
    report = Report()
    export = Export(folder, report)
    for key in export.keys if keys else ():
        if key not in keys:
            report.find("key_differs", VKEY, f"the export brings {key.text}, which is not among the keys held", at=-1)
    trust(report, held, keys)
    trees = Trees(report, export.house, keys or export.keys, [export.notes(), *held], ed25519_verify, accepted)
    books = Books(report, export.accounts(), export.transactions)
    verifier = Verifier(report, export.house, trees, books, Hands(report, export.hands(), export.house.currency))
    for number in sorted(export.epochs):
        verifier.epoch(number, export.payloads(f"events-{number}.jsonl", export.epochs[number]))
    verifier.tail(export.payloads(TAIL, export.size))
    return verifier.finish()


def trust(report: Report, held: Sequence[Notes], keys: Sequence[Key]) -> None:
    """Report what the result relies on."""
    if not keys:
        report.notice("no key was given: signatures were checked with the key in the export, which proves nothing "
                      "against a forger who makes a new key")  # fmt: skip
    if not held:
        report.notice("no checkpoints were given from outside: a log that was cut short, or written again with the "
                      "house's key, would not be found")  # fmt: skip


def summary(report: Report, seconds: float) -> str:
    """A report in words."""
    counts = report.counts
    lines = [f"note: {text}" for text in report.notices]
    lines += [f"BAD {finding.code} at {finding.place}: {finding.problem}" for finding in report.findings]
    if report.found > len(report.kept):
        lines.append(f"and {report.found - len(report.kept)} more")
    lines.append(", ".join(f"{count:,} {name}" for name, count in counts.items()))
    lines.append(f"{seconds:.1f} s, {counts['events'] / max(seconds, 1e-9):,.0f} events a second")
    lines.append("nothing found" if not report.found else f"{report.found} findings; the first wrong place comes first")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command: 0 when nothing was found, 1 when something was, 2 for input that cannot be used."""
    parser = argparse.ArgumentParser(description="Verify an export of a house's audit trail.")
    parser.add_argument("folder", type=Path, help="what manage.py export_audit wrote")
    parser.add_argument("--checkpoints", type=Path, action="append", default=[], help="checkpoints that you hold")
    parser.add_argument("--key", help="the house's key that you hold: its text, or a file of it")
    parser.add_argument(
        "--accept-epoch", type=int, action="append", default=[], metavar="N",
        help="an epoch that was opened after a restore, when you have asked the two people who opened it",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args(arguments)
    started = time.monotonic()
    try:
        keys = read_keys(given.key) if given.key else []
        held = [read_notes(path, str(path), held=True) for path in given.checkpoints]
        report = verify_export(given.folder, held, keys, given.accept_epoch)
    except Unusable as error:
        print(error, file=sys.stderr)
        return 2
    seconds = time.monotonic() - started
    if given.json:
        print(json.dumps(report.as_json() | {"seconds": round(seconds, 3)}, ensure_ascii=False, indent=1))
    else:
        print(summary(report, seconds))
    return 1 if report.found else 0


def read_keys(given: str) -> list[Key]:
    """Keys from the text of one, or from a file that holds them, a line each. Raises Unusable."""
    if "+" in given and not Path(given).exists():
        return [parse_key(given)]
    try:
        return parse_keys(Path(given).read_bytes().decode())
    except (OSError, ValueError) as error:
        raise Unusable(f"{given} is neither a key nor a file of keys: {error}") from error


if __name__ == "__main__":
    sys.exit(main())
