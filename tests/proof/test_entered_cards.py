"""What the verifier makes of a log's cards and of those that were entered beside it, recorded which verbs name
cards."""

from typing import Any

import pytest

from casino.audit.verifier.cards import CardPlaces

#: A game whose verbs are of no game of the house.
VERBS = {"dealt": ["gv"], "played": ["to"], "turned": ["tu"], "shown": ["la", "op"], "reopens": ["op"]}
DEAL = ("d gv p1 ????", "d gv p2 KlAh")


def wrong(log: tuple[str, ...], *entered: str, verbs: dict[str, list[str]] = VERBS) -> list[tuple[str, str]]:
    """What is wrong with a log beside entries like `p1.0 Kl`."""
    return list(CardPlaces(log, [_entry(text) for text in entered], verbs).wrong())


def _entry(text: str) -> dict[str, Any]:
    where, card = text.split(" ")
    seat, number = where.split(".")
    return {"actor": seat, "index": int(number), "card": card}


def places(found: list[tuple[str, str]]) -> list[str]:
    return [place for place, _ in found]


@pytest.mark.parametrize("verb", ["to", "tu"])
def test_what_leaves_a_hand_or_is_turned_up_was_entered_or_is_not_known(verb: str) -> None:
    log = (*DEAL, f"p1 {verb} Xa")
    assert wrong(log) == wrong(log, "p1.0 Xa") == wrong(log, "p1.1 Xa", "p1.0 8b") == wrong(log, "p1.0 8b") == []
    assert places(wrong(log, "p1.0 8b", "p1.1 9b")) == ["cards of p1"]


def test_the_last_entry_of_a_place_counts() -> None:
    assert wrong((*DEAL, "p1 to Xa"), "p1.0 8b", "p1.1 9b", "p1.0 Xa") == []


def test_a_card_that_is_drawn_later_is_none_that_was_played_before() -> None:
    drawn = (*DEAL, "p1 to Xa", "d gv p1 ??", "p1 to 7b")
    assert wrong(drawn, "p1.0 Xa", "p1.1 8b") == []
    assert wrong(drawn, "p1.0 8b") == []
    assert places(wrong(drawn, "p1.0 8b", "p1.1 9b")) == ["cards of p1"]
    assert places(wrong(drawn, "p1.2 Xa")) == ["cards of p1"], "the very card, drawn after it was played"


def test_every_play_takes_a_place_of_its_own() -> None:
    log = (*DEAL, "p1 to Xa", "p1 to 7b")
    assert wrong(log, "p1.0 7b") == []
    assert places(wrong(log, "p1.0 8b")) == ["cards of p1"]


def test_a_card_lies_before_one_seat() -> None:
    assert places(wrong((*DEAL, "p1 to Kl"))) == ["cards of p2"]
    assert places(wrong(DEAL, "p1.0 Ah")) == ["cards of p2"]


def test_a_hidden_card_that_is_turned_up_counts_for_nothing() -> None:
    assert wrong((*DEAL, "p1 tu ????"), "p1.0 8b", "p1.1 9b") == []


def test_what_is_dealt_after_a_hand_was_laid_open_comes_of_another_pack() -> None:
    log = (*DEAL, "p2 op KlAh", "d gv p1 KlAh", "d gv p2 8b9b")
    assert wrong(log, "p1.0 8b") == []
    assert places(wrong(log, "p1.0 Kl")) == ["cards of p2"]


def test_a_shown_hand_stands_in_the_order_of_dealing() -> None:
    log = (*DEAL, "p1 la 8b9b")
    assert wrong(log, "p1.0 8b") == []
    assert places(wrong(log, "p1.0 9b"))[0] == "card 0 of p1"


def test_a_verb_that_nobody_declared_names_no_cards() -> None:
    assert wrong((*DEAL, "p1 to Xa"), "p1.0 8b", "p1.1 9b", verbs={"dealt": ["gv"]}) == []
    assert places(wrong(DEAL, "p1.0 8b", verbs={})) == ["card 0 of p1"]
