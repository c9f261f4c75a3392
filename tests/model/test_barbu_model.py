"""The model of Barbu itself: recorded deals, the examples of the rules text, every option, and spoilt records.

Sections named in docstrings are those of the rules text.
"""

from __future__ import annotations

import json
from collections import Counter
from copy import deepcopy
from itertools import combinations, pairwise
from pathlib import Path
from random import Random

import pytest

from tests.model.barbu import Run, judge, legal_lines, new_series, offered
from tests.model.barbu_head import PACK, VALUES, balances, cover, cut, points_of, read_head
from tests.model.barbu_random import add_result, blank, random_record, random_session, spoilt
from tests.model.barbu_scores import CONTRACTS, POSITIVE, SCALES, SEATS, Points, Trick, longest_suits, with_side_bets

DATA = Path(__file__).with_name("data")
SEATED = ["a", "b", "c", "d"]


def recorded(name):
    return [json.loads(line) for line in (DATA / name).read_text().splitlines()]


SAMPLE = recorded("barbu_sample.jsonl")
SHEET = recorded("barbu_seed_sheet.jsonl")
RANDOM = [random_record(Random(number)) for number in range(120)]


def pack_with(**hands):
    """A pack that deals each seat the cards named, and fills the hands up in pack order."""
    named = {seat: cut(hands.get(f"p{seat}", "").replace(" ", "")) for seat in SEATS}
    rest = [card for card in PACK if not any(card in cards for cards in named.values())]
    deck = []
    for cards in named.values():
        deck += cards + [rest.pop(0) for _ in range(13 - len(cards))]
    return deck


def position(deck, *lines, left=None, doubled=None, **opt):
    """A record up to the last of the lines, which follow the deal."""
    opt = {"unit": 1, **opt}
    series = new_series(opt, list(SEATED))
    declarer = "d" if opt.get("dealer_declares") else "a"
    series["left"][declarer] = left or series["left"][declarer]
    series["doubled"] |= doubled or {}
    packets = ["".join(deck[start : start + 13]) for start in range(0, 52, 13)]
    record = blank(opt, list(SEATED), series, [10_000] * 4) | {"deck": "".join(deck)}
    return record | {"acts": [f"d dh p{seat} {cards}" for seat, cards in zip(SEATS, packets, strict=True)] + [*lines]}


def undoubled(contract, declarer=1):
    """The call and three passes."""
    others = [(declarer - 1 + step) % 4 + 1 for step in (1, 2, 3)]
    return [f"p{declarer} cl {contract}", *(f"p{seat} ps" for seat in others)]


def cards_to_play(*args, **opt):
    """The cards that may be played next, without the line of the clock."""
    return {line.split()[2] for line in legal_lines(position(*args, **opt)) if " pl " in line}


# Records.


@pytest.mark.parametrize("record", SAMPLE + SHEET, ids=lambda record: record["hand"])
def test_recorded_deals_have_the_recorded_results(record):
    verdict = judge(record)
    assert verdict.ok, verdict
    assert all(getattr(verdict, key) == record[key] for key in ("net", "tax", "carry_out", "series_out"))


def test_the_sample_covers_all_contracts_and_scorings():
    called = {line.split()[2] for record in SAMPLE for line in record["acts"] if " cl " in line}
    assert called == set(CONTRACTS)
    assert {record["opt"].get("scoring", "pagat") for record in SAMPLE} == {"pagat", "fifteen", "brader"}


def test_random_records_are_legal_and_sum_to_zero():
    for record in RANDOM:
        assert judge(record).ok
        assert sum(record["net"]) == 0
        assert all(stack + net >= 0 for stack, net in zip(record["stacks"], record["net"], strict=True))


def test_random_records_cover_every_option_contract_and_verb():
    stated = {(key, value) for record in RANDOM for key, value in record["opt"].items() if key != "unit"}
    assert stated == {(key, value) for key, values in VALUES.items() for value in values}
    lines = [line.split() for record in RANDOM for line in record["acts"]]
    assert {words[1] for words in lines} == {"dh", "cl", "ps", "dbl", "rdbl", "pl", "au"}
    assert {words[2] for words in lines if words[1] == "cl"} == set(CONTRACTS)


