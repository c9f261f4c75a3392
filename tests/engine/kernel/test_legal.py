"""`legal()` of every registered game is exactly what `apply` accepts: its lines, and nothing near them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from random import Random

import pytest

from engine.errors import EngineError
from engine.kernel.hand import Hand
from engine.kernel.legal import Legal, Pick, Range, Seats, Secret, Target
from tests.engine.any_game import GAMES, after, everything, points

SHARE = 0.25
MOST = 12
"""Lines tried of one offer: deals can have astronomically many."""


@pytest.mark.parametrize("game", GAMES)
def test_every_line_on_offer_is_accepted_and_belongs_to_its_offer_alone(game: str):
    for hand, line in points(game, SHARE):
        offers = hand.legal()
        assert sum(offer.contains(line) for offer in offers) == 1
        for offer in offers:
            lines = sample(offer)
            assert lines or any(isinstance(argument, Secret) for argument in offer.arguments)
            for said in lines:
                assert after(hand, said), (said, hand.log)
                assert [other for other in offers if other.contains(said)] == [offer]
                assert list(offer.only(said).lines()) == [said]


@pytest.mark.parametrize("game", GAMES)
def test_what_is_near_an_offer_is_accepted_if_and_only_if_an_offer_contains_it(game: str):
    accepted = refused = 0
    for hand, line in points(game, SHARE):
        offers, before = hand.legal(), everything(hand)
        for said in {near for start in (line, *firsts(offers)) for near in near_misses(hand, start)}:
            if any(offer.contains(said) for offer in offers):
                assert after(hand, said), (said, hand.log)
                accepted += 1
            else:
                with pytest.raises(EngineError):
                    hand.apply(said)
                refused += 1
        assert everything(hand) == before
    assert refused > 50 and accepted > 0


@pytest.mark.parametrize("game", GAMES)
def test_nothing_is_legal_once_the_hand_is_over(game: str):
    for hand, line in points(game):
        done = after(hand, line)
        assert done is not None
        assert (done.legal() == ()) == done.over == (done.actor is None)


def sample(offer: Legal) -> list[str]:
    """The first lines of an offer, some from its middle, and of a short one all."""
    lines = list(islice(offer.lines(), 400))
    return lines if len(lines) <= MOST else [*lines[:4], *Random(offer.verb).sample(lines, MOST - 5), lines[-1]]


def firsts(offers: tuple[Legal, ...]) -> Iterator[str]:
    """A line of each offer."""
    for offer in offers:
        yield from islice(offer.lines(), 1)


def near_misses(hand: Hand, line: str) -> Iterator[str]:
    """The line with another actor, verb, number, seat or card, with one word or card more or less."""
    actor, verb, *rest = line.split(" ")
    seats = [f"p{seat}" for seat in range(1, hand.setup.seats + 1)]
    yield from (" ".join((other, verb, *rest)) for other in (*seats, "d"))
    yield from (" ".join((actor, other, *rest)) for other in hand._state.GRAMMAR.names if other != "au")
    yield from (" ".join((actor, verb, *words)) for words in (rest[:-1], [*rest, "p1"], [*rest, "1"]))
    for at, word in enumerate(rest):
        for other in altered(hand, word, seats):
            yield " ".join((actor, verb, *rest[:at], other, *rest[at + 1 :]))


def altered(hand: Hand, word: str, seats: list[str]) -> Iterator[str]:
    """Words that are nearly this one."""
    if word.isdigit():
        yield from (str(max(int(word) + by, 0)) for by in (-100, -5, -1, 1, 5, 100))
        yield from (str(int(word) * 2), "0")
    elif word in seats:
        yield from seats
    elif word[:2] in hand._state.pack.members:
        cards = hand._state.pack.cards
        other = cards[(cards.index(word[:2]) + 7) % len(cards)]
        yield from (
            word[2:] + word[:2],
            other + word[2:],
            word[2:] or other,
            word + other,
            word[:2] + word,
            "??" + word[2:],
        )


def test_a_step_is_kept_and_the_ends_belong_to_the_range():
    offer = Legal("p1", "b", (Range(200, 400, 100),))
    assert [said for said in range(150, 501, 50) if offer.contains(f"p1 b {said}")] == [200, 300, 400]
    assert not any(map(offer.contains, ("p1 b 0200", "p1 b +200", "p1 b", "p1 b 200 ", "p1 b 200 300", "p2 b 200")))


def test_seats_are_named_ascending_with_all_that_must_be_named():
    offer = Legal("p1", "dbl", (Seats((2, 3, 4), must=(3,)),))
    assert list(offer.lines()) == ["p1 dbl p3", "p1 dbl p2 p3", "p1 dbl p3 p4", "p1 dbl p2 p3 p4"]
    assert not any(map(offer.contains, ("p1 dbl p2", "p1 dbl p3 p2", "p1 dbl p3 p3", "p1 dbl")))


def test_a_set_of_cards_is_contained_in_any_order_and_enumerated_in_one():
    offer = Legal("d", "dh", (Target(1), Pick(2, ("Aa", "Ka", "Oa"))))
    assert list(offer.lines()) == ["d dh p1 AaKa", "d dh p1 AaOa", "d dh p1 KaOa"]
    assert offer.contains("d dh p1 OaKa") and not offer.contains("d dh p1 OaOa") and not offer.contains("d dh p1 Oa??")
    assert Legal("d", "dh", (Target(1), Pick(2, ("Aa", "Ka"), unknown=True))).contains("d dh p1 ??Ka")
