"""Voiding: everything a hand moved goes back, linked and once; the log stays."""

from typing import Any

import pytest

from casino.audit.models import Event
from casino.hands.models import Hand, HandLine, HandState
from casino.reports.selectors import custody, hand_money, house_report
from casino.reports.verifying import verification
from casino.staff.models import Role
from ledger.models import Transaction
from tests.casino.hands.test_settlement import alter_as_superuser, dispute
from tests.casino.kit import MISDEAL, SAMPLE, Desk, Kit
from tests.casino.scene import assert_problem

REASON = {"reason": "the dealer turned a card up"}


def floor(kit: Kit) -> Desk:
    """The floor manager at the table's terminal."""
    return kit.dealer(role=Role.FLOOR)


def test_a_voided_hand_gives_everything_back_and_the_same_dealer_deals_again(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    dealer.ok("hands", {"mode": "physical", "button": 3})
    dealer.act("p1 po 100", "d dh p1 Kl8b", "d dh p2 Ah7l", "d dh p3 XlOb", "d dh p4 Aa9a", "p2 f", "p3 f", "p4 f")
    kit.settle()
    dealer.refresh()
    before = kit.balance("2040/T1", "2020/T1/T1-u1", "2020/T1/T1-u2", "2020/T1/T1-u3", "2020/T1/T1-u4")
    dealt = dealer.ok("hands", {"mode": "physical"})
    dealer.act("p1 po 100", "d dh p1 Kl8b", "d dh p2 Ah7l", "d dh p3 XlOb", "d dh p4 Aa9a", "p2 cc 100")
    assert kit.balance("2030/T1") == 600
    voided = kit.approved(floor(kit), "hand/void", REASON | MISDEAL)
    assert (voided["state"], voided["cukassza"]) == ("open", 400)
    assert kit.balance("2040/T1", "2020/T1/T1-u1", "2020/T1/T1-u2", "2020/T1/T1-u3", "2020/T1/T1-u4") == before
    assert kit.balance("2030/T1") == 0
    hand = Hand.objects.get(house=kit.house, name=dealt["hand"])
    assert (hand.state, HandLine.objects.filter(hand=hand).count()) == (HandState.VOIDED, 6)
    assert hand_money(hand)["net"] == [0, 0, 0, 0]
    mirrors = Transaction.objects.filter(book=kit.house.id).exclude(reverses=None)
    # The cukassza carried in, and the stakes of one request.
    assert mirrors.count() == 2
    dealer.refresh()
    again = dealer.ok("hands", {"mode": "physical"})
    assert [seat["seat"] for seat in again["seats"]] == [seat["seat"] for seat in dealt["seats"]]
    assert custody(kit.house)["equal"]
    assert verification(kit.house)["ok"]


def test_a_disputed_hand_can_be_voided(kit: Kit) -> None:
    kit.worked_hand()
    hand = Hand.objects.get(house=kit.house)
    dispute(kit, hand)
    kit.approved(floor(kit), "hand/void", REASON | MISDEAL)
    assert kit.balance("2030/T1", "2070/T1", "2020/T1/T1-u1", "4010/T1") == [0, 0, 20_000, 0]
    (table,) = house_report(kit.house)["tables"]
    assert (table["settled_count"], table["handle"]) == (0, 0), "nobody has played for what went back"
    event = Event.objects.filter(chain__house=kit.house, chain__name="table/T1").latest("id").doc
    assert (event["kind"], event["reason"]) == ("hand.voided", REASON["reason"])
    assert (event["data"]["cause"], event["data"]["log_complete"]) == ("misdeal", True)
    assert verification(kit.house)["ok"]


def test_what_cannot_be_voided(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    manager = floor(kit)
    refused = manager.post("hand/void", REASON | MISDEAL)
    assert (refused.status_code, refused.json()["code"]) == (409, "table_open")
    dealer.refresh()
    dealer.ok("hands", {"mode": "physical", "button": 4})
    refused = dealer.post("hand/void", REASON | MISDEAL)
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    dealer.act(*SAMPLE[:12])
    dealer.act(*SAMPLE[12:])
    manager.refresh()
    refused = manager.post("hand/void", REASON | MISDEAL)
    assert (refused.status_code, refused.json()["code"]) == (409, "table_settling")
    kit.settle()
    assert Hand.objects.get(house=kit.house).state == HandState.SETTLED


def test_a_hand_that_was_over_is_voided_with_a_manager_however_small_its_pot(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    dealer.ok("hands", {"mode": "physical", "button": 4})
    dealer.act("p1 po 100", "d dh p1 Kl8b", "d dh p2 Ah7l", "d dh p3 XlOb", "d dh p4 Aa9a", "p2 f", "p3 f", "p4 f")
    hand = Hand.objects.get(house=kit.house)
    alter_as_superuser("UPDATE hands_hand SET result = jsonb_set(result, '{tax}', '1') WHERE id = %s", hand.id)
    assert kit.settle() == [HandState.DISPUTED]
    ruled = REASON | {"cause": "ruled"}
    problem = assert_problem(floor(kit).post("hand/void", ruled), 409, "approval_required")
    assert (problem["approval"]["kind"], problem["approval"]["roles"]) == ("void", ["manager"])
    voided = kit.approved(floor(kit), "hand/void", ruled)["last_event"]
    assert (voided["cause"], voided["cards_shown"], voided["log_complete"]) == ("ruled", False, True)
    assert kit.balance("2070/T1", "2020/T1/T1-u1", "2020/T1/T1-u2") == [0, 20_000, 15_000]


@pytest.mark.parametrize("cause", [{}, {"cause": "because"}, {"cause": ""}, {"cause": None}])
def test_a_cause_is_one_of_the_list(kit: Kit, cause: dict[str, Any]) -> None:
    kit.table()
    kit.seated().ok("hands", {"mode": "physical", "button": 3})
    assert_problem(floor(kit).post("hand/void", REASON | cause), 400, "invalid_request")


def test_a_misdeal_takes_the_floor_alone(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    dealt = dealer.ok("hands", {"mode": "physical", "button": 3})
    dealer.act("p1 po 100", "d dh p1 Kl8b")
    voided = floor(kit).ok("hand/void", REASON | MISDEAL)["last_event"]
    assert (voided["cause"], voided["pot"], voided["cards_shown"], voided["log_complete"]) == (
        "misdeal",
        100,
        False,
        False,
    )
    dealer.refresh()
    again = dealer.ok("hands", {"mode": "physical"})
    assert again["seats"] == dealt["seats"], "the same dealer deals again"
    assert verification(kit.house)["ok"]


def test_from_the_first_act_on_a_void_takes_a_manager_whatever_its_cause(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    dealer.ok("hands", {"mode": "physical", "button": 3})
    dealer.act("p1 po 100", "d dh p1 Kl8b", "d dh p2 Ah7l", "d dh p3 XlOb", "d dh p4 Aa9a", "p2 f")
    for cause in ("misdeal", "other"):
        problem = assert_problem(floor(kit).post("hand/void", REASON | {"cause": cause}), 409, "approval_required")
        assert (problem["approval"]["kind"], problem["approval"]["roles"]) == ("void", ["manager"])
    voided = kit.approved(floor(kit), "hand/void", REASON | MISDEAL)["last_event"]
    assert (voided["acted"], voided["pot"], voided["cards_shown"], voided["log_complete"]) == (True, 100, False, False)
    assert verification(kit.house)["ok"]


def test_what_is_staked_before_the_cards_is_no_act(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    dealer.ok("hands", {"mode": "physical", "button": 3})
    dealer.act("p1 po 100")
    voided = floor(kit).ok("hand/void", REASON | MISDEAL)["last_event"]
    assert (voided["acted"], voided.get("approval")) == (False, None)
    dealer.refresh()
    dealer.ok("hands", {"mode": "physical"})
    dealer.act("p1 po 100", "d dh p1 Kl8b", "d dh p2 Ah7l", "d dh p3 XlOb", "d dh p4 Aa9a")
    assert floor(kit).ok("hand/void", REASON | MISDEAL)["last_event"]["acted"] is False
    assert verification(kit.house)["ok"]