def test_every_line_of_a_record_is_among_those_offered():
    for record in RANDOM[:40]:
        for line, offers in zip([*record["acts"], None], offered(record), strict=True):
            assert line in offers if line else offers == set()


# Scores: "The Seven Contracts", "Variations".


def test_the_score_sheet():
    """Scoring: both hands of Anne, with the doubles as they stand there, and the running totals."""
    first = with_side_bets([-6, 0, -6, -12], {1: [3], 2: [1, 3, 4], 3: [1], 4: []})
    second = with_side_bets([0, -6, -20, -4], {1: [4], 2: [], 3: [], 4: [1, 2, 3]})
    assert (first, second) == ([-12, 24, -12, -24], [8, -8, -36, 6])
    assert SHEET[0]["net"] == [1200, 2400, -1200, -2400]
    assert list(judge(SHEET[3]).series_out["score"].values()) == [-4, 16, -48, -18]


def test_the_sheet_and_the_chips_agree():
    """Barbu with Chips: the second hand's play, in chips and as a sheet broken off after it."""
    broken_off = SHEET[3] | {"series": SHEET[3]["series_out"], "acts": []}
    chips = [sum(nets) for nets in zip(SHEET[0]["net"], SHEET[1]["net"], strict=True)]
    assert [100 * points for points in balances(read_head(broken_off))] == chips


@pytest.mark.parametrize(
    ("scoring", "ravage", "totals", "whole"),
    [
        ("pagat", 0, (-26, -24, -30, -30, -20, 65, 65), 0),
        ("fifteen", 0, (-26, -24, -30, -30, -15, 65, 60), 0),
        ("lagosz", 0, (-26, -24, -30, -30, -15, 65, 60), 0),
        ("brader", 36, (-65, -60, -30, -60, -25, 65, 40, -36), -171),
        ("pagat", 24, (-26, -24, -30, -30, -20, 65, 65, -24), -24),
    ],
)
def test_totals_of_the_contracts(scoring, ravage, totals, whole):
    """The contract list (13 tricks make 26), and the four scorings; Brader's four sets make -684."""
    points = Points(SCALES[scoring], ravage)
    assert tuple(points.total(contract) for contract in CONTRACTS[: len(totals)]) == totals
    assert points.set_total() == whole


@pytest.mark.parametrize(
    ("contract", "declarer", "each"),
    [("lasttwo", 0, -10), ("notricks", 1, -9), ("hearts", 0, -10), ("king", 1, -7), ("queens", 0, -8)],
)
def test_a_contract_that_nobody_doubled_need_not_be_played(contract, declarer, each):
    """Doubles and Redoubles: its table of four contracts; the queens, which it lacks, divide evenly."""
    lines = undoubled(contract)
    verdict = judge(position(PACK, *lines, no_double_no_play=True, settlement="paper"))
    assert verdict.ok
    assert list(verdict.series_out["score"].values()) == [declarer, each, each, each]
    assert judge(position(PACK, *lines)).index == 8


def test_not_to_play_needs_a_negative_contract_and_no_double_at_all():
    for lines in (undoubled("trumps c"), ["p1 cl queens", "p2 dbl p3", "p3 ps", "p4 ps"]):
        assert cards_to_play(PACK, *lines, no_double_no_play=True)
    assert not legal_lines(position(PACK, *undoubled("ravage"), no_double_no_play=True, ravage_city=24))


@pytest.mark.parametrize(
    ("cost", "taken", "shares"),
    [
        (36, ("cccc", "ddd", "", ""), [-36, 0, 0, 0]),
        (36, ("cccc", "dddd", "cs", "h"), [-18, -18, 0, 0]),
        (36, ("ccd", "ddc", "hs", "s"), [-18, -18, 0, 0]),
        (24, ("ccd", "ddc", "hs", "s"), [-12, -12, 0, 0]),
        (24, ("ccd", "ddc", "hh", "s"), [-8, -8, -8, 0]),
        (36, ("ccc", "ddd", "hhh", "s"), [-12, -12, -12, 0]),
        (24, ("ccc", "ccc", "ccc", "ccc"), [-6, -6, -6, -6]),
    ],
)
def test_ravage_city(cost, taken, shares):
    """Extra contract: the longest suit in a seat's tricks counts, equal ones share."""
    tricks = [Trick(seat, tuple("2" + suit for suit in suits)) for seat, suits in zip(SEATS, taken, strict=True)]
    assert longest_suits(tricks, cost) == shares


