"""Tables at which there is no pot, and tables at which there is no money: seats pay seats, or nobody pays."""

import random
from pathlib import Path
from typing import Any

import pytest

from casino.cage.founding import create_drawer
from casino.core.errors import Unprocessable
from casino.hands import selectors
from casino.hands.models import Hand, HandState
from casino.hands.tasks import resolve_hand
from casino.hands.terms import set_up_table
from casino.houses.models import OutboxMessage
from casino.reports.selectors import hand_money, house_report
from casino.staff.models import Role
from casino.tables.models import CarryoverOnClose
from casino.tables.services import Terms
from casino.verification import auditing
from engine.errors import EngineError
from engine.registry import game_info
from ledger.models import Transaction
from tests.casino.devices import check, code, device, events
from tests.casino.evenings import assert_house_is_whole
from tests.casino.kit import ACTOR, FERBLI, MISDEAL, Desk, Kit
from tests.casino.trick_hands import (
    NOTHING,
    REASON,
    STACKS,
    Player,
    assert_whole,
    chairs,
    four,
    held,
    last_hand,
    place_action,
    play_electronic,
    play_physical,
    settled,
    transactions,
    zsiros,
)

# --- Setting up -----------------------------------------------------------------------------------------------------


def terms(**changed: Any) -> Terms:
    agreed: dict[str, Any] = {
        "game": "zsiros", "options": {"stake": 100}, "seats": 4, "min_stack": 300, "max_stack": 9_000,
        "carryover_on_close": CarryoverOnClose.HOUSE,
    }  # fmt: skip
    return Terms(**(agreed | changed))


@pytest.mark.parametrize(
    "good",
    [
        terms(),
        terms(seats=2, options={"stake": 100, "players": 2}),
        terms(options={"stake": 0}, min_stack=0, max_stack=0),
        terms(options={"stake": 0}, min_stack=0, max_stack=500),
        terms(options={"stake": 0}, min_stack=100),
    ],
    ids=["four", "two", "no money", "money that is not played for", "a least stack for nothing"],
)
def test_tables_that_can_be(kit: Kit, good: Terms) -> None:
    table = set_up_table(house=kit.house, code="T1", terms=good, actor=ACTOR)
    assert (table.min_stack, table.seats) == (good.min_stack, good.seats)


@pytest.mark.parametrize(
    ("wrong", "refusal", "least"),
    [
        (terms(seats=3), "seats_out_of_range", 2),
        (terms(seats=5), "seats_out_of_range", 2),
        (terms(seats=2), "seats_out_of_range", 4),
        (terms(seats=2, options={"stake": 100, "players": 4}), "option_out_of_range", None),
        (terms(options={"stake": 100, "players": 2}), "option_out_of_range", None),
        (terms(options={"stake": 100, "players": 3}), "option_out_of_range", None),
        (terms(options={}), "option_missing", None),
        (terms(min_stack=299), "min_stack_too_small", 300),
        (terms(min_stack=0), "min_stack_too_small", 300),
        (terms(options={"stake": 100, "vizi": 100}), "unknown_option", None),
    ],
)
def test_tables_that_cannot_be(kit: Kit, wrong: Terms, refusal: str, least: int | None) -> None:
    with pytest.raises((EngineError, Unprocessable)) as caught:
        set_up_table(house=kit.house, code="T1", terms=wrong, actor=ACTOR)
    assert caught.value.code == refusal
    if isinstance(caught.value, Unprocessable) and least is not None:
        assert caught.value.extra["min"] == least


@pytest.mark.parametrize("stack", [-1, -300])
def test_a_least_stack_below_nothing_is_refused(kit: Kit, stack: int) -> None:
    wanted = terms(options={"stake": 0}, min_stack=stack, max_stack=500)
    with pytest.raises(Unprocessable) as caught:
        set_up_table(house=kit.house, code="T1", terms=wanted, actor=ACTOR)
    assert caught.value.code == "min_stack_too_small"
    assert caught.value.detail.endswith("in a hand: 0 HUF.")


# --- Evenings -------------------------------------------------------------------------------------------------------


