"""Ferbli, "Variations" of the first round: call or discard, the forced third deal, the vizi in the fist (majzli)."""

from __future__ import annotations

import pytest

from engine.errors import CommitMismatch, EngineError, MalformedSetup, OptionOutOfRange, StackTooShort
from engine.kernel.hand import Hand
from engine.kernel.purse import POT, Move, Why
from engine.kernel.setup import Setup
from engine.registry import resolve, start
from engine.vying.majzli import majzli_commitment
from tests.engine.support import amounts, play, refused, stacked, table, to_third_round, verbs

NONCE = bytes(range(16))


class TestCallOrDiscard:
    """Variations, first paragraph: in a deal that begins with a cukassza the players answer in clockwise order from the
    dealer, and a single match is enough whatever the number of players."""

    OPT: dict[str, object] = {"cukassza_call": "megadas_eldobas"}

    def test_the_dealer_answers_first_then_clockwise(self):
        hand = play(table(5, opt=self.OPT, carry=500), "p1 po 100")
        for seat in (5, 4, 3, 2):
            assert (hand.actor, verbs(hand), amounts(hand, "cc")) == (f"p{seat}", ["cc", "f"], (100, 100))
            play(hand, f"p{seat} cc 100")
        assert (hand.actor, verbs(hand)) == ("p1", ["k", "rb"])

    def test_one_match_is_enough_in_a_game_of_five_or_more(self):
        hand = play(table(7, opt=self.OPT, carry=500), "p1 po 100", *(f"p{seat} f" for seat in (7, 6, 5, 4, 3)))
        play(hand, "p2 cc 100")
        assert not hand.over and hand.actor == "p1"

    def test_one_match_is_enough_even_where_the_table_asks_for_more(self):
        opt = self.OPT | {"min_active": 4}
        hand = play(table(4, opt=opt, carry=500), "p1 po 100", "p4 f", "p3 cc 100", "p2 f")
        assert not hand.over

    def test_nobody_matches_it_is_a_cukassza_again(self):
        hand = play(table(3, opt=self.OPT, carry=500), "p1 po 100", "p3 f", "p2 f")
        assert hand.result and (hand.result.ending, hand.result.carry_out) == ("cukassza", 800)

    def test_a_deal_without_a_cukassza_goes_as_always(self):
        hand = play(table(5, opt=self.OPT), "p1 po 100")
        assert hand.actor == "p2"
        play(hand, "p2 cc 100", "p3 f", "p4 f", "p5 f")
        assert hand.result and hand.result.ending == "cukassza"

    def test_the_later_rounds_go_anticlockwise_as_always(self):
        hand = play(table(3, opt=self.OPT, carry=500), "p1 po 100", "p3 cc 100", "p2 cc 100", "p1 rb 200")
        assert hand.actor == "p2"
        play(hand, "p2 cc 200", "p3 cc 200")
        assert (hand.actor, verbs(hand)) == ("p3", ["k", "ks"])

    def test_another_seat_is_refused_while_the_dealer_is_to_answer(self):
        hand = play(table(4, opt=self.OPT, carry=500), "p1 po 100")
        refused(hand, "p2 cc 100", "not_your_turn", actor="p4")
        refused(hand, "p4 k", "verb_not_legal", phase="vizi", verbs=["cc", "f"])

    def test_a_table_may_leave_it_to_the_dealer_to_announce(self):
        opt: dict[str, object] = {"vizi": 100, "cukassza_call": "announced"}
        assert resolve("ferbli", opt, 5) == {"vizi": 100, "cukassza_call": "normal"}
        assert resolve("ferbli", opt, 5, announced=("call_or_discard",)) == {
            "vizi": 100,
            "cukassza_call": "megadas_eldobas",
        }

    @pytest.mark.parametrize("game, opt", [("ferbli", {"vizi": 100}), ("ferbli", OPT), ("faerbeln", {"ante": 200})])
    def test_where_it_does_not_an_announcement_is_refused(self, game: str, opt: dict[str, object]):
        with pytest.raises(OptionOutOfRange):
            resolve(game, opt, 5, announced=("call_or_discard",))

    def test_normal_is_the_default(self):
        assert play(table(3, carry=500), "p1 po 100").actor == "p2"


def series_of(seats: int, failed: int, *, opt: dict[str, object] | None = None, **setup: object) -> Hand:
    """A deal after ``failed`` deals in a row that too few players joined."""
    options = {"vizi": 100, "force_third_deal": True, **(opt or {})}
    found: dict[str, object] = {"stacks": (10_000,) * seats, "carry": 300 * failed, "dealer": seats} | setup
    deck = stacked("Kl8b", "Ah7l")
    return start(Setup("ferbli", options, seats, deck=deck, series={"failed": failed}, **found))  # type: ignore[arg-type]


