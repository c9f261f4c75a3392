"""A19: the log of cash transactions from the house's floor on, with what the same person has paid so far that day."""

from collections import defaultdict
from collections.abc import Iterator

from casino.bookkeeping.flows import CASH, Direction
from casino.reports.frame import written
from casino.reports.frame.columns import Column, Row, Type, coded, count, money, ref, text, time
from casino.reports.frame.filters import DAYS, PLACE, DayRange
from casino.reports.frame.flows import Points, said, transactions
from casino.reports.frame.report import (
    Equality,
    Filter,
    FilterKind,
    Format,
    Report,
    Results,
    Retention,
    Scope,
    Section,
    Sensitivity,
)
from casino.reports.frame.trail import DaysOfEvents
from casino.staff.models import Role
from casino.watching import lines
from casino.watching.models import Capacity

PLAYER = Filter(
    "player", FilterKind.CODE, "Only this player, with lines of an unknown person who turned out to be the player."
)
LEAST = Filter(
    "least", FilterKind.AMOUNT,
    "From this amount on, minor units; without it from the house's floor at the time of each transaction.",
)  # fmt: skip


def _log(scope: Scope) -> Iterator[Row]:
    """Running sums are of all cash of a person in the gaming day, small amounts too; who has no name is who the log
    says, and of nobody of whom nothing is known there are sums."""
    points, days, wanted = Points(scope), DayRange.of(scope), scope.filters
    makers = written.by_transaction(scope, Capacity.SELF)
    running: dict[tuple[str, str, str], int] = defaultdict(int)
    for flow in transactions(scope, days):
        if not flow.is_cash:
            continue
        for_person = {}
        who = flow.who or "".join(makers.get(flow.transaction, ()))
        if who:
            running[who, flow.day, flow.direction] += flow.amount
            for_person = {way: running[who, flow.day, way] for way in Direction}
        floor = int(wanted["least"]) if "least" in wanted else points.at(flow.at)["log_floor"]
        asked = wanted.get("player") in (None, who) and wanted.get("place") in (None, flow.place)
        if flow.amount >= floor and days.takes(flow.day) and asked:
            paid = {way: flow.amount if flow.direction == way else 0 for way in Direction}
            yield (
                flow.day or None, flow.at, who or None, flow.place, flow.kind, paid[Direction.IN],
                paid[Direction.OUT], for_person.get(Direction.IN), for_person.get(Direction.OUT), flow.by,
                f"{flow.chain}#{flow.seq}",
            )  # fmt: skip


def _entered(scope: Scope) -> Iterator[Row]:
    """Lines that were entered by hand or by a trade that named an unknown person, withdrawn ones with their reason."""
    for line in _lines(scope):
        row, counts = line.row, not line.withdrawn
        way = {one: row.amount if row.direction == one and counts else 0 for one in Direction}
        yield (
            row.day or None, row.entered_at, row.number, line.who, row.capacity, row.place, row.kind, row.amount,
            way[Direction.IN], way[Direction.OUT], lines.trade_of(row), row.entered_by.login,
            *((None, None, None) if counts else (
                row.withdrawn_by.login if row.withdrawn_by else None, row.withdrawn_at, row.withdrawn_reason
            )),
        )  # fmt: skip


def _lines(scope: Scope) -> Iterator[written.Line]:
    days, wanted = DayRange.of(scope), scope.filters
    for line in written.entered(scope):
        asked = wanted.get("player") in (None, line.who) and wanted.get("place") in (None, line.row.place)
        if days.takes(line.row.day) and asked:
            yield line


def _persons(scope: Scope) -> Iterator[Row]:
    for row, player, description in written.persons(scope):
        if scope.filters.get("player") in (None, player):
            by, at = (row.identified_by, row.identified_at) if player else (None, None)
            yield (
                f"#{row.number}", description, row.opened_at, row.opened_by.login, player or None,
                by.login if by else None, at,
            )  # fmt: skip


