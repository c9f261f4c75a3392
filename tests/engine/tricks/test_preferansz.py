"""Preferánsz, sentence by sentence. Section names are those of the rules text."""

from __future__ import annotations

from itertools import combinations
from random import Random
from typing import Any

import pytest

from engine.kernel.cards import TELL32
from engine.kernel.events import Dealt, HandEnded, Opened, Spoke
from engine.kernel.hand import Hand
from engine.kernel.purse import Move, Why
from engine.kernel.rules import describe
from engine.registry import game_info, start
from engine.tricks.preferansz import PreferanszState
from tests.engine.deals import (
    auto,
    lines_on_offer,
    not_started,
    refused,
    run_forced,
    said,
    say,
    shuffled,
    table,
)  # fmt: skip
from tests.engine.unseen import watch

GAME = "preferansz"
ACORNS, LEAVES, BELLS = "AaKaOaUaXa9a8a7aAlKl", "OlUlXl9l8l7lAbKbObUb", "Xb9b8b7bAhKhOhUhXh9h"
"""p1 has all acorns, p2 leaves, p3 bells and hearts; the widow is two hearts."""


def deal(
    first: str = ACORNS, second: str = LEAVES, third: str = BELLS, *, opt: dict[str, object] | None = None, **what: Any
) -> Hand:
    """A deal that gives the three seats these ten cards each; the rest lies aside."""
    rows = (first, second, third)
    widow = "".join(card for card in TELL32.cards if not any(card in row for row in rows))
    text = "".join(row[:10] for row in rows) + widow + "".join(row[10:] for row in rows)
    deck = tuple(text[at : at + 2] for at in range(0, 64, 2))
    return run_forced(start(table(GAME, opt, seats=3, deck=deck, **what)))


PASSES = "p1 ps; p2 ps; p3 ps"
"""Nobody plays out of the hand."""


def bid(lines: str, **what: Any) -> Hand:
    """The bidding after three passes."""
    return say(deal(**what), f"{PASSES}; {lines}")


def view(hand: Hand) -> dict[str, Any]:
    return hand.view("public")


