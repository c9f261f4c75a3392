"""What is found at tables without a pot: disputes, rows that somebody altered, cards that cannot be as entered."""

import json
from pathlib import Path
from typing import Any

import pytest

from casino.hands import selectors
from casino.hands.models import CardException, Hand, HandState
from casino.reports.verifying import verification
from casino.staff.models import Role
from casino.verification import replaying
from engine.registry import game_info
from ledger.models import Transaction
from tests.casino.devices import code, events
from tests.casino.hands.test_settlement import alter_as_superuser
from tests.casino.kit import MISDEAL, Desk, Kit
from tests.casino.trick_hands import (
    REASON,
    Player,
    assert_whole,
    chairs,
    found,
    four,
    last_hand,
    play_physical,
    settled,
    transactions,
    zsiros,
)

# --- Disputes -------------------------------------------------------------------------------------------------------


def disputed(kit: Kit, desk: Desk) -> Hand:
    """A hand whose stored result somebody has altered before the worker looks at it."""
    Player(desk, 2).play(desk.ok("hands", {"mode": "physical"}))
    hand = last_hand(kit)
    alter_as_superuser("UPDATE hands_hand SET result = jsonb_set(result, '{ending}', '\"csupasz\"'), digest = "
                       "repeat('0', 64) WHERE id = %s", hand.id)  # fmt: skip
    assert kit.settle() == [HandState.DISPUTED]
    return hand


@pytest.mark.some_now(2)
@pytest.mark.parametrize("stake", [100, 0])
def test_a_disputed_hand_without_a_pot_can_only_be_voided(kit: Kit, stake: int) -> None:
    desk, floor = four(kit, stake=stake), kit.dealer(role=Role.FLOOR)
    left = play_physical(kit, desk, 1).result["series"]  # type: ignore[index]
    before = transactions(kit)
    hand = disputed(kit, desk)
    assert transactions(kit) == before
    [event] = events(kit, "hand.disputed")
    assert event["data"]["frozen"] == 0
    assert [problem.partition(":")[0] for problem in found(kit)] == ["the hand is disputed"]
    floor.refresh()
    ruling = {"hand": hand.name, "awards": [{"actor": "p1", "amount": 100}], "tax": 0, **REASON}
    assert code(floor.post("hand/ruling", ruling)) == (409, "pot_empty")
    kit.approved(floor, "hand/void", REASON | MISDEAL)
    assert transactions(kit) == before
    assert found(kit) == []
    desk.refresh()
    Player(desk, 3).play(again := desk.ok("hands", {"mode": "physical"}))
    assert chairs(again) == [seat["player"] for seat in hand.seats]
    assert settled(kit, desk).series == left
    assert found(kit) == []


def test_a_line_that_somebody_alters_is_not_paid_for(kit: Kit) -> None:
    desk = four(kit)
    Player(desk, 2).play(desk.ok("hands", {"mode": "physical"}))
    hand = last_hand(kit)
    change = "UPDATE hands_handline SET text = %s WHERE hand_id = %s AND seq = %s"
    log = selectors.log(hand)
    at = next(number for number, line in enumerate(log, 1) if line.startswith("p1 pl"))
    other = next(line for line in log[at:] if line.startswith("p1 pl"))
    alter_as_superuser(change, other, hand.id, at)
    assert kit.settle() == [HandState.DISPUTED]
    alter_as_superuser(change, log[at - 1], hand.id, at)
    floor = kit.dealer(role=Role.FLOOR)
    kit.approved(floor, "hand/void", REASON | MISDEAL)
    assert verification(kit.house)["ok"]


# --- What verification finds ----------------------------------------------------------------------------------------


