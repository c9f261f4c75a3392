"""A13 through HTTP: with whom a difference stands, and what its sums by person are compared with."""

from typing import Any

import pytest

from casino.reports.catalogue import a13_variances
from casino.reports.frame import registry
from casino.staff.models import Role, TerminalKind
from tests.casino.days.test_days import FIRST, SECOND, Late, close, opened
from tests.casino.kit import Kit
from tests.casino.reports.test_catalogue import made, rows
from tests.casino.reports.test_catalogue_of_control import broken
from tests.casino.transfers.test_soft_counts import CASH, Boxes
from tests.casino.transfers.test_transfers import FILL, Ends
from tests.casino.transfers.test_tray_counts import HELD, Trays


def test_differences_of_trays_stand_with_the_dealer_who_counted(kit: Kit) -> None:
    trays = Trays(kit)
    for less in (2, 3, 4):
        trays.both(HELD | {"100": HELD["100"] - less})
    found = made(kit, "variances")
    assert found["sections"][0]["totals"]["chips"] == -400
    assert {(row["counted_by"][:6], row["approver"][:5]) for row in rows(found)} == {("dealer", "floor")}
    assert [row["chips"] for row in rows(made(kit, "variances", least="200"))] == [-200]
    [kind] = {row["kind"] for row in rows(found)}
    assert len(rows(made(kit, "variances", kind=kind))) == 3 and rows(made(kit, "variances", kind="other")) == []
    [who] = [row for row in rows(found, 2) if row["sum"]]
    assert who["counted_by"].startswith("dealer") and (who["short_count"], who["sum"]) == (3, -400)
    # Those of the floor that has witnessed them are none.
    assert not [row for row in rows(found, 2) if row["counted_by"].startswith("floor")]
    sources = {row["source"]: row["exceptions"] for row in rows(made(kit, "exceptions"))}
    assert sources["differences_of_one_sign"] == 1


def test_differences_of_boxes_stand_with_both_who_counted_or_with_who_decided(kit: Kit) -> None:
    boxes = Boxes(kit)
    boxes.both(boxes.brought("drop"), CASH - 50, {})
    found = made(kit, "variances")
    [row] = rows(found)
    assert row["cash"] == -50 and row["approver"].startswith("cage_supervisor")
    people = [one for one in rows(found, 2) if one["kind"] == "box.received"]
    assert [one["sum"] for one in people] == [-50, -50]
    assert row["counted_by"] == ", ".join(one["counted_by"] for one in people)
    tax = boxes.brought("tax", "S-2")
    for number in range(3):
        boxes.count(boxes.one, tax, 0, {"100": 1})
        assert boxes.count(boxes.other, tax, number + 1, {"100": 1}).json()["differs"]
    watching = kit.office(Role.SURVEILLANCE).get("session").json()["login"]
    decision = {"cash": 0, "pieces": {"100": 1}, "reason": "seen on video", "observer": watching}
    boxes.supervisor.ok(f"boxes/{tax}/decide", decision)
    kit.office(Role.CAGE_SUPERVISOR).ok(f"boxes/{tax}/receive")
    decided = made(kit, "variances")
    assert [(one["counted_by"][:4], one["sum"]) for one in rows(decided, 2) if one["kind"] == "box.received"] == [
        ("cage", -65), ("coun", -50), ("coun", -50),
    ]  # fmt: skip


def test_a_difference_belongs_to_the_day_for_which_it_was_posted(kit: Kit) -> None:
    office = opened(kit, FIRST)
    boxes = Late(kit)
    boxes.buy_in(700)
    office.ok("days", {"day": SECOND})
    taken = boxes.take("drop-1")
    close(kit, office, FIRST)
    boxes.count(taken["box"], 650)
    [row] = rows(made(kit, "variances", until=FIRST))
    assert (row["day"], row["booked_in"], row["cash"]) == (FIRST, SECOND, -50)
    assert rows(made(kit, "variances", **{"from": SECOND})) == []
    people = rows(made(kit, "variances", until=FIRST), 2)
    assert [one["sum"] for one in people if one["kind"] == "box.received"] == [-50, -50]
    # The result of the day that has it, and of the one that has not, name it beside.
    for days in ({"until": FIRST}, {"from": SECOND}):
        [late] = rows(made(kit, "daily-revenue", **days), len(registry.get("daily-revenue").sections) - 1)
        assert (late["day"], late["booked_in"], late["amount"]) == (FIRST, SECOND, -50), days
    [box] = rows(made(kit, "soft-count", until=FIRST))
    assert (box["day"], box["cash"]) == (FIRST, 650)


def test_a_difference_of_a_fill_stands_with_who_has_accepted_it(kit: Kit) -> None:
    ends = Ends(kit)
    kit.players("anna")
    ends.dealer.ok("open")
    ends.cashier.refresh()
    fill = ends.filled()
    ends.dealer.refresh()
    ends.differ(fill)
    ends.accept(fill, FILL | {"100": FILL["100"] - 1}, TerminalKind.TABLE, "T1")
    [row] = rows(made(kit, "variances"))
    assert (row["place"], row["kind"], row["chips"]) == ("T1", "fill.received", -100)
    [who] = rows(made(kit, "variances"), 2)
    assert (who["counted_by"], who["kind"], who["sum"]) == (row["counted_by"], "fill.received", -100)


def test_a_count_that_stands_with_no_person_is_seen(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    Trays(kit).both(HELD | {"100": HELD["100"] - 2})
    read = a13_variances._read_counts

    def without_trays(scope: Any) -> Any:
        return {event: one for event, one in read(scope).items() if one.kind != "tray.confirmed"}

    monkeypatch.setattr(a13_variances, "_read_counts", without_trays)
    [words] = broken(kit, "variances")
    assert words.startswith("sums by person")
