"""What writes a format, and the one pass over a report's rows that feeds all of them."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from casino.reports.frame.charts import Plot
from casino.reports.frame.columns import Column, Row, Sums
from casino.reports.frame.head import Head
from casino.reports.frame.report import Equality, Report, Results, Scope, Section

#: Rows that go to the writers together, and after which `progress` is called.
STEP = 1_000
#: Bytes that are read at a time of a file that is hashed.
_BLOCK = 1 << 20


class Writer(Protocol):
    """Writes one format into a folder, section by section, some rows at a time."""

    def section(self, section: Section) -> None:
        """Begin a section."""

    def rows(self, rows: Sequence[Row]) -> None:
        """Write the next rows of the section, at most STEP."""

    def end_section(self, sums: Sums) -> None:
        """End the section with its sums."""

    def finish(self, equalities: Sequence[Equality]) -> list[Path]:
        """End the report; returns the files that were written."""

    def abandon(self) -> None:
        """Give up a report that is not finished."""


@runtime_checkable
class DrawsCharts(Protocol):
    """A writer that has a report's charts in its files."""

    def charts(self, plots: Sequence[Plot]) -> None:
        """Take the charts, after the last section and before the end."""


@dataclass(frozen=True, slots=True)
class File:
    """A file of a report: its name, bytes, SHA-256 in hexadecimal."""

    path: Path
    size: int
    sha256: str

    @classmethod
    def of(cls, path: Path) -> "File":
        """The file at a path."""
        digest = hashlib.sha256()
        with path.open("rb") as content:
            while block := content.read(_BLOCK):
                digest.update(block)
        return cls(path, path.stat().st_size, digest.hexdigest())

    def as_json(self) -> dict[str, Any]:
        """As a manifest has it."""
        return {"name": self.path.name, "size": self.size, "sha256": self.sha256}


@dataclass(frozen=True, slots=True)
class Produced:
    """What one pass made: sums by section, equalities, files."""

    results: Results
    equalities: list[Equality]
    files: list[File]


def produce(
    report: Report,
    scope: Scope,
    head: Head,
    writers: Sequence[Writer],
    progress: Callable[[int], None] = lambda rows: None,
) -> Produced:
    """Read every section once and write it in every format. `progress` gets the number of rows so far, and may raise to
    end the run."""
    try:
        return _produce(report, scope, head, writers, progress)
    except BaseException:
        for writer in writers:
            writer.abandon()
        raise


def _produce(
    report: Report, scope: Scope, head: Head, writers: Sequence[Writer], progress: Callable[[int], None]
) -> Produced:
    results: dict[str, Sums] = {}
    row_count = 0
    plots = [Plot(chart, _columns(report, chart.section)) for chart in report.charts]
    for section in report.sections:
        drawn = [plot for plot in plots if plot.chart.section == section.name]
        sums = Sums(section.columns, head.group_by if head.group_by in section.sums_by() else None)
        for writer in writers:
            writer.section(section)
        found = iter(section.rows(scope))
        while rows := list(islice(found, STEP)):
            sums.add_all(rows)
            for plot in drawn:
                plot.add_all(rows)
            for writer in writers:
                writer.rows(rows)
            row_count += len(rows)
            if len(rows) == STEP:
                progress(row_count)
        for writer in writers:
            writer.end_section(sums)
        results[section.name] = sums
    equalities = list(report.equalities(scope, results))
    for writer in writers:
        if plots and isinstance(writer, DrawsCharts):
            writer.charts(plots)
    progress(row_count)
    files = [File.of(path) for writer in writers for path in writer.finish(equalities)]
    return Produced(results, equalities, files)


def _columns(report: Report, section: str) -> tuple[Column, ...]:
    return next(one.columns for one in report.sections if one.name == section)


def group_rows(section: Section, sums: Sums, group_by: str) -> tuple[list[str], list[list[Any]]]:
    """The sums by one column: the names of what is summed, and the rows in the order of the column's values."""
    names = ["row_count", *sums.totals]
    ordered = sorted(sums.groups.items(), key=lambda one: (one[0] is None, str(one[0])))
    return names, [[value, *(group[name] for name in names)] for value, group in ordered]
