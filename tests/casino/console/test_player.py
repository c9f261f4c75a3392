"""What players see: their own cards, and nobody else's; receipts that they check themselves."""

import pytest

from tests.casino.console.browser import Browser
from tests.casino.devices import events
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
    answer = device.submit("seat", {"seat_key": "x" * 43})
    assert answer.status_code == 401 and "Key of the seat" in answer.text
    assert "cukassza_seat" not in device.http.cookies and "cukassza_device" not in device.http.cookies


def test_a_key_that_is_no_more_good_is_forgotten(house: Kit) -> None:
    desk = house.seated(stacks=(10_000, 10_000))
    device = Browser.new(house)
    device.open("seat")
    device.submit("seat", {"seat_key": desk.ok("seats/1/key")["key"]})
    desk.ok("seats/1/key")
    answer = device.open("seat")
    assert answer.status_code == 401 and "Key of the seat" in answer.text
    assert "cukassza_seat" not in device.http.cookies


def test_a_browser_that_had_two_seats_is_one_device(house: Kit) -> None:
    desk = house.seated(stacks=(10_000, 10_000))
    device, other = Browser.new(house), Browser.new(house)
    for browser, seat in ((device, 1), (device, 2), (other, 2)):
        browser.open("seat")
        kept = browser.submit("seat", {"seat_key": desk.ok(f"seats/{seat}/key")["key"]})
        [cookie] = [one for one in kept.headers.get_list("Set-Cookie") if "cukassza_device" in one]
        assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
    named = [(one["data"]["player"], one["data"]["device"]) for one in events(house, "seat.device_named")]
    (first, mark), (second, same), (third, another) = named
    assert (first, second, third) == ("T1-u1", "T1-u2", "T1-u2")
    assert mark == same != another


def test_anybody_opens_the_page_that_checks_a_receipt(house: Kit) -> None:
    digest = "ab" * 32
    answer = Browser.new(house).open(f"verify/{digest}")
    assert answer.status_code == 200 and f'value="{digest}"' in answer.text and "verify.js" in answer.text
