"""Limits that players set for themselves: of losses, of what they buy in for, of the time on a seat.

A lower limit counts at once; a higher one, and the end of one, 24 hours later, until when a player may think better of
it (LCCP 3.4.1 and RTS 12 of the UK's Gambling Commission). Limits are checked before a sale of chips is committed
(`casino/safeguards/standing.py`).
"""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Max, QuerySet

from casino.audit.events.safeguards import PlayerLimitSet
from casino.core import locks, moments, sql, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict
from casino.core.sql import database_time
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.houses.models import House
from casino.players import persons
from casino.players.models import Player
from casino.safeguards import standing
from casino.safeguards.models import LimitKind, PlayerLimit, Span

#: How long after it was asked for a higher limit counts.
DELAY = timedelta(hours=24)


def set_limit(*, command: Command, ref: str, kind: LimitKind, span: Span, most: int | None) -> Answer:
    """Set a limit in minor units, of time in minutes; None: no limit any more. A limit that waits is replaced by the
    new one as soon as that counts. Raises NotFound, Conflict no_change where the newest limit says the same."""

    def change(house: House, work: Work) -> Outcome:
        player = standing.lock(house, ref)
        now = database_time()
        [newest, in_force] = _newest(player, kind, span, now)
        if (newest.most if newest else None) == most:
            raise Conflict(f"{ref} has this limit already.", code="no_change")
        counts = in_force.most if in_force else None
        lower = most is not None and (counts is None or most <= counts)
        last = PlayerLimit.objects.filter(house=house).aggregate(last=Max("number"))["last"] or 0
        found = PlayerLimit.objects.create(
            house=house, number=last + 1, player=player, kind=kind, span=span, most=most,
            starts_at=now if lower else now + DELAY, set_by=command.context.staff, set_at=now,
        )  # fmt: skip
        event = PlayerLimitSet(
            number=found.number,
            player=ref,
            limit=str(kind),
            span=str(span),
            most=most,
            starts_at=moments.utc(found.starts_at),
        )
        return Outcome(event, describe(found), 201, version=found.number)

    return write.write(command, OfHouse(lock=locks.lock_safeguards), change)


def of_player(house: House, ref: str) -> dict[str, Any]:
    """A player's limits in force, with what is used and left of each, and those that wait. Raises NotFound."""
    player = persons.get(house, ref)
    used = standing.with_limits(house, player)
    now = database_time()
    return {
        "player": ref,
        "in_force": [
            {"limit": one.kind, "span": one.span, "most": one.most, "used": one.used, "left": one.left} for one in used
        ],
        "to_come": [describe(one) for one in pending(PlayerLimit.objects.filter(player=player), now)],
    }


def pending(rows: QuerySet[PlayerLimit], now: datetime) -> list[PlayerLimit]:
    """Those of these limits that wait, and that no newer one of the same kind has replaced."""
    waiting = []
    for one in rows.filter(starts_at__gt=now).select_related("player", "set_by").order_by("number"):
        newer = PlayerLimit.objects.filter(
            house=one.house_id, player=one.player_id, kind=one.kind, span=one.span, number__gt=one.number
        )
        if not newer.filter(starts_at__lte=one.starts_at).exists():
            waiting.append(one)
    return waiting


def describe(found: PlayerLimit) -> dict[str, Any]:
    """A limit as answers carry it."""
    return {
        "number": found.number,
        "player": found.player.ref,
        "limit": found.kind,
        "span": found.span,
        "most": found.most,
        "starts_at": moments.utc(found.starts_at),
        "set_at": moments.utc(found.set_at),
        "set_by": found.set_by.login,
    }


#: Who sits now, since when, and for how long over all seats of the gaming day without a break.
_SEATED = """
SELECT player.ref, tables_table.code, seating.seat, seating.sat_at,
    floor(extract(epoch FROM clock_timestamp() - seating.sat_at) / 60)::bigint,
    (SELECT floor(sum(extract(epoch FROM coalesce(other.left_at, clock_timestamp()) - other.sat_at)) / 60)::bigint
        FROM tables_seating other WHERE other.house_id = seating.house_id AND other.player_id = seating.player_id
        AND coalesce(other.left_at, clock_timestamp()) > clock_timestamp() - interval '1 day')
FROM tables_seating seating
JOIN tables_tablesession session ON session.id = seating.session_id
JOIN tables_table ON tables_table.id = session.table_id
JOIN players_player player ON player.id = seating.player_id
WHERE seating.house_id = %s AND seating.left_at IS NULL AND session.closed_at IS NULL
ORDER BY seating.sat_at, seating.id
"""


def seated_long(house: House, hours: int) -> list[dict[str, Any]]:
    """Players who have sat on seats for so many hours or longer within 24 hours, with the seat of now: whom the floor
    makes a reality check with."""
    return [
        {
            "player": ref, "table": table, "seat": seat, "since": sat_at, "minutes": minutes, "minutes_in_24_h": whole,
            "hours": whole // 60,
        }
        for ref, table, seat, sat_at, minutes, whole in sql.rows(_SEATED, [house.id])
        if whole >= 60 * hours
    ]  # fmt: skip


def _newest(
    player: Player, kind: LimitKind, span: Span, now: datetime
) -> tuple[PlayerLimit | None, PlayerLimit | None]:
    """The newest limit, and the one that counts now."""
    rows = PlayerLimit.objects.filter(house=player.house_id, player=player, kind=kind, span=span).order_by("-number")
    newest, counting = sql.together(rows[:1], rows.filter(starts_at__lte=now)[:1])
    return next(iter(newest), None), next(iter(counting), None)
