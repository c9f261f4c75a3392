"""A hand replayed by keys with its proof, and a dispute decided, in a real Chromium."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from casino.console import cookies
from casino.staff.models import Role, TerminalKind
from tests.browser.screens import ELSEWHERE, Screens, overflows, too_small, violations

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.slow

HAND = "T1-000001"
SHOTS = os.environ.get("SHOTS", "")
CLAIM = "20 p4 rb 400\n21 p1 cc 400"


def proof(page: Page) -> dict[str, list[str]]:
    """The lines of the proof, once all of it was checked, by how they are coloured."""
    page.wait_for_selector("#proved:not(.info)")
    return {kind: page.locator(f"#proof-lines .{kind}").all_inner_texts() for kind in ("ok", "warn", "bad")}


def electronic(screens: Screens) -> tuple[str, str]:
    """A hand that the house has dealt, settled and in the log; its name, and the key of the first seat."""
    screens.kit.table()
    desk = screens.kit.seated(stacks=(20_000, 15_000))
    key = desk.ok("seats/1/key")["key"]
    desk.deal()
    desk.act("p1 po 100")
    desk.act("p2 f")
    screens.kit.settle()
    screens.kit.sequence()
    return HAND, key


def worked(screens: Screens) -> None:
    """The worked hand of a real pack, settled and in the log."""
    screens.kit.worked_hand()
    screens.kit.settle()
    screens.kit.sequence()


def test_a_hand_is_replayed_by_keys_and_its_address_has_the_line(screens: Screens) -> None:
    worked(screens)
    page = screens.person(Role.AUDITOR)
    screens.open(page, f"hands/{HAND}")
    assert page.inner_text("#count") == "24 / 24" and page.locator("#stage .pot").inner_text() == "0"
    page.keyboard.press("Home")
    assert page.inner_text("#count") == "0 / 24" and page.locator('[data-go="back"]').is_disabled()
    for _ in range(9):
        page.keyboard.press("ArrowRight")
    assert page.inner_text("#line").startswith("9 · 1 T1-u1") and page.url.endswith("#line=9")
    assert "p1 lets the deal go on or raises" in page.inner_text("#sentence")
    assert page.locator("#stage .pot").inner_text() == "500"
    page.keyboard.press("ArrowLeft")
    assert page.locator("#stage .pot").inner_text() == "300"
    page.click('[data-go="last"]')
    page.keyboard.press("s")
    assert page.evaluate("() => document.activeElement.id") == "money"
    page.click('tr[data-line="3"] td:nth-child(2)')
    page.reload()
    assert page.inner_text("#count") == "3 / 24"


def test_the_proof_of_a_real_pack_holds_line_by_line(screens: Screens) -> None:
    worked(screens)
    page = screens.person(Role.AUDITOR)
    screens.open(page, f"hands/{HAND}")
    found = proof(page)
    assert found["bad"] == [] and len(found["ok"]) == 7, found
    assert any("A real pack" in one for one in found["warn"])


def test_the_deck_is_made_again_out_of_the_seeds_and_a_changed_record_fails(screens: Screens) -> None:
    name, _ = electronic(screens)
    page = screens.person(Role.AUDITOR)
    screens.open(page, f"hands/{name}")
    found = proof(page)
    assert found["bad"] == [] and len(found["ok"]) == 11, found
    assert any("make this deck again" in one for one in found["ok"])

    def altered(route: object) -> None:
        answer = route.fetch()  # type: ignore[attr-defined]
        text = answer.text().replace('"tax": 10', '"tax": 9').replace('"deck": "', '"deck": "', 1)
        deck = text.partition('"deck": "')[2][:4]
        swapped = text.replace(f'"deck": "{deck}', f'"deck": "{deck[2:]}{deck[:2]}')
        route.fulfill(response=answer, body=swapped)  # type: ignore[attr-defined]

    screens.lay(page, f"**/console/hands/{name}", altered)
    page.reload()
    found = proof(page)
    assert any("make this deck again" in one for one in found["bad"]), found
    assert any("The record has the hash" in one for one in found["bad"]), found
    assert "fail" in page.inner_text("#proved")


def test_a_player_proves_own_cards_and_the_floor_what_everybody_saw(screens: Screens) -> None:
    name, key = electronic(screens)
    page = screens.watched(screens.context(width=390).new_page())
    page.context.add_cookies([{"name": cookies.SEAT, "value": key, "url": screens.root, "sameSite": "Strict"}])
    screens.open(page, f"seat/hands/{name}")
    found = proof(page)
    assert found["bad"] == [] and any("3 cards that you may know" in one for one in found["ok"]), found
    assert overflows(page) <= 0 and violations(page) == []
    floor = screens.person(Role.FLOOR)
    screens.open(floor, f"hands/{name}")
    seen = proof(floor)
    assert seen["bad"] == [] and any("an auditor checks its hash" in one for one in seen["warn"]), seen


def test_a_dispute_is_decided_from_start_to_end(screens: Screens) -> None:
    from casino.hands.models import Hand

    screens.kit.worked_hand()
    floor = screens.person(Role.FLOOR, TerminalKind.TABLE, "T1")
    screens.open(floor, f"hands/{HAND}/ruling")
    floor.fill("#reason-dispute", "p4 says the last bet was 400")
    floor.keyboard.press("Control+Enter")
    floor.wait_for_selector('#strip[data-state="recorded"]')
    screens.open(floor, "tables/T1")
    floor.wait_for_selector("text=The table is frozen")
    floor.keyboard.press("r")
    floor.wait_for_selector("#claimed")
    floor.click('[data-claim^="20 "]')
    assert floor.input_value("#claimed") == "20 p4 rb 800"
    floor.fill("#claimed", CLAIM)
    floor.click("#claims button")
    floor.wait_for_selector(".differs")
    floor.keyboard.press("2")
    assert floor.input_value("#award-p1") == "2775" and floor.input_value("#tax") == "125"
    assert "nothing is left" in floor.inner_text("[data-sum]")
    assert "\N{MULTIPLICATION SIGN}" in floor.inner_text("tr:has(#award-p1) [data-chips]")
    floor.fill("#award-p4", "399")
    assert "1 of 3 300 are left" in floor.inner_text("[data-sum]").replace("\u202f", " ")
    assert floor.locator("form[data-divide] button:not([type])").is_disabled()
    floor.fill("#award-p4", "400")
    floor.fill("#reason-rule", "the camera shows 400")
    floor.keyboard.press("Control+Enter")
    floor.wait_for_selector('#strip[data-state="waiting"]')
    manager = screens.person(Role.MANAGER)
    screens.open(manager, f"hands/{HAND}/ruling")
    manager.click("text=Approve")
    manager.wait_for_selector('#strip[data-state="recorded"]')
    screens.open(floor, f"hands/{HAND}/ruling")
    floor.click("button:has-text('Carry out as approved')")
    floor.wait_for_selector('#strip[data-state="recorded"]')
    assert "Rule later" in floor.inner_text(".ruling")
    assert Hand.objects.get(house=screens.kit.house).ruling["awards"] == {"p1": 2_775, "p4": 400}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_use_replay_and_ruling(screens: Screens, scheme: str) -> None:
    screens.kit.worked_hand()
    screens.kit.dealer(role=Role.FLOOR).ok("hand/dispute", {"hand": HAND, "reason": "p4 says 400"})
    page = screens.person(Role.FLOOR, TerminalKind.TABLE, "T1", scheme=scheme)
    for path in (f"hands/{HAND}", f"hands/{HAND}/ruling?claimed=20+p4+rb+400%0A21+p1+cc+400", "tables/T1"):
        page.set_viewport_size({"width": 1280, "height": 800})
        screens.open(page, path)
        if path == f"hands/{HAND}":
            proof(page)
        assert page.locator("h1").count() == 1, path
        assert violations(page) == [], path
        assert too_small(page, ELSEWHERE) == [], path
        if SHOTS:
            page.screenshot(path=f"{SHOTS}/{scheme}-{path.partition('?')[0].replace('/', '-')}.png", full_page=True)
        page.set_viewport_size({"width": 320, "height": 700})
        assert overflows(page) <= 0, path
