"""What Ferbli's variations and Färbeln's bonus ask of the house, one promise a test."""

import json
import random
from typing import Any

import pytest

from casino.audit.models import Event
from casino.bookkeeping import chart
from casino.bookkeeping.postings import posting
from casino.core.denominations import Chips
from casino.hands import selectors
from casino.hands.models import Hand, HandState
from casino.hands.tasks import resolve_hand
from casino.hands.terms import set_up_table
from casino.houses.models import OutboxMessage
from casino.reports.selectors import hand_money
from casino.reports.verifying import verification
from casino.staff.models import Role
from casino.tables.models import CarryoverOnClose
from casino.tables.services import Terms
from engine.record.format import parse_record
from engine.record.replay import replay
from engine.vying.majzli import majzli_commitment
from ledger.errors import InsufficientFunds
from tests.casino.devices import one_action
from tests.casino.evenings import assert_house_is_whole, play_electronically
from tests.casino.hands.test_settlement import alter_as_superuser
from tests.casino.kit import ACTOR, FAERBELN, FERBLI, MISDEAL, Desk, Kit, book

REASON = {"reason": "a card was turned up"}
NONCE = "0f" * 16


def dealt(kit: Kit, desk: Desk, *lines: str, seats: int | None = None) -> dict[str, Any]:
    """Deal a physical hand and take these lines, one request each; returns the last answer."""
    answer = desk.ok("hands", {"mode": "physical"})
    assert seats is None or len(answer["seats"]) == seats
    for line in lines:
        answer = desk.act(line)
    return answer


def settled(kit: Kit, desk: Desk) -> Hand:
    """Settle the hand that is over; returns it."""
    assert kit.settle() == [HandState.SETTLED]
    desk.refresh()
    return Hand.objects.filter(house=kit.house).latest("id")


def refused(desk: Desk, line: dict[str, Any]) -> tuple[int, str]:
    """Status and code of a refused action."""
    answer = desk.post("hand/actions", {"actions": [line]})
    return answer.status_code, answer.json()["code"]


# --- Forced third deal ------------------------------------------------------------------------------------------------

FAILED = ("p1 po 100", "d dh p1 ????", "d dh p2 ????", "d dh p3 ????", "p2 f", "p3 f")


def test_after_two_failed_deals_everyone_pays_and_a_voided_hand_does_not_count(kit: Kit) -> None:
    kit.table(seats=3, force_third_deal=True)
    desk = kit.seated(stacks=(9_000,) * 3)
    dealt(kit, desk, *FAILED)
    assert settled(kit, desk).result["series"] == {"failed": 1}
    dealt(kit, desk, "p1 po 100", "d dh p1 ????")
    floor = kit.dealer(role=Role.FLOOR)
    floor.ok("hand/void", REASON | MISDEAL)
    desk.refresh()
    dealt(kit, desk, *FAILED)
    second = settled(kit, desk)
    assert (second.series, second.result["series"]) == ({"failed": 1}, {"failed": 2})
    # The third one, voided and dealt again.
    dealt(kit, desk, "p1 po 100", "p2 po 100")
    assert desk.refresh()["state"] == "playing"
    floor.refresh()
    floor.ok("hand/void", REASON | MISDEAL)
    desk.refresh()
    answer = dealt(kit, desk, "p1 po 100", "p2 po 100", "p3 po 100", "d dh p1 ????", "d dh p2 ????", "d dh p3 ????")
    assert answer["view"]["phase"] == "besszer"
    assert kit.balance("2030/T1") == 900
    for line in ("p1 rb 100", "p2 f", "p3 f"):
        desk.act(line)
    third = settled(kit, desk)
    assert (third.series, third.result["series"]) == ({"failed": 2}, {"failed": 0})
    assert hand_money(third)["net"] == [900 - 45 - 100, -100, -100]
    record = selectors.record(third)
    assert record["series"] == {"failed": 2}
    assert replay(parse_record(json.dumps(record))).ok
    assert_house_is_whole(kit)


def test_a_new_session_starts_a_new_series(kit: Kit) -> None:
    kit.table(seats=3, force_third_deal=True)
    desk = kit.seated(stacks=(9_000,) * 3)
    for _ in range(2):
        dealt(kit, desk, *FAILED)
        settled(kit, desk)
    desk.ok("close")
    desk.ok("open")
    for seat in (1, 2, 3):
        desk.ok("seats", {"seat": seat, "player": f"T1-u{seat}", "amount": 1_000})
    dealt(kit, desk, "p1 po 100", "d dh p1 ????")
    assert Hand.objects.latest("id").series == {}


