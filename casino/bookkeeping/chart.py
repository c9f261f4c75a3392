"""The chart of accounts as data, and the one way from an account code to the ledger's account.

A code is `NUMBER` or `NUMBER/PLACE[/WHO]`: `2030/T1` is the pot of table T1, `2020/T1/u11` the stack of player u11
there. Tax, bonus, pots and over/short exist per table or per drawer, so that no row is shared between tables; they
roll up by number.

Money accounts hold the currency's minor units. Custody accounts (9xxx) hold chips, in one commodity per denomination
of a chip set, `HUF.MAIN.500`, and count **pieces**; the custody accounts of one place over all denominations are its
rack. Weights join the two worlds: in every posting, and so at any time, chips with the public and in tip boxes are
worth what the house owes for chips.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import Q, QuerySet

from casino.bookkeeping.accounts import Account
from casino.core import kept, sql
from casino.core.denominations import Chips, ChipSet
from casino.core.errors import Conflict
from casino.houses.models import House
from ledger import errors as ledger_errors
from ledger.models import Account as LedgerAccount
from ledger.posting import AccountSpec, ensure_accounts, opened, opening

DEBIT: Literal[1] = 1
CREDIT: Literal[-1] = -1


@dataclass(frozen=True, slots=True)
class Kind:
    """One line of the chart: number, name, normal side, floor, and what it holds.

    `joined`: its balance is one side of the invariant between money and custody. `on`: whether a house has it without
    a setting that says so.
    """

    number: Account
    name: str
    normal_side: Literal[1, -1]
    floor: int | None
    joined: bool = False
    custody: bool = False
    on: bool = True

    def weight(self, denomination: int = 0) -> int:
        """What one unit of the account weighs in the invariant: minor units owed 1, a chip out there its value."""
        if not self.joined:
            return 0
        return denomination if self.custody else 1


#: Assets and liabilities never fall below zero. Income, expense, and the public's and the issuer's custody can:
#: a bonus may exceed a table's tax, and chips bought at one desk are lost or cashed at another.
CHART: dict[str, Kind] = {
    kind.number: kind
    for kind in (
        Kind(Account.VAULT_CASH, "vault cash", DEBIT, 0),
        Kind(Account.CASH_IN_TRANSIT, "cash in transit", DEBIT, 0),
        Kind(Account.DRAWER_CASH, "drawer cash", DEBIT, 0),
        Kind(Account.CLEARING, "card and transfer clearing", DEBIT, 0),
        Kind(Account.DROP_CASH, "drop cash", DEBIT, 0),
        Kind(Account.BANK_ACCOUNT, "bank", DEBIT, 0),
        Kind(Account.FOREIGN_CHIPS, "foreign chips", DEBIT, 0),
        Kind(Account.PLAYER_RECEIVABLE, "player receivable", DEBIT, 0, on=False),
        Kind(Account.CHIPS_OUTSTANDING, "chips outstanding", CREDIT, 0, joined=True),
        Kind(Account.CHIPS_UNATTRIBUTED, "chips unattributed", CREDIT, None, joined=True),
        Kind(Account.SEAT_STACK, "seat stack", CREDIT, 0, joined=True),
        Kind(Account.POT, "pot", CREDIT, 0, joined=True),
        Kind(Account.CUKASSZA, "cukassza", CREDIT, 0, joined=True),
        Kind(Account.BANK, "bank of the seats", CREDIT, 0, joined=True),
        Kind(Account.TRONC, "tronc", CREDIT, 0, joined=True),
        Kind(Account.TRONC_POOL, "tronc pool", CREDIT, 0),
        Kind(Account.DISPUTED_POT, "disputed pot", CREDIT, 0, joined=True),
        Kind(Account.CARRY_HELD, "carry held", CREDIT, 0),
        Kind(Account.HELD_PAYOUTS, "held payouts", CREDIT, 0),
        Kind(Account.WINNINGS_WITHHELD, "winnings withheld", CREDIT, 0),
        Kind(Account.PLAYER_DEPOSITS, "player deposits", CREDIT, 0),
        Kind(Account.UNCLAIMED, "unclaimed property", CREDIT, 0),
        Kind(Account.DUTY_PAYABLE, "duty payable", CREDIT, 0),
        Kind(Account.HOUSE_CAPITAL, "house capital", CREDIT, 0),
        Kind(Account.HOUSE_TAX, "house tax", CREDIT, None),
        Kind(Account.TABLE_FEES, "table fees", CREDIT, None),
        Kind(Account.OTHER_INCOME, "other income", CREDIT, None),
        Kind(Account.BONUS, "bonus", DEBIT, None),
        Kind(Account.CASH_OVER_SHORT, "cash over/short", DEBIT, None),
        Kind(Account.CHIP_OVER_SHORT, "chip over/short", DEBIT, None),
        Kind(Account.FOREIGN_LOSS, "foreign chip loss", DEBIT, None),
        Kind(Account.GOODWILL, "goodwill and rulings", DEBIT, None),
        Kind(Account.COUNTERFEITS, "counterfeits", DEBIT, None),
        Kind(Account.STAKES_GIVEN_BACK, "stakes given back", DEBIT, None),
        Kind(Account.GAMING_DUTY, "gaming duty", DEBIT, None),
        Kind(Account.VAULT_CHIPS, "vault chips", DEBIT, 0, custody=True),
        Kind(Account.SET_ASIDE, "set aside", DEBIT, 0, custody=True),
        Kind(Account.CAGE_CHIPS, "cage chips", DEBIT, 0, custody=True),
        Kind(Account.TRAY, "table tray", DEBIT, 0, custody=True),
        Kind(Account.TRANSIT, "transit", DEBIT, 0, custody=True),
        Kind(Account.TAX_BOX, "tax box", DEBIT, 0, custody=True),
        Kind(Account.TRONC_BOX, "tronc box", DEBIT, 0, joined=True, custody=True),
        Kind(Account.PUBLIC, "public", DEBIT, None, joined=True, custody=True),
        Kind(Account.COMMISSIONED, "commissioned", CREDIT, 0, custody=True),
    )
}
#: What chips with the public and in tip boxes must be worth: every money account that owes chips to somebody.
CHIP_LIABILITIES = tuple(kind.number for kind in CHART.values() if kind.joined and not kind.custody)
#: Where those chips are.
CHIPS_OUT = tuple(kind.number for kind in CHART.values() if kind.joined and kind.custody)
#: The racks of the vault.
VAULT_RACKS = (Account.VAULT_CHIPS, Account.SET_ASIDE, Account.COMMISSIONED)
#: All chips there are.
COMMISSIONED = Account.COMMISSIONED

_ids: dict[tuple[UUID, str, str], int] = {}
sql.forget_with_each_connection(_ids.clear)


def kind_of(code: str) -> Kind:
    """The line of the chart that an account code belongs to."""
    return CHART[code.split("/", 1)[0]]


def commodity(house: House, chip_set: str, value: int) -> str:
    """The ledger's commodity of one denomination, e.g. `HUF.MAIN.500`."""
    return f"{house.currency}.{chip_set}.{value}"


