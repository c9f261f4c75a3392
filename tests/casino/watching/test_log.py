"""The log of transactions over HTTP: unknown persons, lines, on whose behalf, returns that were filed, rates of the
euro; what the verifier finds; and the reports A17 and A19 that show it."""

import json
from datetime import timedelta
from typing import Any

import pytest

from casino.approvals.control_points import set_at_founding
from casino.audit.events.cage import BearerBuyIn
from casino.audit.events.watching import LogLineEntered, LogLineWithdrawn, ReturnFiled, UnknownPersonIdentified
from casino.audit.models import Event
from casino.core.sql import database_time
from casino.staff.models import Role
from casino.verification.auditing import verify_house
from casino.watching.models import LogLine, UnknownPerson
from tests.casino.busy import PERSON
from tests.casino.cage.test_bearer import REASON
from tests.casino.kit import ACTOR, Desk, Kit
from tests.casino.reports.test_catalogue import made, rows
from tests.casino.reports.test_catalogue_of_control import broken, forged
from tests.casino.scene import assert_problem

DAY, FROM, FLOOR = "2026-11-24", 5_000, 1_000
HAT = "tall, grey hat, called Karl"


@pytest.fixture
def cashier(kit: Kit) -> Desk:
    """A drawer on a gaming day, and Anna, who has bought for 6,000 by card; her person is recorded."""
    set_at_founding(house=kit.house, points={"identity_from": FROM, "log_floor": FLOOR}, actor=ACTOR)
    kit.office(Role.FLOOR).ok("days", {"day": DAY})
    kit.players("anna", "bela")
    desk = kit.cashier()
    kit.open_drawer(desk, cash=500_000, pieces={"5000": 20, "1000": 60, "500": 20, "100": 60})
    return desk


def described(cashier: Desk, text: str = HAT) -> int:
    """A person of whom there is a description."""
    number: int = cashier.ok("/api/v1/unknown-persons", {"description": text})["unknown_person"]
    cashier.refresh()
    return number


def entered(desk: Desk, **body: Any) -> dict[str, Any]:
    """A line that somebody enters."""
    found = desk.ok("/api/v1/transaction-log", body)
    if "drawers" in desk.path:
        desk.refresh()
    return found


def sold(cashier: Desk, amount: int, **more: Any) -> dict[str, Any]:
    """A sale without a name."""
    cashier.refresh()
    return cashier.ok("bearer-buy-ins", {"amount": amount} | more)


def trade_of(answer: dict[str, Any]) -> str:
    """What a trade is called: the event of its answer's receipt."""
    return f"drawer/C1#{answer['audit']['seq']}"


def findings(kit: Kit) -> set[str]:
    """Codes of what the verifier finds."""
    return {one.code for one in verify_house(kit.house).findings}


def test_trades_of_an_unknown_person_are_added_up_by_gaming_day_before_they_are_posted(kit: Kit, cashier: Desk) -> None:
    person = described(cashier)
    first = sold(cashier, 2_000, unknown_person=person)["last_event"]
    assert (first["unknown_person"], first["log_line"]) == (person, 1)
    assert first["linked"] == {"day": DAY, "paid_in": 2_000, "paid_out": 0}
    # Read before the next trade: what the person has paid so far.
    shown = cashier.get(f"/api/v1/unknown-persons/{person}").json()
    assert (shown["paid_in"], shown["paid_out"], shown["threshold"], shown["description"]) == (2_000, 0, FROM, HAT)
    cashier.refresh()
    refused = cashier.post("bearer-buy-ins", {"amount": 3_000, "unknown_person": person})
    assert assert_problem(refused, 409, "identity_required")["linked"] == ["gaming_day"]
    paid = cashier.ok("bearer-cash-outs", {"amount": 1_000, "pieces": {"1000": 1}, "unknown_person": person})
    assert paid["last_event"]["linked"] == {"day": DAY, "paid_in": 2_000, "paid_out": 1_000}
    # Of nobody of whom there is a description, nothing is known.
    assert "linked" not in sold(cashier, 3_000)["last_event"]
    assert findings(kit) == set()


