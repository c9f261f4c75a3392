"""Zsíros, sentence by sentence. Section names are those of the rules text."""

from __future__ import annotations

from random import Random

import pytest

from engine.kernel.cards import TELL32
from engine.kernel.events import Dealt, Played, Spoke
from engine.kernel.hand import Hand
from engine.registry import start
from tests.engine.deals import auto, deck_of, lines_on_offer, refused, run_forced, say, shuffled
from tests.engine.tricks.zsiros_tables import CALLS, IDS, deal, setup, sheet

ABCD = deck_of("AaAlOa7a", "XaXl9a7l", "KaKl8a7b", "AbObUa7h")
"""Hands of the example of a multiple trick ("Multiple tricks"): p1 is A, p2 is B, and so on."""


def view(hand: Hand) -> dict[str, object]:
    return hand.view("public")


# Players, Deal


@pytest.mark.parametrize("seats", [2, 4])
def test_four_cards_each_and_p1_leads(seats: int):
    hand = start(setup(seats))
    assert (hand.phase, hand.actor) == ("deal", "d")
    for seat in range(1, seats + 1):
        first = 4 * (seat - 1)
        assert hand.apply(f"d dh p{seat} {''.join(TELL32.cards[first : first + 4])}") == (Dealt(seat, 4),)
    assert (hand.phase, hand.actor, view(hand)["talon"]) == ("lead", "p1", 32 - 4 * seats)


def test_partners_face_each_other():
    assert [(seat["side"], seat["partner"]) for seat in view(deal())["seats"]] == [
        (1, "p3"), (2, "p4"), (1, "p1"), (2, "p2"),
    ]  # fmt: skip
    assert [(seat["side"], seat["partner"]) for seat in view(deal(2))["seats"]] == [(1, None), (2, None)]


def test_sides_are_those_of_the_chairs_no_matter_who_is_p1():
    ids = ("ben", "cat", "dan", "ann")
    hand = deal(ids=ids, series=sheet(IDS, deals="ann"))
    assert [seat["side"] for seat in view(hand)["seats"]] == [2, 1, 2, 1]


# Play


def led(deck: tuple[str, ...], *cards: str) -> Hand:
    """One round of the first trick: p1's card, p2's and so on."""
    hand = deal(deck=deck)
    for seat, card in enumerate(cards, 1):
        hand.apply(f"p{seat} pl {card}")
    return hand


def test_the_last_card_of_the_led_rank_wins():
    """The text's first example: nine, nine, king, ace are won by the second."""
    hand = led(deck_of("9aAaOaUa", "9lAlOlUl", "KaXaXlXb", "AbKl8a8l"), "9a", "9l", "Ka", "Ab")
    assert (hand.phase, view(hand)["leader"]) == ("deal", "p2")
    assert say(run_forced(hand)).actor == "p2"


@pytest.mark.parametrize(("last", "winner"), [("9a", "p3"), ("Xb", "p4")])
def test_a_seven_equals_what_was_led(last: str, winner: str):
    """The text's second example: ten, ten, seven and then a nine, or another ten ("Sevens are wild")."""
    deck = deck_of("XaAaOaUa", "XlAlOlUl", "7aKaKlKb", "9aXb8a8l")
    assert view(led(deck, "Xa", "Xl", "7a", last))["leader"] == winner


def test_a_led_seven_counts_as_a_seven_only():
    deck = deck_of("7aAaOaUa", "AlOlUlXl", "7lKaKlKb", "Xb9a8a8l")
    assert view(led(deck, "7a", "Al", "7l", "Xb"))["leader"] == "p3"
    hand = led(deck_of("7aAaOa7h", "7bOlUlXl", "KhKaKlKb", "Xb9a8a8l"), "7a", "7b", "Kh", "Xb")
    assert lines_on_offer(hand) == {"p1 pl 7h", "p1 ps", "p1 au", *(f"p3 cl {word}" for word in CALLS)}
    refused(hand, "p1 pl Aa", "verb_not_legal", phase="ask", ranks=["7", "7"])


