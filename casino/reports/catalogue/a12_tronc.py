"""A12: the tronc: tips by table, counted tip boxes with their cash, pools by day, the share of each person with its
payment, and what each has had: points or hours, shares, and the time at tables."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from casino.bookkeeping.accounts import Account
from casino.reports.counts import worth_of
from casino.reports.frame.columns import Column, Row, Type, count, day, money, ref, share, time
from casino.reports.frame.filters import DAYS, PERSON, TABLE, DayRange
from casino.reports.frame.movements import events, turned
from casino.reports.frame.reading import balances
from casino.reports.frame.report import (
    Equality,
    Filter,
    FilterKind,
    Report,
    Results,
    Retention,
    Scope,
    Section,
    Sensitivity,
)
from casino.reports.frame.trail import DaysOfEvents, at, place
from casino.reports.table_time import times
from casino.staff.models import Role

_SHARED, _PAID, _TIP, _RECEIVED = "tronc.shared", "tronc.share_paid", "table.tip", "box.received"
_POOL = Filter("pool", FilterKind.CODE, "Only shares of the pool of this number.")


def _tips(scope: Scope) -> Iterator[Row]:
    """By table and day: what players gave, what counts found besides it or missed, and what was pooled of it."""
    days, found = DayRange.of(scope), dict[tuple[str, str], list[int]]()
    for one in turned(scope, (Account.TRONC,), days):
        if days.takes(one.day) and scope.filters.get("table") in (None, one.place):
            row = found.setdefault((one.place, one.day), [0, 0])
            row[0 if one.kind == _TIP else 1] += one.net
    for (table, of_day), (given, counted) in sorted(found.items()):
        yield table, of_day or None, given, counted, given + counted


def _paid(scope: Scope) -> dict[tuple[int, str], tuple[str, datetime, str]]:
    """Who paid a share, when, and in which gaming day, by pool and login."""
    days = DaysOfEvents(scope)
    return {
        (doc["data"]["share"]["pool"], doc["data"]["share"]["login"]): (doc["actor"], at(doc), days.of(event))
        for event, _, _, doc in events(scope, (_PAID,))
    }


def _pools(scope: Scope) -> list[tuple[str, dict[str, Any]]]:
    """Every pool with the gaming day in which it was shared."""
    days = DaysOfEvents(scope)
    return [(days.of(event), doc["data"]["pool"]) for event, _, _, doc in events(scope, (_SHARED,))]


def _shares(scope: Scope) -> Iterator[Row]:
    """Shares of pools that were shared in the days asked for, and those that were paid in them."""
    days, paid, asked = DayRange.of(scope), _paid(scope), scope.filters
    for of_day, pool in _pools(scope):
        if asked.get("pool") not in (None, str(pool["pool"])):
            continue
        for one in pool["shares"]:
            by, when, paid_in = paid.get((pool["pool"], one["login"]), (None, None, ""))
            in_days = days.takes(of_day) or (when is not None and days.takes(paid_in))
            if in_days and asked.get("person") in (None, one["login"], by):
                amount = one["amount"]
                yield (
                    pool["pool"], of_day or None, pool["shared_by"], one["login"], one["points"], amount,
                    amount if when else 0, 0 if when else amount, by, when, paid_in or None,
                )  # fmt: skip


def _counted(scope: Scope) -> Iterator[Row]:
    """Tip boxes that were received: their chips by worth, and the cash, which nobody has entered before."""
    days, asked = DaysOfEvents(scope), scope.filters.get("table")
    for event, _, _, doc in events(scope, (_RECEIVED,), days.range):
        box = doc["data"]["box"]
        if box["kind"] == "tip" and days.takes(event) and asked in (None, box["table"]):
            chips = worth_of(box["pieces"])
            yield days.of(event) or None, box["table"], box["box"], chips, box["cash"], chips + box["cash"]


def _by_day(scope: Scope) -> Iterator[Row]:
    """Pools of the days asked for: how many shares, and what of them is paid at the moment."""
    paid = _paid(scope)
    for of_day, pool in _shared(scope):
        shares = pool["shares"]
        left = sum(one["amount"] for one in shares if (pool["pool"], one["login"]) not in paid)
        yield (
            of_day or None, pool["pool"], pool["shared_by"], len(shares), sum(one["points"] for one in shares),
            pool["amount"], pool["amount"] - left, left,
        )  # fmt: skip


def _shared(scope: Scope) -> list[tuple[str, dict[str, Any]]]:
    """Pools that were shared in the days asked for, and the one that is asked for by its number."""
    days, number = DayRange.of(scope), scope.filters.get("pool")
    return [(day, pool) for day, pool in _pools(scope) if days.takes(day) and number in (None, str(pool["pool"]))]


def _people(scope: Scope) -> Iterator[Row]:
    """Each person's points or hours beside those of all who shared the same pools, and the minutes for which the person
    had tables in these days; of one pool none, whose time nobody has recorded."""
    paid, minutes, person = _paid(scope), _minutes(scope), scope.filters.get("person")
    found: dict[str, list[int]] = {}
    for _, pool in _shared(scope):
        whole = sum(one["points"] for one in pool["shares"])
        for one in pool["shares"]:
            amount, is_paid = one["amount"], (pool["pool"], one["login"]) in paid
            row = found.get(one["login"], [0] * 6)
            more = (1, one["points"], whole, amount, amount * is_paid, amount * (not is_paid))
            found[one["login"]] = [before + this for before, this in zip(row, more, strict=True)]
    for login, (shares, points, whole, *amounts) in sorted(found.items()):
        if person in (None, login):
            spent = None if _POOL.name in scope.filters else minutes.get(login, 0)
            yield login, shares, points, whole, share(points, whole), *amounts, spent


def _minutes(scope: Scope) -> dict[str, int]:
    """Whole minutes for which each dealer had tables in the days asked for."""
    found: dict[str, int] = {}
    for (_, _, dealer), seconds in times(scope).dealers.items():
        found[dealer] = found.get(dealer, 0) + seconds
    return {dealer: seconds // 60 for dealer, seconds in found.items()}


def _by_points(scope: Scope, results: Results) -> Iterator[Equality]:
    """Each share is next to its exact part of the pool: less than one minor unit away from it."""
    pools = [pool for _, pool in _shared(scope)]
    exact = 0
    for pool in pools:
        whole = sum(one["points"] for one in pool["shares"])
        exact += sum(abs(one["amount"] * whole - pool["amount"] * one["points"]) < whole for one in pool["shares"])
    shares, totals = sum(len(pool["shares"]) for pool in pools), results["people"].totals
    yield Equality("shares that are next to their part by points = shares", exact, shares, Type.COUNT)
    if PERSON.name not in scope.filters:
        of_pools = results["pools"].totals
        yield Equality("points by person = points of the pools", totals["points"], of_pools["points"], Type.COUNT)
        yield Equality("shares by person = amounts of the pools", totals["amount"], of_pools["amount"], Type.MONEY)
        yield Equality("paid by person = paid of the pools", totals["paid"], of_pools["paid"], Type.MONEY)


def _of_events(scope: Scope) -> tuple[int, int, int]:
    """What the events of these days name: tips given, what was counted in tip boxes, shares paid."""
    days, table = DaysOfEvents(scope), scope.filters.get("table")
    given, counted, paid = 0, 0, 0
    for event, chain, _, doc in events(scope, (_TIP, _RECEIVED, _PAID), days.range):
        data = doc["data"]
        if not days.takes(event):
            continue
        if doc["kind"] == _TIP:
            given += data["amount"] if table in (None, place(chain)) else 0
        elif doc["kind"] == _PAID:
            paid += data["share"]["amount"]
        elif data["box"]["kind"] == "tip":
            counted += data["box"]["cash"] + worth_of(data["box"]["pieces"])
    return given, counted, paid


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    """Pools belong to the house, so that what is said of them is of all tables; of shares only where all are shown."""
    days, table = DayRange.of(scope), scope.filters.get("table")
    given, counted, paid = _of_events(scope)
    moved = [one for one in turned(scope, (Account.TRONC, Account.TRONC_POOL), days) if days.takes(one.day)]
    tips = [one for one in moved if one.number == Account.TRONC and table in (None, one.place)]
    by_tips = sum(one.net for one in tips if one.kind == _TIP)
    yield Equality("tips as the events name them = 2060 by tips", given, by_tips, Type.MONEY)
    change = sum(one.net for one in tips)
    yield Equality("change of the boxes = change of 2060", results["tips"].totals["waiting"], change, Type.MONEY)
    of_pool = [one for one in moved if one.number == Account.TRONC_POOL]
    came = sum(one.net for one in of_pool if one.kind == _RECEIVED)
    yield Equality("counted in tip boxes as the events name it = what came to 2065", counted, came, Type.MONEY)
    if table is None:
        in_boxes = results["boxes"].totals["counted"]
        yield Equality("chips and cash of these boxes = what came to 2065", in_boxes, came, Type.MONEY)
    left = -sum(one.net for one in of_pool if one.kind == _PAID)
    yield Equality("shares that were paid = 2065 by payments", paid, left, Type.MONEY)
    yield from _by_points(scope, results)
    if not scope.filters.keys() - {TABLE.name}:
        shares, pools = results["shares"].totals, sum(pool["amount"] for _, pool in _pools(scope))
        yield Equality("shares of all pools = their amounts", shares["amount"], pools, Type.MONEY)
        of_days = results["pools"].totals["unpaid"]
        yield Equality("unpaid of the pools = unpaid shares", of_days, shares["unpaid"], Type.MONEY)
        yield Equality("paid of these shares = shares that were paid", shares["paid"], paid, Type.MONEY)
        held = sum(one.balance for one in balances(scope) if one.number == Account.TRONC_POOL)
        waiting = shares["unpaid"] + came - pools
        yield Equality("unpaid shares and what is not shared yet = balance of 2065", waiting, held, Type.MONEY)


REPORT = Report(
    id="tronc",
    number="A12",
    version=4,
    title="Tronc",
    text="Tips by table and gaming day, pools of counted tips, the share of each person with its payment, and what "
    "each person has had by points or hours.",
    roles=(Role.AUDITOR, Role.MANAGER, Role.DELEGATE),
    sections=(
        Section(
            "tips",
            "Tips",
            (
                ref("table", "Table"), day("day", "Gaming day"), money("given", "Given"),
                money("counted", "Found, less missing and pooled"), money("waiting", "Change of the box"),
            ),
            _tips,
            groups=("table", "day"),
        ),
        Section(
            "shares",
            "Shares",
            (
                count("pool", "Pool", total=False), day("day", "Shared in"), ref("shared_by", "Shared by"),
                ref("person", "Person"), count("points", "Points or hours"), money("amount", "Share"),
                money("paid", "Paid"), money("unpaid", "Unpaid"), ref("paid_by", "Paid by"),
                time("paid_at", "Paid at"), day("paid_in", "Paid in"),
            ),
            _shares,
            groups=("pool", "person", "day"),
        ),
        Section(
            "boxes",
            "Counted tip boxes",
            (
                day("day", "Gaming day"), ref("table", "Table"), count("box", "Box", total=False),
                money("chips", "Chips"), money("cash", "Cash tips"), money("counted", "Together"),
            ),
            _counted,
            groups=("day", "table"),
        ),
        Section(
            "pools",
            "Pools",
            (
                day("day", "Gaming day"), count("pool", "Pool", total=False), ref("shared_by", "Shared by"),
                count("shares", "Shares"), count("points", "Points or hours"), money("amount", "Amount"),
                money("paid", "Paid"), money("unpaid", "Unpaid"),
            ),
            _by_day,
            groups=("day",),
        ),
        Section(
            "people",
            "By person",
            (
                ref("person", "Person"), count("shares", "Shares"), count("points", "Points or hours"),
                count("of_points", "Of all in these pools", total=False), Column("part", "Part", Type.SHARE),
                money("amount", "Share"), money("paid", "Paid"), money("unpaid", "Unpaid"),
                count("minutes", "Minutes with tables"),
            ),
            _people,
            groups=("person",),
        ),
    ),
    equalities=_equalities,
    filters=(*DAYS, TABLE, PERSON, _POOL),
    sensitivity=Sensitivity.STAFF,
    retention=Retention.BOOKS,
)  # fmt: skip
