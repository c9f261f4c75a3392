"""Esel: the rules text section by section, the record that describes its log, options and refusals."""

from __future__ import annotations

import pytest

from engine.errors import EngineError
from engine.kernel.cards import TELL32
from engine.kernel.hand import Hand
from engine.registry import game_info, start
from tests.engine.shedding.shedding_kit import IDS, deal, deck_of, example, play, refused, setup

SEVEN_OF_EIGHT = deck_of("AaAlAbAhKhOhUhXh", "KaOaUaXa9a8a7aKl")
"""p2 lacks one acorn, which p1 holds."""
ALL_EIGHT = deck_of("AaKaOaUaXa9a8a7a", "AlKlOlUlXl9l8l7l")
"""p1 and p2 are dealt a suit each."""


def ends(hand: Hand) -> tuple[str, tuple[int, ...], object]:
    """Ending, result, and what the next deal starts from."""
    assert hand.result
    return hand.result.ending, hand.result.net, dict(hand.result.series)


def test_the_example_line_by_line():
    """Indices as the description of the log has them: p2 has a suit with the card of line 20, gives one more and shouts
    truly; p1 is left."""
    record = example("esel", "E2-000029")
    game = game_info("esel")
    opt, ids = record["opt"], tuple(record["seats"])
    table = setup("esel", opt=opt)._replace(stacks=tuple(record["stacks"]), series=record["series"], ids=ids)
    hand = start(table._replace(deck=None))
    for at, line in enumerate(record["acts"]):
        if at == 21:
            assert {card[1] for card in hand.held(2)} == {"a", "l"} and len(hand.held(2)) == 9
        if at == 22:
            assert hand.actors == ("p3", "p2") and {card[1] for card in hand.held(2)} == {"a"}
        if at == 23:
            assert hand.phase == "shout" and hand.actors == ("p3", "p4", "p1") and not hand.timed
        hand.apply(line)
    assert ends(hand) == ("shouted", (-600, 200, 200, 200), record["series_out"])
    assert [(move.source, move.target, move.amount) for move in hand.moves] == [(1, 2, 200), (1, 3, 200), (1, 4, 200)]
    assert game.next_seats(4, record["series"], record["series_out"]) == (1, 2, 3, 0)


def test_p1_gives_first_and_every_seat_any_card_also_the_one_just_received():
    """Text, "The Play": to the player on the left, in like fashion around the table."""
    hand = deal("esel", 4, deck=SEVEN_OF_EIGHT)
    assert hand.actors == ("p1",) and [offer.verb for offer in hand.legal()] == ["gv"]
    refused(hand, "p2 gv Ka", "not_your_turn")
    refused(hand, "p1 gv Ka", "card_mismatch")
    refused(hand, "p1 gv ??", "card_unknown")
    refused(hand, "p1 gv 1a", "card_not_in_pack")
    play(hand, "p1 gv Al; p2 gv Al; p3 gv Al; p4 gv Al")
    assert [len(hand.held(seat)) for seat in range(1, 5)] == [8, 8, 8, 8] and "Al" in hand.held(1)
    assert hand.actor == "p1"


def test_a_true_shout_is_made_by_the_seat_that_gave_a_ninth_card_away():
    hand = deal("esel", 4, "p1 gv Aa; p2 gv Kl", deck=SEVEN_OF_EIGHT, opt={"forfeit": 50})
    assert hand.actors == ("p3", "p2")
    assert [offer.as_dict() for offer in hand.legal_for(2)][1:] == [{"actor": "p2", "verb": "sh"}]
    play(hand, "p2 sh")
    assert hand.actors == ("p3", "p4", "p1") and not hand.over
    assert [line for offer in hand.legal() for line in offer.lines()] == ["p3 sh", "p4 sh", "p1 sh"]
    play(hand, "p1 sh; p3 sh")
    assert ends(hand) == ("shouted", (50, 50, 50, -150), {"order": list(IDS[:4]), "deals": "dan", "lost": [0, 0, 0, 1]})


def test_the_others_are_heard_in_any_order_each_once_and_the_last_not_at_all():
    """Text, "Scoring": the last player to do so."""
    for first, second, last in ((3, 4, 1), (4, 3, 1), (1, 4, 3), (3, 1, 4)):
        hand = deal("esel", 4, f"p1 gv Aa; p2 gv Kl; p2 sh; p{first} sh", deck=SEVEN_OF_EIGHT, opt={"forfeit": 1})
        for line in (f"p{first} sh", "p2 sh"):
            refused(hand, line, "verb_not_legal")
        refused(hand, f"p{second} sh AaKa", "verb_not_legal")
        for line in ("p3 gv Kl", "p3 au", "p1 au", "d vd"):
            with pytest.raises(EngineError):
                hand.copy().apply(line)
        play(hand, f"p{second} sh")
        assert hand.result and hand.result.net[last - 1] == -3
        refused(hand, f"p{last} sh", "hand_is_over")


def test_a_false_shout_ends_the_deal_at_once():
    """Text, "Scoring": who failed to collect the eight is the Esel instead."""
    hand = deal("esel", 4, "p1 gv Aa; p2 gv Ka; p2 sh", deck=SEVEN_OF_EIGHT, opt={"forfeit": 50})
    assert ends(hand)[:2] == ("false_shout", (50, -150, 50, 50))
    other = deal("esel", 4, "p1 gv Al; p1 sh", deck=SEVEN_OF_EIGHT, opt={"forfeit": 50})
    assert ends(other)[:2] == ("false_shout", (-150, 50, 50, 50))
    assert ends(other)[2] == {"order": list(IDS[:4]), "deals": "ann", "lost": [1, 0, 0, 0]}


