"""The ledger as auditors read it, counts as assertions, and what beat does to the books."""

import csv
import io
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connections, transaction

from casino.audit.models import Event
from casino.bookkeeping import chart
from casino.chips.models import Imbalance
from casino.chips.selectors import in_use
from casino.core.denominations import canonical
from casino.reports import tasks
from casino.reports.selectors import house_report
from casino.reports.snapshots import newest_problems
from casino.reports.tasks import check, check_newest, check_snapshots
from casino.reports.verifying import verification
from casino.settings import CELERY_BEAT_SCHEDULE
from casino.staff.models import Role
from ledger import holds, snapshots
from ledger.models import Account, Assertion, Entry, Hold, Snapshot, SnapshotLine, Transaction
from ledger.posting import Leg, Posting
from tests.casino.kit import CHIPS, Kit
from tests.casino.scene import last_event, recorded_since
from tests.casino.superuser import unguarded


def id_of(kit: Kit, code: str, commodity: str = "HUF") -> int:
    """The ledger's id of an account."""
    return chart.ids(kit.house, {(code, commodity)})[code, commodity]


@pytest.fixture
def traded(kit: Kit) -> Kit:
    """A house in which anna bought and sold chips."""
    kit.players("anna", chips=1_000)
    cashier = kit.cashier()
    cashier.ok("cash-outs", {"player": "anna", "amount": 300})
    cashier.ok("buy-ins", {"player": "anna", "amount": 50})
    return kit


def test_the_list_of_accounts(traded: Kit) -> None:
    office = traded.office()
    rows, url = [], "/api/v1/ledger/accounts?page_size=7"
    while url:
        page = office.http.get(url).json()
        rows += page["results"]
        url = page["next"]
    assert len(rows) == Account.objects.filter(book=traded.house.id).count()
    (wallet,) = office.get("ledger/accounts?account=2010/anna").json()["results"]
    assert wallet == next(row for row in rows if row["account"] == "2010/anna")
    assert wallet["posted_at"] is not None
    del wallet["posted_at"]
    assert wallet == {
        "account": "2010/anna", "kind": "chips outstanding", "commodity": "HUF",
        "normal_side": "credit", "balance": 750, "held": 0, "version": 3, "closed_at": None,
    }  # fmt: skip
    chips = office.get("ledger/accounts?commodity=HUF.MAIN.500").json()["results"]
    assert {row["normal_side"] for row in chips if row["account"] == "9120/C1"} == {"debit"}


def test_a_statement_by_pages(traded: Kit) -> None:
    office = traded.office()
    first = office.get("ledger/accounts/2010/anna/statement?page_size=2").json()
    assert [(row["version"], row["amount"], row["balance"]) for row in first["results"]] == [
        (1, -1_000, 1_000),
        (2, 300, 700),
    ]
    assert first["next_after_version"] == 2
    last = office.get("ledger/accounts/2010/anna/statement?after_version=2").json()
    assert [(row["kind"], row["balance"]) for row in last["results"]] == [("cage.buy_in", 750)]
    assert last["next_after_version"] is None
    assert last["results"][0]["metadata"] == {"drawer": "C1", "player": "anna"}


def test_an_account_is_named_by_its_code_and_what_it_counts(traded: Kit) -> None:
    office = traded.office()
    for row in office.get("ledger/accounts?page_size=1000").json()["results"]:
        # Clients that are made of the schema encode the slashes.
        for named in (row["account"], row["account"].replace("/", "%2F")):
            found = office.get(f"ledger/accounts/{named}/balance?commodity={row['commodity']}").json()
            assert found == {name: row[name] for name in ("account", "commodity", "balance", "version")}
    drawer = "ledger/accounts/9120/C1"
    lines = office.get(f"{drawer}/statement?commodity=HUF.MAIN.500").json()["results"]
    assert lines and sum(line["amount"] for line in lines) == lines[-1]["balance"]
    for wrong in (drawer, f"{drawer}?commodity=", "ledger/accounts/1010%00", "ledger/accounts/1010/"):
        address, _, query = wrong.partition("?")
        for what in ("balance", "statement"):
            assert office.get(f"{address}/{what}?{query}").status_code == 404, wrong


