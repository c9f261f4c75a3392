"""CSV and JSON Lines say what the rows say: all of it, as of one instant, in the same memory for any number of them."""

import csv
import gc
import io
import itertools
import json
import time
import tracemalloc
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection, transaction

from ledger import checks, exports, posting
from ledger.errors import InvalidExport, UnknownBook
from ledger.models import Account
from ledger.posting import AccountSpec, Leg
from tests.ledger.bulk import LEGS, fill, open_bulk
from tests.ledger.support import APP, OWNER, Shop, open_shop, run
from tests.ledger.test_concurrency import together

ODD = ['a,"b"', "two\r\nlines", "sor\u2028vég\x85", "=1+1", "-x", " edge ", "'", "日本"]
UTC_TEXT = "%Y-%m-%dT%H:%M:%S.%fZ"


@pytest.fixture
def busy(shop: Shop) -> Shop:
    """A book with every sort of row: odd texts, a reversal, a closed account, an occurred_at, huge metadata."""
    first = shop.pay_in("in", shop.anna, 2000)
    shop.post("pairs", (shop.anna, 30), (shop.bela, -30), (shop.anna, 5), (shop.bela, -5))
    shop.post(
        "apples", (shop.sold, 3), (shop.stock, -3), digits=10**40, text='ő "\u2028"\n', nested={"b": [None], "a": 1}
    )
    with transaction.atomic():
        odd = posting.ensure_accounts(shop.book, [AccountSpec(text, text, text, 1, None) for text in ODD])
        other = posting.ensure_accounts(shop.book, [AccountSpec("other", "x", text, -1, None) for text in ODD])
        for text in ODD:
            legs = [Leg(odd[text, text], posting.MAX_AMOUNT), Leg(other["other", text], -posting.MAX_AMOUNT)]
            posting.post(shop.book, text, text, legs, {}, datetime(1999, 12, 31, 23, tzinfo=UTC))
        posting.reverse(shop.book, "undo", first.transaction_id + 1, {})
        closed = posting.open_account(shop.book, "closed", "liability", "EUR", posting.CREDIT)
        posting.close_account(shop.book, closed)
    return shop


def stored(book: uuid.UUID) -> list[dict[str, Any]]:
    """The book's transactions with their legs, straight from the tables."""
    legs: dict[int, list[dict[str, Any]]] = {}
    for number, *values in run(
        APP,
        "SELECT e.transaction_id, e.account_id, e.amount, e.balance_after, a.code, a.commodity, e.version"
        " FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id WHERE a.book = %s"
        " ORDER BY e.account_id, e.version",
        [book],
    ):
        names = ("account", "amount", "balance_after", "code", "commodity", "version")
        legs.setdefault(number, []).append(dict(zip(names, values, strict=True)))
    rows = run(
        APP,
        "SELECT id, idempotency_key, kind, metadata::text, occurred_at, posted_at, reverses_id"
        " FROM ledger_transaction WHERE book = %s ORDER BY id",
        [book],
    )
    return [
        {
            "id": number,
            "key": key,
            "kind": kind,
            "legs": legs[number],
            "metadata": json.loads(metadata),
            "occurred_at": occurred_at and occurred_at.astimezone(UTC).strftime(UTC_TEXT),
            "posted_at": posted_at.astimezone(UTC).strftime(UTC_TEXT),
            "reverses": reverses,
        }
        for number, key, kind, metadata, occurred_at, posted_at, reverses in rows
    ]


def objects(text: Iterator[str]) -> list[dict[str, Any]]:
    """JSON Lines, read again."""
    return [json.loads(line) for line in "".join(text).splitlines()]


def sheet(text: Iterator[str]) -> list[dict[str, str]]:
    """CSV, read again."""
    return list(csv.DictReader(io.StringIO("".join(text), newline=""), strict=True))


def test_jsonl_is_what_is_stored(busy: Shop) -> None:
    text = "".join(exports.jsonl_transactions(busy.book))
    assert objects(iter([text])) == stored(busy.book)
    assert text == "".join(exports.jsonl_transactions(str(busy.book).upper()))
    for line in text.splitlines():
        found = json.loads(line)
        assert list(found) == sorted(found)
        assert all(list(leg) == sorted(leg) for leg in found["legs"])
    assert text.count("\n") == len(text.splitlines())  # a line for str.splitlines, for `wc` and for `split -l` alike


