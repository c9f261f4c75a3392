"""`verify.pyz receipt FILE --key KEY`: one receipt with its proof, checked by its holder offline."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .arguments import Parser
from .canonical import is_made_of, value_of
from .cosignatures import WitnessKey, cosignature_time, parse_witness
from .files import whole
from .findings import Unusable, printable
from .merkle import verify_inclusion
from .notes import Checkpoint, Key, Note, Notes, parse_note, read_keys, read_notes
from .printed import is_printed, unprinted

FORMAT = "cukassza/receipt/1"
_TYPES: dict[str, type] = {
    "checkpoint": str, "epoch": int, "format": str, "hash": str, "leaf_index": int, "path": list, "size": int,
}  # fmt: skip
LONGEST_PATH = 64
"""Hashes that a path may have: one for each bit of a size."""


@dataclass(frozen=True, slots=True)
class Proof:
    """A receipt and its proof: the event of leaf hash `leaf` is leaf `index` (from 0) of the first `size` leaves of an
    epoch, whose root the note has."""

    leaf: bytes
    epoch: int
    index: int
    size: int
    path: tuple[bytes, ...]
    note: Note


def main(arguments: Sequence[str]) -> int:
    """The command: 0 when the receipt is proved, 1 when it is not. Raises Unusable."""
    given = _arguments(arguments)
    text = whole(given.file, follow=True)
    proof = parse_proof(unprinted(text) if is_printed(text) else text)
    held = [read_notes(path, str(path), held=True) for path in given.checkpoint]
    witnesses = [parse_witness(vkey) for vkey in given.witness]
    wrong = problems(proof, read_keys(given.key), given.hash, witnesses, held)
    for problem in wrong:
        print(printable(problem))
    if not wrong:
        print("\n".join(map(printable, _said(proof, given.hash, witnesses, held))))
    return 1 if wrong else 0


def parse_proof(text: str) -> Proof:
    """What a file of a receipt says: canonical JSON, nothing around it. Raises Unusable."""
    try:
        read = value_of(text.encode())
    except ValueError as error:
        raise Unusable(f"this is no receipt: {error}") from error
    if not is_made_of(read, _TYPES) or read["format"] != FORMAT:
        raise Unusable(f"a receipt of the format {FORMAT} has the members {', '.join(_TYPES)}, and no other")
    if read["epoch"] < 1 or not 0 <= read["leaf_index"] < read["size"] or len(read["path"]) > LONGEST_PATH:
        raise Unusable("an epoch is 1 or more, a leaf_index at least 0 and below size, a path 64 hashes at most")
    path = tuple(_hash(one, "path") for one in read["path"])
    note = parse_note(read["checkpoint"])
    return Proof(_hash(read["hash"], "hash"), read["epoch"], read["leaf_index"], read["size"], path, note)


def problems(
    proof: Proof, keys: Sequence[Key], leaf: str | None, witnesses: Sequence[WitnessKey], held: Sequence[Notes]
) -> list[str]:
    """What is wrong with a receipt, a sentence with its code each; nothing if it is proved. `leaf` is the hash (64 hex
    digits) that the holder was given with the answer, `held` are checkpoints from elsewhere: each must have the same
    tree."""
    checkpoint = proof.note.checkpoint
    found = []
    if leaf is not None and leaf != proof.leaf.hex():
        found.append(f"hash_differs: the receipt is of {proof.leaf.hex()}, not of {leaf}")
    if checkpoint.size != proof.size or checkpoint.origin.rpartition("/")[2] != str(proof.epoch):
        found.append(
            f"checkpoint_differs: the checkpoint is of {checkpoint.size} leaves of {checkpoint.origin}, not of "
            f"{proof.size} of epoch {proof.epoch}"
        )
    if not verify_inclusion(proof.leaf, proof.index, proof.size, proof.path, checkpoint.root):
        found.append(f"not_included: the path does not lead from leaf {proof.index} to the root of the checkpoint")
    if not _signed(proof.note, keys):
        found.append("note_not_signed: the checkpoint has no good signature under the key given")
    found += [problem for witness in witnesses if (problem := _not_cosigned(proof.note, witness))]
    found += [problem for source in held if (problem := _not_held(checkpoint, source))]
    return found


def _arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = Parser(prog="verify.pyz receipt", description="Verify a receipt of a house's audit log.")
    parser.add_argument("file", type=Path, help="what GET receipts/HASH answered, or lines or code of a paper")
    parser.add_argument("--key", required=True, help="the house's key that you hold: its text, or a file of it")
    parser.add_argument("--hash", type=_digits, help="the hash of the receipt that came with the answer (64 digits)")
    parser.add_argument(
        "--witness", action="append", default=[], metavar="VKEY",
        help="the key of a witness that must have cosigned the receipt's checkpoint",
    )  # fmt: skip
    parser.add_argument(
        "--checkpoint", type=Path, action="append", default=[], metavar="HELD",
        help="checkpoints that you hold, one of which must be of the receipt's size, with the same root",
    )  # fmt: skip
    return parser.parse_args(arguments)


def _digits(text: str) -> str:
    return _hash(text, "hash").hex()


def _hash(text: object, name: str) -> bytes:
    """32 bytes of 64 lower-case hex digits. Raises Unusable."""
    if type(text) is not str or len(text) != 64 or set(text) - set("0123456789abcdef"):
        raise Unusable(f"{name}: a hash is 64 hexadecimal digits in lower case, not {text!r}")
    return bytes.fromhex(text)


def _signed(note: Note, keys: Sequence[Key]) -> bool:
    """Whether a key given has signed a note of its own log."""
    return any(key.has_signed(note) and note.checkpoint.origin.rpartition("/")[0] == key.name for key in keys)


def _not_cosigned(note: Note, witness: WitnessKey) -> str | None:
    try:
        seconds = witness.cosigned(note)
    except Unusable as error:
        return f"cosignature_wrong: {error}"
    return f"not_cosigned: {witness.name} has not cosigned the checkpoint" if seconds is None else None


def _not_held(checkpoint: Checkpoint, source: Notes) -> str | None:
    """What is wrong between a receipt's checkpoint and those of a file. Raises Unusable for no notes."""
    known = [parse_note(text).checkpoint for text in source.texts]
    same = [one for one in known if (one.origin, one.size) == (checkpoint.origin, checkpoint.size)]
    if not same:
        return (
            f"checkpoint_not_held: {source.name} has no checkpoint of {checkpoint.size} leaves of {checkpoint.origin}; "
            f"ask for the receipt with ?size= of one that it has"
        )
    if any(one.root != checkpoint.root for one in same):
        return f"split_view: {source.name} has another root for {checkpoint.size} leaves of {checkpoint.origin}"
    return None


def _said(proof: Proof, leaf: str | None, witnesses: Sequence[WitnessKey], held: Sequence[Notes]) -> list[str]:
    checkpoint = proof.note.checkpoint
    lines = [
        f"proved: the event of hash {proof.leaf.hex()} is leaf {proof.index} of the {proof.size} leaves of "
        f"{checkpoint.origin}, signed at {checkpoint.at}"
    ]
    if leaf is None:
        lines.append("compare this hash with the one that came with the answer, or give it as --hash")
    for witness in witnesses:
        lines.append(f"{witness.name} cosigned at {cosignature_time(witness, proof.note)}, by its own clock")
    lines += [f"{source.name} has the same checkpoint" for source in held]
    if not witnesses and not held:
        lines.append("this rests on the house's key alone: --witness and --checkpoint compare what others have seen")
    return lines
