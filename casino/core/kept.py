"""What a transaction reads once: what it has found stays so for it until it ends.

A service asks for such a thing where it needs it, and need not know who has asked before, or who has read it together
with a lock. Who changes such a thing in the transaction drops it.
"""

from collections.abc import Callable, Hashable
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")

#: None where there is no transaction: then everything is read again each time.
_kept: ContextVar[dict[Hashable, Any] | None] = ContextVar("casino_kept", default=None)


def begin() -> None:
    """Keep what is read from now on."""
    _kept.set({})


def end() -> None:
    """Keep nothing any more."""
    _kept.set(None)


def once(key: Hashable, read: Callable[[], T]) -> T:
    """What is kept under this key, or what `read` finds, which is kept then."""
    kept = _kept.get()
    if kept is None:
        return read()
    if key not in kept:
        kept[key] = read()
    found: T = kept[key]
    return found


def keep(key: Hashable, value: Any) -> None:
    """Keep this, which was read."""
    kept = _kept.get()
    if kept is not None:
        kept[key] = value


def take(key: Hashable, read: Callable[[], T]) -> T:
    """What is kept under this key, for the last time, or what `read` finds."""
    kept = _kept.get()
    if kept is None or key not in kept:
        return read()
    found: T = kept.pop(key)
    return found


def drop(key: Hashable) -> None:
    """Keep this no more: it has changed."""
    kept = _kept.get()
    if kept is not None:
        kept.pop(key, None)
