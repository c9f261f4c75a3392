"""Tiles of the log, read by a client that was written from C2SP tlog-tiles, tlog-checkpoint and RFC 6962 alone."""

import base64
import hashlib
from collections.abc import Callable

import pytest

from casino.audit.models import Leaf, Log
from casino.staff.models import Role
from tests.casino.kit import Desk, Kit
from tests.casino.logs import note
from tests.casino.superuser import unguarded

PREFIX = "/api/v1/audit/log/1"
FOREVER = "private, max-age=31536000, immutable"


@pytest.fixture
def auditor(kit: Kit) -> Desk:
    """An auditor of a house whose log has 300 leaves and some."""
    note(kit, "house", 300)
    kit.sequence()
    return kit.office()


class Client:
    """Fetches a checkpoint, and the tiles that a tree of its size has; `get` answers what is at a path below the
    log's prefix."""

    def __init__(self, get: Callable[[str], bytes]) -> None:
        self.get = get
        body, _, signatures = get("checkpoint").decode().partition("\n\n")
        self.origin, size, root = body.split("\n")[:3]
        self.size, self.root = int(size), base64.b64decode(root)
        assert all(line.startswith("\u2014 ") for line in signatures.rstrip("\n").split("\n"))
        self.tiles: dict[tuple[int, int], list[bytes]] = {}
        level = 0
        while self.size >> 8 * level:
            full, rest = divmod(self.size >> 8 * level, 256)
            for number in range(full):
                self.tiles[level, number] = self._tile(f"tile/{level}/{self.number(number)}", 256)
            if rest:
                self.tiles[level, full] = self._tile(f"tile/{level}/{self.number(full)}.p/{rest}", rest)
            level += 1

    def _tile(self, path: str, width: int) -> list[bytes]:
        data = self.get(path)
        assert len(data) == 32 * width, path
        return [data[at : at + 32] for at in range(0, len(data), 32)]

    @staticmethod
    def number(index: int) -> str:
        """1234067 is x001/x234/067."""
        elements = [f"{index % 1000:03d}"]
        while index := index // 1000:
            elements.insert(0, f"x{index % 1000:03d}")
        return "/".join(elements)

    def mth(self, begin: int, end: int) -> bytes:
        """The Merkle Tree Hash of D[begin:end] (RFC 6962, 2.1), from the highest tiles that have it."""
        width = end - begin
        level = (width.bit_length() - 1) // 8
        if width == 256**level and begin % width == 0 and (level, begin // width // 256) in self.tiles:
            return self.tiles[level, begin // width // 256][begin // width % 256]
        split = begin + (1 << (width - 1).bit_length() - 1)
        return hashlib.sha256(b"\x01" + self.mth(begin, split) + self.mth(split, end)).digest()

    def path(self, leaf: int, begin: int, end: int) -> list[bytes]:
        """The audit path of a leaf in D[begin:end] (RFC 6962, 2.1.1)."""
        if end - begin == 1:
            return []
        split = begin + (1 << (end - begin - 1).bit_length() - 1)
        if leaf < split:
            return [*self.path(leaf, begin, split), self.mth(split, end)]
        return [*self.path(leaf, split, end), self.mth(begin, split)]

    def proves(self, leaf: int, payload: bytes) -> bool:
        """Whether the checkpoint's tree has this entry as this leaf: the path hashed up to the root."""
        found, index, last = hashlib.sha256(b"\x00" + payload).digest(), leaf, self.size - 1
        for node in self.path(leaf, 0, self.size):
            if index & 1 or index == last:
                found = hashlib.sha256(b"\x01" + node + found).digest()
                while not index & 1 and index:
                    index, last = index >> 1, last >> 1
            else:
                found = hashlib.sha256(b"\x01" + found + node).digest()
            index, last = index >> 1, last >> 1
        return found == self.root and last == 0


def fetched(desk: Desk) -> Callable[[str], bytes]:
    """A getter for a client's paths."""

    def get(path: str) -> bytes:
        answer = desk.get(f"{PREFIX}/{path}")
        assert answer.status_code == 200, (path, answer.text)
        plain = path == "checkpoint"
        expected = "text/plain; charset=utf-8" if plain else "application/octet-stream"
        assert answer.headers["Content-Type"] == expected
        assert answer.headers["Cache-Control"] == ("no-store" if plain else FOREVER)
        assert plain or "Authorization" in answer.headers["Vary"]
        return answer.content

    return get


def test_a_client_of_the_specification_computes_root_and_proofs(kit: Kit, auditor: Desk) -> None:
    client = Client(fetched(auditor))
    log = Log.objects.get(house=kit.house)
    assert (client.origin, client.size) == (log.origin, log.size) and client.size > 300
    assert list(client.tiles) == [(0, 0), (0, 1), (1, 0)]
    assert client.mth(0, client.size) == client.root
    for index in (0, 254, 255, 256, client.size - 1):
        leaf = Leaf.objects.select_related("event").get(house=kit.house, epoch=1, leaf_index=index)
        assert client.proves(index, leaf.event.payload.encode()), index
        assert not client.proves(index, b"{}")


def test_the_checkpoint_is_the_newest_note_byte_for_byte(kit: Kit, auditor: Desk) -> None:
    older = auditor.get(f"{PREFIX}/checkpoint").content
    note(kit, "house", 1)
    kit.sequence()
    newer = auditor.get(f"{PREFIX}/checkpoint").content
    assert newer == auditor.get("audit/checkpoint?epoch=1").content != older


def test_a_tile_never_changes_while_the_log_grows(kit: Kit, auditor: Desk) -> None:
    before = Client(fetched(auditor))
    note(kit, "house", 300)
    kit.sequence()
    after = Client(fetched(auditor))
    assert after.mth(0, after.size) == after.root
    for place, hashes in before.tiles.items():
        assert after.tiles[place][: len(hashes)] == hashes
    last = before.size % 256
    data = auditor.get(f"{PREFIX}/tile/0/001.p/{last}")
    assert data.content == b"".join(before.tiles[0, 1]), "the tiles of earlier checkpoints are still there"


def test_a_tile_that_no_checkpoint_covers_is_not_there(kit: Kit, auditor: Desk) -> None:
    size = Log.objects.get(house=kit.house).size
    note(kit, "house", 300)
    rest = size % 256
    for path in (
        f"0/001.p/{rest + 1}",
        "0/001",
        "0/002.p/1",
        "1/000.p/2",
        "1/000",
        "2/000.p/1",
        "63/000.p/1",
        "0/x001/000",
    ):
        refused = auditor.get(f"{PREFIX}/tile/{path}")
        assert (refused.status_code, refused.json()["code"], refused.json()["size"]) == (
            404, "tile_not_covered", size,
        ), path  # fmt: skip
        assert refused.headers.get("Cache-Control") != FOREVER
    kit.sequence()
    assert auditor.get(f"{PREFIX}/tile/0/001").status_code == 200


def test_what_is_no_tile_is_not_found(auditor: Desk) -> None:
    for path in (
        "log/1/tile/0/0", "log/1/tile/0/0000", "log/1/tile/0/x000/000", "log/1/tile/0/001/000", "log/1/tile/0/000.p",
        "log/1/tile/0/000.p/0", "log/1/tile/0/000.p/01", "log/1/tile/0/000.p/256", "log/1/tile/0/000.p/999",
        f"log/1/tile/0/{'x999/' * 6}999", "log/1/tile/00/000", "log/1/tile/64/000", "log/1/tile/-1/000",
        "log/1/tile/entries/000", "log/2/tile/0/000", "log/0/tile/0/000", "log/2/checkpoint", "log/0/checkpoint",
        f"log/{10**30}/checkpoint", f"log/{10**30}/tile/0/000",
    ):  # fmt: skip
        refused = auditor.get(f"audit/{path}")
        assert (refused.status_code, refused.json()["code"]) == (404, "not_found"), (path, refused.text)


def test_parameters_are_refused(auditor: Desk) -> None:
    for path in ("checkpoint", "tile/0/000"):
        refused = auditor.get(f"{PREFIX}/{path}?size=1")
        assert (refused.status_code, refused.json()["code"]) == (400, "invalid_parameter")


def test_a_house_reads_its_own_tiles_only(kit: Kit, auditor: Desk) -> None:
    other = Kit.found()
    try:
        other.sequence()
        mine, theirs = (desk.get(f"{PREFIX}/tile/0/000.p/1").content for desk in (auditor, other.office(Role.ADMIN)))
        assert mine != theirs and len(mine) == len(theirs) == 32
    finally:
        other.close()


def test_a_tile_whose_hashes_are_gone_is_not_answered(kit: Kit, auditor: Desk) -> None:
    with unguarded("audit_leaf") as cursor:
        cursor.execute("DELETE FROM audit_leaf WHERE house_id = %s AND leaf_index = 7", [kit.house.id])
    refused = auditor.get(f"{PREFIX}/tile/0/000")
    assert (refused.status_code, refused.json()["code"]) == (503, "log_damaged")
    assert auditor.get(f"{PREFIX}/tile/0/001.p/1").status_code == 200


@pytest.mark.slow
def test_a_client_reads_three_levels(kit: Kit, auditor: Desk) -> None:
    for _ in range(14):
        note(kit, "house", 5_000)
        kit.sequence()
    client = Client(fetched(auditor))
    full, rest = divmod(client.size >> 8, 256)
    assert full == 1 and {place for place in client.tiles if place[0]} == {(1, 0), (1, 1), (2, 0)}
    assert (len(client.tiles[1, 0]), len(client.tiles[1, 1]), len(client.tiles[2, 0])) == (256, rest, 1)
    assert client.mth(0, client.size) == client.root
    leaf = Leaf.objects.select_related("event").get(house=kit.house, epoch=1, leaf_index=65_535)
    assert client.proves(65_535, leaf.event.payload.encode())
