"""Options that every game played for a pot has: the house's tax and the smallest chip."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.errors import OptionMissing
from engine.kernel.rules import Rules, option

MOST_RAISES = 1000
"""Bets of one round at any table: a record has an end (``engine.record.format.MAX_ACTS``), so betting too."""


@dataclass(frozen=True)
class TaxedRules(Rules):
    """House tax on a pot that is won (Färbeln, "Tax": a share of every pot up to a limit). A game sets its own
    default."""

    tax_bps: int = option(int, 0, high=10_000)
    """House tax on a pot when it is won, in basis points."""
    tax_cap: int | None = option(int, None)
    """Largest tax on one pot (Färbeln, "Tax": the limit goes with the table's split limit); must be set when
    ``tax_bps`` is above 0."""
    chip: int = option(int, 1, low=1)
    """Smallest chip: tax is rounded down to it."""

    def validate(self, seats: int) -> None:
        """Tax needs a cap."""
        super().validate(seats)
        if self.tax_bps > 0 and self.tax_cap is None:
            raise OptionMissing("option 'tax_cap' must be set when tax is taken", option="tax_cap")

    @property
    def bet_units(self) -> Mapping[str, int]:
        """What a bet is, by the names of the Poker Hand History format, in minor units."""
        raise TypeError(f"{type(self).__name__} does not say what a bet is")

    def tax_on(self, pot: int) -> int:
        """Tax on a pot that is won: a share rounded down to the smallest chip, at most the cap."""
        if not self.tax_bps:
            return 0
        tax = pot * self.tax_bps // 10_000
        if self.tax_cap is not None:
            tax = min(tax, self.tax_cap)
        return tax - tax % self.chip


def tax_on(rules: TaxedRules, pot: int) -> int:
    """Tax on a pot that is won at a table with these options, in minor units."""
    return rules.tax_on(pot)


def most_tax(rules: TaxedRules) -> int | None:
    """The largest tax on one pot, in minor units; None where nothing caps it."""
    return rules.tax_cap if rules.tax_bps else 0


WEIGHTS = {"f": 1, "k": 3, "cc": 5, "rb": 2, "br": 2, "ks": 3, "st": 3, "lk": 3}
"""How often random play picks a verb against the others on offer: folding at every turn would end hands early."""
