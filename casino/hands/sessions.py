"""A game's session at a table: what is paid when the table closes or a player leaves, by the game's rules.

The app of tables does not know the games, so these writes are made here.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import engine
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict
from casino.hands import selectors, terms
from casino.tables import moving
from casino.tables import services as tables
from casino.tables.carrying import SessionFound
from casino.tables.models import Seating, Table


def close_table(*, command: Command, code: str, counted: Callable[[Table], int | None]) -> Answer:
    """Close the table; see :func:`casino.tables.services.close_table`."""
    return tables.close_table(command=command, code=code, session=found, counted=counted)


def leave(*, command: Command, code: str, seat: int) -> Answer:
    """Let a player leave; see :func:`casino.tables.services.leave`."""
    return tables.leave(command=command, code=code, seat=seat, session=found)


def change_seat(*, command: Command, code: str, seat: int, to_seat: int) -> Answer:
    """Let a player take another seat; see :func:`casino.tables.moving.change_seat`."""
    return moving.change_seat(command=command, code=code, seat=seat, to_seat=to_seat, session=found)


def move(*, command: Command, code: str, seat: int, to_code: str, to_seat: int, ticket: int | None) -> Answer:
    """Let a player go to another table; see :func:`casino.tables.moving.move`."""
    return moving.move(
        command=command, code=code, seat=seat, to_code=to_code, to_seat=to_seat, session=found, ticket=ticket
    )


def found(table: Table, seatings: Sequence[Seating]) -> SessionFound:
    """What the game says of the series that the table session's last settled hand has left."""
    left = selectors.series(table)
    enough = len(seatings) >= terms.least_players(table.game, table.options)
    return SessionFound(engine.game_info(table.game).under_way(left), _owed(table, left), enough)


def _owed(table: Table, left: Mapping[str, Any]) -> Mapping[str, int]:
    """What every player is to be paid if a session that has left this series ends, in minor units."""
    if not left:
        return {}
    return engine.game_info(table.game).broken_off(left, terms.rules(table.game, table.options, table.seats))


def require_paid(table: Table, left: Mapping[str, Any]) -> None:
    """Refuse to begin a new session while the one that has left this series is unpaid. Raises Conflict
    session_under_way."""
    owed = {player: amount for player, amount in _owed(table, left).items() if amount}
    if owed:
        raise Conflict(
            "A session that is paid at its end is under way with other players. Continue with the players who began "
            "it, or close the table, which settles it.",
            code="session_under_way",
            owed=owed,
        )
