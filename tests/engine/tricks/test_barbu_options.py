"""Every option of Barbu, its values, and what changes with it. Sections named are those of the rules text."""

from __future__ import annotations

from random import Random

import pytest

from engine.errors import EngineError, OptionMissing, OptionOutOfRange, UnknownOption, UnsupportedVariant
from engine.kernel.cards import FRENCH52
from engine.kernel.game import require_seats
from engine.kernel.rules import describe
from engine.registry import game_info
from engine.tricks.barbu_rules import BarbuRules
from engine.tricks.barbu_scores import CONTRACTS, SCALES, Points, Taken
from tests.engine.tricks.barbu_kit import (
    cards,
    first_cards,
    not_started,
    on_offer,
    pack_with,
    play,
    refused,
    shuffled,
    table,
    to_play,
    undoubled,
)

OPTIONS = {
    "unit": "1..1000000000000000",
    "settlement": "chips | paper",
    "scoring": "pagat | fifteen | lagosz | brader",
    "players": "4",
    "ravage_city": "0 | 36 | 24",
    "dealer_declares": "true | false",
    "doubling": "all | declarer",
    "no_double_no_play": "true | false",
    "early_stop": "queens | all",
    "heart_ban": "both | hearts",
    "must_dump": "true | false",
    "trump_void": "must | free",
    "domino_ace": "high | low",
    "domino_rank": "named | first_card",
}
DEFAULTS = {
    "settlement": "chips", "scoring": "pagat", "players": 4, "ravage_city": 0, "dealer_declares": False,
    "doubling": "all", "no_double_no_play": False, "early_stop": "queens", "heart_ban": "both", "must_dump": False,
    "trump_void": "must", "domino_ace": "high", "domino_rank": "named",
}  # fmt: skip


def test_the_options_their_values_and_where_they_come_from():
    described = {option.name: option for option in describe(BarbuRules)}
    assert {name: option.values for name, option in described.items()} == OPTIONS
    assert {name: option.default for name, option in described.items() if not option.required} == DEFAULTS
    assert [name for name, option in described.items() if option.required] == ["unit"]
    for option in described.values():
        assert '("' in option.meaning, f"{option.name} names its section"


def test_a_default_that_is_stated_is_the_same_table():
    assert table(DEFAULTS).digest() == table().digest()
    assert table(DEFAULTS).rules.non_default == {"unit": 1}


@pytest.mark.parametrize(
    ("opt", "error"),
    [
        ({}, OptionMissing),
        ({"unit": 0}, OptionOutOfRange),
        ({"unit": True}, OptionOutOfRange),
        ({"unit": "1"}, OptionOutOfRange),
        ({"unit": 1, "stake": 1}, UnknownOption),
        ({"unit": 1, "players": 3}, UnsupportedVariant),
        ({"unit": 1, "players": 5}, UnsupportedVariant),
        ({"unit": 1, "players": 2}, OptionOutOfRange),
        ({"unit": 1, "ravage_city": 12}, OptionOutOfRange),
        ({"unit": 1, "ravage_city": True}, OptionOutOfRange),
        *(({"unit": 1, name: "often"}, OptionOutOfRange) for name in DEFAULTS),
    ],
)
def test_what_no_table_may_set(opt: dict[str, object], error: type[EngineError]):
    with pytest.raises(error):
        BarbuRules.parse(opt, 4)


def test_the_game_is_for_four():
    game = game_info("barbu")
    assert game.policy.least_players({}) == 4
    assert game.policy.must_set == ("unit", "scoring")
    assert game.policy.not_at_tables == {}
    assert (game.policy.zones, game.policy.charge) == (frozenset(), "seat")
    for seats in (3, 5):
        with pytest.raises(EngineError, match="barbu is for 4 seats"):
            require_seats(game, seats)


def test_unit_is_the_money_of_a_point():
    nets = []
    for unit in (1, 250):
        hand = first_cards(play(table({"unit": unit}, deck=shuffled(Random(3))), *undoubled("notricks")))
        nets.append(hand.result.net)
    assert nets[1] == tuple(250 * net for net in nets[0]) != (0, 0, 0, 0)


# Scoring


