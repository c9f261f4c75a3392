"""The Merkle tree of RFC 6962: hashes of leaves and nodes, roots, proofs of inclusion and of consistency."""

import hashlib
from collections.abc import Callable, Iterable, Sequence

TILE_BITS = 8
"""A tile is the root of 2**TILE_BITS hashes of the level below."""
EMPTY_ROOT = hashlib.sha256(b"").digest()
"""The root of a tree without leaves (RFC 6962, 2.1)."""


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
