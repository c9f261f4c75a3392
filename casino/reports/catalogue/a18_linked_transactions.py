"""A18: transactions of one person, or of players who have used one device, that belong together, and the rule that
linked them."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from casino.bookkeeping.accounts import Account
from casino.bookkeeping.flows import GAMING_DAY, WINDOWS, Direction
from casino.reports.frame.columns import Column, Row, Type, count, money, ref, text, time
from casino.reports.frame.filters import DAYS, EVER, DayRange
from casino.reports.frame.flows import Flow, Points, said, transactions
from casino.reports.frame.movements import events, turned
from casino.reports.frame.reading import fetched
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
from casino.reports.frame.trail import DaysOfEvents, at
from casino.reports.player_hands import staked_in_days
from casino.staff.models import Role
from ledger.models import Period

SAME_PERSON, SPLIT, MORE_CHIPS, LITTLE_PLAY = "same person", "split", "more chips than bought", "little play"
SAME_DEVICE = "same device"
RULES = (SAME_PERSON, SAME_DEVICE, SPLIT, MORE_CHIPS, LITTLE_PLAY)
RULE = Filter("rule", FilterKind.CHOICE, "Only what this rule has linked.", choices=RULES)
WINDOW = Filter("window", FilterKind.CHOICE, "Only this window.", choices=(GAMING_DAY, *WINDOWS))
PLAYER = Filter("player", FilterKind.CODE, "Only this player.")
#: An amount of so many hundredths of the threshold and below it looks like a part of a larger one.
SPLIT_FROM = 80
#: Paid in and out at least half of the threshold, four fifths of it came back, and less than a tenth was staked.
LEAST_OF_THRESHOLD, PAID_BACK, STAKED = 50, 80, 10
#: Events with chips that were not booked for the player who has brought them, and the member that says how much.
_BROUGHT = {
    "cage.cash_out": "attributed", "cage.noncash_paid": "attributed", "cage.payout_held": "attributed",
    "table.sat_down": "brought", "table.chips_added": "brought",
}  # fmt: skip
_NAMED = "seat.device_named"
#: Whether rows have what the events say of devices: marks with the references of their players.
_ROWS = """
SELECT device.mark, player.ref FROM tables_seatdevice device
JOIN tables_seating seating ON seating.id = device.seating_id AND seating.house_id = device.house_id
JOIN players_player player ON player.id = seating.player_id AND player.house_id = device.house_id
WHERE device.house_id = %s GROUP BY 1, 2
"""
#: How much of a hash names a device for people.
_SHORT = 16
#: Rule, window, player, day, first and newest, number of parts, in, out, threshold, other figure, transactions.
_Linked = tuple[str, str, str, str, datetime, datetime, int, int, int, int, int | None, str]


def _row(rule: str, window: str, parts: Sequence[Flow], threshold: int, other: int | None = None) -> _Linked:
    paid = {way: sum(one.amount for one in parts if one.direction == way) for way in Direction}
    first, last = parts[0], parts[-1]
    ids = " ".join(str(one.transaction) for one in parts)
    return (
        rule, window, last.who, last.day, first.at, last.at, len(parts), paid[Direction.IN], paid[Direction.OUT],
        threshold, other, ids,
    )  # fmt: skip


def _by_person(scope: Scope) -> dict[str, list[Flow]]:
    """Of the players that a run asks for, in the order of the postings."""
    asked = scope.filters.get("player")
    return {who: paid for who, paid in _all_by_person(scope).items() if asked in (None, who)}


def _all_by_person(scope: Scope) -> dict[str, list[Flow]]:
    return scope.once("flows of players", _read_by_person)


def _looked_at(scope: Scope) -> DayRange:
    """The days of what a row of the days asked for can be made of: back from their beginning by two of the longest
    windows, as a window is reported only where the one before it had not come to the threshold."""
    first = DayRange.of(scope).first
    if first is None:
        return EVER
    longest = Points(scope).longest_window()
    periods = Period.objects.filter(book=scope.house.id).order_by("id").values_list("name", "opened_at", "closed_at")
    begins = next((opened for name, opened, _ in periods if name >= first), scope.as_of.at) - 2 * longest
    return DayRange(next((name for name, _, closed in periods if closed is None or closed >= begins), first), None)


def _read_by_person(scope: Scope) -> dict[str, list[Flow]]:
    found: dict[str, list[Flow]] = defaultdict(list)
    for flow in transactions(scope, _looked_at(scope)):
        if flow.who:
            found[flow.who].append(flow)
    return dict(sorted(found.items()))


@dataclass(slots=True)
class _Use:
    """When a player named a device, first and last, and how often: once for each stay at a seat."""

    first: datetime
    last: datetime
    times: int = 0


def _devices(scope: Scope) -> dict[str, dict[str, _Use]]:
    """By the hash of its mark the players who have used a device; read once in a run."""
    return scope.once("devices of players", _read_devices)


def _read_devices(scope: Scope) -> dict[str, dict[str, _Use]]:
    found: dict[str, dict[str, _Use]] = {}
    for _, _, _, doc in events(scope, (_NAMED,)):
        data = doc["data"]
        use = found.setdefault(data["device"], {}).setdefault(data["player"], _Use(at(doc), at(doc)))
        use.last, use.times = at(doc), use.times + 1
    return found


def _shared(scope: Scope) -> dict[str, dict[str, _Use]]:
    """Those that more than one player has used, of them the one whom a run asks for."""
    asked = scope.filters.get("player")
    return {
        mark: uses for mark, uses in sorted(_devices(scope).items()) if len(uses) > 1 and (not asked or asked in uses)
    }


def _same_device(scope: Scope, points: Points) -> Iterator[_Linked]:
    """By direction and gaming day: what two or more players of one device have paid together came to the threshold."""
    paid = _all_by_person(scope)
    for uses in {tuple(sorted(uses)): uses for uses in _shared(scope).values()}:
        ours = sorted((flow for who in uses for flow in paid.get(who, ())), key=lambda flow: flow.transaction)
        for way in Direction:
            for parts in _by_day([flow for flow in ours if flow.direction == way]).values():
                threshold, players = points.at(parts[-1].at)["identity_from"], sorted({flow.who for flow in parts})
                if len(players) > 1 and sum(one.amount for one in parts) >= threshold:
                    row = _row(SAME_DEVICE, GAMING_DAY, parts, threshold)
                    yield (*row[:2], " ".join(players), *row[3:])


def _used(scope: Scope) -> Iterator[Row]:
    """Devices that more than one player has used."""
    for mark, uses in _shared(scope).items():
        for player, use in sorted(uses.items()):
            yield mark[:_SHORT], player, use.first, use.last, use.times


def _by_day(paid: Sequence[Flow]) -> dict[str, list[Flow]]:
    found: dict[str, list[Flow]] = defaultdict(list)
    for flow in paid:
        if flow.day:
            found[flow.day].append(flow)
    return found


def _same_person(paid: Sequence[Flow], points: Points) -> Iterator[_Linked]:
    """By direction: gaming days that came to the threshold, and each time a rolling window came to it."""
    for way in Direction:
        ours = [flow for flow in paid if flow.direction == way]
        for parts in _by_day(ours).values():
            threshold = points.at(parts[-1].at)["identity_from"]
            if len(parts) > 1 and sum(one.amount for one in parts) >= threshold:
                yield _row(SAME_PERSON, GAMING_DAY, parts, threshold)
        for name in WINDOWS:
            yield from _rolling(ours, name, points)


def _rolling(paid: Sequence[Flow], name: str, points: Points) -> Iterator[_Linked]:
    begin, total, was_above = 0, 0, False
    for newest, flow in enumerate(paid):
        total += flow.amount
        length = points.windows(flow.at).get(name, timedelta(0))
        while paid[begin].at <= flow.at - length and begin < newest:
            total -= paid[begin].amount
            begin += 1
        threshold = points.at(flow.at)["identity_from"]
        above = total >= threshold and bool(length)
        if above and not was_above and newest > begin and flow.amount < threshold:
            yield _row(SAME_PERSON, name, paid[begin : newest + 1], threshold)
        was_above = above


def _split(paid: Sequence[Flow], points: Points) -> Iterator[_Linked]:
    """Two or more in one direction and one gaming day, each of them a little below the threshold."""
    for way in Direction:
        for parts in _by_day([flow for flow in paid if flow.direction == way]).values():
            threshold = points.at(parts[-1].at)["identity_from"]
            near = [one for one in parts if SPLIT_FROM * threshold <= 100 * one.amount < 100 * threshold]
            if len(near) > 1:
                yield _row(SPLIT, GAMING_DAY, near, threshold)


def _little_play(
    paid: Sequence[Flow], points: Points, staked: dict[tuple[str, str], int]
) -> Iterator[_Linked]:  # fmt: skip
    """Much came in, most of it went out on the same day, and little of it was staked in hands."""
    for day, parts in _by_day(paid).items():
        threshold = points.at(parts[-1].at)["identity_from"]
        row = _row(LITTLE_PLAY, GAMING_DAY, parts, threshold, staked.get((parts[0].who, day), 0))
        came, went, played = row[7], row[8], row[10] or 0
        if (
            100 * came >= LEAST_OF_THRESHOLD * threshold and threshold
            and 100 * went >= PAID_BACK * came and 100 * played < STAKED * came
        ):  # fmt: skip
            yield row


def _more_chips(scope: Scope, points: Points) -> Iterator[_Linked]:
    """Players who brought more chips in a gaming day than were booked for them, from the log's floor on."""
    days, found = DaysOfEvents(scope), defaultdict[tuple[str, str], list[tuple[datetime, int, str]]](list)
    for event, chain, seq, doc in events(scope, tuple(_BROUGHT), days.range):
        data, player = doc["data"], doc["data"]["player"]
        brought = data.get(_BROUGHT[doc["kind"]], 0)
        if brought and scope.filters.get("player") in (None, player):
            found[player, days.of(event)].append((at(doc), brought, f"{chain}#{seq}"))
    for (player, day), parts in found.items():
        control, total = points.at(parts[-1][0]), sum(amount for _, amount, _ in parts)
        if total >= control["log_floor"]:
            threshold, places = control["identity_from"], " ".join(name for _, _, name in parts)
            yield (
                MORE_CHIPS, GAMING_DAY, player, day, parts[0][0], parts[-1][0], len(parts), 0, 0, threshold, total,
                places,
            )  # fmt: skip