def face_value(commodity: str) -> int:
    """What one unit of a custody account is worth, in minor units; 1 where a house kept custody by value."""
    value = commodity.rsplit(".", 1)[-1]
    return int(value) if value.isdecimal() else 1


def set_of(commodity: str) -> str:
    """Code of the chip set that a commodity of the ledger belongs to: `MAIN` of `HUF.MAIN.500`."""
    return commodity.partition(".")[2].rpartition(".")[0]


def open_accounts(
    house: House, codes: Iterable[str], chips: ChipSet | None = None, *before: sql.Statement
) -> None:  # fmt: skip
    """Open the accounts of these codes in the ledger where they are not open yet; a rack with every denomination of
    `chips`. `before` is run first, in the same round trip. Needs a transaction. Raises Conflict account_off for what
    this house does not keep."""
    specs = [spec for code in codes for spec in _specs(house, code, chips)]
    if all((house.id, spec.code, spec.commodity) in _ids for spec in specs):
        sql.together(*before)  # no account is ever closed
        return
    if not before:
        _remember(house, ensure_accounts(house.id, specs))
        return
    with ledger_errors.translated(DEFAULT_DB_ALIAS):
        *_, rows = sql.together(*before, opening(house.id, specs))
    _remember(house, opened(rows))


_RACKS = "SELECT DISTINCT code FROM ledger_account WHERE book = %s AND code >= '91' AND code < '92' ORDER BY code"


def open_racks(house: House, chips: ChipSet, *, vault: bool) -> None:
    """Open the racks of another chip set: those of the vault, or all that there are. Needs a transaction."""
    open_racks_of(house, chips, sql.read(reading_racks(house)), vault=vault)


def reading_racks(house: House) -> sql.Statement:
    """What `open_racks` reads, for who reads it with something else; `open_racks_of` takes what it has found."""
    return _RACKS, [house.id]


