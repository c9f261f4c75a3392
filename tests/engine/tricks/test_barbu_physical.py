"""Barbu at a real table: the pack is not known, and cards that the house does not see are dealt as ``??``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from random import Random

import pytest

from engine.errors import EngineError
from engine.kernel.cards import FRENCH52
from engine.kernel.hand import Hand
from engine.kernel.setup import Setup
from engine.record.format import Record
from engine.registry import resume, start
from tests.engine.tricks.barbu_kit import (
    IDS,
    cards,
    deals,
    fresh,
    on_offer,
    pack_with,
    play,
    play_out,
    record_of,
    refused,
    shuffled,
    state_of,
    table,
    undoubled,
)
from tests.model.barbu_random import random_record

HIDDEN = "??" * 13


def hidden(*seats: int, deck: tuple[str, ...], opt: dict[str, object] | None = None) -> Hand:
    """A deal from a pack that is not known, in which these seats' cards are not either."""
    hand = table(opt, deck=None)
    for line in deals(deck):
        seat = int(line[6])
        hand.apply(f"d dh p{seat} {HIDDEN}" if seat in seats else line)
    return hand


# Cards that the log names


def test_named_cards_play_as_from_a_known_pack():
    for seed in range(60):
        record = record_of(random_record(Random(f"named {seed}"), physical=0))
        known, named = start(record.setup()), start(record.setup()._replace(deck=None))
        for line in record.acts:
            if known.actor != "d":
                assert on_offer(known) == on_offer(named)
                assert known.automatic() == named.automatic()
            known.apply(line)
            named.apply(line)
        assert known.result == named.result


def test_a_card_is_dealt_once():
    hand = table(deck=None)
    hand.apply("d dh p1 " + "".join(FRENCH52.cards[:13]))
    refused(hand, "d dh p2 " + "".join(FRENCH52.cards[12:25]), "card_already_dealt")
    refused(hand, "d dh p2 Ad" + "??" * 11, "wrong_count", count=13)
    refused(hand, "d dh p2 Ad" + "Ad" + "??" * 11, "card_already_dealt")


# Cards that nobody named


def masked(record: Record, *seats: int) -> tuple[Setup, list[str]]:
    """The deal with the cards of these seats dealt unknown."""
    acts = list(record.acts)
    for seat in seats:
        acts[seat - 1] = f"d dh p{seat} {HIDDEN}"
    return record.setup()._replace(deck=None), acts


def test_every_deal_stands_with_its_cards_unknown():
    """Hidden hands come to the same result; a copy that knows the cards has no more on offer."""
    for seed in range(12):
        random = Random(f"hidden {seed}")
        record = record_of(random_record(random, physical=0, au=0))
        setup, acts = masked(record, *random.sample([1, 2, 3, 4], random.randint(1, 4)))
        known, blind = start(record.setup()), start(setup)
        for line, act in zip(record.acts, acts, strict=True):
            if known.actor != "d":
                assert on_offer(known) <= on_offer(blind)
                assert known.actor in blind.actors
                assert blind.view("public")["actor"] == blind.actor
            known.apply(line)
            blind.apply(act)
        assert known.result == blind.result


def completions(hand: Hand) -> Iterator[tuple[str, ...]]:
    """Every deck that the unknown cards of a hand may have made: all ways to deal the cards that have not been named
    to the unknown places."""
    named = {line.split()[2] for line in hand.log if " pl " in line}
    for seat in range(1, 5):
        named.update(hand.held(seat))
    free = [card for card in FRENCH52.cards if card not in named]
    counts = [hand.held(seat).count("??") for seat in range(1, 5)]
    for share in shares(free, counts):
        deck: list[str] = []
        for seat in range(1, 5):
            played = [line.split()[2] for line in hand.log if line.startswith(f"p{seat} pl ")]
            deck += [*played, *(card for card in hand.held(seat) if card != "??"), *share[seat - 1]]
        yield tuple(deck)


