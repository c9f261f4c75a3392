"""Reports of control: overrides, approvals, serials, players, staff, tax, duty, held money, disputes, hands; with known
numbers, and with something forged, which an equality must see."""

import json
from typing import Any

import pytest

from casino.audit.events.approvals import LimitsChanged
from casino.audit.events.cage import DrawerXRead, PayoutHeld, VarianceWasOffset
from casino.audit.events.hands import HandActed, HandVoided
from casino.audit.events.house import DutyDue, HouseSuspended
from casino.audit.events.staff import RolesChanged
from casino.audit.services import Actor
from casino.bookkeeping.postings import posting
from casino.core import locks
from casino.core.work import Work
from casino.reports.frame import as_of, registry
from casino.reports.frame.columns import Sums
from casino.reports.frame.report import Scope
from casino.staff.models import Role, TerminalKind
from tests.casino.busy import PERSON
from tests.casino.hands.test_settlement import alter_as_superuser
from tests.casino.kit import ACTOR, MISDEAL, SAMPLE, Kit, book
from tests.casino.reports.test_catalogue import made, rows
from tests.casino.transfers.test_transfers import floor_at

REASON = {"reason": "so that it is seen"}


def broken(kit: Kit, name: str, **filters: str) -> list[str]:
    """The equalities of a report that do not hold now, in its words."""
    report, scope = registry.get(name), Scope(kit.house, as_of.now(kit.house), filters)
    results = {}
    for section in report.sections:
        results[section.name] = sums = Sums(section.columns)
        for row in section.rows(scope):
            sums.add(row)
    return [one.as_json()["equality"] for one in report.equalities(scope, results) if not one.holds]


def forged(kit: Kit, chain: str, event: Any, actor: Actor = ACTOR) -> None:
    """An event that no service has recorded."""

    def operation() -> None:
        Work(kit.house, actor).record(chain=chain, event=event)

    locks.in_transaction(operation)


def seen(kit: Kit, name: str, before: list[str], **filters: str) -> list[str]:
    """What is broken now and was not before; something is."""
    found = [words for words in broken(kit, name, **filters) if words not in before]
    assert found, name
    return found


@pytest.fixture
def settled(kit: Kit) -> Kit:
    """The worked hand, settled: a pot of 3,300, of which 165 are tax; the first player won 1,635."""
    kit.office(Role.MANAGER).ok("days", {"day": "2024-05-01"})
    kit.worked_hand()
    assert kit.settle() == ["settled"]
    return kit


