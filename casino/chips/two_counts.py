"""Two people count the same, blind of each other: boxes in the count room, and the vault.

Neither is shown what the other has counted, nor what the books expect. Where the two differ they hear only that, and
both count again; after MOST_ROUNDS pairs that differ somebody decides who has not counted.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from casino.core.errors import Conflict
from casino.staff import independence
from casino.staff.models import Staff

#: After how many pairs of counts that differ somebody decides.
MOST_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Round:
    """The number of a round, from 1, and whether its two counts agree; None while there is one."""

    number: int
    agrees: bool | None


def enter(
    counts: QuerySet[Any], counted_by: Staff, differing_rounds: int, compared: Mapping[str, Any],
    create: Callable[[int], None],
) -> Round:  # fmt: skip
    """Enter a person's count in the round that is under way, after `differing_rounds` that differed: `create` makes its
    row of the number of the round. `compared` are the fields in which two counts must be the same.

    What is counted must be locked. Raises Conflict supervisor_needed, Forbidden four_eyes for who has counted in this
    round, or is not independent of who has.
    """
    if differing_rounds >= MOST_ROUNDS:
        raise Conflict(f"{MOST_ROUNDS} pairs of counts have differed; a supervisor decides.", code="supervisor_needed")
    number = differing_rounds + 1
    before = counts.filter(round=number).select_related("counted_by").first()
    if before is not None:
        independence.require_another(counted_by, "counted this", (before.counted_by,))
    create(number)
    if before is None:
        return Round(number, None)
    return Round(number, all(getattr(before, name) == value for name, value in compared.items()))


def require_to_decide(differing_rounds: int) -> None:
    """Refuse to decide before counts have differed often enough. Raises Conflict recount_needed."""
    if differing_rounds < MOST_ROUNDS:
        raise Conflict(f"A supervisor decides after {MOST_ROUNDS} pairs of counts that differ.", code="recount_needed")


def require_not_counted(counts: QuerySet[Any], staff: Staff) -> None:
    """Refuse a person who has counted, in whatever round, or depends on who has. Raises Forbidden four_eyes."""
    counters = [one.counted_by for one in counts.select_related("counted_by")]
    independence.require_another(staff, "counted this", counters)
