"""Whether snapshots agree with the entries."""

from itertools import islice, pairwise
from typing import Any

from casino.houses.models import House
from ledger import snapshots
from ledger.models import Snapshot

#: How many of the newest snapshots the continuous check looks at: a gaming day's closing one and the daily one.
NEWEST = 2


def differences(house: House, name: str, after: str | None = None) -> list[dict[str, str]]:
    """Where one snapshot differs from all entries before it, or from the snapshot `after` and the entries since."""
    return [
        {"subject": finding.subject, "detail": finding.detail}
        for finding in snapshots.differences(house.id, name, after=after)
    ]


def newest_problems(house: House) -> dict[str, Any]:
    """By name, the newest snapshots that differ from the one before and the entries between; empty when none does."""
    names = Snapshot.objects.filter(book=house.id).order_by("-id").values_list("name", flat=True)[: NEWEST + 1]
    with_before = islice(pairwise([*names, None]), NEWEST)
    found = {name: differences(house, str(name), before) for name, before in with_before}
    return {str(name): different for name, different in found.items() if different}
