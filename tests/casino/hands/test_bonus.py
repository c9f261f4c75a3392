"""A bonus from the house's control point on: held by the worker, confirmed by the floor, approved by a manager, paid;
or refused, frozen, and ruled on."""

import threading
from typing import Any

import pytest
from django.db import connections, transaction

from casino.approvals.control_points import set_at_founding
from casino.audit.models import Event
from casino.hands.models import Hand, HandState
from casino.hands.tasks import resolve_confirmed_hand
from casino.houses.models import OutboxMessage
from casino.reports.selectors import custody, hand_money, house_report
from casino.reports.verifying import verification
from casino.staff.models import Role
from tests.casino.hands.test_settlement import alter_as_superuser
from tests.casino.hands.test_variant_hands import ALONE_WITH_41, dealt, faerbeln
from tests.casino.kit import ACTOR, MISDEAL, Desk, Kit
from tests.casino.scene import assert_problem

#: From so much on an approval is needed where a house has set nothing.
BONUS = 200_000
TRAY = 1_000_000
HAND = "F1-000001"
CONFIRM = {"hand": HAND, "bonus": BONUS}
REASON = {"reason": "the shown cards are no 41"}
#: What lies in the middle: the uncalled bet goes back with the settlement.
POT = 2_100


def ended(kit: Kit) -> Desk:
    """A hand that is won with a bonus of BONUS, waiting for the worker; the floor at its table."""
    desk = faerbeln(kit, tray=TRAY, bonus41=BONUS, bonus41_for="uncontested")
    dealt(kit, desk, *ALONE_WITH_41, "p1 sm AaKaOaUa")
    return kit.dealer("F1", role=Role.FLOOR)


def held(kit: Kit) -> Desk:
    """The same, and the worker has held it."""
    ended(kit)
    assert kit.settle() == [HandState.AWAITING_APPROVAL]
    return kit.dealer("F1", role=Role.FLOOR)


def events(kit: Kit) -> list[Any]:
    """The kinds of the table's newest events, the newest last."""
    return [event.doc for event in Event.objects.filter(chain__house=kit.house, chain__name="table/F1").order_by("id")]


def test_a_bonus_below_the_control_point_is_paid_at_once(kit: Kit) -> None:
    set_at_founding(house=kit.house, points={"bonus_approved_from": BONUS + 1}, actor=ACTOR)
    ended(kit)
    assert kit.settle() == [HandState.SETTLED]
    assert kit.balance("5100/F1") == BONUS
    assert verification(kit.house)["ok"]


def test_nothing_is_paid_until_a_manager_has_approved(kit: Kit) -> None:
    floor = held(kit)
    assert kit.balance("2030/F1", "4010/F1", "5100/F1", "9130/F1") == [POT, 0, 0, TRAY]
    assert floor.get("hand").json()["state"] == "awaiting_approval"
    assert (floor.refresh()["state"], house_report(kit.house)["tables"][0]["unsettled_count"]) == ("settling", 1)
    assert events(kit)[-1]["data"] | {"table_version": 0} == {"hand": HAND, "bonus": BONUS, "table_version": 0}
    assert kit.settle() == [], "the message is done; the sweeper leaves it alone"
    assert_problem(floor.post("hands", {"mode": "physical"}), 409, "table_settling")
    assert_problem(floor.post("hand/void", REASON | MISDEAL), 409, "table_settling")
    assert verification(kit.house)["ok"]
    header = kit.approval(floor, "hand/bonus", CONFIRM)
    assert kit.balance("5100/F1") == 0, "the approval alone pays nothing"
    confirmed = floor.ok("hand/bonus", CONFIRM, headers=header)["last_event"]
    assert (confirmed["kind"], confirmed["bonus"], confirmed["approval"]) == ("hand.bonus_confirmed", BONUS, 1)
    assert verification(kit.house)["ok"]
    assert kit.settle() == [HandState.SETTLED]
    hand = Hand.objects.get(house=kit.house)
    assert (hand_money(hand)["bonus"], hand.state) == (BONUS, HandState.SETTLED)
    assert kit.balance("2030/F1", "5100/F1", "9130/F1") == [0, BONUS, TRAY - BONUS]
    _, by_floor, _ = found = [event for event in events(kit) if event["kind"].startswith("hand.")][-3:]
    assert [event["kind"] for event in found] == ["hand.bonus_held", "hand.bonus_confirmed", "hand.settled"]
    assert by_floor["approver"] not in (by_floor["actor"], "")
    assert custody(kit.house)["equal"] and verification(kit.house)["ok"]


def test_a_confirmed_hand_is_settled_once(kit: Kit) -> None:
    floor = held(kit)
    kit.approved(floor, "hand/bonus", CONFIRM)
    message = OutboxMessage.objects.get(house=kit.house, done_at=None)
    states, start = list[str](), threading.Barrier(4)

    def work() -> None:
        start.wait()
        states.append(resolve_confirmed_hand(str(kit.house.id), message.id))
        connections.close_all()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert states == [HandState.SETTLED] * 4
    assert kit.balance("5100/F1") == BONUS


