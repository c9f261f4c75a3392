"""Chips that are not paid for in cash: bought by card or transfer, and paid to the player's own account.

What a terminal or a bank has confirmed is money on its way (clearing) until a line of the bank's statement shows it.
Only whole buy-ins are settled, for exactly what the line has: no fee or difference is booked.
"""

from collections.abc import Collection
from typing import Any

from django.db.models import DurationField, ExpressionWrapper, F, IntegerField, QuerySet
from django.db.models.functions import Cast, Coalesce, Extract

from casino.audit.events.cage import ClearingSettled, NonCashBought, NonCashPaid
from casino.bookkeeping import chart
from casino.bookkeeping.flows import Direction
from casino.bookkeeping.postings import posting
from casino.cage.models import Drawer, Means, NonCashBuyIn, NonCashState
from casino.cage.services import Pieces, customer, enter, see, write_at
from casino.core import locks, sql, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, NotFound
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.houses import stages
from casino.houses.models import ClockTimestamp, House
from casino.players import persons, thresholds
from casino.players.models import Player
from casino.safeguards import standing

_IN_THE_OFFICE = OfHouse(office=True, lock=locks.lock_clearing)


def buy_in(
    *,
    command: Command,
    code: str,
    player_ref: str,
    amount: int,
    means: Means,
    reference: str,
    pieces: Pieces | None = None,
) -> Answer:
    """Give a player chips for `amount` minor units that a terminal or a bank has confirmed under this reference: these
    pieces, or the largest that the drawer can make it of. Raises Conflict house_not_live, identity_required,
    reference_used, approval_required, and as `services.buy_in`."""

    def change(drawer: Drawer, work: Work) -> Outcome:
        stages.require_playing(work.house)
        house = drawer.house
        player, desk = customer(drawer, work, player_ref)
        persons.require_guest(player)
        standing.require_buy_in(house, player, amount)
        trade = thresholds.check(house, amount, Direction.IN, player=player)
        used, last = _lock_clearing(house, reference)
        if used:
            raise Conflict(f"Reference {reference} was used for another buy-in.", code="reference_used")
        chosen = desk.give(amount) if pieces is None else desk.named(pieces, amount)
        trade.require_approval(work)
        sold = posting("noncash_buy_in", {"drawer": code, "player": player_ref}, amount=amount, chips=chosen)
        enter(work, command.ledger_key(), drawer, "cage.noncash_buy_in", [sold], player=player_ref)
        see(drawer, work)
        held = work.left(player.wallet)
        row = NonCashBuyIn.objects.create(
            house=house, number=last + 1, drawer=drawer, player=player,
            means=means, reference=reference, amount=amount, sold_by=command.context.staff,
        )  # fmt: skip
        event = NonCashBought(
            player=player_ref, amount=amount, buy_in=row.number, means=str(means), reference=reference,
            player_chips=held, exchanged=chosen.as_json(), threshold_reached=trade.reached,
        )  # fmt: skip
        return Outcome(event, status=201)

    return write_at(command, code, change)


def settle(*, command: Command, statement: str, amount: int, buy_ins: Collection[int]) -> Answer:
    """Enter that a line of the bank's statement has brought `amount` minor units for these buy-ins. Raises NotFound for
    an unknown one, Conflict clearing_settled for one that was settled, statement_used, clearing_differs where they are
    worth something else."""

    def change(house: House, work: Work) -> Outcome:
        known, numbers = NonCashBuyIn.objects.filter(house=house), sorted(set(buy_ins))
        if known.filter(statement=statement).exists():
            raise Conflict(f"Line {statement} of the statement was entered before.", code="statement_used")
        rows = list(known.filter(number__in=numbers).order_by("number"))
        missing = set(numbers) - {row.number for row in rows}
        if missing:
            raise NotFound(f"This house has no buy-in {min(missing)} that was not paid in cash.")
        settled = [row.number for row in rows if row.state != NonCashState.OPEN]
        if settled:
            raise Conflict(f"Buy-in {settled[0]} was settled.", code="clearing_settled")
        worth = sum(row.amount for row in rows)
        if worth != amount:
            raise Conflict(f"These buy-ins are worth {house.money(worth)}.", code="clearing_differs", amount=worth)
        moved = posting("clearing_settled", {}, amount=amount)
        metadata = {"statement": statement, "buy_ins": numbers}
        key = command.ledger_key()
        posted = work.post_now(key=key, kind="clearing.settled", postings=[moved], metadata=metadata)
        known.filter(number__in=numbers).update(
            state=NonCashState.SETTLED, statement=statement, settled_by=command.context.staff, ended_at=ClockTimestamp()
        )
        body = {"statement": statement, "amount": amount, "buy_ins": numbers}
        event = ClearingSettled(statement=statement, amount=amount, buy_ins=numbers)
        return Outcome(event, body, 201, version=posted)

    return write.write(command, _IN_THE_OFFICE, change)


