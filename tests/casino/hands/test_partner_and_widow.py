"""Physical hands of games in which cards are melded before they are played, or turned up and taken: the cards that were
named lie where they lie, at the table and in the audit trail."""

from pathlib import Path

import pytest

import engine
from casino.hands import arranging, selectors
from casino.hands.models import Hand, HandState
from engine.errors import EngineError
from engine.kernel.cards import UNKNOWN, split_cards
from engine.registry import game_info, start
from tests.casino.hands.test_time_to_act import sound
from tests.casino.kit import Kit
from tests.engine.deals import deck_of, recorded, run_forced, say, table

CASES = [("rufmariasch", 0), ("preferansz", 0), ("preferansz", 1), ("siebner_schuster", 0)]


def lines_of(game: str, place: int, *, hidden: bool) -> tuple[list[str], int]:
    """The lines of a recorded deal in which cards are melded, or the widow is taken; with ``hidden`` the house is
    recorded of no card before it lies open. And how many play."""
    found = [one for one in recorded(game) if any(f" {verb} " in " ".join(one["acts"]) for verb in ("ml", "up", "vw"))]
    record = [one for one in found if one["opt"].keys() <= {"unit", "stake"}][place]
    return [masked(line) if hidden else line for line in record["acts"]], len(record["seats"])


def masked(line: str) -> str:
    """The line as a table writes it that sees only what lies open."""
    *words, cards = line.split(" ")
    return " ".join([*words, UNKNOWN * len(split_cards(cards))]) if words[1:2] in (["dh"], ["ds"]) else line


@pytest.mark.parametrize("hidden", [False, True], ids=["named", "hidden"])
@pytest.mark.some_now(8)
@pytest.mark.parametrize(("game", "place"), CASES)
def test_a_physical_hand_is_played_settled_and_verified(
    kit: Kit, game: str, place: int, hidden: bool, tmp_path: Path
) -> None:
    lines, seats = lines_of(game, place, hidden=hidden)
    kit.table_for(game, dict(game_info(game).example), code="T1", seats=seats)
    desk = kit.seated(stacks=(40_000,) * seats)
    desk.ok("hands", {"mode": "physical"})
    for at in range(0, len(lines), 10):
        desk.act(*lines[at : at + 10])
    hand = Hand.objects.filter(house=kit.house).latest("id")
    assert hand.state == HandState.ENDED and selectors.log(hand) == lines
    assert kit.settle() == [HandState.SETTLED]
    sound(kit, tmp_path)


def test_whether_anybody_can_meld_is_not_recorded_by_what_may_follow_in_a_request() -> None:
    """A request may go on after a line that compels nobody; a meld is no compulsion, and who has one is a secret."""
    hand = say(run_forced(start(table("rufmariasch", deck=deck_of("AaXaKaOa")))), "p1 cl 7b")
    assert any(offer.verb == "ml" for offer in hand.legal())
    everything, public = hand.legal(), hand.legal_for("public")
    assert arranging._binding(everything, hand.grammar) == arranging._binding(public, hand.grammar)


def test_whether_anybody_can_meld_is_not_recorded_by_what_is_refused() -> None:
    """Places that hold no pair are refused alike, whether there is a pair at others or none."""
    called = "p1 cl 7b"
    with_pair = say(run_forced(start(table("rufmariasch", deck=deck_of("7aXaKaOa")))), called)
    without = say(run_forced(start(table("rufmariasch", deck=deck_of("7aXaKaUa")))), called)
    answers = [refused_meld(hand, places) for hand in (with_pair, without) for places in ("0,1", "1,2", "0,1,2", "3")]
    assert answers[:4] == answers[4:]
    with_pair.apply(arranging.arranged(with_pair, with_pair.grammar, "p1 ml @2,3", {}))
    assert with_pair.log[-1] == "p1 ml KaOa"


def refused_meld(hand: engine.Hand, places: str) -> tuple[str, str, object]:
    """Code, text and details of the refusal of a meld by its places."""
    with pytest.raises(EngineError) as refusal:
        hand.copy().apply(arranging.arranged(hand, hand.grammar, f"p1 ml @{places}", {}))
    return refusal.value.code, refusal.value.message, refusal.value.expected
