"""Tables with a kitty and a bank of the seats: dealt, settled, carried on, voided, ruled on, closed and verified."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from casino.core.errors import Unprocessable
from casino.hands import selectors
from casino.hands.models import Hand, HandState
from casino.hands.terms import set_up_table
from casino.reports.selectors import hand_money, house_report
from casino.staff.models import Role
from casino.tables.models import CarryoverOnClose
from casino.tables.services import Terms
from engine.errors import EngineError
from engine.kernel.cards import split_cards
from tests.casino.devices import code, device, events
from tests.casino.evenings import assert_house_is_whole
from tests.casino.hands.test_settlement import alter_as_superuser
from tests.casino.kit import ACTOR, MISDEAL, Desk, Kit
from tests.casino.kitty_hands import (
    at_table,
    begin_physical,
    electronic_step,
    go_on,
    play_electronic,
    play_physical,
    ramsli,
)
from tests.casino.superuser import unguarded
from tests.casino.trick_hands import REASON, assert_whole, chairs, found, last_hand, settled

ALONE = ("p3 po 400", "p3 cl top", "p3 lk 4", "p3 kn", "p1 ps", "p2 ps")
"""In no muss: the dealer knocks, nobody plays along."""
ALL_PASS = ("p3 po 400", "p3 cl top", "p3 lk 4", *("p3 ps", "p1 ps", "p2 ps") * 3)


def lying(kit: Kit) -> tuple[int, ...]:
    """Pot, cukassza, bank, disputed pot."""
    return tuple(kit.balance("2030/T1", "2040/T1", "2050/T1", "2070/T1"))


def grow(kit: Kit, desk: Desk, *, least: int = 1) -> Hand:
    """Play until something lies in the bank; returns the last hand."""
    for seed in range(60):
        hand = play_physical(kit, desk, seed)
        if kit.balance("2050/T1") >= least:
            return hand
    raise AssertionError("nothing ever came into the bank")


# --- Setting up -----------------------------------------------------------------------------------------------------


def terms(**changed: Any) -> Terms:
    agreed: dict[str, Any] = {
        "game": "ramsli", "options": {"unit": 100, "bank_level": 16}, "seats": 6, "min_stack": 3_600,
        "max_stack": 90_000, "carryover_on_close": CarryoverOnClose.SPLIT,
    }  # fmt: skip
    return Terms(**(agreed | changed))


def test_tables_that_can_be_and_that_cannot(kit: Kit) -> None:
    assert set_up_table(house=kit.house, code="T1", terms=terms(), actor=ACTOR).seats == 6
    for wrong, refusal in (
        (terms(options={"unit": 100, "bank_level": 0}), "not_at_house_tables"),
        (terms(options={"unit": 100}), "option_missing"),
        (terms(options={"unit": 100, "bank_level": 18}), "option_out_of_range"),
        (terms(min_stack=3_599), "min_stack_too_small"),
        (terms(seats=7), "seats_out_of_range"),
    ):
        with pytest.raises((EngineError, Unprocessable)) as caught:
            set_up_table(house=kit.house, code="T2", terms=wrong, actor=ACTOR)
        assert caught.value.code == refusal


# --- Evenings -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seats", [2, *(pytest.param(seats, marks=pytest.mark.slow) for seats in (3, 6))])
def test_kitty_and_bank_go_on_from_hand_to_hand(kit: Kit, tmp_path: Path, seats: int) -> None:
    desk = at_table(kit, seats=seats)
    before = {"kitty": 0, "bank": 0}
    for seed in range(10):
        play = play_electronic if seed % 3 == 2 else play_physical
        hand = play(kit, desk, seed)
        result = hand.result
        assert result is not None and hand.series == before and hand.carry == sum(before.values())
        before = result["series"]
        assert lying(kit) == (0, before["kitty"], before["bank"], 0)
        assert desk.refresh()["cukassza"] == before["kitty"] and desk.refresh()["bank"] == before["bank"]
        assert hand_money(hand) == {
            "hand": hand.name, "state": "settled", "net": result["net"], "tax": 0, "bonus": 0,
            "carry_out": sum(before.values()),
        }  # fmt: skip
    assert [event["data"].get("series_begins") for event in events(kit, "hand.dealt")][1:] == [None] * 9
    assert_whole(kit, tmp_path)


def test_stakes_are_posted_at_once_and_the_rest_at_the_settlement(kit: Kit) -> None:
    desk = at_table(kit)
    grow(kit, desk)
    kitty, bank = lying(kit)[1:3]
    game = begin_physical(kit, desk, random.Random(1))
    assert lying(kit) == (kitty, 0, bank, 0)
    answer = go_on(desk, game, "p3 po 400")
    assert kitty == 1600 and lying(kit) == (1600, 0, bank + 400, 0)
    assert (answer["balances"]["pot"], answer["balances"]["bank"]) == (1600, bank + 400)
    assert (answer["view"]["kitty"], answer["view"]["bank"]) == (1600, bank + 400)
    for line in ("p3 cl top", "p3 lk 4", "p3 kn", "p1 ps", "p2 ps"):
        while game.actor == "d":
            go_on(desk, game, game.forced() or "")
        go_on(desk, game, line)
    assert lying(kit) == (1600, 0, bank + 400, 0)
    hand = settled(kit, desk)
    assert hand.result is not None and hand.result["ending"] == "alone"
    left = min(1600, bank + 400)
    assert lying(kit) == (0, left, bank + 400 - left, 0)
    assert_house_is_whole(kit)


def test_a_failed_hand_leaves_the_kitty(kit: Kit, tmp_path: Path) -> None:
    desk = at_table(kit)
    for seed in range(40):
        if lying(kit)[1] > 0:
            break
        play_physical(kit, desk, seed)
    kitty, bank = lying(kit)[1:3]
    hand = play_physical(kit, desk, 5, lines=ALL_PASS)
    assert hand.result is not None and hand.result["ending"] == "failed"
    assert sum(lying(kit)) == kitty + bank + 400 and lying(kit)[1] == min(kitty + 400, 1600)
    assert_whole(kit, tmp_path)


@pytest.mark.slow
def test_cards_that_the_house_does_not_know(kit: Kit, tmp_path: Path) -> None:
    desk = at_table(kit)
    for seed in range(6):
        hidden = ("p1", "p2", "p3") if seed % 2 else ("p2", "p3")
        play_physical(kit, desk, seed, hidden=hidden)
    logs = [line for hand in Hand.objects.filter(house=kit.house) for line in selectors.log(hand)]
    assert any(" ds ??" in line for line in logs) and any(line.startswith("d dh p2 ??") for line in logs)
    assert_whole(kit, tmp_path)


@pytest.mark.slow
def test_entered_cards_agree_with_cards_that_came_face_up(kit: Kit, tmp_path: Path) -> None:
    """The dealer takes the trump card: it was dealt to nobody, and is none of the four that were entered."""
    desk, floor = at_table(kit, seats=2), kit.dealer(role=Role.FLOOR)
    deck = split_cards("KaOaAlKl7bAaUaOlUl")
    rest = [rank + suit for suit in "hbal" for rank in "AKOUX987" if rank + suit not in deck]
    game = begin_physical(kit, desk, random.Random(1), (*deck, *rest))
    hidden = frozenset({"p1", "p2"})
    for line in ("p2 po 400", "p2 cl top", "p2 kn 7b"):
        while game.actor == "d":
            go_on(desk, game, game.forced() or "", hidden)
        go_on(desk, game, line, hidden)
    for index, card in enumerate(("Al", "Kl", "Ol", "Ul")):
        desk.ok("hand/cards", {"entries": [{"actor": "p2", "index": index, "card": card}]})
    for line in ("p2 ds Kl", "p2 ps", "p1 ps", "p2 pl 7b"):
        go_on(desk, game, line, hidden)
    refused = desk.post("hand/cards", {"entries": [{"actor": "p1", "index": 0, "card": "7b"}]})
    assert code(refused) == (422, "card_entered_twice")
    floor.refresh()
    kit.approved(floor, "hand/void", REASON | MISDEAL)
    assert_whole(kit, tmp_path)


def test_nobody_can_name_a_card_of_the_house_s_pack_nor_ask_for_the_seven(kit: Kit) -> None:
    """Whether a seat holds the seven of trumps is answered to nobody: not by what is offered, nor by what is refused,
    nor by whether anything may follow in one request."""
    desk, seen = at_table(kit, seats=4), set()
    for seed in range(150):
        choice, answer = random.Random(seed), desk.deal()
        while answer["actor"] is not None:
            offers = {offer["verb"]: offer for offer in answer["legal_actions"]}
            if answer["view"]["phase"] == "draw":
                actor = answer["actor"]
                game = selectors.state(last_hand(kit))
                own = any(offer.verb == "ex" for offer in game.legal())
                if offers.get("ex"):
                    among = [*range(len(game.held(int(actor[1:]))))]
                    places = {"kind": "places", "least": 1, "most": 1, "among": among, "if_held": True}
                    assert offers["ex"] == {"actor": actor, "verb": "ex", "takes": {"places": places}}
                    wrong = {"actor": actor, "verb": "ex", "places": [9]}
                    refusal = desk.post("hand/actions", {"actions": [wrong]}).json()
                    assert (refusal["code"], refusal["count"]) == ("wrong_places", 1)
                    both = [{"actor": actor, "verb": "ps"}, {"actor": actor, "verb": "ps"}]
                    assert desk.post("hand/actions", {"actions": both}).json()["code"] == "must_be_last"
                    seen.add(own)
                named = {"actor": actor, "verb": "ds", "cards": game.held(int(actor[1:]))[0]}
                refusal = desk.post("hand/actions", {"actions": [named]}).json()
                assert refusal["code"] == "cards_known_to_the_house"
            answer = electronic_step(kit, desk, choice)
        settled(kit, desk)
        if seen == {True, False}:
            return
    raise AssertionError("nobody ever held the seven of trumps")


def test_a_dealer_s_device_shows_its_cards_once_it_has_looked(kit: Kit) -> None:
    ramsli(kit, seats=2)
    desk = kit.seated(stacks=(90_000,) * 2)
    devices = {f"T1-u{seat}": device(kit, desk, seat) for seat in (1, 2)}
    desk.refresh()
    answer = desk.deal()
    dealer, other = devices[chairs(answer)[1]], devices[chairs(answer)[0]]
    desk.say("ramsli", "p2 po 400")
    desk.say("ramsli", "p2 cl top")
    recorded = dealer.get("hand").json()
    assert recorded["learned"].keys() == {"bottom"} and other.get("hand").json()["learned"] == {}
    assert recorded["cards"] == ["??"] * 4 and {offer["verb"] for offer in recorded["legal_actions"]} == {"kn", "lk"}
    assert "??" not in other.get("hand").json()["cards"]
    desk.say("ramsli", "p2 lk 4")
    assert "??" not in dealer.get("hand").json()["cards"]


# --- Void, dispute, close -------------------------------------------------------------------------------------------


@pytest.mark.some_now(2)
@pytest.mark.parametrize("mode", ["electronic", "physical"])
def test_a_voided_hand_gives_kitty_and_bank_back(kit: Kit, tmp_path: Path, mode: str) -> None:
    desk, floor = at_table(kit), kit.dealer(role=Role.FLOOR)
    left = grow(kit, desk).result["series"]  # type: ignore[index]
    before = lying(kit)
    answer = desk.deal() if mode == "electronic" else desk.ok("hands", {"mode": mode})
    desk.say("ramsli", "p3 po 400")
    assert lying(kit) != before
    floor.refresh()
    floor.ok("hand/void", REASON | MISDEAL)
    assert lying(kit) == before
    desk.refresh()
    again = play_physical(kit, desk, 7)
    assert again.series == left and [seat["player"] for seat in again.seats] == chairs(answer)
    assert_whole(kit, tmp_path)


def disputed(kit: Kit, desk: Desk) -> Hand:
    """A hand whose log somebody has changed while the worker looked at it."""
    game = begin_physical(kit, desk, random.Random(3))
    for line in ALONE:
        while game.actor == "d":
            go_on(desk, game, game.forced() or "")
        go_on(desk, game, line)
    hand, change = last_hand(kit), "UPDATE hands_handline SET text = %s WHERE hand_id = %s AND seq = %s"
    number = selectors.log(hand).index("p3 kn") + 1
    alter_as_superuser(change, "p3 ps", hand.id, number)
    assert kit.settle() == ["disputed"]
    alter_as_superuser(change, "p3 kn", hand.id, number)
    desk.refresh()
    return last_hand(kit)


def test_a_dispute_freezes_kitty_and_bank_and_a_ruling_divides_both(kit: Kit, tmp_path: Path) -> None:
    desk, floor = at_table(kit), kit.dealer(role=Role.FLOOR)
    grow(kit, desk)
    carried = sum(lying(kit))
    hand = disputed(kit, desk)
    assert lying(kit) == (0, 0, 0, carried + 400) and hand.state == HandState.DISPUTED
    assert found(kit) == ["the hand is disputed: its replay agrees now"]
    floor.refresh()
    awards = [{"actor": "p1", "amount": carried}, {"actor": "p2", "amount": 400}]
    kit.approved(floor, "hand/ruling", {"hand": hand.name, "awards": awards, "tax": 0, "reason": "the floor saw it"})
    assert lying(kit) == (0, 0, 0, 0) and found(kit) == []
    assert hand_money(last_hand(kit))["carry_out"] == 0
    desk.refresh()
    after = play_physical(kit, desk, 9)
    assert (after.series, after.carry) == ({"kitty": 0, "bank": 0}, 0)
    assert events(kit, "hand.dealt")[-1]["data"]["series_begins"] is True
    assert_whole(kit, tmp_path)


@pytest.mark.slow
def test_a_disputed_hand_that_is_voided_gives_the_bank_back(kit: Kit, tmp_path: Path) -> None:
    desk, floor = at_table(kit), kit.dealer(role=Role.FLOOR)
    left = grow(kit, desk).result["series"]  # type: ignore[index]
    before = lying(kit)
    disputed(kit, desk)
    floor.refresh()
    kit.approved(floor, "hand/void", REASON | MISDEAL)
    assert lying(kit) == before and found(kit) == []
    desk.refresh()
    assert play_physical(kit, desk, 8).series == left
    assert_whole(kit, tmp_path)


@pytest.mark.some_now(3)
@pytest.mark.parametrize("rule", [CarryoverOnClose.SPLIT, CarryoverOnClose.HOUSE, CarryoverOnClose.LAST_DEALER])
def test_a_table_that_closes_shares_kitty_and_bank_by_its_rule(
    kit: Kit, tmp_path: Path, rule: CarryoverOnClose
) -> None:
    agreed = {"unit": 25, "bank_level": 4}
    kit.table_for("ramsli", agreed, code="T1", seats=3, carryover_on_close=rule, max_stack=100_000)
    desk = kit.seated(stacks=(50_000,) * 3)
    grow(kit, desk, least=300)
    kitty, bank = lying(kit)[1:3]
    whole = kitty + bank
    stacks = {seat["player"]: seat["stack"] for seat in desk.refresh()["seats"]}
    dealt_last = last_hand(kit).seats[-1]["player"]
    closed = desk.ok("close")["last_event"]
    assert lying(kit) == (0, 0, 0, 0) and sum(closed["shares"].values()) == whole > 300
    won = {player: closed["left_with"][player] - stack for player, stack in stacks.items()}
    if rule == CarryoverOnClose.SPLIT:
        assert sorted(won.values())[:2] == [whole // 3] * 2 and sum(won.values()) == whole
    elif rule == CarryoverOnClose.LAST_DEALER:
        assert won == dict.fromkeys(won, 0) | {dealt_last: whole}
    else:
        assert kit.balance("4010/T1") == whole and set(won.values()) == {0}
    assert_whole(kit, tmp_path)
    desk.ok("open")
    for seat, player in enumerate(sorted(stacks), 1):
        desk.ok("seats", {"seat": seat, "player": player, "amount": 1_000})
    again = play_physical(kit, desk, 2)
    assert again.series == {"kitty": 0, "bank": 0}
    assert_whole(kit, tmp_path / "again")


@pytest.mark.slow
def test_players_may_leave_and_come_between_hands(kit: Kit, tmp_path: Path) -> None:
    """Who leaves gives up a share; who comes plays for the kitty that stands."""
    desk = at_table(kit)
    left = grow(kit, desk).result["series"]  # type: ignore[index]
    kit.players("eve", chips=90_000)
    desk.ok("seats/2/leave")
    desk.ok("seats", {"seat": 2, "player": "eve", "amount": 50_000})
    hand = play_physical(kit, desk, 3)
    assert hand.series == left and "eve" in [seat["player"] for seat in hand.seats]
    assert_whole(kit, tmp_path)


# --- What is found, and what is recorded
# --------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_report_says_since_when_money_lies_in_kitty_and_bank(kit: Kit) -> None:
    desk = at_table(kit)
    grow(kit, desk)
    recorded = house_report(kit.house)["tables"][0]
    assert (recorded["cukassza"], recorded["bank"]) == lying(kit)[1:3]
    hands = list(Hand.objects.filter(house=kit.house, state=HandState.SETTLED).order_by("id"))
    kitties = [hand.result["series"]["kitty"] for hand in hands if hand.result]
    banks = [hand.result["series"]["bank"] for hand in hands if hand.result]

    def first_since(amounts: list[int]) -> Hand:
        """The first of the hands from which on something lay there."""
        at = len(amounts)
        while at and amounts[at - 1]:
            at -= 1
        return hands[at]

    for since, amounts in ((recorded["cukassza_since"], kitties), (recorded["bank_since"], banks)):
        hand = first_since(amounts)
        assert hand.started_at < since <= hand.settled_at
    before = recorded["cukassza_since"]
    desk.ok("hands", {"mode": "physical"})
    assert house_report(kit.house)["tables"][0]["cukassza_since"] is None  # it lies in a pot now
    floor = kit.dealer(role=Role.FLOOR)
    floor.ok("hand/void", REASON | MISDEAL)
    assert house_report(kit.house)["tables"][0]["cukassza_since"] == before
    desk.refresh()
    desk.ok("close")
    recorded = house_report(kit.house)["tables"][0]
    assert (recorded["cukassza_since"], recorded["bank_since"]) == (None, None)


@pytest.mark.slow
def test_a_bank_that_is_not_what_the_log_gives_is_found(kit: Kit) -> None:
    """Somebody alters what the last hand left: the next one would go on from it."""
    desk = at_table(kit)
    hand = grow(kit, desk)
    assert hand.result is not None and found(kit) == []
    wrong = hand.result | {"series": {"kitty": 1600, "bank": hand.result["series"]["bank"] + 400}}
    alter_as_superuser("UPDATE hands_hand SET result = %s WHERE id = %s", json.dumps(wrong), hand.id)
    assert any("series is" in problem for problem in found(kit))


@pytest.mark.slow
def test_money_that_lies_in_the_other_of_the_two_is_found(kit: Kit) -> None:
    """The ledger is right as a whole, but what was banked went to the cukassza."""
    desk = at_table(kit)
    hand = grow(kit, desk)
    key = f"hand:{hand.name}:settlement"
    swap = """
    UPDATE ledger_entry SET account_id = kassza.id, version = ledger_entry.version + 100000
    FROM ledger_account bank, ledger_account kassza, ledger_transaction t
    WHERE bank.book = %s AND bank.code = '2050/T1' AND kassza.book = bank.book AND kassza.code = '2040/T1'
        AND t.book = bank.book AND t.idempotency_key = %s AND ledger_entry.transaction_id = t.id
        AND ledger_entry.account_id = bank.id
    """
    with unguarded("ledger_entry", trigger="ALL") as cursor:
        cursor.execute(swap, [kit.house.id, key])
    problems = found(kit)
    assert any("2050/T1" in problem for problem in problems), problems
