"""Cash and chips between the vault and a drawer: one person counts them out, another counts them without knowing what
was offered, and takes them. A drawer opens with its float, is replenished and is skimmed in this way.

Nothing moves before the second count agrees. Large floats and replenishments need a manager, as the person who offers
them or as one more who signs; above the house's limit they are refused. What is offered from the vault and not taken
in time can only be withdrawn.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db.models import DateTimeField, ExpressionWrapper, Max

from casino.audit.events.cage import (
    DrawerOpened,
    DrawerReplenished,
    DrawerSkimmed,
    HandoverOffered,
    HandoverSigned,
    HandoverWithdrawn,
)
from casino.bookkeeping import books, chart
from casino.bookkeeping.accounts import Account
from casino.bookkeeping.postings import posting
from casino.cage import selectors
from casino.cage.models import Drawer, Handover, HandoverKind, HandoverState, Shift
from casino.cage.services import enter, last_shift, require_not_retired, require_open, shift_at_lock, write_at
from casino.cage.signing import require_another, require_role
from casino.chips import floats, templates
from casino.chips import selectors as chip_sets
from casino.chips.models import PlaceKind
from casino.core import denominations
from casino.core.commands import Answer, Command
from casino.core.denominations import Chips
from casino.core.errors import Conflict, NotFound, Unprocessable
from casino.core.work import Outcome, Work
from casino.houses import control_points, stages
from casino.houses.models import ClockTimestamp
from casino.staff.models import Role

#: Chips by denomination as somebody wrote them: {"500": 3}.
Pieces = Mapping[Any, int]
#: Who counts out what comes from the vault, and takes what goes there.
AT_THE_VAULT = (Role.CAGE_SUPERVISOR, Role.MANAGER)
#: What comes from the vault, and how long it can be taken.
_FROM_THE_VAULT = (HandoverKind.FLOAT, HandoverKind.REPLENISHMENT)
LASTS = timedelta(minutes=10)


def offer(
    *, command: Command, code: str, kind: HandoverKind, cash: int = 0, pieces: Pieces | None = None,
    by_template: bool = False,
) -> Answer:  # fmt: skip
    """Count out cash (minor units) and chips for a drawer, or of one; `by_template`: a float as the drawer's template
    has it. Nothing moves yet.

    Raises Forbidden for the wrong side, Conflict no_template, float_too_large, handover_open, drawer_retired,
    drawer_open, drawer_closed or drawer_short, InsufficientFunds for the vault, Unprocessable nothing_offered or for
    wrong pieces.
    """

    def change(drawer: Drawer, work: Work) -> Outcome:
        require_role(command, *((Role.CASHIER,) if kind == HandoverKind.SKIM else AT_THE_VAULT))
        if selectors.offered(drawer) is not None:
            raise Conflict(f"A handover at drawer {code} is open; take or withdraw it first.", code="handover_open")
        require_state(drawer, kind)
        given, chips = cash, denominations.parse(chip_sets.in_use(drawer.house), pieces or {})
        if by_template:
            template = templates.require(drawer.house, PlaceKind.DRAWER, code)
            given, chips = template.cash, template.pieces
        if kind != HandoverKind.FLOAT and not (given or chips):
            raise Unprocessable("Neither cash nor chips are offered.", code="nothing_offered")
        require_there(drawer, kind, given, chips)
        _require_no_larger(drawer, kind, given + chips.value)
        found = new_handover(command, drawer, kind=kind, cash=given, pieces=chips.as_json())
        return Outcome(HandoverOffered(handover=selectors.describe_handover(found, revealed=True)), status=201)

    return write_at(command, code, change)


def sign(*, command: Command, code: str, number: int) -> Answer:
    """Sign for a large float or replenishment as a manager. Raises Forbidden four_eyes for the person who offered it,
    NotFound, Conflict handover_signed, handover_expired or one that names the handover's state."""

    def change(drawer: Drawer, work: Work) -> Outcome:
        found = _open(drawer, number)
        require_another(command, "offered this", found.offered_by)
        if found.signed_by is not None:
            raise Conflict(f"Handover {number} is signed already.", code="handover_signed")
        found.signed_by = command.context.staff
        _update_in_time(found, signed_by=found.signed_by)
        described = selectors.describe_handover(found, revealed=False)
        return Outcome(HandoverSigned(handover=described, approver=command.context.staff.login))

    return write_at(command, code, change)


