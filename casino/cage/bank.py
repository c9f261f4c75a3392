"""Cash between the vault and the bank in sealed bags, and chips of other houses that those pay for.

A cage supervisor sends a bag, or has the bank send one, when a manager has approved it. Another supervisor enters what
was counted at the other end, with the bank's note; a difference is approved by a manager again. Until then the cash is
in transit. No cash leaves that the house needs to cover the chips that are out.
"""

from django.db import IntegrityError
from django.db.models import Max

from casino.approvals.gate import Need
from casino.approvals.models import ApprovalKind
from casino.audit.events.cage import BankConfirmed, BankDrawn, BankReceived, BankSent, ForeignRedeemed
from casino.bookkeeping import cover
from casino.bookkeeping.postings import posting
from casino.cage import vault_selectors
from casino.cage.models import BagState, BagWay, BankBag
from casino.cage.signing import require_another
from casino.cage.vault import AT_THE_VAULT
from casino.core import write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, NotFound, Unprocessable
from casino.core.work import Outcome, Work
from casino.houses.models import ClockTimestamp, House
from casino.staff.models import Role

#: By way: what leaves and what arrives, as rows of the table of postings and as events.
_LEAVES: dict[BagWay, tuple[str, type[BankSent | BankDrawn]]] = {
    BagWay.TO_BANK: ("bank_sent", BankSent),
    BagWay.FROM_BANK: ("bank_drawn", BankDrawn),
}
_ARRIVES: dict[BagWay, tuple[str, type[BankConfirmed | BankReceived]]] = {
    BagWay.TO_BANK: ("bank_confirmed", BankConfirmed),
    BagWay.FROM_BANK: ("bank_received", BankReceived),
}


def send(*, command: Command, way: BagWay, bag: str, amount: int) -> Answer:
    """Send `amount` minor units of cash on its way, in the sealed bag of this number. Raises Conflict
    approval_required, bag_in_use, cover_too_low; InsufficientFunds for what the vault or the bank does not have."""

    def change(house: House, work: Work) -> Outcome:
        work.require_approval(_approved(amount))
        row, kind = _LEAVES[way]
        found = _new(house, command, way, bag, amount)
        work.post(
            key=f"bank_bag:{found.number}", kind=row.replace("_", "."), postings=[posting(row, {}, cash=amount)],
            metadata={"number": found.number, "bag": bag},
        )  # fmt: skip
        work.flush()
        if way == BagWay.TO_BANK:
            _require_cover(house)
        described = vault_selectors.describe_bag(found)
        return Outcome(kind(bag=described, amount=amount), {"bag": described}, 201, version=found.number)

    return write.write(command, AT_THE_VAULT, change)


def arrive(*, command: Command, number: int, way: BagWay, amount: int, note: str) -> Answer:
    """Enter what was counted in a bag at its other end: `amount` minor units, by the bank's note of this number.

    Raises NotFound, Conflict bag_arrived, bag_other_way, or approval_required where it is another amount than was sent;
    Forbidden four_eyes for who has sent it.
    """

    def change(house: House, work: Work) -> Outcome:
        found = _get(house, number, way)
        require_another(command, "sent this bag", found.sent_by)
        if amount != found.amount:
            work.require_approval(_approved(amount))
        row, kind = _ARRIVES[way]
        parts = {
            "cash": min(amount, found.amount),
            "short": max(found.amount - amount, 0),
            "over": max(amount - found.amount, 0),
        }
        work.post(
            key=f"bank_bag:{number}:arrived", kind=row.replace("_", "."), postings=[posting(row, {}, **parts)],
            metadata={"number": number, "bag": found.bag, "note": note},
        )  # fmt: skip
        found.state, found.counted, found.note = BagState.ARRIVED, amount, note
        found.ended_by = command.context.staff
        BankBag.objects.filter(id=found.pk).update(
            state=found.state, counted=amount, note=note, ended_by=found.ended_by, ended_at=ClockTimestamp()
        )
        described = vault_selectors.describe_bag(found)
        return Outcome(kind(bag=described, amount=amount), {"bag": described}, version=number)

    return write.write(command, AT_THE_VAULT, change)


def redeem_foreign(*, command: Command, issuer: str, amount: int, paid: int, note: str) -> Answer:
    """Give another house, `issuer`, its chips worth `amount` minor units back, for which it has paid `paid` to the
    bank. Raises Conflict approval_required, Unprocessable paid_too_much, InsufficientFunds where the vault has fewer of
    such chips."""

    def change(house: House, work: Work) -> Outcome:
        if paid > amount:
            raise Unprocessable(
                "No house pays more than the face value of its chips.", code="paid_too_much", max=amount
            )
        work.require_approval(_approved(amount))
        redeemed = posting("foreign_redeemed", {}, paid=paid, loss=amount - paid)
        metadata = {"issuer": issuer, "note": note}
        key = command.ledger_key()
        posted = work.post_now(key=key, kind="foreign.redeemed", postings=[redeemed], metadata=metadata)
        body = {"issuer": issuer, "amount": amount, "paid": paid, "note": note}
        return Outcome(ForeignRedeemed(issuer=issuer, amount=amount, paid=paid, note=note), body, 201, version=posted)

    return write.write(command, AT_THE_VAULT, change)


# --- Parts ----------------------------------------------------------------------------------------------------------


def _require_cover(house: House) -> None:
    """Refuse cash that has just left the vault where what stays in the house does not cover the chips that are out. The
    vault's lock keeps other bags from counting on the same cash; trades for cash change both sides alike. No figures:
    the vault is counted without knowing. Raises Conflict cover_too_low."""
    if not cover.house_covers_chips(house):
        raise Conflict(
            "The cash that stays in the house would not cover the chips that are out. Send less, or later.",
            code="cover_too_low",
        )


def _approved(amount: int) -> Need:
    return Need(kind=ApprovalKind.BANK, roles=(Role.MANAGER,), amount=amount)


def _new(house: House, command: Command, way: BagWay, bag: str, amount: int) -> BankBag:
    last = BankBag.objects.filter(house=house).aggregate(last=Max("number"))["last"] or 0
    found = BankBag(
        house=house, number=last + 1, way=way, bag=bag, amount=amount, sent_by=command.context.staff
    )  # fmt: skip
    try:
        found.save(force_insert=True)
    except IntegrityError:
        raise Conflict(f"Bag {bag} is on its way already.", code="bag_in_use") from None
    return found


def _get(house: House, number: int, way: BagWay) -> BankBag:
    """A bag that is on its way. The vault is locked, and so nobody else ends it. Raises NotFound, Conflict bag_arrived
    or bag_other_way."""
    found = BankBag.objects.filter(house=house, number=number).select_related("sent_by").first()
    if found is None:
        raise NotFound(f"This house has no bag {number}.")
    if found.way != way:
        raise Conflict(f"Bag {number} goes the other way.", code="bag_other_way")
    if found.state != BagState.IN_TRANSIT:
        raise Conflict(f"Bag {number} has arrived.", code="bag_arrived", state=found.state)
    return found
