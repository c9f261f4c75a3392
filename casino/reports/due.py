"""What a house keeps no longer at a moment, by kind, and the legal holds that keep it nevertheless."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from django.db.models import Exists, OuterRef

from casino.bookkeeping import chart
from casino.core import canonical, moments, sql
from casino.days.models import PackageContent
from casino.evidence import expiry, holds
from casino.evidence.forgetting import days_kept, excluded_until, last_activity
from casino.evidence.models import LegalHold
from casino.hands.models import UNSETTLED
from casino.houses import control_points
from casino.houses.control_points import ControlPoints
from casino.houses.models import House
from casino.players.models import Person, PersonKey, Player
from casino.reports.frame import registry
from casino.reports.frame.report import Retention, Sensitivity
from casino.reports.models import ReportFile, ReportPart, RunState
from casino.safeguards.models import Exclusion, ExclusionKind, ExclusionMark
from casino.tables.models import Seating

FILE, KEY, PACKAGE, ANSWERS = "report_file", "person_key", "day_package", "answers"
SEALED, MARKS, MESSAGES = "sealed_entries", "exclusion_marks", "messages"
#: Reports of these classes may name players.
_NAMES_PLAYERS = (Sensitivity.PLAYERS, Sensitivity.PERSONS, Sensitivity.SEALED)
#: Rows that come by the thousand, answers and messages, are deleted by spans of time. One run takes the oldest spans
#: that hold so many rows together, and one span at least: so it is over in a second or two, whatever a day has brought.
ROWS = 10_000
#: Answers are so many that a date of them takes too long.
ANSWERS_SPAN, MESSAGES_SPAN = timedelta(minutes=10), timedelta(days=1)
_SPAN = "date_bin(%s, {at}, '2000-01-01T00:00Z')"
#: By span before a moment, the oldest first: how many answers.
_SPANS_OF_ANSWERS = f"""
SELECT {_SPAN.format(at="at")} AS span, count(*) FROM staff_answeredrequest
WHERE house_id = %s AND at < %s GROUP BY span ORDER BY span
"""  # noqa: S608 - from the code only
#: By span of these: the bytes of the answers, and the SHA-256 of their terminals, keys and hashes of requests.
_ANSWERED = f"""
SELECT answered.span, sum(octet_length(answered.answer))::bigint, encode(sha256(string_agg(
    convert_to(concat_ws(' ', terminal.code, answered.key, answered.request_hash), 'UTF8'), '\\x0a'::bytea
    ORDER BY answered.id)), 'hex')
FROM (SELECT id, terminal_id, key, request_hash, answer, {_SPAN.format(at="at")} AS span FROM staff_answeredrequest
    WHERE house_id = %s AND at >= %s AND at < %s) answered
JOIN staff_terminal terminal ON terminal.id = answered.terminal_id
WHERE answered.span = ANY(%s) GROUP BY answered.span ORDER BY answered.span
"""  # noqa: S608 - from the code only
#: The same of messages of the outbox that are done. A message whose hand is not settled yet may be opened again, when a
#: dispute is withdrawn: it keeps its span.
_SPANS_OF_MESSAGES = f"""
SELECT {_SPAN.format(at="done_at")} AS span, count(*) FROM houses_outboxmessage message
WHERE house_id = %s AND done_at < %s GROUP BY span HAVING NOT bool_or(EXISTS (
    SELECT FROM hands_hand hand WHERE left(message.task, 6) = 'hands.' AND hand.id::text = message.subject
        AND hand.house_id = message.house_id AND hand.state = ANY(%s)))
ORDER BY span
"""  # noqa: S608 - from the code only
_DONE = f"""
SELECT message.span, sum(octet_length(concat_ws(' ', message.task, message.subject)))::bigint, encode(sha256(string_agg(
    convert_to(concat_ws(' ', message.task, message.subject), 'UTF8'), '\\x0a'::bytea ORDER BY message.id)), 'hex')
FROM (SELECT id, task, subject, {_SPAN.format(at="done_at")} AS span FROM houses_outboxmessage
    WHERE house_id = %s AND done_at >= %s AND done_at < %s) message
