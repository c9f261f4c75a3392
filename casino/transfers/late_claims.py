"""Chips of a lapsed set that are brought late: worth nothing any more, but the house still has what it owed for them as
unclaimed property, and pays them out of that in cash, by grace.

Never more than what lapsed of the set and nobody has claimed yet, in worth and in pieces of each denomination: what is
beyond that was never out. The pieces are chips of the house again. The drawer keeps them with those of withdrawn sets
that it has taken back, and they go the same way, to the vault and to their destruction.
"""

from dataclasses import dataclass, replace
from typing import Any

from casino.approvals.models import ApprovalKind
from casino.audit.events.chips import LateClaimPaid
from casino.bookkeeping import chart
from casino.bookkeeping.accounts import Account
from casino.bookkeeping.flows import Direction
from casino.bookkeeping.postings import posting
from casino.cage import selectors as drawers
from casino.cage import services as cage
from casino.cage.models import Drawer
from casino.chips import selectors as chips
from casino.chips.models import ChipSet, Denomination
from casino.core import denominations
from casino.core.commands import Answer, Command
from casino.core.denominations import Chips
from casino.core.denominations import ChipSet as Ladder
from casino.core.errors import Conflict, NotFound, Unprocessable
from casino.core.work import Outcome, Work
from casino.houses.models import House
from casino.players import persons, thresholds
from casino.safeguards import standing
from casino.transfers.choosing import Pieces
from casino.transfers.late_models import LateClaim


def pay(*, command: Command, code: str, chip_set: str, player_ref: str, pieces: Pieces, reason: str) -> Answer:
    """Take these chips of a lapsed set at a drawer, and pay the player who brings them their worth in cash.

    Raises NotFound for a set or a player that the house does not have, and no_person where nobody has recorded who the
    player is; Gone, Conflict staff_as_player, chip_set_not_lapsed, chip_set_retired, lapsed_chips_claimed (`left` in
    minor units, `missing` pieces), drawer_closed, drawer_counted, drawer_short, approval_required (a supervisor or a
    manager, and as for any other cash from the larger control point on); Forbidden not_your_drawer; Unprocessable
    nothing_to_move, or for wrong pieces.
    """

    def change(drawer: Drawer, work: Work) -> Outcome:
        player, _ = cage.customer(drawer, work, player_ref)
        persons.require_guest(player)
        persons.require_known(player)
        standing.require_no_minor(drawer.house, player)
        house = drawer.house
        lapsed = _lock_lapsed(house, chip_set)
        brought = denominations.parse(lapsed.ladder, pieces)
        if not brought:
            raise Unprocessable("Name at least one chip.", code="nothing_to_move")
        left = lapsed.less(brought)
        drawers.require_cash(drawer, brought.value)
        trade = thresholds.check(house, brought.value, Direction.OUT, player=player)
        work.require_approval(replace(trade.always(), kind=ApprovalKind.UNCLAIMED))
        racks = [drawer.account(Account.SET_ASIDE), drawer.account(Account.PUBLIC)]
        chart.open_accounts(house, racks, lapsed.ladder)
        row = LateClaim.objects.create(
            house=house, number=lapsed.last + 1, drawer=drawer, chip_set=lapsed.chip_set, player=player,
            amount=brought.value, pieces=brought.as_json(), reason=reason, paid_by=command.context.staff,
        )  # fmt: skip
        paid = posting("late_claim_paid", {"drawer": code}, amount=row.amount, chips=brought)
        named: dict[str, Any] = {"claim": row.number, "chip_set": chip_set, "player": player_ref}
        cage.enter(work, command.ledger_key(), drawer, "cage.late_claim_paid", [paid], **named)
        event = LateClaimPaid(
            **named, amount=row.amount, exchanged=row.pieces, left=left, reason=reason,
            threshold_reached=trade.reached,
        )  # fmt: skip
        return Outcome(event, status=201)

    return cage.write_at(command, code, change)


def describe(row: LateClaim) -> dict[str, Any]:
    """A late claim, as lists have it."""
    return {
        "claim": row.number,
        "drawer": row.drawer.code,
        "chip_set": row.chip_set.code,
        "player": row.player.ref,
        "amount": row.amount,
        "pieces": row.pieces,
        "reason": row.reason,
        "paid_by": row.paid_by.login,
        "paid_at": row.paid_at,
    }


# --- Parts ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Lapsed:
    """A lapsed set, what of it nobody has claimed yet, and the number of the house's newest late claim."""

    chip_set: ChipSet
    ladder: Ladder
    unclaimed: Chips
    last: int

    def less(self, brought: Chips) -> int:
        """What is left after these chips, in minor units. Raises Conflict lapsed_chips_claimed."""
        left, missing = self.unclaimed.value, (self.unclaimed.surplus - brought).shortage
        if missing or brought.value > left:
            raise Conflict(
                f"Not so many chips lapsed of {self.chip_set.code} that nobody has claimed yet.",
                code="lapsed_chips_claimed",
                left=max(left, 0),
                missing=missing.as_json(),
            )
        return left - brought.value


def _lock_lapsed(house: House, code: str) -> _Lapsed:
    """A lapsed set as it stays until the transaction ends. Raises NotFound, Conflict chip_set_not_lapsed,
    chip_set_retired."""
    claims = LateClaim.objects.filter(house=house)
    sets, values, claimed, numbers = chips.lock_chip_set(
        house,
        ChipSet.objects.filter(house=house, code=code),
        Denomination.objects.filter(house=house, chip_set__code=code).order_by("value").values_list("value", flat=True),
        claims.filter(chip_set__code=code).values_list("pieces", flat=True),
        claims.order_by("-number").values_list("number", flat=True)[:1],
    )
    found: ChipSet | None = next(iter(sets), None)
    if found is None:
        raise NotFound(f"House {house.code} has no chip set {code}.")
    if found.retired_at is not None:
        raise Conflict(f"Chip set {code} is retired.", code="chip_set_retired")
    if found.lapsed_pieces is None:
        raise Conflict(f"Chip set {code} has not lapsed.", code="chip_set_not_lapsed")
    unclaimed = _mix(code, found.lapsed_pieces)
    for pieces in claimed:
        unclaimed -= _mix(code, pieces)
    return _Lapsed(found, Ladder(code, tuple(values)), unclaimed, next(iter(numbers), 0))


def _mix(code: str, pieces: dict[str, int]) -> Chips:
    return Chips(code, {int(value): count for value, count in pieces.items()})
