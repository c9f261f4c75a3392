"""Ruling on a disputed hand: the floor divides what was frozen, and a manager approves; the hand is over and the next
one is dealt."""

from typing import Any

import pytest
from django.db import connections, transaction

from casino.audit.models import Event
from casino.hands.models import Hand, HandState
from casino.reports.selectors import custody, hand_money, house_report
from casino.reports.verifying import verification
from casino.staff.models import Role, Staff
from tests.casino.hands.test_settlement import alter_as_superuser, dispute
from tests.casino.kit import SAMPLE, Desk, Kit
from tests.casino.scene import assert_problem
from tests.casino.transfers.test_transfers import refusal

#: What the worked hand comes to.
RESULT = {
    "net": [1_635, -300, 0, -1_500], "bonus": [0] * 4, "tax": 165, "carry_out": 0, "ending": "showdown", "winner": 1,
}  # fmt: skip
READINGS = {"recorded": {"result": RESULT, "refused": None}}
#: The worked hand's pot, and how it could be divided.
POT = 3_300
RULING = {
    "hand": "T1-000001",
    "awards": [{"actor": "p1", "amount": 2_000}, {"actor": "p4", "amount": 1_135}],
    "tax": 165,
    "reason": "both had shown the same hand",
}


def disputed(kit: Kit) -> Desk:
    """The worked hand, whose log somebody has changed; the floor at its table."""
    kit.worked_hand()
    hand = Hand.objects.get(house=kit.house)
    dispute(kit, hand)
    return kit.dealer(role=Role.FLOOR)


def stacks(kit: Kit) -> list[int]:
    """What the four players have in front of them."""
    found: list[int] = kit.balance(*(f"2020/T1/T1-u{number}" for number in range(1, 5)))
    return found


def test_the_pot_is_divided_and_the_next_hand_is_dealt(kit: Kit) -> None:
    floor = disputed(kit)
    before = stacks(kit)
    ruled = kit.approved(floor, "hand/ruling", RULING)
    assert (ruled["state"], ruled["last_event"]["kind"]) == ("open", "hand.ruled")
    assert stacks(kit) == [before[0] + 2_000, *before[1:3], before[3] + 1_135]
    assert kit.balance("2030/T1", "2070/T1", "4010/T1", "9150/T1") == [0, 0, 165, 165]
    hand = Hand.objects.get(house=kit.house)
    assert (hand.state, hand.ruling) == (
        HandState.RULED,
        {"pot": POT, "awards": {"p1": 2_000, "p4": 1_135}, "tax": 165, "readings": READINGS},
    )
    assert sum(hand_money(hand)["net"]) == -165
    event = Event.objects.filter(chain__house=kit.house, chain__name="table/T1").latest("id").doc
    assert (event["kind"], event["reason"]) == ("hand.ruled", RULING["reason"])
    report = house_report(kit.house)["tables"][0]
    assert (report["settled_count"], report["ruled_count"], report["unsettled_count"]) == (0, 1, 0)
    assert custody(kit.house)["equal"]
    assert verification(kit.house)["ok"]
    assert kit.settle() == []
    floor.ok("hands", {"mode": "physical"})
    floor.act(*SAMPLE[:12])
    floor.act(*SAMPLE[12:])
    assert kit.settle() == [HandState.SETTLED]
    assert verification(kit.house)["ok"]


def test_one_seat_can_get_all_and_the_house_nothing(kit: Kit) -> None:
    floor = disputed(kit)
    before = stacks(kit)
    kit.approved(floor, "hand/ruling", RULING | {"awards": [{"actor": "p2", "amount": POT}], "tax": 0})
    assert stacks(kit) == [before[0], before[1] + POT, *before[2:]]
    assert kit.balance("2070/T1", "4010/T1") == [0, 0]
    assert verification(kit.house)["ok"]
    assert kit.office().get("hands").json()["results"][0]["ruling"]["awards"] == {"p2": POT}


