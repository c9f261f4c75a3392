"""Old Maid: the rules text section by section, the record that describes its log, options and refusals."""

from __future__ import annotations

from random import Random

import pytest

from engine.deal.shuffle import reshuffled
from engine.errors import EngineError
from engine.kernel.events import Shown
from engine.kernel.hand import Hand
from engine.record.format import record_of
from engine.record.replay import replay
from engine.registry import game_info, resume, start, supply
from tests.engine.shedding.shedding_kit import IDS, deal, deck_of, example, mixed, play, refused, setup, shuffled

DRAW: dict[str, object] = {"discard": "draw"}
PLAIN = deck_of("Uh", "AaKaOaXa9a", "AlKlOlXl9l")
"""Two seats whose hands have no pairs."""
PAIRED = deck_of("Uh", "AaAlAbKhUb", "7a7l7b7hUa")
"""p1 has three aces, p2 four sevens."""


def test_the_example_line_by_line():
    """Indices as the description of the log has them."""
    record = example("old_maid", "M1-000003")
    deck = tuple(record["deck"][at : at + 2] for at in range(0, 64, 2))
    table = setup("old_maid", opt=record["opt"])._replace(
        series=record["series"], ids=tuple(record["seats"]), deck=deck
    )
    hand = start(table)
    assert hand.forced() == "d rm Uh"
    for at, line in enumerate(record["acts"]):
        match at:
            case 5:
                assert hand.forced() == line == "p1 ds KbKh"
            case 6:
                assert hand.wants == ("7a", "Ul", "9l", "9h", "7h")
            case 7:
                assert hand.view(1)["fan"] == "p4" and hand.actor == "p1"
            case 8:
                assert hand.held(1)[-1] == "7a" and hand.forced() == line == "d dh p4 Ub"
            case 13:
                assert hand.phase == "match"
            case 48:
                assert hand.view(1)["talon"] == 0
        hand.apply(line)
    assert hand.result and (hand.result.ending, hand.result.net) == ("lost", (100, 100, 100, -300))
    assert dict(hand.result.series) == record["series_out"]
    assert [line for line in hand.log if " ds " in line][-1] == "p2 ds AaAb" and hand.held(4) == ("Ub",)


def test_one_unter_goes_out_of_play_and_never_that_of_bells():
    """Text, "The Deal": the first of the three in the deck, which nobody sees."""
    for top in ("Ua", "Ul", "Uh"):
        hand = start(setup("old_maid", deck=deck_of("Ub", top)))
        others = [card for card in ("Ua", "Ul", "Uh", "Ub", "??") if card != top]
        for card in others:
            refused(hand, f"d rm {card}", "card_mismatch")
        refused(hand, "d dh p1 AaKaOaXa9a", "verb_not_legal")
        hand.apply(f"d rm {top}")
        for viewer in (1, 4, "public"):
            assert hand.view(viewer)["log"][0] == "d rm ??"  # type: ignore[index]
        assert hand.view("auditor")["log"][0] == f"d rm {top}"  # type: ignore[index]


def test_the_other_cards_keep_their_order():
    hand = deal("old_maid", 2, deck=deck_of("AaKa", "Ul", "OaXa9aAlKl"))
    assert hand.log[:3] == ("d rm Ul", "d dh p1 AaKaOaXa9a", "d dh p2 AlKlUa8a7a")


def test_all_pairs_go_out_first_and_are_forced():
    """Text, "discards any pairs": of three the first two, of four all, and not the Unter of bells."""
    hand = start(setup("old_maid", 2, deck=PAIRED))
    while hand.actor == "d":
        hand.apply(hand.forced() or "")
    assert (hand.phase, hand.timed, hand.automatic(), hand.forced()) == ("pairs", False, None, "p1 ds AaAl")
    for line in ("p1 ds AaAb", "p1 ds AlAa", "p1 ds AlAb", "p1 ds AaAlAbKh", "p1 ds ????"):
        refused(hand, line, "card_mismatch")
    with pytest.raises(EngineError) as refusal:
        hand.copy().apply("p1 ds ????")
    assert refusal.value.expected == {}  # not even how many pairs there are
    refused(hand, "p1 au", "verb_not_legal")
    refused(hand, "p2 ds 7a7l7b7h", "not_your_turn")
    refused(hand, "d fn p2 7a7l7b7hUa", "not_your_turn")
    assert hand.apply("p1 ds AaAl") == (Shown(1, ("Aa", "Al")),)
    assert hand.view("public")["seats"][0]["pairs"] == 1 and len(hand.held(1)) == 3  # type: ignore[index]
    play(hand, "d fn p2 Ua7h7b7l7a; p1 dr 5")
    assert hand.log[-1] == "p2 ds 7l7b"


