"""What counts and approvals show that somebody must look at: differences of people and trays, boxes, drawers and a
vault that nobody has counted or closed in time, and people who approve each other. From when on, the control points
say (`casino/houses/control_points.py`)."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, F, Max

from casino.approvals.models import Approval, ApprovalState, Assent
from casino.cage.models import Shift, VarianceOffset, VaultCount, VaultCountState, worth
from casino.houses import days
from casino.houses.control_points import ControlPoints
from casino.houses.models import House
from casino.tables.models import TableState
from casino.transfers.boxes import inside
from casino.transfers.models import Box, BoxKind, BoxState, TrayCount, TrayCountState


@dataclass(frozen=True, slots=True)
class Sign:
    """What something to look at is called, since when it waits or when it was found; of a difference how much, in minor
    units: short is negative."""

    name: str
    since: datetime
    amount: int | None = None


@dataclass(frozen=True, slots=True)
class _Difference:
    """What a drawer's count found: whose drawer it was, which shift; how much it is over or short on the whole, and how
    far apart count and books are, where cash over does not make up for chips short; less what has been offset."""

    login: str
    drawer: str
    shift: int
    at: datetime
    over: int
    apart: int


def differences(house: House, points: ControlPoints, now: datetime) -> Iterator[Sign]:
    """Large differences of one person in one count."""
    for one in _of_people(house, points, now):
        if one.apart >= max(points.difference_alarm_from, 1):
            amount = -one.apart if one.over < 0 else one.apart
            yield Sign(f"{one.login}, drawer {one.drawer}, shift {one.shift}", one.at, amount)


def of_one_sign(house: House, points: ControlPoints, now: datetime) -> Iterator[Sign]:
    """People whose counts are short, or over, again and again."""
    found: dict[tuple[str, bool], list[_Difference]] = defaultdict(list)
    for one in _of_people(house, points, now):
        if one.over:
            found[one.login, one.over > 0].append(one)
    for (login, over), several in found.items():
        if len(several) >= points.differences_of_one_sign:
            name = f"{login}, {len(several)} counts {'over' if over else 'short'}"
            yield Sign(name, max(one.at for one in several), sum(one.over for one in several))


def trays(house: House, points: ControlPoints, now: datetime) -> Iterator[Sign]:
    """Differences of trays."""
    return _of_trays(house, points, now, points.tray_difference_alarm_from)


def trays_to_report(house: House, points: ControlPoints, now: datetime) -> Iterator[Sign]:
    """Differences of trays of which the authority gets a copy."""
    return _of_trays(house, points, now, points.tray_difference_reported_from)


def boxes(house: House, points: ControlPoints, now: datetime) -> Iterator[Sign]:
    """Boxes with something in them that were not received when so many gaming days had ended since they were put at the
    table."""
    ended = _ended(house, now)
    found = Box.objects.filter(house=house).exclude(state=BoxState.RECEIVED).exclude(table__state=TableState.RETIRED)
    for box in found.select_related("table__house").order_by("id"):
        late = [day.closed_at for day in ended if day.closed_at and day.closed_at > box.put_at]
        if len(late) < points.uncounted_box_days:
            continue
        if box.state != BoxState.AT_TABLE or any(inside(box.table, BoxKind(box.kind))):
            yield Sign(f"{box.kind} box {box.number} of table {box.table.code}", late[points.uncounted_box_days - 1])


def drawers(house: House, points: ControlPoints, now: datetime) -> Iterator[Sign]:
    """Drawers that were counted and are not closed."""
    late = now - timedelta(minutes=points.drawer_close_minutes)
    found = Shift.objects.filter(house=house, closed_at=None, counted_at__lt=late)
    for code, counted in found.values_list("drawer__code", "counted_at"):
        if counted is not None:
            yield Sign(f"drawer {code}", counted)


def vault(house: House, points: ControlPoints, now: datetime) -> Iterator[Sign]:
    """A vault that was not counted for so many whole gaming days."""
    accepted = VaultCount.objects.filter(house=house, state=VaultCountState.ACCEPTED, ended_at__lte=now)
    last = accepted.aggregate(last=Max("ended_at"))["last"]
    missed = [day.closed_at for day in _ended(house, now) if last is None or day.opened_at > last]
    if len(missed) >= points.uncounted_vault_days and (since := missed[points.uncounted_vault_days - 1]) is not None:
        yield Sign("the vault", since)


def pairs(house: House, points: ControlPoints, now: datetime) -> Iterator[Sign]:
    """Two people who approve each other: both ways, and more than a part of all that the two have asked for."""
    since = now - timedelta(days=points.alarm_days)
    decided = Approval.objects.filter(house=house, decided_at__gte=since, decided_at__lte=now)
    found = decided.exclude(state=ApprovalState.REFUSED)
    asked: dict[str, int] = defaultdict(int)
    given: dict[tuple[str, str], tuple[int, datetime]] = {}
    counted = found.values_list("requested_by__login", "decided_by__login")
    for one, other, number, last in counted.annotate(number=Count("id"), last=Max("decided_at")).order_by():
        asked[one] += number
        given[one, other] = number, last
    # Where every role must approve, who approved before the last one counts as well.
    others = Assent.objects.filter(approval__in=found).exclude(given_by=F("approval__decided_by"))
    before_last = others.values_list("approval__requested_by__login", "given_by__login")
    for one, other, number, last in before_last.annotate(number=Count("id"), last=Max("given_at")).order_by():
        known, at = given.get((one, other), (0, last))
        given[one, other] = known + number, max(at, last)
    for (one, other), (number, last) in sorted(given.items()):
        back, before = given.get((other, one), (0, last))
        if one > other or not back:
            continue
        both, all_ = number + back, asked[one] + asked[other]
        if both >= points.reverse_pair_least and 100 * both > points.reverse_pair_percent * all_:
            yield Sign(f"{one} and {other}, {both} of {all_} approvals", max(last, before))


# --- Parts ----------------------------------------------------------------------------------------------------------


def _ended(house: House, now: datetime) -> list[days.Day]:
    """Gaming days that have ended, in the order in which they did."""
    found = [day for day in days.days(house) if day.closed_at is not None and day.closed_at <= now]
    return sorted(found, key=lambda day: day.closed_at or now)


def _of_people(house: House, points: ControlPoints, now: datetime) -> Iterator[_Difference]:
    """Differences of the drawers that were closed in these days."""
    since = now - timedelta(days=points.alarm_days)
    offsets = VarianceOffset.objects.filter(house=house).exclude(drawer=None)
    explained: dict[tuple[int | None, int], int] = defaultdict(int)
    for offset in offsets:
        explained[offset.drawer_id, offset.count] += offset.amount
    found = Shift.objects.filter(house=house, closed_at__gte=since, closed_at__lte=now)
    for shift in found.select_related("drawer", "opened_by").order_by("closed_at", "id"):
        parts = [
            (shift.counted_cash or 0) - (shift.expected_cash or 0),
            (shift.counted_foreign or 0) - (shift.expected_foreign or 0),
            *_worths(shift.expected_pieces or {}, shift.counted_pieces or {}),
            shift.withdrawn_variance,
        ]
        if any(parts) and shift.closed_at is not None:
            # What cancels has been counted twice: as cash, and as chips.
            apart = sum(abs(part) for part in parts) - 2 * explained[shift.drawer_id, shift.number]
            yield _Difference(
                shift.opened_by.login, shift.drawer.code, shift.number, shift.closed_at, sum(parts), apart
            )


def _worths(expected: dict[str, int], counted: dict[str, int]) -> Iterator[int]:
    """What a count is over or short of each denomination, in minor units."""
    for value in expected | counted:
        yield int(value) * (counted.get(value, 0) - expected.get(value, 0))


def _of_trays(house: House, points: ControlPoints, now: datetime, least: int) -> Iterator[Sign]:
    since = now - timedelta(days=points.alarm_days)
    found = TrayCount.objects.filter(
        house=house, state=TrayCountState.CONFIRMED, counted_at__gte=since, counted_at__lte=now
    )
    for one in found.select_related("table").order_by("counted_at", "id"):
        over = worth({"": one.pieces}) - worth({"": one.expected})
        if abs(over) >= max(least, 1):
            yield Sign(f"table {one.table.code}, tray count {one.serial}", one.counted_at, over)
