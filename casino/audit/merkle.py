"""The Merkle tree of RFC 6962 as the house grows it.

The verifier has its own code for the same formats (`verifier/merkle.py`, `verifier/notes.py`), and this side imports
none of it: a mistake of one side shows as a finding of the other. Tests hold both against the same published vectors.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence

TILE_BITS = 8
"""A tile is the root of 2**TILE_BITS hashes of the level below."""
EMPTY_ROOT = hashlib.sha256().digest()
"""The root of a tree without leaves (RFC 6962, 2.1)."""


def node_hash(left: bytes, right: bytes) -> bytes:
    """SHA-256(0x01 || left || right), 32 bytes."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def root_of(hashes: Iterable[bytes]) -> bytes:
    """Root of a tree of these leaf hashes (or of perfect subtrees of one size), 32 bytes."""
    tree = Frontier()
    tree.extend(hashes)
    return tree.root()


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

    def extend(self, leaves: Iterable[bytes]) -> None:
        """Append leaf hashes of 32 bytes."""
        for leaf in leaves:
            self._append(leaf)

    def root(self) -> bytes:
        """Root of all leaves so far, 32 bytes."""
        if not self.roots:
            return EMPTY_ROOT
        *larger, found = self.roots
        for left in reversed(larger):
            found = node_hash(left, found)
        return found

    def _append(self, root: bytes) -> None:
        """Each 1 at the end of the size is a subtree that the new one completes to one of twice its leaves."""
        number, level = self.size, 0
        while number & 1:
            root = node_hash(self.roots.pop(), root)
            number, level = number >> 1, level + 1
            if self._formed is not None and level % TILE_BITS == 0:
                self._formed(level // TILE_BITS, number, root)
        self.roots.append(root)
        self.size += 1
