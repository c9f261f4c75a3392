"""Ramsli, rule by rule. Section names are those of the rules text; the tables are small decks laid out for the case."""

from __future__ import annotations

import pytest

from engine.errors import EngineError
from engine.kernel.hand import Hand
from engine.kernel.purse import Move
from engine.kernel.rules import describe
from engine.record.format import record_from
from engine.registry import game_info, start
from tests.engine.deals import run_forced, say
from tests.engine.tricks.ramsli_tables import IDS, deal, example, finish, refused, rows, setup, to_knock, verbs

THREE = rows("AaKaObUb", "AlKlOlUl", "AhKhXbXh", trump="7b", then="9b8b9h8h9l8l")
"""p1 holds bells, p2 leaves, p3 (who deals) hearts; the seven of bells is turned up."""
SEVEN = rows("7bKaObUb", "AlKlOlUl", "AhKhXbXh", trump="Ab", then="9b8b9h8h9l8l")
"""The same with the ace of bells turned up, and its seven in p1's hand."""


def money(hand: Hand) -> list[str]:
    return [" ".join([*move.key[:2], str(move.seat or "-"), move.key[2], str(move.amount)]) for move in hand.moves]


def seen(hand: Hand, *names: str) -> list[object]:
    view = hand.view("public")
    return [view[name] for name in names]


# The Deal


def test_the_dealer_puts_four_units_into_the_kitty():
    """The Deal: four units, in every deal, onto what stands there."""
    hand = start(setup(kitty=8))
    assert money(hand) == ["carry kitty - carry_in 800"] and hand.pot == 800
    for line in ("p3 po 300", "p3 po 800"):
        refused(hand, line, "amount_out_of_range")
    refused(hand, "p1 po 400", "not_your_turn")
    hand.apply("p3 po 400")
    assert money(hand)[1:] == ["seat kitty 3 stake 400"]
    assert (hand.pot, hand.stakes, hand.stacks) == (1200, (0, 0, 400), (100_000, 100_000, 99_600))
    assert seen(hand, "kitty", "bank", "muss") == [1200, 0, False]


def test_two_cards_each_then_the_trump_card_then_two_more():
    """The Deal."""
    hand = deal(deck=THREE)
    assert hand.log[1:] == ("d dh p1 AaKa", "d dh p2 AlKl", "d dh p3 AhKh")
    assert [line for offer in hand.legal() for line in offer.lines()] == ["p3 cl top", "p3 cl bottom"]
    refused(hand, "p3 cl up", "verb_not_legal")
    refused(hand, "p1 cl top", "not_your_turn")
    say(hand, "p3 cl top")
    assert hand.log[5:] == ("d up 7b", "d dh p1 ObUb", "d dh p2 OlUl", "d dh p3 XbXh")
    assert seen(hand, "trump", "lying", "talon") == ["b", "7b", 19]


def test_the_bottom_card_may_be_turned_up_instead():
    """The Deal: the dealer has looked at it, and it leaves the pack."""
    deck = rows("AaKaObUb", "AlKlOlUl", "AhKhXbXh")
    hand = say(deal(deck=deck), "p3 cl bottom")
    assert hand.log[5] == f"d up {deck[-1]}" and hand.log[6] == "d dh p1 ObUb"
    assert seen(hand, "lying", "talon") == [deck[-1], 19]
    for seat in (1, 2, "public"):
        assert "bottom" not in deal(deck=deck).view(seat)
    assert deal(deck=deck).view(3)["bottom"] == deck[-1] and "bottom" not in start(setup(deck=deck)).view(3)


# Bidding


def test_who_knocks_is_asked_from_the_dealer_on():
    """Bidding: each player in turn, the dealer first; the first knock ends it."""
    hand = to_knock(deck=THREE, kitty=4)
    assert (hand.actor, verbs(hand)) == ("p3", ["kn", "ps"])
    say(hand, "p3 ps", "p1 ps")
    refused(hand, "p2 kn 7b", "card_mismatch")
    say(hand, "p2 kn")
    assert (hand.phase, hand.actor) == ("join", "p3")


