"""Cards in their zones: the pack, the hands that are dealt from it, and the known cards of both.

A card moves only by a line of the log: its verb's declaration (:class:`engine.kernel.grammar.Argument`) says what
becomes of the cards that it names and who sees them, so views, masked logs and openings follow from it. Here is what
dealing needs: who gets how many next, that named cards lie nowhere else, and the next cards of a known deck.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb
from random import Random
from typing import Any, ClassVar, NoReturn

from engine.errors import CardAlreadyDealt, CardNotFromDeck, WrongCount, WrongTarget
from engine.kernel.cards import UNKNOWN, Pack, require_in_pack
from engine.kernel.events import Dealt, Event
from engine.kernel.grammar import DEALER, Action, deal_line
from engine.kernel.legal import Legal, Pick, Rows, Target
from engine.kernel.setup import AUDITOR, Setup, Viewer
from engine.kernel.state import State


@dataclass(frozen=True, slots=True)
class Chance:
    """What the house may deal next from a pack that is not known: every set of ``count`` cards of ``pool`` for
    ``target`` is equally likely. Sets stand in the order of the pack. ``verb``: that of the line; a target of 0 is
    none, where the cards are turned up for all."""

    target: int
    count: int
    pool: tuple[str, ...]
    verb: str = "dh"

    @property
    def outcomes(self) -> int:
        """How many there are."""
        return comb(len(self.pool), self.count)

    def offer(self) -> Legal:
        """All of them, one line each (:meth:`engine.kernel.legal.Legal.lines`)."""
        cards = Pick(self.count, self.pool)
        return Legal("d", self.verb, (Target(self.target), cards) if self.target else (cards,))

    def line(self, random: Random) -> str:
        """One of them, drawn by the caller's generator."""
        drawn = set(random.sample(self.pool, self.count))
        to = f" p{self.target}" if self.target else ""
        return f"d {self.verb}{to} {''.join(card for card in self.pool if card in drawn)}"


