"""The floor, reports and the audit trail on screens."""

import re

import pytest

from casino.audit.models import Event
from casino.staff.models import Role
from tests.casino.console.browser import Browser
from tests.casino.kit import MISDEAL, Kit


@pytest.fixture
def house(kit: Kit) -> Kit:
    """A house with a table T1 at which a hand is played."""
    kit.table()
    return kit


def test_the_floor_sees_the_tables_and_what_needs_a_person(house: Kit) -> None:
    floor = house.dealer(role=Role.FLOOR)
    desk = house.seated(stacks=(10_000, 10_000))
    desk.ok("hands", {"mode": "physical"})
    desk.act("p1 po 100", "d dh p1 ????", "d dh p2 ????", "p2 cc 100")
    floor.refresh()
    asked = floor.post("hand/void", MISDEAL | {"reason": "cards fell"})
    assert asked.json()["code"] == "approval_required"
    browser = Browser.of(house, Role.MANAGER)
    page = browser.open("floor").text
    assert "T1 · ferbli" in page and "· void ·" in page
    number = asked.json()["approval"]["approval"]
    assert f"/console/work/approve?approval={number}" in page
    browser.open("work/approve", approval=number)
    answer = browser.submit("work/approve", {"approval": str(number)})
    assert "Recorded" in answer.text
    assert "Nothing needs a person now" in Browser.of(house, Role.MANAGER).open("floor").text


def test_what_refreshes_itself_leaves_nothing_in_the_trail(house: Kit) -> None:
    browser = Browser.of(house, Role.FLOOR)
    browser.open("floor")
    before = Event.objects.filter(house=house.house).count()
    for path in ("floor", "tables/T1/part", "display/T1"):
        answer = browser.http.get(f"/console/{path}", headers={"HX-Request": "true", "X-Unattended": "1"})
        assert answer.status_code == 200, path
    assert Event.objects.filter(house=house.house).count() == before


def test_a_report_is_asked_for_made_and_downloaded(house: Kit) -> None:
    browser = Browser.of(house, Role.AUDITOR)
    assert "A33 · " in browser.open("reports").text
    assert 'name="formats" value="csv"' in browser.open("reports/trial-balance").text
    answer = browser.submit("reports/trial-balance", {"formats": ["csv", "json"]})
    run = answer.headers["Location"]
    assert "hx-trigger" in browser.open(run.removeprefix("/console/")).text
    house.make_reports()
    page = browser.open(run.removeprefix("/console/")).text
    assert "Made" in page and "hx-trigger" not in page
    file = re.search(r'href="(/console/report-runs/[0-9]+/files/[^"]+\.csv)"', page)
    assert file is not None
    content = browser.http.get(file[1])
    assert content.status_code == 200 and content.headers["Content-Type"].startswith("text/csv")


def test_the_charts_of_a_report_stand_on_the_page_of_its_run(house: Kit) -> None:
    browser = Browser.of(house, Role.MANAGER)
    assert 'value="svg" checked' in browser.open("reports/daily-revenue").text
    answer = browser.submit("reports/daily-revenue", {"formats": ["json", "svg"]})
    house.make_reports()
    page = browser.open(answer.headers["Location"].removeprefix("/console/")).text
    charts = re.findall(r'<img class="chart" src="([^"]+)" alt="[^"]+">', page)
    assert charts
    for address in charts:
        chart = browser.http.get(address)
        assert chart.headers["Content-Type"].startswith("image/svg+xml") and "<svg" in chart.text


def test_a_report_that_is_not_there_is_said_so(house: Kit) -> None:
    browser = Browser.of(house, Role.FLOOR)
    assert browser.open("reports/trial-balance").status_code == 404
    assert browser.open("reports/nothing").status_code == 404


def test_an_auditor_searches_the_trail(house: Kit) -> None:
    browser = Browser.of(house, Role.AUDITOR)
    page = browser.open("audit", chain="table/T1", kind="table.set_up").text
    assert page.count("<td>table.set_up</td>") == 1 and "carryover_on_close" in page.lower().replace(" ", "_")
    assert "No event fits" in browser.open("audit", chain="table/T1", actor="nobody-here").text
    refused = browser.open("audit", kind="no.such.kind")
    assert refused.status_code == 400 and "invalid_parameter" in refused.text
    assert Browser.of(house, Role.DEALER).open("audit").status_code == 403


def test_the_verification_is_shown(house: Kit) -> None:
    assert "Everything agrees" in Browser.of(house, Role.AUDITOR).open("verification").text
