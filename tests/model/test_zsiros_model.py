"""The referee of Zsiros itself: recorded deals, the examples of the rules text, spoilt records, random deals.

Sections named in the docstrings are those of the rules text.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.model.zsiros import judge, legal_lines, score_of
from tests.model.zsiros_header import PACK, cut
from tests.model.zsiros_play import random_record

SAMPLE = Path(__file__).parent / "data" / "zsiros.jsonl"
RECORDS = [json.loads(line) for line in SAMPLE.read_text().splitlines()]
DERIVED = ("net", "tax", "carry_out", "series_out")
EXAMPLE = next(record for record in RECORDS if record["hand"] == "Z1-000019")  # the page's own record
ALL_CALLS = ("uss", "ne_uss", "zsirt", "ne_zsirt")


# Recorded deals.


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record["hand"])
def test_recorded_deals_have_the_recorded_results(record):
    verdict = judge(record)
    assert verdict.ok, verdict
    found = (list(verdict.net), verdict.tax, verdict.carry_out, verdict.series_out)
    assert found == tuple(record[key] for key in DERIVED)


def test_the_sample_covers_seats_options_and_scores():
    assert {len(record["seats"]) for record in RECORDS} == {2, 4}
    named = {(name, value) for record in RECORDS for name, value in record["opt"].items() if name != "stake"}
    assert named >= {("target", 10), ("draw_mode", "single"), ("deal_model", "preassigned"), ("calls", "off")}
    stakes = [(max(record["net"]), record["opt"]["stake"]) for record in RECORDS]
    assert {most // stake for most, stake in stakes if stake} == {1, 2, 3}


def without(record: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in keys}


def test_derived_keys_may_be_absent_and_are_compared_where_present():
    assert judge(without(EXAMPLE, *DERIVED)).series_out == EXAMPLE["series_out"]
    end = len(EXAMPLE["acts"])
    net = EXAMPLE["net"]
    wrong = [("net", net[::-1]), ("net", [float(one) for one in net]), ("net", None), ("tax", 1), ("tax", False)]
    wrong += [("carry_out", 100), ("series_out", {**EXAMPLE["series_out"], "deals": "z11"}), ("series_out", {})]
    for key, value in wrong:
        verdict = judge({**EXAMPLE, key: value})
        assert (verdict.ok, verdict.index) == (False, end), (key, value)
        assert list(verdict.net) == net


# The examples of the rules text, as physical deals: what was not dealt yet is not known.


def dealt(*hands: str) -> list[str]:
    return [f"d dh p{seat} {cards}" for seat, cards in enumerate(hands, 1)]


def played(cards: str, first: int = 1, seats: int = 4) -> list[str]:
    """A round: the cards of all seats from the first on."""
    return [f"p{(first - 1 + at) % seats + 1} pl {card}" for at, card in enumerate(cut(cards))]


def after(acts: list[str], seats: int = 4, **opt: Any) -> set[str]:
    """What may stand after these lines in a physical deal, calls and the clock left out."""
    order = ["z1", "z2", "z3", "z4"][:seats]
    record = {
        **without(EXAMPLE, "deck", *DERIVED),
        "seats": order,
        "dealer": seats,
        "stacks": [30] * seats,
        "acts": acts,
        "opt": {"stake": 10, "players": seats, **opt},
        "series": {"order": order, "deals": order[-1], "score": [0, 0], "games": [0, 0]},
    }
    return {line for line in legal_lines(record) if line.split()[1] not in ("cl", "au")}


def test_the_last_card_of_the_led_rank_wins():
    """Play, its example: nine, nine, king, ace; the second nine takes the trick, and its seat draws first."""
    hands = dealt("9aAaKaXa", "9lOaUa8a", "KbObUb8b", "AhOhUh8h")
    assert after(hands + played("9a9lKbAh")) == {"d dh p2 **"}


@pytest.mark.parametrize(("last", "expected"), [("9h", {"d dh p3 **"}), ("Xh", {"p1 ps", "p1 pl Xb"})])
def test_a_seven_stands_for_the_led_ten_until_the_next_ten(last, expected):
    """Sevens, both examples: ten, ten, seven and a nine: the seven wins; with another ten, that wins."""
    hands = dealt("XaXbKaOa", "XlOlUl8l", "7aObUb8b", "9hXhUh8h")
    assert after(hands + played("XaXl7a" + last)) == expected


def test_a_led_seven_is_only_a_seven():
    """Sevens, last sentence: aces do not equal it, the last seven wins, only a seven goes on."""
    hands = dealt("7aAaXaKa", "AlXlKlOl", "7bAbXbKb", "7hAhXhKh")
    assert after(hands + played("7aAl7bAh")) == {"d dh p3 **"}
    assert after(hands + played("7aAl7b7h")) == {"d dh p4 **"}
    assert after([*dealt("7a7lXaKa", "AlXlKlOl", "8bAbXbKb", "7hAhXhKh"), *played("7aAl8b7h")]) == {"p1 ps", "p1 pl 7l"}


HANDS = dealt("AaAlOb7a", "XaXl9a7l", "KaKl8a7b", "AbOaUa7h")
TWELVE = HANDS + played("AaXa8a7h") + played("Al7l7bAb") + played("7a9aKaUa")


def test_multiple_trick_of_three_rounds():
    """Multiple tricks, the example: twelve cards for A's side, who may not go on and draws first."""
    assert after(TWELVE[:8]) == {"p1 ps", "p1 pl Al", "p1 pl 7a"}
    assert after(TWELVE[:12]) == {"p1 ps", "p1 pl 7a"}
    assert after(TWELVE) == {"d dh p1 ******"}