def open_racks_of(house: House, chips: ChipSet, found: list[tuple[str]], *, vault: bool) -> None:
    """As `open_racks`, by what `reading_racks` has found."""
    open_accounts(house, [code for (code,) in found if code in VAULT_RACKS or not vault], chips)


def is_open(house: House, code: str) -> bool:
    """Whether the house has a money account of this code."""
    return of_code(house, code).exists()


def of_code(house: House, code: str) -> QuerySet[LedgerAccount]:
    """The money account of this code, if it is open."""
    return LedgerAccount.objects.filter(book=house.id, code=code, commodity=house.currency)


#: Places that every house has, whose accounts are opened with its vault.
_OF_THE_HOUSE = ("vault", "bank")


def require_own_accounts(house: House, code: str) -> None:
    """Refuse a code for a new table or drawer under which another place has accounts: theirs would be the same. Raises
    Conflict place_exists."""
    require_none(house, code, own_accounts(house, code))


def own_accounts(house: House, code: str) -> QuerySet[LedgerAccount]:
    """What `require_own_accounts` reads, for who reads it with something else; `require_none` takes what it has
    found."""
    return of_code(house, f"{Account.CASH_OVER_SHORT}/{code}")


def require_none(house: House, code: str, found: Iterable[LedgerAccount]) -> None:
    """As `require_own_accounts`, by what `own_accounts` has found. Raises Conflict place_exists."""
    if code in _OF_THE_HOUSE or list(found):
        raise Conflict(f"Another place of house {house.code} has the code {code}.", code="place_exists")


def _specs(house: House, code: str, chips: ChipSet | None) -> list[AccountSpec]:
    kind = kind_of(code)
    if not kind.on and kind.number not in settings.CASINO_ACCOUNTS_ON:
        raise Conflict(f"Account {kind.number}, {kind.name}, is off in this house.", code="account_off", account=code)
    if not kind.custody:
        return [_spec(code, kind, house.currency, kind.weight())]
    if chips is None:
        raise AssertionError(f"{code} is a rack: it needs a chip set")
    return [_spec(code, kind, commodity(house, chips.code, value), kind.weight(value)) for value in chips.values]


def _spec(code: str, kind: Kind, commodity: str, weight: int) -> AccountSpec:
    return AccountSpec(
        code=code,
        kind=kind.name,
        commodity=commodity,
        normal_side=kind.normal_side,
        min_balance=kind.floor,
        # What the whole house shares is locked last and so held for the shortest time.
        lock_rank=0 if "/" in code else 1,
        weight=weight,
    )


