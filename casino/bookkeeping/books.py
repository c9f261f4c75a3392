"""Posting: services name rows of the table in `postings`, the ledger gets account ids and signed legs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter
from typing import Any

from django.db import DEFAULT_DB_ALIAS
from django.db.models import QuerySet

from casino.bookkeeping import chart
from casino.bookkeeping.postings import Line, Posting
from casino.core import canonical, sql
from casino.core.denominations import Chips
from casino.houses.models import House
from ledger import errors as ledger_errors
from ledger import holds
from ledger import posting as ledger
from ledger.assertions import asserting
from ledger.exports import utc
from ledger.models import Assertion, Entry, Hold, Transaction
from ledger.posting import Leg, find

#: What an event records of one ledger transaction: its id, its legs or what it reverses, and a digest of the rest.
Recorded = dict[str, Any]

#: The kind of mirrors.
REVERSAL = "reversal"

#: What the database refuses of a posting becomes the ledger's typed error.
translated = ledger_errors.translated
#: The refusal of what takes more from an account than is there.
InsufficientFunds = ledger_errors.InsufficientFunds

#: One leg before it has an account id: code, commodity, units with their sign.
_Half = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A ledger transaction that is ready to be posted: its legs with the ids of their accounts."""

    key: str
    kind: str
    metadata: Mapping[str, Any]
    occurred_at: datetime | None
    halves: list[_Half]
    #: Account and amount, by account.
    legs: list[tuple[int, int]]

    #: How many values `parameters` has.
    WIDTH = 7

    def parameters(self) -> list[Any]:
        """In the order of `core_record`: what the ledger is given, and the legs as the event has them."""
        accounts, amounts = zip(*self.legs, strict=True)
        return [
            ledger.text("key", self.key),
            ledger.text("kind", self.kind),
            canonical.dumps(dict(self.metadata)),
            ledger.moment(self.occurred_at),
            canonical.dumps(self.halves),
            sql.numbers(accounts),
            sql.numbers(map(ledger.signed, amounts)),
        ]

    def about(self, posted_at: datetime) -> str:
        """What the event records of it besides its legs."""
        return _about(self.key, self.kind, self.metadata, self.occurred_at, posted_at)


def prepare(
    house: House, *, key: str, kind: str, postings: Iterable[Posting], metadata: Mapping[str, Any],
    occurred_at: datetime | None = None,
) -> Prepared:  # fmt: skip
    """A ledger transaction of everything that happened together; `key` is unique in the house: the same key and content
    again posts nothing."""
    halves = [half for posting in postings for line in posting.lines() for half in _halves(house, line)]
    ids = chart.ids(house, {(code, commodity) for code, commodity, _ in halves})
    legs = sorted(((ids[code, commodity], units) for code, commodity, units in halves), key=itemgetter(0))
    return Prepared(key, kind, metadata, occurred_at, halves, legs)


@dataclass(frozen=True, slots=True)
class Made:
    """A posting that was made: its id, what the event records of it, None where the key had posted it before, and the
    balances that it left, in units on the normal side, by account id."""

    transaction_id: int
    recorded: Recorded | None
    left: Mapping[int, int]


def post_prepared(
    house: House, prepared: Prepared, *beside: sql.Statement | QuerySet[Any, Any]
) -> tuple[Made, list[list[Any]]]:
    """Post it at once, and then run `beside` in the same round trip; returns the posting, and what each of `beside` has
    found. Raises the ledger's typed errors: Unbacked when chips and what is owed for them would part."""
    legs = [Leg(account, amount) for account, amount in prepared.legs]
    posting = ledger.Posting(prepared.key, prepared.kind, legs, prepared.metadata, prepared.occurred_at)
    with translated(DEFAULT_DB_ALIAS):
        rows, *found = sql.together(sql.Bound(ledger.POST_ONE, ledger.one_params(house.id, posting)), *beside)
    posted = ledger.posted_one(posting, rows[0])
    if posted.replayed:
        return Made(posted.transaction_id, None, {}), found
    about = prepared.about(posted.posted_at)
    halves = [list(half) for half in prepared.halves]
    recorded = {"tx": posted.transaction_id, "legs": halves, "about": about}
    return Made(posted.transaction_id, recorded, {id_: int(one.balance) for id_, one in posted.balances.items()}), found


def hold(house: House, prepared: Prepared, *, seconds: int) -> datetime:
    """Set aside for so many seconds what this would take, under the same key; it is never posted, only voided. Returns
    until when. Raises the ledger's typed errors."""
    legs = [Leg(account, amount) for account, amount in prepared.legs]
    aside = ledger.Posting(prepared.key, prepared.kind, legs, prepared.metadata)
    return holds.hold(house.id, prepared.key, [aside], seconds=seconds).expires_at


def void_hold(house: House, key: str) -> str:
    """Let go of what is set aside; returns "voided", or "expired" where its time was over."""
    return holds.void_hold(house.id, key)


def open_holds(house: House) -> QuerySet[Hold]:
    """What reads what is set aside now, the first to run out first."""
    return holds.all_pending(house.id)


