"""Zsíros, sentence by sentence. Section names are those of the rules text."""

from __future__ import annotations

from random import Random

import pytest

from engine.errors import EngineError
from engine.games import game_info, resolve, start
from engine.kernel.cards import TELL32
from engine.kernel.events import Dealt, HandEnded, Played, Spoke
from engine.kernel.hand import Hand
from engine.kernel.purse import Move, Why
from engine.kernel.rules import describe
from engine.tricks.zsiros import ZsirosState
from tests.engine.zsiros_tables import (
    CALLS,
    IDS,
    auto,
    deal,
    deck_of,
    lines_on_offer,
    run_forced,
    say,
    setup,
    sheet,
    shuffled,
)

ABCD = deck_of("AaAlOa7a", "XaXl9a7l", "KaKl8a7b", "AbObUa7h")
"""Hands of the example of a multiple trick ("Multiple tricks"): p1 is A, p2 is B, and so on."""


def refused(hand: Hand, line: str, code: str, **expected: object) -> None:
    """The line is refused with this code, these entries of ``expected``, and without a trace."""
    before = hand.copy()
    with pytest.raises(EngineError) as refusal:
        hand.apply(line)
    assert refusal.value.code == code, refusal.value.message
    assert {name: refusal.value.expected.get(name) for name in expected} == expected
    assert hand == before and hand.legal() == before.legal() and hand.stacks == before.stacks


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
    assert [(seat["side"], seat["partner"]) for seat in view(deal())["seats"]] == [(1, 3), (2, 4), (1, 1), (2, 2)]
    assert [(seat["side"], seat["partner"]) for seat in view(deal(2))["seats"]] == [(1, None), (2, None)]


def test_sides_are_those_of_the_chairs_whoever_is_p1_today():
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
def test_cards_laid_ready_are_a_seats_own_whoever_wins(seats: int, draw_mode: str):
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
    refused(hand, "p3 cl uss", "verb_not_legal", action="p1 pl Aa")
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
        refused(hand, f"p{seat} au", "verb_not_legal", action=f"p{seat} pl {card}")
        refused(hand, f"p{seat % 4 + 1} pl 8a", "verb_not_legal", action=f"p{seat} pl {card}")
        say(hand, f"p{seat} pl {card}")
    asked = say(deal(deck=ABCD), "p1 pl Aa; p2 pl Xa; p3 pl 8a; p4 pl 7h")
    asked.apply("p1 au")
    refused(asked, "p1 pl Al", "verb_not_legal", action="p1 ps")
    assert say(asked, "p1 ps").actor == "p4"


def test_the_clock_runs_for_the_seat_to_act_only():
    hand = start(setup())
    refused(hand, "p1 au", "not_your_turn", actor="d")
    refused(run_forced(hand), "p2 au", "not_your_turn", actor="p1")


# Scoring


def ranks(own: str) -> tuple[str, ...]:
    """A deck that gives p1, against p2 alone, all cards of these ranks as long as p1 wins every trick of one round."""
    mine = [card for card in TELL32.cards if card[0] in own]
    theirs = [card for card in TELL32.cards if card[0] not in own]
    drawn = (card for pair in zip(mine[4:], theirs[4:], strict=True) for card in pair)
    return (*mine[:4], *theirs[:4], *drawn)


def test_every_trick_scores_three():
    """p1 has all aces, kings, overs and sevens: nothing that p2 holds matches."""
    hand = auto(deal(2, deck=ranks("AKO7")))
    assert hand.result and (hand.result.ending, hand.result.winner, hand.result.net) == ("csupasz", 1, (300, -300))
    assert (view(hand)["tricks"], view(hand)["points"]) == ([16, 0], [80, 0])
    assert hand.result.series == sheet(("ann", "ben"), deals="ann", score=[3, 0])


@pytest.mark.parametrize(("seed", "tricks", "net"), [(4, [15, 1], (200, -200)), (24, [2, 14], (-200, 200))])
def test_all_points_but_not_all_tricks_score_two(seed: int, tricks: list[int], net: tuple[int, int]):
    hand = auto(deal(2, deck=shuffled(Random(seed))))
    assert view(hand)["tricks"] == tricks and sorted(view(hand)["points"]) == [0, 80]  # type: ignore[call-overload]
    assert hand.result and (hand.result.ending, hand.result.net) == ("kopasz", net)


def test_more_points_win_one():
    hand = auto(deal(deck=ABCD))
    first, second = view(hand)["points"]  # type: ignore[misc]
    assert first + second == 80 and first != second and hand.result
    assert hand.result.ending == "won" and max(map(abs, hand.result.net)) == 100
    assert hand.result.winner == (1 if first > second else 2)


