"""Signing in at a screen: which terminal it is, who sits at it, and what comes first."""

import pytest

from casino.console import cookies, pages
from casino.staff.models import Role, Staff, Terminal, TerminalKind
from casino.staff.services import enrol_terminal, hire
from tests.casino.console.browser import Browser
from tests.casino.kit import ACTOR, Kit

PASSWORD = "long enough 1"


@pytest.fixture
def person(kit: Kit) -> dict[str, str]:
    """What a cashier types: login and password; and the terminal with its key."""
    login = f"ilona@{kit.house.code}"
    hire(house=kit.house, login=login, name="Ilona", roles=[Role.CASHIER], password=PASSWORD, actor=ACTOR)
    _, key = enrol_terminal(house=kit.house, code="desk-1", kind=TerminalKind.CAGE, location="C1", actor=ACTOR)
    Staff.objects.filter(login=login).update(must_change_password=False)
    return {"login": login, "key": key}


def enrolled(kit: Kit, person: dict[str, str]) -> Browser:
    browser = Browser.new(kit)
    browser.open("terminal")
    answer = browser.submit("terminal", {"terminal": "desk-1", "terminal_key": person["key"]})
    assert answer.status_code == 302 and answer.headers["Location"].startswith("/console/sign-in")
    return browser


def test_a_person_signs_in_works_and_signs_out(kit: Kit, person: dict[str, str]) -> None:
    browser = enrolled(kit, person)
    assert browser.open("work").headers["Location"] == "/console/sign-in?next=%2Fconsole%2Fwork"
    browser.open("sign-in", next="/console/work")
    answer = browser.submit("sign-in", {"login": person["login"], "password": PASSWORD, "next": "/console/work"})
    assert (answer.status_code, answer.headers["Location"]) == (302, "/console/work")
    kept = answer.headers["Set-Cookie"]
    assert "HttpOnly" in kept and "SameSite=Strict" in kept
    assert "Ilona" in browser.open("work").text
    browser.submit("sign-out")
    assert browser.open("work").status_code == 302
    assert not Staff.objects.get(login=person["login"]).auth_token_set.exists()


def test_over_https_cookies_belong_to_this_host_alone(kit: Kit, person: dict[str, str]) -> None:
    browser = Browser.new(kit)
    browser.http.base_url = "https://localhost"
    browser.http.headers["Origin"] = "https://localhost"
    browser.open("terminal")
    browser.submit("terminal", {"terminal": "desk-1", "terminal_key": person["key"]})
    browser.open("sign-in")
    answer = browser.submit("sign-in", {"login": person["login"], "password": PASSWORD, "next": "/console/work"})
    kept = answer.headers["Set-Cookie"].strip()
    assert kept.startswith(f"__Host-{cookies.SESSION}=")
    assert (
        all(f"; {one}" in kept for one in ("Secure", "HttpOnly", "Path=/", "SameSite=Strict")) and "Domain" not in kept
    )
    assert "Ilona" in browser.open("work").text
    # One that another host of the domain, or a page without TLS, has set is none.
    token = browser.http.cookies[f"__Host-{cookies.SESSION}"]
    browser.http.cookies.clear()
    browser.http.cookies.set(cookies.SESSION, token, domain="localhost.local")
    assert browser.open("work").status_code == 302


def test_who_signs_in_at_a_terminal_ends_the_token_before(kit: Kit, person: dict[str, str]) -> None:
    browser = enrolled(kit, person)
    for _ in range(2):
        browser.open("sign-in")
        browser.submit("sign-in", {"login": person["login"], "password": PASSWORD})
    assert Staff.objects.get(login=person["login"]).auth_token_set.count() == 1
    assert "Ilona" in browser.open("work").text


def test_a_wrong_password_is_refused_in_the_words_of_the_house(kit: Kit, person: dict[str, str]) -> None:
    browser = enrolled(kit, person)
    browser.open("sign-in")
    answer = browser.submit("sign-in", {"login": person["login"], "password": "wrong"})
    assert answer.status_code == 403 and "sign_in_refused" in answer.text
    assert cookies.SESSION not in browser.http.cookies


def test_a_person_is_sent_to_pages_of_the_house_only(kit: Kit, person: dict[str, str]) -> None:
    browser = enrolled(kit, person)
    for target in ("https://elsewhere.example/", "//elsewhere.example/console/", "javascript:alert(1)", "/api/v1/docs"):
        browser.open("sign-in", next=target)
        answer = browser.submit("sign-in", {"login": person["login"], "password": PASSWORD, "next": target})
        assert answer.headers["Location"] == "/console/", target


