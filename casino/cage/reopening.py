"""A drawer that was closed by mistake is opened again: by its own cashier, when a manager has approved it.

The Z slip of the shift stays. The next shift begins with what was counted as its float, which comes back from the
vault, and names the Z slip that it follows. Chips of other houses and of withdrawn sets stay in the vault, as after any
close.
"""

from collections.abc import Sequence
from datetime import datetime

from casino.approvals.gate import Need
from casino.approvals.models import ApprovalKind
from casino.audit.events.cage import DrawerReopened
from casino.bookkeeping.postings import posting
from casino.cage import handing, selectors
from casino.cage.models import Drawer, HandoverKind, Shift
from casino.cage.services import enter, write_at
from casino.chips import selectors as chip_sets
from casino.chips.models import ChipSet
from casino.core import denominations, sql
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, Forbidden
from casino.core.work import Outcome, Work
from casino.houses import stages
from casino.staff.models import Role


def reopen(*, command: Command, code: str, reason: str) -> Answer:
    """Open a drawer again with what its last shift was closed with.

    Raises Conflict drawer_open, drawer_retired, handover_open, nothing_to_reopen, house_not_live, approval_required;
    Forbidden other_cashier; InsufficientFunds or Unprocessable where the vault does not have it any more.
    """

    def change(drawer: Drawer, work: Work) -> Outcome:
        handing.require_state(drawer, HandoverKind.FLOAT)
        stage, offered, shifts, withdrawn = sql.together(
            stages.reading(work.house),
            selectors.offers(drawer.house, drawer.code),
            drawer.shifts.order_by("-number").select_related("opened_by")[:1],
            ChipSet.objects.filter(house=work.house, withdrawn_at__isnull=False)
            .order_by("-withdrawn_at")
            .values_list("withdrawn_at", flat=True)[:1],
        )
        stages.read(work.house, stage)
        stages.require_serving(work.house)
        if offered:
            raise Conflict(f"A handover at drawer {code} is open; take or withdraw it first.", code="handover_open")
        last = _closed_by_mistake(command, drawer, next(iter(shifts), None), withdrawn)
        cash = last.counted_cash or 0
        chips = denominations.parse(chip_sets.in_use(drawer.house), last.counted_pieces or {})
        handing.require_there(drawer, HandoverKind.FLOAT, cash, chips)
        worth = cash + chips.value
        work.require_approval(Need(kind=ApprovalKind.DRAWER, roles=(Role.MANAGER,), amount=worth))
        shift = handing.begin_shift(command, drawer, cash, chips, reopens=last.number)
        issued = posting("float_issued", {"drawer": code}, cash=cash, chips=chips)
        enter(work, command.ledger_key(), drawer, "drawer.reopened", [issued], shift=shift.number)
        return Outcome(
            DrawerReopened(
                shift=shift.number,
                reopens=last.number,
                float_cash=cash,
                float_chips=chips.value,
                float_pieces=chips.as_json(),
                reason=reason,
            )
        )

    return write_at(command, code, change)


def _closed_by_mistake(command: Command, drawer: Drawer, last: Shift | None, withdrawn: Sequence[datetime]) -> Shift:
    """The `last` shift of the drawer, if it went back to the vault and was this person's; `withdrawn`: when the
    last chip set was withdrawn, if any was. Raises Conflict nothing_to_reopen, Forbidden other_cashier."""
    if last is None or last.handed_to_id is not None:
        raise Conflict(f"No shift of drawer {drawer.code} has gone back to the vault last.", code="nothing_to_reopen")
    closed = last.closed_at
    if closed is not None and any(moment >= closed for moment in withdrawn):
        raise Conflict(
            f"The chips of shift {last.number} have been withdrawn since; open drawer {drawer.code} with a float.",
            code="nothing_to_reopen",
        )
    if last.opened_by_id != command.context.staff.pk:
        raise Forbidden(
            f"Shift {last.number} was that of {last.opened_by.login}, who alone goes on with it; others take a float.",
            code="other_cashier",
        )
    return last
