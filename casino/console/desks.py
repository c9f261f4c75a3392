"""What the desks for money have in common: their jobs as buttons that keep their places, and lists of what waits."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from casino.console import operations
from casino.console.operations import Operation
from casino.console.pages import Screen

#: Most rows of each list that a desk shows; the page of the list has the others.
MOST = 20


@dataclass(frozen=True, slots=True)
class Slot:
    """A job of a desk: its key, its words, why it cannot be done now (empty: it can), and what its form is to know."""

    operation: Operation
    key: str
    title: str
    reason: str = ""
    given: dict[str, Any] = field(default_factory=dict)
    #: The house's word that explains the job, empty where none does.
    term: str = ""


@dataclass(frozen=True, slots=True)
class Act:
    """Something that may be done with a row: what, and what its form is to know."""

    operation: Operation
    title: str
    given: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Waiting:
    """A row of a list of what waits: what it is, what is to be known of it, what may be done."""

    title: str
    words: tuple[Any, ...]
    acts: tuple[Act, ...] = ()


@dataclass(frozen=True, slots=True)
class Queue:
    """A list of what waits; `more` names the operation that has the others, where there may be more; `term` is the
    house's word that explains it, empty where none does."""

    title: str
    rows: tuple[Waiting, ...] = ()
    more: str = ""
    term: str = ""


def mine(screen: Screen, name: str) -> Operation | None:
    """An operation, if the person may use it."""
    return operations.every()[name] if screen.may(name) else None


def acts(screen: Screen, wanted: Iterable[tuple[str, str, dict[str, Any]]]) -> tuple[Act, ...]:
    """Those of these acts (operation, words, what is known) that the person may do."""
    return tuple(
        Act(operation, title, given)
        for name, title, given in wanted
        if (operation := mine(screen, name)) is not None
    )  # fmt: skip


def jobs(screen: Screen, names: Iterable[str]) -> tuple[Act, ...]:
    """Those of these operations that the person may do, in their own words, with nothing known."""
    return acts(screen, ((name, operations.every()[name].summary, {}) for name in names))


def rows(screen: Screen, name: str, **query: Any) -> list[dict[str, Any]]:
    """The newest rows of a list; none where the person may not read it."""
    reading = mine(screen, name)
    if reading is None:
        return []
    found: list[dict[str, Any]] = screen.door.read(reading.pattern, page_size=MOST, **query)["results"]
    return found


def queue(
    screen: Screen,
    title: str,
    name: str,
    row: Callable[[Screen, dict[str, Any]], Waiting],
    *,
    term: str = "",
    **query: Any,
) -> Queue:
    """What waits in a list of the house."""
    found = rows(screen, name, **query)
    return Queue(title, tuple(row(screen, one) for one in found), name if len(found) == MOST else "", term)