def scores_by_chips(end, declarer):
    """Barbu with Chips, step by step: stacks or payments by score, then each token, then the stacks are collected."""
    chips = dict.fromkeys(SEATS, 0)
    raw = dict(zip(SEATS, end.raw, strict=True))
    for seat in SEATS:
        if end.contract in POSITIVE:
            chips[seat] += raw[seat]
            chips[declarer] -= raw[seat]
        else:
            chips[seat] -= -raw[seat]
            chips[declarer] += -raw[seat]
    for one, other in [(one, other) for one, whom in end.doubled.items() for other in whom]:
        better, worse = (one, other) if raw[one] >= raw[other] else (other, one)
        chips[better] += raw[better] - raw[worse]
        chips[worse] -= raw[better] - raw[worse]
    return [chips[seat] for seat in SEATS]


def test_chips_are_paid_as_the_rules_describe_it():
    for record in RANDOM:
        if record["opt"].get("settlement", "chips") == "chips":
            head = read_head(record)
            run = Run(head)
            assert all(run.say(line) for line in record["acts"])
            found = [points * record["opt"]["unit"] for points in scores_by_chips(run.end, head.declarer)]
            assert found == record["net"]


@pytest.mark.parametrize("number", range(4))
def test_whole_sessions_sum_to_zero_and_pay_the_same_on_paper_and_in_chips(number):
    scoring = list(SCALES)[number]
    session = random_session(Random(number), {"unit": 5, "scoring": scoring, "ravage_city": 36 * (number % 2)})
    assert len(session) == 28 + 4 * (number % 2)
    opt = session[0]["opt"] | {"settlement": "paper"}
    series, chips, paper = new_series(opt, session[0]["seats"]), Counter(), Counter()
    for record in session:
        verdict = judge(blank(opt, record["seats"], series, record["stacks"]) | {"acts": record["acts"]})
        series = verdict.series_out
        for seat, net, sheet in zip(record["seats"], record["net"], verdict.net, strict=True):
            chips[seat] += net
            paper[seat] += sheet
        assert any(verdict.net) <= (record is session[-1])
    assert chips == paper
    assert sum(chips.values()) == 0
    assert series == new_series(opt, session[0]["seats"])


def test_seats_turn_only_after_a_set_and_doubles_start_over():
    session = random_session(Random(3), {"unit": 1, "dealer_declares": True})
    for one, after in pairwise(session):
        finished = not one["series_out"]["left"][one["seats"][3]]
        assert after["seats"] == ([*one["seats"][1:], one["seats"][0]] if finished else one["seats"])
        assert not finished or set(one["series_out"]["doubled"].values()) == {0}


# The course of a deal.


def test_contracts_offered_are_those_left_with_any_suit_or_rank():
    left = ["king", "trumps", "dominoes"]
    trumps = {f"p1 cl trumps {suit}" for suit in "cdhs"}
    ranks = {f"p1 cl dominoes {rank}" for rank in "AKQJT98765432"}
    assert legal_lines(position(PACK, left=left)) == {"p1 au", "p1 cl king"} | trumps | ranks
    last = position(PACK, left=["dominoes"], doubled=dict.fromkeys("bcd", 1), domino_rank="first_card")
    assert legal_lines(last) == {"p1 au", "p1 cl dominoes"}


def test_doubles_of_a_negative_contract_and_of_a_positive_one():
    """Doubling: all, some or none of the others; in a positive contract only the declarer."""
    groups = [group for size in (1, 2, 3) for group in combinations(("p1", "p3", "p4"), size)]
    spoken = {" ".join(["p2 dbl", *group]) for group in groups}
    assert legal_lines(position(PACK, "p1 cl king")) == spoken | {"p2 ps", "p2 au"}
    only = {"p2 ps", "p2 dbl p1", "p2 au"}
    assert legal_lines(position(PACK, "p1 cl trumps h")) == only
    assert legal_lines(position(PACK, "p1 cl king", doubling="declarer")) == only


