"""Chips by card or transfer: sold once for a reference, settled by the bank's statement, paid to the own account."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connections, transaction

from casino.cage.models import NonCashBuyIn
from casino.reports.selectors import custody
from casino.reports.verifying import verification
from casino.staff.models import Role
from tests.casino.busy import PERSON
from tests.casino.kit import Desk, Kit
from tests.casino.superuser import unguarded
from tests.casino.transfers.test_transfers import refusal

BOOKS = ("1030", "1090", "2010/anna", "1020/C1")
#: From here on, an exchange needs a supervisor, and a manager.
BY_SUPERVISOR, BY_MANAGER = 2_000_000, 4_000_000


@pytest.fixture
def cashier(kit: Kit) -> Desk:
    """A cashier at an open drawer; Anna, whom the house knows, and Bela, whom it does not."""
    kit.players("anna", "bela")
    desk = kit.cashier()
    kit.open_drawer(desk, cash=50_000, pieces={"100000": 60, "5000": 20, "1000": 20})
    desk.ok("/api/v1/players/anna/person", {"person": PERSON, "reason": "first_record"}, version=1)
    desk.refresh()
    return desk


def bought(desk: Desk, reference: str, amount: int = 5_000, **more: Any) -> Any:
    """The answer to a buy-in by card."""
    sent = {"player": "anna", "amount": amount, "means": "card", "reference": reference} | more
    return desk.post("noncash-buy-ins", sent)


def settled(desk: Desk, statement: str, amount: int, *buy_ins: int) -> Any:
    """The answer to a line of the bank's statement."""
    return desk.post("noncash-buy-ins/settle", {"statement": statement, "amount": amount, "buy_ins": list(buy_ins)})


def payment(**more: Any) -> dict[str, Any]:
    """Anna gives a chip."""
    return {"player": "anna", "amount": 5_000, "pieces": {"5000": 1}, "account": "****1234"} | more


def test_what_is_bought_by_card_is_settled_by_the_statement(kit: Kit, cashier: Desk) -> None:
    event = bought(cashier, "T-1").json()["last_event"]
    assert (event["buy_in"], event["means"], event["exchanged"]) == (1, "card", {"5000": 1})
    assert bought(cashier, "T-2", 6_000, means="transfer").is_success
    assert kit.balance(*BOOKS) == [11_000, 0, 11_000, 50_000]
    assert custody(kit.house) == {"chips_in_circulation": 11_000, "chip_liability": 11_000, "equal": True}
    keeper = kit.office(Role.CAGE_SUPERVISOR)
    rows = keeper.get("noncash-buy-ins?state=open").json()["results"]
    assert [(row["buy_in"], row["reference"], row["amount"]) for row in rows] == [(1, "T-1", 5_000), (2, "T-2", 6_000)]
    assert all(0 <= row["age_seconds"] < 3600 for row in rows)
    differs = settled(keeper, "S-1", 10_900, 1, 2)
    assert (refusal(differs), differs.json()["amount"]) == ((409, "clearing_differs"), 11_000)
    assert settled(keeper, "S-1", 5_000, 1).json()["buy_ins"] == [1]
    assert kit.balance(*BOOKS) == [6_000, 5_000, 11_000, 50_000]
    for line, amount, numbers, refused in (
        ("S-1", 6_000, [2], (409, "statement_used")),
        ("S-2", 11_000, [1, 2], (409, "clearing_settled")),
        ("S-2", 6_000, [3], (404, "not_found")),
        ("S-2", 6_000, [], (400, "invalid_request")),
    ):
        assert refusal(settled(keeper, line, amount, *numbers)) == refused, (line, numbers)
    assert settled(kit.office(Role.MANAGER), "S-2", 6_000, 2).is_success
    assert kit.balance(*BOOKS) == [0, 11_000, 11_000, 50_000]
    assert keeper.get("noncash-buy-ins?state=open").json()["results"] == []
    assert verification(kit.house)["ok"]


def test_a_reference_is_used_once(kit: Kit, cashier: Desk) -> None:
    kit.office(Role.ADMIN).ok("drawers", {"drawer": "C2"})
    other = kit.cashier("C2")
    kit.open_drawer(other, cash=1_000, pieces={"5000": 5})

    def buys(desk: Desk) -> int:
        try:
            return int(bought(desk, "T-1").status_code)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(buys, (cashier, other))) == [201, 409]
    assert refusal(bought(cashier, "T-1")) == (409, "reference_used")
    assert refusal(bought(cashier, "no reference")) == (400, "invalid_request")
    assert refusal(bought(cashier, "T-2", player="nobody")) == (404, "not_found")
    assert kit.balance("1030") == 5_000


