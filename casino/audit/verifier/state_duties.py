"""Which roles no person may hold together: the verifier's own table. Both the event that gives
such a pair is found, and what a person does who holds one.

A house that an auditor has let be small lets one person be floor and cage supervisor, as long as it has few tables.
"""

from collections.abc import Collection
from itertools import combinations

from .state_approvals import Approvals
from .state_approvers import MOST_TABLES_OF_SMALL
from .state_rows import TOLERANCE, Handler, Row, Rows, seconds_between

#: The pairs of roles that one person may hold; every other pair is refused.
TOGETHER = frozenset(
    frozenset(pair)
    for pair in (
        ("dealer", "floor"),
        ("cashier", "cage_supervisor"),
        ("compliance", "manager"),
        ("compliance", "count"),
        ("dealer", "delegate"),
        ("floor", "delegate"),
        ("compliance", "delegate"),
    )
)
#: The one pair that may meet in a small house.
_MEET_IN_SMALL = frozenset(("floor", "cage_supervisor"))
#: What a person with such a pair is let do nevertheless: come, go, end sessions, and choose a password.
_LET = frozenset(
    (
        "staff.signed_in",
        "staff.signed_out",
        "staff.sessions_ended",
        "staff.reauthenticated",
        "staff.password_changed",
    )
)


def refused_pairs(roles: Collection[str]) -> frozenset[frozenset[str]]:
    """The pairs among these roles that exclude each other."""
    return frozenset(map(frozenset, combinations(sorted({*roles}), 2))) - TOGETHER


class Duties:
    """Judges roles that are given, and roles that are held by who acts."""

    def __init__(self, rows: Rows, approvals: Approvals) -> None:
        self._rows, self._approvals = rows, approvals
        #: When the newest table was set up.
        self._grown = ""
        self.handlers: dict[str, Handler] = {
            "staff.hired": lambda doc: self._given(doc, doc["data"]["roles"]),
            "staff.roles_changed": lambda doc: self._given(doc, doc["data"]["after"]),
            "table.set_up": self._table_set_up,
        }

    def judge(self, actor: str, roles: Collection[str], at: str, kind: str, place: str) -> bool:
        """Report a pair that a person holds who acts. Returns whether the answer is good until the roster changes."""
        pairs = refused_pairs(roles)
        if not pairs or kind in _LET:
            return not pairs
        self._require_none(pairs, f"{actor} acts", at, place)
        return False

    def _given(self, doc: Row, roles: Collection[str]) -> None:
        said = f"{doc['data']['login']} is given roles"
        self._require_none(refused_pairs(roles), said, doc["at"], f"{doc['chain']}#{doc['seq']}")

    def _require_none(self, pairs: frozenset[frozenset[str]], said: str, at: str, place: str) -> None:
        for pair in sorted(map(sorted, pairs)):
            if frozenset(pair) != _MEET_IN_SMALL or not self._is_small(at):
                problem = f"{said}, and would be both {pair[0]} and {pair[1]}"
                self._rows.find("roles_exclude_each_other", place, problem)
                return

    def _is_small(self, at: str) -> bool:
        """Whether the house was small about then: a write may have read what was so a moment before."""
        tables = [row for row in self._rows.of("tables.Table").values() if row["state"] != "retired"]
        few = len(tables) <= MOST_TABLES_OF_SMALL or seconds_between(self._grown, at) <= TOLERANCE
        return few and any(points.get("small_house") for points in self._approvals.in_force_about(at))

    def _table_set_up(self, doc: Row) -> None:
        self._grown = doc["at"]
