"""A dispute on screens, from the frozen table to the decision and to what is ruled later."""

import re
from typing import Any

import pytest

from casino.audit.models import Event
from casino.hands.models import Hand, LaterRuling
from casino.staff.models import Role, TerminalKind
from tests.casino.console.browser import Browser
from tests.casino.kit import Kit

HAND = "T1-000001"
PAGE = f"hands/{HAND}/ruling"
CLAIM = "20 p4 rb 400\n21 p1 cc 400"
TAKEN = {"award.p1": "2775", "award.p4": "400", "tax": "125"}


@pytest.fixture
def disputed(kit: Kit) -> Kit:
    """A house whose worked hand the floor has disputed."""
    kit.worked_hand()
    kit.dealer(role=Role.FLOOR).ok("hand/dispute", {"hand": HAND, "reason": "p4 says the last bet was 400"})
    return kit


def at_table(kit: Kit, role: Role = Role.FLOOR) -> Browser:
    """Somebody of the floor at a terminal of the table, where decisions on its hands are sent from."""
    return Browser.of(kit, role, TerminalKind.TABLE, "T1")


def decide(browser: Browser, decision: str, **fields: str) -> Any:
    """Send a decision of the page that is open."""
    version = re.search(r'name="version" value="(\d+)"', browser.page)
    hidden = {"decision": decision, "table": "T1", "version": version[1] if version else ""}
    return browser.submit(PAGE, hidden | fields)


def number(page: str) -> str:
    """The number of the approval that was asked for."""
    found = re.search(r"Approval (\d+)", page)
    assert found is not None
    return found[1]


def test_both_readings_stand_side_by_side_with_what_each_seat_gets(disputed: Kit) -> None:
    page = at_table(disputed).open(PAGE, claimed=CLAIM).text
    for text in (
        "p4 rb 800",
        "p4 rb 400",
        "3\N{NARROW NO-BREAK SPACE}300",
        'data-claimed="2775"',
        'data-recorded="3135"',
    ):
        assert text in page, text
    assert page.count('class="differs"') >= 2 and "A manager approves this" in page
    assert "not reached" in Browser.of(disputed, Role.FLOOR).open(PAGE, claimed="21 p1 f").text
    wrong = Browser.of(disputed, Role.FLOOR).open(PAGE, claimed="21 nonsense").text
    assert "malformed_action" in wrong and "p4 rb 800" in wrong


def test_a_ruling_is_asked_for_approved_and_carried_out_on_one_page(disputed: Kit) -> None:
    floor, manager = at_table(disputed), at_table(disputed, Role.MANAGER)
    floor.open(PAGE, claimed=CLAIM)
    asked = decide(floor, "rule", claimed=CLAIM, reason="the camera shows 400", **TAKEN)
    assert asked.status_code == 409 and "Another person must decide" in asked.text
    approval = number(asked.text)
    seen = manager.open(PAGE).text
    assert "the camera shows 400" in seen and "2\N{NARROW NO-BREAK SPACE}775" in seen and 'value="approve"' in seen
    assert 'value="rule"' not in seen, "a manager approves and does not ask"
    assert "Recorded" in decide(manager, "approve", number=approval).text
    assert 'value="again"' in floor.open(PAGE).text
    done = decide(floor, "again", number=approval)
    assert "Recorded" in done.text and "Rule later" in done.text
    hand = Hand.objects.get(house=disputed.house)
    assert (hand.state, hand.ruling["awards"], hand.ruling["tax"]) == ("ruled", {"p1": 2_775, "p4": 400}, 125)
    assert [one["line"] for one in hand.ruling["readings"]["claimed"]["lines"]] == [20, 21]


def test_a_division_that_is_not_the_whole_pot_is_refused_and_what_was_typed_stays(disputed: Kit) -> None:
    floor = at_table(disputed)
    floor.open(PAGE)
    refused = decide(floor, "rule", reason="half", **(TAKEN | {"award.p4": "399"}))
    assert refused.status_code == 422 and "awards_do_not_add_up" in refused.text
    assert 'value="399"' in refused.text and 'value="half"' in refused.text
    unreadable = decide(floor, "rule", reason="half", **(TAKEN | {"tax": "much"}))
    assert unreadable.status_code == 400 and "This is an amount" in unreadable.text
    assert Hand.objects.get(house=disputed.house).state == "disputed"


