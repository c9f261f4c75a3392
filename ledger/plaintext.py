"""A book as a plain-text journal that other programs check: in beancount's and in hledger's format.

Both files carry their own proof: `bean-check FILE` and `hledger -f FILE check` refuse one in which an amount was
changed, dropped or added. beancount gets what each account holds at the end (and with `daily` after each of its
days), hledger what it holds after every single entry and at the end.

Amounts are debit positive, in minor units; `decimals` writes a commodity with that many places instead, exactly. The
first component of an account's name is its root: Assets for debit accounts and Liabilities for credit accounts, unless
`roots` has another one for the account's kind. `ledger.names` has the names' way back to codes. Days are UTC's.

A transaction has its id as a beancount link (`^tx-12`; a reversal has its original's too) or as an hledger code
(`(12)`, with a tag `reverses`), its kind as narration, and key, times and metadata as metadata or tags. Memory grows
with the number of accounts, not of entries.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from django.db import DEFAULT_DB_ALIAS

from ledger import names
from ledger.errors import InvalidExport
from ledger.exports import AccountRow, Book, TransactionRow, pieces, require_book, snapshot, utc
from ledger.posting import DEBIT

MAX_PLACES = 18
"""Most decimal places of a commodity."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a book is written out: `title` (default: its id), `roots` by kind of account, `decimals` by commodity.

    Raises InvalidExport.
    """

    title: str | None = None
    roots: Mapping[str, str] = field(default_factory=dict)
    decimals: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for kind, root in self.roots.items():
            if root not in names.ROOTS:
                raise InvalidExport(f"{root} of {kind} is none of {', '.join(names.ROOTS)}", {"root": root})
        for commodity, places in self.decimals.items():
            if not 0 <= places <= MAX_PLACES:
                raise InvalidExport(f"{commodity} has 0 to {MAX_PLACES} places, not {places}", {"places": places})

    def root(self, account: AccountRow) -> str:
        """The first component of an account's name."""
        usual = names.ASSETS if account.normal_side == DEBIT else names.LIABILITIES
        return self.roots.get(account.kind, usual)


DEFAULT_LOOK = Look()


def beancount(
    book: Book,
    *,
    look: Look = DEFAULT_LOOK,
    until: datetime | None = None,
    daily: bool = False,
    using: str = DEFAULT_DB_ALIAS,
) -> Iterator[str]:
    """The book up to `until` (not included) for beancount 3, piece by piece. Raises UnknownBook, InvalidExport."""
    require_book(book, until, using=using)
    return pieces(_beancount(book, look, until, daily, using))


def hledger(
    book: Book, *, look: Look = DEFAULT_LOOK, until: datetime | None = None, using: str = DEFAULT_DB_ALIAS
) -> Iterator[str]:
    """The book up to `until` (not included) as an hledger journal, piece by piece. Raises UnknownBook, InvalidExport.

    hledger reads it in a UTF-8 locale.
    """
    require_book(book, until, using=using)
    return pieces(_hledger(book, look, until, using))


def decimal(amount: int, places: int) -> str:
    """An amount of minor units written with `places` decimal places."""
    if not places:
        return str(amount)
    whole, rest = divmod(abs(amount), 10**places)
    return f"{'-' if amount < 0 else ''}{whole}.{rest:0{places}d}"


@dataclass(slots=True)
class _Account:
    """An account under its exported name, and what it holds after the entries written so far (debit positive)."""

    row: AccountRow
    name: str
    commodity: str
    places: int
    balance: int = 0
    day: str = ""
    """Day of the newest entry written."""

    def move(self, balance_after: int, day: str) -> None:
        """Take in one entry."""
        self.balance, self.day = balance_after * self.row.normal_side, day

    def settle(self, until: datetime | None) -> None:
        """Without a limit the account's own row says what it holds in the end; its entries must agree with that."""
        if until is None:
            self.balance = self.row.balance * self.row.normal_side

    def money(self, amount: int) -> str:
        """An amount of the account's commodity."""
        return f"{decimal(amount, self.places)} {self.commodity}"


