"""Payouts that are held: a player brings chips and may not be paid yet.

The house takes the chips back and owes the player their worth as before, in one transaction: it never keeps the chips
and the debt apart. The cashier asks, and compliance decides, when a payout is held and when it is released.
"""

from typing import Any

from django.db.models import DurationField, ExpressionWrapper, F, IntegerField, QuerySet
from django.db.models.functions import Cast, Coalesce, Extract

from casino.approvals.gate import Need
from casino.approvals.models import ApprovalKind
from casino.audit.events.cage import PayoutHeld, PayoutPaidByBank, PayoutReleased
from casino.bookkeeping import chart
from casino.bookkeeping.flows import Direction
from casino.bookkeeping.postings import posting
from casino.cage import selectors
from casino.cage.models import Drawer, HeldCause, HeldPayout, HeldState
from casino.cage.services import Pieces, customer, enter, require_own, see, write_at
from casino.core import locks, sql, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, NotFound
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.houses.models import ClockTimestamp, House
from casino.players import persons, thresholds
from casino.players.thresholds import Trade
from casino.safeguards import standing
from casino.staff.models import Role

#: The newest number of a house's held payouts.
NEWEST = "SELECT coalesce(max(number), 0) FROM cage_heldpayout WHERE house_id = %s"


def hold(*, command: Command, code: str, player_ref: str, amount: int, pieces: Pieces, cause: HeldCause) -> Answer:
    """Take these chips, worth `amount` minor units, which a player has brought, and owe the player their worth. What of
    them is not booked for the player becomes the player's now.

    Raises Conflict approval_required (compliance), drawer_closed, drawer_counted, chips_not_in_circulation,
    Unprocessable for wrong pieces, NotFound, Gone for a player who was forgotten.
    """

    def change(drawer: Drawer, work: Work) -> Outcome:
        player, desk = customer(drawer, work, player_ref)
        last = _lock_numbers(drawer.house)
        taken = desk.require_public(desk.named(pieces, amount))
        work.require_approval(_approved(amount))
        chart.open_accounts(drawer.house, [player.held_payouts])
        lacking = max(amount - chart.balances(drawer.house, [player.wallet])[player.wallet], 0)
        brought = posting("attributed", {"place": code, "player": player_ref}, amount=lacking)
        held = posting("payout_held", {"drawer": code, "player": player_ref}, amount=amount, chips=taken)
        enter(work, command.ledger_key(), drawer, "cage.payout_held", [brought, held], player=player_ref)
        see(drawer, work)
        found = HeldPayout.objects.create(
            house=drawer.house, number=last + 1, player=player, drawer=drawer, amount=amount, cause=cause,
            held_by=command.context.staff,
        )  # fmt: skip
        event = PayoutHeld(
            player=player_ref, amount=amount, exchanged=taken.as_json(), attributed=lacking or None,
            player_chips=work.left(player.wallet), payout=describe(found),
        )  # fmt: skip
        return Outcome(event, status=201)

    return write_at(command, code, change)


def release(*, command: Command, code: str, number: int) -> Answer:
    """Pay the held payout of this number in cash. Raises NotFound (no_person where who the player is had to be found
    out and is not recorded), Gone, Conflict payout_released, identity_required, approval_required (compliance),
    drawer_closed, drawer_counted, drawer_short."""

    def change(drawer: Drawer, work: Work) -> Outcome:
        require_own(drawer, work)
        found, trade = _locked(drawer.house, number)
        selectors.require_cash(drawer, found.amount)
        work.require_approval(_approved(found.amount))
        places = {"drawer": code, "player": found.player.ref}
        paid = posting("payout_released", places, amount=found.amount)
        enter(work, command.ledger_key(), drawer, "cage.payout_released", [paid], player=found.player.ref)
        _end(found, command, work, paid_at_drawer=drawer)
        event = PayoutReleased(
            player=found.player.ref, amount=found.amount, payout=describe(found), threshold_reached=trade.reached
        )
        return Outcome(event)

    return write_at(command, code, change)