def test_who_has_a_password_of_the_office_first_changes_it(kit: Kit, person: dict[str, str]) -> None:
    Staff.objects.filter(login=person["login"]).update(must_change_password=True)
    browser = enrolled(kit, person)
    browser.open("sign-in")
    browser.submit("sign-in", {"login": person["login"], "password": PASSWORD})
    assert browser.open("work").headers["Location"].startswith("/console/new-password")
    browser.open("new-password", next="/console/work")
    answer = browser.submit("new-password", {"old": PASSWORD, "new": "a better one 22", "next": "/console/work"})
    assert answer.headers["Location"] == "/console/work"
    assert browser.open("work").status_code == 200


def test_a_terminal_that_was_left_alone_asks_for_the_password(kit: Kit, person: dict[str, str]) -> None:
    browser = enrolled(kit, person)
    browser.open("sign-in")
    browser.submit("sign-in", {"login": person["login"], "password": PASSWORD})
    token = Staff.objects.get(login=person["login"]).auth_token_set.get()
    token.last_seen_at = token.created.replace(year=token.created.year - 1)
    token.save(update_fields=["last_seen_at"])
    assert browser.open("work").headers["Location"].startswith("/console/password")
    browser.open("password", next="/console/work")
    assert browser.submit("password", {"password": "wrong"}).status_code == 403
    assert browser.submit("password", {"password": PASSWORD}).status_code == 302
    assert browser.open("work").status_code == 200


def test_a_dealer_sets_a_pin_and_goes_on_by_it(kit: Kit) -> None:
    kit.table("T1")
    login = f"bela@{kit.house.code}"
    hire(house=kit.house, login=login, name="Bela", roles=[Role.DEALER], password=PASSWORD, actor=ACTOR)
    _, key = enrol_terminal(house=kit.house, code="desk-1", kind=TerminalKind.TABLE, location="T1", actor=ACTOR)
    browser = enrolled(kit, {"key": key})
    browser.open("sign-in")
    browser.submit("sign-in", {"login": login, "password": PASSWORD})
    own = browser.open("own").text
    assert "PIN for the tables" in own and "Take the PIN away" not in own
    refused = browser.submit("own", {"change": "pin", "password": PASSWORD, "pin": "1234", "key": "a"})
    assert refused.status_code == 400 and "pin_too_simple" in refused.text
    done = browser.submit("own", {"change": "pin", "password": PASSWORD, "pin": "2580", "key": "b"})
    assert "Your PIN is set." in done.text and "Take the PIN away" in done.text
    Staff.objects.get(login=login).auth_token_set.update(last_seen_at="2020-01-01T00:00:00Z")
    assert 'name="pin"' in browser.open("password", next="/console/work").text
    wrong = browser.submit("password", {"pin": "0258", "next": "/console/work"})
    assert wrong.status_code == 403 and "pin_wrong" in wrong.text
    assert browser.submit("password", {"pin": "2580", "next": "/console/work"}).headers["Location"] == "/console/work"
    browser.open("own")
    gone = browser.submit("own", {"change": "no_pin", "password": PASSWORD, "key": "c"})
    assert "You have no PIN any more." in gone.text
    changed = browser.submit("own", {"change": "password", "old": PASSWORD, "new": "a better one 22", "key": "d"})
    assert "Your password is changed." in changed.text
    assert Staff.objects.get(login=login).check_password("a better one 22")


def test_who_may_have_no_pin_is_not_offered_one(kit: Kit) -> None:
    own = Browser.of(kit, Role.MANAGER).open("own").text
    assert "PIN for the tables" not in own and "Second factor" in own


def test_no_form_of_another_page_is_taken(kit: Kit, person: dict[str, str]) -> None:
    browser = enrolled(kit, person)
    browser.open("sign-in")
    answer = browser.submit("sign-in", {"login": person["login"], "password": PASSWORD}, forged=True)
    assert answer.status_code == 403 and "stale_page" in answer.text


def test_every_page_forbids_what_comes_from_elsewhere(kit: Kit) -> None:
    browser = Browser.of(kit, Role.MANAGER)
    for path in ("work", "work/readHouse", "sign-in", "terminal", "work/nothing"):
        answer = browser.open(path)
        assert answer.headers["Content-Security-Policy"] == pages.POLICY, path
        assert "no-store" in answer.headers["Cache-Control"], path
        assert " style=" not in answer.text and "<style" not in answer.text and "onclick" not in answer.text, path


def test_a_browser_of_a_revoked_terminal_is_signed_out(kit: Kit, person: dict[str, str]) -> None:
    browser = enrolled(kit, person)
    browser.open("sign-in")
    browser.submit("sign-in", {"login": person["login"], "password": PASSWORD})
    Terminal.objects.filter(code="desk-1").update(revoked_at="2020-01-01T00:00:00Z")
    assert browser.open("work").headers["Location"].startswith("/console/sign-in")