def test_a_hand_dealt_with_another_series_than_it_was_left_is_found(kit: Kit) -> None:
    kit.table(seats=3, force_third_deal=True)
    desk = kit.seated(stacks=(9_000,) * 3)
    dealt(kit, desk, *FAILED)
    first = settled(kit, desk)
    dealt(kit, desk, *FAILED)
    second = settled(kit, desk)
    assert verification(kit.house)["ok"]
    # As if the first hand had been settled after the second one was dealt.
    alter_as_superuser("UPDATE hands_hand SET state = 'voided' WHERE id = %s", first.id)
    problems = {finding["hand"]: finding["problem"] for finding in verification(kit.house)["hand_findings"]}
    assert "series {'failed': 1}" in problems[second.name]


# --- Majzli -----------------------------------------------------------------------------------------------------------

IN_THE_FIST = ("d dh p1 ????", "d dh p2 ????", "d dh p3 ????", "p2 in", "p3 f")


def test_a_vizi_in_the_fist_is_paid_by_those_who_stayed_when_it_is_opened(kit: Kit) -> None:
    kit.table(seats=3, majzli_max=500)
    desk = kit.seated(stacks=(9_000,) * 3)
    held = f"p1 mj {majzli_commitment(300, bytes.fromhex(NONCE))}"
    dealt(kit, desk, held, *IN_THE_FIST)
    assert kit.balance("2030/T1") == 0
    wrong = {"actor": "p1", "verb": "rv", "amount": 200, "nonce": NONCE}
    assert refused(desk, wrong) == (422, "commit_mismatch")
    assert refused(desk, wrong | {"amount": 600}) == (422, "amount_out_of_range")
    assert refused(desk, {"actor": "p1", "verb": "rv", "amount": 300}) == (422, "malformed_action")
    answer = desk.ok("hand/actions", {"actions": [wrong | {"amount": 300}]}, key="opened")
    assert answer["balances"]["pot"] == 600 == kit.balance("2030/T1")
    # The same request again pays nothing more.
    again = desk.ok("hand/actions", {"actions": [wrong | {"amount": 300}]}, key="opened")
    assert again == answer
    assert kit.balance("2030/T1", "2020/T1/T1-u3") == [600, 9_000]
    for line in ("p1 rb 600", "p2 f"):
        desk.act(line)
    assert hand_money(settled(kit, desk))["net"] == [600 - 30 - 300, -300, 0]
    assert_house_is_whole(kit)


def test_with_too_few_players_those_who_are_out_pay_the_vizi_from_the_fist(kit: Kit) -> None:
    kit.table(seats=3, majzli_max=500)
    desk = kit.seated(stacks=(9_000,) * 3)
    dealt(kit, desk, "p1 mj ??", "d dh p1 ????", "d dh p2 ????", "d dh p3 ????", "p2 f", "p3 f", "p1 rv 400")
    hand = settled(kit, desk)
    assert hand_money(hand) | {"hand": ""} == {
        "hand": "", "state": "settled", "net": [-400] * 3, "tax": 0, "bonus": 0, "carry_out": 1_200,
    }  # fmt: skip
    assert_house_is_whole(kit)


def test_every_stack_must_cover_the_largest_vizi_before_the_deal(kit: Kit) -> None:
    kit.table(seats=3, majzli_max=500, wild="tens")
    desk = kit.seated(stacks=(9_000, 9_000, 600))
    kit.players("late", chips=499)
    answer = desk.post("seats/3/leave")
    assert answer.is_success
    answer = desk.post("seats", {"seat": 3, "player": "late", "amount": 499})
    assert (answer.status_code, answer.json()["code"], answer.json()["min"]) == (422, "stack_out_of_range", 500)
    desk.ok("seats", {"seat": 3, "player": "T1-u3", "amount": 600})
    dealt(kit, desk, "p1 mj ??", "d dh p1 ????", "d dh p2 ????", "d dh p3 ????", "p2 f", "p3 f", "p1 rv 200")
    settled(kit, desk)
    short = desk.post("hands", {"mode": "physical"})
    assert (short.status_code, short.json()["code"]) == (422, "stack_too_short")
    assert (short.json()["min"], short.json()["player"]) == (500, "T1-u3")
    assert Hand.objects.filter(house=kit.house).count() == 1


