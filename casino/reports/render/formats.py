"""The writers of the formats."""

from collections.abc import Iterable
from pathlib import Path

from casino.reports.frame.head import Head
from casino.reports.frame.report import Format
from casino.reports.render.base import Writer
from casino.reports.render.csv import CsvWriter
from casino.reports.render.json import JsonWriter
from casino.reports.render.pdf import PdfWriter
from casino.reports.render.slip import SlipWriter
from casino.reports.render.style import Style
from casino.reports.render.svg import SvgWriter
from casino.reports.render.xlsx import XlsxWriter


def writers(formats: Iterable[Format], folder: Path, head: Head, style: Style) -> list[Writer]:
    """One writer for each format, in the order of the formats."""
    made: dict[Format, type] = {
        Format.CSV: CsvWriter, Format.XLSX: XlsxWriter, Format.PDF: PdfWriter, Format.SLIP: SlipWriter,
        Format.SVG: SvgWriter,
    }  # fmt: skip
    return [JsonWriter(folder, head) if one is Format.JSON else made[one](folder, head, style) for one in formats]
