"""Cards in any order, and rows put together of parts: what an offer of them contains."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from random import Random

from engine.errors import CardMismatch
from engine.kernel.cards import TELL32
from engine.kernel.grammar import Action
from engine.kernel.legal import Legal, Order, Parts, Rows, Target
from engine.kernel.zones import Chance
from engine.play import line_of


def test_an_order_is_any_order_of_all_its_cards():
    offer = Legal("d", "fn", (Target(2), Order(("Aa", "Kb", "7h"))))
    lines = list(offer.lines())
    assert len(set(lines)) == 6 and lines[0] == "d fn p2 AaKb7h" and all(map(offer.contains, lines))
    assert not any(
        map(offer.contains, ("d fn p2 AaKb", "d fn p2 AaKbKb", "d fn p2 AaKb7h7h", "d fn p2 AaKb??", "d fn p2 A"))
    )
    assert offer.as_dict() == {"actor": "d", "verb": "fn", "target": 2, "count": 3} and offer.count == 3
    assert offer.only("d fn p2 7hKbAa").arguments == (Target(2), Rows(("7hKbAa",)))
    drawn = Counter(line_of(offer, Random(number)) for number in range(600))
    assert set(drawn) == set(lines) and min(drawn.values()) > 60


def test_unknown_cards_of_an_order_may_be_named():
    offer = Order(("Aa", "??", "??"), ("Kb", "7h"))
    assert list(offer.texts()) == ["Aa????", "??Aa??", "????Aa"]
    assert all(map(offer.accepts, ("Aa????", "KbAa??", "7hKbAa")))
    assert not any(map(offer.accepts, ("??????", "Kb7h??", "AaKbKb", "AaOb??", "AaAa??")))


def test_the_order_of_many_cards_comes_one_by_one():
    assert len(list(islice(Order(TELL32.cards).texts(), 5))) == 5


def test_parts_make_rows_that_are_not_empty_and_not_too_heavy():
    parts = Parts(((("", 0), ("Aa", 1), ("AaAl", 2)), (("", 0), ("Ka", 1))), 2)
    rows = list(parts.texts())
    assert rows == ["Ka", "Aa", "AaKa", "AaAl"] and all(map(parts.accepts, rows))
    assert not any(map(parts.accepts, ("", "AaAlKa", "KaAa", "Al", "AaAa")))
    assert {parts.draw(Random(number)) for number in range(60)} == set(rows) and parts.as_dict() == {}


def test_a_row_that_is_not_offered_is_refused_by_its_cards():
    offer = Legal("d", "fn", (Target(2), Order(("Aa", "Kb"))))
    line = "d fn p2 AaOb"
    try:
        offer.require(Action(0, "fn", target=2, cards=("Aa", "Ob"), text=line))
    except CardMismatch as refusal:
        assert refusal.code == "card_mismatch"
    else:
        raise AssertionError(line)


def test_chance_may_turn_a_card_up():
    chance = Chance(0, 1, ("Aa", "Kb"), "up")
    assert list(chance.offer().lines()) == ["d up Aa", "d up Kb"] and chance.outcomes == 2
    assert {chance.line(Random(number)) for number in range(20)} == {"d up Aa", "d up Kb"}
