"""A12: the tronc: tips by table, pools, and the share of each person with its payment."""

from collections.abc import Iterator
from typing import Any

from casino.bookkeeping.accounts import Account
from casino.reports.frame.columns import Row, count, money, ref, text
from casino.reports.frame.filters import TABLE
from casino.reports.frame.movements import events, turned
from casino.reports.frame.reading import balances
from casino.reports.frame.report import Equality, Report, Results, Retention, Scope, Section, Sensitivity
from casino.staff.models import Role

_SHARED, _PAID, _TIP = "tronc.shared", "tronc.share_paid", "table.tip"


def _tips(scope: Scope) -> Iterator[Row]:
    """By table and day: what players gave, what counts found besides it or missed, and what was pooled of it."""
    found: dict[tuple[str, str], list[int]] = {}
    for one in turned(scope, (Account.TRONC,)):
        if scope.filters.get("table") in (None, one.place):
            row = found.setdefault((one.place, one.day), [0, 0])
            row[0 if one.kind == _TIP else 1] += one.net
    for (table, day), (given, counted) in sorted(found.items()):
        yield table, day, given, counted, given + counted


def _paid(scope: Scope) -> dict[tuple[int, str], tuple[str, str]]:
    """Who paid a share, and when, by pool and login."""
    return {
        (doc["data"]["share"]["pool"], doc["data"]["share"]["login"]): (doc["actor"], doc["at"])
        for _, _, _, doc in events(scope, (_PAID,))
    }


def _pools(scope: Scope) -> list[dict[str, Any]]:
    return [doc["data"]["pool"] for _, _, _, doc in events(scope, (_SHARED,))]


def _shares(scope: Scope) -> Iterator[Row]:
    paid = _paid(scope)
    for pool in _pools(scope):
        for share in pool["shares"]:
            by, at = paid.get((pool["pool"], share["login"]), ("", ""))
            amount = share["amount"]
            yield (
                pool["pool"], pool["shared_by"], share["login"], share["points"], amount, amount if at else 0,
                0 if at else amount, by, at,
            )  # fmt: skip


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    given = sum(doc["data"]["amount"] for _, _, _, doc in events(scope, (_TIP,)))
    moved = turned(scope, (Account.TRONC, Account.TRONC_POOL))
    tips = sum(one.net for one in moved if one.number == Account.TRONC and one.kind == _TIP)
    yield Equality("tips as the events name them = 2060 by tips", given, tips)
    of_pool = [one for one in moved if one.number == Account.TRONC_POOL]
    paid = -sum(one.net for one in of_pool if one.kind == _PAID)
    shares = results["shares"].totals
    yield Equality("shares that were paid = 2065 by payments", shares["paid"], paid)
    pools = sum(pool["amount"] for pool in _pools(scope))
    yield Equality("shares of all pools = their amounts", shares["amount"], pools)
    counted = sum(one.net for one in of_pool if one.kind != _PAID)
    held = sum(one.balance for one in balances(scope) if one.number == Account.TRONC_POOL)
    yield Equality(
        "unpaid shares and what is not shared yet = balance of 2065", shares["unpaid"] + counted - pools, held
    )


REPORT = Report(
    id="tronc",
    number="A12",
    version=1,
    title="Tronc",
    text="Tips by table and gaming day, pools of counted tips, and the share of each person with its payment.",
    roles=(Role.AUDITOR, Role.MANAGER),
    sections=(
        Section(
            "tips",
            "Tips",
            (
                ref("table", "Table"), text("day", "Gaming day"), money("given", "Given"),
                money("counted", "Found, less missing and pooled"), money("waiting", "Change of the box"),
            ),
            _tips,
            groups=("table", "day"),
        ),
        Section(
            "shares",
            "Shares",
            (
                count("pool", "Pool", total=False), ref("shared_by", "Shared by"), ref("person", "Person"),
                count("points", "Points"), money("amount", "Share"), money("paid", "Paid"), money("unpaid", "Unpaid"),
                ref("paid_by", "Paid by"), text("paid_at", "Paid at"),
            ),
            _shares,
            groups=("pool", "person"),
        ),
    ),
    equalities=_equalities,
    filters=(TABLE,),
    sensitivity=Sensitivity.STAFF,
    retention=Retention.BOOKS,
)  # fmt: skip