def test_the_declarer_may_double_back_some_or_must_all_or_none():
    lines = ["p1 cl king", "p2 dbl p1", "p3 dbl p2", "p4 dbl p1 p3"]
    may = {"p1 au", "p1 ps", "p1 rdbl p2", "p1 rdbl p4", "p1 rdbl p2 p4"}
    assert legal_lines(position(PACK, *lines)) == may
    lines = ["p1 cl king", "p2 dbl p1", "p3 ps", "p4 dbl p1"]
    assert legal_lines(position(PACK, *lines, doubling="declarer")) == {"p1 au", "p1 ps", "p1 rdbl p2 p4"}


def test_nobody_doubled_the_declarer_so_she_has_no_line():
    assert cards_to_play(PACK, "p1 cl queens", "p2 dbl p3", "p3 dbl p2", "p4 ps")


@pytest.mark.parametrize(
    ("left", "doubled", "forced"),
    [(["king", "trumps"], 0, True), (["king", "trumps"], 1, False), (["king"], 1, True), (["king"], 2, False)],
)
def test_two_doubles_of_the_declarer_are_compulsory(left, doubled, forced):
    """Doubling: at least twice in each set of seven."""
    lines = legal_lines(position(PACK, "p1 cl king", left=left, doubled={"b": doubled, "c": 2, "d": 2}))
    assert ("p2 ps" not in lines) == forced
    assert all("p1" in line for line in lines - {"p2 au"}) == forced


def test_with_the_dealer_as_declarer_p1_leads_but_p4_starts_the_dominoes():
    """Deal, Declaration and Lead."""
    lead = legal_lines(position(PACK, *undoubled("king", 4), dealer_declares=True))
    start = legal_lines(position(PACK, *undoubled("dominoes 7", 4), dealer_declares=True))
    assert "p1 au" in lead
    assert start == {"p4 au", "p4 pl 7s"}


TRUMPS = pack_with(
    p1="As9s AcKcQcJcTc9c8c7c6c5c4c",
    p2="Ts8s2s 3c2c AdKdQdJdTd9d8d7d",
    p3="KsJs7s AhKhQhJhTh9h8h7h6h5h",
    p4="Qs6s5s4s3s 6d5d4d3d2d 4h3h2h",
)


@pytest.mark.parametrize(
    ("played", "cards"),
    [
        (["9s"], {"Ts"}),
        (["9s", "Ts"], {"Ks", "Js"}),
        (["9s", "Ts", "Ks"], {"Qs", "6s", "5s", "4s", "3s"}),
        (["As"], {"Ts", "8s", "2s"}),
        (["Ac"], {"3c", "2c"}),
        (["Ac", "3c"], {"Ks", "Js", "7s"}),
        (["Ac", "3c", "Js"], {"Qs"}),
        (["Ac", "3c", "Ks"], set(TRUMPS[39:])),
    ],
)
def test_a_player_who_can_head_the_trick_with_a_trump_must(played, cards):
    """The Seven Contracts, Trumps, the passage in brackets."""
    lines = [f"p{seat} pl {card}" for seat, card in enumerate(played, 1)]
    assert cards_to_play(TRUMPS, *undoubled("trumps s"), *lines) == cards


def test_a_void_seat_may_be_free_but_not_where_trumps_are_led():
    lines = undoubled("trumps s")
    assert len(cards_to_play(TRUMPS, *lines, "p1 pl Ac", "p2 pl 3c", trump_void="free")) == 13
    assert cards_to_play(TRUMPS, *lines, "p1 pl 9s", trump_void="free") == {"Ts"}


def test_hearts_are_not_led_while_another_suit_is_held():
    mixed, hearts = pack_with(p1="AhKh"), pack_with(p1="AhKhQhJhTh9h8h7h6h5h4h3h2h")
    for contract, ban, banned in (
        ("hearts", "both", True),
        ("king", "both", True),
        ("hearts", "hearts", True),
        ("king", "hearts", False),
        ("notricks", "both", False),
    ):
        assert ("Ah" not in cards_to_play(mixed, *undoubled(contract), heart_ban=ban)) == banned
        assert len(cards_to_play(hearts, *undoubled(contract), heart_ban=ban)) == 13


