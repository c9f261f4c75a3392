"""Every option of Ferbli, its limits, and what a table must set."""

from __future__ import annotations

import dataclasses

import pytest

from engine.errors import (
    AmountOutOfRange,
    EngineError,
    MalformedSetup,
    OptionMissing,
    OptionOutOfRange,
    StackTooShort,
    UnknownGame,
    UnknownOption,
    UnsupportedVariant,
)
from engine.kernel.setup import Setup
from engine.registry import game_info, game_names, start
from engine.vying.ferbli_rules import FerbliRules
from tests.engine.support import amounts, play, table, to_third_round, verbs


def test_the_games():
    assert game_names() == (
        "ferbli", "faerbeln", "barbu", "zsiros", "siebner_schuster", "rufmariasch", "preferansz", "ramsli", "esel",
        "pacal", "old_maid",
    )  # fmt: skip
    assert game_info("ferbli").rules_id == "ferbli/1"
    with pytest.raises(UnknownGame):
        start(Setup("poker", {}, 2, (1, 1), 0, 2))


def test_vizi_must_be_set():
    with pytest.raises(OptionMissing):
        FerbliRules.parse({}, 2)


@pytest.mark.parametrize("value", [0, -100, True, "100", 1.5, None, [100]])
def test_vizi_is_a_whole_number_from_1(value: object):
    with pytest.raises(OptionOutOfRange):
        FerbliRules.parse({"vizi": value}, 2)


def test_an_unknown_option_is_refused():
    with pytest.raises(UnknownOption) as refusal:
        FerbliRules.parse({"vizi": 100, "vizis": 1}, 2)
    assert refusal.value.code == "unknown_option"
    assert "vizi" in refusal.value.expected["options"]


@pytest.mark.parametrize(
    "opt",
    [
        {"blind_announce": "explicit"},
        {"deal_model": "preassigned"},
        {"cut": "logged"},
        {"short_stack": "must_fold"},
        {"combined_rounds": True},
    ],
)
def test_a_variant_that_is_not_built_is_refused_by_name(opt: dict[str, object]):
    with pytest.raises(UnsupportedVariant) as refusal:
        FerbliRules.parse({"vizi": 100, **opt}, 2)
    assert refusal.value.expected == {"option": next(iter(opt))}


@pytest.mark.parametrize(
    "opt",
    [
        {"limit": "quadruple"},
        {"limit": 2},
        {"cuhhol": "yes"},
        {"cuhhol": 0},
        {"wild": "Oa"},
        {"majzli_max": "many"},
        {"tax_bps": 10_001, "tax_cap": 1},
        {"tax_bps": True, "tax_cap": 1},
        {"tax_cap": -1},
        {"chip": 0},
        {"chip": 30, "bet_unit": "chip"},
        {"table_max": 50},
        {"table_max": None},
        {"raise_cap": 0},
        {"min_active": 1},
        {"min_active": 5},
        {"tie": "split"},
        {"muck": "allowed"},
        {"bet_unit": "dollar"},
        {"blind_match_is_raise": "same"},
        {"vizi": 10**16},
        {"vizi": 10**5000},
        {"vizi": {"a": 1}},
        {"wild": [["Oa"]]},
        {"wild": [7]},
    ],
)
def test_an_impossible_value_is_refused(opt: dict[str, object]):
    with pytest.raises(OptionOutOfRange):
        FerbliRules.parse({"vizi": 100, **opt}, 4)


def test_every_default_may_also_be_named():
    rules = FerbliRules.parse({"vizi": 100}, 4)
    named = {
        field.name: getattr(rules, field.name)
        for field in dataclasses.fields(rules)
        if getattr(rules, field.name) is not None
    }
    assert FerbliRules.parse({**named, "wild": []}, 4) == rules
    assert rules.non_default == {"vizi": 100}


