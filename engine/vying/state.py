"""The mutable state of a hand of a vying game: who is in, what lies where, how money moves.

Only the modules of this package touch it; the rest of the house holds a :class:`engine.vying.hand.VyingHand`.
Every handler checks everything first and changes things after, so a refusal leaves no trace. Lists indexed by
seat have an unused place 0, seats count from 1 in play order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any, ClassVar, Protocol

from engine.actions import DEALER, Action, actor_name
from engine.cards import UNKNOWN, Pack, require_in_pack
from engine.errors import (
    AmountOutOfRange,
    CardAlreadyDealt,
    CardMismatch,
    CardNotFromDeck,
    CardUnknown,
    HandIsOver,
    MalformedSetup,
    NotYourTurn,
    VerbNotLegal,
    WrongCount,
    WrongTarget,
)
from engine.events import MoveKind
from engine.game import Legal, Result, Setup, Viewer

NOBODY = -1
"""The turn when the hand is over."""

UP = 2
"""How many cards a seat turns up."""

Places = tuple[tuple[int, int], ...]
"""Pairs of places in a hand, counted from 0 in the order of dealing."""

ANY_TWO: Places = tuple(combinations(range(4), 2))

Handler = Callable[[Any, Action], None]
Offer = Callable[[Any], Legal | None]


class PotRules(Protocol):
    """What the pot needs of a game's rules."""

    def tax_on(self, pot: int) -> int:
        """House tax on a pot that is won."""


