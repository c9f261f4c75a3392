"""The rules of the house: versions that stay readable, for everybody in the house and at a seat."""

import pytest

from casino.audit.models import Event
from casino.console import cookies
from casino.core import canonical
from casino.staff.models import Role, TerminalKind
from casino.verification.auditing import verify_house
from tests.casino.console.browser import Browser
from tests.casino.devices import code, device
from tests.casino.kit import RULES, Kit

WHY = {"reason": "as the licence asks"}


def test_each_setting_makes_a_version_and_those_of_before_stay(kit: Kit) -> None:
    admin = kit.office(Role.ADMIN)
    assert admin.get("house/rules").json() == {"rules": None, "history": []}
    first = admin.ok("house/rules", {"texts": RULES} | WHY)
    assert (first["rules"]["number"], first["rules"]["texts"]) == (1, RULES)
    assert first["rules"]["sha256"] == canonical.sha256(RULES)
    assert code(admin.post("house/rules", {"texts": RULES} | WHY)) == (409, "no_change")
    second = admin.ok("house/rules", {"texts": {"en": "The house takes 4 %."}} | WHY)
    assert [one["number"] for one in second["history"]] == [2, 1]
    assert kit.office(Role.CASHIER).get("house/rules/1").json()["texts"] == RULES
    assert code(admin.get("house/rules/3")) == (404, "not_found")
    events = Event.objects.filter(house=kit.house, doc__kind="house.rules_set").order_by("seq")
    assert [one.doc["data"]["texts"] for one in events] == [RULES, {"en": "The house takes 4 %."}]
    assert verify_house(kit.house).findings == []


@pytest.mark.parametrize("texts", [{}, {"English": "x"}, {"en": ""}, {"en": "x" * 20_001}, {"en": 5}, []])
def test_a_text_names_its_language_and_is_not_empty(kit: Kit, texts: object) -> None:
    answer = kit.office(Role.ADMIN).post("house/rules", {"texts": texts} | WHY)
    assert code(answer) == (400, "invalid_request")


def test_only_an_administrator_sets_them(kit: Kit) -> None:
    for role in (Role.MANAGER, Role.FLOOR, Role.AUDITOR):
        assert code(kit.office(role).post("house/rules", {"texts": RULES} | WHY)) == (403, "forbidden")


def test_they_are_read_at_the_table_and_at_a_seat_in_the_readers_language(kit: Kit) -> None:
    kit.table()
    desk = kit.seated(stacks=(10_000, 10_000))
    dealer = Browser.of(kit, Role.DEALER, TerminalKind.TABLE, "T1")
    assert "Rules of the house" not in dealer.open("tables/T1").text
    shown = kit.office(Role.ADMIN).ok("house/rules", {"texts": RULES} | WHY)["rules"]["sha256"][:16]
    for path in ("tables/T1", "display/T1"):
        page = dealer.open(path).text
        assert "version 1" in page and shown in page
    assert "Disputes: the floor decides." in dealer.open("rules").text
    dealer.http.cookies.set("cukassza_language", "hu", domain="localhost.local")
    assert RULES["hu"] in dealer.open("rules/1").text
    own = device(kit, desk, 1)
    assert own.get("rules").json()["rules"]["texts"] == RULES


def test_a_device_whose_key_has_ended_is_sent_to_where_it_is_asked_for(kit: Kit) -> None:
    kit.table()
    desk = kit.seated(stacks=(10_000, 10_000))
    kit.office(Role.ADMIN).ok("house/rules", {"texts": RULES} | WHY)
    own = Browser.new(kit)
    assert own.open("seat/rules").headers["Location"] == "/console/seat"
    own.http.cookies.set(cookies.SEAT, desk.ok("seats/1/key")["key"], domain="localhost.local")
    page = own.open("seat/rules")
    assert page.status_code == 200 and "Disputes: the floor decides." in page.text and "in force" in page.text
    desk.ok("seats/1/key")
    answer = own.open("seat/rules")
    assert (answer.status_code, answer.headers.get("Location")) == (302, "/console/seat")
