"""Reading tables."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import NullIf

from casino.bookkeeping import chart
from casino.bookkeeping.accounts import Account
from casino.core import sql
from casino.core.errors import NotFound
from casino.houses.models import House
from casino.players.models import Player
from casino.safeguards import reality, standing
from casino.staff.models import Role, Staff
from casino.tables.models import DealerTurn, Seating, SeatKey, Table, TableSession


def get(house: House, code: str) -> Table:
    """One table of the house. Raises NotFound."""
    table = Table.objects.filter(house=house, code=code).first()
    if table is None:
        raise NotFound(f"This house has no table {code}.")
    return table


def open_session(table: Table) -> TableSession | None:
    """The session in progress, or None when the table is closed."""
    return TableSession.objects.filter(table=table, closed_at=None).first()


_OF = {"house": "tables_tablesession.house_id", "player": "players_player.id"}
_SEATED = f"""
SELECT {sql.columns(Seating)}, {sql.columns(TableSession)}, {sql.columns(Player)},
    {standing.EXCLUDED.format(**_OF)}, {standing.ADMITTED.format(**_OF)}
FROM tables_tablesession
JOIN tables_seating ON tables_seating.session_id = tables_tablesession.id
JOIN players_player ON players_player.id = tables_seating.player_id
WHERE tables_tablesession.table_id = %s::bigint AND tables_tablesession.closed_at IS NULL
    AND tables_seating.left_at IS NULL
ORDER BY tables_seating.seat
"""  # noqa: S608 - names from the code only


def seated(table: Table) -> list[Seating]:
    """Who sits there now, in play order, each with player and session; how each player stands is read with them."""
    return those_seated(sql.read(asking_seated(table)))


def asking_seated(table: Table) -> sql.Statement:
    """What `seated` reads, for who reads it with something else; `those_seated` takes what it has found."""
    return sql.Bound(_SEATED, [table.id])


def those_seated(rows: Iterable[tuple[Any, ...]]) -> list[Seating]:
    """Who sits there, by what `asking_seated` has found."""
    found = []
    for row in rows:
        seating, session, player, excluded, admitted = sql.parts(row, Seating, TableSession, Player)
        standing.note(player, standing.Standing(excluded, admitted))
        seating.session, seating.player = session, player
        found.append(seating)
    return found


def dealers(house: House) -> QuerySet[Staff]:
    """Every active dealer of the house with the newest turn: `table` (None where it has ended), `began_at`, `ended_at`,
    `ended_with`."""
    newest = DealerTurn.objects.filter(house=house, dealer=OuterRef("pk")).order_by("-id")
    here = newest.filter(ended_at=None).values("table__code")[:1]
    found = Staff.objects.filter(house=house, is_active=True, roles__contains=[Role.DEALER])
    return found.annotate(
        table=Subquery(here),
        began_at=Subquery(newest.values("began_at")[:1]),
        ended_at=Subquery(newest.values("ended_at")[:1]),
        ended_with=NullIf(Subquery(newest.values("ended_with")[:1]), Value("")),
    )


def has_device(seating: Seating) -> bool:
    """Whether the player of a taken seat has a device: a key that is good."""
    return SeatKey.objects.filter(seating=seating, replaced_at=None).exists()


def stacks(table: Table, seatings: list[Seating]) -> dict[str, int]:
    """Chips in front of each seated player, by player reference, in minor units."""
    codes = {seating.player.ref: table.stack_account(seating.player.ref) for seating in seatings}
    balances = chart.balances(table.house, codes.values()) if codes else {}
    return {ref: balances[code] for ref, code in codes.items()}


#: The accounts of the cukassza and of the bank.
_BETWEEN_HANDS = Account.CUKASSZA, Account.BANK


@dataclass(frozen=True, slots=True)
class Carried:
    """Money at a table between two hands, in minor units: a pot that no one has won, and the bank of the seats."""

    cukassza: int
    bank: int

    @property
    def whole(self) -> int:
        """What the next hand begins with."""
        return self.cukassza + self.bank


def carried(table: Table) -> Carried:
    """What is carried over to the next hand."""
    return before_a_hand(table, [])[1]


def before_a_hand(table: Table, seatings: list[Seating]) -> tuple[dict[str, int], Carried]:
    """Chips in front of these players, by player reference, and what is carried over to the next hand."""
    codes = {seating.player.ref: table.stack_account(seating.player.ref) for seating in seatings}
    between = [table.account(number) for number in _BETWEEN_HANDS]
    found = chart.balances(table.house, [*codes.values(), *between])
    return {ref: found[code] for ref, code in codes.items()}, Carried(*(found[code] for code in between))


_MONEY = chart.MONEY_AT.format(
    book="tables_table.house_id", commodity="%s::text", codes="%s::text[] || array_agg(%s::text || taken.player)"
)
_READ = f"""
SELECT {sql.columns(Table)}, (SELECT login FROM staff_staff WHERE id = tables_table.dealer_id),
    (SELECT opener FROM tables_tablesession WHERE table_id = tables_table.id AND closed_at IS NULL), around.seats,
    around.money FROM tables_table CROSS JOIN LATERAL (
    SELECT coalesce(json_agg(json_build_array(taken.seat, taken.player, taken.device, taken.sat_long)
                    ORDER BY taken.seat) FILTER (WHERE taken.seat IS NOT NULL), '[]') AS seats,
           {_MONEY} AS money
    FROM (SELECT) one LEFT JOIN (
        SELECT seating.seat, player.ref AS player, EXISTS (
            SELECT FROM tables_seatkey WHERE seating_id = seating.id AND replaced_at IS NULL) AS device,
            EXISTS (SELECT FROM safeguards_realitycheck raised WHERE raised.house_id = seating.house_id
                AND raised.player_id = seating.player_id
                AND {reality.OPEN.format(check="raised")}) AS sat_long
        FROM tables_tablesession session
        JOIN tables_seating seating ON seating.session_id = session.id AND seating.left_at IS NULL
        JOIN players_player player ON player.id = seating.player_id
        WHERE session.table_id = tables_table.id AND session.closed_at IS NULL
    ) taken ON true
) around WHERE tables_table.house_id = %s::uuid AND tables_table.code = %s::text
"""  # noqa: S608 - names from the code only


def _read(house: House, code: str) -> tuple[Table, dict[str, Any], list[Any], dict[str, int]]:
    """A table, its dealer's login and the opener of its session, its taken seats (number, player, device, whether a
    reality check is open), and what lies there, by account code. Raises NotFound."""
    for row in sql.bound(*_reading(house, code)):
        return _found(house, row)
    raise NotFound(f"This house has no table {code}.")


def _reading(house: House, code: str) -> sql.Statement:
    named = Table(house=house, code=code)
    between = [named.account(number) for number in _BETWEEN_HANDS]
    return _READ, [house.currency, between, named.stack_account(""), house.id, code]


def _found(house: House, row: tuple[Any, ...]) -> tuple[Table, dict[str, Any], list[Any], dict[str, int]]:
    table = sql.built(Table, row[:-4])
    table.house = house
    dealer, opener, seats, money = row[-4:]
    return table, {"dealer": dealer, "opener": opener}, seats, money


def describing(table: Table) -> sql.Statement:
    """What `describe` reads, for who reads it with something else; `described` takes what it has found."""
    return _reading(table.house, table.code)


def described(table: Table, found: list[tuple[Any, ...]]) -> dict[str, Any]:
    """As `describe`, by what `describing` has found."""
    _, evening, seats, money = _found(table.house, found[0])
    return _described(table, evening, seats, money)


def describe_now(house: House, code: str) -> dict[str, Any]:
    """A table of the house as its console sees it. Raises NotFound."""
    return _described(*_read(house, code))


def describe(table: Table) -> dict[str, Any]:
    """A table as its console sees it: the caller's row, with seats and money."""
    _, evening, seats, money = _read(table.house, table.code)
    return _described(table, evening, seats, money)


