"""Cosignatures of witnesses on the checkpoints that the verifying person holds: C2SP tlog-cosignature v1, Ed25519."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from .ed25519 import ed25519_verify, is_key
from .findings import Report, Unusable
from .notes import Note, Notes, base64_bytes, parse_note

_KIND = b"\x04"


@dataclass(frozen=True, slots=True)
class WitnessKey:
    """A witness's key: the name under which it cosigns, the hash by which notes name it, and 32 bytes of Ed25519."""

    name: str
    hash: bytes
    public: bytes

    def cosigned(self, note: Note) -> int | None:
        """When it cosigned a checkpoint (POSIX seconds), None where it has no line there. Raises Unusable for a line
        under its name and key that is not its cosignature."""
        for name, hashed, signature in note.signatures[2:]:  # a house is no witness of its own
            if (name, hashed) != (self.name, self.hash):
                continue
            seconds = int.from_bytes(signature[:8], "big")
            said = f"cosignature/v1\ntime {seconds}\n{note.checkpoint.text}".encode()
            if len(signature) != 72 or seconds >= 1 << 63 or not ed25519_verify(self.public, said, signature[8:]):
                raise Unusable(f"the line of {self.name} is not its cosignature")
            return seconds
        return None


def parse_witness(vkey: str) -> WitnessKey:
    """A witness's key from `<name>+<8 hex digits>+<base64 of 04 and 32 bytes>`. Raises Unusable."""
    name, _, rest = vkey.strip().partition("+")
    digits, _, encoded = rest.partition("+")
    raw = base64_bytes(encoded)
    if raw is None or len(raw) != 33 or raw[:1] != _KIND or not name or any(one.isspace() for one in name):
        raise Unusable("a witness's key is <name>+<8 hex digits>+<base64 of 04 and 32 bytes>")
    hashed = hashlib.sha256(name.encode() + b"\n" + raw).digest()[:4]
    if hashed.hex() != digits or not is_key(raw[1:]):
        raise Unusable(f"the witness's own hash is {hashed.hex()}, not {digits}, or its key is no point")
    return WitnessKey(name, hashed, raw[1:])


def judge_witnesses(report: Report, held: Sequence[Notes], witnesses: Sequence[WitnessKey]) -> None:
    """Each witness must have cosigned one of the checkpoints that are held; says which is the newest. That the log
    leads there is checked with the other checkpoints held."""
    for witness in witnesses:
        newest: tuple[str, int, int] | None = None
        for source in held:
            for number, text in enumerate(source.texts, 1):
                try:
                    note = parse_note(text)
                except Unusable:
                    continue  # found where the log is compared with it
                try:
                    seconds = witness.cosigned(note)
                except Unusable as error:
                    report.find("cosignature_wrong", f"{source.name}, note {number}", str(error), at=-1)
                    continue
                if seconds is not None and (newest is None or seconds >= newest[2]):
                    newest = note.checkpoint.origin, note.checkpoint.size, seconds
        if newest is None:
            report.find("not_cosigned", witness.name, "it has cosigned no checkpoint that is held", at=-1)
        else:
            origin, size, seconds = newest
            report.notice(f"{witness.name} cosigned {size} leaves of {origin} at {_moment(seconds)}, by its own clock")


def cosignature_time(witness: WitnessKey, note: Note) -> str:
    """When a witness cosigned a checkpoint that it has cosigned (RFC 3339, UTC). Raises Unusable."""
    seconds = witness.cosigned(note)
    if seconds is None:
        raise Unusable(f"{witness.name} has not cosigned this checkpoint")
    return _moment(seconds)


def _moment(seconds: int) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return f"second {seconds}"