def test_the_dealer_may_knock_on_the_trump_card_unseen_and_take_it():
    """Bidding: before all others, before looking; one of five cards goes away at once."""
    hand = say(deal(deck=THREE, kitty=4), "p3 cl top")
    assert [line for offer in hand.legal() for line in offer.lines()] == ["p3 kn 7b", "p3 lk 4"]
    refused(hand, "p3 kn", "verb_not_legal")
    refused(hand, "p3 kn Ab", "card_mismatch")
    refused(hand, "p3 lk 3", "wrong_count")
    say(hand, "p3 kn 7b")
    assert hand.phase == "lay" and hand.held(3) == ("Ah", "Kh", "Xb", "Xh", "7b") and seen(hand, "lying") == [None]
    refused(hand, "p3 ds XhAh", "wrong_count")
    refused(hand, "p3 ds Ab", "card_mismatch")
    say(hand, "p3 ds Xh")
    assert (hand.phase, hand.actor) == ("join", "p1")
    say(hand, "p1 in", "p2 in", "p3 ps")
    assert "ex" not in verbs(hand)


def test_the_right_to_the_trump_card_goes_with_the_look():
    """Bidding: not after looking."""
    refused(to_knock(deck=THREE), "p3 kn 7b", "card_mismatch")


@pytest.mark.parametrize("kitty", [0, 4])
def test_after_the_bottom_card_the_dealer_must_knock(kitty: int):
    """Bidding: in a muss as well; unseen, it may still take the card."""
    hand = say(deal(kitty=kitty), "p3 cl bottom", "p3 lk 4")
    assert verbs(hand) == ["kn"] and hand.automatic() == "p3 kn"
    refused(hand, "p3 ps", "verb_not_legal")
    unseen = say(deal(kitty=kitty), "p3 cl bottom", "p3 kn 7h")
    assert unseen.phase == "lay"
    say(hand, "p3 kn")
    assert hand.phase == ("join" if kitty else "draw") and seen(hand, "lying") == ["7h"]


def test_a_suit_is_asked_about_once_and_three_suits_are_enough():
    """Bidding: another card of a suit that was turned up is followed by the next at once."""
    deck = rows("AaKaObUb", "AlKlOlUl", "AhKhXbXh", trump="7b", then="9b8b9h8h9l8l")
    hand = say(to_knock(deck=deck, kitty=8), "p3 ps", "p1 ps", "p2 ps")
    assert hand.log[-3:] == ("d up 9b", "d up 8b", "d up 9h") and hand.actor == "p3" and verbs(hand) == ["kn", "ps"]
    say(hand, "p3 ps", "p1 ps", "p2 ps")
    assert hand.log[-2:] == ("d up 8h", "d up 9l") and seen(hand, "trump", "lying", "talon") == ["l", "9l", 14]
    say(hand, "p3 ps", "p1 ps", "p2 ps")
    assert hand.result and (hand.result.ending, hand.result.winner) == ("failed", 0)
    assert hand.result.net == (0, 0, -400) and hand.result.series == {"kitty": 1200, "bank": 0}
    assert money(hand)[-1] == "kitty carry - carry_out 1200"


def test_a_pack_of_old_suits_is_turned_up_to_its_end():
    """Bidding: when no card of another suit is left the deal has failed, all cards lying open."""
    hands = ("AbKbObUb", "AlKlOlUl", "Xb9b8b7b", "Xl9l8l7l", "AhKhOhUh", "AaKaOaUa")
    hand = to_knock(6, deck=rows(*hands, trump="Xh", then="9h8h7hXa9a8a7a"), kitty=4)
    say(hand, *(f"p{seat} ps" for seat in (6, 1, 2, 3, 4, 5)))
    assert hand.log[-4:] == ("d up 9h", "d up 8h", "d up 7h", "d up Xa")
    say(hand, *(f"p{seat} ps" for seat in (6, 1, 2, 3, 4, 5)))
    assert hand.log[-3:] == ("d up 9a", "d up 8a", "d up 7a") and hand.result
    assert hand.result.ending == "failed" and hand.result.series == {"kitty": 800, "bank": 0}


def test_a_knocker_alone_takes_the_kitty():
    """Bidding: nobody plays along."""
    hand = say(to_knock(deck=THREE, kitty=8), "p3 ps", "p1 kn", "p2 ps", "p3 ps")
    assert hand.result and (hand.result.ending, hand.result.winner) == ("alone", 1)
    assert hand.result.net == (1200, 0, -400) and hand.result.series == {"kitty": 0, "bank": 0}
    assert money(hand)[-1] == "kitty seat 1 share 1200" and hand.result.carry_out == 0


