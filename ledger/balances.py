"""What accounts hold: now, at a version, at a moment. Amounts in minor units on the account's normal side."""

import uuid
from collections.abc import Iterable, Mapping
from datetime import datetime

from django.db import DEFAULT_DB_ALIAS, connections

from ledger.errors import UnknownAccount
from ledger.models import Account
from ledger.posting import Balance


def balance(account_id: int, *, using: str = DEFAULT_DB_ALIAS) -> Balance:
    """The account's balance and version now. Raises UnknownAccount."""
    return balances([account_id], using=using)[account_id]


def balances(account_ids: Iterable[int], *, using: str = DEFAULT_DB_ALIAS) -> dict[int, Balance]:
    """Balances and versions now, by account id, all read at one instant. Raises UnknownAccount."""
    wanted = list(account_ids)
    rows = Account.objects.using(using).filter(id__in=wanted).values_list("id", "balance", "version")
    found = {account: Balance(amount, version) for account, amount, version in rows}
    for account in wanted:
        if account not in found:
            raise _unknown(account)
    return found


def balances_by_code(
    book: str | uuid.UUID, codes: Iterable[str], commodity: str, *, using: str = DEFAULT_DB_ALIAS
) -> Mapping[str, Balance]:
    """Balances and versions now of those of the codes that the book has in this commodity, by code."""
    rows = Account.objects.using(using).filter(book=book, code__in=list(codes), commodity=commodity)
    return {code: Balance(amount, version) for code, amount, version in rows.values_list("code", "balance", "version")}


def balance_at_version(account_id: int, version: int, *, using: str = DEFAULT_DB_ALIAS) -> Balance:
    """The balance just after the account's entry number `version`; version 0 is the empty account.

    Raises UnknownAccount for an account or a version that does not exist.
    """
    with connections[using].cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(e.balance_after, 0) FROM ledger_account a"
            " LEFT JOIN ledger_entry e ON e.account_id = a.id AND e.version = %s"
            " WHERE a.id = %s AND %s BETWEEN 0 AND a.version",
            (version, account_id, version),
        )
        row = cursor.fetchone()
    if row is None:
        raise UnknownAccount(
            f"account {account_id} has no version {version}", {"account": account_id, "version": version}
        )
    return Balance(row[0], version)


def balance_at(account_id: int, moment: datetime, *, using: str = DEFAULT_DB_ALIAS) -> Balance:
    """The balance after the last entry posted at or before `moment` (the database's clock), and its version.

    Found by halving over the versions, about log2(entries) look-ups. Raises UnknownAccount.
    """
    with connections[using].cursor() as cursor:
        cursor.execute(
            "SELECT v.version, coalesce(e.balance_after, 0) FROM ledger_account a"
            " CROSS JOIN LATERAL ledger_version_at(a.id, %s) v(version)"
            " LEFT JOIN ledger_entry e ON e.account_id = a.id AND e.version = v.version WHERE a.id = %s",
            (moment, account_id),
        )
        row = cursor.fetchone()
    if row is None:
        raise _unknown(account_id)
    return Balance(row[1], row[0])


def _unknown(account_id: int) -> UnknownAccount:
    return UnknownAccount(f"account {account_id} does not exist", {"account": account_id})
