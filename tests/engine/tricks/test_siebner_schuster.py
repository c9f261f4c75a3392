"""Siebner Schuster, sentence by sentence, where it differs from Zsíros. Section names are those of the rules text."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from engine.errors import EngineError
from engine.kernel.cards import FRENCH32, TELL32, UNKNOWN
from engine.kernel.events import HandEnded, Spoke
from engine.kernel.hand import Hand
from engine.kernel.purse import Move, Why
from engine.kernel.rules import describe
from engine.play import random_line
from engine.record.format import record_of
from engine.record.replay import replay
from engine.registry import game_info, start
from engine.tricks.siebner_schuster import CALLS, SiebnerSchusterState
from tests.engine.deals import (
    IDS,
    auto,
    deck_of,
    lines_on_offer,
    not_started,
    refused,
    run_forced,
    said,
    say,
    shuffled,
    table,
)  # fmt: skip

GAME = "siebner_schuster"


def deal(*rows: str, seats: int = 4, pack: str = "tell", **what: Any) -> Hand:
    """A deal of a deck that begins with these cards, the hands first."""
    opt = {"pack": pack, **what.pop("opt", {})}
    deck = deck_of(*rows, pack=FRENCH32 if pack == "french" else TELL32)
    return run_forced(start(table(GAME, opt, seats=seats, deck=deck, **what)))


def sheet(*score: int, games: tuple[int, int] = (0, 0), ids: tuple[str, ...] = IDS) -> dict[str, Any]:
    """A series with this score."""
    return {"order": list(ids), "deals": ids[-1], "score": list(score), "games": list(games)}


def view(hand: Hand) -> dict[str, Any]:
    return hand.view("public")


# The Play: the three examples of tricks, North leading


def test_the_leader_holds_and_may_not_continue():
    """Eight, queen, nine, nine: nobody else played an eight or a seven."""
    hand = deal("8cAcAdAh", "QcKcKdKh", "9cTcTdTh", "9dJcJdJh", pack="french")
    say(hand, "p1 pl 8c; p2 pl Qc; p3 pl 9c; p4 pl 9d")
    assert (hand.phase, hand.actor, view(hand)["tricks"]) == ("lead", "p1", [1, 0])


def test_the_example_of_three_rounds():
    hand = deal("AcAd7c8c", "JcQcTc8d", "8hKc9c8s", "As7dKd9d", pack="french")
    say(hand, "p1 pl Ac; p2 pl Jc; p3 pl 8h; p4 pl As")
    assert (hand.phase, hand.actor, view(hand)["holder"]) == ("ask", "p1", "p4")
    say(hand, "p1 pl Ad; p2 pl Qc; p3 pl Kc; p4 pl 7d")
    assert (hand.phase, hand.actor, view(hand)["holder"]) == ("ask", "p1", "p4")
    for line in ("p1 pl 7c", "p2 pl Tc", "p3 pl 9c", "p4 pl Kd"):
        hand.apply(line)
    assert (hand.phase, view(hand)["leader"], view(hand)["tricks"]) == ("deal", "p1", [1, 0])
    assert hand.view("auditor")["points"] == [40, 0]


def test_the_example_of_a_trick_that_cannot_be_continued():
    """East is winning, and North has no ten or seven left: there is no question."""
    hand = deal("Tc7cAcAd", "7dTdKcKd", "KhJdQcQd", "JcAh9c9d", pack="french")
    say(hand, "p1 pl Tc; p2 pl 7d; p3 pl Kh; p4 pl Jc; p1 pl 7c; p2 pl Td; p3 pl Jd; p4 pl Ah")
    assert (hand.phase, hand.actor, view(hand)["tricks"]) == ("lead", "p2", [0, 1])
    assert hand.view("auditor")["points"] == [0, 30]


def test_the_leader_may_stop():
    hand = deal("AaAl7a8a", "OaKaXaXl", "8lKb9a8b", "Ab7lKh9l")
    say(hand, "p1 pl Aa; p2 pl Oa; p3 pl 8l; p4 pl Ab")
    assert lines_on_offer(hand) >= {"p1 ps", "p1 pl Al", "p1 pl 7a", "p1 au"} and hand.automatic() == "p1 ps"
    refused(hand, "p1 pl 8a", "verb_not_legal", phase="ask", ranks=["A", "7"])
    assert hand.apply("p1 ps") == (Spoke(1, "ps"),)
    assert view(hand)["leader"] == "p4"


# The Play: drawing


@pytest.mark.parametrize(
    ("opt", "expected"),
    [
        ({}, ["p4 Kh", "p1 Kl", "p2 8h", "p3 7h", "p4 9h", "p1 Uh", "p2 Ul", "p3 Ua"]),
        ({"draw_mode": "batch"}, ["p4 KhKl", "p1 8h7h", "p2 9hUh", "p3 UlUa"]),
        (
            {"deal_model": "preassigned"},
            ["p4 7h", "p1 Kh", "p2 Kl", "p3 8h", "p4 Ua", "p1 9h", "p2 Uh", "p3 Ul"],
        ),
    ],
)
def test_cards_are_drawn_one_at_a_time_in_turn_the_winner_first(opt: dict[str, object], expected: list[str]):
    hand = deal("AaAl7a8a", "OaKaXaXl", "8lKb9a8b", "Ab7lOl9l", "KhKl8h7h", "9hUhUlUa", opt=opt)
    before = len(hand.log)
    say(hand, "p1 pl Aa; p2 pl Oa; p3 pl 8l; p4 pl Ab; p1 pl Al; p2 pl Ka; p3 pl Kb; p4 pl 7l; p1 ps")
    assert [line.removeprefix("d dh ") for line in hand.log[before + 9 :]] == expected


# The Play: partners know their hands


def to_the_look(seed: int = 1, **what: Any) -> Hand:
    """A deal played by itself until the last card is drawn."""
    hand = start(table(GAME, what.pop("opt", None), deck=shuffled(Random(seed)), **what))
    while hand.phase != "pass":
        hand.apply(hand.forced() or hand.automatic() or "")
    return hand


def test_hands_are_passed_across_when_the_last_card_is_drawn():
    hand = to_the_look()
    assert (hand.actor, view(hand)["talon"], hand.log[-1][:4]) == ("d", 0, "d dh")
    assert lines_on_offer(hand) == {"d vw p1 p3"} and hand.forced() == "d vw p1 p3"
    refused(hand, "d vw p2 p4", "wrong_target", targets=[1, 3])
    refused(hand, "d vw p1", "wrong_target")
    refused(hand, "d vw p3 p1", "malformed_action")
    refused(hand, "p1 pl Aa", "not_your_turn", actor="d")
    refused(hand, "p1 au", "not_your_turn", actor="d")
    refused(hand, "p3 cl ubij", "not_your_turn", actor="d")
    assert hand.apply("d vw p1 p3") == (Spoke(0, "vw"),)
    assert lines_on_offer(hand) == {"d vw p2 p4"}
    hand.apply("d vw p2 p4")
    assert hand.phase == "lead"
    refused(hand, "d vw p1 p3", "not_your_turn")
    assert sum(" vw " in line for line in auto(hand).log) == 2


def test_from_then_on_each_sees_its_partners_hand_and_nobody_else_does():
    hand = to_the_look()

    def open_to(viewer: int | str) -> list[bool]:
        return [UNKNOWN not in seat["cards"] for seat in hand.view(viewer)["seats"]]  # type: ignore[attr-defined]

    assert [open_to(viewer) for viewer in (1, 2, "public")] == [
        [True, False, False, False], [False, True, False, False], [False] * 4,
    ]  # fmt: skip
    hand.apply("d vw p1 p3")
    assert [open_to(viewer) for viewer in (1, 2, 3, 4)] == [
        [True, False, True, False], [False, True, False, False], [True, False, True, False], [False] * 3 + [True],
    ]  # fmt: skip
    hand.apply("d vw p2 p4")
    while hand.held(1):
        for viewer in (1, 2, 3, 4, "public"):
            for seat, shown in enumerate(hand.view(viewer)["seats"], 1):  # type: ignore[arg-type, var-annotated]
                open_hand = viewer != "public" and (seat - int(viewer)) % 2 == 0
                held = list(hand.held(seat))
                if seat != viewer:  # nor in the order in which they were drawn
                    held.sort(key=TELL32.cards.index)
                assert shown["cards"] == (held if open_hand else [UNKNOWN] * len(held))
        log = hand.view(1)["log"]
        assert all("??" in line for line in log if line.startswith("d dh p3"))  # type: ignore[attr-defined]
        assert json.loads(hand.information(1))["partner"] == sorted(hand.held(3), key=TELL32.cards.index)
        hand.apply(hand.automatic() or "")


def test_the_place_of_a_partners_card_stays_hidden_till_the_end():
    hand = run_forced(to_the_look())
    own = {place for _, place in hand.places(1)}
    assert {hand.setup.deck[place] for place in own} == set(hand.cards_of(1))  # type: ignore[index]


def test_two_players_do_not_look():
    hand = run_forced(start(table(GAME, seats=2, deck=shuffled(Random(3)))))
    assert not any(" vw " in line for line in auto(hand).log)


# The Play: suggestions


def test_the_partner_of_the_seat_to_act_calls_with_five_words():
    hand = deal("AaAl7a8a", "OaKaXaXl", "8lKb9a8b", "Ab7lKh9l")
    assert said(hand, "cl") == " ".join(CALLS)
    refused(hand, "p3 cl uss", "malformed_action")
    refused(hand, "p2 cl ubij", "not_your_turn", actor="p3")
    assert hand.apply("p3 cl natovari") == (Spoke(3, "cl", "natovari"),)
    assert hand.actor == "p1"
    refused(deal(opt={"calls": "off"}), "p3 cl ubij", "verb_not_legal", calls="off")
    assert said(deal(seats=2), "cl") == ""


# Scoring


def test_aces_tens_and_the_last_trick_count_ten_each():
    """Ninety points a deal, so the two sides never tie; each loser pays the difference to one winner."""
    for seed in range(60):
        hand = auto(run_forced(start(table(GAME, {"stake": 7}, deck=shuffled(Random(seed)), seats=2 + 2 * (seed % 2)))))
        one, other = view(hand)["points"]
        assert one + other == 90 and one != other and hand.result
        assert hand.result.net == (7 * (one - other), 7 * (other - one)) * (hand.setup.seats // 2)
        assert hand.result.winner == (1 if one > other else 2)


def test_the_loser_pays_with_the_last_card():
    hand = run_forced(start(table(GAME, deck=shuffled(Random(5)))))
    while not hand.over:
        assert hand.moves == () and "points" not in view(hand)
        events = hand.apply(hand.forced() or hand.automatic() or "")
    one, other = view(hand)["points"]
    payer, paid = ((1, 3), (2, 4)) if one < other else ((2, 4), (1, 3))
    amount = 10 * abs(one - other)
    assert events[1:] == (
        *(Move(payer[at], paid[at], amount, Why.POINTS) for at in (0, 1)), HandEnded("points", paid[0]),
    )  # fmt: skip


def after(points: tuple[int, int], score: tuple[int, int], target: int) -> tuple[Any, Any, str]:
    """Score, games and ending of a deal that comes to these points for p1's side and the other."""
    for seed in range(2000):
        deck = shuffled(Random(seed))
        hand = auto(run_forced(start(table(GAME, {"stake": 1}, seats=2, deck=deck))))
        if view(hand)["points"] == list(points):
            series = sheet(*score, games=(3, 4), ids=("ann", "ben"))
            hand = auto(run_forced(start(table(GAME, {"target": target}, seats=2, deck=deck, series=series))))
            assert hand.result
            return hand.result.series["score"], hand.result.series["games"], hand.result.ending
    raise AssertionError("no such deal")


