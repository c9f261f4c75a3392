"""Capital that the owners pay in or take out, in cash at the vault or by the bank.

A manager enters it. What is paid out another manager has approved, always: it never leaves less cash than can be
claimed at once (`casino/bookkeeping/cover.py`). What is paid in takes an approval once the house is live; before that
three people sign for the whole.
"""

from django.db.models import TextChoices

from casino.approvals.gate import Need
from casino.approvals.models import ApprovalKind
from casino.audit.events.house import CapitalPaidIn, CapitalPaidOut
from casino.bookkeeping import chart
from casino.bookkeeping.accounts import Account
from casino.bookkeeping.cover import Cover, cover
from casino.bookkeeping.postings import Posting, posting
from casino.cage.vault import AT_THE_VAULT
from casino.core import once_live, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict
from casino.core.work import Outcome, Work
from casino.houses.models import House
from casino.staff.models import Role


class CapitalBy(TextChoices):
    """How capital is paid."""

    CASH = "cash", "in cash, at the vault"
    BANK = "bank", "by the bank"


def pay_in(*, command: Command, amount: int, by: CapitalBy, note: str) -> Answer:
    """Enter `amount` minor units that the owners have paid in; `note` is the number of the receipt or the bank's note.
    Raises Conflict vault_not_open, or approval_required once the house is live."""

    def change(house: House, work: Work) -> Outcome:
        _require_vault(house)
        once_live.require_approval(house, work, _approved(amount))
        posted = _post(command, work, CapitalPaidIn.KIND, _row("capital_paid_in", by, amount), note)
        event = CapitalPaidIn(amount=amount, by=str(by), note=note, posting=posted)
        return Outcome(event, _body(house, amount, by, note), 201, version=posted)

    return write.write(command, AT_THE_VAULT, change)


def pay_out(*, command: Command, amount: int, by: CapitalBy, note: str) -> Answer:
    """Pay `amount` minor units out to the owners; `note` is the number of their receipt or the bank's note.

    Raises Conflict vault_not_open, approval_required, or cover_too_low, which says how much may be paid out;
    InsufficientFunds for more than their capital, or than the vault or the bank has.
    """

    def change(house: House, work: Work) -> Outcome:
        _require_vault(house)
        _require_cover(cover(house), amount)
        work.require_approval(_approved(amount))
        posted = _post(command, work, CapitalPaidOut.KIND, _row("capital_paid_out", by, amount), note)
        # What has left the vault or the bank up to now is locked by the posting, and the vault lets no other payout in.
        left = cover(house)
        _require_cover(left, 0)
        event = CapitalPaidOut(amount=amount, by=str(by), note=note, posting=posted, cover=left.as_json())
        return Outcome(event, _body(house, amount, by, note), 201, version=posted)

    return write.write(command, AT_THE_VAULT, change)


# --- Parts ----------------------------------------------------------------------------------------------------------


def _approved(amount: int) -> Need:
    return Need(kind=ApprovalKind.CAPITAL, roles=(Role.MANAGER,), amount=amount)


def _require_vault(house: House) -> None:
    if not chart.is_open(house, Account.HOUSE_CAPITAL):
        raise Conflict("The house has no capital and no chips in the vault yet.", code="vault_not_open")


def _require_cover(now: Cover, amount: int) -> None:
    if amount > now.free:
        raise Conflict(
            "So much cash must stay as is owed to players and lies in the trays.", code="cover_too_low",
            max=max(now.free, 0),
        )  # fmt: skip


def _row(name: str, by: CapitalBy, amount: int) -> Posting:
    if by == CapitalBy.BANK:
        return posting(f"{name}_by_bank", {}, amount=amount)
    return posting(name, {}, cash=amount)


def _post(command: Command, work: Work, kind: str, moved: Posting, note: str) -> int:
    return work.post_now(key=command.ledger_key(), kind=kind, postings=[moved], metadata={"note": note})


def _body(house: House, amount: int, by: CapitalBy, note: str) -> dict[str, object]:
    capital = chart.balances(house, [Account.HOUSE_CAPITAL])[Account.HOUSE_CAPITAL]
    return {"amount": amount, "by": str(by), "note": note, "capital": capital}
