"""What one euro is in the house's currency, in dated versions with their source: reports for compliance show amounts in
euros by it. The thresholds themselves are control points in the house's currency."""

from bisect import bisect_right
from datetime import datetime
from typing import Any

from django.db.models import Max

from casino.approvals.gate import Need
from casino.approvals.models import ApprovalKind
from casino.audit.events.watching import EuroRateSet
from casino.core import once_live, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, Unprocessable
from casino.core.moments import utc
from casino.core.sql import database_time
from casino.core.work import Outcome, Work
from casino.houses.models import ClockTimestamp, House
from casino.staff.models import Role
from casino.watching import unknown
from casino.watching.models import EuroRate

EURO = "EUR"
MILLION = 1_000_000
#: Compliance goes by it, and so agrees to it, once the house is live.
_APPROVED = Need(kind=ApprovalKind.SETTINGS, roles=(Role.COMPLIANCE,))


def put(*, command: Command, millionths: int, source: str, valid_from: datetime | None, reason: str) -> Answer:
    """Set what one euro is, in millionths of the unit of the house's currency, at once or from a moment on. Raises
    Conflict house_in_euro, Unprocessable rate_in_the_past, Conflict approval_required once the house is live."""

    def change(house: House, work: Work) -> Outcome:
        command.context.at_the_office()
        if house.currency == EURO:
            raise Conflict("The house counts in euros.", code="house_in_euro")
        if valid_from is not None and valid_from <= database_time():
            raise Unprocessable(
                "A rate begins at a moment to come; leave valid_from out to begin at once.", code="rate_in_the_past",
                valid_from=valid_from.isoformat(),
            )  # fmt: skip
        once_live.require_approval(house, work, _APPROVED)
        last = EuroRate.objects.filter(house=house).aggregate(last=Max("number"))["last"] or 0
        row = EuroRate.objects.create(
            house=house, number=last + 1, valid_from=valid_from or ClockTimestamp(), millionths=millionths,
            source=source, set_by=command.context.staff,
            approval=command.approval if once_live.is_live(house) else None,
        )  # fmt: skip
        row.refresh_from_db()
        event = EuroRateSet(
            number=row.number, valid_from=utc(row.valid_from), millionths=millionths, source=source, reason=reason
        )
        return Outcome(event, describe(row), 201, version=row.number)

    return write.write(command, unknown.LOG, change)


def describe(row: EuroRate) -> dict[str, Any]:
    """A rate as answers have it."""
    return {
        "rate": row.number,
        "valid_from": utc(row.valid_from),
        "millionths": row.millionths,
        "rate_source": row.source,
        "set_by": row.set_by.login,
        "set_at": utc(row.set_at),
        "approval": row.approval,
    }


class Rates:
    """Rates by the moment at which they were in force: of two from the same moment on the last counts."""

    def __init__(self, house: House, rates: list[tuple[datetime, int, int, str]]) -> None:
        """`rates`: beginning, number, millionths and source of each."""
        self._house = house
        self._rates = sorted(rates)
        self._since = [row[0] for row in self._rates]

    def at(self, moment: datetime) -> tuple[int, str] | None:
        """Millionths of the currency's unit for one euro, and the source; None where there was none."""
        if self._house.currency == EURO:
            return MILLION, "the house's own currency"
        before = bisect_right(self._since, moment)
        return None if not before else self._rates[before - 1][2:]

    def value(self, amount: int, moment: datetime) -> int | None:
        """Minor units of the house's currency in cents of a euro, rounded half up; None where there was no rate."""
        rate = self.at(moment)
        if rate is None:
            return None
        worth, one_cent = amount * MILLION * 100, 10 ** int(self._house.currency_exponent) * rate[0]
        cents: int = (2 * worth + one_cent) // (2 * one_cent)
        return cents