def _linked(scope: Scope) -> Iterator[Row]:
    points, days = Points(scope), DayRange.of(scope)
    staked = staked_in_days(turned(scope, (Account.SEAT_STACK,), days))
    found = list(_more_chips(scope, points))
    found += _same_device(scope, points)
    for paid in _by_person(scope).values():
        found += _same_person(paid, points)
        found += _split(paid, points)
        found += _little_play(paid, points, staked)
    wanted = scope.filters
    for row in sorted(found, key=lambda one: (one[2], one[5], RULES.index(one[0]), one[1], one[11])):
        rule, window, player, day = row[:4]
        if days.takes(day) and wanted.get("rule") in (None, rule) and wanted.get("window") in (None, window):
            yield (rule, window, player, day or None, *row[4:])


def _persons(scope: Scope) -> Iterator[Row]:
    days = DayRange.of(scope)
    for player, paid in _by_person(scope).items():
        ours = [flow for flow in paid if days.takes(flow.day)]
        if ours:
            row = _row("", "", ours, 0)
            yield player, len(ours), row[7], row[8]


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    named_on = {(mark, player) for mark, uses in _devices(scope).items() for player in uses}
    in_rows = set(fetched(_ROWS, [scope.house.id]))
    yield Equality(
        "devices of players by the events that the rows have = all", len(named_on & in_rows), len(named_on), Type.COUNT
    )
    days, opened, asked = DayRange.of(scope), DaysOfEvents(scope), scope.filters.get("player")
    named = [
        one
        for one in said(scope, days)
        if one.who and asked in (None, one.who) and days.takes(one.for_day or opened.of(one.event))
    ]
    totals = results["persons"]
    for way in Direction:
        recorded = sum(one.amount for one in named if one.direction == way)
        yield Equality(
            "what players have paid {way} by the ledger = by the events",
            totals.totals[way],
            recorded,
            Type.MONEY,
            coded={"way": way},
        )
    yield Equality(
        "transactions with a name in the ledger = in the events", totals.totals["parts"], len(named), Type.COUNT
    )


