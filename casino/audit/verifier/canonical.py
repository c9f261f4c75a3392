"""Canonical JSON: the one text of what it says."""

import hashlib
import json
from typing import Any

from .events import Row
from .findings import Unusable


def _refuse(text: str) -> Any:
    raise ValueError(f"{text} is no number of canonical JSON")


decoded = json.JSONDecoder(parse_float=_refuse, parse_constant=_refuse).decode


json_text = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), check_circular=False).encode
NOT_JSON = (ValueError, RecursionError)


def hash_of(value: Any) -> str:
    """SHA-256 of the canonical JSON, 64 hex digits."""
    return hashlib.sha256(json_text(value).encode()).hexdigest()


def is_made_of(row: Any, types: dict[str, type]) -> bool:
    return type(row) is dict and all(type(row.get(key)) is wanted for key, wanted in types.items())


def objects_of(name: str, lines: list[bytes], types: dict[str, type]) -> list[Row]:
    """Objects, one a line, that have what these keys must be."""
    try:
        found: list[Row] = decoded(f"[{b','.join(lines).decode()}]")
    except NOT_JSON as error:
        raise Unusable(f"{name} cannot be read: {error}") from error
    if len(found) != len(lines) or not all(is_made_of(row, types) for row in found):
        raise Unusable(f"{name} cannot be read: its lines are not an object each with {', '.join(types)}")
    return found
