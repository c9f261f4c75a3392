"""Options of Barbu. Sections named in the docstrings are those of the Barbu rules text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from engine.kernel.rules import Rules, option
from engine.kernel.terms import Term
from engine.tricks.barbu_scores import CONTRACTS, NEGATIVE, SCALES, Points


@dataclass(frozen=True)
class BarbuRules(Rules):
    """Barbu. Money is in minor units of the house's currency, everything else in points."""

    GAME: ClassVar[str] = "barbu"
    RULES_ID: ClassVar[str] = "barbu/1"
    STAKE: ClassVar[str] = "unit"

    unit: int = option(int, low=1)
    """Money for one point. The text only says that chips are bought and sold back ("Barbu with Chips"), and that sums
    of zero are easy to turn into money ("Variations", "Scoring"). No default."""
    settlement: str = option(str, "chips", choices=("chips", "paper"))
    """``chips``: every deal is paid at its end, the declarer paying and collecting the basic scores ("Barbu with
    Chips"). ``paper``: a score sheet is kept, and paid after the last deal of the session ("Scoring"); it comes to
    the same money in the end."""
    scoring: str = option(str, "pagat", choices=tuple(SCALES))
    """What tricks, cards and going out are worth.

    ``pagat``: as in "The Seven Contracts". ``fifteen``: the king of hearts 15, going out 40, 20, 10, -10;
    ``brader``: Mark Brader's list, which is not zero in sum ("Variations", "Scoring"). ``lagosz``: the king of hearts
    15, going out 30, 20, 10, 0 ("Variations", "Fantan")."""
    players: int = option(int, 4, choices=(4,), unbuilt=(3, 5))
    """The text has rules for four; versions for three or five are only linked to ("Three-Player Barbu", "Other Barbu
    Web Pages")."""
    ravage_city: int = option(int, 0, choices=(0, 36, 24))
    """An eighth contract, hence 32 deals: what the longest suit in anybody's tricks costs; 0 is without it ("Extra
    contract - Ravage City")."""
    dealer_declares: bool = option(bool, False)
    """The dealer chooses the contract and begins dominoes; the seat on the dealer's left leads to the first trick all
    the same. If not, the declarer sits on the dealer's left ("Deal, Declaration and Lead")."""
    doubling: str = option(str, "all", choices=("all", "declarer"))
    """``declarer``: nobody but the declarer can be doubled, and redoubles all who doubled or none ("Doubles and
    Redoubles")."""
    no_double_no_play: bool = option(bool, False)
    """A negative contract that nobody doubled is not played: each opponent scores a third, to the nearest point, and
    the declarer the rest ("Doubles and Redoubles"). The text's table leaves out the queens, who follow the same
    sentence."""
    early_stop: str = option(str, "queens", choices=("queens", "all"))
    """``queens``: the play ends with the trick in which the fourth queen falls ("The Seven Contracts"). ``all``: with
    the king of hearts or the last heart too, where nothing else counts."""
    heart_ban: str = option(str, "both", choices=("both", "hearts"))
    """Where hearts must not be led while another suit is held: in No Hearts and No King of Hearts ("The Seven
    Contracts"), or only in the first ("No King of Hearts (Barbu) and No Queens")."""
    must_dump: bool = option(bool, False)
    """Queens, or the king of hearts, are played as soon as that is safe ("No King of Hearts (Barbu) and No Queens").
    The text does not say when it is: here below a card that already lies in the trick, and when discarding. Of several
    queens the seat chooses one; the leader is free."""
    trump_void: str = option(str, "must", choices=("must", "free"))
    """Trumps: a seat without the suit led must head the trick with a trump if it can ("The Seven Contracts"), or plays
    what it likes ("Variations", "Trumps")."""
    domino_ace: str = option(str, "high", choices=("high", "low"))
    """Dominoes: the ace goes next to the king, or to the two ("Fantan (Dominoes)")."""
    domino_rank: str = option(str, "named", choices=("named", "first_card"))
    """Dominoes: the declarer names the rank to start from, held or not, or plays it with the first card, after the
    doubles ("Fantan (Dominoes)")."""

    @cached_property
    def contracts(self) -> tuple[str, ...]:
        """The contracts of a declarer, in the order of the text."""
        return CONTRACTS if self.ravage_city else CONTRACTS[:-1]

    @cached_property
    def points(self) -> Points:
        """What things are worth at this table."""
        return Points(SCALES[self.scoring], self.ravage_city)

    @cached_property
    def set_total(self) -> int:
        """What all seats score together in the contracts of one declarer."""
        return self.points.sum_of(self.contracts)

    @cached_property
    def worst_points(self) -> int:
        """The most points that a seat can lose in one deal, doubled by all it can be doubled by."""
        return max(map(self.points.worst, self.contracts))

    @property
    def least_stack(self) -> int:
        """The worst loss of a deal, in minor units. On paper a seat that lies behind needs more."""
        return self.worst_points * self.unit

    @property
    def place_of_declarer(self) -> int:
        """The declarer's seat."""
        return self.players if self.dealer_declares else 1

    def doubles_anybody(self, contract: str) -> bool:
        """Whether others than the declarer can be doubled: in negative contracts, unless the table rules it out."""
        return contract in NEGATIVE and self.doubling == "all"

    def bans_hearts(self, contract: str) -> bool:
        """Whether hearts must not be led while another suit is held."""
        return contract == "hearts" or (contract == "king" and self.heart_ban == "both")


TERMS = (
    Term("szakállas", "Bärtiger", "barbu", "the king of hearts, whose beard names the game"),
    Term("bemondó", "Ansager", "declarer", "the seat that names the contract of a deal"),
    Term("kontra", "Kontra", "double", "what is settled between two seats counts twice"),
    Term("rekontra", "Rekontra", "redouble", "the declarer's answer to a double"),
    Term("dominó", "Domino", "dominoes", "laying cards in sequence from a starting rank instead of taking tricks"),
)
"""The words of the tables."""
