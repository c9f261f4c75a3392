"""Who works in a house does not play in it: a member of staff may be linked to the reference that this person has, or
would have, as a player. Nobody is seated, buys in or cashes out under the reference of a person who is active.

The link is a pseudonym beside a login, and so names nobody who is not known already.
"""

from django.db.models import Exists, OuterRef, Value

from casino.audit.events.staff import PlayerLinked
from casino.core import once_live, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict
from casino.core.work import Outcome, Work
from casino.houses.models import House
from casino.staff.models import Staff
from casino.staff.roster import Colleague


def link(*, command: Command, login: str, player: str | None, reason: str) -> Answer:
    """Say under which reference a person is known as a player; None: under none. Raises Conflict no_change,
    player_linked where another person has it, approval_required once the house is live."""

    def change(staff: Staff, work: Work) -> Outcome:
        before = staff.player_ref or None
        if before == player:
            raise Conflict(f"{login} is linked to {player or 'no player'} already.", code="no_change")
        if player is not None and Staff.objects.filter(house=staff.house, player_ref=player).exists():
            raise Conflict(f"Another member of staff is linked to the player {player}.", code="player_linked")
        once_live.require_approval(staff.house, work, once_live.STAFF)
        staff.player_ref = player or ""
        return Outcome(PlayerLinked(login=login, before=before, after=player, reason=reason))

    return write.write(command, Colleague(login), change)


def of_staff(column: str = "ref") -> Exists:
    """For a query of players: whether the reference in this column is that of an active member of staff."""
    works = Staff.objects.filter(house=OuterRef("house"), player_ref=OuterRef(column), is_active=True)
    return Exists(works.exclude(player_ref=Value("")))


def require_guest(house: House, ref: str) -> None:
    """Refuse the reference of an active member of staff. Raises Conflict staff_as_player."""
    if Staff.objects.filter(house=house, player_ref=ref, is_active=True).exists():
        raise refused(ref)


def refused(ref: str) -> Conflict:
    """The refusal of a member of staff as a player."""
    return Conflict(f"{ref} works in this house, and so does not play in it.", code="staff_as_player", player=ref)
