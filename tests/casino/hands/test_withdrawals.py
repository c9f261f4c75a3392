"""A dispute is withdrawn: the hand goes on as if the floor had not disputed it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import DatabaseError

from casino.core import outbox, sql
from casino.hands import automatic, clock, services, settlement
from casino.hands.models import HandState
from casino.houses.models import OutboxMessage
from casino.reports.selectors import custody, hand_money, house_report
from casino.staff.models import Role
from casino.tables.models import Table
from tests.casino.core.test_concurrency import at_once
from tests.casino.devices import events
from tests.casino.hands.test_bonus import BONUS, CONFIRM, POT, ended, held
from tests.casino.hands.test_bonus import REASON as NO_41
from tests.casino.hands.test_cards import SHOWN, UNKNOWN_CARDS, entries
from tests.casino.hands.test_disputes import DISPUTE, NAME, PLAYED, in_play, ruling
from tests.casino.hands.test_settlement import alter_as_superuser, dispute
from tests.casino.hands.test_time_to_act import BEGUN, pass_time, timed
from tests.casino.kit import MISDEAL, SAMPLE, Desk, Kit
from tests.casino.scene import assert_problem
from tests.casino.transfers.test_transfers import refusal
from tests.casino.trick_hands import REASON, assert_whole, found, last_hand

WITHDRAW = {"hand": NAME, "reason": "p2 has looked again, and it was"}
PATH = "hand/dispute/withdraw"
#: What the worked hand leaves at its table: seats, pot, disputed pot and tax.
PLACES = ("2020/T1/T1-u1", "2020/T1/T1-u2", "2020/T1/T1-u3", "2020/T1/T1-u4", "2030/T1", "2070/T1", "4010/T1")


def undisputed(kit: Kit) -> list[int]:
    """The balances of PLACES once the worked hand is settled that nobody has disputed, at a table of its own."""
    kit.table("T2")
    dealer = kit.seated("T2")
    dealer.ok("hands", {"mode": "physical", "button": 4})
    dealer.act(*SAMPLE[:PLAYED])
    dealer.act(*SAMPLE[PLAYED:])
    assert kit.settle() == [HandState.SETTLED]
    return [*kit.balance(*(place.replace("T1", "T2") for place in PLACES))]


def withdrawn(floor: Desk, name: str = NAME) -> dict[str, object]:
    """Dispute the hand and withdraw that; returns the answer."""
    floor.ok("hand/dispute", DISPUTE | {"hand": name})
    answer: dict[str, object] = floor.ok(PATH, WITHDRAW | {"hand": name})
    return answer


# --- In each state -------------------------------------------------------------------------------------------------


def test_a_hand_in_play_is_played_on_and_settled(kit: Kit, tmp_path: Path) -> None:
    dealer, floor = in_play(kit)
    before = dealer.get("hand").json()
    pot = kit.balance("2030/T1")
    floor.ok("hand/dispute", DISPUTE)
    answer = floor.ok(PATH, WITHDRAW)
    assert (answer["state"], answer["last_event"]["kind"]) == ("playing", "hand.dispute_withdrawn")
    assert kit.balance("2030/T1", "2070/T1") == [pot, 0] and pot > 0
    [event] = events(kit, "hand.dispute_withdrawn")
    [raised] = events(kit, "hand.dispute_raised")
    [mirror] = event["postings"]
    assert (event["reason"], mirror["reverses"]) == (WITHDRAW["reason"], raised["postings"][0]["tx"])
    data = event["data"]
    assert (data["after"], data["returned"], data["raised_by"]) == ("playing", pot, raised["actor"])
    assert data["mirror"] == mirror["tx"]
    dealer.refresh()
    after = dealer.get("hand").json()
    apart = ("version", "act_by")
    assert {name: after[name] for name in after if name not in apart} == {
        name: before[name] for name in before if name not in apart
    }
    assert found(kit) == []
    dealer.act(*SAMPLE[PLAYED:])
    assert kit.settle() == [HandState.SETTLED]
    hand = last_hand(kit)
    assert (hand.disputed_at, hand.disputed_by, hand.disputed_from, hand.disputes_withdrawn) == (None, "", "", 1)
    balances = kit.balance(*PLACES)
    assert hand_money(hand)["tax"] == 165 and hand_money(hand)["net"] == (hand.result or {})["net"]
    assert balances == undisputed(kit)
    assert custody(kit.house)["equal"]
    assert_whole(kit, tmp_path)


def test_a_hand_that_is_over_waits_for_the_worker_again(kit: Kit, tmp_path: Path) -> None:
    kit.worked_hand()
    floor = kit.dealer(role=Role.FLOOR)
    [message] = OutboxMessage.objects.filter(house=kit.house, done_at=None)
    OutboxMessage.objects.filter(id=message.id).update(deliveries=4, sent_at=message.created_at, last_error="Busy")
    floor.ok("hand/dispute", DISPUTE)
    assert kit.settle() == []
    answer = floor.ok(PATH, WITHDRAW)
    assert (answer["state"], kit.balance("2030/T1", "2070/T1")) == ("settling", [3_300, 0])
    [again] = OutboxMessage.objects.filter(house=kit.house, done_at=None)
    assert (again.id, again.deliveries, again.sent_at, again.last_error) == (message.id, 0, None, "")
    assert again.created_at > message.created_at, "it has not waited longer than the hand"
    assert found(kit) == []
    assert kit.settle() == [HandState.SETTLED]
    assert settlement.resolve(message.id) == HandState.SETTLED, "a hint that comes late pays nothing"
    assert kit.balance(*PLACES) == undisputed(kit)
    assert house_report(kit.house)["tables"][0]["settled_count"] == 1
    assert_whole(kit, tmp_path)


def test_the_worker_is_sent_a_hint(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after every write that leaves a message; where nothing waits, there is none."""
    sent: list[tuple[str, int]] = []
    monkeypatch.setattr(outbox, "publish", lambda message: sent.append((message.task, message.id)))
    dealer, floor = in_play(kit)
    withdrawn(floor)
    dealer.refresh()
    assert outbox.HINTS.drain(60) and sent == []
    dealer.act(*SAMPLE[PLAYED:])
    [message] = OutboxMessage.objects.filter(house=kit.house, done_at=None)
    assert outbox.HINTS.drain(60) and sent == [(services.RESOLVE, message.id)]
    withdrawn(floor)
    assert outbox.HINTS.drain(60) and sent == [(services.RESOLVE, message.id)] * 2


