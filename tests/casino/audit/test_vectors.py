"""What writes the log and what verifies it share no code: both are held against the same published vectors."""

import base64
from collections.abc import Callable
from typing import Any

import pytest

from casino.audit import merkle, notes, verifier
from tests.casino.audit.test_tree import INPUTS, ROOTS

SIDES = pytest.mark.parametrize("side", [merkle, verifier], ids=["writes", "verifies"])


@SIDES
def test_the_published_tree_of_certificate_transparency(side: Any) -> None:
    leaves = [verifier.leaf_hash(bytes.fromhex(text)) for text in INPUTS]
    assert [side.root_of(leaves[:size]).hex() for size in range(1, 9)] == ROOTS
    assert side.root_of([]).hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@SIDES
def test_subtrees_of_256_leaves_become_tiles(side: Any) -> None:
    tiles: list[tuple[int, int, bytes]] = []
    leaves = [number.to_bytes(32) for number in range(65_536 + 513)]
    side.Frontier(formed=lambda *tile: tiles.append(tile)).extend(leaves)
    level_1 = [(1, at, side.root_of(leaves[at * 256 : (at + 1) * 256])) for at in range(258)]
    assert [tile for tile in tiles if tile[0] == 1] == level_1
    assert [tile for tile in tiles if tile[0] == 2] == [(2, 0, side.root_of(leaves[:65_536]))]


#: The example of the documentation of golang.org/x/mod/sumdb/note.
VKEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
TEXT = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
SIGNED = base64.b64decode(
    "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM="
)


def written(vkey: str, text: str, signature: bytes) -> bool:
    """Whether the side that writes takes a signature."""
    return notes.Key.parse(vkey).has_signed(text, signature)


def verified(vkey: str, text: str, signature: bytes) -> bool:
    """Whether the side that verifies takes it."""
    return verifier.ed25519_verify(verifier.parse_key(vkey).public, text.encode(), signature)


@pytest.mark.parametrize("takes", [written, verified])
def test_the_published_note(takes: Callable[[str, str, bytes], bool]) -> None:
    key_hash, signature = SIGNED[:4], SIGNED[4:]
    assert key_hash.hex() == "c74f20a3"
    assert takes(VKEY, TEXT, signature)
    assert not takes(VKEY, TEXT + "\n", signature)
    assert not takes(VKEY, TEXT, signature[:-1] + b"\0")


@pytest.mark.parametrize(
    "vkey",
    [
        VKEY.replace("c74f20a3", "c74f20a4"),
        VKEY.replace("c74f20a3", "C74F20A3"),
        VKEY.replace("Peter", "Peter "),
        VKEY.replace("Peter", "Peter+"),
        VKEY[:-1],
        f"{VKEY}\n",
        f"{VKEY}=",
        VKEY.replace("ARpc", "Ahpc"),
        "",
    ],
)
@pytest.mark.parametrize(
    ("parse", "refusal"), [(notes.Key.parse, notes.NoteUnreadable), (verifier.parse_key, verifier.Unusable)]
)
def test_no_other_text_of_a_key_is_taken(parse: Callable[[str], Any], refusal: type[Exception], vkey: str) -> None:
    with pytest.raises(refusal):
        parse(vkey)