def test_no_line_follows_the_trick_with_the_fourth_queen():
    deck = pack_with(p1="AcKcQcJcTc9c8c7c6c5c4c3c2c", p2="QdAd", p3="QhAh", p4="QsAs")
    lines = [*undoubled("queens"), "p1 pl Qc", "p2 pl Qd", "p3 pl Qh", "p4 pl Qs"]
    assert judge(position(deck, *lines)).net == [0] * 4
    assert judge(position(deck, *lines, "p1 pl Ac")).index == 12
    assert cards_to_play(deck, *undoubled("notricks"), *lines[4:])


def test_the_deal_may_also_end_with_the_king_or_the_last_heart():
    deck = pack_with(p1="AhKhQhJhTh9h8h7h6h5h4h3h2h")
    hands = {seat: deck[13 * (seat - 1) : 13 * seat] for seat in SEATS}
    for contract, tricks, left in (("king", 2, 11), ("hearts", 13, 0)):
        lines = [f"p{seat} pl {hands[seat][trick]}" for trick in range(tricks) for seat in SEATS]
        assert legal_lines(position(deck, *undoubled(contract), *lines, early_stop="all")) == set()
        assert len(cards_to_play(deck, *undoubled(contract), *lines)) == left


def test_penalty_cards_at_the_earliest_safe_opportunity():
    """No King of Hearts and No Queens, second paragraph; read as certain safety."""
    deck = pack_with(p1="KdTdAh", p2="Qd2d Kh2h", p3="QsQcKcAsJs JcTc9c8c7c6c5c4c", p4="Ad9d")
    queens, king = undoubled("queens"), undoubled("king")
    assert cards_to_play(deck, *queens, "p1 pl Kd", must_dump=True) == {"Qd"}
    assert {"Qd", "2d"} <= cards_to_play(deck, *queens, "p1 pl Td", must_dump=True)
    assert {"Qd", "2d"} <= cards_to_play(deck, *queens, "p1 pl Kd")
    assert cards_to_play(deck, *queens, "p1 pl Td", "p2 pl 2d", must_dump=True) == {"Qs", "Qc"}
    assert cards_to_play(deck, *king, "p1 pl Ah", must_dump=True, heart_ban="hearts") == {"Kh"}
    assert len(cards_to_play(deck, *queens, must_dump=True)) == 13


DOMINOES = pack_with(p1="9h", p2="9s", p3="Ts", p4="8hTh8sJs9d9c 7h")


def test_the_example_of_dominoes_from_the_nine():
    """The Seven Contracts, Dominoes, the example: what the fourth player may lay."""
    lines = [*undoubled("dominoes 9"), "p1 pl 9h", "p2 pl 9s", "p3 pl Ts"]
    assert cards_to_play(DOMINOES, *lines) == {"8h", "Th", "8s", "Js", "9d", "9c"}
    assert judge(position(DOMINOES, *lines, "p4 pl 7h")).index == 11


def test_a_seat_without_a_fitting_card_has_no_line():
    """The Seven Contracts, Dominoes: the declarer may name a rank that she does not hold."""
    deck = pack_with(p1="AcKcQcJcTc9c8c7c6c5c4c3cAd", p3="2c2d2h2s")
    assert legal_lines(position(deck, *undoubled("dominoes 2"))) == {
        "p3 au",
        *(f"p3 pl 2{suit}" for suit in "cdhs"),
    }


def test_the_ace_ends_a_suit_above_the_king_or_below_the_two():
    deck = pack_with(p1="2cAc3c", p2="2d")
    for ace, laid in (("high", {"3c"}), ("low", {"3c", "Ac"})):
        lines = [*undoubled("dominoes 2"), "p1 pl 2c", "p2 pl 2d"]
        run = position(deck, *lines, domino_ace=ace)
        while not any(line.startswith("p1") for line in legal_lines(run)):
            run["acts"].append(min(line for line in legal_lines(run) if " pl " in line))
        assert {line[-2:] for line in legal_lines(run) if line[-1] == "c"} - {"2c"} == laid


