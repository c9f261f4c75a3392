"""Every report of the catalogue over a whole evening: each is made in all its formats, and what must be equal is."""

import json
from dataclasses import replace
from typing import Any

import pytest

from casino.audit.models import Event
from casino.bookkeeping.postings import posting
from casino.hands import deals
from casino.reports.frame import as_of, registry
from casino.reports.frame.columns import Sums
from casino.reports.frame.report import Scope
from casino.staff.models import Role
from tests.casino.examples import Drawn, Recording, play
from tests.casino.kit import CASH, Kit, book
from tests.casino.reports.test_runs import asked, downloaded


def made(kit: Kit, report: str, **filters: str) -> dict[str, Any]:
    """The JSON of a report that is made now; every equality of it holds."""
    office = kit.office(Role.AUDITOR)
    run = asked(office, report, formats=["json"], filters=filters)
    assert kit.make_reports() == ["made"]
    run = office.get(f"report-runs/{run['run']}").json()
    assert [one for one in run["equalities"] if not one["holds"]] == [], report
    found: dict[str, Any] = json.loads(downloaded(office, run)[f"{report}.json"])
    return found


def rows(report: dict[str, Any], section: int = 0) -> list[dict[str, Any]]:
    """Rows of a section by the names of its columns."""
    found = report["sections"][section]
    names = [column["name"] for column in found["columns"]]
    return [dict(zip(names, row, strict=True)) for row in found["rows"]]


@pytest.mark.slow
def test_every_report_of_an_evening_is_made_and_all_that_must_be_equal_is(
    live_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deals, "secrets", Drawn)
    kit = Recording.found(bare=True)
    assert isinstance(kit, Recording)
    try:
        play(kit)
        kit.make_reports()
        # A kit that does not check files against the schema, which describes them as bytes.
        office = replace(Kit(kit.house), _numbers=kit._numbers).office(Role.AUDITOR)
        for report in registry.reports().values():
            plain = asked(office, report.id, formats=list(map(str, report.formats)))
            days = {"from": "2020-02-28", "until": "2020-02-28"}
            filtered = {one.name for one in report.filters} >= days.keys()
            narrow = asked(office, report.id, formats=["json"], filters=days if filtered else {})
            assert kit.make_reports() == ["made", "made"]
            for run in (plain, narrow):
                found = office.get(f"report-runs/{run['run']}").json()
                assert found["equalities"] and [one for one in found["equalities"] if not one["holds"]] == []
                assert downloaded(office, found)
                if report.id == "soft-count":
                    boxes = rows(json.loads(downloaded(office, found)["soft-count.json"]))
                    assert [(box["kind"], box["counted"], box["expected"], box["difference"]) for box in boxes] == [
                        ("drop", 400, 500, -100),
                        ("tax", 5, 0, 5),
                        ("tip", 150, 100, 50),
                    ]
                if report.id == "tronc":
                    [share] = rows(json.loads(downloaded(office, found)["tronc.json"]), 1)
                    assert (share["amount"], share["paid"], share["unpaid"]) == (150, 150, 0)
    finally:
        kit.close()


def test_a_day_range_is_from_the_first_to_the_last_day(kit: Kit) -> None:
    kit.office(Role.MANAGER).ok("days", {"day": "2024-05-01"})
    office = kit.office(Role.AUDITOR)
    for filters in ({"from": "2024-05-02"}, {"until": "no day"}, {"person": "no login!"}, {"place": "../C1"}):
        refused = office.post("reports/variances/runs", {"formats": ["json"], "filters": filters})
        assert (refused.status_code, refused.json()["code"]) == (422, "report_filter"), filters


