"""The screen of webhooks: what is sent where, what waits and fails; sent again and ended by keyboard."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from casino.audit.models import Event
from casino.live.models import Webhook
from casino.staff.models import Role
from tests.browser.screens import ELSEWHERE, Screens, overflows, too_small, violations

pytestmark = pytest.mark.slow
CARD = "section[aria-labelledby='webhook-1']"


def subscribed(screens: Screens) -> Page:
    """The page of an administrator; `scanner`, where nobody listens, follows a table, where something has happened."""
    screens.kit.table()
    body = {"destination": "scanner", "chains": ["table/T1"], "reason": "agreed with the vendor"}
    screens.kit.office(Role.ADMIN).ok("webhooks", body)
    screens.kit.dealer().ok("open")
    page = screens.person(Role.ADMIN)
    for _ in range(40):
        screens.open(page, "webhooks")
        if "No connection" in page.inner_text("main"):
            break
        page.wait_for_timeout(500)
    return page


def written(page: Page, link: str) -> None:
    """Follow a link of the page by keyboard, give a reason, and carry it out."""
    page.get_by_role("link", name=link).focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("form[data-command] [name=reason]")
    page.focus("form[data-command] [name=reason]")
    page.keyboard.type("the scanner has lost something")
    page.keyboard.press("Enter")
    page.wait_for_selector('#strip[data-state="recorded"]')


def test_a_receiver_that_fails_is_seen_sent_again_and_ended(screens: Screens) -> None:
    page = subscribed(screens)
    card = page.locator(CARD)
    expect(card.locator("h2")).to_contain_text("fails")
    expect(card).to_contain_text("One key signs")
    assert int(card.locator("td").nth(2).inner_text()) >= 1
    assert violations(page) == [] and too_small(page, ELSEWHERE) == []
    after = card.locator("td").nth(1).inner_text()
    written(page, "Send hints of a webhook again: table/T1")
    event = Event.objects.get(house=screens.kit.house, doc__kind="webhook.replayed").doc
    assert (event["data"]["chain"], str(event["data"]["after"])) == ("table/T1", after)
    screens.open(page, "webhooks")
    written(page, "End a webhook: 1 · scanner")
    assert Webhook.objects.get(house=screens.kit.house).ended_at is not None
    screens.open(page, "webhooks")
    expect(page.locator(f"{CARD} h2")).to_contain_text("ended")
    assert page.get_by_role("link", name="Subscribe a webhook: scanner").count() == 1


def test_a_reader_sees_it_and_changes_nothing(screens: Screens) -> None:
    subscribed(screens)
    page = screens.person(Role.AUDITOR, width=390)
    screens.open(page, "webhooks")
    assert page.locator(CARD).count() == 1 and page.locator("main a.b").count() == 0
    assert overflows(page) == 0
    dealer = screens.person(Role.DEALER)
    screens.open(dealer, "webhooks")
    assert "scanner" not in dealer.inner_text("main")


@pytest.mark.parametrize(("language", "words"), [("hu", "Kulcs"), ("de", "Schlüssel")])
def test_it_speaks_the_languages_of_the_house(screens: Screens, language: str, words: str) -> None:
    subscribed(screens)
    page = screens.person(Role.ADMIN, language=language, scheme="dark")
    screens.open(page, "webhooks")
    expect(page.locator(CARD)).to_contain_text(words)
    assert violations(page) == []
