"""The report of prepared and abandoned deals: counts by day, table and dealer; who abandoned what, and why."""

from typing import Any

import pytest

from casino.audit.models import Event
from casino.hands import preparing
from casino.staff.models import Role
from tests.casino.devices import code, device, events
from tests.casino.kit import Desk, Kit

FIRST, SECOND = "2020-02-28", "2020-02-29"


def report(kit: Kit, **asked: str) -> dict[str, Any]:
    """What an auditor reads."""
    answer = kit.office().http.get("/api/v1/reports/deals", params=asked)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def counts(found: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Day, table, and how many deals were prepared, dealt, abandoned, and are open."""
    names = ("day", "table", "deal_count", "dealt_count", "abandoned_count", "open_count")
    return [tuple(row[name] for name in names) for row in found["deals"]]


def abandon(kit: Kit, desk: Desk, reason: str) -> str:
    """Prepare a deal and have the floor abandon it; its name."""
    name = str(desk.ok("deal")["last_event"]["hand"])
    kit.dealer(role=Role.FLOOR).ok("deal/abandon", {"reason": reason})
    desk.refresh()
    return name


@pytest.fixture
def desk(kit: Kit) -> Desk:
    """A dealer at an open table with four players."""
    kit.table()
    return kit.seated()


def test_a_house_without_deals_has_nothing_to_report(kit: Kit, desk: Desk) -> None:
    assert report(kit) == {
        "most_abandoned": preparing.MOST_ABANDONED,
        "tables": [{"table": "T1", "abandoned_in_a_row": 0}],
        "deals": [],
        "abandoned": [],
    }


def test_deals_are_counted_by_what_became_of_them(kit: Kit, desk: Desk) -> None:
    abandon(kit, desk, "a player fell ill")
    abandon(kit, desk, "the lamp went out")
    assert report(kit)["tables"] == [{"table": "T1", "abandoned_in_a_row": 2}]
    desk.deal()
    kit.dealer(role=Role.FLOOR).ok("hand/void", {"cause": "misdeal", "reason": "only a test"})
    desk.refresh()
    desk.ok("deal")
    found = report(kit)
    assert counts(found) == [(None, "T1", 4, 1, 2, 1)]
    assert found["tables"] == [{"table": "T1", "abandoned_in_a_row": 0}]


def test_an_abandoned_deal_says_by_whom_and_why(kit: Kit, desk: Desk) -> None:
    name = desk.ok("deal")["last_event"]["hand"]
    own = {seat: device(kit, desk, seat) for seat in (1, 2)}
    for seat, one in own.items():
        assert one.commit(name, f"seed-{seat}").is_success
    desk.refresh()
    desk.ok("deal/close")
    assert own[1].reveal(name, "seed-1").is_success
    kit.dealer(role=Role.FLOOR).ok("deal/abandon", {"reason": "seat 2 does not reveal"})
    [committed], [gone] = events(kit, "deal.committed"), events(kit, "deal.abandoned")
    [found] = report(kit)["abandoned"]
    assert found.pop("prepared_at") <= found["abandoned_at"]
    assert found == {
        "hand": "T1-000001",
        "day": None,
        "table": "T1",
        "dealer": committed["actor"],
        "abandoned_by": gone["actor"],
        "abandoned_at": gone["at"],
        "reason": "seat 2 does not reveal",
        "unrevealed": [{"seat": 2, "player": "T1-u2"}],
    }
    assert committed["actor"] != gone["actor"]


def test_each_dealer_has_a_row_and_each_gaming_day(kit: Kit, desk: Desk) -> None:
    office = kit.office(Role.MANAGER)
    before = abandon(kit, desk, "before the first day")
    office.ok("days", {"day": FIRST})
    first = abandon(kit, desk, "on the first day")
    other = kit.dealer()
    other.refresh()
    also = abandon(kit, other, "by another dealer")
    office.ok("days", {"day": SECOND})
    second = abandon(kit, other, "on the second day")
    found = report(kit)
    assert [(row["hand"], row["day"]) for row in found["abandoned"]] == [
        (second, SECOND), (also, FIRST), (first, FIRST), (before, None),
    ]  # fmt: skip
    by_day = [(row["day"], row["dealer"], row["abandoned_count"]) for row in found["deals"]]
    dealers = dict(
        Event.objects.filter(house=kit.house, doc__kind="deal.committed").values_list("doc__data__hand", "doc__actor")
    )
    assert dealers[first] != dealers[also]
    expected = [
        (None, dealers[before], 1),
        (FIRST, dealers[first], 1),
        (FIRST, dealers[also], 1),
        (SECOND, dealers[second], 1),
    ]
    assert sorted(by_day, key=str) == sorted(expected, key=str)
    assert [row["hand"] for row in report(kit, day=FIRST)["abandoned"]] == [also, first]
    # A day that is closed takes no deal any more.
    kit.close_drawer(kit.cashier())
    kit.close_day(office, FIRST)
    kit.close_day(office, SECOND)
    third = abandon(kit, other, "between two days")
    newest = report(kit)["abandoned"][0]
    assert (newest["hand"], newest["day"]) == (third, None)
    assert counts(report(kit, day=SECOND)) == [(SECOND, "T1", 1, 0, 1, 0)]


def test_deals_are_selected_by_table_and_by_when_they_were_prepared(kit: Kit, desk: Desk) -> None:
    abandon(kit, desk, "the first one")
    second = abandon(kit, desk, "the second one")
    kit.table("T2")
    kit.seated("T2").ok("deal")
    assert counts(report(kit)) == [(None, "T1", 2, 0, 2, 0), (None, "T2", 1, 0, 0, 1)]
    only = report(kit, table="T2")
    assert (counts(only), only["abandoned"]) == ([(None, "T2", 1, 0, 0, 1)], [])
    assert [row["table"] for row in only["tables"]] == ["T2"]
    since = report(kit)["abandoned"][0]["prepared_at"]
    assert [row["hand"] for row in report(kit, **{"from": since})["abandoned"]] == [second]
    assert [row["hand"] for row in report(kit, until=since)["abandoned"]] == ["T1-000001"]


def test_what_does_not_exist_is_refused(kit: Kit, desk: Desk) -> None:
    office = kit.office()
    for query, expected in (
        ("day=2020-02-29", (404, "not_found")),
        ("table=T9", (404, "not_found")),
        ("from=yesterday", (400, "invalid_parameter")),
        ("dealer=anna", (400, "invalid_parameter")),
    ):
        assert code(office.get(f"reports/deals?{query}")) == expected, query


def test_a_house_counts_its_own_deals_only(kit: Kit, desk: Desk) -> None:
    abandon(kit, desk, "not of the other house")
    other = Kit.found()
    try:
        other.table()
        other.seated().ok("deal")
        assert counts(report(other)) == [(None, "T1", 1, 0, 0, 1)] and report(other)["abandoned"] == []
    finally:
        other.close()
    assert counts(report(kit)) == [(None, "T1", 1, 0, 1, 0)]