def ids(house: House, accounts: Iterable[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """Ledger account ids by (code, commodity). Raises KeyError for what was never opened (a programming error).

    Ids never change and accounts are never deleted, so a process remembers them, but only once the transaction that
    read them has committed: an account opened by a transaction that is rolled back must not be remembered.
    """
    wanted = set(accounts)
    new = kept.once(("account ids", house.id), dict[tuple[str, str], int])
    found = {a: id_ for a in wanted if (id_ := _ids.get((house.id, *a)) or new.get(a)) is not None}
    missing = wanted - found.keys()
    if missing:
        rows = LedgerAccount.objects.filter(book=house.id, code__in={code for code, _ in missing})
        read = {(code, held): id_ for code, held, id_ in rows.values_list("code", "commodity", "id")}
        if missing - read.keys():
            raise KeyError(f"accounts were never opened: {sorted(missing - read.keys())}")
        _remember(house, read)
        found |= {account: read[account] for account in missing}
    return found


def _remember(house: House, read: Mapping[tuple[str, str], int]) -> None:
    """Let this transaction use these ids, and once it has committed the process."""
    kept.once(("account ids", house.id), dict[tuple[str, str], int]).update(read)
    connection.on_commit(lambda: _ids.update({(house.id, *account): id_ for account, id_ in read.items()}))


_BALANCES = "SELECT id, balance FROM ledger_account WHERE id = ANY(%s::bigint[])"
#: An SQL expression: a JSON object of the balances of accounts by code. Book, commodity, and an array of codes.
MONEY_AT = """(SELECT coalesce(json_object_agg(code, balance), '{{}}') FROM ledger_account
WHERE book = {book} AND commodity = {commodity} AND code = ANY ({codes}))"""
_MONEY_OF = "SELECT balance FROM ledger_account WHERE book = %s AND code = %s AND commodity = %s"
_RACK = "SELECT commodity, balance FROM ledger_account WHERE book = %s::uuid AND code = %s::text"
# What has run out sets nothing aside, though the ledger may not have tidied it up yet.
_AVAILABLE = """
SELECT commodity, balance, (balance - held + coalesce((
    SELECT sum(r.amount) FROM ledger_reserve r
    WHERE r.account_id = a.id AND r.released_at IS NULL AND r.expires_at <= clock_timestamp()), 0))::bigint
    AS free FROM ledger_account a WHERE book = %s::uuid AND code = %s::text
"""
_FREE = f"SELECT commodity, free FROM ({_AVAILABLE}) there"  # noqa: S608 - constants
_CONTENTS = "SELECT code, commodity, balance FROM ledger_account WHERE book = %s AND code = ANY(%s)"
_BY_DENOMINATION = """
SELECT commodity, sum(balance)::bigint FROM ledger_account
WHERE book = %s::uuid AND code >= '9170' AND code < '9171' GROUP BY commodity
"""


def balances(
    house: House, codes: Iterable[str], send: Callable[[sql.Statement], list[tuple[Any, ...]]] | None = None
) -> dict[str, int]:
    """Balances of money accounts by code, each on its normal side, in minor units. `send` runs the statement, where it
    goes with another one."""
    by_account = ids(house, {(code, house.currency) for code in codes})
    statement = sql.Bound(_BALANCES, [sql.numbers(by_account.values())])
    by_id = dict(send(statement) if send else sql.read(statement))
    return {code: by_id[id_] for (code, _), id_ in by_account.items()}


def money_at(house: House, code: str) -> sql.Statement:
    """What reads the balance of a money account by its code alone, for who reads it with something else."""
    return _MONEY_OF, [house.id, code, house.currency]


def of_player(house: House, ref: str) -> list[tuple[str, int, datetime | None]]:
    """A player's own accounts, the wallet, held payouts, the deposit and the stacks at tables: code, balance, time of
    the newest entry."""
    return list(owned_by(house, ref))


def owned_by(house: House, ref: str) -> QuerySet[Any, tuple[str, int, datetime | None]]:
    """What reads the same."""
    numbers = (Account.CHIPS_OUTSTANDING, Account.HELD_PAYOUTS, Account.PLAYER_DEPOSITS)
    own = [f"{number}/{ref}" for number in numbers]
    named = Q(code__in=own) | Q(code__startswith=f"{Account.SEAT_STACK}/", code__endswith=f"/{ref}")
    rows = LedgerAccount.objects.filter(named, book=house.id).order_by("code")
    return rows.values_list("code", "balance", "posted_at")


def rack(house: House, code: str, chip_set: str) -> Chips:
    """The chips of one set in one place."""
    return held_in(house, chip_set, sql.read(holding_all(house, code)))


def available(house: House, code: str, chip_set: str) -> Chips:
    """The chips of one set in one place that nothing has set aside."""
    return held_in(house, chip_set, sql.read(holding_free(house, code)))


def set_aside(house: House, code: str) -> tuple[int, int]:
    """The balance of a money account, and how much of it is set aside, in minor units."""
    [(balance, free)] = [
        (balance, free) for of, balance, free in sql.rows(_AVAILABLE, [house.id, code]) if of == house.currency
    ]
    return balance, balance - free


def sets_in(house: House, code: str) -> dict[str, Chips]:
    """The chips in one place by the code of their set; without sets of which there are none."""
    return by_set(dict(sql.rows(_RACK, [house.id, code])))


def by_set(held: Mapping[str, int]) -> dict[str, Chips]:
    """The chips of a place, given by commodity, by the code of their set; without sets of which there are none."""
    found: dict[str, dict[int, int]] = {}
    for commodity, pieces in held.items():
        found.setdefault(set_of(commodity), {})[face_value(commodity)] = pieces
    return {chip_set: chips for chip_set, mix in sorted(found.items()) if (chips := Chips(chip_set, mix))}


def contents(house: House, money: Sequence[str], rack: str, chip_set: str) -> tuple[list[int], Chips]:
    """Balances of money accounts in minor units, in their order, and the chips of one set in a rack; all as of one
    moment, while others post."""
    by_account = at(house, [*money, rack])
    return [by_account[code][house.currency] for code in money], _mix(house, chip_set, by_account.get(rack, {}))


def at(house: House, codes: Sequence[str]) -> dict[str, dict[str, int]]:
    """What lies in these accounts, by code and commodity, as of one moment."""
    return by_code(sql.read(lying_in(house, codes)))


def lying_in(house: House, codes: Sequence[str]) -> sql.Statement:
    """What `at` reads, for who reads it with something else; `by_code` takes what it has found."""
    return _CONTENTS, [house.id, list(codes)]


def by_code(found: Iterable[tuple[str, str, int]]) -> dict[str, dict[str, int]]:
    """Balances by code and commodity."""
    held: dict[str, dict[str, int]] = {}
    for code, commodity, balance in found:
        held.setdefault(code, {})[commodity] = balance
    return held


def public(house: House, chip_set: str) -> Chips:
    """The chips of one set that the public holds, all over the house. A denomination may be below zero: a count can
    find more of it than was ever issued."""
    return held_in(house, chip_set, sql.read(holding(house)))


def holding(house: House) -> sql.Statement:
    """What `public` reads, for who reads it with something else; `held_in` takes what it has found."""
    return sql.Bound(_BY_DENOMINATION, [house.id])


def holding_free(house: House, code: str) -> sql.Statement:
    """What `available` reads, for who reads it with something else; `held_in` takes what it has found."""
    return sql.Bound(_FREE, [house.id, code])


def holding_all(house: House, code: str) -> sql.Statement:
    """What `rack` reads, for who reads it with something else; `held_in` takes what it has found."""
    return sql.Bound(_RACK, [house.id, code])


def held_in(house: House, chip_set: str, found: list[tuple[str, int]]) -> Chips:
    """The chips of one set, by what one of these statements has found."""
    return _mix(house, chip_set, dict(found))


def in_places(house: House, numbers: Sequence[Account], chip_set: str) -> dict[str, Chips]:
    """The chips of one set in every place of these accounts, by code; without places that have none."""
    return of_set(house, chip_set, lying_in_places(house, numbers))


def lying_in_places(house: House, numbers: Sequence[Account]) -> QuerySet[Any, tuple[str, str, int]]:
    """What `in_places` reads, for who reads it with something else; `of_set` takes what it has found."""
    rows = LedgerAccount.objects.filter(places_of(numbers), book=house.id)
    return rows.exclude(balance=0).order_by("code").values_list("code", "commodity", "balance")


def of_set(house: House, chip_set: str, found: Iterable[tuple[str, str, int]]) -> dict[str, Chips]:
    """The chips of one set in every place, by what `lying_in_places` has found; without places that have none."""
    return {code: mix for code, held in by_code(found).items() if (mix := _mix(house, chip_set, held))}


def owed_in_places(house: House, *numbers: Account) -> dict[str, int]:
    """The balances of every place of money accounts that are not zero, in minor units by code."""
    return dict(owing_in_places(house, *numbers))


def owing_in_places(house: House, *numbers: Account) -> QuerySet[Any, tuple[str, int]]:
    """What `owed_in_places` reads, for who reads it with something else."""
    rows = LedgerAccount.objects.filter(places_of(numbers), book=house.id, commodity=house.currency)
    return rows.exclude(balance=0).order_by("code").values_list("code", "balance")


def places_of(numbers: Sequence[Account]) -> Q:
    """Ledger accounts that are places of these, as a filter."""
    found = Q(code__in=numbers)
    for number in numbers:
        found |= Q(code__startswith=f"{number}/")
    return found


def pieces(house: House, code: str) -> dict[int, int]:
    """The chips in one place, of all sets together, by denomination; a house that kept custody by value has them as
    chips of one minor unit."""
    found: dict[int, int] = {}
    for commodity, held in sql.rows(_RACK, [house.id, code]):
        found[face_value(commodity)] = found.get(face_value(commodity), 0) + held
    return found


def rack_value(house: House, code: str) -> int:
    """What the chips in one place are worth, in minor units; also where a house kept custody by value."""
    return sum(value * count for value, count in pieces(house, code).items())


def rack_values(house: House, codes: Sequence[str]) -> dict[str, int]:
    """What the chips in these places are worth, in minor units by code, as :func:`rack_value`; all as of one moment."""
    found = at(house, codes)
    return {code: sum(face_value(held) * count for held, count in found.get(code, {}).items()) for code in codes}


def _mix(house: House, chip_set: str, by_commodity: Mapping[str, int]) -> Chips:
    prefix = f"{house.currency}.{chip_set}."
    return Chips(
        chip_set,
        {face_value(name): pieces for name, pieces in by_commodity.items() if name.startswith(prefix)},
    )
