"""Tree, signatures and notes of the verifier against RFCs, against `cryptography`, and against a plain model."""

import base64
import hashlib

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given, settings
from hypothesis import strategies as st

from casino.audit import verifier
from casino.audit.notes import Checkpoint, Key, note_text
from casino.audit.verifier import ed25519

#: RFC 8032, 7.1: public key, message, signature.
RFC_8032 = (
    ("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
     "d25bf5f0595bbe24655141438e7a100b"),
    ("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c"
     "387b2eaeb4302aeeb00d291612bb0c00"),
    ("fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc659"
     "4a7c15e9716ed28dc027beceea1ec40a"),
)  # fmt: skip
LEAVES = st.lists(st.binary(max_size=8), max_size=70)


def tree(leaves: list[bytes]) -> bytes:
    """RFC 6962, 2.1, word for word."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return hashlib.sha256(b"\x00" + leaves[0]).digest()
    split = 1 << (len(leaves) - 1).bit_length() - 1
    return hashlib.sha256(b"\x01" + tree(leaves[:split]) + tree(leaves[split:])).digest()


def path(index: int, leaves: list[bytes]) -> list[bytes]:
    """RFC 6962, 2.1.1."""
    if len(leaves) == 1:
        return []
    split = 1 << (len(leaves) - 1).bit_length() - 1
    if index < split:
        return [*path(index, leaves[:split]), tree(leaves[split:])]
    return [*path(index - split, leaves[split:]), tree(leaves[:split])]


def proof(old: int, leaves: list[bytes], whole: bool = True) -> list[bytes]:
    """RFC 6962, 2.1.2."""
    if old == len(leaves):
        return [] if whole else [tree(leaves)]
    split = 1 << (len(leaves) - 1).bit_length() - 1
    if old <= split:
        return [*proof(old, leaves[:split], whole), tree(leaves[split:])]
    return [*proof(old - split, leaves[split:], False), tree(leaves[:split])]


@given(st.lists(LEAVES, max_size=5))
def test_a_tree_grown_in_pieces_is_the_rfcs(parts: list[list[bytes]]) -> None:
    frontier, leaves = verifier.Frontier(), []
    for part in parts:
        frontier.extend([verifier.leaf_hash(leaf) for leaf in part])
        leaves += part
        assert (frontier.size, frontier.root()) == (len(leaves), tree(leaves))
        again = verifier.Frontier(frontier.size, frontier.roots)
        again.add(verifier.leaf_hash(b"one more"))
        assert again.root() == tree([*leaves, b"one more"])


@given(LEAVES.filter(len), st.data())
def test_inclusion_is_proved_by_the_rfcs_path_and_by_no_other(leaves: list[bytes], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(leaves) - 1))
    leaf, good, root = verifier.leaf_hash(leaves[index]), path(index, leaves), tree(leaves)
    assert verifier.verify_inclusion(leaf, index, len(leaves), good, root)
    assert not verifier.verify_inclusion(leaf, index, len(leaves), [*good, root], root)
    assert not verifier.verify_inclusion(leaf, len(leaves), len(leaves), good, root)
    assert not verifier.verify_inclusion(leaf, index, len(leaves), good, b"\0" * 32)
    if good:
        assert not verifier.verify_inclusion(leaf, index, len(leaves), good[:-1], root)
        assert not verifier.verify_inclusion(b"\0" * 32, index, len(leaves), good, root)


@given(LEAVES.filter(len), st.data())
def test_consistency_is_proved_by_the_rfcs_path_and_by_no_other(leaves: list[bytes], data: st.DataObject) -> None:
    new = len(leaves)
    old = data.draw(st.integers(1, new))
    before, after, good = tree(leaves[:old]), tree(leaves), proof(old, leaves)
    assert verifier.verify_consistency(old, new, good, before, after)
    assert not verifier.verify_consistency(old, new, [*good, after], before, after)
    assert not verifier.verify_consistency(old, new, good, b"\0" * 32, after)
    assert not verifier.verify_consistency(old, new, good, before, b"\0" * 32)
    assert not verifier.verify_consistency(new + 1, new, good, before, after)
    for at in range(len(good)):
        assert not verifier.verify_consistency(old, new, [*good[:at], b"\0" * 32, *good[at + 1 :]], before, after)


@pytest.mark.parametrize(("public", "message", "signature"), RFC_8032)
def test_signatures_of_rfc_8032(public: str, message: str, signature: str) -> None:
    key, said, signed = (bytes.fromhex(text) for text in (public, message, signature))
    assert verifier.ed25519_verify(key, said, signed)
    assert not verifier.ed25519_verify(key, said + b"x", signed)
    for at in (0, 31, 32, 63):
        assert not verifier.ed25519_verify(key, said, signed[:at] + bytes([signed[at] ^ 1]) + signed[at + 1 :])


@settings(max_examples=25, deadline=None)  # the first signature of a key costs a hundred others
@given(st.binary(min_size=32, max_size=32), st.binary(max_size=200), st.integers(0, 511))
def test_signatures_of_an_independent_implementation(seed: bytes, message: bytes, bit: int) -> None:
    private = Ed25519PrivateKey.from_private_bytes(seed)
    public = private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    signature = bytearray(private.sign(message))
    assert verifier.ed25519_verify(public, message, bytes(signature))
    signature[bit // 8] ^= 1 << bit % 8
    assert not verifier.ed25519_verify(public, message, bytes(signature))


def test_a_signature_with_the_order_added_is_refused() -> None:
    public, message, signature = (bytes.fromhex(text) for text in RFC_8032[1])
    order = 2**252 + 27742317777372353535851937790883648493
    larger = (int.from_bytes(signature[32:], "little") + order).to_bytes(32, "little")
    assert not verifier.ed25519_verify(public, message, signature[:32] + larger)


#: Points of small order, then other encodings of such points and numbers that name no point.
NO_KEYS = (
    *sorted(ed25519._SMALL_ORDER),
    *(bytes.fromhex(text) for text in (
        "0100000000000000000000000000000000000000000000000000000000000080",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "0200000000000000000000000000000000000000000000000000000000000000",
    )),
)  # fmt: skip


def times(number: int, point: ed25519._Point) -> ed25519._Point:
    """A point added up so many times, the plain way."""
    found = ed25519._NEUTRAL
    for bit in bin(number)[2:]:
        found = ed25519._plus(found, found)
        if bit == "1":
            found = ed25519._plus(found, point)
    return found


def is_neutral(point: ed25519._Point) -> bool:
    x, y, z, _ = point
    return x % ed25519._P == 0 and (y - z) % ed25519._P == 0


def test_the_eight_points_of_small_order_are_those_whose_eightfold_is_neutral() -> None:
    points = [ed25519._decompressed(raw) for raw in ed25519._SMALL_ORDER]
    assert len(set(ed25519._SMALL_ORDER)) == 8
    assert all(point is not None and is_neutral(times(8, point)) for point in points)


@pytest.mark.parametrize("raw", NO_KEYS, ids=bytes.hex)
def test_a_key_of_small_order_or_in_another_encoding_verifies_nothing(raw: bytes) -> None:
    # Under the neutral element, R = the neutral element and S = 0 would be a signature of anything.
    for first in (raw, ed25519._BASE):
        assert not verifier.ed25519_verify(raw, b"anything", first + bytes(32))
    with pytest.raises(verifier.Unusable, match="no key of Ed25519"):
        verifier.key_of("cukassza/H-0123abcd", raw)


def test_a_signature_with_a_point_of_small_order_is_refused() -> None:
    public, message, signature = (bytes.fromhex(text) for text in RFC_8032[1])
    for raw in ed25519._SMALL_ORDER:
        assert not verifier.ed25519_verify(public, message, raw + signature[32:])


def test_a_key_with_a_part_of_small_order_is_refused() -> None:
    public = bytes.fromhex(RFC_8032[1][0])
    point = ed25519._decompressed(public)
    part = ed25519._decompressed(bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"))
    assert point is not None and part is not None
    x, y, z, _ = ed25519._plus(point, part)
    inverse = pow(z, -1, ed25519._P)
    mixed = (y * inverse % ed25519._P | (x * inverse % ed25519._P & 1) << 255).to_bytes(32, "little")
    assert verifier.key_of("cukassza/H-0123abcd", public).public == public
    with pytest.raises(verifier.Unusable, match="no key of Ed25519"):
        verifier.key_of("cukassza/H-0123abcd", mixed)


def test_a_note_is_signed_by_the_key_of_its_own_epoch() -> None:
    """A person with an old key cannot sign a later epoch with it."""
    house = verifier.House("0123abcd-0000-4000-8000-000000000000", "H", "HUF")
    private = [Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32) for number in (1, 2)]
    first, second = (verifier.key_of(house.origin, one.public_key().public_bytes_raw()) for one in private)
    notes = [signed(f"{house.origin}/2", private=one)[0] for one in private]
    for held in ([], [first, second]):
        codes = []
        for text in notes:
            report = verifier.Report()
            keys = verifier.Keys({1: [(0, first)], 2: [(0, second)]}, held)
            verifier.Trees(report, house, keys, [verifier.Notes("held", [text], held=True)], verifier.ed25519_verify)
            codes.append([finding.code for finding in report.findings])
        assert codes == [["note_under_another_key"], []]


PRIVATE = Ed25519PrivateKey.from_private_bytes(b"k" * 32)


def signed(origin: str = "cukassza/H-0123abcd/1", *, private: Ed25519PrivateKey = PRIVATE) -> tuple[str, str]:
    """A note of a small log, and the key's text."""
    key = Key(origin.rpartition("/")[0], private.public_key().public_bytes_raw())
    point = Checkpoint(origin, 3, b"r" * 32, 1_795_291_200)
    signatures = (private.sign(text.encode()) for text in (point.text, point.timed_text))
    return note_text(point, key, *signatures), key.text


