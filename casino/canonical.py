"""Canonical JSON: one text for one value, so that a hash of it means something.

The subset of RFC 8785 this house needs: objects with ASCII keys sorted, no floats, no insignificant white space,
text as UTF-8. A float or any other type is an error, never a guess.
"""

import hashlib
import json
from typing import Any


def _check(value: Any, path: str) -> None:
    if value is None or isinstance(value, (str, bool, int)):
        return
    if isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            _check(item, f"{path}[{index}]")
        return
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str) or not key.isascii():
                raise TypeError(f"canonical JSON takes ASCII text keys, {path} has {key!r}")
            _check(item, f"{path}.{key}")
        return
    raise TypeError(f"canonical JSON holds no {type(value).__name__} ({path})")


def dumps(value: Any) -> str:
    """The canonical text of `value` (dicts, lists, text, integers, booleans, None). Raises TypeError for the rest."""
    _check(value, "$")
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def sha256(value: Any) -> str:
    """SHA-256 of the canonical text of `value`, as 64 hex digits."""
    return hashlib.sha256(dumps(value).encode()).hexdigest()