def test_the_two_other_unters_make_a_pair():
    hand = deal("old_maid", 2, deck=deck_of("Uh", "UaUlUbKhAa"), opt=DRAW)
    assert hand.log[-1] == "p1 ds UaUl" and hand.held(1) == ("Ub", "Kh", "Aa")


def test_a_card_is_drawn_from_the_right_hand_neighbour_who_draws_from_the_pack():
    """Text, "The player to the current player's right fans their cards"."""
    hand = deal("old_maid", 3, deck=deck_of("Uh", "AaKaOaXa9a", "AlKlOlXl9l", "8b7bAhKhOh", "Ob"), opt=DRAW)
    assert (hand.actor, hand.phase, hand.actors) == ("d", "fan", ("d",))
    refused(hand, "d fn p2 AlKlOlXl9l", "wrong_target")
    for cards in ("8b7bAhKh", "8b7bAhKhOhOh", "8b7bAhKhKh", "8b7bAhKhAa", "??7bAhKhOh"):
        refused(hand, f"d fn p3 {cards}", "card_mismatch")
    play(hand, "d fn p3 KhOh8b7bAh")
    for line in ("p1 dr 0", "p1 dr 6"):
        refused(hand, line, "amount_out_of_range")
    refused(hand, "p2 dr 1", "not_your_turn")
    play(hand, "p1 dr 3")
    assert hand.held(1)[-1] == "8b" and hand.log[-1] == "d dh p3 Ob" and hand.held(3) == ("7b", "Ah", "Kh", "Oh", "Ob")
    assert hand.phase == "fan" and hand.view(1)["fan"] is None


def test_who_knows_a_card_that_was_drawn():
    """Backs to all; the card is known to who drew it and to who had it, who does not know the order before."""
    hand = deal("old_maid", 3, deck=deck_of("Uh", "AaKaOaXa9a", "AlKlOlXl9l", "8b7bAhKhOh", "Ob"), opt=DRAW)
    play(hand, "d fn p3 KhOh8b7bAh")
    for viewer in (1, 2, 3, "public"):
        assert hand.view(viewer)["log"][-1] == "d fn p3 ??????????"  # type: ignore[index]
    assert hand.view(3)["seats"][2]["cards"] == ["8b", "7b", "Ah", "Kh", "Oh"]  # type: ignore[index]
    play(hand, "p1 au; p1 dr 1")
    assert [hand.view(viewer)["log"][4] for viewer in (1, 3)] == ["d fn p3 Kh????????"] * 2  # type: ignore[index]
    assert [hand.view(viewer)["log"][4] for viewer in (2, "public")] == ["d fn p3 ??????????"] * 2  # type: ignore[index]
    assert hand.view(1)["seats"][0]["cards"] == list(hand.held(1)) and "Kh" not in hand.held(3)  # type: ignore[index]


def test_the_clock_draws_the_first_card():
    hand = deal("old_maid", 2, "d fn p2 AlKlOlXl9l", deck=PLAIN, opt={"discard": "turn"})
    assert hand.late() == ("p1 au", "p1 dr 1")
    play(hand, "p1 au")
    refused(hand, "p1 dr 2", "verb_not_legal")
    play(hand, "p1 dr 1")
    refused(deal("old_maid", 2, deck=PLAIN), "p1 au", "not_your_turn")


