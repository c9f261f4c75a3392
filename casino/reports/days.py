"""What a gaming day turned over, whether its snapshots agree with the entries, and what was booked for it in another
day. Amounts are minor units."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery, Sum, Value
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Coalesce, Concat

from casino.audit.events.house import DayClosed
from casino.audit.models import Event
from casino.bookkeeping.accounts import Account
from casino.bookkeeping.chart import kind_of
from casino.cage import selectors as cage
from casino.cage.models import Drawer
from casino.days import packages
from casino.hands.models import Hand, HandState
from casino.houses.days import Day, closing_snapshot, days, get
from casino.houses.models import House
from casino.reports.selectors import trial_rows
from casino.reports.snapshots import differences
from casino.tables.models import Table
from ledger import periods, snapshots
from ledger.models import Entry, Period, Snapshot, Transaction
from ledger.periods import Turnover

#: Kinds of postings by which a drawer sells chips and buys them back.
_SOLD, _BOUGHT = ("cage.buy_in", "cage.bearer_buy_in"), ("cage.cash_out", "cage.bearer_cash_out")


def rows(house: House) -> QuerySet[Period]:
    """The house's gaming days, each with the name of its closing `snapshot`."""
    name = Concat(Value(closing_snapshot("")), OuterRef("name"))
    taken = Snapshot.objects.filter(book=house.id, name=name).values("name")
    return Period.objects.filter(book=house.id).annotate(snapshot=Subquery(taken))


def of_row(row: Period) -> Day:
    """The day of a row of `rows`."""
    return Day(row.name, row.opened_at, row.closed_at, row.snapshot)  # type: ignore[attr-defined]


def report(house: House, name: str, *, blind: bool = False, whole: bool = False) -> tuple[Day, dict[str, Any]]:
    """A day and its report: turnover by account number, by table and by drawer, and, once it is closed, the trial
    balance of its snapshot and what of the snapshot differs from the snapshot of the day before and the entries since,
    or, as a `whole` proof, from all entries before it. These never change again: what was booked
    for the day in another one stands apart, as `adjustments`. Where it is `blind` and a drawer has not
    been counted and closed, without the figures from which the drawer's contents follow. Raises NotFound."""
    day, found = _report(house, name, None if whole else _closing_before(house, name))
    if blind and cage.is_any_open(house):
        found |= dict.fromkeys(("accounts", "drawers", "trial_balance", "adjustments"))
        found["turnover"] |= dict.fromkeys(("buy_ins", "cash_outs"))
    return day, found


def _closing_before(house: House, name: str) -> str | None:
    """The closing snapshot of the day before a day; None where it has none."""
    return next((day.snapshot for day in reversed(days(house)) if day.name < name), None)


def _report(house: House, name: str, before: str | None) -> tuple[Day, dict[str, Any]]:
    day = get(house, name)
    moved = periods.turnover(house.id, name)
    by_code = {row.code: row for row in moved if row.commodity == house.currency}
    tables, drawers = _tables(house, day, by_code), _drawers(house, name)
    closed = day.closed_at is not None
    return day, {
        **day.as_json(),
        "currency": house.currency,
        "turnover": {
            "handle": sum(row["handle"] for row in tables),
            "tax": sum(row["tax"] for row in tables),
            "fees": sum(row["fees"] for row in tables),
            "bonus": sum(row["bonus"] for row in tables),
            "goodwill": sum(row["goodwill"] for row in tables),
            "buy_ins": sum(row["buy_ins"] for row in [*tables, *drawers]),
            "cash_outs": sum(row["cash_outs"] for row in drawers),
            "hand_count": sum(row["hand_count"] for row in tables),
        },
        "accounts": _accounts(moved),
        "tables": tables,
        "drawers": drawers,
        "trial_balance": _trial_balance(house, name) if closed else None,
        "snapshot_findings": differences(house, closing_snapshot(name), before) if closed else None,
        "carried": _carried(house, name) if closed else None,
        "package": packages.described(house, name) if closed else None,
        "adjustments": _adjustments(house, name),
    }


def _carried(house: House, name: str) -> dict[str, Any]:
    """What the day left to the next one when it was closed, as its event says."""
    event = Event.objects.filter(house=house).annotate(kind_text=KeyTextTransform("kind", "doc"))
    found: dict[str, Any] = event.get(kind_text=DayClosed.KIND, doc__data__day=name).doc["data"]["carried"]
    return found


#: What an adjustment is about, and why it was booked.
ABOUT = ("table", "box", "tray_count", "drawer", "shift", "vault_count", "place", "count", "hand", "reason")