def _of_lines(scope: Scope, results: Results) -> Iterator[Equality]:
    """Lines by their rows are those of the events; a day or a person is known from the rows alone."""
    known, shown = written.said(scope), [line.row.number for line in _lines(scope)]
    totals = results["entered"].totals
    recorded = sum(known.amount(number) for number in shown)
    yield Equality(
        "amounts of lines that count = those of the events", totals["in"] + totals["out"], recorded, Type.MONEY
    )
    if not scope.filters:
        yield Equality(
            "lines = lines that the events have entered", results["entered"].row_count, len(known.lines), Type.COUNT
        )
        yield Equality("unknown persons = those that the events have opened", results["persons"].row_count,
                       len(known.persons), Type.COUNT)  # fmt: skip


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    yield from _of_lines(scope, results)
    if "place" in scope.filters or _asks_for_somebody_of_the_log(scope):
        return
    points, days, wanted = Points(scope), DaysOfEvents(scope), scope.filters
    found = [
        one
        for one in said(scope, days.range)
        if one.kind in CASH
        and days.takes(one.event)
        and wanted.get("player") in (None, one.who)
        and one.amount >= (int(wanted["least"]) if "least" in wanted else points.at(one.at)["log_floor"])
    ]
    log = results["log"]
    for way in Direction:
        recorded = sum(one.amount for one in found if one.direction == way)
        yield Equality(
            "cash {way} of the ledger from the floor on = of the events",
            log.totals[way],
            recorded,
            Type.MONEY,
            coded={"way": way},
        )
    yield Equality("lines = events from the floor on", log.row_count, len(found), Type.COUNT)


def _asks_for_somebody_of_the_log(scope: Scope) -> bool:
    """Whether transactions that name nobody are shown of a person, as the log has it: events of trades do not say."""
    named = {one for found in written.by_transaction(scope, Capacity.SELF).values() for one in found}
    return scope.filters.get("player") in named


REPORT = Report(
    id="transaction-log",
    number="A19",
    version=2,
    title="Multiple-transaction log",
    text="Cash that came in or went out at drawers and tables, from the house's floor on, with what the same person "
    "has paid and was paid in cash so far in the gaming day. What was taken back by a correction is left out. Who has "
    "no player's file is `#` and a number, with a description. Lines that staff has entered: who was in a transaction, "
    "on whose behalf it was made, and what was seen beside the books; with those that were withdrawn.",
    roles=(Role.COMPLIANCE, Role.CAGE_SUPERVISOR),
    sections=(
        Section(
            "log",
            "Transactions",
            (
                Column("day", "Gaming day", Type.DAY), time("at", "At"), ref("player", "Player, or unknown"),
                ref("place", "Place"), coded("kind", "Kind"), money("in", "In"), money("out", "Out"),
                money("running_in", "In so far that day", total=False),
                money("running_out", "Out so far that day", total=False), ref("by", "By"), ref("event", "Event"),
            ),
            _log,
            groups=("day", "player", "place", "kind", "by"),
        ),
        Section(
            "entered",
            "Lines entered by staff",
            (
                Column("day", "Gaming day", Type.DAY), time("at", "Entered"), count("line", "Line", total=False),
                ref("player", "Player, or unknown"), text("capacity", "In it"), ref("place", "Place"),
                text("kind", "Kind"), money("amount", "Amount", total=False), money("in", "In"), money("out", "Out"),
                ref("event", "Transaction"), ref("by", "By"), ref("withdrawn_by", "Withdrawn by"),
                time("withdrawn_at", "Withdrawn"), text("reason", "Why"),
            ),
            _entered,
            groups=("day", "player", "place", "kind", "by"),
        ),
        Section(
            "persons",
            "Unknown persons",
            (
                ref("person", "Unknown"), text("description", "Description"), time("opened_at", "Described"),
                ref("opened_by", "By"), ref("player", "Is the player"), ref("identified_by", "Noted by"),
                time("identified_at", "Noted"),
            ),
            _persons,
        ),
    ),
    equalities=_equalities,
    filters=(*DAYS, PLAYER, PLACE, LEAST),
    sensitivity=Sensitivity.PERSONS,
    retention=Retention.LAUNDERING,
    formats=(Format.JSON, Format.CSV, Format.XLSX, Format.PDF, Format.SLIP),
)  # fmt: skip
