"""What is said about a player in words: sealed under a data key of the house. The audit trail has its hash."""

import hashlib

from casino.houses import sealing
from casino.houses.models import House


def seal(house: House, note: str, what: str, number: int) -> bytes:
    """A note as it is stored: no bytes where nothing was said. `what` and `number` say where it stands. Raises
    SealKeyWrong."""
    return sealing.seal(house.id, note.encode(), _context(what, number)) if note else b""


def unseal(house: House, sealed: bytes | memoryview, what: str, number: int) -> str:
    """A stored note; empty where nothing was said. Raises SealedUnreadable, SealKeyWrong."""
    return sealing.unseal(house.id, sealed, _context(what, number)).decode() if sealed else ""


def digest(sealed: bytes) -> str | None:
    """SHA-256 of a sealed note, 64 hex digits; None where nothing was said."""
    return hashlib.sha256(sealed).hexdigest() if sealed else None


def _context(what: str, number: int) -> bytes:
    return f"{what}/{number}".encode()