def test_a_settled_hand_with_its_tax_its_lines_and_its_players(settled: Kit) -> None:
    kit = settled
    assert rows(made(kit, "tax-check")) == []
    [hand] = rows(made(kit, "tax-check", show="all"))
    assert (hand["hand"], hand["rules"]) == ("T1-000001", "ferbli/1")
    assert hand["options"] == "table_max=100000 tax_bps=500 tax_cap=5000 vizi=100"
    assert (hand["handle"], hand["base"], hand["due"], hand["stored"], hand["booked"]) == (3_300, 3_300, 165, 165, 165)
    [table] = rows(made(kit, "tax-check", table="T1"), 1)
    assert (table["base"], table["by_base"], table["taken"], table["unplayable"]) == (3_300, 165, 3_300, 0)
    history = made(kit, "hand-history", player="T1-u4")
    [head], seats, lines = (rows(history, section) for section in range(3))
    assert (head["state"], head["winner"], head["tax"], head["lines"]) == ("settled", "T1-u1", 165, 24)
    assert [seat["net"] for seat in seats] == [1_635, -300, 0, -1_500]
    # Folded cards stay face down, shown ones do not.
    assert [line["text"] for line in lines[1:5]] == [SAMPLE[1], "d dh p2 ????", "d dh p3 ????", SAMPLE[4]]
    assert rows(made(kit, "hand-history", hand="T1-000009")) == []
    activity = made(kit, "player-activity")
    winner = rows(activity)[0]
    assert (winner["player"], winner["cage_in"], winner["play"], winner["staked"]) == ("T1-u1", 30_000, 1_635, 1_500)
    assert (winner["opening"], winner["closing"]) == (0, 31_635)
    assert [(row["hands"], row["staked"], row["net"], row["tax"]) for row in rows(activity, 1)][:2] == [
        (1, 1_500, 1_635, 165), (1, 300, -300, 0),
    ]  # fmt: skip
    assert (winner["attributed_share"], winner["large"], winner["cashless"], winner["excluded"]) == (
        0, False, False, False,
    )  # fmt: skip
    assert rows(made(kit, "player-activity", least="30001")) == []
    statement = made(kit, "player-statement", player="T1-u1")
    assert {row["number"]: row["closing"] for row in rows(statement)} == {
        "2010": 10_000,
        "2020": 21_635,
        "2085": 0,
        "2090": 0,
    }
    lines = rows(statement, 1)
    assert [(line["kind"], line["place"]) for line in lines[:2]] == [("cage.buy_in", "C1"), ("table.sat_down", "T1")]
    assert (lines[-1]["kind"], lines[-1]["hand"], lines[-1]["running"]) == ("hand.settled", "T1-000001", 31_635)
    # It names nobody else.
    assert "T1-u2" not in json.dumps(statement["sections"])
    refused = kit.office().post("reports/player-statement/runs", {"formats": ["json"]})
    assert (refused.status_code, refused.json()["code"]) == (422, "report_filter")


def test_a_hand_that_was_ruled_on_counts_for_its_players_as_a_settled_one(kit: Kit) -> None:
    kit.office(Role.MANAGER).ok("days", {"day": "2024-05-01"})
    kit.worked_hand()
    floor = floor_at(kit, TerminalKind.TABLE, "T1")
    hand = {"hand": "T1-000001"} | REASON
    floor.ok("hand/dispute", hand)
    awards = [{"actor": "p1", "amount": 2_090}, {"actor": "p4", "amount": 1_045}]
    kit.approved(floor, "hand/ruling", hand | {"awards": awards, "tax": 165, "claimed": []})

    def by_player() -> list[tuple[int, ...]]:
        names = ("hands", "ruled", "staked", "net", "tax")
        return [tuple(row[name] for name in names) for row in rows(made(kit, "player-activity"), 1)]

    assert by_player() == [(1, 1, 1_500, 590, 110), (1, 1, 300, -300, 0), (1, 1, 0, 0, 0), (1, 1, 1_500, -455, 55)]
    remedy = {"tax_refunded": [{"actor": "p1", "amount": 100}], "made_good": [], "claimed": []}
    collected = [{"loser": "p4", "winner": "p2", "amount": 45, "consent": "signed"}]
    floor.refresh()
    kit.approved(floor, "hands/T1-000001/rulings", remedy | {"collected": collected} | REASON)
    assert by_player() == [(1, 1, 1_500, 690, 10), (1, 1, 300, -255, 0), (1, 1, 0, 0, 0), (1, 1, 1_500, -500, 55)]
    assert broken(kit, "player-activity") == []


