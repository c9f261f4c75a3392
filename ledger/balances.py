"""Balances of accounts: now, at a version, at a time. Amounts in minor units on the account's normal side."""

import uuid
from collections.abc import Iterable, Mapping
from datetime import datetime

from django.db import DEFAULT_DB_ALIAS, connections

from ledger.errors import AccountHasLanes, UnknownAccount
from ledger.models import Account
from ledger.posting import Balance


def balance(account_id: int, *, using: str = DEFAULT_DB_ALIAS) -> Balance:
    """The account's balance and version now. Raises UnknownAccount."""
    return balances([account_id], using=using)[account_id]


def balances(account_ids: Iterable[int], *, using: str = DEFAULT_DB_ALIAS) -> dict[int, Balance]:
    """Balances and versions now, by account id, all read at one instant. Raises UnknownAccount."""
    wanted = list(account_ids)
    with connections[using].cursor() as cursor:
        cursor.execute(_BALANCES, [wanted])
        found = {account: Balance(int(amount), int(version)) for account, amount, version in cursor.fetchall()}
    for account in wanted:
        if account not in found:
            raise _unknown(account)
    return found


# The lanes of an account have the ids that follow its own; what it holds is their sum.
_BALANCES = """
SELECT a.id, CASE WHEN a.lanes = 0 THEN a.balance ELSE l.balance END,
       CASE WHEN a.lanes = 0 THEN a.version ELSE l.version END
FROM ledger_account a
LEFT JOIN LATERAL (SELECT sum(balance) AS balance, sum(version) AS version FROM ledger_account
                   WHERE id BETWEEN a.id + 1 AND a.id + a.lanes OFFSET 0) l ON a.lanes > 0
WHERE a.id = ANY (%s)
"""


def balances_by_code(
    book: str | uuid.UUID, codes: Iterable[str], commodity: str, *, using: str = DEFAULT_DB_ALIAS
) -> Mapping[str, Balance]:
    """Balances and versions now of those of the codes that the book has in this commodity, by code."""
    rows = Account.objects.using(using).filter(book=book, code__in=list(codes), commodity=commodity)
    ids = dict(rows.values_list("code", "id"))
    held = balances(ids.values(), using=using)
    return {code: held[account] for code, account in ids.items()}


def balance_at_version(account_id: int, version: int, *, using: str = DEFAULT_DB_ALIAS) -> Balance:
    """The balance just after the account's entry number `version`; version 0 is the empty account.

    Raises UnknownAccount for an account or a version that does not exist, AccountHasLanes.
    """
    with connections[using].cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(e.balance_after, 0), a.lanes, %s BETWEEN 0 AND a.version FROM ledger_account a"
            " LEFT JOIN ledger_entry e ON e.account_id = a.id AND e.version = %s WHERE a.id = %s",
            (version, version, account_id),
        )
        row = cursor.fetchone()
    if row is not None and row[1]:
        raise has_lanes(account_id, row[1])
    if row is None or not row[2]:
        raise UnknownAccount(
            f"account {account_id} has no version {version}", {"account": account_id, "version": version}
        )
    return Balance(row[0], version)


def balance_at(account_id: int, moment: datetime, *, using: str = DEFAULT_DB_ALIAS) -> Balance:
    """The balance after the last entry posted at or before `moment` (the database's clock), and its version.

    Found by halving over the versions, about log2(entries) look-ups. Of an account with lanes it is their sum, and so
    is the version. Raises UnknownAccount.
    """
    with connections[using].cursor() as cursor:
        cursor.execute(_BALANCE_AT, {"account": account_id, "moment": moment})
        found, balance, version = cursor.fetchone()
    if not found:
        raise _unknown(account_id)
    return Balance(int(balance), int(version))


# OFFSET 0 keeps the sub-selects as they stand: the planner takes a range of ids for a ninth of all accounts, and would
# read every account and entry that there is.
_BALANCE_AT = """
SELECT count(*), coalesce(sum(e.balance_after), 0), coalesce(sum(a.version), 0)
FROM (SELECT id, lanes FROM ledger_account WHERE id = %(account)s OFFSET 0) p
CROSS JOIN LATERAL (
    SELECT l.id, ledger_version_at(l.id, %(moment)s) AS version
    FROM generate_series(p.id + sign(p.lanes)::integer, p.id + p.lanes) l(id) OFFSET 0) a
LEFT JOIN LATERAL (
    SELECT balance_after FROM ledger_entry WHERE account_id = a.id AND version = a.version OFFSET 0) e ON true
"""


def has_lanes(account_id: int, lanes: int) -> AccountHasLanes:
    """The refusal for an account whose entries are on its lanes."""
    return AccountHasLanes(
        f"account {account_id} has {lanes} lanes, each with versions of its own",
        {"account": account_id, "lanes": list(range(account_id + 1, account_id + lanes + 1))},
    )


def _unknown(account_id: int) -> UnknownAccount:
    return UnknownAccount(f"account {account_id} does not exist", {"account": account_id})
