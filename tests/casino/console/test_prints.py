"""Paper at the screens: printed after a buy-in, of a Z slip and at a player's seat, and opened."""

from __future__ import annotations

import re

from casino.console import cookies
from casino.staff.models import Role, TerminalKind
from tests.casino.console.browser import Browser
from tests.casino.kit import Kit
from tests.casino.papers import codes, words


def _field(page: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]+)"', page)
    assert found is not None, name
    return found[1]


def test_a_cashier_prints_the_receipt_after_a_buy_in_and_opens_it(kit: Kit) -> None:
    kit.players("anna")
    kit.open_drawer(kit.cashier(), cash=50_000, pieces={"500": 40, "100": 50})
    opened_by = next(iter(kit.cashiers.values()))[1]
    screen = Browser.new(kit)
    screen.http.cookies.set(cookies.SESSION, opened_by, domain="localhost.local")
    screen.open("drawers/C1/jobs/buyIn")
    fields = {"drawer": "C1", "player": "anna", "amount": "3000", "pieces.500": "6", "version": _version(screen)}
    page = screen.submit("drawers/C1/jobs/buyIn", fields).text
    assert "data-prints" in page
    body = {"chain": _field(page, "chain"), "seq": _field(page, "seq"), "form": "slip"}
    printed = screen.submit("prints", body)
    assert printed.status_code == 302 and printed.headers["Location"] == "/console/prints/1"
    assert 'id="paper" href="/console/prints/1/file"' in screen.open("prints/1").text
    assert "not in the log yet" in screen.open("prints/1/file").text
    kit.sequence()
    paper = screen.open("prints/1/file")
    assert paper.headers["Content-Type"] == "application/pdf" and "Buy-in" in words(paper.content)
    screen.open("drawers/C1/jobs/buyIn")
    assert screen.submit("prints", body | {"seq": "9999"}).status_code == 404


def _version(screen: Browser) -> str:
    found = re.search(r'name="version" value="(\d+)"', screen.page)
    return found[1] if found else ""


def test_a_z_slip_is_printed_as_a_counted_copy(kit: Kit) -> None:
    cashier = kit.cashier()
    kit.open_drawer(cashier, cash=50_000, pieces={"500": 40, "100": 50})
    kit.close_drawer(cashier)
    screen = Browser.of(kit, Role.CAGE_SUPERVISOR, TerminalKind.CAGE, "C1")
    page = screen.open("drawers/C1/shifts/1/z").text
    body = {"chain": _field(page, "chain"), "seq": _field(page, "seq")}
    for copy, form in enumerate(("slip", "a4"), 1):
        assert screen.submit("prints", body | {"form": form}).headers["Location"] == f"/console/prints/{copy}"
        screen.open("drawers/C1/shifts/1/z")
    kit.sequence()
    text = words(screen.open("prints/2/file").content)
    assert "Z slip" in text and "COPY 2" in text


def test_a_player_prints_the_own_hand_and_statement_at_the_seat(kit: Kit) -> None:
    dealer = kit.worked_hand()
    key = dealer.ok("seats/1/key")["key"]
    assert kit.settle() == ["settled"]
    dealer.refresh()
    seat = Browser.new(kit)
    seat.open("seat")
    seat.submit("seat", {"seat_key": key})
    seat.open("seat")
    assert "My statement" in seat.page
    made = seat.submit("seat/prints", {"hand": "T1-000001", "form": "slip"})
    assert made.status_code == 200 and "/console/seat/prints/1/file" in made.text
    kit.sequence()
    paper = seat.open("seat/prints/1/file")
    assert len(codes(paper.content)) == 2 and "T1-000001" in words(paper.content)
    seat.open("seat")
    refused = seat.submit("seat/prints", {"hand": "T1-000009", "form": "slip"})
    assert refused.status_code == 404 and "that is over" in refused.text
    stranger = Browser.new(kit)
    stranger.open("seat")
    assert stranger.open("seat/prints/1/file").headers["Location"] == "/console/seat"