def test_the_leader_may_concede():
    """Multiple tricks, the example's first stop: D takes four cards and draws first."""
    assert after([*TWELVE[:8], "p1 ps"]) == {"d dh p4 **"}


def test_the_leader_whose_last_card_does_not_match_is_not_asked():
    """Multiple tricks, the example's last sentence: with one more ace D wins, the over cannot follow."""
    hands = dealt("AaAlOb7a", "XaXl9a7l", "KaKl8a7b", "AbOaAh7h")
    assert after(hands + played("AaXa8a7h") + played("Al7l7bAb") + played("7a9aKaAh")) == {"d dh p4 ******"}


def test_a_trick_of_four_rounds_ends_because_all_cards_are_played():
    """Multiple tricks, third way to end, with two players."""
    rounds = played("AaAl", seats=2) + played("7aXa", seats=2)
    hands = dealt("AaAb7aOa", "AlXaKaUa")
    assert after(hands + rounds, 2) == {"d dh p1 ****"}
    hands = dealt("AaAb7a7l", "AlAh7b7h")
    rounds = [line for cards in ("AaAl", "AbAh", "7a7b", "7l7h") for line in played(cards, seats=2)]
    assert after(hands + rounds, 2) == {"d dh p2 ********"}


NINES = [
    "d dh p1 9b9h8b",
    "d dh p2 9lXbXh",
    "d dh p3 KbKhUb",
    "d dh p4 8h8lOh",
    *played("9b9lUb8h"),
    *played("9hXbKb8l"),
]


def test_what_is_left_of_the_talon_is_shared_equally():
    """Drawing, second sentence: each lacks two cards, four lie there, each gets one; then nothing is drawn."""
    assert after(TWELVE + NINES) == {"d dh p1 **"}
    rest = ["d dh p1 Ah", "d dh p2 Ol", "d dh p3 Uh", "d dh p4 Ul"]
    assert after(TWELVE + NINES + rest[:3]) == {"d dh p4 **"}
    assert after(TWELVE + NINES + rest) == {"p1 pl Ob", "p1 pl 8b", "p1 pl Ah"}
    assert after(TWELVE + NINES + rest + played("AhOlUhUl")) == {"p1 pl Ob", "p1 pl 8b"}


def test_single_draws_go_round_the_table():
    assert after(TWELVE, draw_mode="single") == {"d dh p1 **"}
    passed = ["d dh p1 9b", "d dh p2 9l", "d dh p3 Kb", "d dh p4 8h"]
    assert after(TWELVE + passed, draw_mode="single") == {"d dh p1 **"}


