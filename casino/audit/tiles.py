"""Tiles of a log, as C2SP tlog-tiles names them: 256 hashes of a level, side by side.

A hash of level L is the root of 256**L leaves. The database keeps those of level 0 as leaves and those above as they
become complete (`Tile`), so a tile of any level is one walk of an index: at most 256 rows, however large the log is.
"""

import re
from dataclasses import dataclass

from casino.audit import selectors
from casino.audit.merkle import TILE_BITS
from casino.audit.proofs import Hashes, HashesMissing
from casino.core.errors import LogDamaged, NotFound
from casino.houses.models import House

#: Hashes of a full tile.
WIDTH = 1 << TILE_BITS
#: The level, its number in three-digit elements (no log has more than 18 digits of leaves), the width of a partial one.
_LEVEL = re.compile(r"[0-9]|[1-5][0-9]|6[0-3]", re.ASCII)
_PATH = re.compile(r"((?:x[0-9]{3}/){0,5}[0-9]{3})(?:\.p/([1-9][0-9]{0,2}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Address:
    """Which tile: its level, its number in the level from 0, and how many of its hashes (256: the full one)."""

    level: int
    index: int
    width: int = WIDTH

    @classmethod
    def parse(cls, level: str, path: str) -> "Address":
        """From `<L>` and `<N>[.p/<W>]` as the specification writes them. Raises NotFound."""
        found = _PATH.fullmatch(path)
        if found is None or not _LEVEL.fullmatch(level):
            raise _unknown()
        index, width = int(found[1].replace("x", "").replace("/", "")), int(found[2] or WIDTH)
        if _elements(index) != found[1] or (found[2] and width >= WIDTH):
            raise _unknown()
        return cls(int(level), index, width)

    @property
    def size(self) -> int:
        """How many leaves a log must have for it."""
        return self.index * WIDTH + self.width << TILE_BITS * self.level


def read(house: House, epoch: int, address: Address) -> bytes:
    """The hashes of a tile, 32 bytes each, if the newest checkpoint of the epoch covers all of them.

    Raises NotFound for an epoch without a checkpoint, and `tile_not_covered`; LogDamaged if hashes are missing.
    """
    newest = selectors.checkpoint(house, epoch)
    if address.size > newest.size:
        raise NotFound(
            f"The tile needs {address.size} leaves; the newest checkpoint of epoch {epoch} covers {newest.size}.",
            code="tile_not_covered",
            size=newest.size,
        )
    try:
        return Hashes(house.id, epoch).tile(address.level, address.index * WIDTH, address.width)
    except HashesMissing as error:
        raise LogDamaged(f"The tile cannot be read: {error}.") from error


def _elements(index: int) -> str:
    """A number as the elements of a path: 1234067 is `x001/x234/067`."""
    digits = f"{index:0{-(-len(str(index)) // 3) * 3}d}"
    *first, last = (digits[at : at + 3] for at in range(0, len(digits), 3))
    return "".join(f"x{one}/" for one in first) + last


def _unknown() -> NotFound:
    return NotFound("A tile is LEVEL/NUMBER as C2SP tlog-tiles writes it: 0/000, 0/x001/234, 1/000.p/17.")