def test_in_a_muss_everybody_plays_whether_somebody_knocks_or_not():
    """Bidding: four units in the kitty; the suit is the first one turned up."""
    hand = say(to_knock(deck=THREE), "p3 ps", "p1 ps", "p2 ps")
    assert (hand.phase, hand.actor) == ("draw", "p1") and seen(hand, "muss") == [True]
    knocked = say(to_knock(deck=THREE), "p3 ps", "p1 ps", "p2 kn")
    assert (knocked.phase, knocked.actor) == ("draw", "p2")
    assert [seat["plays"] for seat in knocked.view("public")["seats"]] == [True] * 3  # type: ignore[attr-defined]


# Further Deals


def drawing(deck: tuple[str, ...] = THREE, **table: int) -> Hand:
    """A muss of three seats at p1's turn to draw."""
    return say(to_knock(deck=deck, **table), "p3 ps", "p1 ps", "p2 ps")


def test_up_to_three_cards_are_changed_for_as_many():
    """Further Deals."""
    hand = say(drawing(), "p1 ds KaUb")
    assert hand.log[-1] == "d dh p1 9b8b" and hand.held(1) == ("Aa", "Ob", "9b", "8b") and hand.actor == "p2"


def test_a_new_hand_comes_with_a_fifth_card_face_up():
    """Further Deals: four cards face down and one face up, of which one goes away."""
    hand = say(drawing(), "p1 ds AaKaObUb")
    assert hand.log[-2:] == ("d dh p1 9b8b9h8h", "d up p1 9l") and (hand.phase, hand.actor) == ("lay", "p1")
    assert len(list(hand.legal()[0].lines())) == 5
    refused(hand, "p1 ps", "verb_not_legal")
    assert say(hand, "p1 ds 9l").held(1) == ("9b", "8b", "9h", "8h")


def test_one_card_may_be_drawn_face_up():
    """Further Deals: eins auf; the open card itself may go away again."""
    hand = say(drawing(), "p1 cl up")
    assert hand.log[-1] == "d up p1 9b" and hand.view("public")["log"][-1] == "d up p1 9b"  # type: ignore[index]
    say(hand, "p1 ds Aa")
    assert hand.held(1) == ("Ka", "Ob", "Ub", "9b")