def _adjustments(house: House, name: str) -> list[dict[str, Any]]:
    """Counts, offsets of variances and later rulings of the day that were booked in another one, with the reason."""
    return [
        {
            "transaction": late.transaction_id,
            "kind": late.kind,
            "booked_in": late.period,
            "posted_at": late.posted_at,
            **{about: late.metadata.get(about) for about in ABOUT},
            "accounts": _accounts(late.moved),
        }
        for late in periods.late(house.id, name)
    ]


def _trial_balance(house: House, name: str) -> dict[str, Any]:
    return trial_rows(snapshots.trial_balance(house.id, closing_snapshot(name), separator="/"))


def _accounts(moved: list[Turnover]) -> list[dict[str, Any]]:
    """By commodity and account number: what was debited and credited, and with how many entries. Chips in pieces."""
    sums: dict[tuple[str, str], dict[str, Any]] = {}
    for row in moved:
        kind = kind_of(row.code)
        found = sums.setdefault(
            (row.commodity, kind.number),
            {
                "commodity": row.commodity,
                "number": kind.number,
                "kind": kind.name,
                "debit": 0,
                "credit": 0,
                "entry_count": 0,
            },
        )
        found["debit"] += row.debit
        found["credit"] += row.credit
        found["entry_count"] += row.entries
    return [sums[key] for key in sorted(sums)]


def settled(house: House, day: Day) -> Q:
    """The hands settled in a day: by the posting, or where nothing moved by the moment, while the day was the newest,
    which is when it takes postings."""
    posted = Transaction.objects.filter(book=house.id, period__name=day.name).values("id")
    hands = Hand.objects.filter(house=house)
    unmoved = hands.filter(state=HandState.SETTLED, settlement=None, settled_at__gte=day.opened_at)
    ends = [other.opened_at for other in days(house) if other.name > day.name]
    ends += [day.closed_at] if day.closed_at is not None else []
    if ends:
        unmoved = unmoved.filter(settled_at__lt=min(ends))
    # Each part is found by an index, one condition of both is not.
    return Q(id__in=hands.filter(settlement__in=posted).values("id").union(unmoved.values("id"), all=True))


def _tables(house: House, day: Day, by_code: Mapping[str, Turnover]) -> list[dict[str, Any]]:
    """Per table: hands settled in the day and what was played for in them, tax, fees, bonuses, cash taken for chips.
    What a soft count finds too much in the drop box was taken for no chips: it is a variance."""
    taken = _cash(house, day.name, Account.DROP_CASH, "table.buy_in")
    played = {
        row["table_id"]: row
        for row in Hand.objects.filter(settled(house, day), house=house)
        .values("table_id")
        .annotate(hands=Count("id"), staked=Sum("handle"))
    }
    none = {"hands": 0, "staked": 0}
    return [
        {
            "table": table.code,
            "hand_count": played.get(table.id, none)["hands"],
            "handle": played.get(table.id, none)["staked"] or 0,
            "tax": -_net(by_code, table.account(Account.HOUSE_TAX)),
            "fees": -_net(by_code, table.account(Account.TABLE_FEES)),
            "bonus": _net(by_code, table.account(Account.BONUS)),
            "goodwill": _net(by_code, table.account(Account.GOODWILL)),
            "buy_ins": taken.get((table.account(Account.DROP_CASH), "table.buy_in"), 0),
        }
        for table in Table.objects.filter(house=house).order_by("code")
    ]


def _net(by_code: Mapping[str, Turnover], code: str) -> int:
    row = by_code.get(code)
    return row.debit - row.credit if row else 0


def _drawers(house: House, name: str) -> list[dict[str, Any]]:
    """Per drawer: cash taken for chips and paid for chips."""
    cash = _cash(house, name, Account.DRAWER_CASH, *_SOLD, *_BOUGHT)
    return [
        {
            "drawer": drawer.code,
            "buy_ins": sum(cash.get((drawer.account(Account.DRAWER_CASH), kind), 0) for kind in _SOLD),
            "cash_outs": -sum(cash.get((drawer.account(Account.DRAWER_CASH), kind), 0) for kind in _BOUGHT),
        }
        for drawer in Drawer.objects.filter(house=house).order_by("code")
    ]


def _cash(house: House, name: str, account: Account, *kinds: str) -> dict[tuple[str, str], int]:
    """What transactions of these kinds, less their mirrors, moved in a day on the accounts of one number, by code and
    kind."""
    moved = (
        Entry.objects.filter(
            Q(transaction__kind__in=kinds) | Q(transaction__reverses__kind__in=kinds),
            transaction__book=house.id,
            transaction__period__name=name,
            account__code__startswith=f"{account}/",
        )
        .values(code=F("account__code"), kind=Coalesce("transaction__reverses__kind", "transaction__kind"))
        .annotate(total=Sum("amount"))
    )
    return {(row["code"], row["kind"]): row["total"] for row in moved}
