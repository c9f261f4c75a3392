"""Chips that come into the vault or leave it for ever: deliveries, chips set aside or taken back, and their
destruction.

A delivery takes three people: the first writes down what the delivery note says, two others count without knowing it.
Chips are set aside by two, also those of a withdrawn set that a drawer has taken back, and destroyed by two before
somebody of surveillance: the first counts them out, the second
counts them without knowing the result; so chips are counted twice by two before they are gone. What everybody has found
the same is posted; otherwise nothing moves.
"""

from casino.audit.events.chips import (
    ChipCountsDiffered,
    ChipMoveEvent,
    ChipsCounted,
    ChipsDelivered,
    ChipsDestroyed,
    ChipsMoved,
    ChipsNoted,
    ChipsSetAside,
    WithdrawnSetAside,
)
from casino.bookkeeping import chart
from casino.bookkeeping.accounts import Account
from casino.bookkeeping.postings import Posting, moved_anything, posting
from casino.cage.models import Drawer
from casino.cage.services import require_open
from casino.chips import selectors as chips
from casino.chips.counts import chip_variance
from casino.chips.models import ChipSet
from casino.chips.two_counts import MOST_ROUNDS
from casino.core import denominations, locks, write
from casino.core.commands import Answer, Command
from casino.core.denominations import Chips
from casino.core.errors import Conflict, Unprocessable
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.houses.models import ClockTimestamp, House
from casino.staff import independence
from casino.staff.models import Staff
from casino.transfers import observing, selectors, serials
from casino.transfers.choosing import Pieces
from casino.transfers.models import ChipMove, ChipMoveCount, MoveKind, MoveState
from casino.transfers.services import require_another

IN_VAULT = OfHouse(office=True)
#: How many people count what the first has written down, the row that posts it, and the event.
COUNTERS = {MoveKind.DELIVERY: 2, MoveKind.SET_ASIDE: 1, MoveKind.WITHDRAWN: 1, MoveKind.DESTRUCTION: 1}
_ROWS = {
    MoveKind.DELIVERY: "chips_commissioned",
    MoveKind.SET_ASIDE: "chips_set_aside",
    MoveKind.WITHDRAWN: "withdrawn_set_aside",
    MoveKind.DESTRUCTION: "set_aside_destroyed",
}
_EVENTS: dict[MoveKind, type[ChipsMoved]] = {
    MoveKind.DELIVERY: ChipsDelivered,
    MoveKind.SET_ASIDE: ChipsSetAside,
    MoveKind.WITHDRAWN: WithdrawnSetAside,
    MoveKind.DESTRUCTION: ChipsDestroyed,
}


def note(
    *, command: Command, kind: MoveKind, paper: str, pieces: Pieces, chip_set: str | None = None,
    observer: str | None = None, drawer: str | None = None,
) -> Answer:  # fmt: skip
    """Begin a movement: what the delivery note `paper` says, or what was counted out and why. `chip_set` is the code of
    another set than the one in use; `observer` the login of who attends a destruction for surveillance; `drawer` the
    code of the drawer that has taken withdrawn chips back, and gives all of them.

    Raises Conflict no_chip_set, or chip_set_withdrawn for a delivery of one; drawer_closed or drawer_counted for a
    drawer that does not trade; Unprocessable unknown_chip_set, observer_missing, unknown_observer, drawer_missing,
    nothing_to_move, or for wrong pieces; NotFound for a drawer that is none.
    """

    def change(house: House, work: Work) -> Outcome:
        found_drawer = _drawer(house, kind, drawer)
        ladder = chips.of(house, chip_set)
        noted = denominations.parse(ladder, pieces)
        if not noted:
            raise Unprocessable("Name at least one chip.", code="nothing_to_move")
        found = ChipSet.objects.get(house=house, code=ladder.code)
        if kind == MoveKind.DELIVERY and (found.withdrawn_at or found.retired_at):
            raise Conflict(
                f"Chip set {found.code} is withdrawn; nothing of it is delivered.", code="chip_set_withdrawn"
            )
        move = ChipMove.objects.create(
            house=house,
            kind=kind,
            serial=serials.next_of(house, "chip_move"),
            chip_set=found,
            drawer=found_drawer,
            paper=paper,
            noted=noted.as_json(),
            noted_by=command.context.staff,
            observer=_observer(house, kind, observer),
        )
        described = selectors.describe_chip_move(move, figures=False)
        return _outcome(move, ChipsNoted(move=described, pieces=move.noted), 201)

    return write.write(command, IN_VAULT, change)


def count(*, command: Command, serial: int, pieces: Pieces) -> Answer:
    """Enter what one person has counted. When all have counted, the same as was written down is posted. Two counts of a
    delivery that differ from each other are made again.

    Raises NotFound, Conflict chip_move_differed or chip_move_done, Forbidden four_eyes for who has written it down,
    attends, or has counted in this round; Unprocessable for wrong pieces, InsufficientFunds where the chips are not
    there.
    """

    def change(house: House, work: Work) -> Outcome:
        move = _lock(house, serial, MoveState.WAITING)
        kind, number = MoveKind(move.kind), move.differing_rounds + 1
        require_another(command, move.noted_by, "wrote this down")
        require_another(command, move.observer, "attend this")
        before = list(ChipMoveCount.objects.filter(house=house, move=move, round=number).select_related("counted_by"))
        independence.require_another(command.context.staff, "counted this", [one.counted_by for one in before])
        counted = denominations.parse(chips.of(house, move.chip_set.code), pieces)
        own = ChipMoveCount.objects.create(
            house_id=house.pk, move=move, round=number, pieces=counted.as_json(), counted_by=command.context.staff
        )
        count_ = {"round": number, "pieces": own.pieces}
        alike = all(one.pieces == own.pieces for one in before)
        if len(before) + 1 < COUNTERS[kind]:
            return _outcome(move, ChipsCounted(move=_blind(move), count=count_), 201)
        if alike and own.pieces == move.noted:
            return _done(work, move, counted, count=count_)
        _differ(move, number, again=not alike and number < MOST_ROUNDS)
        return _outcome(move, ChipCountsDiffered(move=_blind(move), count=count_), 201)

    return write.write(command, IN_VAULT, change)