def test_with_turn_a_pair_that_was_drawn_waits_for_the_next_turn():
    """``discard``: the text lets pairs go out at the start of a turn; ``draw`` after the draw as well."""
    waits = deal("old_maid", 2, "d fn p2 AlKlOlXl9l; p1 dr 1", deck=PLAIN, opt={"discard": "turn"})
    goes = deal("old_maid", 2, "d fn p2 AlKlOlXl9l; p1 dr 1", deck=PLAIN, opt=DRAW)
    assert waits.log[-1] == "d dh p2 Ua" and waits.phase == "fan" and "Al" in waits.held(1)
    assert goes.log[-1] == "p1 ds AaAl" and goes.phase == "fan"


def test_a_hand_that_the_draw_has_emptied_takes_a_card_while_the_pack_lasts():
    deck = deck_of("Uh", "AaAl9a9lKa", "KlOaXa8aUb", "7a")
    hand = deal("old_maid", 2, "d fn p2 KlOaXa8aUb; p1 dr 1", deck=deck, opt=DRAW)
    assert hand.log[-4:] == ("p1 dr 1", "d dh p2 7a", "p1 ds KaKl", "d dh p1 Ua")
    late = deal("old_maid", 2, "d fn p2 KlOaXa8aUb; p1 dr 1", deck=deck, opt={"discard": "turn"})
    assert late.log[-1] == "d dh p2 7a" and late.held(1) == ("Ka", "Kl")


def ending(*, seats: int, seed: int = 0, **opt: object) -> Hand:
    """A deal in which every seat draws the first card of each fan."""
    hand = start(setup("old_maid", seats, deck=shuffled(Random(seed)), opt=opt))
    while not hand.over:
        supply(hand, mixed)
        for line in (hand.forced(),) if hand.forced() else hand.late():
            hand.apply(line or "")
    return hand


@pytest.mark.parametrize("seats", range(2, 7))
def test_the_last_holder_of_the_unter_of_bells_loses(seats: int):
    """Text, "Scoring", and "you are safe": with the pack gone an empty hand takes no further part."""
    for seed in range(4):
        hand = ending(seats=seats, seed=seed, discard="draw", forfeit=10)
        assert hand.result and hand.result.ending == "lost"
        [loser] = [seat for seat in range(1, seats + 1) if hand.held(seat)]
        assert "Ub" in hand.held(loser)
        assert hand.result.net == tuple(-10 * (seats - 1) if seat == loser else 10 for seat in range(1, seats + 1))
        series = hand.result.series
        assert (series["deals"], series["lost"]) == ("ann", [int(seat == loser) for seat in range(1, seats + 1)])
        assert game_info("old_maid").next_seats(seats, hand.setup.series, series) == (*range(1, seats), 0)


@pytest.mark.parametrize(("seats", "ends"), [(2, False), (3, True), (4, False), (5, True), (6, False)])
def test_with_turn_only_odd_tables_come_to_an_end(seats: int, ends: bool):
    """The parity of hands: with 2, 4 or 6 seats such a deal is always void."""
    hand = ending(seats=seats, discard="turn", max_turns=300)
    assert hand.result and (hand.result.ending == "lost") == ends
    if not ends:
        assert hand.result.net == (0,) * seats and hand.result.series == hand.setup.series
        assert sum(" dr " in line for line in hand.log) <= 300


def test_turns_are_counted_to_the_void():
    hand = deal("old_maid", 2, "d fn p2 AlKlOlXl9l; p1 dr 1", deck=PLAIN, opt={"discard": "draw", "max_turns": 1})
    assert hand.result and hand.result.ending == "void" and hand.log[-1] == "p1 ds AaAl"


def test_a_sole_winner_takes_the_whole_payment():
    """Text, "If you need to have a sole winner": most pairs; of several in equal shares, the rest to the first."""
    shared = alone = 0
    for seats, seed in [(3, seed) for seed in range(40)] + [(4, seed) for seed in range(20)]:
        hand = ending(seats=seats, seed=seed, discard="draw", forfeit=7, sole_winner=True)
        assert hand.result
        pairs = [seat["pairs"] for seat in hand.view("public")["seats"]]  # type: ignore[attr-defined]
        loser = next(seat for seat in range(1, seats + 1) if hand.held(seat))
        rest = {seat: pairs[seat - 1] for seat in range(1, seats + 1) if seat != loser}
        best = [seat for seat in rest if rest[seat] == max(rest.values())]
        shares = {(4, 1): [21], (4, 2): [11, 10], (4, 3): [7, 7, 7], (3, 1): [14], (3, 2): [7, 7]}
        assert [hand.result.net[seat - 1] for seat in best] == shares[seats, len(best)]
        assert hand.result.net[loser - 1] == -7 * (seats - 1)
        assert sum(hand.result.net) == 0
        alone, shared = alone + (len(best) == 1), shared + (len(best) > 1)
    assert alone and shared


