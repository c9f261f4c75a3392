"""A23: what an auditor must look at, on one page: sources with their counts, and every exception with its link."""

from collections.abc import Iterator

from casino.reports.exceptions import SOURCES, Found, Severity, Source
from casino.reports.frame.columns import Row, Type, coded, count, money, ref, text, time
from casino.reports.frame.filters import DAYS
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
from casino.reports.frame.trail import minutes
from casino.staff.models import Role

_SEVERITY = Filter(
    "severity", FilterKind.CHOICE, "Only exceptions that are so grave.", choices=tuple(map(str, Severity))
)  # fmt: skip
_SOURCE = Filter(
    "source", FilterKind.CHOICE, "Only exceptions of this source.", choices=tuple(source.name for source in SOURCES)
)


def _wanted(scope: Scope) -> list[tuple[Source, list[Found]]]:
    """The sources that a run asks for with their rows, the oldest first."""
    return scope.once("exceptions", _read)


def _read(scope: Scope) -> list[tuple[Source, list[Found]]]:
    asked = scope.filters
    found = []
    for source in SOURCES:
        if asked.get("severity") in (None, source.severity) and asked.get("source") in (None, source.name):
            rows = sorted(source.rows(scope), key=lambda one: (one.since or scope.as_of.at, one.name))
            found.append((source, rows))
    return found


def _sources(scope: Scope) -> Iterator[Row]:
    for source, rows in _wanted(scope):
        oldest = min((one.since for one in rows if one.since is not None), default=None)
        yield str(source.severity), source.name, len(rows), oldest, source.report


def _rows(scope: Scope) -> Iterator[Row]:
    for source, rows in _wanted(scope):
        for one in rows:
            age = None if one.since is None else minutes(one.since, scope.as_of.at)
            yield str(source.severity), source.name, one.name, one.since, age, one.amount, one.person, one.link


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    for source, rows in _wanted(scope):
        number = source.number(scope)
        if number is not None:
            yield Equality(
                "exceptions of {source} = those of its source",
                len(rows),
                number,
                Type.COUNT,
                coded={"source": source.name},
            )
    listed = results["exceptions"].row_count
    yield Equality("exceptions by source = exceptions", results["sources"].totals["exceptions"], listed, Type.COUNT)


REPORT = Report(
    id="exceptions",
    number="A23",
    version=1,
    title="Exceptions",
    text="What an auditor must look at: by source, with counts, age and where more is to be read. Open matters are "
    "those of the moment of the report; what has happened is that of the gaming days asked for.",
    roles=(Role.AUDITOR,),
    sections=(
        Section(
            "sources",
            "Sources",
            (
                coded("severity", "Severity"), ref("source", "Source"), count("exceptions", "Exceptions"),
                time("oldest", "Oldest"), ref("report", "Report"),
            ),
            _sources,
            groups=("severity",),
        ),
        Section(
            "exceptions",
            "Exceptions",
            (
                coded("severity", "Severity"), ref("source", "Source"), text("what", "What"), time("since", "Since"),
                count("age", "Minutes", total=False), money("amount", "Amount", total=False), ref("person", "Person"),
                text("link", "Where"),
            ),
            _rows,
            groups=("severity", "source", "person"),
        ),
    ),
    equalities=_equalities,
    filters=(*DAYS, _SEVERITY, _SOURCE),
    sensitivity=Sensitivity.PLAYERS,
    retention=Retention.BOOKS,
)  # fmt: skip
