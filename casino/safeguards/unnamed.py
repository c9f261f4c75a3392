"""Exclusions of people by marks: of a person who is no player of the house (a self-exclusion elsewhere, a register, a
court), and of players who were forgotten.

Nothing of such a person is kept but marks (`casino/safeguards/marks.py`). Whenever it is recorded who a player is, the
marks of that person are compared with those of the exclusions, and when such an exclusion is entered, with those of
every player whose person is recorded. A match excludes the player; compliance and a manager clear it where it is
another person, which is so for the same two ever after.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from casino.approvals.gate import Need
from casino.approvals.models import ApprovalKind
from casino.audit.events import AuditEvent
from casino.audit.events.safeguards import ExclusionMarked, ExclusionMatchCleared, ExclusionMatched
from casino.core import locks, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, NotFound
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.houses.models import ClockTimestamp, House
from casino.players import persons
from casino.players.models import Player
from casino.safeguards import exclusions, marks, standing
from casino.safeguards.models import AskedBy, ExclusionKind, ExclusionMatch, Scope
from casino.staff.models import Role

_CLEARED = Need(kind=ApprovalKind.EXCLUSION, roles=(Role.MANAGER,))
_SUBJECT = OfHouse(lock=locks.lock_safeguards, office=True)


def exclude(
    *, command: Command, person: Mapping[str, str], kind: ExclusionKind, scope: Scope, asked_by: AskedBy,
    in_person: bool, until: datetime | None, note: str,
) -> Answer:  # fmt: skip
    """Exclude a person by the marks of these fields, of which nothing else is kept, and every player of whom it is
    recorded that it is this person (`matched`). Raises Unprocessable as `exclusions.exclude`, WrongTerminal."""

    def change(house: House, work: Work) -> Outcome:
        found, event = exclusions.add(
            house, None, by=command.context.staff, kind=kind, scope=scope, asked_by=asked_by, in_person=in_person,
            until=until, note=note,
        )  # fmt: skip
        wanted = marks.of_person(house.id, person)
        kept, matched = marks.keep(found, wanted), sorted(marks.of_players(house, wanted))
        players = Player.objects.filter(house=house, ref__in=matched).order_by("pk")
        for player in players:
            locks.lock_person(player.pk)
            ExclusionMatch.objects.create(house=house, exclusion=found, player=player)
        body = exclusions.describe(found) | {"matched": matched}
        return Outcome(replace(event, marks=kept, matched=matched), body, 201, version=found.number)

    return write.write(command, _SUBJECT, change)


def record_person(*, command: Command, ref: str, person: dict[str, str], reason: str) -> Answer:
    """As `persons.record_person`, and exclude the player by every exclusion that has a mark of the person. The answer
    says nothing of that."""

    def compare(player: Player, work: Work) -> None:
        house = work.house
        known = set(ExclusionMatch.objects.filter(player=player).values_list("exclusion", flat=True))
        for found in marks.exclusions_with(house, marks.of_person(house.id, person)):
            if found.player_id != player.pk and found.pk not in known:
                ExclusionMatch.objects.create(house=house, exclusion=found, player=player)
                work.record(chain=house.chain, event=ExclusionMatched(exclusion=found.number, player=ref))

    subject = persons.PersonOf(ref, before=locks.lock_safeguards)
    return persons.record_person(command=command, ref=ref, person=person, reason=reason, subject=subject, also=compare)


def clear_match(*, command: Command, number: int, ref: str) -> Answer:
    """Let an exclusion count no more for a player whom its marks have matched: it is another person. Raises NotFound,
    Conflict match_cleared, approval_required (manager), WrongTerminal."""

    def change(house: House, work: Work) -> Outcome:
        player = standing.lock(house, ref)
        found = ExclusionMatch.objects.filter(house=house, exclusion__number=number, player=player).first()
        if found is None:
            raise NotFound(f"No mark of exclusion {number} has matched {ref}.")
        if found.cleared_at is not None:
            raise Conflict(f"That exclusion {number} matches {ref} was cleared.", code="match_cleared")
        work.require_approval(_CLEARED)
        rows = ExclusionMatch.objects.filter(pk=found.pk)
        work.soon(rows, cleared_at=ClockTimestamp(), cleared_by=command.context.staff)
        event = ExclusionMatchCleared(exclusion=number, player=ref)
        return Outcome(event, {"exclusion": number, "player": ref}, version=number)

    return write.write(command, _SUBJECT, change)


def keep_marks(house: House, player: Player) -> list[AuditEvent]:
    """Before a player is forgotten, keep marks of the person with every exclusion of the player that counts; returns
    what records it. The caller holds the locks of safeguards and of the person."""
    of = {one for row in persons.versions(house, player) for one in marks.of_person(house.id, row["person"])}
    return [
        ExclusionMarked(exclusion=found.number, player=player.ref, marks=marks.keep(found, of))
        for found in standing.in_force(house, player)
        if found.player_id == player.pk
    ]
