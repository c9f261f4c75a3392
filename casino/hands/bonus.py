"""A bonus of the house from a control point on (`bonus_approved_from`) is paid after a second person has approved it.

The worker that replays the hand holds it (`awaiting_approval`): nothing of it is paid. The floor looks at the cards
that lie open and confirms the bonus, which takes a manager's approval of exactly this hand and amount; then the worker
replays the hand again and settles it. Where the cards do not bear the bonus out, or the manager has refused it, the
floor refuses it: the hand is disputed, its pot is frozen, and it is ruled on or voided.
"""

from casino.approvals.gate import Need
from casino.approvals.models import Approval, ApprovalKind, ApprovalState
from casino.audit.events.hands import BonusConfirmed, BonusHeld, BonusRefused
from casino.core import write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict
from casino.core.work import Outcome, Work
from casino.hands import disputes, selectors
from casino.hands.models import Hand, HandState
from casino.houses.control_points import in_force
from casino.houses.models import ClockTimestamp
from casino.staff.models import Role
from casino.tables import services as tables
from casino.tables.models import Table, TableState

#: Celery task that settles a hand whose bonus was confirmed.
RESOLVE_CONFIRMED = "hands.resolve_confirmed_hand"
#: Who approves a bonus that the floor has confirmed.
APPROVERS = (Role.MANAGER,)


def of(hand: Hand) -> int:
    """The bonuses of the house that the hand's stored result has, all seats together, in minor units."""
    return sum((hand.result or {}).get("bonus", ()))


def is_held(hand: Hand) -> bool:
    """Whether the hand has to wait for an approval of its bonus that nobody has given yet."""
    if hand.state != HandState.ENDED:
        return False
    amount = of(hand)
    return bool(amount) and amount >= in_force(hand.house).bonus_approved_from


_HELD = "UPDATE hands_hand SET state = 'awaiting_approval' WHERE id = %s::bigint"


def hold(hand: Hand, work: Work) -> None:
    """Let the hand wait, in the transaction of its settlement: nothing is paid."""
    hand.state = HandState.AWAITING_APPROVAL
    work.also(_HELD, [hand.id])
    tables.advance(hand.table, work)
    event = BonusHeld(hand=hand.name, bonus=of(hand), table_version=hand.table.version)
    work.record(chain=hand.table.chain, event=event)


def confirm(*, command: Command, code: str, name: str, bonus: int) -> Answer:
    """Confirm the bonus of this hand, `bonus` minor units together; the worker settles the hand then.

    Raises Conflict no_bonus_held, bonus_differs for another hand or amount, bonus_refused where a manager has refused
    it, and approval_required until a manager has approved it.
    """

    def change(table: Table, work: Work) -> Outcome:
        hand = _held(table)
        amount = of(hand)
        if (name, bonus) != (hand.name, amount):
            raise Conflict(
                f"Hand {hand.name} waits with a bonus of {table.house.money(amount)}.",
                code="bonus_differs",
                hand=hand.name,
                bonus=amount,
            )
        _require_not_refused(hand)
        work.require_approval(Need(kind=ApprovalKind.BONUS, roles=APPROVERS, amount=amount))
        Hand.objects.filter(id=hand.id).update(state=HandState.APPROVED)
        work.enqueue(task=RESOLVE_CONFIRMED, subject=str(hand.id))
        return Outcome(BonusConfirmed(hand=hand.name, bonus=amount))

    return write.write(command, tables.AtTable(code), change)


def refuse(*, command: Command, code: str, reason: str) -> Answer:
    """Refuse the bonus that waits: the hand is disputed, with its pot frozen. Raises Conflict no_bonus_held."""

    def change(table: Table, work: Work) -> Outcome:
        hand = _held(table)
        frozen = disputes.freeze(hand, reason, work)
        Hand.objects.filter(id=hand.id).update(state=HandState.DISPUTED, disputed_at=ClockTimestamp())
        tables.to_state(table, TableState.DISPUTED)
        return Outcome(BonusRefused(hand=hand.name, bonus=of(hand), frozen=frozen, reason=reason))

    return write.write(command, tables.AtTable(code), change)


def _held(table: Table) -> Hand:
    """The table's hand that waits with a bonus. Raises Conflict no_bonus_held."""
    hand = selectors.unsettled(table)
    if hand is None or hand.state != HandState.AWAITING_APPROVAL:
        raise Conflict(
            f"No bonus waits for an approval at table {table.code}.", code="no_bonus_held", state=table.state
        )
    return hand


def _require_not_refused(hand: Hand) -> None:
    """Raises Conflict bonus_refused where somebody has refused to approve the hand's bonus."""
    refused = Approval.objects.filter(
        house=hand.house, kind=ApprovalKind.BONUS, state=ApprovalState.REFUSED, body__hand=hand.name
    ).first()
    if refused is not None:
        raise Conflict(
            f"Approval {refused.number} of this bonus was refused; refuse the bonus, and rule on the hand.",
            code="bonus_refused",
            hand=hand.name,
        )
