"""Forgetting who a player was, when nothing requires it any more: the player's data key is destroyed, nothing else
changes. Hands, ledger and audit trail keep the reference, so every proof stays valid.

Two people do it: compliance asks over HTTP and an auditor approves, or an administrator and an auditor sign a
command. It is refused while the player sits or is owed something, while the rules on money laundering want the person
kept, while an exclusion with an end is in force, and under a legal hold. Of who is excluded without an end, marks are
kept (`casino/safeguards/marks.py`), by which the person is found again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Max

from casino.approvals.gate import Need
from casino.approvals.models import ApprovalKind
from casino.audit.events.players import PlayerErased, PlayerForgotten
from casino.audit.services import Actor, Receipt
from casino.bookkeeping import chart
from casino.core import locks, moments, sql, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict
from casino.core.work import Outcome, Work
from casino.evidence import holds
from casino.houses import control_points
from casino.houses.control_points import ControlPoints
from casino.houses.models import House
from casino.players import persons
from casino.players.models import Person, PersonKey, Player, is_reference
from casino.safeguards import exclusions, standing, unnamed
from casino.safeguards.models import Minor, MinorState
from casino.staff.credentials import Credentials, refusals_recorded, role_for, two_people
from casino.staff.models import Role
from casino.tables.models import Seating

#: The operation that a refusal's event names.
COMMAND = "forget_player"
#: The roles that may sign the command, and the roles of which one of the two must have one.
SIGNERS = (Role.ADMIN, Role.AUDITOR)
ONE_OF_THEM = (Role.AUDITOR,)
#: Who approves what compliance asks for.
_APPROVED = Need(kind=ApprovalKind.ERASURE, roles=(Role.AUDITOR,))
#: Stored answers about a player: few have the text at all, and only those are read as JSON (`players_destroy_key`).
_ANSWERS = """
SELECT count(*) FROM staff_answeredrequest WHERE house_id = %s
AND CASE WHEN strpos(answer, '"player":' || to_json(%s::text)) > 0 THEN answer::json ->> 'player' = %s ELSE false END
"""


class StillThereError(AssertionError):
    """What was deleted is found afterwards: nothing of it is written."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The result: the player, the last activity that was found, the receipt of the event."""

    player: str
    last_activity: datetime
    receipt: Receipt


def forget(*, house: House, ref: str, reason: str, first: Credentials, second: Credentials) -> Forgotten:
    """Two people sign, then the key goes. Raises what `two_people` refuses, and what `require_erasable` does."""
    # A text that is not a reference may be a name, so it is not recorded.
    subject = ref if is_reference(ref) else "?"
    one, other = two_people(
        house=house,
        first=first,
        second=second,
        roles=SIGNERS,
        one_of_them=ONE_OF_THEM,
        request_id=COMMAND,
        subject=subject,
    )
    work = Work(house, Actor(staff=one.login, role=role_for(one, SIGNERS), terminal="", request=COMMAND))

    def operation() -> Forgotten:
        locks.lock_safeguards(house.id)
        player = persons.lock(house, ref)
        locks.lock_evidence(house.id)
        last = require_erasable(house, player)
        receipt, event = _erase(work, player, last, reason, other.login)
        work.record(chain=house.chain, event=event)
        return Forgotten(ref, last, receipt)

    with refusals_recorded(house=house, signer=one, request_id=COMMAND, subject=subject):
        return locks.in_transaction(operation)


def erase(*, command: Command, ref: str, reason: str) -> Answer:
    """Forget a player over HTTP. Raises what `require_erasable` refuses, approval_required (an auditor),
    VersionConflict, WrongTerminal."""

    def change(player: Player, work: Work) -> Outcome:
        house = command.context.at_the_office()
        locks.lock_evidence(house.id)
        command.require_version(persons.require_known(player).version)
        last = require_erasable(house, player)
        work.require_approval(_APPROVED)
        _, event = _erase(work, player, last, reason, work.approver)
        body = {"player": ref, "last_activity": moments.utc(last), "record_count": len(event.records)}
        return Outcome(event, body, version=len(event.records) + 1)

    return write.write(command, persons.PersonOf(ref, before=locks.lock_safeguards), change)


