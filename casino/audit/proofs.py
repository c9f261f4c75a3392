"""Roots and proofs of a log, computed from its tiles: some hundred rows, however large the log is."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import DEFAULT_DB_ALIAS, connections

from casino.audit import tree
from casino.audit.merkle import Frontier, root_of
from casino.audit.tree import Range, Span

# Each span is read by one walk of the index: joined freely, the planner reads the whole log for them.
_LEAVES = """
SELECT span.number, found.leaf_hash
FROM unnest(%s::bigint[], %s::bigint[]) WITH ORDINALITY AS span(first, past, number)
CROSS JOIN LATERAL (
    SELECT leaf_hash, leaf_index FROM audit_leaf
    WHERE house_id = %s AND epoch = %s AND leaf_index >= span.first AND leaf_index < span.past
    ORDER BY leaf_index LIMIT span.past - span.first
) AS found
ORDER BY span.number, found.leaf_index
"""
_TILES = """
SELECT span.number, found.hash
FROM unnest(%s::bigint[], %s::bigint[], %s::smallint[]) WITH ORDINALITY AS span(first, past, level, number)
CROSS JOIN LATERAL (
    SELECT hash, tile_index FROM audit_tile
    WHERE house_id = %s AND epoch = %s AND level = span.level
        AND tile_index >= span.first AND tile_index < span.past
    ORDER BY tile_index LIMIT span.past - span.first
) AS found
ORDER BY span.number, found.tile_index
"""


class HashesMissing(Exception):
    """A log without hashes that it must have: it is damaged, or shorter than was said."""


@dataclass(frozen=True, slots=True)
class Hashes:
    """Reads the hashes of one log; `using` names the database alias."""

    house: uuid.UUID
    epoch: int
    using: str = DEFAULT_DB_ALIAS

    def root(self, size: int) -> bytes:
        """Root of the first `size` leaves, 32 bytes. Raises HashesMissing."""
        return self._roots([(0, size)])[0]

    def inclusion(self, index: int, size: int) -> list[bytes]:
        """Audit path of leaf `index` (from 0) in the tree of `size` leaves, from the leaf upwards."""
        return self._roots(tree.inclusion(index, size))

    def consistency(self, old: int, new: int) -> list[bytes]:
        """Proof that the tree of `new` leaves begins with the tree of `old` leaves."""
        return self._roots(tree.consistency(old, new))

    def tile(self, level: int, start: int, count: int) -> bytes:
        """Hashes of a tile level (0: leaves) from number `start` on, 32 bytes each. Raises HashesMissing."""
        [found] = self._read([Span(level, start, count)])
        return b"".join(found)

    def frontier(self, size: int) -> Frontier:
        """The tree of the first `size` leaves, ready to grow. Raises HashesMissing."""
        return self._frontiers([(0, size)])[0]

    def _roots(self, ranges: Sequence[Range]) -> list[bytes]:
        return [frontier.root() for frontier in self._frontiers(ranges)]

    def _frontiers(self, ranges: Sequence[Range]) -> list[Frontier]:
        """Each range as the roots of its perfect subtrees."""
        needed = [tree.spans(begin, end) for begin, end in ranges]
        read = iter(self._read([span for spans in needed for span in spans]))
        return [
            Frontier(end - begin, [root_of(next(read)) for _ in spans])
            for spans, (begin, end) in zip(needed, ranges, strict=True)
        ]

    def _read(self, spans: Sequence[Span]) -> list[list[bytes]]:
        """The hashes of each span; two statements together. Raises HashesMissing."""
        found: list[list[bytes]] = [[] for _ in spans]
        for at_leaves in (True, False):
            asked = [number for number, span in enumerate(spans) if span.count and (span.level == 0) == at_leaves]
            first = [spans[number].start for number in asked]
            past = [spans[number].start + spans[number].count for number in asked]
            levels = [] if at_leaves else [[spans[number].level for number in asked]]
            if asked:
                with connections[self.using].cursor() as cursor:
                    cursor.execute(_LEAVES if at_leaves else _TILES, [first, past, *levels, self.house, self.epoch])
                    for number, value in cursor.fetchall():
                        found[asked[number - 1]].append(bytes(value))
        for span, hashes in zip(spans, found, strict=True):
            if len(hashes) != span.count:
                raise HashesMissing(f"epoch {self.epoch} lacks hashes of level {span.level} from {span.start} on")
        return found
