"""A vizi held in the fist ("Variations": majzli), as a commitment for tables where the fist is a console."""

from __future__ import annotations

import hashlib

from engine.shuffle import encode

NONCE_BYTES = 16


def majzli_commitment(amount: int, nonce: bytes) -> str:
    """The hex commitment to a vizi of ``amount`` minor units; ``nonce``: 16 random bytes, known to the holder only.

    ``SHA-256(encode("majzli-v1", amount in decimal digits, nonce))``, :func:`engine.shuffle.encode`. A nonce of
    another length raises ``ValueError``.
    """
    if len(nonce) != NONCE_BYTES:
        raise ValueError(f"a nonce has {NONCE_BYTES} bytes, not {len(nonce)}")
    return hashlib.sha256(encode("majzli-v1", str(amount), nonce)).hexdigest()
