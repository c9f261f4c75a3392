"""The shape of a Merkle tree that is kept in tiles: which hashes a root or a proof needs. How it grows is
`Frontier`'s.

Pure: hashes are read elsewhere (`proofs.py`). A range is `(begin, end)` in leaves, half open. RFC 6962 splits a tree at
the largest power of two below its size, so every range here is made of perfect subtrees that begin at a multiple of
their own size, and a perfect subtree is 2**r hashes of one tile level: level n holds roots of 256**n leaves.
"""

from dataclasses import dataclass

from casino.audit.merkle import TILE_BITS

Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Span:
    """`count` hashes of a tile level (0: leaves) from number `start` on; in a root or a proof, a power of two."""

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