@pytest.mark.some_now(3)
@pytest.mark.parametrize(
    ("changed", "status", "code"),
    [
        ({"tax": 164}, 422, "awards_do_not_add_up"),
        ({"awards": [{"actor": "p1", "amount": POT - 166}], "tax": 166}, 422, "tax_too_high"),
        ({"awards": [{"actor": "p5", "amount": POT}], "tax": 0}, 422, "no_such_seat"),
        ({"awards": [{"actor": "p1", "amount": 1_650}] * 2, "tax": 0}, 400, "invalid_request"),
        ({"awards": [{"actor": "p1", "amount": 0}], "tax": 0}, 400, "invalid_request"),
        ({"awards": [{"actor": "d", "amount": POT}], "tax": 0}, 400, "invalid_request"),
        ({"awards": []}, 400, "invalid_request"),
        ({"tax": -1}, 400, "invalid_request"),
        ({"reason": ""}, 400, "invalid_request"),
        ({"hand": "T1-000002"}, 409, "other_hand"),
        ({"claimed": [{"line": 26, "text": "p1 k"}]}, 422, "no_such_line"),
        ({"claimed": [{"line": 1, "text": "p1 zz"}]}, 422, "malformed_action"),
        ({"claimed": [{"line": 1, "text": "p1 k"}] * 2}, 400, "invalid_request"),
        ({"claimed": [{"line": 0, "text": "p1 k"}]}, 400, "invalid_request"),
    ],
)
def test_rulings_that_are_refused(kit: Kit, changed: dict[str, Any], status: int, code: str) -> None:
    floor = disputed(kit)
    assert refusal(floor.post("hand/ruling", RULING | changed)) == (status, code)
    assert kit.balance("2070/T1") == POT
    assert floor.refresh()["state"] == "disputed"


def test_a_hand_is_ruled_on_once_and_only_when_disputed(kit: Kit) -> None:
    floor = disputed(kit)
    body, header = RULING, kit.approval(floor, "hand/ruling", RULING)
    first = floor.post("hand/ruling", body, key="ruling", headers=header)
    again = floor.post("hand/ruling", body, key="ruling", headers=header)
    assert (first.status_code, again.json()) == (200, first.json())
    assert refusal(floor.post("hand/ruling", body)) == (409, "table_open")
    assert refusal(floor.post("hand/void", {"cause": "misdeal", "reason": "after all"})) == (409, "table_open")
    floor.ok("hands", {"mode": "physical"})
    assert refusal(floor.post("hand/ruling", body)) == (409, "table_playing")
    hand = Hand.objects.filter(house=kit.house).earliest("id")
    for alias in ("default", "owner"):
        with pytest.raises(Exception, match="is ruled"), transaction.atomic(using=alias):
            connections[alias].cursor().execute("UPDATE hands_hand SET ruling = '{}' WHERE id = %s", [hand.id])


def test_a_ruling_altered_afterwards_is_found(kit: Kit) -> None:
    kit.approved(disputed(kit), "hand/ruling", RULING)
    hand = Hand.objects.get(house=kit.house)
    alter_as_superuser("UPDATE hands_hand SET ruling = jsonb_set(ruling, '{awards,p1}', '2100') WHERE id = %s", hand.id)
    findings = verification(kit.house)["hand_findings"]
    assert [finding["hand"] for finding in findings] == [hand.name]
    assert "the ruling says" in findings[0]["problem"]


