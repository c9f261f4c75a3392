"""What a viewer has not seen is exchanged: nothing that it is shown may change."""

from __future__ import annotations

import json
from random import Random

from engine.errors import EngineError
from engine.kernel.cards import UNKNOWN, split_cards
from engine.kernel.hand import Hand
from engine.kernel.hands import order_of
from engine.kernel.setup import Viewer
from engine.play import random_line
from engine.registry import resume, start
from tests.engine.deals import shuffled, table

OPEN = frozenset({"pl", "up", "ml"})
"""Verbs whose cards everybody sees."""
OWN = frozenset({"ds"})
"""Verbs whose cards the seat alone sees that writes them."""
TRIES = 40


def seen_by(hand: Hand, viewer: Viewer) -> set[str]:
    """Cards that the viewer has seen, by the log alone. A card that was called is not seen by that."""
    found: set[str] = set()
    for line in hand.log:
        actor, verb, *words = line.split(" ")
        if verb in OPEN or (verb in OWN and actor == f"p{viewer}") or (verb == "dh" and words[0] == f"p{viewer}"):
            found.update(split_cards(words[-1]))
    return found - {UNKNOWN}


def exchanged(hand: Hand, viewer: Viewer, random: Random) -> Hand | None:
    """The same deal with the cards that the viewer has not seen exchanged; None if no way was found: what seats have
    done must have been legal, so not every exchange will do."""
    deck = hand.setup.deck or ()
    seen = seen_by(hand, viewer)
    hidden = [card for card in deck if card not in seen]
    for attempt in range(TRIES):
        swap = dict(zip(hidden, random.sample(hidden, len(hidden)), strict=True))
        if attempt >= TRIES // 4 and len(hidden) > 1:
            one, other = random.sample(hidden, 2)
            swap = {one: other, other: one}
        if all(card == to for card, to in swap.items()):
            continue
        twin = replayed(hand, swap)
        if twin is not None:
            return twin
    return None


def replayed(hand: Hand, swap: dict[str, str]) -> Hand | None:
    """The deal after the exchange, None where its lines do not stand."""
    deck = tuple(swap.get(card, card) for card in hand.setup.deck or ())
    try:
        twin = resume(hand.setup._replace(deck=deck), [swapped(hand, line, swap) for line in hand.log])
    except EngineError:
        return None
    return twin if (twin.phase, twin.actor, twin.pending) == (hand.phase, hand.actor, hand.pending) else None


def swapped(hand: Hand, line: str, swap: dict[str, str]) -> str:
    """The line after the exchange: cards that are dealt or laid away change, what lies open is no part of it."""
    *words, last = line.split(" ")
    if words[1:2] not in (["dh"], ["ds"]):
        return line
    cards = [swap.get(card, card) for card in split_cards(last)]
    if words[1] == "ds":
        cards.sort(key=order_of(hand._state.pack).__getitem__)
    return " ".join([*words, "".join(cards)])


def require_alike(hand: Hand, twin: Hand, viewer: Viewer) -> None:
    """Views, places and texts are byte for byte the same."""
    assert json.dumps(twin.view(viewer)) == json.dumps(hand.view(viewer)), (viewer, hand.log)
    assert twin.places(viewer) == hand.places(viewer)
    if viewer != "public":
        assert twin.information(int(viewer)) == hand.information(int(viewer))


def require_sealed(hand: Hand, viewer: Viewer) -> None:
    """Nothing in the view, nor what its places lead to, is a card that the viewer has not seen; what may be called or
    was called apart."""
    seen, deck = seen_by(hand, viewer), hand.setup.deck or ()
    view = hand.view(viewer)
    assert {deck[place] for _, place in hand.places(viewer)} <= seen
    offers, log = view.pop("legal"), view.pop("log")
    cards = {card for offer in offers for row in offer.get("cards", ()) for card in split_cards(row)}  # type: ignore[attr-defined]
    for line in log:  # type: ignore[attr-defined]
        if line.split(" ")[1] in ("dh", *OPEN, *OWN):
            cards |= set(split_cards(line.split(" ")[-1]))
    called = view.get("called")
    named = {part for part in json.dumps(view).split('"') if part in deck and part != called}
    assert (named | cards) - {UNKNOWN} <= seen, (viewer, (named | cards) - seen)


def watch(game: str, opt: dict[str, object], seats: int, number: int) -> tuple[int, int]:
    """Play a random deal; at every line some viewers are shown the same after an exchange. How often one was found, of
    how many."""
    random = Random(f"{game}/{opt}/{number}")
    hand = start(table(game, opt, seats=seats, deck=shuffled(random)))
    found = steps = 0
    while True:
        for viewer in (random.randint(1, seats), "public"):
            require_sealed(hand, viewer)
            steps += 1
            twin = exchanged(hand, viewer, random)
            if twin is not None:
                require_alike(hand, twin, viewer)
                found += 1
        if hand.over:
            return found, steps
        clock = hand.actor != "d" and hand.pending is None and random.random() < 0.1
        hand.advance(f"{hand.actor} au" if clock else random_line(hand, random))
