"""Announced cash-outs: the drawer sets their cash aside until they are paid, withdrawn, or their time is over."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connections

from casino.approvals.control_points import set_at_founding
from casino.audit import verifier
from casino.cage.announced_models import AnnouncedCashOut
from casino.cage.founding import create_drawer
from casino.core import sql
from casino.days import open_work
from casino.reports import tasks
from casino.reports.verifying import verification
from casino.staff.models import Role
from casino.verification import exporting
from ledger.models import Hold
from tests.casino.busy import PERSON
from tests.casino.devices import events
from tests.casino.kit import ACTOR, Desk, Kit
from tests.casino.scene import assert_problem
from tests.casino.superuser import unguarded
from tests.casino.transfers.test_transfers import refusal

CASH, CHIPS = 50_000, {"5000": 20, "1000": 20, "500": 20}
BOUGHT, FREE = 30_000, 10_000
#: All but FREE of what the drawer holds once Anna has bought chips.
ANNOUNCED = CASH + BOUGHT - FREE
REASON = {"reason": "stays at the table"}


@pytest.fixture
def cashier(kit: Kit) -> Desk:
    """The cashier of an open drawer, and Anna, who has chips worth 30,000 and will want 70,000."""
    kit.players("anna", "bela")
    desk = kit.cashier()
    kit.open_drawer(desk, cash=CASH, pieces=CHIPS)
    desk.ok("buy-ins", {"player": "anna", "amount": BOUGHT, "pieces": {"5000": 6}})
    return desk


def announce(desk: Desk, amount: int = ANNOUNCED, **more: Any) -> Any:
    """The event of an announcement; for Anna, unless somebody else is named."""
    desk.refresh()
    return desk.ok("announced-cash-outs", {"player": "anna", "amount": amount, "minutes": 90} | more)["last_event"]


def rows(kit: Kit, query: str = "") -> Any:
    """The list, the newest first."""
    return kit.office().get(f"announced-cash-outs?{query}").json()["results"]


def held(kit: Kit) -> list[tuple[str, str]]:
    """Holds with their states, the oldest first."""
    return list(Hold.objects.filter(book=kit.house.id).order_by("id").values_list("key", "state"))


def assert_rebuilt(kit: Kit, folder: Path) -> None:
    """Verification finds nothing, nor does the verifier in an export."""
    report = verification(kit.house)
    assert report["ok"], {name: found for name, found in report.items() if found}
    exporting.export_house(kit.house, folder / "export")
    assert verifier.verify_export(folder / "export").findings == []


def later(kit: Kit, by: timedelta) -> None:
    """Everything that was announced is so much older. What was moved is moved back before it is verified."""
    with unguarded("ledger_hold", "ledger_reserve", "cage_announcedcashout") as cursor:
        cursor.execute(
            "UPDATE ledger_hold SET created_at = created_at - %s, expires_at = expires_at - %s WHERE book = %s",
            [by, by, kit.house.id],
        )
        cursor.execute(
            "UPDATE ledger_reserve r SET expires_at = h.expires_at FROM ledger_hold h"
            " WHERE h.id = r.hold_id AND h.book = %s",
            [kit.house.id],
        )
        cursor.execute("UPDATE cage_announcedcashout SET until = until - %s WHERE house_id = %s", [by, kit.house.id])


def test_cash_is_set_aside_and_then_paid(kit: Kit, cashier: Desk, tmp_path: Path) -> None:
    before = kit.balance("1020/C1", "2015/C1", "2010/anna")
    event = announce(cashier, amount=25_000)
    assert (event["announcement"], event["player"], event["amount"], event["minutes"]) == (1, "anna", 25_000, 90)
    assert kit.balance("1020/C1", "2015/C1", "2010/anna") == before, "nothing has moved"
    [row] = rows(kit, "state=announced&drawer=C1&player=anna")
    assert datetime.fromisoformat(row["until"]) == datetime.fromisoformat(event["until"])
    between = datetime.fromisoformat(row["until"]) - datetime.fromisoformat(row["announced_at"])
    assert abs(between - timedelta(minutes=90)) < timedelta(seconds=60)
    paid = cashier.ok("cash-outs", {"player": "anna", "amount": 25_000, "announcement": 1})["last_event"]
    assert (paid["kind"], paid["announcement"], paid["player_chips"]) == ("cage.cash_out", 1, 5_000)
    assert held(kit) == [("cash_out:1", "voided")]
    [row] = rows(kit)
    assert (row["state"], row["paid"], row["reason"]) == ("paid", 25_000, "")
    again = cashier.post("cash-outs", {"player": "anna", "amount": 1_000, "announcement": 1})
    assert refusal(again) == (409, "announcement_paid")
    assert refusal(cashier.post("announced-cash-outs/1/withdraw", REASON)) == (409, "announcement_paid")
    assert_rebuilt(kit, tmp_path)


def test_who_has_the_chips_at_a_table_is_paid_when_they_come(kit: Kit, cashier: Desk, tmp_path: Path) -> None:
    """The wallet is empty when it is announced: only cash is on hold."""
    announce(cashier, amount=ANNOUNCED, player="bela")
    brought = {"player": "bela", "amount": 25_000, "pieces": {"5000": 5}, "announcement": 1}
    assert cashier.ok("cash-outs", brought)["last_event"]["attributed"] == 25_000
    # Less than was announced: the rest is free again.
    assert rows(kit)[0]["paid"] == 25_000 and held(kit) == [("cash_out:1", "voided")]
    announce(cashier, amount=CASH + BOUGHT - 25_000)
    assert_rebuilt(kit, tmp_path)


#: What takes more than is free.
TAKERS: list[tuple[str, dict[str, Any]]] = [
    ("cash-outs", {"player": "anna", "amount": 15_000}),
    ("cash-outs", {"player": "anna", "amount": 15_000, "pieces": {"5000": 3}}),
    ("bearer-cash-outs", {"amount": 15_000, "pieces": {"5000": 3}}),
    ("foreign-chips", {"amount": 10_001, "issuer": "Casino Wien"}),
    ("handovers", {"kind": "skim", "cash": 10_001, "pieces": {}}),
    ("announced-cash-outs", {"player": "bela", "amount": 10_001, "minutes": 5}),
]


@pytest.mark.parametrize(("path", "body"), TAKERS)
def test_whatever_else_takes_cash_has_what_is_left(
    kit: Kit, cashier: Desk, path: str, body: dict[str, Any]
) -> None:  # fmt: skip
    announce(cashier)
    before = kit.held()
    problem = assert_problem(cashier.post(path, body), 409, "drawer_short")
    assert problem["held"] == ANNOUNCED and "70,000 HUF" in problem["detail"]
    assert kit.held() == before and len(rows(kit)) == 1
    cashier.ok("announced-cash-outs/1/withdraw", REASON)
    cashier.ok(path, body)


def test_no_more_is_taken_by_name_of_anything_else(kit: Kit, cashier: Desk, tmp_path: Path) -> None:
    """Deposits, held payouts, counterfeit notes, corrections of what was sold, a skim that was offered before."""
    cashier.ok("/api/v1/players/anna/person", {"person": PERSON, "reason": "first_record"}, version=1)
    cashier.refresh()
    cashier.ok("deposits", {"player": "anna", "amount": 11_000})
    given = {"player": "anna", "amount": 15_000, "pieces": {"5000": 3}, "cause": "suspension"}
    kit.approved(cashier, "held-payouts", given, by=Role.COMPLIANCE)
    sold = cashier.ok("bearer-buy-ins", {"amount": 20_000, "pieces": {"5000": 4}})["audit"]["seq"]
    cashier.ok("handovers", {"kind": "skim", "cash": 12_000, "pieces": {}})
    announce(cashier, amount=ANNOUNCED + 31_000)
    assert_problem(cashier.post("deposits/return", {"player": "anna", "amount": 11_000}), 409, "drawer_short")
    assert_problem(cashier.post("held-payouts/1/release", {}), 409, "drawer_short")
    supervisor = kit.supervisor()
    notes = {"cash": 10_001, "pieces": {}, "evidence": "E-1", "reason": "wrong paper"}
    headers = kit.approval(cashier, "counterfeits", notes, by=Role.CAGE_SUPERVISOR)
    assert_problem(cashier.post("counterfeits", notes, headers=headers), 409, "drawer_short")
    supervisor.refresh()
    correction = {"entry": sold, "reason": "keyed wrong"}
    assert assert_problem(supervisor.post("corrections", correction), 409, "drawer_short")["held"] == ANNOUNCED + 31_000
    taken = supervisor.post("handovers/2/take", {"cash": 12_000, "pieces": {}})
    assert_problem(taken, 409, "drawer_short")
    cashier.refresh()
    cashier.ok("announced-cash-outs/1/withdraw", REASON)
    cashier.ok("deposits/return", {"player": "anna", "amount": 11_000})
    supervisor.refresh()
    supervisor.ok("corrections", correction)
    supervisor.ok("handovers/2/take", {"cash": 12_000, "pieces": {}})
    assert_rebuilt(kit, tmp_path)


def test_it_is_paid_to_whom_it_was_announced_for_and_not_more(kit: Kit, cashier: Desk) -> None:
    announce(cashier, amount=10_000)
    announce(cashier, amount=5_000, player="bela")
    cashier.refresh()
    third = cashier.ok("announced-cash-outs", {"amount": 5_000, "minutes": 5})["last_event"]
    assert (third["announcement"], "player" in third) == (3, False)
    for number, code in ((1, "announcement_differs"), (2, "announcement_differs"), (3, "announcement_differs")):
        body = {"player": "anna", "amount": 15_000, "announcement": number}
        assert refusal(cashier.post("cash-outs", body)) == (409, code)
    bearer = {"amount": 5_000, "pieces": {"5000": 1}}
    assert refusal(cashier.post("bearer-cash-outs", bearer | {"announcement": 2})) == (409, "announcement_differs")
    assert refusal(cashier.post("bearer-cash-outs", bearer | {"announcement": 9})) == (404, "not_found")
    assert refusal(cashier.post("bearer-cash-outs", bearer | {"announcement": 0})) == (400, "invalid_request")
    assert [row["state"] for row in rows(kit)] == ["announced"] * 3
    assert cashier.ok("bearer-cash-outs", bearer | {"announcement": 3})["last_event"]["announcement"] == 3


def test_a_refused_payment_leaves_it_set_aside(kit: Kit, cashier: Desk) -> None:
    announce(cashier)
    body = {"player": "anna", "amount": 40_000, "announcement": 1}
    assert refusal(cashier.post("cash-outs", body)) == (409, "insufficient_funds")
    assert held(kit) == [("cash_out:1", "pending")] and rows(kit)[0]["state"] == "announced"
    assert refusal(cashier.post("cash-outs", {"player": "anna", "amount": 15_000})) == (409, "drawer_short")


def test_it_stays_set_aside_until_a_second_person_has_approved_the_payment(kit: Kit, cashier: Desk) -> None:
    set_at_founding(house=kit.house, points={"exchange_by_supervisor_from": 20_000}, actor=ACTOR)
    announce(cashier, amount=25_000)
    body = {"player": "anna", "amount": 25_000, "announcement": 1}
    assert refusal(cashier.post("cash-outs", body)) == (409, "approval_required")
    assert held(kit) == [("cash_out:1", "pending")] and rows(kit)[0]["state"] == "announced"
    paid = kit.approved(cashier, "cash-outs", body, by=Role.CAGE_SUPERVISOR)["last_event"]
    assert (paid["announcement"], held(kit)) == (1, [("cash_out:1", "voided")])


def test_another_drawer_does_not_pay_it(kit: Kit, cashier: Desk) -> None:
    announce(cashier)
    create_drawer(house=kit.house, code="C2", actor=ACTOR)
    other = kit.cashier("C2")
    kit.open_drawer(other, cash=50_000, pieces={"1000": 5})
    body = {"player": "anna", "amount": 15_000, "announcement": 1}
    assert refusal(other.post("cash-outs", body)) == (404, "not_found")
    assert refusal(other.post("announced-cash-outs/1/withdraw", REASON)) == (404, "not_found")
    other.refresh()
    assert other.ok("announced-cash-outs", {"amount": 1_000, "minutes": 1})["last_event"]["announcement"] == 2


def test_what_is_refused_takes_no_number(kit: Kit, cashier: Desk) -> None:
    for body, expected in (
        ({"player": "nobody", "amount": 1_000, "minutes": 5}, (404, "not_found")),
        ({"amount": CASH + BOUGHT + 1, "minutes": 5}, (409, "drawer_short")),
        ({"amount": 1_000, "minutes": 0}, (400, "invalid_request")),
        ({"amount": 1_000, "minutes": 721}, (400, "invalid_request")),
        ({"amount": 0, "minutes": 5}, (400, "invalid_request")),
        ({"amount": 1_000}, (400, "invalid_request")),
        ({"amount": 1_000, "minutes": 5, "player": None}, (400, "invalid_request")),
    ):
        assert refusal(cashier.post("announced-cash-outs", body)) == expected, body
    assert held(kit) == [] and announce(cashier)["announcement"] == 1


def test_without_a_name_no_more_is_announced_than_is_paid_without_one(kit: Kit, cashier: Desk) -> None:
    limit = 6_000
    set_at_founding(house=kit.house, points={"identity_from": limit}, actor=ACTOR)
    assert refusal(cashier.post("announced-cash-outs", {"amount": limit, "minutes": 5})) == (409, "identity_required")
    known = {"player": "anna", "amount": limit, "minutes": 5}
    cashier.ok("announced-cash-outs", known)
    paid = cashier.post("cash-outs", {"player": "anna", "amount": limit, "announcement": 1})
    assert refusal(paid) == (409, "identity_required"), "who Anna is, must be recorded by then"


def test_a_supervisor_announces_and_withdraws_too(kit: Kit, cashier: Desk, tmp_path: Path) -> None:
    supervisor = kit.supervisor()
    announce(supervisor)
    assert supervisor.ok("announced-cash-outs/1/withdraw", REASON)["last_event"]["amount"] == ANNOUNCED
    [row] = rows(kit)
    assert (row["state"], row["reason"], row["paid"]) == ("withdrawn", REASON["reason"], None)
    assert refusal(supervisor.post("announced-cash-outs/1/withdraw", REASON)) == (409, "announcement_withdrawn")
    cashier.refresh()
    paid = cashier.post("cash-outs", {"player": "anna", "amount": 1_000, "announcement": 1})
    assert refusal(paid) == (409, "announcement_withdrawn")
    assert refusal(kit.office(Role.AUDITOR).post("/api/v1/drawers/C1/announced-cash-outs", {})) == (403, "forbidden")
    assert_rebuilt(kit, tmp_path)


#: A little more than a minute.
OVER = timedelta(seconds=61)


def test_when_its_time_is_over_the_cash_is_free_at_once(kit: Kit, cashier: Desk, tmp_path: Path) -> None:
    announce(cashier, minutes=1)
    later(kit, OVER)
    body = {"player": "anna", "amount": 15_000}
    assert refusal(cashier.post("cash-outs", body | {"announcement": 1})) == (409, "announcement_expired")
    assert refusal(cashier.post("announced-cash-outs/1/withdraw", REASON)) == (409, "announcement_expired")
    assert held(kit) == [("cash_out:1", "pending")], "nobody has marked it yet"
    cashier.ok("cash-outs", body)
    assert tasks.expire_holds(str(kit.house.id)) is True
    assert tasks.expire_holds(str(kit.house.id)) is False
    assert [one["data"] for one in events(kit, "holds.expired")] == [{"hold_count": 1, "holds": ["cash_out:1"]}]
    [row] = rows(kit)
    assert (row["state"], row["ended_by"], row["ended_at"] is None) == ("expired", None, False)
    assert refusal(cashier.post("cash-outs", body | {"announcement": 1})) == (409, "announcement_expired")
    later(kit, -OVER)
    assert_rebuilt(kit, tmp_path)


def test_a_drawer_is_not_counted_while_cash_is_set_aside(kit: Kit, cashier: Desk, tmp_path: Path) -> None:
    announce(cashier, minutes=1)
    problem = assert_problem(cashier.post("count", kit.held()), 409, "drawer_has_open_work")
    assert problem["open"] == [{"kind": "cash_out", "number": 1}]
    later(kit, OVER)
    cashier.ok("count", kit.held())
    cashier.ok("close")
    assert tasks.expire_holds(str(kit.house.id)) is True
    later(kit, -OVER)
    assert_rebuilt(kit, tmp_path)


def test_a_drawer_that_is_counted_all_the_same_is_found(kit: Kit, cashier: Desk, tmp_path: Path) -> None:
    announce(cashier)
    later(kit, timedelta(minutes=91))
    cashier.ok("count", kit.held())
    later(kit, -timedelta(minutes=91))
    exporting.export_house(kit.house, tmp_path / "export")
    [finding] = verifier.verify_export(tmp_path / "export").findings
    assert (finding.code, finding.place) == ("announcement_differs", "cage.AnnouncedCashOut 1")


def test_what_is_open_goes_over_to_the_next_day_by_name(kit: Kit, cashier: Desk) -> None:
    announce(cashier)
    carried = open_work.carrying(kit.house, "2026-06-01", None)
    [one] = carried.described(sql.together(*carried.reads))["holds"]
    assert one["hold"] == "cash_out:1" and one["until"].endswith("Z")


def test_it_is_paid_or_withdrawn_once(kit: Kit, cashier: Desk) -> None:
    announce(cashier, amount=5_000)
    body, version = {"player": "anna", "amount": 5_000, "announcement": 1}, cashier.version

    def end(number: int) -> int:
        try:
            if number % 2:
                return cashier.post("announced-cash-outs/1/withdraw", REASON, version=version).status_code
            return cashier.post("cash-outs", body, version=version).status_code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        answers = sorted(pool.map(end, range(4)))
    assert sum(code < 300 for code in answers) == 1, answers
    assert AnnouncedCashOut.objects.get(house=kit.house).ended_at is not None
    assert len(held(kit)) == 1 and held(kit)[0][1] == "voided"


def test_one_that_is_said_to_be_open_is_found(kit: Kit, cashier: Desk) -> None:
    announce(cashier)
    with unguarded("cage_announcedcashout") as cursor:
        cursor.execute("UPDATE cage_announcedcashout SET amount = 1 WHERE house_id = %s", [kit.house.id])
    assert not verification(kit.house)["ok"]