@pytest.mark.parametrize(
    ("points", "score", "target", "expected"),
    [
        ((50, 40), (60, 70), 120, ([110, 110], [3, 4], "points")),
        ((50, 40), (70, 20), 120, ([0, 0], [4, 4], "game")),
        ((40, 50), (80, 110), 120, ([0, 0], [3, 5], "game")),
        ((50, 40), (100, 110), 120, ([150, 150], [3, 4], "points")),
        ((50, 40), (180, 180), 180, ([0, 0], [4, 4], "game")),
        ((40, 50), (110, 90), 120, ([0, 0], [4, 4], "game")),
    ],
)
def test_a_side_with_enough_points_and_more_than_the_other_has_won(
    points: tuple[int, int], score: tuple[int, int], target: int, expected: tuple[Any, Any, str]
):
    """The side with more points wins, also where both have enough; equal scores go on with an extra deal."""
    assert after(points, score, target) == expected


# Tables


@pytest.mark.parametrize(
    ("opt", "code"),
    [
        ({"stake": -1}, "option_out_of_range"), ({"target": 0}, "option_out_of_range"),
        ({"players": 2}, "option_out_of_range"), ({"players": 3}, "option_out_of_range"),
        ({"draw_mode": "all"}, "option_out_of_range"), ({"deal_model": "rows"}, "option_out_of_range"),
        ({"calls": True}, "option_out_of_range"), ({"pack": "tell32"}, "option_out_of_range"),
        ({"unit": 1}, "unknown_option"),
    ],
)  # fmt: skip
def test_options_that_cannot_be(opt: dict[str, object], code: str):
    not_started(code, table(GAME)._replace(opt={"stake": 10} | opt))


