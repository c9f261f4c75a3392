"""Ferbli, "Variations", "Cuhhol": no checking in the third round; the first active seat bets or lays its hand open."""

from __future__ import annotations

import pytest

from engine.errors import CardNotInPack, EngineError, MalformedSetup
from engine.kernel.cards import TELL32
from engine.kernel.events import Dealt, Shown, TurnedUp
from engine.kernel.hand import Hand
from engine.kernel.purse import POT, Move, Why
from engine.kernel.setup import Setup
from engine.registry import start
from tests.engine.support import amounts, frozen, play, refused, stacked, table, to_third_round, verbs

LOW, MIDDLE, HIGH, ACES = ("8a7l", "9b7h"), ("Ah7b", "Kh9a"), ("Kl8b", "XbUb"), ("AaAl", "AbAh")
"""One of each suit; 21 in hearts; 28 in three bells; four aces."""


def laid(*hands: tuple[str, str], **setup: object) -> Hand:
    """Each seat holds its hand of two batches; all are in, no besszer; p1 is to bet or to lay its hand open."""
    deck = stacked(*(first for first, _ in hands), *(second for _, second in hands))
    opt = {"cuhhol": True, **setup.pop("opt", {})}  # type: ignore[dict-item]
    hand = table(len(hands), opt=opt, deck=deck, **setup)  # type: ignore[arg-type]
    return to_third_round(hand, *range(2, len(hands) + 1))


def opened(*hands: tuple[str, str], **setup: object) -> Hand:
    """As above, and p1 has laid its hand open."""
    return play(laid(*hands, **setup), "p1 cu " + "".join(hands[0]))


class TestBetOrCuhhol:
    """A check is not a choice: the first to speak bets, or lays the hand open."""

    def test_nobody_may_check(self):
        hand = laid(MIDDLE, LOW)
        assert verbs(hand) == ["lk", "rb", "cu"]
        refused(hand, "p1 k", "verb_not_legal", phase="cuhhol", verbs=["lk", "rb", "cu"])
        refused(hand, "p1 f", "verb_not_legal")

    def test_a_bet_is_answered_as_in_any_third_round(self):
        hand = play(laid(MIDDLE, LOW, HIGH), "p1 rb 200", "p2 cc 200", "p3 cc 200")
        assert (hand.actor, verbs(hand)) == ("p3", ["lk", "rb"])  # it was blind, so it must be raised
        play(hand, "p3 lk 2", "p3 rb 100", "p1 cc 100", "p2 f")
        assert (hand.actor, verbs(hand)) == ("p1", ["lk", "rb", "st"])

    def test_where_nobody_can_bet_nobody_lays_a_hand_open_alone(self):
        hand = laid(MIDDLE, LOW, stacks=(10_000, 150))
        assert hand.log[-2:] == ("p1 sm Ah7bKh9a", "p2 sm 8a7l9b7h")
        assert hand.result and (hand.result.ending, hand.result.winner) == ("showdown", 1)

    def test_a_first_seat_that_cannot_bet_lays_its_hand_open_where_another_could(self):
        hand = laid(MIDDLE, LOW, HIGH, stacks=(150, 10_000, 10_000), opt={"short_stack": "side_pot"})
        assert verbs(hand) == ["lk", "cu"]
        refused(hand, "p1 rb 100", "verb_not_legal")

    def test_the_first_active_seat_is_asked_where_the_first_player_has_dropped_out(self):
        hand = play(table(3, opt={"cuhhol": True}), "p1 po 100", "p2 cc 100", "p3 cc 100", "p1 rb 100")
        play(hand, "p2 cc 100", "p3 cc 100", "p3 ks 100 p1", "p1 f", "p2 cc 100", "p3 k")
        assert (hand.actor, verbs(hand)) == ("p2", ["lk", "rb", "cu"])

    @pytest.mark.parametrize(("line", "code"), [
        ("p1 cu Ah7bKh", "wrong_count"),
        ("p1 cu Ah7b9aKh", "card_mismatch"),
        ("p1 cu Ah7bKh??", "card_unknown"),
        ("p1 cu Ah7bKhQs", "card_not_in_pack"),
        ("p2 cu 8a7l9b7h", "not_your_turn"),
    ])  # fmt: skip
    def test_it_is_the_seats_own_hand_in_dealing_order(self, line: str, code: str):
        refused(laid(MIDDLE, LOW), line, code)

    def test_the_hand_is_everybodys_from_then_on_looked_at_before_or_not(self):
        hand = laid(MIDDLE, LOW)
        assert hand.apply("p1 cu Ah7bKh9a") == (Shown(1, ("Ah", "7b", "Kh", "9a")),)
        assert hand.view("public")["seats"][0]["cards"] == ["Ah", "7b", "Kh", "9a"]  # type: ignore[index]

    def test_a_table_that_does_not_play_so_checks(self):
        refused(to_third_round(table(2), 2), "p1 cu AaKaOaUa", "verb_not_legal")


