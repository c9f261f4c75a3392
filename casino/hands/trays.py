"""Whether a table's chips can pay what its game may promise; checked before the deal, because after it is too late."""

from collections.abc import Sequence

from casino.bookkeeping import chart
from casino.bookkeeping.accounts import Account
from casino.chips import changing
from casino.chips.changing import Desk
from casino.core import denominations, sql
from casino.core.denominations import ChipSet
from casino.core.errors import Conflict, Unprocessable
from casino.tables.models import Table
from engine.kernel.game import Policy
from engine.kernel.rules import Rules


def require_terms(chips: ChipSet, policy: Policy, rules: Rules, seats: int, *amounts: int) -> None:
    """Refuse terms that the house's chips cannot make: stacks and bonuses must be multiples of the smallest chip, and
    a table that takes tax needs a chip of one minor unit, because tax may be any whole amount.

    Raises Unprocessable amount_not_payable.
    """
    for amount in (*amounts, *policy.bonuses(rules, seats)):
        chips.require_payable(amount, "A stack or a bonus")
    if policy.most_tax(rules) != 0 and chips.smallest != 1:
        raise Unprocessable(
            f"Tax can be any whole amount, but the smallest chip is {chips.smallest}.",
            code="amount_not_payable",
            amount=1,
            smallest=chips.smallest,
        )


def require_tray(table: Table, policy: Policy, rules: Rules, seats: int, lying: changing.Lying | None = None) -> None:
    """Refuse a hand whose bonuses the table's tray might not be able to pay, or after which the tax could not be made
    of the chips that are out and in the tray: chips must be there to be promised.

    Raises Conflict tray_too_small or no_exact_change. What other tables do meanwhile can still use up small chips:
    the settlement then waits until the tray gets some. `lying`: what `asking` has found, where that was read before.
    """
    bonuses = policy.bonuses(rules, seats)
    if bonuses:
        _require_bonuses(table, bonuses)
    most = policy.most_tax(rules)
    if most != 0:
        _require_change(table, most, lying)


def asking(table: Table) -> tuple[sql.Statement, sql.Statement]:
    """What reads the chips that are out and in a table's tray."""
    return Desk(table.house, table.account(Account.TRAY), table.code).asking()


def require_change_for(table: Table, amounts: Sequence[int]) -> None:
    """Refuse a hand after which these amounts could not be put into the box one after the other, with the chips that
    are out and in the tray now. Raises Conflict no_exact_change."""
    desk = Desk(table.house, table.account(Account.TRAY), table.code)
    for amount in amounts:
        desk.for_the_box(amount)


def _require_bonuses(table: Table, bonuses: Sequence[int]) -> None:
    most, held = sum(bonuses), chart.rack_value(table.house, table.account(Account.TRAY))
    if held < most:
        raise Conflict(
            f"The tray of table {table.code} holds {table.house.money(held)}; the bonuses of a hand can be "
            f"{table.house.money(most)}. Fill the tray first.",
            code="tray_too_small",
            min=most,
            tray=held,
        )
    desk = Desk(table.house, table.account(Account.TRAY), table.code)
    for bonus in bonuses:
        desk.pay_out(bonus)


def _require_change(table: Table, cap: int | None, lying: changing.Lying | None) -> None:
    desk = Desk(table.house, table.account(Account.TRAY), table.code)
    held, rack = desk.look(lying)
    public = held.surplus
    most = public.value if cap is None else min(cap, public.value)
    short = denominations.cannot_change(desk.chips, most, public, rack)
    if short:
        raise Conflict(
            f"Tray and players may have too few chips of {', '.join(map(str, short))} to pay the tax of a hand. "
            f"Bring change to table {table.code} first.",
            code="no_exact_change",
            amount=most,
            available=rack.as_json(),
            short=short,
        )
