"""What is drawn on pages of PDF: fonts that have the letters of Hungarian and German, text that fits, QR codes."""

from functools import cache
from io import BytesIO
from itertools import groupby

import pymupdf_fonts
import segno
from reportlab.lib.colors import HexColor
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from casino.reports.render.charts import INK, SIZE, Box, Drawing, Line

REGULAR, BOLD, MONO = "NotoSans", "NotoSans-Bold", "UbuntuMono"
#: What stands for the rest of a text that does not fit.
_REST = "…"


@cache
def register_fonts() -> None:
    """Make the fonts known, once in a process."""
    for name, key in ((REGULAR, "notos"), (BOLD, "notosbo"), (MONO, "ubuntm")):
        pdfmetrics.registerFont(TTFont(name, BytesIO(pymupdf_fonts.myfont(key))))


def width(text: str, font: str, size: float) -> float:
    """How wide a text is, in points."""
    return float(pdfmetrics.stringWidth(text, font, size))


def fitting(text: str, font: str, size: float, room: float) -> str:
    """The text, or as much of its beginning as there is room for, in points, and an ellipsis."""
    if width(text, font, size) <= room:
        return text
    least, most = 0, len(text)
    while least < most:
        middle = (least + most + 1) // 2
        if width(text[:middle] + _REST, font, size) <= room:
            least = middle
        else:
            most = middle - 1
    return text[:least] + _REST


def wrapped(text: str, font: str, size: float, room: float) -> list[str]:
    """The text in lines that fit into the room, in points; a word that is longer than a line is broken."""
    lines, line = [], ""
    for word in text.split():
        while True:
            longer = f"{line} {word}" if line else word
            if width(longer, font, size) <= room:
                line = longer
                break
            if line:
                lines.append(line)
                line = ""
                continue
            part = fitting(word, font, size, room)[:-1] or word[:1]
            lines.append(part)
            word = word[len(part) :]
    return [*lines, line] if line or not lines else lines


def draw_chart(canvas: Canvas, made: Drawing, x: float, top: float, scale: float) -> None:
    """A chart with its upper left corner there, so many times as large as it is."""
    canvas.saveState()
    canvas.translate(x, top)
    canvas.scale(scale, scale)
    for mark in made.marks:
        if isinstance(mark, Line):
            canvas.setStrokeColor(HexColor(mark.colour))
            canvas.setLineWidth(mark.width)
            canvas.setDash(list(mark.dashes))
            path = canvas.beginPath()
            path.moveTo(mark.points[0][0], -mark.points[0][1])
            for point in mark.points[1:]:
                path.lineTo(point[0], -point[1])
            canvas.drawPath(path)
        elif isinstance(mark, Box):
            canvas.setFillColor(HexColor(mark.colour))
            canvas.rect(mark.x, -mark.y - mark.height, mark.width, mark.height, stroke=0, fill=1)
        else:
            canvas.setFillColor(HexColor(INK))
            canvas.setFont(BOLD if mark.bold else REGULAR, SIZE)
            draw = {"start": canvas.drawString, "middle": canvas.drawCentredString, "end": canvas.drawRightString}
            draw[mark.anchor](mark.x, -mark.y, mark.text)
    canvas.restoreState()


def draw_qr(canvas: Canvas, text: str, x: float, y: float, side: float) -> None:
    """A QR code (ISO/IEC 18004) of a text with its lower left corner there, sides in points."""
    matrix = [list(row) for row in segno.make(text, micro=False, error="l").matrix]
    module = side / len(matrix)
    for at, row in enumerate(matrix):
        bottom, column = y + side - (at + 1) * module, 0
        for dark, run in groupby(row):
            wide = len(list(run))
            if dark:
                canvas.rect(x + column * module, bottom, wide * module, module, stroke=0, fill=1)
            column += wide