def test_the_declarers_first_card_may_fix_the_rank():
    deck = pack_with(p1="Tc", p2="Jc9cTd8c")
    lines = undoubled("dominoes")
    assert len(cards_to_play(deck, *lines, domino_rank="first_card")) == 13
    assert cards_to_play(deck, *lines, "p1 pl Tc", domino_rank="first_card") == {"Jc", "9c", "Td"}
    assert judge(position(deck, *undoubled("dominoes T"), domino_rank="first_card")).index == 4
    assert judge(position(deck, *lines)).index == 4


# The clock.


@pytest.mark.parametrize(
    ("lines", "automatic", "opt"),
    [
        ([], "p1 cl notricks", {}),
        ([], "p1 cl trumps c", {"left": ["trumps", "dominoes"]}),
        ([], "p1 cl dominoes A", {"left": ["dominoes"], "doubled": dict.fromkeys("bcd", 1)}),
        (["p1 cl king"], "p2 ps", {}),
        (["p1 cl king"], "p2 dbl p1", {"left": ["king"], "doubled": dict.fromkeys("bcd", 1)}),
        (["p1 cl king", "p2 ps", "p3 ps", "p4 dbl p1"], "p1 ps", {}),
        (undoubled("hearts"), "p1 pl Ad", {}),
    ],
)
def test_after_the_clock_only_the_automatic_act_is_legal(lines, automatic, opt):
    deck = pack_with(p1="2s3sAh2dAd3hKdQd4d5d6d7d8d")
    actor = automatic[:2]
    before = position(deck, *lines, **opt)
    assert f"{actor} au" in legal_lines(before)
    after = position(deck, *lines, f"{actor} au", **opt)
    assert legal_lines(after) == {automatic}
    assert judge(position(deck, *lines, f"{actor} au", f"{actor} au", **opt)).index == len(after["acts"])
    assert judge(after).index == len(after["acts"])


def test_the_deck_has_no_clock():
    record = position(PACK)
    assert judge(record | {"acts": ["d au", *record["acts"]]}).index == 0
    assert judge(record | {"acts": ["p1 au", *record["acts"]]}).index == 0


# Spoilt records.


def altered_header(**changes):
    """The second hand of the sheet, in chips, with keys changed; ``...`` takes a key away."""
    record = deepcopy(SHEET[1]) | changes
    return {key: value for key, value in record.items() if value is not ...}


def series_with(**changes):
    return altered_header(series=deepcopy(SHEET[1]["series"]) | changes)


ORDER = list(CONTRACTS[:7])
LEFT = SHEET[1]["series"]["left"]
DECK = SHEET[1]["deck"]


