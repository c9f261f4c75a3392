"""Hands whose cards move between seats, over HTTP: electronic ones, whose fans come of the seed, and their checks."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from casino.core.errors import Unprocessable
from casino.hands import arranging, clock, deals, face_down, selectors
from casino.hands.models import Hand, HandLine
from deploy.demo.dealer import COMPELLED
from deploy.demo.evening import HERE
from engine.registry import game_info, supply
from tests.casino import evenings
from tests.casino.kit import Desk, Kit
from tests.casino.superuser import unguarded
from tests.casino.trick_hands import assert_whole, found, held, last_hand, settled
from tests.engine.shedding.shedding_kit import deal, deck_of, mixed, run_forced

GAMES = ("esel", "pacal", "old_maid")


def seated(kit: Kit, game: str, **options: Any) -> Desk:
    """Four players at a table of the game."""
    kit.table_for(game, dict(game_info(game).example) | options, code="T1", seats=4, tray=0, max_stack=50_000)
    return kit.seated(stacks=(20_000,) * 4)


def actions(kit: Kit, answer: dict[str, Any], choice: random.Random) -> list[dict[str, Any]]:
    """What a console may try that knows no card, in random order: cards by their places, shouts seldom."""
    out = []
    for offer in answer["legal_actions"]:
        said = {"actor": offer["actor"], "verb": offer["verb"]}
        if offer["verb"] in ("pl", "gv", "up"):
            count = len(held(kit, offer["actor"]))
            out += [said | {"places": [place]} for place in choice.sample(range(count), count)]
        elif offer["verb"] == "dr":
            out.append(said | {"count": choice.randint(1, offer["takes"]["count"]["max"])})
        elif offer["verb"] == "ts":
            out.append(said | {"suit": choice.choice(offer["takes"]["suit"]["choices"])})
        elif offer["verb"] != "sh" or choice.random() < 0.05 or answer["actor"] == offer["actor"]:
            out.insert(0, said)
    passing = [one for one in out if one["verb"] == "ps"]
    return [one for one in out if one["verb"] != "ps"] + passing


def play(kit: Kit, desk: Desk, seed: int) -> Hand:
    """One electronic hand from the deal to its settlement."""
    choice = random.Random(seed)
    answer = desk.deal()
    while answer["actor"] is not None:
        for action in actions(kit, answer, choice):
            tried = desk.post("hand/actions", {"actions": [action]})
            if tried.is_success:
                answer = tried.json()
                break
            assert tried.json()["code"] in COMPELLED, tried.json()
        else:
            raise AssertionError(answer["legal_actions"])
    return settled(kit, desk)


@pytest.mark.some_now(3)
@pytest.mark.parametrize("game", GAMES)
def test_electronic_hands_go_on_from_each_other_and_have_no_difference(kit: Kit, game: str, tmp_path: Path) -> None:
    options = {"esel": {"max_passes": 12}, "pacal": {"max_plies": 14}, "old_maid": {"max_turns": 12}}[game]
    desk = seated(kit, game, **options)
    hands = [play(kit, desk, seed) for seed in (1, 2)]
    assert [hand.state for hand in hands] == ["settled"] * 2
    assert hands[1].series == hands[0].result["series"]
    assert_whole(kit, tmp_path)


def test_fans_come_of_the_seed_and_another_order_is_a_difference(kit: Kit) -> None:
    desk = seated(kit, "old_maid", max_turns=6)
    hand = play(kit, desk, 3)
    log, shuffle = selectors.log(hand), deals.shuffle(hand)
    assert shuffle and len(hand.cards_roots) == 1 and "decks" not in selectors.record(hand)
    fans = [line for line in log if " fn " in line]
    assert fans and found(kit) == []
    pack = game_info("old_maid").pack
    for number, line in enumerate(fans, 1):
        cards = line.split(" ")[3]
        named = {cards[at : at + 2] for at in range(0, len(cards), 2)}
        assert "".join(shuffle(tuple(card for card in pack.cards if card in named), number)) == cards
    line = HandLine.objects.filter(hand=hand, text__contains=" fn ").order_by("seq").first()
    assert line
    words = log[line.seq - 1].split(" ")
    turned = " ".join([*words[:3], words[3][2:] + words[3][:2]])
    kept = face_down.line(hand, line.seq, turned, line.text)
    with unguarded("hands_handline") as cursor:
        cursor.execute("UPDATE hands_handline SET sealed = %s, hash = %s WHERE id = %s", [*kept, line.id])
    assert any("the fan is not as it was shuffled" in problem for problem in found(kit))


def test_nobody_but_the_house_ends_a_deal_that_nobody_shouts_in(kit: Kit) -> None:
    """The clock writes it when the time to act is over, and the event names the house."""
    desk = seated(kit, "esel", max_passes=2)
    answer = desk.deal()
    for _ in range(2):
        answer = desk.ok("hand/actions", {"actions": [{"actor": answer["actor"], "verb": "gv", "places": [0]}]})
    assert answer["actor"] == "d" and [offer["verb"] for offer in answer["legal_actions"]] == ["vd", "sh"]
    assert clock.lines(selectors.state(last_hand(kit))) == ("d vd",)
    desk.ok("hand/actions", {"actions": [{"actor": "d", "verb": "vd"}]})
    assert settled(kit, desk).result["net"] == [0, 0, 0, 0]


@pytest.mark.some_now(3)
@pytest.mark.parametrize("game", GAMES)
def test_recorded_hands_are_played_in_physical_mode(kit: Kit, game: str) -> None:
    """Every card is named by the record; the ledger says what the record says."""
    lines = (HERE / f"{game}.jsonl").read_text().splitlines()[:2]
    evening = [json.loads(line) for line in lines]
    kit.table_for(game, evening[0]["opt"], code="T1", seats=len(evening[0]["seats"]), tray=0, max_stack=10_000_000)
    evenings.play_records(kit, evening)
    evenings.assert_house_is_whole(kit)


@pytest.mark.parametrize("line", ["p1 ps", "p1 au", "p1 ts a", "p3 ps"])
def test_whether_a_seat_can_beat_is_not_recorded_by_what_may_follow_in_a_request(line: str) -> None:
    """A request that fails further on would be a look for nothing, so nothing follows where cards may compel."""
    for top in ("8a", "7h"):  # p1 holds acorns and leaves, its trump is bells
        deck = deck_of("AaKaOaUaXa", "AlKlOlUlXl", "AbKbObUbXb", "AhKhOhUhXh", top)
        hand = deal("pacal", 4, deck=deck, trumps="blah")
        assert (hand.phase, len(hand.legal())) == ("beat", 2 if top == "8a" else 1)
        with pytest.raises(Unprocessable) as refusal:
            arranging.require_sealed(hand, hand.grammar, line, last=False)
        assert refusal.value.code == "must_be_last"
        arranging.require_sealed(hand, hand.grammar, line, last=True)


def test_nothing_follows_a_card_drawn_unseen_nor_a_shout_in_one_request() -> None:
    """Whether the card makes a pair, or the shout is true, is what the next line would be refused by."""
    drawing = deal("old_maid", 3, opt={"forfeit": 1, "discard": "draw"})
    supply(drawing, mixed)
    run_forced(drawing)
    shouting = deal("esel", 4, "p1 gv 7h", deck=deck_of("AaKaOaUaXa9a8a7h"))
    for hand, line in ((drawing, f"{drawing.actor} dr 1"), (shouting, "p1 sh")):
        with pytest.raises(Unprocessable) as refusal:
            arranging.require_sealed(hand, hand.grammar, line, last=False)
        assert refusal.value.code == "must_be_last"
        arranging.require_sealed(hand, hand.grammar, line, last=True)
