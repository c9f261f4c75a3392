"""Ferbli, phase by phase. Sections in quotes are those of the Ferbli rules text.

The options that settle what the text leaves open, and its variations, are in :mod:`engine.vying.ferbli_rules`; the
phases themselves in the modules named below. Phases:

==================  ===========  =============================================================================
phase               verbs        who acts, and what for
==================  ===========  =============================================================================
``post``            po           p1 pays the compulsory vizi; in a forced third deal everyone does
``majzli``          mj           instead, p1 holds a vizi in the fist
``deal``            dh           the dealer deals what is due
``vizi``            cc f         p2 ... pn match the vizi or drop out ("First round of betting")
``fist``            in f         the same without knowing the vizi
``reveal``          rv           p1 opens the fist; seats that are in pay
``besszer``         k rb         p1 lets the deal go on or raises ("Second round of betting")
``besszer_answer``  cc f         the others match the besszer or fold
``charge``          k ks         the last player, later the trace-horse, charges or declines
``charge_answer``   lk cc f      the charged seat, then the others; only the charged seat may look
``up``              lk up        after a besszer, where the table plays so: two cards of each seat
``open``            lk k rb      third round: check or bet ("Third betting round")
``answer``          lk cc f br   the others match or fold; a blind seat may raise a blind bet
``last_word``       lk rb st     the last matcher raises or stands; after a blind bet it must raise
``cuhhol``          lk rb cu     third round with cuhhol: the first active seat bets or lays its hand open
``higher``          lk k f       the others say whether they beat that hand: stay in, or drop out
``must_bet``        rb           the first of those who do bets
``redeal``          dh           nobody does: everyone is dealt four cards face up
``showdown``        sm           the active seats show in play order
==================  ===========  =============================================================================

First round: :mod:`engine.vying.ferbli_first`; besszer and charging: :mod:`engine.vying.ferbli_second`; third round:
:mod:`engine.vying.ferbli_third`; cuhhol: :mod:`engine.vying.ferbli_cuhhol`.

A seat on turn always acts, even if its short stack leaves only ``k`` or ``st``. With side pots, a seat without chips,
or without an opponent to bet with, is skipped. If no stack covers the first bet of the third round, there is no third
round, not even with cuhhol, and the cards are shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from engine.errors import MalformedSetup
from engine.kernel.cards import TELL32
from engine.kernel.game import Game, Policy, require_no_redeals, require_nothing_carried, require_stacks
from engine.kernel.grammar import (
    HOUSE,
    SEAT,
    Grammar,
    Role,
    Seen,
    Verb,
    amount,
    cards,
    commitment,
    nonce,
    number,
    seat,
)
from engine.kernel.setup import Setup
from engine.kernel.state import Handler, Offer
from engine.vying.betting import BettingState
from engine.vying.ferbli_cuhhol import Cuhhol
from engine.vying.ferbli_first import FirstRound, failed_before
from engine.vying.ferbli_rules import CALL_OR_DISCARD, TERMS, FerbliRules, resolve
from engine.vying.ferbli_second import SecondRound
from engine.vying.ferbli_third import ThirdRound
from engine.vying.majzli import TAG
from engine.vying.pot_rules import WEIGHTS, most_tax, tax_on
from engine.vying.ranking import prepare
from engine.vying.state import VyingState

GRAMMAR = Grammar(
    Verb(
        "po",
        SEAT,
        (amount(),),
        "p1 posts the compulsory vizi; in a forced third deal everyone does",
        label="Vizi",
        key="V",
    ),
    Verb(
        "mj",
        SEAT,
        (commitment(TAG),),
        "p1 holds a vizi in the fist (majzli): commits to it, or ?? for a real fist",
        label="Majzli",
        key="M",
    ),
    Verb(
        "dh",
        HOUSE,
        (seat(), cards(Role.DEALT, Seen.HAND)),
        "the dealer deals face down, in a cuhhkassza face up",
        label="Deal",
        key="D",
        only="The cards are shuffled again first.",
    ),
    Verb("cc", SEAT, (amount(),), "pay what is owed: the vizi, a besszer, a charge, a bet", label="Call", key="C"),
    Verb("in", SEAT, (), "stay in without knowing the vizi", label="Stay in", key="I"),
    Verb(
        "rv",
        SEAT,
        (amount(), nonce(optional=True)),
        "reveal the vizi held in the fist, with the nonce that opens a commitment",
        label="Reveal",
        key="O",
    ),
    Verb(
        "f",
        SEAT,
        (),
        "fold",
        leaves=True,
        label="Fold",
        key="X",
        only="Against a hand laid open, a seat with a higher one does not drop out.",
    ),
    Verb(
        "k",
        SEAT,
        (),
        "go on (second round), decline to charge, check (third round), or claim a higher hand than the one laid open",
        label="Go on",
        key="P",
        only="Against a hand laid open, only a seat with a higher one stays in.",
    ),
    Verb(
        "rb",
        SEAT,
        (amount(),),
        "besszer, bet or raise by N",
        label="Raise",
        key="R",
        only="A raise is a vizi or more, within the table's limits and what the seats can pay.",
    ),
    Verb(
        "ks",
        SEAT,
        (amount(), seat()),
        "charge seat M with N for its next card or cards (kóstáltatás)",
        label="Charge",
        key="K",
        only="A charge is a vizi or more, within the table's limit and what the seats can pay.",
    ),
    Verb(
        "lk",
        SEAT,
        (number(),),
        "look at the N cards not looked at so far; charged for the fourth with the third unseen, at it alone or both",
        aside=True,
        label="Look",
        key="L",
        only="The seat has cards to look at; while a charge is answered, only the charged seat looks.",
    ),
    Verb(
        "up",
        SEAT,
        (cards(Role.TURNED, Seen.TOGETHER),),
        "turn up two of the four cards, after a besszer",
        label="Turn up",
        key="U",
    ),
    Verb(
        "br",
        SEAT,
        (amount(),),
        "a blind seat answers a blind bet by paying what it owes and raising by N",
        label="Blind raise",
        key="B",
        only="The bet is blind, and so is the seat; a raise keeps within the table's limits.",
    ),
    Verb(
        "st",
        SEAT,
        (),
        "the last matcher lets the bet stand",
        label="Let it stand",
        key="T",
        only="After a blind bet the last who matched must raise.",
    ),
    Verb(
        "cu",
        SEAT,
        (cards(Role.SHOWN, Seen.ALL),),
        "cuhhol: lay the hand open instead of betting",
        reopens=True,
        label="Cuhhol",
        key="H",
    ),
    Verb("sm", SEAT, (cards(Role.SHOWN, Seen.ALL),), "show all four cards", label="Show", key="S"),
)


class FerbliState(Cuhhol):
    """One hand of Ferbli: which verb does what in which phase."""

    GRAMMAR = GRAMMAR
    PACK = TELL32
    BOTTOM_IS_PUBLIC = True
    __slots__ = ()

    def unused(self) -> frozenset[str]:
        """Phases of variations that the table does not play, and those that a variation takes the place of."""
        rules = self.rules
        fist = {"majzli", "fist", "reveal"} if rules.majzli_max is None else {"post", "vizi"}
        third = {"open"} if rules.cuhhol else {"cuhhol", "higher", "must_bet", "redeal"}
        return frozenset(fist | third | (set() if rules.show_two else {"up"}))

    HANDLERS: ClassVar[dict[str, dict[str, Handler]]] = {
        "post": {"po": FirstRound.post},
        "majzli": {"mj": FirstRound.hold},
        "deal": {"dh": VyingState.deal},
        "vizi": {"cc": BettingState.call, "f": BettingState.fold},
        "fist": {"in": FirstRound.stay, "f": BettingState.fold},
        "reveal": {"rv": FirstRound.reveal},
        "besszer": {"k": SecondRound.go_on, "rb": SecondRound.besszer},
        "besszer_answer": {"cc": BettingState.call, "f": BettingState.fold},
        "charge": {"k": SecondRound.decline, "ks": SecondRound.charge},
        "charge_answer": {"lk": SecondRound.look_at_charged, "cc": BettingState.call, "f": BettingState.fold},
        "up": {"lk": VyingState.look, "up": VyingState.turn_up},
        "open": {"lk": VyingState.look, "k": ThirdRound.check, "rb": ThirdRound.bet},
        "answer": {
            "lk": VyingState.look,
            "cc": BettingState.call,
            "f": BettingState.fold,
            "br": ThirdRound.blind_raise,
        },
        "last_word": {"lk": VyingState.look, "rb": ThirdRound.bet, "st": ThirdRound.stand},
        "cuhhol": {"lk": VyingState.look, "rb": ThirdRound.bet, "cu": Cuhhol.cuhhol},
        "higher": {"lk": VyingState.look, "k": Cuhhol.stay_in, "f": Cuhhol.give_way},
        "must_bet": {"rb": ThirdRound.bet},
        "redeal": {"dh": Cuhhol.deal_open},
        "showdown": {"sm": VyingState.show},
        "over": {},
    }
    OFFERS: ClassVar[dict[str, Offer]] = {
        "po": FirstRound.offer_post,
        "mj": FirstRound.offer_hold,
        "dh": VyingState.offer_deal,
        "lk": SecondRound.offer_look_at_charged,
        "cc": VyingState.offer_owed,
        "in": lambda state: state.offer("in"),
        "rv": FirstRound.offer_reveal,
        "f": Cuhhol.offer_fold,
        "k": Cuhhol.offer_stay,
        "rb": ThirdRound.offer_bet,
        "br": ThirdRound.offer_blind_raise,
        "ks": SecondRound.offer_charge,
        "st": ThirdRound.offer_stand,
        "up": VyingState.offer_turn_up,
        "cu": Cuhhol.offer_cuhhol,
        "sm": VyingState.offer_show,
    }


def _begin(setup: Setup, rules: FerbliRules) -> FerbliState:
    """A hand at its first action; every stack must cover the vizi that its seat may be forced to pay."""
    require_stacks(setup.stacks, rules.least_stack)
    if setup.redeals or setup.series:
        _require_carried(setup, rules)
    return FerbliState(setup, rules)


def _require_carried(setup: Setup, rules: FerbliRules) -> None:
    """Packs for redeals only with a known deck and cuhhol; failed deals only where the third one is forced."""
    if not (rules.cuhhol and setup.deck is not None):
        require_no_redeals(setup)
    if not rules.force_third_deal and setup.series:
        require_nothing_carried(setup._replace(redeals=()))
    if failed_before(setup) and not setup.carry:
        raise MalformedSetup("a deal that has failed leaves a cukassza", carry=rules.vizi)


def _least_players(options: Mapping[str, Any]) -> int:
    """What must be in for a hand to go ahead is the least that it is dealt to."""
    return max(2, options.get("min_active") or 0)


GAME = Game(
    name="ferbli",
    title="Ferbli",
    rules=FerbliRules,
    grammar=GRAMMAR,
    pack=TELL32,
    min_seats=2,
    max_seats=7,
    state=FerbliState,
    begin=_begin,
    policy=Policy(
        must_set=("vizi", "table_max", "tax_bps"),
        zones=frozenset({"pot", "carry"}),
        charge="tax",
        announcements={CALL_OR_DISCARD: "call or discard is played in this deal, which begins with a cukassza"},
        least_players=_least_players,
        tax_on=tax_on,
        most_tax=most_tax,
    ),
    example={"vizi": 100},
    resolve=resolve,
    terms=TERMS,
    weights=WEIGHTS,
    prepare=prepare,
)
