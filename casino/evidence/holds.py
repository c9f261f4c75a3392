"""Legal holds: what nothing may be deleted of, as long as they are in force.

Compliance asks for a hold and a manager approves it; so it is lifted. The hold of an open complaint is set and lifted
with the complaint. A hold keeps the keys to persons' data (`legal_hold`) and what retention would delete.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from casino.approvals.gate import Need
from casino.approvals.models import ApprovalKind
from casino.audit.events import AuditEvent
from casino.audit.events.evidence import LegalHoldLifted, LegalHoldSet
from casino.core import locks, sql, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, NotFound, Unprocessable
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.evidence.models import Complaint, HoldScope, LegalHold
from casino.evidence.subjects import opened
from casino.hands.models import Hand
from casino.houses import days
from casino.houses.models import ClockTimestamp, House
from casino.players.models import Player
from casino.staff.models import Role, Staff
from casino.tables.models import Seating

_NAMED = ("player", "hand", "complaint", "complaint__player", "set_by", "lifted_by")
_APPROVED = Need(kind=ApprovalKind.LEGAL_HOLD, roles=(Role.MANAGER,))


def set_hold(
    *, command: Command, scope: str, player: str | None, hand: str | None, first_day: str, last_day: str, reason: str
) -> Answer:
    """Put a player, a hand, gaming days or the whole house under a legal hold. Raises NotFound, Unprocessable
    hold_scope for what does not name exactly what its scope takes, Conflict approval_required (a manager)."""

    def change(house: House, work: Work) -> Outcome:
        named = {"player": player, "hand": hand, "first_day": first_day or None, "last_day": last_day or None}
        _require_scope(scope, {name for name, value in named.items() if value is not None})
        _require_days(house, first_day, last_day)
        players, hands, last = sql.together(
            Player.objects.filter(house=house, ref=player or ""), Hand.objects.filter(house=house, name=hand or ""),
            last_number(house),
        )  # fmt: skip
        for wanted, there in ((player, players), (hand, hands)):
            if wanted is not None and not there:
                raise NotFound(f"This house has no {scope} {wanted}.")
        work.require_approval(_APPROVED)
        row = add(
            house, HoldScope(scope), next(iter(last), 0), reason=reason, by=command.context.staff,
            player=next(iter(players), None), hand=next(iter(hands), None), first_day=first_day, last_day=last_day,
        )  # fmt: skip
        event = LegalHoldSet(
            legal_hold=row.number, scope=HoldScope(scope), player=player, hand=hand, first_day=first_day or None,
            last_day=last_day or None, reason=reason,
        )  # fmt: skip
        return Outcome(event, {"hold": describe(row)}, 201, version=row.version)

    return write.write(command, OfHouse(lock=locks.lock_evidence, office=True), change)


def lift(*, command: Command, number: int, reason: str) -> Answer:
    """Lift a legal hold. Raises NotFound, VersionConflict, Conflict hold_lifted, hold_of_complaint for one that ends
    with its complaint, approval_required (a manager)."""

    def change(row: LegalHold, work: Work) -> Outcome:
        if row.lifted_at is not None:
            raise Conflict(f"Legal hold {number} was lifted.", code="hold_lifted")
        if row.complaint is not None:
            raise Conflict(f"Legal hold {number} ends with complaint {row.complaint.number}.", code="hold_of_complaint")
        work.require_approval(_APPROVED)
        _end(row, command.context.staff, reason, work)
        return Outcome(LegalHoldLifted(legal_hold=number, reason=reason))

    return write.write(command, OfHold(number), change)


@dataclass(frozen=True, slots=True)
class OfHold:
    """A legal hold as the subject of its end."""

    number: int

    def open(self, command: Command) -> LegalHold:
        """Keep others from changing holds. Raises NotFound, VersionConflict, WrongTerminal."""
        command.context.at_the_office()
        return opened(command, LegalHold, self.number, *_NAMED)

    def chain(self, row: LegalHold) -> str:
        """The house's."""
        return row.house.chain

    def advance(self, row: LegalHold, work: Work, outcome: Outcome) -> tuple[int, AuditEvent]:
        """1 while it is in force, then 2."""
        return 2, outcome.event

    def answer(self, row: LegalHold, outcome: Outcome) -> Mapping[str, Any]:
        """The hold as it is now."""
        [[now]] = sql.together(LegalHold.objects.filter(id=row.pk).select_related(*_NAMED))
        return {"hold": describe(now)}


def last_number(house: House) -> QuerySet[LegalHold, int]:
    """Number of the house's newest hold; empty where there is none."""
    return LegalHold.objects.filter(house=house).order_by("-number").values_list("number", flat=True)[:1]


def add(house: House, scope: HoldScope, last: int, *, reason: str, by: Staff, **what: Any) -> LegalHold:
    """Add the hold after the last one; the caller holds the lock of evidence."""
    return LegalHold.objects.create(house=house, number=last + 1, scope=scope, reason=reason, set_by=by, **what)


def end_of_complaint(complaint: Complaint, by: Staff, work: Work) -> LegalHold:
    """End the hold of a complaint that is closed; the caller holds the lock of evidence."""
    row = LegalHold.objects.get(complaint=complaint)
    _end(row, by, f"complaint {complaint.number} is closed", work)
    return row