def without_money(described: dict[str, Any]) -> dict[str, Any]:
    """The same for an administrator, who reads no money: null in its place, at seats too."""
    seats = [seat | {"stack": None} for seat in described["seats"]]
    return described | {"seats": seats, "cukassza": None, "bank": None}


def _described(table: Table, evening: dict[str, Any], seats: list[Any], money: dict[str, int]) -> dict[str, Any]:
    cukassza, bank = (money[table.account(number)] for number in _BETWEEN_HANDS)
    return {
        "table": table.code,
        "game": table.game,
        "area": table.area,
        "options": table.options,
        "state": table.state,
        "version": table.version,
        "currency": table.house.currency,
        "seats": [
            {"seat": seat, "player": player, "stack": money[table.stack_account(player)], "device": device}
            for seat, player, device, _ in seats
        ],
        "reality_checks": [seat for seat, _, _, sat_long in seats if sat_long],
        "seat_count": table.seats,
        "next_button": table.button,
        "hand_count": table.hands_dealt,
        "prepared_deal": table.prepared_deal or None,
        **evening,
        "cukassza": cukassza,
        "bank": bank,
        "limits": {"min_stack": table.min_stack, "max_stack": table.max_stack},
        "carryover_on_close": table.carryover_on_close,
        "terms_to_come": table.terms_to_come,
        "client_seeds": table.client_seeds,
        "time_to_act": table.time_to_act,
        "device_play": table.device_play,
        "seat_fee": {"amount": table.seat_fee, "per": table.seat_fee_per},
    }