def take(*, command: Command, code: str, number: int, cash: int, pieces: Pieces) -> Answer:
    """Take a replenishment or a skim, after counting the same. Raises Conflict handover_differs (and no figures),
    handover_expired, signature_needed, use_open, drawer_closed, drawer_counted or one that names the handover's state;
    Forbidden for the wrong side, four_eyes for the person who offered it; NotFound, InsufficientFunds for the vault."""

    def change(drawer: Drawer, work: Work) -> Outcome:
        require_open(drawer)
        found = _open(drawer, number)
        kind = HandoverKind(found.kind)
        require_role(command, *(AT_THE_VAULT if kind == HandoverKind.SKIM else (Role.CASHIER,)))
        chips = _counted_the_same(command, drawer, found, cash, pieces)
        replenished = kind == HandoverKind.REPLENISHMENT
        name = "drawer_replenished" if replenished else "drawer_skimmed"
        moved = posting(name, {"drawer": code}, cash=cash, chips=chips)
        enter(work, command.ledger_key(), drawer, name.replace("_", "."), [moved], handover=number)
        end(command, found, HandoverState.TAKEN)
        event = DrawerReplenished if replenished else DrawerSkimmed
        return Outcome(event(handover=selectors.describe_handover(found, revealed=True)))

    return write_at(command, code, change)


def open_drawer(*, command: Command, code: str, cash: int, pieces: Pieces) -> Answer:
    """Open a drawer: its cashier has counted the float that is offered, and takes it. A shift begins. Raises Conflict
    house_not_live, no_float, drawer_open, drawer_retired, and as `take`."""

    def change(drawer: Drawer, work: Work) -> Outcome:
        require_state(drawer, HandoverKind.FLOAT)
        stages.require_serving(work.house)
        found = selectors.offered(drawer)
        if found is None or found.kind != HandoverKind.FLOAT:
            raise Conflict(f"No float is offered to drawer {code}; a supervisor issues it.", code="no_float")
        chips = _counted_the_same(command, drawer, found, cash, pieces)
        shift = begin_shift(command, drawer, cash, chips)
        issued = posting("float_issued", {"drawer": code}, cash=cash, chips=chips)
        enter(work, command.ledger_key(), drawer, "drawer.opened", [issued], handover=found.number)
        end(command, found, HandoverState.TAKEN)
        return Outcome(
            DrawerOpened(
                shift=shift.number,
                handover=found.number,
                float_cash=cash,
                float_chips=chips.value,
                float_pieces=chips.as_json(),
            )
        )

    return write_at(command, code, change)


def withdraw(*, command: Command, code: str, number: int, reason: str) -> Answer:
    """Withdraw what is offered and not taken; nothing has moved. Raises NotFound, Conflict naming the handover's
    state."""

    def change(drawer: Drawer, work: Work) -> Outcome:
        found = _open(drawer, number)
        end(command, found, HandoverState.WITHDRAWN, reason=reason)
        described = selectors.describe_handover(found, revealed=False)
        return Outcome(HandoverWithdrawn(handover=described, reason=reason))

    return write_at(command, code, change)


# --- Parts ----------------------------------------------------------------------------------------------------------


def new_handover(command: Command, drawer: Drawer, **offered: Any) -> Handover:
    """What is counted out at a locked drawer, under its next number."""
    found = Handover(
        house=drawer.house,
        drawer=drawer,
        number=(drawer.handovers.aggregate(last=Max("number"))["last"] or 0) + 1,
        offered_by=command.context.staff,
        offered_as=command.context.role,
        **offered,
    )
    found.save(force_insert=True)
    return found


def begin_shift(
    command: Command, drawer: Drawer, cash: int, chips: Chips, reopens: int | None = None
) -> Shift:  # fmt: skip
    """The next shift of a locked drawer, with this float; `reopens`: after a shift that was closed by mistake."""
    found: Shift = Shift.objects.create(
        house_id=drawer.house_id,
        drawer=drawer,
        number=last_shift(drawer) + 1,
        opened_by=command.context.staff,
        float_cash=cash,
        float_chips=chips.value,
        float_pieces=chips.as_json(),
        reopens=reopens,
    )
    return found


def require_state(drawer: Drawer, kind: HandoverKind) -> None:
    """A float is for a closed drawer that is not retired, anything else for an open one."""
    require_not_retired(drawer)
    if kind != HandoverKind.FLOAT:
        require_open(drawer)
    elif shift_at_lock(drawer) is not None:
        raise Conflict(f"Drawer {drawer.code} is already open.", code="drawer_open")


def _require_no_larger(drawer: Drawer, kind: HandoverKind, worth: int) -> None:
    """Refuse more than the house lets go from the vault to a drawer at once. Raises Conflict float_too_large."""
    most = control_points.in_force(drawer.house).float_most
    if kind in _FROM_THE_VAULT and worth > most:
        raise Conflict(
            f"A float or replenishment is worth {drawer.house.money(most)} at most.",
            code="float_too_large",
            amount=most,
        )


