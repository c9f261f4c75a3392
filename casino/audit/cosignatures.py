"""Cosignatures of witnesses: C2SP tlog-cosignature v1 under Ed25519, as the house receives them."""

import hashlib
import re
from dataclasses import dataclass
from datetime import UTC, datetime

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from casino.audit.notes import NoteUnreadable, bytes_of

_KIND = b"\x04"
_VKEY = re.compile(r"([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})")


@dataclass(frozen=True, slots=True)
class WitnessKey:
    """The key of a witness: the name under which it cosigns, and 32 bytes of Ed25519."""

    name: str
    public: bytes

    @property
    def hash(self) -> bytes:
        """What names the key in a note: the first 4 bytes of SHA-256(name || LF || 0x04 || public key)."""
        return hashlib.sha256(self.name.encode() + b"\n" + _KIND + self.public).digest()[:4]

    @classmethod
    def parse(cls, vkey: str) -> "WitnessKey":
        """From `<name>+<8 hex digits>+<base64 of 04 and 32 bytes>`. Raises NoteUnreadable."""
        match = _VKEY.fullmatch(vkey)
        raw = bytes_of(match[3]) if match else b""
        if match is None or len(raw) != 33 or raw[:1] != _KIND:
            raise NoteUnreadable("a witness's key is <name>+<8 hex digits>+<base64 of 04 and 32 bytes>")
        key = cls(match[1], raw[1:])
        if key.hash.hex() != match[2]:
            raise NoteUnreadable(f"the key's own hash is {key.hash.hex()}, not {match[2]}")
        return key

    def cosigned(self, body: str, answer: str) -> "Cosignature":
        """The witness's cosignature over a checkpoint's body, from the lines of its answer; lines of other keys do not
        count. Raises NoteUnreadable where there is no good one."""
        for line in answer.split("\n"):
            dash, name, encoded = [*line.split(" "), "", ""][:3]
            raw = bytes_of(encoded)
            if dash != "\u2014" or (name, raw[:4]) != (self.name, self.hash) or len(raw) != 76:
                continue
            seconds = int.from_bytes(raw[4:12], "big")
            signed = f"cosignature/v1\ntime {seconds}\n{body}".encode()
            try:
                Ed25519PublicKey.from_public_bytes(self.public).verify(raw[12:], signed)
                return Cosignature(f"{line}\n", datetime.fromtimestamp(seconds, UTC))
            except (InvalidSignature, ValueError, OverflowError, OSError):
                continue
        raise NoteUnreadable(f"no good cosignature of {self.name}")


@dataclass(frozen=True, slots=True)
class Cosignature:
    """A signature line of a witness, with its line end, and when the witness made it."""

    line: str
    at: datetime