def test_a_trade_is_attached_later_and_a_line_is_withdrawn_with_a_reason(kit: Kit, cashier: Desk) -> None:
    trade = trade_of(sold(cashier, 3_000))
    person = described(cashier)
    line = entered(cashier, unknown_person=person, trade=trade, note="came with Anna")
    assert (line["amount"], line["direction"], line["kind"], line["trade"]) == (
        3_000, "in", "cage.bearer_buy_in", trade,
    )  # fmt: skip
    assert line["linked"] == {"day": DAY, "paid_in": 3_000, "paid_out": 0}
    again = cashier.post("/api/v1/transaction-log", {"unknown_person": described(cashier, "another"), "trade": trade})
    assert_problem(again, 409, "trade_attached")
    compliance = kit.office(Role.COMPLIANCE)
    wrong = compliance.ok(f"transaction-log/{line['line']}/withdraw", REASON)
    assert (wrong["withdrawn_reason"], wrong["amount"]) == (REASON["reason"], 3_000)
    assert_problem(compliance.post(f"transaction-log/{line['line']}/withdraw", REASON), 409, "log_line_withdrawn")
    assert cashier.get(f"/api/v1/unknown-persons/{person}").json()["paid_in"] == 0
    # It can be attached again: a line that was withdrawn counts no more.
    entered(cashier, unknown_person=person, trade=trade)
    [first, second] = compliance.get("transaction-log").json()["results"]
    assert {one["line"]: one["note"] for one in (first, second)} == {1: "came with Anna", 2: ""}
    assert findings(kit) == set()


def test_what_is_said_is_sealed_and_in_no_event(kit: Kit, cashier: Desk) -> None:
    person = described(cashier)
    entered(
        cashier, unknown_person=person, place="C1", kind="notes_changed", direction="in", amount=4_000,
        note="small notes into large ones",
    )  # fmt: skip
    stored = bytes(UnknownPerson.objects.get(house=kit.house).description) + bytes(
        LogLine.objects.get(house=kit.house).note
    )
    trail = "".join(Event.objects.filter(house=kit.house).values_list("payload", flat=True))
    for said in (HAT, "small notes into large ones"):
        assert said.encode() not in stored and said not in trail
    [row] = cashier.get("/api/v1/unknown-persons").json()["results"]
    assert row["description"] == HAT
    # What was seen counts in the sums, too.
    cashier.refresh()
    refused = cashier.post("bearer-buy-ins", {"amount": 1_000, "unknown_person": person})
    assert_problem(refused, 409, "identity_required")


def test_who_an_unknown_person_is_is_noted_once(kit: Kit, cashier: Desk) -> None:
    person = described(cashier)
    trade = trade_of(sold(cashier, 2_000, unknown_person=person))
    supervisor = kit.office(Role.CAGE_SUPERVISOR)
    known = supervisor.ok(f"unknown-persons/{person}/identify", {"player": "anna"})
    assert (known["player"], known["identified_at"] is not None) == ("anna", True)
    again = supervisor.post(f"unknown-persons/{person}/identify", {"player": "bela"})
    assert assert_problem(again, 409, "person_identified")["player"] == "anna"
    cashier.refresh()
    for path, body in (
        ("bearer-buy-ins", {"amount": 1_000, "unknown_person": person}),
        ("/api/v1/transaction-log", {"unknown_person": person, "trade": trade}),
    ):
        assert_problem(cashier.post(path, body), 409, "person_identified")
    log = made(kit, "transaction-log", Role.COMPLIANCE)
    assert [(row["player"], row["running_in"]) for row in rows(log)] == [("anna", 2_000)]
    [shown] = rows(log, 2)
    assert (shown["person"], shown["description"], shown["player"]) == (f"#{person}", HAT, "anna")
    assert [row["player"] for row in rows(made(kit, "transaction-log", Role.COMPLIANCE, player="anna"))] == ["anna"]
    assert findings(kit) == set()


