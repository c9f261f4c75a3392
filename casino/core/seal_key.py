"""The seal key: it encrypts data keys and nothing else (a key-encryption key).

What a house seals is sealed under its data keys (`casino/houses/sealing.py`). Another seal key means that the data
keys are wrapped again; nothing that they seal is touched.
"""

import hashlib
import hmac
from typing import Protocol

from django.conf import settings

from casino.core.aead import decrypt, encrypt


class SealKey(Protocol):
    """Wraps data keys of 32 bytes."""

    @property
    def id(self) -> str:
        """Names the key in rows and events, and says nothing about it: 1 to 120 visible ASCII characters."""

    def wrap(self, key: bytes, context: bytes) -> bytes:
        """A data key, encrypted and bound to a context."""

    def unwrap(self, wrapped: bytes, context: bytes) -> bytes:
        """A data key again. Raises SealedUnreadable where key, context or bytes are others."""


class LocalSealKey:
    """A seal key that this process holds: 32 bytes, AES-256-GCM."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self.id = hmac.digest(key, b"cukassza seal key id v1", hashlib.sha256).hex()[:16]

    def wrap(self, key: bytes, context: bytes) -> bytes:
        """Nonce and ciphertext."""
        return encrypt(self._key, key, context)

    def unwrap(self, wrapped: bytes, context: bytes) -> bytes:
        """Raises SealedUnreadable."""
        return decrypt(self._key, wrapped, context)


def configured() -> SealKey:
    """The key of `CASINO_SEAL_KEY`."""
    return LocalSealKey(bytes.fromhex(settings.CASINO_SEAL_KEY))
