"""Options of Ramsli, and the money that follows from them. Sections in quotes are those of the Ramsli rules text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from engine.errors import MalformedSetup, OptionOutOfRange
from engine.kernel.rules import MAX_MONEY, Rules, option
from engine.kernel.setup import Setup
from engine.kernel.terms import Term

POSTED = 4
"""Units that the dealer puts into the kitty before every deal ("The Deal"), and tricks of a deal, each of which takes
its part of the kitty ("Scoring"): so every amount is a multiple of four units."""
SERIES = frozenset({"kitty", "bank"})
"""What is carried from deal to deal, both in minor units."""


@dataclass(frozen=True)
class RamsliRules(Rules):
    """Ramsli. Money is in minor units of the house's currency."""

    GAME: ClassVar[str] = "ramsli"
    RULES_ID: ClassVar[str] = "ramsli/1"
    STAKE: ClassVar[str] = "unit"

    unit: int = option(int, low=1, high=MAX_MONEY // 10**6)
    """Money for one unit; the dealer puts four of them into the centre ("The Deal"). No default."""
    bank_level: int = option(int, high=10**5)
    """Units, a multiple of four, above which the kitty is put into a bank, and up to which the bank fills it; 0 plays
    without one ("Scoring": players may agree to set up a bank). No default."""

    def validate(self, seats: int) -> None:
        """The level is a multiple of four units ("Scoring")."""
        if self.bank_level % POSTED:
            raise OptionOutOfRange("option 'bank_level' must be a multiple of four units", step=POSTED)

    @property
    def posted(self) -> int:
        """What the dealer puts into the kitty, in minor units; a kitty of just as much is a muss ("Bidding")."""
        return POSTED * self.unit

    @property
    def level(self) -> int:
        """The level of the kitty in minor units, 0 where there is no bank."""
        return self.bank_level * self.unit

    def most_lost(self, kitty: int) -> int:
        """The most that a seat can lose in a deal for this kitty: twice as much, and the dealer's units."""
        return 2 * kitty + self.posted

    def played_for(self, carried: int) -> int:
        """The kitty of a deal once the dealer has posted, from the one that was carried in."""
        kitty = carried + self.posted
        return min(kitty, self.level) if self.level else kitty

    @property
    def least_stack(self) -> int:
        """What covers every deal of a table with a bank; without one, the first deal, for nothing bounds the others."""
        return self.most_lost(self.level or self.posted)


def kitty_and_bank(setup: Setup, rules: RamsliRules) -> tuple[int, int]:
    """The money that the series carries in. Raises ``MalformedSetup`` where it is none, where kitty and bank do not
    fit each other and the level, and where their sum is not what the table carries."""
    if setup.series.keys() != SERIES:
        raise MalformedSetup(f"the series of {setup.game} holds kitty and bank", series=sorted(SERIES))
    kitty, bank = (_money(name, setup.series[name], rules.posted) for name in ("kitty", "bank"))
    if rules.level and kitty > rules.level:
        raise MalformedSetup("what the kitty holds above its level lies in the bank", max=rules.level)
    if bank and (not rules.level or kitty < rules.level):
        raise MalformedSetup("a bank that holds anything stands beside a full kitty", kitty=rules.level)
    if setup.carry != kitty + bank:
        raise MalformedSetup("what is carried in is kitty and bank together", carry=kitty + bank)
    return kitty, bank


def _money(name: str, found: object, step: int) -> int:
    if type(found) is not int or not 0 <= found <= MAX_MONEY or found % step:
        raise MalformedSetup(f"{name} of the series is money, a multiple of four units", step=step)
    return found


TERMS = (
    Term("kassza", "Kasse", "kitty", "what the tricks of a deal are paid from; it lasts several deals"),
    Term("bank", "Bank", "bank", "what the kitty holds above its level, kept for later deals"),
    Term("muszáj", "Muß", "muss", "a deal whose kitty holds the dealer's four units alone: everybody plays"),
    Term("kopogás", "Klopfen", "knock", "undertaking to take two of the four tricks"),
    Term("adu", "Trumpf", "trump", "the suit of the card that was turned up"),
    Term("egy nyitott", "eins auf", "one up", "taking one card that is dealt face up, and laying one away"),
)
"""The words of the tables."""