def test_options_are_described_and_the_stake_must_be_set():
    described = {option.name: option for option in describe(game_info(GAME).rules)}
    assert list(described) == ["stake", "target", "players", "draw_mode", "deal_model", "calls", "pack"]
    assert all('("' in option.meaning for option in described.values())
    not_started("option_missing", table(GAME)._replace(opt={}))


def test_a_stack_must_cover_ninety_points():
    assert start(table(GAME, stack=900)).actor == "d"
    not_started("stack_too_short", table(GAME, stack=899), seat=1, min=900)
    policy, rules = game_info(GAME).policy, game_info(GAME).rules.parse({"stake": 10}, 4)
    assert policy.worst_loss(rules, 4) == 900 and policy.least_players({"stake": 10, "players": 2}) == 2


@pytest.mark.parametrize(
    "changed",
    [
        *({"score": score} for score in ([10, 5], [0], [120, 0], [130, 120], [-10, 0], [True, 0], None, (0, 0))),
        *({"games": games} for games in ([0], [0, -1], None)),
        *({"order": order} for order in ([], "ann", list(IDS[::-1]), [*IDS, "eve"])),
        {"deals": "ann"}, {"extra": 0},
    ],
)  # fmt: skip
def test_a_series_that_cannot_be(changed: dict[str, object]):
    not_started("malformed_setup", table(GAME, series=sheet(0, 0) | changed))


