"""Personal data at rest: AES-256-GCM under a key for each player, which is sealed under a data key of the house.

    wrapped = casino/houses/sealing.py(player's key of 32 random bytes, context "person key/PLAYER")
    sealed  = nonce(12) || AES-256-GCM(player's key, canonical JSON padded with blanks to a multiple of 256 bytes,
                                       AAD = "cukassza person v1/HOUSE/PLAYER/VERSION")

HOUSE is the house's UUID, PLAYER the reference. A row that was swapped between players, houses or versions cannot
be opened. Once the wrapped key is gone, what was sealed under it is noise: its length reveals no name (padding), and
its hash, which the audit trail holds for ever, gives nothing to try names against (the key and a nonce went into it).
"""

import json
from uuid import UUID

from casino.core import canonical
from casino.core.aead import decrypt, encrypt
from casino.houses import sealing

PADDING = 256


def wrap(key: bytes, house: UUID, player: str) -> bytes:
    """A player's key as it is stored."""
    return sealing.seal(house, key, _key_context(player))


def unwrap(wrapped: bytes, house: UUID, player: str) -> bytes:
    """A stored player's key. Raises SealedUnreadable when the row is another, SealKeyWrong."""
    return sealing.unseal(house, wrapped, _key_context(player))


def seal(person: dict[str, str], key: bytes, house: UUID, player: str, version: int) -> bytes:
    """Personal data as they are stored."""
    text = canonical.dumps(person).encode()
    padded = text.ljust(-(-len(text) // PADDING) * PADDING)
    return encrypt(key, padded, _context(house, player, version))


def unseal(sealed: bytes, key: bytes, house: UUID, player: str, version: int) -> dict[str, str]:
    """Stored personal data. Raises SealedUnreadable when row or key is not the right one."""
    found: dict[str, str] = json.loads(decrypt(key, sealed, _context(house, player, version)))
    return found


def _key_context(player: str) -> bytes:
    return f"person key/{player}".encode()


def _context(house: UUID, player: str, version: int) -> bytes:
    return f"cukassza person v1/{house}/{player}/{version}".encode()
