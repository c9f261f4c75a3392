"""The numbers under which returns about transactions were filed with the authority: noted once, and approved."""

from datetime import date
from typing import Any
from zoneinfo import ZoneInfo

from casino.approvals.gate import Need
from casino.approvals.models import ApprovalKind
from casino.audit.events.watching import ReturnFiled
from casino.core import sql, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, Unprocessable
from casino.core.moments import utc
from casino.core.sql import database_time
from casino.core.work import Outcome, Work
from casino.houses.models import House
from casino.staff.models import Role
from casino.watching import lines, unknown
from casino.watching.models import Filing

#: The request names a transaction and a number, and no person: a manager may read it.
_APPROVED = Need(kind=ApprovalKind.FILING, roles=(Role.MANAGER,))


def note(*, command: Command, trade: str, return_number: str, filed_on: date) -> Answer:
    """Note that a return about a transaction was filed. Raises NotFound, Conflict filed_already, Unprocessable
    filed_later, Conflict approval_required (a manager)."""

    def change(house: House, work: Work) -> Outcome:
        command.context.at_the_office()
        found = lines.of_books(house, trade)
        filed = Filing.objects.filter(house=house)
        earlier_ones, numbers = sql.together(
            filed.filter(transaction=found.transaction), filed.order_by("-number").values_list("number", flat=True)[:1]
        )
        earlier = next(iter(earlier_ones), None)
        if earlier is not None:
            raise Conflict(
                f"A return about {trade} was filed under {earlier.return_number}.", code="filed_already",
                return_number=earlier.return_number,
            )  # fmt: skip
        today = database_time().astimezone(ZoneInfo(house.time_zone)).date()
        if filed_on > today:
            raise Unprocessable(f"{filed_on} is a day to come.", code="filed_later")
        work.require_approval(_APPROVED)
        if command.approval is None:
            raise AssertionError("a filing is approved")
        row = Filing.objects.create(
            house=house, number=next(iter(numbers), 0) + 1, transaction=found.transaction, return_number=return_number,
            filed_on=filed_on, filed_by=command.context.staff, approval=command.approval,
        )  # fmt: skip
        event = ReturnFiled(
            filing=row.number, transaction=row.transaction, return_number=return_number, filed_on=filed_on.isoformat()
        )
        return Outcome(event, describe(row, trade), 201, version=row.number)

    return write.write(command, unknown.LOG, change)


def describe(row: Filing, trade: str | None) -> dict[str, Any]:
    """A filing as answers have it."""
    return {
        "filing": row.number,
        "trade": trade,
        "return_number": row.return_number,
        "filed_on": row.filed_on.isoformat(),
        "filed_by": row.filed_by.login,
        "filed_at": utc(row.filed_at),
        "approval": row.approval,
    }
