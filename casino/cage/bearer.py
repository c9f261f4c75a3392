"""Chips are owed to the one who brings them: sold and bought back without a name below the house's threshold, and
booked for a player, or for no player any more, by compliance.

What is owed to nobody in particular is chips unattributed (2015) of the place where it arose; it may fall below zero,
where more is brought back than was sold there without a name.
"""

from typing import Any

from casino.audit.events.cage import BearerBuyIn, BearerCashOut, ChipsAttributed, ChipsUnattributed
from casino.bookkeeping import chart
from casino.bookkeeping.accounts import Account
from casino.bookkeeping.postings import posting
from casino.cage import announced, selectors
from casino.cage.models import Drawer
from casino.cage.services import Pieces, enter, require_own, require_room, write_at
from casino.chips.changing import Desk
from casino.core import write
from casino.core.errors import NotFound
from casino.core.write import Answer, Command, OfHouse, Outcome, Work
from casino.houses import days, stages
from casino.houses.control_points import in_force
from casino.houses.models import House
from casino.players import persons, thresholds
from casino.players.models import Player


def buy_in(*, command: Command, code: str, amount: int, pieces: Pieces | None = None) -> Answer:
    """Sell chips for `amount` minor units of cash without asking for a name: these pieces, or the largest that the
    drawer can make it of. Raises Conflict identity_required, skim_needed, and as `services.buy_in`."""

    def change(drawer: Drawer, work: Work) -> Outcome:
        stages.require_playing(work.house)
        return sell_chips(drawer, work, key=command.ledger_key(), amount=amount, pieces=pieces)

    return write_at(command, code, change)


def sell_chips(
    drawer: Drawer, work: Work, *, key: str, amount: int, pieces: Pieces | None = None, own: bool = True
) -> Outcome:
    """What a sale without a name does at a locked drawer, posted under this key. Raises as :func:`buy_in`."""
    points = in_force(drawer.house)
    require_own(drawer, work, own=own)
    thresholds.require_identity(drawer.house, points, amount)
    require_room(drawer, points)
    desk = _desk(drawer)
    chosen = desk.give(amount) if pieces is None else desk.named(pieces, amount)
    thresholds.require_approval(points, work, amount)
    sold = posting("bearer_buy_in", {"drawer": drawer.code}, amount=amount, chips=chosen)
    enter(work, key, drawer, "cage.bearer_buy_in", [sold])
    return Outcome(BearerBuyIn(amount=amount, exchanged=chosen.as_json()), status=201)


def cash_out(
    *, command: Command, code: str, amount: int, pieces: Pieces, announcement: int | None = None
) -> Answer:  # fmt: skip
    """Pay `amount` minor units for the pieces that somebody brings, without asking for a name. `announcement`: by the
    number of the announced cash-out whose cash is set aside for it. Raises Conflict identity_required,
    chips_not_in_circulation, drawer_short, Unprocessable for wrong pieces, and as
    :func:`~casino.cage.announced.use`."""

    def change(drawer: Drawer, work: Work) -> Outcome:
        return buy_chips(
            drawer, work, key=command.ledger_key(), amount=amount, pieces=pieces, announcement=announcement
        )

    return write_at(command, code, change)


def buy_chips(
    drawer: Drawer, work: Work, *, key: str, amount: int, pieces: Pieces, announcement: int | None = None,
    own: bool = True,
) -> Outcome:  # fmt: skip
    """What buying back without a name does at a locked drawer, posted under this key. Raises as :func:`cash_out`."""
    points = in_force(drawer.house)
    require_own(drawer, work, own=own)
    thresholds.require_identity(drawer.house, points, amount, held_at=drawer.code)
    if announcement is not None:
        announced.use(drawer, work, announcement, player=None, amount=amount)
    desk = _desk(drawer)
    selectors.require_cash(drawer, amount)
    taken = desk.require_public(desk.named(pieces, amount))
    thresholds.require_approval(points, work, amount)
    bought = posting("bearer_cash_out", {"drawer": drawer.code}, amount=amount, chips=taken)
    enter(work, key, drawer, "cage.bearer_cash_out", [bought])
    event = BearerCashOut(amount=amount, exchanged=taken.as_json(), announcement=announcement)
    return Outcome(event, status=201)


def attribute(
    *, command: Command, player_ref: str, place: str, amount: int, reason: str, for_day: str | None = None
) -> Answer:
    """Make chips worth `amount` minor units, which the house owes to nobody in particular at a place, a player's.
    `for_day`: the gaming day, open or closed, to which it belongs; the newest open one takes the posting all the same.
    Raises NotFound for player, place or day, Gone for a player who was forgotten."""
    return _move(command, player_ref, place, amount, reason, for_day, attributed=True)


def unattribute(
    *, command: Command, player_ref: str, place: str, amount: int, reason: str, for_day: str | None = None
) -> Answer:
    """Book a player's chips for nobody in particular, at a place. Raises InsufficientFunds where the player holds less
    away from the tables, and as `attribute`."""
    return _move(command, player_ref, place, amount, reason, for_day, attributed=False)


# --- Parts ----------------------------------------------------------------------------------------------------------


def _desk(drawer: Drawer) -> Desk:
    return Desk(drawer.house, drawer.account(Account.CAGE_CHIPS), drawer.code)


def _move(
    command: Command, ref: str, place: str, amount: int, reason: str, for_day: str | None, *, attributed: bool
) -> Answer:
    def change(house: House, work: Work) -> Outcome:
        player = _player(house, ref)
        about = {"place": place, "player": ref} | _late(house, for_day, reason)
        at = f"{Account.CHIPS_UNATTRIBUTED}/{place}"
        try:
            chart.ids(house, {(at, house.currency)})
        except KeyError:
            raise NotFound(f"This house has no table or drawer {place}.") from None
        row, kind = ("attributed", ChipsAttributed) if attributed else ("unattributed", ChipsUnattributed)
        moved = posting(row, {"place": place, "player": ref}, amount=amount)
        posted = work.post_now(key=command.ledger_key(), kind=f"chips.{row}", postings=[moved], metadata=about)
        held = chart.balances(house, [player.wallet, at])
        body: dict[str, Any] = {
            "player": ref, "place": place, "amount": amount,
            "player_chips": held[player.wallet], "unattributed": held[at], "for_day": for_day,
        }  # fmt: skip
        event = kind(
            player=ref, place=place, amount=amount, player_chips=held[player.wallet], for_day=for_day, reason=reason
        )
        return Outcome(event, body, 201, version=posted)

    return write.write(command, OfHouse(office=True), change)


def _late(house: House, for_day: str | None, reason: str) -> dict[str, str]:
    """What the posting says of the gaming day to which it belongs, so that this day shows it with its reason. Days are
    opened one after the other: none that is known is later than the one that takes the posting. Raises NotFound."""
    if for_day is None:
        return {}
    days.require(house, for_day)
    return {"reason": reason, **days.for_day([for_day])}


def _player(house: House, ref: str) -> Player:
    player = persons.lock(house, ref)
    persons.require_not_forgotten(player)
    player.house = house
    return player