def test_balances_of_the_past(traded: Kit) -> None:
    office = traded.office()

    def held(query: str) -> tuple[int, int]:
        found = office.get(f"ledger/accounts/2010/anna/balance{query}").json()
        return found["balance"], found["version"]

    lines = office.get("ledger/accounts/2010/anna/statement").json()["results"]
    assert [held(f"?version={version}") for version in range(4)] == [(0, 0), (1_000, 1), (700, 2), (750, 3)]
    assert [held(f"?at={line['posted_at']}") for line in lines] == [(1_000, 1), (700, 2), (750, 3)]
    assert held("?at=2020-01-01T00:00:00Z") == (0, 0)
    assert held("") == (750, 3)


UNANSWERED = (
    ("balance?version=4", 404),
    ("balance?version=-1", 400),
    ("balance?version=x", 400),
    ("balance?version=٣", 400),
    ("balance?version=1&at=2020-01-01T00:00:00Z", 400),
    ("balance?at=2020-01-01T00:00:00", 400),
    ("balance?at=yesterday", 400),
    ("balance?at=0001-01-01T00:00:00%2B14:00", 400),
    ("balance?when=now", 400),
    ("statement?after_version=-1", 400),
    ("statement?page_size=0", 400),
    ("statement?page_size=1001", 400),
    ("statement?page=2", 400),
    ("statement?after_version=999999999999999", 200),
)


def test_questions_that_cannot_be_answered(traded: Kit) -> None:
    office = traded.office()
    for path, status in UNANSWERED:
        answer = office.get(f"ledger/accounts/2010/anna/{path}")
        assert answer.status_code == status, (path, answer.text)


def test_an_account_of_another_house_is_not_there(traded: Kit) -> None:
    other = Kit.found()
    office = other.office()
    for path in ("balance", "balance?version=1", "statement"):
        answer = office.get(f"ledger/accounts/2010/anna/{path}")
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert office.get("ledger/accounts/9999/balance").status_code == 404
    other.close()


# --- Exports --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("layout", "media", "ending"),
    [
        ("csv", "text/csv", ".csv"),
        ("jsonl", "application/jsonl", ".jsonl"),
        ("beancount", "text/plain", ".beancount"),
        ("hledger", "text/plain", ".journal"),
    ],
)
def test_the_whole_book_for_download(traded: Kit, layout: str, media: str, ending: str) -> None:
    office = traded.office()
    answer = office.get(f"ledger/export/{layout}", Accept=media)
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"] == f"{media}; charset=utf-8"
    name = answer.headers["Content-Disposition"]
    assert name.startswith(f'attachment; filename="{traded.house.code}-') and name.endswith(f'{ending}"')
    assert "Content-Length" not in answer.headers
    transactions = Transaction.objects.filter(book=traded.house.id)
    if layout == "csv":
        rows = list(csv.DictReader(io.StringIO(answer.text, newline="")))
        assert len(rows) == Entry.objects.filter(transaction__in=transactions).count()
        assert sum(int(row["amount"]) for row in rows if row["commodity"] == "HUF") == 0
    elif layout == "jsonl":
        found = [json.loads(line)["key"] for line in answer.text.splitlines()]
        assert found == list(transactions.order_by("id").values_list("idempotency_key", flat=True))
    else:
        root = "Equity" if layout == "beancount" else "equity"
        assert f"{root}:3010" in answer.text
        assert traded.house.name in answer.text


def test_a_beancount_export_is_accepted(traded: Kit) -> None:
    loader = pytest.importorskip("beancount.loader")
    text = traded.office().get("ledger/export/beancount").text
    entries, errors, _ = loader.load_string(text)
    assert errors == []
    assert len([entry for entry in entries if type(entry).__name__ == "Transaction"]) == (
        Transaction.objects.filter(book=traded.house.id).count()
    )


@pytest.mark.parametrize("layout", ["beancount", "hledger"])
def test_journals_have_the_decimal_places_of_the_currency(live_db: None, layout: str) -> None:
    kit = Kit.found(exponent=2)
    kit.players("anna", chips=12_345)
    downloaded = kit.office().get(f"ledger/export/{layout}", Accept="text/plain").text
    out = io.StringIO()
    call_command("export_ledger", kit.house.code, format=layout, stdout=out, unrecorded=True)
    for text in (downloaded, out.getvalue()):
        assert "123.45 HUF" in text and "12345 HUF" not in text
        # Chips are pieces.
        assert not re.search(r"\.[0-9]+ \"?HUF[.-]", text)
    kit.close()