def test_any_card_may_be_played():
    hand = say(deal(deck=ABCD), "p1 pl Aa")
    assert {line for line in lines_on_offer(hand) if " pl " in line} == {"p2 pl Xa", "p2 pl Xl", "p2 pl 9a", "p2 pl 7l"}
    assert hand.apply("p2 pl 9a") == (Played(2, "9a"),)


# Multiple tricks


def test_the_example_of_a_trick_of_three_rounds():
    hand = say(deal(deck=ABCD), "p1 pl Aa; p2 pl Xa; p3 pl 8a; p4 pl 7h")
    assert (hand.phase, hand.actor, view(hand)["holder"]) == ("ask", "p1", "p4")
    say(hand, "p1 pl Al; p2 pl 7l; p3 pl 7b; p4 pl Ab")
    assert (hand.phase, view(hand)["holder"]) == ("ask", "p4")
    for line in ("p1 pl 7a", "p2 pl 9a", "p3 pl Ka"):
        hand.apply(line)
    hand.apply("p4 pl Ua")
    # The leader holds its own trick and may not go on: the twelve cards are its side's.
    assert (hand.phase, view(hand)["leader"], view(hand)["tricks"], view(hand)["trick"]) == ("deal", "p1", [1, 0], [])
    assert hand.view("auditor")["points"] == [40, 0]
    assert [len(seat["cards"]) for seat in view(run_forced(hand))["seats"]] == [4, 4, 4, 4]


def test_the_leader_may_concede_at_once():
    hand = say(deal(deck=ABCD), "p1 pl Aa; p2 pl Xa; p3 pl 8a; p4 pl 7h")
    assert hand.apply("p1 ps") == (Spoke(1, "ps"),)
    assert (view(hand)["leader"], view(hand)["tricks"]) == ("p4", [0, 1])


def test_without_a_matching_card_there_is_no_question():
    """The text's remark: had D another ace, the trick would end, since an over does not go on with aces."""
    hand = deal(deck=deck_of("AaAlOa7a", "XaXl9a7l", "KaKl8a7b", "AbObAh7h"))
    say(hand, "p1 pl Aa; p2 pl Xa; p3 pl 8a; p4 pl 7h; p1 pl Al; p2 pl 7l; p3 pl 7b; p4 pl Ab")
    say(hand, "p1 pl 7a; p2 pl 9a; p3 pl Ka; p4 pl Ah")
    assert (hand.actor, view(hand)["tricks"]) == ("p4", [0, 1])


def test_going_on_takes_a_matching_card_of_the_hand():
    hand = say(deal(deck=ABCD), "p1 pl Aa; p2 pl Xa; p3 pl 8a; p4 pl 7h")
    refused(hand, "p1 pl Oa", "verb_not_legal", phase="ask", ranks=["A", "7"])
    refused(hand, "p1 pl 7b", "card_mismatch")
    refused(hand, "p1 pl Aa", "card_mismatch")
    refused(hand, "p4 ps", "not_your_turn", actor="p1")


def test_the_rank_stays_that_of_the_first_card():
    """A seven that goes on with a trick of aces does not change what matches."""
    hand = say(deal(deck=ABCD), "p1 pl Aa; p2 pl Xa; p3 pl 8a; p4 pl 7h; p1 pl 7a; p2 pl 9a; p3 pl Ka; p4 pl Ab")
    assert {line for line in lines_on_offer(hand) if line.startswith("p1 pl")} == {"p1 pl Al"}


def test_the_leaders_side_holding_ends_the_trick():
    """The partner's matching card is as good as the leader's own."""
    hand = say(deal(deck=ABCD), "p1 pl Aa; p2 pl 7l; p3 pl 7b; p4 pl Ua")
    assert (hand.actor, view(hand)["tricks"]) == ("p3", [1, 0])