def accept(*, command: Command, serial: int, pieces: Pieces, reason: str) -> Answer:
    """Take in a delivery that is not what its note says, as a manager has seen it counted.

    Raises NotFound, Conflict chip_move_waiting, chip_move_done, or chip_move_differed for what is no delivery;
    Forbidden four_eyes for who has a part in it, Unprocessable for wrong pieces.
    """

    def change(house: House, work: Work) -> Outcome:
        move = _lock(house, serial, MoveState.DIFFERED)
        if move.kind != MoveKind.DELIVERY:
            raise Conflict(f"{move} has ended; begin a new one.", code="chip_move_differed", state=move.state)
        require_another(command, move.noted_by, "wrote this down")
        counts = ChipMoveCount.objects.filter(house=house, move=move)
        counters = Staff.objects.filter(id__in=counts.values("counted_by"))
        independence.require_another(command.context.staff, "counted this", counters)
        counted = denominations.parse(chips.of(house, move.chip_set.code), pieces)
        move.decided_by, move.reason = command.context.staff, reason
        return _done(work, move, counted, reason=reason)

    return write.write(command, IN_VAULT, change)


# --- Parts ----------------------------------------------------------------------------------------------------------


def _observer(house: House, kind: MoveKind, login: str | None) -> Staff | None:
    """Who attends a destruction. Raises Unprocessable observer_missing, unknown_observer."""
    if kind != MoveKind.DESTRUCTION:
        if login is not None:
            raise Unprocessable("Surveillance is named for a destruction only.", code="unknown_observer")
        return None
    if login is None:
        raise Unprocessable("Name who attends for surveillance.", code="observer_missing")
    return observing.observer(house, login)


def _drawer(house: House, kind: MoveKind, code: str | None) -> Drawer | None:
    """The drawer that withdrawn chips come from, locked, so that it is not counted meanwhile. It must be open: what it
    has goes to the vault with every close. Raises NotFound, Unprocessable drawer_missing, Conflict drawer_closed,
    drawer_counted."""
    if (kind == MoveKind.WITHDRAWN) != (code is not None):
        raise Unprocessable("A drawer is named where withdrawn chips come from it, only.", code="drawer_missing")
    if code is None:
        return None
    found = locks.lock(Drawer, locks.Rank.DESK, house=house, code=code)
    found.house = house
    require_open(found)
    return found


def _lock(house: House, serial: int, state: MoveState) -> ChipMove:
    move = locks.lock(ChipMove, locks.Rank.CUSTODY, house=house, serial=serial)
    if move.state != state:
        raise Conflict(f"{move} is {move.state}.", code=f"chip_move_{move.state}", state=move.state)
    move.house = house
    return move


def _blind(move: ChipMove) -> dict[str, object]:
    return selectors.describe_chip_move(move, figures=False)


def _differ(move: ChipMove, rounds: int, *, again: bool) -> None:
    """Counts that differ: of a delivery they are made again, or a manager decides; anything else ends."""
    move.differing_rounds = rounds
    if not (again and move.kind == MoveKind.DELIVERY):
        move.state = MoveState.DIFFERED
    ended = move.state == MoveState.DIFFERED and move.kind != MoveKind.DELIVERY
    ChipMove.objects.filter(id=move.pk).update(
        state=move.state, differing_rounds=rounds, **({"ended_at": ClockTimestamp()} if ended else {})
    )


def _done(
    work: Work, move: ChipMove, counted: Chips, *, count: dict[str, object] | None = None, reason: str | None = None
) -> Outcome:
    kind = MoveKind(move.kind)
    move.state, move.counted = MoveState.DONE, counted.as_json()
    postings = _postings(move, counted)
    if moved_anything(postings):
        work.post(
            key=f"chip_move:{move.serial}",
            kind=_EVENTS[kind].KIND,
            postings=postings,
            metadata={"chip_move": move.serial},
        )
    ChipMove.objects.filter(id=move.pk).update(
        state=move.state, counted=move.counted, decided_by=move.decided_by, reason=move.reason,
        ended_at=ClockTimestamp(),
    )  # fmt: skip
    event = _EVENTS[kind](move=selectors.describe_chip_move(move), count=count, reason=reason)
    return _outcome(move, event, 201 if count else 200)


def _postings(move: ChipMove, counted: Chips) -> list[Posting]:
    """What is posted; of a drawer's withdrawn chips also what is over or short of those that it has taken back."""
    kind = MoveKind(move.kind)
    if move.drawer is None:
        return [posting(_ROWS[kind], {}, chips=counted)]
    chips.lock_chip_set(move.house)
    rack = move.drawer.account(Account.SET_ASIDE)
    over = counted - chart.rack(move.house, rack, counted.chip_set)
    places = {"drawer": move.drawer.code}
    return [*chip_variance(rack, move.drawer.code, over), posting(_ROWS[kind], places, chips=counted)]


def _outcome(move: ChipMove, event: ChipMoveEvent, status: int) -> Outcome:
    body = {"move": selectors.describe_chip_move(move), "differs": isinstance(event, ChipCountsDiffered)}
    return Outcome(event, body, status, version=move.serial)
