"""A page for every operation: all of them open, forms are turned into requests, refusals are shown."""

from html import unescape
from typing import Any

import pytest
from django.http import QueryDict

from casino.console import forms, operations
from casino.console.money import Money
from casino.staff.models import Role, TerminalKind
from tests.casino.console.browser import Browser
from tests.casino.kit import Kit


@pytest.fixture
def house(kit: Kit) -> Kit:
    """A house with a table T1."""
    kit.table()
    return kit


@pytest.mark.parametrize("role", Role)
def test_every_operation_of_a_role_has_a_page(house: Kit, role: Role) -> None:
    browser = Browser.of(house, role)
    mine = operations.of([role])
    listed = browser.open("work").text
    for one in mine:
        assert f'href="/console/work/{one.id}"' in listed, one.id
        if one.method == "post":
            answer = browser.open(f"work/{one.id}")
            assert answer.status_code == 200 and one.summary in unescape(answer.text), (one.id, answer.status_code)


def test_an_operation_of_others_is_not_there(house: Kit) -> None:
    browser = Browser.of(house, Role.DEALER, TerminalKind.TABLE, "T1")
    assert browser.open("work/closeDay").status_code == 404
    assert "closeDay" not in browser.open("work").text


def test_a_list_shows_its_rows_and_what_may_be_done_with_each(house: Kit) -> None:
    browser = Browser.of(house, Role.ADMIN)
    answer = browser.open("work/listTables")
    assert ">T1<" in answer.text and "/console/work/retireTable?table=T1&amp;version=" in answer.text


def test_a_form_is_carried_out_once(house: Kit) -> None:
    browser = Browser.of(house, Role.CASHIER, TerminalKind.CAGE, "C1")
    browser.open("work/registerPlayer")
    first = browser.submit("work/registerPlayer", {"player": "anna"})
    assert first.status_code == 200 and "Recorded" in first.text
    browser.open("work/registerPlayer")
    again = browser.submit("work/registerPlayer", {"player": "anna"})
    assert again.status_code == 409 and "player_exists" in again.text and 'value="anna"' in again.text


def test_the_version_that_was_seen_is_sent(house: Kit) -> None:
    browser = Browser.of(house, Role.DEALER, TerminalKind.TABLE, "T1")
    page = browser.open("work/openTable").text
    assert 'name="table" value="T1"' in page and 'name="version" inputmode="numeric" value="' in page
    answer = browser.submit("work/openTable", {"table": "T1", "version": "77"})
    assert answer.status_code == 412 and "version_conflict" in answer.text


def test_what_cannot_be_read_is_said_at_its_field(house: Kit) -> None:
    browser = Browser.of(house, Role.CASHIER, TerminalKind.CAGE, "C1")
    browser.open("work/buyIn")
    answer = browser.submit("work/buyIn", {"drawer": "C1", "player": "anna", "amount": "many"})
    assert answer.status_code == 400 and "amount: This is an amount" in answer.text


FILLED: list[tuple[str, str, dict[str, Any]]] = [
    ("buyIn", "player=anna&amount=1+000&pieces.500=2", {"player": "anna", "amount": 1000, "pieces": {"500": 2}}),
    ("openDrawer", "cash=10&pieces.500=0", {"cash": 10, "pieces": {"500": 0}}),
    ("changeRoles", "roles=dealer&roles=floor&reason=new", {"roles": ["dealer", "floor"], "reason": "new"}),
    ("ruleOnHand", "hand=T1-000001&reason=why&tax=0&awards=[]&claimed=", {
        "hand": "T1-000001", "reason": "why", "tax": 0, "awards": [],
    }),
    ("dealHand", "mode=physical&sitting_out=2,3", {"mode": "physical", "sitting_out": [2, 3]}),
    ("excludePlayer", "kind=self&in_person=yes", {"kind": "self", "in_person": True}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "typed", "expected"), FILLED)
def test_what_was_typed_becomes_a_body(name: str, typed: str, expected: dict[str, Any]) -> None:
    fields = operations.every()[name].input()
    assert forms.body(fields, QueryDict(typed), Money("HUF", 0), [500, 100]) == expected


@pytest.mark.parametrize(
    ("text", "exponent", "minor"), [("12", 0, 12), ("1 000", 0, 1000), ("12,5", 2, 1250), ("0.05", 2, 5), ("7", 2, 700)]
)
def test_amounts_are_typed_as_people_write_them(text: str, exponent: int, minor: int) -> None:
    assert Money("EUR", exponent).typed(text) == minor
    assert Money("EUR", exponent).typed(Money("EUR", exponent).typable(minor)) == minor


@pytest.mark.parametrize(("text", "exponent"), [("12.5", 0), ("1.234", 2), ("-5", 2), ("", 2), ("1,000,000", 0)])
def test_what_is_no_amount_is_refused(text: str, exponent: int) -> None:
    with pytest.raises(ValueError, match="no amount"):
        Money("EUR", exponent).typed(text)


def test_times_are_shown_by_the_clocks_of_the_house() -> None:
    money = Money("HUF", 0, "Europe/Budapest")
    assert money.moment("2026-07-01T22:30:05.123456Z") == "2026-07-02 00:30:05"
    assert money.moment("T1-000002") == "T1-000002"


def test_amounts_are_shown_with_the_houses_decimals() -> None:
    money = Money("EUR", 2)
    assert [money.shown(one).replace("\u202f", " ") for one in (123456789, -5, 0)] == [
        "1 234 567.89", "\u22120.05", "0.00",
    ]  # fmt: skip
