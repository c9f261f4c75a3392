"""Lists of the house: what each is narrowed down by, in which order, and that an index serves the long ones."""

from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from django.db import connection
from django.db.models.fields.json import KeyTextTransform

from casino.audit.models import Event
from casino.console import operations
from casino.hands.models import Hand
from casino.staff.models import Role, TerminalKind, TerminalToken
from tests.casino.kit import Desk, Kit
from tests.casino.superuser import unguarded


def rows(desk: Desk, path: str) -> list[dict[str, Any]]:
    """The first page of a list."""
    answer = desk.get(f"/api/v1/{path}")
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["results"]
    return found


def refused(answer: httpx.Response) -> tuple[int, str]:
    """Status and code."""
    return answer.status_code, answer.json()["code"]


def test_hands_are_found_by_player_state_mode_and_time(kit: Kit) -> None:
    kit.table("T1")
    dealer, office = kit.seated("T1"), kit.office()
    floor = Desk(kit.http(kit.token(Role.FLOOR, TerminalKind.TABLE, "T1")), "/api/v1/tables/T1")
    for number, sits_out in ((1, {"button": 4}), (2, {"sitting_out": [3]})):
        dealer.ok("hands", {"mode": "physical", **sits_out})
        dealer.refresh()
        floor.refresh()
        floor.ok("hand/void", {"cause": "misdeal", "reason": "a test of lists"})
        dealer.refresh()
        assert Hand.objects.filter(house=kit.house).count() == number
    first, second = rows(office, "hands")
    assert [row["hand"] for row in rows(office, "hands?player=T1-u1")] == [first["hand"], second["hand"]]
    assert [row["hand"] for row in rows(office, "hands?player=T1-u3")] == [first["hand"]]
    assert rows(office, "hands?player=nobody") == rows(office, "hands?state=playing") == []
    assert len(rows(office, "hands?mode=physical&state=voided&table=T1")) == 2
    assert rows(office, f"hands?from={second['started_at']}") == [second]
    assert rows(office, f"hands?until={second['started_at']}&sort=newest") == [first]
    assert refused(office.get("hands?state=lost")) == (400, "invalid_parameter")
    assert rows(office, "hands?from=9999-01-01T00:00:00Z") == rows(office, "hands?until=1970-01-01T00:00:00Z") == []
    # The clock was set back by half an hour after the first hand.
    with unguarded("hands_hand") as cursor:
        cursor.execute(
            "UPDATE hands_hand SET started_at = started_at - interval '30 min' WHERE name = %s", [second["hand"]]
        )
    started = {row["hand"]: datetime.fromisoformat(row["started_at"]) for row in rows(office, "hands")}
    earlier = (started[second["hand"]] - timedelta(minutes=1)).isoformat()
    between = (started[second["hand"]] + timedelta(minutes=1)).isoformat()
    for order in ("oldest", "newest"):
        by_id = [first["hand"], second["hand"]][:: 1 if order == "oldest" else -1]
        for bound, found in (("from", by_id), ("until", [])):
            asked = urlencode({bound: earlier, "sort": order})
            assert [row["hand"] for row in rows(office, f"hands?{asked}")] == found
        for bound, hand in (("from", first["hand"]), ("until", second["hand"])):
            asked = urlencode({bound: between, "sort": order})
            assert [row["hand"] for row in rows(office, f"hands?{asked}")] == [hand]


def test_staff_and_terminals_are_found_by_what_people_look_for(kit: Kit) -> None:
    kit.table("T1")
    kit.dealer("T1")
    admin = kit.office(Role.ADMIN)
    everybody = rows(admin, "staff")
    dealers = rows(admin, "staff?role=dealer")
    assert dealers and all("dealer" in row["roles"] for row in dealers) and len(dealers) < len(everybody)
    assert rows(admin, "staff?active=false") == [] and rows(admin, "staff?active=true") == everybody
    assert rows(admin, f"staff?from={everybody[-1]['hired_at']}") == everybody[-1:]
    [console] = rows(admin, "terminals?kind=table&location=T1")[:1]
    assert (console["kind"], console["location"], console["revoked"]) == ("table", "T1", False)
    admin.post(f"terminals/{console['terminal']}/revoke", {"reason": "it is broken"}, version=console["version"])
    assert [row["terminal"] for row in rows(admin, "terminals?revoked=true")] == [console["terminal"]]
    for wrong in ("staff?role=cook", "staff?active=maybe", "terminals?kind=roof", "terminals?revoked=1"):
        assert refused(admin.get(f"/api/v1/{wrong}")) == (400, "invalid_parameter")


def test_the_floor_sees_who_is_on_duty_and_where(kit: Kit) -> None:
    kit.table("T1")
    kit.dealer("T1")
    floor = kit.office(Role.FLOOR)
    [dealer] = rows(floor, "staff/on-duty?role=dealer")
    [session] = dealer["sessions"]
    assert (session["kind"], session["location"]) == ("table", "T1")
    assert session["signed_in_at"] < session["expires_at"]
    TerminalToken.objects.filter(user__login=dealer["login"]).update(expiry=session["signed_in_at"])
    assert rows(floor, "staff/on-duty?role=dealer") == []