class CardState(State):
    """Adds the pack, and the cards that seats were dealt."""

    PACK: ClassVar[Pack]
    """The pack, unless the table plays with another one."""

    __slots__ = ("cards", "deals", "dealt", "deck", "known", "next_card", "pack", "source")

    FRESH: ClassVar[frozenset[str]] = State.FRESH | {"cards", "known", "deals"}

    def __init__(self, setup: Setup, rules: Any) -> None:
        State.__init__(self, setup, rules)
        self.cards: list[tuple[str, ...]] = [()] * (self.seats + 1)  # in each seat's hand, in the order of dealing
        self.known: set[str] = set()  # named cards that lie somewhere; kept only without a deck
        self.pack = self.PACK
        self.deck = self.source = setup.deck  # the source is what is dealt from now
        self.next_card = 0
        self.deals: list[tuple[int, int]] = []  # (seat, count) still to deal, the next one last
        self.dealt: Callable[[Any], None] | None = None  # what follows once all of it is dealt

    # -- dealing -----------------------------------------------------------------------------------------------------

    def deal_next(self, deals: list[tuple[int, int]], dealt: Callable[[Any], None]) -> None:
        """Ask the dealer for ``deals`` in order, then go on with ``dealt``; without any, go on at once."""
        if not deals:
            dealt(self)
            return
        self.deals = deals[::-1]
        self.dealt = dealt
        self.enter("deal", DEALER)

    def deal(self, action: Action) -> None:
        """``d dh pN CARDS``: the next batch, face down."""
        self.draw(action.target, action.cards)
        self.cards[action.target] += action.cards
        if not self.deals and self.dealt is not None:
            self.dealt(self)

    def deal_from_deck(self, line: str) -> bool:
        """Deal if ``line`` is what must come next from the known deck: then it need not be read word by word. Else
        nothing happens."""
        if self.source is None or self.phase != "deal":
            return False
        seat, count = self.deals[-1]
        end = self.next_card + count
        cards = self.source[self.next_card : end]
        if line != f"d dh p{seat} {''.join(cards)}":  # deal_line(), and a quarter of a log are deals
            return False
        self.next_card = end
        self.deals.pop()
        self.cards[seat] += cards
        if not self.deals and self.dealt is not None:
            self.dealt(self)
        return True

    def draw(self, seat: int, cards: tuple[str, ...]) -> None:
        """Take the next batch out of the pack: the right seat, the right number, cards that are free (or next in the
        known deck)."""
        to, count = self.deals[-1]
        if seat != to or len(cards) != count:
            self._refuse_batch(seat, cards)
        if self.source is None:
            self.require_free(cards)
            self.known.update(cards)
            self.known.discard(UNKNOWN)
        else:
            end = self.next_card + count
            if cards != self.source[self.next_card : end]:
                self._refuse_cards(cards)
            self.next_card = end
        self.deals.pop()

    def _refuse_batch(self, seat: int, cards: tuple[str, ...]) -> NoReturn:
        """Raise the error of a batch for the wrong seat or of the wrong size."""
        to, count = self.deals[-1]
        if seat != to:
            raise WrongTarget(f"p{to} is to be dealt to, not p{seat}", target=to)
        raise WrongCount(f"p{seat} gets {count} cards, not {len(cards)}", count=count)

    def _refuse_cards(self, cards: tuple[str, ...]) -> None:
        """Raise the error of cards that are not the next of the deck."""
        require_in_pack(cards, self.pack)
        gone = self.source[: self.next_card] if self.source else ()
        for card in cards:
            if card in gone:
                raise CardAlreadyDealt(f"{card} has been dealt before", card=card)
        raise CardNotFromDeck(f"{''.join(cards)} is not what comes next from the deck", count=len(cards))

    def require_free(self, cards: tuple[str, ...], own: tuple[str, ...] = ()) -> None:
        """Named cards must be of the pack, and nowhere else but among ``own``."""
        if self.known.isdisjoint(cards) and self.pack.members.issuperset(cards) and len({*cards}) == len(cards):
            return  # as always, unless some are unknown or own
        require_in_pack(cards, self.pack)
        for at, card in enumerate(cards):
            if card != UNKNOWN and ((card in self.known and card not in own) or card in cards[:at]):
                raise CardAlreadyDealt(f"{card} has been dealt before", card=card)

    def next_cards(self) -> tuple[str, ...] | None:
        """The next deal, if the deck is known; None if nothing is to be dealt."""
        if self.source is None or not self.deals:
            return None
        return self.source[self.next_card : self.next_card + self.deals[-1][1]]

    def forced(self) -> str | None:
        """With a known deck, the next line without a choice: a deal."""
        if self.turn != DEALER or (cards := self.next_cards()) is None:
            return None
        return deal_line(self.deals[-1][0], cards)

    def chance(self) -> Chance | None:
        """What may be dealt next from an unknown pack. A card that was dealt unknown may be any of the pool, too: it
        leaves every set of the pool equally likely."""
        if self.turn != DEALER or self.source is not None or not self.deals:
            return None
        seat, count = self.deals[-1]
        return Chance(seat, count, tuple(card for card in self.pack.cards if card not in self.known))

    def events(self, action: Action) -> list[Event]:
        """A deal says how many cards went where."""
        if action.verb == "dh":
            return [Dealt(action.target, len(action.cards))]
        return super().events(action)

    # -- what is known -----------------------------------------------------------------------------------------------

    def dealt_to(self, seat: int) -> tuple[str, ...]:
        """All cards dealt to ``seat`` so far, in the order of dealing, whatever has become of them."""
        return self.cards[seat]

    def held_by(self, seat: int, viewer: Viewer) -> list[str]:
        """The cards in a seat's hand as ``viewer`` may know them, ``??`` for each of the others."""
        cards = self.cards[seat]
        return list(cards) if viewer in (seat, AUDITOR) else [UNKNOWN] * len(cards)

    def face_up(self, viewer: Viewer) -> set[str]:
        """Cards that ``viewer`` may know apart from those in hands, as long as knowing their places in the pack reveals
        nothing more."""
        return set()

    # -- what may be done --------------------------------------------------------------------------------------------

    def offer_deal(self) -> Legal | None:
        """The dealer deals to the next seat, if the cards are there."""
        if self.wants() is not None:
            return None
        seat, count = self.deals[-1]
        cards = self.next_cards()
        if cards is not None:
            return self.offer("dh", Target(seat), Rows(("".join(cards),)))
        free = tuple(card for card in self.pack.cards if card not in self.known)
        return self.offer("dh", Target(seat), Pick(count, free, unknown=True))

    # -- what views are made of; a game overrides what it does otherwise -----------------------------------------------

    BY_PERSON: ClassVar[bool] = False
    """Whether the series names those who sit on the seats; then they are part of the hand's state."""

    def play_position(self) -> tuple[Any, ...]:
        """Phase, turn, and the cards in every hand."""
        return self.phase, self.turn, tuple(map(frozenset, self.cards))

    def tricks_of(self, seat: int) -> int:
        """How many tricks the seat has taken; 0 in a game without tricks."""
        return 0

    def staked(self) -> tuple[int, ...]:
        """What each seat has put into a pot by its own actions, p1 first; a game without a pot has no stakes."""
        return (0,) * self.seats

    def view_of_seat(self, seat: int, viewer: Viewer) -> dict[str, object]:
        """What a view says of a seat besides its stack and its cards."""
        return {}

    def view_of_table(self, viewer: Viewer) -> dict[str, object]:
        """What a view says of the table besides what every game has."""
        return {}

    def learned(self, seat: int) -> dict[str, object]:
        """What the seat knows that its log does not say: a hand that its partner has shown it, a card of the pack at
        which it has looked."""
        return {}

    def is_open_line(self, at: int) -> bool:
        """Whether the line of the log at this place deals face up, whatever its verb usually does."""
        return False

    def all_chosen(self, action: Action) -> bool:
        """Whether the cards of a line that is seen by all together may be seen by now."""
        return True

    def has_looked(self, seat: int) -> bool:
        """Whether the seat has looked at the cards that it was dealt; in most games it does at once."""
        return True

    def receiver(self, action: Action) -> int:
        """The seat that the cards of an action go to, where they go to another hand; 0 where they do not."""
        return 0

    def drawn_from(self, at: int, viewer: Viewer) -> int:
        """Of the cards in the line of the log at this place, the number (from 1) of the one that was drawn and that
        ``viewer`` has seen so; 0 for none."""
        return 0

    def dealt_as_seen(self, seat: int, viewer: Viewer) -> list[str]:
        """The cards dealt to a seat whose places in the pack ``viewer`` may know."""
        return self.held_by(seat, viewer)

    def places_of_redeals(self) -> list[tuple[int, int]]:
        """(Pack, place) of the cards that were dealt face up out of redeals."""
        return []