def test_what_is_forged_in_hands_and_books_is_seen(settled: Kit) -> None:
    kit = settled
    for name in ("tax-check", "hand-history", "player-activity", "duty-return", "held-money", "disputes"):
        assert broken(kit, name) == []
    table, player = {"table": "T1"}, {"drawer": "C1", "player": "T1-u1"}
    book(kit.house, "stake", posting("stake", table | player, amount=70))
    book(kit.house, "frozen", posting("disputed", table, amount=70))
    assert seen(kit, "disputes", []) == [
        "frozen in open disputes = balances of 2070",
        "frozen in open disputes = what the events record on 2070",
    ]
    # The event of a test's posting is one of duty, which moved nothing on 2200.
    assert "booked less lowered and paid = balance of 2200" in seen(kit, "duty-return", [])
    payout = {
        "payout": 1,
        "player": "T1-u1",
        "amount": 50,
        "cause": "identity_pending",
        "drawer": "C1",
        "state": "held",
    }
    payout |= {"held_by": "nobody", "paid_by": None, "note": ""}
    held = PayoutHeld(player="T1-u1", amount=50, player_chips=0, exchanged={}, payout=payout)
    forged(kit, "drawer/C1", held)
    assert seen(kit, "held-money", []) == ["open payouts = balances of 2085"]
    forged(kit, "table/T1", HandActed(hand="T1-000001", first_line=25, lines=["p1 k"], table_version=99))
    assert seen(kit, "hand-history", []) == ["lines of hands that are over = lines of the rows"]
    alter_as_superuser(
        "UPDATE hands_hand SET options = options || '{\"tax_bps\": 1000}' WHERE name = 'T1-000001' AND house_id = %s",
        kit.house.id,
    )
    assert seen(kit, "tax-check", [])[0] == "tax due by the engine = tax booked"
    [hand] = rows_of(kit, "tax-check")
    assert hand[7:12] == (3_300, 330, 165, 165, -165)


def rows_of(kit: Kit, name: str, section: int = 0) -> list[Any]:
    """Rows of a section as they are read now."""
    return list(registry.get(name).sections[section].rows(Scope(kit.house, as_of.now(kit.house), {})))


