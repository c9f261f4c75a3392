"""Chips that a player puts down at a table: booked for the player away from the tables, or brought beyond that.

Chips that are brought were bought without a name, or come from another player. The house owes them to nobody in
particular until they lie in front of somebody; who owes what then shows in chips unattributed (2015) of the table,
which may fall below zero.
"""

from casino.bookkeeping import chart
from casino.bookkeeping.accounts import Account
from casino.bookkeeping.postings import Posting, posting
from casino.chips import selectors as chips
from casino.core import locks
from casino.core.errors import Conflict
from casino.houses.control_points import in_force
from casino.players import thresholds
from casino.players.models import Player
from casino.tables.models import Table


def put_down(table: Table, player: Player, amount: int, brought: int) -> list[Posting]:
    """What is posted when a player puts down `amount` minor units, of which `brought` are not booked for the player.
    Raises Conflict identity_required for so much of somebody unknown, and chips_not_in_circulation for more than the
    public has away from the tables, Unprocessable amount_not_payable."""
    places = {"table": table.code, "player": player.ref}
    booked = posting("sat_down", places, amount=amount - brought)
    if not brought:
        return [booked]
    chips.in_use(table.house).require_payable(brought, "What is brought")
    locks.lock_person(player.id)
    thresholds.require_identity(table.house, in_force(table.house), brought, player=player)
    _require_there(table, amount)
    return [booked, posting("bearer_sat_down", places, amount=brought)]


def _require_there(table: Table, amount: int) -> None:
    """Refuse chips that nobody can hold in the hand: what the public has lies in stacks and pots already."""
    house = table.house
    chips.lock_chip_set(house)
    public = chart.public(house, chips.in_use(house).code).surplus.value
    played = sum(chart.owed_in_places(house, Account.SEAT_STACK, Account.POT).values())
    if amount > public - played:
        raise Conflict(
            f"There are not so many chips in circulation: away from the tables {house.money(max(public - played, 0))}.",
            code="chips_not_in_circulation",
            available=max(public - played, 0),
        )
