"""Voiding a hand: a misdeal, a card entered wrong, a dispute that is ruled void. Every posting gets its mirror.

The floor alone may void a small deal before a seat has acted on its cards: a misdeal. Afterwards a void takes the
approval of a manager, with whatever cause: somebody has something to gain or to lose by it.
"""

from collections.abc import Sequence

from django.db import models

from casino.approvals.gate import Need
from casino.approvals.models import ApprovalKind
from casino.audit.events.hands import HandVoided
from casino.bookkeeping import chart
from casino.bookkeeping.accounts import Account
from casino.core import write
from casino.core.commands import Answer, Command
from casino.core.work import Outcome, Work
from casino.hands import postings, selectors
from casino.hands.models import Hand, HandState
from casino.hands.verbs import of_cards
from casino.houses.control_points import in_force
from casino.staff.models import Role
from casino.tables import services as tables
from casino.tables.models import Table, TableState


class Cause(models.TextChoices):
    """Why a hand is voided, beside the reason in words."""

    MISDEAL = "misdeal", "the deal was wrong: cards to the wrong seat, too many, too few"
    EXPOSED = "exposed", "a card was seen that should lie face down"
    PACK = "pack", "the pack was not whole, or not the right one"
    ENTRY = "entry", "the dealer entered what was not played, and no correction is possible"
    BROKEN_OFF = "broken_off", "the hand could not be played to its end"
    RULED = "ruled", "a dispute in which nobody gets the pot"
    OTHER = "other", "anything else, as the reason says"


def void(*, command: Command, code: str, cause: Cause, reason: str) -> Answer:
    """Undo the hand in play, or the disputed one: stakes return to their stacks, a cukassza that had been carried in
    returns to where it came from, and the same dealer deals again.

    Each ledger transaction is reversed once, linked to its mirror; inputs and log stay as they are, and cards that lie
    face down stay sealed: an auditor reads the hand's record. A hand whose log is
    complete is the worker's to settle and is refused (Conflict table_settling). Raises Conflict approval_required until
    a manager has approved the void of a disputed hand, of one in which a seat has acted since the first card was dealt,
    of one whose cards were shown, or of a large pot.
    """

    def change(table: Table, work: Work) -> Outcome:
        tables.require_state(table, TableState.PLAYING, TableState.DISPUTED)
        hand = selectors.unsettled(table)
        if hand is None:
            raise AssertionError(f"table {code} is {table.state} without an unsettled hand")
        lines = list(hand.lines.filter(house=hand.house_id).order_by("seq").values_list("text", "aside"))
        pot, shown, acted, complete = _pot(table), _cards_shown(hand, lines), _acted(hand, lines), bool(hand.digest)
        disputed = hand.state == HandState.DISPUTED
        if disputed or shown or acted or pot > in_force(table.house).void_by_manager_above:
            work.require_approval(Need(kind=ApprovalKind.VOID, roles=(Role.MANAGER,), amount=pot))
        mirrors = work.reverse_all(
            keys=postings.standing(hand, len(lines)), metadata={"hand": hand.name, "reason": reason}
        )
        work.soon(Hand.objects.filter(id=hand.id), state=HandState.VOIDED)
        table.button = hand.seats[-1]["seat"]
        tables.to_state(table, TableState.OPEN)
        event = HandVoided(
            hand=hand.name,
            cause=str(cause),
            pot=pot,
            cards_shown=shown,
            acted=acted,
            log_complete=complete,
            disputed=disputed or None,
            mirrors=mirrors,
            reason=reason,
        )
        return Outcome(event, {"replay": f"hands/{hand.name}"})

    return write.write(command, tables.AtTable(code), change)


#: The text of a line of a log, and whether it stands beside the play.
_Line = tuple[str, bool]


def _pot(table: Table) -> int:
    """What lies in the middle of the table in minor units: the pot, the bank of the seats, or both frozen by a
    dispute."""
    codes = [table.account(number) for number in (Account.POT, Account.BANK, Account.DISPUTED_POT)]
    return sum(chart.balances(table.house, codes).values())


def _cards_shown(hand: Hand, lines: Sequence[_Line]) -> bool:
    """Whether a seat has shown its hand: since then everybody knows what a void would take from whom."""
    verbs = set(of_cards(hand.rules).get("shown", ()))
    return any(text.split()[1] in verbs for text, _ in lines)


def _acted(hand: Hand, lines: Sequence[_Line]) -> bool:
    """Whether a seat has acted since the house dealt the first card. What is staked before the cards does not count,
    nor does an aside."""
    of_deal = {verb for verbs in of_cards(hand.rules).values() for verb in verbs}
    dealt = False
    for text, aside in lines:
        actor, verb = text.split()[:2]
        if actor == "d":
            dealt = dealt or verb in of_deal
        elif dealt and not aside:
            return True
    return False
