"""A view never contains, nor depends on, a card that its viewer may not know."""

from __future__ import annotations

import json
from random import Random

import pytest

from engine.cards import TELL32, split_cards
from engine.errors import MalformedSetup
from engine.game import Hand, Setup, Viewer, resume, start
from engine.play import random_line
from tests.engine.support import play, stacked, table, to_third_round
from tests.engine.test_properties import GAMES, random_setup

DECK = stacked("Kl8b", "Ah7l", "XlOb", "Xb7b", "KhOl", "9a9l")


def cards_of(hand: Hand, viewer: Viewer) -> list[list[str]]:
    """The cards of all seats as the viewer sees them."""
    seats = hand.view(viewer)["seats"]
    assert isinstance(seats, list)
    return [seat["cards"] for seat in seats]


def test_a_seat_knows_its_own_first_two_cards_only():
    hand = to_third_round(table(3, deck=DECK), 2, 3)
    assert cards_of(hand, 1) == [["Kl", "8b", "??", "??"], ["??"] * 4, ["??"] * 4]
    assert cards_of(hand, "public") == [["??"] * 4] * 3
    assert cards_of(hand, "auditor")[2] == ["Xl", "Ob", "9a", "9l"]


def test_a_seat_knows_its_later_cards_once_it_has_looked_and_nobody_else_does():
    hand = play(to_third_round(table(3, deck=DECK), 2, 3), "p1 lk 2")
    assert cards_of(hand, 1)[0] == ["Kl", "8b", "Xb", "7b"]
    assert cards_of(hand, 2)[0] == ["??"] * 4
    assert hand.view(2)["log"][-1] == "p1 lk 2"


def test_the_log_is_masked_line_by_line():
    hand = play(to_third_round(table(3, deck=DECK), 2, 3), "p1 lk 2")
    deals = [line for line in hand.view(2)["log"] if " dh " in line]
    assert deals == [
        "d dh p1 ????", "d dh p2 Ah7l", "d dh p3 ????", "d dh p1 ????", "d dh p2 ????", "d dh p3 ????",
    ]  # fmt: skip
    assert [line for line in hand.view(1)["log"] if "dh p1" in line] == ["d dh p1 Kl8b", "d dh p1 Xb7b"]
    assert tuple(hand.view("auditor")["log"]) == hand.log


def test_shown_cards_are_everybodys_and_folded_ones_stay_hidden():
    hand = to_third_round(table(3, deck=DECK), 2, 3)
    play(hand, "p1 lk 2", "p1 rb 100", "p2 lk 2", "p2 f", "p3 cc 100", "p3 lk 2", "p3 st")
    assert hand.over
    assert cards_of(hand, "public") == [["Kl", "8b", "Xb", "7b"], ["??"] * 4, ["Xl", "Ob", "9a", "9l"]]
    assert cards_of(hand, 2)[1] == ["Ah", "7l", "Kh", "Ol"]


def test_the_deck_is_the_auditors_alone():
    hand = to_third_round(table(2), 2)
    assert hand.view("auditor")["deck"] == list(TELL32.cards)
    for viewer in (1, 2, "public"):
        assert "deck" not in hand.view(viewer)


@pytest.mark.parametrize("viewer", [0, 3, -1, True, "p1", "", "AUDITOR", None])
def test_there_are_no_other_viewers(viewer: object):
    with pytest.raises(MalformedSetup):
        table(2).view(viewer)  # type: ignore[arg-type]


def known_to(hand: Hand, viewer: Viewer) -> set[str]:
    """Cards that the viewer may know, by the rules of the table rather than by the view's code."""
    known: set[str] = set()
    cards: dict[str, list[str]] = {}
    looked: dict[str, int] = {}
    ferbli = hand.setup.game == "ferbli"
    for line in hand.log:
        words = line.split()
        if words[1] == "dh":
            # In Ferbli the later cards lie unseen, in Färbeln they are inspected at once.
            looked.setdefault(words[2], 2 if ferbli else 4)
            cards.setdefault(words[2], []).extend(split_cards(words[3]))
        elif words[1] == "up" and not [offer for offer in hand.legal() if offer.verb == "up"]:
            known |= set(split_cards(words[2]))
        elif words[1] == "lk":
            looked[words[0]] += int(words[2])
        elif words[1] == "sm":
            known |= set(cards[words[0]])
    mine = f"p{viewer}"
    known |= set(cards.get(mine, [])[: looked.get(mine, 0)])
    if cards and hand.setup.deck and ferbli:
        known.add(hand.setup.deck[-1])
    return known


def cards_in(line: str) -> set[str]:
    """The cards that a line of the log names."""
    *words, last = line.split(" ")
    return set(split_cards(last)) if words[1:2] in (["dh"], ["sm"], ["up"]) else set()


def exchanged(hand: Hand, viewer: Viewer, random: Random) -> Hand:
    """The same hand with all cards that the viewer may not know exchanged among each other."""
    known = known_to(hand, viewer)
    assert hand.setup.deck
    hidden = [card for card in hand.setup.deck if card not in known]
    others = random.sample(hidden, len(hidden))
    swap = dict(zip(hidden, others, strict=True))
    deck = tuple(swap.get(card, card) for card in hand.setup.deck)
    lines = []
    for line in hand.log:
        *words, last = line.split(" ")
        if words[1:2] in (["dh"], ["sm"], ["up"]):
            last = "".join(swap.get(card, card) for card in split_cards(last))
        lines.append(" ".join([*words, last]))
    setup = hand.setup
    return resume(Setup(setup.game, setup.opt, setup.seats, setup.stacks, setup.carry, setup.dealer, deck), lines)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("number", range(40))
def test_exchanging_unknown_cards_leaves_a_view_byte_identical_at_every_step(number: int, game: str):
    random = Random(number)
    hand = start(random_setup(game, random))
    seats = hand.setup.seats
    assert hand.setup.deck
    while True:
        for viewer in (random.randint(1, seats), "public"):
            other = exchanged(hand, viewer, random)
            assert json.dumps(other.view(viewer)) == json.dumps(hand.view(viewer))
            text = json.dumps(hand.view(viewer))
            hidden = set(hand.setup.deck) - known_to(hand, viewer)
            assert not [card for card in hidden if f'"{card}"' in text]
            told = {card for line in hand.view(viewer)["log"] for card in cards_in(line)}
            assert not hidden & told
        if hand.over:
            break
        hand.apply(random_line(hand, random))


@pytest.mark.parametrize("game", GAMES)
def test_events_carry_no_card_that_is_not_face_up(game: str):
    random = Random(3)
    for _ in range(50):
        hand = start(random_setup(game, random))
        assert hand.setup.deck
        while not hand.over:
            line = random_line(hand, random)
            text = repr(hand.apply(line))
            hidden = set(hand.setup.deck) - known_to(hand, "public")
            assert not [card for card in hidden if f"'{card}'" in text]
