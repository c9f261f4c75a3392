"""Which roles the operations of the API take, as their views declare it: those of this version of the program."""

from collections.abc import Iterable

from django.urls import get_resolver

from casino.staff.models import Role

_TAKEN: dict[str, frozenset[Role]] = {}


def declare(operation: str, roles: Iterable[Role]) -> None:
    """State the roles of an operation by its id; a view that knows its callers otherwise has none."""
    _TAKEN[operation] = frozenset(roles)


def roles_of(operation: str) -> frozenset[Role]:
    """The roles that an operation takes; none of one that there is not, or that is not for the staff. A worker has not
    loaded the views before the first question."""
    _ = get_resolver().url_patterns
    return _TAKEN.get(operation, frozenset())