class TestOptions:
    """One test an option; those of the limits and of blind betting stand with their rounds too."""

    def test_bet_unit_vizi_takes_whole_vizi_only(self):
        hand = to_third_round(table(2), 2)
        with pytest.raises(AmountOutOfRange):
            hand.apply("p1 rb 150")

    def test_bet_unit_chip_takes_any_chips_from_one_vizi(self):
        hand = to_third_round(table(2, opt={"bet_unit": "chip", "chip": 10}), 2)
        for amount in (90, 155, 210):
            with pytest.raises(AmountOutOfRange):
                hand.apply(f"p1 rb {amount}")
        hand.apply("p1 rb 150")

    def test_limit_double_is_twice_the_largest_single_bet_of_this_deal(self):
        hand = to_third_round(table(2, carry=5000), 2)
        assert amounts(hand, "rb") == (100, 200)

    def test_table_max_bounds_a_single_bet(self):
        hand = to_third_round(table(2, opt={"table_max": 350}), 2)
        play(hand, "p1 lk 2", "p1 rb 200", "p2 lk 2", "p2 cc 200")
        assert amounts(hand, "rb") == (100, 300)

    def test_table_max_at_one_vizi_leaves_a_compulsory_raise_of_one_vizi(self):
        hand = play(to_third_round(table(2, opt={"table_max": 100}), 2), "p1 rb 100", "p2 cc 100")
        assert verbs(hand) == ["lk", "rb"]
        assert amounts(hand, "rb") == (100, 100)

    @pytest.mark.parametrize(("needed", "goes_on"), [(2, True), (3, False)])
    def test_min_active_replaces_the_rule_of_the_text(self, needed: int, goes_on: bool):
        hand = play(table(5, opt={"min_active": needed}), "p1 po 100", "p2 cc 100", "p3 f", "p4 f", "p5 f")
        assert hand.over is not goes_on

    def test_raise_cap_counts_the_opening_bet_and_waives_the_compulsory_raise(self):
        hand = to_third_round(table(2, opt={"raise_cap": 2}), 2)
        play(hand, "p1 rb 100", "p2 cc 100")
        assert verbs(hand) == ["lk", "rb"]
        play(hand, "p2 rb 100", "p1 cc 100")
        assert verbs(hand) == ["lk", "st"]

    def test_tax_is_taken_once_from_a_pot_that_is_won_carry_included_and_rounded_down(self):
        opt: dict[str, object] = {"tax_bps": 500, "tax_cap": 10_000}
        hand = play(table(2, opt=opt, carry=550), "p1 po 100", "p2 cc 100", "p1 rb 200", "p2 f")
        assert hand.result and (hand.result.tax, hand.result.net) == (37, (613, -100))

    def test_tax_is_not_taken_from_a_cukassza(self):
        hand = play(table(2, opt={"tax_bps": 500, "tax_cap": 10_000}), "p1 po 100", "p2 f")
        assert hand.result and (hand.result.tax, hand.result.carry_out) == (0, 200)

    def test_tax_cap_bounds_it_and_must_be_set_with_it(self):
        opt: dict[str, object] = {"tax_bps": 5000, "tax_cap": 60}
        hand = play(table(2, opt=opt), "p1 po 100", "p2 cc 100", "p1 rb 200", "p2 f")
        assert hand.result and hand.result.tax == 60
        with pytest.raises(OptionMissing):
            table(2, opt={"tax_bps": 500})

    def test_chip_is_what_tax_is_rounded_down_to(self):
        opt: dict[str, object] = {"tax_bps": 500, "tax_cap": 10_000, "chip": 25}
        hand = play(table(2, opt=opt, carry=550), "p1 po 100", "p2 cc 100", "p1 rb 200", "p2 f")
        assert hand.result and hand.result.tax == 25

    def test_a_chip_that_does_not_divide_the_vizi_only_rounds_the_tax(self):
        opt: dict[str, object] = {"tax_bps": 500, "tax_cap": 10_000, "chip": 30}
        hand = play(table(2, opt=opt, carry=550), "p1 po 100", "p2 cc 100", "p1 rb 200", "p2 f")
        assert hand.result and hand.result.tax == 30

    def test_a_tax_of_everything_leaves_the_winner_nothing(self):
        opt: dict[str, object] = {"tax_bps": 10_000, "tax_cap": 10_000}
        hand = play(table(2, opt=opt), "p1 po 100", "p2 cc 100", "p1 rb 200", "p2 f")
        assert hand.result and (hand.result.tax, hand.result.net) == (200, (-100, -100))

    def test_short_stack_cap_bet(self):
        hand = to_third_round(table(2, opt={"short_stack": "cap_bet"}, stacks=(10_000, 200)), 2)
        assert amounts(hand, "rb") == (100, 100)


def nested(depth: int) -> list[object]:
    """A list in a list in a list ..."""
    found: list[object] = []
    for _ in range(depth):
        found = [found]
    return found


class TestSetup:
    """What a hand needs before it can start."""

    @pytest.mark.parametrize("value", [float("nan"), [1.0], {1, 2}, nested(3), nested(5000), {"a": 10**5000}])
    def test_an_option_that_is_no_plain_value_is_refused(self, value: object):
        for name in ("vizi", "wild"):
            with pytest.raises(OptionOutOfRange):
                table(2, opt={name: value})

    def test_every_stack_covers_the_vizi_that_its_seat_may_be_forced_to_pay(self):
        with pytest.raises(StackTooShort) as refusal:
            table(3, stacks=(100, 99, 100))
        assert refusal.value.expected == {"seat": 2, "min": 100}
        assert not table(3, stacks=(100, 100, 100)).over

    @pytest.mark.parametrize("setup", [
        Setup("ferbli", {"vizi": 1}, 1, (5,), 0, 1),
        Setup("ferbli", {"vizi": 1}, 8, (5,) * 8, 0, 8),
        Setup("ferbli", {"vizi": 1}, 3, (5, 5), 0, 3),
        Setup("ferbli", {"vizi": 1}, 2, (5, -5), 0, 2),
        Setup("ferbli", {"vizi": 1}, 2, (5, True), 0, 2),
        Setup("ferbli", {"vizi": 1}, 2, (5, 5), -1, 2),
        Setup("ferbli", {"vizi": 1}, 2, (5, 5), 0, 1),
        Setup("ferbli", {"vizi": 1}, 2, (5, 10**16), 0, 2),
    ])  # fmt: skip
    def test_seats_stacks_carry_and_dealer_must_make_sense(self, setup: Setup):
        with pytest.raises(MalformedSetup):
            start(setup)

    @pytest.mark.parametrize("deck", [("Aa",), ("Aa",) * 32, tuple("2c" for _ in range(32))])
    def test_a_deck_is_the_whole_pack_once(self, deck: tuple[str, ...]):
        with pytest.raises(EngineError) as refusal:
            table(2, deck=deck)
        assert refusal.value.code == "card_not_in_pack"
