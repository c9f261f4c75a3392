"""Who gets the money: one winner a pot."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NoReturn

from tests.model.table import Finished, Outcome, Table

Pots = list[tuple[int, list[int]]]


def carried(table: Table, ending: str, *, penalty: bool) -> NoReturn:
    """No one wins. With ``penalty`` a player without a vizi in the pot pays one."""
    for seat in table.seats:
        if penalty and table.paid[seat] == 0:
            table.paid[seat] = table.vizi
    net = tuple(-table.paid[seat] for seat in table.seats)
    raise Finished(outcome(table, net, 0, sum(table.paid.values()) + table.case.carry, ending, 0))


def alone(table: Table, winner: int, ending: str = "uncontested") -> NoReturn:
    """One seat is left and takes everything, what nobody matched of its stake untaxed."""
    award(table, pots_among(table, [winner]), lambda seats: seats[0], ending)


def shown_down(table: Table) -> NoReturn:
    """Every pot goes to the best hand of those who paid into it in full."""
    award(table, pots_among(table, table.active), table.best_of, "showdown")


def whole_pot(table: Table, winner: int, ending: str) -> NoReturn:
    """All that lies there goes to one seat, which need not be in any more."""
    everything = sum(table.paid.values()) + table.case.carry
    award(table, [(everything, [winner])], lambda seats: winner, ending)


def pots_among(table: Table, running: list[int]) -> Pots:
    """(money, seats in the running for it), main pot first. Gives back what nobody matched of the largest stake.

    A pot that no seat in the running has paid into goes to the seat whose exposed hand made the others fold.
    """
    ranked = sorted(table.seats, key=lambda seat: table.paid[seat])
    table.paid[ranked[-1]] = table.paid[ranked[-2]] if ranked[-1] in running else table.paid[ranked[-1]]
    pots: Pots = []
    below = 0
    levels = sorted({table.paid[seat] for seat in running + table.exposed})
    for level in levels:
        top = level if level != levels[-1] else max(table.paid.values())
        money = sum(min(paid, top) - min(paid, below) for paid in table.paid.values())
        pots.append((money, [seat for seat in running if table.paid[seat] >= level] or table.exposed))
        below = level
    main, competing = pots[0]
    return [(main + table.case.carry, competing), *pots[1:]]


def award(table: Table, pots: Pots, best: Callable[[list[int]], int], ending: str) -> NoReturn:
    """Pay the pots out, less the house's tax on all of them together."""
    net = {seat: -table.paid[seat] for seat in table.seats}
    taxes = taxes_of([money for money, _ in pots], table)
    for (money, seats), tax in zip(pots, taxes, strict=True):
        net[best(seats)] += money - tax
    raise Finished(outcome(table, tuple(net.values()), sum(taxes), 0, ending, best(pots[0][1])))


def taxes_of(pots: list[int], table: Table) -> list[int]:
    """What each pot bears of the tax, which is counted once, from the main pot upwards.

    A pot bears what the tax grows by when it is added to those below it, so the cap spares the side pots first; what
    a pot is too small for (the tax grows by whole chips) falls to those below it.
    """
    totals = [house_tax(table, sum(pots[:count])) for count in range(len(pots) + 1)]
    taxes = [upper - lower for lower, upper in pairwise(totals)]
    for place in range(len(pots) - 1, 0, -1):
        excess = max(taxes[place] - pots[place], 0)
        taxes[place] -= excess
        taxes[place - 1] += excess
    return taxes


def house_tax(table: Table, total: int) -> int:
    """So many hundredths of a per cent, at most the cap, in whole chips."""
    bps, chip = table.opt.get("tax_bps", 0), table.opt.get("chip", 1)
    if not bps:
        return 0
    tax = min(total * bps // 10_000, table.opt["tax_cap"])
    return tax - tax % chip


def outcome(table: Table, net: tuple[int, ...], tax: int, carry_out: int, ending: str, winner: int) -> Outcome:
    """The outcome, and how many deals in a row have failed now."""
    series = {}
    if table.opt.get("force_third_deal"):
        series = {"failed": table.case.series.get("failed", 0) + 1 if ending == "cukassza" else 0}
    assert sum(net) + tax + carry_out == table.case.carry
    return Outcome(net, tax, carry_out, ending, winner, series, (0,) * len(net))
