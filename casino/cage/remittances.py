"""Winnings that were kept from minors, paid by the bank to whom the law names.

A settlement keeps them on account 2087 (`casino/cage/minors.py`). Compliance names the minors whose winnings the bank
has paid, how much that is, to whom, and the bank's note; a manager approves it. The winnings of one minor are remitted
whole and once, and the ledger lets account 2087 and the bank not fall below zero.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Max

from casino.approvals.gate import Need
from casino.approvals.models import ApprovalKind
from casino.audit.events.safeguards import WinningsRemitted
from casino.bookkeeping.postings import posting
from casino.core import moments, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, NotFound
from casino.core.sql import database_time
from casino.core.work import Outcome, Work
from casino.houses import identity
from casino.houses.identity import Beneficiary
from casino.houses.models import House
from casino.safeguards import minors
from casino.safeguards.models import Minor, MinorState, Remittance
from casino.staff.models import Role


def remit(
    *, command: Command, numbers: Sequence[int], amount: int, beneficiary: Beneficiary, payee: str, note: str
) -> Answer:
    """Enter that the bank has paid the winnings kept from these minors, by its note: `amount` minor units in all, to
    the beneficiary, `payee` by name. Raises NotFound, Conflict beneficiary_differs, minor_not_settled, nothing_kept,
    winnings_remitted (all three with `minor`), remittance_differs (`amount`), approval_required (a manager),
    WrongTerminal; InsufficientFunds where account 2087 or the bank has less."""

    def change(house: House, work: Work) -> Outcome:
        _require_beneficiary(house, beneficiary)
        found = _kept_from(house, numbers)
        worth = sum(one["kept"] for one in _parts(found))
        if worth != amount:
            raise Conflict(
                f"What was kept from these minors is {house.money(worth)}.", code="remittance_differs", amount=worth
            )
        work.require_approval(Need(kind=ApprovalKind.MINOR, roles=(Role.MANAGER,), amount=amount))
        last = Remittance.objects.filter(house=house).aggregate(last=Max("number"))["last"] or 0
        made = Remittance.objects.create(
            house=house, number=last + 1, amount=amount, beneficiary=beneficiary, payee=payee, note=note,
            remitted_by=command.context.staff, remitted_at=database_time(),
        )  # fmt: skip
        paid = posting("winnings_remitted", {}, amount=amount)
        metadata = {"remittance": made.number, "note": note}
        work.post(key=command.ledger_key(), kind="winnings.remitted", postings=[paid], metadata=metadata)
        work.soon(Minor.objects.filter(pk__in=[one.pk for one in found]), remittance=made)
        event = WinningsRemitted(
            remittance=made.number, amount=amount, beneficiary=beneficiary, payee=payee, note=note,
            minors=_parts(found),
        )  # fmt: skip
        return Outcome(event, describe(made, found), 201, version=made.number)

    return write.write(command, minors.SUBJECT, change)


def describe(found: Remittance, of: Iterable[Minor]) -> dict[str, Any]:
    """A remittance as answers have it, with the minors whose winnings it has paid, each with its player."""
    return {
        "remittance": found.number,
        "amount": found.amount,
        "beneficiary": found.beneficiary,
        "payee": found.payee,
        "note": found.note,
        "minors": _parts(of),
        "remitted_by": found.remitted_by.login,
        "remitted_at": moments.utc(found.remitted_at),
    }


# --- Parts ----------------------------------------------------------------------------------------------------------


def _parts(found: Iterable[Minor]) -> list[dict[str, Any]]:
    return [{"minor": one.number, "player": one.player.ref, "kept": one.kept or 0} for one in found]


def _require_beneficiary(house: House, beneficiary: Beneficiary) -> None:
    """Refuse whom the house's legal profile does not name; without a legal profile that is everybody."""
    allowed = identity.BENEFICIARIES.get(identity.parts(house)["legal_profile"], frozenset())
    if beneficiary not in allowed:
        raise Conflict(
            "The law under which the house works names somebody else, or the house has not said which law that is.",
            code="beneficiary_differs",
            beneficiaries=sorted(allowed),
        )


def _kept_from(house: House, numbers: Sequence[int]) -> list[Minor]:
    """The minors of these numbers, in their order, whose winnings are kept and not remitted. The caller holds the lock
    of safeguards, so nobody else remits them."""
    rows = Minor.objects.filter(house=house, number__in=numbers).select_related("player", "remittance")
    found = list(rows.order_by("number"))
    unknown = sorted(set(numbers) - {one.number for one in found})
    if unknown:
        raise NotFound(f"This house has no minor {unknown[0]}.")
    for one in found:
        _require_kept(one)
    return found


def _require_kept(one: Minor) -> None:
    if one.state != MinorState.SETTLED:
        raise Conflict(f"Minor {one.number} is {one.state}.", code="minor_not_settled", minor=one.number)
    if not one.kept:
        raise Conflict(f"No winnings of minor {one.number} were kept.", code="nothing_kept", minor=one.number)
    if one.remittance is not None:
        raise Conflict(
            f"The winnings of minor {one.number} are in remittance {one.remittance.number}.",
            code="winnings_remitted",
            minor=one.number,
        )