def shares(free: list[str], counts: list[int]) -> Iterator[list[tuple[str, ...]]]:
    """Every way to give the first so many of the cards, the next so many, and so on."""
    if not counts:
        yield []
        return
    for chosen in combinations(free, counts[0]):
        for rest in shares([card for card in free if card not in chosen], counts[1:]):
            yield [chosen, *rest]


def offered_by_any(hand: Hand) -> set[str]:
    """What is on offer in some deal of the unknown cards under which the whole log stands."""
    found: set[str] = set()
    for deck in completions(hand):
        try:
            known = resume(hand.setup, [*deals(deck), *hand.log[4:]])
        except EngineError:
            continue
        found |= on_offer(known)
    return found


@pytest.mark.parametrize("seed", range(24))
def test_what_is_on_offer_is_what_some_deal_of_the_unknown_cards_allows(seed: int):
    """Exactly: near the end, where all such deals can be played through."""
    random = Random(f"exact {seed}")
    opt: dict[str, object] = {"unit": 1} | random.choice([
        {}, {"must_dump": True}, {"trump_void": "free"}, {"heart_ban": "hearts"}, {"domino_ace": "low"},
    ])  # fmt: skip
    contract = ["trumps h", "dominoes 7", "queens", "king", "dominoes T", "hearts"][seed % 6]
    series = fresh(opt)
    known = start(Setup("barbu", opt, 4, (10_000,) * 4, 0, 4, shuffled(random), series=series, ids=IDS))
    play_out(play(known, *undoubled(contract)), random)
    seats = sorted(random.sample([1, 2, 3, 4], random.choice([2, 3, 4])))
    acts = [f"d dh p{seat} {HIDDEN}" if seat in seats else known.log[seat - 1] for seat in range(1, 5)]
    acts += known.log[4:]
    blind = start(known.setup._replace(deck=None))
    compared = 0
    for line in acts:
        unknown = sum(blind.held(seat).count("??") for seat in range(1, 5))
        if blind.actor != "d" and " pl " in line and unknown <= 6:
            assert on_offer(blind) == offered_by_any(blind)
            compared += 1
        blind.apply(line)
    assert blind.over
    assert compared or unknown > 6


def test_a_seat_that_does_not_follow_is_out_of_the_suit():
    hand = hidden(2, 3, 4, deck=pack_with(p1="AcKcAdKdQdJdTd9d8d7d6d5d4d"))
    play(hand, *undoubled("notricks"), "p1 pl Ac")
    assert len(cards(hand).split()) == 39
    play(hand, "p2 pl 2h; p3 pl 3c; p4 pl 4c", "p1 pl Kc")
    refused(hand, "p2 pl 2c", "card_mismatch")
    refused(hand, "p2 pl 2h", "card_already_dealt")
    refused(hand, "p2 pl ??", "card_unknown")
    refused(hand, "p2 pl Ac", "card_already_dealt")
    assert not any(card[1] == "c" for card in cards(hand).split())


def test_what_must_lie_with_a_seat_is_known_to_lie_there():
    """Three seats are out of clubs, so the fourth holds all that are left and must follow."""
    hand = hidden(2, 3, 4, deck=pack_with(p1="AcKdQdJdTd9d8d7d6d5d4d3d2d"))
    play(hand, *undoubled("notricks"), "p1 pl Ac", "p2 pl Kh; p3 pl Qh")
    assert {card[1] for card in cards(hand).split()} == {"c"}
    refused(hand, "p4 pl 2h", "verb_not_legal")
    play(hand, "p4 pl 2c")


def test_a_trump_that_does_not_head_the_trick_shows_that_there_is_no_higher_one():
    hand = hidden(2, 3, 4, deck=pack_with(p1="9h AcKcQcJcTc9c8c7c6c5c4c3c"))
    play(hand, *undoubled("trumps h"), "p1 pl 9h; p2 pl 8h; p3 pl Th; p4 pl Qh")
    play(hand, "p4 pl 2s; p1 pl 3c")
    refused(hand, "p2 pl Ah", "card_mismatch")


