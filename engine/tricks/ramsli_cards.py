"""The cards of Ramsli: dealt, turned up for trump, changed, and played. Who knocks and who pays is in
:mod:`engine.tricks.ramsli`. Sections in quotes are those of the Ramsli rules text.

The pack is what has not left it yet: its next cards are dealt, drawn and turned up, and where the dealer turns the
bottom card up, that one is gone as well. Cards turned up before the last one, and those laid away, are out of play.
"""

from __future__ import annotations

from typing import NoReturn

from engine.errors import CardAlreadyDealt, CardMismatch, CardUnknown, MalformedAction, WrongCount, WrongTarget
from engine.kernel.cards import TELL32, UNKNOWN, require_in_pack
from engine.kernel.events import Event, Opened, Played
from engine.kernel.grammar import DEALER, Action, Argument, Role
from engine.kernel.hands import order_of
from engine.kernel.legal import Legal, Pick, Rows, Some, Target
from engine.kernel.setup import AUDITOR, Setup, Viewer
from engine.kernel.zones import Chance
from engine.tricks.duties import Duties, DutyState
from engine.tricks.masks import masks_of
from engine.tricks.ramsli_rules import POSTED, RamsliRules

CARDS = masks_of(TELL32)
"""The masks of the pack."""
HAND = 4
"""Cards of a hand ("The Deal")."""
NEW_HAND = 5
"""Cards that a new hand takes out of the pack: four face down and one face up ("Further Deals")."""
SEVEN = "7"
"""The rank that may be exchanged for the trump card ("Bidding")."""
ORDER = order_of(TELL32)


def _follow(suit: int, trump: int) -> Duties:
    return (suit,) if suit == trump else (suit, trump)


FOLLOW = {(card, trump): _follow(CARDS.suit_of[card], CARDS.suits[trump]) for card in TELL32.cards for trump in "albh"}
"""The card that was led, the suit of trump -> suit, else trump, else any card; there is no duty to beat ("The
Play")."""


