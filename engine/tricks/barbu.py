"""Barbu, phase by phase. Sections in quotes are those of the Barbu rules text.

The options that settle what the text leaves open are in :mod:`engine.tricks.barbu_rules`. p4 deals, play is clockwise;
D is the declarer, p1 unless the dealer declares. A contract is one of ``notricks``, ``queens``, ``lasttwo``,
``hearts``, ``king``, ``trumps SUIT``, ``dominoes RANK`` (without the rank where the first card decides it) and, where
the table plays it, ``ravage``. Phases:

============  ========  ============================================================================
phase         verbs     who acts, and what for
============  ========  ============================================================================
``deal``      dh        the dealer gives p1 to p4 13 cards each ("Introduction")
``call``      cl        D names one of D's remaining contracts ("The Seven Contracts")
``double``    dbl ps    the others from D's left, once each, may double seats ("Doubling")
``redouble``  rdbl ps   D may redouble the seats that doubled D
``tricks``    pl        from p1; the winner of a trick leads to the next ("The Seven Contracts")
``dominoes``  pl        from D; a seat without a fitting card is passed over, without a line
============  ========  ============================================================================

A negative contract without doubles may end after the doubling (``no_double_no_play``). The deal ends with the
thirteenth trick, with the trick in which the last card that counts has fallen, or when the third seat has laid its last
card. There is no pot: what seats owe each other is paid at the end of the deal ("Barbu with Chips"), or of the session.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from engine.errors import VerbNotLegal, WrongTarget
from engine.kernel.cards import FRENCH52
from engine.kernel.game import Game, Policy, require_no_carry, require_no_redeals
from engine.kernel.grammar import HOUSE, SEAT, Action, Grammar, Role, Seen, Verb, cards, seat, seats, word
from engine.kernel.legal import Legal, Seats, Words
from engine.kernel.setup import Setup, Viewer
from engine.kernel.state import Handler, Offer
from engine.tricks.barbu_play import NEXT, BarbuPlay
from engine.tricks.barbu_rules import TERMS, BarbuRules
from engine.tricks.barbu_scores import CARDS, CONTRACTS, NEGATIVE, SEATS, payments, settled, with_side_bets
from engine.tricks.barbu_series import (
    Sheet,
    broken_off,
    continues,
    new_series,
    next_seats,
    require_cover,
    sheet_of,
    under_way,
)
from engine.tricks.state import TrickState

HAND = 13
"""Cards of a seat."""
DEALS = [(seat, HAND) for seat in range(1, SEATS + 1)]
"""The text names no packets: each seat gets its hand at once."""
TRUMPS = tuple(f"trumps {suit}" for suit in FRENCH52.suits)
DOMINOES = tuple(f"dominoes {rank}" for rank in FRENCH52.ranks)
NAMED = {"trumps": TRUMPS, "dominoes": DOMINOES}
FIRST_CARD = {"trumps": TRUMPS, "dominoes": ("dominoes",)}
"""How the contracts that need more than their name are called, by who decides the rank of dominoes."""
CALLS = tuple(call for name in CONTRACTS for call in (*NAMED.get(name, (name,)), *FIRST_CARD.get(name, ())))
"""Everything that can be called, in the order of the text."""

GRAMMAR = Grammar(
    Verb(
        "dh",
        HOUSE,
        (seat(), cards(Role.DEALT, Seen.TARGET, most=HAND)),
        "the dealer deals 13 cards face down",
        label="Deal",
        key="D",
    ),
    Verb("cl", SEAT, (word(*CALLS, name="contract"),), "the declarer names the contract", label="Contract", key="C"),
    Verb("dbl", SEAT, (seats(),), "double these seats, also those that have doubled oneself", label="Double", key="B"),
    Verb(
        "rdbl",
        SEAT,
        (seats(),),
        "the declarer redoubles these seats, which have all doubled the declarer",
        label="Redouble",
        key="R",
    ),
    Verb(
        "ps",
        SEAT,
        (),
        "double nobody",
        label="Double none",
        key="P",
        only="A double of the declarer that is due cannot be put off any longer.",
    ),
    Verb(
        "pl",
        SEAT,
        (cards(Role.PLAYED, Seen.ALL, most=1),),
        "play a card, to a trick or to the dominoes",
        label="Play",
        key="Y",
    ),
)


class BarbuState(BarbuPlay):
    """One deal of Barbu."""

    GRAMMAR = GRAMMAR
    __slots__ = ("call", "declarer", "doubles", "points", "sheet")

    FRESH = BarbuPlay.FRESH | {"doubles"}

    def __init__(self, setup: Setup, rules: BarbuRules, sheet: Sheet) -> None:
        super().__init__(setup, rules)
        self.sheet = sheet
        self.declarer = rules.place_of_declarer
        self.call = ""  # the contract as it was called, "" before
        self.doubles: list[tuple[int, ...]] = [()] * (SEATS + 1)  # the seats that each has doubled
        self.points: tuple[int, ...] = ()  # the basic scores, p1 first, once the deal is over
        self.deal_next(DEALS, BarbuState.open_call)

    # -- the contract ------------------------------------------------------------------------------------------------

    def open_call(self) -> None:
        """The declarer has seen thirteen cards."""
        self.take_up()
        self.enter("call", self.declarer)

    def calls(self) -> tuple[str, ...]:
        """What the declarer may call: the contracts left, in the order of the text; suits and ranks as the pack is
        printed. A rank need not be held."""
        choices = FIRST_CARD if self.rules.domino_rank == "first_card" else NAMED
        return tuple(call for name in self.sheet.left[self.sheet.declarer] for call in choices.get(name, (name,)))

    def declare(self, action: Action) -> None:
        """``cl CONTRACT``."""
        calls = self.calls()
        if action.word not in calls:
            raise VerbNotLegal(f"{action.word!r} is not left to call", phase=self.phase, verbs=["cl"], words=calls)
        self.call = action.word
        self.contract = action.word.partition(" ")[0]
        self.enter("double", NEXT[self.declarer])

    # -- doubles -----------------------------------------------------------------------------------------------------

    def may_double(self, seat: int) -> tuple[int, ...]:
        """The seats that this one may double: all others, or the declarer only."""
        if self.rules.doubles_anybody(self.contract):
            return tuple(other for other in range(1, SEATS + 1) if other != seat)
        return (self.declarer,)

    def double(self, action: Action) -> None:
        """``dbl SEATS``: some of those that the seat may double, the declarer among them if it is high time."""
        choices, must = self.may_double(action.actor), self.owed_double(action.actor)
        if not {*must} <= {*action.targets} <= {*choices}:
            names = " ".join(f"p{seat}" for seat in choices)
            raise WrongTarget(
                f"p{action.actor} may double {names}{', the declarer anyway' if must else ''}",
                targets=choices, must=must,
            )  # fmt: skip
        self.doubles[action.actor] = action.targets
        self.pass_on(action.actor)

    def owed_double(self, seat: int) -> tuple[int, ...]:
        """The declarer, if the seat cannot put off that double any longer."""
        return (self.declarer,) if self.sheet.must_double(seat) else ()

    def pass_double(self, action: Action) -> None:
        """``ps``: the seat doubles nobody."""
        if self.owed_double(action.actor):
            raise self.not_legal(action)
        self.pass_on(action.actor)

    def pass_on(self, seat: int) -> None:
        """On to the next seat; the declarer answers those who doubled first."""
        following = NEXT[seat]
        if following != self.declarer:
            self.turn = following
        elif self.doublers():
            self.enter("redouble", self.declarer)
        else:
            self.begin_play()

    def doublers(self) -> tuple[int, ...]:
        """The seats that have doubled the declarer."""
        return tuple(seat for seat in range(1, SEATS + 1) if self.declarer in self.doubles[seat])

    def redouble(self, action: Action) -> None:
        """``rdbl SEATS``: some of those that have doubled the declarer; all of them where the table says so."""
        choices = self.doublers()
        must = choices if self.rules.doubling == "declarer" else ()
        if not {*must} <= {*action.targets} <= {*choices}:
            raise WrongTarget(
                f"{' '.join(f'p{seat}' for seat in choices)} can be redoubled{', all or none' if must else ''}",
                targets=choices, must=must,
            )  # fmt: skip
        self.doubles[action.actor] = action.targets
        self.begin_play()

    def pass_redouble(self, action: Action) -> None:
        """``ps``: the declarer redoubles nobody."""
        self.begin_play()

    # -- play, and the end -------------------------------------------------------------------------------------------

    def begin_play(self) -> None:
        """Everybody has spoken: the cards are played, unless nobody doubled a contract that then is not."""
        if self.rules.no_double_no_play and self.contract in NEGATIVE and not any(self.doubles):
            self.settle(self.rules.points.not_played(self.contract, self.declarer), "not_played")
            return
        name, _, what = self.call.partition(" ")
        if name == "dominoes":
            self.begin_dominoes(self.declarer, what)
        else:
            self.begin_tricks(CARDS.suits[what] if what else 0)

    def played_out(self) -> None:
        """The deal is scored; nobody wins it as such."""
        self.settle(self.rules.points.raw(self.contract, self.won()), self.contract)

    def settle(self, points: tuple[int, ...], ending: str) -> None:
        """Pay what the basic scores and the doubles come to: every deal with chips, the last deal of a session on
        paper."""
        self.points = points
        unit = self.rules.unit
        if self.rules.settlement == "chips":
            for payer, other, amount in payments(points, self.doubles, self.declarer):
                self.pay(payer, other, amount * unit)
        elif self.sheet.ends:
            for payer, other, amount in settled(self.sheet.settled(self.rules, self.written())):
                self.pay(payer, other, amount * unit)
        self.finish(ending, 0)

    def written(self) -> tuple[int, ...]:
        """What each seat writes on the sheet, p1 first: its basic score with its side bets."""
        return with_side_bets(self.points, self.doubles)

    def series(self, ending: str) -> Mapping[str, object]:
        """The sheet after this deal, or a fresh one."""
        return self.sheet.after(self.rules, self.contract, self.doublers(), self.written())

    # -- who may know what: all of it is public ------------------------------------------------------------------------

    def view_of_seat(self, seat: int, viewer: Viewer) -> dict[str, object]:
        """Whom the seat has doubled, its tricks and what lies face up before it, and its part of the sheet."""
        name = self.sheet.ids[seat - 1]
        found: dict[str, object] = {
            "doubles": [f"p{other}" for other in self.doubles[seat]],
            "tricks": self.winners.count(seat),
            "taken": self.face_up_before(seat),
            "left": list(self.sheet.left[name]),
            "doubled": self.sheet.doubled[name],
        }
        if self.sheet.score:
            found["score"] = self.sheet.score[name]
        return found

    def view_of_table(self, viewer: Viewer) -> dict[str, object]:
        """Declarer and contract, the trick or the layout, and in the end the basic scores, p1 first."""
        found = super().view_of_table(viewer)
        found |= {"declarer": f"p{self.declarer}", "contract": self.call or None}
        if self.contract == "dominoes":
            found |= {"start": self.start or None, "layout": self.layout(), "out": [f"p{seat}" for seat in self.out]}
        if self.result is not None:
            found["points"] = list(self.points)
        return found

    # -- what may be done ----------------------------------------------------------------------------------------------

    def offer_call(self) -> Legal:
        """One of the contracts left."""
        return self.offer("cl", Words(self.calls()))

    def offer_double(self) -> Legal:
        """Some of the seats that may be doubled."""
        return self.offer("dbl", Seats(self.may_double(self.turn), self.owed_double(self.turn)))

    def offer_redouble(self) -> Legal:
        """Some of those that have doubled, or all."""
        choices = self.doublers()
        return self.offer("rdbl", Seats(choices, choices if self.rules.doubling == "declarer" else ()))

    def offer_pass(self) -> Legal | None:
        """Doubling nobody, unless a double of the declarer is due."""
        due = self.phase == "double" and self.owed_double(self.turn)
        return None if due else self.offer("ps")

    HANDLERS: ClassVar[dict[str, dict[str, Handler]]] = {
        "deal": {"dh": TrickState.deal},
        "call": {"cl": declare},
        "double": {"dbl": double, "ps": pass_double},
        "redouble": {"rdbl": redouble, "ps": pass_redouble},
        "tricks": {"pl": BarbuPlay.play},
        "dominoes": {"pl": BarbuPlay.lay},
        "over": {},
    }
    OFFERS: ClassVar[dict[str, Offer]] = {
        "dh": TrickState.offer_deal,
        "cl": offer_call,
        "dbl": offer_double,
        "rdbl": offer_redouble,
        "ps": offer_pass,
        "pl": BarbuPlay.offer_play,
    }


def _begin(setup: Setup, rules: BarbuRules) -> BarbuState:
    """A deal before its first card: nothing but the series is carried in, and the stacks cover the worst."""
    require_no_carry(setup)
    require_no_redeals(setup)
    sheet = sheet_of(setup.series, setup.names, rules)
    require_cover(setup, rules, sheet)
    return BarbuState(setup, rules, sheet)


GAME = Game(
    name="barbu",
    title="Barbu",
    rules=BarbuRules,
    grammar=GRAMMAR,
    pack=FRENCH52,
    min_seats=SEATS,
    max_seats=SEATS,
    seats_allowed=(SEATS,),
    state=BarbuState,
    begin=_begin,
    policy=Policy(
        must_set=("unit", "scoring"),
        charge="seat",
        least_players=lambda options: SEATS,
        worst_loss=lambda rules, seats: rules.least_stack,
        # Who leaves in the middle of a session on paper would leave without having paid.
    ),
    example={"unit": 100, "scoring": "pagat"},
    next_seats=next_seats,
    new_series=new_series,
    continues=continues,
    under_way=under_way,
    broken_off=broken_off,
    terms=TERMS,
    weights={"ps": 2},
)
