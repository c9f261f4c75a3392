"""Freezing what lies in the middle of a table until somebody has ruled on its hand; the floor disputes a hand."""

from casino.audit.events.hands import HandDisputeRaised
from casino.bookkeeping import chart
from casino.bookkeeping.accounts import Account
from casino.bookkeeping.postings import posting
from casino.core import write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict
from casino.core.work import Outcome, Work
from casino.hands import postings, selectors
from casino.hands.models import Hand, HandState
from casino.tables import services as tables
from casino.tables.models import Table, TableState

_DISPUTED = """
UPDATE hands_hand
SET state = 'disputed', disputed_at = clock_timestamp(), disputed_by = %s::text, disputed_from = %s::text
WHERE id = %s::bigint
"""
#: Nothing is left for the worker to do.
_NOT_SETTLED = """
UPDATE houses_outboxmessage SET done_at = clock_timestamp(), last_error = ''
WHERE done_at IS NULL AND house_id = %s::uuid AND subject = %s::text AND task LIKE 'hands.resolve%%'
"""


def raise_dispute(*, command: Command, code: str, name: str, reason: str) -> Answer:
    """Dispute the table's hand `name`, in play or over and not settled: its clock and its worker stop, and the pot and
    the bank of the seats are frozen until the floor rules on it, voids it or withdraws the dispute (`withdrawals`). It
    needs no version: whatever was played until it arrives is part of the hand.

    Raises Conflict table_... where the table has no hand that can be disputed, other_hand where it is another one.
    """

    def change(table: Table, work: Work) -> Outcome:
        tables.require_state(table, TableState.PLAYING, TableState.SETTLING)
        hand = selectors.unsettled(table)
        if hand is None:
            raise AssertionError(f"table {code} is {table.state} without an unsettled hand")
        if name != hand.name:
            raise Conflict(f"The hand at table {code} is {hand.name}.", code="other_hand", hand=hand.name)
        before, frozen = str(hand.state), freeze(hand, reason, work)
        work.also(_DISPUTED, [command.context.staff.login, before, hand.id])
        if before in (HandState.ENDED, HandState.APPROVED):
            work.also(_NOT_SETTLED, [hand.house_id, str(hand.id)])
        tables.to_state(table, TableState.DISPUTED)
        return Outcome(HandDisputeRaised(hand=hand.name, before=before, frozen=frozen, reason=reason))

    return write.write(command, tables.AtTable(code), change)


def freeze(hand: Hand, reason: str, work: Work) -> int:
    """Post the pot and the bank of the seats to the disputed pot, if they are not empty; returns the amount in minor
    units. Nothing is paid of it until the floor rules."""
    pot, bank = hand.table.account(Account.POT), hand.table.account(Account.BANK)
    lying = chart.balances(hand.house, [pot, bank])
    amount, places = sum(lying.values()), {"table": hand.table.code}
    if amount:
        work.post(
            key=postings.key(hand, postings.dispute(hand)),
            kind="hand.disputed",
            postings=[
                posting("disputed", places, amount=lying[pot]),
                posting("bank_disputed", places, amount=lying[bank]),
            ],
            metadata={"hand": hand.name, "reason": reason},
        )
    return amount
