"""The screen of a drawer: forms that count once whatever happens, chips that must make the sum, blind counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from casino.console import cookies
from casino.staff.models import Role, TerminalKind
from tests.browser.screens import ELSEWHERE, Screens, overflows, too_small, violations

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

    from tests.casino.kit import Desk

pytestmark = pytest.mark.slow

STATE = '#strip[data-state="{}"]'
BUY = '[data-part="buyIn"]'
FLOAT = {"1000": 20, "500": 20, "100": 50}


def opened(screens: Screens) -> Desk:
    """The cashier's desk at the drawer C1, which is open, in a house with a player."""
    screens.kit.table()
    screens.kit.players("anna")
    cashier = screens.kit.cashier()
    screens.kit.open_drawer(cashier, cash=100_000, pieces=FLOAT)
    return cashier


def at_drawer(screens: Screens, desk: Desk, **window: object) -> Page:
    """The screen of the drawer, of the person who has opened it."""
    context = screens.context(**window)  # type: ignore[arg-type]
    token = desk.http.headers["Authorization"].removeprefix("Bearer ")
    context.add_cookies([{"name": cookies.SESSION, "value": token, "url": screens.root, "sameSite": "Strict"}])
    page = screens.watched(context.new_page())
    screens.open(page, "drawers/C1")
    page.wait_for_selector(STATE.format("live"))
    return page


def buy(page: Page, amount: str) -> None:
    """Fill in a buy-in."""
    page.keyboard.press("b")
    page.keyboard.type("anna")
    page.fill(f"{BUY} [name=amount]", amount)


def events(screens: Screens, kind: str) -> int:
    from casino.audit.models import Event

    return Event.objects.filter(house=screens.kit.house, doc__kind=kind).count()


#: The names of what a page keeps.
KEPT = "Object.keys(sessionStorage).filter((one) => one.startsWith('cukassza.'))"


def kept(page: Page) -> int:
    """How much the page keeps for later."""
    return int(page.evaluate(f"() => {KEPT}.length"))


def test_a_form_whose_answer_is_lost_counts_once_also_when_the_page_is_loaded_again(screens: Screens) -> None:
    page = at_drawer(screens, opened(screens))
    answered = []

    def lose(route: Route) -> None:
        answered.append(route.fetch().status)
        route.abort("connectionreset")

    screens.lay(page, "**/jobs/buyIn", lose)
    buy(page, "1 600")
    for _ in range(2):
        page.keyboard.press("Control+Enter")
    page.wait_for_selector(STATE.format("unknown"))
    # Answers are lost until the page is loaded again: a repeat before that must not be answered either.
    page.reload()
    page.wait_for_selector(STATE.format("unknown"))
    # What is kept until then says nothing.
    assert kept(page) == 1 and "anna" not in page.evaluate("() => JSON.stringify(Object.values(sessionStorage))")
    page.unroute("**/jobs/buyIn")
    page.wait_for_selector(STATE.format("recorded"))
    assert set(answered) == {200} and events(screens, "cage.buy_in") == 1
    assert "1 \N{MULTIPLICATION SIGN} 1" in page.inner_text("#said") and kept(page) == 0


def test_what_one_has_sent_is_not_repeated_in_the_name_of_another(screens: Screens) -> None:
    page = at_drawer(screens, opened(screens))
    screens.lay(page, "**/jobs/buyIn", lambda route: route.abort("connectionreset"))
    buy(page, "500")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(STATE.format("unknown"))
    other = screens.kit.token(Role.CAGE_SUPERVISOR, TerminalKind.CAGE, "C1")
    page.context.add_cookies([{"name": cookies.SESSION, "value": other, "url": screens.root, "sameSite": "Strict"}])
    screens.open(page, "drawers/C1")
    page.wait_for_selector(STATE.format("unknown"))
    assert "Not answered yet" in page.inner_text("#strip")
    page.unroute("**/jobs/buyIn")
    page.wait_for_timeout(1500)
    assert events(screens, "cage.buy_in") == 0


def test_what_was_typed_goes_with_the_session(screens: Screens) -> None:
    page = at_drawer(screens, opened(screens))
    page.keyboard.press("t")
    page.fill("#job [name=cash]", "77777")
    page.wait_for_function(f"() => {KEPT}.length === 1")
    # A request of the page itself, without a session, would lead elsewhere too and cut the way there.
    page.goto("about:blank")
    page.context.clear_cookies(name=cookies.SESSION)
    page.goto(f"{screens.root}/console/drawers/C1")
    page.wait_for_url("**/console/terminal?**")
    page.wait_for_function(f"() => {KEPT}.length === 0")


def test_chips_are_proposed_and_must_make_the_sum(screens: Screens) -> None:
    page = at_drawer(screens, opened(screens))
    buy(page, "1 600")
    pieces = {value: page.input_value(f'{BUY} [name="pieces.{value}"]') for value in FLOAT}
    assert pieces == {"1000": "1", "500": "1", "100": "1"}
    page.fill(f'{BUY} [name="pieces.500"]', "2")
    assert "too much by 500" in page.inner_text(f"{BUY} [data-words]")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(STATE.format("refused"))
    assert events(screens, "cage.buy_in") == 0


def test_a_count_stays_until_it_is_recorded_and_is_gone_then(screens: Screens) -> None:
    page = at_drawer(screens, opened(screens))
    page.keyboard.press("t")
    page.fill("#job [name=cash]", "77777")
    page.fill("#job [name=foreign]", "0")
    page.reload()
    page.wait_for_selector(STATE.format("live"))
    page.keyboard.press("t")
    page.wait_for_selector("#job [name=cash]")
    assert page.input_value("#job [name=cash]") == "77777"
    assert kept(page) == 1 and "77777" not in page.evaluate("() => JSON.stringify(sessionStorage)")
    page.keyboard.press("Control+Enter")
    assert events(screens, "drawer.counted") == 0
    page.click("#job [data-zero]")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(STATE.format("recorded"))
    page.wait_for_selector('#forms [data-part="closeDrawer"]')
    assert "The count differs" in page.inner_text("#said")
    assert "77777" not in page.content() and "77\u202f777" not in page.content() and kept(page) == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_use_it(screens: Screens, scheme: str) -> None:
    desk = opened(screens)
    page = at_drawer(screens, desk, scheme=scheme)
    assert violations(page) == []
    assert too_small(page, ELSEWHERE) == []
    page.set_viewport_size({"width": 320, "height": 700})
    assert overflows(page) == 0


def test_a_word_is_explained_by_keyboard_and_the_page_stays_usable(screens: Screens) -> None:
    desk = opened(screens)
    screens.kit.dealer().ok("fills", {"drawer": "C1", "pieces": {"100": 2}})
    page = at_drawer(screens, desk)
    button, shown = page.locator(".waits .tip").first, page.locator(".waits [popover]:popover-open")
    assert shown.count() == 0
    for _ in range(20):
        # The first hint of the stream may put new lists in place of the old ones, and what was open there is gone.
        button.focus()
        page.keyboard.press("Enter")
        if shown.count() == 1:
            break
        page.wait_for_timeout(100)
    assert "table's tray" in shown.inner_text()
    assert violations(page) == [] and too_small(page, ELSEWHERE) == [] and overflows(page) <= 0
    page.keyboard.press("Escape")
    assert shown.count() == 0
