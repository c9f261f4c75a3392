"""Canonical JSON: the one text of what it says. Everything else is refused, each byte of it."""

import hashlib
import json
import re
from typing import Any

DEEPEST = 32
"""Arrays and objects that may lie in each other."""
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)


def _refuse(text: str) -> Any:
    raise ValueError(f"{text} is no number of canonical JSON")


quickly_decoded = json.JSONDecoder(parse_float=_refuse, parse_constant=_refuse).decode
_decoded_with_fractions = json.JSONDecoder(parse_constant=_refuse).decode
json_text = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), check_circular=False).encode


def decoded(text: str, *, fractions: bool = False) -> Any:
    """What a text says, canonical or not. Raises ValueError for what is no JSON, or nested too deeply; for fractions
    too, which no event has, but the ledger takes in metadata."""
    if is_deep(text):
        raise ValueError(f"it is nested more than {DEEPEST} deep")
    return _decoded_with_fractions(text) if fractions else quickly_decoded(text)


def is_deep(text: str) -> bool:
    """Whether arrays and objects lie in each other deeper than they may."""
    return text.count("[") + text.count("{") > DEEPEST and _depth(text) > DEEPEST


def value_of(line: bytes, *, fractions: bool = False) -> Any:
    """What a canonical text says. Raises ValueError for any other."""
    text = line.decode()
    value = decoded(text, fractions=fractions)
    if json_text(value) != text:
        raise ValueError("it is not the canonical text of what it says")
    return value


def _depth(text: str) -> int:
    """How deep arrays and objects lie in each other, in what may be JSON."""
    deepest = depth = 0
    for one in _STRING.sub("", text):
        if one in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif one in "]}":
            depth -= 1
    return deepest


def hash_of(value: Any) -> str:
    """SHA-256 of the canonical JSON, 64 hex digits."""
    return hashlib.sha256(json_text(value).encode()).hexdigest()


def has_same_text(one: Any, other: Any) -> bool:
    """Whether two values that are equal also have one canonical text: true is equal to 1, and another text."""
    kind = type(one)
    if kind is not type(other):
        return False
    if kind is dict:
        return all(has_same_text(value, other[key]) for key, value in one.items())
    if kind is list:
        return all(map(has_same_text, one, other))
    return True


def is_made_of(row: Any, types: dict[str, type]) -> bool:
    """Whether this is an object with these members, each of its type (a boolean is no integer), and no other."""
    return type(row) is dict and row.keys() == types.keys() and all(type(row[key]) is types[key] for key in types)
