"""Rulings on hands whose money has moved: what was decided first stays, and what puts it right stands beside it."""

from typing import Any

import pytest
from django.db import connections, transaction

from casino.audit.models import Event
from casino.bookkeeping import chart
from casino.hands.models import Hand, HandState, LaterRuling
from casino.reports.selectors import custody, hand_money
from casino.reports.verifying import verification
from casino.staff.models import Role, Staff
from casino.verification.unexplained_postings import of as unexplained
from tests.casino.core.test_concurrency import at_once
from tests.casino.hands.test_ruling import RESULT, RULING, disputed, stacks
from tests.casino.kit import MISDEAL, Desk, Kit
from tests.casino.scene import assert_problem
from tests.casino.superuser import unguarded

HAND = "T1-000001"
PATH = f"hands/{HAND}/rulings"
REASON = {"reason": "the video shows another showdown"}
REMEDY: dict[str, Any] = REASON | {
    "tax_refunded": [{"actor": "p1", "amount": 65}],
    "made_good": [{"actor": "p4", "amount": 1_100}, {"actor": "p2", "amount": 300}],
    "collected": [{"loser": "p1", "winner": "p4", "amount": 400, "consent": "signed slip 17"}],
}


def settled(kit: Kit) -> Desk:
    """The worked hand, settled; the floor at its table."""
    kit.worked_hand()
    assert kit.settle() == [HandState.SETTLED]
    return kit.dealer(role=Role.FLOOR)


def newest(kit: Kit) -> dict[str, Any]:
    """The newest event of the table."""
    found: dict[str, Any] = Event.objects.filter(chain__house=kit.house, chain__name="table/T1").latest("id").doc
    return found


def test_the_house_refunds_and_makes_good_from_the_tray_and_a_winner_gives_back(kit: Kit) -> None:
    floor = settled(kit)
    before, money = stacks(kit), hand_money(Hand.objects.get(house=kit.house))
    tray, box = kit.balance("9130/T1", "9150/T1")
    ruled = kit.approved(floor, PATH, REMEDY)
    assert (ruled["state"], ruled["last_event"]["kind"], ruled["last_event"]["ruling"]) == (
        "open",
        "hand.ruled_later",
        1,
    )
    assert stacks(kit) == [before[0] + 65 - 400, before[1] + 300, before[2], before[3] + 1_100 + 400]
    assert kit.balance("4010/T1", "5230/T1") == [165 - 65, 1_400]
    assert kit.balance("9130/T1", "9150/T1") == [tray - 1_465, box], "the tax box is locked"
    hand = Hand.objects.get(house=kit.house)
    assert (hand.state, hand.result, hand.ruling) == (HandState.SETTLED, RESULT, None), "the hand stays as it was"
    assert hand_money(hand) == money
    row = LaterRuling.objects.get(hand=hand)
    assert (row.number, row.tax_refunded, row.made_good) == (1, {"p1": 65}, {"p4": 1_100, "p2": 300})
    assert row.readings == {"recorded": {"result": RESULT, "refused": None}}
    assert newest(kit)["approver"] != newest(kit)["actor"]
    assert (newest(kit)["data"]["settlement"], newest(kit)["reason"]) == (row.settlement, REASON["reason"])
    [shown] = kit.office().get(f"{PATH}").json()["later"]
    assert (shown["ruling"], shown["collected"], shown["settlement"]) == (1, REMEDY["collected"], row.settlement)
    assert list(unexplained(kit.house)) == []
    assert custody(kit.house)["equal"] and verification(kit.house)["ok"]
    floor.ok("hands", {"mode": "physical"})


def test_nothing_moves_without_a_manager(kit: Kit) -> None:
    floor = settled(kit)
    before = stacks(kit)
    problem = assert_problem(floor.post(PATH, REMEDY), 409, "approval_required")
    assert (problem["approval"]["kind"], problem["approval"]["roles"]) == ("ruling", ["manager"])
    assert stacks(kit) == before and not LaterRuling.objects.filter(house=kit.house).exists()
    asked = kit.office(Role.MANAGER).get(f"approvals/{problem['approval']['approval']}").json()
    assert (asked["amount"], asked["body"]) == (65 + 1_400 + 400, REMEDY)


def test_a_wrong_ruling_is_put_right_by_a_second_one_and_the_first_stays(kit: Kit) -> None:
    floor = disputed(kit)
    kit.approved(floor, "hand/ruling", RULING)
    first = Hand.objects.get(house=kit.house).ruling
    for number, amount in ((2, 100), (3, 65)):
        body = REASON | {"tax_refunded": [{"actor": "p1", "amount": amount}]}
        assert kit.approved(floor, PATH, body)["last_event"]["ruling"] == number
    assert Hand.objects.get(house=kit.house).ruling == first
    assert kit.balance("4010/T1") == 0
    body = REASON | {"tax_refunded": [{"actor": "p1", "amount": 1}]}
    problem = assert_problem(floor.post(PATH, body), 422, "refund_too_high")
    assert (problem["max"], problem["tax"]) == (0, 1)
    seen = kit.office().get(PATH).json()
    assert (seen["ruling"], [one["ruling"] for one in seen["later"]]) == (first, [2, 3])
    assert verification(kit.house)["ok"]


def test_a_ruling_that_moves_nothing_is_kept_too(kit: Kit) -> None:
    floor = settled(kit)
    claimed = [{"line": 20, "text": "p4 rb 400"}, {"line": 21, "text": "p1 cc 400"}]
    kit.approved(floor, PATH, REASON | {"claimed": claimed})
    row = LaterRuling.objects.get(house=kit.house)
    assert (row.settlement, row.readings["claimed"]["lines"]) == (None, claimed)
    assert verification(kit.house)["ok"]


