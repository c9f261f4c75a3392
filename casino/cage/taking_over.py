"""A drawer that closes passes whole to another cashier, who opens a closed drawer with it.

The drawer is counted as for any close: blind by its cashier, once more by a supervisor where that differs. Instead of
emptying it into the vault, a person who may close it offers it to another drawer. The other cashier counts the same,
without knowing it, at the own sign-in: then what is over or short is posted, the shift ends with its Z slip, and a
shift of the other drawer begins with everything that was counted as its float. An open drawer takes nothing over, so
that every shift answers for one float that its own cashier has counted.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from casino.audit.events import AuditEvent
from casino.audit.events.cage import DrawerOpened, HandoverOffered
from casino.cage import closing, contents, handing, selectors
from casino.cage.blind import withheld
from casino.cage.closing import OpenWork
from casino.cage.contents import Contents, Withdrawn
from casino.cage.models import Drawer, Handover, HandoverKind, Shift
from casino.cage.readings import readers
from casino.cage.services import (
    AtDrawer,
    Pieces,
    keep_newest,
    newest_shift,
    require_at,
    shift_at_lock,
    write_at,
)
from casino.cage.signing import require_another
from casino.chips import selectors as chip_sets
from casino.core import commands, locks, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, Forbidden, Unprocessable
from casino.core.work import Outcome, Work
from casino.houses import control_points


def offer(
    *, command: Command, code: str, to_drawer: str, reason: str, open_work: OpenWork
) -> Answer:  # fmt: skip
    """Offer a counted drawer to another one, which is closed. Nothing moves yet.

    Raises NotFound, Conflict drawer_closed, drawer_open (for either), drawer_has_open_work, handover_open (at the other
    one), no_change, count_differs; Forbidden for a cashier where a difference has to be signed off, and then four_eyes
    and manager_needed; Unprocessable nothing_offered for an empty drawer.
    """

    def change(drawer: Drawer, work: Work) -> Outcome:
        shift = closing.require_counted(drawer)
        closing.require_no_open_work(drawer, open_work)
        to, its_shift, offered_to_it = selectors.with_shift_and_offer(drawer.house, to_drawer)
        if to.pk == drawer.pk:
            raise Conflict(f"Drawer {code} cannot be handed over to itself.", code="no_change")
        _require_free(to, its_shift, offered_to_it)
        counted = closing.accepted(command, drawer, shift)
        if not (counted.cash or counted.chips or counted.foreign or counted.withdrawn):
            raise Unprocessable(f"Drawer {code} is empty; close it.", code="nothing_offered")
        found = handing.new_handover(
            command, drawer, kind=HandoverKind.HAND_OVER, to_drawer=to, reason=reason, **counted.as_json()
        )
        offered = HandoverOffered(handover=selectors.describe_handover(found, revealed=True), reason=reason)
        return Outcome(offered, status=201)

    return write_at(command, code, change)


@dataclass(frozen=True, slots=True)
class _Both:
    """The drawer that closes, and the one that takes it over, at whose terminal this is written; and what is offered at
    each."""

    left: Drawer
    taking: Drawer
    offered: Handover | None
    offered_to_taking: Handover | None


@dataclass(frozen=True, slots=True)
class _BetweenDrawers:
    """Two drawers as the subject of a write at the terminal of the one that takes over, whose version is checked."""

    code: str
    from_code: str

    def open(self, command: Command) -> _Both:
        """Lock both. Raises NotFound, WrongTerminal, VersionConflict, Conflict no_change."""
        house = command.context.house
        if self.code == self.from_code:
            raise Conflict(f"Drawer {self.code} cannot take itself over.", code="no_change")
        codes = self.from_code, self.code
        here = [read(house, code) for read in (newest_shift, selectors.offers) for code in codes]
        reads = control_points.reading(house), chip_sets.reading(house), *here
        (left, taking), found = commands.locked_two(command, Drawer, locks.Rank.DESK, *reads, code=codes)
        control_points.read(house, found[0])
        chip_sets.read(house, found[1])
        left.house = taking.house = house
        for drawer, shifts in zip((left, taking), found[2:4], strict=True):
            keep_newest(drawer, shifts)
        both = _Both(left, taking, *(next(iter(offers), None) for offers in found[4:]))
        require_at(command.context, both.taking)
        command.require_version(both.taking.version)
        return both

    def chain(self, both: _Both) -> str:
        """That of the drawer that takes over."""
        return both.taking.chain

    def advance(self, both: _Both, work: Work, outcome: Outcome) -> tuple[int, AuditEvent]:
        """The next version of the drawer that takes over."""
        return AtDrawer(self.code).advance(both.taking, work, outcome)

    def answer(self, both: _Both, outcome: Outcome) -> Mapping[str, Any]:
        """The drawer that takes over, as it is now."""
        return AtDrawer(self.code).answer(both.taking, outcome)


def take(
    *, command: Command, code: str, from_drawer: str, cash: int, pieces: Pieces, foreign: int,
    withdrawn: Withdrawn | None = None,
) -> Answer:  # fmt: skip
    """Take over the drawer that is offered, after counting the same; it closes, and this one opens with it.

    Raises NotFound, Conflict no_change, drawer_open, handover_open (a float is offered to this one), no_float where
    that drawer is not offered to this one, handover_differs (and no figures); Forbidden four_eyes for who has opened,
    counted or offered it, or read what it must hold; Unprocessable for wrong pieces, and as
    :func:`~casino.cage.contents.named` for withdrawn sets.
    """

    def change(both: _Both, work: Work) -> Outcome:
        left, taking = both.left, both.taking
        _require_free(taking, shift_at_lock(taking), both.offered_to_taking)
        shift, found = _offered(both)
        named = contents.named(left.house, cash, pieces, foreign, withdrawn)
        counted = _counted_the_same(command, left, shift, found, named)
        with withheld(left):
            posted = _close(command, work, left, shift, counted, found)
        opened = handing.begin_shift(command, taking, cash, counted.chips)
        taken_from: dict[str, Any] = {"drawer": left.code, "foreign": foreign, "posting": posted}
        if counted.withdrawn:
            taken_from["withdrawn"] = counted.withdrawn_as_json()
        return Outcome(
            DrawerOpened(
                shift=opened.number,
                handover=found.number,
                float_cash=cash,
                float_chips=opened.float_chips,
                float_pieces=opened.float_pieces,
                taken_from=taken_from,
            )
        )

    return write.write(command, _BetweenDrawers(code, from_drawer), change)


# --- Parts ----------------------------------------------------------------------------------------------------------


def _require_free(taking: Drawer, shift: Shift | None, offered: Handover | None) -> None:
    """Only a closed drawer to which nothing is offered takes another one over. Raises Conflict drawer_open,
    handover_open."""
    if shift is not None:
        raise Conflict(
            f"Drawer {taking.code} is open; only a closed drawer takes another one over.", code="drawer_open"
        )
    if offered is not None:
        raise Conflict(f"A handover at drawer {taking.code} is open; take or withdraw it first.", code="handover_open")


def _offered(both: _Both) -> tuple[Shift, Handover]:
    """The shift of the one drawer, and the offer of it to the other. Both are locked, and so nobody else ends it.
    Raises Conflict no_float."""
    left, taking = both.left, both.taking
    shift, found = shift_at_lock(left), both.offered
    if shift is None or found is None or found.to_drawer_id != taking.pk:
        raise Conflict(f"Drawer {left.code} is not offered to drawer {taking.code}.", code="no_float")
    found.drawer, found.to_drawer = left, taking
    return shift, found


def _counted_the_same(command: Command, left: Drawer, shift: Shift, found: Handover, counted: Contents) -> Contents:
    """The count, if another person than those of the leaving drawer has counted what was offered."""
    before = (shift.opened_by, shift.counted_by, shift.recounted_by, found.offered_by)
    require_another(command, "opened, counted or offered this drawer", *before)
    if command.context.staff.login in readers(left, shift):
        raise Forbidden("You have read what this drawer must hold; somebody else takes it over.", code="four_eyes")
    offered = {"cash": found.cash, "pieces": found.pieces, "foreign": found.foreign}
    if counted.as_json() != offered | ({"withdrawn": found.withdrawn} if found.withdrawn else {}):
        raise Conflict(
            "Your count differs from what was offered. Count again, or have the handover withdrawn.",
            code="handover_differs",
        )
    return counted


def _close(command: Command, work: Work, left: Drawer, shift: Shift, counted: Contents, found: Handover) -> int:
    """End the shift of the leaving drawer, in its own chain; returns the ledger transaction. It is closed by who has
    offered it, for the reason given where a difference was signed off."""
    own, key = Work(work.house, work.actor), command.ledger_key("left")
    reason = found.reason if shift.recount is not None else ""
    handing.take_whole(command, own, found)
    closed = closing.end(key, own, left, shift, counted, by=found.offered_by, reason=reason, taken=found)
    _, event = AtDrawer(left.code).advance(left, own, Outcome(closed))
    own.record(chain=left.chain, event=event)
    return own.posted(key)