def test_drawers_and_shifts_are_listed_and_the_report_has_the_newest_shift_of_each(kit: Kit) -> None:
    cashier, floor = kit.cashier(), kit.office(Role.FLOOR)
    assert rows(floor, "drawers?state=closed") == rows(floor, "drawers") and rows(floor, "shifts") == []
    kit.open_drawer(cashier, cash=10_000, chips=10_000)
    assert [(row["drawer"], row["state"]) for row in rows(floor, "drawers")] == [("C1", "open")]
    assert rows(floor, "drawers?state=closed") == []
    kit.close_drawer(cashier, cash=10_000 - 5)
    kit.open_drawer(cashier, cash=100, chips=0)
    first, second = rows(floor, "shifts?drawer=C1")
    assert (first["shift"], first["closed"], first["cash_variance"]) == (1, True, -5)
    assert first["opened_by"] == first["counted_by"] == second["opened_by"] and second["closed_by"] is None
    assert len({first[name] for name in ("counted_by", "recounted_by", "closed_by")}) == 3
    assert rows(floor, f"shifts?from={second['opened_at']}") == [second]
    [newest] = floor.get("reports/house").json()["drawers"]
    assert (newest["shift"], newest["float_cash"], newest["closed"]) == (2, 100, False)
    # With person and time, as the list of shifts has it.
    assert newest == second


def test_a_statement_and_days_are_narrowed_down_by_time(kit: Kit) -> None:
    cashier, office = kit.cashier(), kit.office()
    kit.players("anna")
    kit.open_drawer(cashier, cash=10_000, chips=10_000)
    for amount in (100, 200, 300):
        cashier.ok("buy-ins", {"player": "anna", "amount": amount})
    path = "ledger/accounts/2010/anna/statement"
    lines = rows(office, path)
    assert [line["amount"] for line in lines] == [-100, -200, -300]
    assert rows(office, f"{path}?from={lines[1]['posted_at']}") == lines[1:]
    assert rows(office, f"{path}?until={lines[1]['posted_at']}") == lines[:1]
    page = office.get(f"{path}?from={lines[0]['posted_at']}&page_size=1").json()
    assert (page["results"], page["next_after_version"]) == (lines[:1], 1)
    kit.office(Role.FLOOR).ok("days", {"day": "2020-02-29"})
    [day] = rows(office, "days?state=open")
    assert rows(office, "days?state=closed") == rows(office, f"days?until={day['opened_at']}") == []


@pytest.mark.parametrize("name", ["kind", "actor", "at"])
def test_an_index_serves_what_auditors_look_for(kit: Kit, name: str) -> None:
    kit.table("T1")
    events = Event.objects.filter(house=kit.house).annotate(value=KeyTextTransform(name, "doc"))
    with connection.cursor() as cursor:
        cursor.execute("SET enable_seqscan = off")
        try:
            plan = events.filter(value="table.opened").order_by("id").explain()
        finally:
            cursor.execute("RESET enable_seqscan")
    assert f"audit_event_{name}" in plan


PIECES = {
    "drawers/C1/buy-ins": {"player": "anna", "amount": 100},
    "drawers/C1/cash-outs": {"player": "anna", "amount": 100},
    "drawers/C1/bearer-cash-outs": {"amount": 100},
    "drawers/C1/open": {"cash": 0},
    "drawers/C1/count": {"cash": 0, "foreign": 0},
    "drawers/C1/handovers": {"kind": "skim", "cash": 0},
    "drawers/C1/fills": {"table": "T1"},
    "drawers/C1/credits/1/receive": {},
}


@pytest.mark.parametrize("key", ["\u00e1sz", "\u0665", "five", "", "-5", "5.0", "1" * 17])
def test_a_key_that_is_no_denomination_is_a_bad_request(kit: Kit, key: str) -> None:
    kit.table("T1")
    cashier = kit.cashier()
    for path, body in PIECES.items():
        answer = cashier.post(f"/api/v1/{path}", {**body, "pieces": {key: 1}})
        assert refused(answer) == (400, "invalid_request"), (path, answer.text)
        assert answer.json()["errors"][0]["pointer"].startswith("#/pieces/"), answer.text
    answer = cashier.post("exchanges", {"given": {key: 1}})
    assert refused(answer) == (400, "invalid_request")
    assert cashier.refresh()["version"] == cashier.version


@pytest.mark.parametrize("reason", ["   ", "\t\n  ", " a ", "ab"])
def test_a_reason_is_not_blank(kit: Kit, reason: str) -> None:
    kit.table("T1")
    cashier, admin = kit.cashier(), kit.office(Role.ADMIN)
    kit.open_drawer(cashier, cash=10_000, chips=10_000)
    sent = cashier.ok("fills", {"table": "T1", "amount": 100})["last_event"]["transfer"]["serial"]
    assert refused(cashier.post(f"fills/{sent}/cancel", {"reason": reason})) == (400, "invalid_request")
    keeper = kit.office(Role.CAGE_SUPERVISOR)
    assert refused(keeper.post("duty", {"amount": 5, "reason": reason})) == (400, "invalid_request")
    assert refused(admin.post("terminals/any/revoke", {"reason": reason}, version=1)) == (400, "invalid_request")


LISTS = [one for one in operations.every().values() if one.is_list and not one.parameters]


@pytest.mark.parametrize("reading", LISTS, ids=lambda one: one.id)
def test_a_filter_takes_any_text_or_refuses_it(kit: Kit, reading: operations.Operation) -> None:
    """What is no such value selects nothing, or is refused; the server never fails for it."""
    desk = kit.office(Role(min(reading.roles)))
    for name in reading.view.filters:
        for value in ("", "x", "-1", "0", "999999999", "99999999999999999999", "a b"):
            answer = desk.get(f"/api/v1/{reading.pattern}?{urlencode({name: value})}")
            allowed = (200, 400, 404) if name not in reading.view.numbers or value == "999999999" else (400,)
            assert answer.status_code in allowed, (name, value, answer.text)
