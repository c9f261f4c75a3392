"""Screens in every language: chosen, kept, said; what is recorded stays in English."""

import json
from html import unescape

import pytest

from casino.audit.models import Event
from casino.console import cookies, operations, said
from casino.console.money import Money
from casino.console.show import cell
from casino.console.templatetags.console import card
from casino.core import languages
from casino.core.error_codes import ERROR_CODES
from casino.staff.models import Role, TerminalKind
from tests.casino.console.browser import Browser
from tests.casino.kit import Kit


def speaking(browser: Browser, language: str) -> Browser:
    """A browser whose person has chosen a language."""
    browser.open("work")
    answer = browser.submit("language", {"language": language, "next": "/console/work"})
    assert (answer.status_code, answer.headers["Location"]) == (302, "/console/work")
    return browser


def test_a_language_is_chosen_and_kept(kit: Kit) -> None:
    browser = Browser.of(kit, Role.AUDITOR)
    assert '<html lang="en"' in browser.open("reports").text
    for language, words in (("hu", "Jelentések"), ("de", "Berichte"), ("en", "Reports")):
        speaking(browser, language)
        page = unescape(browser.open("reports").text)
        assert f'<html lang="{language}"' in page and f"<h1>{words}</h1>" in page
        assert browser.open("reports").headers["Content-Language"] == language
    browser.submit("language", {"language": "xx"})
    assert '<html lang="en"' in browser.open("reports").text
    kept = browser.http.cookies.get(cookies.LANGUAGE, domain="localhost.local")
    assert kept == "en"


def test_without_a_choice_a_browser_is_heard(kit: Kit) -> None:
    browser = Browser.new(kit)
    for preferred, language in (("de-AT,de;q=0.9,en;q=0.5", "de"), ("hu", "hu"), ("fr", "en")):
        page = browser.http.get("/console/verify", headers={"Accept-Language": preferred}).text
        assert f'<html lang="{language}"' in page, preferred


@pytest.mark.parametrize("language", ["hu", "de"])
def test_a_refusal_is_said_in_the_language_and_recorded_in_english(kit: Kit, language: str) -> None:
    browser = speaking(Browser.of(kit, Role.CASHIER, TerminalKind.CAGE, "C1"), language)
    browser.open("work/buyIn")
    page = unescape(browser.submit("work/buyIn", {"drawer": "C1", "amount": "10", "player": "nobody"}).text)
    assert '<details class="s"><summary>' in page
    kept = Event.objects.filter(house=kit.house, doc__kind="attempt.refused").order_by("-id")[0]
    code = kept.doc["data"]["code"]
    with languages.speaking(language):
        words = said.refusal({"code": code, "detail": "x"})
    assert words != ERROR_CODES[code].meaning and f"<b>{words}</b>" in page
    assert f"<code>{code}</code>" in page


def test_a_script_hears_a_refusal_in_the_language(kit: Kit) -> None:
    kit.table()
    browser = speaking(Browser.of(kit, Role.DEALER, TerminalKind.TABLE, "T1"), "de")
    token = browser.page.split('name="csrf" content="')[1].split('"')[0]
    headers = {"X-CSRFToken": token, "Content-Type": "application/json", "Idempotency-Key": "k1", "If-Match": '"999"'}
    answer = browser.http.post("/console/do/tables/T1/open", content=b"{}", headers=headers)
    assert answer.json()["code"] == "version_conflict"
    assert answer.json()["detail"] == "Inzwischen geändert: Das ist nicht mehr die gesehene Version."


def test_the_words_of_scripts_stand_in_a_block_of_data(kit: Kit) -> None:
    browser = Browser.of(kit, Role.AUDITOR)
    assert 'id="words"' not in browser.open("work").text
    page = speaking(browser, "hu").open("work").text
    block = page.split('<script id="words" type="application/json">')[1].split("</script>")[0]
    assert json.loads(block)["Recorded"] == "Rögzítve"


def test_a_table_explains_the_words_of_its_game(kit: Kit) -> None:
    kit.table()
    browser = speaking(Browser.of(kit, Role.DEALER, TerminalKind.TABLE, "T1"), "de")
    page = unescape(browser.open("tables/T1").text)
    assert "<summary" in page and "Was die Wörter bedeuten" in page
    assert "stehender Topf" in page and "ein Topf, den niemand gewonnen hat" in page
    assert "cukassza" in page
    assert "{'" not in page


def test_amounts_times_and_cards_are_written_as_in_the_language() -> None:
    money = Money("EUR", 2, "Europe/Vienna")
    written = {}
    for language in languages.NAMES:
        with languages.speaking(language):
            written[language] = (money.shown(123456), money.typable(123456), money.moment("2026-11-27T20:05:09Z"))
            assert money.typed(money.typable(123456)) == money.typed(money.shown(123456)) == 123456
    assert written["en"] == ("1\u202f234.56", "1234.56", "2026-11-27 21:05:09")
    assert written["hu"] == ("1\u202f234,56", "1234,56", "2026. 11. 27. 21:05:09")
    assert written["de"] == ("1\u202f234,56", "1234,56", "27.11.2026, 21:05:09")
    named = {}
    for language in languages.NAMES:
        with languages.speaking(language):
            named[language] = card("Kl").split('aria-label="')[1].split('"')[0]
    assert named == {"en": "K leaves", "hu": "zöld király", "de": "Laub-König"}


def test_what_people_type_is_not_translated() -> None:
    with languages.speaking("hu"):
        assert said.code("open") == "nyitva"
        assert said.label("opened_by") == "Megnyitotta"
        money = Money("HUF", 0)
        assert cell("player", "open", money) == "open" and cell("state", "open", money) == "nyitva"


@pytest.mark.parametrize("language", ["hu", "de"])
@pytest.mark.parametrize("role", [Role.CAGE_SUPERVISOR, Role.FLOOR])
def test_every_page_of_a_role_opens_in_every_language(kit: Kit, role: Role, language: str) -> None:
    browser = speaking(Browser.of(kit, role), language)
    listed = unescape(browser.open("work").text)
    with languages.speaking(language):
        for one in operations.of([role]):
            assert one.summary in listed and one.summary != one.english, one.id
    for one in operations.of([role])[::5]:
        answer = browser.open(f"work/{one.id}")
        assert answer.status_code < 500 and f'<html lang="{language}"' in answer.text, one.id
