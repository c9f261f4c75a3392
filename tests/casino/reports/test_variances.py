"""A13 through HTTP: with whom a difference stands, and what its sums by person are compared with."""

from typing import Any

import pytest

from casino.audit.events.cage import ChipsAttributed
from casino.reports import ended_counts
from casino.reports.frame import registry
from casino.staff.models import Role, TerminalKind
from tests.casino.cage.test_variances import FLOAT, Closed
from tests.casino.days.test_days import FIRST, SECOND, Late, close, opened
from tests.casino.kit import Kit
from tests.casino.reports.test_catalogue import made, rows
from tests.casino.reports.test_catalogue_of_control import REASON, broken, forged
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
    read = ended_counts._read

    def without_trays(scope: Any) -> Any:
        return {event: one for event, one in read(scope).items() if one.kind != "tray.confirmed"}

    monkeypatch.setattr(ended_counts, "_read", without_trays)
    [words] = broken(kit, "variances")
    assert words.startswith("sums by person")


def test_counts_that_were_made_again_and_signed_off(kit: Kit) -> None:
    opened(kit, FIRST)
    cashier = kit.cashier()
    kit.open_drawer(cashier, cash=10_000, pieces=FLOAT)
    # It differs: counted again by a supervisor, and signed off by a manager.
    kit.close_drawer(cashier, cash=9_300, pieces=FLOAT | {"500": 11})
    boxes = Boxes(kit)
    drop = boxes.brought("drop")
    boxes.count(boxes.one, drop, CASH, {})
    assert boxes.count(boxes.other, drop, CASH - 1, {}).json()["differs"]
    boxes.both(drop, CASH, {})
    found = made(kit, "variances")
    trend = {row["place"]: row for row in rows(found, 1)}
    assert {where: (row["counts"], row["recounts"], row["signed_off"]) for where, row in trend.items()} == {
        "C1": (1, 1, 1), "T1": (1, 1, 0),
    }  # fmt: skip
    assert (trend["C1"]["sum"], trend["T1"]["sum"], trend["T1"]["over_count"]) == (-200, 0, 0)
    people = {(row["counted_by"].rstrip("0123456789"), row["kind"]): row for row in rows(found, 2)}
    [drawer] = [row for row in people.values() if row["kind"] == "drawer.closed"]
    assert (drawer["counts"], drawer["recounts"], drawer["signed_off"]) == (1, 1, 1)
    box = [row for row in rows(found, 2) if row["kind"] == "box.received"]
    assert [(row["counts"], row["recounts"], row["signed_off"]) for row in box] == [(1, 1, 0)] * 2
    assert [row["place"] for row in rows(made(kit, "variances", place="T1"), 1)] == ["T1"]
    assert rows(made(kit, "variances", until="2019-12-31"), 1) == []


def test_what_was_explained_later_stands_beside_what_was_found(kit: Kit) -> None:
    opened(kit, FIRST)
    closed = Closed(kit)
    closed.offset(300)
    kit.players("anna")
    cashier = kit.cashier()
    kit.open_drawer(cashier, cash=10_000, pieces=FLOAT)
    cashier.ok("bearer-buy-ins", {"amount": 900})
    office = kit.office(Role.COMPLIANCE)
    booked = {"place": "C1"} | REASON
    office.ok("players/anna/attributions", booked | {"amount": 700, "for_day": FIRST})
    office.ok("players/anna/unattributions", booked | {"amount": 100})
    [trend] = rows(made(kit, "variances"), 1)
    assert (trend["place"], trend["sum"], trend["offset"], trend["attributed"]) == ("C1", -200, 300, 600)
    # Cash stays 400 short and chips 200 over: what is left of 700 and 500.
    totals = made(kit, "variances")["sections"][0]["totals"]
    assert (totals["cash"], totals["chips"]) == (-400, 200)
    [none] = rows(made(kit, "variances", **{"from": "2999-01-01"}), 1) or [None]
    assert none is None
    forged(
        kit, kit.house.chain,
        ChipsAttributed(player="anna", place="C1", amount=40, player_chips=0, reason="forged"),
    )  # fmt: skip
    assert broken(kit, "variances") == ["attributed later by the events = 2015 by it"]