def test_what_the_scorings_are_worth():
    """ "Variations", "Scoring": the sum is 0 but for Mark Brader's list, which comes to -684 for all four."""
    totals = {name: [Points(scale, 36).totals[contract] for contract in CONTRACTS] for name, scale in SCALES.items()}
    assert totals == {
        "pagat": [-26, -24, -30, -30, -20, 65, 65, -36],
        "fifteen": [-26, -24, -30, -30, -15, 65, 60, -36],
        "lagosz": [-26, -24, -30, -30, -15, 65, 60, -36],
        "brader": [-65, -60, -30, -60, -25, 65, 40, -36],
    }
    assert [sum(totals[name][:-1]) for name in totals] == [0, 0, 0, -135]
    assert 4 * sum(totals["brader"]) == -684


@pytest.mark.parametrize(
    ("scoring", "raw"),
    [
        ("pagat", (45, -5, 5, 20)),
        ("fifteen", (40, -10, 10, 20)),
        ("lagosz", (30, 0, 10, 20)),
        ("brader", (40, -20, 0, 20)),
    ],
)
def test_going_out_of_dominoes(scoring: str, raw: tuple[int, ...]):
    assert Points(SCALES[scoring], 0).raw("dominoes", Taken([0] * 5, [], [1, 4, 3])) == raw


@pytest.mark.parametrize(
    ("scoring", "ravage", "worst"),
    [
        ("pagat", 0, 240), ("fifteen", 0, 270), ("lagosz", 0, 210), ("brader", 0, 455),
        ("pagat", 36, 252), ("fifteen", 36, 270), ("lagosz", 36, 252), ("brader", 36, 455),
        ("pagat", 24, 240), ("lagosz", 24, 210),
    ],
)  # fmt: skip
def test_stacks_cover_the_worst_loss_of_a_deal(scoring: str, ravage: int, worst: int):
    opt = {"unit": 50, "scoring": scoring, "ravage_city": ravage}
    least = 50 * worst
    assert game_info("barbu").policy.worst_loss(BarbuRules.parse(opt, 4), 4) == least
    table(opt, stacks=(least,) * 4)
    error = not_started("stack_too_short", opt, stacks=(least, least, least - 1, least))
    assert error.expected == {"seat": 3, "min": least}


# Ravage city


def test_ravage_city_is_an_eighth_contract():
    assert "p1 cl ravage" in on_offer(play(table({"ravage_city": 36})))
    assert game_info("barbu").rules.parse({"unit": 1, "ravage_city": 24}, 4).contracts == CONTRACTS


def mask(*names: str) -> int:
    """The mask of the cards in these tricks."""
    return sum(1 << FRENCH52.cards.index(card) for name in names for card in name.split())


