"""The reports of the catalogue that go into the package of a gaming day, each as of the moment when the day was closed.

Which ones, `REPORTS` says by their numbers in the catalogue: one that comes into the catalogue later comes into the
packages made from then on. A report that manager and auditor may not both read, who download the package, goes in with
its sums only, and only if it stands in `COUNTED`.
"""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from casino.core.languages import ENGLISH, speaking
from casino.houses.days import Day
from casino.houses.models import House
from casino.reports.frame import registry
from casino.reports.frame.filters import FROM_DAY, UNTIL_DAY
from casino.reports.frame.head import Head
from casino.reports.frame.language import in_words
from casino.reports.frame.report import AsOf, Format, Report, Scope, Sensitivity
from casino.reports.render.base import Produced, produce
from casino.reports.render.formats import writers
from casino.reports.render.style import Style, style_of
from casino.staff.models import Role

#: Numbers of the catalogue, in its order.
REPORTS = (
    "A2", "A4", "A5", "A6", "A8", "A9a", "A9b", "A9c", "A10", "A11", "A12", "A13", "A14", "A22", "A24", "A33",
)  # fmt: skip
#: Of these the number of rows and the sums only: whom they name is for others to read.
COUNTED = ("A17",)
FOLDER = "reports/"
#: What programs read.
_DATA = (Format.CSV, Format.JSON)
_READERS = {Role.MANAGER, Role.AUDITOR}


@dataclass(slots=True)
class Parts:
    """Files by their paths, and what the manifest says of each report."""

    files: dict[str, bytes] = field(default_factory=dict)
    reports: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Closed:
    """A closed day: of which house, as of which moment, closed by whom (login), and the languages of its papers."""

    house: House
    day: Day
    moment: AsOf
    closed_by: str
    languages: Sequence[str]


def parts(closed: Closed) -> Parts:
    """The reports of a closed day: its rows where a report goes by days, else what was at the moment."""
    made = Parts()
    for report in chosen(registry.reports()):
        add(made, closed, report)
    return made


def chosen(reports: Mapping[str, Report]) -> Iterator[Report]:
    """The reports of the catalogue that go into a package, with their rows or with their sums, in its order."""
    for report in reports.values():
        sealed = report.sensitivity is Sensitivity.SEALED
        if (has_rows(report) or report.number in COUNTED) and not (sealed or any(f.required for f in report.filters)):
            yield report


def has_rows(report: Report) -> bool:
    """Whether a report goes in with its rows."""
    return report.number in REPORTS and set(report.roles) >= _READERS


def _filters(report: Report, day: Day) -> dict[str, str]:
    names = {one.name for one in report.filters}
    return {one.name: day.name for one in (FROM_DAY, UNTIL_DAY) if one.name in names}


def add(made: Parts, closed: Closed, report: Report) -> None:
    """Make one report of a closed day, and add it to the parts: what programs read once and in English, what people
    read in every language of the house."""
    files: list[str] = []
    kept = [one for one in report.formats if has_rows(report)]
    found = _made(made, files, closed, report, ENGLISH, [one for one in _DATA if one in kept])
    if Format.PDF in kept:
        for language in closed.languages:
            _made(made, files, closed, report, language, [Format.PDF])
    made.reports.append(_described(report, closed, found, sorted(files)))


def _made(
    made: Parts, files: list[str], closed: Closed, report: Report, language: str, formats: list[Format]
) -> Produced:
    with speaking(language), tempfile.TemporaryDirectory(prefix="package-") as folder:
        head = _head(closed, in_words(report))
        scope = Scope(closed.house, head.as_of, head.filters)
        found = produce(head.report, scope, head, writers(formats, Path(folder), head, _style(head, language)))
        for file in found.files:
            name = file.path.name
            if Format.PDF in formats:
                name = f"{file.path.stem}.{language}{file.path.suffix}"
            made.files[FOLDER + name] = file.path.read_bytes()
            files.append(FOLDER + name)
        return found


def _head(closed: Closed, report: Report) -> Head:
    house = closed.house
    return Head(
        report=report, house=house.code, house_name=house.name, currency=house.currency,
        exponent=house.currency_exponent, zone=house.time_zone, filters=_filters(report, closed.day), group_by=None,
        requested_by=closed.closed_by, requested_at=closed.moment.at, as_of=closed.moment,
    )  # fmt: skip


def _style(head: Head, language: str) -> Style:
    return Style.of(style_of(language, None, None), exponent=head.exponent, zone=head.zone)


def _described(report: Report, closed: Closed, found: Produced, files: list[str]) -> dict[str, Any]:
    return {
        "report": report.id,
        "number": report.number,
        "version": report.version,
        "title": report.title,
        "sensitivity": str(report.sensitivity),
        "filters": _filters(report, closed.day),
        "files": files,
        "sections": [
            {"section": name, "row_count": sums.row_count, "totals": sums.totals}
            for name, sums in found.results.items()
        ],
        "equalities": [one.as_json() for one in found.equalities],
    }