@pytest.mark.parametrize(
    ("seed", "ending", "winner"),
    [
        (36, ("p1 pl 7h", "p2 pl 9h"), 1),
        (25, ("p2 pl 8h", "p1 pl 7h"), 1),
        (68, ("p2 pl 7h", "p1 pl 8h"), 2),
        (45, ("p1 pl 9h", "p2 pl 7h"), 2),
    ],
)
def test_of_forty_each_the_last_trick_wins(seed: int, ending: tuple[str, str], winner: int):
    hand = auto(deal(2, deck=shuffled(Random(seed))))
    assert (view(hand)["points"], hand.log[-2:]) == ([40, 40], ending)
    assert hand.result and (hand.result.ending, hand.result.winner) == ("won", winner)


# The game, and the money


def score_after(opt: dict[str, object], score: list[int], deck: tuple[str, ...] = ranks("AKO7")) -> dict[str, object]:
    ids = ("ann", "ben")
    hand = auto(deal(2, opt=opt, deck=deck, series=sheet(ids, score=score, games=[7, 2])))
    assert hand.result
    return {key: hand.result.series[key] for key in ("score", "games", "deals")}


@pytest.mark.parametrize(
    ("opt", "score", "expected"),
    [
        ({}, [0, 4], {"score": [3, 4], "games": [7, 2]}),
        ({}, [1, 4], {"score": [4, 4], "games": [7, 2]}),
        ({}, [2, 4], {"score": [0, 0], "games": [8, 2]}),
        ({}, [4, 0], {"score": [0, 0], "games": [8, 2]}),
        ({"target": 10}, [4, 9], {"score": [7, 9], "games": [7, 2]}),
        ({"target": 10}, [7, 9], {"score": [0, 0], "games": [8, 2]}),
    ],
)
def test_the_first_side_with_five_or_ten_wins_the_game(opt: dict[str, object], score: list[int], expected: object):
    assert score_after(opt, score) == expected | {"deals": "ann"}  # type: ignore[operator]


def test_each_loser_pays_one_winner_in_seat_order():
    hand = auto(deal(deck=ABCD, opt={"stake": 250}))
    assert hand.result
    won, lost = ((1, 3), (2, 4)) if hand.result.winner == 1 else ((2, 4), (1, 3))
    amount = 250 * {"won": 1, "kopasz": 2, "csupasz": 3}[hand.result.ending]
    assert hand.moves == tuple(Move(lost[at], won[at], amount, Why.POINTS) for at in (0, 1))
    assert [move.key for move in hand.moves] == [("seat", "seat", "points")] * 2
    assert sum(hand.result.net) == 0 and (hand.result.tax, hand.result.carry_out, hand.pot) == (0, 0, 0)
    assert hand.stacks == tuple(10_000 + net for net in hand.result.net)


def test_money_moves_with_the_last_card_and_no_earlier():
    hand = deal(2, deck=ranks("AKO7"))
    while not hand.over:
        assert hand.moves == () and hand.opening_events == ()
        events = hand.apply(hand.forced() or hand.automatic() or "")
    assert events[1:] == (Move(2, 1, 300, Why.POINTS), HandEnded("csupasz", 1))


def test_nothing_moves_where_nothing_is_staked():
    hand = auto(deal(deck=ABCD, opt={"stake": 0}, stacks=(0, 0, 0, 0)))
    assert hand.result and hand.moves == () and hand.result.net == (0, 0, 0, 0)
    assert sum(hand.result.series["score"]) > 0  # type: ignore[call-overload]


# Tables


@pytest.mark.parametrize(
    ("opt", "code"),
    [
        ({"stake": -1}, "option_out_of_range"),
        ({"stake": True}, "option_out_of_range"),
        ({"target": 7}, "option_out_of_range"),
        ({"players": 2}, "option_out_of_range"),
        ({"players": 3}, "option_out_of_range"),
        ({"draw_mode": "all"}, "option_out_of_range"),
        ({"deal_model": "rows"}, "option_out_of_range"),
        ({"calls": "on"}, "option_out_of_range"),
        ({"limit": 1}, "unknown_option"),
    ],
)
def test_options_that_cannot_be(opt: dict[str, object], code: str):
    with pytest.raises(EngineError) as refusal:
        start(setup(opt=opt))
    assert refusal.value.code == code


def test_the_stake_must_be_set():
    with pytest.raises(EngineError) as refusal:
        start(setup()._replace(opt={}))
    assert refusal.value.code == "option_missing"