def test_large_buy_ins_are_approved(kit: Kit, cashier: Desk) -> None:
    assert refusal(bought(cashier, "T-1", BY_SUPERVISOR)) == (409, "approval_required")
    body = {"player": "anna", "amount": BY_SUPERVISOR, "means": "card", "reference": "T-1"}
    kit.approved(cashier, "noncash-buy-ins", body, by=Role.CAGE_SUPERVISOR)
    assert kit.balance("1030") == BY_SUPERVISOR
    assert verification(kit.house)["ok"]


def test_chips_are_paid_to_the_own_account(kit: Kit, cashier: Desk) -> None:
    keeper = kit.office(Role.CAGE_SUPERVISOR)
    bought(cashier, "T-1", 10_000, pieces={"5000": 2})
    headers = kit.approval(cashier, "noncash-payments", payment(), by=Role.CAGE_SUPERVISOR)
    refused = cashier.post("noncash-payments", payment(), headers=headers)
    assert refusal(refused) == (409, "insufficient_funds")
    assert settled(keeper, "S-1", 10_000, 1).is_success
    event = cashier.ok("noncash-payments", payment(), headers=headers)["last_event"]
    assert (event["account"], event["player_chips"], event["exchanged"]) == ("****1234", 5_000, {"5000": 1})
    assert kit.balance(*BOOKS) == [0, 5_000, 5_000, 50_000]
    assert custody(kit.house)["equal"]
    for sent, refused_with in (
        (payment(player="bela"), (404, "no_person")),
        (payment(account="HU42117730161111101800000000"), (400, "invalid_request")),
        (payment(amount=4_000), (422, "chips_do_not_add_up")),
        (payment(amount=10_000, pieces={"5000": 2}), (409, "chips_not_in_circulation")),
        (payment(), (409, "approval_required")),
    ):
        assert refusal(cashier.post("noncash-payments", sent)) == refused_with, sent
    assert verification(kit.house)["ok"]


def test_nobody_else_sells_settles_or_reads(kit: Kit, cashier: Desk) -> None:
    bought(cashier, "T-1")
    assert refusal(bought(kit.supervisor(role=Role.MANAGER), "T-2")) == (403, "forbidden")
    assert refusal(settled(kit.office(Role.AUDITOR), "S-1", 5_000, 1)) == (403, "forbidden")
    assert refusal(kit.office(Role.FLOOR).get("noncash-buy-ins")) == (403, "forbidden")
    assert len(kit.office(Role.COMPLIANCE).get("noncash-buy-ins").json()["results"]) == 1


def test_a_day_names_what_is_not_settled(kit: Kit, cashier: Desk) -> None:
    manager = kit.office(Role.MANAGER)
    manager.ok("days", {"day": "2020-02-29"})
    bought(cashier, "T-1")
    kit.close_drawer(cashier)
    slip = kit.office().get("drawers/C1/shifts/1/z").json()
    [row] = [one for one in slip["movements"] if one["kind"] == "cage.noncash_buy_in"]
    assert (row["cash_in"], row["chips_out"], all(one["equal"] for one in slip["equalities"])) == (0, 5_000, True)
    closed = kit.close_day(manager, "2020-02-29")
    assert closed["carried"]["noncash_buy_ins"] == [{"buy_in": 1, "amount": 5_000}]


def test_buy_ins_stay_as_they_were_written(kit: Kit, cashier: Desk) -> None:
    bought(cashier, "T-1")
    [found] = NonCashBuyIn.objects.filter(house=kit.house)
    for alias in ("default", "owner"):
        for change in ("amount = 1", "reference = 'T-2'", "state = 'settled'"):
            with (
                pytest.raises(Exception, match=r"keeps its|permission denied|noncash_settled_once"),
                transaction.atomic(using=alias),
                connections[alias].cursor() as cursor,
            ):
                cursor.execute(f"UPDATE cage_noncashbuyin SET {change} WHERE id = {found.pk}")
    with unguarded("cage_noncashbuyin") as cursor:
        cursor.execute("UPDATE cage_noncashbuyin SET reference = 'T-9' WHERE id = %s", [found.pk])
    findings = verification(kit.house)["audit_findings"]
    assert {(one["code"], one["place"]) for one in findings} == {("state_differs", "cage.NonCashBuyIn 1, reference")}
