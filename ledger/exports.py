"""A book as text: CSV with a line for each entry, JSON Lines with an object for each transaction, lists of accounts.

Every export reads one snapshot (REPEATABLE READ, READ ONLY) through a separate connection and cursor: it is consistent
while others post, needs the same memory for any number of entries, and may be handed on piece by piece, for instance to
Django's StreamingHttpResponse. Closing or dropping the iterator ends the database transaction. What the calling
transaction has not committed yet is not in it.

Transactions come in the order of their ids, the legs of one in the order of (account, version). Amounts are integers in
minor units, debit positive; `balance_after` and `balance` count on the account's normal side; moments are RFC 3339 in
UTC with microseconds. Metadata is written as PostgreSQL keeps it, with every digit of its numbers.
"""

import csv
import io
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from json import JSONEncoder
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from ledger.errors import InvalidExport, UnknownBook
from ledger.models import Account

BATCH = 500
"""Rows (transactions or accounts) fetched, and handed on as one piece of text, at a time."""

Book = str | uuid.UUID


@dataclass(frozen=True, slots=True)
class AccountRow:
    """An account with its balance in the snapshot; `first_posted_at` and `posted_at` are None before any entry."""

    id: int
    code: str
    kind: str
    commodity: str
    normal_side: int
    min_balance: int | None
    balance: int
    version: int
    opened_at: str
    closed_at: str | None
    first_posted_at: str | None
    posted_at: str | None


@dataclass(frozen=True, slots=True)
class LegRow:
    """One entry: `amount` debit positive, `balance_after` on the account's normal side."""

    account: int
    code: str
    commodity: str
    version: int
    amount: int
    balance_after: int


@dataclass(frozen=True, slots=True)
class TransactionRow:
    """One transaction with its legs; `metadata` is JSON text, `reverses` the id of another transaction."""

    id: int
    key: str
    kind: str
    posted_at: str
    occurred_at: str | None
    reverses: int | None
    metadata: str
    legs: tuple[LegRow, ...]


ACCOUNT_COLUMNS = tuple(field for field in AccountRow.__slots__ if field != "first_posted_at")
"""Columns of the lists of accounts."""
ENTRY_COLUMNS = (
    *("transaction", "posted_at", "occurred_at", "kind", "key", "reverses"),
    *("account", "code", "commodity", "version", "amount", "balance_after", "metadata"),
)
"""Columns of the CSV of entries; the metadata is the transaction's."""

_UTC = """to_char({} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""
_ACCOUNTS = f"""
    SELECT a.id, a.code, a.kind, a.commodity, a.normal_side, a.min_balance, a.balance, a.version,
           {_UTC.format("a.opened_at")}, {_UTC.format("a.closed_at")}, {_UTC.format("t.posted_at")},
           {_UTC.format("a.posted_at")}
    FROM ledger_account a
    LEFT JOIN ledger_entry e ON e.account_id = a.id AND e.version = 1
    LEFT JOIN ledger_transaction t ON t.id = e.transaction_id
    WHERE a.book = %(book)s ORDER BY a.id
"""  # noqa: S608 - made of constants
_TRANSACTIONS = f"""
    SELECT t.id, t.idempotency_key, t.kind, {_UTC.format("t.posted_at")}, {_UTC.format("t.occurred_at")},
           t.reverses_id, t.metadata::text, l.accounts, l.codes, l.commodities, l.versions, l.amounts, l.balances
    FROM ledger_transaction t
    CROSS JOIN LATERAL (
        SELECT array_agg(e.account_id ORDER BY e.account_id, e.version) AS accounts,
               array_agg(a.code ORDER BY e.account_id, e.version) AS codes,
               array_agg(a.commodity ORDER BY e.account_id, e.version) AS commodities,
               array_agg(e.version ORDER BY e.account_id, e.version) AS versions,
               array_agg(e.amount ORDER BY e.account_id, e.version) AS amounts,
               array_agg(e.balance_after ORDER BY e.account_id, e.version) AS balances
        FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id
        WHERE e.transaction_id = t.id
    ) l
    WHERE t.book = %(book)s
      AND (%(since)s::timestamptz IS NULL OR t.posted_at >= %(since)s::timestamptz)
      AND (%(until)s::timestamptz IS NULL OR t.posted_at < %(until)s::timestamptz)
    ORDER BY t.id