def test_overrides_approvals_and_disputes(kit: Kit) -> None:
    kit.office(Role.MANAGER).ok("days", {"day": "2024-05-01"})
    kit.table()
    dealer = kit.seated()
    dealer.ok("hands", {"mode": "physical", "button": 4})
    dealer.act(*SAMPLE[:6])
    floor = floor_at(kit, TerminalKind.TABLE, "T1")
    kit.approved(floor, "hand/void", REASON | MISDEAL)
    dealer.refresh()
    dealer.ok("hands", {"mode": "physical"})
    dealer.act(*SAMPLE[:12])
    dealer.act(*SAMPLE[12:])
    floor.refresh()
    hand = {"hand": "T1-000002"}
    floor.ok("hand/dispute", hand | REASON)
    floor.ok("hand/dispute/withdraw", hand | REASON)
    [withdrawn] = rows(made(kit, "disputes", state="withdrawn"))
    assert (withdrawn["frozen"], withdrawn["open"]) == (3_300, 0)
    assert [row["state"] for row in rows(made(kit, "hand-history", hand="T1-000002"))] == ["ended"]
    floor.ok("hand/dispute", hand | REASON)
    [waits] = rows(made(kit, "disputes", state="open"))
    assert (waits["hand"], waits["frozen"], waits["open"]) == ("T1-000002", 3_300, 3_300)
    awards = [{"actor": "p1", "amount": 3_135}]
    kit.approved(floor, "hand/ruling", hand | {"awards": awards, "tax": 165, "claimed": []} | REASON)
    [_, ruled] = rows(made(kit, "disputes"))
    assert (ruled["state"], ruled["awarded"], ruled["tax"], ruled["open"]) == ("ruled", 3_135, 165, 0)
    overrides = made(kit, "overrides", place="T1")
    assert [(row["kind"], row["amount"], row["approval"], row["reason"]) for row in rows(overrides)] == [
        ("hand.voided", 200, 1, REASON["reason"]),
        ("hand.dispute_raised", None, None, REASON["reason"]),
        ("hand.dispute_withdrawn", None, None, REASON["reason"]),
        ("hand.dispute_raised", None, None, REASON["reason"]),
        ("hand.ruled", 3_300, 2, REASON["reason"]),
    ]
    assert {row["day"] for row in rows(overrides)} == {"2024-05-01"}
    [table] = rows(overrides, 1)
    assert (table["hands"], table["voids"], table["rulings"], table["per_thousand"]) == (2, 1, 1, 1_000_000_000)
    [person] = rows(overrides, 2)
    assert (person["void"], person["ruling"], person["denial"]) == (1, 1, 0)
    # A write that had to wait for its approval was not refused.
    assert rows(overrides, 3) == []
    assert [row["kind"] for row in rows(made(kit, "overrides", kind="void"))] == ["hand.voided"]
    large = made(kit, "overrides", least="201")
    assert [row["kind"] for row in rows(large)] == ["hand.ruled"]
    assert [(row["void"], row["ruling"]) for row in rows(large, 2)] == [(0, 1)]
    assert len(rows(made(kit, "overrides", least="200"))) == 2
    approvals = made(kit, "approvals")
    assert [(row["approval"], row["kind"], row["state"], row["used_for"]) for row in rows(approvals)] == [
        (1, "void", "used", "hand.voided"),
        (2, "ruling", "used", "hand.ruled"),
    ]
    assert [(pair["approved"], pair["refused"], pair["back"]) for pair in rows(approvals, 1)] == [(1, 0, 0), (1, 0, 0)]
    assert rows(made(kit, "approvals", state="requested")) == []
    amounts = {row["approval"]: row["amount"] for row in rows(approvals)}
    assert amounts[2] == 3_300 > (amounts[1] or 0)
    assert [row["approval"] for row in rows(made(kit, "approvals", least="3300"))] == [2]
    assert rows(made(kit, "approvals", least="3301")) == []
    event = VarianceWasOffset(
        number=1, drawer="C1", count=1, amount=5, cash_over=True, posting=1, reason="forged", approval=2,
        approver="nobody",
    )  # fmt: skip
    assert broken(kit, "overrides") == broken(kit, "approvals") == []
    forged(kit, kit.house.chain, event)
    assert seen(kit, "overrides", []) == ["overrides without their approval = none"]
    voided = HandVoided(
        hand="T1-000002", cause="other", pot=5, cards_shown=True, acted=True, log_complete=True, mirrors={},
        reason="forged",
    )  # fmt: skip
    forged(kit, "table/T1", voided, Actor(staff="nobody", role="floor", terminal="", request="r"))
    assert [(row[2], row[3], row[5], row[8]) for row in rows_of(kit, "overrides", 4)] == [
        ("variance.offset", "C1", 5, 2), ("hand.voided", "T1", 5, None),
    ]  # fmt: skip
    assert seen(kit, "overrides", [], person="nobody") == ["overrides without their approval = none"]
    assert seen(kit, "approvals", []) == [
        "events that name an approval = approvals that they name",
        "events that name an approval = uses that another person had approved for their actor",
        "events that needed an approval and name none = none",
    ]
    forged(kit, kit.house.chain, HouseSuspended(reason="forged", approval=7, approver="nobody"))
    assert len(seen(kit, "approvals", [])) == 3


