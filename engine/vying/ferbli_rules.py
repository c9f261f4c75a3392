"""Options of Ferbli. Sections named in the docstrings are those of the Ferbli rules text (pagat.com,
2021)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from engine.errors import OptionOutOfRange
from engine.kernel.cards import TELL32
from engine.kernel.rules import option
from engine.kernel.terms import Term
from engine.vying.kinds import GRIGARE_WILD
from engine.vying.pot_rules import MOST_RAISES, TaxedRules
from engine.vying.ranking import ferbli_ranking

SANTA = "Oa"
"""The over of acorns (makk felső), the wild card that is called sánta ("Variations")."""

TENS = ("Xa", "Xl", "Xb", "Xh")
SEVENS = {5: ("7h",), 6: ("7h", "7l"), 7: ("7h", "7l", "7a")}
"""Wild sevens by number of players ("Variations": hearts with five, leaves too with six, acorns too with seven)."""

FACTORS = {"double": 2, "triple": 3, "none": None}


def wild_set(name: str, seats: int) -> tuple[str, ...]:
    """The wild cards that a table calls by a word, for ``seats`` players ("Variations").

    ``santa``: the over of acorns; ``tens``: the four tens; ``tens_santa``: the tens, with five or more players the
    over of acorns too; ``sevens``: one to three of them with five to seven players. Another word raises
    ``OptionOutOfRange``.
    """
    sets = {
        "santa": (SANTA,),
        "tens": TENS,
        "tens_santa": (SANTA, *TENS) if seats >= 5 else TENS,
        "sevens": SEVENS.get(seats, ()),
    }
    if name not in sets:
        raise OptionOutOfRange(f"there are no wild cards called {name!r}", choices=[*sets, "a list of cards"])
    return sets[name]


ANNOUNCED = "announced"
"""A table's word for ``cukassza_call``: the dealer may announce call or discard, deal by deal ("Variations")."""


CALL_OR_DISCARD = "call_or_discard"
"""What the dealer says for it."""


def resolve(opt: Mapping[str, object], seats: int, announced: tuple[str, ...] = ()) -> dict[str, object]:
    """A table's options for a hand of ``seats`` seats: wild cards called by a word become a list, or nothing; call or
    discard is played if the dealer has announced it, where the table leaves that open (else ``OptionOutOfRange``)."""
    found = dict(opt)
    if announced and (set(announced) != {CALL_OR_DISCARD} or found.get("cukassza_call") != ANNOUNCED):
        raise OptionOutOfRange("call or discard is not the dealer's to announce here", cukassza_call=ANNOUNCED)
    if found.get("cukassza_call") == ANNOUNCED:
        found["cukassza_call"] = "megadas_eldobas" if announced else "normal"
    name = found.get("wild")
    if isinstance(name, str):
        del found["wild"]
        cards = wild_set(name, seats)
        if cards:
            found["wild"] = list(cards)
    return found


