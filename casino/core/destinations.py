"""The operator's file of destinations: whom the house sends something to, outside.

`CASINO_DESTINATIONS` names a file of TOML, so that no secret and no address is in the database or in an event: what is
kept names destinations only. Their kind says what they take: files of reports (`casino/reports/destinations.py`), or
hints of changes (`casino/live/receivers.py`).
"""

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

T = TypeVar("T")
#: The kind of those that take hints; all others take files.
WEBHOOK = "webhook"
#: What the file says of a destination.
Described = Mapping[str, Any]


class NotSent(Exception):
    """An attempt that failed; `code` is kept, the words are for the server's log."""

    def __init__(self, code: str, words: str) -> None:
        super().__init__(words)
        self.code = code


def names(house: str, *, webhooks: bool = False) -> list[str]:
    """The names of the destinations of a house that take files, or of its webhooks. Raises ImproperlyConfigured."""
    return sorted(described(house, webhooks=webhooks))


def described(house: str, *, webhooks: bool) -> dict[str, Described]:
    """What the file says of those destinations, by name. Raises ImproperlyConfigured."""
    return {
        name: one for name, one in _read().items() if (one.get("kind") == WEBHOOK) is webhooks and _is_of(house, one)
    }


def named(house: str, name: str, kinds: Mapping[str, Callable[[Described], T]]) -> T:
    """One destination of a house, made by its kind. Raises NotSent unknown_destination, ImproperlyConfigured."""
    found = _read().get(name)
    if found is None or not _is_of(house, found):
        raise NotSent("unknown_destination", f"{name} is not among the destinations of {house}")
    try:
        return kinds[found["kind"]](found)
    except (KeyError, TypeError, ValueError, OSError) as error:
        raise ImproperlyConfigured(f"destination {name}: {type(error).__name__} {error}") from error


def secret(found: Described, name: str = "secret_file") -> str:
    """What is in the file that this member names; empty where it names none. Raises OSError."""
    return Path(found[name]).read_text(encoding="utf-8").strip() if name in found else ""


def _is_of(house: str, found: Described) -> bool:
    return house in found.get("houses", [house])


def _read() -> dict[str, dict[str, Any]]:
    if not settings.CASINO_DESTINATIONS:
        return {}
    try:
        return tomllib.loads(Path(settings.CASINO_DESTINATIONS).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ImproperlyConfigured(f"CASINO_DESTINATIONS: {error}") from error
