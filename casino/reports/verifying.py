"""The verification of a house: hands, audit trail, books and chips, whole or from a mark on."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from casino.audit.verifier import Unusable
from casino.core import noted, sql
from casino.core.moments import utc, utc_or_none
from casino.hands.models import Hand
from casino.houses.models import House
from casino.reports.selectors import custody_problems, transit_problems
from casino.verification import auditing, marks, newer, replaying
from casino.verification.marks import Mark
from ledger import checks, snapshots

_COUNTS = {
    "chain": "chains",
    "event": "events",
    "leaf": "leaves",
    "checkpoint": "checkpoints",
    "transaction": "transactions",
}


def verification(house: House, *, mark: Mark | None = None, keep: bool = False) -> dict[str, Any]:
    """Replay every hand against its settlement, verify the audit trail, check every promise of the ledger; with a
    `mark` all that came since it was made. `keep`: the next mark is put in its place, if nothing is found.

    The audit trail is verified against the checkpoints outside the database, as `manage.py verify_audit` does. Raises
    verifier.Unusable, where a mark is of no use.
    """
    tally, beside = replaying.Tally(), marks.Beside(mark)
    hand_findings = [difference.as_json() for difference in replaying.verify(house, tally=tally, since=beside.hands)]
    with sql.our_tables():
        proved = snapshots.newest(house.id)
        book_findings = checks.verify(house.id, since=beside.snapshot, newer=newer.declared)
        apart = custody_problems(house) | transit_problems(house)
    with marks.kept_file(house, keep) as file:
        report = auditing.verify_house(house, mark=mark, keep=file)
        audit = report.as_json()
        audit_count = sum(audit["by_code"].values())
        if file is not None and file.exists() and not (hand_findings or audit_count or book_findings or apart):
            marks.put(house, file, mark.whole_at if mark else None, marks.beside(tally, proved))
    noted.verified(
        house.code, len(hand_findings) + audit_count + len(book_findings) + len(apart), mark.whole_at if mark else None
    )
    return {
        "whole_at": utc_or_none(mark.whole_at if mark else None),
        "mark_at": utc_or_none(mark.at if mark else None),
        "hand_count": Hand.objects.filter(house=house).count(),
        "hand_findings": hand_findings,
        **{f"{name}_count": audit["counts"][plural] for name, plural in _COUNTS.items()},
        "audit_findings": audit["findings"],
        "audit_findings_by_code": audit["by_code"],
        "audit_notices": audit["notices"],
        "book_findings": [
            {"check": finding.check, "subject": finding.subject, "detail": finding.detail} for finding in book_findings
        ],
        "custody_findings": apart,
        "ok": audit["ok"] and not (hand_findings or book_findings or apart),
    }


def verification_from_mark(house: House, *, keep: bool = False, whole_after: timedelta | None = None) -> dict[str, Any]:
    """The same from the house's mark on, where there is one of use, and the house was verified whole no longer ago than
    `whole_after`; `not_from_mark` says why it was the whole house."""
    why = "there is no mark"
    try:
        mark = marks.newest(house)
        if mark is not None and whole_after is not None and timezone.now() - mark.whole_at > whole_after:
            why, mark = f"the house was verified whole at {utc(mark.whole_at)}", None
        if mark is not None:
            return verification(house, mark=mark, keep=keep)
    except Unusable as unusable:
        why = str(unusable)
    return verification(house, keep=keep) | {"not_from_mark": why}