def test_what_is_no_line_is_refused(kit: Kit, cashier: Desk) -> None:
    person = described(cashier)
    named = trade_of(cashier.ok("buy-ins", {"player": "anna", "amount": 1_000}))
    seen = {"place": "C1", "kind": "other", "direction": "in", "amount": 5}
    log = "/api/v1/transaction-log"
    for body, status, code in (
        ({"trade": named}, 422, "log_line_form"),
        ({"unknown_person": person, "player": "anna", "trade": named}, 422, "log_line_form"),
        ({"unknown_person": person}, 422, "log_line_form"),
        ({"unknown_person": person, "trade": named} | seen, 422, "log_line_form"),
        ({"unknown_person": person, "capacity": "behalf"} | seen, 422, "log_line_form"),
        ({"unknown_person": person, "place": "C1"}, 400, "invalid_request"),
        ({"unknown_person": person, "trade": "C1/7"}, 400, "invalid_request"),
        ({"unknown_person": 9, "trade": named}, 404, "not_found"),
        ({"unknown_person": person} | seen | {"place": "X9"}, 404, "not_found"),
        ({"unknown_person": person, "trade": "drawer/C1#1"}, 404, "not_found"),
        ({"unknown_person": person, "trade": named}, 409, "trade_has_player"),
        ({"player": "anna", "trade": named, "capacity": "behalf"}, 409, "trade_attached"),
    ):
        assert_problem(cashier.post(log, body), status, code)
    assert not LogLine.objects.filter(house=kit.house).exists()


def test_a_trade_that_was_taken_back_counts_no_more(kit: Kit, cashier: Desk) -> None:
    person = described(cashier)
    entry = sold(cashier, 3_000, unknown_person=person)["audit"]["seq"]
    kit.supervisor().ok("corrections", {"entry": entry, "reason": "keyed twice"})
    assert cashier.get(f"/api/v1/unknown-persons/{person}").json()["paid_in"] == 0
    gone = cashier.post("/api/v1/transaction-log", {"unknown_person": person, "trade": f"drawer/C1#{entry}"})
    assert_problem(gone, 404, "not_found")
    later = sold(cashier, 4_000, unknown_person=person)["last_event"]
    assert later["linked"] == {"day": DAY, "paid_in": 4_000, "paid_out": 0}
    assert findings(kit) == set()


def test_on_whose_behalf_and_the_return_stand_beside_the_transaction(kit: Kit, cashier: Desk) -> None:
    cashier.ok("/api/v1/players/anna/person", {"person": PERSON, "reason": "first_record"}, version=1)
    rated = kit.office(Role.MANAGER).ok(
        "euro-rates", {"millionths": 395_120_000, "rate_source": "Magyar Nemzeti Bank", **REASON}
    )
    assert (rated["rate"], rated["approval"]) == (1, None)
    cashier.refresh()
    trade = trade_of(cashier.ok("buy-ins", {"player": "anna", "amount": 6_000}))
    entered(cashier, player="bela", trade=trade, capacity="behalf")
    third = described(cashier, "a cousin of Anna, in Vienna")
    entered(cashier, unknown_person=third, trade=trade, capacity="behalf")
    compliance, today = kit.office(Role.COMPLIANCE), database_time().date()
    filing = {"trade": trade, "return_number": "CTR-2026/17", "filed_on": today.isoformat()}
    later = filing | {"filed_on": (today + timedelta(days=2)).isoformat()}
    assert_problem(compliance.post("filings", later), 422, "filed_later")
    noted = kit.approved(compliance, "filings", filing, by=Role.MANAGER)
    assert (noted["filing"], noted["return_number"], noted["trade"]) == (1, "CTR-2026/17", trade)
    again = assert_problem(compliance.post("filings", filing | {"return_number": "18"}), 409, "filed_already")
    assert again["return_number"] == "CTR-2026/17"
    [row] = rows(made(kit, "threshold-transactions", Role.COMPLIANCE))
    assert (row["behalf"], row["return"], row["filed_on"]) == (
        f"bela #{third}", "CTR-2026/17", today.isoformat(),
    )  # fmt: skip
    whole = 6_000 / 10**kit.house.currency_exponent / 395.12
    assert row["eur_cents"] == round(whole * 100) and row["eur"] == row["eur_cents"] * 10_000
    assert (row["rate"], row["rate_source"]) == (395_120_000, "Magyar Nemzeti Bank")
    [listed] = compliance.get("filings").json()["results"]
    assert listed["trade"] == trade
    assert findings(kit) == set()


