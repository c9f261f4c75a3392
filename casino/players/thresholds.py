"""From which amounts on the house must know who a player is, and a second person approves, when chips are sold or
bought back: the same at drawers and at tables."""

from casino.approvals.gate import Need
from casino.approvals.models import ApprovalKind
from casino.core.errors import Conflict
from casino.core.write import Work
from casino.houses.control_points import ControlPoints
from casino.houses.models import House
from casino.players import persons
from casino.players.models import Player
from casino.staff.models import Role


def require_identity(
    house: House, points: ControlPoints, amount: int, *, player: Player | None = None, held_at: str = ""
) -> None:
    """Refuse a trade of this amount with a player of whom it is not recorded who it is, or with nobody known. `held_at`
    is the code of the drawer that can hold the payout instead: chips that are brought are never kept without the debt.
    The caller holds the lock of the player's person. Raises Conflict identity_required."""
    if amount < points.identity_from or (player is not None and persons.is_known(player)):
        return
    held_payouts = f"drawers/{held_at}/held-payouts" if held_at else None
    lacking = f"it is not recorded who {player.ref} is" if player else "chips are sold and bought back by name"
    instead = f" The chips can be taken now as a held payout, at {held_payouts}." if held_payouts else ""
    raise Conflict(
        f"From {house.money(points.identity_from)} on the house must know the player: {lacking}.{instead}",
        code="identity_required",
        amount=points.identity_from,
        held_payouts=held_payouts,
    )


def require_approval(points: ControlPoints, work: Work, amount: int) -> None:
    """Hold a trade of this amount back until it is approved, where the house's control points say so.
    Raises as `Work.require_approval`."""
    if amount >= min(points.exchange_by_supervisor_from, points.exchange_by_manager_from):
        work.require_approval(need(points, amount))


def need(points: ControlPoints, amount: int) -> Need:
    """Who approves a trade of this amount if somebody has to: from the larger control point on both a manager and
    compliance."""
    if amount >= points.exchange_by_manager_from:
        both = (Role.MANAGER, Role.COMPLIANCE)
        return Need(kind=ApprovalKind.EXCHANGE, roles=both, amount=amount, every_role=True)
    return Need(kind=ApprovalKind.EXCHANGE, roles=(Role.CAGE_SUPERVISOR, Role.MANAGER), amount=amount)