def test_a_trick_of_four_rounds_ends_with_the_hands():
    deck = deck_of("AaAlAb7a", "Ah7l7b7h", "KaKlKbKh", "OaOlObOh")
    hand = deal(deck=deck)
    for mine, theirs, third, fourth in zip(
        ("Aa", "Al", "Ab", "7a"),
        ("7l", "7b", "7h", "Ah"),
        ("Ka", "Kl", "Kb", "Kh"),
        ("Oa", "Ol", "Ob", "Oh"),
        strict=True,
    ):
        say(hand, f"p1 pl {mine}; p2 pl {theirs}; p3 pl {third}; p4 pl {fourth}")
    assert (hand.actor, view(hand)["tricks"], view(hand)["talon"]) == ("p2", [0, 1], 0)
    assert [len(seat["cards"]) for seat in view(hand)["seats"]] == [4, 4, 4, 4]


# Drawing from the Talon


def draws(hand: Hand) -> list[str]:
    """The draws after the last card played."""
    last = max(at for at, line in enumerate(hand.log) if " pl " in line or line.endswith(" ps"))
    return [line.removeprefix("d dh ") for line in hand.log[last + 1 :]]


MULTIPLE = "p1 pl Aa; p2 pl Xa; p3 pl 8a; p4 pl 7h; p1 pl Al; p2 pl 9a; p3 pl 7b; p4 pl Ab; p1 ps"
"""Two rounds, after which p4 draws first."""


@pytest.mark.parametrize(
    ("opt", "expected"),
    [
        ({}, ["p4 KbKh", "p1 OlOh", "p2 UlUb", "p3 UhXb"]),
        ({"draw_mode": "single"}, ["p4 Kb", "p1 Kh", "p2 Ol", "p3 Oh", "p4 Ul", "p1 Ub", "p2 Uh", "p3 Xb"]),
        ({"deal_model": "preassigned"}, ["p4 OhXb", "p1 KbUl", "p2 KhUb", "p3 OlUh"]),
        (
            {"deal_model": "preassigned", "draw_mode": "single"},
            ["p4 Oh", "p1 Kb", "p2 Kh", "p3 Ol", "p4 Xb", "p1 Ul", "p2 Ub", "p3 Uh"],
        ),
    ],
)
def test_each_draws_in_turn_the_winner_first(opt: dict[str, object], expected: list[str]):
    deck = (*ABCD[:16], "Kb", "Kh", "Ol", "Oh", "Ul", "Ub", "Uh", "Xb")
    deck += tuple(card for card in TELL32.cards if card not in deck)
    hand = say(deal(deck=deck, opt=opt), MULTIPLE)
    assert draws(hand) == expected
    assert hand.actor == "p4"


@pytest.mark.parametrize("seats", [2, 4])
@pytest.mark.parametrize("draw_mode", ["batch", "single"])
def test_cards_laid_ready_are_a_seats_own_no_matter_who_wins(seats: int, draw_mode: str):
    deck = shuffled(Random(seats))
    hand = auto(deal(seats, deck=deck, opt={"deal_model": "preassigned", "draw_mode": draw_mode}))
    for seat in range(1, seats + 1):
        assert hand.cards_of(seat)[4:] == deck[4 * seats :][seat - 1 :: seats]


def test_what_is_left_of_the_talon_is_shared_equally():
    """Sixteen cards for four: after a trick of one round and one of four, three are left for each."""
    deck = deck_of("UaUlUbUh", "9aAhXaXl", "KaKlKbKh", "8aOlObOh", "7a9l7l7b", "8l8b8h7h")
    hand = say(deal(deck=deck), "p1 pl Ua; p2 pl 9a; p3 pl Ka; p4 pl 8a")
    assert draws(hand) == ["p1 7a", "p2 9l", "p3 7l", "p4 7b"]
    while hand.phase != "over" and view(hand)["talon"]:
        say(hand, hand.automatic() or "")
    counts = [len(seat["cards"]) for seat in view(hand)["seats"]]
    assert len(set(counts)) == 1 and view(hand)["talon"] == 0


def test_only_the_right_cards_are_drawn():
    hand = deal(deck=ABCD)
    for line in ("p1 pl Oa", "p2 pl Xa", "p3 pl 8a", "p4 pl Ua"):
        hand.apply(line)
    card, other = ABCD[16], ABCD[17]
    refused(hand, f"d dh p2 {card}", "wrong_target", target=1)
    refused(hand, f"d dh p1 {card}{other}", "wrong_count", count=1)
    refused(hand, f"d dh p1 {other}", "card_not_from_deck")
    refused(hand, "d dh p1 Aa", "card_already_dealt", card="Aa")
    refused(hand, "d dh p1 1a", "card_not_in_pack", card="1a")
    refused(hand, "p1 pl Aa", "not_your_turn", actor="d")
    assert hand.forced() == f"d dh p1 {card}"


