"""Reading and ending cash-outs that were announced at drawers: their cash is on hold in the ledger until they are paid,
withdrawn, or their time is over."""

from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet

from casino.cage.announced_models import HOLD, AnnouncedCashOut, AnnouncedState
from casino.cage.models import Drawer
from casino.core import locks
from casino.core.errors import Conflict, NotFound
from casino.core.work import Work
from casino.houses.models import ClockTimestamp, House
from casino.players.models import Player


def describe(found: AnnouncedCashOut) -> dict[str, Any]:
    """An announced cash-out, as answers have it."""
    return {
        "announcement": found.number,
        "drawer": found.drawer.code,
        "player": found.player.ref if found.player else None,
        "amount": found.amount,
        "minutes": found.minutes,
        "until": found.until,
        "state": found.state,
        "announced_by": found.announced_by.login,
        "paid": found.paid,
        "ended_by": found.ended_by.login if found.ended_by else None,
        "reason": found.reason,
    }


def open_at(drawer: Drawer) -> QuerySet[AnnouncedCashOut]:
    """The announced cash-outs of a drawer whose cash is set aside now, by number."""
    announced = AnnouncedCashOut.objects.filter(drawer=drawer, state=AnnouncedState.ANNOUNCED)
    return announced.filter(until__gt=ClockTimestamp()).order_by("number")


def use(drawer: Drawer, work: Work, number: int, *, player: Player | None, amount: int) -> None:
    """Let go of what is set aside for the announced cash-out of this number, which is paid with `amount` minor units in
    this transaction. `player` is None for for the person who brings the chips.

    Raises NotFound, Conflict announcement_differs where it was announced for somebody else or for less, or one that
    names its state.
    """
    found = open_one(drawer, number)
    if found.player_id != (player.pk if player else None):
        whose = f"player {found.player.ref}" if found.player else "the bearer of the chips"
        raise Conflict(f"Cash-out {number} was announced for {whose}.", code="announcement_differs")
    if amount > found.amount:
        raise Conflict(
            f"Cash-out {number} was announced with {drawer.house.money(found.amount)}; withdraw it and announce more.",
            code="announcement_differs",
        )
    end(work, found, AnnouncedState.PAID, paid=amount)


def open_one(drawer: Drawer, number: int) -> AnnouncedCashOut:
    """The announced cash-out of this number at a locked drawer, with the lock that keeps others from ending it. Raises
    NotFound, Conflict announcement_paid, announcement_withdrawn, announcement_expired."""
    locks.lock_announced(drawer.house.id)
    rows = AnnouncedCashOut.objects.filter(drawer=drawer, number=number)
    found = rows.select_related("player", "announced_by", "ended_by").first()
    if found is None:
        raise NotFound(f"No cash-out {number} was announced at drawer {drawer.code}.")
    found.drawer = drawer
    if found.state != AnnouncedState.ANNOUNCED:
        raise _ended(found.number, found.state)
    return found


def end(work: Work, found: AnnouncedCashOut, state: AnnouncedState, **how: Any) -> None:
    """Let its cash go. Raises Conflict announcement_expired where its time is over."""
    if work.void_hold(found.hold_key) != "voided":
        raise _ended(found.number, AnnouncedState.EXPIRED)
    if work.command is None:
        raise AssertionError("somebody pays or withdraws an announced cash-out")
    by = work.command.context.staff
    AnnouncedCashOut.objects.filter(id=found.pk).update(state=state, ended_by=by, ended_at=ClockTimestamp(), **how)


def expire(house: House, keys: Iterable[str]) -> None:
    """End the announced cash-outs of holds that have just expired. Nobody else ends them: their holds have ended."""
    numbers = [int(key.removeprefix(f"{HOLD}:")) for key in keys if key.startswith(f"{HOLD}:")]
    announced = AnnouncedCashOut.objects.filter(house=house, number__in=numbers, state=AnnouncedState.ANNOUNCED)
    announced.update(state=AnnouncedState.EXPIRED, ended_at=ClockTimestamp())


def _ended(number: int, state: str) -> Conflict:
    """It can neither be paid nor withdrawn."""
    return Conflict(f"Announced cash-out {number} is {state}.", code=f"announcement_{state}", state=str(state))