@pytest.mark.some_now(3)
@pytest.mark.parametrize("number", [2, 1], ids={1: "the first", 2: "one that goes on"}.__getitem__)
@pytest.mark.parametrize(
    "change",
    ["jsonb_set(series, '{score}', '[4, 4]')", "jsonb_set(series, '{games}', '[1, 0]')", "'{}'", "'[]'",
     "series || '{\"more\": 1}'", "jsonb_set(series, '{order}', '[]')"],
)  # fmt: skip
def test_a_series_that_is_not_the_due_one_is_found(kit: Kit, number: int, change: str) -> None:
    desk = four(kit, stake=0)
    for seed in range(2):
        play_physical(kit, desk, seed)
    name = f"T1-{number:06d}"
    alter_as_superuser(f"UPDATE hands_hand SET series = {change} WHERE name = %s AND house_id = %s",
                       name, kit.house.id)  # fmt: skip
    differences = [one for one in replaying.verify(kit.house) if "it goes on from" in one.problem]
    assert [one.hand for one in differences] == [name]


def test_a_hand_that_does_not_go_on_with_what_was_left_is_found(kit: Kit) -> None:
    desk = four(kit, stake=0)
    for seed in range(2):
        play_physical(kit, desk, seed)
    second = last_hand(kit)
    beginning = game_info("zsiros").new_series(tuple(seat["player"] for seat in second.seats), None)
    assert second.series != beginning
    alter_as_superuser("UPDATE hands_hand SET series = %s WHERE id = %s", json.dumps(beginning), second.id)
    assert any("it goes on from" in problem for problem in found(kit))


def test_a_series_of_a_hand_in_play_is_verified_too(kit: Kit) -> None:
    kit.table(seats=2, force_third_deal=True)
    desk = kit.seated(stacks=(9_000,) * 2)
    desk.ok("hands", {"mode": "physical"})
    assert found(kit) == []
    alter_as_superuser("UPDATE hands_hand SET series = '{\"failed\": 1}' WHERE house_id = %s", kit.house.id)
    assert any("it goes on from {}" in problem for problem in found(kit)), found(kit)


@pytest.mark.parametrize("statement", ["game = 'poker'", "rules = 'zsiros/9'", "options = '{\"stake\": 0, \"x\": 1}'",
                                       "options = '{}'"])  # fmt: skip
def test_rules_that_there_are_not_are_differences_and_no_crash(kit: Kit, statement: str) -> None:
    desk = four(kit, stake=0)
    hand = play_physical(kit, desk, 1)
    alter_as_superuser(f"UPDATE hands_hand SET {statement} WHERE id = %s", hand.id)
    assert found(kit)


def test_a_settlement_that_was_never_posted_is_found(kit: Kit) -> None:
    desk = four(kit)
    hand = play_physical(kit, desk, 1)
    alter_as_superuser("UPDATE hands_hand SET settlement = NULL WHERE id = %s", hand.id)
    assert any("names ledger transaction None" in problem for problem in found(kit))


def test_a_hand_without_money_that_names_a_settlement_is_found(kit: Kit) -> None:
    desk = four(kit, stake=0)
    hand = play_physical(kit, desk, 1)
    posted = Transaction.objects.filter(book=kit.house.id).latest("id").id
    alter_as_superuser("UPDATE hands_hand SET settlement = %s WHERE id = %s", posted, hand.id)
    assert any(f"names ledger transaction {posted}" in problem for problem in found(kit))


# --- Entered cards --------------------------------------------------------------------------------------------------


def entering(kit: Kit) -> tuple[Desk, Player]:
    """A hand after its first deal, in which the house knows no cards."""
    desk = four(kit, stake=0)
    player = Player(desk, 7, frozenset({"p1", "p2", "p3", "p4"}))
    player.play(desk.ok("hands", {"mode": "physical"}), until=4)
    return desk, player


def entries(seat: str, cards: list[str], first: int = 0) -> dict[str, Any]:
    """The body that enters cards of a seat from a place on."""
    return {"entries": [{"actor": seat, "index": first + at, "card": card} for at, card in enumerate(cards)]}