@pytest.mark.parametrize(
    "record",
    [
        altered_header(v="chr/2"),
        altered_header(v=...),
        altered_header(game="Barbu"),
        altered_header(rules="barbu/2"),
        altered_header(acts=...),
        altered_header(dealer=1),
        altered_header(dealer=True),
        altered_header(carry=100),
        altered_header(carry=False),
        altered_header(seats=["u11", "u12", "u13"]),
        altered_header(seats=["u11", "u12", "u13", "u11"]),
        altered_header(seats=["u12", "u13", "u14", "u11"]),
        altered_header(stacks=[1000, 1000, 1000]),
        altered_header(stacks=[True, 100000, 100000, 100000]),
        altered_header(stacks=[100000.0, 100000, 100000, 100000]),
        altered_header(stacks=[23_999, 24_000, 24_000, 24_000]),
        altered_header(opt=...),
        altered_header(opt={}),
        altered_header(opt={"unit": 0}),
        altered_header(opt={"unit": True}),
        altered_header(opt={"unit": 100.0}),
        altered_header(opt={"unit": "100"}),
        altered_header(opt={"unit": 100, "colour": "red"}),
        altered_header(opt={"unit": 100, "players": 3}),
        altered_header(opt={"unit": 100, "ravage_city": False}),
        altered_header(opt={"unit": 100, "ravage_city": 36}),
        altered_header(opt={"unit": 100, "must_dump": 1}),
        altered_header(opt={"unit": 100, "scoring": None}),
        altered_header(opt={"unit": 100, "settlement": "paper"}),
        altered_header(opt={"unit": 100, "dealer_declares": True}),
        altered_header(deck=None),
        altered_header(deck=DECK[:-2]),
        altered_header(deck=DECK[:-2] + DECK[:2]),
        altered_header(decks=[DECK]),
        altered_header(series=...),
        altered_header(series=[]),
        series_with(score=dict.fromkeys(LEFT, 0)),
        series_with(left=LEFT | {"u11": []}),
        series_with(left=LEFT | {"u11": ["king", "hearts"]}),
        series_with(left=LEFT | {"u11": ["king", "king"]}),
        series_with(left=LEFT | {"u11": [*ORDER, "ravage"]}),
        series_with(left=LEFT | {"u12": []}),
        series_with(left=LEFT | {"u12": ["king"]}),
        series_with(left=LEFT | {"u15": ORDER}),
        series_with(doubled={"u11": 0, "u12": 1, "u13": 1}),
        series_with(doubled={"u11": 1, "u12": 1, "u13": 1, "u14": 0}),
        series_with(doubled={"u11": 0, "u12": 2, "u13": 1, "u14": 0}),
        series_with(doubled={"u11": 0, "u12": True, "u13": 1, "u14": 0}),
        series_with(doubled={"u11": 0, "u12": -1, "u13": 1, "u14": 0}),
        series_with(left=LEFT | {"u11": ["hearts"]}),
    ],
)
def test_a_faulty_header_is_refused(record):
    assert judge(SHEET[1]).ok
    assert judge(record).index == -1


def test_a_sheet_must_add_up():
    wrong = deepcopy(SHEET[3])
    wrong["series"]["score"]["u11"] += 1
    assert judge(wrong).index == -1
    wrong["series"]["score"]["u11"] = True
    assert judge(wrong).index == -1


@pytest.mark.parametrize(
    ("opt", "points"),
    [
        ({}, 240),
        ({"scoring": "fifteen"}, 270),
        ({"scoring": "lagosz"}, 210),
        ({"scoring": "brader"}, 455),
        ({"ravage_city": 36}, 252),
        ({"ravage_city": 24}, 240),
        ({"ravage_city": 36, "scoring": "fifteen"}, 270),
        ({"ravage_city": 36, "scoring": "lagosz", "doubling": "declarer"}, 252),
    ],
)
def test_stacks_must_cover_the_worst_loss(opt, points):
    record = position(PACK, **opt) | {"stacks": [points] * 4}
    assert judge(record).index == 4
    assert judge(record | {"stacks": [points, points, points - 1, points]}).index == -1
    assert max(worst_cases(points_of({"scoring": "pagat", "ravage_city": 0} | opt))) <= points


def worst_cases(points):
    """Losses in chips where every double is made: one seat takes it all, or comes last."""
    for contract in CONTRACTS[:8] if points.ravage else CONTRACTS[:7]:
        total = points.total(contract)
        raws = [[total, 0, 0, 0], [0, total, 0, 0]]
        if contract == "dominoes":
            raws = [points.of_dominoes(order) for order in ((2, 3, 4, 1), (1, 3, 4, 2), (2, 3, 1, 4))]
        for raw in raws:
            doubled = {1: [2, 3, 4], 2: [1], 3: [1], 4: [1]}
            if contract not in POSITIVE:
                doubled = {seat: [other for other in SEATS if other != seat] for seat in SEATS}
            net = with_side_bets(raw, doubled)
            net[0] -= total
            yield -min(net)


def test_on_paper_the_stacks_also_cover_what_the_sheet_owes():
    record = SHEET[3] | {"acts": []}
    assert cover(read_head(record)) == [22_800, 21_600, 25_200, 26_400]


def test_a_line_that_stands_twice_is_refused_at_its_second_place():
    for record in SAMPLE[::6] + RANDOM[:6]:
        for at, line in enumerate(record["acts"]):
            acts = [*record["acts"][: at + 1], line, *record["acts"][at + 1 :]]
            assert judge(record | {"acts": acts}).index == at + 1