@pytest.mark.some_now(4)
@pytest.mark.parametrize(
    ("action", "field"),
    [
        ({"verb": "mj"}, "commitment"),
        ({"verb": "mj", "commitment": "0" * 63}, "commitment"),
        ({"verb": "mj", "commitment": "0" * 64, "amount": 100}, "amount"),
        ({"verb": "rv", "nonce": NONCE}, "amount"),
        ({"verb": "rv", "amount": 100, "nonce": NONCE.upper()}, "nonce"),
        ({"verb": "in", "amount": 100}, "amount"),
        ({"verb": "cu"}, "cards"),
        ({"verb": "up"}, "cards"),
        ({"verb": "up", "cards": "Kl8b", "places": [0, 1]}, "places"),
        ({"verb": "up", "places": []}, "places"),
        ({"verb": "up", "places": [0, 52]}, "places"),
        ({"verb": "sm", "cards": "Kl8b", "places": [0, 1]}, "places"),
        ({"verb": "cc", "amount": 100, "nonce": NONCE}, "nonce"),
    ],
)
def test_an_action_names_what_its_verb_takes_and_nothing_else(kit: Kit, action: dict[str, Any], field: str) -> None:
    kit.table(seats=3, majzli_max=500)
    desk = kit.seated(stacks=(9_000,) * 3)
    desk.ok("hands", {"mode": "physical"})
    answer = desk.post("hand/actions", {"actions": [{"actor": "p1", **action}]})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")
    assert {error["pointer"].split("/")[3] for error in answer.json()["errors"]} == {field}


# --- Two cards shown --------------------------------------------------------------------------------------------------


def test_cards_turned_up_are_nobodys_business_until_all_have_chosen(kit: Kit) -> None:
    kit.table(seats=3, show_two=True)
    desk = kit.seated(stacks=(9_000,) * 3)
    dealt(
        kit, desk, "p1 po 100", "d dh p1 ????", "d dh p2 ????", "d dh p3 ????", "p2 cc 100", "p3 cc 100", "p1 rb 100",
        "p2 cc 100", "p3 f", "p2 k", "d dh p1 ????", "d dh p2 ????",
    )  # fmt: skip
    first = desk.act("p1 up Kl8b")
    others = (kit.dealer(role=Role.FLOOR), kit.office())
    for other in others:
        seen = other.get("/api/v1/tables/T1/hand").json()
        assert [seat["up"] for seat in seen["view"]["seats"]] == [["??", "??"], [], []]
        assert "Kl" not in json.dumps(seen)
    assert "Kl" not in json.dumps(first)
    assert "Kl" not in json.dumps(Event.objects.filter(chain__house=kit.house).latest("id").doc)
    assert refused(desk, {"actor": "p2", "verb": "up", "cards": "Kl9a"}) == (422, "card_already_dealt")
    # With a pack in the dealer's hands the house cannot know what lies where.
    assert refused(desk, {"actor": "p2", "verb": "up", "places": [0, 1]}) == (422, "card_unknown")
    assert refused(desk, {"actor": "p9", "verb": "up", "places": [0, 1]})[0] == 422
    desk.act("p2 up Ah7l")
    for other in others:
        seen = other.get("/api/v1/tables/T1/hand").json()
        assert [seat["up"] for seat in seen["view"]["seats"]] == [["Kl", "8b"], ["Ah", "7l"], []]
    # The player who made the besszer may only show both cards of one batch, so these must be one.
    desk.act("p1 lk 2", "p1 rb 100", "p2 lk 2", "p2 cc 100", "p2 st")
    assert refused(desk, {"actor": "p1", "verb": "sm", "cards": "KlXb8b9b"}) == (422, "card_mismatch")
    desk.act("p1 sm Kl8bXb9b", "p2 sm Ah7lOaUa")
    settled(kit, desk)
    assert_house_is_whole(kit)


