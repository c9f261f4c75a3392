"""Options of Ferbli. Sections named in the docstrings are those of the Ferbli rules text (pagat.com,
2021)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from engine.errors import OptionOutOfRange
from engine.rules import option
from engine.vying.pot_rules import TaxedRules


@dataclass(frozen=True)
class FerbliRules(TaxedRules):
    """Classic Limited Ferbli. Money is in minor units of the house's currency."""

    GAME: ClassVar[str] = "ferbli"
    RULES_ID: ClassVar[str] = "ferbli/1"

    vizi: int = option(int, low=1)
    """The basic minimum bet ("Deal and Betting": players must agree on it). No default."""
    table_max: int | None = option(int, None, low=1)
    """Largest single bet, charge or raise ("Deal and Betting": they also agree on the maximum). A house table
    sets it; without it only ``limit`` and the stacks bound a bet."""
    bet_unit: str = option(str, "vizi", choices=("vizi", "chip"))
    """Bets are whole multiples of the vizi, or of the smallest chip ("Deal and Betting": the first bet can be
    equal to or twice the vizi)."""
    limit: str = option(str, "double", choices=("double",), unbuilt=("triple", "none"))
    """A bet is at most twice the largest single bet of this deal ("Deal and Betting"; the others:
    "Variations")."""
    min_active: int | None = option(int, None, low=2, high=7)
    """Seats that must be in for the game to go ahead, the first player included: 2 with up to four seats
    dealt in, 3 with more ("First round of betting"). None means that rule."""
    cukassza_call: str = option(str, "normal", choices=("normal",), unbuilt=("megadas_eldobas",))
    """Order of the first round in a cukassza ("Variations": call or discard)."""
    force_third_deal: bool = option(bool, False, choices=(False,), variant=True)
    """After two failed deals everyone must pay ("Variations": two successive deals)."""
    blind_announce: str = option(str, "implicit", choices=("implicit",), unbuilt=("explicit",))
    """Any bet by a seat that has looked at two cards only is blind ("Blind betting")."""
    blind_match_is_raise: str = option(str, "separate", choices=("separate",))
    """The compulsory raise after a blind bet is a second action of the last matcher, and he may not fold
    instead ("Blind betting": the last player who matched must raise)."""
    raise_cap: int | None = option(int, None, low=1, high=1000)
    """Bets and raises of the third round, the opening bet included; at the cap the compulsory raise is
    waived. The text has no such cap ("Blind betting"); None leaves the stacks as the only end."""
    tie: str = option(str, "first", choices=("first",))
    """Equal hands: the one shown first wins, the pot is never split ("The Showdown")."""
    muck: str = option(str, "forbidden", choices=("forbidden",))
    """At the showdown every active seat shows ("The Showdown": the players show their cards)."""
    deal_model: str = option(str, "draw", choices=("draw",), unbuilt=("preassigned",))
    """Cards leave the top of the pack when they are dealt, so charging changes who gets what ("Second
    round")."""
    cut: str = option(str, "none", choices=("none",), unbuilt=("logged",))
    """The cut at dealer's left ("Deal and Betting") is part of the deck as recorded."""
    short_stack: str = option(str, "cap_bet", choices=("cap_bet",), unbuilt=("side_pot", "must_fold"))
    """A seat that could not pay: the text is silent, so no bet may exceed what the poorest active seat can
    match."""
    tax_bps: int = option(int, 0, high=10_000)
    """House tax on a pot when it is won, in basis points. The text's private game has none; a house table
    sets it."""
    wild: tuple[str, ...] = option(tuple, (), choices=((),), variant=True)
    """Wild cards ("Variations": sánta and others)."""
    grigare: str = option(str, "off", choices=("off",), unbuilt=("general", "kis_nagy"))
    """Sequences in four suits ("Variations": grigáré)."""
    majzli_max: int | None = option(int, None, variant=True)
    """A vizi hidden in the fist ("Variations": majzli)."""
    cuhhol: bool = option(bool, False, choices=(False,), variant=True)
    """No checking in the third round ("Variations": cuhhol)."""
    show_two: bool = option(bool, False, choices=(False,), variant=True)
    """Two cards shown after a besszer ("Variations")."""
    combined_rounds: bool = option(bool, False, choices=(False,), variant=True)
    """Second and third round in one ("Variations"): the text itself calls it unclear."""

    def validate(self, seats: int) -> None:
        """Bets in chips start from a vizi of whole chips, and there must be enough seats.

        With bets in whole vizi the chip is only what tax is rounded down to, and need not divide the vizi.
        """
        super().validate(seats)
        if self.bet_unit == "chip" and self.vizi % self.chip:
            raise OptionOutOfRange("option 'vizi' must be a multiple of 'chip'", step=self.chip)
        if self.table_max is not None and self.table_max < self.vizi:
            raise OptionOutOfRange("option 'table_max' must be at least the vizi", min=self.vizi)
        if self.min_active is not None and self.min_active > seats:
            raise OptionOutOfRange("option 'min_active' exceeds the seats dealt in", min=2, max=seats)

    def needed(self, seats: int) -> int:
        """Active seats needed for the game to go ahead when ``seats`` are dealt in."""
        if self.min_active is not None:
            return self.min_active
        return 2 if seats <= 4 else 3

    @property
    def step(self) -> int:
        """Every bet is a multiple of this."""
        return self.vizi if self.bet_unit == "vizi" else self.chip

    @property
    def least_stack(self) -> int:
        """The vizi: even a seat that drops out pays it when there are too few players."""
        return self.vizi
