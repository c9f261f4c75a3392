"""Ruling on a disputed hand: the floor divides the frozen pot, and the bank of the seats where there is one, between
the hand's seats, less the house's tax. So nothing is carried to the next hand. A manager approves it, and who dealt the
hand does not rule on it; the ruling keeps both readings of the hand (`readings`)."""

from collections.abc import Collection, Mapping, Sequence

from casino.approvals.gate import Need
from casino.approvals.models import ApprovalKind
from casino.audit.events.hands import HandRuled
from casino.bookkeeping import chart
from casino.bookkeeping.accounts import Account
from casino.bookkeeping.postings import Posting, posting
from casino.chips.changing import Desk
from casino.core import write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, Unprocessable
from casino.core.work import Outcome, Work
from casino.hands import postings, readings, replays, selectors
from casino.hands.models import Hand, HandState
from casino.hands.readings import Claim
from casino.houses.models import ClockTimestamp
from casino.staff.models import Role
from casino.tables import services as tables
from casino.tables.models import Table, TableState

#: Who approves a ruling.
APPROVERS = (Role.MANAGER,)


def rule(
    *,
    command: Command,
    code: str,
    name: str,
    awards: Mapping[str, int],
    tax: int,
    claims: Sequence[Claim],
    reason: str,
) -> Answer:
    """Pay the disputed pot to these seats (`{"p1": 400}`, minor units), `tax` of it to the house; the hand is ruled
    and the next one can be dealt. What it had won or lost otherwise, a bonus among it, is not booked.

    Raises Conflict table_... unless the table is disputed, other_hand where another hand than `name` is, pot_empty
    where there is nothing to divide; Unprocessable no_such_seat, awards_do_not_add_up, or tax_too_high for more than
    the table takes of a won pot of this size; Forbidden four_eyes for the dealer of the hand; what a claim is refused
    with; and Conflict approval_required until a manager has approved exactly this.
    """

    def change(table: Table, work: Work) -> Outcome:
        tables.require_state(table, TableState.DISPUTED)
        hand = selectors.unsettled(table)
        if hand is None:
            raise AssertionError(f"table {code} is disputed without an unsettled hand")
        if name != hand.name:
            raise Conflict(f"Hand {hand.name} is disputed at table {code}.", code="other_hand", hand=hand.name)
        account = table.account(Account.DISPUTED_POT)
        [[(frozen,)]] = readings.require_not_dealer(command, hand, chart.money_at(table.house, account))
        if not frozen:
            raise Conflict("The disputed pot is empty; the hand can only be voided.", code="pot_empty")
        _require_fair(hand, frozen, awards, tax)
        read, paid = readings.both(hand, claims), _events(hand, awards, tax)
        work.require_approval(Need(kind=ApprovalKind.RULING, roles=APPROVERS, amount=frozen))
        settlement = work.post_now(
            key=postings.key(hand, "ruling"),
            kind="hand.ruled",
            postings=paid,
            metadata={"hand": hand.name, "reason": reason},
        )
        decided = {"pot": frozen, "awards": dict(awards), "tax": tax, "readings": read}
        work.soon(
            Hand.objects.filter(id=hand.id),
            state=HandState.RULED, ruling=decided, settlement=settlement, settled_at=ClockTimestamp(),
        )  # fmt: skip
        tables.to_state(table, TableState.OPEN)
        return Outcome(
            HandRuled(
                hand=hand.name,
                pot=frozen,
                awards=dict(awards),
                tax=tax,
                readings=read,
                settlement=settlement,
                reason=reason,
            )
        )

    return write.write(command, tables.AtTable(code), change)


def require_seats(hand: Hand, actors: Collection[str]) -> None:
    """Refuse seats that the hand does not have. Raises Unprocessable no_such_seat."""
    known = [f"p{seat}" for seat in range(1, len(hand.seats) + 1)]
    if unknown := sorted(set(actors) - set(known)):
        raise Unprocessable(f"Hand {hand.name} has no {', '.join(unknown)}.", code="no_such_seat", seats=known)


def _require_fair(hand: Hand, frozen: int, awards: Mapping[str, int], tax: int) -> None:
    require_seats(hand, awards)
    in_words = hand.house.money
    if sum(awards.values()) + tax != frozen:
        raise Unprocessable(
            f"Awards of {in_words(sum(awards.values()))} and a tax of {in_words(tax)} do not add up to the pot of "
            f"{in_words(frozen)}.",
            code="awards_do_not_add_up",
            pot=frozen,
            awarded=sum(awards.values()),
            tax=tax,
        )
    most = replays.tax_on(hand, frozen)
    if tax > most:
        raise Unprocessable(
            f"The tax on a pot of {in_words(frozen)} is at most {in_words(most)}.",
            code="tax_too_high",
            max=most,
            tax=tax,
        )


def _events(hand: Hand, awards: Mapping[str, int], tax: int) -> list[Posting]:
    code = hand.table.code
    events = [
        posting("ruled", {"table": code, "player": hand.player_of(int(actor[1:]))}, net=amount)
        for actor, amount in awards.items()
    ]
    if tax:
        box, before = Desk(hand.house, hand.table.account(Account.TRAY), code).for_the_box(tax)
        events += [*before, posting("ruled", {"table": code}, tax=tax, chips=box)]
    return events
