"""What players see: their own cards, and nobody else's; receipts that they check themselves."""

import pytest

from tests.casino.console.browser import Browser
from tests.casino.kit import Kit


@pytest.fixture
def house(kit: Kit) -> Kit:
    """A house with a table T1."""
    kit.table()
    return kit


def test_a_device_shows_the_cards_of_its_seat_only(house: Kit) -> None:
    desk = house.seated(stacks=(10_000, 10_000))
    key = desk.ok("seats/1/key")["key"]
    device = Browser.new(house)
    device.open("seat")
    assert device.submit("seat", {"seat_key": key}).headers["Location"] == "/console/seat"
    assert "No hand at your seat now" in device.open("seat").text
    desk.deal()
    desk.act("p1 po 100")
    hand = device.http.get("/api/v1/seat/hand", headers={"Authorization": f"Seat {key}"}).json()
    page = device.open("seat").text
    assert page.count('role="img"') == len(hand["cards"])
    assert len(hand["cards"]) == 2 <= len(hand["openings"])
    assert '<script id="proof" type="application/json">' in page
    assert hand["hand"] in page


def test_a_wrong_key_of_a_seat_is_forgotten(house: Kit) -> None:
    device = Browser.new(house)
    device.open("seat")
    device.submit("seat", {"seat_key": "x" * 43})
    answer = device.open("seat")
    assert answer.status_code == 401 and "Key of the seat" in answer.text
    assert "cukassza_seat" not in device.http.cookies


def test_anybody_opens_the_page_that_checks_a_receipt(house: Kit) -> None:
    digest = "ab" * 32
    answer = Browser.new(house).open(f"verify/{digest}")
    assert answer.status_code == 200 and f'value="{digest}"' in answer.text and "verify.js" in answer.text