@pytest.mark.parametrize(
    ("taken", "shares"),
    [
        (("Ac Kc Qc 2d", "3d 4d", "5d 6d", "7h"), (1, 0, 0, 0)),
        (("Ac Kc Qc", "3d 4d 5d", "5h 6h", "7h"), (1, 1, 0, 0)),
        (("Ac Kc Qc", "3d 4d 5d", "5h 6h 2h", "7h"), (1, 1, 1, 0)),
        (("Ac", "3d", "5h", "7h"), (1, 1, 1, 1)),
        (("Ac 2c 3d 4h 5s", "6d 7d 8h", "", ""), (1, 1, 0, 0)),
    ],
)
def test_ravage_city_costs_who_has_most_cards_of_a_suit(taken: tuple[str, ...], shares: tuple[int, ...]):
    """36, or 18, 12, 9 each; 24, or 12, 8, 6."""
    for cost in (36, 24):
        raw = Points(SCALES["pagat"], cost).raw("ravage", Taken([0, *map(mask, taken)], [], []))
        assert raw == tuple(-share * cost // sum(shares) for share in shares)


def test_ravage_city_is_played_like_other_negative_contracts():
    hand = play(table({"ravage_city": 36}), *undoubled("ravage"))
    assert hand.phase == "tricks"
    hand = first_cards(hand)
    assert len(hand.log) == 4 + 4 + 52
    assert sum(hand.view("public")["points"]) == -36


# Who declares, who doubles


def test_the_dealer_may_declare():
    """The seat on the dealer's left leads to the first trick all the same; the dealer starts dominoes."""
    hand = play(table({"dealer_declares": True}))
    assert hand.actor == "p4"
    refused(hand, "p1 cl queens", "not_your_turn", actor="p4")
    play(hand, "p4 cl queens", "p1 dbl p4; p2 ps; p3 ps; p4 rdbl p1")
    assert (hand.phase, hand.actor) == ("tricks", "p1")
    dominoes = to_play("dominoes 7", {"dealer_declares": True}, declarer=4, p4="7c")
    assert dominoes.actor == "p4"


def test_only_the_declarer_may_be_doubled_and_redoubles_all_or_none():
    hand = play(table({"doubling": "declarer"}), "p1 cl queens")
    assert on_offer(hand) == {"p2 ps", "p2 dbl p1"}
    refused(hand, "p2 dbl p1 p3", "wrong_target", targets=(1,))
    play(hand, "p2 dbl p1; p3 ps; p4 dbl p1")
    assert on_offer(hand) == {"p1 ps", "p1 rdbl p2 p4"}
    refused(hand, "p1 rdbl p2", "wrong_target", must=(2, 4))
    assert play(hand, "p1 rdbl p2 p4").phase == "tricks"


@pytest.mark.parametrize(
    ("contract", "scoring", "declarer", "each"),
    [
        ("lasttwo", "pagat", 0, -10), ("notricks", "pagat", 1, -9), ("hearts", "pagat", 0, -10),
        ("king", "pagat", 1, -7), ("queens", "pagat", 0, -8), ("king", "fifteen", 0, -5),
        ("notricks", "brader", 1, -22), ("king", "brader", -1, -8), ("ravage", "pagat", 0, -12),
    ],
)  # fmt: skip
def test_a_negative_contract_that_nobody_doubled_is_not_played(contract: str, scoring: str, declarer: int, each: int):
    """ "Doubles and Redoubles": the text's table, and what its sentence gives for the rest."""
    opt = {"no_double_no_play": True, "scoring": scoring, "ravage_city": 36}
    hand = play(table(opt), *undoubled(contract))
    assert hand.result.ending == "not_played"
    assert hand.view("public")["points"] == [declarer, each, each, each]
    assert hand.result.net == (-3 * each, each, each, each)
    assert contract not in hand.result.series["left"]["anne"]


@pytest.mark.parametrize(
    "lines", [("p1 cl queens", "p2 dbl p3; p3 ps; p4 ps"), undoubled("trumps c"), undoubled("dominoes 8")]
)
def test_with_any_double_or_a_positive_contract_it_is_played(lines: tuple[str, ...]):
    assert not play(table({"no_double_no_play": True}), *lines).over


# Play


def test_the_play_may_end_with_the_king_or_the_last_heart():
    hands = {"p1": "2h Kc", "p2": "Kh", "p3": "3h", "p4": "4h"}
    hand = to_play("king", {"early_stop": "all", "heart_ban": "hearts"}, **hands)
    play(hand, "p1 pl 2h; p2 pl Kh; p3 pl 3h")
    assert not hand.over
    assert play(hand, "p4 pl 4h").view("public")["points"] == [0, -20, 0, 0]
    for contract in ("hearts", "king"):
        lengths = []
        for stop in ("queens", "all"):
            deck = pack_with(p1="AhKhQhJhTh9h8h7h6h5h4h3h2h")
            played = first_cards(play(table({"early_stop": stop}, deck=deck), *undoubled(contract)))
            lengths.append((len(played.log), played.result.net))
        assert lengths[0][1] == lengths[1][1]
        assert lengths[1][0] <= lengths[0][0] == 60


@pytest.mark.parametrize("contract", ["notricks", "lasttwo", "trumps h", "ravage"])
def test_other_contracts_go_on_to_the_last_trick(contract: str):
    hand = first_cards(play(table({"early_stop": "all", "ravage_city": 24}), *undoubled(contract)))
    assert len(hand.log) == 60


def test_the_queens_end_early_in_both():
    for stop in ("queens", "all"):
        deck = pack_with(p1="Qc Qd Qh Qs")
        hand = first_cards(play(table({"early_stop": stop}, deck=deck), *undoubled("queens")))
        assert sum(hand.view("public")["points"]) == -24
        assert hand.log[-4:][0].split()[2][0] == "Q" or "Q" in "".join(hand.log[-4:])


def test_hearts_may_be_led_in_the_kings_contract():
    hand = to_play("king", {"heart_ban": "hearts"}, p1="3h Ac")
    assert "3h" in cards(hand).split()
    assert "3h" not in cards(to_play("hearts", {"heart_ban": "hearts"}, p1="3h Ac")).split()


def test_a_queen_goes_under_a_higher_card():
    opt = {"must_dump": True}
    hand = to_play("queens", opt, p1="Kc 2c", p2="Qc 3c Qd", p3="Ac", p4="4c")
    assert cards(play(hand, "p1 pl Kc")) == "Qc"
    hand = to_play("queens", opt, p1="Kc 2c", p2="Qc 3c Qd", p3="Ac", p4="4c")
    assert cards(play(hand, "p1 pl 2c")) == "Qc 3c"
    hand = to_play("queens", {}, p1="Kc", p2="Qc 3c", p3="Ac", p4="4c")
    assert cards(play(hand, "p1 pl Kc")) == "Qc 3c"


def test_the_king_of_hearts_goes_under_the_ace_and_away():
    opt = {"must_dump": True, "heart_ban": "hearts"}
    hand = to_play("king", opt, p1="Ah", p2="Kh 3h", p3="4h", p4="5h")
    assert cards(play(hand, "p1 pl Ah")) == "Kh"
    hand = to_play("king", opt, p1="2h", p2="Ah", p3="Kh 4h", p4="5h")
    assert cards(play(hand, "p1 pl 2h; p2 pl Ah")) == "Kh"
    hand = to_play("king", opt, p1="2c", p2="AdTd9d8d7d6d5d4d3d2d Kh 3h 4h")
    assert cards(play(hand, "p1 pl 2c")) == "Kh"


def test_a_seat_without_the_suit_discards_one_of_its_queens():
    hand = to_play("queens", {"must_dump": True}, p1="2c", p2="AdKdQdJdTd9d8d7d6d5d Qh Qs 3h")
    assert cards(play(hand, "p1 pl 2c")) == "Qd Qh Qs"
    refused(hand, "p2 pl 3h", "verb_not_legal")


def test_the_leader_is_not_bound_and_other_contracts_know_no_such_duty():
    assert len(cards(to_play("queens", {"must_dump": True}, p1="Qc Qd Qh Qs")).split()) == 13
    hand = to_play("hearts", {"must_dump": True}, p1="Kc", p2="Qc 3c")
    assert cards(play(hand, "p1 pl Kc")) == "Qc 3c"


def test_a_seat_out_of_the_suit_may_be_free_of_trumping():
    hands = {"p1": "9c", "p2": "AdKdQdJdTd9d8d7d6d5d 2hJh3h"}
    assert cards(play(to_play("trumps h", **hands), "p1 pl 9c")) == "Jh 3h 2h"
    free = play(to_play("trumps h", {"trump_void": "free"}, **hands), "p1 pl 9c")
    assert len(cards(free).split()) == 13
    led = play(to_play("trumps h", {"trump_void": "free"}, p1="9h", p2="Jh 8h Th 2h"), "p1 pl 9h")
    assert cards(led) == "Jh Th", "the duty on trump leads stays"


def test_the_ace_may_lie_below_the_two():
    hands = {"p1": "2c", "p2": "Ac 3c", "p3": "Kc 2d"}
    low = play(to_play("dominoes 2", {"domino_ace": "low"}, **hands), "p1 pl 2c")
    assert cards(low).split()[:2] == ["Ac", "3c"]
    high = play(to_play("dominoes 2", **hands), "p1 pl 2c")
    assert "Ac" not in cards(high).split()
    play(low, "p2 pl Ac")
    assert low.view("public")["layout"] == {"c": ["2c", "Ac"]}


def test_the_first_card_may_decide_the_rank():
    opt = {"domino_rank": "first_card"}
    hand = play(table(opt))
    assert {line for line in on_offer(hand) if "dominoes" in line} == {"p1 cl dominoes"}
    refused(hand, "p1 cl dominoes 7", "verb_not_legal")
    play(hand, "p1 cl dominoes; p2 dbl p1; p3 ps; p4 ps; p1 ps")
    assert hand.view("public")["start"] is None
    assert len(cards(hand).split()) == 13, "any card of the declarer's"
    play(hand, "p1 pl 8c")
    assert hand.view("public")["start"] == "8"
    assert hand.automatic() is not None
    assert {card[0] for card in cards(hand).split()} <= {"8", "9", "7"}