def test_points_are_paid_from_seat_to_seat_in_one_settlement(kit: Kit, tmp_path: Path) -> None:
    desk = four(kit)
    before = sum(kit.balance(*(f"2020/T1/T1-u{seat}" for seat in range(1, 5))))
    for seed in range(4):
        hand = play_physical(kit, desk, seed)
        result = hand.result
        assert result is not None and sorted(result["net"])[0] == -sorted(result["net"])[-1] < 0
        [posted] = Transaction.objects.filter(book=kit.house.id, metadata__hand=hand.name)
        assert (posted.kind, posted.id, posted.entries.count()) == ("hand.settled", hand.settlement, 4)
        assert hand_money(hand) == {
            "hand": hand.name, "state": "settled", "net": result["net"], "tax": 0, "bonus": 0, "carry_out": 0,
        }  # fmt: skip
        assert hand.handle == sum(net for net in result["net"] if net > 0)
    assert sum(kit.balance(*(f"2020/T1/T1-u{seat}" for seat in range(1, 5)))) == before
    assert kit.balance("2030/T1", "2040/T1", "4010/T1", "5100/T1", "9150/T1") == [0] * 5
    report = house_report(kit.house)["tables"][0]
    assert (report["settled_count"], report["tax"], report["pot"]) == (4, 0, 0) and report["handle"] > 0
    for seat in range(1, 5):
        desk.ok(f"seats/{seat}/leave")
    desk.ok("close")
    assert_whole(kit, tmp_path)


def test_the_deal_and_the_score_sheet_pass_on(kit: Kit) -> None:
    desk = four(kit, stake=0)
    first = play_physical(kit, desk, 1, button=2)
    assert [seat["seat"] for seat in first.seats] == [3, 4, 1, 2]
    assert first.series == {
        "order": ["T1-u3", "T1-u4", "T1-u1", "T1-u2"], "deals": "T1-u2", "score": [0, 0], "games": [0, 0],
    }  # fmt: skip
    for seed, dealer in ((2, 3), (3, 4), (4, 1), (5, 2)):
        assert desk.refresh()["next_button"] == dealer
        before, hand = last_hand(kit), play_physical(kit, desk, seed)
        assert hand.seats[-1]["seat"] == dealer
        assert hand.series == before.result["series"]  # type: ignore[index]
        assert hand.series["order"] == first.series["order"]


@pytest.mark.some_now(2)
@pytest.mark.parametrize("seats", [2, 4])
def test_a_table_goes_on_from_its_last_record_alone(kit: Kit, seats: int) -> None:
    zsiros(kit, seats=seats, stake=0)
    desk = kit.seated(stacks=(0,) * seats)
    info = game_info("zsiros")
    play_physical(kit, desk, 1)
    for seed in (2, 3):
        record = selectors.record(last_hand(kit))
        left = record["series_out"]
        turned = info.next_seats(seats, record.get("series", {}), left)
        hand = play_physical(kit, desk, seed)
        assert [seat["player"] for seat in hand.seats] == [record["seats"][at] for at in turned]
        assert hand.series == left


def test_cards_that_the_house_does_not_know(kit: Kit, tmp_path: Path) -> None:
    desk = four(kit)
    play_physical(kit, desk, 5, hidden=("p1", "p2", "p3", "p4"))
    play_physical(kit, desk, 6, hidden=("p2",))
    log = selectors.log(last_hand(kit))
    assert any(line.startswith("d dh p2 ??") for line in log) and not any("pl ??" in line for line in log)
    assert_whole(kit, tmp_path)


def test_electronic_hands(kit: Kit, tmp_path: Path) -> None:
    desk = four(kit)
    for seed in (1, 2):
        hand = play_electronic(kit, desk, seed)
        assert hand.commitment and len(hand.cards_roots) == 1
    assert_whole(kit, tmp_path)


def test_nobody_can_name_a_card_of_the_house_s_pack(kit: Kit) -> None:
    desk = four(kit)
    answer = desk.deal()
    fields = [offer["takes"] for offer in answer["legal_actions"]]
    assert all("cards" not in takes and "choices" not in takes.get("places", {}) for takes in fields)
    card = held(kit, "p1")[0]
    for sent, refusal in (
        ({"actor": "p1", "verb": "pl", "cards": card}, "cards_known_to_the_house"),
        ({"actor": "p1", "verb": "pl", "places": [4]}, "wrong_places"),
        ({"actor": "p1", "verb": "pl", "places": [0, 1]}, "wrong_places"),
        ({"actor": "p2", "verb": "pl", "places": [0]}, "not_your_turn"),
        ({"actor": "p3", "verb": "cl", "word": "zsirt", "places": [0]}, "invalid_request"),
        ({"actor": "p1", "verb": "ps", "places": [0]}, "invalid_request"),
    ):
        refused = desk.post("hand/actions", {"actions": [sent]})
        assert refused.json()["code"] == refusal, refused.text
        recorded = {name: value for name, value in refused.json().items() if name != "instance"}  # a number at random
        assert not any(card in str(recorded) for card in held(kit, "p1")[1:])
    desk.ok("hand/actions", {"actions": [{"actor": "p1", "verb": "pl", "places": [0]}]})
    assert selectors.log(last_hand(kit))[-1] == f"p1 pl {card}"