def test_a_rate_counts_from_its_moment_on(kit: Kit, cashier: Desk) -> None:
    manager = kit.office(Role.MANAGER)
    body = {"millionths": 400_000_000, "rate_source": "a bank", **REASON}
    assert_problem(manager.post("euro-rates", body | {"valid_from": "2020-01-01T00:00:00Z"}), 422, "rate_in_the_past")
    assert_problem(kit.office(Role.ADMIN).post("euro-rates", body), 403, "forbidden")
    cashier.ok("/api/v1/players/anna/person", {"person": PERSON, "reason": "first_record"}, version=1)
    cashier.refresh()
    cashier.ok("buy-ins", {"player": "anna", "amount": 6_000})
    manager.ok("euro-rates", body)
    cashier.ok("buy-ins", {"player": "anna", "amount": 7_000})
    manager.ok("euro-rates", body | {"millionths": 1, "valid_from": (database_time() + timedelta(days=1)).isoformat()})
    large = rows(made(kit, "threshold-transactions", Role.COMPLIANCE))
    assert [row["rate"] for row in large] == [None, 400_000_000]
    assert (large[0]["eur"], large[0]["eur_cents"]) == (None, 0)
    numbers = [one["rate"] for one in kit.office(Role.COMPLIANCE).get("euro-rates").json()["results"]]
    assert sorted(numbers) == [1, 2]
    assert findings(kit) == set()


def test_the_log_has_running_sums_of_unknown_persons_and_all_lines(kit: Kit, cashier: Desk) -> None:
    person = described(cashier)
    sold(cashier, 1_500, unknown_person=person)
    sold(cashier, 400, unknown_person=person)
    sold(cashier, 1_200)
    sold(cashier, 2_000, unknown_person=person)
    floor = kit.office(Role.FLOOR)
    entered(floor, player="bela", place="C1", kind="passed_on", direction="out", amount=700, note="to a friend")
    kit.office(Role.CAGE_SUPERVISOR).ok("transaction-log/4/withdraw", REASON)
    log = made(kit, "transaction-log", Role.CAGE_SUPERVISOR)
    assert [(row["player"], row["in"], row["running_in"]) for row in rows(log)] == [
        (f"#{person}", 1_500, 1_500), (None, 1_200, None), (f"#{person}", 2_000, 3_900),
    ]  # fmt: skip
    lines = rows(log, 1)
    assert [(row["line"], row["player"], row["amount"], row["in"], row["out"]) for row in lines] == [
        (1, "#1", 1_500, 1_500, 0), (2, "#1", 400, 400, 0), (3, "#1", 2_000, 2_000, 0), (4, "bela", 700, 0, 0),
    ]  # fmt: skip
    assert lines[3]["reason"] == REASON["reason"] and lines[0]["event"].startswith("drawer/C1#")
    assert "to a friend" not in json.dumps(log)
    assert broken(kit, "transaction-log") == []


def test_what_was_forged_is_found(kit: Kit, cashier: Desk) -> None:
    person = described(cashier)
    sold(cashier, 1_500, unknown_person=person)
    assert findings(kit) == set()
    linked = {"day": DAY, "paid_in": 1_000, "paid_out": 0}
    sale = BearerBuyIn(amount=1_000, exchanged={}, unknown_person=person, log_line=2, linked=linked)
    forged(kit, "drawer/C1", sale)
    assert "log_of_transactions_differs" in findings(kit)
    assert broken(kit, "transaction-log")


@pytest.mark.parametrize(
    "event",
    [
        LogLineEntered(line=3, player="anna", capacity="self", day=DAY, place="C1", line_kind="other", direction="in",
                       amount=5),
        LogLineWithdrawn(line=1, reason="once more"),
        UnknownPersonIdentified(unknown_person=1, player="bela"),
        ReturnFiled(filing=2, transaction=1, return_number="2", filed_on="2100-01-01"),
    ],
)  # fmt: skip
def test_what_cannot_follow_is_found(kit: Kit, cashier: Desk, event: Any) -> None:
    person = described(cashier)
    sold(cashier, 1_500, unknown_person=person)
    kit.office(Role.COMPLIANCE).ok("transaction-log/1/withdraw", REASON)
    kit.office(Role.COMPLIANCE).ok(f"unknown-persons/{person}/identify", {"player": "anna"})
    forged(kit, kit.house.chain, event)
    assert findings(kit) & {"log_of_transactions_differs", "serial_gap"}