def _before(rows: Iterable[AccountRow], until: datetime | None) -> list[AccountRow]:
    """The accounts that were there before `until`."""
    return [row for row in rows if until is None or _opened(row) < utc(until)]


def _opened(row: AccountRow) -> str:
    """When the account was opened, or got its first entry while the clock was set back."""
    return min(row.opened_at, row.first_posted_at or row.opened_at)


def _closed(row: AccountRow, until: datetime | None) -> str | None:
    """When the account was closed for good, as far as `until` knows."""
    if row.closed_at is None or (until is not None and row.closed_at >= utc(until)):
        return None
    return max(row.closed_at, row.posted_at or row.closed_at)


# beancount ---------------------------------------------------------------------------------------------------------


def _beancount(book: Book, look: Look, until: datetime | None, daily: bool, using: str) -> Iterator[str]:
    with snapshot(book, using=using) as found:
        accounts = _beancount_accounts(_before(found.accounts(), until), look)
        yield f'option "title" {_string(look.title or f"Book {book}")}\n'
        yield from _beancount_openings(accounts.values())
        last = max((_opened(account.row)[:10] for account in accounts.values()), default="")
        count = 0
        for one in found.transactions(until=until):
            day = one.posted_at[:10]
            if daily:
                yield from _days_over([accounts[leg.account] for leg in one.legs], day)
            yield _beancount_transaction(one, accounts)
            last, count = max(last, day), count + 1
    for account in accounts.values():
        account.settle(until)
        yield _holds(account, last)
    yield from _beancount_closings(accounts.values(), until)
    yield f"\n; end: {count} transactions\n"


def _beancount_accounts(rows: Iterable[AccountRow], look: Look) -> dict[int, _Account]:
    plain = {row.id: (row, names.beancount_account(look.root(row), row.code)) for row in rows}
    above = {name[: place.start()] for _, name in plain.values() for place in re.finditer(":", name)}
    return {
        account: _Account(
            row,
            names.beancount_account(look.root(row), row.code, above_others=True) if name in above else name,
            names.beancount_commodity(row.commodity),
            look.decimals.get(row.commodity, 0),
        )
        for account, (row, name) in plain.items()
    }


def _beancount_openings(accounts: Iterable[_Account]) -> Iterator[str]:
    first: dict[str, str] = {}
    for account in accounts:
        day = _opened(account.row)[:10]
        first[account.row.commodity] = min(day, first.get(account.row.commodity, day))
    for commodity, day in sorted(first.items()):
        yield f"\n{day} commodity {names.beancount_commodity(commodity)}\n  name: {_string(commodity)}\n"
    for name, same in _by_name(accounts):
        day = min(_opened(account.row) for account in same)[:10]
        # A space before the comma: beancount does not see a commodity of one letter otherwise.
        commodities = " , ".join(sorted(account.commodity for account in same))
        kinds = ", ".join(sorted({account.row.kind for account in same}))
        yield f"\n{day} open {name} {commodities}\n"
        yield f"  code: {_string(same[0].row.code)}\n  kind: {_string(kinds)}\n"


def _beancount_transaction(one: TransactionRow, accounts: Mapping[int, _Account]) -> str:
    day = one.posted_at[:10]
    link = "" if one.reverses is None else f" ^tx-{one.reverses}"
    lines = [f"\n{day} * {_string(one.kind)} ^tx-{one.id}{link}"]
    lines += [f"  {name}: {_string(value)}" for name, value in _about(one)]
    for leg in one.legs:
        account = accounts[leg.account]
        account.move(leg.balance_after, day)
        lines.append(f"  {account.name}  {account.money(leg.amount)}")
    return "\n".join(lines) + "\n"


def _days_over(accounts: Iterable[_Account], day: str) -> Iterator[str]:
    """What each of the accounts held at the end of its last day, if that is before `day`."""
    for account in {account.row.id: account for account in accounts}.values():
        if account.day and account.day < day:
            yield _holds(account, account.day)


