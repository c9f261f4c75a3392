"""What Barbu carries from deal to deal: its shape, whole sessions on chips and on paper, who sits where."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from engine.kernel.rules import parse_rules
from engine.kernel.setup import Result, Setup
from engine.play import Sitting, play_evening
from engine.record.replay import replay
from engine.registry import game_info, start
from engine.tricks.barbu_rules import BarbuRules
from engine.tricks.barbu_series import next_seats
from tests.engine.tricks.barbu_kit import (
    IDS,
    Opt,
    first_cards,
    fresh,
    not_started,
    play,
    play_out,
    record_of,
    shuffled,
    table,
    undoubled,
)
from tests.model.barbu_random import random_session

SEVEN = ["notricks", "queens", "lasttwo", "hearts", "king", "trumps", "dominoes"]
Spoil = Callable[[dict[str, Any]], object]


# Shape


@pytest.mark.parametrize(
    "spoil",
    [
        lambda series: series.clear(),
        lambda series: series.pop("doubled"),
        lambda series: series.update(score=dict.fromkeys(IDS, 0)),
        lambda series: series.update(left=[]),
        lambda series: series["left"].pop("beth"),
        lambda series: series["left"].update(emil=[]),
        lambda series: series["left"].update(anne=[]),
        lambda series: series["left"].update(anne="queens"),
        lambda series: series["left"].update(anne=["queens", "notricks"]),
        lambda series: series["left"].update(anne=["queens", "queens"]),
        lambda series: series["left"].update(anne=["ravage"]),
        lambda series: series["left"].update(anne=[1]),
        lambda series: series["left"].update(beth=[]),
        lambda series: series["left"].update(beth=SEVEN[1:]),
        lambda series: series["left"].update(diana="abc"),
        lambda series: series["left"].update(cath=SEVEN[::-1]),
        lambda series: series["doubled"].update(anne=1),
        lambda series: series["doubled"].update(beth=1),
        lambda series: series["doubled"].update(beth=-1),
        lambda series: series["doubled"].update(beth=True),
        lambda series: series["doubled"].update(beth="0"),
    ],
)
def test_a_series_that_no_session_reaches_is_refused(spoil: Spoil):
    series = fresh({})
    spoil(series)
    not_started("malformed_setup", series=series)


@pytest.mark.parametrize(
    ("left", "doubled", "stands"),
    [(6, (0, 1, 0), True), (6, (2, 0, 0), False), (1, (1, 1, 1), True), (1, (0, 1, 1), False), (1, (6, 1, 2), True),
     (1, (7, 1, 2), False), (2, (0, 0, 0), True)],
)  # fmt: skip
def test_doubles_that_fit_the_deals_played(left: int, doubled: tuple[int, ...], stands: bool):
    series = fresh({}, left={"anne": SEVEN[:left]}, doubled=dict(zip(IDS[1:], doubled, strict=True)))
    if stands:
        table(series=series)
    else:
        not_started("malformed_setup", series=series)


def test_those_who_declared_before_have_nothing_left():
    table(left={"anne": ["king"], "cath": [], "diana": []}, doubled={"beth": 1, "cath": 1, "diana": 1})
    table({"dealer_declares": True}, left={"diana": SEVEN[2:], "cath": []})
    not_started("malformed_setup", left={"cath": []})
    not_started("malformed_setup", {"dealer_declares": True}, left={"anne": []})


PAPER: Opt = {"settlement": "paper"}


@pytest.mark.parametrize("score", [{"anne": 1}, {"anne": True}, {"anne": "0"}, {"anne": 0.0}])
def test_a_sheet_that_does_not_sum_is_refused(score: dict[str, object]):
    not_started("malformed_setup", PAPER, score=score)


def test_a_sheet_sums_to_the_contracts_that_were_declared():
    table(PAPER, left={"anne": SEVEN[1:]}, score={"anne": -26, "beth": 30, "cath": -30})
    not_started("malformed_setup", PAPER, left={"anne": SEVEN[1:]})
    not_started("malformed_setup", PAPER, series=fresh({}))


def test_nothing_else_is_carried():
    setup = Setup("barbu", {"unit": 1}, 4, (1000,) * 4, 5, 4, series=fresh({}), ids=IDS)
    for wrong in (setup, setup._replace(carry=0, redeals=(("Ac",),)), setup._replace(carry=0, seats=3)):
        with pytest.raises(Exception) as refusal:
            start(wrong)
        assert refusal.value.code == "malformed_setup"  # type: ignore[attr-defined]


def test_without_ids_the_seats_are_their_own():
    rules = BarbuRules.parse({"unit": 1}, 4)
    series = game_info("barbu").new_series(("p1", "p2", "p3", "p4"), rules)
    assert start(Setup("barbu", {"unit": 1}, 4, (1000,) * 4, 0, 4, series=series)).actor == "d"


# Cover on paper


def test_on_paper_a_seat_covers_what_it_lies_behind_too():
    """Anne was paid for No Tricks already: her balance is 10 + 26 in points."""
    changes: dict[str, Any] = {
        "left": {"anne": SEVEN[1:]},
        "score": {"anne": 10, "beth": -300, "cath": 260, "diana": 4},
    }
    least = (240 - 36, 240 + 300, 0, 236)
    opt = PAPER | {"unit": 10}
    table(opt, stacks=tuple(10 * points for points in least), **changes)
    for seat, points in enumerate(least, 1):
        stacks = [10 * each for each in least]
        stacks[seat - 1] -= 1
        if points:
            error = not_started("stack_too_short", opt, stacks=tuple(stacks), **changes)
            assert error.expected == {"seat": seat, "min": 10 * points}


# From deal to deal


def test_a_declared_contract_is_gone_and_doubles_of_the_declarer_count():
    hand = first_cards(play(table(), "p1 cl lasttwo; p2 dbl p1 p4; p3 dbl p4; p4 ps; p1 rdbl p2"))
    series = hand.result.series
    assert series["left"]["anne"] == [name for name in SEVEN if name != "lasttwo"]
    assert series["doubled"] == {"anne": 0, "beth": 1, "cath": 0, "diana": 0}
    assert "score" not in series


def test_the_end_of_a_set_clears_the_doubles():
    hand = play(table(left={"anne": ["king"]}, doubled={"beth": 2, "cath": 3, "diana": 2}), *undoubled("king"))
    series = first_cards(hand).result.series
    assert series["left"]["anne"] == []
    assert series["doubled"] == dict.fromkeys(IDS, 0)


def test_on_paper_nothing_is_paid_before_the_end_of_the_session():
    hand = first_cards(play(table(PAPER), "p1 cl lasttwo; p2 dbl p1; p3 ps; p4 ps; p1 rdbl p2"))
    assert hand.moves == () and hand.result.net == (0, 0, 0, 0)
    assert sum(hand.result.series["score"].values()) == -30


def test_the_last_deal_pays_the_sheet():
    """Net is the score less what one declarer's contracts come to: 0, or -135 by Mark Brader's list."""
    for scoring, total in (("pagat", 0), ("brader", -135)):
        opt = PAPER | {"scoring": scoring, "unit": 10}
        rules = BarbuRules.parse(opt, 4)
        king = rules.points.totals["king"]
        score = {"anne": 4 * total - king, "beth": 100, "cath": 0, "diana": -100}
        nothing = {name: [] for name in IDS[1:]}
        hand = table(
            opt, left={"anne": ["king"]} | nothing, doubled={"beth": 2, "cath": 1, "diana": 6}, score=score
        )  # fmt: skip
        play(hand, "p1 cl king; p2 ps; p3 dbl p1; p4 ps; p1 ps")
        result = first_cards(hand).result
        points = hand.view("public")["points"]
        side = points[2] - points[0]
        final = (score["anne"] + points[0] - side, 100 + points[1], points[2] + side, points[3] - 100)
        assert result.net == tuple(10 * (each - total) for each in final)
        assert result.series == fresh(opt)
        assert all(move.amount > 0 for move in hand.moves)


# Whole sessions


def session(opt: Opt, random: Random, turn: int) -> tuple[list[Result], dict[str, int], int]:
    """Deals until the series starts afresh, from some turn of the seats: results, what each id won, and how often the
    seats moved."""
    game = game_info("barbu")
    names = IDS[turn:] + IDS[:turn]
    rules = parse_rules(game.rules, Setup("barbu", opt, 4, (0,) * 4, ids=names))
    series = game.new_series(names, rules)
    won = dict.fromkeys(IDS, 0)
    results: list[Result] = []
    moved = 0
    while not results or sum(map(len, series["left"].values())) != 4 * len(rules.contracts):
        stacks = tuple(1_000_000 + won[name] for name in names)
        hand = start(Setup("barbu", opt, 4, stacks, 0, 4, shuffled(random), series=series, ids=names))
        result = play_out(hand, random).result
        assert result and sum(result.net) == 0
        for name, net in zip(names, result.net, strict=True):
            won[name] += net
        order = game.next_seats(4, series, result.series)
        moved += order != (0, 1, 2, 3)
        names = tuple(names[at] for at in order)
        series = result.series
        results.append(result)
    return results, won, moved


@pytest.mark.parametrize("settlement", ["chips", "paper"])
@pytest.mark.parametrize(("ravage", "deals"), [(0, 28), (36, 32)])
@pytest.mark.parametrize("dealer_declares", [False, True])
def test_a_session_is_28_deals_or_32(settlement: str, ravage: int, deals: int, dealer_declares: bool):
    opt: Opt = {
        "unit": 5, "settlement": settlement, "ravage_city": ravage, "scoring": "brader",
        "dealer_declares": dealer_declares,
    }  # fmt: skip
    results, won, moved = session(opt, Random(f"{ravage}/{dealer_declares}"), 1)
    assert len(results) == deals
    assert sum(won.values()) == 0 and any(won.values())
    assert moved == 4
    paid = [any(result.net) for result in results]
    if settlement == "paper":
        assert paid == [False] * (deals - 1) + [True]


@pytest.mark.parametrize("scoring", ["pagat", "fifteen", "lagosz", "brader"])
def test_chips_and_paper_come_to_the_same_money(scoring: str):
    """The same cards and lines, settled both ways."""
    for ravage in (0, 36):
        both = [
            session({"unit": 3, "scoring": scoring, "settlement": how, "ravage_city": ravage}, Random(scoring), 0)[1]
            for how in ("chips", "paper")
        ]
        assert both[0] == both[1] and any(both[0].values())


def test_sessions_of_the_model_replay_deal_by_deal():
    for seed in range(8):
        random = Random(seed)
        series: object = None
        for fields in random_session(random):
            if series is not None:
                assert fields["series"] == series
            outcome = replay(record_of(fields))
            assert outcome.ok, outcome.error
            series = fields["series_out"]


def test_who_sits_where_next():
    stay, on = (0, 1, 2, 3), (1, 2, 3, 0)
    every = list(SEVEN)
    assert next_seats(4, {"left": {"a": every, "b": every}}, {}) == stay
    assert next_seats(4, {"left": {"a": SEVEN[5:], "b": every, "c": []}}, {}) == stay
    assert next_seats(4, {"left": {"a": ["king"], "b": every, "c": []}}, {}) == on
    assert next_seats(4, {"left": {"a": ["king"], "b": [], "c": []}}, {}) == on


def test_the_same_four_go_on_and_others_start_over():
    game, rules = game_info("barbu"), BarbuRules.parse({"unit": 1}, 4)
    series = fresh({}, left={"anne": SEVEN[:3], "diana": []})
    assert game.continues(series, IDS, rules)
    assert not game.continues(series, (*IDS[1:], IDS[0]), rules), "the declarer keeps the seat"
    assert not game.continues(series, (*IDS[:3], "emil"), rules)
    assert not game.continues({}, IDS, rules)
    assert game.continues(fresh({}), (*IDS[1:], IDS[0]), rules), "who declares first is drawn"


def test_an_evening_of_random_play_goes_on_from_deal_to_deal():
    opt: dict[str, object] = {"unit": 10, "settlement": "paper", "no_double_no_play": True}
    records = list(play_evening(Sitting("barbu", opt, 4, 500_000, 2400), hands=60, seed="s"))
    assert [record.seats for record in records[:8]] == [("s1", "s2", "s3", "s4")] * 7 + [("s2", "s3", "s4", "s1")]
    assert records[28].series == dict(game_info("barbu").new_series(records[28].seats, BarbuRules.parse(opt, 4)))
    assert all(replay(record).ok for record in records)
