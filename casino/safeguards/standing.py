"""How a player stands with the house: excluded or not, admitted or not, and what is left of the player's own limits.

Everything that begins or feeds play asks here, under the lock of the player's person, which the writes of this app take
too. What pays chips out asks only whether the player is a minor: an excluded player is paid.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet

from casino.bookkeeping.player_money import STATEMENT as PAID_IN
from casino.core import locks, sql
from casino.core.errors import Conflict
from casino.houses import control_points
from casino.houses.models import ClockTimestamp, House
from casino.players import persons
from casino.players.models import Player
from casino.safeguards.models import Exclusion, ExclusionKind, ExclusionMatch, LimitKind, Minor

#: Where a player has what was read under the lock.
_STANDING = "_standing"


@dataclass(frozen=True, slots=True)
class Used:
    """A limit in force, and how much of it is used: minor units, or minutes."""

    kind: str
    span: str
    most: int
    used: int

    @property
    def left(self) -> int:
        """What is left of it."""
        return max(self.most - self.used, 0)


@dataclass(frozen=True, slots=True)
class Standing:
    """What was read of a player. `limits` is None where they were not asked for."""

    excluded: bool
    admitted: bool
    limits: tuple[Used, ...] | None = None
    #: Number of the record that the player is a minor; None where there is none that counts, or nobody asked for it.
    minor: int | None = None


#: SQL for whether an exclusion of the house counts now: until the end that was said, and where the player has asked for
#: it until it is lifted.
_COUNTS = (
    "exclusion.house_id = {house} AND exclusion.lifted_at IS NULL AND (exclusion.kind = 'self' "
    "OR exclusion.until IS NULL OR exclusion.until > clock_timestamp())"
)
#: SQL for whether the player of this column is excluded now: by an exclusion of the player, or by one whose marks the
#: player's person has.
EXCLUDED = (
    "(EXISTS (SELECT FROM safeguards_exclusion exclusion WHERE exclusion.player_id = {player} AND {counts}) "
    "OR EXISTS (SELECT FROM safeguards_exclusionmatch match JOIN safeguards_exclusion exclusion "
    "ON exclusion.id = match.exclusion_id WHERE match.house_id = {house} AND match.player_id = {player} "
    "AND match.cleared_at IS NULL AND {counts}))"
).replace("{counts}", _COUNTS)
#: SQL for the newest gaming day that is open; null where none is.
_DAY = "(SELECT {column} FROM ledger_period WHERE book = {house} AND closed_at IS NULL ORDER BY id DESC LIMIT 1)"
#: SQL for whether the player of this column was admitted on the gaming day.
ADMITTED = (
    "EXISTS (SELECT FROM safeguards_admission admission WHERE admission.house_id = {house} "
    "AND admission.player_id = {player} AND admission.day = " + _DAY.replace("{column}", "name") + ")"
)
_OF = {"house": "player.house_id", "player": "player.id"}
#: Each limit of one player that has begun, with what is used of it: at least one row for a player whom there is.
_STATEMENT = f"""
SELECT {EXCLUDED.format(**_OF)}, {ADMITTED.format(**_OF)},
    (SELECT max(minor.number) FROM safeguards_minor minor JOIN safeguards_exclusion bar ON bar.id = minor.exclusion_id
        WHERE minor.house_id = player.house_id AND minor.player_id = player.id
        AND (minor.state = 'recorded' OR minor.state = 'settled' AND bar.lifted_at IS NULL)),
    one.kind, one.span, one.most,
    CASE
        WHEN one.kind IS NULL THEN NULL
        WHEN one.kind = '{LimitKind.TIME}' THEN (
            SELECT coalesce(floor(sum(extract(epoch FROM
                coalesce(seating.left_at, clock_timestamp()) - greatest(seating.sat_at, span.since))) / 60), 0)::bigint
            FROM tables_seating seating WHERE seating.house_id = player.house_id AND seating.player_id = player.id
            AND coalesce(seating.left_at, clock_timestamp()) > span.since)
        WHEN one.kind = '{LimitKind.LOSS}' THEN (SELECT coalesce(sum(flow.paid_in), 0)::bigint FROM ({PAID_IN}) flow)
        ELSE (SELECT coalesce(sum(flow.paid_in) FILTER (WHERE (flow.paid_in > 0) = flow.first), 0)::bigint
            FROM ({PAID_IN}) flow)
    END
