"""Every report of the catalogue over a whole evening: each is made in all its formats, and what must be equal is."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from casino.audit.models import Event
from casino.bookkeeping.postings import posting
from casino.reports import table_time
from casino.reports.catalogue import a08_chips
from casino.reports.catalogue.a05_daily_revenue import compared
from casino.reports.frame import as_of, registry
from casino.reports.frame.columns import Sums
from casino.reports.frame.filters import DayRange
from casino.reports.frame.reading import Held, balances
from casino.reports.frame.report import Scope
from casino.staff.models import Role
from tests.casino.days.test_days import opened
from tests.casino.examples import Recording
from tests.casino.kit import CASH, Kit, book
from tests.casino.reports.test_runs import asked, downloaded
from tests.casino.transfers.test_transfers import FILL, WORTH
from tests.casino.transfers.test_tray_counts import Trays
from tests.casino.transfers.test_tronc import Tips

#: What reports are asked for that need a filter.
NEEDED = {"player": "T1-u1"}
#: What does not hold of the evening, and must not.
BROKEN = {"certificate": ["findings = none"]}


def reader(report: str) -> Role:
    """Who reads a report: the auditor, where that one may."""
    roles = registry.get(report).roles
    return Role.AUDITOR if Role.AUDITOR in roles else roles[0]


def made(kit: Kit, report: str, by: Role | None = None, /, **filters: str) -> dict[str, Any]:
    """The JSON of a report that is made now; every equality of it holds. `by` reads it, else who usually does."""
    office = kit.office(by or reader(report))
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
def test_every_report_of_an_evening_is_made_and_all_that_must_be_equal_is(whole_evening: Recording) -> None:
    kit = whole_evening
    kit.make_reports()
    # A kit that does not check files against the schema, which describes them as bytes.
    plain_kit = replace(Kit(kit.house), _numbers=kit._numbers)
    offices = {role: plain_kit.office(role) for role in sorted({reader(name) for name in registry.reports()})}
    for report in registry.reports().values():
        office = offices[reader(report.id)]
        needed = {one.name: NEEDED[one.name] for one in report.filters if one.required}
        plain = asked(office, report.id, formats=list(map(str, report.formats)), filters=needed)
        days = {"from": "2020-02-28", "until": "2020-02-28"}
        filtered = {one.name for one in report.filters} >= days.keys()
        narrow = asked(office, report.id, formats=["json"], filters=needed | (days if filtered else {}))
        assert kit.make_reports() == ["made", "made"]
        for run in (plain, narrow):
            found = office.get(f"report-runs/{run['run']}").json()
            differ = [one["equality"] for one in found["equalities"] if not one["holds"]]
            # A hand of the evening is disputed though its replay agrees: the certificate must say so.
            assert found["equalities"] and differ == BROKEN.get(report.id, []), report.id
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


def test_a_day_range_is_from_the_first_to_the_last_day(kit: Kit) -> None:
    kit.office(Role.MANAGER).ok("days", {"day": "2024-05-01"})
    office = kit.office(Role.AUDITOR)
    wrong = (
        {"from": "2024-5-1"}, {"from": "2024-02-30"}, {"until": "no day"}, {"person": "no login!"}, {"place": "../C1"},
        {"place": "C9"}, {"from": "2024-05-02", "until": "2024-05-01"},
    )  # fmt: skip
    for filters in wrong:
        refused = office.post("reports/variances/runs", {"formats": ["json"], "filters": filters})
        assert (refused.status_code, refused.json()["code"]) == (422, "report_filter"), filters


def test_a_month_may_begin_and_end_on_a_day_on_which_nothing_was_played(kit: Kit) -> None:
    kit.office(Role.MANAGER).ok("days", {"day": "2024-05-02"})
    found = made(kit, "daily-revenue", **{"from": "2024-05-01", "until": "2024-05-31"})
    assert found["head"]["days"] == ["2024-05-02"]
    assert made(kit, "daily-revenue", **{"from": "2024-06-01"})["head"]["days"] == []
    assert made(kit, "daily-revenue")["head"]["days"] is None


def test_the_cage_summary_of_the_vault_and_of_the_bank_has_their_rows(kit: Kit) -> None:
    whole = rows(made(kit, "cage-summary"))
    cashier = kit.cashier()
    kit.open_drawer(cashier, cash=50_000, chips=50_000)
    of_vault = rows(made(kit, "cage-summary", place="vault"))
    assert [(row["number"], row["place"], row["went"]) for row in of_vault] == [
        ("1010", "vault", 50_000), ("9110", "vault", 50_000),
    ]  # fmt: skip
    assert [row["opening"] + row["came"] for row in of_vault] == [
        row["closing"] for row in whole if row["number"] in ("1010", "9110")
    ]
    assert rows(made(kit, "cage-summary", place="bank")) == [row for row in whole if row["place"] == "bank"]


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
    assert {row["shift"] for row in history} == {1}
    assert rows(made(kit, "drawer-history", shift="2")) == []
    assert rows(made(kit, "drawer-history", shift="1")) == history
    refused = kit.office().post("reports/drawer-history/runs", {"formats": ["json"], "filters": {"drawer": "C2"}})
    assert (refused.status_code, refused.json()["choices"]) == (422, ["C1"])
    kit.close_drawer(cashier, cash=53_990)
    [short] = rows(made(kit, "variances"))
    assert (short["place"], short["kind"], short["cash"], short["chips"]) == ("C1", "drawer.closed", -10, 0)
    assert short["day"] == short["booked_in"] == "2024-05-01" and short["weekday"] == 3
    [trend] = rows(made(kit, "variances", place="C1"), 1)
    assert (trend["short_count"], trend["sum"], trend["largest"], trend["run"]) == (1, -10, -10, 1)
    [revenue] = rows(made(kit, "daily-revenue"))
    assert (revenue["place"], revenue["cash_variance"], revenue["result"]) == ("C1", -10, -10)
    summary = made(kit, "cage-summary", **{"from": "2024-05-01"})
    places = {(row["number"], row["place"]): row for row in rows(summary)}
    vault, drawer = places["1010", "vault"], places["1020", "C1"]
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
    desk.ok("fills", {"drawer": "C1", "pieces": {"500": 1}})
    kit.cashier().ok("fills", {"table": "T1", "pieces": {"500": 2}})
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
    assert pot["rule"] == kit.office(Role.FLOOR).get("tables/T1").json()["carryover_on_close"]
    book(kit.house, "reopens", posting("carried_in", places, amount=300))
    assert rows(made(kit, "carried-pots")) == []


def test_results_of_tables_with_known_numbers(kit: Kit) -> None:
    """The worked hand: a pot of 3,300 and 165 of tax; a hand that is voided; a buy-in at the table and a fill."""
    kit.office(Role.MANAGER).ok("days", {"day": "2024-05-01"})
    dealer = kit.worked_hand()
    assert kit.settle() == ["settled"]
    dealer.refresh()
    floor = kit.dealer(role=Role.FLOOR)
    dealer.ok("hands", {"mode": "physical"})
    floor.refresh()
    floor.ok("hand/void", {"cause": "misdeal", "reason": "only a test"})
    dealer.refresh()
    dealer.ok("buy-ins", {"seat": 2, "amount": 700})
    found = made(kit, "table-result")
    tables, beside, games, stakes, dealers, hours, trays = (rows(found, at) for at in range(7))
    [table] = [one | other for one, other in zip(tables, beside, strict=True)]
    assert (table["day"], table["table"], table["game"]) == ("2024-05-01", "T1", "ferbli")
    assert (table["hands"], table["ruled"], table["voided"], table["most_seats"]) == (1, 0, 1, 4)
    assert (table["seats"], table["uncontested"]) == (4_000_000, 0)
    assert (table["handle"], table["pot"], table["tax"], table["tax_a_hand"], table["drop"]) == (
        3_300,
        3_300,
        165,
        165,
        700,
    )
    [game] = games
    assert {name: game[name] for name in ("hands", "handle", "tax")} == {
        "hands": 1, "handle": 3_300, "tax": 165,
    }  # fmt: skip
    [stake] = stakes
    assert (stake["game"], stake["stake"], stake["hands"], stake["voided"]) == ("ferbli", 100, 1, 1)
    assert {name: stake[name] for name in game} == game
    [who] = [row for row in dealers if row["hands"]]
    assert who["tax"] == 165 and sum(row["hands"] for row in hours) == 1
    assert sum(row["value"] * row["buy_ins"] for row in trays) == -700
    assert rows(made(kit, "table-result", game="barbu")) == []
    assert len(rows(made(kit, "table-result", **{"from": "2024-05-01", "until": "2024-05-01"}))) == 1
    [revenue] = [row for row in rows(made(kit, "daily-revenue")) if row["place"] == "T1"]
    assert (revenue["hands"], revenue["handle"], revenue["tax"], revenue["tax_share"]) == (1, 3_300, 165, 500)
    assert revenue["game"] == "ferbli" and revenue["minutes"] == table["minutes"]
    assert [row["place"] for row in rows(made(kit, "daily-revenue", game="ferbli"))] == ["T1"]
    assert rows(made(kit, "daily-revenue", game="barbu")) == []
    office = kit.office()
    run = asked(office, "daily-revenue", formats=["json"], group_by="game")
    assert kit.make_reports() == ["made"]
    made_run = office.get(f"report-runs/{run['run']}").json()
    grouped = json.loads(downloaded(office, made_run)["daily-revenue.json"])["sections"][0]["groups"]
    tax = grouped["columns"].index("tax")
    assert [(row[0], row[tax]) for row in grouped["rows"]] == [("ferbli", 165)]


def test_hands_of_one_dealer(kit: Kit) -> None:
    """One dealer deals a hand that is settled, another one a hand that is voided."""
    kit.office(Role.MANAGER).ok("days", {"day": "2024-05-01"})
    kit.worked_hand()
    assert kit.settle() == ["settled"]
    second = kit.dealer()
    second.ok("dealer/take-over", {"relieves": None})
    second.ok("hands", {"mode": "physical"})
    floor = kit.dealer(role=Role.FLOOR)
    floor.ok("hand/void", {"cause": "misdeal", "reason": "only a test"})
    by_login = {row["dealer"]: row["hands"] for row in rows(made(kit, "table-result"), 4)}
    logins = {"first" if hands else "second": login for login, hands in by_login.items()}
    found = made(kit, "table-result", dealer=logins["first"])
    [table], beside, [game], [stake], [dealer], hours, trays, later = (rows(found, at) for at in range(8))
    assert (table["hands"], table["voided"], table["tax"]) == (1, 0, 165)
    assert (game["hands"], stake["hands"], stake["voided"], sum(row["hands"] for row in hours)) == (1, 1, 0, 1)
    assert (dealer["dealer"], dealer["hands"], dealer["minutes"]) == (logins["first"], 1, table["minutes"])
    # What a table has besides hands is no dealer's.
    assert beside == trays == later == []
    [table] = rows(made(kit, "table-result", dealer=logins["second"]))
    assert (table["hands"], table["voided"]) == (0, 1)
    assert rows(made(kit, "table-result", dealer="nobody")) == []
    for name, states in (("first", (1, 0)), ("second", (0, 1))):
        found = {row["by"]: row for row in rows(made(kit, "deal-statistics", dealer=logins[name]))}
        assert {by: row["name"] for by, row in found.items()} == {"all": "", "table": "T1", "dealer": logins[name]}
        assert all((row["settled"], row["voided"]) == states for row in found.values())


def test_chips_that_are_out_and_since_when_nobody_is_owed_them(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    manager = kit.office(Role.MANAGER)
    manager.ok("days", {"day": "2024-05-01"})
    kit.players("anna")
    cashier = kit.cashier()
    kit.open_drawer(cashier, cash=50_000, pieces={"1000": 20, "100": 50})
    cashier.ok("bearer-buy-ins", {"amount": 3_000, "pieces": {"1000": 3}})
    manager.ok("days", {"day": "2024-05-02"})
    cashier.refresh()
    cashier.ok("bearer-buy-ins", {"amount": 1_000, "pieces": {"1000": 1}})
    cashier.ok("bearer-cash-outs", {"amount": 2_000, "pieces": {"1000": 2}})
    found = made(kit, "chips")
    [thousand] = [row for row in rows(found) if row["value"] == 1_000]
    assert (thousand["public"], thousand["impossible"], thousand["worth"]) == (
        2,
        False,
        thousand["commissioned"] * 1_000,
    )
    assert thousand["public_share"] == round(2 * 10_000 / thousand["commissioned"])
    # What was paid is taken from the oldest.
    assert [(row["day"], row["band"], row["owed"]) for row in rows(found, 3)] == [
        ("2024-05-01", "0-1", 1_000), ("2024-05-02", "0-1", 1_000),
    ]  # fmt: skip
    cashier.ok("buy-ins", {"player": "anna", "amount": 1_000, "pieces": {"100": 10}})
    cashier.ok("bearer-cash-outs", {"amount": 2_500, "pieces": {"1000": 2, "100": 5}})
    assert [row["owed"] for row in rows(made(kit, "chips"), 3)] == [-500]

    def out(*asked: Any) -> list[Held]:
        return [replace(one, balance=-1) if one.number == "9170" else one for one in balances(*asked)]

    monkeypatch.setattr(a08_chips, "balances", out)
    moment = Scope(kit.house, as_of.now(kit.house), {})
    assert {row[7] for row in registry.get("chips").sections[0].rows(moment) if row[5]} == {True}


def test_the_delegate_of_the_staff_reads_the_tronc_and_no_other_report(kit: Kit) -> None:
    delegate = kit.office(Role.DELEGATE)
    assert [one["report"] for one in delegate.get("reports").json()["reports"]] == ["tronc"]
    assert rows(made(kit, "tronc", Role.DELEGATE), 1) == []
    assert delegate.post("reports/daily-revenue/runs", {"formats": ["json"]}).status_code == 403
    assert delegate.get("tronc/pools").status_code == 403


def test_days_are_compared_with_a_week_before_and_to_date() -> None:
    found = {"2024-04-30": (5, 50), "2024-05-01": (1, 10), "2024-05-08": (2, -4), "2025-05-01": (3, 7)}
    assert list(compared(found, DayRange("2024-05-01", "2024-12-31"))) == [
        ("2024-05-01", 1, 10, None, None, None, 1, 10, 6, 60),
        ("2024-05-08", 2, -4, 1, 10, -14, 3, 6, 8, 56),
    ]
    assert [row[-2:] for row in compared(found, DayRange("2025-01-01", None))] == [(3, 7)]


def test_hours_of_tables_are_those_of_their_days_without_pauses() -> None:
    def open_for(*moments: tuple[str, str, str, str]) -> dict[tuple[str, str], int]:
        several = [
            (kind, code, datetime.fromisoformat(f"2024-05-01T{at}:00+00:00"), who) for at, kind, code, who in moments
        ]
        clock = table_time.counted(iter(several), DayRange(None, None), datetime(2024, 5, 1, 23, tzinfo=UTC))
        return clock.tables | {("dealer", who): spent for (_, _, who), spent in clock.dealers.items()}

    assert open_for(
        ("10:00", "day.opened", "", "d1"), ("10:10", "table.opened", "T1", ""),
        ("10:20", "dealer.took_over", "T1", "anna"), ("10:50", "dealer.left", "T1", "anna"),
        ("11:20", "dealer.took_over", "T1", "bela"), ("11:30", "day.closed", "", "d1"),
        ("11:30", "day.opened", "", "d2"), ("12:00", "table.closed", "T1", ""),
    ) == {("d1", "T1"): 3_000, ("d2", "T1"): 1_800, ("dealer", "anna"): 1_800, ("dealer", "bela"): 1_800}  # fmt: skip


def test_people_who_count_beside_each_other_and_ages_of_pots(kit: Kit) -> None:
    kit.office(Role.MANAGER).ok("days", {"day": "2024-05-01"})
    for short in (0, 40, 60):
        cashier = kit.cashier(another=True)
        kit.open_drawer(cashier, cash=50_000, chips=50_000)
        kit.close_drawer(cashier, cash=50_000 - short)
    people = rows(made(kit, "variances"), 2)
    by_mean = {row["mean"]: row for row in people if row["kind"] == "drawer.closed"}
    assert sorted(by_mean) == [-60, -40, 0]
    # The others are -40 and -60: mean -50, standard deviation 10; this one is five of them above.
    assert (by_mean[0]["z"], by_mean[0]["counts"], by_mean[0]["short_count"]) == (5_000_000, 1, 0)
    assert (by_mean[-60]["z"], by_mean[-60]["month"], by_mean[-60]["run"]) == (-2_000_000, -60, 1)
    kit.table()
    kit.seated()
    places = {"table": "T1", "player": "T1-u1"}
    book(kit.house, "waits", posting("stake", places, amount=300), posting("carried_out", places, amount=300))
    pots = made(kit, "carried-pots")
    assert [(row["band"], row["amount"]) for row in rows(pots)] == [("0-1", 300)]
    assert [(row["band"], row["pots"], row["amount"]) for row in rows(pots, 1)] == [("0-1", 1, 300)]
    assert rows(made(kit, "carried-pots", band="8-30")) == []


def test_a_corrected_cash_out_was_paid_once_and_names_its_player(kit: Kit) -> None:
    kit.players("anna")
    cashier = kit.cashier()
    kit.open_drawer(cashier, cash=200_000, pieces={"5000": 50, "1000": 50, "500": 50})
    cashier.ok("buy-ins", {"player": "anna", "amount": 20_000, "pieces": {"5000": 4}})
    wrong = cashier.ok("cash-outs", {"player": "anna", "amount": 5_000})["audit"]["seq"]
    right = {"kind": "cage.cash_out", "player": "anna", "amount": 10_000, "pieces": {"5000": 2}}
    kit.supervisor().ok("corrections", {"entry": wrong, "right": right, "reason": "keyed wrong"})
    cashier.refresh()
    cashier.ok("bearer-buy-ins", {"amount": 1_000, "pieces": {"500": 2}})
    # More than was bought by name: what came with nobody known is the player's first.
    cashier.ok("cash-outs", {"player": "anna", "amount": 10_500, "pieces": {"5000": 2, "500": 1}})
    [row] = rows(made(kit, "player-activity"), 2)
    assert (row["named_in"], row["bearer_in"], row["named_out"]) == (20_000, 1_000, 20_500)
    [player] = rows(made(kit, "player-activity"))
    assert (player["cage_out"], player["attributed"], player["closing"]) == (20_500, 500, 0)
    history = rows(made(kit, "drawer-history"))
    paid = [one for one in history if one["kind"] == "cage.cash_out"]
    assert rows(made(kit, "drawer-history", kind="cage.cash_out")) == paid
    large = rows(made(kit, "drawer-history", kind="cage.cash_out", least="5001"))
    assert [one["cash"] for one in large] == [-10_000, -10_500]
    assert [(one["player"], one["cash"]) for one in paid] == [
        ("anna", -5_000), ("anna", 5_000), ("anna", -10_000), ("anna", -10_500),
    ]  # fmt: skip


def test_money_of_the_trial_balance_is_money_and_adds_up(kit: Kit) -> None:
    kit.players("anna", chips=500)
    found = made(kit, "trial-balance")
    vault = [row for row in rows(found) if row["number"] == "1010"]
    assert [(row["debit"], row["credit"]) for row in vault] == [(kit.balance("1010"), 0)]
    assert [column["type"] for column in found["sections"][0]["columns"]][-2:] == ["money", "money"]
    totals = found["sections"][0]["totals"]
    assert totals["debit"] == totals["credit"] > 0
    assert rows(made(kit, "trial-balance", number="1010")) == vault
    out = [row for row in rows(found, 1) if row["number"] == "9170"]
    assert [(row["commodity"].rpartition(".")[2], row["debit"]) for row in out] == [("500", 1)]


def test_transfers_of_a_day_are_those_that_ended_in_it_or_wait_since(kit: Kit) -> None:
    office = opened(kit, "2020-02-28")
    trays = Trays(kit)
    trays.ends.cashier.refresh()
    first = trays.ends.filled()
    office.ok("days", {"day": "2020-02-29"})
    assert [row["state"] for row in rows(made(kit, "transfers", until="2020-02-28"))] == ["sent"]
    trays.dealer.refresh()
    assert trays.ends.receive(first, FILL).status_code == 200
    [row] = rows(made(kit, "transfers", **{"from": "2020-02-29"}))
    assert (row["state"], row["day"], row["received_worth"]) == ("received", "2020-02-29", WORTH)
    assert rows(made(kit, "transfers", until="2020-02-28")) == []


def test_tips_and_shares_of_a_day_of_a_person_and_of_a_pool(kit: Kit) -> None:
    office = opened(kit, "2020-02-28")
    tips = Tips(kit)
    tips.counted(cash=70)
    dealers = [kit.runner() for _ in range(2)]
    kit.office(Role.MANAGER).ok("tronc/share", {"points": dict(zip(dealers, (1, 1), strict=True))})
    office.ok("days", {"day": "2020-02-29"})
    kit.cashier().ok("tronc-shares", {"pool": 1, "login": dealers[0]})
    [tip] = rows(made(kit, "tronc", until="2020-02-28"))
    assert (tip["day"], tip["given"], tip["waiting"]) == ("2020-02-28", 630, 0)
    assert rows(made(kit, "tronc", **{"from": "2020-02-29"})) == []
    [paid] = rows(made(kit, "tronc", **{"from": "2020-02-29"}), 1)
    assert (paid["person"], paid["day"], paid["paid_in"], paid["paid"]) == (
        dealers[0], "2020-02-28", "2020-02-29", 350,
    )  # fmt: skip
    assert paid["paid_at"].endswith("Z")
    [unpaid] = rows(made(kit, "tronc", person=dealers[1]), 1)
    assert (unpaid["paid_at"], unpaid["paid_by"], unpaid["unpaid"]) == (None, None, 350)
    [box] = rows(made(kit, "tronc"), 2)
    assert (box["day"], box["table"], box["chips"], box["cash"], box["counted"]) == ("2020-02-28", "T1", 630, 70, 700)
    [pool] = rows(made(kit, "tronc", until="2020-02-28"), 3)
    assert (pool["day"], pool["pool"], pool["shares"], pool["amount"]) == ("2020-02-28", 1, 2, 700)
    assert (pool["paid"], pool["unpaid"]) == (350, 350)
    assert len(rows(made(kit, "tronc", pool="1"), 1)) == 2 and rows(made(kit, "tronc", pool="2"), 1) == []