def test_a_note_says_what_its_checkpoint_says() -> None:
    note, vkey = signed()
    point = verifier.verify_note(note, vkey)
    assert (point.origin, point.size, point.root) == ("cukassza/H-0123abcd/1", 3, b"r" * 32)
    assert point.at == "2026-11-21T20:00:00Z"
    assert note.split("\n")[:4] == ["cukassza/H-0123abcd/1", "3", base64.b64encode(b"r" * 32).decode(), ""]


@settings(deadline=None)
@given(st.data())
def test_no_byte_of_a_note_can_be_another(data: st.DataObject) -> None:
    note, vkey = signed()
    raw = bytearray(note.encode())
    at = data.draw(st.integers(0, len(raw) - 1))
    raw[at] ^= data.draw(st.integers(1, 255))
    with pytest.raises((verifier.Unusable, UnicodeDecodeError)):
        verifier.verify_note(raw.decode(), vkey)


@settings(deadline=None)
@given(st.data())
def test_no_byte_of_a_key_can_be_another(data: st.DataObject) -> None:
    note, vkey = signed()
    raw = bytearray(vkey.encode())
    at = data.draw(st.integers(0, len(raw) - 1))
    raw[at] ^= data.draw(st.integers(1, 255))
    with pytest.raises((verifier.Unusable, UnicodeDecodeError)):
        verifier.verify_note(note, raw.decode())


def test_notes_of_a_file_come_apart_as_they_were_put_together() -> None:
    notes = [signed(f"cukassza/H-0123abcd/{size}")[0] for size in (1, 2, 3)]
    text = verifier.join_notes(notes)
    assert verifier.split_notes(text) == notes
    assert verifier.split_notes(text[:-1]) == notes
    assert verifier.split_notes("") == []
    for cut in range(len(text) - len(notes[2]), len(text) - 2):
        whole, broken = verifier.split_notes(text[:cut])[:2], verifier.split_notes(text[:cut])[2:]
        assert whole == notes[:2]
        for piece in broken:
            with pytest.raises(verifier.Unusable):
                verifier.verify_note(piece, signed()[1])
