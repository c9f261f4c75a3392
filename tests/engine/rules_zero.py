"""Rules of Ferbli that never were, for tests of replay by earlier ones: tax is rounded up instead of down."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from engine.kernel.setup import Setup
from engine.vying.ferbli import GAME as TODAY
from engine.vying.ferbli import FerbliState
from engine.vying.ferbli_rules import FerbliRules


@dataclass(frozen=True)
class RulesZero(FerbliRules):
    """As today, but for the tax."""

    RULES_ID: ClassVar[str] = "ferbli/0"

    def tax_on(self, pot: int) -> int:
        """Rounded up to a whole minor unit."""
        return -(-pot * self.tax_bps // 10_000)


def _begin(setup: Setup, rules: RulesZero) -> FerbliState:
    return FerbliState(setup, rules)


GAME = replace(TODAY, rules=RulesZero, begin=_begin)
