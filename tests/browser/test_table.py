"""The screen of a table: played by keys, and true whatever happens on the way."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from casino.console import cookies
from casino.staff.models import TerminalKind
from tests.browser.screens import AT_TABLES, Screens, overflows, shifted, too_small, violations, watch_shifts

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

    from tests.deploy.web_and_hints import Running

pytestmark = pytest.mark.slow

#: Boxes of elements, and the place of one among its neighbours.
BOXES = """(all) => all.map((one) => {
  const { x, y, width, height } = one.getBoundingClientRect(); return [x, y, width, height]; })"""
AT = "(one) => [...one.parentElement.children].indexOf(one)"
STATE = '#strip[data-state="{}"]'


def press(page: Page, key: str, *, state: str = "recorded") -> None:
    """Press a key and wait until its act is known, and the buttons are those of the new version."""
    version = page.get_attribute("#dock", "data-version")
    page.keyboard.press(key)
    page.wait_for_function(
        "([old, state]) => document.getElementById('dock').dataset.version !== old"
        " && document.getElementById('strip').dataset.state === state && !document.querySelector('[data-frozen]')",
        arg=[version, state],
    )


def seated(screens: Screens) -> None:
    screens.kit.table()
    screens.kit.seated(stacks=(20_000, 15_000))


def events(screens: Screens, kind: str) -> int:
    from casino.audit.models import Event

    return Event.objects.filter(house=screens.kit.house, doc__kind=kind).count()


def test_a_hand_is_dealt_and_played_with_one_key_an_act(screens: Screens) -> None:
    seated(screens)
    page = screens.dealer()
    watch_shifts(page)
    for key in ("d", "v", "d", "d", "c"):
        press(page, key)
    page.keyboard.press("r")
    assert page.locator("#amt output").inner_text() == "100"
    press(page, "Enter")
    press(page, "c")
    assert page.locator(".seat .stk").first.inner_text().replace("\u202f", "") == "19800"
    assert page.locator(".mid .pot").inner_text() == "400"
    assert shifted(page) < 0.1
    assert too_small(page, AT_TABLES) == []


def test_slots_keep_their_places_and_say_why_nothing_can_be_done_there(screens: Screens) -> None:
    seated(screens)
    page = screens.dealer()
    press(page, "d")
    measured = []
    for key in ("v", "d", "d"):
        measured.append(page.locator(".slots > *").evaluate_all(BOXES))
        press(page, key)
    measured.append(page.locator(".slots > *").evaluate_all(BOXES))
    assert all(one == measured[0] for one in measured), "no slot moves or changes its size"
    assert all(top + height <= 800 for _, top, _, height in measured[0]), "all of the dock is on the screen"
    assert page.locator('.slots > [data-verb="f"]').evaluate(AT) == 3, "fold is across from call"
    raising = page.locator('.slots [data-verb="rb"]')
    assert raising.get_attribute("aria-disabled") == "true"
    before = events(screens, "hand.acted")
    page.keyboard.press("r")
    page.wait_for_selector("#amt .why")
    assert "Second round of betting" in page.inner_text("#amt") and "Raise" in page.inner_text("#amt")
    page.keyboard.press("Escape")
    raising.click(force=True)
    page.wait_for_selector("#amt .why")
    assert events(screens, "hand.acted") == before
    press(page, "c")
    assert page.locator('.slots > [data-verb="rb"]').evaluate(AT) == 1
    assert violations(page) == [] and too_small(page, AT_TABLES) == []


def test_an_amount_out_of_range_is_not_sent(screens: Screens) -> None:
    seated(screens)
    page = screens.dealer()
    for key in ("d", "v", "d", "d", "c"):
        press(page, key)
    before = events(screens, "hand.acted")
    page.keyboard.press("r")
    for key in ("9", "9", "9", "9", "9", "9", "Enter"):
        page.keyboard.press(key)
    assert "999,999" not in page.locator("#amt output").inner_text(), "it says the range"
    page.keyboard.press("Escape")
    assert page.locator("#amt").inner_text() == ""
    assert events(screens, "hand.acted") == before


def test_an_answer_that_is_lost_is_asked_for_again_and_counts_once(screens: Screens) -> None:
    seated(screens)
    page = screens.dealer()
    lost = []

    def lose(route: Route) -> None:
        if lost:
            route.continue_()
            return
        lost.append(route.fetch().status)
        route.abort("connectionreset")

    screens.lay(page, "**/console/do/**", lose)
    page.keyboard.press("d")
    page.wait_for_selector(STATE.format("unknown"))
    assert page.get_attribute("body", "data-frozen") == "sending"
    page.wait_for_selector(STATE.format("recorded"))
    assert (lost, events(screens, "hand.dealt")) == ([201], 1)


def test_a_page_that_is_loaded_again_finishes_what_it_had_sent(screens: Screens) -> None:
    seated(screens)
    page = screens.dealer()
    screens.lay(page, "**/console/do/**", lambda route: route.abort("connectionreset"))
    page.keyboard.press("d")
    page.wait_for_selector(STATE.format("unknown"))
    page.reload()
    page.wait_for_selector(STATE.format("unknown"))
    page.unroute("**/console/do/**")
    page.wait_for_selector(STATE.format("recorded"))
    assert events(screens, "hand.dealt") == 1
    assert not page.evaluate("() => Object.keys(sessionStorage).filter((name) => name.startsWith('cukassza.')).length")


def test_a_page_that_hears_nothing_says_so_and_takes_no_act(screens: Screens, up: Running) -> None:
    seated(screens)
    page = screens.dealer()
    up.processes.kill("hints", signal.SIGSTOP)
    try:
        page.wait_for_selector(STATE.format("stale"), timeout=12_000)
        page.keyboard.press("d")
        page.wait_for_timeout(500)
        assert events(screens, "hand.dealt") == 0
    finally:
        up.processes.kill("hints", signal.SIGCONT)
    page.wait_for_selector(STATE.format("live"), timeout=12_000)
    press(page, "d")


def test_what_somebody_else_did_meanwhile_is_shown_before_another_act(screens: Screens) -> None:
    seated(screens)
    page = screens.dealer()
    screens.lay(page, "**/part", lambda route: route.fulfill(status=204))
    desk = screens.kit.dealer()
    desk.ok("hands", {"mode": "physical"})
    page.keyboard.press("d")
    page.wait_for_selector(STATE.format("changed"))
    assert events(screens, "hand.dealt") == 1
    page.unroute("**/part")
    page.evaluate("() => document.body.dispatchEvent(new Event('changed'))")
    page.wait_for_selector('.slots [data-verb="po"]')


def test_another_screen_sees_an_act_at_once(screens: Screens) -> None:
    seated(screens)
    here, there = screens.dealer(), screens.dealer()
    press(here, "d")
    there.wait_for_selector('.slots [data-verb="po"]')


def test_players_play_a_hand_from_their_own_devices(screens: Screens) -> None:
    from tests.casino.devices import key_of
    from tests.casino.transfers.test_transfers import floor_at

    screens.kit.table()
    desk = screens.kit.seated(stacks=(20_000, 15_000))
    keys = {seat: key_of(desk, seat) for seat in (1, 2)}
    floor_at(screens.kit, TerminalKind.TABLE, "T1").ok("device-play", {"allowed": True, "reason": "asked for"})
    desk.refresh()
    desk.deal()
    phones = {seat: phone(screens, key) for seat, key in keys.items()}
    tap(phones[1], "po")
    assert violations(phones[1]) == [] and overflows(phones[1]) <= 0 and too_small(phones[1], 44) == []
    tap(phones[2], "cc")
    phones[1].wait_for_selector('#dock [data-verb="rb"]')
    phones[1].click('#dock [data-verb="rb"]')
    phones[1].click("#amt .go")
    phones[2].wait_for_selector('#dock [data-verb="cc"]')
    tap(phones[2], "f")
    phones[2].wait_for_selector("#dock", state="detached")
    assert events(screens, "hand.acted") == 4
    assert screens.kit.settle() == ["settled"]


def phone(screens: Screens, key: str) -> Page:
    """The device of a seat."""
    context = screens.context(width=390, height=844)
    context.add_cookies([{"name": cookies.SEAT, "value": key, "url": screens.root, "sameSite": "Strict"}])
    page = screens.watched(context.new_page())
    screens.open(page, "seat")
    return page


def tap(page: Page, verb: str) -> None:
    """Press a button of the device, and wait until that is recorded."""
    page.wait_for_selector(f'#dock [data-verb="{verb}"]')
    page.click(f'#dock [data-verb="{verb}"]')
    page.wait_for_selector(STATE.format("recorded"))