class TestForcedThirdDeal:
    """Variations: after two deals in a row that lacked players, everyone pays a vizi on the third, and it goes
    ahead."""

    def test_a_series_of_three_deals(self):
        first = play(table(3, opt={"force_third_deal": True}), "p1 po 100", "p2 f", "p3 f")
        assert first.result and first.result.series == {"failed": 1}
        second = series_of(3, 1, carry=first.result.carry_out, stacks=first.stacks)
        play(second, "p1 po 100", "p2 f", "p3 f")
        assert second.result and (second.result.series, second.result.carry_out) == ({"failed": 2}, 600)
        third = series_of(3, 2, carry=second.result.carry_out, stacks=second.stacks)
        play(third, "p1 po 100", "p2 po 100", "p3 po 100")
        assert (third.actor, verbs(third), third.pot) == ("p1", ["k", "rb"], 900)
        play(third, "p1 rb 100", "p2 f", "p3 f")
        assert third.result and (third.result.series, third.result.net) == ({"failed": 0}, (800, -100, -100))

    def test_everyone_pays_in_play_order_before_the_deal(self):
        hand = series_of(7, 2)
        for seat in range(1, 8):
            assert (hand.actor, verbs(hand), amounts(hand, "po")) == (f"p{seat}", ["po"], (100, 100))
            refused(hand, f"p{seat} f", "verb_not_legal", phase="post", verbs=["po"])
            hand.apply(f"p{seat} po 100")
        assert hand.actor == "d"

    def test_no_first_round_follows_and_the_limits_are_those_after_the_vizi(self):
        hand = play(series_of(5, 2), *(f"p{seat} po 100" for seat in range(1, 6)))
        assert (hand.actor, amounts(hand, "rb")) == ("p1", (100, 200))

    @pytest.mark.parametrize("failed", [0, 1])
    def test_before_the_third_deal_only_the_first_player_posts(self, failed: int):
        hand = play(series_of(3, failed), "p1 po 100")
        assert (hand.actor, verbs(hand)) == ("p2", ["cc", "f"])

    @pytest.mark.parametrize(("lines", "failed"), [
        (("p2 f", "p3 f"), 2),
        (("p2 cc 100", "p3 f", "p1 rb 100", "p2 f"), 0),
        (("p2 cc 100", "p3 f", "p1 k", "p1 k", "p2 k"), 0),
    ])  # fmt: skip
    def test_only_deals_that_end_in_the_first_round_count(self, lines: tuple[str, ...], failed: int):
        hand = play(series_of(3, 1), "p1 po 100", *lines)
        assert hand.result and hand.result.series == {"failed": failed}

    def test_a_third_deal_that_all_check_starts_the_count_over(self):
        hand = play(series_of(2, 2), "p1 po 100", "p2 po 100", "p1 k", "p1 k", "p2 k")
        assert hand.result and (hand.result.ending, hand.result.series) == ("all_checked", {"failed": 0})

    def test_a_table_that_does_not_play_so_counts_nothing(self):
        hand = play(table(3), "p1 po 100", "p2 f", "p3 f")
        assert hand.result and hand.result.series == {}

    @pytest.mark.parametrize(("what", "expected"), [
        ({"series": {"failed": 3}}, {"min": 0, "max": 2}),
        ({"series": {"failed": -1}}, {"min": 0, "max": 2}),
        ({"series": {"failed": True}}, {"min": 0, "max": 2}),
        ({"series": {"failed": 1, "won": 1}}, {"series": ["failed"]}),
        ({"series": {"won": 1}}, {"series": ["failed"]}),
        ({"series": {"failed": 1}, "carry": 0}, {"carry": 100}),
        ({"series": {"failed": 1}, "opt": {"vizi": 100}}, {"series": {}}),
        ({"series": {"failed": 0}, "opt": {"vizi": 100}}, {"series": {}}),
    ])  # fmt: skip
    def test_a_series_that_cannot_be(self, what: dict[str, object], expected: dict[str, object]):
        fields = {"opt": {"vizi": 100, "force_third_deal": True}, "stacks": (5000, 5000), "carry": 300, "dealer": 2}
        with pytest.raises(MalformedSetup) as refusal:
            start(Setup("ferbli", seats=2, **(fields | what)))  # type: ignore[arg-type]
        assert (refusal.value.code, refusal.value.expected) == ("malformed_setup", expected)

    def test_faerbeln_has_no_series(self):
        opt = {"ante": 200, "lower": 500, "round2_unit": "lower", "bonus41": 0, "tax_cap": 700}
        with pytest.raises(MalformedSetup) as refusal:
            start(Setup("faerbeln", opt, 3, (5000,) * 3, 0, 3, series={"failed": 0}))
        assert refusal.value.expected == {"series": {}}


