"""Cards of a hand: those that its log names against those that were entered beside it."""

import re
from collections.abc import Iterator, Sequence

from .events import Row


class CardPlaces:
    """What a hand's log says of cards, and what was entered beside it: the same cards in the same places."""

    def __init__(self, log: Sequence[str], entered: Sequence[Row], card_verbs: dict[str, list[str]]) -> None:
        #: By seat: cards as they were dealt, and as they were shown (both in the order of dealing).
        self._dealt: dict[str, list[str]] = {}
        self._shown: dict[str, list[str]] = {}
        #: By seat, cards that it turned up or played, each with the number of cards that it had been dealt by then.
        self._out: dict[str, list[tuple[str, int]]] = {}
        #: Cards that came off the pack face up: wherever they lie, none of them was dealt unseen.
        self._opened: set[str] = set()
        #: By seat, how many of its cards were dealt before a verb after which cards come of a new pack.
        self._counts: dict[str, int] = {}
        self._reopened = False
        #: The last entry of a card counts.
        self._entered: dict[tuple[str, int], str] = {(one["actor"], one["index"]): one["card"] for one in entered}
        reopening = card_verbs.get("reopens", ())
        role_of = {verb: role for role, verbs in card_verbs.items() if role != "reopens" for verb in verbs}
        for line in log:
            actor, verb, *words = line.split(" ")
            self._lay(role_of.get(verb), actor, words)
            self._reopened = self._reopened or verb in reopening

    def _lay(self, role: str | None, actor: str, words: Sequence[str]) -> None:
        """The cards of the next line come to lie where its verb says."""
        cards = _cards_of(next((word for word in words if _CARDS(word)), ""))
        if role == "dealt":
            seat = next(word for word in words if _SEAT(word))
            self._dealt.setdefault(seat, []).extend(cards)
            if not self._reopened:
                self._counts[seat] = len(self._dealt[seat])
        elif role == "shown":
            self._shown[actor] = cards
        elif role == "opened":
            self._opened.update(cards)
        elif role in ("turned", "played"):
            dealt = self._counts.get(actor, 0)
            unseen = [card for card in cards if card != _HIDDEN and card not in self._opened]
            self._out.setdefault(actor, []).extend((card, dealt) for card in unseen)

    def wrong(self) -> Iterator[tuple[str, str]]:
        """Places where an entry is not what the log says, or a card lies twice, and what is wrong there."""
        for (seat, index), card in self._entered.items():
            dealt = self._dealt.get(seat, [])
            if not 0 <= index < len(dealt):
                yield f"card {index} of {seat}", f"{card} was entered, the log deals {len(dealt)} cards to the seat"
            for known in (dealt[index : index + 1], self._shown.get(seat, [])[index : index + 1]):
                if known not in ([], [_HIDDEN], [card]):
                    yield f"card {index} of {seat}", f"{card} was entered, {known[0]} is in the log"
        lying = dict.fromkeys(self._opened, "everybody, face up,")
        for seat in self._dealt:
            held = self._held(seat)
            others, alien = self._others(seat, held)
            if alien:
                yield f"cards of {seat}", f"{alien} was turned up or played, and not entered"
            for card in (*held, *others):
                if card != _HIDDEN and card in lying:
                    yield f"cards of {seat}", f"{card} lies before {lying[card]} as well"
                lying.setdefault(card, seat)

    def _held(self, seat: str) -> list[str]:
        """All cards before a seat, as far as log or entries name them."""
        held = self._dealt[seat][: self._counts.get(seat, 0)]
        for index, card in enumerate(self._shown.get(seat, [])[: len(held)]):
            held[index] = card
        return [self._entered.get((seat, index), card) if card == _HIDDEN else card for index, card in enumerate(held)]

    def _others(self, seat: str, held: Sequence[str]) -> tuple[list[str], str]:
        """The cards that a seat turned up or played besides those known to lie before it, and the first of them for
        which none of the places that it had been dealt by then is left."""
        others, alien = [], ""
        for card, dealt in self._out.get(seat, []):
            if card not in held[:dealt] and card not in others:  # one that was turned up may be played later
                others.append(card)
                if not alien and len(others) > held[:dealt].count(_HIDDEN):
                    alien = card
        return others, alien


_HIDDEN = "??"
_CARDS = re.compile(r"(?:[A-Z0-9][a-z]|\?\?)+", re.ASCII).fullmatch
_SEAT = re.compile(r"p[1-9]", re.ASCII).fullmatch


def _cards_of(text: str) -> list[str]:
    return [text[at : at + 2] for at in range(0, len(text), 2)]


def same_but_hidden(seen: str, line: str) -> bool:
    """Whether a line as everybody saw it, cards that lay face down as `??`, is this line."""
    if len(seen) != len(line):
        return False
    return line.startswith(seen.rstrip("?")) or all(map(_is_or_hides, seen, line))


def _is_or_hides(seen: str, there: str) -> bool:
    return seen in ("?", there)


def _is_hidden(word: str) -> bool:
    return _HIDDEN in word


def shown_by(log: Sequence[str], card_verbs: dict[str, list[str]]) -> set[str]:
    """The seats that have shown their whole hand, up to the first verb after which cards come of a new pack."""
    seats: set[str] = set()
    for line in log:
        actor, verb, *words = line.split(" ")
        if verb in card_verbs.get("shown", ()) and not any(map(_is_hidden, words)):
            seats.add(actor)
        if verb in card_verbs.get("reopens", ()):
            break
    return seats
