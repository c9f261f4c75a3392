"""A vizi held in the fist ("Variations": majzli), as a commitment for tables where the fist is a console."""

from __future__ import annotations

import hashlib

from engine.deal.shuffle import encode

NONCE_BYTES = 16
TAG = "majzli-v1"
FORM = f"SHA-256 of {TAG}, the vizi in decimal digits and the 16 bytes of the nonce, each after its length in 4 bytes"


def majzli_commitment(amount: int, nonce: bytes) -> str:
    """The hex commitment to a vizi of ``amount`` minor units; ``nonce``: 16 random bytes, known to the holder only.

    ``SHA-256(encode("majzli-v1", amount in decimal digits, nonce))``, :func:`engine.deal.shuffle.encode`. A nonce of
    another length raises ``ValueError``.

    >>> majzli_commitment(200, bytes(16))
    'cc44c6b16001fe267b080e11236a6e813fb6c8acd431395752f03a8fe4b4336f'
    """
    if len(nonce) != NONCE_BYTES:
        raise ValueError(f"a nonce has {NONCE_BYTES} bytes, not {len(nonce)}")
    return hashlib.sha256(encode(TAG, str(amount), nonce)).hexdigest()