def test_the_pack_bounds_what_may_be_drawn():
    """Further Deals: with six seats seven cards are left; a new hand takes five."""
    hands = ("AbKbObUb", "AlKlOlUl", "AhKhOhUh", "AaKaOaUa", "XbXlXhXa", "9b8b9l8l")
    hand = to_knock(6, deck=rows(*hands, trump="9h", then="8h7h9a8a7a7l7b"))
    say(hand, *(f"p{seat} ps" for seat in (6, 1, 2, 3, 4, 5)))
    say(hand, "p1 ds AbKbOb")
    assert seen(hand, "talon") == [4]
    refused(hand, "p2 ds AlKlOlUl", "wrong_count")
    assert {len(line.split()[2]) // 2 for line in hand.legal()[0].lines()} == {1, 2, 3}
    say(hand, "p2 ds AlKlOl")
    refused(hand, "p3 ds AhKh", "wrong_count")
    say(hand, "p3 cl up", "p3 ds Ah")
    assert seen(hand, "talon") == [0] and verbs(hand) == ["ps"]
    refused(hand, "p4 cl up", "verb_not_legal")
    refused(hand, "p4 ds Aa", "wrong_count")
    say(hand, "p4 ps", "p5 ps", "p6 ps")  # a line for everybody all the same
    assert hand.phase == "play"


def test_cards_are_laid_away_in_the_order_of_the_pack():
    """One choice, one spelling."""
    hand = drawing()
    refused(hand, "p1 ds KaAa", "malformed_action")
    refused(hand, "p1 ds AaAa", "card_mismatch")
    refused(hand, "p1 ds AaAl", "card_mismatch")
    refused(hand, "p1 ds ??", "card_mismatch")
    refused(hand, "p1 ds 1a", "card_not_in_pack")


# Bidding: the seven


def test_the_seven_of_trumps_may_be_given_for_the_trump_card():
    """Bidding: by any seat that plays, as long as the card lies there; only before it draws."""
    hand = drawing(SEVEN)
    assert verbs(hand) == ["ex", "ds", "cl", "ps"]
    refused(hand, "p1 ex Ka", "verb_not_legal")
    refused(hand, "p1 ex ??", "card_unknown")
    say(hand, "p1 ex 7b")
    assert hand.held(1) == ("Ka", "Ob", "Ub", "Ab") and seen(hand, "lying") == ["7b"]
    assert (hand.actor, verbs(hand)) == ("p1", ["ds", "cl", "ps"])
    refused(hand, "p1 ex 7b", "verb_not_legal")
    say(hand, "p1 ps")
    refused(hand, "p2 ex 7b", "verb_not_legal")
    late = say(drawing(SEVEN), "p1 ps")
    refused(late, "p2 ex 7b", "card_mismatch")


# The Play


def played(*lines: str, deck: tuple[str, ...] = THREE, **table: int) -> Hand:
    return say(drawing(deck, **table), "p1 ps", "p2 ps", "p3 ps", *lines)


def test_follow_suit_else_trump_else_anything():
    """The Play; nobody has to beat."""
    hand = played("p1 pl Aa")
    assert [line for offer in hand.legal() for line in offer.lines()] == [
        "p2 pl Al",
        "p2 pl Kl",
        "p2 pl Ol",
        "p2 pl Ul",
    ]
    say(hand, "p2 pl Ul")
    refused(hand, "p3 pl Ah", "verb_not_legal")
    refused(hand, "p3 pl Ob", "card_mismatch")
    say(hand, "p3 pl Xb")  # no acorns, so a trump
    assert hand.actor == "p3" and hand.view("public")["seats"][2]["tricks"] == 1  # type: ignore[index]
    say(hand, "p3 pl Ah", "p1 pl Ub", "p2 pl Ol", "p1 pl Ob")
    refused(hand, "p2 pl Ub", "card_mismatch")


def test_the_knocker_leads_and_only_those_who_play_are_asked():
    """The Play."""
    hand = say(to_knock(deck=THREE, kitty=4), "p3 ps", "p1 ps", "p2 kn", "p3 ps", "p1 in", "p2 ps", "p1 ps")
    assert (hand.phase, hand.actor) == ("play", "p2")
    say(hand, "p2 pl Al")
    assert hand.actor == "p1"
    say(hand, "p1 pl Ob")
    assert hand.actor == "p1" and hand.view("public")["trick"] == []


# Scoring


def test_each_trick_takes_its_part_and_who_has_none_pays_the_kitty():
    """Scoring: nobody has knocked, so a seat without a trick pays once."""
    hand = finish(played("p1 pl Aa", "p2 pl Ul", "p3 pl Xb", "p3 pl Ah", "p1 pl Ub", "p2 pl Ol", "p1 pl Ob"))
    taken = [seat["tricks"] for seat in hand.view("public")["seats"]]  # type: ignore[attr-defined]
    assert taken == [3, 0, 1] and hand.result
    assert hand.result.net == (300, -400, 100 - 400) and hand.result.series == {"kitty": 400, "bank": 0}
    assert money(hand)[1:] == [
        "kitty seat 1 share 300", "kitty seat 3 share 100", "seat kitty 2 penalty 400", "kitty carry - carry_out 400",
    ]  # fmt: skip


def test_the_knocker_who_fails_pays_twice():
    """Scoring: fewer than two tricks; others undertake one."""
    hand = say(to_knock(deck=THREE, kitty=4), "p3 ps", "p1 ps", "p2 kn", "p3 ps", "p1 in", "p2 ps", "p1 ps")
    finish(say(hand, "p2 pl Al", "p1 pl Ob", "p1 pl Aa", "p2 pl Kl", "p1 pl Ub", "p2 pl Ol", "p1 pl Ka"))
    assert hand.result and hand.result.winner == 1
    assert hand.result.net == (800, -1600, -400) and hand.result.series == {"kitty": 1600, "bank": 0}


def test_what_the_kitty_holds_above_its_level_goes_to_the_bank_at_once():
    """Scoring: whenever it exceeds the level, so also when the dealer posts."""
    hand = start(setup(kitty=16, bank=8))
    assert (hand.pot, hand.bank) == (1600, 800)
    hand.apply("p3 po 400")
    assert (hand.pot, hand.bank) == (1600, 1200) and money(hand)[-1] == "kitty bank - banked 400"


def test_the_bank_fills_the_kitty_up_after_payments():
    """Scoring: up to the level, as far as it reaches."""
    for bank, kitty, left in ((8, 12, 0), (40, 16, 28)):
        hand = say(to_knock(deck=THREE, kitty=16, bank=bank), "p3 ps", "p1 kn", "p2 ps", "p3 ps")
        assert hand.result and hand.result.series == {"kitty": 100 * kitty, "bank": 100 * left}
        assert (hand.result.carry_out, hand.bank) == (100 * (kitty + left), 100 * left)
        assert money(hand)[-2] == f"bank kitty - topped_up {100 * kitty}"


def test_without_a_bank_the_kitty_grows():
    """Scoring: a bank is something that players agree on."""
    hand = deal(level=0, kitty=400)
    assert (hand.pot, hand.bank) == (40_400, 0)


def test_the_example_of_the_description_line_by_line():
    record = record_from(example())
    hand = start(record.setup())
    assert hand.opening_events == (Move(-1, -3, 1600, hand.moves[0].why),)
    for line in record.acts:
        if hand.actor == "d":
            assert hand.forced() == line
        else:
            assert any(offer.contains(line) for offer in hand.legal()), line
        hand.apply(line)
    assert hand.result and hand.result.net == (-1600, 1200, -3200)
    assert hand.result.series == {"kitty": 1600, "bank": 4400} and hand.result.carry_out == 6000
    assert money(hand) == [
        "carry kitty - carry_in 1600", "seat kitty 3 stake 400", "kitty bank - banked 400",
        "kitty seat 2 share 1200", "kitty seat 3 share 400",
        "seat kitty 1 penalty 1600", "seat kitty 3 penalty 3200", "kitty bank - banked 3200",
        "kitty carry - carry_out 1600",
    ]  # fmt: skip


# Tables


def test_two_to_six_play_and_the_turn_to_deal_goes_left():
    info = game_info("ramsli")
    for seats in range(2, 7):
        assert finish(deal(seats)).over
        assert info.next_seats(seats, {}, {}) == (*range(1, seats), 0)
    for seats in (1, 7):
        with pytest.raises(EngineError) as refusal:
            start(setup(seats, ids=tuple("abcdefg"[:seats])))
        assert refusal.value.code == "malformed_setup"


def test_options_and_what_a_table_may_lose():
    info = game_info("ramsli")
    assert [(option.name, option.required) for option in describe(info.rules)] == [("unit", True), ("bank_level", True)]
    rules = info.rules.parse({"unit": 100, "bank_level": 16}, 4)
    assert info.policy.worst_loss(rules, 4) == rules.least_stack == 3600
    without = info.rules.parse({"unit": 100, "bank_level": 0}, 4)
    assert info.policy.worst_loss(without, 4) is None and without.least_stack == 1200
    assert info.policy.not_at_tables == {"bank_level": (0,)}
    assert info.new_series(IDS[:2], rules) == {"kitty": 0, "bank": 0}


@pytest.mark.parametrize(("kitty", "least"), [(0, 1200), (4, 2000), (12, 3600), (16, 3600)])
def test_every_stack_covers_what_the_deal_may_cost(kitty: int, least: int):
    """Twice the kitty that is played for, and four units."""
    assert start(setup(kitty=kitty, stacks=(least,) * 3))
    with pytest.raises(EngineError) as refusal:
        start(setup(kitty=kitty, stacks=(least, least - 1, least)))
    assert refusal.value.code == "stack_too_short" and refusal.value.expected == {"seat": 2, "min": least}


def test_nobody_loses_more_than_that():
    """The dealer knocks and takes one trick at most: twice the kitty and the four units."""
    hand = say(deal(2, deck=rows("AbKbObUb", "7a8a7l8l", trump="7h"), kitty=16, stacks=(3600, 3600)), "p2 cl top")
    say(hand, "p2 lk 4", "p2 kn", "p1 in", "p2 ps", "p1 ps")
    finish(run_forced(hand))
    assert hand.result and hand.result.net[1] >= -3600 and hand.stacks[1] >= 0


def test_the_clock_plays_the_first_lines():
    """`cl top`, `lk 4`, `kn` after the bottom card, `ps`, the first card in the order of the pack."""
    hand = deal(deck=THREE)
    assert hand.automatic() == "p3 cl top"
    say(hand, "p3 au", "p3 cl top")
    assert hand.automatic() == "p3 lk 4"
    say(hand, "p3 au", "p3 lk 4")
    for seat in (3, 1, 2):
        assert hand.automatic() == f"p{seat} ps"
        say(hand, f"p{seat} ps")
    assert hand.automatic() == "p1 ps"
    assert say(hand, "p1 cl up").automatic() == "p1 ds Aa"
    say(hand, "p1 ds Aa", "p2 ps", "p3 ps")
    assert hand.automatic() == "p1 pl Ka"
