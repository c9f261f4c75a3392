"""Admitting a player on a gaming day: at the door or at the cage, once somebody has seen that the player is of age.

Of the document nothing is kept but its kind, of the age nothing but a band; who the player is stands sealed elsewhere
(`casino/players/persons.py`).
"""

from typing import Any

from casino.audit.events.safeguards import PlayerAdmitted
from casino.core import write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.houses import control_points, days
from casino.houses.models import House
from casino.players import persons
from casino.players.models import Player
from casino.safeguards import standing
from casino.safeguards.models import Admission, AgeBand, Document, Scope


def admit(*, command: Command, ref: str, document: Document, age_band: AgeBand) -> Answer:
    """Admit a player for the gaming day that is open. Raises NotFound, Gone person_forgotten, Conflict no_day_open,
    admitted_already, staff_as_player, player_excluded for one who is excluded from the house, not only from play."""

    def change(house: House, work: Work) -> Outcome:
        player = standing.lock(house, ref)
        persons.require_not_forgotten(player)
        persons.require_guest(player)
        if standing.of(house, player).excluded and _out_of_house(house, player):
            raise standing.refused(ref)
        day = days.newest(house)
        if not day:
            raise Conflict("A player is admitted for a gaming day, and none is open.", code="no_day_open")
        if standing.of(house, player).admitted:
            raise Conflict(f"{ref} was admitted on {day}.", code="admitted_already", player=ref, day=day)
        Admission.objects.create(
            house=house, player=player, day=day, document=document, age_band=age_band, seen_by=command.context.staff
        )
        event = PlayerAdmitted(player=ref, day=day, document=str(document), age_band=str(age_band))
        return Outcome(event, {"player": ref, "day": day, "admitted": True}, 201)

    return write.write(command, OfHouse(), change)


def answer(house: House, ref: str) -> dict[str, Any]:
    """What the door, tables and the cage may know: whether a player may come in and play. Raises NotFound."""
    player = persons.get(house, ref)
    found = standing.of(house, player)
    required = bool(control_points.in_force(house).admission_required)
    return {
        "player": ref,
        "may_enter": not (found.excluded and _out_of_house(house, player)),
        "may_play": not found.excluded and (found.admitted or not required),
        "excluded": found.excluded,
        "admitted": found.admitted,
        "admission_required": required,
    }


def _out_of_house(house: House, player: Player) -> bool:
    """Whether an exclusion from the whole house is in force."""
    return standing.in_force(house, player).filter(scope=Scope.HOUSE).exists()
