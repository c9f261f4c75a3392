"""Voiding a hand: a misdeal, a card entered wrong, a dispute that is ruled void. Every posting gets its mirror."""

from casino.audit.events.hands import HandVoided
from casino.core import write
from casino.core.write import Answer, Command, Outcome, Work
from casino.hands import postings, selectors
from casino.hands.models import Hand, HandState
from casino.tables import services as tables
from casino.tables.models import Table, TableState


def void(*, command: Command, code: str, reason: str) -> Answer:
    """Undo the hand in play, or the disputed one: stakes return to their stacks, a cukassza that had been carried in
    returns to where it came from, and the same dealer deals again.

    Each ledger transaction is reversed once, linked to its mirror; inputs and log stay as they are, and cards that lie
    face down stay sealed: an auditor reads the hand's record. A hand whose log is
    complete is the worker's to settle and is refused (Conflict table_settling).
    """

    def change(table: Table, work: Work) -> Outcome:
        tables.require_state(table, TableState.PLAYING, TableState.DISPUTED)
        hand = selectors.unsettled(table)
        if hand is None:
            raise AssertionError(f"table {code} is {table.state} without an unsettled hand")
        mirrors = work.reverse_all(keys=postings.keys(hand), metadata={"hand": hand.name, "reason": reason})
        Hand.objects.filter(id=hand.id).update(state=HandState.VOIDED)
        table.button = hand.seats[-1]["seat"]
        tables.to_state(table, TableState.OPEN)
        return Outcome(HandVoided(hand=hand.name, mirrors=mirrors, reason=reason))

    return write.write(command, tables.AtTable(code), change)
