"""Preferánsz with a real pack: cards that the log names, and cards that nobody but their seat knows."""

from __future__ import annotations

from random import Random

import pytest

from engine.kernel.cards import TELL32, UNKNOWN
from engine.kernel.hand import Hand
from engine.record.format import format_record, parse_record, record_of
from engine.record.replay import replay
from engine.registry import start
from tests.engine.blind import few_unknown, many_unknown
from tests.engine.deals import IDS, lines_on_offer, refused, said, say, table

GAME = "preferansz"
HIDDEN = UNKNOWN * 5
FIRST = ("AaKaOaUaXa", "AlKlOlUlXl", "AbKbObUbXb")
REST = ("9a8a7a9l8l", "7l9b8b7b7h", "AhKhOhUhXh")
BIDS = "p1 bd 5; p2 ps; p3 ps"


def dealt(*known: int, lines: str = BIDS) -> Hand:
    """A deal without a deck up to the widow, in which the house knows the cards of these seats."""
    hand = start(table(GAME, seats=3))
    for packets in (FIRST, REST):
        for seat in (1, 2, 3):
            hand.apply(f"d dh p{seat} {packets[seat - 1] if seat in known else HIDDEN}")
    return say(hand, "p1 ps; p2 ps; p3 ps", lines)


@pytest.mark.parametrize("opt", [{}, {"pass_is_final": False, "early_end": False}], ids=str)
def test_what_is_on_offer_is_what_some_deal_of_the_unknown_cards_allows(opt: dict[str, object]):
    """Exactly: with a few unknown cards at every line, with unknown hands near the end; cards laid away unnamed."""
    random = Random(str(opt))
    assert sum(few_unknown(GAME, opt, 3, random) for _ in range(8)) > 60
    assert sum(many_unknown(GAME, opt, 3, random) for _ in range(8)) > 2


def test_the_widow_is_any_two_free_cards_and_must_be_named():
    hand = dealt(1, 2)
    chance = hand.chance()
    assert chance and (chance.target, chance.count, chance.verb) == (0, 2, "up")
    assert set(chance.pool) == set(TELL32.cards) - {card for seat in (1, 2) for card in hand.held(seat)}
    assert hand.forced() is None and chance.offer().contains(chance.line(Random(1)))
    refused(hand, "d up AaAb", "card_already_dealt", card="Aa")
    refused(hand, "d up AbAb", "card_already_dealt")
    refused(hand, "d up Ab??", "card_unknown")
    refused(hand, "d up Ab", "wrong_count")
    assert say(hand, "d up 9h8h").actor == "p1"


def test_a_hand_that_the_house_knows_names_what_it_lays_away():
    hand = say(dealt(1), "d up 9h8h")
    refused(hand, "p1 ds ????", "card_mismatch")
    refused(hand, "p1 ds Aa??", "card_mismatch")
    refused(hand, "p1 ds 9h8l", "card_mismatch")
    say(hand, "p1 ds 8l9h")
    assert len(hand.held(1)) == 10 and UNKNOWN not in hand.held(1)


def to_play(discards: str, *known: int) -> Hand:
    """p1 has laid these cards away and plays acorns."""
    return say(dealt(*known), f"d up 9h8h; p1 ds {discards}; p1 cl 5; p2 ps; p3 ps")


def test_cards_laid_away_unnamed_leave_open_what_is_left():
    """The widow may be among them: it is with the player or laid away, and with nobody else."""
    hand = to_play("????")
    assert hand.held(1) == (UNKNOWN,) * 10 and {"p1 pl 9h", "p1 pl 8h"} <= lines_on_offer(hand)
    say(hand, "p1 pl 7h")
    assert not {"p2 pl 9h", "p2 pl 8h"} & lines_on_offer(hand)
    refused(hand, "p2 pl 9h", "card_mismatch")
    say(hand, "p2 pl Ah; p3 pl Kh; p2 pl Oh; p3 pl Uh")
    assert {"p1 pl 9h", "p1 pl 8h", "p1 pl Aa"} <= lines_on_offer(hand)
    say(hand, "p1 pl Aa")  # p1 trumps: both cards of the widow were laid away
    assert hand.actor == "p1" and not {"p1 pl 9h", "p1 pl 8h", "p1 pl Xh"} & lines_on_offer(hand)
    refused(hand, "p1 pl 9h", "card_mismatch")


def test_cards_laid_away_by_name_lie_nowhere_else():
    hand = to_play("Aa9h")
    assert hand.held(1).count(UNKNOWN) == 9 and "8h" in hand.held(1)
    for card in ("Aa", "9h"):
        assert f"p1 pl {card}" not in lines_on_offer(hand)
        refused(hand, f"p1 pl {card}", "card_already_dealt", card=card)
    hand = to_play("9h??")
    assert hand.held(1) == (UNKNOWN,) * 10 and "p1 pl 8h" in lines_on_offer(hand)
    assert "p1 pl 9h" not in lines_on_offer(hand)


def test_what_may_be_laid_away_of_a_hand_that_is_not_known():
    hand = say(dealt(2), "d up 9h8h")
    choices = said(hand, "ds").split()
    assert {"AaKa", "9h8h", "9h??", "????", "Ah9h"} <= set(choices) and not any("Al" in row for row in choices)
    for wrong in ("??9h", "8h9h", "AlKa", "AaAa", "??", "9h9h"):
        refused(hand, f"p1 ds {wrong}", "card_mismatch")
    assert hand.automatic() is None
    hand.apply("p1 au")
    refused(hand, "p2 ps", "verb_not_legal")
    assert say(hand, "p1 ds ????").pending is None
    for viewer in (1, 2, 3, "public"):
        assert "p1 ds ????" in hand.view(viewer)["log"]  # type: ignore[operator]


def test_a_deal_of_which_the_house_knows_no_card_comes_to_an_end():
    random = Random(3)
    for _ in range(20):
        hand = start(table(GAME, seats=3))
        while not hand.over:
            chance = hand.chance()
            if chance and chance.verb == "dh":
                hand.apply(f"d dh p{chance.target} {UNKNOWN * chance.count}")
            else:
                hand.apply(chance.line(random) if chance else random.choice(sorted(lines_on_offer(hand))))
        assert hand.result and sum(hand.result.net) == 0
        record = record_of(hand, hand_id="p-1", rules_id=f"{GAME}/1", seats=IDS[:3], opt=dict(hand.setup.opt))
        assert replay(record).ok and parse_record(format_record(record)) == record


def test_what_the_house_knows_elsewhere_is_not_shown():
    one, two = dealt(2), dealt(3)
    for viewer in (1, "public"):
        assert one.view(viewer) == two.view(viewer)
