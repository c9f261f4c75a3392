"""The cage's writes: funding the vault, drawers as the subject of a write, buy-ins and cash-outs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from casino.audit.events import AuditEvent, DrawerEvent
from casino.audit.events.cage import CageBuyIn, CageCashOut
from casino.bookkeeping import books, chart
from casino.bookkeeping.accounts import Account
from casino.bookkeeping.flows import Direction
from casino.bookkeeping.postings import Posting, moved_anything, posting
from casino.cage import announced, selectors
from casino.cage.blind import withheld
from casino.cage.models import Drawer, DrawerState, Shift
from casino.chips import selectors as chip_sets
from casino.chips.changing import Desk
from casino.core import commands, kept, locks, sql, write
from casino.core.commands import Answer, Command, RequestContext
from casino.core.denominations import Chips
from casino.core.errors import Conflict, Forbidden, WrongTerminal
from casino.core.work import Outcome, Work
from casino.houses import control_points, stages
from casino.houses.control_points import in_force
from casino.houses.models import House
from casino.players import persons, thresholds
from casino.players.models import Player
from casino.safeguards import standing
from casino.staff.models import TerminalKind

#: Chips by denomination as somebody wrote them: {"500": 3}.
Pieces = Mapping[Any, int]

_ADVANCE = "UPDATE cage_drawer SET version = %s::bigint WHERE id = %s::bigint"


@dataclass(frozen=True, slots=True)
class AtDrawer:
    """The drawer of this code as the subject of a write at its own terminal."""

    code: str

    def open(self, command: Command) -> Drawer:
        """Lock the drawer. Raises NotFound, WrongTerminal, VersionConflict."""
        drawer = self.locked(command)
        self.require_place(command.context, drawer)
        command.require_version(drawer.version)
        return drawer

    def locked(self, command: Command) -> Drawer:
        """Lock the drawer, and read with it what almost every write at it needs. Raises NotFound."""
        house = command.context.house
        reads = newest_shift(house, self.code), control_points.reading(house), chip_sets.reading(house)
        drawer, found = commands.locked(command, Drawer, locks.Rank.DESK, *reads, house=house, code=self.code)
        drawer.house = house
        keep_newest(drawer, found[0])
        control_points.read(house, found[1])
        chip_sets.read(house, found[2])
        return drawer

    def require_place(self, context: RequestContext, drawer: Drawer) -> None:
        """At the drawer. Raises WrongTerminal."""
        require_at(context, drawer)

    def chain(self, drawer: Drawer) -> str:
        """The drawer's own."""
        return drawer.chain

    def advance(self, drawer: Drawer, work: Work, outcome: Outcome) -> tuple[int, AuditEvent]:
        """The next version; what was posted goes to the ledger now, because the answer reads it there."""
        if work.has_waiting:
            see(drawer, work)
        drawer.version += 1
        work.also(_ADVANCE, [drawer.version, drawer.id])
        event = outcome.event
        return drawer.version, event.at_drawer_version(drawer.version) if isinstance(event, DrawerEvent) else event

    def answer(self, drawer: Drawer, outcome: Outcome) -> dict[str, Any]:
        """The drawer as it is now, and the kind of the event."""
        seen = kept.take(_seen_at(drawer), lambda: sql.together(*selectors.describing(drawer)))
        return {**selectors.described(drawer, seen), "last_event": outcome.event.last_event()}


#: Whom a shift names.
_SIGNERS = ("opened_by", "counted_by", "recounted_by", "closed_by", "handed_to")


def newest_shift(house: House, code: str) -> QuerySet[Shift]:
    """The newest shift of a drawer, for who reads it with the drawer's lock; `keep_newest` takes what it has found."""
    shifts = Shift.objects.filter(house=house, drawer__code=code).select_related(*_SIGNERS)
    return shifts.order_by("-number")[:1]


def keep_newest(drawer: Drawer, found: list[Shift]) -> None:
    """Let the transaction go by what `newest_shift` has found at the drawer's lock."""
    # Only the newest shift can be one that has not ended.
    newest = next(iter(found), None)
    if newest is not None:
        newest.drawer = drawer
    keep_shift(drawer, newest if newest is not None and newest.closed_at is None else None)
    kept.keep(_number_of(drawer), newest.number if newest is not None else 0)


def keep_shift(drawer: Drawer, shift: Shift | None) -> None:
    """Let `shift_at_lock` find this: it was read under the drawer's lock, and the write has not changed it."""
    kept.keep(_shift_of(drawer), shift)


def see(drawer: Drawer, work: Work) -> None:
    """Post what the work has waiting and read what the answer says of the drawer, when everything else is done."""
    kept.keep(_seen_at(drawer), work.flush(*selectors.describing(drawer)))


def _seen_at(drawer: Drawer) -> tuple[str, Any]:
    return "drawer seen", drawer.pk


