"""Gaming days: stretches of a house's books, each named by the date on which it began, kept as the ledger's periods.

A house that has opened no day books without days. From its first one on every posting goes into the newest open day,
and is refused (`period_not_open`) while none is open. Closing a day takes the snapshot that its report is made of.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet

from casino.core import sql
from casino.core.errors import NotFound
from casino.houses.models import House
from ledger import periods, snapshots
from ledger.checks import TrialBalance
from ledger.models import Period, Snapshot, SnapshotLine


@dataclass(frozen=True, slots=True)
class Day:
    """A gaming day; `snapshot` is the name of its closing snapshot. Its version is 1 while it is open, then 2."""

    name: str
    opened_at: datetime
    closed_at: datetime | None
    snapshot: str | None

    @property
    def version(self) -> int:
        """What ETag and If-Match say."""
        return 1 if self.closed_at is None else 2

    def as_json(self) -> dict[str, Any]:
        """As answers carry it."""
        return {
            "day": self.name,
            "version": self.version,
            "opened_at": _utc(self.opened_at),
            "closed_at": None if self.closed_at is None else _utc(self.closed_at),
            "snapshot": self.snapshot,
        }


def closing_snapshot(name: str) -> str:
    """What the ledger calls the snapshot that it takes when a day closes."""
    return f"period {name}"


def days(house: House) -> list[Day]:
    """Every day of the house, the first one first."""
    return of(*sql.together(*reading(house)))


def reading(house: House) -> tuple[QuerySet[Period], QuerySet[Any, Any]]:
    """What `days` reads, for who reads it with something else; `of` takes what it has found."""
    taken = Snapshot.objects.filter(book=house.id, name__startswith="period ").values_list("name", flat=True)
    return Period.objects.filter(book=house.id).order_by("id"), taken


def of(found: Sequence[Period], taken: Iterable[str]) -> list[Day]:
    """Every day of a house, by what `reading` has found."""
    names = set(taken)
    closing = {period.name: closing_snapshot(period.name) for period in found}
    return [
        Day(one.name, one.opened_at, one.closed_at, closing[one.name] if closing[one.name] in names else None)
        for one in found
    ]


def newest(house: House) -> str:
    """The day that takes the postings now; empty while none is open."""
    return next(iter(newest_open(house)), "")


def newest_open(house: House) -> QuerySet[Any, str]:
    """What `newest` reads, for who reads it with something else."""
    opened = Period.objects.filter(book=house.id, closed_at=None).order_by("-id")
    return opened.values_list("name", flat=True)[:1]


def newest_at(house: House, moment: datetime) -> str:
    """The day that was opened last before a moment; empty where there was none."""
    return next(iter(opened_before(house, moment)), "")


def opened_before(house: House, moment: datetime) -> QuerySet[Any, str]:
    """What `newest_at` reads, for who reads it with something else; `for_day` takes what it has found."""
    return (
        Period.objects.filter(book=house.id, opened_at__lte=moment).order_by("-id").values_list("name", flat=True)[:1]
    )


def belongs_to(house: House, moment: datetime) -> dict[str, str]:
    """Metadata of a posting about what began at a moment, however late it is posted: `for_day`, the gaming day that was
    opened last before that. Nothing where there was none."""
    return for_day(list(opened_before(house, moment)))


def for_day(found: Sequence[str]) -> dict[str, str]:
    """As `belongs_to`, by what `opened_before` has found."""
    return {"for_day": found[0]} if found else {}


def get(house: House, name: str) -> Day:
    """One day of the house. Raises NotFound."""
    return named(days(house), name)


def require(house: House, name: str) -> None:
    """Refuse a day that the house has never opened. Raises NotFound."""
    if not Period.objects.filter(book=house.id, name=name).exists():
        raise _unknown(name)


def named(found: Sequence[Day], name: str) -> Day:
    """The day of this name. Raises NotFound."""
    for day in found:
        if day.name == name:
            return day
    raise _unknown(name)


def begin(house: House, name: str) -> Day:
    """Open a day; from now on it takes the postings. Needs a transaction."""
    periods.open_period(house.id, name)
    return get(house, name)


def end(house: House, name: str, *beside: QuerySet[Any, Any]) -> tuple[Day, dict[str, dict[str, int]], list[list[Any]]]:
    """Close a day for good and take its snapshot, after waiting for the postings under way; then run `beside`. Returns
    the day, debits and credits of its snapshot by commodity, which are equal, and what each of `beside` has found.
    Needs a transaction."""
    periods.close_period(house.id, name)
    trial = snapshots.trial(house.id, closing_snapshot(name), separator="/")
    opened, taken, rows, *found = sql.together(*reading(house), trial, *beside)
    return named(of(opened, taken), name), _totals(TrialBalance.of(rows)), found


def totals(house: House, name: str) -> dict[str, dict[str, int]]:
    """Debits and credits of a closed day's snapshot by commodity; they are equal."""
    return _totals(snapshots.trial_balance(house.id, closing_snapshot(name), separator="/"))


def _totals(trial: TrialBalance) -> dict[str, dict[str, int]]:
    return {commodity: {"debit": debit, "credit": credit} for commodity, (debit, credit) in trial.totals.items()}


def held(house: House, name: str, numbers: Sequence[str]) -> QuerySet[Any, tuple[str, int]]:
    """What reads what a closed day's snapshot has in the house's money accounts of these numbers: codes and balances,
    on their normal side; empty accounts apart."""
    lines = SnapshotLine.objects.filter(snapshot__book=house.id, snapshot__name=closing_snapshot(name))
    wanted = Q()
    for number in numbers:
        wanted |= Q(account__code__startswith=f"{number}/")
    found = lines.filter(wanted, account__commodity=house.currency).exclude(balance=0).order_by("account__code")
    return found.values_list("account__code", "balance")


def _unknown(name: str) -> NotFound:
    return NotFound(f"This house has no gaming day {name}.")


def _utc(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")
