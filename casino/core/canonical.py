"""Canonical JSON: one text for one value, so that a hash of it means something.

The subset of RFC 8785 this house needs: objects with ASCII keys sorted, no floats, no insignificant white space,
text as UTF-8. A float or any other type is an error, never a guess.
"""

import hashlib
import json
from typing import Any

_ENCODER = json.JSONEncoder(ensure_ascii=False, check_circular=False, sort_keys=True, separators=(",", ":"))


def _wrong(value: Any) -> str | None:
    """The first part of `value` that is not canonical, with its path; None if all of it is."""
    if value is None or isinstance(value, (str, bool, int)):
        return None
    if isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            if (found := _wrong(item)) is not None:
                return f"[{index}]{found}"
        return None
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str) or not key.isascii():
                return f" has the key {key!r}, which is not ASCII text"
            if (found := _wrong(item)) is not None:
                return f".{key}{found}"
        return None
    return f" is a {type(value).__name__}"


def dumps(value: Any) -> str:
    """The canonical text of `value` (dicts, lists, text, integers, booleans, None). Raises TypeError for the rest."""
    if (found := _wrong(value)) is not None:
        raise TypeError(f"this has no canonical JSON: ${found}")
    return _ENCODER.encode(value)


def fingerprint(secret: str) -> str:
    """SHA-256 of a text of high entropy, 64 hex digits: what the audit trail has of a stored digest or hash."""
    return hashlib.sha256(secret.encode()).hexdigest()


def sha256(value: Any) -> str:
    """SHA-256 of the canonical text of `value`, as 64 hex digits."""
    return hashlib.sha256(dumps(value).encode()).hexdigest()