def test_a_physical_deal_names_no_card_twice_and_none_that_is_unknown():
    for wrong in ("d dh p1 9b9b8b", "d dh p1 9bAa8b", "d dh p1 ??????", "d dh p1 9b9h", "d dh p1 1b9h8b"):
        with pytest.raises(ValueError, match="line 16 is wrong"):
            after([*TWELVE, wrong])


@pytest.mark.parametrize("seats", [2, 4])
def test_draws_off_the_top_or_from_cards_laid_ready(seats):
    """``preassigned``: the j-th draw of seat i is T[j * n + i], no matter who draws first; otherwise the winner has the
    top."""
    for seed in range(20):
        record = random_record(Random(seed), seats=seats, opt={"deal_model": "preassigned", "draw_mode": "batch"})
        talon = cut(record["deck"])[4 * seats :]
        acts = record["acts"]
        draws: dict[int, list[str]] = {seat: [] for seat in range(seats)}
        for line in acts[seats:]:
            if " dh " in line:
                draws[int(line[6]) - 1] += cut(line[8:])
        assert draws == {seat: talon[seat::seats] for seat in range(seats)}
        first = next(at for at, line in enumerate(acts) if at >= seats and " dh " in line)
        off_the_top = {**record, "opt": {**record["opt"], "deal_model": "draw"}}
        assert {line[8:10] for line in legal_lines(off_the_top, first)} == {talon[0]}


# Calls and the clock.


def test_only_the_partner_of_the_seat_to_act_calls():
    """Calls: at the partner's turn, four words, any number; not while cards are dealt, not after the end."""
    record = without(EXAMPLE, *DERIVED)
    for index, line in enumerate(record["acts"]):
        calls = {text for text in legal_lines(record, index) if " cl " in text}
        turns = {text[:2] for text in legal_lines(record, index) if text.endswith(" au")}
        if line.startswith("d "):
            assert not calls
            assert not turns
        else:
            (turn,) = turns
            partner = (int(turn[1]) + 1) % 4 + 1
            assert calls == {f"p{partner} cl {word}" for word in ALL_CALLS}
    assert legal_lines(record) == set()


def test_no_calls_where_they_are_off_or_nobody_has_a_partner():
    for seats, opt in ((4, {"calls": "off"}), (2, {"calls": "logged"})):
        record = random_record(Random(3), seats=seats, opt=opt, calls=1.0)
        for index in range(len(record["acts"]) + 1):
            assert not any(" cl " in line for line in legal_lines(record, index))


def test_calls_have_no_effect():
    acts = [line for line in EXAMPLE["acts"] if " cl " not in line]
    assert len(acts) == len(EXAMPLE["acts"]) - 3
    assert judge({**EXAMPLE, "acts": acts}).ok
    assert judge({**EXAMPLE, "acts": [*acts[:4], *["p3 cl zsirt"] * 50, "p3 cl uss", *acts[4:]]}).ok


def test_after_the_clock_ran_out_only_the_automatic_act_follows():
    acts = EXAMPLE["acts"]
    clock = acts.index("p1 ps")
    assert legal_lines({**EXAMPLE, "acts": [*acts[:clock], "p1 au"]}) == {"p1 ps"}
    assert judge({**EXAMPLE, "acts": [*acts[:clock], "p1 au", *acts[clock:]]}).ok
    assert legal_lines({**EXAMPLE, "acts": [*acts[:4], "p1 au"]}) == {"p1 pl Oa"}
    assert judge({**EXAMPLE, "acts": [*acts[:4], "p1 au", *acts[4:]]}).index is None  # p1's hand is Oa 7h 9a 8a
    for wrong in ("p1 au", "p3 cl uss", "p1 pl 7h"):
        assert judge({**EXAMPLE, "acts": [*acts[:4], "p1 au", wrong, *acts[4:]]}).index == 5
    for seat in (2, 3, 4):
        assert judge({**EXAMPLE, "acts": [*acts[:4], f"p{seat} au", *acts[4:]]}).index == 4


