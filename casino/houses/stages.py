"""What a house may do in its stage: the one check of every write that begins something with guests.

A house that is being founded sets up people, places, chips and trays, and serves no guest. A suspended one opens no
table, deals no hand and sells no chips; its drawers open, pay out and are counted. A closed one does none of it.
"""

from typing import Any

from casino.core import kept, sql
from casino.core.errors import Conflict
from casino.houses.models import House, HouseStage

#: Stages in which days and drawers open, and those in which guests play and buy.
_SERVES = frozenset({HouseStage.LIVE, HouseStage.SANDBOX, HouseStage.SUSPENDED})
_PLAYS = frozenset({HouseStage.LIVE, HouseStage.SANDBOX})


def now(house: House) -> HouseStage:
    """The house's stage as the database has it: called after the locks of a write."""
    return kept.once(_key(house), lambda: _stage(sql.read(reading(house))))


def reading(house: House) -> sql.Statement:
    """What `now` reads, for who reads it with the lock; `read` takes what it has found."""
    return "SELECT stage FROM houses_house WHERE id = %s", [house.pk]


def read(house: House, found: list[tuple[str]]) -> None:
    """Let the transaction go by what `reading` has found."""
    kept.keep(_key(house), _stage(found))


def changed(house: House) -> None:
    """Let the transaction read the stage again."""
    kept.drop(_key(house))


def _key(house: House) -> tuple[str, Any]:
    return "stage", house.pk


def _stage(found: list[tuple[str]]) -> HouseStage:
    [(stage,)] = found
    return HouseStage(stage)


def require_serving(house: House) -> None:
    """Refuse to open a gaming day or a drawer, by the house's stage as the database has it: called when the place is
    locked, which a closing of the house waits for. Raises Conflict house_not_live."""
    _require(now(house), _SERVES)


def require_opening(house: House) -> None:
    """Refuse to open a table, as :func:`require_serving`. Raises Conflict house_not_live."""
    _require(now(house), _PLAYS)


def require_playing(house: House) -> None:
    """Refuse a new hand or a sale of chips, by the stage that the request has read with its sign-in. Raises Conflict
    house_not_live."""
    _require(house.stage, _PLAYS)


def _require(stage: str, allowed: frozenset[HouseStage]) -> None:
    if stage not in allowed:
        raise Conflict(f"The house is {stage}: this waits until it is live.", code="house_not_live", stage=stage)
