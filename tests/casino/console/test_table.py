"""The screen of a table: what lies there, what may be done, and acts under one key."""

import json
import uuid

import pytest

from casino.staff.models import Role, TerminalKind, TerminalToken
from tests.casino.console.browser import _TOKEN, Browser
from tests.casino.kit import Kit


@pytest.fixture
def house(kit: Kit) -> Kit:
    """A house with a table T1."""
    kit.table()
    return kit


def at_table(house: Kit) -> Browser:
    return Browser.of(house, Role.DEALER, TerminalKind.TABLE, "T1")


def test_a_terminal_at_a_table_opens_its_screen(house: Kit) -> None:
    browser = at_table(house)
    assert browser.open("").headers["Location"] == "/console/tables/T1"
    page = browser.open("tables/T1").text
    assert 'data-write="tables/T1/open"' in page and page.count('class="seat') == 4


def test_the_offers_of_the_house_are_the_buttons(house: Kit) -> None:
    desk = house.seated(stacks=(10_000, 10_000))
    desk.ok("hands", {"mode": "physical"})
    page = at_table(house).open("tables/T1").text
    assert 'data-verb="po"' in page and "Vizi 100" in page and ">to act<" in page.replace("▸ ", "")
    desk.act("p1 po 100")
    part = at_table(house).open("tables/T1/part").text
    assert 'data-verb="dh"' in part and "<html" not in part


def test_an_act_goes_through_the_door_once(house: Kit) -> None:
    browser = at_table(house)
    browser.open("tables/T1")
    token = _TOKEN.search(browser.page)[1]  # type: ignore[index]
    key = str(uuid.uuid4())
    headers = {"Content-Type": "application/json", "Idempotency-Key": key, "X-CSRFToken": token, "If-Match": '"1"'}
    version = house.dealer().version
    headers["If-Match"] = f'"{version}"'
    answers = [browser.http.post("/console/do/tables/T1/open", content="{}", headers=headers) for _ in range(2)]
    assert [one.status_code for one in answers] == [200, 200]
    assert json.loads(answers[0].text) == json.loads(answers[1].text)
    assert answers[1].headers["Idempotency-Replayed"] == "true"
    forged = browser.http.post("/console/do/tables/T1/close", content="{}", headers=headers | {"X-CSRFToken": "x"})
    assert forged.status_code == 403


def test_nobody_acts_through_the_door_without_a_sign_in(house: Kit) -> None:
    browser = Browser.new(house)
    browser.open("sign-in")
    browser.open("terminal")
    token = _TOKEN.search(browser.page)[1]  # type: ignore[index]
    answer = browser.http.post(
        "/console/do/tables/T1/open", content="{}", headers={"Content-Type": "application/json", "X-CSRFToken": token}
    )
    assert (answer.status_code, answer.json()["code"]) == (401, "not_authenticated")


def test_a_screen_that_refreshes_itself_keeps_no_token_awake(house: Kit) -> None:
    browser = at_table(house)
    browser.open("tables/T1")
    row = TerminalToken.objects.order_by("-created").first()
    assert row is not None
    long_ago = row.created.replace(year=row.created.year - 1)
    TerminalToken.objects.filter(pk=row.pk).update(last_seen_at=row.created)
    browser.http.get("/console/tables/T1/part", headers={"X-Unattended": "1", "HX-Request": "true"})
    row.refresh_from_db()
    assert row.last_seen_at == row.created
    TerminalToken.objects.filter(pk=row.pk).update(last_seen_at=long_ago)
    answer = browser.http.get(
        "/console/tables/T1/part",
        headers={"HX-Request": "true", "HX-Current-URL": "http://localhost/console/tables/T1"},
    )
    assert (answer.status_code, answer.headers["HX-Redirect"]) == (
        204, "/console/password?next=%2Fconsole%2Ftables%2FT1",
    )  # fmt: skip