def test_no_refusal_gives_away_what_the_house_knows(kit: Kit) -> None:
    kit.table(seats=3, show_two=True, cuhhol=True)
    desk = kit.seated(stacks=(9_000,) * 3)
    hand = desk.deal()["hand"]
    desk.act("p1 po 100")
    cards = selectors.state(selectors.get(kit.house, hand)).cards_of(2)
    out_of_place = (
        ({"actor": "p2", "verb": "up", "places": [0, 1]}, "verb_not_legal"),
        ({"actor": "p3", "verb": "up", "places": [0, 1]}, "not_your_turn"),
        ({"actor": "p2", "verb": "cu", "cards": "????"}, "verb_not_legal"),
        ({"actor": "p2", "verb": "sm", "cards": "????"}, "verb_not_legal"),
    )
    for action, code in out_of_place:
        answer = desk.post("hand/actions", {"actions": [action]})
        assert (answer.status_code, answer.json()["code"]) == (422, code)
        # The request's number is made by chance, so a card's code ("7a") may well stand in it.
        recorded = json.dumps({name: value for name, value in answer.json().items() if name != "instance"})
        assert not [card for card in cards if card in recorded]
    for line in ("p2 cc 100", "p3 f", "p1 rb 100", "p2 cc 100", "p2 k"):
        desk.act(line)
    # The player who made the besszer shows both cards of a batch, and only after looking at them.
    for places in ([2, 3], [0, 2], [1, 1]):
        answer = desk.post("hand/actions", {"actions": [{"actor": "p1", "verb": "up", "places": places}]})
        assert (answer.status_code, answer.json()["code"]) == (422, "wrong_places")
        assert answer.json()["places"] == [[0, 1]]
    desk.ok("hand/actions", {"actions": [{"actor": "p1", "verb": "up", "places": [1, 0]}]})


# --- Cuhhol -----------------------------------------------------------------------------------------------------------

LAID_OPEN = (
    "p1 po 100", "d dh p1 AaAl", "d dh p2 9bXh", "p2 cc 100", "p1 k", "d dh p1 KhUb", "d dh p2 8a7l",
    "p1 cu UbKhAlAa", "p2 lk 2", "p2 f",
)  # fmt: skip
#: No two aces among them, nor anything better.
LOWER = ("d dh p1 Xl7h8b9l", "d dh p2 7bOaXa8h")


def test_a_redeal_that_nobody_wins_costs_everyone_a_vizi_in_the_middle_of_the_hand(kit: Kit) -> None:
    kit.table(seats=2, cuhhol=True)
    desk = kit.seated(stacks=(9_000,) * 2)
    answer = dealt(kit, desk, *LAID_OPEN)
    # The dealer need not know in which order the cards had come.
    assert "p1 cu AaAlKhUb" in answer["view"]["log"]
    assert answer["view"]["phase"] == "redeal"
    assert refused(desk, {"actor": "d", "verb": "dh", "target": "p1", "cards": "Xl7h8b??"}) == (422, "card_unknown")
    desk.act(*LOWER)
    assert kit.balance("2030/T1", "2020/T1/T1-u1", "2020/T1/T1-u2") == [400, 8_800, 8_800]
    desk.act("d dh p1 8a8l8b8h", "d dh p2 7b9aXaXh")
    hand = settled(kit, desk)
    assert hand.result["ending"] == "cuhhkassza"
    assert hand_money(hand)["net"] == [180, -200]
    assert_house_is_whole(kit)


def test_a_hand_voided_after_a_redeal_gives_the_forced_payments_back(kit: Kit) -> None:
    kit.table(seats=2, cuhhol=True)
    desk = kit.seated(stacks=(9_000,) * 2)
    dealt(kit, desk, *LAID_OPEN)
    desk.act(*LOWER)
    assert kit.balance("2030/T1") == 400
    # Cards were laid open before the redeal: a manager approves the void.
    kit.approved(kit.dealer(role=Role.FLOOR), "hand/void", REASON | MISDEAL)
    assert kit.balance("2030/T1", "2020/T1/T1-u1", "2020/T1/T1-u2") == [0, 9_000, 9_000]
    assert_house_is_whole(kit)


