"""A hand step by step on screens: every line, what each reader may see, what the browser is given to check."""

import json
import re
from html import unescape
from typing import Any

from casino.console import cookies
from casino.staff.models import Role
from tests.casino.console.browser import Browser
from tests.casino.kit import SAMPLE, Kit

HAND = "T1-000001"


def proof(page: str) -> dict[str, Any]:
    """What the page gives to the browser to check."""
    found = re.search(r'<script id="proof" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    given: dict[str, Any] = json.loads(found[1])
    return given


def steps(page: str) -> list[str]:
    """The tables of the steps."""
    return re.findall(r"<template data-step=.*?</template>", page, re.DOTALL)


def test_every_line_of_the_record_is_a_step_with_its_sentence_and_its_money(kit: Kit) -> None:
    kit.worked_hand()
    kit.settle()
    page = Browser.of(kit, Role.AUDITOR).open(f"hands/{HAND}").text
    for line in SAMPLE:
        assert f"<code>{line}</code>" in page
    assert len(steps(page)) == len(SAMPLE) + 1
    assert "p1 lets the deal go on or raises" in unescape(page) and "1 T1-u1 → pot <b>200</b>" in page
    assert "\N{MINUS SIGN}1\N{NARROW NO-BREAK SPACE}500" in page and "Paid by ledger transaction" in page
    given = proof(page)
    assert given["record"]["hand"] == HAND and given["lines"] == list(SAMPLE) and len(given["keys"]) == 0
    kit.sequence()
    assert len(proof(Browser.of(kit, Role.AUDITOR).open(f"hands/{HAND}").text)["keys"]) == 1


def electronic(kit: Kit) -> tuple[str, list[str]]:
    """A hand that the house has dealt, with keys of both seats, in play."""
    kit.table()
    desk = kit.seated(stacks=(20_000, 15_000))
    keys = [desk.ok(f"seats/{seat}/key")["key"] for seat in (1, 2)]
    name = desk.deal()["hand"]
    desk.act("p1 po 100")
    desk.act("p2 f")
    return name, keys


def cards(page: str) -> set[str]:
    """The cards that the seats of any step show, their backs aside."""
    seats = "".join(re.findall(r'<span class="cards">.*?</span>\s*</li>', "".join(steps(page)), re.DOTALL))
    return set(re.findall(r'class="card[^"]*" role="img" aria-label="([^"]+)"', seats)) - {"face down"}


def test_the_floor_sees_no_card_that_the_table_has_not_seen_and_an_auditor_all(kit: Kit) -> None:
    name, _ = electronic(kit)
    kit.settle()
    floor = Browser.of(kit, Role.FLOOR).open(f"hands/{name}").text
    given = proof(floor)
    assert cards(floor) == set() and "record" not in floor.partition('id="proof"')[2][:40]
    assert given["record"] is None and all("payload" not in one for one in given["events"])
    auditor = Browser.of(kit, Role.AUDITOR).open(f"hands/{name}").text
    assert len(cards(auditor)) == 4 and len(proof(auditor)["record"]["seed"]) == 64
    assert Browser.of(kit, Role.DEALER).open(f"hands/{name}").status_code == 403
    assert Browser.of(kit, Role.FLOOR).open("hands/T1-999999").status_code == 404


def test_a_player_replays_own_hands_with_own_cards_only(kit: Kit) -> None:
    name, keys = electronic(kit)
    kit.settle()
    shown = []
    for key in keys:
        device = Browser.new(kit)
        assert device.open("seat/hands").headers["Location"] == "/console/seat"
        device.http.cookies.set(cookies.SEAT, key, domain="localhost.local")
        assert f"/console/seat/hands/{name}" in device.open("seat/hands").text
        page = device.open(f"seat/hands/{name}").text
        shown.append(cards(page))
        assert proof(page)["record"] is None and "/ruling" not in page
        assert device.open("seat/hands/T1-999999").status_code == 404
    assert [len(one) for one in shown] == [2, 2] and not shown[0] & shown[1]


def test_search_floor_table_and_dispute_lead_to_the_replay(kit: Kit) -> None:
    kit.worked_hand()
    desk = kit.dealer(role=Role.FLOOR)
    link = f'href="/console/hands/{HAND}"'
    assert link in Browser.of(kit, Role.FLOOR).open("tables/T1").text
    desk.ok("hand/dispute", {"hand": HAND, "reason": "p4 says 400"})
    for path in ("floor", "tables/T1", f"hands/{HAND}/ruling"):
        assert link in Browser.of(kit, Role.FLOOR).open(path).text, path
    assert link in Browser.of(kit, Role.AUDITOR).open("audit", chain="table/T1").text
    assert link not in Browser.of(kit, Role.DEALER).open("tables/T1").text