def test_equal_scores_may_have_reached_the_target():
    assert start(table(GAME, series=sheet(130, 130))).actor == "d"


def test_the_french_pack_has_queens_and_tens():
    hand = deal("TcAc7d8h", pack="french")
    assert said(hand) == "Ac Tc 7d 8h"
    assert game_info(GAME).pack_for({"pack": "french"}) is FRENCH32 and auto(hand).result
    not_started("card_not_in_pack", table(GAME, {"pack": "french"}, deck=TELL32.cards))


def test_the_vocabulary_is_what_the_phases_know():
    known = {verb for verbs in SiebnerSchusterState.HANDLERS.values() for verb in verbs}
    assert known == set(SiebnerSchusterState.OFFERS) == set(game_info(GAME).verbs)


# Cards that the house does not know


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("number", range(8))
def test_random_deals_with_unknown_cards_come_to_an_end(share: float, number: int):
    random = Random(number)
    seats = random.choice((2, 4))
    hand = start(table(GAME, {"pack": random.choice(("tell", "french"))}, seats=seats))
    while not hand.over:
        chance = hand.chance()
        line = chance.line(random) if chance else random_line(hand, random)
        if chance and random.random() < share:
            line = f"d dh p{chance.target} {UNKNOWN * chance.count}"
        assert hand.actor == "d" or line in lines_on_offer(hand)
        hand.apply(line)
    assert hand.result and sum(hand.result.net) == 0 and sum(view(hand)["points"]) == 90
    assert sum(" vw " in line for line in hand.log) == (2 if seats == 4 else 0)
    record = record_of(hand, hand_id="p-1", rules_id=f"{GAME}/1", seats=IDS[:seats], opt=dict(hand.setup.opt))
    assert replay(record).ok


def test_a_partner_is_shown_no_more_than_the_house_knows():
    hand = start(table(GAME))
    while hand.phase != "pass":
        chance = hand.chance()
        if chance:
            hand.apply(f"d dh p{chance.target} {UNKNOWN * chance.count}")
        else:
            hand.apply(random_line(hand, Random(len(hand.log))))
    assert hand.chance() is None
    run_forced(hand)
    assert (hand.phase, hand.view(1)["seats"][2]["cards"]) == ("lead", [UNKNOWN] * len(hand.held(3)))  # type: ignore[index]


def test_a_refusal_names_no_card_but_those_of_the_line():
    random = Random(4)
    hand = start(table(GAME, deck=shuffled(random)))
    while not hand.over:
        for card in random.sample(hand.setup.deck or (), 4):
            try:
                hand.copy().advance(f"{hand.actor} pl {card}")
            except EngineError as error:
                text = f"{error.message} {error.expected}".replace(card, "")
                assert not [other for other in hand.setup.deck or () if other in text]
        hand.advance(random_line(hand, random))