def test_csv_is_what_is_stored(busy: Shop) -> None:
    text = "".join(exports.csv_entries(busy.book))
    expected = []
    for one in stored(busy.book):
        head = {**one, "transaction": one["id"]}
        expected += [{**head, **leg} for leg in one["legs"]]
    lines = sheet(iter([text]))
    for line, row in zip(lines, expected, strict=True):
        assert tuple(line) == exports.ENTRY_COLUMNS
        assert json.loads(line.pop("metadata")) == row.pop("metadata")
        assert line == {name: "" if row[name] is None else str(row[name]) for name in line}
    assert text.startswith("transaction,posted_at,")
    assert text.endswith("\r\n")
    assert '"two\r\nlines"' in text
    assert '"a,""b"""' in text


def test_accounts(busy: Shop) -> None:
    expected = [
        {
            **{name: getattr(account, name) for name in exports.ACCOUNT_COLUMNS},
            **{
                name: moment and moment.astimezone(UTC).strftime(UTC_TEXT)
                for name in ("opened_at", "closed_at", "posted_at")
                for moment in [getattr(account, name)]
            },
        }
        for account in Account.objects.filter(book=busy.book).order_by("id")
    ]
    assert objects(exports.jsonl_accounts(busy.book)) == expected
    assert [line["closed_at"] is not None for line in expected] == [line["code"] == "closed" for line in expected]
    blank = [{name: "" if value is None else str(value) for name, value in line.items()} for line in expected]
    assert sheet(exports.csv_accounts(busy.book)) == blank


def test_formulas(busy: Shop) -> None:
    plain, guarded = sheet(exports.csv_entries(busy.book)), sheet(exports.csv_entries(busy.book, spreadsheet=True))
    assert {line["code"] for line in plain} >= {"=1+1", "-x", "'"}
    assert {line["code"] for line in guarded} >= {"'=1+1", "'-x", "'"}
    assert [line["amount"] for line in guarded] == [line["amount"] for line in plain]  # numbers stay numbers
    assert "'=1+1" in {line["code"] for line in sheet(exports.csv_accounts(busy.book, spreadsheet=True))}


def test_metadata_keeps_every_digit(busy: Shop) -> None:
    text = "".join(exports.jsonl_transactions(busy.book))
    assert f'"digits": 1{"0" * 40}' in text


def test_since_and_until(shop: Shop) -> None:
    posted = [shop.pay_in(f"in {number}", shop.anna, 1) for number in range(5)]
    moments = [one.posted_at for one in posted]
    ids = [one.transaction_id for one in posted]

    def found(**limits: datetime) -> list[int]:
        in_csv = [int(line["transaction"]) for line in sheet(exports.csv_entries(shop.book, **limits))]
        in_json = [line["id"] for line in objects(exports.jsonl_transactions(shop.book, **limits))]
        assert in_csv == [number for number in in_json for _ in range(2)]
        return in_json

    assert found(since=moments[1], until=moments[3]) == ids[1:3]
    assert found(since=moments[1] + timedelta(microseconds=1)) == ids[2:]
    assert found(until=moments[0]) == []
    assert found(since=moments[0], until=moments[4] + timedelta(microseconds=1)) == ids


@pytest.mark.parametrize(
    "export", [exports.csv_entries, exports.jsonl_transactions, exports.csv_accounts, exports.jsonl_accounts]
)
def test_unknown_books_are_refused_at_once(live_db: None, export: Callable[[object], Iterator[str]]) -> None:
    for book in (uuid.uuid4(), "nonsense", ""):
        with pytest.raises(UnknownBook) as caught:
            export(book)
        assert (caught.value.code, caught.value.params) == ("unknown_book", {"book": str(book)})


def test_moments_need_a_time_zone(shop: Shop) -> None:
    with pytest.raises(InvalidExport):
        exports.jsonl_transactions(shop.book, since=datetime(2026, 1, 1))  # noqa: DTZ001
    with pytest.raises(InvalidExport):
        exports.csv_entries(shop.book, until=datetime(2026, 1, 1))  # noqa: DTZ001


def test_other_books_stay_out(busy: Shop) -> None:
    other = open_shop()
    assert objects(exports.jsonl_transactions(other.book)) == []
    assert sheet(exports.csv_entries(other.book)) == []
    assert len(objects(exports.jsonl_accounts(other.book))) == 5


