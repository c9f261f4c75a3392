"""A report that is made at once for who asks, and kept nowhere: it is in no list of reports, runs or files."""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from casino.core import sql
from casino.core.languages import speaking
from casino.houses.models import House
from casino.reports.frame import as_of
from casino.reports.frame.head import Head
from casino.reports.frame.language import in_words
from casino.reports.frame.report import Format, Report, Scope
from casino.reports.render.base import File, produce
from casino.reports.render.formats import writers
from casino.reports.render.style import Style, style_of


@dataclass(frozen=True, slots=True)
class Asked:
    """Who asks for a file, by login, in which format and in which language."""

    by: str
    form: Format
    language: str


def make(house: House, report: Report, filters: Mapping[str, str], asked: Asked) -> tuple[bytes, str]:
    """The one file of a report as it is asked for, and its SHA-256. Raises Busy."""
    with speaking(asked.language):
        return _made(house, in_words(report), filters, asked)


def _made(house: House, report: Report, filters: Mapping[str, str], asked: Asked) -> tuple[bytes, str]:
    moment = as_of.now(house)
    head = Head(
        report=report, house=house.code, house_name=house.name, currency=house.currency,
        exponent=house.currency_exponent, zone=house.time_zone, filters=dict(filters), group_by=None,
        requested_by=asked.by, requested_at=sql.database_time(), as_of=moment,
    )  # fmt: skip
    style = Style.of(style_of(asked.language, None, None), exponent=house.currency_exponent, zone=house.time_zone)
    with tempfile.TemporaryDirectory(prefix="report-") as folder:
        scope = Scope(house, moment, head.filters)
        made = produce(report, scope, head, writers([asked.form], Path(folder), head, style))
        [file] = made.files
        return file.path.read_bytes(), File.of(file.path).sha256
