"""What a seat has learned as one text, and what the house may deal, in every registered game: for bots and search."""

from __future__ import annotations

import json
from itertools import islice
from random import Random
from typing import Any

import pytest

from engine.errors import EngineError, MalformedSetup
from engine.kernel.cards import TELL32
from engine.kernel.grammar import Role
from engine.kernel.hand import Hand
from engine.kernel.setup import Setup
from engine.kernel.zones import Chance
from engine.registry import start
from tests.engine.any_game import GAMES, LONG, after, physical, points, records

TRIES = 10


def shown(hand: Hand, seat: int) -> set[str]:
    """Cards of the deck that stand anywhere in what the seat can see; a card that could be called is not seen."""
    view = hand.view(seat)
    offers: Any = view["legal"]
    view["legal"] = [{name: value for name, value in offer.items() if name != "words"} for offer in offers]
    text = json.dumps([view, hand.information(seat)])
    return {card for card in hand.setup.deck or () if card in text}


def replayed(setup: Setup, lines: tuple[str, ...], one: str = "", other: str = "") -> Hand | None:
    """The same lines on another deck, whose deals and shown hands follow from it; None if that cannot be. Where two
    cards were exchanged in the deck, so they are in the lines."""
    hand, swap = start(setup), {one: other, other: one}
    try:
        for line in lines:
            *words, last = line.split(" ")
            cards = "".join(swap.get(last[at : at + 2], last[at : at + 2]) for at in range(0, len(last), 2))
            hand.advance((hand.forced() if hand.actor == "d" else None) or " ".join([*words, cards]))
    except EngineError:
        return None
    return hand


def exchanged(deck: tuple[str, ...], one: str, other: str) -> tuple[str, ...]:
    """The deck with two of its cards exchanged."""
    return tuple({one: other, other: one}.get(card, card) for card in deck)


@pytest.mark.some_now(4)
@pytest.mark.parametrize("game", GAMES)
def test_hands_that_a_seat_cannot_tell_apart_give_equal_texts(game: str):
    """Two cards that the seat has not seen are exchanged: nothing that it is shown changes, unless the game passes over
    a seat for its cards; then the texts differ too."""
    random, compared = Random(game), 0
    for record in records(game):
        setup = record.setup()
        for _ in range(max(5, TRIES * min(LONG, len(record.acts)) // len(record.acts))):
            lines = record.acts[: random.randint(0, len(record.acts) - 1)]
            hand, seat = replayed(setup, lines), random.randint(1, setup.seats)
            assert hand is not None and setup.deck is not None
            unseen = [card for card in setup.deck if card not in shown(hand, seat)]
            if len(unseen) < 2:
                continue
            one, other = random.sample(unseen, 2)
            twin = replayed(setup._replace(deck=exchanged(setup.deck, one, other)), lines, one, other)
            if twin is None or len(twin.log) != len(hand.log):
                continue
            same = twin.view(seat) == hand.view(seat)
            assert (twin.information(seat) == hand.information(seat)) == same
            compared += twin.log != hand.log and same
            assert same or twin.actor != hand.actor, (hand.log, seat)
    assert compared > 12


@pytest.mark.some_now(4)
@pytest.mark.parametrize("game", GAMES)
def test_a_card_that_the_seat_holds_makes_another_text(game: str):
    random, compared = Random(game), 0
    for record in records(game):
        setup = record.setup()
        for seat in range(1, setup.seats + 1):
            hand = start(setup)
            while shown(hand, seat).isdisjoint(hand.cards_of(seat)) and (line := hand.forced() or hand.automatic()):
                hand.advance(line)
            seen = [card for card in hand.cards_of(seat) if card in shown(hand, seat)]
            unseen = [card for card in setup.deck or () if card not in shown(hand, seat)]
            one, other = random.choice(seen), random.choice(unseen)
            twin = replayed(setup._replace(deck=exchanged(setup.deck or (), one, other)), hand.log, one, other)
            if twin is not None and twin.log != hand.log:
                assert twin.information(seat) != hand.information(seat)
                compared += 1
    assert compared > 10


@pytest.mark.parametrize("game", GAMES)
def test_a_text_differs_by_seat_and_by_line_and_is_for_seats_only(game: str):
    for hand, line in points(game, 0.05):
        done = after(hand, line)
        texts = {hand.information(seat) for seat in range(1, hand.setup.seats + 1)}
        assert len(texts) == hand.setup.seats
        assert done is not None and texts.isdisjoint(done.information(seat) for seat in range(1, hand.setup.seats + 1))
        for nobody in (0, hand.setup.seats + 1):
            with pytest.raises(MalformedSetup):
                hand.information(nobody)


# -- chance ------------------------------------------------------------------------------------------------------------


def takes_off_the_pack(hand: Hand) -> bool:
    """Whether what the house may do takes cards off the pack."""
    grammar = hand._state.GRAMMAR
    named = (grammar.verb(offer.actor, offer.verb).cards for offer in hand.legal() if offer.actor == "d")
    return any(one is not None and one.role in (Role.DEALT, Role.OPENED, Role.SET_ASIDE) for one in named)


@pytest.mark.parametrize("game", GAMES)
def test_the_house_deals_by_chance_only_where_nobody_knows_the_deck(game: str):
    for hand, _ in points(game, 0.3):
        chance = hand.chance()
        assert (chance is not None) == (hand.setup.deck is None and hand.actor == "d" and takes_off_the_pack(hand))
        if chance is not None:
            [offer] = hand.legal()
            drawn = chance.line(Random(len(hand.log)))
            assert offer.contains(drawn) and chance.offer().contains(drawn) and after(hand, drawn)
            assert not set(chance.pool) & {card for seat in range(1, hand.setup.seats + 1) for card in hand.held(seat)}
            assert all(after(hand, line) for line in islice(chance.offer().lines(), 3))


@pytest.mark.parametrize("game", GAMES)
def test_outcomes_are_counted_as_they_are_enumerated_and_all_are_accepted(game: str):
    counted = 0
    for record in records(game):
        setup = record.setup()
        hand = start(physical(setup))
        for line in record.acts if not setup.redeals else ():
            chance = hand.chance()
            if chance is not None and chance.outcomes <= 300:
                lines = list(chance.offer().lines())
                assert len(lines) == len(set(lines)) == chance.outcomes
                assert all(after(hand, said) for said in lines)
                counted += 1
            hand.advance(line)
    assert counted


def test_a_small_pool_is_enumerated_in_the_order_of_the_pack_and_drawn_from_evenly():
    chance = Chance(2, 2, TELL32.cards[:4])
    lines = list(chance.offer().lines())
    assert lines == [f"d dh p2 {pair}" for pair in ("AaKa", "AaOa", "AaUa", "KaOa", "KaUa", "OaUa")]
    random = Random(1)
    drawn = [chance.line(random) for _ in range(6000)]
    assert set(drawn) == set(lines) and all(850 < drawn.count(line) < 1150 for line in lines)


@pytest.mark.parametrize("game", GAMES)
def test_a_card_dealt_unknown_stays_in_the_pool(game: str):
    hand = next(hand.copy() for hand, _ in points(game) if (chance := hand.chance()) and chance.target)
    [offer], chance = hand.legal(), hand.chance()
    assert chance is not None
    unknown = f"d dh p{chance.target} {'??' * chance.count}"
    blind = after(hand, unknown)
    assert offer.contains(unknown) and not chance.offer().contains(unknown) and blind is not None
    following = blind.chance()
    assert following is not None and following.pool == chance.pool
    assert after(blind, following.line(Random(1)))