def test_the_automatic_card_is_the_first_in_fixed_order():
    hands = dealt("7hAh8l7l", "XlOl9l8a", "7aObUb8b", "9hXhUh8h")
    assert after([*hands, "p1 au"]) == {"p1 pl 8l"}


# Scoring.


@pytest.mark.parametrize(
    ("points", "tricks", "last", "expected"),
    [
        ((40, 40), (3, 5), 0, (0, 1)),
        ((40, 40), (3, 5), 1, (1, 1)),
        ((70, 10), (7, 1), 1, (0, 1)),
        ((30, 50), (7, 1), 0, (1, 1)),
        ((80, 0), (7, 1), 1, (0, 2)),
        ((0, 80), (0, 6), 1, (1, 3)),
    ],
)
def test_scores(points, tricks, last, expected):
    """Scoring: more points, else the last trick; 1, bald 2, naked 3."""
    assert score_of(points, tricks, last) == expected


def duel(mine: str, other: str, turn: int = 16) -> Any:
    """Two seats play their 16 cards in this order; p1 takes the tricks before number ``turn`` (from 0), p2 the rest."""
    hands = (cut(mine), cut(other))
    acts = dealt(mine[:8], other[:8])
    for at in range(16):
        leader, winner = int(at > turn), int(at >= turn)
        acts += [f"p{seat + 1} pl {hands[seat][at]}" for seat in (leader, 1 - leader)]
        if at < 12:
            acts += [f"d dh p{seat + 1} {hands[seat][at + 4]}" for seat in (winner, 1 - winner)]
    series = {"order": ["z1", "z2"], "deals": "z2", "score": [0, 0], "games": [0, 0]}
    record = random_record(Random(0), seats=2, opt={"stake": 10, "players": 2}, series=series)
    verdict = judge({**without(record, "deck", *DERIVED), "opt": {"stake": 10, "players": 2}, "acts": acts})
    assert verdict.ok, verdict
    return verdict


LOW = "9a9l9b9h8a8l8b8h"


def test_the_losers_took_no_trick():
    """Scoring, third case: nothing that p1 leads is ever equalled."""
    found = duel("AaAlAbAh7a7l7b7hOaOlObOhKaKlKbKh", "XaXlXbXh" + LOW + "UaUlUbUh")
    assert found.net == (30, -30)
    assert found.series_out == {"order": ["z1", "z2"], "deals": "z1", "score": [3, 0], "games": [0, 0]}


def test_the_losers_took_a_trick_without_points():
    """Scoring, second case: p2's under takes the very last trick, p1 has all 80 points."""
    found = duel("AaAlAbAh7a7l7b7hOaOlObOhKaKlKbUh", "KhXaXlXbXh" + LOW + "UaUlUb", turn=15)
    assert found.net == (20, -20)


def test_forty_each_goes_to_the_last_trick():
    """Scoring, first paragraph: p1 has the aces, p2 the tens and the last trick: 1 point."""
    found = duel("AaAlAbAh7a7l7b7hOaOlObKaUaUlUbUh", "Oh" + LOW + "KlKbKhXaXlXbXh", turn=11)
    assert found.net == (-10, 10)
    assert found.series_out["score"] == [0, 1]


def test_the_game_ends_at_the_target_and_the_scores_start_again():
    """Scoring, end: 4 and 1 make 5; at a target of 10 the game goes on. The side is that of the chairs."""
    assert EXAMPLE["series_out"]["games"] == [2, 1]
    longer = {**without(EXAMPLE, *DERIVED), "opt": {"stake": 100, "target": 10}}
    assert judge(longer).series_out == {**EXAMPLE["series"], "deals": "z12", "score": [5, 1]}


# Faults before the log.

SERIES = EXAMPLE["series"]


