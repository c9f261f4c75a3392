"""Cards of a vying game: looked at, turned up in the middle of play, shown at its end, and who may know them."""

from __future__ import annotations

from itertools import combinations
from typing import Any, ClassVar

from engine.errors import CardAlreadyDealt, CardMismatch, CardUnknown, WrongCount
from engine.kernel.cards import UNKNOWN, require_in_pack
from engine.kernel.events import BottomCard, Event, Looked, Shown, TurnedUp
from engine.kernel.grammar import Action
from engine.kernel.legal import Legal, Pick, Range, Rows
from engine.kernel.setup import AUDITOR, Setup, Viewer
from engine.vying.turns import PotState

UP = 2
"""How many cards a seat turns up."""

Places = tuple[tuple[int, int], ...]
"""Pairs of places in a hand, counted from 0 in the order of dealing."""

ANY_TWO: Places = tuple(combinations(range(4), 2))


class VyingState(PotState):
    """Adds what seats have looked at, turned up and shown of their cards."""

    BOTTOM_IS_PUBLIC: ClassVar[bool] = False
    """Whether everyone may see the bottom card of the pack."""
    PICKED_UP: ClassVar[int] = 2
    """How many of its cards a seat looks at as it gets them."""

    __slots__ = ("open_from", "seen", "shown", "third_skipped", "up", "up_places")

    FRESH: ClassVar[frozenset[str]] = PotState.FRESH | {"seen", "shown", "third_skipped", "up", "up_places"}

    def __init__(self, setup: Setup, rules: Any) -> None:
        PotState.__init__(self, setup, rules)
        places = self.seats + 1
        self.seen = [self.PICKED_UP] * places  # a seat looks, or has looked, at its first so many cards
        self.third_skipped: set[int] = set()  # seats that have looked at their fourth card before their third
        self.shown = [False] * places
        self.up: list[tuple[str, ...]] = [()] * places  # cards turned up, as the seat named them
        self.up_places: dict[int, Places] = {}  # where a seat's upturned cards may have been dealt
        self.open_from: int | None = None  # lines of the log from here on deal face up

    # -- cards looked at ---------------------------------------------------------------------------------------------

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
            raise CardAlreadyDealt(f"{cards[0]} occurs twice in one hand", card=cards[0])
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
                # The refusal goes to the sender of the line, so it reveals no card that lies face down.
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

    def forced(self) -> str | None:
        """With a known deck, a deal, or cards that are shown at the end."""
        if self.phase == "showdown" and self.deck is not None:
            return f"p{self.turn} sm {''.join(self.cards[self.turn])}"
        return super().forced()

    # -- who may know what -------------------------------------------------------------------------------------------

    def held_by(self, seat: int, viewer: Viewer) -> list[str]:
        """A seat knows its first two cards, its later ones once it has looked at them; everybody what was shown."""
        cards = self.cards[seat]
        if viewer == AUDITOR or self.shown[seat]:
            return list(cards)
        known = self.places_seen(seat) if viewer == seat else ()
        return [card if place in known else UNKNOWN for place, card in enumerate(cards)]

    def may_see_up(self, seat: int, viewer: Viewer) -> bool:
        """Cards turned up are everybody's as soon as every seat has chosen its own; till then only the chooser's."""
        return self.phase != "up" or viewer in (seat, AUDITOR)

    def all_chosen(self, action: Action) -> bool:
        """Whether every seat has turned its cards up."""
        return self.phase != "up"

    def is_open_line(self, at: int) -> bool:
        """From some line on cards are dealt face up."""
        return self.open_from is not None and at >= self.open_from

    def bottom(self) -> str | None:
        """The bottom card of a known deck, where everyone may see it: from the first deal on."""
        return self.deck[-1] if self.deck and self.next_card and self.BOTTOM_IS_PUBLIC else None

    def face_up(self, viewer: Viewer) -> set[str]:
        """Cards turned up, and the bottom card."""
        found = {card for seat in range(1, self.seats + 1) if self.may_see_up(seat, viewer) for card in self.up[seat]}
        bottom = self.bottom()
        return found if bottom is None else found | {bottom}

    def face_up_hands(self) -> list[tuple[str, ...]]:
        """Hands dealt face up apart from those that seats hold, p1 first; most games have none."""
        return []

    def view_of_seat(self, seat: int, viewer: Viewer) -> dict[str, object]:
        """Whether the seat is in, its stake, what it has seen, shown and turned up."""
        active = seat in self.active
        found: dict[str, object] = {
            "state": "active" if active else "folded",
            "stake": self.stakes[seat],
            "owes": self.owed(seat) if active and self.result is None else 0,
            "unseen": self.unseen(seat),
            "shown": self.shown[seat],
        }
        if self.turns_up():
            # Apart from ``cards``, whose places would reveal when an upturned card was dealt.
            up = self.up[seat]
            found["up"] = list(up) if self.may_see_up(seat, viewer) else [UNKNOWN] * len(up)
        return found

    def view_of_table(self, viewer: Viewer) -> dict[str, object]:
        """Stakes, the bottom card where everybody may see it, hands that were dealt face up."""
        found: dict[str, object] = {"stakes": self.stakes[1:], "bottom": self.bottom()}
        if hands := self.face_up_hands():
            found["face_up"] = [list(hand) for hand in hands]
        return found

    def places_of_redeals(self) -> list[tuple[int, int]]:
        """What was dealt face up out of redeals, each of which gives every seat one batch."""
        if self.open_from is None:
            return []
        batches = [self.GRAMMAR.parse(line) for line in self.log[self.open_from :] if line.startswith("d dh ")]
        places, next_place = [], 0
        for number, batch in enumerate(batches):
            redeal, seat = divmod(number, self.seats)
            if seat == 0:
                next_place = 0
            places += [(redeal + 1, next_place + at) for at in range(len(batch.cards))]
            next_place += len(batch.cards)
        return places

    def events(self, action: Action) -> list[Event]:
        """Looks, cards shown, cards turned up once all have chosen, the bottom card with the first deal."""
        if action.verb == "lk":
            return [Looked(action.actor, action.amount)]
        if action.verb in ("sm", "cu"):
            return [Shown(action.actor, action.cards)]
        found = super().events(action)
        if action.verb == "dh":
            if self.is_open_line(len(self.log) - 1):
                found.append(TurnedUp(action.target, action.cards))
            bottom = self.bottom()
            if bottom is not None and sum(line.startswith("d dh ") for line in self.log) == 1:
                found.insert(0, BottomCard(bottom))
        if action.verb == "up" and self.phase != "up":  # all have chosen, so all cards are turned at once
            found.extend(TurnedUp(seat, self.up[seat]) for seat in self.active)
        return found

    # -- what may be done with the verbs above -----------------------------------------------------------------------

    def offer_look(self) -> Legal | None:
        """The seat looks at what it has not seen."""
        unseen = self.unseen(self.turn)
        return self.offer("lk", Range(unseen, unseen, name="count")) if unseen else None

    def offer_turn_up(self) -> Legal:
        """The seat turns cards up."""
        places, cards = self.may_turn_up(self.turn), self.cards[self.turn]
        pool = None if UNKNOWN in cards else cards
        return self.offer("up", Pick(UP, pool, None if places == ANY_TWO else places))

    def offer_show(self, verb: str = "sm") -> Legal:
        """The seat shows all its cards, in the order of dealing."""
        cards = self.cards[self.turn]
        return self.offer(verb, Pick(len(cards)) if UNKNOWN in cards else Rows(("".join(cards),)))