WHERE message.span = ANY(%s) GROUP BY message.span ORDER BY message.span
"""  # noqa: S608 - from the code only


@dataclass(frozen=True, slots=True)
class Due:
    """Something that is kept no longer, since when its days are counted, for how many, and the numbers of the legal
    holds that keep it nevertheless. Its name: of a file `RUN/NAME`, of a key the player, of a package the day, of
    answers and messages when their span begins (UTC), of sealed entries `FIRST-LAST`, of marks the exclusion."""

    kind: str
    name: str
    sha256: str
    size: int
    since: datetime
    days: int
    holds: Sequence[int]
    id: int = field(compare=False, default=0)

    def as_json(self) -> dict[str, Any]:
        """As the event has it."""
        return {
            "kind": self.kind, "name": self.name, "sha256": self.sha256, "size": self.size,
            "since": moments.utc(self.since), "days": self.days,
        }  # fmt: skip


#: Days that five years have at most.
FIVE_YEARS = 1827


def days_of(points: ControlPoints) -> Mapping[Retention, int]:
    """For how many days a house keeps files, by the class of their report."""
    return {
        Retention.BOOKS: points.retain_books_days,
        Retention.LAUNDERING: points.retain_laundering_days,
        Retention.PROTECTION: points.retain_laundering_days + FIVE_YEARS,
        Retention.OPERATIONS: points.retain_operations_days,
        Retention.TRANSIENT: points.retain_transient_days,
    }


def due(house: House, moment: datetime, kinds: Collection[str] | None = None) -> list[Due]:
    """What is kept no longer at a moment, of all kinds or these, kind by kind, the oldest first; with the holds that
    keep it nevertheless. Of what comes by the thousand no more than a run can delete."""
    points, in_force = control_points.in_force(house), holds.in_force(house)
    looking: dict[str, Callable[[], Iterator[Due]]] = {
        FILE: lambda: _files(house, moment, points, in_force),
        KEY: lambda: _keys(house, moment, points, in_force),
        PACKAGE: lambda: _packages(house, moment, points, in_force),
        ANSWERS: lambda: _answers(house, moment, points, in_force),
        MESSAGES: lambda: _messages(house, moment, points, in_force),
        SEALED: lambda: _sealed(house, moment, points, in_force),
        MARKS: lambda: _marks(house, moment, in_force),
    }
    return [one for kind, look in looking.items() if kinds is None or kind in kinds for one in look()]


def span(name: str, length: timedelta) -> tuple[datetime, datetime]:
    """Begin and end of the span of this name, `2026-01-31T18:20` or `2026-01-31`."""
    begin = datetime.fromisoformat(name).replace(tzinfo=UTC)
    return begin, begin + length


# --- Parts ----------------------------------------------------------------------------------------------------------


def _files(house: House, moment: datetime, points: ControlPoints, in_force: list[LegalHold]) -> Iterator[Due]:
    kept = days_of(points)
    with_bytes = Exists(ReportPart.objects.filter(house=house, file=OuterRef("pk")))
    files = ReportFile.objects.filter(with_bytes, house=house, run__house=house, run__state=RunState.MADE)
    oldest = moment - timedelta(days=min(kept.values()))
    for file in files.filter(run__ended_at__lte=oldest).select_related("run").order_by("run__number", "name"):
        report = registry.reports().get(file.run.report)
        # Of a report that is in the catalogue no more, the files are kept as those of books.
        days = kept[Retention.BOOKS if report is None else report.retention]
        since = file.run.ended_at
        if since is None or since + timedelta(days=days) > moment:
            continue
        players = report is None or report.sensitivity in _NAMES_PLAYERS
        held = [hold.number for hold in in_force if holds.of_run(hold, file.run.filters, names_players=players)]
        yield Due(FILE, f"{file.run.number}/{file.name}", file.sha256, file.size, since, days, held, file.pk)


def _keys(house: House, moment: datetime, points: ControlPoints, in_force: list[LegalHold]) -> Iterator[Due]:
    days = days_kept(points)
    until = moment - timedelta(days=days)
    players = Player.objects.filter(house=house, pk__in=PersonKey.objects.filter(house=house).values("player"))
    for player in players.filter(registered_at__lte=until).order_by("registered_at"):
        if Seating.objects.filter(player=player, left_at=None).exists():
            continue
        if any(balance for _, balance, _ in chart.of_player(house, player.ref)):
            continue
        since = last_activity(house, player)
        if since > until or excluded_until(house, player, moment) is not None:
            continue
        newest = Person.objects.filter(player=player).latest("version")
        held = holds.of_player(house, player, since, in_force)
        yield Due(KEY, player.ref, newest.sealed_sha256, 0, since, days, held, player.pk)


def _packages(house: House, moment: datetime, points: ControlPoints, in_force: list[LegalHold]) -> Iterator[Due]:
    """The bytes of packages of gaming days: books, which may name players."""
    days = points.retain_books_days
    rows = PackageContent.objects.filter(house=house, package__made_at__lte=moment - timedelta(days=days))
    for one in rows.defer("content").select_related("package").order_by("package__day"):
        package = one.package
        held = _on_date(package.day, in_force)
        yield Due(PACKAGE, package.day, package.sha256, package.size, package.made_at, days, held, package.pk)


def _answers(house: House, moment: datetime, points: ControlPoints, in_force: list[LegalHold]) -> Iterator[Due]:
    """The stored answers of requests, which may name players, by the span in which they were given."""
    days, length = points.retain_answers_days, ANSWERS_SPAN
    last = _begin_of_span(moment - timedelta(days=days), length)
    counted = sql.rows(_SPANS_OF_ANSWERS, [length, house.id, last])
    held = _held(counted, lambda date: _on_date(date, in_force))
    for begin, size, digest in _digests(_ANSWERED, house, length, _share(counted, held)):
        name = begin.strftime("%Y-%m-%dT%H:%M")
        yield Due(ANSWERS, name, digest, size, begin + length, days, held[begin])


def _messages(house: House, moment: datetime, points: ControlPoints, in_force: list[LegalHold]) -> Iterator[Due]:
    """Messages of the outbox that are done, by date. They name no player; they go with the answers of their time."""
    days, length = points.retain_answers_days, MESSAGES_SPAN
    last = _begin_of_span(moment - timedelta(days=days), length)
    counted = sql.rows(_SPANS_OF_MESSAGES, [length, house.id, last, [str(one) for one in UNSETTLED]])
    held = _held(counted, lambda date: _on_date(date, in_force, names_players=False))
    for begin, size, digest in _digests(_DONE, house, length, _share(counted, held)):
        yield Due(MESSAGES, begin.date().isoformat(), digest, size, begin + length, days, held[begin])


def _held(counted: list[tuple[Any, ...]], by_date: Callable[[str], list[int]]) -> dict[datetime, list[int]]:
    """The holds on each span."""
    of_date = cache(by_date)
    begins = [begin.astimezone(UTC) for begin, _ in counted]
    return {begin: of_date(begin.date().isoformat()) for begin in begins}


def _share(counted: list[tuple[Any, ...]], held: Mapping[datetime, list[int]]) -> list[datetime]:
    """The oldest spans that are free, and the oldest that are held, until either have ROWS rows."""
    chosen, rows = [], {True: 0, False: 0}
    for begin, count in counted:
        kept = bool(held[begin])
        if rows[kept] and rows[kept] + count > ROWS:
            count = ROWS  # those after it are not taken either
        else:
            chosen.append(begin.astimezone(UTC))
        rows[kept] += count
    return chosen


def _digests(
    statement: str, house: House, length: timedelta, spans: list[datetime]
) -> Iterator[tuple[datetime, int, str]]:
    """Begin, bytes and SHA-256 of each span."""
    if spans:
        wanted = [length, house.id, spans[0], spans[-1] + length, spans]
        for begin, size, digest in sql.rows(statement, wanted):
            yield begin.astimezone(UTC), size, digest


def _begin_of_span(moment: datetime, length: timedelta) -> datetime:
    """When the span began in which a moment lies."""
    return moment - (moment - datetime(2000, 1, 1, tzinfo=UTC)) % length


def _sealed(house: House, moment: datetime, points: ControlPoints, in_force: list[LegalHold]) -> Iterator[Due]:
    """Entries of the sealed register, month by month, whatever they say: only holds that name days, or the house, keep
    them as they are. What goes on is carried (`casino/evidence/expiry.py`)."""
    days = points.retain_laundering_days
    for month in expiry.months(house, moment - timedelta(days=days)):
        filters = {"from": month.first_day.isoformat(), "until": month.last_day.isoformat()}
        held = [hold.number for hold in in_force if holds.of_run(hold, filters, names_players=False)]
        yield Due(SEALED, month.name, month.sha256, month.size, month.since, days, held)


def _marks(house: House, moment: datetime, in_force: list[LegalHold]) -> Iterator[Due]:
    """Marks of exclusions that are over: nobody is looked for by them any more."""
    with_marks = Exists(ExclusionMark.objects.filter(house=house, exclusion=OuterRef("pk")))
    for one in Exclusion.objects.filter(with_marks, house=house).order_by("number"):
        ends = [one.lifted_at, None if one.kind == ExclusionKind.SELF else one.until]
        over = [end for end in ends if end is not None and end <= moment]
        if not over:
            continue
        marks = salted_hashes(house, one.pk)
        held = [
            hold.number
            for hold in in_force
            if holds.of_run(hold, {}, names_players=False)
            or (hold.player_id is not None and hold.player_id == one.player_id)
        ]
        yield Due(MARKS, str(one.number), canonical.sha256(marks), 48 * len(marks), min(over), 0, held, one.pk)


def salted_hashes(house: House, exclusion: int) -> list[str]:
    """SHA-256 of each mark of an exclusion with its salt, in order."""
    statement = "SELECT encode(sha256(salted), 'hex') FROM safeguards_exclusionmark WHERE house_id = %s"
    return sorted(digest for (digest,) in sql.rows(f"{statement} AND exclusion_id = %s", [house.id, exclusion]))


def _on_date(name: str, in_force: list[LegalHold], *, names_players: bool = True) -> list[int]:
    """The holds that keep what is about a date or a gaming day, and may name players."""
    about = {"from": name, "until": name}
    return [hold.number for hold in in_force if holds.of_run(hold, about, names_players=names_players)]