@pytest.mark.parametrize("changed", [{"bonus": BONUS - 1}, {"hand": "F1-000002"}])
def test_the_floor_confirms_exactly_what_waits(kit: Kit, changed: dict[str, Any]) -> None:
    floor = held(kit)
    answer = floor.post("hand/bonus", CONFIRM | changed)
    assert_problem(answer, 409, "bonus_differs")
    assert (answer.json()["hand"], answer.json()["bonus"]) == (HAND, BONUS)


def test_only_a_bonus_that_waits_is_confirmed_or_refused_and_by_the_floor(kit: Kit) -> None:
    floor = ended(kit)
    for path, body in (("hand/bonus", CONFIRM), ("hand/bonus/refuse", REASON)):
        assert_problem(floor.post(path, body), 409, "no_bonus_held")
    kit.settle()
    dealer = kit.dealer("F1")
    for path, body in (("hand/bonus", CONFIRM), ("hand/bonus/refuse", REASON)):
        assert_problem(dealer.post(path, body), 403, "forbidden")


def test_who_asked_does_not_approve(kit: Kit) -> None:
    floor = held(kit)
    number = floor.post("hand/bonus", CONFIRM).json()["approval"]["approval"]
    for role in (Role.FLOOR, Role.AUDITOR, Role.CAGE_SUPERVISOR):
        desk = kit.office(role) if role != Role.FLOOR else floor
        answer = desk.post(f"/api/v1/approvals/{number}/approve", {})
        assert answer.status_code == 403, answer.text
    assert Hand.objects.get(house=kit.house).state == HandState.AWAITING_APPROVAL


def test_what_a_manager_has_refused_is_never_paid_and_goes_to_a_ruling(kit: Kit) -> None:
    floor = held(kit)
    number = floor.post("hand/bonus", CONFIRM).json()["approval"]["approval"]
    kit.office(Role.MANAGER).ok(f"approvals/{number}/refuse", REASON)
    assert_problem(floor.post("hand/bonus", CONFIRM), 409, "bonus_refused")
    assert Hand.objects.get(house=kit.house).state == HandState.AWAITING_APPROVAL
    refused = floor.ok("hand/bonus/refuse", REASON)
    assert (refused["state"], refused["last_event"]["kind"]) == ("disputed", "hand.bonus_refused")
    assert kit.balance("2030/F1", "2070/F1", "5100/F1") == [0, POT, 0], "nothing is lost, and the pot is shown"
    assert refused["last_event"]["frozen"] == POT
    problems = [found["problem"] for found in verification(kit.house)["hand_findings"]]
    assert problems == ["the hand is disputed: its replay agrees now"]
    kit.approved(floor, "hand/ruling", {"hand": HAND, "awards": [{"actor": "p1", "amount": POT}], "tax": 0} | REASON)
    hand = Hand.objects.get(house=kit.house)
    assert (hand.state, kit.balance("2070/F1", "5100/F1")) == (HandState.RULED, [0, 0])
    assert custody(kit.house)["equal"] and verification(kit.house)["ok"]


def test_a_refused_bonus_can_be_voided_too(kit: Kit) -> None:
    floor = held(kit)
    floor.ok("hand/bonus/refuse", REASON)
    kit.approved(floor, "hand/void", REASON | MISDEAL)
    assert kit.balance("2030/F1", "2070/F1", "2020/F1/F1-u1") == [0, 0, 9_000]
    assert verification(kit.house)["ok"]


def test_a_replay_that_disagrees_after_the_approval_pays_nothing(kit: Kit) -> None:
    floor = held(kit)
    kit.approved(floor, "hand/bonus", CONFIRM)
    hand = Hand.objects.get(house=kit.house)
    last = len(ALONE_WITH_41) + 1
    change = "UPDATE hands_handline SET text = %s WHERE hand_id = %s AND seq = %s"
    alter_as_superuser(change, "p1 k", hand.id, last)
    assert kit.settle() == [HandState.DISPUTED]
    assert kit.balance("2070/F1", "5100/F1") == [POT, 0]


def test_postgresql_settles_no_hand_that_waits(kit: Kit) -> None:
    held(kit)
    hand = Hand.objects.get(house=kit.house)
    change = "UPDATE hands_hand SET state = %s WHERE id = %s"
    for state in ("settled", "ended", "ruled", "voided"):
        with pytest.raises(Exception, match="waits for an approval"), transaction.atomic():
            connections["default"].cursor().execute(change, [state, hand.id])


def test_the_verifier_finds_a_bonus_that_was_paid_past_the_control_point(
    kit: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended(kit)
    monkeypatch.setattr("casino.hands.bonus.is_held", lambda hand: False)
    assert kit.settle() == [HandState.SETTLED]
    found = verification(kit.house)
    assert not found["ok"]
    assert "nobody has approved" in str(found)


def test_a_hand_marked_as_approved_past_the_house_is_found(kit: Kit) -> None:
    held(kit)
    alter_as_superuser("UPDATE hands_hand SET state = 'approved' WHERE house_id = %s", kit.house.id)
    assert "state is awaiting_approval as events record, approved in its row" in str(verification(kit.house))
