"""Zsíros: the score, the money, and which tables there may be. Section names are those of the rules text."""

from __future__ import annotations

import doctest
from random import Random

import pytest

from engine.errors import EngineError
from engine.kernel.cards import TELL32
from engine.kernel.events import HandEnded
from engine.kernel.hand import Hand
from engine.kernel.purse import Move, Why
from engine.kernel.rules import describe
from engine.registry import game_info, resolve, start
from engine.tricks import chairs
from engine.tricks.zsiros import ZsirosState
from tests.engine.deals import auto, deck_of, run_forced, shuffled
from tests.engine.tricks.zsiros_tables import IDS, deal, setup, sheet

ABCD = deck_of("AaAlOa7a", "XaXl9a7l", "KaKl8a7b", "AbObUa7h")
"""Hands of the example of a multiple trick ("Multiple tricks"): p1 is A, p2 is B, and so on."""


def view(hand: Hand) -> dict[str, object]:
    return hand.view("public")


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


# Going on with the evening


def continues(series: dict[str, object], ids: tuple[str, ...]) -> bool:
    info = game_info("zsiros")
    return info.continues(series, ids, info.rules.parse({"stake": 0}, 4))


def test_the_next_deal_goes_on_with_what_this_one_left():
    info, hand = game_info("zsiros"), auto(run_forced(start(setup(series=sheet(IDS)))))
    for _ in IDS:
        assert hand.result
        left, before = hand.result.series, hand.setup
        ids = tuple(before.ids[at] for at in info.next_seats(4, before.series, left))
        assert continues(dict(left), ids)
        hand = auto(run_forced(start(before._replace(ids=ids, series=left))))
    assert hand.setup.ids == IDS


@pytest.mark.parametrize(
    "ids",
    [
        ("ann", "ben", "cat", "dan"),
        ("ben", "cat", "dan", "eve"),
        ("cat", "ben", "dan", "ann"),
        ("dan", "cat", "ben", "ann"),
        ("ann", "eve"),
        ("dan", "ann"),
    ],
)
def test_other_people_another_order_or_another_dealer_start_over(ids: tuple[str, ...]):
    left = sheet(IDS, deals="ann")
    assert continues(left, ("ben", "cat", "dan", "ann"))
    assert not continues(left, ids)


@pytest.mark.parametrize(
    "left", [{}, {"deals": "dan"}, {"order": list(IDS)}, {"order": "annbencatdan", "deals": "dan"}], ids=str
)
def test_nothing_goes_on_from_what_is_no_series(left: dict[str, object]):
    assert not continues(left, IDS)


@pytest.mark.parametrize("seats", [1, 3, 5])
def test_two_or_four_play(seats: int):
    with pytest.raises(EngineError) as refusal:
        start(setup()._replace(seats=seats, stacks=(900,) * seats, dealer=seats, ids=()))
    assert refusal.value.code == "malformed_setup"


@pytest.mark.parametrize(
    "changed",
    [{"carry": 1}, {"series": []}, {"series": None}, {"redeals": (TELL32.cards,)}, {"dealer": 3}, {"ids": IDS[:3]}],
)
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
    assert policy.as_dict() == {
        "must_set": ["stake"], "zones": [], "charge": "seat", "announcements": {}, "not_at_tables": {},
    }  # fmt: skip


def test_the_examples_in_the_docstrings_run():
    result = doctest.testmod(chairs)
    assert result.attempted and not result.failed


def test_the_vocabulary_is_what_the_phases_know():
    known = {verb for verbs in ZsirosState.HANDLERS.values() for verb in verbs}
    assert known == set(ZsirosState.OFFERS) == set(game_info("zsiros").verbs)
