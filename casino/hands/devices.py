"""Playing from a player's own device: one act of the player's seat, in an electronic hand, where the table allows it.

A device writes under the key of its seat. It has no version of the table: it names the hand, and how many lines of its
log it has seen. The same again is answered as the first time; where others have acted since, nothing is done.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import engine
from casino.audit import selectors as audit
from casino.audit.events.hands import HandActed
from casino.audit.services import Receipt
from casino.core import locks
from casino.core.errors import Conflict, NotFound, Unprocessable
from casino.core.work import Work
from casino.hands import arranging, deals, openings, selectors, services
from casino.hands.models import Hand, HandState, Mode
from casino.tables import services as tables
from casino.tables.keys import Holder, lock_seat
from casino.tables.models import Seating, Table
from engine.errors import EngineError

#: The hand as its player may know it, and the receipt of the event.
Acted = tuple[dict[str, Any], Receipt]


@dataclass(frozen=True, slots=True)
class Act:
    """What a device asks for: the `hand`, how many lines of its log it has seen, and an action without its actor."""

    hand: str
    line: int
    action: Mapping[str, Any]


def act(*, holder: Holder, request_id: str, asked: Act) -> Acted:
    """Take one act of the player's seat.

    Raises NotFound for a seat that was left, Conflict device_play_off, no_hand, hand_over, not_electronic and
    hand_moved_on, Unprocessable no_such_line, and the engine's error where the act is not legal.
    """

    def operation() -> Acted:
        table, _ = lock_seat(holder)
        hand = _playable(table, asked.hand)
        action = {"actor": f"p{_number(hand, holder.seating)}", **asked.action}
        log = selectors.log(hand)
        if _is_said_already(hand, log, asked.line, action):
            receipt = audit.of_event(
                table.house, table.chain, HandActed.KIND, hand=hand.name, first_line=asked.line + 1
            )
        else:
            _require_newest(hand, asked.line, log, action)
            receipt = _take(holder, request_id, hand, action)
        # Read before the transaction ends: an answer that fails afterwards would deny what is written.
        return openings.for_player(holder.seating, holder.since), receipt

    return locks.in_transaction(operation)


def _playable(table: Table, name: str) -> Hand:
    """The hand that is played, if devices may play it."""
    if not table.device_play:
        raise Conflict(f"At table {table.code} the dealer enters what players do.", code="device_play_off")
    hand = selectors.of_table(table, selectors.unsettled(table), name)
    if hand.mode != Mode.ELECTRONIC:
        raise Conflict(f"Hand {name} is of a real pack: its dealer acts.", code="not_electronic", mode=hand.mode)
    if hand.state != HandState.PLAYING:
        raise Conflict(f"Hand {name} is over.", code="hand_over", state=hand.state, expected={})
    return hand


def _number(hand: Hand, seating: Seating) -> int:
    """The engine's number of the player's seat. Raises NotFound for a player who was not dealt in."""
    dealt_in = any((one["seat"], one["player"]) == (seating.seat, seating.player.ref) for one in hand.seats)
    if not dealt_in:
        raise NotFound(f"Seat {seating.seat} was not dealt into {hand.name}.")
    return openings.number_of(hand, seating)


def _is_said_already(hand: Hand, log: list[str], line: int, action: Mapping[str, Any]) -> bool:
    """Whether the line that follows those that the device has seen is this very act."""
    if line >= len(log):
        return False
    before = engine.resume(selectors.setup(hand), log[:line], deals.shuffle(hand))
    grammar = selectors.grammar(hand)
    try:
        return arranging.arranged(before, grammar, arranging.composed(grammar, action, 0), {}) == log[line]
    except (EngineError, Unprocessable):
        return False


def _require_newest(hand: Hand, line: int, log: list[str], action: Mapping[str, Any]) -> None:
    """The device has seen the whole log, or says what may be said while others act."""
    if line > len(log):
        raise Unprocessable(f"Hand {hand.name} has {len(log)} lines.", code="no_such_line", max=len(log))
    if line < len(log) and not selectors.grammar(hand).verb(action["actor"], action["verb"]).beside:
        raise Conflict(
            f"Somebody has acted in {hand.name} meanwhile; look, then decide again.",
            code="hand_moved_on",
            expected={"came_before": selectors.seen_log(hand)[line:]},
        )


def _take(holder: Holder, request_id: str, hand: Hand, action: Mapping[str, Any]) -> Receipt:
    work = Work(hand.house, holder.actor(request_id))
    outcome = services.take(work, hand, selectors.state(hand), {}, [action], [])
    tables.advance(hand.table, work)
    return work.record(chain=hand.table.chain, event=tables.at_version(outcome.event, hand.table.version))