def last_shift(drawer: Drawer) -> int:
    """The number of the newest shift of a locked drawer, 0 where it was never opened."""
    numbers = drawer.shifts.order_by("-number").values_list("number", flat=True)[:1]
    return kept.take(_number_of(drawer), lambda: next(iter(numbers), 0))


def _number_of(drawer: Drawer) -> tuple[str, Any]:
    return "newest shift at the drawer's lock", drawer.pk


def _shift_of(drawer: Drawer) -> tuple[str, Any]:
    return "shift at the drawer's lock", drawer.pk


def write_at(command: Command, code: str, change: Callable[[Drawer, Work], Outcome]) -> Answer:
    """Write at a drawer; refusals do not name what it holds. Raises as `casino.core.write.write`, and as
    `blind.withheld`."""

    def blind_change(drawer: Drawer, work: Work) -> Outcome:
        with withheld(drawer):
            outcome = change(drawer, work)
            if work.has_waiting:
                see(drawer, work)
            return outcome

    return write.write(command, AtDrawer(code), blind_change)


def require_at(context: RequestContext, drawer: Drawer) -> None:
    """Refuse terminals that do not stand at this drawer."""
    if context.terminal.kind != TerminalKind.CAGE or context.terminal.location != drawer.code:
        raise WrongTerminal(f"Terminal {context.terminal.code} is not at drawer {drawer.code}.")


def require_not_retired(drawer: Drawer) -> None:
    """Refuse a drawer that was ended for ever. Raises Conflict drawer_retired."""
    if drawer.retired_at is not None:
        raise Conflict(f"Drawer {drawer.code} is retired; nothing is done there any more.", code="drawer_retired")


def require_open(drawer: Drawer) -> Shift:
    """The shift in progress. Raises Conflict drawer_closed, or drawer_counted: nothing moves at a drawer whose count is
    in."""
    shift = require_shift(drawer)
    if shift.state != DrawerState.OPEN:
        raise Conflict(
            f"Drawer {drawer.code} has been counted; nothing moves until it is closed.", code="drawer_counted"
        )
    return shift


def require_own(drawer: Drawer, work: Work, *, own: bool = True) -> Shift:
    """The shift in progress, in which only the person who opened it trades, who answers for its count. `own` is false
    where a supervisor corrects an entry of it. Raises Forbidden not_your_drawer, and as :func:`require_open`."""
    shift = require_open(drawer)
    by = work.command.context.staff if work.command else None
    if own and by is not None and by.pk != shift.opened_by_id:
        opener = shift.opened_by.login
        raise Forbidden(
            f"Drawer {drawer.code} is {opener}'s until it is counted and closed, or handed over to another drawer "
            f"(drawers/{drawer.code}/hand-over).",
            code="not_your_drawer",
            opened_by=opener,
        )
    return shift


def require_shift(drawer: Drawer) -> Shift:
    """The shift that has not ended, counted or not. Raises Conflict drawer_closed."""
    shift = shift_at_lock(drawer)
    if shift is None:
        raise Conflict(f"Drawer {drawer.code} is closed; open it first.", code="drawer_closed")
    return shift


def shift_at_lock(drawer: Drawer) -> Shift | None:
    """The shift in progress, as it was read with the drawer's lock; a second time it is read again, for the write may
    have changed it."""
    return kept.take(_shift_of(drawer), lambda: selectors.open_shift(drawer))


def enter(work: Work, key: str, drawer: Drawer, kind: str, events: list[Posting], **metadata: Any) -> None:
    """Post the movements at a drawer, if there are any."""
    if moved_anything(events):
        work.post(
            key=key,
            kind=kind,
            postings=events,
            metadata={"drawer": drawer.code, **metadata},
        )


def buy_in(*, command: Command, code: str, player_ref: str, amount: int, pieces: Pieces | None = None) -> Answer:
    """Take `amount` minor units of cash and give the player chips for it: these pieces, or the largest that the drawer
    can make it of. Raises InsufficientFunds, Conflict identity_required, no_exact_change, Unprocessable for wrong
    pieces, NotFound for a player whom the house does not know, Gone for one who was forgotten."""

    def change(drawer: Drawer, work: Work) -> Outcome:
        stages.require_playing(work.house)
        return sell_chips(drawer, work, key=command.ledger_key(), player_ref=player_ref, amount=amount, pieces=pieces)

    return write_at(command, code, change)


def sell_chips(
    drawer: Drawer, work: Work, *, key: str, player_ref: str, amount: int, pieces: Pieces | None = None,
    own: bool = True,
) -> Outcome:  # fmt: skip
    """What a buy-in does at a locked drawer, posted under this key. Raises as :func:`buy_in`."""
    player, desk = customer(drawer, work, player_ref, own=own, with_cash=True)
    persons.require_guest(player)
    standing.require_buy_in(drawer.house, player, amount, within_limits=own)
    trade = thresholds.check(drawer.house, amount, Direction.IN, player=player)
    chosen = desk.give(amount) if pieces is None else desk.named(pieces, amount)
    trade.require_approval(work)
    sold = posting("buy_in", {"drawer": drawer.code, "player": player_ref}, amount=amount, chips=chosen)
    enter(work, key, drawer, "cage.buy_in", [sold], player=player_ref)
    found = _exchanged(drawer, work, player, amount, chosen)
    return Outcome(CageBuyIn(**found, threshold_reached=trade.reached), status=201)


