"""What staff has done to protect a player: the log of interactions (LCCP 3.4.1). What was said is sealed."""

from typing import Any

from django.db.models import Max

from casino.audit.events.safeguards import InteractionLogged
from casino.core import locks, write
from casino.core.commands import Answer, Command
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.houses.models import House
from casino.safeguards import notes, standing
from casino.safeguards.models import Interaction, InteractionKind


def log(*, command: Command, ref: str, kind: InteractionKind, note: str) -> Answer:
    """Log what was done with a player. Raises NotFound."""

    def change(house: House, work: Work) -> Outcome:
        player = standing.lock(house, ref)
        last = Interaction.objects.filter(house=house).aggregate(last=Max("number"))["last"] or 0
        sealed = notes.seal(house, note, "interaction", last + 1)
        found = Interaction.objects.create(
            house=house, number=last + 1, player=player, kind=kind, note=sealed, by=command.context.staff
        )
        event = InteractionLogged(
            number=found.number, player=ref, interaction=str(kind), note_sha256=notes.digest(sealed)
        )
        return Outcome(event, describe(found), 201, version=found.number)

    return write.write(command, OfHouse(lock=locks.lock_safeguards), change)


def describe(found: Interaction) -> dict[str, Any]:
    """An interaction as answers carry it, without what was said."""
    return {"number": found.number, "player": found.player.ref, "interaction": found.kind, "by": found.by.login}


def note_of(found: Interaction) -> str:
    """What was said. Raises SealedUnreadable, SealKeyWrong."""
    return notes.unseal(found.house, found.note, "interaction", found.number)