class TestHigher:
    """The others in turn: a seat that is not higher than the hand laid open must fold."""

    def test_a_seat_looks_at_all_its_cards_before_it_answers(self):
        hand = opened(LOW, MIDDLE, HIGH)
        assert verbs(hand) == ["lk"]
        for line in ("p2 k", "p2 f"):
            refused(hand, line, "verb_not_legal", phase="higher", verbs=["lk"])

    def test_where_the_cards_are_known_only_the_truth_is_legal(self):
        hand = play(opened(LOW, MIDDLE, HIGH), "p2 lk 2")
        assert verbs(hand) == ["k"]
        refused(hand, "p2 f", "verb_not_legal", verbs=["k"])
        hand = play(opened(HIGH, MIDDLE, LOW), "p2 lk 2")
        assert verbs(hand) == ["f"]
        refused(hand, "p2 k", "verb_not_legal", verbs=["f"])

    def test_an_equal_hand_is_not_higher(self):
        """Two aces are equal whatever lies beside them ("Players, Cards and Ranking of Hands")."""
        hand = play(opened(("AaAl", "8b7h"), ("AbAh", "KaKl")), "p2 lk 2")
        assert verbs(hand) == ["f"]

    def test_others_learn_only_what_is_said(self):
        hand = play(opened(HIGH, MIDDLE, LOW), "p2 lk 2")
        offers = [[offer["verb"] for offer in hand.view(viewer)["legal"]] for viewer in (1, 2, 3, "public", "auditor")]  # type: ignore[attr-defined]
        assert offers == [["k", "f"], ["f"], ["k", "f"], ["k", "f"], ["f"]]

    def test_they_answer_in_play_order_wrapping_round(self):
        hand = play(table(3, opt={"cuhhol": True}), "p1 po 100", "p2 cc 100", "p3 cc 100", "p1 k")
        play(hand, "p1 cu " + "".join(hand.cards_of(1)))
        assert hand.actor == "p2"

    def test_a_bet_is_no_answer(self):
        hand = play(opened(LOW, MIDDLE, HIGH), "p2 lk 2")
        refused(hand, "p2 rb 100", "verb_not_legal")
        refused(hand, "p2 cc 0", "verb_not_legal")