def cash_out(
    *, command: Command, code: str, player_ref: str, amount: int, pieces: Pieces | None = None,
    announcement: int | None = None,
) -> Answer:  # fmt: skip
    """Take `amount` minor units in chips and pay the player: these pieces, or such as the public can have, with change
    from the drawer. Pieces that are named have been brought: what of them is not booked for the player becomes the
    player's now. `announcement`: by the number of the announced cash-out whose cash is set aside for it. Raises
    InsufficientFunds when the player holds less away from the tables and names no pieces, Conflict identity_required,
    drawer_short, no_exact_change or chips_not_in_circulation, Unprocessable for wrong pieces, and as
    :func:`~casino.cage.announced.use`."""

    def change(drawer: Drawer, work: Work) -> Outcome:
        return buy_chips(
            drawer, work, key=command.ledger_key(), player_ref=player_ref, amount=amount, pieces=pieces,
            announcement=announcement,
        )  # fmt: skip

    return write_at(command, code, change)


def buy_chips(
    drawer: Drawer, work: Work, *, key: str, player_ref: str, amount: int, pieces: Pieces | None = None,
    announcement: int | None = None, own: bool = True,
) -> Outcome:  # fmt: skip
    """What a cash-out does at a locked drawer, posted under this key. Raises as :func:`cash_out`."""
    player, desk = customer(drawer, work, player_ref, own=own)
    persons.require_guest(player)
    standing.require_no_minor(drawer.house, player)
    trade = thresholds.check(drawer.house, amount, Direction.OUT, player=player, held_at=drawer.code)
    if announcement is not None:
        announced.use(drawer, work, announcement, player=player, amount=amount)
    # In this order: what the player does not have, what the drawer cannot pay, and only then which chips.
    held = chart.balances(drawer.house, [player.wallet])[player.wallet]
    if pieces is None:
        books.require(drawer.house, player.wallet, held, amount)
    selectors.require_cash(drawer, amount)
    if pieces is None:
        taken, given_back = desk.take_in(amount)
    else:
        taken, given_back = desk.require_public(desk.named(pieces, amount)), Chips(desk.chips.code)
    trade.require_approval(work)
    places = {"drawer": drawer.code, "player": player_ref}
    bought = posting("cash_out", places, amount=amount, chips=taken, change=given_back)
    lacking = max(amount - held, 0)
    brought = posting("attributed", {"place": drawer.code, "player": player_ref}, amount=lacking)
    enter(work, key, drawer, "cage.cash_out", [brought, bought], player=player_ref)
    found = _exchanged(drawer, work, player, amount, taken, given_back)
    found |= {"attributed": lacking or None, "announcement": announcement, "threshold_reached": trade.reached}
    return Outcome(CageCashOut(**found), status=201)


def require_room(drawer: Drawer, held: int) -> None:
    """Refuse more cash where a drawer holds too much already, which is `held` minor units. Raises Conflict
    skim_needed."""
    if held > in_force(drawer.house).no_buy_in_above:
        raise Conflict(
            f"So much cash is in drawer {drawer.code} that it takes no more before it is skimmed.", code="skim_needed"
        )


def customer(
    drawer: Drawer, work: Work, player_ref: str, *, own: bool = True, with_cash: bool = False
) -> tuple[Player, Desk]:
    """The player at an open drawer, locked, and the drawer's rack. `with_cash`: the player brings cash, for which the
    drawer must have room. Raises as :func:`require_own`, NotFound, Gone, and as :func:`require_room`."""
    require_own(drawer, work, own=own)
    asking = [thresholds.reading(drawer.house, player_ref), *([selectors.reading_cash(drawer)] if with_cash else ())]
    player, [paid, *held] = standing.lock_beside(drawer.house, player_ref, *asking)
    for [(cash,)] in held:
        require_room(drawer, cash)
    thresholds.read(player, paid)
    persons.require_not_forgotten(player)
    player.house = drawer.house
    return player, Desk(drawer.house, drawer.account(Account.CAGE_CHIPS), drawer.code)


def _exchanged(
    drawer: Drawer, work: Work, player: Player, amount: int, chips: Chips, given_back: Chips | None = None
) -> dict[str, Any]:
    see(drawer, work)
    held = work.left(player.wallet)
    found = {"player": player.ref, "amount": amount, "player_chips": held, "exchanged": chips.as_json()}
    return found | ({"change": given_back.as_json()} if given_back else {})