@dataclass(frozen=True)
class FerbliRules(TaxedRules):
    """Ferbli with its variations. Money is in minor units of the house's currency."""

    GAME: ClassVar[str] = "ferbli"
    RULES_ID: ClassVar[str] = "ferbli/1"
    STAKE: ClassVar[str] = "vizi"

    vizi: int = option(int, low=1)
    """The basic minimum bet ("Deal and Betting": players must agree on it). No default."""
    table_max: int | None = option(int, None, low=1)
    """Largest single bet, charge or raise ("Deal and Betting": they also agree on the maximum). A house table
    sets it; without it only ``limit`` and the stacks bound a bet."""
    bet_unit: str = option(str, "vizi", choices=("vizi", "chip"))
    """Bets are whole multiples of the vizi, or of the smallest chip ("Deal and Betting": a first bet is one
    vizi or two)."""
    limit: str = option(str, "double", choices=tuple(FACTORS))
    """A bet, besszer or charge is at most twice the largest single bet of this deal ("Deal and Betting"), three times,
    or anything ("Variations": betting with a sánta, Unlimited Ferbli)."""
    min_active: int | None = option(int, None, low=2, high=7)
    """Seats that must be in for the game to go ahead, the first player included: 2 with up to four seats
    dealt in, 3 with more ("First round of betting"), but 2 with a sánta ("Variations"). None means that rule."""
    cukassza_call: str = option(str, "normal", choices=("normal", "megadas_eldobas"))
    """The first round of a deal that begins with a cukassza. ``megadas_eldobas``, call or discard: answered
    clockwise from the dealer, and one match is enough ("Variations"). A table may say ``announced``: then the dealer
    announces it, or not, before each such deal."""
    force_third_deal: bool = option(bool, False)
    """After two deals in a row without enough players everyone pays a vizi, and the third goes ahead
    ("Variations")."""
    blind_announce: str = option(str, "implicit", choices=("implicit",), unbuilt=("explicit",))
    """Any bet by a seat that has looked at two cards only is blind ("Blind betting")."""
    blind_match_is_raise: str = option(str, "separate", choices=("separate",))
    """The compulsory raise after a blind bet is a second action of the last matcher, who may not fold
    instead ("Blind betting": the last player who matched must raise)."""
    raise_cap: int | None = option(int, None, low=1, high=MOST_RAISES)
    """Bets and raises of the third round, the opening bet included; at the cap the compulsory raise is
    waived. The text has no such cap ("Blind betting"); without one the stacks are the end, or a thousand bets, because
    a record has an end."""
    tie: str = option(str, "first", choices=("first",))
    """Equal hands: the one shown first wins, the pot is never split ("The Showdown")."""
    muck: str = option(str, "forbidden", choices=("forbidden",))
    """At the showdown every active seat shows ("The Showdown": the players show their cards)."""
    deal_model: str = option(str, "draw", choices=("draw",), unbuilt=("preassigned",))
    """Cards leave the top of the pack when they are dealt, so charging changes who gets what ("Second
    round")."""
    cut: str = option(str, "none", choices=("none",), unbuilt=("logged",))
    """The cut at dealer's left ("Deal and Betting") is part of the deck as recorded."""
    short_stack: str = option(str, "cap_bet", choices=("cap_bet", "side_pot"), unbuilt=("must_fold",))
    """A seat that could not pay: the text is silent.

    ``cap_bet``: no bet may exceed what the poorest active seat can match. ``side_pot`` (table stakes): a seat stays in
    with all it has left, is asked no more, and competes for what it has matched; a bet is never less than the vizi,
    and somebody must have chips to answer it; what is won is taxed once, main pot first. With either, the cards are
    shown at once where nobody can make the first bet of the third round: a check says that one does not wish to bet
    ("Third betting round"), and a pot that everyone leaves is one that somebody could have bet for. With side pots
    the cards are shown too where all check who can bet while a seat is all-in: it has not checked."""
    tax_bps: int = option(int, 0, high=10_000)
    """House tax on a pot when it is won, in basis points. The text's private game has none; a house table
    sets it."""
    wild: tuple[str, ...] = option(tuple, ())
    """Wild cards, any set ("Variations": sánta, the tens, sevens). A table may name a set by a word, see
    :func:`wild_set`; a hand holds the cards."""
    grigare: str = option(str, "off", choices=("off", "general", "kis_nagy"))
    """Four cards in sequence and of four suits ("Variations"): ``general``, between three of a kind and banda;
    ``kis_nagy``, two hands above all others."""
    grigare_wild: str = option(str, "natural", choices=GRIGARE_WILD)
    """What a wild card counts as in a grigáré ("Variations": sánta, a substitute for whichever card is needed; that of
    grigáré names no wild cards). ``natural``: only itself. ``substitute``: any card that the sequence needs, and since
    the sentence excepts no kind of hand, any card of the kis and the nagy grigáré too."""
    majzli_max: int | None = option(int, None, low=1)
    """Majzli ("Variations"): the first player holds a vizi of any size in the fist, from ``vizi`` to this, in
    steps of a bet. Every seat must be able to pay the largest."""
    cuhhol: bool = option(bool, False)
    """No checking in the third round: the first active seat bets or lays its hand open ("Variations")."""
    cuhhkassza_vizi: str = option(str, "paid", choices=("free", "paid"))
    """Seats that dropped out without a vizi, when a cuhhkassza is dealt ("Variations": cuhhol; its sentence has "not"
    where "now" makes it one, and seats without a vizi in pay one at the other two kinds of cukassza, "First round of
    betting" and "Third betting round"). ``paid``: they pay the vizi that they owe before the first deal. ``free``, the
    sentence as it is written: they pay nothing for the first deal, and like all others for every further one."""
    redeal_cap: int = option(int, 1000, low=1, high=1000)
    """Deals of one cuhhkassza; if none of them is won, the pot stays as a cukassza. The text has no such cap
    ("Variations": repeated until the pot is won), but a record has an end."""
    show_two: bool = option(bool, False)
    """After a besszer every active seat shows two of its four cards ("Variations"): before the third round, all
    choosing at the same time, out of what they have looked at; the seat that made the besszer or a charge shows its
    first two or its second two."""
    combined_rounds: bool = option(bool, False, choices=(False,), variant=True)
    """Second and third round in one ("Variations"): the text itself calls it unclear."""

    def __post_init__(self) -> None:
        """Wild cards in the order of the pack, so that equal sets are equal options."""
        if self._wild_is_a_set():
            object.__setattr__(self, "wild", tuple(card for card in TELL32.cards if card in self.wild))

    def validate(self, seats: int) -> None:
        """Bets in chips start from a vizi of whole chips, and there must be enough seats.

        With bets in whole vizi the chip is only what tax is rounded down to, and need not divide the vizi.
        """
        super().validate(seats)
        if self.bet_unit == "chip" and self.vizi % self.chip:
            raise OptionOutOfRange("option 'vizi' must be a multiple of 'chip'", step=self.chip)
        if self.min_active is not None and self.min_active > seats:
            raise OptionOutOfRange("option 'min_active' exceeds the seats dealt in", min=2, max=seats)
        if not self._wild_is_a_set():
            raise OptionOutOfRange("option 'wild' must list cards of the pack, each once", pack=TELL32.name)
        self._validate_fist()
        if self.table_max is not None and self.table_max < self.least_stack:
            raise OptionOutOfRange("option 'table_max' must be at least the largest vizi", min=self.least_stack)

    def _wild_is_a_set(self) -> bool:
        """Cards of the pack, each once."""
        return TELL32.members.issuperset(self.wild) and len(set(self.wild)) == len(self.wild)

    def _validate_fist(self) -> None:
        """The largest vizi that may be held is one that may be held."""
        step = self.bet_step(self.vizi)
        if self.majzli_max is not None and (self.majzli_max < self.vizi or self.majzli_max % step):
            raise OptionOutOfRange(
                "option 'majzli_max' must be a vizi or more, in steps of a bet", min=self.vizi, step=step
            )

    def needed(self, seats: int) -> int:
        """Active seats needed for the game to go ahead when ``seats`` are dealt in."""
        if self.min_active is not None:
            return self.min_active
        return 2 if seats <= 4 or SANTA in self.wild else 3

    def bet_step(self, vizi: int) -> int:
        """Every bet of a deal played for ``vizi`` is a multiple of this."""
        return vizi if self.bet_unit == "vizi" else self.chip

    @property
    def factor(self) -> int | None:
        """How many times the largest bet the next one may be; None is no limit."""
        return FACTORS[self.limit]

    @cached_property
    def key(self) -> Callable[[Sequence[str]], int]:
        """The key of four cards at this table: a higher one wins."""
        return ferbli_ranking(self.wild, self.grigare, self.grigare_wild).key

    @property
    def least_stack(self) -> int:
        """The largest vizi: even a seat that drops out pays it when there are too few players."""
        return self.majzli_max or self.vizi

    @property
    def bet_units(self) -> Mapping[str, int]:
        """The least bet is a vizi."""
        return {"min_bet": self.vizi}