class TestSingleHigherHand:
    """The only higher hand is shown and wins the pool at once."""

    def test_it_shows_and_wins(self):
        hand = play(opened(LOW, MIDDLE), "p2 lk 2", "p2 k")
        assert hand.log[-1] == "p2 sm Ah7bKh9a"
        assert hand.result and (hand.result.ending, hand.result.winner, hand.result.net) == ("cuhhol", 2, (-100, 100))

    def test_it_is_so_wherever_it_sits_and_no_matter_who_folds(self):
        hand = play(opened(MIDDLE, HIGH, LOW), "p2 lk 2", "p2 k", "p3 lk 2", "p3 f")
        assert hand.result and (hand.result.ending, hand.result.net) == ("cuhhol", (-100, 200, -100))

    def test_only_the_true_hand_can_be_shown(self):
        deck = stacked("8a7l", "Ah7b", "9b7h", "Kh9a")
        hand = to_third_round(table(2, opt={"cuhhol": True}, deck=deck), 2)
        for line in ("p1 cu 8a7l9b7h", "p2 lk 2", "p2 k"):
            hand.apply(line)
        refused(hand, "p2 sm 7bAhKh9a", "card_mismatch")

    def test_tax_is_taken_as_from_any_pot(self):
        hand = play(opened(LOW, MIDDLE, opt={"tax_bps": 500, "tax_cap": 1000}), "p2 lk 2", "p2 k")
        assert hand.result and (hand.result.tax, hand.result.net) == (10, (-100, 90))


class TestSeveralHigherHands:
    """Of several higher hands the first must bet."""

    def test_the_first_of_them_must_bet_and_may_not_fold(self):
        hand = opened(("8a8h", "7l9b"), ("AhKh", "9a7b"), ("KlXl", "9hUl"))
        play(hand, "p2 lk 2", "p2 k", "p3 lk 2", "p3 k")
        assert (hand.actor, verbs(hand), amounts(hand, "rb")) == ("p2", ["rb"], (100, 200))
        for line in ("p2 k", "p2 f", "p2 st"):
            refused(hand, line, "verb_not_legal", phase="must_bet", verbs=["rb"])

    def bet(self) -> Hand:
        hand = opened(("8a8h", "7l9b"), ("AhKh", "9a7b"), ("KlXl", "9lUa"), ("8l7a", "9h8b"))
        play(hand, "p2 lk 2", "p2 k", "p3 lk 2", "p3 k", "p4 lk 2")
        play(hand, f"p4 {verbs(hand)[0]}")
        return play(hand, "p2 rb 200")

    def test_the_others_of_them_answer_and_the_last_matcher_has_the_last_word(self):
        hand = self.bet()
        assert (hand.actor, verbs(hand)) == ("p3", ["cc", "f"])
        play(hand, "p3 cc 200")
        assert (hand.actor, verbs(hand)) == ("p3", ["rb", "st"])

    def test_the_hand_laid_open_owes_nothing_more_and_cannot_win(self):
        hand = play(self.bet(), "p3 cc 200", "p3 st")
        assert hand.result and hand.result.ending == "showdown"
        assert (hand.result.winner, hand.result.net) == (3, (-100, -300, 500, -100))
        assert [line.split()[0] for line in hand.log if " sm " in line] == ["p2", "p3"]

    def test_if_the_others_fold_the_bettor_wins_without_showing(self):
        hand = play(self.bet(), "p3 f")
        assert hand.result and (hand.result.ending, hand.result.net) == ("uncontested", (-100, 300, -100, -100))

    def test_where_none_of_the_higher_hands_can_bet_they_are_shown(self):
        three = (("8a8h", "7l9b"), ("AhKh", "9a7b"), ("KlXl", "9lUa"))
        hand = opened(*three, stacks=(5000, 150, 150), opt={"short_stack": "side_pot"})
        play(hand, "p2 lk 2", "p2 k", "p3 lk 2", "p3 k")
        assert hand.result and (hand.result.ending, hand.result.net) == ("showdown", (-100, -100, 200))

    def test_a_short_hand_laid_open_does_not_cap_the_bet(self):
        """It owes nothing more, so what it could still pay is of no account."""
        hand = opened(("8a8h", "7l9b"), ("AhKh", "9a7b"), ("KlXl", "9lUa"), stacks=(200, 5000, 5000))
        play(hand, "p2 lk 2", "p2 k", "p3 lk 2", "p3 k")
        assert amounts(hand, "rb") == (100, 200)

    def test_with_side_pots_the_hand_laid_open_keeps_what_no_higher_one_has_matched(self):
        """p1 has staked 300, p2, who is higher, only 150; p3 has matched p1 and is lower."""
        deck = stacked("8a8h", "AhKh", "9l7b", "7l9b", "9a8b", "9h7a")
        hand = table(3, opt={"cuhhol": True, "short_stack": "side_pot"}, stacks=(5000, 150, 5000), deck=deck)
        play(hand, "p1 po 100", "p2 cc 100", "p3 cc 100", "p1 rb 200", "p2 cc 50", "p3 cc 200", "p3 k")
        play(hand, "p1 cu 8a8h7l9b", "p2 lk 2", "p2 k", "p3 lk 2")
        assert verbs(hand) == ["f"]
        play(hand, "p3 f")
        assert hand.result and (hand.result.winner, hand.result.net) == (2, (0, 300, -300))


