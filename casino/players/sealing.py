"""Personal data at rest: AES-256-GCM under a key for each player, which is wrapped under the house's seal key.

    wrapped = nonce(12) || AES-256-GCM(CASINO_SEAL_KEY, data key of 32 random bytes,
                                       AAD = "cukassza person key v1/HOUSE/PLAYER")
    sealed  = nonce(12) || AES-256-GCM(data key, canonical JSON padded with blanks to a multiple of 256 bytes,
                                       AAD = "cukassza person v1/HOUSE/PLAYER/VERSION")

HOUSE is the house's UUID, PLAYER the reference. A row that was swapped between players, houses or versions cannot
be opened. Once the wrapped key is gone, what was sealed under it is noise: its length reveals no name (padding), and
its hash, which the audit trail holds for ever, gives nothing to try names against (the key and a nonce went into it).
"""

import json
import secrets
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings

from casino.core import canonical
from casino.core.errors import ProofFailed

KEY_BYTES = 32
NONCE_BYTES = 12
PADDING = 256


def new_key() -> bytes:
    """A data key for one player."""
    return secrets.token_bytes(KEY_BYTES)


def wrap(key: bytes, house: UUID, player: str) -> bytes:
    """A data key as it is stored."""
    return _encrypt(bytes.fromhex(settings.CASINO_SEAL_KEY), key, _key_context(house, player))


def unwrap(wrapped: bytes, house: UUID, player: str) -> bytes:
    """A stored data key. Raises ProofFailed when row or seal key is not the right one."""
    return _decrypt(bytes.fromhex(settings.CASINO_SEAL_KEY), wrapped, _key_context(house, player))


def seal(person: dict[str, str], key: bytes, house: UUID, player: str, version: int) -> bytes:
    """Personal data as they are stored."""
    text = canonical.dumps(person).encode()
    padded = text.ljust(-(-len(text) // PADDING) * PADDING)
    return _encrypt(key, padded, _context(house, player, version))


def unseal(sealed: bytes, key: bytes, house: UUID, player: str, version: int) -> dict[str, str]:
    """Stored personal data. Raises ProofFailed when row or key is not the right one."""
    found: dict[str, str] = json.loads(_decrypt(key, sealed, _context(house, player, version)))
    return found


def _encrypt(key: bytes, data: bytes, context: bytes) -> bytes:
    nonce = secrets.token_bytes(NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, data, context)


def _decrypt(key: bytes, stored: bytes, context: bytes) -> bytes:
    try:
        return AESGCM(key).decrypt(stored[:NONCE_BYTES], stored[NONCE_BYTES:], context)
    except InvalidTag as error:
        raise ProofFailed("Sealed personal data cannot be opened: the data or the key are wrong.") from error


def _key_context(house: UUID, player: str) -> bytes:
    return f"cukassza person key v1/{house}/{player}".encode()


def _context(house: UUID, player: str, version: int) -> bytes:
    return f"cukassza person v1/{house}/{player}/{version}".encode()