def test_a_part_of_the_book(traded: Kit) -> None:
    office = traded.office()
    line = office.get("ledger/accounts/2010/anna/statement").json()["results"][1]
    until = office.get(f"ledger/export/jsonl?until={line['posted_at']}").text.splitlines()
    since = office.get(f"ledger/export/jsonl?from={line['posted_at']}").text.splitlines()
    assert json.loads(since[0])["id"] == line["transaction"]
    assert len(since) + len(until) == Transaction.objects.filter(book=traded.house.id).count()


def test_a_download_stands_in_the_trail_and_so_does_a_refused_one(traded: Kit) -> None:
    office, last = traded.office(), last_event()
    for path, status in (("pdf", 404), ("csv?from=x", 400), ("beancount?from=2020-01-01T00:00:00Z", 400)):
        answer = office.get(f"ledger/export/{path}", Accept="text/csv")
        assert answer.status_code == status, answer.text
        assert answer.headers["Content-Type"] == "application/problem+json"
    assert [event["data"]["status"] for event in recorded_since(last, "attempt.refused")] == [404, 400, 400]
    last = last_event()
    assert office.get("ledger/export/csv?until=2020-01-01T00:00:00Z").text.count("\n") == 1
    (event,) = recorded_since(last, "data.read", "attempt.refused")
    assert event["data"] == {
        "operation": "exportBook", "subject": "/api/v1/ledger/export/csv",
        "parameters": [["until", "2020-01-01T00:00:00Z"]],
    }  # fmt: skip
    assert event["role"] == Role.AUDITOR


# --- Counts as assertions -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cash", "chips"),
    [(17_000, 43_000), (16_500, 43_000), (17_300, 42_900), (0, 0)],
    ids=["exact", "cash short", "cash over, chips short", "nothing there"],
)
def test_a_count_is_kept_by_the_ledger(kit: Kit, cash: int, chips: int) -> None:
    kit.players("anna")
    cashier = kit.cashier()
    kit.open_drawer(cashier, cash=10_000, chips=50_000)
    cashier.ok("buy-ins", {"player": "anna", "amount": 7_000})
    pieces = canonical(in_use(kit.house), chips).as_json() if chips != 43_000 else kit.held()["pieces"]
    found = kit.close_drawer(cashier, cash=cash, pieces=pieces)["last_event"]["reconciliation"]
    kept = Assertion.objects.filter(book=kit.house.id)
    (drawer,) = kept.filter(account__code="1020/C1")
    assert (drawer.balance, drawer.metadata) == (cash, {"drawer": "C1", "shift": 1})
    kept_pieces = {
        commodity.rsplit(".")[-1]: balance
        for commodity, balance in kept.filter(account__code="9120/C1").values_list("account__commodity", "balance")
    }
    assert {value: count for value, count in kept_pieces.items() if count} == found["counted_pieces"]
    assert len(kept_pieces) == 9
    assert kit.balance("1020/C1", "9120/C1") == [0, 0]


def test_an_empty_drawer_that_nothing_ever_moved_can_be_counted(kit: Kit) -> None:
    cashier = kit.cashier()
    for shift in (1, 2):
        kit.open_drawer(cashier, cash=0, chips=0)
        kit.close_drawer(cashier)
        # Cash, chips of other houses, and nine denominations.
        assert Assertion.objects.filter(book=kit.house.id, metadata__shift=shift).count() == 11


# --- What beat does -------------------------------------------------------------------------------------------------


def test_beat_knows_the_tasks() -> None:
    from casino.celery import app

    app.loader.import_default_modules()
    named = {name for entry in CELERY_BEAT_SCHEDULE.values() for name in (entry["task"], *entry.get("args", [])[:1])}
    assert {"reports.expire_holds", "reports.take_snapshot", "reports.check_snapshots"} <= named <= set(app.tasks)


def by_the_clock(kit: Kit, kind: str) -> list[dict[str, Any]]:
    """The house's events of a kind, all of its own worker's."""
    found = [event.doc for event in Event.objects.filter(chain__house=kit.house, doc__kind=kind)]
    assert all((event["actor"], event["role"]) == ("worker", "system") for event in found)
    return found