def kassza(*hands: tuple[str, str], out: int = 0, carry: int = 0, **setup: object) -> Hand:
    """p1 has laid its hand open and nobody is higher; ``out`` seats more have never paid a vizi."""
    seats = len(hands) + out
    deck = stacked(*(first for first, _ in hands), *(["9l9h", "8l8h"][:out]), *(second for _, second in hands))
    opt = {"cuhhol": True, **setup.pop("opt", {})}  # type: ignore[dict-item]
    hand = table(seats, opt=opt, deck=deck, carry=carry, **setup)  # type: ignore[arg-type]
    to_third_round(hand, *range(2, len(hands) + 1))
    hand.apply("p1 cu " + "".join(hands[0]))
    for seat in range(2, len(hands) + 1):
        play(hand, f"p{seat} lk 2", f"p{seat} f")
    return hand


def pack(exposed: tuple[str, str], *first: str) -> tuple[str, ...]:
    """The 28 other cards, beginning with the given ones."""
    without = {row[at : at + 2] for row in exposed for at in (0, 2)}
    assert not [card for card in without if card in "".join(first)]
    return tuple(card for card in stacked(*first) if card not in without)


class TestCuhhkassza:
    """All have folded: the hand stays face up, those who never paid do so now, everyone is dealt four cards face up;
    the highest hand wins if it is higher than the one laid open, else everyone pays a vizi and it is dealt again."""

    WINS = pack(MIDDLE, "8a7l9b7h", "KlUlXl8b")
    FAILS = pack(MIDDLE, "8a9l9b7h", "8b9h7aUa")

    def test_the_pack_without_the_hand_laid_open_must_be_shuffled_first(self):
        hand = kassza(MIDDLE, LOW)
        assert hand.wants == pack(MIDDLE) and len(hand.wants) == 28
        assert (hand.actor, hand.forced()) == ("d", None)
        assert hand.legal() == ()
        refused(hand, "d dh p1 8a7l9b7h", "deck_missing", cards=28)

    def test_supply_takes_exactly_those_cards(self):
        hand = kassza(MIDDLE, LOW)
        wrong = [
            self.WINS[:-1],
            (*self.WINS[:-1], self.WINS[0]),
            (*self.WINS[:-1], "Ah"),
            (*self.WINS[:-1], "??"),
            (*self.WINS[:-1], "Qs"),
            TELL32.cards,
            (),
        ]
        before = frozen(hand)
        for cards in wrong:
            with pytest.raises(CardNotInPack) as refusal:
                hand.supply(cards)
            assert (refusal.value.code, refusal.value.expected) == ("card_not_in_pack", {"cards": 28})
        assert frozen(hand) == before and hand.setup.redeals == ()
        hand.supply(self.WINS)
        assert hand.wants is None and hand.setup.redeals == (self.WINS,)
        with pytest.raises(MalformedSetup):
            hand.supply(self.WINS)

    @pytest.mark.parametrize("lines", [(), ("p1 rb 100",), ("p1 cu Ah7bKh9a",)])
    def test_nothing_is_wanted_before(self, lines: tuple[str, ...]):
        hand = play(laid(MIDDLE, LOW), *lines)
        assert hand.wants is None
        with pytest.raises(MalformedSetup):
            hand.supply(self.WINS)

    def test_the_highest_hand_wins_the_pot(self):
        hand = kassza(MIDDLE, LOW, carry=500)
        hand.supply(self.WINS)
        play(hand)
        assert hand.log[-2:] == ("d dh p1 8a7l9b7h", "d dh p2 KlUlXl8b")
        assert hand.result and (hand.result.ending, hand.result.winner) == ("cuhhkassza", 2)
        assert hand.result.net == (-100, 600)

    def test_the_seat_that_laid_its_hand_open_is_dealt_in_and_may_win(self):
        hand = kassza(MIDDLE, LOW)
        hand.supply(pack(MIDDLE, "KlUlXl8b", "8a7l9b7h"))
        assert play(hand).result.winner == 1  # type: ignore[union-attr]

    def test_seats_that_dropped_out_pay_the_vizi_that_they_owe_are_dealt_in_and_may_win(self):
        """``cuhhkassza_vizi`` "paid": the sentence's "not pay it" is read as "now pay it"."""
        for opt in ({}, {"cuhhkassza_vizi": "paid"}):
            hand = kassza(MIDDLE, LOW, out=2, opt=opt)
            assert hand.pot == 400
            assert hand.moves[-2:] == (Move(3, POT, 100, Why.PENALTY), Move(4, POT, 100, Why.PENALTY))
            hand.supply(pack(MIDDLE, "8a7l9b7h", "9l8lUaOb", "KlUlXl8b", "OaXbXaUh"))
            play(hand)
            assert [line.split()[2] for line in hand.log[-4:]] == ["p1", "p2", "p3", "p4"]
            assert hand.result and (hand.result.winner, hand.result.net) == (3, (-100, -100, 300, -100))

    def test_where_the_table_takes_the_sentence_as_it_stands_they_pay_nothing_for_the_first_deal(self):
        hand = kassza(MIDDLE, LOW, out=2, opt={"cuhhkassza_vizi": "free"})
        assert hand.pot == 200
        hand.supply(pack(MIDDLE, "8a7l9b7h", "9l8lUaOb", "KlUlXl8b", "OaXbXaUh"))
        play(hand)
        assert hand.result and (hand.result.winner, hand.result.net) == (3, (-100, -100, 200, 0))

    def test_of_equal_hands_the_first_in_play_order_wins(self):
        hand = kassza(("KaOb", "9l7h"), ("8a7b", "9h8l"))
        hand.supply(pack(("KaOb", "9l7h"), "KlUl8a7b", "KhUh8b7a"))
        assert play(hand).result.winner == 1  # type: ignore[union-attr]

    def test_an_equal_hand_does_not_win(self):
        """Against 21 in hearts the best of the new hands is 21 in leaves."""
        hand = kassza(MIDDLE, LOW)
        hand.supply(pack(MIDDLE, "AlKl8b7h", "8a9h8lXb"))
        play(hand)
        assert not hand.over and hand.stakes == (100, 100) and hand.pot == 400

    def test_everyone_pays_another_vizi_for_each_further_deal(self):
        hand = kassza(MIDDLE, LOW, out=1)
        fails = pack(MIDDLE, "8a9l9b7h", "8b9hXaUl", "8lUb7aXh")
        for dealt in range(1, 4):
            hand.supply(fails)
            play(hand)
            assert (hand.pot, hand.stacks) == (300 + 300 * dealt, (9900 - 100 * dealt,) * 3)
            assert not hand.over and hand.wants == pack(MIDDLE)
        hand.supply(pack(MIDDLE, "8a9l9b7h", "8b9hXaUl", "KlXlOl8l"))
        play(hand)
        assert hand.result and hand.result.net == (-400, -400, 800)
        assert hand.setup.redeals == (fails, fails, fails, pack(MIDDLE, "8a9l9b7h", "8b9hXaUl", "KlXlOl8l"))
        again = start(hand.setup)
        for line in hand.log:
            again.advance(line)
        assert again.digest() == hand.digest()

    def test_a_hand_that_nothing_beats_carries_the_pot_out_at_once(self):
        hand = kassza(ACES, LOW, carry=500)
        assert hand.result and (hand.result.ending, hand.result.carry_out) == ("cuhhkassza_left", 700)
        assert (hand.result.tax, hand.result.winner, hand.wants) == (0, 0, None)

    def test_so_does_a_seat_that_cannot_pay_for_the_next_deal(self):
        hand = kassza(MIDDLE, LOW, out=1, stacks=(10_000, 200, 10_000))
        for _ in range(2):
            hand.supply(pack(MIDDLE, "8a9l9b7h", "8b9hXaUl", "8lUb7aXh"))
            play(hand)
        assert hand.result and (hand.result.ending, hand.result.net) == ("cuhhkassza_left", (-200, -200, -200))
        assert hand.result.carry_out == 600

    def test_so_does_the_last_deal_of_a_table_that_has_a_last_one(self):
        """``redeal_cap``: the text repeats until the pot is won; a record has an end."""
        hand = kassza(MIDDLE, LOW, opt={"redeal_cap": 2})
        for _ in range(2):
            hand.supply(self.FAILS)
            play(hand)
        assert hand.result and (hand.result.ending, hand.result.carry_out) == ("cuhhkassza_left", 400)

    def test_the_seat_out_of_money_may_still_win_the_first_deal(self):
        stacks, opt = (10_000, 100, 10_000), {"short_stack": "side_pot"}
        hand = kassza(MIDDLE, LOW, ("9l8l", "Xb8h"), stacks=stacks, opt=opt)
        hand.supply(pack(MIDDLE, "8a7l9b7h", "KlUlXl8b", "9l8l8h7a"))
        assert play(hand).result.winner == 2  # type: ignore[union-attr]

    def test_tax_is_taken_when_the_pot_is_won(self):
        hand = kassza(MIDDLE, LOW, opt={"tax_bps": 500, "tax_cap": 1000})
        hand.supply(self.FAILS)
        play(hand)
        hand.supply(self.WINS)
        play(hand)
        assert hand.result and (hand.result.tax, hand.result.net) == (20, (-200, 180))

    def test_a_view_shows_the_hands_as_they_lie(self):
        hand = kassza(MIDDLE, LOW)
        assert "face_up" not in laid(MIDDLE, LOW).view("public")
        hand.supply(self.WINS)
        hand.apply("d dh p1 8a7l9b7h")
        assert hand.view("public")["face_up"] == [["8a", "7l", "9b", "7h"], []]

    def test_everyone_sees_the_cards_and_the_hand_laid_open_but_not_the_folded_ones(self):
        hand = kassza(MIDDLE, LOW)
        hand.supply(self.WINS)
        play(hand)
        view = hand.view("public")
        assert view["log"][-2:] == ["d dh p1 8a7l9b7h", "d dh p2 KlUlXl8b"]  # type: ignore[index]
        assert view["seats"][0]["cards"] == ["Ah", "7b", "Kh", "9a"]  # type: ignore[index]
        assert view["seats"][1]["cards"] == ["??"] * 4  # type: ignore[index]

    def test_the_cards_are_shown_to_everyone_as_they_are_dealt(self):
        hand = kassza(MIDDLE, LOW)
        hand.supply(self.WINS)
        shown = hand.apply("d dh p1 8a7l9b7h")
        assert shown == (Dealt(1, 4), TurnedUp(1, ("8a", "7l", "9b", "7h")))
        assert hand.apply("d dh p2 KlUlXl8b")[:2] == (Dealt(2, 4), TurnedUp(2, ("Kl", "Ul", "Xl", "8b")))

    def test_it_is_no_deal_that_failed_in_the_first_round(self):
        hand = kassza(MIDDLE, LOW, opt={"force_third_deal": True})
        hand.supply(self.WINS)
        assert play(hand).result.series == {"failed": 0}  # type: ignore[union-attr]

    def test_a_vizi_of_a_fist_is_what_the_next_deal_costs(self):
        deck = stacked("Ah7b", "8a7l", "Kh9a", "9b7h")
        hand = table(2, opt={"cuhhol": True, "majzli_max": 300}, deck=deck)
        play(hand, "p1 mj ??", "p2 in", "p1 rv 300", "p1 k", "p1 cu Ah7bKh9a", "p2 lk 2", "p2 f")
        hand.supply(self.FAILS)
        play(hand)
        assert (hand.pot, hand.stacks) == (1200, (9400, 9400))