FROM players_player player JOIN houses_house house ON house.id = player.house_id
LEFT JOIN LATERAL (
    SELECT DISTINCT ON (kind, span) kind, span, most FROM safeguards_playerlimit stated
    WHERE stated.house_id = player.house_id AND stated.player_id = player.id AND stated.starts_at <= clock_timestamp()
    ORDER BY kind, span, number DESC
) one ON one.most IS NOT NULL
LEFT JOIN LATERAL (
    SELECT CASE one.span
        WHEN 'week' THEN clock_timestamp() - interval '7 days'
        WHEN 'month' THEN clock_timestamp() - interval '30 days'
        ELSE coalesce({_DAY.format(column="opened_at", house="player.house_id")},
            clock_timestamp() - interval '1 day')
    END AS since
) span ON one.kind IS NOT NULL
WHERE player.house_id = %s AND player.ref = %s ORDER BY one.kind, one.span
"""  # noqa: S608 - constants


def reading(house: House, ref: str) -> sql.Statement:
    """What a player's standing is read by; `read` takes what it has found."""
    return _STATEMENT, [house.id, ref]


def lock(house: House, ref: str) -> Player:
    """As `persons.lock`, and read how the player stands. Raises NotFound."""
    return lock_beside(house, ref)[0]


def lock_beside(house: House, ref: str, *beside: sql.Statement) -> tuple[Player, list[list[Any]]]:
    """As `persons.lock_beside`, and read how the player stands, in the same round trip. Raises NotFound."""
    points = control_points.reading(house)
    player, (found, stated, *others) = persons.lock_beside(house, ref, reading(house, ref), points, *beside)
    control_points.of(house, stated)
    note(player, _standing(found))
    return player, others


def lock_known(house: House, player: Player, *beside: sql.Statement) -> list[list[Any]]:
    """Lock the person of a player who was read before, read how the player stands, and then run `beside`, in one round
    trip; returns what each of those has found."""
    with locks.gathered() as locking:
        locks.lock_person(player.pk)
    found, *others = sql.together(*locking, reading(house, player.ref), *beside)[len(locking) :]
    read(player, found)
    return others


def read(player: Player, found: list[tuple[Any, ...]]) -> None:
    """Let a player stand as `reading` has found."""
    note(player, _standing(found))


def note(player: Player, standing: Standing) -> None:
    """Let a player stand as it was read."""
    player.__dict__[_STANDING] = standing


def of(house: House, player: Player) -> Standing:
    """How a player stands: as it was read with the player, otherwise as it is now."""
    if _STANDING not in player.__dict__:
        read(player, sql.read(reading(house, player.ref)))
    found: Standing = player.__dict__[_STANDING]
    return found


def with_limits(house: House, player: Player) -> tuple[Used, ...]:
    """The player's limits in force."""
    return _whole(house, player).limits or ()


def _whole(house: House, player: Player) -> Standing:
    """How a player stands, read again where it was read without limits."""
    if (known := of(house, player)).limits is not None:
        return known
    read(player, sql.read(reading(house, player.ref)))
    return of(house, player)


def lasting() -> Q:
    """For a query of exclusions that were not lifted: those that have not ended either."""
    return Q(kind=ExclusionKind.SELF) | Q(until=None) | Q(until__gt=ClockTimestamp())


def in_force(house: House, player: Player) -> QuerySet[Exclusion]:
    """The exclusions that count for a player now, by number: the player's own, and those with marks of the person."""
    matched = ExclusionMatch.objects.filter(house=house, player=player, cleared_at=None).values("exclusion")
    own = Q(player=player) | Q(pk__in=matched)
    return Exclusion.objects.filter(own, lasting(), house=house, lifted_at=None).order_by("number")