class RamsliCards(DutyState):
    """Pack, trump card, hands and tricks of one deal."""

    PACK = TELL32
    MASKS = CARDS
    BY_PERSON = False
    DRAWS = True
    __slots__ = (
        "beating", "changing", "following", "looked", "lying", "maybe", "size", "suits", "taken", "trump", "unnamed",
        "winning",
    )  # fmt: skip

    FRESH = DutyState.FRESH | {"taken"}

    rules: RamsliRules

    def __init__(self, setup: Setup, rules: RamsliRules) -> None:
        super().__init__(setup, rules)
        self.size = len(TELL32.cards)  # of the pack that cards are taken off from its top
        self.looked = False  # the dealer has looked at its cards
        self.suits = ""  # of the cards turned up for trump, in order
        self.trump = ""  # the suit of the last one, "" before
        self.lying = ""  # the card that lies there for trump, "" where the dealer has taken it
        self.maybe = (0,) * (setup.seats + 1)  # by seat: known cards that it holds, or has laid away unnamed
        self.unnamed = (0,) * (setup.seats + 1)  # by seat: how many cards it has laid away unnamed
        self.changing = 0  # the seat that draws cards, 0 before the first
        self.following: tuple[int, ...] = ()  # by seat: who plays after it
        self.beating = 0  # what would win the trick now
        self.winning = 0  # the seat that wins it as it stands
        self.taken = [0] * (setup.seats + 1)  # tricks of each seat

    # -- off the pack ------------------------------------------------------------------------------------------------

    @property
    def left(self) -> int:
        """How many cards the pack still has."""
        return self.size - self.next_card

    def draw(self, seat: int, cards: tuple[str, ...]) -> None:
        """As in every game; without a deck, too, it is known how many cards are left."""
        super().draw(seat, cards)
        if self.source is None:
            self.next_card += len(cards)

    def lift(self, action: Action) -> str:
        """Take the card that is turned up, and that the line must name, off the pack."""
        seat = self.turning_for()
        if action.target != seat:
            self._refuse_target(seat)
        if len(action.cards) != 1:
            raise WrongCount("one card is turned up", count=1)
        card = action.cards[0]
        if card == UNKNOWN:
            raise CardUnknown("a card that is turned up must be named")
        if self.deck is None:
            self.require_free((card,))
            self.known.add(card)
        elif card != self.next_open():
            self._refuse_cards((card,))
        if self.phase == "bottom":
            self.size -= 1
            self.source = self.deck and self.deck[:-1]
        else:
            self.next_card += 1
        return card

    def _refuse_target(self, seat: int) -> NoReturn:
        where = f"p{seat}" if seat else "the table"
        raise WrongTarget(f"the card is turned up for {where}", target=seat)

    def turning_for(self) -> int:
        """The seat that the card turned up now is for; 0: it lies there for trump."""
        return self.changing if self.phase == "open" else 0

    def next_open(self) -> str:
        """With a known deck, the card that is turned up now."""
        deck = self.deck or ()
        return deck[-1] if self.phase == "bottom" else deck[self.next_card]

    def forced(self) -> str | None:
        """With a known deck, the next line that leaves nobody a choice: a deal, or a card turned up."""
        if self.turn != DEALER or self.deck is None or self.phase == "deal":
            return super().forced()
        seat = self.turning_for()
        return f"d up p{seat} {self.next_open()}" if seat else f"d up {self.next_open()}"

    def chance(self) -> Chance | None:
        """What may be dealt or turned up next, where nobody knows it."""
        if self.turn != DEALER or self.deck is not None or self.phase == "deal":
            return super().chance()
        return Chance(self.turning_for(), 1, self.named_nowhere(), "up")

    def named_nowhere(self) -> tuple[str, ...]:
        """The cards of the pack that nobody has named yet."""
        return tuple(card for card in self.pack.cards if card not in self.known)

    def offer_up(self) -> Legal:
        """The card that is turned up now."""
        card = Pick(1, self.named_nowhere()) if self.deck is None else Rows((self.next_open(),))
        seat = self.turning_for()
        return self.offer("up", Target(seat), card) if seat else self.offer("up", card)

    # -- laid away ---------------------------------------------------------------------------------------------------

    def lay_away(self, action: Action, least: int, most: int) -> None:
        """From ``least`` to ``most`` cards go out of the hand, face down, named in the order of the pack.

        Where the house does not know the whole hand ``??`` may be any card of it: those that it knew are then no longer
        known to lie there.
        """
        seat, cards = action.actor, action.cards
        if not least <= len(cards) <= most:
            raise WrongCount(f"p{seat} may lay away {least} to {most} cards, not {len(cards)}", min=least, max=most)
        left = self.without(seat, cards)
        if self.deck is None:
            left = self.forget(seat, left, cards)
            self.known.update(cards)
            self.known.discard(UNKNOWN)
        self.cards[seat] = left

    def forget(self, seat: int, left: tuple[str, ...], cards: tuple[str, ...]) -> tuple[str, ...]:
        """What the house knows of the hand that is left when these cards have gone: nothing more, if some of them were
        not named."""
        unnamed = cards.count(UNKNOWN)
        maybe = self.maybe[seat] & ~CARDS.mask(cards)
        if unnamed:
            maybe = (maybe | CARDS.mask(self.cards[seat])) & ~CARDS.mask(cards) if left else 0
            left = (UNKNOWN,) * len(left)
        self.maybe = (*self.maybe[:seat], maybe, *self.maybe[seat + 1 :])
        self.unnamed = (*self.unnamed[:seat], self.unnamed[seat] + unnamed, *self.unnamed[seat + 1 :])
        return left

    def place_in_hand(self, seat: int, card: str) -> int:
        """As in every trick game; a card that the seat may have kept is one of those that are not known."""
        if CARDS.bits.get(card, 0) & self.maybe[seat] and UNKNOWN in self.cards[seat]:
            return self.cards[seat].index(UNKNOWN)
        return super().place_in_hand(seat, card)

    def without(self, seat: int, cards: tuple[str, ...]) -> tuple[str, ...]:
        """The hand without these cards. Raises a ``CardError`` where it cannot hold them, ``MalformedAction`` where
        they stand in another order."""
        require_in_pack(cards, self.pack)
        held = [*self.cards[seat]]
        own, maybe = UNKNOWN in held, self.maybe[seat]
        for card in cards:
            if card in held:
                held.remove(card)
            elif not own:
                raise CardMismatch(f"p{seat} does not hold {''.join(cards)}")
            elif card in self.known and not CARDS.bits[card] & maybe:
                raise CardAlreadyDealt(f"{card} lies somewhere already", card=card)
            elif UNKNOWN in held or (card == UNKNOWN and held):
                held.remove(UNKNOWN if UNKNOWN in held else held[0])
            else:
                raise CardMismatch(f"p{seat} does not hold {''.join(cards)}")
        places = [ORDER.get(card, len(ORDER)) for card in cards]  # cards without a name come last
        if places != sorted(places) or len({*cards} - {UNKNOWN}) < len(cards) - cards.count(UNKNOWN):
            raise MalformedAction("cards that are laid away are named in the order of the pack", order="pack")
        return tuple(held)

    def offer_away(self, least: int, most: int) -> Legal:
        """From ``least`` to ``most`` cards of the hand of the seat whose turn it is."""
        held = self.cards[self.turn]
        blind = held.count(UNKNOWN)
        free = (*self.named_nowhere(), *CARDS.cards(self.maybe[self.turn])) if blind else ()
        pool = self.in_fixed_order([*(card for card in held if card != UNKNOWN), *free])
        return self.offer("ds", Some(least, most, pool, blind, frozenset(free), len(held)))

    # -- the seven of trumps -------------------------------------------------------------------------------------------

    def seven(self) -> str:
        """The seven that may be exchanged for the trump card, "" where that is gone, or the seven itself."""
        return SEVEN + self.trump if self.lying and self.lying[0] != SEVEN else ""

    def exchange(self, action: Action) -> None:
        """``ex CARD``: the seven of trumps for the trump card ("Bidding")."""
        seat, card = action.actor, action.cards[0]
        if card == UNKNOWN:
            raise CardUnknown("the card that is exchanged must be named")
        seven = self.seven()
        if card != seven:
            raise self.not_legal(action)
        place = self.place_in_hand(seat, seven)
        self.drop(seat, place, seven)
        self.cards[seat] += (self.lying,)
        self.lying = seven

    def offer_exchange(self) -> Legal | None:
        """The seven of trumps, where the seat holds it, or may hold it."""
        seven = self.seven()
        return self.offer("ex", Rows((seven,))) if seven and self.may_hold(self.turn, seven.__eq__) else None

    # -- tricks ------------------------------------------------------------------------------------------------------

    def begin_play(self, leader: int, playing: tuple[int, ...]) -> None:
        """The seats that play, in play order from any of them, and who leads to the first trick."""
        after = [0] * (self.seats + 1)
        for at, seat in enumerate(playing):
            after[seat] = playing[(at + 1) % len(playing)]
        self.following = tuple(after)
        self.take_up()
        if self.blind:
            kept = 0
            for held, maybe in zip(self.hands, self.maybe, strict=True):
                kept |= held | maybe
            self.gone = CARDS.mask(self.known) & ~kept
            whole = sum(self.maybe)  # no card stands in two hands
            self.lacks = tuple(whole & ~maybe for maybe in self.maybe)
        self.enter("play", leader)

    def can_lie(self, counts: list[int], free: int, lacks: tuple[int, ...]) -> bool:
        """As in every trick game; of the cards that a seat was known to hold it still holds all but as many as it has
        laid away unnamed, each at a different place."""
        kept = [(maybe & free).bit_count() - away for maybe, away in zip(self.maybe, self.unnamed, strict=True)]
        own = [(seat, least) for seat, least in enumerate(kept) if least > 0]
        for seat, least in own:
            counts[seat] -= least
        if min(counts) < 0:
            return False
        others = tuple(lacks[seat] | CARDS.every & ~self.maybe[seat] for seat, _ in own)
        return super().can_lie([*counts, *(least for _, least in own)], free, (*lacks, *others))

    def play(self, action: Action) -> None:
        """``pl CARD``; the last seat of a trick ends it."""
        bit = self.leave_hand(action)
        seat, card = action.actor, action.cards[0]
        trick = self.trick
        if not trick:
            self.duties = FOLLOW[card, self.trump]
            self.beating = self.duties[0]
        if bit & self.beating:
            self.winning = seat
            trumps = self.duties[-1]
            self.beating = CARDS.higher[card] if bit & trumps else CARDS.higher[card] | trumps
        trick.append((seat, card))
        self.turn = following = self.following[seat]
        if following == trick[0][0]:
            self.take_trick()

    def take_trick(self) -> None:
        """Its winner leads to the next one; the fourth is the last ("Scoring")."""
        self.trick.clear()
        self.duties = ()
        self.turn = self.winning
        self.taken[self.winning] += 1
        if sum(self.taken) == POSTED:
            self.played_out()

    def played_out(self) -> None:
        """All four tricks are taken."""
        raise TypeError(f"{type(self).__name__} settles nothing")

    def offer_play(self) -> Legal:
        """A card to the trick."""
        return self.offer("pl", Rows(CARDS.cards(self.playable(self.turn))))

    # -- who may know what -------------------------------------------------------------------------------------------

    def events(self, action: Action) -> list[Event]:
        """A card that was turned up, played or exchanged lies face up."""
        if action.verb == "up":
            return [Opened(action.cards)]
        if action.verb == "ex":
            return [Played(action.actor, action.cards[0])]
        return super().events(action)

    def has_looked(self, seat: int) -> bool:
        """The dealer's hand is shut until the dealer looks, or knocks on the trump card ("Bidding")."""
        return seat < self.seats or self.looked

    def sees_hand(self, seat: int, viewer: Viewer) -> bool:
        """Whether the viewer knows the cards in this hand."""
        return viewer == AUDITOR or (viewer == seat and self.has_looked(seat))

    def held_by(self, seat: int, viewer: Viewer) -> list[str]:
        """The own hand, once the viewer has looked at it."""
        cards = self.cards[seat]
        return list(cards) if self.sees_hand(seat, viewer) else [UNKNOWN] * len(cards)

    def dealt_as_seen(self, seat: int, viewer: Viewer) -> list[str]:
        """The own cards, once looked at. Those of others come with the end, for their places reveal when they were
        drawn, and only those that were played or exchanged: what was laid away, or never played, stays shut."""
        if self.sees_hand(seat, viewer):
            return list(self.dealt_to(seat))
        if self.result is None:
            return []
        mine = (line.split(" ") for line in self.log if line.startswith(f"p{seat} "))
        out = {words[2] for words in mine if words[1] in ("pl", "ex")}
        return [card for card in self.dealt_to(seat) if card in out]

    def bottom_seen(self, viewer: Viewer) -> str | None:
        """The bottom card of a known deck, which the dealer looks at before dealing ("The Deal")."""
        seen = viewer in (self.seats, AUDITOR) and self.phase != "post" and self.deck is not None
        return self.deck[-1] if seen and self.deck else None

    def learned(self, seat: int) -> dict[str, object]:
        """The dealer knows the bottom card."""
        bottom = self.bottom_seen(seat)
        return {} if bottom is None else {"bottom": bottom}

    def face_up(self, viewer: Viewer) -> set[str]:
        """The cards that were turned up, and the bottom card for the dealer."""
        found = {line[-2:] for line in self.log if line.startswith("d up ")}
        bottom = self.bottom_seen(viewer)
        return found if bottom is None else found | {bottom}

    def sees_choice(self, declared: Argument, viewer: Viewer) -> bool:
        """The trump card lies face up, so everybody sees that it may be taken."""
        return declared.role is Role.TAKEN or super().sees_choice(declared, viewer)

    def legal_for(self, viewer: Viewer) -> list[Legal]:
        """To others an exchange is always possible as long as the trump card lies there: who does not exchange does not
        show whether it holds the seven. Nor does a seat learn where the seven lies while the house does not know its
        hand."""
        found = super().legal_for(viewer)
        knows = viewer == AUDITOR or (viewer == self.turn and UNKNOWN not in self.cards[self.turn])
        if self.phase != "draw" or self.pending or knows or not self.seven():
            return found
        others = [offer for offer in found if offer.verb != "ex"]
        return [self.offer("ex", Pick(1, if_held=True)), *others]
