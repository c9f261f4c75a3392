"""Setting the rates of the gaming duty: an administrator states them as the law has them, and once the house is live a
manager approves them. What months that are booked were taxed at is never changed."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Max
from django.db.models.fields.json import KeyTextTransform

from casino.audit.events.house import DutyDue, DutyRatesSet
from casino.audit.models import Event
from casino.core import locks, once_live, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, Unprocessable
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.houses import duty_rates, stages
from casino.houses.models import DutyRates, House

#: Duty is booked under the same lock: no month is booked meanwhile.
_RATES = OfHouse(office=True, lock=locks.lock_vault, knowing=(stages,))


def change(
    *, command: Command, valid_from: str, tax_code: str, base: str, deductions: Sequence[Mapping[str, Any]],
    bands: Sequence[Mapping[str, int]], reason: str,
) -> Answer:  # fmt: skip
    """State the rates from a month (`2026-11`) on. Raises Conflict no_change or approval_required, Unprocessable
    duty_month_booked for a month on which duty was booked, or an earlier one; it names the last such month."""
    said: dict[str, Any] = {
        "valid_from": valid_from, "tax_code": tax_code, "base": base,
        "deductions": [dict(one) for one in deductions], "bands": [dict(one) for one in bands],
    }  # fmt: skip

    def changed(house: House, work: Work) -> Outcome:
        last = _last_booked(house)
        if last is not None and valid_from <= last:
            raise Unprocessable(f"Duty was booked on {last}.", code="duty_month_booked", month=last)
        before = DutyRates.objects.filter(house=house).order_by("-number").first()
        if before is not None and all(getattr(before, name) == value for name, value in said.items()):
            raise Conflict("The rates are stated so already.", code="no_change")
        once_live.require_approval(house, work, once_live.SETTINGS)
        number = 1 + (0 if before is None else before.number)
        DutyRates.objects.create(
            house=house, number=number, set_by=command.context.staff.login, approval=command.approval, **said
        )
        event = DutyRatesSet(number=number, reason=reason, **said)
        return Outcome(event, duty_rates.describe(house), 201, version=number)

    return write.write(command, _RATES, changed)


def _last_booked(house: House) -> str | None:
    """The last month on which duty was booked."""
    month = KeyTextTransform("for_month", KeyTextTransform("data", "doc"))
    booked = Event.objects.filter(house=house, doc__kind=DutyDue.KIND)
    last: str | None = booked.aggregate(last=Max(month))["last"]
    return last