def _end(row: LegalHold, by: Staff, reason: str, work: Work) -> None:
    rows = LegalHold.objects.filter(id=row.pk)
    work.soon(rows, lifted_by=by, lifted_at=ClockTimestamp(), lifted_reason=reason)
    work.flush()


# --- What is held ----------------------------------------------------------------------------------------------------


def in_force(house: House) -> list[LegalHold]:
    """The holds of a house that are in force, by number."""
    rows = LegalHold.objects.filter(house=house, lifted_at=None).select_related(*_NAMED).order_by("number")
    return list(rows)


def of_player(house: House, player: Player, last_activity: datetime, holds: Iterable[LegalHold]) -> list[int]:
    """Numbers of those of these holds that cover a player who was last seen at `last_activity`. Who was registered
    before the end of the days that a hold names and was seen after they began counts as having been there."""
    return [hold.number for hold in holds if _covers(house, player, last_activity, hold)]


def require_none(house: House, player: Player, last_activity: datetime) -> None:
    """Refuse to forget a player whom a hold covers. The caller holds the lock of evidence. Raises Conflict
    legal_hold."""
    if numbers := of_player(house, player, last_activity, in_force(house)):
        raise Conflict(
            f"{player.ref} is under legal hold {', '.join(map(str, numbers))}.", code="legal_hold", holds=numbers
        )


def _covers(house: House, player: Player, last: datetime, hold: LegalHold) -> bool:
    match hold.scope:
        case HoldScope.HOUSE:
            return True
        case HoldScope.PLAYER:
            return hold.player_id == player.pk
        case HoldScope.HAND:
            return _sat_in(hold.hand, player)
        case HoldScope.COMPLAINT if hold.complaint is not None:
            return hold.complaint.player_id == player.pk or _is_in(house, hold.complaint, player)
        case HoldScope.DAYS:
            begin, end = _times(house, hold.first_day, hold.last_day)
            return begin <= last and (end is None or player.registered_at <= end)
    raise AssertionError(f"nobody has said what {hold.scope} covers")


def _is_in(house: House, complaint: Complaint, player: Player) -> bool:
    """Whether a complaint's evidence names a player."""
    if any(one.get("player") == player.ref for one in complaint.evidence):
        return True
    hands = [one["hand"] for one in complaint.evidence if "hand" in one]
    return any(_sat_in(hand, player) for hand in Hand.objects.filter(house=house, name__in=hands))


def _sat_in(hand: Hand | None, player: Player) -> bool:
    """Whether a player was dealt in, or sat at the table in the session of the hand."""
    if hand is None:
        return False
    dealt = any(seat["player"] == player.ref for seat in hand.seats)
    return dealt or Seating.objects.filter(session_id=hand.session_id, player=player).exists()


def _times(house: House, first: str, last: str) -> tuple[datetime, datetime | None]:
    """When the first of these days was opened and the last was closed; None while one is open."""
    found = [day for day in days.days(house) if first <= day.name <= last]
    ends = [day.closed_at for day in found]
    return min(day.opened_at for day in found), None if None in ends else max(end for end in ends if end is not None)


def of_run(hold: LegalHold, filters: Mapping[str, str], *, names_players: bool) -> bool:
    """Whether a hold covers the files of a run of a report with these filters: those that may say anything about what
    is held. A run that names no days is about all of them."""
    match hold.scope:
        case HoldScope.HOUSE:
            return True
        case HoldScope.DAYS:
            return filters.get("from", "") <= hold.last_day and filters.get("until", "9") >= hold.first_day
        case HoldScope.PLAYER if hold.player is not None:
            return names_players and filters.get("player", hold.player.ref) == hold.player.ref
    # A hand, or the evidence of a complaint: whatever may name its players.
    return names_players


def describe(row: LegalHold) -> dict[str, Any]:
    """A hold as answers have it."""
    return {
        "number": row.number,
        "version": row.version,
        "scope": row.scope,
        "player": row.player.ref if row.player else None,
        "hand": row.hand.name if row.hand else None,
        "complaint": row.complaint.number if row.complaint else None,
        "first_day": row.first_day,
        "last_day": row.last_day,
        "reason": row.reason,
        "set_by": row.set_by.login,
        "lifted_by": row.lifted_by.login if row.lifted_by else None,
        "lifted_reason": row.lifted_reason,
    }


# --- Parts ----------------------------------------------------------------------------------------------------------


_TAKES = {
    HoldScope.PLAYER: {"player"}, HoldScope.HAND: {"hand"}, HoldScope.DAYS: {"first_day", "last_day"},
    HoldScope.HOUSE: set(),
}  # fmt: skip


def _require_scope(scope: str, named: set[str]) -> None:
    takes = _TAKES[HoldScope(scope)]
    if named != takes:
        raise Unprocessable(
            f"A hold of a {scope} names {' and '.join(sorted(takes)) or 'nothing else'}.", code="hold_scope",
            expected={"names": sorted(takes)},
        )  # fmt: skip


def _require_days(house: House, first: str, last: str) -> None:
    if not first:
        return
    found = days.days(house)
    for name in (first, last):
        days.named(found, name)
    if first > last:
        raise Unprocessable("The last gaming day is before the first one.", code="hold_scope")