@pytest.mark.parametrize(
    "change",
    [
        {"v": "chr/2"},
        {"game": "siebner_schuster"},
        {"rules": "zsiros/2"},
        {"opt": {}},
        {"opt": {"stake": -1}},
        {"opt": {"stake": True}},
        {"opt": {"stake": 100.0}},
        {"opt": {"stake": "100"}},
        {"opt": {"stake": 100, "target": 7}},
        {"opt": {"stake": 100, "target": 10.0}},
        {"opt": {"stake": 100, "players": 2}},
        {"opt": {"stake": 100, "draw_mode": "both"}},
        {"opt": {"stake": 100, "deal_model": None}},
        {"opt": {"stake": 100, "calls": True}},
        {"opt": {"stake": 100, "unit": 1}},
        {"hand": 19},
        {"seats": ["z12", "z13", "z14"]},
        {"seats": ["z12", "z13", "z14", "z14"]},
        {"seats": ["z11", "z12", "z13", "z14"]},
        {"seats": "abcd"},
        {"dealer": 3},
        {"dealer": 4.0},
        {"stacks": [299, 300, 300, 300]},
        {"stacks": [300, 300, 300]},
        {"stacks": [300, 300, 300, 300.0]},
        {"carry": 1},
        {"carry": False},
        {"series": {}},
        {"series": without(SERIES, "games")},
        {"series": {**SERIES, "failed": 0}},
        {"series": {**SERIES, "order": ["z12", "z13", "z14", "z11"], "deals": "z14"}},
        {"series": {**SERIES, "deals": "z12"}},
        {"series": {**SERIES, "deals": "z99"}},
        {"series": {**SERIES, "score": [5, 1]}},
        {"series": {**SERIES, "score": [4, -1]}},
        {"series": {**SERIES, "score": [4, True]}},
        {"series": {**SERIES, "games": [1]}},
        {"deck": EXAMPLE["deck"][:-2]},
        {"deck": EXAMPLE["deck"][:-2] + EXAMPLE["deck"][:2]},
        {"deck": None},
        {"acts": "p1 pl Oa"},
        {"bonus": [0, 0, 0, 0]},
    ],
    ids=str,
)
def test_a_fault_before_the_log(change):
    record = {**EXAMPLE, **change}
    assert (judge(record).ok, judge(record).index) == (False, -1)
    with pytest.raises(ValueError, match=r"."):
        legal_lines(record, 0)


@pytest.mark.parametrize("key", ["v", "opt", "seats", "stacks", "series", "carry", "acts"])
def test_a_key_that_is_needed(key):
    assert judge(without(EXAMPLE, key)).index == -1


def test_what_is_no_fault():
    opt = {"stake": 100, "players": 4, "target": 5, "draw_mode": "batch", "deal_model": "draw", "calls": "logged"}
    assert judge({**EXAMPLE, "opt": opt, "stacks": [300] * 4, "prev": "", "seed": "", "state": ""}).ok
    assert judge(without(EXAMPLE, "deck")).ok
    for nothing in (None, [], "chr/1", {}):
        assert judge(nothing).index == -1


# Spoilt logs.


def spoilt(record: dict[str, Any], acts: list[Any]) -> int | None:
    return judge({**record, "acts": acts}).index


def test_a_line_deleted():
    """A call or ``au`` is not missed. Anything else is noticed where it stood, or after the calls that follow it.

    The exception: a card played by a seat that acts next as well may be taken for that act at first.
    """
    for record in RECORDS[::2]:
        acts = record["acts"]
        for at, line in enumerate(acts):
            found = spoilt(record, acts[:at] + acts[at + 1 :])
            if line.split()[1] in ("cl", "au"):
                assert found is None
                continue
            after_calls = next(end for end in range(at + 1, len(acts) + 1) if " cl " not in (*acts, "")[end])
            twice = " pl " in line and acts[after_calls : after_calls + 1] and acts[after_calls][:2] == line[:2]
            last = len(acts) if twice else after_calls - 1
            assert found is not None and at <= found <= last, (record["hand"], at)


def test_a_line_said_twice():
    for record in RECORDS[::3]:
        acts = record["acts"]
        for at, line in enumerate(acts):
            expected = None if " cl " in line else at + 1
            assert spoilt(record, [*acts[: at + 1], *acts[at:]]) == expected


def test_two_lines_swapped():
    """Acts of different seats in the wrong order are refused at the first of them."""
    for record in RECORDS[::3]:
        acts = record["acts"]
        for at in range(len(acts) - 1):
            one, two = acts[at : at + 2]
            if one[:2] != two[:2] and " cl " not in one + two:
                assert spoilt(record, [*acts[:at], two, one, *acts[at + 2 :]]) == at