def units(hand: Hand) -> tuple[int, ...]:
    """What each seat has won, in units of 100."""
    assert hand.result
    return tuple(net // 100 for net in hand.result.net)


# The Deal


def test_five_cards_two_aside_five_more():
    hand = start(table(GAME, seats=3, deck=TELL32.cards))
    for at, seat in enumerate((1, 2, 3, 1, 2, 3)):
        first = 5 * at + 2 * (at > 2)
        assert hand.apply(f"d dh p{seat} {''.join(TELL32.cards[first : first + 5])}") == (Dealt(seat, 5),)
    assert (hand.phase, hand.actor) == ("hands", "p1")
    say(hand, f"{PASSES}; p1 bd 2; p2 ps")
    hand.apply("p3 ps")
    assert (hand.phase, hand.actor, hand.forced()) == ("widow", "d", "d up 7lAb")


# The Bidding: out of the hand


def test_out_of_the_hand_goes_once_round_each_higher():
    hand = deal()
    assert said(hand, "bd") == " ".join(f"{game} hand" for game in range(2, 8)) and hand.automatic() == "p1 ps"
    refused(hand, "p1 bd 2", "verb_not_legal")
    refused(hand, "p1 bd 8 hand", "malformed_action")
    refused(hand, "p2 ps", "not_your_turn", actor="p1")
    assert hand.apply("p1 bd 4 hand") == (Spoke(1, "bd", "4 hand"),)
    assert said(hand, "bd") == "5 hand 6 hand 7 hand"
    say(hand, "p2 bd 5 hand")
    assert said(hand, "bd") == "6 hand 7 hand"
    say(hand, "p3 ps")
    assert (hand.phase, hand.actor, view(hand)["player"], view(hand)["contract"]) == ("contra", "p1", "p2", 5)
    assert view(hand)["from_hand"] and view(hand)["widow"] == []


def test_over_a_durchmarsch_out_of_the_hand_nobody_bids():
    hand = say(deal(), "p1 ps; p2 bd 7 hand")
    assert (hand.phase, hand.actor, view(hand)["player"]) == ("contra", "p1", "p2")


def test_out_of_the_hand_one_trick_more_is_needed_and_the_widow_stays_aside():
    """Acorns out of the hand: seven are needed, p1 takes all ten."""
    hand = auto(say(deal(), "p1 bd 5 hand; p2 ps; p3 ps; p2 ps; p3 ps"))
    assert view(hand)["seats"][0]["tricks"] == 10 and units(hand) == (16, -8, -8)
    assert not any(" up " in line for line in hand.log)
    for viewer in ("public", 1, 2, 3):
        assert not {15, 16} & {place for _, place in hand.places(viewer)}


# The Bidding: with the widow


def test_vorhand_must_bid_and_the_others_exceed_the_bid():
    hand = say(deal(), PASSES)
    assert (hand.phase, hand.actor, hand.automatic()) == ("bid", "p1", "p1 bd 2")
    assert lines_on_offer(hand) == {"p1 au", *(f"p1 bd {game}" for game in range(2, 8))}
    refused(hand, "p1 ps", "verb_not_legal", phase="bid", verbs=["bd"])
    refused(hand, "p1 bd 2 hand", "verb_not_legal")
    say(hand, "p1 bd 3")
    assert said(hand, "bd") == "4 5 6 7" and hand.automatic() == "p2 ps"
    say(hand, "p2 bd 6")
    assert said(hand, "bd") == "7"  # jumps are allowed
    say(hand, "p3 ps")
    assert said(hand, "bd") == "6 7"  # "das kann ich": p1 holds the same
    say(hand, "p1 bd 6")
    assert said(hand, "bd") == "7"
    say(hand, "p2 ps")
    assert (hand.phase, view(hand)["player"], view(hand)["bid"]) == ("discard", "p1", 6)


def test_who_has_passed_is_out():
    hand = bid("p1 bd 2; p2 ps; p3 bd 3; p1 bd 3")
    assert hand.actor == "p3"
    assert say(hand, "p3 ps").phase == "discard"


def test_where_passing_is_not_final_two_passes_in_a_row_end_the_bidding():
    opt: dict[str, object] = {"pass_is_final": False}
    hand = bid("p1 bd 2; p2 ps; p3 bd 3; p1 ps", opt=opt)
    assert (hand.actor, said(hand, "bd")) == ("p2", "4 5 6 7")
    say(hand, "p2 bd 4; p3 ps; p1 bd 4; p2 ps; p3 bd 5; p1 ps; p2 ps")
    assert (hand.phase, view(hand)["player"], view(hand)["bid"]) == ("discard", "p3", 5)


def test_who_could_only_pass_is_passed_over():
    """Over a durchmarsch of another seat only p1 can still hold; over p1's own nobody has a line."""
    assert bid("p1 bd 7").phase == "discard"
    hand = bid("p1 bd 2; p2 bd 7")
    assert (hand.actor, said(hand, "bd")) == ("p1", "7")
    held, left = say(hand.copy(), "p1 bd 7"), say(hand, "p1 ps")
    assert (held.phase, view(held)["player"], left.phase, view(left)["player"]) == ("discard", "p1", "discard", "p2")
    assert bid("p1 bd 2; p2 bd 3; p3 ps; p1 ps").phase == "discard"
    hand = bid("p1 bd 2; p2 bd 3; p3 bd 4; p1 ps; p2 bd 7")
    assert (hand.phase, view(hand)["player"]) == ("discard", "p2")  # p3 cannot, p1 has passed
    hand = bid("p1 bd 2; p2 bd 3; p3 bd 4; p1 ps; p2 bd 7", opt={"pass_is_final": False})
    assert (hand.phase, hand.actor) == ("bid", "p1")  # who may come in again


def test_the_widow_is_turned_up_and_taken():
    hand = say(deal(), f"{PASSES}; p1 bd 2; p2 ps")
    hand.apply("p3 ps")
    assert lines_on_offer(hand) == {"d up 8h7h"}
    refused(hand, "d up 7h8h", "card_not_from_deck", count=2)
    refused(hand, "d up 8h", "wrong_count", count=2)
    refused(hand, "d up ????", "card_unknown")
    refused(hand, "p1 ps", "not_your_turn", actor="d")
    assert hand.apply("d up 8h7h") == (Opened(("8h", "7h")),)
    assert (hand.phase, hand.actor, len(hand.held(1)), view(hand)["widow"]) == ("discard", "p1", 12, ["8h", "7h"])


def test_two_cards_are_laid_away_in_the_order_of_the_pack():
    hand = bid("p1 bd 2; p2 ps; p3 ps")
    twelve = [card for card in TELL32.cards if card in hand.held(1)]
    assert said(hand, "ds").split() == [one + other for one, other in combinations(twelve, 2)]
    assert hand.automatic() == "p1 ds AaKa"
    for wrong in ("KaAa", "AaAa", "AaXb", "Aa", "Aa??", "????"):
        refused(hand, f"p1 ds {wrong}", "card_mismatch")
    say(hand, "p1 ds Al7h")
    assert len(hand.held(1)) == 10 and "8h" in hand.held(1) and hand.phase == "game"


def test_the_game_may_be_any_from_the_bid_on():
    hand = bid("p1 bd 4; p2 ps; p3 ps; p1 ds AlKl")
    assert said(hand, "cl") == "4 5 6 7" and hand.automatic() == "p1 cl 4"
    refused(hand, "p1 cl 3", "verb_not_legal")
    assert view(say(hand, "p1 cl 5"))["contract"] == 5
    assert said(bid("p1 bd 7; p1 ds AlKl"), "cl") == "7"  # written all the same


# Scoring: contra


def to_contra(player: int = 1) -> Hand:
    """The player has bid acorns and laid two cards away."""
    lines = {1: "p1 bd 5; p2 ps; p3 ps; p1 ds AlKl", 2: "p1 bd 2; p2 bd 5; p3 ps; p1 ps; p2 ds AbKb"}[player]
    return say(bid(lines), f"p{player} cl 5")


def test_each_defender_may_double_and_is_answered_at_once():
    hand = to_contra()
    assert lines_on_offer(hand) == {"p2 dbl p1", "p2 ps", "p2 au"} and hand.automatic() == "p2 ps"
    refused(hand, "p2 dbl p3", "wrong_target", targets=[1])
    refused(hand, "p2 dbl p1 p3", "wrong_target")
    refused(hand, "p3 dbl p1", "not_your_turn", actor="p2")
    say(hand, "p2 dbl p1")
    assert (hand.phase, lines_on_offer(hand)) == ("answer", {"p1 rdbl p2", "p1 ps", "p1 au"})
    refused(hand, "p1 rdbl p3", "wrong_target", targets=[2])
    say(hand, "p1 rdbl p2")
    assert hand.actor == "p3"
    say(hand, "p3 dbl p1; p1 ps")
    assert (hand.phase, hand.actor, [seat.get("factor") for seat in view(hand)["seats"]]) == (
        "tricks",
        "p1",
        [None, 4, 2],
    )
    net = units(auto(hand))
    assert net[1] == 2 * net[2] and net[0] == -net[1] - net[2]


def test_defenders_speak_in_play_order():
    hand = to_contra(2)
    assert hand.actor == "p1"
    say(hand, "p1 dbl p2; p2 ps")
    assert hand.actor == "p3"
    assert say(hand, "p3 ps").actor == "p1"  # Vorhand leads, no matter who plays


# The Play


def test_suit_is_followed_else_trumped_nobody_has_to_beat():
    hand = deal("AaKaOaUaXaAlKlOlUlXl", "9a8aAbKbObUbXb9b8b7b", "7a9l8l7lAhKhOhUhXh9h")
    say(hand, f"{PASSES}; p1 bd 5; p2 ps; p3 ps; p1 ds 8h7h; p1 cl 5; p2 ps; p3 ps; p1 pl Xl")
    assert said(hand) == "9a 8a"  # void: a trump
    refused(hand, "p2 pl Ab", "verb_not_legal")
    say(hand, "p2 pl 8a")
    assert said(hand) == "9l 8l 7l"
    say(hand, "p3 pl 9l")
    assert hand.actor == "p2"
    say(hand, "p2 pl Ab")
    assert said(hand) == "7a"  # p3 is void of bells: a trump, though p2 leads
    hand = deal("AaKaOaUaXaAlKlOlUlXl", "9a8aAbKbObUbXb9b8b7b", "7a9l8l7lAhKhOhUhXh9h")
    say(hand, f"{PASSES}; p1 bd 6; p2 ps; p3 ps; p1 ds 8h7h; p1 cl 7; p2 ps; p3 ps; p1 pl Xl")
    assert said(hand).split() == ["9a", "8a", "Ab", "Kb", "Ob", "Ub", "Xb", "9b", "8b", "7b"]  # no trumps: anything
    say(hand, "p2 pl 7b; p3 pl 7l")
    assert hand.actor == "p1"


def test_the_ten_ranks_below_the_under():
    hand = deal("XaKaOaAaUaAlKlOlUlXl", "9aUbAbKbObXb9b8b7b8a", "7a9l8l7lAhKhOhUhXh9h")
    say(hand, f"{PASSES}; p1 bd 7; p1 ds 8h7h; p1 cl 7; p2 ps; p3 ps; p1 pl Xa; p2 pl 9a; p3 pl 7a")
    assert hand.actor == "p1"


@pytest.mark.parametrize(("early", "tricks"), [(True, 1), (False, 10)])
def test_bettl_may_end_with_the_first_trick_that_the_player_takes(early: bool, tricks: int):
    hand = say(
        bid(
            "p1 bd 6; p2 ps; p3 ps; p1 ds 8h7h",
            opt={"early_end": early},
        ),
        "p1 cl 6; p2 ps; p3 ps",
    )
    auto(hand)
    assert sum(seat["tricks"] for seat in view(hand)["seats"]) == tricks
    assert hand.result and (hand.result.ending, hand.result.winner, units(hand)) == ("lost", 0, (-12, 6, 6))


@pytest.mark.parametrize(("early", "tricks"), [(True, 1), (False, 10)])
def test_durchmarsch_may_end_with_the_first_trick_that_the_player_loses(early: bool, tricks: int):
    hand = deal("7a8aOaUaXa9aAlKlOlUl", "AaKaXl9l8l7lAbKbObUb", opt={"early_end": early})
    say(hand, f"{PASSES}; p1 bd 7; p1 ds 8h7h; p1 cl 7; p2 ps; p3 ps; p1 pl 7a; p2 pl Aa; p3 pl Xb")
    auto(hand)
    assert sum(seat["tricks"] for seat in view(hand)["seats"]) == tricks and units(hand) == (-14, 7, 7)


def test_a_durchmarsch_is_all_ten_and_a_bettl_none():
    hand = auto(say(bid("p1 bd 7; p1 ds 8h7h"), "p1 cl 7; p2 ps; p3 ps"))
    assert units(hand) == (14, -7, -7) and hand.result and hand.result.winner == 1
    low = deal("7a8a9a7l8l9l7b8b9b7h", "AaKaAlKlAbKbAhKhOhUh", "OaUaXaOlUlXlObUbXbXh")
    low = auto(say(low, f"{PASSES}; p1 bd 6; p2 ps; p3 ps; p1 ds 9h8h; p1 cl 6; p2 ps; p3 ps"))
    assert units(low) == (12, -6, -6) and view(low)["seats"][0]["tricks"] == 0


# Scoring


def test_the_example_of_the_log():
    """The widow shows two nines: 2 units to p3; bells with three of six tricks: 6 to p2, with contra 12 to p3."""
    deck = "7a7lAbOhAhKaAa9bKlOlUaOaUbKh8l9l9a7bObUlAlXaXlXh8aUh7h8hKbXb8b9h"
    cards = tuple(deck[at : at + 2] for at in range(0, 64, 2))
    series = {"score": {"ann": 19, "ben": -45, "cat": 26}}
    hand = run_forced(start(table(GAME, seats=3, deck=cards, series=series)))
    say(hand, f"{PASSES}; p1 bd 2; p2 bd 3; p3 ps; p1 bd 3; p2 ps")
    assert view(hand)["widow"] == ["9l", "9a"]
    say(
        hand, "p1 ds AlAh; p1 cl 3; p2 ps; p3 dbl p1; p1 ps; p1 pl 7a; p2 pl Ka; p3 pl Ua; p2 pl 7h; p3 pl Kh; p1 pl Oh"
    )
    say(hand, "p3 pl Xb; p1 pl Ab; p2 pl 9b; p1 pl Ob; p2 pl 8a; p3 pl Ub; p1 pl 7l; p2 pl Xl; p3 pl 8l; p2 pl Ol")
    say(hand, "p3 pl 8b; p1 pl 9l; p3 pl 8h; p1 pl 7b; p2 pl Xh; p1 pl 9a; p2 pl Aa; p3 pl Oa; p2 pl Kl; p3 pl Kb")
    say(hand, "p1 pl Ul; p3 pl 9h; p1 pl Xa")
    events = hand.apply("p2 pl Uh")
    assert events[1:] == (
        Move(1, 3, 200, Why.POINTS), Move(1, 2, 600, Why.POINTS), Move(1, 3, 1200, Why.POINTS), HandEnded("lost", 0),
    )  # fmt: skip
    assert hand.result and hand.result.series == {"score": {"ann": -1, "ben": -39, "cat": 40}}


NINES = ("AaKaOaUaXa8aAlKlAbKb", "OlUlXl8l7l7aObUb8bXb", "9b7bAhKhOhUhXh9h8h7h")
"""p1 could play acorns; the nines of acorns and leaves lie aside."""


@pytest.mark.parametrize(
    ("lines", "player", "net"),
    [
        ("p1 bd 5; p2 ps; p3 ps; p1 ds 9a9l; p1 cl 5", 1, (-2, 0, 2)),
        ("p1 bd 2; p2 bd 5; p3 ps; p1 ps; p2 ds 9a9l; p2 cl 5", 2, (0, -2, 2)),
        ("p1 bd 2; p2 ps; p3 bd 5; p1 ps; p3 ds 9a9l; p3 cl 5", 3, (0, 0, 0)),
    ],
)
def test_a_widow_of_one_rank_costs_the_player_two_units_to_the_dealer(lines: str, player: int, net: tuple[int, ...]):
    """ "Kunstwerk", whatever comes of the game, and never multiplied; the dealer as player pays nobody."""
    hand = say(deal(*NINES), f"{PASSES}; {lines}")
    others = [seat for seat in (1, 2, 3) if seat != player]
    for other in others:
        say(hand, f"p{other} dbl p{player}; p{player} rdbl p{other}")
    plain = [0, 0, 0]
    auto(hand)
    tricks = view(hand)["seats"][player - 1]["tricks"]
    worth = 5 + tricks - 6 if tricks >= 6 else -(5 + 6 - tricks)
    for other in others:
        plain[player - 1] += 4 * worth
        plain[other - 1] -= 4 * worth
    assert units(hand) == tuple(one + more for one, more in zip(plain, net, strict=True))


@pytest.mark.parametrize(
    ("game", "hand", "tricks", "worth"),
    [
        (2, False, 7, 2), (2, False, 10, 5), (2, False, 6, -3), (2, False, 0, -9), (3, False, 6, 3),
        (4, False, 5, -5), (5, False, 10, 9), (5, False, 0, -11), (2, True, 7, -3), (2, True, 8, 2), (5, True, 7, 5),
        (5, True, 0, -12), (6, False, 0, 6), (6, True, 0, 6), (6, False, 1, -6), (7, False, 10, 7), (7, True, 9, -7),
    ],
)  # fmt: skip
def test_what_each_defender_pays(game: int, hand: bool, tricks: int, worth: int):
    """The value of the game, one more for each trick over or short with trumps, one trick more out of the hand."""
    state = PreferanszState(table(GAME, seats=3), game_info(GAME).rules.parse({"unit": 1}, 3))
    state.game, state.from_hand, state.player = game, hand, 1
    state.winners = [1] * tricks + [2] * (10 - tricks)
    assert state.worth() == worth


def test_the_worst_loss_is_acorns_out_of_the_hand_without_a_trick():
    hand = deal("7l8l9lXl7b8b9b7h8h9h", "AaKaOaUaAlKlAbKbAhKh", "Xa9a8a7aOlUlObUbOhUh", stack=9600)
    say(hand, "p1 bd 5 hand; p2 ps; p3 ps; p2 dbl p1; p1 rdbl p2; p3 dbl p1; p1 rdbl p3")
    assert units(auto(hand)) == (-96, 48, 48) and hand.stacks[0] == 0
    rules = game_info(GAME).rules.parse({"unit": 100}, 3)
    assert game_info(GAME).policy.worst_loss(rules, 3) == rules.least_stack == 9600
    not_started("stack_too_short", table(GAME, seats=3, stack=9599), seat=1, min=9600)


def test_no_deal_costs_more_than_the_worst_loss():
    for game in range(2, 8):
        for from_hand in (False, True):
            state = PreferanszState(table(GAME, seats=3), game_info(GAME).rules.parse({"unit": 1}, 3))
            state.game, state.from_hand, state.player = game, from_hand, 1
            for tricks in range(11):
                state.winners = [1] * tricks + [2] * (10 - tricks)
                most = max(-8 * state.worth() + (0 if from_hand else 2), 4 * state.worth())
                assert most <= 96


def test_money_moves_with_the_last_card():
    hand = to_contra()
    say(hand, "p2 ps; p3 ps")
    while not hand.over:
        assert hand.moves == ()
        hand.apply(hand.automatic() or "")
    assert all(move.why is Why.POINTS for move in hand.moves)


# Who may know what


def test_cards_laid_away_stay_hidden_after_the_deal_too():
    hand = bid("p1 bd 5; p2 ps; p3 ps; p1 ds AlKl; p1 cl 5; p2 ps; p3 ps")
    for over in (False, True):
        for viewer in (2, 3, "public"):
            log = hand.view(viewer)["log"]
            assert "p1 ds ????" in log and "d up 8h7h" in log  # type: ignore[operator]
            seen = {hand.setup.deck[place] for _, place in hand.places(viewer)}  # type: ignore[index]
            assert not {"Al", "Kl"} & seen and {"8h", "7h"} <= seen
        assert "p1 ds AlKl" in hand.view(1)["log"]  # type: ignore[operator]
        assert {"Al", "Kl"} <= {hand.setup.deck[place] for _, place in hand.places(1)}  # type: ignore[index]
        if not over:
            auto(hand)


def test_others_see_how_many_cards_the_player_lays_away():
    hand = bid("p1 bd 5; p2 ps; p3 ps")
    assert view(hand)["legal"] == [{"actor": "p1", "verb": "ds", "count": 2}]
    assert len(hand.view(1)["legal"][0]["cards"]) == 66  # type: ignore[index]


@pytest.mark.parametrize("opt", [{}, {"pass_is_final": False, "early_end": False}], ids=str)
@pytest.mark.parametrize("number", range(4))
def test_exchanging_unseen_cards_leaves_every_view_byte_identical(opt: dict[str, object], number: int):
    found, steps = watch(GAME, opt, 3, number)
    assert found > 0.5 * steps


# Tables


@pytest.mark.parametrize(
    ("opt", "code"),
    [
        ({"unit": 0}, "option_out_of_range"), ({"unit": True}, "option_out_of_range"),
        ({"pass_is_final": 1}, "option_out_of_range"), ({"early_end": "no"}, "option_out_of_range"),
        ({"stake": 1}, "unknown_option"),
    ],
)  # fmt: skip
def test_options_that_cannot_be(opt: dict[str, object], code: str):
    not_started(code, table(GAME, seats=3)._replace(opt={"unit": 10} | opt))


def test_options_are_described_and_the_unit_must_be_set():
    described = {option.name: option for option in describe(game_info(GAME).rules)}
    assert list(described) == ["unit", "pass_is_final", "early_end"]
    assert all('("' in option.meaning for option in described.values())
    not_started("option_missing", table(GAME, seats=3)._replace(opt={}))


@pytest.mark.parametrize("changed", [{"carry": 1}, {"redeals": (TELL32.cards,)}, {"dealer": 2}, {"series": {}}])
def test_set_ups_that_cannot_be(changed: dict[str, Any]):
    not_started("malformed_setup", table(GAME, seats=3)._replace(**changed))


def test_the_score_goes_on_and_the_seats_turn():
    info = game_info(GAME)
    hand = auto(run_forced(start(table(GAME, seats=3, deck=shuffled(Random(2))))))
    assert hand.result
    ids = tuple(hand.setup.ids[at] for at in info.next_seats(3, hand.setup.series, hand.result.series))
    assert ids == ("ben", "cat", "ann") and info.continues(hand.result.series, ids, hand.rules)
    following = auto(run_forced(start(hand.setup._replace(ids=ids, series=hand.result.series))))
    assert following.result and sum(following.result.series["score"].values()) == 0  # type: ignore[attr-defined]


def test_the_vocabulary_is_what_the_phases_know():
    known = {verb for verbs in PreferanszState.HANDLERS.values() for verb in verbs}
    assert known == set(PreferanszState.OFFERS) == set(game_info(GAME).verbs)
