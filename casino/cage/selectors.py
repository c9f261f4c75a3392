"""Reading drawers."""

from typing import Any

from django.db.models import Case, Exists, OuterRef, Q, QuerySet, Value, When

from casino.bookkeeping import books, chart
from casino.bookkeeping.accounts import Account
from casino.cage.contents import by_the_books, stored
from casino.cage.models import Drawer, DrawerState, Handover, HandoverState, Shift, worth
from casino.chips import templates
from casino.core import sql
from casino.core.errors import NotFound
from casino.houses.models import House


def get(house: House, code: str) -> Drawer:
    """One drawer of the house. Raises NotFound."""
    drawer = Drawer.objects.filter(house=house, code=code).select_related("house").first()
    if drawer is None:
        raise NotFound(f"This house has no drawer {code}.")
    return drawer


def open_shift(drawer: Drawer) -> Shift | None:
    """The shift in progress, or None when the drawer is closed."""
    return next(iter(_open_shifts(drawer)), None)


def _open_shifts(drawer: Drawer) -> QuerySet[Shift]:
    return Shift.objects.filter(drawer=drawer, closed_at=None)


def is_any_open(house: House) -> bool:
    """Whether the shift of any drawer has not ended."""
    return Shift.objects.filter(house=house, closed_at=None).exists()


def offered(drawer: Drawer) -> Handover | None:
    """The handover at the drawer that nobody has taken or withdrawn yet; there is one at most."""
    return next(iter(offers(drawer.house, drawer.code)), None)


def with_shift_and_offer(house: House, code: str) -> tuple[Drawer, Shift | None, Handover | None]:
    """A drawer of the house, its shift in progress, and the handover that nobody has taken or withdrawn yet. Raises
    NotFound."""
    drawers, shifts, found = sql.together(
        Drawer.objects.filter(house=house, code=code).select_related("house"),
        Shift.objects.filter(house=house, drawer__code=code, closed_at=None),
        Handover.objects.filter(house=house, drawer__code=code, state=HandoverState.OFFERED).order_by("id")[:1],
    )
    if not drawers:
        raise NotFound(f"This house has no drawer {code}.")
    return drawers[0], next(iter(shifts), None), next(iter(found), None)


def offers(house: House, code: str) -> QuerySet[Handover]:
    """The handover at the drawer of this code that nobody has taken or withdrawn yet, as a query."""
    found = Handover.objects.filter(house=house, drawer__code=code, state=HandoverState.OFFERED).order_by("id")
    return found.select_related("to_drawer", "offered_by", "signed_by", "ended_by")[:1]


def shown(drawer: Drawer) -> Handover | None:
    """The handover that people at the drawer are to end: its own, or else the newest drawer that is handed over to
    it."""
    return next(iter(_shown(drawer)), None)


def _shown(drawer: Drawer) -> QuerySet[Handover]:
    found = Handover.objects.filter(Q(drawer=drawer) | Q(to_drawer=drawer), house=drawer.house_id, state="offered")
    persons = ("drawer", "to_drawer", "offered_by", "signed_by", "ended_by")
    return found.select_related(*persons).order_by(Case(When(drawer=drawer, then=0), default=1), "-id")[:1]


def with_state(drawers: QuerySet[Drawer]) -> QuerySet[Drawer]:
    """These drawers, each with its `state`."""
    in_progress = Shift.objects.filter(drawer=OuterRef("pk"), closed_at=None)
    return drawers.annotate(
        state=Case(
            When(retired_at__isnull=False, then=Value(DrawerState.RETIRED)),
            When(Exists(in_progress.filter(recount__isnull=False)), Value(DrawerState.RECOUNTED)),
            When(Exists(in_progress.filter(first_count__isnull=False)), Value(DrawerState.COUNTED)),
            When(Exists(in_progress), Value(DrawerState.OPEN)),
            default=Value(DrawerState.CLOSED),
        )
    )


def newest_shifts(house: House) -> QuerySet[Shift]:
    """The newest shift of every drawer that was ever opened, by the drawer's code."""
    persons = ("opened_by", "counted_by", "recounted_by", "closed_by")
    shifts = Shift.objects.filter(house=house).select_related("drawer", "handed_to", *persons)
    return shifts.order_by("drawer__code", "-number").distinct("drawer__code")


def shift(found: Shift, *, blind: bool = False) -> dict[str, Any]:
    """A shift with its count, who opened and closed it, and when; `blind`: no count before it has ended."""
    return {
        **reconciliation(found, blind=blind),
        "opened_at": found.opened_at,
        "closed_at": found.closed_at,
        "opened_by": found.opened_by.login,
        "closed_by": found.closed_by.login if found.closed_by else None,
        "state": found.state,
        "reason": found.reason,
        "reopens": found.reopens,
    }


def cash(drawer: Drawer) -> int:
    """Cash that the drawer must hold by the ledger, in minor units."""
    [(held,)] = sql.read(reading_cash(drawer))
    return int(held)


def reading_cash(drawer: Drawer) -> sql.Statement:
    """What `cash` reads, for who reads it with something else."""
    return chart.money_at(drawer.house, drawer.account(Account.DRAWER_CASH))


def require_cash(drawer: Drawer, amount: int) -> None:
    """Refuse what takes more cash than the drawer holds besides what is on hold for announced cash-outs. Raises
    InsufficientFunds."""
    code = drawer.account(Account.DRAWER_CASH)
    balance, held = chart.set_aside(drawer.house, code)
    books.require(drawer.house, code, balance, amount, held=held)