def test_serials_staff_and_held_money(kit: Kit) -> None:
    kit.office(Role.MANAGER).ok("days", {"day": "2024-05-01"})
    kit.players("anna", chips=20_000)
    cashier = kit.cashier()
    recorded = {"person": PERSON, "reason": "first_record"}
    assert cashier.post("/api/v1/players/anna/person", recorded, version=1).is_success
    cashier.refresh()
    cashier.ok("deposits", {"player": "anna", "amount": 5_000})
    cashier.ok("foreign-chips", {"issuer": "Casino Wien", "amount": 400})
    where = {"finder": "dealer", "found_where": "under chair 1", "amount": 5_000, "pieces": {"5000": 1}}
    found = cashier.post(
        "found-chips", where | {"finder": kit.hire(Role.DEALER, TerminalKind.TABLE, "T1")[0].staff.login}
    )
    assert found.status_code == 201, found.text
    held = made(kit, "held-money")
    deposits, payouts, chips, lapsed, foreign, issuers = (rows(held, section) for section in range(6))
    assert [(row["player"], row["amount"], row["days"]) for row in deposits] == [("anna", 5_000, 0)]
    assert [(row["found"], row["state"], row["open"]) for row in chips] == [(1, "registered", 5_000)]
    assert (payouts, lapsed, foreign) == ([], [], [{"place": "C1", "amount": 400}])
    assert [(row["issuer"], row["bought"], row["left"]) for row in issuers] == [("Casino Wien", 400, 400)]
    office = kit.office(Role.ADMIN)
    hired = {"login": "new", "name": "New", "roles": ["dealer"], "password": "a long password of 1 person"}
    office.ok("staff", hired)
    office.ok("staff/new/roles", {"roles": ["dealer", "floor"]} | REASON, version=1)
    office.ok("staff/new/deactivate", REASON, version=2)
    changes = made(kit, "staff-changes", person="new")
    assert [(row["change"], row["before"], row["after"]) for row in rows(changes)] == [
        ("staff.hired", "", "dealer"),
        ("staff.roles_changed", "dealer", "dealer floor"),
        ("staff.deactivated", "active", "not active"),
    ]
    [person] = rows(changes, 1)
    assert (person["person"], person["roles"], person["active"]) == ("new", "dealer floor", False)
    assert [row["change"] for row in rows(made(kit, "staff-changes", person="new", role="floor"))] == [
        "staff.roles_changed"
    ]
    assert rows(made(kit, "staff-changes", person="new", role="cashier"), 1) == []
    review = made(kit, "access-review", person="new")
    [person] = rows(review)
    assert (person["sign_ins"], person["changes"], person["left_days"], person["dormant"]) == (0, 0, 0, False)
    assert [(row["role"], row["until"]) for row in rows(review, 1)] == [("dealer", None), ("floor", None)]
    hires = made(kit, "access-review", operation="staff.hired")
    assert [row["person"] for row in rows(hires)] == [rows(changes)[0]["person"]]
    assert [(row["kind"], row["times"]) for row in rows(hires, 2)] == [("staff.hired", 1)]
    assert rows(made(kit, "access-review", operation="hand.dealt")) == []
    hired, changed = (row["from"] for row in rows(review, 1))
    before, both = (rows(made(kit, "access-review", person="new", moment=one), 1) for one in (hired, changed))
    assert [row["role"] for row in before] == ["dealer"] and [row["role"] for row in both] == ["dealer", "floor"]
    assert rows(made(kit, "access-review", role="floor", person="new", moment=hired), 1) == []
    unclear = {"formats": ["json"], "filters": {"moment": "2026-11-24T22:00:00"}}
    assert kit.office().post("reports/access-review/runs", unclear).json()["code"] == "report_filter"
    serials = {(row["series"], row["place"]): row for row in rows(made(kit, "serial-gaps"))}
    assert serials["found chips", ""]["issued"] == serials["Z slip (shift)", "C1"]["issued"] == 1
    assert serials["audit chain", "drawer/C1"]["last"] == serials["audit chain", "drawer/C1"]["issued"] > 3
    moment = as_of.now(kit.house)
    before = rows_of(kit, "staff-changes", 1)
    kit.hire(Role.CASHIER, TerminalKind.CAGE, "C1", noted=False)
    assert seen(kit, "staff-changes", []) == [
        "people by events = rows",
        "people whose roles and state by events are those of the rows = rows",
    ]
    assert seen(kit, "access-review", []) == ["roles held by events = roles of the rows"]
    # What came later does not change what was.
    office.ok("staff/new/roles", {"roles": ["dealer"]} | REASON, version=3)
    report = registry.get("staff-changes")
    scope = Scope(kit.house, moment, {})
    assert list(report.sections[1].rows(scope)) == before
    forged(kit, "drawer/C1", DrawerXRead(x_reading=2, shift=1))
    assert seen(kit, "serial-gaps", []) == ["missing numbers of all series = none"]
    forged(kit, kit.house.chain, LimitsChanged(number=1, valid_from="2024-05-01T00:00:00Z", points={}, reason="forged"))
    assert "numbers that were given twice = none" in seen(kit, "serial-gaps", [])