def test_a_line_too_few_at_the_end_or_too_many():
    for record in SAMPLE + SHEET:
        acts = record["acts"]
        assert judge(record | {"acts": acts[:-1]}).index == len(acts) - 1
        assert judge(record | {"acts": [*acts, "p1 ps"]}).index == len(acts)


def test_neighbouring_lines_of_two_actors_cannot_change_places():
    for record in SAMPLE[::5]:
        acts = record["acts"]
        for at, (one, after) in enumerate(pairwise(acts)):
            if one.split()[0] != after.split()[0] or one.startswith("d"):
                swapped = [*acts[:at], after, one, *acts[at + 2 :]]
                assert judge(record | {"acts": swapped}).index == at


@pytest.mark.parametrize(
    "spoil",
    [
        lambda line: line + " ",
        lambda line: " " + line,
        lambda line: line.replace(" ", "  ", 1),
        lambda line: line.upper(),
        lambda line: line[:-1],
        lambda line: line + " p1",
        lambda line: "p5" + line[2:],
        lambda line: None,
        lambda line: [line],
        lambda line: 7,
    ],
)
def test_a_line_that_is_not_well_formed_is_refused(spoil):
    acts = SHEET[0]["acts"]
    for at in range(len(acts)):
        assert judge(SHEET[0] | {"acts": [*acts[:at], spoil(acts[at]), *acts[at + 1 :]]}).index == at


def test_doubles_are_written_in_ascending_order_and_once():
    acts = SHEET[0]["acts"]
    for wrong in ("p2 dbl p3 p1 p4", "p2 dbl p1 p1", "p2 dbl p2", "p2 dbl", "p2 rdbl p1"):
        assert judge(SHEET[0] | {"acts": [*acts[:5], wrong, *acts[6:]]}).index == 5


def test_another_double_gives_another_result():
    record = deepcopy(SHEET[0])
    record["acts"][5] = "p2 dbl p1 p3"
    assert judge(record).index == len(record["acts"])
    for key in ("net", "tax", "carry_out", "series_out"):
        del record[key]
    assert judge(record).net == [1200, 1200, -1200, -1200]


@pytest.mark.parametrize(
    "change",
    [
        {"net": [1200, 2400, -1200, -2401]},
        {"net": [1200.0, 2400, -1200, -2400]},
        {"net": [1200, 2400, -1200]},
        {"tax": 1},
        {"tax": False},
        {"carry_out": 5},
        {"carry_out": None},
        {"series_out": {}},
        {"series_out": SHEET[0]["series"]},
    ],
)
def test_a_recorded_result_must_be_the_one_found(change):
    assert judge(SHEET[0] | change).index == len(SHEET[0]["acts"])


def test_derived_keys_may_be_absent():
    bare = {key: value for key, value in SHEET[0].items() if key not in ("net", "tax", "carry_out", "series_out")}
    assert add_result(bare, judge(bare)) == SHEET[0]


def test_without_a_pack_the_log_names_the_cards():
    record = {key: value for key, value in SHEET[0].items() if key != "deck"}
    assert judge(record).ok
    first, second = record["acts"][:2]
    for cards in (first[8:], second[8:-2], second[8:-2] + "1s", second[8:-2] + second[8:10], second[8:] + "Qh"):
        acts = [first, f"d dh p2 {cards}", *record["acts"][2:]]
        assert judge(record | {"acts": acts}).index == 1
    with pytest.raises(ValueError, match="unknown pack"):
        legal_lines(record | {"acts": []})


def test_spoilt_random_records_are_refused_at_the_first_wrong_line_or_have_a_result():
    rng, refused = Random(8), 0
    for record in [each for each in RANDOM if "deck" in each][:60]:
        for spoiled in spoilt(record, rng, 4):
            verdict = judge(spoiled)
            refused += not verdict.ok
            if verdict.ok:
                assert sum(verdict.net) == 0
                continue
            may = legal_lines(spoiled | {"acts": spoiled["acts"][: verdict.index]})
            wrong = spoiled["acts"][verdict.index : verdict.index + 1]
            assert wrong[0] not in may if wrong else may
    assert refused > 150
