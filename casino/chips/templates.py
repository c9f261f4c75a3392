"""Templates: what a drawer begins with and keeps for change, and what a table's tray should hold, in dated versions
that are never edited."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet

from casino.chips import selectors
from casino.chips.models import ChipSet, PlaceKind, Template
from casino.core import sql
from casino.core.denominations import Chips
from casino.core.denominations import ChipSet as Ladder
from casino.core.errors import Conflict, Unprocessable
from casino.houses import control_points
from casino.houses.models import ClockTimestamp, House


@dataclass(frozen=True, slots=True)
class InForce:
    """The template of a place at this moment: number of its version, cash and ceiling in minor units. Of a chip set
    that is not in use any more nothing counts but the ceiling."""

    number: int
    cash: int
    pieces: Chips
    least: Chips
    ceiling: int | None


#: A place: which kind, and its code.
Place = tuple[PlaceKind, str]


def in_force(house: House, kind: PlaceKind, code: str) -> InForce | None:
    """The template of a drawer or table that is in force, None where it has none. Raises Conflict no_chip_set."""
    return of_place(house, list(newest(house, kind=kind, place=code)))


def of_place(house: House, found: list[Template]) -> InForce | None:
    """The template in force of one place, by what `newest` has found of it. Raises Conflict no_chip_set."""
    for row in found:
        return _as_in_force(house, row)
    return None


def all_in_force(house: House) -> dict[Place, InForce]:
    """The templates in force of every place that has one. Raises Conflict no_chip_set."""
    return {(PlaceKind(row.kind), row.place): _as_in_force(house, row) for row in newest(house)}


def agreed(house: House) -> list[tuple[Template, bool]]:
    """The version in force at every place, then those to come, by place and beginning; whether each has begun."""
    return agreed_of(agreeing(house))


def agreeing(house: House) -> QuerySet[Any]:
    """What `agreed` reads, for who reads it with something else; `agreed_of` takes what it has found."""
    rows = Template.objects.filter(house=house).annotate(
        begun=ExpressionWrapper(Q(valid_from__lte=ClockTimestamp()), output_field=BooleanField())
    )
    return rows.select_related("chip_set").order_by("kind", "place", "valid_from", "number")


def agreed_of(rows: Iterable[Any]) -> list[tuple[Template, bool]]:
    """As `agreed`, by what `agreeing` has found."""
    found: dict[Place | int, tuple[Template, bool]] = {}
    for row in rows:
        found[(PlaceKind(row.kind), row.place) if row.begun else row.pk] = (row, row.begun)
    return list(found.values())


def newest(house: House, **which: str) -> QuerySet[Template]:
    """The version in force at every such place, for who reads it with something else."""
    rows = Template.objects.filter(house=house, valid_from__lte=ClockTimestamp(), **which).select_related("chip_set")
    return rows.order_by("kind", "place", "-valid_from", "-number").distinct("kind", "place")


def require(house: House, kind: PlaceKind, code: str) -> InForce:
    """The template in force, if it has cash or chips. Raises Conflict no_template, no_chip_set."""
    found = in_force(house, kind, code)
    if found is None or not (found.cash or found.pieces):
        raise Conflict(f"No template of {kind} {code} is in force.", code="no_template")
    return found


def least_of(house: House, code: str, chip_set: str) -> Chips:
    """The pieces of the set in use that a fill leaves in a drawer; none where no template says so."""
    found = in_force(house, PlaceKind.DRAWER, code)
    return Chips(chip_set) if found is None else found.least


_SKIM_ABOVE = f"""
SELECT coalesce((
    SELECT ceiling FROM chips_template
    WHERE chips_template.house_id = houses_house.id AND kind = 'drawer' AND place = %s
        AND valid_from <= clock_timestamp()
    ORDER BY valid_from DESC, number DESC LIMIT 1
), {control_points.in_sql("skim_above", "%s::bigint")})
FROM houses_house WHERE houses_house.id = %s
"""  # noqa: S608 - constants


def skim_above(house: House, code: str) -> int:
    """Cash of a drawer above which it is to be skimmed, in minor units: its ceiling, or else the control point."""
    [(found,)] = sql.read(skimming(house, code))
    return int(found)


def skimming(house: House, code: str) -> sql.Statement:
    """What `skim_above` reads, for who reads it with something else."""
    return _SKIM_ABOVE, [code, control_points.defaults(house)["skim_above"], house.id]


def add(
    house: House, kind: PlaceKind, code: str, *, ladder: Ladder, pieces: Chips, by: str, cash: int = 0,
    least: Chips | None = None, ceiling: int | None = None, valid_from: datetime | None = None,
    approval: int | None = None,
) -> Template:  # fmt: skip
    """Add the next version at a place, in force from this moment on, or at once; the caller keeps others from doing so,
    and records it."""
    known = Template.objects.filter(house=house, kind=kind, place=code)
    numbers, [chip_set] = sql.together(
        known.order_by("-number").values_list("number", flat=True)[:1],
        ChipSet.objects.filter(house=house, code=ladder.code),
    )
    number = next(iter(numbers), 0) + 1
    added = Template(
        house=house, kind=kind, place=code, number=number,
        valid_from=valid_from or ClockTimestamp(), chip_set=chip_set,
        cash=cash, pieces=pieces.as_json(), least={} if least is None else least.as_json(), ceiling=ceiling, set_by=by,
        approval=approval,
    )  # fmt: skip
    _, [found] = sql.together(sql.inserting(added), known.filter(number=number).select_related("chip_set"))
    row: Template = found
    return row


def require_not_past(valid_from: datetime | None, now: datetime) -> None:
    """Refuse a beginning that has passed. Raises Unprocessable template_in_the_past."""
    if valid_from is not None and valid_from <= now:
        raise Unprocessable(
            "A template begins at a moment to come; leave valid_from out to begin at once.",
            code="template_in_the_past",
            valid_from=valid_from.isoformat(),
        )


# --- Parts ----------------------------------------------------------------------------------------------------------


def _as_in_force(house: House, row: Template) -> InForce:
    if not row.chip_set.in_use:
        none = Chips(selectors.in_use(house).code)
        return InForce(number=row.number, cash=0, pieces=none, least=none, ceiling=row.ceiling)
    code = row.chip_set.code
    return InForce(
        number=row.number,
        cash=row.cash,
        pieces=_chips(code, row.pieces),
        least=_chips(code, row.least),
        ceiling=row.ceiling,
    )


def _chips(code: str, pieces: Mapping[str, int]) -> Chips:
    return Chips(code, {int(value): count for value, count in pieces.items()})