def test_roles_that_were_held_although_they_exclude_each_other(kit: Kit) -> None:
    office = kit.office(Role.ADMIN)
    office.ok("staff", {"login": "new", "name": "New", "roles": ["dealer"], "password": "a long password of 1 person"})
    assert rows(made(kit, "access-review"), 3) == []
    for before, after in ((["dealer"], ["dealer", "cashier"]), (["dealer", "cashier"], ["dealer"])):
        forged(kit, kit.house.chain, RolesChanged(login="new", before=before, after=after, reason="forged"))
        [(login, pair, begun, until)] = rows_of(kit, "access-review", 3)
        assert (login, set(pair.split(" + "))) == ("new", {"dealer", "cashier"})
        ended = after == ["dealer"]
        assert (until is not None) == ended and (not ended or until > begun)
        assert ("pairs held by events = pairs of the rows" in broken(kit, "access-review")) == (not ended)


def test_duty_by_month_with_what_is_payable(settled: Kit) -> None:
    kit = settled
    office = kit.office(Role.CAGE_SUPERVISOR)
    kit.approved(office, "duty", {"amount": 40} | REASON)
    found = made(kit, "duty-return")
    [month], [day], [entry] = (rows(found, section) for section in range(3))
    assert (month["month"], month["tax"], month["base"], month["duty"], month["unpaid"]) == (
        "2024-05",
        165,
        165,
        40,
        40,
    )
    assert (day["day"], day["base"]) == ("2024-05-01", 165)
    assert (entry["kind"], entry["amount"], entry["payable"]) == ("house.duty", 40, 40)


def test_duty_stands_at_the_month_for_which_it_was_booked(settled: Kit) -> None:
    kit = settled
    keeper = kit.office(Role.CAGE_SUPERVISOR)
    kit.office(Role.MANAGER).ok("days", {"day": "2024-06-03"})
    booked = kit.approved(keeper, "duty", {"amount": 66, "for_month": "2024-05", "due_on": "2024-06-20"} | REASON)
    assert (booked["for_month"], booked["due_on"]) == ("2024-05", "2024-06-20")
    kit.approved(keeper, "duty/lowerings", {"entry": booked["audit"]["seq"], "amount": 16} | REASON)
    kit.approved(keeper, "duty", {"amount": 7} | REASON)
    kit.office(Role.MANAGER).ok("capital/payments-in", {"amount": 1_000, "by": "bank", "note": "N-1"})
    kit.approved(keeper, "duty/payments", {"amount": 20, "return_number": "R-5", "for_month": "2024-05"})
    for month in ("2024-13", "24-05", "2024-05-01"):
        refused = keeper.post("duty", {"amount": 1, "for_month": month} | REASON)
        assert (refused.status_code, refused.json()["code"]) == (400, "invalid_request")
    names = ("month", "base", "duty", "lowered", "paid", "share", "due_on", "unpaid")
    periods = [tuple(row[name] for name in names) for row in rows(made(kit, "duty-return"), 3)]
    assert periods == [
        ("", 0, 7, 0, 0, None, None, 7),
        ("2024-05", 165, 66, 16, 20, 3_030, "2024-06-20", 30),
    ]  # fmt: skip
    [may] = rows(made(kit, "duty-return", **{"from": "2024-05-01", "until": "2024-05-31"}), 3)
    assert (may["month"], may["unpaid"]) == ("2024-05", 30)
    [month] = [row for row in rows(made(kit, "duty-return")) if row["month"] == "2024-05"]
    assert (month["duty"], month["paid"]) == (0, 0), "it was booked in June"
    assert "booked less lowered and paid = balance of 2200" in [
        one["equality"] for one in made(kit, "duty-return")["equalities"]
    ]


