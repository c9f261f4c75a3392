"""The floor disputes a hand, in play or over and not settled: nothing goes on, and a ruling or a void decides."""

from pathlib import Path

import pytest

from casino.hands import automatic, clock, settlement
from casino.hands.models import Hand, HandState
from casino.houses.models import OutboxMessage
from casino.reports.selectors import custody, house_report
from casino.staff.models import Role
from tests.casino.core.test_concurrency import at_once
from tests.casino.devices import events
from tests.casino.hands.test_bonus import REASON as SHOWN
from tests.casino.hands.test_bonus import held
from tests.casino.hands.test_time_to_act import BEGUN, pass_time, timed
from tests.casino.kit import MISDEAL, SAMPLE, Desk, Kit
from tests.casino.scene import assert_problem
from tests.casino.transfers.test_transfers import refusal
from tests.casino.trick_hands import REASON, assert_whole, found, last_hand

#: Of the worked hand: so many lines, after which stakes lie in the pot.
PLAYED = 12
NAME = "T1-000001"
DISPUTE = {"hand": NAME, "reason": "p2 says that the second card was not p2's"}


def in_play(kit: Kit, lines: int = PLAYED) -> tuple[Desk, Desk]:
    """The worked hand after so many lines; the dealer and the floor at its table."""
    kit.table()
    dealer = kit.seated()
    dealer.ok("hands", {"mode": "physical", "button": 4})
    if lines:
        dealer.act(*SAMPLE[:lines])
    return dealer, kit.dealer(role=Role.FLOOR)


def ruling(pot: int, **changed: object) -> dict[str, object]:
    """A ruling that gives the pot to one seat."""
    return {"hand": NAME, "awards": [{"actor": "p1", "amount": pot}], "tax": 0, "reason": "seen by the floor"} | changed


def test_a_hand_in_play_is_stopped_and_ruled_on(kit: Kit, tmp_path: Path) -> None:
    dealer, floor = in_play(kit)
    pot = kit.balance("2030/T1")
    floor.version = 1
    disputed = floor.ok("hand/dispute", DISPUTE)
    assert (disputed["state"], disputed["last_event"]["kind"]) == ("disputed", "hand.dispute_raised")
    assert kit.balance("2030/T1", "2070/T1") == [0, pot] and pot > 0
    [event] = events(kit, "hand.dispute_raised")
    assert (event["data"]["before"], event["data"]["frozen"], event["reason"]) == ("playing", pot, DISPUTE["reason"])
    dealer.refresh()
    seen = dealer.get("hand").json()
    assert (seen["state"], seen["actor"], seen["legal_actions"], seen["result"]) == ("disputed", None, [], None)
    act = {"actions": [{"actor": "p1", "verb": "k"}]}
    assert refusal(dealer.post("hand/actions", act)) == (409, "no_hand")
    assert refusal(dealer.post("hands", {"mode": "physical"})) == (409, "table_disputed")
    assert refusal(floor.post("hand/dispute", DISPUTE)) == (409, "table_disputed")
    assert kit.settle() == [] and found(kit) == ["the hand is disputed: its replay agrees now"]
    ruled = kit.approved(floor, "hand/ruling", ruling(pot))
    assert ruled["state"] == "open" and kit.balance("2070/T1") == 0
    hand = last_hand(kit)
    assert (hand.state, hand.digest, hand.result, hand.ended_at) == (HandState.RULED, "", None, None)
    assert hand.ruling is not None and hand.ruling["readings"] == {"recorded": {"result": None, "refused": None}}
    read = kit.office().get(f"hands/{NAME}/rulings").json()
    assert (read["stored"], read["ruling"]["awards"]) == (None, {"p1": pot})
    assert kit.office().get("hands").json()["results"][0]["state"] == "ruled"
    dealer.refresh()
    again = dealer.ok("hands", {"mode": "physical"})
    assert again["seats"][-1]["seat"] == 1, "the turn to deal has passed"
    dealer.act(*SAMPLE[:PLAYED])
    dealer.act(*SAMPLE[PLAYED:])
    assert kit.settle() == [HandState.SETTLED]
    [table] = house_report(kit.house)["tables"]
    assert (table["settled_count"], table["ruled_count"], table["unsettled_count"]) == (1, 1, 0)
    assert custody(kit.house)["equal"]
    assert_whole(kit, tmp_path)


def test_an_electronic_hand_is_stopped_and_its_cards_open_after_the_ruling(kit: Kit, tmp_path: Path) -> None:
    kit.table()
    desk, floor = kit.seated(), kit.dealer(role=Role.FLOOR)
    name = desk.deal(button=4)["hand"]
    desk.act("p1 po 100")
    floor.ok("hand/dispute", DISPUTE | {"hand": name})
    assert "seed" not in kit.office(Role.AUDITOR).get(f"hands/{name}").json()
    pot = kit.balance("2070/T1")
    kit.approved(floor, "hand/ruling", ruling(pot, hand=name))
    assert "seed" in kit.office(Role.AUDITOR).get(f"hands/{name}").json()
    assert_whole(kit, tmp_path)


