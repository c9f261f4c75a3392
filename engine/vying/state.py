"""The mutable state of a hand of a vying game: turn and money (:mod:`engine.vying.turns`), and what lies where."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations
from typing import Any, ClassVar, NoReturn

from engine.actions import DEALER, Action, deal_line, parse_action
from engine.cards import UNKNOWN, Pack, require_in_pack
from engine.errors import (
    CardAlreadyDealt,
    CardMismatch,
    CardNotFromDeck,
    CardUnknown,
    MalformedSetup,
    WrongCount,
    WrongTarget,
)
from engine.game import Legal, Setup
from engine.vying.turns import TurnState

UP = 2
"""How many cards a seat turns up."""

Places = tuple[tuple[int, int], ...]
"""Pairs of places in a hand, counted from 0 in the order of dealing."""

ANY_TWO: Places = tuple(combinations(range(4), 2))


class VyingState(TurnState):
    """Adds the cards: in the pack, before the seats, looked at, turned up, shown."""

    PACK: ClassVar[Pack]
    """The pack, unless the table plays with another one (``pack``)."""
    BOTTOM_IS_PUBLIC: ClassVar[bool] = False
    """Whether everyone may see the bottom card of the pack."""
    PICKED_UP: ClassVar[int] = 2
    """How many of its cards a seat looks at as it gets them."""

    __slots__ = (
        "cards",
        "deals",
        "dealt",
        "deck",
        "known",
        "next_card",
        "open_from",
        "pack",
        "seen",
        "shown",
        "source",
        "third_skipped",
        "up",
        "up_places",
    )

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        places = setup.seats + 1
        self.cards: list[tuple[str, ...]] = [()] * places
        self.seen = [self.PICKED_UP] * places  # a seat looks, or has looked, at its first so many cards
        self.third_skipped: set[int] = set()  # seats that have looked at their fourth card before their third
        self.shown = [False] * places
        self.known: set[str] = set()  # named cards that lie somewhere; kept only without a deck
        self.up: list[tuple[str, ...]] = [()] * places  # cards turned up, as the seat named them
        self.up_places: dict[int, Places] = {}  # where a seat's upturned cards may have been dealt
        self.pack = self.PACK
        self.deck = setup.deck
        self.source = setup.deck  # what is dealt from now
        self.next_card = 0
        self.deals: list[tuple[int, int]] = []  # (seat, count) still to deal, the next one last
        self.dealt: Callable[[Any], None] | None = None  # what follows once all of it is dealt
        self.open_from: int | None = None  # lines of the log from here on deal face up

    def run(self, lines: Iterable[str], ends: list[int] | None = None) -> None:
        """Apply one line after another; a wrong one raises and changes nothing, and the log tells how many were
        right. ``ends`` is told after each of those how many moves there have been."""
        accept, moves = self.log.append, self.moves
        for line in lines:
            turn = self.turn
            if turn != DEALER or not self.deal_from_deck(line):
                action = parse_action(line)
                if action.actor != turn:
                    self.refuse_actor(action)
                verbs = self.verbs
                if action.verb not in verbs:
                    raise self.not_legal(action)
                verbs[action.verb](self, action)
            accept(line)
            if ends is not None:
                ends.append(len(moves))

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
        """``d dh pN CARDS``: the next batch, face down."""
        self.draw(action.target, action.cards)
        self.cards[action.target] += action.cards
        if not self.deals and self.dealt is not None:
            self.dealt(self)

    def deal_from_deck(self, line: str) -> bool:
        """Deal if ``line`` is what must come next from the known deck: then it need not be read word by word, and a
        quarter of a log are deals. Else nothing happens."""
        if self.source is None or self.phase != "deal":
            return False
        seat, count = self.deals[-1]
        end = self.next_card + count
        cards = self.source[self.next_card : end]
        if line != deal_line(seat, cards):
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
        """Say what is wrong with a batch that goes to another seat or has another size."""
        to, count = self.deals[-1]
        if seat != to:
            raise WrongTarget(f"p{to} is to be dealt to, not p{seat}", target=to)
        raise WrongCount(f"p{seat} gets {count} cards, not {len(cards)}", count=count)

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
        if self.known.isdisjoint(cards) and self.pack.members.issuperset(cards) and len({*cards}) == len(cards):
            return  # as always, unless some are unknown or own
        require_in_pack(cards, self.pack)
        for at, card in enumerate(cards):
            if card != UNKNOWN and ((card in self.known and card not in own) or card in cards[:at]):
                raise CardAlreadyDealt(f"{card} has been dealt before", card=card)

    def unseen(self, seat: int) -> int:
        """How many of its cards ``seat`` has not looked at."""
        return max(len(self.cards[seat]) - self.seen[seat], 0)

    def places_seen(self, seat: int) -> tuple[int, ...]:
        """Where, in the order of dealing from 0, the cards lie that ``seat`` has looked at."""
        if self.seen[seat] == 3 and seat in self.third_skipped:
            return (0, 1, 3)
        return tuple(range(min(self.seen[seat], len(self.cards[seat]))))

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
        if not self.pass_on():
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
        if not self.pass_on():
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
                # The refusal goes to whoever sent the line, so it tells no card that lies face down.
                raise CardMismatch(f"p{seat} was not dealt {''.join(cards)}")
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

    def face_up_hands(self) -> list[tuple[str, ...]]:
        """Hands dealt face up apart from those that seats hold, p1 first; most games have none."""
        return []

    def spare(self) -> int:
        """Packs of the set-up that were not dealt from."""
        return 0

    def wants(self) -> tuple[str, ...] | None:
        """The cards to shuffle anew; a game without redeals wants none."""
        return None

    def supply(self, deck: tuple[str, ...]) -> None:
        """Take cards that were shuffled anew."""
        raise MalformedSetup("no cards are to be shuffled anew now")

    # -- what may be done with the verbs above ---------------------------------------------------------------

    def offer_deal(self) -> Legal | None:
        """The dealer deals to the next seat, if the cards are there."""
        if self.wants() is not None:
            return None
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