def test_books_of_drawers_and_counts_with_known_numbers(kit: Kit) -> None:
    manager = kit.office(Role.MANAGER)
    manager.ok("days", {"day": "2024-05-01"})
    kit.players("anna", "bela")
    cashier = kit.cashier()
    kit.open_drawer(cashier, cash=50_000, chips=50_000)
    cashier.ok("buy-ins", {"player": "anna", "amount": 3_000})
    cashier.ok("buy-ins", {"player": "bela", "amount": 2_000})
    cashier.ok("cash-outs", {"player": "anna", "amount": 1_000})
    history = rows(made(kit, "drawer-history", drawer="C1"))
    assert [(row["kind"], row["player"], row["cash"], row["chips"]) for row in history] == [
        ("drawer.opened", "", 50_000, 50_000),
        ("cage.buy_in", "anna", 3_000, -3_000),
        ("cage.buy_in", "bela", 2_000, -2_000),
        ("cage.cash_out", "anna", -1_000, 1_000),
    ]
    assert (history[-1]["running_cash"], history[-1]["running_chips"]) == (54_000, 46_000)
    assert rows(made(kit, "drawer-history", drawer="C2")) == []
    kit.close_drawer(cashier, cash=53_990)
    [short] = rows(made(kit, "variances"))
    assert (short["place"], short["kind"], short["cash"], short["chips"]) == ("C1", "drawer.closed", -10, 0)
    assert short["day"] == short["booked_in"] == "2024-05-01"
    [trend] = rows(made(kit, "variances", place="C1"), 1)
    assert (trend["short_count"], trend["sum"], trend["largest"], trend["run"]) == (1, -10, -10, 1)
    [revenue] = rows(made(kit, "daily-revenue"))
    assert (revenue["place"], revenue["cash_variance"], revenue["result"]) == ("C1", -10, -10)
    summary = made(kit, "cage-summary", **{"from": "2024-05-01"})
    places = {(row["number"], row["place"]): row for row in rows(summary)}
    vault, drawer = places["1010", ""], places["1020", "C1"]
    assert (vault["opening"], vault["came"], vault["went"]) == (100_000_000, 53_990, 50_000)
    assert (drawer["opening"], drawer["came"], drawer["went"], drawer["closing"]) == (0, 55_000, 55_000, 0)


def test_an_entry_that_no_event_has_is_seen(kit: Kit) -> None:
    """The rows come from the ledger and are compared with the events: one entry less there is a difference."""
    kit.players("anna", chips=500)
    before = made(kit, "drawer-history")
    moment = as_of.now(kit.house)
    scope = Scope(kit.house, replace(moment, event=_event_before_the_sale(kit)), {})
    assert before["sections"][0]["totals"]["cash"] == CASH + 500
    results = {}
    for section in registry.get("drawer-history").sections:
        results[section.name] = sums = Sums(section.columns)
        sums.totals["cash"] = CASH + 500
    differ = [one for one in registry.get("drawer-history").equalities(scope, results) if not one.holds]
    assert any(one.one == CASH + 500 and one.other == CASH for one in differ)


def _event_before_the_sale(kit: Kit) -> int:
    sold = Event.objects.filter(house=kit.house, doc__kind="cage.buy_in").order_by("id").values_list("id", flat=True)
    return int(sold[0]) - 1


def test_fills_and_waiting_money_with_known_numbers(kit: Kit) -> None:
    kit.table()
    desk = kit.seated()
    desk.ok("transfers", {"kind": "fill", "drawer": "C1", "pieces": {"500": 1}})
    kit.cashier().ok("transfers", {"kind": "fill", "table": "T1", "pieces": {"500": 2}})
    found = made(kit, "transfers")
    assert [(row["serial"], row["state"], row["sent"], row["sent_worth"], row["received"]) for row in rows(found)] == [
        (1, "requested", 0, 0, 0),
        (2, "sent", 2, 1_000, 0),
    ]
    assert len(rows(made(kit, "transfers", state="sent", table="T1"))) == 1
    assert rows(made(kit, "transfers", kind="credit")) == []
    places = {"table": "T1", "player": "T1-u1"}
    book(kit.house, "waits", posting("stake", places, amount=300), posting("carried_out", places, amount=300))
    [pot] = rows(made(kit, "carried-pots"))
    assert (pot["table"], pot["kind"], pot["amount"], pot["days"], pot["hands"]) == ("T1", "cukassza", 300, 0, 0)
    book(kit.house, "reopens", posting("carried_in", places, amount=300))
    assert rows(made(kit, "carried-pots")) == []