# Calls


def test_only_the_partner_calls_and_only_at_the_turn():
    hand = deal(deck=ABCD)
    words = {f"p3 cl {word}" for word in CALLS}
    assert {line for line in lines_on_offer(hand) if " cl " in line} == words
    assert hand.actors == ("p1",)
    for seat in (1, 2, 4):
        refused(hand, f"p{seat} cl uss", "not_your_turn", actor="p3")
    refused(hand, "p3 cl hop", "malformed_action")
    assert hand.apply("p3 cl ne_uss") == (Spoke(3, "cl", "ne_uss"),)
    assert (hand.actor, hand.phase) == ("p1", "lead")
    say(hand, "p3 cl ne_uss; p1 pl Aa; p4 cl zsirt; p2 pl Xa; p1 cl uss; p3 pl 8a; p2 cl ne_zsirt; p4 pl 7h; p3 cl uss")
    assert (hand.phase, hand.actor) == ("ask", "p1")


def test_calls_change_nothing():
    quiet, loud = deal(deck=ABCD), deal(deck=ABCD)
    while not quiet.over:
        partner = (int(str(quiet.actor)[1:]) + 1) % 4 + 1
        say(loud, f"p{partner} cl {CALLS[partner - 1]}")
        line = quiet.automatic() or ""
        say(quiet, line)
        say(loud, line)
    assert loud.over and loud.result == quiet.result and loud.moves == quiet.moves
    assert tuple(line for line in loud.log if " cl " not in line) == quiet.log


def test_no_call_while_cards_are_due_nor_after_the_end_nor_between_clock_and_act():
    hand = start(setup(deck=ABCD))
    refused(hand, "p3 cl uss", "not_your_turn", actor="d")
    run_forced(hand)
    hand.apply("p1 au")
    refused(hand, "p3 cl uss", "verb_not_legal", action="pl")
    assert lines_on_offer(hand) == {"p1 pl Aa"}
    while not hand.over:
        say(hand, hand.automatic() or "")
    refused(hand, "p3 cl uss", "hand_is_over")


@pytest.mark.parametrize(("seats", "opt"), [(2, {}), (4, {"calls": "off"})])
def test_nobody_calls_without_a_partner_or_where_calls_are_off(seats: int, opt: dict[str, object]):
    hand = deal(seats, opt=opt)
    assert not [offer for offer in hand.legal() if offer.verb == "cl"]
    for seat in range(1, seats + 1):
        refused(hand, f"p{seat} cl uss", "verb_not_legal", phase="lead")


# The clock


def test_the_automatic_act_is_the_first_card_in_fixed_order_or_to_concede():
    hand = deal(deck=deck_of("7aXlXaAl", "KhKb8a9a", "OaObOlOh", "UaUbUlUh"))
    for seat, card in enumerate(("Xa", "9a", "Oa", "Ua"), 1):
        assert hand.automatic() == f"p{seat} pl {card}"
        hand.apply(f"p{seat} au")
        assert hand.pending == "pl"
        refused(hand, f"p{seat} au", "verb_not_legal", action="pl")
        refused(hand, f"p{seat % 4 + 1} pl 8a", "verb_not_legal", action="pl")
        say(hand, f"p{seat} pl {card}")
    asked = say(deal(deck=ABCD), "p1 pl Aa; p2 pl Xa; p3 pl 8a; p4 pl 7h")
    asked.apply("p1 au")
    refused(asked, "p1 pl Al", "verb_not_legal", action="p1 ps")
    assert say(asked, "p1 ps").actor == "p4"


def test_the_clock_runs_for_the_seat_to_act_only():
    hand = start(setup())
    refused(hand, "p1 au", "not_your_turn", actor="d")
    refused(run_forced(hand), "p2 au", "not_your_turn", actor="p1")
