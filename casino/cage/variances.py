"""A cash variance and a chip variance of one count that were one wrong entry: cash over and chips short, or reversed.

Found after the close, they cannot be mirrored: the racks are gone. They are offset against each other, as far as they
cancel, when another manager or an auditor has approved it. The count stays as it was signed.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce

from casino.approvals.gate import Need
from casino.approvals.models import ApprovalKind
from casino.audit.events.cage import VarianceWasOffset
from casino.bookkeeping.accounts import VAULT
from casino.bookkeeping.postings import posting
from casino.cage import selectors
from casino.cage.models import Drawer, Shift, VarianceOffset, VaultCount, VaultCountState
from casino.cage.vault import AT_THE_VAULT
from casino.core import sql, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, NotFound, Unprocessable
from casino.core.work import Outcome, Work
from casino.houses import days
from casino.houses.models import House
from casino.staff.models import Role


@dataclass(frozen=True, slots=True)
class _Variances:
    """What one count found over or, below zero, short: cash, and chips at face value; and when the shift or the count
    of the vault began, to whose gaming day it belongs."""

    cash: int
    chips: int
    begun_at: datetime

    @property
    def cancels(self) -> int:
        """How much of the one cancels the other."""
        return min(abs(self.cash), abs(self.chips)) if self.cash * self.chips < 0 else 0


def offset(*, command: Command, drawer: str | None, count: int, amount: int, reason: str) -> Answer:
    """Offset `amount` minor units of the variances of a drawer's shift of this number, or, without a drawer, of the
    vault's count. Raises NotFound, Conflict drawer_not_closed, vault_count_counting, vault_count_counted,
    approval_required; Unprocessable offset_too_large, which says how much may be offset.
    """

    def change(house: House, work: Work) -> Outcome:
        place = None if drawer is None else selectors.get(house, drawer)
        found = _of_the_vault(house, count) if place is None else _of_shift(place, count)
        numbers, begun, done = sql.together(
            VarianceOffset.objects.filter(house=house).order_by("-number").values_list("number", flat=True)[:1],
            days.opened_before(house, found.begun_at),
            VarianceOffset.objects.filter(house=house, drawer=place, count=count).values_list("amount", flat=True),
        )
        left = found.cancels - sum(done)
        if amount > left:
            raise Unprocessable(
                "Cash and chips of this count do not cancel each other so far.", code="offset_too_large", max=left
            )
        work.require_approval(
            Need(kind=ApprovalKind.VARIANCE, roles=(Role.MANAGER, Role.AUDITOR), amount=amount)
        )  # fmt: skip
        made = VarianceOffset.objects.create(
            house=house,
            number=next(iter(numbers), 0) + 1,
            drawer=place,
            count=count,
            amount=amount,
            cash_over=found.cash > 0,
            reason=reason,
            offset_by=command.context.staff,
        )
        code = VAULT if place is None else place.code
        over = {"cash_over" if made.cash_over else "chips_over": amount}
        posted = work.post_now(
            key=f"variance_offset:{made.number}", kind="variance.offset",
            postings=[posting("variance_offset", {"place": code}, **over)],
            metadata={"number": made.number, "place": code, "count": count, "reason": reason}
            | days.for_day(begun),
        )  # fmt: skip
        body = describe(made)
        event = VarianceWasOffset(
            number=made.number, drawer=drawer, count=count, amount=amount, cash_over=made.cash_over, posting=posted,
            reason=reason,
        )  # fmt: skip
        return Outcome(event, {"offset": body}, 201, version=made.number)

    return write.write(command, AT_THE_VAULT, change)


def explained(house: House, drawer: Drawer | None, count: int) -> int:
    """How much of the variances of a count has been offset, in minor units."""
    found = VarianceOffset.objects.filter(house=house, drawer=drawer, count=count)
    return int(found.aggregate(sum=Sum("amount"))["sum"] or 0)


def explained_of_vault() -> Coalesce:
    """The same of every row of a query of the vault's counts."""
    found = VarianceOffset.objects.filter(house=OuterRef("house"), drawer=None, count=OuterRef("number"))
    return Coalesce(Subquery(found.order_by().values("count").annotate(sum=Sum("amount")).values("sum")), 0)


def describe(found: VarianceOffset) -> dict[str, object]:
    """An offset as answers have it."""
    return {
        "number": found.number,
        "drawer": found.drawer.code if found.drawer else None,
        "count": found.count,
        "amount": found.amount,
        "cash_over": found.cash_over,
        "reason": found.reason,
        "offset_by": found.offset_by.login,
    }


# --- Parts ----------------------------------------------------------------------------------------------------------


def _of_shift(drawer: Drawer, number: int) -> _Variances:
    """What a shift's accepted count found. Raises NotFound, Conflict drawer_not_closed."""
    shift = Shift.objects.filter(drawer=drawer, number=number).first()
    if shift is None:
        raise NotFound(f"Drawer {drawer.code} has no shift {number}.")
    if shift.counted_cash is None or shift.expected_cash is None:
        raise Conflict(f"Shift {number} of drawer {drawer.code} has not ended.", code="drawer_not_closed")
    chips = (shift.counted_chips or 0) - (shift.expected_chips or 0) + shift.withdrawn_variance
    return _Variances(shift.counted_cash - shift.expected_cash, chips, shift.opened_at)


def _of_the_vault(house: House, number: int) -> _Variances:
    """What a count of the vault found. Raises NotFound, Conflict vault_count_counting or vault_count_counted."""
    found = VaultCount.objects.filter(house=house, number=number).first()
    if found is None:
        raise NotFound(f"This house has no count {number} of the vault.")
    if found.state != VaultCountState.ACCEPTED or found.over is None:
        raise Conflict(
            f"Count {number} of the vault is {found.state}.", code=f"vault_count_{found.state}", state=found.state
        )
    chips = sum(int(value) * pieces for value, pieces in found.over["pieces"].items())
    return _Variances(found.over["cash"], chips, found.begun_at)
