"""From which amounts on the house must know who a player is, and a second person approves, when money comes from a
player or goes to one: the same at drawers and at tables, for one transaction and for several together.

What the same person has paid in, or was paid, in the gaming day and in the windows of the control points is added to
the transaction at hand before anything is posted. The sums are read under the lock of the player's person, which every
such transaction takes: of two at the same time the second one sees the first.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from casino.approvals.gate import Need
from casino.approvals.models import ApprovalKind
from casino.bookkeeping import flows
from casino.bookkeeping.flows import Direction, Sums
from casino.core import sql
from casino.core.errors import Conflict
from casino.core.work import Work
from casino.houses.control_points import ControlPoints, in_force
from casino.houses.models import House
from casino.players import persons
from casino.players.models import Player
from casino.staff.models import Role

#: Where a player has the sums that were read under the lock.
_SUMS = "_sums_under_the_lock"


@dataclass(frozen=True, slots=True)
class Trade:
    """A transaction that may go on, as far as it is known who it is with."""

    points: ControlPoints
    amount: int
    direction: Direction
    #: What was paid before in this direction, by window; empty for somebody of whom nothing is known.
    before: Mapping[str, int]

    @property
    def sums(self) -> dict[str, int]:
        """With this one, by window."""
        return {window: paid + self.amount for window, paid in self.before.items()}

    @property
    def most(self) -> int:
        """The largest of the amount and the sums."""
        return max(self.amount, *self.sums.values()) if self.before else self.amount

    @property
    def reached(self) -> dict[str, Any] | None:
        """What the event says of a transaction with which the threshold is reached, alone or with others before it."""
        if self.most < self.points.identity_from:
            return None
        return {"direction": str(self.direction), "sums": self.sums}

    def require_approval(self, work: Work) -> None:
        """Hold it back until it is approved, where it reaches a control point alone, or with others before it.
        Raises as `Work.require_approval`."""
        needed = self.need()
        if needed is not None:
            work.require_approval(needed)

    def need(self) -> Need | None:
        """Who approves it: from the larger control point on both a manager and compliance; None where nobody need."""
        if self._reaches(self.points.exchange_by_manager_from):
            both = (Role.MANAGER, Role.COMPLIANCE)
            return Need(kind=ApprovalKind.EXCHANGE, roles=both, amount=self.amount, every_role=True)
        if self._reaches(self.points.exchange_by_supervisor_from):
            return self._by_supervisor()
        return None

    def always(self) -> Need:
        """Who approves it where somebody always does."""
        return self.need() or self._by_supervisor()

    def _by_supervisor(self) -> Need:
        return Need(kind=ApprovalKind.EXCHANGE, roles=(Role.CAGE_SUPERVISOR, Role.MANAGER), amount=self.amount)

    def _reaches(self, line: int) -> bool:
        """Whether it reaches a control point by itself, or takes a sum over the next multiple of it: nobody asks again
        for every small amount after that, and nobody can go on for ever in small ones."""
        if line <= 0 or self.amount >= line:
            return True
        return any((max(paid, 0) + self.amount) // line > max(paid, 0) // line for paid in self.before.values())


def lock(house: House, ref: str) -> Player:
    """As `persons.lock`, and reads in the same round trip what the player has paid and was paid. Raises NotFound."""
    player, [found] = persons.lock_beside(house, ref, reading(house, ref))
    read(player, found)
    return player


def reading(house: House, who: str) -> sql.Statement:
    """What reads the sums of a person, for who takes the lock with something else; `read` takes what it has found."""
    points = in_force(house)
    return flows.reading(house, who, {name: getattr(points, name) for name in flows.WINDOWS})


def read(player: Player, found: list[tuple[Any, ...]]) -> None:
    """Let the player go by what `reading` has found."""
    player.__dict__[_SUMS] = flows.sums(found)


def check(
    house: House, amount: int, direction: Direction, *, player: Player | None = None,
    before: Mapping[str, int] | None = None, held_at: str = "",
) -> Trade:  # fmt: skip
    """A transaction of this amount with a player whose lock is held, or with a person without a name; `before`: what is
    known that such a person has paid, or was paid, by window, under the lock of the log. `held_at` is the code of the
    drawer that can hold the payout instead: chips that are brought are never kept without the debt.
    Raises Conflict identity_required from the control point on, alone or together with what was paid before, where it
    is not recorded who that is."""
    points = in_force(house)
    sums: Sums | None = None
    if player is not None:
        sums = player.__dict__.get(_SUMS) or flows.sums(sql.read(reading(house, player.ref)))
    trade = Trade(points, amount, direction, sums.of(direction) if sums else before or {})
    if trade.most >= points.identity_from and not (player is not None and persons.is_known(player)):
        raise _refused(house, trade, player, held_at)
    return trade


def paid(house: House, ref: str) -> dict[str, Any]:
    """What a player has paid in and was paid up to now, by window in minor units, and whether it is recorded who the
    player is. Raises NotFound."""
    player = persons.get(house, ref)
    sums = flows.sums(sql.read(reading(house, ref)))
    return {
        "player": ref,
        "known": persons.is_known(player),
        "threshold": in_force(house).identity_from,
        "paid_in": sums.of(Direction.IN),
        "paid_out": sums.of(Direction.OUT),
    }


def require_identity(house: House, points: ControlPoints, amount: int, *, player: Player | None = None) -> None:
    """Refuse so many chips of a player of whom it is not recorded who it is, or of nobody known: no money moves. The
    caller holds the lock of the player's person. Raises Conflict identity_required."""
    if amount >= points.identity_from and not (player is not None and persons.is_known(player)):
        raise _refused(house, Trade(points, amount, Direction.IN, {}), player, "")


def _refused(house: House, trade: Trade, player: Player | None, held_at: str) -> Conflict:
    held_payouts = f"drawers/{held_at}/held-payouts" if held_at else None
    lacking = f"it is not recorded who {player.ref} is" if player else "chips are sold and bought back by name"
    instead = f" The chips can be taken now as a held payout, at {held_payouts}." if held_payouts else ""
    threshold = trade.points.identity_from
    windows = sorted(window for window, paid in trade.sums.items() if paid >= threshold)
    linked = trade.amount < threshold
    counted = f" With what was paid before it is {house.money(trade.most)} ({', '.join(windows)})." if linked else ""
    return Conflict(
        f"From {house.money(threshold)} on the house must know the player: {lacking}.{counted}{instead}",
        code="identity_required",
        amount=threshold,
        held_payouts=held_payouts,
        linked=windows if linked else [],
    )
