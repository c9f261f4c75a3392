"""Which roles no person may hold together, and why.

The rule holds twice. A person is not hired with such a pair, and is not given one; and a person who holds one
nevertheless, from another time or by way of the database, is refused everything but signing out and a new password. Nor
is a person given a role on a gaming day on which they have acted in one that it excludes (`roster.change_roles`).
Requirements: segregation of duties, as in NJAC 13:69D-1.11(a)2: nobody may be able both to err and to conceal it.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from casino.core.errors import Forbidden
from casino.houses import control_points
from casino.houses.models import House
from casino.staff.models import Role

_TABLES = frozenset({Role.DEALER, Role.FLOOR})
_CAGE = frozenset({Role.CASHIER, Role.CAGE_SUPERVISOR})
#: Roles that move chips or money, or write down what moved.
_DOING = _TABLES | _CAGE | {Role.COUNT}
_ALL = frozenset(Role)


@dataclass(frozen=True, slots=True)
class RefusedPair:
    """Two roles that exclude each other, the earlier one of the enumeration first."""

    one: Role
    other: Role
    why: str

    @property
    def roles(self) -> list[str]:
        """Both, as texts."""
        return [str(self.one), str(self.other)]


#: Every role of the first set excludes every other role of the second. The first line that names a pair says why.
_EXCLUSIONS: tuple[tuple[frozenset[Role], frozenset[Role], str], ...] = (
    (
        frozenset({Role.ADMIN}),
        _ALL,
        "an administrator gives roles and passwords, and so has no other duty",
    ),
    (frozenset({Role.AUDITOR}), _ALL, "an auditor judges what all others do, and so does nothing of it"),
    (frozenset({Role.SURVEILLANCE}), _ALL, "surveillance watches all others, and so does nothing of what it watches"),
    (_TABLES, _CAGE, "chips that go from the cage to a table are checked by two people who are not the same"),
    (_TABLES, frozenset({Role.COUNT}), "who fills a table's boxes does not count them"),
    (_CAGE, frozenset({Role.COUNT}), "who receives what was counted does not count it"),
    (frozenset({Role.MANAGER}), _DOING, "the manager approves what others do, and so does nothing of it"),
    (
        frozenset({Role.DELEGATE}),
        _CAGE | {Role.COUNT, Role.MANAGER},
        "the delegate sees for the staff that tips are counted, shared and paid as agreed, and so does nothing of it",
    ),
    (
        frozenset({Role.COMPLIANCE}),
        _TABLES | _CAGE,
        "compliance judges the transactions that tables and cage make",
    ),
)


def _pairs() -> Iterator[RefusedPair]:
    order = list(Role)
    seen: set[frozenset[Role]] = set()
    for first, second, why in _EXCLUSIONS:
        for one, other in ((one, other) for one in order for other in order):
            pair = frozenset({one, other})
            named = (one in first and other in second) or (other in first and one in second)
            if one != other and named and pair not in seen:
                seen.add(pair)
                earlier, later = sorted(pair, key=order.index)
                yield RefusedPair(earlier, later, why)


#: All of them.
REFUSED_PAIRS = tuple(_pairs())
#: The one pair that may meet in a small house.
_MEET_IN_SMALL = {Role.FLOOR, Role.CAGE_SUPERVISOR}


def refused_pair(roles: Collection[str], house: House | None = None) -> RefusedPair | None:
    """The first pair among these roles that excludes each other, in this house; None where they may be held
    together."""
    held = set(roles)
    return _first((pair for pair in REFUSED_PAIRS if pair.one in held and pair.other in held), house)


def excluded(done: Collection[str], wanted: Collection[str], house: House | None = None) -> RefusedPair | None:
    """The first pair of a role of each collection that excludes each other, in this house; None where there is none."""
    return _first(
        (
            pair
            for pair in REFUSED_PAIRS
            if (pair.one in done and pair.other in wanted) or (pair.other in done and pair.one in wanted)
        ),
        house,
    )


def _first(pairs: Iterable[RefusedPair], house: House | None) -> RefusedPair | None:
    """The first that the house does not let meet. What it lets meet is read only where it matters."""
    for pair in pairs:
        meets = house is not None and {pair.one, pair.other} == _MEET_IN_SMALL and control_points.is_small(house)
        if not meets:
            return pair
    return None


def require_compatible(roles: Iterable[str], login: str, house: House) -> None:
    """Refuse roles that exclude each other. Raises Forbidden roles_exclude_each_other, which names a pair and why."""
    pair = refused_pair(frozenset(str(role) for role in roles), house)
    if pair is not None:
        raise Forbidden(
            f"{login} cannot be both {pair.one} and {pair.other}: {pair.why}.",
            code="roles_exclude_each_other",
            roles=pair.roles,
        )