def test_a_carried_cukassza_is_part_of_the_pot_that_is_ruled_on(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    dealer.ok("hands", {"mode": "physical", "button": 3})
    dealer.act("p1 po 100", "d dh p1 Kl8b", "d dh p2 Ah7l", "d dh p3 XlOb", "d dh p4 Aa9a", "p2 f", "p3 f", "p4 f")
    kit.settle()
    dealer.refresh()
    dealer.ok("hands", {"mode": "physical"})
    dealer.act(*SAMPLE[:12])
    dealer.act(*SAMPLE[12:])
    hand = Hand.objects.filter(house=kit.house).latest("id")
    dispute(kit, hand)
    pot = kit.balance("2070/T1")
    assert pot == POT + 400
    floor = kit.dealer(role=Role.FLOOR)
    body = RULING | {"hand": hand.name, "awards": [{"actor": "p1", "amount": pot - 10}], "tax": 10}
    kit.approved(floor, "hand/ruling", body)
    assert verification(kit.house)["ok"]
    assert sum(hand_money(Hand.objects.get(id=hand.id))["net"]) == 400 - 10


# --- Two people, two readings -----------------------------------------------------------------------------------------


def test_nothing_of_the_pot_moves_without_a_manager(kit: Kit) -> None:
    floor = disputed(kit)
    number = assert_problem(floor.post("hand/ruling", RULING), 409, "approval_required")["approval"]["approval"]
    assert kit.balance("2070/T1") == POT
    asked = kit.office(Role.MANAGER).get(f"approvals/{number}").json()
    assert (asked["kind"], asked["amount"], asked["roles"]) == ("ruling", POT, ["manager"])
    kit.office(Role.MANAGER).ok(f"approvals/{number}/refuse", {"reason": "look at the video first"})
    answer = floor.post("hand/ruling", RULING, headers={"Approval": str(number)})
    assert_problem(answer, 409, "approval_refused")
    assert (kit.balance("2070/T1"), floor.refresh()["state"]) == (POT, "disputed")


def test_an_approval_is_for_these_awards_alone(kit: Kit) -> None:
    floor = disputed(kit)
    header = kit.approval(floor, "hand/ruling", RULING)
    other = RULING | {"awards": [{"actor": "p2", "amount": POT - 165}]}
    assert_problem(floor.post("hand/ruling", other, headers=header), 409, "approval_differs")
    assert kit.balance("2070/T1") == POT


def test_who_dealt_a_hand_does_not_rule_on_it(kit: Kit) -> None:
    dealer = kit.worked_hand()
    dispute(kit, Hand.objects.get(house=kit.house))
    login = Event.objects.get(chain__house=kit.house, doc__kind="hand.dealt").doc["actor"]
    Staff.objects.filter(house=kit.house, login=login).update(roles=[Role.DEALER, Role.FLOOR])
    dealer.refresh()
    assert_problem(dealer.post("hand/ruling", RULING), 403, "four_eyes")


#: Somebody says that the last raise was called, and the showdown another one.
CLAIMED = [{"line": 20, "text": "p4 rb 400"}, {"line": 21, "text": "p1 cc 400"}]


def test_a_ruling_keeps_what_was_recorded_and_what_is_claimed(kit: Kit) -> None:
    floor, manager = disputed(kit), kit.office(Role.MANAGER)
    body = RULING | {"claimed": CLAIMED}
    number = floor.post("hand/ruling", body).json()["approval"]["approval"]
    seen = manager.get("hands/T1-000001/rulings").json()
    assert (seen["state"], seen["ruling"], seen["later"]) == ("disputed", None, [])
    assert seen["recorded"] == READINGS["recorded"] and seen["stored"] == RESULT
    [asked] = seen["asked"]
    assert (asked["approval"], asked["lines"], asked["refused"]) == (number, CLAIMED, None)
    assert (asked["result"]["net"], asked["result"]["tax"]) == ([1_275, -300, 0, -1_100], 125), "a smaller pot"
    manager.ok(f"approvals/{number}/approve")
    floor.ok("hand/ruling", body, headers={"Approval": str(number)})
    claimed = {name: asked[name] for name in ("lines", "result", "refused")}
    hand = Hand.objects.get(house=kit.house)
    assert hand.ruling is not None
    assert hand.ruling["readings"] == READINGS | {"claimed": claimed}
    event = Event.objects.filter(chain__house=kit.house, chain__name="table/T1").latest("id").doc
    assert event["data"]["readings"] == hand.ruling["readings"]
    assert event["approver"] != event["actor"]
    seen = manager.get("hands/T1-000001/rulings").json()
    assert (seen["ruling"]["readings"], seen["asked"]) == (hand.ruling["readings"], [])
    assert verification(kit.house)["ok"]


def test_a_claim_that_the_rules_refuse_says_where_and_names_no_card(kit: Kit) -> None:
    floor = disputed(kit)
    kit.approved(floor, "hand/ruling", RULING | {"claimed": [{"line": 2, "text": "d dh p1 Aa9a"}]})
    hand = Hand.objects.get(house=kit.house)
    assert hand.ruling is not None
    claimed = hand.ruling["readings"]["claimed"]
    assert (claimed["result"], claimed["refused"]["line"]) == (None, 5)
    assert claimed["refused"].keys() == {"line", "code"}


def test_readings_of_a_hand_in_play_are_not_read(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    dealer.ok("hands", {"mode": "physical", "button": 4})
    assert_problem(kit.office().get("hands/T1-000001/rulings"), 409, "hand_in_play")
    assert_problem(kit.office().get("hands/T1-000009/rulings"), 404, "not_found")
