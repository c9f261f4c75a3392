"""The pages of the office: people, duties to players, days, founding, control points."""

import re
from html import unescape

import pytest

from casino.api.http.lists import CursorList
from casino.console import offices, operations
from casino.reports import readiness
from casino.staff.models import Role, TerminalKind
from tests.casino.console.browser import Browser
from tests.casino.kit import Kit


@pytest.mark.parametrize(
    "section", [one for office in offices.EVERY for one in office.sections], ids=lambda one: one.read
)
def test_a_list_shows_columns_and_offers_operations_that_there_are(section: offices.Section) -> None:
    reading = operations.every()[section.read]
    assert issubclass(reading.view, CursorList)
    fields = getattr(reading.view, "serializer_class", None) or reading.view.Row
    assert set(section.columns) <= set(fields().fields), section.read
    below = {one.id for one in operations.of_rows(reading, list(Role))}
    assert set(section.acts) <= below, section.read
    assert set(section.jobs) <= set(operations.every())


def test_every_item_of_the_readiness_is_a_step_with_its_operations() -> None:
    assert list(offices.STEPS) == list(readiness.CHECKS)
    assert {one for _, jobs in offices.STEPS.values() for one in jobs} <= set(operations.every())


@pytest.mark.parametrize("office", offices.EVERY, ids=lambda one: one.path)
@pytest.mark.parametrize("role", Role)
def test_a_page_shows_what_the_role_may_read_and_nothing_else(kit: Kit, role: Role, office: offices.Office) -> None:
    answer = Browser.of(kit, role).open(office.path)
    mine = [one for one in office.sections if role in operations.every()[one.read].roles]
    assert answer.status_code == (200 if mine else 404)
    for section in office.sections:
        assert (f'aria-label="{section.title}"' in unescape(answer.text)) == (section in mine), section.title


def test_people_are_hired_and_locked_from_their_page(kit: Kit) -> None:
    kit.hire(Role.DEALER, TerminalKind.OFFICE, "")
    text = unescape(Browser.of(kit, Role.ADMIN).open("people").text)
    assert 'href="/console/work/hireStaff"' in text and 'href="/console/work/enrolTerminal"' in text
    assert "/console/work/deactivateStaff?login=dealer" in text and "/console/work/activateStaff?" not in text
    assert "/console/work/revokeTerminal?terminal=office-" in text


def test_complaints_holds_and_exclusions_have_their_acts(kit: Kit) -> None:
    kit.table()
    compliance = kit.office(Role.COMPLIANCE)
    compliance.ok("complaints", {"kind": "other", "text": "It was cold."})
    text = unescape(Browser.of(kit, Role.COMPLIANCE).open("safeguards").text)
    assert "/console/work/answerComplaint?complaint=1&version=1" in text
    assert "/console/work/liftLegalHold?legal_hold=1&version=1" in text
    assert 'href="/console/work/excludePlayer"' in text


def test_a_house_is_founded_step_by_step(kit: Kit) -> None:
    page = unescape(Browser.of(kit, Role.ADMIN).open("founding").text)
    assert 'href="/console/work/changeIdentity"' in page and "Who can bring it:" in page
    assert page.count('aria-current="step"') == 1
    manager = unescape(Browser.of(kit, Role.MANAGER).open("founding").text)
    assert 'href="/console/work/changeIdentity"' not in manager and 'href="/console/work/payInCapital"' in manager
    assert Browser.of(kit, Role.FLOOR).open("founding").status_code == 403


def test_a_control_point_is_changed_with_an_approval(kit: Kit) -> None:
    browser = Browser.of(kit, Role.ADMIN)
    page = browser.open("limits").text
    assert "<code>pin_tries</code>" in page and "<td>0 \N{EN DASH} 5</td>" in page
    change = {"point": "pin_tries", "value": "2", "reason": "so it is", "key": "one"}
    asked = browser.submit("limits", change)
    assert asked.status_code == 409 and "approval_required" in asked.text
    number = re.search(r'name="approval" inputmode="numeric" value="([0-9]+)"', asked.text)
    assert number is not None
    kit.office(Role.MANAGER).ok(f"approvals/{number[1]}/approve")
    done = browser.submit("limits", change | {"approval": number[1], "key": "two"})
    assert done.status_code == 200, done.text
    assert kit.office(Role.ADMIN).get("limits").json()["in_force"]["points"]["pin_tries"] == 2
    wrong = browser.submit("limits", {"point": "pin_tries", "value": "nine", "reason": "so it is", "key": "three"})
    assert wrong.status_code == 400 and "invalid_request" in wrong.text
    assert "Change one" not in Browser.of(kit, Role.FLOOR).open("limits").text
