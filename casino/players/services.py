"""Registering players."""

from django.db import IntegrityError, transaction

from casino.audit.events.players import PlayerRegistered
from casino.audit.services import Actor, Receipt, record
from casino.bookkeeping import chart
from casino.core import write
from casino.core.errors import Conflict
from casino.core.write import Answer, Command, Made
from casino.houses.models import House
from casino.players.models import Player


def create_player(*, house: House, ref: str, actor: Actor) -> tuple[Player, Receipt]:
    """Add a player with an empty wallet, in the caller's transaction. Raises Conflict player_exists."""
    player = Player(house=house, ref=ref)
    player.clean_fields()
    try:
        with transaction.atomic():
            player.save(force_insert=True)
    except IntegrityError:
        raise Conflict(f"Player {ref} is registered already.", code="player_exists", player=ref) from None
    chart.open_accounts(house, [player.wallet])
    return player, record(chain=house.chain, house=house, actor=actor, event=PlayerRegistered(player=ref))


def register(*, command: Command, ref: str) -> Answer:
    """Register a player under a reference. There is no version to match: nothing existed before."""

    def operation() -> Made:
        player, receipt = create_player(house=command.context.house, ref=ref, actor=command.context.actor)
        return Made({"player": player.ref, "chips": 0, "audit": receipt.as_json()}, 1, 201)

    return write.run(command, operation)
