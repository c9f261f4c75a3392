"""The shape of a Merkle tree that is kept in tiles: which hashes a root or a proof needs, and how it grows.

Pure: hashes are read elsewhere (`proofs.py`). A range is `(begin, end)` in leaves, half open. RFC 6962 splits a tree at
the largest power of two below its size, so every range here is made of perfect subtrees that begin at a multiple of
their own size, and a perfect subtree is 2**r hashes of one tile level: level n holds roots of 256**n leaves.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from casino.audit.verify import Frontier, root_of

#: A tile is the root of 2**TILE_BITS hashes of the level below.
TILE_BITS = 8
WIDTH = 1 << TILE_BITS

Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Tile:
    """A tile that became complete: level (1 and up), number in its level, hash of 32 bytes."""

    level: int
    index: int
    hash: bytes


@dataclass(frozen=True, slots=True)
class Span:
    """`count` hashes of a tile level (0: leaves) from number `start` on; `count` is a power of two."""

    level: int
    start: int
    count: int


def spans(begin: int, end: int) -> list[Span]:
    """The perfect subtrees of a range, left to right, each as the hashes to read for it."""
    found = []
    for bit in reversed(range((end - begin).bit_length())):
        if (end - begin) >> bit & 1:
            level, rest = divmod(bit, TILE_BITS)
            start = begin + ((end - begin) >> bit + 1 << bit + 1)
            found.append(Span(level, start >> TILE_BITS * level, 1 << rest))
    return found


def inclusion(index: int, size: int) -> list[Range]:
    """Ranges whose roots prove that leaf `index` is in the tree of `size` leaves, from the leaf upwards (RFC 6962,
    2.1.1)."""
    path: list[Range] = []
    begin, end = 0, size
    while end - begin > 1:
        split = begin + _below(end - begin)
        if index < split:
            path.append((split, end))
            end = split
        else:
            path.append((begin, split))
            begin = split
    return path[::-1]


def consistency(old: int, new: int) -> list[Range]:
    """Ranges whose roots prove that the tree of `new` leaves begins with the tree of `old` ones (RFC 6962, 2.1.2)."""
    if old in (0, new):
        return []
    path: list[Range] = []
    begin, end = 0, new
    while end != old:
        split = begin + _below(end - begin)
        if old <= split:
            path.append((split, end))
            end = split
        else:
            path.append((begin, split))
            begin = split
    if begin:  # otherwise the old tree is itself a subtree, whose root the verifier has
        path.append((begin, end))
    return path[::-1]


def _below(size: int) -> int:
    """The largest power of two that is smaller than `size` (2 or more)."""
    return 1 << (size - 1).bit_length() - 1


def joined(roots: Sequence[bytes], size: int) -> bytes:
    """Root of a range of `size` leaves out of the roots of its perfect subtrees."""
    return Frontier(size, roots).root()


@dataclass(slots=True)
class Growing:
    """A tree in memory, as far as its growth needs it: at each level the hashes of the tile that is not complete."""

    size: int = 0
    open: list[list[bytes]] = field(default_factory=lambda: [[]])

    @classmethod
    def needs(cls, size: int) -> Iterator[tuple[int, int, int]]:
        """What to read for a tree of `size` leaves: level, number of the first hash, how many; level 0 first."""
        level = 0
        while size or not level:
            start = size & -WIDTH
            yield level, start, size - start
            size >>= TILE_BITS
            level += 1

    def copy(self) -> "Growing":
        """One that may grow without changing this one."""
        return Growing(self.size, [list(hashes) for hashes in self.open])

    def extend(self, leaves: Iterable[bytes]) -> list[Tile]:
        """Append leaf hashes; returns the tiles that became complete."""
        complete: list[Tile] = []
        for leaf in leaves:
            self.size += 1
            self._add(0, leaf, complete)
        return complete

    def root(self) -> bytes:
        """Root of the whole tree, 32 bytes."""
        roots = []
        for hashes in reversed(self.open):
            at = 0
            for bit in reversed(range(TILE_BITS)):
                if len(hashes) >> bit & 1:
                    roots.append(root_of(hashes[at : at + (1 << bit)]))
                    at += 1 << bit
        return Frontier(self.size, roots).root()

    def _add(self, level: int, found: bytes, complete: list[Tile]) -> None:
        if level == len(self.open):
            self.open.append([])
        hashes = self.open[level]
        hashes.append(found)
        if len(hashes) == WIDTH:
            tile = root_of(hashes)
            hashes.clear()
            complete.append(Tile(level + 1, (self.size >> TILE_BITS * (level + 1)) - 1, tile))
            self._add(level + 1, tile, complete)
