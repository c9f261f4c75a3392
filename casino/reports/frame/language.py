"""A report in a language: its titles and texts. Names of columns and filters are codes, and the same in every
language."""

from dataclasses import replace

from casino.core.languages import Kind, said
from casino.reports.frame.charts import Chart, Series
from casino.reports.frame.columns import Column
from casino.reports.frame.report import Report, Section


def in_words(report: Report) -> Report:
    """The report as it is said in the language that is spoken."""
    return replace(
        report, title=_said(report.title), text=_said(report.text), sections=tuple(map(_section, report.sections)),
        charts=tuple(map(_chart, report.charts)),
    )  # fmt: skip


def _said(text: str) -> str:
    return said(Kind.REPORT, text)


def _section(section: Section) -> Section:
    return replace(section, title=_said(section.title), columns=tuple(map(_column, section.columns)))


def _column(column: Column) -> Column:
    return replace(column, title=_said(column.title))


def _chart(chart: Chart) -> Chart:
    series = tuple(map(_series, chart.series))
    return replace(chart, title=_said(chart.title), text=_said(chart.text), series=series)


def _series(series: Series) -> Series:
    return replace(series, title=_said(series.title))