def test_a_bonus_waits_on_for_its_approval(kit: Kit, tmp_path: Path) -> None:
    floor = held(kit)
    header = kit.approval(floor, "hand/bonus", CONFIRM)
    assert withdrawn(floor, last_hand(kit).name)["state"] == "settling"
    assert last_hand(kit).state == HandState.AWAITING_APPROVAL and kit.settle() == []
    floor.ok("hand/bonus", CONFIRM, headers=header)
    withdrawn(floor, last_hand(kit).name)
    assert last_hand(kit).state == HandState.APPROVED
    assert kit.balance("2030/F1", "2070/F1", "5100/F1") == [POT, 0, 0]
    assert kit.settle() == [HandState.SETTLED]
    assert kit.balance("2030/F1", "5100/F1") == [0, BONUS]
    [first, second] = events(kit, "hand.dispute_withdrawn")
    assert (first["data"]["after"], second["data"]["after"]) == ("awaiting_approval", "approved")
    assert_whole(kit, tmp_path)


def test_a_large_bonus_is_still_held_after_a_withdrawal(kit: Kit) -> None:
    floor = ended(kit)
    withdrawn(floor, last_hand(kit).name)
    assert kit.settle() == [HandState.AWAITING_APPROVAL]
    assert kit.balance("5100/F1") == 0


def test_where_nothing_was_frozen_nothing_is_mirrored(kit: Kit, tmp_path: Path) -> None:
    dealer, floor = in_play(kit, lines=0)
    withdrawn(floor)
    [event] = events(kit, "hand.dispute_withdrawn")
    assert (event["data"]["returned"], event["data"]["mirror"], event.get("postings")) == (0, None, None)
    dealer.refresh()
    dealer.act(*SAMPLE[:PLAYED])
    dealer.act(*SAMPLE[PLAYED:])
    assert kit.settle() == [HandState.SETTLED]
    assert_whole(kit, tmp_path)