def fist(seats: int, *, held: str = "??", **setup: object) -> Hand:
    """p1 holds a vizi of 100 to 300 in a closed fist; p2 is to speak."""
    opt = {"majzli_max": 300, **setup.pop("opt", {})}  # type: ignore[dict-item]
    return play(table(seats, opt=opt, **setup), f"p1 mj {held}")  # type: ignore[arg-type]


class TestMajzli:
    """Variations, "Majzli": the player at dealer's right holds the vizi in a closed fist; the others stay or drop out
    without knowing it; after all have decided it is revealed, and those who stayed place that amount."""

    def test_the_fist_is_closed_before_the_cards_are_dealt(self):
        hand = table(3, opt={"majzli_max": 300})
        assert (hand.actor, verbs(hand), hand.pot) == ("p1", ["mj"], 0)
        refused(hand, "p1 po 100", "verb_not_legal", phase="majzli", verbs=["mj"])
        refused(hand, "p1 mj 100", "malformed_action")
        hand.apply("p1 mj ??")
        assert hand.actor == "d"

    def test_the_others_stay_or_drop_out_and_pay_nothing_yet(self):
        hand = fist(3)
        assert (hand.actor, verbs(hand)) == ("p2", ["in", "f"])
        refused(hand, "p2 cc 100", "verb_not_legal", phase="fist", verbs=["in", "f"])
        play(hand, "p2 in", "p3 f")
        assert (hand.actor, verbs(hand), amounts(hand, "rv"), hand.pot) == ("p1", ["rv"], (100, 300), 0)

    def test_every_seat_still_in_pays_the_revealed_vizi_without_a_separate_line(self):
        hand = play(fist(4), "p2 in", "p3 f", "p4 in")
        events = hand.apply("p1 rv 300")
        assert [event for event in events if isinstance(event, Move)] == [
            Move(seat, POT, 300, Why.STAKE) for seat in (1, 2, 4)
        ]
        assert (hand.stakes, hand.actor) == ((300, 300, 0, 300), "p1")

    def test_too_few_players_and_those_who_are_out_pay_the_revealed_vizi_too(self):
        hand = play(fist(3, carry=500), "p2 f", "p3 f", "p1 rv 200")
        assert hand.result and hand.result.net == (-200, -200, -200)
        assert (hand.result.ending, hand.result.carry_out) == ("cukassza", 1100)

    def test_all_check_and_who_is_out_pays_the_revealed_vizi(self):
        hand = play(fist(3), "p2 in", "p3 f", "p1 rv 300", "p1 k", "p1 k", "p2 k")
        assert hand.result and hand.result.net == (-300, -300, -300)

    def test_later_limits_count_with_the_revealed_vizi(self):
        hand = play(fist(2), "p2 in", "p1 rv 200")
        [besszer] = [offer for offer in hand.legal() if offer.verb == "rb"]
        assert (besszer.min, besszer.max, besszer.step) == (200, 400, 200)
        refused(hand, "p1 rb 300", "amount_out_of_range", min=200, max=400, step=200)
        refused(hand, "p1 rb 100", "amount_out_of_range", min=200, max=400, step=200)

    def test_with_bet_unit_chip_the_step_stays_the_chip(self):
        hand = play(fist(2, opt={"bet_unit": "chip", "chip": 50}), "p2 in")
        refused(hand, "p1 rv 275", "amount_out_of_range", min=100, max=300, step=50)
        play(hand, "p1 rv 250")
        [besszer] = [offer for offer in hand.legal() if offer.verb == "rb"]
        assert (besszer.min, besszer.max, besszer.step) == (250, 500, 50)
        play(hand, "p1 rb 300")
        assert hand.stakes == (550, 250)

    @pytest.mark.parametrize("amount", [0, 50, 150, 400, 10**6])
    def test_a_vizi_that_cannot_have_been_held(self, amount: int):
        hand = play(fist(2), "p2 in")
        refused(hand, f"p1 rv {amount}", "amount_out_of_range", min=100, max=300, step=100)

    def test_a_commitment_is_opened_by_amount_and_nonce(self):
        hand = play(fist(2, held=majzli_commitment(200, NONCE)), "p2 in")
        play(hand, f"p1 rv 200 {NONCE.hex()}")
        assert hand.stakes == (200, 200)

    @pytest.mark.parametrize(("line", "code"), [
        (f"p1 rv 200 {'0' * 32}", "commit_mismatch"),
        (f"p1 rv 100 {NONCE.hex()}", "commit_mismatch"),
        (f"p1 rv 400 {NONCE.hex()}", "amount_out_of_range"),
        ("p1 rv 200", "malformed_action"),
        (f"p1 rv 200 {NONCE.hex()[:-2]}", "malformed_action"),
        (f"p1 rv 200 {NONCE.hex().upper()}", "malformed_action"),
    ])  # fmt: skip
    def test_what_does_not_open_a_commitment(self, line: str, code: str):
        hand = play(fist(2, held=majzli_commitment(200, NONCE)), "p2 in")
        refused(hand, line, code)

    def test_the_refusal_of_a_wrong_nonce_names_the_commitment(self):
        held = majzli_commitment(200, NONCE)
        refused(play(fist(2, held=held), "p2 in"), f"p1 rv 200 {'0' * 32}", CommitMismatch.code, commit=held)

    def test_a_commitment_to_an_amount_off_the_range_can_never_be_opened(self):
        hand = play(fist(2, held=majzli_commitment(1000, NONCE)), "p2 in")
        refused(hand, f"p1 rv 1000 {NONCE.hex()}", "amount_out_of_range", min=100, max=300, step=100)
        refused(hand, f"p1 rv 300 {NONCE.hex()}", "commit_mismatch")

    def test_a_real_fist_has_no_nonce(self):
        refused(play(fist(2), "p2 in"), f"p1 rv 200 {NONCE.hex()}", "malformed_action", form="rv N")

    def test_a_nonce_has_sixteen_bytes(self):
        with pytest.raises(ValueError, match="16 bytes"):
            majzli_commitment(200, NONCE[:-1])

    def test_the_largest_vizi_is_covered_by_every_stack_before_the_deal(self):
        with pytest.raises(StackTooShort) as refusal:
            table(3, opt={"majzli_max": 300}, stacks=(300, 299, 300))
        assert (refusal.value.code, refusal.value.expected) == ("stack_too_short", {"seat": 2, "min": 300})
        assert not table(3, opt={"majzli_max": 300}, stacks=(300, 300, 300)).over

    @pytest.mark.parametrize("opt", [
        {"majzli_max": 50}, {"majzli_max": 150}, {"majzli_max": True}, {"majzli_max": 300, "table_max": 200},
        {"majzli_max": 130, "bet_unit": "chip", "chip": 20},
    ])  # fmt: skip
    def test_a_largest_vizi_that_cannot_be_held(self, opt: dict[str, object]):
        with pytest.raises(OptionOutOfRange):
            table(2, opt=opt)

    def test_nobody_knows_the_amount_before_it_is_revealed(self):
        """The commitments to two amounts differ; every view of the hand is the same but for that line."""
        for viewer in (1, 2, "public"):
            views = []
            for amount in (100, 300):
                hand = play(fist(2, held=majzli_commitment(amount, NONCE)), "p2 in")
                view = hand.view(viewer)
                view["log"] = view["log"][1:]  # type: ignore[index]
                views.append(view)
            assert views[0] == views[1]

    def test_in_a_forced_third_deal_nobody_speaks_before_the_fist_is_opened(self):
        hand = play(series_of(3, 2, opt={"majzli_max": 300}), "p1 mj ??")
        assert (hand.actor, verbs(hand)) == ("p1", ["rv"])
        play(hand, "p1 rv 300")
        assert (hand.stakes, verbs(hand)) == ((300, 300, 300), ["k", "rb"])

    def test_call_or_discard_with_a_fist_is_answered_from_the_dealer(self):
        hand = fist(5, opt={"cukassza_call": "megadas_eldobas"}, carry=500)
        for seat in (5, 4, 3):
            play(hand, f"p{seat} f")
        play(hand, "p2 in", "p1 rv 200")
        assert hand.stakes == (200, 200, 0, 0, 0) and not hand.over

    def test_a_pot_that_is_won_holds_what_was_in_the_fists(self):
        hand = play(fist(2), "p2 in", "p1 rv 300", "p1 rb 600", "p2 f")
        assert hand.result and hand.result.net == (300, -300)

    def test_without_the_option_the_vizi_is_open(self):
        assert verbs(table(2)) == ["po"]
        with pytest.raises(EngineError):
            table(2).apply("p1 mj ??")
        assert to_third_round(table(2), 2).pot == 200