def test_options_are_described_and_what_is_default_is_left_out():
    described = {option.name: option for option in describe(game_info("zsiros").rules)}
    assert list(described) == ["stake", "target", "players", "draw_mode", "deal_model", "calls"]
    assert all('("' in option.meaning for option in described.values())
    hand = start(setup(opt={"target": 5, "players": 4, "calls": "logged"}))
    assert hand.rules.non_default == {"stake": 100}
    assert hand.digest() == start(setup()).digest()


def test_a_stack_must_cover_the_worst_loss():
    assert start(setup(stacks=(300,) * 4)).actor == "d"
    with pytest.raises(EngineError) as refusal:
        start(setup(stacks=(300, 300, 299, 300)))
    assert (refusal.value.code, refusal.value.expected) == ("stack_too_short", {"seat": 3, "min": 300})
    game = game_info("zsiros")
    rules = game.rules.parse({"stake": 100}, 4)
    assert (rules.least_stack, game.policy.worst_loss(rules, 4)) == (300, 300)


@pytest.mark.parametrize(
    "changed",
    [
        *({"order": order} for order in ([], None, "ann", ["ann"], [*IDS, "eve"], list(IDS[::-1]), ["ben", *IDS[1:]])),
        {"order": ["ben", "cat", "ann", "dan"]},
        {"order": tuple(IDS)},
        *({"deals": deals} for deals in ("ann", "eve", None, 4, ["dan"])),
        *(
            {"score": score}
            for score in ([0], [0, 0, 0], [5, 0], [0, -1], [True, 0], ["0", 0], None, 0, {"1": 0}, (0, 0))
        ),
        *({"games": games} for games in ([0], [0, -1], [False, 0], None, [10**15 + 1, 0])),
        {"extra": 0},
    ],
)
def test_a_series_that_cannot_be(changed: dict[str, object]):
    with pytest.raises(EngineError) as refusal:
        start(setup(series=sheet(IDS) | changed))
    assert refusal.value.code == "malformed_setup"


def test_a_series_must_be_there_whole():
    for key in sheet(IDS):
        series = sheet(IDS)
        del series[key]
        for held in (series, {}):
            with pytest.raises(EngineError) as refusal:
                start(setup(series=held))
            assert refusal.value.code == "malformed_setup"
            assert refusal.value.expected == {"series": ["order", "deals", "score", "games"]}


def test_the_bound_of_a_score_is_the_target():
    assert start(setup(opt={"target": 10}, series=sheet(IDS, score=[9, 9]))).actor == "d"
    with pytest.raises(EngineError):
        start(setup(opt={"target": 10}, series=sheet(IDS, score=[9, 10])))


def test_seats_without_ids_are_named_by_their_numbers():
    names = tuple(f"p{seat}" for seat in range(1, 5))
    plain = setup()._replace(ids=(), series=sheet(names))
    assert auto(run_forced(start(plain))).result.series["deals"] == "p1"  # type: ignore[union-attr]


@pytest.mark.parametrize("seats", [1, 3, 5])
def test_two_or_four_play(seats: int):
    with pytest.raises(EngineError) as refusal:
        start(setup()._replace(seats=seats, stacks=(900,) * seats, dealer=seats, ids=()))
    assert refusal.value.code == "malformed_setup"


@pytest.mark.parametrize("changed", [{"carry": 1}, {"redeals": (TELL32.cards,)}, {"dealer": 3}, {"ids": IDS[:3]}])
def test_set_ups_that_cannot_be(changed: dict[str, object]):
    with pytest.raises(EngineError) as refusal:
        start(setup()._replace(**changed))
    assert refusal.value.code == "malformed_setup"


def test_a_table_deals_to_its_number_of_players_and_to_no_other():
    least = game_info("zsiros").policy.least_players
    assert (least({"stake": 1}), least({"stake": 1, "players": 2})) == (4, 2)
    assert resolve("zsiros", {"stake": 1}, 4) == {"stake": 1}
    assert resolve("zsiros", {"stake": 1}, 2) == {"stake": 1, "players": 2}
    assert resolve("zsiros", {"stake": 1, "players": 4}, 2) == {"stake": 1, "players": 4}
    with pytest.raises(EngineError):
        resolve("zsiros", {"stake": 1}, 4, announced=["anything"])


def test_what_a_table_of_it_means_to_the_house():
    policy = game_info("zsiros").policy
    assert policy.as_dict() == {"must_set": ["stake"], "zones": [], "charge": "seat", "announcements": {}}


def test_the_vocabulary_is_what_the_phases_know():
    known = {verb for verbs in ZsirosState.HANDLERS.values() for verb in verbs}
    assert known == set(ZsirosState.OFFERS) == set(game_info("zsiros").verbs)
