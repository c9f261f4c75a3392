"""What is drawn on pages of PDF: fonts that have the letters of Hungarian and German, text that fits, QR codes."""

from functools import cache
from io import BytesIO

import pymupdf_fonts
import segno
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

REGULAR, BOLD = "NotoSans", "NotoSans-Bold"
#: What stands for the rest of a text that does not fit.
_REST = "…"


@cache
def register_fonts() -> None:
    """Make the fonts known, once in a process."""
    for name, key in ((REGULAR, "notos"), (BOLD, "notosbo")):
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


def draw_qr(canvas: Canvas, text: str, x: float, y: float, side: float) -> None:
    """A QR code (ISO/IEC 18004) of a text with its lower left corner there, sides in points."""
    matrix = [list(row) for row in segno.make(text, micro=False).matrix]
    module = side / len(matrix)
    for at, row in enumerate(matrix):
        for column, dark in enumerate(row):
            if dark:
                bottom = y + side - (at + 1) * module
                canvas.rect(x + column * module, bottom, module, module, stroke=0, fill=1)