def test_a_device_reads_its_cards_in_the_order_in_which_places_count(kit: Kit) -> None:
    zsiros(kit, seats=2)
    desk = kit.seated(stacks=STACKS[:2])
    devices = {f"T1-u{seat}": device(kit, desk, seat) for seat in (1, 2)}
    desk.refresh()
    answer, choice, seen = desk.deal(), random.Random(3), 0
    players = dict(zip(("p1", "p2"), chairs(answer), strict=True))
    while answer["actor"] is not None:
        actor = answer["actor"]
        recorded = devices[players[actor]].get("hand").json()
        assert recorded["you"] == actor and "??" not in recorded["cards"]
        assert set(recorded["cards"]) <= set(check(recorded))
        action = place_action(answer, tuple(recorded["cards"]), choice)
        answer = desk.ok("hand/actions", {"actions": [action]})
        if action["verb"] == "pl":
            [place] = action["places"]
            lines = [line for line in selectors.log(last_hand(kit)) if " pl " in line]
            assert lines[-1] == f"{actor} pl {recorded['cards'][place]}"
            seen += place > 0
    assert seen, "no card but the first was ever played"
    recorded = devices["T1-u1"].get("hand").json()
    assert (recorded["cards"], len(check(recorded))) == ([], 32)
    settled(kit, desk)
    assert_house_is_whole(kit)


def test_the_partner_calls_out_of_turn(kit: Kit) -> None:
    desk = four(kit, stake=0)
    answer = Player(desk).play(desk.ok("hands", {"mode": "physical"}), until=4)
    assert (answer["actor"], answer["view"]["phase"]) == ("p1", "lead")
    assert {offer["verb"]: offer["actor"] for offer in answer["legal_actions"]} == {"pl": "p1", "cl": "p3"}
    desk.say("zsiros", "p3 cl zsirt", "p3 cl ne_uss")
    for caller in ("p1", "p2", "p4"):
        refused = desk.post("hand/actions", {"actions": [{"actor": caller, "verb": "cl", "word": "uss"}]})
        assert code(refused) == (422, "not_your_turn")
    assert selectors.log(last_hand(kit))[-2:] == ["p3 cl zsirt", "p3 cl ne_uss"]
    electronic = kit.dealer(role=Role.FLOOR)
    electronic.ok("hand/void", REASON | MISDEAL)
    desk.refresh()
    desk.deal()
    calls = [{"actor": "p3", "verb": "cl", "word": "uss"}, {"actor": "p1", "verb": "pl", "places": [0]}]
    desk.ok("hand/actions", {"actions": calls})


def test_partners_of_a_view_are_named_as_in_the_record(kit: Kit) -> None:
    desk = four(kit, stake=0)
    answer = desk.ok("hands", {"mode": "physical"})
    assert [(seat["actor"], seat["partner"]) for seat in answer["view"]["seats"]] == [
        ("p1", "p3"), ("p2", "p4"), ("p3", "p1"), ("p4", "p2"),
    ]  # fmt: skip


# --- Without money --------------------------------------------------------------------------------------------------


def test_an_evening_without_money_posts_nothing(kit: Kit, tmp_path: Path) -> None:
    zsiros(kit, stake=0)
    before = transactions(kit)
    desk = kit.seated(stacks=NOTHING)
    play_physical(kit, desk, 1)
    play_electronic(kit, desk, 2)
    for hand in Hand.objects.filter(house=kit.house):
        assert (hand.state, hand.settlement, hand.handle) == (HandState.SETTLED, None, 0)
        assert hand.settled_at is not None and hand.ended_at is not None and hand.settled_at >= hand.ended_at
        assert hand_money(hand)["net"] == [0] * 4
    recorded = events(kit, "hand.settled")
    assert [(event["data"]["settlement"], "postings" in event) for event in recorded] == [(None, False)] * 2
    assert all("postings" not in event for event in events(kit, "table.sat_down"))
    desk.ok("seats/1/leave")
    closed = desk.ok("close")
    assert closed["last_event"]["left_with"] == {f"T1-u{seat}": 0 for seat in (2, 3, 4)}
    assert all("postings" not in event for event in events(kit, "table.left", "table.closed"))
    assert transactions(kit) == before
    assert_whole(kit, tmp_path)