def test_a_heart_that_is_led_shows_that_there_is_nothing_else():
    deck = pack_with(p1="AhKhQhJhTh9h8h7h6h5h4h3h2h")
    hand = hidden(1, deck=deck)
    play(hand, *undoubled("hearts"), "p1 pl 2h")
    assert hand.actor == "p2"
    play(hand, "p2 pl Ac; p3 pl Ad; p4 pl As")
    assert {card[1] for card in cards(hand).split()} == {"h"}


def test_a_seat_that_is_passed_over_in_dominoes_has_no_card_that_fits():
    hand = hidden(1, 2, 3, deck=pack_with(p4="9c"))
    play(hand, *undoubled("dominoes 9"))
    assert hand.actors == ("p1", "p2", "p3"), "one of them has the two nines that nobody named"
    assert hand.view("public")["actors"] == ["p1", "p2", "p3"]
    hand.apply("p3 pl 9d")
    refused(hand, "p1 pl 9h", "not_your_turn")
    assert hand.actors == ("p4",), "its nine fits"
    hand.apply("p4 pl 9c")
    assert hand.actors == ("p1", "p2", "p3"), "p3 must have the last nine"
    refused(hand, "p1 pl 9h", "card_mismatch")
    refused(hand, "p2 pl 9s", "card_already_dealt")
    refused(hand, "p1 pl 7d", "verb_not_legal")
    refused(hand, "p1 ps", "verb_not_legal")


def test_the_clock_of_a_hand_that_is_not_known():
    hand = hidden(1, 2, 3, 4, deck=FRENCH52.cards)
    play(hand, *undoubled("notricks"))
    assert hand.automatic() is None
    play(hand, "p1 au")
    refused(hand, "p1 au", "verb_not_legal", action="pl")
    refused(hand, "p2 pl 2c", "verb_not_legal")
    play(hand, "p1 pl 2c")


def test_the_clock_of_a_seat_behind_others_that_may_be_passed_over():
    hand = hidden(1, 2, 3, deck=pack_with(p4="9c"))
    play(hand, *undoubled("dominoes 9"))
    play(hand, "p2 au")
    assert (hand.actors, hand.pending) == (("p2",), "pl")
    refused(hand, "p1 pl 9d", "verb_not_legal")
    play(hand, "p2 pl 9d")
    assert "p1 pl 9h" not in on_offer(hand)
    refused(hand, "d au", "malformed_action")


def test_no_seat_is_shown_what_it_may_hold_for_all_that_the_house_knows():
    """The choice of an unknown hand leaves out the cards that the house knows in other hands."""
    hand = hidden(1, 2, 3, deck=pack_with(p4="9c"))
    play(hand, *undoubled("dominoes 9"))
    for viewer in ("public", 1, 2, 3, 4):
        assert all("cards" not in offer.as_dict() for offer in hand.legal_for(viewer))
    assert all("cards" in offer.as_dict() for offer in hand.legal_for("auditor"))


def test_copies_of_hidden_hands_go_their_own_way():
    hand = hidden(1, 2, 3, deck=pack_with(p4="9c"))
    play(hand, *undoubled("dominoes 9"))
    before, twin = state_of(hand), hand.copy()
    twin.apply("p3 pl 9d")
    assert state_of(hand) == before and twin != hand


def test_hidden_deals_are_played_out_at_random():
    for seed in range(15):
        random = Random(seed)
        seats = random.sample([1, 2, 3, 4], random.randint(1, 4))
        hand = hidden(*seats, deck=shuffled(random))
        contract = random.choice(["dominoes 7", "queens", "trumps c", "lasttwo", "king"])
        play(hand, *undoubled(contract))
        while not hand.over:
            hand.apply(random.choice(sorted(on_offer(hand))))
        assert resume(hand.setup, hand.log) == hand
