"""The time to act: when it runs, when it is over, and which lines are written then.

It runs for the seat whose turn it is, from the last line of the hand's log that was more than an aside (from the deal
before the first such line, and never from before the table's time was changed, or a dispute of the hand withdrawn), by
the database's clock. In physical mode it runs as well, but where the automatic act names cards that the house does not
know, no clock runs: the dealer sees to it. An act that comes late is good until the worker has played the automatic
one.
"""

from dataclasses import dataclass

import engine
from casino.core import moments, sql
from casino.hands.models import Hand, HandState

_RUNNING = """
SELECT h.id AS hand_id, h.table_id, coalesce(last.seq, 0) AS lines,
    greatest(coalesce(turn.at, h.started_at), t.time_to_act_since, h.resumed_at)
        + make_interval(secs => t.time_to_act) AS act_by
FROM tables_table t JOIN hands_hand h ON h.table_id = t.id AND h.state = 'playing'
LEFT JOIN LATERAL (
    SELECT seq FROM hands_handline WHERE house_id = h.house_id AND hand_id = h.id ORDER BY seq DESC LIMIT 1
) last ON TRUE
LEFT JOIN LATERAL (
    SELECT at FROM hands_handline WHERE house_id = h.house_id AND hand_id = h.id AND NOT aside ORDER BY seq DESC LIMIT 1
) turn ON TRUE
WHERE t.time_to_act IS NOT NULL
"""
_ACT_BY = f"SELECT act_by FROM ({_RUNNING}) running WHERE hand_id = %s"  # noqa: S608 - made of constants
_OVERDUE = f"SELECT hand_id, table_id, lines FROM ({_RUNNING}) running WHERE act_by <= clock_timestamp()"  # noqa: S608


@dataclass(frozen=True, slots=True)
class Overdue:
    """A hand in play whose log has so many lines, and whose time to act is over."""

    hand_id: int
    table_id: int
    lines: int


def lines(game: engine.Hand) -> tuple[str, ...]:
    """What is written when the time is over: that it is, unless a console has said so, and the automatic act; or what
    the game says of a time in which several may act.

    Nothing where no clock runs: at the house's turn in most games, after the end, where it is open whose turn it is,
    and where the act would name cards that the house does not know.
    """
    return game.late()


def act_by(hand: Hand, game: engine.Hand) -> str | None:
    """When the time of the seat whose turn it is runs out (ISO 8601, UTC); None where no clock runs."""
    if hand.table.time_to_act is None or hand.state != HandState.PLAYING or not lines(game):
        return None
    for (moment,) in sql.rows(_ACT_BY, [hand.id]):
        return moments.utc(moment)
    return None


def overdue(hand_id: int | None = None) -> list[Overdue]:
    """The hands whose time is over now, the longest first; or this one alone, if its time is over."""
    if hand_id is not None:
        return [Overdue(*row) for row in sql.rows(f"{_OVERDUE} AND hand_id = %s", [hand_id])]
    return [Overdue(*row) for row in sql.rows(f"{_OVERDUE} ORDER BY act_by", [])]