def test_each_role_is_shown_its_reports_and_no_others(kit: Kit) -> None:
    shown = {
        role: {one["report"] for one in kit.office(role).get("reports").json()["reports"]}
        for role in (Role.FLOOR, Role.CAGE_SUPERVISOR, Role.COUNT, Role.COMPLIANCE, Role.ADMIN)
    }
    assert shown == {
        Role.FLOOR: {"overrides", "hand-history", "disputes", "tray-counts", "transfers", "carried-pots"},
        Role.CAGE_SUPERVISOR: {
            "drawer-counts",
            "vault-counts",
            "drawer-history",
            "cage-summary",
            "transfers",
            "soft-count",
            "variances",
            "transaction-log",
            "x-readings",
            "z-slips",
        },
        Role.COUNT: {"soft-count"},
        Role.COMPLIANCE: {
            "player-activity",
            "player-statement",
            "held-money",
            "disputes",
            "exclusions",
            "threshold-transactions",
            "linked-transactions",
            "transaction-log",
        },
        Role.ADMIN: {"staff-changes"},
    }
    floor = kit.office(Role.FLOOR)
    assert floor.post("reports/access-review/runs", {"formats": ["json"]}).json()["code"] == "forbidden"
    assert floor.post("reports/disputes/runs", {"formats": ["json"]}).status_code == 202


def test_what_comes_later_changes_nothing_as_of_a_moment(settled: Kit) -> None:
    kit = settled
    admin, cashier = kit.office(Role.ADMIN), kit.cashier()
    admin.ok("staff", {"login": "new", "name": "New", "roles": ["dealer"], "password": "a long password of 1 person"})
    waits = kit.office(Role.CAGE_SUPERVISOR)
    held = waits.post("duty", {"amount": 40} | REASON)
    assert held.json()["code"] == "approval_required"
    moment = as_of.now(kit.house)

    def everything() -> dict[str, Any]:
        """All but the certificate, which says what verifying the house finds when it is made."""
        found = {}
        for report in registry.reports().values():
            if report.id == "certificate":
                continue
            scope = Scope(kit.house, moment, {one.name: "T1-u1" for one in report.filters if one.required})
            read, results = [], {}
            for section in report.sections:
                results[section.name] = sums = Sums(section.columns)
                for row in section.rows(scope):
                    sums.add(row)
                    read.append(tuple(row))
            found[report.id] = read, list(report.equalities(scope, results))
        return found

    before = everything()
    admin.ok("staff/new/roles", {"roles": ["floor"]} | REASON, version=1)
    admin.ok("staff/new/deactivate", REASON, version=2)
    kit.hire(Role.COUNT, TerminalKind.OFFICE, "")
    kit.approved(waits, "duty", {"amount": 30} | REASON)
    cashier.ok("buy-ins", {"player": "T1-u1", "amount": 700})
    dealer = kit.dealer()
    dealer.ok("hands", {"mode": "physical"})
    dealer.act("p1 po 100")
    floor_at(kit, TerminalKind.TABLE, "T1").ok("hand/void", REASON | MISDEAL)
    after = everything()
    for name, found in before.items():
        assert after[name] == found, name
    assert as_of.now(kit.house).event > moment.event


def test_limits_and_interactions_of_players_are_series(kit: Kit) -> None:
    kit.players("anna")
    desk = kit.office(Role.COMPLIANCE)
    desk.ok("players/anna/limits", {"limit": "loss", "span": "day", "most": 1_000})
    desk.ok("players/anna/limits", {"limit": "buy_in", "span": "day", "most": 500})
    found = {row["series"]: (row["first"], row["last"], row["issued"]) for row in rows(made(kit, "serial-gaps"))}
    assert found["limit of a player"] == (1, 2, 2)


def test_an_event_that_needed_an_approval_and_names_none_is_seen(kit: Kit) -> None:
    assert made(kit, "approvals")
    before = broken(kit, "approvals")
    manager = Actor(staff="manager1", role="manager", terminal="office-1", request="r")

    def operation() -> None:
        duty = DutyDue(amount=40, posting=1, reason="as keyed")
        Work(kit.house, manager).record(chain=kit.house.chain, event=duty)

    locks.in_transaction(operation)
    assert seen(kit, "approvals", before) == ["events that needed an approval and name none = none"]
