"""Authenticated encryption: AES-256-GCM with a random nonce before the ciphertext."""

import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from casino.core.errors import SealedUnreadable

KEY_BYTES = 32
NONCE_BYTES = 12


def new_key() -> bytes:
    """A random key."""
    return secrets.token_bytes(KEY_BYTES)


def encrypt(key: bytes, data: bytes, context: bytes) -> bytes:
    """nonce(12) || AES-256-GCM(key, data, AAD = context)."""
    nonce = secrets.token_bytes(NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, data, context)


def decrypt(key: bytes, sealed: bytes, context: bytes) -> bytes:
    """What `encrypt` was given. Raises SealedUnreadable where key, context or bytes are others."""
    try:
        return AESGCM(key).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], context)
    except (InvalidTag, ValueError) as error:  # ValueError: a nonce that is too short
        raise SealedUnreadable(
            "What is sealed cannot be opened: the bytes, their place or the key are others."
        ) from error
