"""Every fault that `make faults` runs, by name; the modules here declare them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from tests.faults.scene import Scene

#: Injects a fault under play, heals it, waits until the house is well again; returns the seconds that took from the
#: injection, or from the healing where the house cannot recover before, and None where nothing was away.
Inject = Callable[[Scene], float | None]

MODULES = ("killed", "frozen", "away", "clients", "tasks", "clocks")


@dataclass(frozen=True)
class Fault:
    """One fault: its name, what happens, in words, and how it is made."""

    name: str
    words: str
    inject: Inject


FAULTS: dict[str, Fault] = {}


def fault(words: str) -> Callable[[Inject], Inject]:
    """Declare a function as the fault of its name."""

    def declare(inject: Inject) -> Inject:
        FAULTS[inject.__name__] = Fault(inject.__name__, words, inject)
        return inject

    return declare


def declared() -> dict[str, Fault]:
    """All of them, in the order of their modules."""
    for name in MODULES:
        import_module(f"{__name__}.{name}")
    return FAULTS