def test_one_instant(shop: Shop) -> None:
    """Postings made while the export is being read are not in it, nor what its caller has not committed."""
    before = shop.pay_in("before", shop.anna, 10)
    with transaction.atomic():
        posting.post(shop.book, "undone", "test", [Leg(shop.till, 1), Leg(shop.anna, -1)], {})
        assert [line["key"] for line in objects(exports.jsonl_transactions(shop.book))] == ["before"]
        transaction.set_rollback(True)
    with exports.snapshot(shop.book) as found:
        shop.pay_in("during", shop.anna, 5)
        assert [one.id for one in found.transactions()] == [before.transaction_id]
        shop.pay_in("later", shop.anna, 5)
        held = {account.id: (account.balance, account.version) for account in found.accounts()}
    assert (held[shop.anna], held[shop.till]) == ((10, 1), (10, 1))


def test_consistent_while_others_post(shop: Shop) -> None:
    """Each export is whole: zero in sum, versions without a gap, and the accounts hold what the entries say."""
    shop.pay_in("float", shop.anna, 1000)

    def work(number: int) -> object:
        if number % 3:
            legs = ((shop.anna, 1), (shop.bela, -1), (shop.anna, 2), (shop.bela, -2))
            return [shop.post(f"{number}:{turn}", *legs) for turn in range(20)]
        return [_checked(shop.book) for _ in range(8)]

    results = together(work, 6)
    assert [result for result in results if isinstance(result, BaseException)] == []
    sizes = [size for result in results[::3] for size in result]  # type: ignore[attr-defined]
    assert len(set(sizes)) > 1
    assert checks.verify(shop.book) == []


def _checked(book: uuid.UUID) -> int:
    with exports.snapshot(book) as found:
        held = {account.id: (account.version, account.balance) for account in found.accounts()}
        last = dict.fromkeys(held, (0, 0))
        count = 0
        for one in found.transactions():
            assert sum(leg.amount for leg in one.legs) == 0
            for leg in one.legs:
                assert leg.version == last[leg.account][0] + 1
                last[leg.account] = (leg.version, leg.balance_after)
            count += 1
    assert last == held
    return count


def test_reads_only_and_leaves_nothing_open(live_db: None) -> None:
    book, accounts = open_bulk()
    fill(book, accounts, 1, exports.BATCH * 3)
    sessions = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND backend_xmin IS NOT NULL"
        " AND backend_type = 'client backend'"
    )
    before = run(OWNER, sessions)
    text = exports.jsonl_transactions(book)
    assert run(OWNER, sessions) == before  # nothing is held before the first piece
    assert len(next(text).splitlines()) == exports.BATCH
    assert run(OWNER, sessions) == [(before[0][0] + 1,)]
    text.close()  # type: ignore[attr-defined]
    assert run(OWNER, sessions) == before
    half = exports.csv_entries(book)
    next(half)
    del half
    gc.collect()
    deadline = time.monotonic() + 10  # PostgreSQL takes its leave of a client in its own time
    while run(OWNER, sessions) != before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert run(OWNER, sessions) == before
    assert not connection.in_atomic_block
    with exports.snapshot(book) as found, found._connection.cursor() as cursor:
        cursor.execute("SHOW transaction_isolation")
        assert cursor.fetchone() == ("repeatable read",)
        cursor.execute("SHOW transaction_read_only")
        assert cursor.fetchone() == ("on",)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_entries(live_db: None) -> None:
    book, accounts = open_bulk()
    peaks = []
    for first, last in itertools.pairwise([0, 1000, 10_000]):
        fill(book, accounts, first + 1, last)
        for export in (exports.csv_entries, exports.jsonl_transactions):
            lines, peak = _peak(export(book))
            assert lines == (last * LEGS + 1 if export is exports.csv_entries else last)
            peaks.append(peak)
    assert max(peaks) < 4_000_000  # bytes
    assert peaks[2] < peaks[0] * 1.25
    assert peaks[3] < peaks[1] * 1.25


def _peak(text: Iterator[str]) -> tuple[int, int]:
    """How many lines there are, and the most memory that Python had allocated at once meanwhile, in bytes."""
    tracemalloc.start()
    try:
        lines = sum(piece.count("\n") for piece in text)
        return lines, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
