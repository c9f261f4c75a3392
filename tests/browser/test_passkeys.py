"""Passkeys in a real browser, with the virtual authenticator of its developers' tools: registered, signed in with,
approved with, and the page of one's own sign-in."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

from casino.audit.models import Event
from casino.console import cookies
from casino.staff.models import Role, Staff, TerminalKind
from tests.browser.screens import ELSEWHERE, Screens, overflows, too_small, violations

pytestmark = pytest.mark.slow

PASSWORD = "seven-of-acorns-19"
REASON = "November"


@pytest.fixture
def at_localhost(screens: Screens) -> Screens:
    """Passkeys are made for names, not for addresses: the same house under its name."""
    screens.root = screens.root.replace("127.0.0.1", "localhost")
    return screens


def with_authenticator(page: Page, **options: Any) -> tuple[Any, str]:
    """Give the page an authenticator that makes sure who holds it; the session of the tools, and its id."""
    tools = page.context.new_cdp_session(page)
    tools.send("WebAuthn.enable")
    made = tools.send("WebAuthn.addVirtualAuthenticator", {"options": {
        "protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
        "isUserVerified": True, "automaticPresenceSimulation": True, **options,
    }})  # fmt: skip
    return tools, made["authenticatorId"]


def signed_in(screens: Screens, role: Role) -> tuple[Page, str]:
    """A page at which a person with a password of their own has signed in at an enrolled terminal."""
    from casino.staff.services import enrol_terminal, hire
    from tests.casino.kit import ACTOR

    house = screens.kit.house
    login = f"{role}-key@{house.code}"
    hire(house=house, login=login, name="Réka", roles=[role], password=PASSWORD, actor=ACTOR)
    _, key = enrol_terminal(house=house, code=f"key-{role}", kind=TerminalKind.OFFICE, location="", actor=ACTOR)
    page = screens.watched(screens.context().new_page())
    screens.open(page, "terminal")
    page.fill("#terminal", f"key-{role}")
    page.fill("#terminal_key", key)
    page.click("main button")
    sign_in(page, login)
    page.click("main form button.go")
    page.wait_for_selector("text=Réka")
    return page, login


def sign_in(page: Page, login: str) -> None:
    """Type login and password."""
    page.wait_for_selector("#login")
    page.fill("#login", login)
    page.fill("#password", PASSWORD)


def register(screens: Screens, page: Page, name: str) -> None:
    """Register a passkey on the pages of one's own sign-in."""
    screens.open(page, "own")
    page.click("text=Register a passkey")
    page.wait_for_selector("#name")
    assert violations(page) == [] and too_small(page, ELSEWHERE) == []
    page.fill("#name", name)
    page.fill("#password", PASSWORD)
    page.click("button[data-passkey]")
    page.wait_for_selector(f"summary:has-text('{name}')")


def kinds(screens: Screens) -> list[str]:
    """Kinds of the newest events."""
    found = Event.objects.filter(house=screens.kit.house).order_by("-id").values_list("doc", flat=True)
    return [one["kind"] for one in found[:6]]


def test_a_passkey_is_registered_signs_in_approves_and_is_removed(at_localhost: Screens) -> None:
    screens = at_localhost
    asking = screens.kit.office(Role.CAGE_SUPERVISOR)
    number = asking.post("duty", {"amount": 700, "reason": REASON}).json()["approval"]["approval"]
    page, login = signed_in(screens, Role.MANAGER)
    with_authenticator(page)
    register(screens, page, "My telephone")
    assert violations(page) == [] and too_small(page, ELSEWHERE) == []
    page.click("summary:has-text('My telephone')")
    assert violations(page) == [] and too_small(page, ELSEWHERE) == []
    page.click("text=Sign out")
    # The password alone is refused; with the passkey it is taken.
    sign_in(page, login)
    page.click("main form button.go")
    page.wait_for_selector("text=sign_in_refused")
    assert violations(page) == [] and too_small(page, ELSEWHERE) == []
    sign_in(page, login)
    page.click("button[data-passkey]")
    page.wait_for_selector("text=Réka")
    screens.open(page, f"work/approve?approval={number}")
    page.click("button[data-passkey]")
    page.wait_for_selector("[data-said]")
    assert "approval.approved" in kinds(screens)
    [approved] = [
        one for one in Event.objects.filter(house=screens.kit.house).values_list("doc", flat=True)
        if one["kind"] == "approval.approved"
    ]  # fmt: skip
    assert approved["data"]["second_factor"] is True and len(approved["data"]["passkey_sha256"]) == 64
    # A second one, shown the first; then the first goes.
    screens.open(page, "own")
    page.click("summary:has-text('My telephone')")
    page.fill("#password-1", PASSWORD)
    page.click("details[open] button[data-passkey]")
    page.wait_for_selector("text=The passkey is removed.")
    assert Staff.objects.get(login=login).passkey_count == 0