def test_the_house_deals_on_in_an_electronic_hand(kit: Kit, tmp_path: Path) -> None:
    kit.table()
    desk, floor = kit.seated(), kit.dealer(role=Role.FLOOR)
    name = desk.deal(button=4)["hand"]
    desk.act("p1 po 100")
    withdrawn(floor, name)
    assert "seed" not in kit.office(Role.AUDITOR).get(f"hands/{name}").json()
    desk.refresh()
    desk.act("p2 f")
    desk.act("p3 f")
    desk.act("p4 f")
    assert kit.settle() == [HandState.SETTLED]
    assert_whole(kit, tmp_path)


def test_cards_are_entered_and_corrected_before_and_after(kit: Kit, tmp_path: Path) -> None:
    kit.table()
    dealer = kit.seated(stacks=(5_000, 5_000))
    dealer.ok("hands", {"mode": "physical"})
    for line in UNKNOWN_CARDS:
        dealer.act(line)
    dealer.ok("hand/cards", entries("p1.0 Ua"))
    withdrawn(kit.dealer(role=Role.FLOOR))
    dealer.refresh()
    dealer.ok("hand/cards", entries("p1.3 Aa"))
    dealer.act(SHOWN[0])
    dealer.act(SHOWN[1])
    assert kit.settle() == [HandState.SETTLED]
    assert_whole(kit, tmp_path)


# --- Again and again -----------------------------------------------------------------------------------------------


def test_a_hand_is_disputed_again_and_ruled_on(kit: Kit, tmp_path: Path) -> None:
    dealer, floor = in_play(kit)
    withdrawn(floor)
    withdrawn(floor)
    dealer.refresh()
    dealer.act(*SAMPLE[PLAYED:])
    withdrawn(floor)
    floor.ok("hand/dispute", DISPUTE)
    assert kit.balance("2030/T1", "2070/T1") == [0, 3_300]
    assert found(kit) == ["the hand is disputed: its replay agrees now"]
    kit.approved(floor, "hand/ruling", ruling(3_300))
    hand = last_hand(kit)
    assert (hand.state, hand.disputes_withdrawn, hand.disputed_from) == (HandState.RULED, 3, "ended")
    assert kit.balance("2070/T1", "4010/T1") == [0, 0] and hand_money(hand)["tax"] == 0
    assert sum(hand_money(hand)["net"]) == 0
    assert_whole(kit, tmp_path)


@pytest.mark.parametrize("disputed", [True, False])
def test_a_hand_is_voided_after_a_withdrawal(kit: Kit, tmp_path: Path, disputed: bool) -> None:
    _, floor = in_play(kit)
    withdrawn(floor)
    [mirror] = events(kit, "hand.dispute_withdrawn")[0]["postings"]
    if disputed:
        floor.ok("hand/dispute", DISPUTE)
    voided = kit.approved(floor, "hand/void", REASON | MISDEAL)["last_event"]
    assert voided.get("disputed", False) is disputed
    assert mirror["tx"] not in voided["mirrors"].values(), "it was reversed before"
    assert kit.balance("2030/T1", "2070/T1", "2020/T1/T1-u1") == [0, 0, 20_000]
    assert_whole(kit, tmp_path)


def test_a_replay_that_differs_after_a_withdrawal_freezes_the_pot_again(kit: Kit, tmp_path: Path) -> None:
    kit.worked_hand()
    floor = kit.dealer(role=Role.FLOOR)
    withdrawn(floor)
    dispute(kit, last_hand(kit))
    floor.refresh()
    assert kit.balance("2030/T1", "2070/T1") == [0, 3_300]
    assert refusal(floor.post(PATH, WITHDRAW)) == (409, "dispute_not_raised")
    kit.approved(floor, "hand/ruling", ruling(3_300))
    assert_whole(kit, tmp_path)


# --- The clock -----------------------------------------------------------------------------------------------------


def _automatic(kit: Kit) -> list[dict[str, Any]]:
    """What the clock has played in the house; other houses of the database have hands of their own."""
    return [event for event in events(kit, "hand.acted") if "automatic" in event["data"]]


