"""Chips are owed to the one who brings them: sold and bought back without a name below the house's threshold, and
booked for a player, or for no player any more, by compliance.

What is owed to nobody in particular is chips unattributed (2015) of the place where it arose; it may fall below zero,
where more is brought back than was sold there without a name.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from casino.audit.events.cage import BearerBuyIn, BearerCashOut, ChipsAttributed, ChipsUnattributed
from casino.bookkeeping import chart
from casino.bookkeeping.accounts import Account
from casino.bookkeeping.flows import Direction
from casino.bookkeeping.postings import posting
from casino.cage import announced, selectors
from casino.cage.models import Drawer
from casino.cage.services import Pieces, enter, require_own, require_room, write_at
from casino.chips.changing import Desk
from casino.core import write
from casino.core.commands import Answer, Command
from casino.core.errors import NotFound
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.houses import days, stages
from casino.houses.models import House
from casino.players import persons, thresholds
from casino.players.models import Player
from casino.watching import lines, unknown
from casino.watching.models import UnknownPerson


def buy_in(
    *, command: Command, code: str, amount: int, pieces: Pieces | None = None, unknown_person: int | None = None
) -> Answer:
    """Sell chips for `amount` minor units of cash without asking for a name: these pieces, or the largest that the
    drawer can make it of. `unknown_person`: to the one of this number, with what is known of the gaming day. Raises
    Conflict identity_required, person_identified, skim_needed, NotFound, and as `services.buy_in`."""

    def change(drawer: Drawer, work: Work) -> Outcome:
        stages.require_playing(work.house)
        return sell_chips(
            drawer, work, key=command.ledger_key(), amount=amount, pieces=pieces, unknown_person=unknown_person
        )

    return write_at(command, code, change)


def sell_chips(
    drawer: Drawer, work: Work, *, key: str, amount: int, pieces: Pieces | None = None, own: bool = True,
    unknown_person: int | None = None,
) -> Outcome:  # fmt: skip
    """What a sale without a name does at a locked drawer, posted under this key. Raises as :func:`buy_in`."""
    require_own(drawer, work, own=own)
    guest = _Guest.of(drawer, unknown_person, Direction.IN)
    trade = thresholds.check(drawer.house, amount, Direction.IN, before=guest.before)
    require_room(drawer, selectors.cash(drawer))
    desk = _desk(drawer)
    chosen = desk.give(amount) if pieces is None else desk.named(pieces, amount)
    trade.require_approval(work)
    sold = posting("bearer_buy_in", {"drawer": drawer.code}, amount=amount, chips=chosen)
    enter(work, key, drawer, "cage.bearer_buy_in", [sold])
    linked = guest.enter(work, key, "cage.bearer_buy_in", amount)
    return Outcome(BearerBuyIn(amount=amount, exchanged=chosen.as_json(), **linked), status=201)


def cash_out(
    *, command: Command, code: str, amount: int, pieces: Pieces, announcement: int | None = None,
    unknown_person: int | None = None,
) -> Answer:  # fmt: skip
    """Pay `amount` minor units for the pieces that somebody brings, without asking for a name. `announcement`: by the
    number of the announced cash-out whose cash is set aside for it. `unknown_person` as in :func:`buy_in`. Raises
    Conflict identity_required, person_identified, NotFound, chips_not_in_circulation, drawer_short, Unprocessable for
    wrong pieces, and as :func:`~casino.cage.announced.use`."""

    def change(drawer: Drawer, work: Work) -> Outcome:
        return buy_chips(
            drawer, work, key=command.ledger_key(), amount=amount, pieces=pieces, announcement=announcement,
            unknown_person=unknown_person,
        )  # fmt: skip

    return write_at(command, code, change)


def buy_chips(
    drawer: Drawer, work: Work, *, key: str, amount: int, pieces: Pieces, announcement: int | None = None,
    own: bool = True, unknown_person: int | None = None,
) -> Outcome:  # fmt: skip
    """What buying back without a name does at a locked drawer, posted under this key. Raises as :func:`cash_out`."""
    require_own(drawer, work, own=own)
    guest = _Guest.of(drawer, unknown_person, Direction.OUT)
    trade = thresholds.check(drawer.house, amount, Direction.OUT, before=guest.before, held_at=drawer.code)
    if announcement is not None:
        announced.use(drawer, work, announcement, player=None, amount=amount)
    desk = _desk(drawer)
    selectors.require_cash(drawer, amount)
    taken = desk.require_public(desk.named(pieces, amount))
    trade.require_approval(work)
    bought = posting("bearer_cash_out", {"drawer": drawer.code}, amount=amount, chips=taken)
    enter(work, key, drawer, "cage.bearer_cash_out", [bought])
    linked = guest.enter(work, key, "cage.bearer_cash_out", amount)
    event = BearerCashOut(amount=amount, exchanged=taken.as_json(), announcement=announcement, **linked)
    return Outcome(event, status=201)


def attribute(
    *, command: Command, player_ref: str, place: str, amount: int, reason: str, for_day: str | None = None,
    direction: Direction = Direction.IN,
) -> Answer:  # fmt: skip
    """Make chips worth `amount` minor units, which the house owes to nobody in particular at a place, a player's.
    `for_day`: the gaming day, open or closed, to which it belongs; the newest open one takes the posting all the same.
    `direction`: what the player has paid is more by it (in), or what the player was paid is less (out). Raises
    NotFound for player, place or day, Gone for a player who was forgotten, Conflict identity_required as a buy-in of
    the player."""
    return _move(command, player_ref, place, amount, reason, for_day, direction, attributed=True)


def unattribute(
    *, command: Command, player_ref: str, place: str, amount: int, reason: str, for_day: str | None = None,
    direction: Direction = Direction.IN,
) -> Answer:  # fmt: skip
    """Book a player's chips for nobody in particular, at a place. Raises InsufficientFunds where the player holds less
    away from the tables, and as `attribute`. `direction`: what the player has paid is less by it (in), or what the
    player was paid is more (out)."""
    return _move(command, player_ref, place, amount, reason, for_day, direction, attributed=False)


# --- Parts ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Guest:
    """Who trades without a name: the person of a description, locked, or nobody of whom anything is known."""

    drawer: Drawer
    direction: Direction
    person: UnknownPerson | None = None
    day: str = ""

    @classmethod
    def of(cls, drawer: Drawer, number: int | None, direction: Direction) -> "_Guest":
        """The one of this number, under the lock of the log. Raises NotFound, Conflict person_identified."""
        return cls(drawer, direction, *(unknown.lock(drawer.house, number) if number is not None else ()))

    @property
    def before(self) -> Mapping[str, int] | None:
        """What is known that the person has paid, or was paid, before."""
        return None if self.person is None else unknown.before(self.person, self.day, self.direction)

    def enter(self, work: Work, key: str, kind: str, amount: int) -> dict[str, Any]:
        """Enter the trade in the log, where it names a person; returns what its event says of that."""
        if self.person is None:
            return {}
        work.flush()
        line, linked = lines.of_trade(
            work, self.person, work.posted(key), day=self.day, place=self.drawer.code, kind=kind,
            direction=self.direction, amount=amount,
        )  # fmt: skip
        return {"unknown_person": self.person.number, "log_line": line.number, "linked": linked}


def _desk(drawer: Drawer) -> Desk:
    return Desk(drawer.house, drawer.account(Account.CAGE_CHIPS), drawer.code)


def _move(
    command: Command, ref: str, place: str, amount: int, reason: str, for_day: str | None, direction: Direction,
    *, attributed: bool,
) -> Answer:  # fmt: skip
    def change(house: House, work: Work) -> Outcome:
        player = _player(house, ref)
        about = {"place": place, "player": ref} | _late(house, for_day, reason)
        out = direction == Direction.OUT
        about |= {"direction": str(direction)} if out else {}
        # What adds to the player's sums is looked at as a transaction of the player's is.
        reached = thresholds.check(house, amount, direction, player=player).reached if attributed != out else None
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
            player=ref, place=place, amount=amount, player_chips=held[player.wallet], for_day=for_day, reason=reason,
            direction=str(direction) if out else None, threshold_reached=reached,
        )  # fmt: skip
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
    player = thresholds.lock(house, ref)
    persons.require_not_forgotten(player)
    player.house = house
    return player