def pay_by_bank(*, command: Command, number: int, note: str) -> Answer:
    """Enter that the bank has paid the held payout of this number, by its note. Raises InsufficientFunds where the
    house has less in the bank, and as `release`."""

    def change(house: House, work: Work) -> Outcome:
        found, trade = _locked(house, number)
        work.require_approval(_approved(found.amount))
        paid = posting("payout_released_by_bank", {"player": found.player.ref}, amount=found.amount)
        metadata = {"payout": number, "player": found.player.ref, "note": note}
        work.post(key=command.ledger_key(), kind="payout.paid_by_bank", postings=[paid], metadata=metadata)
        _end(found, command, work, note=note)
        described = describe(found)
        event = PayoutPaidByBank(
            player=found.player.ref, amount=found.amount, payout=described, threshold_reached=trade.reached
        )
        return Outcome(event, {"payout": described}, version=number)

    return write.write(command, OfHouse(office=True), change)


def describe(found: HeldPayout) -> dict[str, Any]:
    """A held payout, as events and answers have it."""
    return {
        "payout": found.number,
        "player": found.player.ref,
        "amount": found.amount,
        "cause": found.cause,
        "state": found.state,
        "drawer": found.drawer.code if found.drawer else None,
        "held_by": found.held_by.login,
        "paid_by": found.paid_by.login if found.paid_by else None,
        "paid_at_drawer": found.paid_at_drawer.code if found.paid_at_drawer else None,
        "note": found.note,
    }


def with_age(rows: QuerySet[HeldPayout]) -> QuerySet[HeldPayout]:
    """These payouts, each with `age_seconds`: for how long it is held, or was until it was paid."""
    age = ExpressionWrapper(Coalesce("ended_at", ClockTimestamp()) - F("held_at"), output_field=DurationField())
    return rows.annotate(age_seconds=Cast(Extract(age, "epoch"), IntegerField()))


# --- Parts ----------------------------------------------------------------------------------------------------------


def _approved(amount: int) -> Need:
    return Need(kind=ApprovalKind.PAYOUT, roles=(Role.COMPLIANCE,), amount=amount)


def _lock_numbers(house: House) -> int:
    """Keep others from numbering held payouts; returns the newest number."""
    with locks.gathered() as locking:
        locks.lock_payouts(house.id)
    [(last,)] = sql.together(*locking, (NEWEST, [house.id]))[-1]
    number: int = last
    return number


def _locked(house: House, number: int) -> tuple[HeldPayout, Trade]:
    """A payout that is held, and that nobody else pays meanwhile, and the trade that its payment is. Raises NotFound,
    Gone, Conflict payout_released, player_is_minor, identity_required."""
    rows = HeldPayout.objects.filter(house=house, number=number).select_related("player", "drawer", "held_by")
    known = rows.first()
    if known is None:
        raise NotFound(f"This house has no held payout {number}.")
    with locks.gathered() as locking:
        locks.lock_person(known.player_id)
        locks.lock_payouts(house.id)
    sums, stands = thresholds.reading(house, known.player.ref), standing.reading(house, known.player.ref)
    there, newest, keys, paid, stood = sql.together(*locking, rows, *persons.reading(known.player), sums, stands)[
        len(locking) :
    ]
    found: HeldPayout = there[0]
    player = found.player
    persons.read(player, newest, keys)
    thresholds.read(player, paid)
    standing.read(player, stood)
    if found.state != HeldState.HELD:
        raise Conflict(f"Held payout {number} is {found.state}.", code="payout_released")
    standing.require_no_minor(house, player, payout=number)
    if found.cause == HeldCause.IDENTITY_PENDING:
        persons.require_known(player)
    return found, thresholds.check(house, found.amount, Direction.OUT, player=player)


def _end(found: HeldPayout, command: Command, work: Work, **how: Any) -> None:
    found.state, found.paid_by = HeldState.RELEASED, command.context.staff
    for name, value in how.items():
        setattr(found, name, value)
    rows = HeldPayout.objects.filter(id=found.pk)
    work.soon(rows, state=found.state, paid_by=found.paid_by, ended_at=ClockTimestamp(), **how)