def test_the_time_to_act_begins_again(kit: Kit) -> None:
    desk = timed(kit, 30)
    desk.ok("hands", {"mode": "physical"})
    desk.act(*BEGUN)
    floor = kit.dealer(role=Role.FLOOR)
    pass_time(kit, 20)
    floor.ok("hand/dispute", DISPUTE)
    pass_time(kit, 100)
    before = datetime.now(UTC)
    floor.ok(PATH, WITHDRAW)
    act_by = datetime.fromisoformat(desk.get("hand").json()["act_by"])
    assert act_by == last_hand(kit).resumed_at + timedelta(seconds=30) > before
    assert last_hand(kit).id not in [late.hand_id for late in clock.overdue()]
    automatic.run()
    assert not _automatic(kit)
    pass_time(kit, 31)
    assert last_hand(kit).id in [late.hand_id for late in clock.overdue()]
    automatic.run()
    [acted] = _automatic(kit)
    assert acted["data"]["automatic"] == "p2"


# --- Who may, and when ---------------------------------------------------------------------------------------------


def test_another_person_of_the_floor_may_not_and_a_manager_may(kit: Kit, tmp_path: Path) -> None:
    dealer, floor = in_play(kit)
    floor.ok("hand/dispute", DISPUTE)
    by = last_hand(kit).disputed_by
    refused = kit.dealer(role=Role.FLOOR).post(PATH, WITHDRAW)
    assert_problem(refused, 403, "not_your_dispute")
    assert refused.json()["disputed_by"] == by
    dealer.refresh()
    assert_problem(dealer.post(PATH, WITHDRAW), 403, "forbidden")
    assert last_hand(kit).state == HandState.DISPUTED
    kit.dealer(role=Role.MANAGER).ok(PATH, WITHDRAW)
    [event] = events(kit, "hand.dispute_withdrawn")
    assert (event["role"], event["data"]["raised_by"]) == ("manager", by) and event["actor"] != by
    dealer.refresh()
    dealer.act(*SAMPLE[PLAYED:])
    assert kit.settle() == [HandState.SETTLED]
    assert_whole(kit, tmp_path)


def test_what_a_worker_has_stopped_is_not_withdrawn(kit: Kit) -> None:
    kit.worked_hand()
    dispute(kit, last_hand(kit))
    for role in (Role.FLOOR, Role.MANAGER):
        assert refusal(kit.dealer(role=role).post(PATH, WITHDRAW)) == (409, "dispute_not_raised")
    assert last_hand(kit).state == HandState.DISPUTED and kit.balance("2070/T1") == 3_300


def test_a_refused_bonus_is_not_withdrawn(kit: Kit) -> None:
    floor = held(kit)
    floor.ok("hand/bonus/refuse", NO_41)
    name = last_hand(kit).name
    assert refusal(floor.post(PATH, WITHDRAW | {"hand": name})) == (409, "dispute_not_raised")
    assert kit.balance("2070/F1") == POT


def test_withdrawals_that_are_refused(kit: Kit) -> None:
    kit.table()
    kit.seated()
    floor = kit.dealer(role=Role.FLOOR)
    assert refusal(floor.post(PATH, WITHDRAW)) == (409, "table_open")
    floor.ok("hands", {"mode": "physical", "button": 4})
    assert refusal(floor.post(PATH, WITHDRAW)) == (409, "table_playing")
    floor.ok("hand/dispute", DISPUTE)
    assert refusal(floor.post(PATH, WITHDRAW | {"hand": "T1-000002"})) == (409, "other_hand")
    assert_problem(floor.post(PATH, {"hand": NAME}), 400, "invalid_request")
    assert_problem(floor.post(PATH, WITHDRAW, version=floor.version - 1), 412, "version_conflict")
    assert last_hand(kit).state == HandState.DISPUTED


def test_the_same_request_again_withdraws_once(kit: Kit) -> None:
    _, floor = in_play(kit)
    floor.ok("hand/dispute", DISPUTE)
    version = floor.version
    first = floor.post(PATH, WITHDRAW, key="withdraw", version=version)
    again = floor.post(PATH, WITHDRAW, key="withdraw", version=version)
    assert (first.status_code, again.json()) == (200, first.json())
    assert len(events(kit, "hand.dispute_withdrawn")) == 1


# --- At the same moment --------------------------------------------------------------------------------------------


