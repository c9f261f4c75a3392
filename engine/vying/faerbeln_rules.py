"""Options of Färbeln. Sections named in the docstrings are those of the Färbeln rules text (Casinos Austria's
rules, as retold)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from engine.errors import OptionMissing, OptionOutOfRange
from engine.kernel.cards import FRENCH32, TELL32, Pack
from engine.kernel.rules import option
from engine.kernel.terms import Term
from engine.vying.pot_rules import MOST_RAISES, TaxedRules

PACKS = {"tell": TELL32, "french": FRENCH32}


@dataclass(frozen=True)
class FaerbelnRules(TaxedRules):
    """Färbeln or Einundvierzig. Money is in minor units of the house's currency."""

    GAME: ClassVar[str] = "faerbeln"
    RULES_ID: ClassVar[str] = "faerbeln/1"
    STAKE: ClassVar[str] = "lower"

    ante: int = option(int, low=1)
    """What every seat pays into the pot before the deal ("Ante"). No default."""
    lower: int = option(int, low=1)
    """Lower half of the split limit: forehand's stake, and the unit of a raise ("Ante", "First round"). No
    default."""
    upper: int | None = option(int, None, low=1)
    """Upper half of the split limit ("Ante": it is named, but no sentence uses it)."""
    round2_unit: str = option(str, choices=("lower", "upper"))
    """Unit of a raise in the second round: the text says only that it goes like the first one, which is
    ``lower``; the upper half of the limit would otherwise be of no use ("Second round"). No default."""
    raise_cap: int = option(int, 3, low=1, high=MOST_RAISES)
    """Raises in one round. Forehand's stake is none, the opening bet of the second round is one ("First
    round": at most three)."""
    cap_heads_up: int = option(int, 3, high=MOST_RAISES)
    """Raises in one round while two seats are left; 0 is no limit but the stacks and a thousand ("Show down" speaks
    of three raises with more than two players, "First round" of three without exception)."""
    forehand_option: bool = option(bool, True)
    """When all others have only called, forehand may still raise its own stake; else the round is over
    ("First round": a stake paid before the deal is no decision yet)."""
    check_allowed: bool = option(bool, True)
    """Second round: a seat that owes nothing may wait. If not, it bets or drops out, and waits only where no
    bet is possible ("Second round": it follows the manner of the first, where there is a stake to hold)."""
    showdown: str = option(str, "equal_stakes", choices=("equal_stakes", "any_call"))
    """What ends the betting ("Show down": a stake paid without raising it, by a player entitled to raise).

    ``equal_stakes``: a call only closes the round, once all stakes are equal, as in other betting games.
    ``any_call``, the letter of the sentence: after one such call in the second round nobody may raise any
    more, and the cards are shown; seats that still owe pay or drop out first, because no seat can win a stake
    that it has not matched. In the first round nobody has four cards to show, so there it changes nothing."""
    bonus41: int = option(int)
    """The house's payment for four cards of a suit worth 41 that are shown, even by a loser of the pot; not taxed; 0
    is none ("Card combinations": a special payment from the house). No default."""
    bonus41_for: str = option(str, "shown", choices=("shown", "uncontested"))
    """Whom the house pays for a 41 ("Card combinations": every seat that has it; "Show down": a seat left alone need
    not reveal its hand, and nobody is paid for a hand that nobody has seen).

    ``shown``: for hands shown at a showdown. ``uncontested``: also when a seat that is left alone with four cards
    shows them voluntarily, for which it is asked."""
    points: bool = option(bool, True)
    """Whether the combination Points is played: the casino's rules have it, the traditional version seems to lack it
    ("Rules"). If not, all hands below the three-card flush are equal, and the seat nearest to forehand wins."""
    pack: str = option(str, "tell", choices=tuple(PACKS))
    """William Tell or Piquet pack of 32 cards ("General")."""
    tie: str = option(str, "forehand", choices=("forehand",))
    """Equal hands: the seat nearest to forehand wins, the pot is never split ("Card combinations")."""
    deal_model: str = option(str, "draw", choices=("draw",), unbuilt=("preassigned",))
    """Cards leave the top of the pack when they are dealt, so who drops out changes who gets what ("Second
    round")."""
    short_stack: str = option(str, "cap_bet", choices=("cap_bet", "side_pot"), unbuilt=("must_fold",))
    """A seat that could not pay: the text is silent.

    ``cap_bet``: there is no raise that the poorest active seat cannot match. That holds for forehand's stake too,
    so every seat must be able to hold it.
    ``side_pot`` (table stakes): a seat holds a stake with all it has left, is asked no more, and competes for what
    it has matched. A raise is always a whole unit, and somebody must have chips to answer it. Every seat must
    have its ante, forehand its stake too; what is won is taxed once, main pot first."""
    tax_bps: int = option(int, 500, high=10_000)
    """House tax on every pot, in basis points ("Tax": five per cent). It is taken when the part of a stake
    that nobody matched has gone back."""

    def validate(self, seats: int) -> None:
        """The upper limit is there when it is played with, and not below the lower one."""
        super().validate(seats)
        if self.upper is None and self.round2_unit == "upper":
            raise OptionMissing("option 'upper' must be set when the second round is played with it", option="upper")
        if self.upper is not None and self.upper < self.lower:
            raise OptionOutOfRange("option 'upper' must be at least the lower limit", min=self.lower)

    @property
    def least_stack(self) -> int:
        """Ante and forehand's stake: every seat is forehand in its turn."""
        return self.ante + self.lower

    @property
    def second_unit(self) -> int:
        """Unit of a raise in the second round."""
        return self.upper if self.round2_unit == "upper" and self.upper is not None else self.lower

    @property
    def cards(self) -> Pack:
        """The pack that is played with."""
        return PACKS[self.pack]

    def cap(self, active: int) -> int:
        """Raises in one round while ``active`` seats are left."""
        return self.raise_cap if active > 2 else self.cap_heads_up or MOST_RAISES

    @property
    def bet_units(self) -> Mapping[str, int]:
        """The units of the two rounds."""
        return {"small_bet": self.lower, "big_bet": self.second_unit}


TERMS = (
    Term("első kéz", "Vorhand", "forehand", "the seat at the dealer's left: it stakes before the deal and wins ties"),
    Term("", "Spitz", "spitz", "the triangular counter that marks forehand"),
    Term("szín", "Farbe", "suit", "the four suits; the game collects cards of one"),
    Term("negyvenegy", "Einundvierzig", "41", "four cards of a suit worth 41 points; the house pays a bonus for it"),
    Term("két nyitott, két zárt", "zwei auf, zwei zu", "two up, two down", "two cards of each seat are turned up"),
)
"""The words of the tables."""
