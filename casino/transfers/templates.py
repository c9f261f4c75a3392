"""Setting the template of a float or a tray. An administrator proposes it; once the house is live a manager approves.
It begins at once or at a moment to come, and what was in force before stays known."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from casino.audit.events.cage import FloatTemplateSet
from casino.audit.events.tables import TrayTemplateSet
from casino.audit.services import Actor
from casino.cage import selectors as drawers
from casino.cage import services as cage
from casino.cage.models import Drawer
from casino.chips import selectors as chips
from casino.chips import templates
from casino.chips.models import PlaceKind, Template
from casino.core import denominations, locks, moments, once_live, sql, write
from casino.core.commands import Answer, Command
from casino.core.denominations import Chips
from casino.core.errors import Conflict, Unprocessable
from casino.core.sql import DATABASE_TIME
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.houses import control_points
from casino.houses.models import House
from casino.tables import changing
from casino.tables import selectors as tables
from casino.tables.models import Table

#: Chips by denomination as somebody wrote them: {"500": 3}.
Pieces = Mapping[Any, int]
_SETTING = OfHouse(lock=locks.lock_places, office=True, knowing=(chips, control_points))


def set_float(
    *, command: Command, code: str, cash: int, pieces: Pieces, least: Pieces, ceiling: int | None,
    valid_from: datetime | None, reason: str,
) -> Answer:  # fmt: skip
    """Set what a drawer begins with (cash in minor units), the pieces that a fill leaves there, and the cash above
    which it is to be skimmed (None: as the control point says).

    Raises NotFound, WrongTerminal, Conflict drawer_retired, no_chip_set, no_change, float_too_large, and
    approval_required once the house is live; Unprocessable template_in_the_past, least_above_template,
    ceiling_below_float, or for wrong pieces.
    """

    def change(house: House, work: Work) -> Outcome:
        drawer = drawers.get(house, code)
        cage.require_not_retired(drawer)
        ladder = chips.in_use(house)
        whole, kept = denominations.parse(ladder, pieces), denominations.parse(ladder, least)
        _require_float(house, cash, whole, kept, ceiling)
        [(moment,)], rows = sql.together(DATABASE_TIME, templates.newest(house, kind=PlaceKind.DRAWER, place=code))
        templates.require_not_past(valid_from, moment)
        now = templates.of_place(house, rows)
        if valid_from is None and now is not None:
            _require_change((now.cash, now.pieces, now.least, now.ceiling), (cash, whole, kept, ceiling))
        approval = _approved(house, work, command)
        row = templates.add(
            house, PlaceKind.DRAWER, code, ladder=ladder, cash=cash, pieces=whole, least=kept, ceiling=ceiling,
            valid_from=valid_from, by=command.context.staff.login, approval=approval,
        )  # fmt: skip
        return _outcome(row, _of_float(row, reason))

    place = Drawer(house=command.context.house, code=code).chain
    return write.write(command, replace(_SETTING, place=place), change)


def set_tray(
    *, command: Command, code: str, pieces: Pieces, valid_from: datetime | None, reason: str
) -> Answer:  # fmt: skip
    """Set what a table's tray should hold. Raises as :func:`set_float`, and Conflict table_retired."""

    def change(house: House, work: Work) -> Outcome:
        table = tables.get(house, code)
        changing.require_not_retired(table)
        ladder = chips.in_use(house)
        whole = denominations.parse(ladder, pieces)
        [(moment,)], rows = sql.together(DATABASE_TIME, templates.newest(house, kind=PlaceKind.TABLE, place=code))
        templates.require_not_past(valid_from, moment)
        now = templates.of_place(house, rows)
        if valid_from is None and now is not None:
            _require_change(now.pieces, whole)
        approval = _approved(house, work, command)
        row = templates.add(
            house, PlaceKind.TABLE, code, ladder=ladder, pieces=whole, valid_from=valid_from,
            by=command.context.staff.login, approval=approval,
        )  # fmt: skip
        return _outcome(row, _of_tray(row, reason))

    place = Table(house=command.context.house, code=code).chain
    return write.write(command, replace(_SETTING, place=place), change)


def copy(*, source: House, made: House, actor: Actor) -> None:
    """Set the templates that are in force in one house in another one that has the same places and chip set, each in a
    separate transaction."""
    for (kind, code), found in templates.all_in_force(source).items():
        if not (drawers_or_tables(made, kind).filter(code=code).exists()):
            continue  # retired since
        with sql.joined():
            row = templates.add(
                made, kind, code, ladder=chips.in_use(made), cash=found.cash, pieces=found.pieces, least=found.least,
                ceiling=found.ceiling, by=actor.staff,
            )  # fmt: skip
            reason = "set when the house was set up"
            event = _of_float(row, reason) if kind == PlaceKind.DRAWER else _of_tray(row, reason)
            Work(made, actor).record(chain=f"{kind}/{code}", event=event)


def drawers_or_tables(house: House, kind: PlaceKind) -> Any:
    """All drawers, or all tables, of a house."""
    return house.drawers.all() if kind == PlaceKind.DRAWER else house.tables.all()


def describe(row: Template) -> dict[str, Any]:
    """A version of a template."""
    return {
        "kind": row.kind,
        "place": row.place,
        "template": row.number,
        "valid_from": moments.utc(row.valid_from),
        "chip_set": row.chip_set.code,
        "cash": row.cash,
        "pieces": row.pieces,
        "least": row.least,
        "ceiling": row.ceiling,
        "set_by": row.set_by,
        "approval": row.approval,
    }


# --- Parts ----------------------------------------------------------------------------------------------------------


def _require_float(house: House, cash: int, pieces: Chips, least: Chips, ceiling: int | None) -> None:
    """Refuse a float that could not be issued, or would be wrong from its first minute on."""
    most = control_points.in_force(house).float_most
    if cash + pieces.value > most:
        raise Conflict(f"A float is worth {house.money(most)} at most.", code="float_too_large", amount=most)
    if (pieces - least).shortage:
        raise Unprocessable(
            "A drawer keeps no more of a chip than it begins with.",
            code="least_above_template",
            denominations=sorted((pieces - least).shortage.pieces),
        )
    if ceiling is not None and ceiling < cash:
        raise Unprocessable(
            f"The drawer begins with {house.money(cash)} of cash, which is above the ceiling.",
            code="ceiling_below_float",
            min=cash,
        )


def _require_change(now: Any, wanted: Any) -> None:
    if now == wanted:
        raise Conflict("This template is in force already.", code="no_change")


def _approved(house: House, work: Work, command: Command) -> int | None:
    """Number of the approval that the change has used, None where the house asks for none."""
    if not once_live.is_live(house):
        return None
    work.require_approval(once_live.SETTINGS)
    return command.approval


def _of_float(row: Template, reason: str) -> FloatTemplateSet:
    return FloatTemplateSet(
        template=row.number, valid_from=moments.utc(row.valid_from), chip_set=row.chip_set.code, cash=row.cash,
        pieces=row.pieces, least=row.least, ceiling=row.ceiling, reason=reason,
    )  # fmt: skip


def _of_tray(row: Template, reason: str) -> TrayTemplateSet:
    return TrayTemplateSet(
        template=row.number, valid_from=moments.utc(row.valid_from), chip_set=row.chip_set.code, pieces=row.pieces,
        reason=reason,
    )  # fmt: skip


def _outcome(row: Template, event: FloatTemplateSet | TrayTemplateSet) -> Outcome:
    return Outcome(event, describe(row), 201, version=row.number)
