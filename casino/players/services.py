"""Registering players."""

from django.db import IntegrityError

from casino.audit.events.players import PlayerRegistered
from casino.audit.services import Actor
from casino.bookkeeping import chart
from casino.core import write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.houses.models import House
from casino.players.models import Player
from casino.staff import as_player


def create_player(*, house: House, ref: str, actor: Actor) -> Player:
    """Register a player in the caller's transaction, when a house is set up. Raises Conflict player_exists."""
    player = _added(house, ref)
    Work(house, actor).record(chain=house.chain, event=PlayerRegistered(player=ref))
    return player


def _added(house: House, ref: str) -> Player:
    """A new player with an empty wallet. Raises Conflict player_exists."""
    player = Player(house=house, ref=ref)
    player.clean_fields(exclude=["house"])
    try:
        player.save(force_insert=True)
    except IntegrityError:
        raise Conflict(f"Player {ref} is registered already.", code="player_exists", player=ref) from None
    chart.open_accounts(house, [player.wallet])
    return player


def register(*, command: Command, ref: str) -> Answer:
    """Register a player under a reference. There is no version to match, because the player is new. Raises Conflict
    player_exists, staff_as_player."""

    def change(house: House, work: Work) -> Outcome:
        as_player.require_guest(house, ref)
        player = _added(house, ref)
        return Outcome(PlayerRegistered(player=ref), {"player": player.ref, "chips": 0}, 201)

    return write.write(command, OfHouse(), change)
