"""The referee itself: the recorded hands, the golden numbers, and hands of the variants written by hand."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from random import Random

import pytest

from tests.engine.support import DEMO
from tests.model.ranking import PACK, every_substitution, strength
from tests.model.referee import Case, case_of, judge, records
from tests.model.rounds import commitment

SANTA = frozenset({"Oa"})


@pytest.mark.parametrize("name", ["evening.jsonl", "extra.jsonl"])
def test_recorded_hands_have_the_recorded_results(name):
    for record in records((DEMO / name).read_text()):
        verdict = judge(case_of(record), record["acts"])
        assert verdict.outcome, (record["hand"], verdict.wrong)
        found = (list(verdict.outcome.net), verdict.outcome.tax, verdict.outcome.carry_out)
        assert found == (record["net"], record["tax"], record["carry_out"]), record["hand"]


def test_the_hands_fall_into_44_classes_of_the_known_sizes():
    worth = [strength(hand) for hand in combinations(PACK, 4)]
    sizes = Counter(kind for kind, _ in worth)
    assert len(set(worth)) == 44
    assert [sizes[kind] for kind in sorted(sizes, reverse=True)] == [8, 280, 896, 5376, 2016, 23814, 3570]


@pytest.mark.some_now(2)
@pytest.mark.parametrize(("grigare", "least", "hands"), [("general", (6, 0), 120), ("kis_nagy", (9, 0), 2)])
def test_grigare(grigare, least, hands):
    found = [hand for hand in combinations(PACK, 4) if strength(hand, grigare=grigare) != strength(hand)]
    assert len(found) == hands
    assert all(strength(hand, grigare=grigare) >= least for hand in found)


@pytest.mark.parametrize("wild", [SANTA, frozenset({"Xa", "Xl", "Xb", "Xh", "Oa"}), frozenset({"7h", "7l"})])
def test_wild_cards_gain_nothing_by_standing_for_different_things(wild):
    random = Random(5)
    for _ in range(60):
        cards = [*random.sample(sorted(wild), min(2, len(wild))), *random.sample(sorted(set(PACK) - wild), 3)][:4]
        assert strength(cards, wild) == every_substitution(cards, wild)


def verdict(*lines: str, seats: int = 3, carry: int = 0, stack: int = 10_000, failed: int | None = None, **opt: object):
    """The verdict on a log with ``, `` between its lines, in physical mode."""
    series = {} if failed is None else {"failed": failed}
    case = Case({"vizi": 100, **opt}, [stack] * seats, carry, series)
    return judge(case, ", ".join(lines).split(", "))


def dealt(*hands: str) -> str:
    return ", ".join(f"d dh p{seat} {cards}" for seat, cards in enumerate(hands, 1))


TWO = dealt("????", "????")
THREE = dealt("????", "????", "????")


def outcome(*lines: str, **case: object):
    found = verdict(*lines, **case)
    assert found.outcome, (found.wrong, found.offers[-1])
    return found.outcome.net, found.outcome.carry_out, found.outcome.ending


def test_call_or_discard_goes_clockwise_from_the_dealer_and_two_are_enough():
    five = dealt(*["????"] * 5)
    lines = ("p1 po 100", five, "p5 f, p4 cc 100, p3 f, p2 f, p1 k, d dh p1 ????, d dh p4 ????, p1 k, p4 k")
    assert outcome(*lines, seats=5, carry=500, cukassza_call="megadas_eldobas") == ((-100,) * 5, 1000, "all_checked")
    assert verdict(*lines, seats=5, carry=0, cukassza_call="megadas_eldobas").wrong == 6


def test_in_the_third_deal_after_two_that_failed_everyone_posts():
    lines = ("p1 po 100, p2 po 100, p3 po 100", THREE, "p1 rb 200, p2 f, p3 f")
    assert outcome(*lines, carry=600, force_third_deal=True, failed=2) == ((800, -100, -100), 0, "uncontested")
    failed = verdict("p1 po 100", THREE, "p2 f, p3 f", carry=300, force_third_deal=True, failed=1).outcome
    assert failed and failed.series == {"failed": 2}


def test_majzli_is_paid_when_it_is_revealed_and_sets_all_limits():
    lines = ("p1 mj ??", THREE, "p2 in, p3 f, p1 rv 300, p1 rb 600, p2 f")
    assert outcome(*lines, majzli_max=500) == ((300, -300, 0), 0, "uncontested")
    assert verdict(*lines[:2], "p2 in, p3 f, p1 rv 300, p1 rb 700, p2 f", majzli_max=500).wrong == 7
    assert verdict(*lines[:2], "p2 in, p3 f, p1 rv 600", majzli_max=500).wrong == 6
    too_few = ("p1 mj ??", THREE, "p2 f, p3 f, p1 rv 300")
    assert outcome(*too_few, majzli_max=500) == ((-300,) * 3, 900, "cukassza")


def test_majzli_with_a_commitment_must_be_opened():
    nonce = "00ff" * 8
    lines = (f"p1 mj {commitment('300', nonce)}", THREE, "p2 f, p3 f")
    assert verdict(*lines, f"p1 rv 300 {nonce}", majzli_max=500).wrong is None
    for wrong in (f"p1 rv 200 {nonce}", "p1 rv 300", f"p1 rv 300 {nonce[:-1]}0"):
        assert verdict(*lines, wrong, majzli_max=500).wrong == 6


def test_after_a_besszer_two_cards_are_turned_up_and_raisers_turn_up_a_batch():
    start = ("p1 po 100", dealt("Kl8b", "Ah7l"), "p2 cc 100, p1 rb 100, p2 cc 100, p2 k", dealt("Xb7b", "KhOl"))
    for cards, wrong in (("8bKl", None), ("Xb7b", 9), ("KlXb", 9)):
        end = f"p1 up {cards}, p2 lk 2, p2 up AhKh, p1 k, p2 k"
        assert verdict(*start, end, seats=2, show_two=True).wrong == wrong
    looked = "p1 lk 2, p1 up Xb7b, p2 up AhKh, p1 k, p2 k"
    assert verdict(*start, looked, seats=2, show_two=True).wrong == 11


CUHHOL = ("p1 po 100", dealt("Kl8b", "Ah7l", "XlOb"), "p2 cc 100, p3 f, p1 k", dealt("Xb7b", "KhOl"))


def test_nobody_checks_where_cuhhol_is_played():
    assert verdict(*CUHHOL, "p1 k", cuhhol=True).wrong == 9


def test_one_hand_higher_than_the_exposed_one_wins_at_once():
    start = ("p1 po 100", dealt("Kl8b", "Ah7l"), "p2 cc 100, p1 k", dealt("9h7b", "KhOh"))
    lines = (*start, "p1 cu Kl8b9h7b, p2 lk 2, p2 k, p2 sm Ah7lKhOh")
    assert outcome(*lines, seats=2, cuhhol=True) == ((-100, 100), 0, "cuhhol")
    assert verdict(*start, "p1 cu Kl8b9h7b, p2 lk 2, p2 f", seats=2, cuhhol=True).wrong == 9


def test_cuhhkassza_everyone_is_dealt_four_cards_until_one_is_higher():
    """p1's three bells, 25, stand against p2's 21; p3, who has folded unpaid, may win it."""
    start = (*CUHHOL, "p1 cu Kl8bXb7b, p2 lk 2, p2 f")
    low = ("Aa9l9hKb", "Ah8lXa7h", "Ob9aUlKh")
    high = ("Aa9l9hKb", "Ah8lXa7h", "ObAb9bKh")
    assert outcome(*start, dealt(*high), cuhhol=True) == ((-100, -100, 200), 0, "cuhhkassza")
    assert outcome(*start, dealt(*low), dealt(*high), cuhhol=True) == ((-200, -200, 400), 0, "cuhhkassza")
    assert verdict(*start, dealt("Kl9l9hKb"), cuhhol=True).wrong == 12


def test_an_exposed_hand_that_nothing_beats_leaves_the_pot():
    start = ("p1 po 100", dealt("AlAb", "9h7l"), "p2 cc 100, p1 k", dealt("AhAa", "KhOh"))
    assert outcome(*start, "p1 cu AlAbAhAa, p2 lk 2, p2 f", seats=2, cuhhol=True) == (
        (-100, -100),
        200,
        "cuhhkassza_left",
    )


def test_side_pots_go_to_those_who_paid_into_them():
    """p1 has 150: with the best hand it wins 3 x 150, the other 2 x 50 go to the better of p2 and p3."""
    acts = [
        *("p1 po 100", *dealt("AaKa", "7l8a", "9lXb").split(", "), "p2 cc 100", "p3 cc 100", "p1 k"),
        *dealt("OaUa", "9b7h", "Kl8h").split(", "),
        *("p2 lk 2", "p2 rb 100", "p3 lk 2", "p3 cc 100", "p1 lk 2", "p1 cc 50", "p3 st"),
        *("p1 sm AaKaOaUa", "p2 sm 7l8a9b7h", "p3 sm 9lXbKl8h"),
    ]
    acts.insert(10, "p1 k")
    found = judge(Case({"vizi": 100, "short_stack": "side_pot"}, [150, 1000, 1000]), acts).outcome
    assert found and found.net == (300, -200, -100)
