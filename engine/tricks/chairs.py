"""Chairs of an evening: the part of a series that says in which order people sit, and whose turn to deal it is.

``order`` names everybody in play order and stays as it is for the evening; ``deals`` names who deals. The seats of a
deal are ``order`` turned so that the dealer is last, so an evening goes on from any of its records.

>>> setup = Setup("zsiros", {}, 2, (0, 0), series={"order": ["ann", "ben"], "deals": "ann"}, ids=("ben", "ann"))
>>> chair_of_first(setup)
1
>>> first_chairs(("ben", "ann"))
{'order': ['ben', 'ann'], 'deals': 'ann'}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from engine.errors import MalformedSetup
from engine.kernel.setup import Setup


def require_keys(setup: Setup, keys: tuple[str, ...]) -> None:
    """Raise ``MalformedSetup`` unless the series holds exactly these keys."""
    if setup.series.keys() != set(keys):
        raise MalformedSetup(f"the series of {setup.game} holds {', '.join(keys)}", series=list(keys))


def chair_of_first(setup: Setup) -> int:
    """The place of p1 in ``order``, from 0; raises ``MalformedSetup`` where ``order`` and ``deals`` do not give the
    seats of the deal."""
    order, names = setup.series.get("order"), list(setup.names)
    if setup.series.get("deals") != names[-1]:
        raise MalformedSetup("the dealer of the series sits on the last seat", deals=names[-1])
    if type(order) is not list or names[0] not in order:
        raise MalformedSetup("the order of the series names those who sit on the seats", order=names)
    first = order.index(names[0])
    if order[first:] + order[:first] != names:
        raise MalformedSetup("the seats are the order of the series, turned so that the dealer is last", order=names)
    return first


def goes_on(series: Mapping[str, Any], ids: Sequence[str]) -> bool:
    """Whether the deal of these people, p1 first, is the next one of the evening that left ``series``: the same people
    in the same order, and the dealer whose turn it is.

    >>> left = {"order": ["ann", "ben", "cat", "dan"], "deals": "ben"}
    >>> goes_on(left, ("cat", "dan", "ann", "ben")), goes_on(left, ("dan", "ann", "ben", "cat")), goes_on({}, ("ann",))
    (True, False, False)
    """
    order, names = series.get("order"), list(ids)
    if type(order) is not list or series.get("deals") != names[-1] or names[0] not in order:
        return False
    first = order.index(names[0])
    return order[first:] + order[:first] == names


def first_chairs(ids: tuple[str, ...]) -> dict[str, object]:
    """The chairs of an evening's first deal: people sit as they are dealt to, p1 first."""
    return {"order": list(ids), "deals": ids[-1]}


def counts(setup: Setup, key: str, size: int, most: int) -> tuple[int, ...]:
    """A list of the series of ``size`` whole numbers from 0 to ``most``; raises ``MalformedSetup`` for anything
    else."""
    found = setup.series.get(key)
    if type(found) is not list or len(found) != size or not _are_counts(found, most):
        raise MalformedSetup(f"{key} of the series is {size} whole numbers from 0 to {most}", min=0, max=most)
    return tuple(found)


def _are_counts(found: Iterable[object], most: int) -> bool:
    return all(type(number) is int and 0 <= number <= most for number in found)
