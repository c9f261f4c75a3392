"""A report that is made at once for who asks, and kept nowhere: it is in no list of reports, runs or files."""

import tempfile
from collections.abc import Mapping
from pathlib import Path

from casino.evidence import holds
from casino.houses.models import House
from casino.reports.frame import as_of
from casino.reports.frame.head import Head
from casino.reports.frame.report import Format, Report, Scope
from casino.reports.render.base import File, produce
from casino.reports.render.formats import writers
from casino.reports.render.style import DECIMALS, SEPARATORS, Style


def make(house: House, report: Report, filters: Mapping[str, str], login: str, form: Format) -> tuple[bytes, str]:
    """The one file of a report in this format for the person of this login, and its SHA-256. Raises Busy."""
    moment = as_of.now(house)
    head = Head(
        report=report, house=house.code, house_name=house.name, currency=house.currency,
        exponent=house.currency_exponent, zone=house.time_zone, filters=dict(filters), group_by=None,
        requested_by=login, requested_at=holds.database_time(), as_of=moment,
    )  # fmt: skip
    style = Style(
        exponent=house.currency_exponent, zone=house.time_zone, separator=SEPARATORS["comma"],
        decimal=DECIMALS["point"],
    )  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="report-") as folder:
        scope = Scope(house, moment, head.filters)
        made = produce(report, scope, head, writers([form], Path(folder), head, style))
        [file] = made.files
        return file.path.read_bytes(), File.of(file.path).sha256