def test_a_withdrawal_and_a_ruling_at_the_same_moment(kit: Kit, tmp_path: Path) -> None:
    """One of them counts, whole; the other is refused, and changes nothing."""
    kit.worked_hand()
    floor = kit.dealer(role=Role.FLOOR)
    floor.ok("hand/dispute", DISPUTE)
    body = ruling(3_300)
    header = kit.approval(floor, "hand/ruling", body)
    floor.refresh()
    version = floor.version
    ruled, taken_back = at_once(
        lambda: floor.post("hand/ruling", body, headers=header, version=version),
        lambda: floor.post(PATH, WITHDRAW, version=version),
    )
    assert sorted([ruled.status_code, taken_back.status_code]) == [200, 412]
    if ruled.status_code == 200:
        assert (last_hand(kit).state, kit.settle()) == (HandState.RULED, [])
    else:
        assert (last_hand(kit).state, kit.settle()) == (HandState.ENDED, [HandState.SETTLED])
    assert kit.balance("2030/T1", "2070/T1") == [0, 0]
    assert_whole(kit, tmp_path)


def test_a_ruling_comes_too_late_for_a_hand_that_is_played_on(kit: Kit) -> None:
    _, floor = in_play(kit)
    floor.ok("hand/dispute", DISPUTE)
    body = ruling(kit.balance("2070/T1"))
    header = kit.approval(floor, "hand/ruling", body)
    floor.ok(PATH, WITHDRAW)
    assert refusal(floor.post("hand/ruling", body, headers=header)) == (409, "table_playing")
    assert last_hand(kit).state == HandState.PLAYING


def test_two_withdraw_at_the_same_moment(kit: Kit) -> None:
    _, floor = in_play(kit)
    manager = kit.dealer(role=Role.MANAGER)
    pot = kit.balance("2030/T1")
    floor.ok("hand/dispute", DISPUTE)
    version = floor.version
    answers = at_once(*(lambda desk=desk: desk.post(PATH, WITHDRAW, version=version) for desk in (floor, manager)))  # type: ignore[misc]
    assert sorted(answer.status_code for answer in answers) == [200, 412]
    assert (kit.balance("2030/T1", "2070/T1"), len(events(kit, "hand.dispute_withdrawn"))) == ([pot, 0], 1)


# --- Past the house ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        "state = 'playing'",
        "state = 'playing', disputed_at = NULL, disputed_by = '', disputed_from = ''",
        "state = 'ended', disputed_at = NULL, disputed_by = '', disputed_from = '', digest = 'd',"
        " disputes_withdrawn = disputes_withdrawn + 1, resumed_at = clock_timestamp()",
        "disputed_by = 'somebody'",
        "disputes_withdrawn = disputes_withdrawn + 1, resumed_at = clock_timestamp()",
    ],
)
def test_postgresql_refuses_what_is_no_withdrawal(kit: Kit, change: str) -> None:
    _, floor = in_play(kit)
    floor.ok("hand/dispute", DISPUTE)
    with pytest.raises(DatabaseError, match=r"of hand|is disputed|was disputed"):
        sql.change(f"UPDATE hands_hand SET {change} WHERE house_id = %s", [kit.house.id])
    assert last_hand(kit).state == HandState.DISPUTED


def test_a_withdrawal_past_the_house_is_found(kit: Kit) -> None:
    """A superuser lets the hand be played on, and the pot stay frozen."""
    _, floor = in_play(kit)
    floor.ok("hand/dispute", DISPUTE)
    pot = kit.balance("2070/T1")
    hand = last_hand(kit)
    back = "state = 'playing', disputed_at = NULL, disputed_by = '', disputed_from = ''"
    alter_as_superuser(f"UPDATE hands_hand SET {back} WHERE id = %s", hand.id)
    Table.objects.filter(house=kit.house).update(state="playing")
    assert f"dispute: 2070/T1 moved by {pot} in the ledger and by 0 in the replay" in found(kit)
    counted = f"{back}, disputes_withdrawn = 1, resumed_at = clock_timestamp()"
    alter_as_superuser(f"UPDATE hands_hand SET {counted} WHERE id = %s", hand.id)
    assert f"the mirror: 2070/T1 moved by 0 in the ledger and by {-pot} in the replay" in found(kit)