TERMS = (
    Term("vizi", "Grundeinsatz", "vizi", "the basic stake that opens a hand; the first player pays it before the deal"),
    Term("cukassza", "stehender Topf", "carried pot", "a pot that nobody won; the next hand starts with it"),
    Term("besszer", "Erhöhung auf zwei Karten", "besszer", "the first player's raise on two cards"),
    Term("kóstáltatás", "Kartenpreis", "charging", "the last player makes the others pay for the cards of one of them"),
    Term("ostorhegyes", "Vorletzter", "trace-horse", "the active player before the last one, charged card by card"),
    Term("hívás", "Einsatz", "bet", "betting on four cards"),
    Term("visszahívás", "Gegenerhöhung", "raise back", "raising a bet on four cards"),
    Term("vakon", "blind", "blind", "betting with only the first two cards seen; the last who matches must raise"),
    Term("banda", "vier einer Farbe", "banda", "four cards of one suit"),
    Term("sánta", "Hinkender", "sánta", "the over of acorns as a wild card"),
    Term("grigáré", "Folge aus vier Farben", "grigáré", "four cards in sequence and of four suits"),
    Term(
        "kis grigáré, nagy grigáré",
        "kleine und große Folge",
        "kis and nagy grigáré",
        "the small and the great grigáré: two hands that rank above all others, the small one highest",
    ),
    Term("majzli", "Einsatz in der Faust", "majzli", "the first player holds the vizi in the fist, unseen"),
    Term(
        "megadás vagy eldobás",
        "halten oder wegwerfen",
        "call or discard",
        "a carried pot is answered clockwise from the dealer, and one match is enough",
    ),
    Term("cuhhol", "auflegen", "lay open", "laying the hand open instead of betting: who has nothing higher folds"),
    Term("cuhhkassza", "offene Neugabe", "cuhhkassza", "four open cards for everybody until the open hand is beaten"),
)
"""The words of the tables."""