# --- Refusals -------------------------------------------------------------------------------------------------------


def require_not_excluded(house: House, player: Player) -> None:
    """Raises Conflict player_excluded."""
    if of(house, player).excluded:
        raise refused(player.ref)


def require_none_excluded(house: House, seated: Iterable[tuple[int, Player]]) -> None:
    """Refuse to deal to these seats while one of the players is excluded. Raises Conflict player_excluded."""
    out = [(seat, player.ref) for seat, player in seated if of(house, player).excluded]
    if out:
        seats = [seat for seat, _ in out]
        raise Conflict(
            f"Seat {', '.join(map(str, seats))} is not dealt in any more: the player is excluded. Let the seat sit out "
            "or leave; its chips are paid out.",
            code="player_excluded",
            player=out[0][1],
            seats=seats,
        )


def require_play(house: House, player: Player) -> None:
    """Refuse whom the house lets not play now. Raises Conflict player_excluded, and not_admitted where the house admits
    players by the gaming day."""
    require_not_excluded(house, player)
    if control_points.in_force(house).admission_required and not of(house, player).admitted:
        raise Conflict(
            f"{player.ref} has not been admitted on this gaming day: see that the player is of age, and admit "
            f"(players/{player.ref}/admission).",
            code="not_admitted",
            player=player.ref,
        )


def require_seat(house: House, player: Player) -> None:
    """Refuse a seat. Raises as `require_play`, and Conflict player_limit_reached for a player whose time is over."""
    require_play(house, player)
    for limit in with_limits(house, player):
        if limit.kind == LimitKind.TIME and not limit.left:
            raise _reached(house, player, limit)


def require_buy_in(house: House, player: Player, amount: int, *, within_limits: bool = True) -> None:
    """Refuse to sell chips for `amount` minor units. `within_limits` is false where an entry is put right: what has
    been sold was sold. Raises as `require_seat`, and Conflict player_limit_reached where it would be more than the
    player's limits leave."""
    require_play(house, player)
    if not within_limits:
        return
    for limit in with_limits(house, player):
        if limit.left < (1 if limit.kind == LimitKind.TIME else amount):
            raise _reached(house, player, limit)


def require_no_minor(house: House, player: Player, *, payout: int | None = None) -> None:
    """Refuse to pay a player who is a minor: stakes are given back by the settlement (`casino/cage/minors.py`), and
    winnings are not paid. `payout`: by the number of the held payout that is to be paid, which may be what is given
    back. Raises Conflict player_is_minor."""
    minor = _whole(house, player).minor
    if minor is None:
        return
    if payout is not None and Minor.objects.filter(house=house, player=player, payout=payout).exists():
        return
    raise Conflict(
        f"{player.ref} is a minor: stakes are given back, and winnings are not paid. Compliance settles it "
        f"(minors/{minor}).",
        code="player_is_minor",
        player=player.ref,
        minor=minor,
    )


def refused(ref: str) -> Conflict:
    """The refusal of a player who is excluded. It says no more than that."""
    return Conflict(
        f"{ref} is excluded: no seat, no chips, no hand. What the house owes is paid out.",
        code="player_excluded",
        player=ref,
    )


def _reached(house: House, player: Player, limit: Used) -> Conflict:
    left = f"{limit.left} minutes" if limit.kind == LimitKind.TIME else house.money(limit.left)
    return Conflict(
        f"The limit that {player.ref} has set leaves {left} ({limit.kind}, {limit.span}).",
        code="player_limit_reached",
        player=player.ref,
        limit=limit.kind,
        span=limit.span,
        left=limit.left,
    )


def _standing(found: list[tuple[Any, ...]]) -> Standing:
    limits = tuple(Used(*row[3:]) for row in found if row[3] is not None)
    if not found:
        return Standing(False, False, ())
    excluded, admitted, minor, *_ = found[0]
    return Standing(excluded, admitted, limits, minor)