def key_and_end(hold: Hold) -> tuple[str, str]:
    """The key under which something is set aside, and until when (UTC)."""
    return hold.key, utc(hold.expires_at)


def _about(key: str, kind: str, metadata: Mapping[str, Any], occurred: datetime | None, posted: datetime) -> str:
    """What events record of a transaction besides its legs: SHA-256 of the canonical JSON of this list, 64 hex digits.
    It is compared with the ledger: a changed key, kind, metadata or moment is found."""
    moments = [None if moment is None else utc(moment) for moment in (occurred, posted)]
    return canonical.sha256([key, kind, dict(metadata), *moments])


def _halves(house: House, line: Line) -> list[_Half]:
    debit, credit, what = line
    if isinstance(what, Chips):
        moved = [(chart.commodity(house, what.chip_set, value), pieces) for value, pieces in what.pieces.items()]
    else:
        moved = [(house.currency, what)] if what else []
    return [half for commodity, units in moved for half in ((debit, commodity, units), (credit, commodity, -units))]


def attesting(house: House, counted: Iterable[tuple[str, str, int]], metadata: Mapping[str, Any]) -> sql.Statement:
    """What writes down what somebody counted in places that were emptied since, by account code and commodity: the
    units that were there before the last posting took them away. The ledger keeps it, and refuses it where its entries
    say otherwise (BalanceDiffers). Sent with or after that posting (:meth:`casino.core.write.Work.flush`); others must
    have been prevented since the count.
    """
    found = sorted(((code, commodity), units) for code, commodity, units in counted)
    accounts = chart.ids(house, {place for place, _ in found})
    # Nothing was taken away, and so no entry made, where there was nothing.
    return asserting(house.id, [(accounts[place], units, 1 if units else 0) for place, units in found], metadata)


_LAST_DEBIT = """
SELECT coalesce(p.name, '') FROM ledger_account a
CROSS JOIN LATERAL (
    SELECT t.id, t.period_id FROM ledger_entry e JOIN ledger_transaction t ON t.id = e.transaction_id
    WHERE e.account_id = a.id AND e.amount > 0 AND t.kind <> %s ORDER BY e.version DESC LIMIT 1
) last
LEFT JOIN ledger_period p ON p.id = last.period_id
WHERE a.book = %s AND a.code = %s ORDER BY last.id DESC LIMIT 1
"""


def day_of_last_debit(house: House, code: str, *, but: str) -> sql.Statement:
    """What reads the gaming day of the newest debit of an account, over all its commodities and apart from postings of
    the kind `but`: no row where there is none, empty where it was booked without days."""
    return _LAST_DEBIT, [but, house.id, code]


def keyed(house: House, transactions: Iterable[int]) -> QuerySet[Any, tuple[str, int]]:
    """What reads the keys that posted these ledger transactions of the house, each with the id, the oldest first."""
    found = Transaction.objects.filter(book=house.id, id__in=list(transactions)).order_by("id")
    return found.values_list("idempotency_key", "id")


def entries(house: House, transactions: Iterable[int]) -> list[tuple[int, str, str, int]]:
    """The entries of ledger transactions of the house: transaction, account code, commodity, and the amount (debits
    above zero)."""
    rows = Entry.objects.filter(transaction__in=list(transactions), account__book=house.id)
    return list(rows.values_list("transaction_id", "account__code", "account__commodity", "amount"))


def attested(house: House, metadata: Mapping[str, Any]) -> list[tuple[str, str, int]]:
    """What was written down with this metadata by :func:`attest`: account code, commodity, and the units."""
    rows = Assertion.objects.filter(account__book=house.id, metadata=metadata).order_by("id")
    return list(rows.values_list("account__code", "account__commodity", "balance"))


def require(house: House, code: str, balance: int, needed: int, *, held: int = 0) -> None:
    """Refuse, in the ledger's own words, what takes more from a pile than is there besides what is `held` of it. Raises
    InsufficientFunds."""
    if balance - held < needed:
        params = {"account_code": code, "commodity": house.currency, "balance": balance, "held": held}
        raise InsufficientFunds(
            f"account {code} holds {balance - held}{f' besides {held} on hold' if held else ''}, needs {needed}",
            params | {"needed": needed, "min_balance": 0},
        )


def posted_under(house: House, keys: Iterable[str]) -> dict[str, int]:
    """Ids of the ledger transactions that these keys posted, by key, the oldest first."""
    return find(house.id, keys)


def reverse(house: House, key: str, transaction_id: int, metadata: Mapping[str, Any]) -> tuple[int, Recorded | None]:
    """Post the mirror of what `key` posted; returns its id and what the event records of it, None where it was reversed
    before. Raises the ledger's typed errors."""
    mirror = ledger.reverse(house.id, mirror_key(key), transaction_id, metadata, kind=REVERSAL)
    if mirror.replayed:
        return mirror.transaction_id, None
    about = _about(mirror_key(key), REVERSAL, metadata, None, mirror.posted_at)
    return mirror.transaction_id, {"tx": mirror.transaction_id, "reverses": transaction_id, "about": about}


def mirror_key(key: str) -> str:
    """The key of the transaction that undoes what `key` posted."""
    return f"{key}:void"