def test_a_fan_that_the_house_has_shuffled_is_held_out_as_it_is():
    """The order comes of the hand's seed; it is no part of the set-up, of the digest, or of the record's packs."""
    hand = deal("old_maid", 2, deck=PLAIN, opt={"discard": "turn"})
    assert hand.wants == ("Al", "Kl", "Ol", "Xl", "9l") and hand.forced() is None and hand.shuffles == 0
    before = hand.copy()
    for wrong in (("Al",), ("Al", "Kl", "Ol", "Xl", "Xl"), ("Al", "Kl", "Ol", "Xl", "Aa")):
        with pytest.raises(EngineError):
            hand.supply(wrong)
    supply(hand, lambda cards, number: cards[::-1])
    assert hand.forced() == "d fn p2 9lXlOlKlAl" and hand.wants is None and hand == before
    refused(hand, "d fn p2 AlKlOlXl9l", "card_not_from_deck")
    with pytest.raises(EngineError):
        hand.supply(("9l", "Xl", "Ol", "Kl", "Al"))
    hand.apply("d fn p2 9lXlOlKlAl")
    before.apply("d fn p2 9lXlOlKlAl")
    assert hand.digest() == before.digest() and hand.setup.redeals == () and hand.shuffles == 1
    assert hand._state.values() == before._state.values()


def test_the_n_th_shuffle_is_the_n_th_of_the_seed_and_the_log_alone_replays():
    seed, numbers = bytes(range(32)), []

    def shuffle(cards: tuple[str, ...], number: int) -> tuple[str, ...]:
        numbers.append(number)
        return reshuffled(cards, seed, "T1-000001", {}, number)

    hand = start(setup("old_maid", 3, deck=PLAIN, opt=DRAW))
    while not hand.over:
        for line in (hand.forced(),) if hand.forced() else hand.late():
            hand.apply(line or "")
            supply(hand, shuffle)
    assert numbers == list(range(1, sum(" fn " in line for line in hand.log) + 1))
    record = record_of(hand, hand_id="T1-000001", rules_id="old_maid/1", seats=IDS[:3], opt=dict(hand.setup.opt))
    assert record.redeals == () and replay(record).ok
    assert resume(hand.setup, hand.log, shuffle).digest() == hand.digest()
    at = next(at for at, line in enumerate(hand.log) if " fn " in line)
    words = hand.log[at].split(" ")
    turned = [*hand.log[:at], " ".join([*words[:3], words[3][2:] + words[3][:2]]), *hand.log[at + 1 :]]
    with pytest.raises(EngineError):
        resume(hand.setup, turned[: at + 1], shuffle)
    assert resume(hand.setup, turned[: at + 1]).phase == "draw"


def test_options_and_stacks():
    game = game_info("old_maid")
    assert game.policy.must_set == ("forfeit", "discard")
    for seats, worst in ((2, 70), (6, 350)):
        rules = game.rules.parse({"forfeit": 70, "discard": "draw"}, seats)
        assert (rules.least_stack, game.policy.worst_loss(rules, seats)) == (worst, worst)
        start(setup("old_maid", seats, opt={"forfeit": 70}, stacks=(worst,) * seats))
        with pytest.raises(EngineError, match=f"p1 has {worst - 1}"):
            start(setup("old_maid", seats, opt={"forfeit": 70}, stacks=(worst - 1,) + (worst,) * (seats - 1)))
    for opt in (
        {"forfeit": 1},
        {"discard": "draw"},
        {"forfeit": 1, "discard": "both"},
        {"forfeit": 1, "discard": True},
    ):
        with pytest.raises(EngineError):
            start(setup("old_maid")._replace(opt=opt))
    for seats in (1, 7):
        with pytest.raises(EngineError, match="2 to 6 seats"):
            start(setup("old_maid")._replace(seats=seats))
