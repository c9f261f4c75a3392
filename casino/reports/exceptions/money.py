"""Sources of money and chips: piles below nothing, counts that differ one way, what nobody ended in time."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from casino.bookkeeping.chart import COMMISSIONED, kind_of
from casino.reports.catalogue import a08_chips, a09a_tray_counts, a10_transfers, a13_variances
from casino.reports.exceptions.source import Found, asked_for
from casino.reports.frame.movements import events
from casino.reports.frame.reading import balances, fetched
from casino.reports.frame.report import Scope
from casino.reports.frame.trail import at, place

#: After how long a transfer is late, and a drawer open for too long; counts of one sign that are a trend.
TRANSFER, OPEN_DRAWER, ONE_SIGN = timedelta(minutes=30), timedelta(hours=24), 3


def chips(scope: Scope) -> Iterator[Found]:
    """Piles of chips below nothing."""
    for row in a08_chips.REPORT.sections[1].rows(scope):
        commodity, _, kind, where, held, worth = row
        if int(str(held)) < 0:
            yield Found(f"{commodity}: {held} pieces in {kind} {where}".rstrip(), None, int(str(worth)), "", "chips")


def negative(scope: Scope) -> int:
    """The same from the balances."""
    return sum(
        held.balance < 0 for held in balances(scope) if kind_of(held.code).custody and held.number != COMMISSIONED
    )


def one_sign(scope: Scope) -> Iterator[Found]:
    """People whose newest counts all differ one way."""
    for row in a13_variances.people(scope):
        who, kind, *_ = row
        run, month = int(str(row[8])), int(str(row[12]))
        if run >= ONE_SIGN:
            yield Found(
                f"{who}: the newest {run} differences of {kind} have one sign", None, month, str(who), "variances"
            )


def runs(scope: Scope) -> int:
    """The same from the counts themselves: the last ones that differ are all over, or all short."""
    found = 0
    for counter in a13_variances.counts_of(scope).values():
        signs = [amount > 0 for _, amount in counter.sizes if amount][-ONE_SIGN:]
        found += len(signs) == ONE_SIGN and len(set(signs)) == 1
    return found


def openers(scope: Scope) -> Iterator[Found]:
    """Counts of trays that were confirmed although they differ."""
    for one in a09a_tray_counts.wanted(scope):
        if one.part.get("exception"):
            table, serial = one.part["table"], one.part["tray_count"]
            yield Found(
                f"table {table}, tray count {serial}: {one.part['exception']}", one.ended, one.part.get("variance"),
                one.part["counted_by"], f"tray-counts?table={table}",
            )  # fmt: skip


def opener_events(scope: Scope) -> int:
    """The same from the events."""
    return sum(bool(doc["data"]["tray_count"]["exception"]) for *_, doc in asked_for(scope, "tray.confirmed"))


def late(scope: Scope) -> Iterator[Found]:
    """Transfers that are under way for too long."""
    for row in a10_transfers.REPORT.sections[0].rows(Scope(scope.house, scope.as_of, {})):
        kind, serial, state, table, drawer, asked, who, sent, *_ = row
        since = sent or asked
        under_way = state in ("requested", "sent", "declined")
        if under_way and isinstance(since, datetime) and scope.as_of.at - since > TRANSFER:
            yield Found(f"{kind} {serial}, {table} and {drawer}", since, None, str(who), "transfers")


#: Transfers of which the newest event ended nothing, by when they were sent, or else asked for.
_TRANSFERS = """
SELECT count(*) FROM (
    SELECT coalesce(min((doc ->> 'at')::timestamptz) FILTER (WHERE doc ->> 'kind' LIKE '%%.sent'),
            min((doc ->> 'at')::timestamptz)) AS since,
        bool_or(doc ->> 'kind' LIKE '%%.received' OR doc ->> 'kind' LIKE '%%.cancelled') AS ended
    FROM audit_event WHERE house_id = %s AND id <= %s
    AND (doc ->> 'kind' LIKE 'fill.%%' OR doc ->> 'kind' LIKE 'credit.%%')
    GROUP BY doc -> 'data' -> 'transfer' ->> 'transfer'
) one WHERE NOT ended AND since < %s
"""


def late_again(scope: Scope) -> int:
    """The same from the events."""
    [(found,)] = fetched(_TRANSFERS, [scope.house.id, scope.as_of.event, scope.as_of.at - TRANSFER])
    return int(found)


#: Drawers whose newest event of opening or closing is an opening, and was too long ago.
_DRAWERS = """
SELECT count(*) FROM (
    SELECT DISTINCT ON (doc ->> 'chain') doc ->> 'kind' AS kind, (doc ->> 'at')::timestamptz AS at FROM audit_event
    WHERE house_id = %s AND id <= %s AND doc ->> 'kind' IN ('drawer.opened', 'drawer.reopened', 'drawer.closed')
    ORDER BY doc ->> 'chain', id DESC
) newest WHERE kind <> 'drawer.closed' AND at < %s
"""


def drawers(scope: Scope) -> Iterator[Found]:
    """Drawers that are open for too long."""
    opened: dict[str, tuple[datetime, str]] = {}
    for _, chain, _, doc in events(scope, ("drawer.opened", "drawer.reopened", "drawer.closed")):
        if doc["kind"] == "drawer.closed":
            opened.pop(chain, None)
        else:
            opened[chain] = at(doc), doc["actor"]
    for chain, (since, who) in sorted(opened.items()):
        if scope.as_of.at - since > OPEN_DRAWER:
            yield Found(f"drawer {place(chain)}", since, None, who, f"drawers/{place(chain)}")


def drawers_again(scope: Scope) -> int:
    """The same from the newest event of each."""
    [(found,)] = fetched(_DRAWERS, [scope.house.id, scope.as_of.event, scope.as_of.at - OPEN_DRAWER])
    return int(found)


def remittances(scope: Scope) -> Iterator[Found]:
    """Winnings kept from minors that were not remitted in time."""
    waiting: dict[int, Found] = {}
    for _, _, _, doc in events(scope, ("minor.settled", "winnings.remitted")):
        data = doc["data"]
        if doc["kind"] == "winnings.remitted":
            for one in data["minors"]:
                waiting.pop(one["minor"], None)
        elif (until := data.get("remit_by")) is not None and datetime.fromisoformat(until) < scope.as_of.at:
            name, since = f"winnings of minor {data['minor']}", datetime.fromisoformat(until)
            waiting[data["minor"]] = Found(name, since, data["kept"], doc["actor"], "held-money")
    yield from waiting.values()


#: The same from the settlements: those that no remittance names.
_UNREMITTED = """
SELECT count(*) FROM audit_event settled WHERE settled.house_id = %s AND settled.id <= %s
AND settled.doc ->> 'kind' = 'minor.settled' AND (settled.doc -> 'data' ->> 'remit_by')::timestamptz < %s
AND NOT EXISTS (
    SELECT FROM audit_event paid, jsonb_array_elements(paid.doc -> 'data' -> 'minors') one
    WHERE paid.house_id = settled.house_id AND paid.id <= %s AND paid.doc ->> 'kind' = 'winnings.remitted'
    AND one -> 'minor' = settled.doc -> 'data' -> 'minor')
"""


def remittances_again(scope: Scope) -> int:
    """Their number, from the settlements."""
    event = scope.as_of.event
    [(found,)] = fetched(_UNREMITTED, [scope.house.id, event, scope.as_of.at, event])
    return int(found)