def test_p1_breaks_its_eight_and_shouts_with_seven():
    hand = deal("esel", 4, "p1 gv 8a; p1 sh", deck=ALL_EIGHT)
    assert not hand.over and hand.phase == "shout" and len(hand.held(1)) == 7


def test_p2_who_breaks_its_suit_shouts_falsely():
    hand = deal("esel", 4, "p1 gv 8a; p2 gv 7l; p2 sh", deck=ALL_EIGHT)
    assert hand.result and hand.result.ending == "false_shout"
    play(hand := deal("esel", 4, "p1 gv 8a; p2 gv 8a; p2 sh", deck=ALL_EIGHT))
    assert hand.phase == "shout"


def test_first_give_then_shout_and_only_until_the_next_card_is_given():
    hand = deal("esel", 4, deck=SEVEN_OF_EIGHT)
    refused(hand, "p1 sh", "not_your_turn")
    play(hand, "p1 gv Aa")
    refused(hand, "p2 sh", "not_your_turn")  # it has all eight, and has not given
    refused(hand, "p3 sh", "not_your_turn")
    play(hand, "p2 gv Kl; p3 gv Kl")
    refused(hand, "p2 sh", "not_your_turn")  # it has overlooked it
    play(hand, "p4 gv Kl; p1 gv Kl; p2 gv Kl; p2 sh")
    assert hand.phase == "shout"


def test_after_the_last_card_the_house_ends_the_deal_or_the_seat_shouts():
    table = {"deck": SEVEN_OF_EIGHT, "opt": {"forfeit": 50, "max_passes": 2}}
    hand = deal("esel", 4, "p1 gv Aa; p2 gv Kl", **table)
    assert (hand.phase, hand.actors, hand.forced(), hand.chance()) == ("last", ("d", "p2"), None, None)
    refused(hand, "p3 gv Al", "not_your_turn")
    refused(hand, "p3 au", "not_your_turn")
    assert hand.late() == ("d vd",) and hand.automatic() is None
    shouted, void = play(hand.copy(), "p2 sh"), play(hand.copy(), "d vd")
    assert shouted.phase == "shout"
    assert ends(void) == ("void", (0, 0, 0, 0), dict(hand.setup.series)) and not void.moves
    refused(deal("esel", 4, "p1 gv Aa", **table), "d vd", "not_your_turn")


def test_the_automatic_act_is_the_first_card_in_fixed_order():
    hand = deal("esel", 4, deck=SEVEN_OF_EIGHT)
    assert hand.automatic() == "p1 gv Aa" and hand.late() == ("p1 au", "p1 gv Aa")
    play(hand, "p1 gv Kh; p2 au")
    for line in ("p1 sh", "p2 gv Kl", "p2 au", "p2 sh", "d vd"):
        refused(hand, line, "verb_not_legal")
    play(hand, "p2 gv Ka; p2 sh")
    assert hand.result and hand.result.ending == "false_shout"


def test_seats_that_let_the_time_run_out_are_heard_in_play_order():
    hand = deal("esel", 4, "p1 gv Aa; p2 gv Kl; p2 sh", deck=SEVEN_OF_EIGHT)
    assert hand.late() == ("p3 sh",)
    play(hand, "p3 sh")
    assert hand.late() == ("p4 sh",)
    assert play(hand, "p4 sh").late() == ()


def test_after_a_shout_all_hands_lie_face_up_and_no_gift_does():
    """Text, "Scoring": all others throw down their cards too."""
    hand = deal("esel", 4, "p1 gv Aa; p2 gv Kl", deck=SEVEN_OF_EIGHT)
    assert hand.view(4)["log"][-2:] == ["p1 gv ??", "p2 gv ??"]  # type: ignore[index]
    assert hand.view(2)["log"][-2:] == ["p1 gv Aa", "p2 gv Kl"]  # type: ignore[index]
    assert hand.view(1)["log"][-2:] == ["p1 gv Aa", "p2 gv ??"]  # type: ignore[index]
    play(hand, "p2 sh")
    for viewer in (4, "public"):
        view = hand.view(viewer)
        # In fixed order: that in which they have come would show what p3 was given last.
        thrown = [sorted(hand.held(seat), key=TELL32.cards.index) for seat in range(1, 4)]
        assert [seat["cards"] for seat in view["seats"]][:3] == thrown  # type: ignore[attr-defined]
        assert view["log"][-3:] == ["p1 gv ??", "p2 gv ??", "p2 sh"]  # type: ignore[index]
    assert (view["giver"], view["passes"], view["shouts"], view["actors"]) == ("p2", 2, ["p2"], ["p3", "p4", "p1"])


def test_options_and_stacks():
    game = game_info("esel")
    assert game.policy.worst_loss(game.rules.parse({"forfeit": 70}, 4), 4) == 210
    assert game.rules.parse({}, 4).non_default == {} and game.policy.least_players({}) == 4
    start(setup("esel", opt={"forfeit": 70}, stacks=(210,) * 4))
    with pytest.raises(EngineError, match="p3 has 209"):
        start(setup("esel", opt={"forfeit": 70}, stacks=(210, 210, 209, 210)))
    for opt in ({"forfeit": -1}, {"max_passes": 0}, {"max_passes": True}, {"other": 1}):
        with pytest.raises(EngineError):
            start(setup("esel")._replace(opt=opt))
    for seats in (3, 5):
        with pytest.raises(EngineError, match="4 seats"):
            start(setup("esel")._replace(seats=seats))
