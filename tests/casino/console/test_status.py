"""Whether everything runs, over the API and on the page for people at work."""

from collections.abc import Iterator
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.utils import timezone

from casino.console.views import status as page
from casino.core import heartbeat
from casino.core.heartbeat import Part as Process
from casino.houses.models import OutboxMessage
from casino.metrics import status
from casino.metrics.status import Condition, Part
from casino.staff.models import Role
from tests.casino.console.browser import Browser
from tests.casino.kit import Kit


@pytest.fixture
def broker(own_valkey: str, settings: Any) -> Iterator[None]:
    """A broker on which all parts have just been heard of."""
    settings.REDIS_URL = own_valkey
    for part in Process:
        heartbeat.live(part)
    yield


def conditions(kit: Kit) -> dict[str, tuple[str, bool]]:
    """How each part is, and whether the answer says since when."""
    found = kit.office(Role.FLOOR).get("house/status").json()["parts"]
    assert [one["part"] for one in found] == Part.values
    return {one["part"]: (one["condition"], one["since"] is not None) for one in found}


@pytest.mark.usefixtures("broker")
def test_every_part_is_in_order(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status.handover, "is_alive", lambda: True)
    kit.sequence()
    assert set(conditions(kit).values()) == {("in_order", False)}


@pytest.mark.usefixtures("broker")
def test_a_part_that_is_silent_says_since_when(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    assert conditions(kit)["worker"] == ("in_order", False)
    monkeypatch.setattr(status, "SILENT", -1)
    for part in ("worker", "beat", "sequencer"):
        assert conditions(kit)[part] == ("silent", True)
    with heartbeat.broker() as client:
        client.flushall()
    assert conditions(kit)["beat"] == ("silent", False), "nobody knows since when"


def test_without_the_broker_nobody_knows(kit: Kit, settings: Any) -> None:
    settings.REDIS_URL = "unix:///nonexistent/valkey.sock"
    found = conditions(kit)
    assert {found[part] for part in ("worker", "beat", "sequencer")} == {("unknown", False)}
    assert found["database"] == ("in_order", False)


@pytest.mark.usefixtures("broker")
def test_a_hand_that_is_not_settled_stands_still_in_its_house_alone(kit: Kit) -> None:
    kit.worked_hand()
    assert conditions(kit)["settlement"] == ("in_order", False), "it has a minute"
    long_ago = timezone.now() - timedelta(seconds=61)
    OutboxMessage.objects.filter(house=kit.house).update(created_at=long_ago)
    assert conditions(kit)["settlement"] == ("stands_still", True)
    other = Kit.found()
    assert conditions(other)["settlement"] == ("in_order", False)
    other.close()
    kit.settle()
    assert conditions(kit)["settlement"] == ("in_order", False)


@pytest.mark.usefixtures("broker")
def test_a_log_that_is_behind_or_refused(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status.audit, "behind", lambda seconds: {kit.house.code: 61.0})
    assert conditions(kit)["log"] == ("behind", True)
    monkeypatch.setattr(status.guard, "refusal", lambda house: object())
    assert conditions(kit)["log"] == ("read_only", False)


@pytest.mark.usefixtures("broker")
def test_the_page_says_it_in_words(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status.handover, "is_alive", lambda: True)
    kit.sequence()
    browser = Browser.of(kit, Role.FLOOR)
    text = unescape(browser.open("status").text)
    assert "Everything runs." in text and "Hands are settled, reports are made." in text
    assert 'href="/console/status"' in unescape(browser.open("floor").text)
    monkeypatch.setattr(status.handover, "is_alive", lambda: False)
    assert "Play goes on; something needs a technician." in unescape(browser.open("status").text)
    with heartbeat.broker() as client:
        client.flushall()
    part = browser.http.get("/console/status", headers={"HX-Request": "true"}).text
    assert "Something stands still." in part and "none is settled" in part and "<html" not in part
    assert part.index("Worker") < part.index("Database"), "what needs somebody comes first"


@pytest.mark.parametrize(("language", "words"), [("hu", "Minden működik."), ("de", "Alles läuft.")])
@pytest.mark.usefixtures("broker")
def test_the_page_speaks_every_language(kit: Kit, monkeypatch: pytest.MonkeyPatch, language: str, words: str) -> None:
    monkeypatch.setattr(status.handover, "is_alive", lambda: True)
    kit.sequence()
    browser = Browser.of(kit, Role.FLOOR)
    browser.http.headers["Accept-Language"] = language
    text = unescape(browser.open("status").text)
    assert words in text
    assert not any(sentence in text for sentence in page.MEANING.values())


def test_every_condition_has_its_words() -> None:
    assert {part for part, _ in page.MEANING} == set(Part)
    assert {condition for _, condition in page.MEANING} == set(Condition) - {Condition.UNKNOWN}


def test_who_is_not_on_the_floor_has_no_such_page(kit: Kit) -> None:
    assert Browser.of(kit, Role.COUNT).open("status").status_code == 403
