"""The chart of accounts as data, and the one way from an account code to the ledger's account.

A code is `NUMBER` or `NUMBER/PLACE[/WHO]`: `2030/T1` is the pot of table T1, `2020/T1/u11` the stack of player u11
there. Tax, bonus, pots and over/short exist per table or per drawer, so that no row is shared between tables; they
roll up by number. Custody accounts (9xxx) hold chips at their face value in the commodity `CURRENCY.CHIP`; money
accounts hold the currency's minor units. One invariant joins the two worlds, see `reports.selectors.custody`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from django.db import connection

from casino import sql
from casino.house.models import House
from ledger.models import Account
from ledger.posting import AccountSpec, ensure_accounts

DEBIT, CREDIT = 1, -1


@dataclass(frozen=True, slots=True)
class Kind:
    """One line of the chart: number, name, normal side, whether it may go below zero, money or custody."""

    number: str
    name: str
    normal_side: Literal[1, -1]
    floor: int | None
    custody: bool = False


#: Assets and liabilities never fall below zero. Income, expense, and the public's and the issuer's custody can:
#: a bonus may exceed a table's tax, and chips bought at one desk are lost or cashed at another.
CHART: dict[str, Kind] = {
    kind.number: kind
    for kind in (
        Kind("1010", "vault cash", DEBIT, 0),
        Kind("1020", "drawer cash", DEBIT, 0),
        Kind("2010", "chips outstanding", CREDIT, 0),
        # Chips nobody can be named for: what a count finds over or short. It may run either way.
        Kind("2015", "chips unattributed", CREDIT, None),
        Kind("2020", "seat stack", CREDIT, 0),
        Kind("2030", "pot", CREDIT, 0),
        Kind("2040", "cukassza", CREDIT, 0),
        Kind("2070", "disputed pot", CREDIT, 0),
        Kind("3010", "house capital", CREDIT, 0),
        Kind("4010", "house tax", CREDIT, None),
        Kind("5100", "bonus", DEBIT, None),
        Kind("5200", "cash over/short", DEBIT, None),
        Kind("5210", "chip over/short", DEBIT, None),
        Kind("9110", "vault chips", DEBIT, 0, custody=True),
        Kind("9120", "cage chips", DEBIT, 0, custody=True),
        Kind("9130", "table tray", DEBIT, 0, custody=True),
        Kind("9150", "tax box", DEBIT, 0, custody=True),
        Kind("9170", "public", DEBIT, None, custody=True),
        Kind("9199", "commissioned", CREDIT, 0, custody=True),
    )
}
#: What chips in public hands must be worth: every money account that owes chips to somebody.
CHIP_LIABILITIES = ("2010", "2015", "2020", "2030", "2040", "2070")

_ids: dict[tuple[UUID, str], int] = {}


def commodity(house: House, kind: Kind) -> str:
    """The ledger commodity of a kind of account in this house."""
    return f"{house.currency}.CHIP" if kind.custody else house.currency


def open_accounts(house: House, codes: Iterable[str]) -> None:
    """Open the accounts of these codes in the ledger where they are not open yet. Needs a transaction."""
    ensure_accounts(house.id, [_spec(house, code) for code in codes])


def _spec(house: House, code: str) -> AccountSpec:
    kind = CHART[code.split("/", 1)[0]]
    return AccountSpec(
        code=code,
        kind=kind.name,
        commodity=commodity(house, kind),
        normal_side=kind.normal_side,
        min_balance=kind.floor,
        # What the whole house shares is locked last and so held for the shortest time.
        lock_rank=0 if "/" in code else 1,
    )


def ids(house: House, codes: Iterable[str]) -> dict[str, int]:
    """Ledger account ids by code. Raises KeyError for a code that was never opened (a programming error).

    Ids never change and accounts are never deleted, so a process remembers them, but only once the transaction that
    read them has committed: an account opened by a transaction that is rolled back must not be remembered.
    """
    wanted = set(codes)
    found = {code: _ids[house.id, code] for code in wanted if (house.id, code) in _ids}
    missing = wanted - found.keys()
    if missing:
        read = dict(Account.objects.filter(book=house.id, code__in=missing).values_list("code", "id"))
        if missing - read.keys():
            raise KeyError(f"accounts were never opened: {sorted(missing - read.keys())}")
        connection.on_commit(lambda: _ids.update({(house.id, code): id_ for code, id_ in read.items()}))
        found |= read
    return found


def balances(house: House, codes: Iterable[str]) -> dict[str, int]:
    """Balances by code, each on its normal side, in minor units."""
    by_code = ids(house, codes)
    by_id = dict(sql.rows("SELECT id, balance FROM ledger_account WHERE id = ANY(%s)", [list(by_code.values())]))
    return {code: by_id[id_] for code, id_ in by_code.items()}
