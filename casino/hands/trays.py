"""Whether a table's chips can pay what its game may promise: asked before, because after the deal it is too late."""

from typing import Any

from casino import mix
from casino.chips.changing import Desk
from casino.errors import Conflict, Unprocessable
from casino.house import chart
from casino.mix import ChipSet
from casino.tables.models import Table

#: Hands worth 41 that one deal can hold: one a suit.
MOST_BONUSES = 4


def require_terms(chips: ChipSet, options: dict[str, Any], *amounts: int) -> None:
    """Refuse terms that the house's chips cannot make: stacks and bonuses must be multiples of the smallest chip, and
    a table that takes tax needs a chip of one minor unit, because tax may be any whole amount.

    Raises Unprocessable chips_cannot_make.
    """
    for amount in (*amounts, int(options.get("bonus41") or 0)):
        chips.require_payable(amount, "A stack or a bonus")
    if options.get("tax_bps") and chips.smallest != 1:
        raise Unprocessable(
            f"Tax may be any whole amount, and the smallest chip is {chips.smallest}.",
            code="chips_cannot_make",
            amount=1,
            smallest=chips.smallest,
        )


def require_tray(table: Table, seats: int) -> None:
    """Refuse a hand whose bonuses the table's tray might not be able to pay, or after which the tax could not be made
    of the chips that are out and in the tray: chips must be there to be promised.

    Raises Conflict tray_too_small or chips_cannot_make. What other tables do meanwhile can still use up small chips:
    the settlement then waits until the tray gets some.
    """
    bonuses = _bonuses(table, seats)
    if bonuses:
        _require_bonuses(table, bonuses)
    if table.options.get("tax_bps"):
        _require_change(table)


def _bonuses(table: Table, seats: int) -> list[int]:
    return [bonus] * min(seats, MOST_BONUSES) if (bonus := int(table.options.get("bonus41") or 0)) else []


def _require_bonuses(table: Table, bonuses: list[int]) -> None:
    most, held = sum(bonuses), chart.rack_value(table.house, table.account("9130"))
    if held < most:
        raise Conflict(
            f"The tray of table {table.code} holds {held}, the bonuses of a hand can be {most}. Bring chips first.",
            code="tray_too_small",
            min=most,
            tray=held,
        )
    desk = Desk(table.house, table.account("9130"), table.code)
    for bonus in bonuses:
        desk.pay_out(bonus)


def _require_change(table: Table) -> None:
    desk = Desk(table.house, table.account("9130"), table.code)
    public = chart.public(table.house, desk.chips.code).surplus
    most = min(int(table.options.get("tax_cap") or public.value), public.value)
    short = mix.cannot_change(desk.chips, most, public, desk.rack)
    if short:
        raise Conflict(
            f"Tray and players have too few chips of {', '.join(map(str, short))} to be sure of making the tax of a "
            f"hand. Bring change to table {table.code} first.",
            code="chips_cannot_make",
            amount=most,
            there=desk.rack.as_json(),
            short=short,
        )