def test_a_terminal_that_was_left_alone_goes_on_with_a_passkey(at_localhost: Screens) -> None:
    screens = at_localhost
    page, login = signed_in(screens, Role.MANAGER)
    with_authenticator(page)
    register(screens, page, "Key ring")
    person = Staff.objects.get(login=login)
    token = person.auth_token_set.get()
    token.last_seen_at = token.created.replace(year=token.created.year - 1)
    token.save(update_fields=["last_seen_at"])
    screens.open(page, "own")
    page.wait_for_selector("text=Are you still there")
    assert violations(page) == [] and too_small(page, ELSEWHERE) == []
    page.fill("#password", PASSWORD)
    page.click("button[data-passkey]")
    page.wait_for_selector("summary:has-text('Key ring')")


def test_who_cannot_be_verified_reads_so_and_nothing_is_sent(at_localhost: Screens) -> None:
    screens = at_localhost
    page, login = signed_in(screens, Role.MANAGER)
    tools, authenticator = with_authenticator(page)
    register(screens, page, "Key ring")
    tools.send("WebAuthn.setUserVerified", {"authenticatorId": authenticator, "isUserVerified": False})
    page.click("text=Sign out")
    sign_in(page, login)
    page.click("button[data-passkey]")
    page.wait_for_selector("text=The passkey was not shown")
    assert cookies.SESSION not in [one["name"] for one in page.context.cookies()]
    assert violations(page) == []


def test_the_same_device_is_not_registered_twice_and_a_wrong_password_not_at_all(at_localhost: Screens) -> None:
    screens = at_localhost
    page, login = signed_in(screens, Role.MANAGER)
    with_authenticator(page)
    screens.open(page, "new-passkey?next=/console/own")
    page.fill("#name", "Key ring")
    page.fill("#password", "not the password")
    page.click("button[data-passkey]")
    page.wait_for_selector("text=Login, password, code or terminal is not right.")
    page.fill("#password", PASSWORD)
    page.click("button[data-passkey]")
    page.wait_for_selector("summary:has-text('Key ring')")
    screens.open(page, "new-passkey?next=/console/own")
    page.fill("#name", "Again")
    page.fill("#password", PASSWORD)
    page.click("button[data-passkey]")
    page.wait_for_selector("text=This device has a passkey of yours already.")
    assert Staff.objects.get(login=login).passkey_count == 1


def test_an_address_that_is_no_name_says_why(screens: Screens) -> None:
    page, _ = signed_in(screens, Role.MANAGER)
    with_authenticator(page)
    screens.open(page, "new-passkey?next=/console/own")
    page.fill("#name", "Key ring")
    page.fill("#password", PASSWORD)
    page.click("button[data-passkey]")
    page.wait_for_selector("text=Passkeys work at the house's own address only")


@pytest.mark.parametrize("language", ["hu", "de"])
def test_the_pages_fit_a_small_phone_in_every_language(at_localhost: Screens, language: str) -> None:
    page = at_localhost.person(Role.MANAGER, width=320, height=640, language=language, scheme="dark")
    for path in ("own", "new-passkey?next=/console/own", "second-factor"):
        at_localhost.open(page, path)
        assert overflows(page) <= 0, path
        assert violations(page) == [], path