def require_erasable(house: House, player: Player) -> datetime:
    """When a player was last seen who may be forgotten. The caller holds the locks of safeguards, of the person and of
    evidence. Raises NotFound no_person, Gone person_forgotten, Conflict player_seated, player_has_chips,
    minor_not_settled, retention_not_over, exclusion_in_force (both `until`) or legal_hold."""
    persons.require_known(player)
    _require_away(house, player)
    last, now = last_activity(house, player), sql.database_time()
    until = last + timedelta(days=days_kept(control_points.in_force(house)))
    if now < until:
        raise Conflict(
            f"Personal data are kept until {until.date().isoformat()}.",
            code="retention_not_over",
            last_activity=last.isoformat(),
            until=until.isoformat(),
        )
    if bound := excluded_until(house, player, now):
        number, until = bound
        raise Conflict(
            f"{player.ref} is excluded until {until.date().isoformat()} (exclusion {number}), and is kept so long.",
            code="exclusion_in_force",
            exclusion=number,
            until=until.isoformat(),
        )
    holds.require_none(house, player, last)
    return last


def days_kept(points: ControlPoints) -> int:
    """For how many days after a player was last seen it is kept who that was: the longer one of what the house and what
    its operator has set."""
    return max(points.retain_laundering_days, settings.CASINO_RETENTION_DAYS)


def excluded_until(house: House, player: Player, now: datetime) -> tuple[int, datetime] | None:
    """The exclusion of a player that ends last of those with an end to come, and when; None where there is none."""
    found = [(exclusions.binds_until(one), one.number) for one in standing.in_force(house, player)]
    ends = [(until, number) for until, number in found if until is not None and until > now]
    return (max(ends)[1], max(ends)[0]) if ends else None


def destroy(work: Work, player: Player, event: PlayerForgotten) -> Receipt:
    """Keep the marks of who is excluded, record that the player is forgotten, and destroy the key. The caller holds
    the locks of safeguards and of the person. Raises Gone."""
    house = work.house
    for marked in unnamed.keep_marks(house, player):
        work.record(chain=house.chain, event=marked)
    receipt = work.record(chain=house.chain, event=event)
    persons.destroy_key(player)
    return receipt


def last_activity(house: House, player: Player) -> datetime:
    """When a player was last seen: registered, recorded, sitting down, leaving, or with an entry on the player's
    accounts."""
    seen = Seating.objects.filter(player=player).aggregate(sat=Max("sat_at"), left=Max("left_at"))
    recorded = Person.objects.filter(player=player).aggregate(at=Max("at"))
    posted = [at for _, _, at in chart.of_player(house, player.ref)]
    known: list[datetime | None] = [player.registered_at, recorded["at"], *seen.values(), *posted]
    return max(at for at in known if at is not None)


# --- Parts ----------------------------------------------------------------------------------------------------------


def _erase(work: Work, player: Player, last: datetime, reason: str, approver: str) -> tuple[Receipt, PlayerErased]:
    """Forget the player, and look for what was to go; the receipt, and what records that nothing is left."""
    house = work.house
    records = list(Person.objects.filter(player=player).order_by("version").values_list("sealed_sha256", "version"))
    answers, (digest, version) = _answers(house, player), records[-1]
    forgotten = PlayerForgotten(
        player=player.ref, version=version, sealed_sha256=digest, last_activity=last.isoformat(),
        retention_days=days_kept(control_points.in_force(house)), reason=reason, approver=approver,
    )  # fmt: skip
    receipt = destroy(work, player, forgotten)
    if left := _left(house, player):
        raise StillThereError(f"house {house.code}: of {player.ref} there is {', '.join(left)}")
    digests = [one for one, _ in records]
    return receipt, PlayerErased(player=player.ref, records=digests, answer_count=answers, left=[])


def _answers(house: House, player: Player) -> int:
    [(found,)] = sql.rows(_ANSWERS, [house.id, player.ref, player.ref])
    return int(found)


def _left(house: House, player: Player) -> Sequence[str]:
    """What is still there of what was to go."""
    found = ["the key"] if PersonKey.objects.filter(player=player).exists() else []
    return [*found, *(["stored answers"] if _answers(house, player) else [])]


def _require_away(house: House, player: Player) -> None:
    if Seating.objects.filter(player=player, left_at=None).exists():
        raise Conflict(f"{player.ref} sits at a table.", code="player_seated")
    held = {code: balance for code, balance, _ in chart.of_player(house, player.ref) if balance}
    if held:
        raise Conflict(f"The house still owes {player.ref} chips or cash.", code="player_has_chips", accounts=held)
    of = Minor.objects.filter(house=house, player=player, state=MinorState.RECORDED).first()
    if of is not None:
        raise Conflict(f"The stakes of {player.ref} are not given back.", code="minor_not_settled", minor=of.number)
