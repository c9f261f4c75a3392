"""Gaming duty: what falls due, what is paid of it by a return, and what of a booking was too high.

All of it is approved by a manager. Nothing is booked that would leave less than nothing payable.
"""

from datetime import date

from django.db.models import BigIntegerField, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from casino.approvals.gate import Need
from casino.approvals.models import ApprovalKind
from casino.audit.events.house import DutyDue, DutyLowered, DutyPaid
from casino.audit.models import Event
from casino.bookkeeping import books, chart
from casino.bookkeeping.accounts import Account
from casino.bookkeeping.postings import Posting, posting
from casino.cage.vault import AT_THE_VAULT
from casino.core import locks, write
from casino.core.commands import Answer, Command
from casino.core.errors import NotFound, Unprocessable
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.houses.models import House
from casino.staff.models import Role


def due(
    *, command: Command, amount: int, reason: str, for_month: str | None = None, due_on: date | None = None
) -> Answer:
    """Book `amount` minor units of gaming duty on the house's take of the month (`2026-11`), to be paid until a day.
    There is no version to match: it only adds up. Raises Conflict approval_required: a manager approves it."""
    until = None if due_on is None else due_on.isoformat()

    def change(house: House, work: Work) -> Outcome:
        _require_approval(work, amount)
        posted = _post(command, work, DutyDue.KIND, posting("duty", {}, amount=amount), reason=reason)
        body = {"amount": amount, "reason": reason, "payable": _payable(house)}
        body |= {"for_month": for_month, "due_on": until}
        event = DutyDue(amount=amount, posting=posted, reason=reason, for_month=for_month, due_on=until)
        return Outcome(event, body, 201, version=posted)

    # The rates of a month are not changed while it is booked.
    return write.write(command, OfHouse(lock=locks.lock_vault), change)


def pay(*, command: Command, amount: int, return_number: str, for_month: str | None = None) -> Answer:
    """Pay `amount` minor units of the duty of a month from the bank, by the return of this number. Raises Conflict
    approval_required; InsufficientFunds for more than is payable, or than the bank has."""

    def change(house: House, work: Work) -> Outcome:
        books.require(house, Account.DUTY_PAYABLE, _payable(house), amount)
        _require_approval(work, amount)
        paid = posting("duty_paid", {}, amount=amount)
        posted = _post(command, work, DutyPaid.KIND, paid, return_number=return_number)
        body = {"amount": amount, "return_number": return_number, "payable": _payable(house), "for_month": for_month}
        event = DutyPaid(amount=amount, return_number=return_number, posting=posted, for_month=for_month)
        return Outcome(event, body, 201, version=posted)

    return write.write(command, AT_THE_VAULT, change)


def lower(*, command: Command, entry: int, amount: int, reason: str) -> Answer:
    """Take `amount` minor units of a booking back that was too high; `entry` is its number in the house's audit chain.
    Raises NotFound for what is no booking of duty, Conflict approval_required, Unprocessable lowered_too_far, which
    says how much of it may be taken back; InsufficientFunds for more than is payable."""

    def change(house: House, work: Work) -> Outcome:
        left = _booked(house, entry) - _lowered(house, entry)
        if amount > left:
            raise Unprocessable("The booking has not so much left to lower.", code="lowered_too_far", max=left)
        books.require(house, Account.DUTY_PAYABLE, _payable(house), amount)
        _require_approval(work, amount)
        lowered = posting("duty_lowered", {}, amount=amount)
        posted = _post(command, work, DutyLowered.KIND, lowered, entry=entry, reason=reason)
        body = {"amount": amount, "entry": entry, "reason": reason, "payable": _payable(house)}
        event = DutyLowered(entry=entry, amount=amount, posting=posted, reason=reason)
        return Outcome(event, body, 201, version=posted)

    return write.write(command, AT_THE_VAULT, change)


# --- Parts ----------------------------------------------------------------------------------------------------------


def _require_approval(work: Work, amount: int) -> None:
    work.require_approval(Need(kind=ApprovalKind.DUTY, roles=(Role.MANAGER,), amount=amount))


def _post(command: Command, work: Work, kind: str, event: Posting, **metadata: object) -> int:
    return work.post_now(key=command.ledger_key(), kind=kind, postings=[event], metadata=metadata)


def _payable(house: House) -> int:
    return chart.balances(house, [Account.DUTY_PAYABLE])[Account.DUTY_PAYABLE]


def _booked(house: House, entry: int) -> int:
    """The amount of a booking. Raises NotFound."""
    found = Event.objects.filter(
        house=house, chain__house=house, chain__name=house.chain, seq=entry, doc__kind=DutyDue.KIND
    ).first()
    if found is None:
        raise NotFound(f"Entry {entry} of the house is no booking of duty.")
    amount: int = found.doc["data"]["amount"]
    return amount


def _lowered(house: House, entry: int) -> int:
    """How much of a booking was taken back. The vault is locked, and so nobody else does it meanwhile."""
    found = Event.objects.filter(
        house=house, chain__house=house, chain__name=house.chain, seq__gt=entry, doc__kind=DutyLowered.KIND,
        doc__data__entry=entry,
    )  # fmt: skip
    amount = Cast(KeyTextTransform("amount", "doc__data"), BigIntegerField())
    return int(found.aggregate(sum=Sum(amount))["sum"] or 0)
