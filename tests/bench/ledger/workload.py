"""What every subject does: a settlement is one transaction of four legs, from the pot of a table to its people.

Spread, a client settles on tables of its own and each table has its own tax account; hot, the tax of every table goes
to one account of the house.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

CLIENTS = (1, 4, 16)
TABLES_PER_CLIENT = 4
TABLES = max(CLIENTS) * TABLES_PER_CLIENT
ROLES = ("pot", "first", "second", "tax")
"""Accounts of a table, in the order of the legs."""
AMOUNTS = (1000, -400, -550, -50)
"""Of each leg, debits positive: the pot is a liability, and so is what it is paid out to."""
FUNDS = 10**15
"""What a pot starts with, so that floors stand but are never reached."""
KIND = "settlement"
COMMODITY = "HUF"


@dataclass(frozen=True, slots=True)
class Settlement:
    """One of them: a key used once, the accounts of its legs, and the reference that the house keeps with it."""

    key: str
    accounts: tuple[int, ...]
    metadata: dict[str, str]


@dataclass(frozen=True, slots=True)
class Stage:
    """Where a subject settles: its book, account ids by table in the order of ROLES, and the house's one account."""

    book: str
    tables: tuple[tuple[int, ...], ...]
    house: int

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    @classmethod
    def of(cls, book: str, ids: dict[str, int]) -> "Stage":
        """From account ids by code."""
        tables = tuple(tuple(ids[account_code(role, table)] for role in ROLES) for table in range(TABLES))
        return cls(book, tables, ids[HOUSE_CODE])


HOUSE_CODE = "house:tax"


def account_code(role: str, table: int) -> str:
    """Codes sort like the tables' numbers, so that accounts opened in their order have ids in sequence."""
    return f"{role}:T{table + 1:02d}"


def settlements(stage: Stage, tables: range, *, hot: bool, first: int = 0) -> Iterator[Settlement]:
    """Settlements of hands `first`, `first` + 1, ... on these tables in turn, without end."""
    hand = first
    while True:
        for table in tables:
            accounts = stage.tables[table]
            if hot:
                accounts = (*accounts[:-1], stage.house)
            name = f"T{table + 1}-{hand:06d}"
            yield Settlement(f"hand:{name}:settlement", accounts, {"hand": name})
        hand += 1


def tables_of(client: int) -> range:
    """The tables that nobody else settles on."""
    return range(client * TABLES_PER_CLIENT, (client + 1) * TABLES_PER_CLIENT)
