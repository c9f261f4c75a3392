"""Forgetting who a player was, when the law no longer requires it: the player's data key is destroyed, nothing else
changes.

Hands, ledger and audit trail keep the reference, so every proof stays valid.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Max
from django.utils import timezone

from casino.audit.events.players import PlayerForgotten
from casino.audit.services import Actor, Receipt, record
from casino.bookkeeping import chart
from casino.core import locks
from casino.core.errors import Conflict
from casino.houses.models import House
from casino.players import persons
from casino.players.models import Person, Player, is_reference
from casino.staff.credentials import Credentials, refusals_recorded, role_for, two_people
from casino.staff.models import Role
from casino.tables.models import Seating

#: The operation that a refusal's event names.
COMMAND = "forget_player"
#: The roles that may sign, and the roles of which one of the two must have one.
SIGNERS = (Role.ADMIN, Role.AUDITOR)
ONE_OF_THEM = (Role.AUDITOR,)


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The result: the player, the last activity that was found, the receipt of the event."""

    player: str
    last_activity: datetime
    receipt: Receipt


def forget(*, house: House, ref: str, reason: str, first: Credentials, second: Credentials) -> Forgotten:
    """Two people sign, then the key goes. Raises what `two_people` refuses, NotFound (`no_person` where nobody was
    recorded), Gone person_forgotten, Conflict player_seated, player_has_chips or retention_not_over."""
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
    actor = Actor(staff=one.login, role=role_for(one, SIGNERS), terminal="", request=COMMAND)

    def operation() -> Forgotten:
        player = persons.lock(house, ref)
        newest = persons.require_known(player)
        _require_away(house, player)
        last = last_activity(house, player)
        _require_over(last)
        event = PlayerForgotten(
            player=ref,
            version=newest.version,
            sealed_sha256=newest.sealed_sha256,
            last_activity=last.isoformat(),
            retention_days=settings.CASINO_RETENTION_DAYS,
            reason=reason,
            approver=other.login,
        )
        receipt = record(chain=house.chain, house=house, actor=actor, event=event)
        persons.destroy_key(player)
        return Forgotten(ref, last, receipt)

    with refusals_recorded(house=house, signer=one, request_id=COMMAND, subject=subject):
        return locks.in_transaction(operation)


def last_activity(house: House, player: Player) -> datetime:
    """When a player was last seen: registered, recorded, sitting down, leaving, or with an entry on the player's
    accounts."""
    seen = Seating.objects.filter(player=player).aggregate(sat=Max("sat_at"), left=Max("left_at"))
    recorded = Person.objects.filter(player=player).aggregate(at=Max("at"))
    posted = [at for _, _, at in chart.of_player(house, player.ref)]
    known: list[datetime | None] = [player.registered_at, recorded["at"], *seen.values(), *posted]
    return max(at for at in known if at is not None)


def _require_away(house: House, player: Player) -> None:
    if Seating.objects.filter(player=player, left_at=None).exists():
        raise Conflict(f"{player.ref} sits at a table.", code="player_seated")
    held = {code: balance for code, balance, _ in chart.of_player(house, player.ref) if balance}
    if held:
        raise Conflict(f"The house still owes {player.ref} chips or cash.", code="player_has_chips", accounts=held)


def _require_over(last: datetime) -> None:
    until = last + timedelta(days=settings.CASINO_RETENTION_DAYS)
    if timezone.now() < until:
        raise Conflict(
            f"Personal data are kept until {until.date().isoformat()}.",
            code="retention_not_over",
            last_activity=last.isoformat(),
            until=until.isoformat(),
        )
