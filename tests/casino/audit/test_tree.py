"""Roots and proofs against RFC 6962 as it is written, and against published vectors."""

import hashlib
import uuid
from collections.abc import Sequence
from functools import cache, lru_cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from casino.audit.merkle import EMPTY_ROOT, Frontier
from casino.audit.proofs import Hashes
from casino.audit.sequencing import Tile
from casino.audit.tree import Span
from casino.audit.verifier import leaf_hash, verify_consistency, verify_inclusion

# --- RFC 6962 once more, straight from its definitions (2.1, 2.1.1, 2.1.2) -------------------------------------------


@cache
def mth(begin: int, end: int) -> bytes:
    """Merkle Tree Hash of the leaves from `begin` up to `end`."""
    if begin == end:
        return hashlib.sha256(b"").digest()
    if end - begin == 1:
        return leaves(BIG)[begin]
    k = begin + split(end - begin)
    return hashlib.sha256(b"\x01" + mth(begin, k) + mth(k, end)).digest()


def path(m: int, begin: int, end: int) -> list[bytes]:
    """Audit path of leaf m among these."""
    if end - begin == 1:
        return []
    k = begin + split(end - begin)
    if m < k:
        return [*path(m, begin, k), mth(k, end)]
    return [*path(m, k, end), mth(begin, k)]


def subproof(m: int, begin: int, end: int, whole: bool = True) -> list[bytes]:
    """Consistency proof: these leaves begin with those before m."""
    if m == end:
        return [] if whole else [mth(begin, end)]
    k = begin + split(end - begin)
    if m <= k:
        return [*subproof(m, begin, k, whole), mth(k, end)]
    return [*subproof(m, k, end, False), mth(begin, k)]


def split(n: int) -> int:
    """The largest power of two smaller than n."""
    k = 1
    while k * 2 < n:
        k *= 2
    return k


#: Two tiles of level 2, three of level 1 beside them, and a rest.
BIG = 2 * 65_536 + 3 * 256 + 77

# --- The code under test over hashes in memory ----------------------------------------------------------------------


class InMemory(Hashes):
    """Reads leaves and tiles from lists; a tile that is not complete is not there, as in the database."""

    levels: dict[int, list[bytes]] = {}

    def _read(self, spans: Sequence[Span]) -> list[list[bytes]]:
        found = [self.levels[span.level][span.start : span.start + span.count] if span.count else [] for span in spans]
        assert [len(hashes) for hashes in found] == [span.count for span in spans]
        return found


@lru_cache
def leaves(count: int) -> list[bytes]:
    """So many different leaf hashes."""
    return [leaf_hash(str(number).encode()) for number in range(count)]


@lru_cache
def grown(count: int) -> tuple[Hashes, Frontier]:
    """A tree of `leaves(count)` that has grown in uneven steps."""
    tiles: list[Tile] = []
    tree, step, at = Frontier(formed=lambda *tile: tiles.append(tile)), 1, 0
    while at < count:
        tree.extend(leaves(count)[at : at + step])
        at, step = at + step, step * 3 % 1000 + 1
    return stored(leaves(count), tiles), tree


def stored(leaf_hashes: list[bytes], tiles: list[Tile]) -> Hashes:
    """What a database would hold."""
    hashes = InMemory(uuid.uuid4(), 1)
    levels: dict[int, list[bytes]] = {0: list(leaf_hashes), 1: [], 2: [], 3: []}
    for level, index, found in tiles:
        assert index == len(levels[level]), "tiles become complete in their order"
        levels[level].append(found)
    object.__setattr__(hashes, "levels", levels)
    return hashes


@pytest.mark.some_now(3)
@pytest.mark.parametrize("sizes", [range(1, 40), range(40, 131), [255, 256, 257, 511, 512, 513, 700]], ids=str)
def test_every_proof_of_every_tree(sizes: Sequence[int]) -> None:
    known, hashes = leaves(BIG), grown(BIG)[0]
    for size in sizes:
        root = mth(0, size)
        assert hashes.root(size) == root
        for index in range(size):
            proof = hashes.inclusion(index, size)
            assert proof == path(index, 0, size)
            assert verify_inclusion(known[index], index, size, proof, root)
            proof = hashes.consistency(index + 1, size)
            assert proof == subproof(index + 1, 0, size)
            assert verify_consistency(index + 1, size, proof, mth(0, index + 1), root)


@given(st.integers(1, BIG), st.data())
@settings(deadline=None)
def test_proofs_of_a_large_tree_use_tiles_of_two_levels(size: int, data: st.DataObject) -> None:
    hashes, _ = grown(BIG)
    index = data.draw(st.integers(0, size - 1))
    assert hashes.root(size) == mth(0, size)
    assert hashes.inclusion(index, size) == path(index, 0, size)
    assert hashes.consistency(index + 1, size) == subproof(index + 1, 0, size)


@pytest.mark.parametrize("size", [0, 1, 2, 255, 256, 257, 65_535, 65_536, 65_537, BIG])
def test_a_tree_taken_up_from_its_tiles_goes_on_like_one_that_never_stopped(size: int) -> None:
    hashes, whole = grown(BIG)
    taken_up = hashes.frontier(size)
    assert taken_up.root() == (mth(0, size) if size else EMPTY_ROOT)
    tiles: list[Tile] = []
    resumed = Frontier(size, taken_up.roots, lambda *tile: tiles.append(tile))
    resumed.extend(leaves(BIG)[size:])
    assert (resumed.size, resumed.root(), resumed.roots) == (whole.size, whole.root(), whole.roots)
    assert [tile for tile in tiles if tile[0] == 2] == [
        (2, index, mth(index << 16, index + 1 << 16)) for index in range(size >> 16, BIG >> 16)
    ]


# --- Published: the reference tree of Certificate Transparency, as transparency-dev/merkle has it ---------------------

INPUTS = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
INCLUSION = {
    (0, 8): ["96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
             "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
             "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4"],
    (5, 8): ["bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
             "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
             "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"],
    (2, 3): ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"],
    (1, 5): ["6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
             "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
             "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b"],
}  # fmt: skip
CONSISTENCY = {
    (1, 1): [],
    (1, 8): ["96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
             "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
             "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4"],
    (6, 8): ["0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
             "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
             "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"],
    (2, 5): ["5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
             "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b"],
}  # fmt: skip


@pytest.fixture(scope="module")
def published() -> Hashes:
    """The reference tree of eight leaves."""
    return stored([leaf_hash(bytes.fromhex(text)) for text in INPUTS], [])


def test_published_roots(published: Hashes) -> None:
    assert [published.root(size).hex() for size in range(1, 9)] == ROOTS


def test_published_proofs(published: Hashes) -> None:
    for (index, size), proof in INCLUSION.items():
        assert [node.hex() for node in published.inclusion(index, size)] == proof
    for (old, new), proof in CONSISTENCY.items():
        assert [node.hex() for node in published.consistency(old, new)] == proof
