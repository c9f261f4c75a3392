"""Canonical JSON: sorted keys, no blanks, ASCII, integers only where numbers stand. Equal values give equal
bytes."""

from __future__ import annotations

import hashlib
import json

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def canonical_json(value: object) -> str:
    """The one JSON text of ``value`` (no floats are ever passed here)."""
    return _ENCODER.encode(value)


def sha256_of(value: object) -> str:
    """SHA-256, in hex, of the canonical JSON of ``value``."""
    return hashlib.sha256(_ENCODER.encode(value).encode("ascii")).hexdigest()