"""  # noqa: S608 - made of constants


class Snapshot:
    """One book as it was at one instant; good for as long as the `snapshot` block that made it."""

    def __init__(self, connection: BaseDatabaseWrapper, book: uuid.UUID) -> None:
        self._connection = connection
        self._book = book

    def accounts(self) -> Iterator[AccountRow]:
        """The book's accounts in the order of their ids."""
        for rows in self._batches(_ACCOUNTS, {"book": self._book}):
            for row in rows:
                yield AccountRow(*row)

    def transactions(self, since: datetime | None = None, until: datetime | None = None) -> Iterator[TransactionRow]:
        """Transactions posted at or after `since` and before `until`, in the order of their ids."""
        for rows in self._batches(_TRANSACTIONS, {"book": self._book, "since": since, "until": until}):
            for row in rows:
                number, key, kind, posted_at, occurred_at, reverses, metadata, *legs = row
                rows_of_legs = tuple(map(LegRow, *legs))
                yield TransactionRow(number, key, kind, posted_at, occurred_at, reverses, metadata, rows_of_legs)

    def _batches(self, sql: str, params: dict[str, Any]) -> Iterator[Sequence[tuple[Any, ...]]]:
        with self._connection.chunked_cursor() as cursor:
            cursor.execute(sql, params)
            while rows := cursor.fetchmany(BATCH):
                yield rows


@contextmanager
def snapshot(book: Book, *, using: str = DEFAULT_DB_ALIAS) -> Iterator[Snapshot]:
    """The book as it is now, on a separate connection, for as long as the block lasts."""
    connection = connections[using].copy()
    connection.inc_thread_sharing()  # one user at a time, though a server may read each piece from another thread
    try:
        connection.set_autocommit(False)
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            cursor.execute("SELECT 1")  # the snapshot is taken here, not with the first row
        yield Snapshot(connection, uuid.UUID(str(book)))
    finally:
        connection.close()


def csv_entries(
    book: Book,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    spreadsheet: bool = False,
    using: str = DEFAULT_DB_ALIAS,
) -> Iterator[str]:
    """RFC 4180: a header of ENTRY_COLUMNS, then a line for each entry; nothing between commas stands for null.

    Transactions posted at or after `since` and before `until`. Text is written as it is, so that it reads back the
    same; `spreadsheet` puts an apostrophe before text that a spreadsheet would take for a formula.
    Raises UnknownBook, InvalidExport.
    """
    require_book(book, since, until, using=using)
    return _csv_entries(book, since, until, _guarded if spreadsheet else str, using)


def jsonl_transactions(
    book: Book, *, since: datetime | None = None, until: datetime | None = None, using: str = DEFAULT_DB_ALIAS
) -> Iterator[str]:
    """JSON Lines: an object for each transaction with its legs, keys sorted, no line end within one.

    Transactions posted at or after `since` and before `until`. Integers have up to 19 digits: read them with a parser
    that does not turn them into floating point. Raises UnknownBook, InvalidExport.
    """
    require_book(book, since, until, using=using)
    return _jsonl_transactions(book, since, until, using)


def csv_accounts(book: Book, *, spreadsheet: bool = False, using: str = DEFAULT_DB_ALIAS) -> Iterator[str]:
    """RFC 4180: a header of ACCOUNT_COLUMNS, then a line for each account of the book. Raises UnknownBook."""
    require_book(book, using=using)
    return _csv_accounts(book, _guarded if spreadsheet else str, using)


def jsonl_accounts(book: Book, *, using: str = DEFAULT_DB_ALIAS) -> Iterator[str]:
    """JSON Lines: an object for each account of the book, keys sorted. Raises UnknownBook."""
    require_book(book, using=using)
    return _jsonl_accounts(book, using)


def require_book(book: Book, *moments: datetime | None, using: str = DEFAULT_DB_ALIAS) -> None:
    """Raise UnknownBook unless an account is in the book, InvalidExport for a moment without a time zone."""
    for moment in moments:
        if moment is not None and moment.tzinfo is None:
            raise InvalidExport(f"{moment} needs a time zone", {"moment": str(moment)})
    try:
        known = Account.objects.using(using).filter(book=uuid.UUID(str(book))).exists()
    except ValueError:
        known = False
    if not known:
        raise UnknownBook(f"there is no book {book}", {"book": str(book)})


