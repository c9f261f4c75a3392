"""Reality checks: after so many hours on seats, and again after as many more, the house says to a player how long it
has been (LCCP 3.4.1; the hours are the control point `reality_check_hours`).

Nobody asks for them: the clock raises them. One is open until somebody has spoken to the player and logged that, or the
player is gone.
"""

from dataclasses import dataclass

from django.db.models import Max

from casino.audit.events.safeguards import RealityCheckDue
from casino.audit.services import Actor, record
from casino.core import locks, sql
from casino.houses.control_points import in_force
from casino.houses.models import House
from casino.safeguards.models import InteractionKind, RealityCheck

_HOUR = 60

#: SQL for whether a reality check of this alias is open: raised within a day, and since then nobody has spoken to the
#: player.
OPEN = (
    "({check}.raised_at > clock_timestamp() - interval '1 day' "
    "AND NOT EXISTS (SELECT FROM safeguards_interaction talked WHERE talked.house_id = {check}.house_id "
    f"AND talked.player_id = {{check}}.player_id AND talked.kind = '{InteractionKind.REALITY_CHECK}' "
    "AND talked.at > {check}.raised_at))"
)
#: Who sits now, and for how many minutes over all seats: within 24 hours, and since the player was last spoken to, or a
#: check was last raised, if that is not so long ago.
_SITTING = f"""
SELECT player.id, player.ref, tables_table.code, seating.seat, floor(whole.seconds / 60)::integer,
    floor(since.seconds / 60)::integer
FROM tables_seating seating
JOIN tables_tablesession session ON session.id = seating.session_id AND session.closed_at IS NULL
JOIN tables_table ON tables_table.id = session.table_id
JOIN players_player player ON player.id = seating.player_id
CROSS JOIN LATERAL (SELECT clock_timestamp() AS now) clock
CROSS JOIN LATERAL (SELECT greatest(clock.now - interval '1 day',
    (SELECT max(at) FROM safeguards_interaction talked WHERE talked.house_id = seating.house_id
        AND talked.player_id = seating.player_id AND talked.kind = '{InteractionKind.REALITY_CHECK}'),
    (SELECT max(raised_at) FROM safeguards_realitycheck raised WHERE raised.house_id = seating.house_id
        AND raised.player_id = seating.player_id)) AS at) last
CROSS JOIN LATERAL (SELECT coalesce(sum(extract(epoch FROM coalesce(sat.left_at, clock.now)
        - greatest(sat.sat_at, clock.now - interval '1 day'))), 0) AS seconds FROM tables_seating sat
    WHERE sat.house_id = seating.house_id AND sat.player_id = seating.player_id
    AND coalesce(sat.left_at, clock.now) > clock.now - interval '1 day') whole
CROSS JOIN LATERAL (SELECT coalesce(sum(extract(epoch FROM coalesce(sat.left_at, clock.now)
        - greatest(sat.sat_at, last.at))), 0) AS seconds FROM tables_seating sat
    WHERE sat.house_id = seating.house_id AND sat.player_id = seating.player_id
    AND coalesce(sat.left_at, clock.now) > last.at) since
WHERE seating.house_id = %s AND seating.left_at IS NULL AND coalesce(seating.player_id = %s::bigint, true)
ORDER BY seating.id
"""  # noqa: S608 - names from the code only
#: Checks that are open, of players who sit somewhere now; the newest of each player.
_WAITING = f"""
SELECT DISTINCT ON (raised.player_id) raised.id FROM safeguards_realitycheck raised
WHERE raised.house_id = %s AND coalesce(raised.player_id = %s::bigint, true) AND {OPEN.format(check="raised")}
    AND EXISTS (SELECT FROM tables_seating seating JOIN tables_tablesession session ON session.id = seating.session_id
        WHERE seating.house_id = raised.house_id AND seating.player_id = raised.player_id
        AND seating.left_at IS NULL AND session.closed_at IS NULL)
ORDER BY raised.player_id, raised.number DESC
"""  # noqa: S608 - names from the code only


@dataclass(frozen=True, slots=True)
class Sitting:
    """A player on a seat: minutes on seats `within` 24 hours, and `since` the player heard of it last."""

    player_id: int
    player: str
    table: str
    seat: int
    within: int
    since: int


def sitting(house: House, player_id: int | None = None) -> list[Sitting]:
    """Who sits now, or whether this player does, and for how long."""
    return [Sitting(*row) for row in sql.rows(_SITTING, [house.id, player_id])]


def raise_due(house: House) -> list[int]:
    """Raise the reality checks that are due in a house, each with its event; returns their numbers. Repeated, it raises
    nothing twice."""
    hours = in_force(house).reality_check_hours
    if not hours or not any(one.since >= hours * _HOUR for one in sitting(house)):
        return []

    def operation() -> list[int]:
        locks.lock_safeguards(house.id)
        last = RealityCheck.objects.filter(house=house).aggregate(last=Max("number"))["last"] or 0
        due = [one for one in sitting(house) if one.since >= hours * _HOUR]
        for number, one in enumerate(due, last + 1):
            RealityCheck.objects.create(
                house=house, number=number, player_id=one.player_id, table=one.table, seat=one.seat, minutes=one.within
            )
            event = RealityCheckDue(
                number=number, player=one.player, table=one.table, seat=one.seat, minutes=one.within
            )
            record(chain=house.chain, house=house, actor=Actor.system("clock:reality_checks"), event=event)
        return [*range(last + 1, last + 1 + len(due))]

    return locks.in_transaction(operation)


def is_waiting(house: House, player_id: int) -> bool:
    """Whether a reality check of a player waits."""
    return bool(waiting(house, player_id))


def waiting(house: House, player_id: int | None = None) -> list[int]:
    """Ids of the reality checks that wait for somebody to speak to the player, the newest of each player, or of this
    one."""
    return [found for (found,) in sql.rows(_WAITING, [house.id, player_id])]
