"""Capital that the owners pay in and take out: who asks, who approves, and the cash that must stay."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connections

from casino.audit.verifier.findings import Report
from casino.audit.verifier.state import State
from casino.bookkeeping.cover import cover
from casino.bookkeeping.postings import posting
from casino.reports.verifying import verification
from casino.staff.models import Role
from tests.casino.kit import CASH, CHIPS, Desk, Kit, book
from tests.casino.transfers.test_transfers import refusal

IN, OUT = "capital/payments-in", "capital/payments-out"
BOOKS = ("1010", "1090", "3010")


def paid(amount: int, by: str = "cash", note: str = "R-1") -> dict[str, Any]:
    """The body of a payment."""
    return {"amount": amount, "by": by, "note": note}


@pytest.fixture
def manager(kit: Kit) -> Desk:
    """Who enters it."""
    return kit.office(Role.MANAGER)


def whole(kit: Kit) -> None:
    """Books and chains are whole, and every rule is kept."""
    kit.sequence()
    found = verification(kit.house)
    assert found["ok"], found["audit_findings"]


def test_capital_is_paid_in_and_out_in_cash_and_by_the_bank(kit: Kit, manager: Desk) -> None:
    assert manager.ok(IN, paid(5_000))["capital"] == CHIPS + 5_000
    assert manager.ok(IN, paid(3_000, "bank"))["capital"] == CHIPS + 8_000
    assert kit.balance(*BOOKS) == [CHIPS + 5_000, 3_000, CHIPS + 8_000]
    assert kit.approved(manager, OUT, paid(4_000))["capital"] == CHIPS + 4_000
    done = kit.approved(manager, OUT, paid(3_000, "bank", "N-2"))
    assert {name: done[name] for name in ("amount", "by", "note", "capital")} == {
        "amount": 3_000, "by": "bank", "note": "N-2", "capital": CHIPS + 1_000,
    }  # fmt: skip
    assert kit.balance(*BOOKS) == [CHIPS + 1_000, 0, CHIPS + 1_000]
    whole(kit)


def test_another_manager_approves_and_nobody_of_the_cage_asks(kit: Kit, manager: Desk) -> None:
    for role in (Role.CAGE_SUPERVISOR, Role.CASHIER, Role.ADMIN, Role.AUDITOR):
        for path in (IN, OUT):
            assert refusal(kit.office(role).post(path, paid(1))) == (403, "forbidden")
    held = manager.post(OUT, paid(600))
    assert refusal(held) == (409, "approval_required")
    approval = held.json()["approval"]
    assert (approval["kind"], approval["roles"]) == ("capital", ["manager"])
    number = approval["approval"]
    assert refusal(manager.post(f"approvals/{number}/approve"))[0] == 403
    assert refusal(kit.office(Role.CAGE_SUPERVISOR).post(f"approvals/{number}/approve"))[0] == 403
    assert kit.balance(*BOOKS) == [CHIPS, 0, CHIPS]
    kit.office(Role.MANAGER).ok(f"approvals/{number}/approve")
    headers = {"Approval": str(number)}
    assert refusal(manager.post(OUT, paid(601), headers=headers)) == (409, "approval_differs")
    assert manager.post(OUT, paid(600), headers=headers).status_code == 201
    assert refusal(manager.post(OUT, paid(600), headers=headers)) == (409, "approval_used")
    assert kit.balance(*BOOKS) == [CHIPS - 600, 0, CHIPS - 600]
    whole(kit)


def test_what_can_be_claimed_stays_covered(kit: Kit, manager: Desk) -> None:
    kit.table()
    kit.players("anna", chips=5_000)
    now = cover(kit.house)
    trays = kit.balance("9130/T1")
    assert (now.cash, now.owed, now.trays) == (CHIPS + 5_000, 5_000, trays)
    free = CHIPS - trays
    refused = manager.post(OUT, paid(free + 1))
    assert (refusal(refused), refused.json()["max"]) == ((409, "cover_too_low"), free)
    # Part of the cash lies in the drawer: more than the vault has cannot be taken from there.
    headers = kit.approval(manager, OUT, paid(free))
    assert refusal(manager.post(OUT, paid(free), headers=headers)) == (409, "insufficient_funds")
    kit.approved(manager, OUT, paid(CHIPS - CASH))
    assert cover(kit.house).free == CASH - trays
    whole(kit)


def test_what_broke_the_cover_after_it_was_approved_is_refused(kit: Kit, manager: Desk) -> None:
    headers = kit.approval(manager, OUT, paid(CHIPS))
    book(kit.house, "command:sent", posting("bank_sent", {}, cash=1), posting("bank_confirmed", {}, short=1))
    assert cover(kit.house).free == CHIPS - 1
    refused = manager.post(OUT, paid(CHIPS), headers=headers)
    assert (refusal(refused), refused.json()["max"]) == ((409, "cover_too_low"), CHIPS - 1)
    assert kit.balance("1010", "3010") == [CHIPS - 1, CHIPS]


def test_no_more_than_the_capital_is_paid_out(kit: Kit, manager: Desk) -> None:
    book(kit.house, "command:over", posting("vault_over", {}, amount=500))
    headers = kit.approval(manager, OUT, paid(CHIPS + 500))
    refused = manager.post(OUT, paid(CHIPS + 500), headers=headers)
    assert refusal(refused) == (409, "insufficient_funds")
    assert kit.balance("1010", "3010") == [CHIPS + 500, CHIPS]
    for body in (paid(0), paid(-1), paid(1, "cheque"), paid(1) | {"note": ""}, paid(1) | {"more": 1}):
        assert refusal(manager.post(OUT, body)) == (400, "invalid_request")


def test_two_payouts_at_once_do_not_break_the_cover(kit: Kit, manager: Desk) -> None:
    manager.ok(IN, paid(CHIPS, "bank"))
    kit.table()
    free = cover(kit.house).free
    desks = [(manager, paid(free - CHIPS + 1)), (kit.office(Role.MANAGER), paid(CHIPS, "bank"))]
    asked = [(desk, body, kit.approval(desk, OUT, body)) for desk, body in desks]

    def pays(one: tuple[Desk, dict[str, Any], dict[str, str]]) -> tuple[int, str]:
        desk, body, headers = one
        try:
            answer = desk.post(OUT, body, headers=headers)
            return answer.status_code, "" if answer.is_success else answer.json()["code"]
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        found = sorted(pool.map(pays, asked))
    assert found == [(201, ""), (409, "cover_too_low")]
    assert cover(kit.house).free >= 0
    whole(kit)


def test_capital_needs_an_open_vault(live_db: None) -> None:
    kit = Kit.found(bare=True)
    for path in (IN, OUT):
        assert refusal(kit.office(Role.MANAGER).post(path, paid(1))) == (409, "vault_not_open")
    kit.close()


@pytest.mark.parametrize(
    ("data", "legs", "codes"),
    [
        ({}, {}, []),
        ({"cover": {"cash": 9, "owed": 5, "trays": 5}}, {}, ["cover_too_low"]),
        ({"cover": {"cash": 9}}, {}, ["cover_too_low"]),
        ({"by": "bank"}, {}, ["state_event_differs"]),
        ({"amount": 8}, {}, ["state_event_differs"]),
        ({}, {"3010": 6}, ["state_event_differs"]),
    ],
    ids=["as it should be", "no cover", "half a cover", "by the bank", "another amount", "not all of it"],
)
def test_the_verifier_judges_payouts(data: dict[str, Any], legs: dict[str, int], codes: list[str]) -> None:
    report = Report()
    said = {"amount": 7, "by": "cash", "note": "R-1", "posting": 1, "cover": {"cash": 10, "owed": 5, "trays": 5}} | data
    moved = {"1010": -7, "3010": 7} | legs
    postings = [{"legs": [[code, "HUF", amount] for code, amount in moved.items()]}]
    doc = {
        "kind": "capital.paid_out", "chain": "house/H", "seq": 1, "at": "2026-01-01T00:00:00.000000Z", "actor": "test",
        "role": "system", "terminal": "", "data": said, "postings": postings,
    }  # fmt: skip
    State(report).take(doc)
    assert [one.code for one in report.findings] == codes