def test_a_settlement_without_postings_may_be_delivered_many_times(kit: Kit) -> None:
    desk = four(kit, stake=0)
    Player(desk).play(desk.ok("hands", {"mode": "physical"}))
    message = OutboxMessage.objects.get(house=kit.house)
    assert [resolve_hand(str(kit.house.id), message.id) for _ in range(3)] == [HandState.SETTLED] * 3
    assert len(events(kit, "hand.settled")) == 1


def test_money_that_is_not_played_for_comes_and_goes(kit: Kit) -> None:
    kit.table_for("zsiros", {"stake": 0}, code="T1", seats=4, max_stack=5_000)
    desk = kit.seated(stacks=(500, 0, 0, 5_000))
    desk.ok("seats/2/chips", {"amount": 100})
    hand = play_physical(kit, desk)
    assert (sorted(hand.stacks), hand.settlement) == ([0, 100, 500, 5_000], None)
    desk.ok("tips", {"seat": 1, "amount": 100})
    assert code(desk.post("seats/4/chips", {"amount": 1})) == (422, "stack_out_of_range")
    desk.ok("seats/1/leave")
    desk.ok("seats/3/leave")
    desk.ok("close")
    assert kit.balance("2010/T1-u1", "2010/T1-u2", "2010/T1-u3", "2010/T1-u4") == [4_900, 5_000, 5_000, 5_000]
    assert_house_is_whole(kit)


@pytest.mark.parametrize(("amount", "refusal"), [(0, (422, "stack_out_of_range")), (-1, (400, "invalid_request"))])
def test_nobody_sits_down_with_nothing_where_something_can_be_lost(
    kit: Kit, amount: int, refusal: tuple[int, str]
) -> None:
    zsiros(kit)
    kit.players("ann", chips=1_000)
    desk = kit.dealer()
    desk.ok("open")
    assert code(desk.post("seats", {"seat": 1, "player": "ann", "amount": amount})) == refusal


def test_chips_have_no_business_at_a_table_without_money(kit: Kit) -> None:
    desk = four(kit, stake=0)
    kit.players("ann", chips=1_000)
    desk.ok("seats/1/leave")
    for path, body in (
        ("seats", {"seat": 1, "player": "ann", "amount": 100}),
        ("seats/2/chips", {"amount": 100}),
        ("seats/2/buy-in", {"amount": 100}),
    ):
        assert code(desk.post(path, body))[0] in (404, 422), path
    assert code(desk.post("seats", {"seat": 1, "player": "ann", "amount": 100})) == (422, "stack_out_of_range")
    desk.ok("seats", {"seat": 1, "player": "ann", "amount": 0})
    assert kit.balance("2010/ann") == 1_000


def test_a_hand_needs_all_its_players(kit: Kit) -> None:
    desk = four(kit, stake=0)
    answer = desk.post("hands", {"mode": "physical", "sitting_out": [2]})
    assert (code(answer), answer.json()["min"]) == ((409, "too_few_players"), 4)
    desk.ok("seats/3/leave")
    assert code(desk.post("hands", {"mode": "physical"})) == (409, "too_few_players")


def test_a_stack_that_cannot_cover_the_worst_is_named(kit: Kit) -> None:
    desk = four(kit, stake=1_000)
    for seed in range(20):
        if min(seat["stack"] for seat in desk.refresh()["seats"]) < 3_000:
            break
        play_physical(kit, desk, seed)
    answer = desk.post("hands", {"mode": "physical"})
    assert (code(answer), answer.json()["min"]) == ((422, "stack_too_short"), 3_000)


def test_nothing_can_be_announced(kit: Kit) -> None:
    desk = four(kit, stake=0)
    assert code(desk.post("hands", {"mode": "physical", "announce": ["wild"]})) == (422, "option_out_of_range")


# --- Who goes on with what ------------------------------------------------------------------------------------------


def begun(kit: Kit) -> list[bool]:
    """Of every hand, whether its event says that a new game begins."""
    return [event["data"].get("series_begins", False) for event in events(kit, "hand.dealt")]