def pay(*, command: Command, code: str, player_ref: str, amount: int, pieces: Pieces, account: str) -> Answer:
    """Take these chips, worth `amount` minor units, and pay them to the player's own account, of which `account` has
    only the last digits. What of them is not booked for the player becomes the player's now.

    Raises NotFound (no_person where nobody has recorded who the player is, and Conflict identity_required for a large
    amount), Gone, Conflict approval_required (a supervisor, or a manager as for a cash-out), chips_not_in_circulation,
    InsufficientFunds where the house has less in the bank, Unprocessable for wrong pieces.
    """

    def change(drawer: Drawer, work: Work) -> Outcome:
        player, desk = customer(drawer, work, player_ref)
        standing.require_no_minor(drawer.house, player)
        trade = thresholds.check(drawer.house, amount, Direction.OUT, player=player, held_at=code)
        persons.require_known(player)
        taken = desk.require_public(desk.named(pieces, amount))
        work.require_approval(trade.always())
        lacking = max(amount - _held(player), 0)
        brought = posting("attributed", {"place": code, "player": player_ref}, amount=lacking)
        paid = posting("noncash_paid", {"drawer": code, "player": player_ref}, amount=amount, chips=taken)
        enter(work, command.ledger_key(), drawer, "cage.noncash_paid", [brought, paid], player=player_ref)
        see(drawer, work)
        held = work.left(player.wallet)
        event = NonCashPaid(
            player=player_ref, amount=amount, account=account, player_chips=held, exchanged=taken.as_json(),
            attributed=lacking or None, threshold_reached=trade.reached,
        )  # fmt: skip
        return Outcome(event, status=201)

    return write_at(command, code, change)


def describe(row: NonCashBuyIn) -> dict[str, Any]:
    """A buy-in by card or transfer, as lists have it."""
    return {
        "buy_in": row.number,
        "drawer": row.drawer.code,
        "player": row.player.ref,
        "means": row.means,
        "reference": row.reference,
        "amount": row.amount,
        "state": row.state,
        "sold_by": row.sold_by.login,
        "sold_at": row.sold_at,
        "statement": row.statement,
        "settled_by": row.settled_by.login if row.settled_by else None,
        "ended_at": row.ended_at,
    }


def with_age(rows: QuerySet[NonCashBuyIn]) -> QuerySet[NonCashBuyIn]:
    """These buy-ins, each with `age_seconds`: for how long their money is on its way, or was."""
    age = ExpressionWrapper(Coalesce("ended_at", ClockTimestamp()) - F("sold_at"), output_field=DurationField())
    return rows.annotate(age_seconds=Cast(Extract(age, "epoch"), IntegerField()))


# --- Parts ----------------------------------------------------------------------------------------------------------


_KNOWN = """
SELECT coalesce(bool_or(reference = %s), false), coalesce(max(number), 0) FROM cage_noncashbuyin WHERE house_id = %s
"""


def _lock_clearing(house: House, reference: str) -> tuple[bool, int]:
    """Keep others from numbering buy-ins that are not paid in cash; returns whether one has this reference, and the
    newest number."""
    with locks.gathered() as locking:
        locks.lock_clearing(house.id)
    [(used, last)] = sql.together(*locking, (_KNOWN, [reference, house.id]))[-1]
    return used, last


def _held(player: Player) -> int:
    return chart.balances(player.house, [player.wallet])[player.wallet]