def test_a_request_that_is_refused_is_gone_and_a_dispute_is_withdrawn(disputed: Kit) -> None:
    floor, manager = at_table(disputed), at_table(disputed, Role.MANAGER)
    floor.open(PAGE)
    approval = number(decide(floor, "void", cause="ruled", reason="nobody can say").text)
    assert "voidHand" in manager.open(PAGE).text
    assert "Recorded" in decide(manager, "refuse", number=approval, reason="ask the camera").text
    assert "voidHand" not in manager.open(PAGE).text
    assert "Recorded" in decide(manager, "withdraw", reason="p4 has taken that back").text
    assert Hand.objects.get(house=disputed.house).state == "ended"


def test_a_settled_hand_is_ruled_on_later(kit: Kit) -> None:
    kit.worked_hand()
    kit.settle()
    floor, manager = at_table(kit), Browser.of(kit, Role.MANAGER)
    page = floor.open(PAGE, claimed=CLAIM).text
    assert 'value="later"' in page and 'value="rule"' not in page and "\N{MINUS SIGN}360" in page
    fields = {
        "tax_refunded.p1": "40", "made_good.p4": "100", "collected.0.loser": "p1", "collected.0.winner": "p4",
        "collected.0.amount": "300", "collected.0.consent": "signed slip 17", "reason": "the camera shows 400",
    }  # fmt: skip
    approval = number(decide(floor, "later", claimed=CLAIM, **fields).text)
    assert "signed slip 17" in manager.open(PAGE).text
    decide(manager, "approve", number=approval)
    floor.open(PAGE)
    assert "Later ruling 1" in decide(floor, "again", number=approval).text
    row = LaterRuling.objects.get(house=kit.house)
    assert (row.tax_refunded, row.made_good, row.collected[0]["amount"]) == ({"p1": 40}, {"p4": 100}, 300)


def test_a_hand_in_play_is_disputed_here_and_shows_no_reading(kit: Kit) -> None:
    kit.table()
    kit.seated().ok("hands", {"mode": "physical"})
    floor = at_table(kit)
    page = floor.open(PAGE).text
    assert 'value="dispute"' in page and "Both readings" not in page
    done = decide(floor, "dispute", reason="the deal was stopped")
    assert "Recorded" in done.text and 'value="void"' in done.text


def test_an_approval_of_another_hand_is_not_carried_out_here(disputed: Kit) -> None:
    other = disputed.dealer(role=Role.FLOOR)
    approval = other.post("hand/void", {"cause": "ruled", "reason": "x y z"}).json()["approval"]["approval"]
    floor = at_table(disputed)
    floor.open(PAGE)
    sent = floor.submit("hands/T1-000002/ruling", {"decision": "again", "table": "T1", "number": str(approval)})
    assert sent.status_code in (400, 404) and Hand.objects.get(house=disputed.house).state == "disputed"


def test_a_terminal_elsewhere_shows_the_readings_and_says_where_to_decide(disputed: Kit) -> None:
    page = Browser.of(disputed, Role.FLOOR).open(PAGE).text
    assert "from a terminal at table T1" in page and 'value="rule"' not in page and "p4 rb 800" in page


def test_who_may_not_rule_decides_nothing(disputed: Kit) -> None:
    for role in (Role.AUDITOR, Role.SURVEILLANCE):
        browser = Browser.of(disputed, role)
        assert "nothing that you may decide" in browser.open(PAGE).text
        assert decide(browser, "rule", reason="mine", **TAKEN).status_code == 400
    assert Browser.of(disputed, Role.DEALER).open(PAGE).status_code == 403


def test_a_frozen_table_says_so_and_offers_nothing(disputed: Kit) -> None:
    dealer = Browser.of(disputed, Role.DEALER).open("tables/T1").text
    assert "The table is frozen" in dealer and "data-act" not in dealer and f"/console/{PAGE}" not in dealer
    floor = Browser.of(disputed, Role.FLOOR).open("tables/T1").text
    assert f'href="/console/{PAGE}"' in floor
    tables = Browser.of(disputed, Role.FLOOR)
    tables.open("floor")
    before = Event.objects.filter(house=disputed.house).count()
    part = tables.http.get("/console/floor", headers={"HX-Request": "true", "X-Unattended": "1"})
    assert "Frozen table" in part.text and Event.objects.filter(house=disputed.house).count() == before
