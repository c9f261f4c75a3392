"""Every kind of screen: for everybody who reads it, in light and dark, wide and narrow."""

from __future__ import annotations

import pytest

from casino.staff.models import Role, TerminalKind
from tests.browser.screens import ELSEWHERE, Screens, overflows, too_small, violations
from tests.casino.papers import codes, is_of_proof, printed
from tests.casino.papers import words as words_of

pytestmark = pytest.mark.slow

#: Screens by who opens them.
PAGES: dict[Role, tuple[str, ...]] = {
    Role.ADMIN: (
        "work",
        "work/listTables",
        "work/createTable",
        "work/hireStaff",
        "people",
        "founding",
        "limits",
        "webhooks",
    ),
    Role.COMPLIANCE: ("safeguards",),
    Role.AUDITOR: ("reports", "reports/trial-balance", "audit", "verification", "work/listEvents"),
    Role.MANAGER: ("floor", "work/closeDay", "days", "status"),
    Role.CASHIER: ("work", "work/buyIn", "work/countDrawer", "own"),
    Role.FLOOR: ("floor", "tables/T1", "display/T1"),
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("role", PAGES)
def test_every_screen_can_be_used_by_everybody(screens: Screens, role: Role, scheme: str) -> None:
    screens.kit.table()
    screens.kit.seated(stacks=(20_000, 15_000)).ok("hands", {"mode": "physical"})
    page = screens.person(role, scheme=scheme)
    for path in PAGES[role]:
        screens.open(page, path)
        assert page.locator("h1").count() == 1, path
        assert violations(page) == [], path
        assert too_small(page, ELSEWHERE) == [], path


#: Desks by who opens them, and from which terminal: these are looked at in every language.
DESKS: dict[Role, tuple[TerminalKind, str, str]] = {
    Role.FLOOR: (TerminalKind.OFFICE, "", "floor"),
    Role.DEALER: (TerminalKind.TABLE, "T1", "tables/T1"),
    Role.CASHIER: (TerminalKind.CAGE, "C1", "drawers/C1"),
    Role.COUNT: (TerminalKind.OFFICE, "", "count"),
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("language", ["hu", "de"])
def test_every_desk_can_be_used_in_every_language(screens: Screens, language: str, scheme: str) -> None:
    """Axe, sizes of targets, and the words explained: opened by keyboard and by touch."""
    screens.kit.table()
    screens.kit.seated(stacks=(20_000, 15_000)).ok("hands", {"mode": "physical"})
    for role, (kind, location, path) in DESKS.items():
        page = screens.person(role, kind, location, scheme=scheme, language=language)
        screens.open(page, path)
        assert page.evaluate("() => document.documentElement.lang") == language, path
        assert violations(page) == [], (path, language)
        assert too_small(page, ELSEWHERE) == [], (path, language)
        words = page.locator(".words summary")
        words.focus()
        page.keyboard.press("Enter")
        assert page.locator(".words dl").is_visible(), path
        words.click()
        assert not page.locator(".words dl").is_visible(), path


def test_scripts_speak_the_language_of_the_page(screens: Screens) -> None:
    screens.kit.table()
    page = screens.person(Role.DEALER, TerminalKind.TABLE, "T1", language="hu")
    screens.open(page, "tables/T1")
    page.wait_for_selector('#strip[data-state="live"]')
    assert page.inner_text("#strip b") == "Kész"
    page.click("button[name=language][value=de]")
    page.wait_for_selector('#strip[data-state="live"]')
    assert page.inner_text("#strip b") == "Bereit"


@pytest.mark.parametrize("role", PAGES)
def test_no_screen_is_wider_than_a_small_phone(screens: Screens, role: Role) -> None:
    screens.kit.table()
    page = screens.person(role, width=320, height=640)
    for path in PAGES[role]:
        screens.open(page, path)
        assert overflows(page) <= 0, path


def test_a_terminal_is_enrolled_and_a_person_signs_in_by_keyboard(screens: Screens) -> None:
    from casino.staff.services import enrol_terminal, hire
    from tests.casino.kit import ACTOR

    house = screens.kit.house
    login = f"eszter@{house.code}"
    hire(house=house, login=login, name="Eszter", roles=[Role.CASHIER], password="long enough 1", actor=ACTOR)
    _, key = enrol_terminal(house=house, code="desk-1", kind=TerminalKind.CAGE, location="C1", actor=ACTOR)
    page = screens.watched(screens.context().new_page())
    screens.open(page, "")
    for words in ("desk-1", "Tab", key, "Enter"):
        page.keyboard.press(words) if words in ("Tab", "Enter") else page.keyboard.type(words)
    page.wait_for_selector("#password")
    for words in (login, "Tab", "long enough 1", "Enter"):
        page.keyboard.press(words) if words in ("Tab", "Enter") else page.keyboard.type(words)
    page.wait_for_selector("text=Eszter")
    assert violations(page) == []


def test_the_page_behind_the_code_of_a_paper_checks_it_with_and_without_the_house(screens: Screens) -> None:
    kit = screens.kit
    kit.players("anna")
    cashier = kit.cashier()
    kit.open_drawer(cashier, cash=50_000, pieces={"500": 40, "100": 50})
    receipt = cashier.ok("buy-ins", {"player": "anna", "amount": 3_000})["audit"]
    body = {"chain": receipt["chain"], "seq": receipt["seq"]}
    _, pdf = printed(kit, cashier, "/api/v1/prints/documents", body)
    address, proof = sorted(codes(pdf), reverse=True)
    log = cashier.get("/api/v1/audit/key").text.strip()
    page = screens.watched(screens.context(width=390).new_page())
    page.goto(address.replace("http://localhost", screens.root))
    page.wait_for_selector("#found li:nth-child(4)")
    assert (page.locator("#found .ok").count(), page.locator("#found .warn").count()) == (3, 1)
    assert violations(page) == [] and overflows(page) <= 0
    lines = "\n".join(line for line in words_of(pdf).splitlines() if is_of_proof(line))
    # The house is not asked: what stands on the paper is enough.
    screens.lay(page, "**/api/v1/receipts/**", lambda route: route.abort())
    page.fill("#key", log)
    for given in (proof, lines.lower()):
        page.fill("#printed", given)
        page.click("main button")
        page.wait_for_selector("#found li:nth-child(4)")
        assert page.locator("#found .ok").count() == 4
    page.fill("#printed", lines.replace(lines[4], "Z" if lines[4] != "Z" else "Y", 1))
    page.click("main button")
    page.wait_for_selector("#found .bad")
    assert "Line 1 has a mistake" in page.locator("#found").inner_text()


def test_a_device_proves_its_cards_and_a_receipt_is_checked_without_an_account(screens: Screens) -> None:
    screens.kit.table()
    desk = screens.kit.seated(stacks=(20_000, 15_000))
    key = desk.ok("seats/1/key")["key"]
    desk.deal()
    posted = desk.act("p1 po 100")
    page = screens.watched(screens.context(width=390).new_page())
    screens.open(page, "seat")
    page.fill("#seat_key", key)
    page.click("main button")
    page.wait_for_selector("#proved.ok")
    assert page.locator(".cards .card").count() == 2
    assert violations(page) == []
    screens.kit.sequence()
    log = desk.http.get("/api/v1/audit/key").text.strip()
    screens.open(page, f"verify/{posted['audit']['hash']}")
    page.fill("#key", log)
    page.click("main button")
    page.wait_for_selector("#found li:nth-child(4)")
    assert page.locator("#found .ok").count() == 4
    screens.open(page, f"verify/{'0' * 64}")
    page.wait_for_selector("#found .bad")


def test_the_house_is_installed_as_an_app(screens: Screens) -> None:
    page = screens.watched(screens.context().new_page())
    screens.open(page, "seat")
    session = page.context.new_cdp_session(page)
    found = session.send("Page.getAppManifest")
    assert found["url"].endswith("/console/app.webmanifest") and found["errors"] == []
    assert f"{screens.root}/console/seat" == found["manifest"]["startUrl"]
    lacks = {one["errorId"] for one in session.send("Page.getInstallabilityErrors")["installabilityErrors"]}
    assert lacks <= {"in-incognito"}, "the windows of tests are incognito"


def test_no_password_is_kept_while_its_answer_is_not_known(screens: Screens) -> None:
    page = screens.person(Role.ADMIN)
    screens.open(page, "work/hireStaff")
    screens.lay(page, "**/work/hireStaff", lambda one: one.abort() if one.request.method == "POST" else one.continue_())
    page.fill('input[type="password"]', "seven-of-acorns-19")
    page.evaluate("() => { document.querySelector('form[data-command]').noValidate = true; }")
    page.evaluate("() => document.querySelector('form[data-command]').requestSubmit()")
    page.wait_for_function("() => document.getElementById('strip').textContent.includes('repeating')")
    assert "seven-of-acorns-19" not in page.evaluate("() => JSON.stringify(sessionStorage)")