@pytest.mark.parametrize("lines", [0, 1, PLAYED])
def test_a_disputed_hand_in_play_is_voided_by_a_manager(kit: Kit, tmp_path: Path, lines: int) -> None:
    dealer, floor = in_play(kit, lines)
    dealt = dealer.get("hand").json()["seats"]
    floor.ok("hand/dispute", DISPUTE)
    voided = kit.approved(floor, "hand/void", REASON | {"cause": "ruled"})["last_event"]
    assert (voided["disputed"], voided["log_complete"]) == (True, False)
    assert kit.balance("2030/T1", "2070/T1", "2020/T1/T1-u1") == [0, 0, 20_000]
    dealer.refresh()
    assert dealer.ok("hands", {"mode": "physical"})["seats"] == dealt, "the same dealer deals again"
    floor.ok("hand/dispute", DISPUTE | {"hand": "T1-000002"})
    kit.approved(floor, "hand/void", REASON | MISDEAL)
    assert_whole(kit, tmp_path)


def test_a_hand_that_is_over_is_disputed_before_the_worker_comes(kit: Kit, tmp_path: Path) -> None:
    kit.worked_hand()
    floor = kit.dealer(role=Role.FLOOR)
    pot = kit.balance("2030/T1")
    [message] = OutboxMessage.objects.filter(house=kit.house, done_at=None)
    floor.ok("hand/dispute", DISPUTE)
    message.refresh_from_db()
    assert message.done_at is not None, "nothing is left in the worker's way"
    assert settlement.resolve(message.id) == HandState.DISPUTED, "and a hint that comes late does nothing"
    assert kit.balance("2030/T1", "2070/T1", "4010/T1") == [0, pot, 0]
    awards = [{"actor": "p1", "amount": pot - 165}]
    kit.approved(floor, "hand/ruling", ruling(pot, awards=awards, tax=165))
    assert kit.balance("2070/T1", "4010/T1") == [0, 165]
    assert_whole(kit, tmp_path)


def test_a_dispute_and_the_settlement_at_the_same_moment(kit: Kit) -> None:
    kit.worked_hand()
    floor = kit.dealer(role=Role.FLOOR)
    answers = at_once(lambda: floor.post("hand/dispute", DISPUTE), kit.settle)
    hand = Hand.objects.get(house=kit.house)
    if hand.state == HandState.DISPUTED:
        assert answers[0].status_code == 200 and kit.balance("2070/T1", "4010/T1") == [3_300, 0]
    else:
        assert hand.state == HandState.SETTLED and refusal(answers[0]) == (409, "table_open")
        assert kit.balance("2070/T1", "4010/T1") == [0, 165]


def test_a_bonus_that_waits_is_disputed_and_voided(kit: Kit, tmp_path: Path) -> None:
    floor = held(kit)
    floor.ok("hand/dispute", DISPUTE | {"hand": last_hand(kit).name})
    [event] = events(kit, "hand.dispute_raised")
    assert event["data"]["before"] == "awaiting_approval"
    assert refusal(floor.post("hand/bonus/refuse", SHOWN)) == (409, "no_bonus_held")
    kit.approved(floor, "hand/void", REASON | MISDEAL)
    assert_whole(kit, tmp_path)


def test_no_clock_runs_while_a_hand_is_disputed(kit: Kit) -> None:
    desk = timed(kit, 30)
    desk.ok("hands", {"mode": "physical"})
    desk.act(*BEGUN)
    floor = kit.dealer(role=Role.FLOOR)
    floor.ok("hand/dispute", DISPUTE)
    before = desk.get("hand").json()
    pass_time(kit, 100)
    # The time of hands of other tests may be over: those are played, this one is not.
    assert clock.overdue(last_hand(kit).pk) == []
    automatic.run()
    assert desk.get("hand").json() == before
    assert before["act_by"] is None


def test_disputes_that_are_refused(kit: Kit) -> None:
    kit.table()
    kit.seated()
    floor = kit.dealer(role=Role.FLOOR)
    assert refusal(floor.post("hand/dispute", DISPUTE)) == (409, "table_open")
    floor.refresh()
    floor.ok("hands", {"mode": "physical", "button": 4})
    assert refusal(floor.post("hand/dispute", DISPUTE | {"hand": "T1-000002"})) == (409, "other_hand")
    assert_problem(floor.post("hand/dispute", {"hand": NAME}), 400, "invalid_request")
    assert kit.dealer().post("hand/dispute", DISPUTE).status_code == 403
    assert Hand.objects.get(house=kit.house).state == HandState.PLAYING


def test_the_same_request_again_disputes_once(kit: Kit) -> None:
    _, floor = in_play(kit)
    first = floor.post("hand/dispute", DISPUTE, key="dispute")
    again = floor.post("hand/dispute", DISPUTE, key="dispute")
    assert (first.status_code, again.json()) == (200, first.json())
    assert len(events(kit, "hand.dispute_raised")) == 1