def test_an_electronic_redeal_is_shuffled_by_the_house_and_stands_in_the_record(kit: Kit) -> None:
    kit.table(seats=4, cuhhol=True)
    desk = kit.seated(stacks=(90_000,) * 4)
    exported: list[dict[str, Any]] = []
    for seed in range(60):
        exported += play_electronically(kit, desk, hands=1, seed=seed)
        if "decks" in exported[-1]:
            break
    decks = exported[-1]["decks"]
    assert [len(deck) // 2 for deck in decks] == [32] + [28] * (len(decks) - 1)
    over_http = kit.office().get(f"hands/{exported[-1]['hand']}").json()
    assert over_http == exported[-1]
    assert_house_is_whole(kit)


def test_an_electronic_hand_in_dispute_has_a_record_with_its_deck(kit: Kit) -> None:
    kit.table(seats=4, cuhhol=True)
    desk = kit.seated(stacks=(90_000,) * 4)
    exported = play_electronically(kit, desk, hands=1, seed=1)[0]
    desk.deal()
    hand = Hand.objects.filter(house=kit.house).latest("id")
    answer, choice = desk.act("p1 po 100"), random.Random(3)
    while answer["actor"] is not None:
        answer = one_action(desk, answer, choice)
    alter_as_superuser("UPDATE hands_handline SET text = 'p1 po 200' WHERE hand_id = %s AND seq = 1", hand.id)
    assert kit.settle() == [HandState.DISPUTED]
    record = kit.office().get(f"hands/{hand.name}").json()
    assert (len(record["deck"]), record["acts"][0]) == (64, "p1 po 200")
    assert record["deck"] != exported.get("deck")


# --- Options by a word, and what a house table must say ---------------------------------------------------------------


def test_wild_cards_called_by_a_word_are_a_list_in_the_hand(kit: Kit) -> None:
    kit.table(seats=5, wild="sevens")
    desk = kit.seated(stacks=(9_000,) * 5)
    assert desk.refresh()["options"]["wild"] == "sevens"
    dealt(kit, desk, "p1 po 100", seats=5)
    assert Hand.objects.latest("id").options["wild"] == ["7h"]
    dealt_event = Event.objects.filter(chain__house=kit.house, doc__kind="hand.dealt").latest("id").doc
    assert dealt_event["data"]["options"]["wild"] == ["7h"]
    kit.dealer(role=Role.FLOOR).ok("hand/void", REASON | MISDEAL)
    desk.refresh()
    desk.ok("hands", {"mode": "physical", "sitting_out": [3]})
    assert "wild" not in Hand.objects.latest("id").options


def test_a_table_that_needs_more_players_than_the_game_is_not_dealt_to_fewer(kit: Kit) -> None:
    kit.table(seats=5, min_active=4)
    desk = kit.seated(stacks=(9_000,) * 3)
    answer = desk.post("hands", {"mode": "physical"})
    assert (answer.status_code, answer.json()["code"], answer.json()["min"]) == (409, "too_few_players", 4)


@pytest.mark.parametrize(("game", "missing"), [("ferbli", "tax_bps"), ("ferbli", "table_max"), ("faerbeln", "bonus41")])
def test_a_house_table_says_what_it_must(kit: Kit, game: str, missing: str) -> None:
    agreed = {name: value for name, value in (FERBLI if game == "ferbli" else FAERBELN).items() if name != missing}
    terms = Terms(
        game=game, options=agreed, seats=3, min_stack=1_000, max_stack=9_000, carryover_on_close=CarryoverOnClose.HOUSE
    )  # fmt: skip
    with pytest.raises(Exception, match=missing) as caught:
        set_up_table(house=kit.house, code="T9", terms=terms, actor=ACTOR)
    assert (caught.value.code, caught.value.extra["option"]) == ("option_missing", missing)  # type: ignore[attr-defined]


# --- Färbeln: the bonus -----------------------------------------------------------------------------------------------

ALONE_WITH_41 = (
    "p1 po 200", "p2 po 200", "p3 po 200", "p1 po 500", "d dh p1 AaKa", "d dh p2 ????", "d dh p3 ????",
    "p2 cc 500", "p3 f", "p1 k", "d dh p1 OaUa", "d dh p2 ????", "p1 up AaKa", "p2 up 7b8b", "p1 rb 500", "p2 f",
)  # fmt: skip


def faerbeln(kit: Kit, *, tray: int, **options: Any) -> Desk:
    """A Färbeln table of three with so many chips in its tray."""
    kit.table_for("faerbeln", FAERBELN | options, code="F1", seats=3, tray=tray)
    return kit.seated("F1", stacks=(9_000,) * 3)


@pytest.mark.parametrize(("line", "bonus"), [("p1 sm AaKaOaUa", 10_000), ("p1 k", 0)])
def test_a_lone_winner_is_paid_for_a_41_that_is_shown(kit: Kit, line: str, bonus: int) -> None:
    desk = faerbeln(kit, tray=30_000, bonus41_for="uncontested")
    dealt(kit, desk, *ALONE_WITH_41, line)
    hand = settled(kit, desk)
    money = hand_money(hand)
    # 1,600 were matched: two stakes and three antes, taxed 5 %.
    assert (money["net"], money["bonus"], money["tax"]) == ([900 - 80 + bonus, -700, -200], bonus, 80)
    assert kit.balance("5100/F1", "9130/F1") == [bonus, 30_000 - bonus]
    assert_house_is_whole(kit)


def test_a_hand_whose_bonuses_the_tray_cannot_pay_is_not_dealt(kit: Kit) -> None:
    desk = faerbeln(kit, tray=29_999)
    answer = desk.post("hands", {"mode": "physical"})
    assert (answer.status_code, answer.json()["code"]) == (409, "tray_too_small")
    assert (answer.json()["min"], answer.json()["tray"]) == (30_000, 29_999)
    assert not Hand.objects.filter(house=kit.house).exists()


def test_a_tray_emptied_behind_the_hand_pays_nothing_until_it_is_filled(kit: Kit) -> None:
    desk = faerbeln(kit, tray=30_000, bonus41_for="uncontested")
    dealt(kit, desk, *ALONE_WITH_41, "p1 sm AaKaOaUa")
    tray = Chips("MAIN", {value: chart.rack(kit.house, "9130/F1", "MAIN")[value] for value in (1_000, 5_000)})
    book(kit.house, "empty", posting("credit_sent", {"table": "F1"}, chips=tray))
    message = OutboxMessage.objects.get(house=kit.house)
    for _ in range(2):
        with pytest.raises(InsufficientFunds):
            resolve_hand(str(message.house_id), message.id)
    recorded = Event.objects.filter(chain__house=kit.house, doc__kind="hand.settlement_failed")
    assert [event.doc["data"] for event in recorded] == [{"hand": "F1-000001", "problem": "InsufficientFunds"}]
    message.refresh_from_db()
    assert message.last_error.startswith("InsufficientFunds")
    assert kit.balance("2030/F1", "4010/F1", "5100/F1") == [2_100, 0, 0]
    assert desk.refresh()["state"] == "settling"
    book(kit.house, "fill", posting("fill_received", {"table": "F1"}, chips=tray))
    settled(kit, desk)
    assert_house_is_whole(kit)


# --- Call or discard, announced ---------------------------------------------------------------------------------------


def refused_deal(desk: Desk, **what: Any) -> tuple[int, str]:
    """Status and code of a hand that is not dealt."""
    answer = desk.post("hands", {"mode": "physical", **what})
    return answer.status_code, answer.json()["code"]


def test_the_dealer_announces_call_or_discard_for_one_deal_of_a_cukassza(kit: Kit) -> None:
    kit.table(seats=3, cukassza_call="announced")
    desk = kit.seated(stacks=(9_000,) * 3)
    assert refused_deal(desk, announce=["call_or_discard"]) == (409, "no_cukassza")
    assert refused_deal(desk, announce="yes") == (400, "invalid_request")
    dealt(kit, desk, *FAILED)
    assert settled(kit, desk).options["cukassza_call"] == "normal"
    desk.ok("hands", {"mode": "physical", "announce": ["call_or_discard"]})
    answer = desk.act("p1 po 100", "d dh p1 ????", "d dh p2 ????", "d dh p3 ????")
    assert answer["view"]["actor"] == "p3"
    for line in ("p3 f", "p2 f"):
        desk.act(line)
    hand = settled(kit, desk)
    assert hand.options["cukassza_call"] == "megadas_eldobas"
    record = selectors.record(hand)
    assert replay(parse_record(json.dumps(record))).ok
    assert dealt(kit, desk, *FAILED[:4])["view"]["actor"] == "p2"


def test_where_the_table_does_not_leave_it_to_the_dealer_nothing_is_announced(kit: Kit) -> None:
    kit.table(seats=3)
    assert refused_deal(kit.seated(stacks=(9_000,) * 3), announce=["call_or_discard"]) == (422, "option_out_of_range")


# --- Handle ----------------------------------------------------------------------------------------------------------


def test_handle_is_all_that_seats_put_in_forced_or_not(kit: Kit) -> None:
    kit.table(seats=3)
    desk = kit.seated(stacks=(9_000,) * 3)
    dealt(kit, desk, *FAILED)
    assert settled(kit, desk).handle == 300