@pytest.mark.parametrize(
    ("changed", "status", "code"),
    [
        ({"tax_refunded": [{"actor": "p1", "amount": 166}]}, 422, "refund_too_high"),
        ({"made_good": [{"actor": "p5", "amount": 1}]}, 422, "no_such_seat"),
        ({"made_good": [{"actor": "p1", "amount": 10**9}]}, 409, "insufficient_funds"),
        ({"made_good": [{"actor": "p1", "amount": 1}] * 2}, 400, "invalid_request"),
        ({"collected": [REMEDY["collected"][0] | {"winner": "p1"}]}, 400, "invalid_request"),
        ({"collected": [REMEDY["collected"][0] | {"consent": " "}]}, 400, "invalid_request"),
        ({"reason": ""}, 400, "invalid_request"),
    ],
)
def test_what_a_later_ruling_cannot_do(kit: Kit, changed: dict[str, Any], status: int, code: str) -> None:
    floor = settled(kit)
    before = stacks(kit)
    assert_problem(floor.post(PATH, REMEDY | changed), status, code)
    assert stacks(kit) == before


def test_more_is_not_collected_than_a_stack_has(kit: Kit) -> None:
    floor = settled(kit)
    pair = REMEDY["collected"][0] | {"amount": stacks(kit)[0] + 1}
    body = REASON | {"collected": [pair]}
    header = kit.approval(floor, PATH, body)
    assert_problem(floor.post(PATH, body, headers=header), 409, "insufficient_funds")
    assert not LaterRuling.objects.filter(house=kit.house).exists()


def test_a_ruling_needs_a_hand_that_is_over_a_table_between_hands_and_who_sits_there(kit: Kit) -> None:
    floor = settled(kit)
    assert_problem(floor.post("hands/T1-000002/rulings", REMEDY), 404, "not_found")
    floor.ok("hands", {"mode": "physical"})
    assert_problem(floor.post(PATH, REMEDY), 409, "table_playing")
    floor.ok("hand/void", REASON | MISDEAL)
    assert_problem(floor.post("hands/T1-000002/rulings", REMEDY), 409, "hand_not_over")
    dealer = kit.dealer()
    dealer.ok("seats/2/leave")
    floor.refresh()
    problem = assert_problem(floor.post(PATH, REMEDY), 409, "not_seated")
    assert problem["players"] == ["T1-u2"]


def test_who_dealt_the_hand_and_others_than_the_floor_do_not_rule(kit: Kit) -> None:
    dealer = kit.worked_hand()
    kit.settle()
    dealer.refresh()
    assert_problem(dealer.post(PATH, REMEDY), 403, "forbidden")
    login = Event.objects.get(chain__house=kit.house, doc__kind="hand.dealt").doc["actor"]
    Staff.objects.filter(house=kit.house, login=login).update(roles=[Role.DEALER, Role.FLOOR])
    assert_problem(dealer.post(PATH, REMEDY), 403, "four_eyes")


def test_postgresql_keeps_rulings_and_their_order(kit: Kit) -> None:
    floor = settled(kit)
    kit.approved(floor, PATH, REMEDY)
    row = LaterRuling.objects.get(house=kit.house)
    for alias in ("default", "owner"):
        for change in ("UPDATE hands_laterruling SET reason = 'x'", "DELETE FROM hands_laterruling"):
            with pytest.raises(Exception, match=r"permission denied|keeps its rows|append"), transaction.atomic(alias):
                connections[alias].cursor().execute(change)
    row.pk, row.number, row.settlement = None, 3, None
    with pytest.raises(Exception, match="not its next one"), transaction.atomic():
        row.save(force_insert=True)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE hands_laterruling SET made_good = jsonb_set(made_good, '{p4}', '1200')",
        "UPDATE hands_laterruling SET reason = 'another'",
        "UPDATE hands_laterruling SET readings = '{}'",
        "DELETE FROM hands_laterruling",
    ],
)
def test_a_later_ruling_that_was_altered_is_found(kit: Kit, change: str) -> None:
    kit.approved(settled(kit), PATH, REMEDY)
    with unguarded("hands_laterruling") as cursor:
        cursor.execute(change)
    found = verification(kit.house)
    assert any("LaterRuling" in str(finding) for finding in found["audit_findings"]), found["audit_findings"]


def test_goodwill_is_an_account_of_every_table(kit: Kit) -> None:
    kit.table()
    assert chart.is_open(kit.house, "5230/T1")


def test_of_two_later_rulings_at_once_only_one_is_made(kit: Kit) -> None:
    floor = settled(kit)
    headers = [kit.approval(floor, PATH, remedy) for remedy in (REMEDY, REMEDY | {"tax_refunded": []})]
    remedies = (REMEDY, REMEDY | {"tax_refunded": []})
    before, version = kit.balance("9130/T1"), floor.version

    def rule(remedy: dict[str, Any], named: dict[str, str]) -> Any:
        return lambda: floor.post(PATH, remedy, version=version, headers=named)

    answers = at_once(*[rule(remedy, named) for remedy, named in zip(remedies, headers, strict=True)])
    assert sorted(answer.status_code for answer in answers) == [200, 412]
    [row] = LaterRuling.objects.filter(house=kit.house)
    assert row.number == 1
    given = sum(row.tax_refunded.values()) + sum(row.made_good.values())
    assert kit.balance("9130/T1") == before - given
    assert list(unexplained(kit.house)) == []
    assert verification(kit.house)["ok"]