REPORT = Report(
    id="linked-transactions",
    number="A18",
    version=2,
    title="Linked transactions",
    text="Transactions that come to the house's threshold together, of one player (same person) or of players who have "
    "used one device, on one day (same device); several a little below it (split: 80 to 99 % each, on one day); more "
    "chips than were booked for the player; and much that came in and went out on one day with little play: half of "
    "the threshold in, four fifths of that out, less than a tenth of it staked. A link is a reason to look, and no "
    "finding.",
    roles=(Role.COMPLIANCE,),
    sections=(
        Section(
            "linked",
            "Linked",
            (
                text("rule", "Rule"), text("window", "Window"), ref("player", "Player"),
                Column("day", "Gaming day of the newest", Type.DAY), time("first", "First"), time("newest", "Newest"),
                count("parts", "Parts", total=False), money("in", "Paid in", total=False),
                money("out", "Paid out", total=False), money("threshold", "Threshold then", total=False),
                money("other", "Brought, or staked", total=False), text("transactions", "Transactions, or events"),
            ),
            _linked,
            groups=("rule", "window", "player", "day"),
        ),
        Section(
            "persons",
            "All players",
            (ref("player", "Player"), count("parts", "Transactions"), money("in", "Paid in"), money("out", "Paid out")),
            _persons,
        ),
        Section(
            "devices",
            "Devices that several players have used",
            (
                ref("device", "Device"), ref("player", "Player"), time("first", "First"), time("last", "Last"),
                count("stays", "Stays at seats"),
            ),
            _used,
            groups=("device", "player"),
        ),
    ),
    equalities=_equalities,
    filters=(*DAYS, RULE, WINDOW, PLAYER),
    sensitivity=Sensitivity.PERSONS,
    retention=Retention.LAUNDERING,
)  # fmt: skip