def _holds(account: _Account, day: str) -> str:
    """What an account holds at the end of a day: beancount looks at the start of the next one.

    `~ 0`: with decimal places it would let a difference of the last one pass.
    """
    start = date.fromisoformat(day) + timedelta(days=1)
    return f"\n{start} balance {account.name}  {decimal(account.balance, account.places)} ~ 0 {account.commodity}\n"


def _beancount_closings(accounts: Iterable[_Account], until: datetime | None) -> Iterator[str]:
    for name, same in _by_name(accounts):
        closed = [moment for account in same if (moment := _closed(account.row, until))]
        if len(closed) == len(same):
            yield f"\n{max(closed)[:10]} close {name}\n"


def _by_name(accounts: Iterable[_Account]) -> list[tuple[str, list[_Account]]]:
    """Accounts with one code in several commodities are one account of several commodities."""
    found: dict[str, list[_Account]] = {}
    for account in accounts:
        found.setdefault(account.name, []).append(account)
    return sorted(found.items())


def _string(text: str) -> str:
    return '"' + text.translate(_ESCAPES) + '"'


_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})


# hledger -----------------------------------------------------------------------------------------------------------

_TYPES = {names.ASSETS: "A", names.LIABILITIES: "L", names.EQUITY: "E", names.INCOME: "R", names.EXPENSES: "X"}


def _hledger(book: Book, look: Look, until: datetime | None, using: str) -> Iterator[str]:
    with snapshot(book, using=using) as found:
        accounts = {row.id: _hledger_account(row, look) for row in _before(found.accounts(), until)}
        yield f"; {names.hledger_text(look.title or f'Book {book}')}\n\ndecimal-mark .\n\n"
        yield from _hledger_openings(accounts.values(), look)
        last, count = "", 0
        for one in found.transactions(until=until):
            yield _hledger_transaction(one, accounts)
            last, count = max(last, one.posted_at[:10]), count + 1
    if count:
        yield f"\n{last} * balances\n"
    for account in accounts.values() if count else ():
        account.settle(until)
        yield f"    {account.name}  {account.money(0)} = {account.money(account.balance)}\n"
    yield f"\n; end: {count} transactions\n"


def _hledger_account(row: AccountRow, look: Look) -> _Account:
    name = names.hledger_account(look.root(row), row.code)
    return _Account(row, name, names.hledger_commodity(row.commodity), look.decimals.get(row.commodity, 0))


def _hledger_openings(accounts: Iterable[_Account], look: Look) -> Iterator[str]:
    for commodity, places in sorted({(account.commodity, account.places) for account in accounts}):
        yield f"commodity 1000.{'0' * places} {commodity}\n"
    yield "\n"
    for name, same in _by_name(accounts):
        code, kinds = _tag(same[0].row.code), _tag(" ".join(sorted({account.row.kind for account in same})))
        yield f"account {name}  ; type:{_TYPES[look.root(same[0].row)]}, code:{code}, kind:{kinds}\n"


def _hledger_transaction(one: TransactionRow, accounts: Mapping[int, _Account]) -> str:
    day = one.posted_at[:10]
    lines = [f"\n{day} * ({one.id}) {names.hledger_text(one.kind)}"]
    lines += [f"    ; {name}:{_tag(value)}" for name, value in _about(one)]
    for leg in one.legs:
        account = accounts[leg.account]
        account.move(leg.balance_after, day)
        lines.append(f"    {account.name}  {account.money(leg.amount)} = {account.money(account.balance)}")
    return "\n".join(lines) + "\n"


def _tag(value: str) -> str:
    return names.hledger_text(value, also=",")


def _about(one: TransactionRow) -> Iterator[tuple[str, str]]:
    """The parts of a transaction that both formats have besides its legs."""
    yield "key", one.key
    yield "posted_at", one.posted_at
    if one.occurred_at is not None:
        yield "occurred_at", one.occurred_at
    if one.reverses is not None:
        yield "reverses", str(one.reverses)
    if one.metadata != "{}":
        yield "metadata", one.metadata