class TestPacksOfTheSetup:
    """Packs of redeals that a record brings along."""

    def begin(self, *redeals: tuple[str, ...], **what: object) -> Hand:
        fields: dict[str, object] = {
            "opt": {"vizi": 100, "cuhhol": True},
            "deck": stacked("Ah7b", "8a7l", "Kh9a", "9b7h"),
        }
        return start(Setup("ferbli", seats=2, stacks=(5000, 5000), dealer=2, redeals=redeals, **(fields | what)))  # type: ignore[arg-type]

    @pytest.mark.parametrize("what", [{"deck": None}, {"opt": {"vizi": 100}}])
    def test_only_with_cuhhol_and_a_known_deck(self, what: dict[str, object]):
        with pytest.raises(MalformedSetup) as refusal:
            self.begin(pack(MIDDLE), **what)
        assert (refusal.value.code, refusal.value.expected) == ("malformed_setup", {"redeals": 0})

    def test_they_are_dealt_without_being_asked_for(self):
        hand = self.begin(TestCuhhkassza.FAILS, TestCuhhkassza.WINS)
        to_third_round(hand, 2)
        play(hand, "p1 cu Ah7bKh9a", "p2 lk 2", "p2 f")
        assert hand.result and (hand.result.ending, hand.result.net) == ("cuhhkassza", (-200, 200))

    @pytest.mark.parametrize("wrong", [
        pack(MIDDLE)[:-1], (*pack(MIDDLE)[:-1], "Ah"), (*pack(MIDDLE)[:-1], pack(MIDDLE)[0]), TELL32.cards, (),
    ])  # fmt: skip
    def test_a_wrong_pack_is_refused_when_it_is_to_be_dealt(self, wrong: tuple[str, ...]):
        hand = self.begin(wrong)
        to_third_round(hand, 2)
        for line in ("p1 cu Ah7bKh9a", "p2 lk 2", "p2 f"):
            hand.apply(line)
        refused(hand, "d dh p1 " + "".join(wrong[:4] or ("Aa",) * 4), "card_not_in_pack", cards=28)

    def test_after_the_last_one_another_is_wanted(self):
        hand = self.begin(TestCuhhkassza.FAILS)
        to_third_round(hand, 2)
        play(hand, "p1 cu Ah7bKh9a", "p2 lk 2", "p2 f")
        assert hand.wants == pack(MIDDLE)


