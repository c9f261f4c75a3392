"""Withdrawing a dispute: what the floor has stopped goes on as if it had not been disputed.

The person who raised a dispute may withdraw it, or a manager. The frozen pot goes back to where it lay, the hand to the
state before the dispute: it is played on, with the whole time to act for the seat whose turn it is, or it waits for its
settlement, or for the approval of its bonus. Where a worker has stopped the hand because its replay differs, and where
the floor has refused its bonus, nothing can be withdrawn: the hand is ruled on or voided.
"""

from functools import partial
from typing import Any

from casino.audit.events.hands import HandDisputeWithdrawn
from casino.bookkeeping import chart
from casino.bookkeeping.accounts import Account
from casino.core import outbox, sql, write
from casino.core.commands import Answer, Command, RequestContext
from casino.core.errors import Conflict, Forbidden
from casino.core.work import Outcome, Work
from casino.hands import bonus, postings, selectors, services
from casino.hands.models import Hand, HandState
from casino.houses.models import OutboxMessage
from casino.staff.models import Role
from casino.tables import services as tables
from casino.tables.models import Table, TableState

#: The task whose message a hand waits with, by its state.
WAITS_FOR = {HandState.ENDED: services.RESOLVE, HandState.APPROVED: bonus.RESOLVE_CONFIRMED}
_RESUMED = """
UPDATE hands_hand SET state = disputed_from, disputed_at = NULL, disputed_by = '', disputed_from = '',
    disputes_withdrawn = disputes_withdrawn + 1, resumed_at = clock_timestamp()
WHERE id = %s::bigint
"""


def withdraw(*, command: Command, code: str, name: str, reason: str) -> Answer:
    """Withdraw the dispute of the table's hand `name`, which goes on as if undisputed.

    Raises Conflict table_... unless the table is disputed, other_hand where another hand than `name` is,
    dispute_not_raised where nobody of the floor has disputed it; Forbidden not_your_dispute for anybody but the person
    who has, or a manager.
    """

    def change(table: Table, work: Work) -> Outcome:
        tables.require_state(table, TableState.DISPUTED)
        hand = selectors.unsettled(table)
        if hand is None:
            raise AssertionError(f"table {code} is disputed without an unsettled hand")
        if name != hand.name:
            raise Conflict(f"Hand {hand.name} is disputed at table {code}.", code="other_hand", hand=hand.name)
        _require_own(command.context, hand)
        after, raised_by = HandState(hand.disputed_from), hand.disputed_by
        returned, message = _lying(hand, after, work)
        mirror = _unfreeze(hand, returned, reason, work)
        if message is not None:
            work.also(outbox.AGAIN, [message.id])
        work.also(_RESUMED, [hand.id])
        tables.to_state(table, TableState.PLAYING if after == HandState.PLAYING else TableState.SETTLING)
        event = HandDisputeWithdrawn(
            hand=hand.name, after=str(after), raised_by=raised_by, returned=returned, mirror=mirror, reason=reason
        )
        return Outcome(event, after=partial(outbox.HINTS.leave, message) if message else None)

    return write.write(command, tables.AtTable(code), change)


def _require_own(context: RequestContext, hand: Hand) -> None:
    """Raises Conflict dispute_not_raised, Forbidden not_your_dispute."""
    if not hand.disputed_by:
        raise Conflict(
            f"The floor did not dispute hand {hand.name}: rule on it, or void it.", code="dispute_not_raised"
        )
    if context.role != Role.MANAGER and context.staff.login != hand.disputed_by:
        raise Forbidden(
            f"{hand.disputed_by} has disputed hand {hand.name}, and withdraws that, or a manager does.",
            code="not_your_dispute",
            disputed_by=hand.disputed_by,
        )


def _lying(hand: Hand, after: HandState, work: Work) -> tuple[int, OutboxMessage | None]:
    """What the dispute has frozen, in minor units; and the message that the worker gets again, where the hand waits for
    it."""
    disputed_pot = hand.table.account(Account.DISPUTED_POT)
    asking = OutboxMessage.objects.filter(house=hand.house_id, task=WAITS_FOR.get(after, ""), subject=str(hand.id))
    messages: list[OutboxMessage] = []

    def send(read: sql.Statement) -> list[tuple[Any, ...]]:
        lying, found = work.flush(read, asking)
        messages.extend(found)
        return lying

    frozen = chart.balances(hand.house, [disputed_pot], send)[disputed_pot]
    if after not in WAITS_FOR:
        return frozen, None
    [message] = messages
    return frozen, message


def _unfreeze(hand: Hand, frozen: int, reason: str, work: Work) -> int | None:
    """Mirror what the dispute has posted; returns the mirror's id, None where nothing lay in the middle."""
    if not frozen:
        return None
    key = postings.key(hand, postings.dispute(hand))
    return work.reverse_all(keys=[key], metadata={"hand": hand.name, "reason": reason})[key]