@pytest.mark.parametrize(
    ("at", "line"),
    [
        *((0, wrong) for wrong in ("d dh p1 7hOa9a8a", "d dh p2 Oa7h9a8a", "d dh p1 Oa7h9a", "d dh p1 ????????")),
        *((4, wrong) for wrong in ("p1 pl Ob", "p1 ps", "p2 pl Oa", "p1 pl  Oa", "p1 pl Oa ", "P1 pl Oa", "p1 pl oa")),
        *((4, wrong) for wrong in ("p1 cl uss", "p2 cl uss", "p3 cl", "p3 cl go", "d pl Oa", "", 4, None, ["p1"])),
        *((8, wrong) for wrong in ("p1 pl 9a", "p1 pl 8a", "p2 pl Kh")),
        (20, "d dh p2 Ab"),
        (len(EXAMPLE["acts"]), "p2 au"),
        (len(EXAMPLE["acts"]), "p4 cl uss"),
    ],
)
def test_a_line_that_may_not_stand_there(at, line):
    acts = EXAMPLE["acts"]
    assert spoilt(EXAMPLE, [*acts[:at], line, *acts[at + 1 :]]) == at


def test_another_choice_leads_elsewhere_or_to_another_result():
    """p1 may go on with the nine instead of conceding; conceding at once is legal as well, but the draws differ."""
    acts = EXAMPLE["acts"]
    assert spoilt(EXAMPLE, [*acts[:20], "p1 pl 9l", *acts[21:]]) == 21
    assert spoilt(EXAMPLE, [*acts[:8], "p1 ps", *acts[9:]]) == 9
    swapped = [line.replace("7b", "8b") if " pl " in line else line for line in acts]
    assert spoilt(EXAMPLE, swapped) == next(at for at, line in enumerate(acts) if " pl " in line and "7b" in line)


def test_a_log_cut_short():
    for record in RECORDS[:6]:
        for end in range(len(record["acts"])):
            assert spoilt(record, record["acts"][:end]) == end


# Random deals.


def recount(record: dict[str, Any]) -> tuple[Counter[str], int]:
    """Cards dealt and played, and the most cards a hand ever had, from the text of the log alone."""
    hands: dict[str, set[str]] = {}
    cards: Counter[str] = Counter()
    most = 0
    for line in record["acts"]:
        words = line.split()
        if words[1] == "dh":
            hands.setdefault(words[2], set()).update(cut(words[3]))
            most = max(most, len(hands[words[2]]))
        elif words[1] == "pl":
            hands[words[0]].remove(words[2])
            cards[words[2]] += 1
    assert not any(hands.values())
    return cards, most


def test_random_deals_are_judged_good():
    scores: set[int] = set()
    for seed in range(150):
        record = json.loads(json.dumps(random_record(Random(seed), physical=seed % 4 == 0)))
        verdict = judge(record)
        assert verdict.ok, (seed, verdict)
        assert recount(record) == (Counter(PACK), 4)
        assert sum(verdict.net) == 0
        if record["opt"]["stake"]:
            scores.add(max(verdict.net) // record["opt"]["stake"])
    assert scores == {1, 2, 3}


def test_the_lines_of_random_deals_are_among_the_legal_ones_and_no_others_are_accepted():
    for seed in range(4):
        record = random_record(Random(seed))
        acts = record["acts"]
        for at, line in enumerate(acts):
            legal = legal_lines(record, at)
            assert line in legal
            for other in legal:
                found = judge({**record, "acts": [*acts[:at], other]})
                assert found.index == at + 1 or found.ok or at + 1 == len(acts), (seed, at, other)
            assert judge({**record, "acts": [*acts[:at], "p1 ps" if "p1 ps" not in legal else "p2 ps"]}).index == at


def test_the_same_chance_gives_the_same_record():
    assert random_record(Random(7)) == random_record(Random(7))
    assert random_record(Random(1), seats=4, series=SERIES, opt={"stake": 5})["series"] == SERIES
