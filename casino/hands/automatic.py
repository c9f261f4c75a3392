"""Playing the automatic act where a seat's time to act has run out.

One query finds the hands; each is then played in its own transaction, which locks its table, as every write there
does, and looks again. If a console or another worker has added a line meanwhile, that line counts: the number of lines
is another one, and nothing is done. A console that comes second is refused by its If-Match.
"""

import logging
from time import monotonic

from casino.audit.services import Actor
from casino.core import locks, patience
from casino.hands import clock, services
from casino.hands.clock import Overdue
from casino.hands.models import Hand
from casino.tables.models import Table

log = logging.getLogger(__name__)

#: Seconds for which this process leaves a hand alone that it could not play on, unless a line is added.
PUT_OFF = 10.0
#: Seconds after which a run begins no further hand; the next run does. Well below the task's hard limit.
ENOUGH = 10.0
#: Seconds that a lock is waited for: one table that is held up must not hold up the clocks of all others.
PATIENCE = 2.0

#: Hands that could not be played on, and until when (`monotonic`) they are left alone.
_put_off: dict[Overdue, float] = {}


def run() -> int:
    """Play the automatic act of every hand whose time is over; returns how many were played. No hand keeps another from
    its turn: what goes wrong is named in the server's log, and tried again later."""
    begun, played = monotonic(), 0
    for hand in [hand for hand, until in _put_off.items() if until <= begun]:
        del _put_off[hand]
    for hand in clock.overdue():
        if hand in _put_off:
            continue
        if monotonic() - begun > ENOUGH:
            break
        if _played(hand):
            played += 1
        else:
            _put_off[hand] = monotonic() + PUT_OFF
    return played


def _played(found: Overdue) -> bool:
    try:
        return play(found)
    except Exception as error:
        # A day that is closed, a log that was rolled back, a lock that is held: nothing was written, and it may pass.
        # What house, ledger and engine refuse has a code; of anything else the log needs to know where it happened.
        problem = f"{type(error).__name__}: {error}"
        log.error("hand %d: its automatic act waits, %s", found.hand_id, problem, exc_info=not hasattr(error, "code"))
        return False


def play(found: Overdue) -> bool:
    """Play the automatic act of one hand, if it has not changed since and its time is over. Returns whether it
    was played. Raises what a console's act would be refused with."""

    def operation() -> bool:
        table = locks.lock(Table, locks.Rank.DESK, id=found.table_id)
        hand = locks.lock(Hand, locks.Rank.HAND, id=found.hand_id)
        if clock.overdue(found.hand_id) != [found]:
            return False
        hand.table, hand.house = table, table.house
        return services.play_automatic(hand, Actor.system(f"clock:{hand.name}:{found.lines + 1}"))

    with patience.at_most(PATIENCE):
        return locks.in_transaction(operation)
