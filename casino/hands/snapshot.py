"""A hand's row as replay and comparison need it, without what a model's instance costs to make."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from casino.tables.models import Table


@dataclass(slots=True)
class HandSnapshot:
    """To be read in place of a :class:`casino.hands.models.Hand`, whose fields these are: all that a replay starts
    from and is compared with."""

    id: int
    house_id: UUID
    table: Table
    session_id: int
    name: str
    mode: str
    game: str
    rules: str
    carry: int
    commitment: str
    sealed_seed: bytes
    state: str
    disputes_withdrawn: int
    digest: str
    handle: int | None
    settlement: int | None
    options: dict[str, Any]
    seats: list[dict[str, Any]]
    stacks: list[int]
    fees: dict[str, Any]
    series: dict[str, Any]
    client_seeds: dict[str, str]
    cards_roots: list[str]
    result: dict[str, Any] | None
    ruling: dict[str, Any] | None

    def player_of(self, seat: int) -> str:
        """Player reference of the engine's seat `seat` (1 is p1)."""
        player: str = self.seats[seat - 1]["player"]
        return player