@pytest.mark.slow
def test_a_new_session_starts_over(kit: Kit, tmp_path: Path) -> None:
    desk = four(kit, stake=0)
    play_physical(kit, desk, 1)
    first = play_physical(kit, desk, 2)
    desk.ok("close")
    desk.ok("open")
    for seat in range(1, 5):
        desk.ok("seats", {"seat": seat, "player": f"T1-u{seat}", "amount": 0})
    again = play_physical(kit, desk, 3)
    assert first.series["score"] != [0, 0] and again.series["score"] == [0, 0]
    assert begun(kit) == [True, False, True]
    assert_whole(kit, tmp_path)


@pytest.mark.slow
def test_other_people_start_over_and_so_do_the_same_in_another_order(kit: Kit, tmp_path: Path) -> None:
    desk = four(kit, stake=0)
    kit.players("eve")
    play_physical(kit, desk, 1)
    left = play_physical(kit, desk, 2).result["series"]  # type: ignore[index]
    assert left["score"] != [0, 0]

    desk.ok("seats/2/leave")
    desk.ok("seats", {"seat": 2, "player": "eve", "amount": 0})
    other = play_physical(kit, desk, 3)
    assert set(other.series["order"]) == {"T1-u1", "eve", "T1-u3", "T1-u4"}
    assert (other.series["score"], other.series["games"]) == ([0, 0], [0, 0])

    # What they left before is gone, for those too who come back.
    desk.ok("seats/2/leave")
    desk.ok("seats", {"seat": 2, "player": "T1-u2", "amount": 0})
    back = play_physical(kit, desk, 4)
    assert back.series["score"] == [0, 0]

    for seat in (1, 2):
        desk.ok(f"seats/{seat}/leave")
    for seat, player in ((1, "T1-u2"), (2, "T1-u1")):
        desk.ok("seats", {"seat": seat, "player": player, "amount": 0})
    changed = play_physical(kit, desk, 5)
    assert changed.series["score"] == [0, 0]
    assert begun(kit) == [True, False, True, True, True]
    assert_whole(kit, tmp_path)


def test_somebody_who_leaves_and_comes_back_before_the_next_deal_goes_on(kit: Kit) -> None:
    desk = four(kit, stake=0)
    first = play_physical(kit, desk, 1)
    dealer = desk.refresh()["next_button"]
    for seat in (dealer, dealer % 4 + 1):
        desk.ok(f"seats/{seat}/leave")
    for seat in (dealer, dealer % 4 + 1):
        desk.ok("seats", {"seat": seat, "player": f"T1-u{seat}", "amount": 0})
    assert play_physical(kit, desk, 2).series == first.result["series"]  # type: ignore[index]
    assert begun(kit) == [True, False]


@pytest.mark.some_now(2)
@pytest.mark.parametrize("mode", ["physical", "electronic"])
def test_a_voided_hand_is_dealt_again_by_the_same_dealer(kit: Kit, tmp_path: Path, mode: str) -> None:
    desk, floor = four(kit), kit.dealer(role=Role.FLOOR)
    left = play_physical(kit, desk, 1).result["series"]  # type: ignore[index]
    answer = desk.deal() if mode == "electronic" else desk.ok("hands", {"mode": mode})
    if mode == "physical":
        Player(desk, 2).play(answer, until=9)
    floor.refresh()
    void = kit.approved if mode == "physical" else Desk.ok
    voided = void(floor, "hand/void", REASON | MISDEAL)
    assert voided["last_event"]["mirrors"] == {}
    desk.refresh()
    again = desk.ok("hands", {"mode": "physical"})
    assert chairs(again) == chairs(answer)
    Player(desk, 3).play(again)
    assert settled(kit, desk).series == left
    assert_whole(kit, tmp_path)


# --- Beside the games with a pot ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_tables_of_all_kinds_in_one_house(kit: Kit, tmp_path: Path) -> None:
    create_drawer(house=kit.house, code="C2", actor=ACTOR)
    zsiros(kit, code="Z1", seats=2, stake=50)
    kit.table_for("ferbli", FERBLI, code="F1", seats=2)
    trick, pot = kit.seated("Z1", stacks=(2_000, 2_000)), kit.seated("F1", stacks=(5_000, 5_000))
    for seed in (1, 2):
        play_physical(kit, trick, seed)
    pot.ok("hands", {"mode": "physical", "button": 2})
    pot.act("p1 po 100", "d dh p1 ????", "d dh p2 ????", "p2 f")
    settled(kit, pot)
    assert {hand.game for hand in Hand.objects.filter(house=kit.house)} == {"zsiros", "ferbli"}
    assert_whole(kit, tmp_path)
    assert auditing.verify_house(kit.house).findings == []