def utc(moment: datetime) -> str:
    """RFC 3339 in UTC with microseconds, as everything here writes moments."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"


def _csv_entries(
    book: Book, since: datetime | None, until: datetime | None, text: Callable[[str], str], using: str
) -> Iterator[str]:
    sheet = _Sheet(ENTRY_COLUMNS)
    with snapshot(book, using=using) as found:
        for number, one in enumerate(found.transactions(since, until), 1):
            head = (one.id, one.posted_at, one.occurred_at, text(one.kind), text(one.key), one.reverses)
            for leg in one.legs:
                place = (leg.account, text(leg.code), text(leg.commodity))
                sheet.row((*head, *place, leg.version, leg.amount, leg.balance_after, one.metadata))
            if number % BATCH == 0:
                yield sheet.take()
        yield sheet.take()


def _csv_accounts(book: Book, text: Callable[[str], str], using: str) -> Iterator[str]:
    sheet = _Sheet(ACCOUNT_COLUMNS)
    with snapshot(book, using=using) as found:
        for number, one in enumerate(found.accounts(), 1):
            values = (getattr(one, name) for name in ACCOUNT_COLUMNS)
            sheet.row([text(value) if isinstance(value, str) else value for value in values])
            if number % BATCH == 0:
                yield sheet.take()
        yield sheet.take()


def _jsonl_transactions(book: Book, since: datetime | None, until: datetime | None, using: str) -> Iterator[str]:
    with snapshot(book, using=using) as found:
        yield from pieces(_one_line(_transaction_json(one)) for one in found.transactions(since, until))


def _jsonl_accounts(book: Book, using: str) -> Iterator[str]:
    names = sorted(ACCOUNT_COLUMNS)
    with snapshot(book, using=using) as found:
        yield from pieces(_one_line(_JSON({name: getattr(one, name) for name in names})) for one in found.accounts())


_JSON = JSONEncoder(ensure_ascii=False).encode


def _transaction_json(one: TransactionRow) -> str:
    legs = ", ".join(
        f'{{"account": {leg.account}, "amount": {leg.amount}, "balance_after": {leg.balance_after}, '
        f'"code": {_JSON(leg.code)}, "commodity": {_JSON(leg.commodity)}, "version": {leg.version}}}'
        for leg in one.legs
    )
    return (
        f'{{"id": {one.id}, "key": {_JSON(one.key)}, "kind": {_JSON(one.kind)}, "legs": [{legs}], '
        f'"metadata": {one.metadata}, "occurred_at": {_JSON(one.occurred_at)}, "posted_at": "{one.posted_at}", '
        f'"reverses": {_JSON(one.reverses)}}}'
    )


_LINE_ENDS = {ord(character): f"\\u{ord(character):04x}" for character in "\x85\u2028\u2029"}


def _one_line(json_text: str) -> str:
    """JSON leaves three characters inside strings that Unicode counts as ends of lines."""
    return (json_text if json_text.isascii() else json_text.translate(_LINE_ENDS)) + "\n"


def _guarded(value: str) -> str:
    return f"'{value}" if value.startswith(("=", "+", "-", "@", "\t", "\r")) else value


class _Sheet:
    """CSV lines collected until they are taken."""

    def __init__(self, columns: Sequence[str]) -> None:
        self._buffer = io.StringIO(newline="")
        self._writer = csv.writer(self._buffer)
        self.row(columns)

    def row(self, values: Sequence[object]) -> None:
        """Add one line."""
        self._writer.writerow(values)

    def take(self) -> str:
        """The lines since the last call."""
        text = self._buffer.getvalue()
        self._buffer.seek(0)
        self._buffer.truncate()
        return text


def pieces(lines: Iterable[str]) -> Iterator[str]:
    """The same text in fewer pieces, BATCH lines in each."""
    kept: list[str] = []
    for line in lines:
        kept.append(line)
        if len(kept) == BATCH:
            yield "".join(kept)
            kept.clear()
    if kept:
        yield "".join(kept)