def require_there(drawer: Drawer, kind: HandoverKind, cash: int, chips: Chips) -> None:
    """Refuse what the side that gives does not have."""
    house = drawer.house
    if kind != HandoverKind.SKIM:
        books.require(house, Account.VAULT_CASH, chart.balances(house, [Account.VAULT_CASH])[Account.VAULT_CASH], cash)
        floats.from_vault(house, amount=None, pieces=chips.as_json())
        return
    selectors.require_cash(drawer, cash)
    rack = drawer.account(Account.CAGE_CHIPS)
    if (chip_sets.available(house, rack) - chips).shortage:
        raise Conflict(f"Drawer {drawer.code} does not hold enough for this.", code="drawer_short")


def _open(drawer: Drawer, number: int) -> Handover:
    """A handover at this drawer that is offered. The drawer is locked, and so nobody else ends it. Raises NotFound,
    Conflict handover_taken or handover_withdrawn."""
    found = drawer.handovers.filter(number=number).select_related("offered_by", "signed_by", "ended_by").first()
    if found is None:
        raise NotFound(f"Drawer {drawer.code} has no handover {number}.")
    if found.state != HandoverState.OFFERED:
        raise Conflict(f"Handover {number} is {found.state}.", code=f"handover_{found.state}", state=found.state)
    found.drawer = drawer
    return found


def _counted_the_same(command: Command, drawer: Drawer, found: Handover, cash: int, pieces: Pieces) -> Chips:
    """The chips, if the second person has counted what was offered, and everybody has signed who must."""
    require_another(command, "offered or signed this", found.offered_by, found.signed_by)
    _require_signed(drawer, found)
    chip_set = chip_sets.in_use(drawer.house)
    chips = denominations.parse(chip_set, pieces)
    if (cash, chips) != (found.cash, denominations.parse(chip_set, found.pieces)):
        raise Conflict(
            "Your count differs from what was offered. Count again, or have the handover withdrawn.",
            code="handover_differs",
        )
    if found.kind != HandoverKind.SKIM:
        return floats.from_vault(drawer.house, amount=None, pieces=chips.as_json())
    return chips


def _require_signed(drawer: Drawer, found: Handover) -> None:
    """Refuse to take a large float or replenishment that no manager has offered or signed."""
    worth = found.cash + sum(int(value) * count for value, count in found.pieces.items())
    large = worth > control_points.in_force(drawer.house).float_by_manager_above
    by_manager = found.signed_by is not None or found.offered_as == Role.MANAGER
    if large and found.kind != HandoverKind.SKIM and not by_manager:
        raise Conflict(
            f"Handover {found.number} is so large that a manager must sign it first.", code="signature_needed"
        )


def end(command: Command, found: Handover, state: HandoverState, reason: str = "") -> None:
    """A handover was taken or withdrawn. Raises Conflict handover_expired for one that cannot be taken any more."""
    _update_in_time(found, **_ended(command, found, state, reason))


def take_whole(command: Command, work: Work, found: Handover) -> None:
    """A whole drawer was taken over, which has no time limit: written with the next posting of the work."""
    if found.kind != HandoverKind.HAND_OVER:
        raise AssertionError(f"{found} comes from the vault or goes there")
    work.soon(Handover.objects.filter(id=found.pk), **_ended(command, found, HandoverState.TAKEN, found.reason))


def _ended(command: Command, found: Handover, state: HandoverState, reason: str) -> dict[str, Any]:
    found.state, found.ended_by, found.reason = state, command.context.staff, reason
    return {"state": state, "ended_by": found.ended_by, "ended_at": ClockTimestamp(), "reason": reason}


def _update_in_time(found: Handover, **columns: Any) -> None:
    """Change a handover, unless it comes from the vault and was offered so long ago, by the database's clock, that it
    can only be withdrawn. Raises Conflict handover_expired."""
    rows = Handover.objects.filter(id=found.pk)
    if found.kind in _FROM_THE_VAULT and found.state != HandoverState.WITHDRAWN:
        rows = rows.filter(offered_at__gt=ExpressionWrapper(ClockTimestamp() - LASTS, output_field=DateTimeField()))
    if not rows.update(**columns):
        raise Conflict(
            f"Handover {found.number} was not taken within {LASTS // timedelta(minutes=1)} minutes; withdraw it and "
            "count it out again.",
            code="handover_expired",
        )
