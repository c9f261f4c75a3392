"""The ledger as auditors read it: accounts, statements, balances of the past, the whole book as text."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Literal

from django.conf import settings
from django.db.models import QuerySet

from casino.core.errors import NotFound
from casino.houses.models import House
from ledger import balances, exports, plaintext, statements
from ledger.models import Account

Layout = Literal["csv", "jsonl", "beancount", "hledger"]
#: Beginning of an account's number -> root of its name in plain-text accounting; the others go by their side.
_ROOTS = {"3": "Equity", "4": "Income", "5": "Expenses"}


def accounts(house: House) -> QuerySet[Account]:
    """Every account of the house."""
    return Account.objects.filter(book=house.id)


def account(house: House, code: str, commodity: str | None) -> Account:
    """One account of the house, by its code and what it counts; None: the house's currency. Raises NotFound."""
    commodity = house.currency if commodity is None else commodity
    # An address may hold a NUL, which PostgreSQL refuses to read.
    found = None if "\0" in code else accounts(house).filter(code=code, commodity=commodity).first()
    if found is None:
        raise NotFound(f"This house has no account {code!r} in {commodity}.")
    return found


def statement(
    house: House,
    code: str,
    commodity: str | None,
    *,
    after: int,
    limit: int,
    since: datetime | None,
    until: datetime | None,
) -> dict[str, Any]:
    """Entries of an account with versions above `after`, posted at `since` or later and before `until`, at most
    `limit`, and the version after which the next page begins. Raises NotFound."""
    found = account(house, code, commodity)
    page = statements.statement(found.id, after=after, limit=limit, since=since, until=until)
    rows = [
        {
            "version": line.version,
            "transaction": line.transaction_id,
            "kind": line.kind,
            "key": line.key,
            "posted_at": exports.utc(line.posted_at),
            "amount": line.amount,
            "balance": line.balance_after,
            "metadata": line.metadata,
        }
        for line in page.lines
    ]
    return {"results": rows, "next_after_version": page.next_after}


def balance(
    house: House, code: str, commodity: str | None, *, version: int | None = None, at: datetime | None = None
) -> dict[str, Any]:
    """What an account held just after its entry `version`, or after the last entry posted at or before `at`; now,
    where neither is given. Raises NotFound, also for a version that it never had."""
    found = account(house, code, commodity)
    if version is not None:
        if version > found.version:
            raise NotFound(f"Account {found.code} has no version {version}; the newest is {found.version}.")
        held = balances.balance_at_version(found.id, version)
    else:
        held = balances.balance(found.id) if at is None else balances.balance_at(found.id, at)
    return {
        "account": found.code,
        "commodity": found.commodity,
        "balance": held.balance,
        "version": held.version,
    }


def text(
    house: House, layout: Layout, *, since: datetime | None = None, until: datetime | None = None
) -> Iterator[str]:
    """The whole book as text, piece by piece, in constant memory. `since` is for csv and jsonl only.

    Journals have the house's currency with its decimal places, csv and jsonl minor units. A csv is made safe for
    spreadsheets: what one would take for a formula begins with an apostrophe.
    Raises UnknownBook for a house that has no account yet.
    """
    past = settings.CASINO_SNAPSHOTS
    if layout == "csv":
        return exports.csv_entries(house.id, since=since, until=until, spreadsheet=True, using=past)
    if layout == "jsonl":
        return exports.jsonl_transactions(house.id, since=since, until=until, using=past)
    kinds = accounts(house).values_list("kind", "code").order_by().distinct("kind")
    roots = {kind: _ROOTS[code[0]] for kind, code in kinds if code[0] in _ROOTS}
    journal = plaintext.beancount if layout == "beancount" else plaintext.hledger
    look = plaintext.Look(title=house.name, roots=roots, decimals={house.currency: house.currency_exponent})
    return journal(house.id, look=look, until=until, using=past)