class TestPhysical:
    """Cards that the engine does not know."""

    def opened(self) -> Hand:
        hand = table(3, opt={"cuhhol": True}, deck=None)
        lines = ["p1 po 100", *(f"d dh p{seat} ????" for seat in (1, 2, 3)), "p2 cc 100", "p3 cc 100", "p1 k"]
        lines += [*(f"d dh p{seat} ????" for seat in (1, 2, 3)), "p1 cu Ah7bKh9a", "p2 lk 2"]
        for line in lines:
            hand.apply(line)
        return hand

    def test_unknown_cards_may_be_said_to_be_higher_or_not(self):
        assert verbs(self.opened()) == ["k", "f"]

    def test_the_automatic_act_does_not_say_that_unknown_cards_are_higher(self):
        hand = self.opened()
        assert hand.automatic() is None
        known = opened(MIDDLE, HIGH, LOW)
        assert known.automatic() == "p2 lk 2"
        play(known, "p2 lk 2")
        assert known.automatic() == "p2 k"
        play(known, "p2 au", "p2 k", "p3 lk 2")
        assert known.automatic() == "p3 f"

    def test_a_false_claim_is_refused_when_the_cards_are_shown(self):
        hand = self.opened()
        for line in ("p2 k", "p3 lk 2", "p3 f"):
            hand.apply(line)
        for cards in ("8a7l9b7h", "AlKl8b7h"):  # lower, and equal
            refused(hand, f"p2 sm {cards}", "card_mismatch")
        refused(hand, "p2 sm AhAlAb8b", "card_already_dealt")
        hand.apply("p2 sm KlXlUl8b")
        assert hand.result and (hand.result.ending, hand.result.winner) == ("cuhhol", 2)

    def test_nobody_claims_what_no_cards_could_make_true(self):
        hand = table(3, opt={"cuhhol": True}, deck=None)
        lines = ["p1 po 100", *(f"d dh p{seat} ????" for seat in (1, 2, 3)), "p2 cc 100", "p3 cc 100", "p1 k"]
        lines += [*(f"d dh p{seat} ????" for seat in (1, 2, 3)), "p1 cu AaAlAbAh", "p2 lk 2"]
        for line in lines:
            hand.apply(line)
        assert verbs(hand) == ["f"]
        refused(hand, "p2 k", "verb_not_legal")

    def test_the_cards_laid_open_must_be_named(self):
        hand = table(2, opt={"cuhhol": True}, deck=None)
        for line in ("p1 po 100", "d dh p1 Ah??", "d dh p2 ????", "p2 cc 100", "p1 k", "d dh p1 ????", "d dh p2 ????"):
            hand.apply(line)
        refused(hand, "p1 cu ????????", "card_unknown")
        refused(hand, "p1 cu 7bAhKh9a", "card_mismatch")
        hand.apply("p1 cu Ah7bKh9a")

    def kassza(self) -> Hand:
        hand = self.opened()
        for line in ("p2 f", "p3 lk 2", "p3 f"):
            hand.apply(line)
        return hand

    def test_the_dealer_deals_on_without_a_pack_and_names_the_cards(self):
        hand = self.kassza()
        assert hand.wants is None and hand.actor == "d"
        refused(hand, "d dh p1 8a7l9b??", "card_unknown")
        refused(hand, "d dh p1 8a7l9bAh", "card_already_dealt", card="Ah")
        refused(hand, "d dh p1 8a7l9b8a", "card_already_dealt", card="8a")
        refused(hand, "d dh p2 8a7l9b7h", "wrong_target", target=1)
        refused(hand, "d dh p1 8a7l", "wrong_count", count=4)
        hand.apply("d dh p1 8a7l9b7h")
        refused(hand, "d dh p2 8aKlXlUl", "card_already_dealt", card="8a")

    def test_each_redeal_is_dealt_from_all_the_other_cards_again(self):
        hand = self.kassza()
        for _ in range(2):
            for line in ("d dh p1 8a7l9b7h", "d dh p2 8b9hXaUl", "d dh p3 8l9lXhUa"):
                hand.apply(line)
        for line in ("d dh p1 8a7l9b7h", "d dh p2 8b9hXaOa", "d dh p3 KlXlUl8l"):
            hand.apply(line)
        assert hand.result and (hand.result.winner, hand.result.net) == (3, (-300, -300, 600))

    def test_a_pack_cannot_be_supplied(self):
        with pytest.raises(EngineError):
            self.kassza().supply(pack(MIDDLE))
