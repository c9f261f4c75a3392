"""The end of entries of the sealed register: by months, whatever they say, so that nothing shows.

Entries are kept for the days of the rules on money laundering from the end of the month (UTC) in which they were
written. Then all entries of that month go. What must go on is carried: a case that is open, or whose last step is not
that old, or that a legal hold covers, is written once more, as it was, into one entry. Each month that goes leaves such
an entry, also where it carries nothing; from outside it is like any other.

    carried = {"what": "carried", "by": ..., "entries": [{"entry": NUMBER, "at": MOMENT, "content": {...}}, ...]}
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from casino.audit.events.evidence import EntryIsSealed
from casino.core import canonical
from casino.evidence import holds, register
from casino.evidence.forgetting import last_activity
from casino.evidence.models import HoldScope, LegalHold, SealedEntry
from casino.evidence.register import Opened, Step, What
from casino.houses.models import House
from casino.players.models import Player


@dataclass(frozen=True, slots=True)
class Month:
    """The entries of one month: their first and last number, the SHA-256 of all their hashes, their bytes."""

    first_day: date
    first: int
    last: int
    sha256: str
    size: int

    @property
    def name(self) -> str:
        """`FIRST-LAST`."""
        return f"{self.first}-{self.last}"

    @property
    def since(self) -> datetime:
        """The end of the month, from which its days are counted."""
        return _begin(self._next)

    @property
    def last_day(self) -> date:
        """The last day of the month."""
        return self._next - timedelta(days=1)

    @property
    def _next(self) -> date:
        return (self.first_day + timedelta(days=31)).replace(day=1)


def months(house: House, until: datetime) -> Iterator[Month]:
    """Every month with entries that ended at this moment or before, the oldest first."""
    end = _begin(until.astimezone(UTC).date().replace(day=1))
    found: dict[date, list[SealedEntry]] = {}
    for row in SealedEntry.objects.filter(house=house, at__lt=end).order_by("number").iterator():
        found.setdefault(row.at.astimezone(UTC).date().replace(day=1), []).append(row)
    for first_day, rows in found.items():
        digest = canonical.sha256([row.sealed_sha256 for row in rows])
        size = sum(len(row.wrapped) + len(row.sealed) for row in rows)
        yield Month(first_day, rows[0].number, rows[-1].number, digest, size)


def delete(house: House, month: tuple[int, int], by: str, moment: datetime, days: int) -> EntryIsSealed:
    """Delete the entries from one number to another, and write what goes on of them into one entry; returns what
    records that. The caller holds the lock of evidence."""
    event = register.carry(house, by, _going_on(house, month, moment - timedelta(days=days)))
    SealedEntry.objects.filter(house=house, number__range=month).delete()
    return event


# --- Parts ----------------------------------------------------------------------------------------------------------


def _going_on(house: House, month: tuple[int, int], until: datetime) -> list[Opened]:
    """What these entries say of cases that go on."""
    every, in_force = register.opened(house), holds.in_force(house)
    steps: dict[int, list[Opened]] = {}
    for one in every:
        if one.what == What.STEP:
            steps.setdefault(one.content["case"], []).append(one)
    live = {
        one.number for one in every if one.what == What.CASE
        and (_is_young(one, steps.get(one.number, []), month, until) or _is_held(house, one, in_force))
    }  # fmt: skip
    return [one for one in every if month[0] <= one.stored <= month[1] and _case_of(one) in live]


def _case_of(one: Opened) -> int | None:
    """The number of the case that an entry is, or is a step of."""
    return one.number if one.what == What.CASE else one.content.get("case")


def _is_young(case: Opened, steps: list[Opened], month: tuple[int, int], until: datetime) -> bool:
    """Whether a case is open, was closed after this moment, or has a step in an entry that stays."""
    newest = steps[-1] if steps else case
    return (
        newest.content.get("step") != Step.CLOSED
        or newest.at > until
        or any(not month[0] <= one.stored <= month[1] for one in (case, *steps))
    )


def _is_held(house: House, case: Opened, in_force: Iterable[LegalHold]) -> bool:
    """Whether a legal hold covers the player of a case, or a hand that it has as evidence."""
    hands = {one["hand"] for one in case.content["evidence"] if "hand" in one}
    if any(hold.scope == HoldScope.HAND and hold.hand is not None and hold.hand.name in hands for hold in in_force):
        return True
    player = Player.objects.filter(house=house, ref=case.content.get("player") or "").first()
    return player is not None and bool(holds.of_player(house, player, last_activity(house, player), in_force))


def _begin(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