def test_holds_expire(kit: Kit) -> None:
    legs = [Leg(id_of(kit, "1010"), -1), Leg(id_of(kit, "3010"), 1)]
    with transaction.atomic():
        holds.hold(kit.house.id, "short", [Posting("a", "test", legs)], seconds=1)
        holds.hold(kit.house.id, "long", [Posting("b", "test", legs)], seconds=1_000)
    found = Hold.objects.filter(book=kit.house.id).order_by("key")
    with connections["default"].cursor() as cursor:
        cursor.execute(
            "SELECT pg_sleep(greatest(0, extract(epoch FROM %s - clock_timestamp())))", [found[1].expires_at]
        )
    assert tasks.expire_holds(str(kit.house.id))
    assert [hold.state for hold in found.all()] == ["pending", "expired"]
    assert not tasks.expire_holds(str(kit.house.id))
    assert [hold.state for hold in found.all()] == ["pending", "expired"]
    assert [event["data"] for event in by_the_clock(kit, "holds.expired")] == [{"hold_count": 1, "holds": ["short"]}]
    assert Account.objects.get(id=id_of(kit, "1010")).held == 1


def test_a_snapshot_a_day(kit: Kit) -> None:
    name = tasks.daily_snapshot(datetime.now(UTC).date().isoformat())
    assert tasks.take_daily_snapshot(str(kit.house.id))
    kit.players("anna", chips=500)
    assert not tasks.take_daily_snapshot(str(kit.house.id))
    (taken,) = Snapshot.objects.filter(book=kit.house.id)
    # The test may run over midnight.
    assert taken.name >= name
    (event,) = by_the_clock(kit, "snapshot.taken")
    assert event["data"] == {"snapshot": taken.name}
    assert snapshots.balances(kit.house.id, taken.name)[id_of(kit, "1010")].balance == CHIPS
    assert check_newest(kit.house)
    assert snapshots.differences(kit.house.id, taken.name) == []


@pytest.fixture
def damaged(traded: Kit) -> Iterator[int]:
    """The id of a wallet of which a snapshot says 10 too much, as only a superuser can make it say."""
    for name in ("first", "second"):
        with transaction.atomic():
            snapshots.take(traded.house.id, name)
    wallet = id_of(traded, "2010/anna")
    line = SnapshotLine.objects.filter(snapshot__book=traded.house.id, snapshot__name="second", account=wallet)
    _force(line.get().snapshot_id, wallet, 10)
    yield wallet
    _force(line.get().snapshot_id, wallet, -10)


def _force(snapshot: int, account: int, more: int) -> None:
    with unguarded("ledger_snapshot_line") as cursor:
        cursor.execute(
            "UPDATE ledger_snapshot_line SET balance = balance + %s WHERE snapshot_id = %s AND account_id = %s",
            [more, snapshot, account],
        )


def test_a_snapshot_that_was_changed_is_found_kept_and_cleared(
    traded: Kit, damaged: int, caplog: pytest.LogCaptureFixture
) -> None:
    house = traded.house
    assert [check_newest(house), check_newest(house)] == [False, False]
    assert "do not agree" in caplog.text
    (found,) = Imbalance.objects.filter(house=house)
    (subject, total) = found.found["second"]
    assert subject == {
        "subject": "2010/anna HUF",
        "detail": "holds 760 at version 3, its entries give 750 at version 3",
    }
    assert total == {"subject": "HUF", "detail": "sums to -10"}
    # The check of chips against money neither sees it nor clears it.
    assert check(house)
    (recorded,) = house_report(house)["imbalances"]
    assert (recorded["kind"], recorded["cleared_at"]) == ("snapshot", None)
    assert not check_snapshots(str(traded.house.id))
    snapshot = SnapshotLine.objects.get(snapshot__book=house.id, snapshot__name="second", account=damaged).snapshot_id
    _force(snapshot, damaged, -10)
    assert check_newest(house)
    assert not Imbalance.objects.filter(house=house, cleared_at=None).exists()
    _force(snapshot, damaged, 10)


def test_snapshots_are_compared_with_the_one_before_or_with_everything(traded: Kit, damaged: int) -> None:
    book = traded.house.id
    with transaction.atomic():
        snapshots.take(book, "third")
    assert set(newest_problems(traded.house)) == {"second", "third"}
    verified = verification(traded.house)
    # The seal over the snapshot's lines is broken too.
    second = Snapshot.objects.get(book=book, name="second")
    subjects = {one["subject"] for one in verified["book_findings"]}
    assert (subjects, verified["ok"]) == ({"second", f"lines of snapshot {second.id}"}, False)
    assert snapshots.differences(book, "third") == []
    assert [one.detail for one in snapshots.differences(book, "third", after="second")] == [
        "holds 750 at version 3, its entries give 760 at version 3"
    ]
    assert [(one.subject, one.detail) for one in snapshots.differences(book, "never")] == [
        ("never", "there is no such snapshot")
    ]