def describe(drawer: Drawer) -> dict[str, Any]:
    """A drawer as everybody at it sees it: not what it holds, which is counted without knowing."""
    return described(drawer, sql.together(*describing(drawer)))


def describing(drawer: Drawer) -> tuple[QuerySet[Any, Any] | sql.Statement, ...]:
    """What `describe` reads, for who reads it with something else; `described` takes what it has found."""
    house, held = drawer.house, drawer.account(Account.DRAWER_CASH)
    return _open_shifts(drawer), _shown(drawer), chart.money_at(house, held), templates.skimming(house, drawer.code)


def described(drawer: Drawer, found: list[list[Any]]) -> dict[str, Any]:
    """A drawer as everybody at it sees it, by what `describing` has found."""
    (shift, handover), [(cash,)] = (next(iter(rows), None) for rows in found[:2]), found[2]
    [(skim_above,)] = found[3]
    state = _state(drawer, shift)
    due = state == DrawerState.OPEN and cash > skim_above
    return {
        "drawer": drawer.code,
        "version": drawer.version,
        "state": state,
        "shift": shift.number if shift else None,
        "currency": drawer.house.currency,
        "skim_due": due,
        "handover": None if handover is None else describe_handover(handover, revealed=False),
    }


def _state(drawer: Drawer, shift: Shift | None) -> DrawerState:
    if shift is not None:
        return shift.state
    return DrawerState.CLOSED if drawer.retired_at is None else DrawerState.RETIRED


def describe_handover(found: Handover, *, revealed: bool) -> dict[str, Any]:
    """A handover; what was offered only where it is `revealed`, since it is counted without knowing."""
    described: dict[str, Any] = {
        "handover": found.number,
        "drawer": found.drawer.code,
        "kind": found.kind,
        "state": found.state,
        "offered_by": found.offered_by.login,
        "signed_by": found.signed_by.login if found.signed_by else None,
        "ended_by": found.ended_by.login if found.ended_by else None,
    }
    if found.to_drawer is not None:
        described["to_drawer"] = found.to_drawer.code
    if revealed:
        described |= {"cash": found.cash, "pieces": found.pieces}
        described |= {} if found.to_drawer is None else {"foreign": found.foreign}
        described |= {"withdrawn": found.withdrawn} if found.withdrawn else {}
    return described


def reconciliation(shift: Shift, *, blind: bool = False) -> dict[str, Any]:
    """A shift's float, and its counts against the books, once nobody has to count without knowing any more: when the
    shift has ended, or was counted twice and the reader is not `blind`. A variance is counted less
    expected: short is negative."""
    shown = shift.state == DrawerState.CLOSED or (shift.state == DrawerState.RECOUNTED and not blind)
    found: dict[str, Any] = {
        "drawer": shift.drawer.code,
        "shift": shift.number,
        "float_cash": shift.float_cash,
        "float_chips": shift.float_chips,
        "float_pieces": shift.float_pieces,
        **(_counted(shift) if shown else dict.fromkeys((*_SIDES, *_VARIANCES))),
        "first_count": shift.first_count if shown else None,
        "counted_by": shift.counted_by.login if shift.counted_by else None,
        "recount": shift.recount if shown else None,
        "recounted_by": shift.recounted_by.login if shift.recounted_by else None,
        "handed_to": shift.handed_to.code if shift.handed_to else None,
        "closed": shift.closed_at is not None,
    }
    return found


_VARIANCES = ("cash_variance", "chip_variance", "pieces_variance", "foreign_variance", "withdrawn_variance")
_COUNTED = ("cash", "chips", "pieces", "foreign", "withdrawn")
_SIDES = tuple(f"{side}_{what}" for side in ("expected", "counted") for what in _COUNTED)


def _counted(shift: Shift) -> dict[str, Any]:
    """What was expected and counted; of a shift that has not ended by the books of now, and the recount."""
    if shift.closed_at is not None:
        found = {name: getattr(shift, name) for name in _SIDES}
    else:
        house = shift.drawer.house
        sides = {"expected": by_the_books(shift.drawer), "counted": stored(house, shift.recount)}
        found = {f"{side}_{name}": value for side, held in sides.items() for name, value in held.as_json().items()}
        found |= {f"{side}_chips": held.chips.value for side, held in sides.items()}
        found |= {f"{side}_withdrawn": held.withdrawn_as_json() for side, held in sides.items()}
    return found | {
        "cash_variance": found["counted_cash"] - found["expected_cash"],
        "chip_variance": found["counted_chips"] - found["expected_chips"],
        "pieces_variance": _by_denomination(found["counted_pieces"], found["expected_pieces"]),
        "foreign_variance": found["counted_foreign"] - found["expected_foreign"],
        "withdrawn_variance": worth(found["counted_withdrawn"]) - worth(found["expected_withdrawn"]),
    }


def _by_denomination(counted: dict[str, int], expected: dict[str, int]) -> dict[str, int]:
    """Pieces counted minus expected, where they differ; the largest denomination first."""
    differing = {name for name in counted | expected if counted.get(name, 0) != expected.get(name, 0)}
    return {name: counted.get(name, 0) - expected.get(name, 0) for name in sorted(differing, key=int, reverse=True)}
