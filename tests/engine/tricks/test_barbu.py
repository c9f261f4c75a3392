"""Barbu, section by section of its rules text: contracts, doubles, scores, money, and what is refused."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest

from engine.kernel.cards import FRENCH52
from engine.kernel.purse import Why
from engine.record.replay import replay
from engine.registry import game_info
from engine.tricks.barbu_scores import SCALES, Points, Taken, payments, settled, with_side_bets
from tests.engine.tricks.barbu_kit import (
    cards,
    first_cards,
    on_offer,
    pack_with,
    play,
    play_out,
    record_of,
    recorded,
    refused,
    shuffled,
    state_of,
    table,
    to_play,
    undoubled,
)

PAGAT = Points(SCALES["pagat"], 0)


# "Introduction"


def test_the_dealer_deals_thirteen_cards_to_each_seat_at_once():
    hand = table()
    for seat in range(1, 5):
        assert hand.actor == "d"
        hand.apply(hand.forced())
        assert len(hand.held(seat)) == 13
    assert (hand.phase, hand.actor) == ("call", "p1")


# "The Seven Contracts": what may be called


def test_the_declarer_calls_any_contract_with_any_suit_and_any_rank():
    hand = play(table())
    named = ["notricks", "queens", "lasttwo", "hearts", "king"]
    trumps = [f"trumps {suit}" for suit in "cdhs"]
    ranks = [f"dominoes {rank}" for rank in FRENCH52.ranks]
    [offer] = hand.legal()
    assert list(offer.lines()) == [f"p1 cl {call}" for call in (*named, *trumps, *ranks)]


def test_a_contract_is_called_once():
    hand = play(table(left={"anne": ["queens", "dominoes"]}))
    refused(hand, "p1 cl hearts", "verb_not_legal", words=("queens", *(f"dominoes {rank}" for rank in FRENCH52.ranks)))
    refused(hand, "p1 cl ravage", "verb_not_legal")
    refused(hand, "p1 cl dominoes", "verb_not_legal")
    hand.apply("p1 cl dominoes 7")


@pytest.mark.parametrize("line", ["p1 cl", "p1 cl trumps", "p1 cl trumps x", "p1 cl dominoes 10", "p1 cl Queens"])
def test_a_call_is_one_of_the_words_of_the_game(line: str):
    refused(play(table()), line, "malformed_action")


# "The Seven Contracts": negative contracts


def test_the_declarer_leads_suit_is_followed_the_highest_card_takes_the_trick_and_leads():
    hand = to_play("notricks", p1="Ac", p2="Kc 2d", p3="3h 4h", p4="Qc Ad")
    assert (hand.phase, hand.actor) == ("tricks", "p1")
    play(hand, "p1 pl 3c")
    refused(hand, "p2 pl 2d", "verb_not_legal", phase="tricks")
    play(hand, "p2 pl Kc")
    assert hand.actor == "p3"
    assert hand.view("public")["trick"] == [["p1", "3c"], ["p2", "Kc"]]


def test_a_seat_without_the_suit_discards_what_it_likes_and_cannot_win():
    hand = to_play("lasttwo", p1="2c", p2="AdKdQdJdTd9d8d7d6d5d4d3d2d", p3="3c", p4="4c")
    play(hand, "p1 pl 2c")
    assert cards(hand) == "Ad Kd Qd Jd Td 9d 8d 7d 6d 5d 4d 3d 2d"
    play(hand, "p2 pl Ad; p3 pl 3c; p4 pl 4c")
    assert hand.actor == "p4"
    assert [seat["tricks"] for seat in hand.view("public")["seats"]] == [0, 0, 0, 1]


def test_each_trick_costs_two_points():
    assert PAGAT.raw("notricks", Taken([0] * 5, [1, 1, 4, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1], [])) == (-22, -2, 0, -2)


def test_each_queen_costs_six_points_and_the_fourth_ends_the_play():
    deck = pack_with(p1="Ac Ad Ah As", p2="Qc Kd Kh Ks", p3="3c 3d 3h 3s", p4="4c 4d 4h 4s")
    hand = first_cards(play(table(deck=deck), *undoubled("queens")))
    played = [line.split()[2] for line in hand.log if " pl " in line]
    last_queen = max(at for at, card in enumerate(played) if card[0] == "Q")
    assert len(played) == last_queen // 4 * 4 + 4
    view = hand.view("public")
    queens = [sum(card[0] == "Q" for card in seat["taken"]) for seat in view["seats"]]
    assert sum(queens) == 4
    assert view["points"] == [-6 * count for count in queens]


def test_the_last_trick_costs_twenty_and_the_one_before_ten():
    assert PAGAT.raw("lasttwo", Taken([0] * 5, [1] * 11 + [3, 4], [])) == (0, 0, -10, -20)
    assert PAGAT.raw("lasttwo", Taken([0] * 5, [1] * 11 + [2, 2], [])) == (0, -30, 0, 0)


def test_each_heart_costs_two_points_and_the_ace_six():
    tables = {card: 1 << at for at, card in enumerate(FRENCH52.cards)}
    hearts = [0, tables["Ah"], tables["Kh"] | tables["2h"] | tables["Ac"], 0, 0]
    assert PAGAT.raw("hearts", Taken(hearts, [], [])) == (-6, -4, 0, 0)
    assert PAGAT.raw("king", Taken(hearts, [], [])) == (0, -20, 0, 0)


@pytest.mark.parametrize("contract", ["hearts", "king"])
def test_hearts_are_not_led_by_a_seat_that_holds_anything_else(contract: str):
    hand = to_play(contract, p1="Ah Kh Qh Jh Th 9h 8h 7h 6h 5h 4h 3h 2c")
    assert cards(hand) == "2c"
    refused(hand, "p1 pl 3h", "verb_not_legal")
    hand = to_play(contract, p1="AhKhQhJhTh9h8h7h6h5h4h3h2h")
    assert cards(hand).split() == [f"{rank}h" for rank in FRENCH52.ranks]


@pytest.mark.parametrize("contract", ["notricks", "queens", "lasttwo", "trumps c"])
def test_hearts_may_be_led_in_other_contracts(contract: str):
    assert "3h" in cards(to_play(contract, p1="3h"))


def test_hearts_and_queens_taken_lie_face_up_in_their_contracts_only():
    lines = ("p1 pl Ac", "p2 pl Qc", "p3 pl 2h", "p4 pl 3h")
    hands = {"p1": "Ac", "p2": "Qc", "p3": "2hAhKhQhJhTh9h8h7h6h5h4s5s", "p4": "3h 4h 2d 3d 4d 5d 6d 7d 8d 9d Td Jd Qd"}
    for contract, taken in {"hearts": ["3h", "2h"], "queens": ["Qc"], "notricks": [], "king": []}.items():
        view = play(to_play(contract, **hands), *lines).view("public")
        assert view["seats"][0]["taken"] == taken


# "The Seven Contracts": trumps


def trumps(*lines: str, opt: dict[str, object] | None = None, **hands: str) -> str:
    """The cards that may be played to a trick of Trumps, hearts being trumps."""
    return cards(play(to_play("trumps h", opt, **hands), *lines))


def test_a_trump_lead_is_topped_if_possible():
    assert trumps("p1 pl 9h", p1="9h", p2="Jh 8h Th 2h") == "Jh Th"
    assert trumps("p1 pl 9h", "p2 pl Jh", p1="9h", p2="Jh", p3="Th 8h", p4="AhKhQh7h6h5h4h3h2h") == "Th 8h"
    assert trumps("p1 pl 9h", "p2 pl Jh", p1="9h", p2="Jh", p3="Th Qh", p4="Ah Kh") == "Qh"


def test_who_has_no_trump_to_follow_plays_anything():
    spades = "AsKsQsJsTs9s8s7s6s5s4s3s2s"
    assert trumps("p1 pl 9h", p1="9h", p2=spades) == " ".join(f"{rank}s" for rank in FRENCH52.ranks)


DIAMONDS = "AdKdQdJdTd9d8d7d6d5d"


def test_who_is_out_of_a_side_suit_heads_the_trick_with_a_trump():
    assert trumps("p1 pl 9c", p1="9c", p2=DIAMONDS + "2hJh3h") == "Jh 3h 2h"


def test_who_cannot_head_the_trick_plays_anything_and_need_not_trump_below():
    lines = ("p1 pl 9c", "p2 pl Jh")
    hands = {"p1": "9c", "p2": "Jh 2s3s4s5s6s7s8s9sTsJsQsKs"}
    assert trumps(*lines, **hands, p3=DIAMONDS + "QhTh3h") == "Qh"
    offered = trumps(*lines, **hands, p3=DIAMONDS + "9hTh3h").split()
    assert len(offered) == 13


def test_there_is_no_duty_to_beat_within_a_side_suit():
    assert trumps("p1 pl 9c", p1="9c", p2="Ac 8c") == "Ac 8c"


def test_a_trick_goes_to_the_highest_trump_and_each_is_worth_five():
    hands = {"p1": "Ac", "p2": "2h" + DIAMONDS + "4d3d", "p3": "3h 4h 2s3s4s5s6s7s8s9sTsJsQs", "p4": "Kc 2c"}
    hand = play(to_play("trumps h", **hands), "p1 pl Ac; p2 pl 2h; p3 pl 4h; p4 pl 2c")
    assert hand.actor == "p3"
    assert PAGAT.raw("trumps", Taken([0] * 5, [1] * 7 + [3] * 6, [])) == (35, 0, 30, 0)


# "The Seven Contracts": dominoes


def test_the_example_of_dominoes_from_the_nine():
    """A lays the nine of hearts, B the nine of spades, C the ten of spades: six cards are open to D."""
    hands = {"p1": "9h", "p2": "9s", "p3": "Ts", "p4": "8h Th 8s Js 9d 9c"}
    hand = play(to_play("dominoes 9", **hands), "p1 pl 9h; p2 pl 9s; p3 pl Ts")
    assert set(cards(hand).split()) == {"8h", "Th", "8s", "Js", "9d", "9c"}


def test_a_suit_starts_with_the_rank_that_was_called():
    """From the five: the seven of clubs waits for five and six, whatever lies in spades."""
    hands = {"p1": "5s 7c", "p2": "4s", "p3": "6s", "p4": "7s"}
    hand = play(to_play("dominoes 5", **hands), "p1 pl 5s; p2 pl 4s; p3 pl 6s; p4 pl 7s")
    refused(hand, "p1 pl 7c", "verb_not_legal", phase="dominoes")


def test_a_seat_that_cannot_lay_is_passed_over_without_a_line():
    nines = pack_with(p2="9c 9d 9h 9s")
    hand = play(table(deck=nines), *undoubled("dominoes 9"))
    assert hand.actor == "p2"
    refused(hand, "p1 pl 8c", "not_your_turn", actor="p2")
    refused(hand, "p1 ps", "not_your_turn")


def test_a_seat_that_can_lay_must():
    hand = to_play("dominoes 9", p1="9c")
    refused(hand, "p1 ps", "verb_not_legal", verbs=["pl"])
    refused(hand, "p2 pl 9d", "not_your_turn")


def test_the_ace_lies_next_to_the_king():
    assert "Ac" in cards(play(to_play("dominoes K", p1="Kc", p2="Ac Kd"), "p1 pl Kc")).split()
    hand = to_play("dominoes 3", p1="3c", p2="2c", p3="Ac 4c")
    assert cards(play(hand, "p1 pl 3c; p2 pl 2c")) == "4c 3h"


def test_going_out_is_worth_45_20_and_5_and_staying_in_costs_5():
    for seed in range(20):
        random = Random(seed)
        hand = play_out(play(table(deck=shuffled(random)), *undoubled(f"dominoes {random.choice('A9752')}")), random)
        out = [seat for seat in (1, 2, 3, 4) if not hand.held(seat)]
        view = hand.view("public")
        assert sorted(view["points"]) == [-5, 5, 20, 45]
        assert view["out"] == [f"p{view['points'].index(worth) + 1}" for worth in (45, 20, 5)]
        assert len(out) == 3 and hand.held(view["points"].index(-5) + 1), "the last seat's cards are not played"


# "Doubling"


def test_each_seat_may_double_once_from_the_declarers_left():
    hand = play(table(), "p1 cl queens")
    for seat in (2, 3, 4):
        assert hand.actor == f"p{seat}"
        others = [other for other in (1, 2, 3, 4) if other != seat]
        named = {" ".join(f"p{one}" for one in some) for size in (1, 2, 3) for some in combinations(others, size)}
        assert on_offer(hand) == {f"p{seat} ps", *(f"p{seat} dbl {names}" for names in named)}
        hand.apply(f"p{seat} dbl p1" if seat == 3 else f"p{seat} ps")
    assert on_offer(hand) == {"p1 ps", "p1 rdbl p3"}


def test_the_declarer_doubles_only_those_who_doubled_first():
    hand = play(table(), "p1 cl queens; p2 dbl p1 p3; p3 dbl p4; p4 dbl p1 p2 p3")
    assert hand.phase == "redouble"
    refused(hand, "p1 rdbl p3", "wrong_target", targets=(2, 4))
    refused(hand, "p1 dbl p2", "verb_not_legal")
    play(hand, "p1 rdbl p2 p4")
    assert [seat["doubles"] for seat in hand.view("public")["seats"]] == [
        ["p2", "p4"], ["p1", "p3"], ["p4"], ["p1", "p2", "p3"],
    ]  # fmt: skip


def test_a_declarer_whom_nobody_doubled_is_not_asked():
    hand = play(table(), "p1 cl queens; p2 dbl p3; p3 ps; p4 dbl p3")
    assert (hand.phase, hand.actor) == ("tricks", "p1")


@pytest.mark.parametrize("contract", ["trumps d", "dominoes 8"])
def test_in_positive_contracts_only_the_declarer_is_doubled(contract: str):
    hand = play(table(), f"p1 cl {contract}")
    assert on_offer(hand) == {"p2 ps", "p2 dbl p1"}
    refused(hand, "p2 dbl p1 p3", "wrong_target", targets=(1,))
    refused(hand, "p2 dbl p3", "wrong_target")


def test_nobody_doubles_oneself_or_a_seat_that_is_not_there():
    hand = play(table(), "p1 cl queens")
    refused(hand, "p2 dbl p2", "wrong_target")
    refused(hand, "p2 dbl p5", "wrong_target")
    refused(hand, "p2 dbl p3 p1", "malformed_action")
    refused(hand, "p2 dbl p3 p3", "malformed_action")
    refused(hand, "p3 dbl p1", "not_your_turn", actor="p2")


SIX_LEFT = ["notricks", "queens", "lasttwo", "hearts", "king", "trumps"]


@pytest.mark.parametrize(
    ("left", "doubled", "due"), [(1, 1, True), (1, 2, False), (2, 0, True), (2, 1, False), (3, 0, False), (1, 6, False)]
)
def test_the_declarer_is_doubled_twice_in_a_set(left: int, doubled: int, due: bool):
    others = {"cath": 2, "diana": 2}
    hand = play(table(left={"anne": SIX_LEFT[:left]}, doubled={"beth": doubled} | others), "p1 cl notricks")
    assert ("p2 ps" not in on_offer(hand)) == due
    if due:
        assert on_offer(hand) == {f"p2 dbl {names}" for names in ("p1", "p1 p3", "p1 p4", "p1 p3 p4")}
        refused(hand, "p2 ps", "verb_not_legal", verbs=["dbl"])
        refused(hand, "p2 dbl p3", "wrong_target", must=(1,))
        assert hand.automatic() == "p2 dbl p1"


# "Scoring": the score sheet

SHEET = recorded("barbu_seed_sheet.jsonl")


def test_the_score_sheet_of_the_text():
    """Anne -12, Beth +24, Cath -12, Diana -24 after the queens; 8, -8, -36, 6 for the hearts."""
    seen = []
    for fields in SHEET:
        record = record_of(fields)
        outcome = replay(record)
        assert outcome.ok and outcome.hand
        view = outcome.hand.view("public")
        doubles = [(), *(tuple(int(name[1]) for name in seat["doubles"]) for seat in view["seats"])]
        seen.append((view["points"], with_side_bets(view["points"], doubles), outcome.hand.result.net))
    queens, hearts = ([-6, 0, -6, -12], (-12, 24, -12, -24)), ([0, -6, -20, -4], (8, -8, -36, 6))
    assert [line[:2] for line in seen] == [queens, hearts] * 2
    assert [net for *_, net in seen[:2]] == [(1200, 2400, -1200, -2400), (3800, -800, -3600, 600)]
    assert [net for *_, net in seen[2:]] == [(0, 0, 0, 0)] * 2
    assert [sum(score) for _, score, _ in seen] == [-24, -30] * 2


def test_side_bets_pair_by_pair():
    """One double: the difference goes over once; both ways: twice; equal scores: nothing."""
    raw = (-6, 0, -6, -12)
    assert with_side_bets(raw, [(), (), (), (), ()]) == raw
    assert with_side_bets(raw, [(), (), (1,), (), ()]) == (-12, 6, -6, -12)
    assert with_side_bets(raw, [(), (2,), (1,), (), ()]) == (-18, 12, -6, -12)
    assert with_side_bets(raw, [(), (3,), (), (1,), ()]) == raw


# "Barbu with Chips"


def test_with_chips_the_declarer_pays_and_collects_the_basic_scores():
    doubles = [(), (3,), (1, 3, 4), (1,), ()]
    raw = (-6, 0, -6, -12)
    net = [0] * 4
    for payer, other, points in payments(raw, doubles, 1):
        net[payer - 1] -= points
        net[other - 1] += points
    assert net == [12, 24, -12, -24]


def test_chips_come_to_the_paper_but_for_the_declarer_who_gets_the_total_back():
    random = Random(1)
    for _ in range(300):
        raw = tuple(random.randint(-40, 65) for _ in range(4))
        doubles = [(), *(tuple(sorted(random.sample([1, 2, 3, 4], random.randint(0, 3)))) for _ in range(4))]
        doubles = [tuple(one for one in row if one != seat) for seat, row in enumerate(doubles)]
        declarer = random.choice([1, 4])
        net = [0] * 4
        for payer, other, points in payments(raw, doubles, declarer):
            net[payer - 1] -= points
            net[other - 1] += points
        paper = list(with_side_bets(raw, doubles))
        paper[declarer - 1] -= sum(raw)
        assert net == paper


def test_money_goes_from_seat_to_seat_at_the_end_once_for_each_pair():
    hand = play_out(play(table({"unit": 100}), "p1 cl queens; p2 dbl p1 p3 p4; p3 dbl p1 p2 p4; p4 dbl p1"), Random(5))
    pairs = [frozenset((move.source, move.target)) for move in hand.moves]
    assert len(pairs) == len(set(pairs)) and all(move.why is Why.POINTS for move in hand.moves)
    assert all(1 <= move.source <= 4 and 1 <= move.target <= 4 and move.amount % 100 == 0 for move in hand.moves)
    assert hand.pot == 0 and sum(hand.result.net) == 0
    assert hand.result.tax == hand.result.carry_out == hand.result.winner == 0
    assert hand.result.ending == "queens"


def test_a_sheet_is_settled_with_one_payment_a_pair():
    assert settled((30, -10, -40, 20)) == [(2, 1, 10), (3, 1, 20), (3, 4, 20)]
    assert settled((0, 0, 0, 0)) == []


# What is refused


def test_lines_out_of_place():
    hand = table()
    refused(hand, "p1 cl queens", "not_your_turn", actor="d")
    refused(hand, "d dh p2 " + "".join(FRENCH52.cards[:13]), "wrong_target")
    refused(hand, "d dh p1 Ac", "wrong_count", count=13)
    refused(hand, "d dh p1 " + "".join(FRENCH52.cards[1:14]), "card_not_from_deck")
    play(hand)
    refused(hand, "p1 pl Ac", "verb_not_legal", phase="call")
    play(hand, *undoubled("notricks"))
    refused(hand, "p1 cl queens", "verb_not_legal")
    refused(hand, "p1 pl Ad", "card_mismatch")
    refused(hand, "p1 pl 1c", "card_not_in_pack")
    refused(hand, "p1 pl Zz", "card_not_in_pack")
    refused(hand, "p1 pl ??", "card_unknown")
    refused(hand, "p1 pl AcKc", "malformed_action")
    first_cards(hand)
    assert hand.over
    refused(hand, "p1 pl Ac", "hand_is_over")
    refused(hand, "p1 au", "hand_is_over")


def test_the_clock():
    """First contract left, with clubs or from the ace; no double unless it is due; first card in pack order."""
    hand = play(table(left={"anne": ["trumps", "dominoes"]}, doubled={"beth": 1}))
    refused(hand, "p2 au", "not_your_turn")
    play(hand, "p1 au")
    assert hand.pending == "cl" and on_offer(hand) == {"p1 cl trumps c"}
    refused(hand, "p1 cl dominoes A", "verb_not_legal", action="p1 cl trumps c")
    refused(hand, "p1 au", "verb_not_legal")
    play(hand, "p1 cl trumps c", "p2 au; p2 ps; p3 au; p3 dbl p1; p4 dbl p1; p1 au; p1 ps", "p1 au; p1 pl Ac")
    hand = play(table(left={"anne": ["dominoes"]}, doubled={"beth": 2, "cath": 1, "diana": 2}))
    play(hand, "p1 au; p1 cl dominoes A", "p2 ps; p3 au; p3 dbl p1; p4 au; p4 ps")
    assert hand.automatic() == "p1 ps"


def test_a_refusal_names_no_card_that_lies_face_down():
    hand = to_play("notricks", p1="2c", p2="3c 4d", p3="5c", p4="6c")
    play(hand, "p1 pl 2c")
    before = state_of(hand)
    refused(hand, "p2 pl 4d", "verb_not_legal", phase="tricks", verbs=["pl"])
    assert state_of(hand) == before


@pytest.mark.parametrize("seeds", [range(300), pytest.param(range(300, 2_000), marks=pytest.mark.long)], ids=str)
def test_random_deals_are_played_and_balance(seeds: range):
    endings = set()
    for seed in seeds:
        random = Random(seed)
        hand = play_out(table(game_info("barbu").example, deck=shuffled(random)), random)
        assert sum(hand.result.net) == 0 and sum(hand.stacks) == 4_000_000
        endings.add(hand.result.ending)
    assert endings == {"notricks", "queens", "lasttwo", "hearts", "king", "trumps", "dominoes"}