class VyingState:
    """Cards, money and turn of one hand; a game adds its phases."""

    PACK: ClassVar[Pack]
    """The pack, unless the table plays with another one (``pack``)."""
    BOTTOM_IS_PUBLIC: ClassVar[bool] = False
    """Whether everyone may see the bottom card of the pack."""
    HANDLERS: ClassVar[Mapping[str, Mapping[str, Handler]]]
    """phase -> verb -> handler; a verb that the phase does not list is not legal in it."""
    OFFERS: ClassVar[Mapping[str, Offer]]
    """verb -> what may be done with it now, or None; the same for every phase that lists the verb."""

    __slots__ = (
        "active",
        "cards",
        "carry",
        "deals",
        "dealt",
        "deck",
        "known",
        "level",
        "log",
        "moves",
        "next_card",
        "open_from",
        "pack",
        "phase",
        "pot",
        "queue",
        "result",
        "seats",
        "seen",
        "shown",
        "source",
        "stacks",
        "stakes",
        "start_stacks",
        "turn",
        "up",
        "up_places",
        "verbs",
    )  # fmt: skip

    def __init__(self, setup: Setup) -> None:
        seats = setup.seats
        self.seats = seats
        self.start_stacks = setup.stacks
        self.stacks = [0, *setup.stacks]
        self.stakes = [0] * (seats + 1)
        self.level = 0  # what an active seat must have staked to owe nothing
        self.pot = self.carry = setup.carry
        self.active = list(range(1, seats + 1))  # in play order
        self.cards: list[tuple[str, ...]] = [()] * (seats + 1)
        self.seen = [0] * (seats + 1)  # a seat has looked at its first so many cards
        self.shown = [False] * (seats + 1)
        self.known: set[str] = set()  # named cards that lie somewhere; kept only without a deck
        self.up: list[tuple[str, ...]] = [()] * (seats + 1)  # cards turned up, as the seat named them
        self.up_places: dict[int, Places] = {}  # where a seat's upturned cards may have been dealt
        self.pack = self.PACK
        self.deck = setup.deck
        self.source = setup.deck  # what is dealt from now
        self.next_card = 0
        self.deals: list[tuple[int, int]] = []  # (seat, count) still to deal, the next one last
        self.dealt: Callable[[Any], None] | None = None  # what follows once all of it is dealt
        self.queue: list[int] = []  # seats still to speak, the next one last
        self.moves: list[tuple[MoveKind, int, int]] = [(MoveKind.CARRY_IN, 0, self.carry)] if self.carry else []
        self.log: list[str] = []
        self.open_from: int | None = None  # lines of the log from here on deal face up
        self.result: Result | None = None
        self.phase = ""
        self.turn = NOBODY
        self.verbs: Mapping[str, Handler] = {}

    # -- turn ------------------------------------------------------------------------------------------------

    def enter(self, phase: str, turn: int) -> None:
        """Go to ``phase`` with ``turn`` to act."""
        self.phase = phase
        self.turn = turn
        self.verbs = self.HANDLERS[phase]

    def step(self, action: Action) -> None:
        """Apply one action or raise, changing nothing."""
        if action.actor != self.turn:
            self._refuse_actor(action)
        handler = self.verbs.get(action.verb)
        if handler is None:
            raise self.not_legal(action)
        handler(self, action)
        self.log.append(action.text)

    def _refuse_actor(self, action: Action) -> None:
        if self.turn == NOBODY:
            raise HandIsOver(f"the hand is over, {action.text!r} comes too late")
        raise NotYourTurn(
            f"{actor_name(self.turn)} is to act, not {actor_name(action.actor)}", actor=actor_name(self.turn)
        )

    def not_legal(self, action: Action) -> VerbNotLegal:
        """The refusal of a verb that is not on offer."""
        offers = [offer.verb for offer in self.legal()]
        return VerbNotLegal(f"{action.text!r} is not legal now", phase=self.phase, verbs=offers)

    def legal(self) -> list[Legal]:
        """Every kind of action that :meth:`step` would accept."""
        offers = (self.OFFERS[verb](self) for verb in self.verbs)
        return [offer for offer in offers if offer is not None]

    def legal_for(self, viewer: Viewer) -> list[Legal]:
        """:meth:`legal`, as far as ``viewer`` may know it."""
        return self.legal()

    def offer(self, verb: str, **what: Any) -> Legal:
        """A legal action of the seat (or dealer) whose turn it is; ``what`` as in :class:`Legal`."""
        return Legal(actor_name(self.turn), verb, **what)

    def after(self, seat: int) -> list[int]:
        """The other active seats, in play order after ``seat``."""
        at = self.active.index(seat)
        return self.active[at + 1 :] + self.active[:at]

    # -- money -----------------------------------------------------------------------------------------------

    def stake(self, seat: int, amount: int) -> None:
        """Move ``amount`` from a stack to the pot."""
        self.stacks[seat] -= amount
        self.stakes[seat] += amount
        self.pot += amount
        self.moves.append((MoveKind.STAKE, seat, amount))

    def owed(self, seat: int) -> int:
        """What ``seat`` must pay to be level."""
        return self.level - self.stakes[seat]

    def take_exactly(self, action: Action, amount: int) -> None:
        """Stake ``amount``, which the action must name."""
        if action.amount != amount:
            raise AmountOutOfRange(
                f"p{action.actor} owes {amount}, not {action.amount}", min=amount, max=amount, step=amount
            )
        self.stake(action.actor, amount)

    def return_uncalled(self, winner: int) -> None:
        """Give back what the last seat left has staked beyond every other seat: nobody matched it, it is not
        won."""
        others = max(stake for seat, stake in enumerate(self.stakes) if seat != winner)
        uncalled = self.stakes[winner] - others
        if uncalled > 0:
            self.pot -= uncalled
            self.stacks[winner] += uncalled
            self.moves.append((MoveKind.RETURNED, winner, uncalled))

    def award(self, winner: int, rules: PotRules, ending: str, bonus: tuple[int, ...] = ()) -> None:
        """Pay the pot to ``winner``, less the house's tax, and end the hand."""
        tax = rules.tax_on(self.pot)
        self.stacks[winner] += self.pot - tax
        if self.pot > tax:
            self.moves.append((MoveKind.AWARD, winner, self.pot - tax))
        if tax:
            self.moves.append((MoveKind.TAX, 0, tax))
        self.finish(tax, 0, ending, winner, bonus)

    def carry_on(self, ending: str) -> None:
        """Leave the pot on the table for the next hand and end this one."""
        carried = self.pot
        self.moves.append((MoveKind.CARRY_OUT, 0, carried))
        self.finish(0, carried, ending, 0)

    def finish(self, tax: int, carry_out: int, ending: str, winner: int, bonus: tuple[int, ...] = ()) -> None:
        """Close the hand: the pot is empty and the result stands. ``bonus``: what the house pays each seat, if
        it pays any."""
        self.pot = 0
        for seat, amount in enumerate(bonus, 1):
            if amount:
                self.stacks[seat] += amount
                self.moves.append((MoveKind.BONUS, seat, amount))
        net = tuple([self.stacks[seat] - start for seat, start in enumerate(self.start_stacks, 1)])
        self.result = Result(net, tax, bonus or (0,) * self.seats, carry_out, ending, winner, self.series(ending))
        self.enter("over", NOBODY)

    def series(self, ending: str) -> Mapping[str, int]:
        """What the table's next hand must be told of this one."""
        return {}

    # -- cards -----------------------------------------------------------------------------------------------

    def deal_next(self, deals: list[tuple[int, int]], dealt: Callable[[Any], None]) -> None:
        """Ask the dealer for ``deals`` in order, then go on with ``dealt``; without any, go on at once."""
        if not deals:
            dealt(self)
            return
        self.deals = deals[::-1]
        self.dealt = dealt
        self.enter("deal", DEALER)

    def deal(self, action: Action) -> None:
        """``d dh pN CARDS``: the right seat, the right number, cards that are free (or next in the known
        deck)."""
        seat, count = self.deals[-1]
        cards = action.cards
        if action.target != seat:
            raise WrongTarget(f"p{seat} is to be dealt to, not p{action.target}", target=seat)
        if len(cards) != count:
            raise WrongCount(f"p{seat} gets {count} cards, not {len(cards)}", count=count)
        if self.source is None:
            self.require_free(cards)
            self.known.update(card for card in cards if card != UNKNOWN)
        else:
            if cards != self.source[self.next_card : self.next_card + count]:
                self._refuse_cards(cards)
            self.next_card += count
        self.receive(seat, cards)
        self.deals.pop()
        if not self.deals and self.dealt is not None:
            self.dealt(self)

    def receive(self, seat: int, cards: tuple[str, ...]) -> None:
        """The cards lie before the seat; its first batch it picks up at once."""
        if not self.cards[seat]:
            self.seen[seat] = len(cards)
        self.cards[seat] += cards

    def is_open_deal(self) -> bool:
        """Whether the last line of the log is part of a deal face up."""
        return self.open_from is not None and len(self.log) > self.open_from

    def next_cards(self) -> tuple[str, ...] | None:
        """What the dealer deals next, where the deck is known."""
        if self.source is None:
            return None
        return self.source[self.next_card : self.next_card + self.deals[-1][1]]

    def _refuse_cards(self, cards: tuple[str, ...]) -> None:
        """Say what is wrong with cards that are not the next of the deck."""
        require_in_pack(cards, self.pack)
        gone = self.source[: self.next_card] if self.source else ()
        for card in cards:
            if card in gone:
                raise CardAlreadyDealt(f"{card} has been dealt before", card=card)
        raise CardNotFromDeck(f"{''.join(cards)} is not what comes next from the deck", count=len(cards))

    def require_free(self, cards: tuple[str, ...], own: tuple[str, ...] = ()) -> None:
        """Named cards must be of the pack, and nowhere else but among ``own``."""
        require_in_pack(cards, self.pack)
        for at, card in enumerate(cards):
            if card != UNKNOWN and ((card in self.known and card not in own) or card in cards[:at]):
                raise CardAlreadyDealt(f"{card} has been dealt before", card=card)

    def unseen(self, seat: int) -> int:
        """How many of its cards ``seat`` has not looked at."""
        return len(self.cards[seat]) - self.seen[seat]

    def look(self, action: Action) -> None:
        """``lk N``: the seat looks at all of its face-down cards; N is their number."""
        unseen = self.unseen(action.actor)
        if unseen == 0:
            raise self.not_legal(action)
        if action.amount != unseen:
            raise WrongCount(f"p{action.actor} has {unseen} cards to look at, not {action.amount}", count=unseen)
        self.seen[action.actor] += unseen

    # -- cards turned up in the middle of play ----------------------------------------------------------------

    def turns_up(self) -> bool:
        """Whether the table plays with cards turned up."""
        return False

    def may_turn_up(self, seat: int) -> Places:
        """The pairs of places, in the order of dealing, that the seat may turn up: any two of its cards."""
        return ANY_TWO

    def all_turned_up(self) -> None:
        """Every active seat has chosen: the game goes on."""
        raise TypeError(f"{type(self).__name__} turns nothing up")

    def begin_turning_up(self) -> None:
        """Every active seat turns two of its cards up, all choosing at the same time."""
        self.queue = self.active[::-1]
        self.enter("up", self.active[0])

    def turn_up(self, action: Action) -> None:
        """``up CARDS``: two of the seat's own, in any order; one not known so far is named by it."""
        seat, cards = action.actor, action.cards
        if len(cards) != UP:
            raise WrongCount(f"p{seat} turns up {UP} cards, not {len(cards)}", count=UP)
        require_in_pack(cards, self.pack)
        if UNKNOWN in cards:
            raise CardUnknown("a card that is turned up must be named")
        if cards[0] == cards[1]:
            raise CardAlreadyDealt(f"{cards[0]} stands twice in one hand", card=cards[0])
        places = self.may_turn_up(seat)
        if not self.fits(self.cards[seat], cards, places):
            raise CardMismatch(f"p{seat} may not turn up {''.join(cards)}", places=[list(pair) for pair in places])
        named = tuple(card for card in cards if card not in self.cards[seat])
        self.require_free(named)
        self.known.update(named)
        self.up[seat] = cards
        self.up_places[seat] = places
        self.queue.pop()
        if self.queue:
            self.turn = self.queue[-1]
        else:
            self.all_turned_up()

    @staticmethod
    def fits(held: tuple[str, ...], cards: tuple[str, ...], places: Places) -> bool:
        """Whether two named cards can lie at one of the pairs of places, an unknown card being any that does not
        lie elsewhere."""

        def lies(card: str, place: int) -> bool:
            return held[place] == card or (held[place] == UNKNOWN and card not in held)

        one, other = cards
        return any(
            (lies(one, first) and lies(other, second)) or (lies(other, first) and lies(one, second))
            for first, second in places
        )

    # -- cards shown -----------------------------------------------------------------------------------------

    def begin_showdown(self) -> None:
        """The active seats show, in play order."""
        self.queue = self.active[::-1]
        self.enter("showdown", self.active[0])

    def show(self, action: Action) -> None:
        """``sm CARDS``: all of the seat's cards as they were dealt, unknown ones now named."""
        self.lay_open(action)
        self.queue.pop()
        if self.queue:
            self.turn = self.queue[-1]
        else:
            self.showdown()

    def lay_open(self, action: Action) -> None:
        """All of the actor's cards lie face up from now on."""
        seat = action.actor
        if action.cards != self.cards[seat] or UNKNOWN in action.cards:
            self._reveal(seat, action.cards)
        self.shown[seat] = True

    def _reveal(self, seat: int, cards: tuple[str, ...]) -> None:
        """Put names to unknown cards; a card known before must stand in its place."""
        dealt = self.cards[seat]
        require_in_pack(cards, self.pack)
        if len(cards) != len(dealt):
            raise WrongCount(f"p{seat} shows {len(dealt)} cards, not {len(cards)}", count=len(dealt))
        if UNKNOWN in cards:
            raise CardUnknown("a card that is shown must be named")
        for was, now in zip(dealt, cards, strict=True):
            if was not in (now, UNKNOWN):
                raise CardMismatch(f"p{seat} was dealt {''.join(dealt)}, not {''.join(cards)}")
        if self.up[seat] and not self.fits(cards, self.up[seat], self.up_places[seat]):
            raise CardMismatch(f"p{seat} turned up {''.join(self.up[seat])}, which {''.join(cards)} does not allow")
        self.require_shown(seat, cards)
        revealed = tuple(now for was, now in zip(dealt, cards, strict=True) if was == UNKNOWN)
        self.require_free(revealed, tuple(card for card in self.up[seat] if card not in dealt))
        self.known.update(revealed)
        self.cards[seat] = cards

    def require_shown(self, seat: int, cards: tuple[str, ...]) -> None:
        """What a game demands of cards that were not known before they were shown."""

    def showdown(self) -> None:
        """All cards are shown: the game decides who wins."""
        raise TypeError(f"{type(self).__name__} has no showdown")

    def wants(self) -> tuple[str, ...] | None:
        """The cards to shuffle anew; a game without redeals wants none."""
        return None

    def supply(self, deck: tuple[str, ...]) -> None:
        """Take cards that were shuffled anew."""
        raise MalformedSetup("no cards are to be shuffled anew now")

    # -- what may be done with the verbs above ---------------------------------------------------------------

    def offer_deal(self) -> Legal:
        """The dealer deals to the next seat."""
        seat, count = self.deals[-1]
        return self.offer("dh", target=seat, count=count)

    def offer_look(self) -> Legal | None:
        """The seat looks at what it has not seen."""
        unseen = self.unseen(self.turn)
        return self.offer("lk", count=unseen) if unseen else None

    def offer_turn_up(self) -> Legal:
        """The seat turns cards up."""
        places = self.may_turn_up(self.turn)
        return self.offer("up", count=UP, places=None if places == ANY_TWO else places)

    def offer_show(self) -> Legal:
        """The seat shows all its cards."""
        return self.offer("sm", count=len(self.cards[self.turn]))

    def offer_owed(self, verb: str = "cc") -> Legal:
        """The seat pays exactly what it owes."""
        owed = self.owed(self.turn)
        return self.offer(verb, min=owed, max=owed, step=owed)
