"""The mutable state of a hand of a vying game: who is in, what lies where, how money moves.

Only the modules of this package touch it; the rest of the house holds a :class:`engine.vying.hand.VyingHand`.
Every handler checks everything first and changes things after, so a refusal leaves no trace. Lists indexed by
seat have an unused place 0, seats count from 1 in play order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
from engine.game import Legal, Result, Setup

NOBODY = -1
"""The turn when the hand is over."""

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
    TURNS_UP: ClassVar[bool] = False
    """Whether seats turn cards up during play."""
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
        "pack",
        "phase",
        "pot",
        "queue",
        "result",
        "seats",
        "seen",
        "shown",
        "stacks",
        "stakes",
        "start_stacks",
        "turn",
        "up",
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
        self.pack = self.PACK
        self.deck = setup.deck
        self.next_card = 0
        self.deals: list[tuple[int, int]] = []  # (seat, count) still to deal, the next one last
        self.dealt: Callable[[Any], None] | None = None  # what follows once all of it is dealt
        self.queue: list[int] = []  # seats still to speak, the next one last
        self.moves: list[tuple[MoveKind, int, int]] = [(MoveKind.CARRY_IN, 0, self.carry)] if self.carry else []
        self.log: list[str] = []
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

    def offer(self, verb: str, **what: int) -> Legal:
        """A legal action of the seat (or dealer) whose turn it is."""
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

    def award(self, winner: int, rules: PotRules, ending: str) -> None:
        """Pay the pot to ``winner``, less the house's tax, and end the hand."""
        tax = rules.tax_on(self.pot)
        self.stacks[winner] += self.pot - tax
        if self.pot > tax:
            self.moves.append((MoveKind.AWARD, winner, self.pot - tax))
        if tax:
            self.moves.append((MoveKind.TAX, 0, tax))
        self.finish(tax, 0, ending, winner)

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
        self.result = Result(net, tax, bonus or (0,) * self.seats, carry_out, ending, winner)
        self.enter("over", NOBODY)

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
        if self.deck is None:
            self.require_free(cards)
            self.known.update(card for card in cards if card != UNKNOWN)
        else:
            if cards != self.deck[self.next_card : self.next_card + count]:
                self._refuse_cards(cards)
            self.next_card += count
        if not self.cards[seat]:
            self.seen[seat] = count  # the first batch is picked up at once
        self.cards[seat] += cards
        self.deals.pop()
        if not self.deals and self.dealt is not None:
            self.dealt(self)

    def _refuse_cards(self, cards: tuple[str, ...]) -> None:
        """Say what is wrong with cards that are not the next of the deck."""
        require_in_pack(cards, self.pack)
        gone = self.deck[: self.next_card] if self.deck else ()
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

    def begin_showdown(self) -> None:
        """The active seats show, in play order."""
        self.queue = self.active[::-1]
        self.enter("showdown", self.active[0])

    def show(self, action: Action) -> None:
        """``sm CARDS``: all of the seat's cards as they were dealt, unknown ones now named."""
        seat = action.actor
        if action.cards != self.cards[seat] or UNKNOWN in action.cards:
            self._reveal(seat, action.cards)
        self.shown[seat] = True
        self.queue.pop()
        if self.queue:
            self.turn = self.queue[-1]
        else:
            self.showdown()

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
        if not set(cards).issuperset(self.up[seat]):
            raise CardMismatch(f"p{seat} turned up {''.join(self.up[seat])}, which is not among {''.join(cards)}")
        revealed = tuple(now for was, now in zip(dealt, cards, strict=True) if was == UNKNOWN)
        self.require_free(revealed, tuple(card for card in self.up[seat] if card not in dealt))
        self.known.update(revealed)
        self.cards[seat] = cards

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

    def offer_show(self) -> Legal:
        """The seat shows all its cards."""
        return self.offer("sm", count=len(self.cards[self.turn]))

    def offer_owed(self, verb: str = "cc") -> Legal:
        """The seat pays exactly what it owes."""
        owed = self.owed(self.turn)
        return self.offer(verb, min=owed, max=owed, step=owed)