@pytest.mark.slow
def test_cards_that_are_played_agree_with_those_that_were_entered(kit: Kit, tmp_path: Path) -> None:
    desk, player = entering(kit)
    for seat in ("p1", "p3"):
        desk.ok("hand/cards", entries(seat, player.hands[seat]))
    player.play(desk.get("hand").json())
    settled(kit, desk)
    assert_whole(kit, tmp_path)


@pytest.mark.slow
def test_a_card_that_was_not_entered_is_not_played_once_all_are(kit: Kit) -> None:
    desk, player = entering(kit)
    desk.ok("hand/cards", entries("p1", player.hands["p1"]))
    free = player.pack[0]
    refused = desk.post("hand/actions", {"actions": [{"actor": "p1", "verb": "pl", "cards": free}]})
    assert code(refused) == (422, "cards_differ")
    [kept] = CardException.objects.filter(house=kit.house)
    assert kept.kind == "differs"
    desk.refresh()
    desk.ok("hand/actions", {"actions": [{"actor": "p1", "verb": "pl", "cards": player.hands["p1"][2]}]})


@pytest.mark.slow
def test_a_card_that_was_played_must_be_among_those_of_its_time(kit: Kit) -> None:
    """After the draw there is a place that is not known, but a card that was played before did not come from there."""
    desk, player = entering(kit)
    answer = desk.get("hand").json()
    while len(player.dealt["p1"]) == 4:
        answer = player.play(answer, until=1)
    own, played = player.dealt["p1"], [card for card in player.dealt["p1"] if card not in player.hands["p1"]]
    others = [card for card in own[:4] if card not in played] + player.pack[: len(played)]
    assert code(desk.post("hand/cards", entries("p1", others))) == (422, "cards_differ")
    desk.refresh()
    desk.ok("hand/cards", entries("p1", own[:4]))


@pytest.mark.slow
def test_a_card_is_not_entered_for_one_seat_and_played_by_another(kit: Kit) -> None:
    desk, player = entering(kit)
    desk.ok("hand/cards", entries("p2", player.hands["p2"][:1]))
    taken = player.hands["p2"][0]
    refused = desk.post("hand/actions", {"actions": [{"actor": "p1", "verb": "pl", "cards": taken}]})
    assert code(refused) == (422, "card_entered_twice")


@pytest.mark.slow
def test_a_hand_of_two_has_sixteen_places(kit: Kit) -> None:
    zsiros(kit, stake=0, seats=2)
    desk = kit.seated(stacks=(0, 0))
    player = Player(desk, 7, frozenset({"p1", "p2"}))
    answer = desk.ok("hands", {"mode": "physical"})
    while len(player.dealt.get("p2", [])) < 12:
        answer = player.play(answer, until=1)
    desk.ok("hand/cards", entries("p2", player.dealt["p2"][10:12], first=10))
    desk.ok("hand/cards", entries("p2", player.dealt["p2"][:8]))
    assert code(desk.post("hand/cards", entries("p2", ["Aa"], first=52))) == (400, "invalid_request")


@pytest.mark.slow
def test_the_floor_corrects_what_was_dealt_and_what_was_entered(kit: Kit, tmp_path: Path) -> None:
    desk, player = entering(kit)
    floor = kit.dealer(role=Role.FLOOR)
    desk.ok("hand/cards", entries("p1", [player.pack[0], *player.dealt["p1"][1:]]))
    floor.refresh()
    floor.ok("hand/corrections", {"entry": {"actor": "p1", "index": 0, "card": player.dealt["p1"][0]}, **REASON})
    floor.ok("hand/corrections", {"line": 2, "cards": "".join(player.dealt["p2"]), **REASON})
    desk.refresh()
    player.play(desk.get("hand").json())
    settled(kit, desk)
    assert f"d dh p2 {''.join(player.dealt['p2'][:4])}" in selectors.log(last_hand(kit))
    assert_whole(kit, tmp_path)
