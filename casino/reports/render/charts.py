"""Charts as lines, rectangles and words in a plane, which SVG files and pages of PDF draw.

The plane begins at the upper left; lengths are points. Colours can be distinguished by people who do not see all of
them (Okabe and Ito), and stand out on white as on black; lines differ by their dashes too.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from math import floor, log10

from django.utils.translation import gettext

from casino.reports.frame.charts import ChartKind, Plot
from casino.reports.frame.columns import MILLION, Type, grouped
from casino.reports.render.style import Style

WIDTH, HEIGHT = 640, 260
#: Words and axes; what is drawn.
INK, GRID = "#757575", "#9a9a9a"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8c6d00", "#4b8fb5")
DASHES: tuple[tuple[int, ...], ...] = ((), (6, 3), (2, 2), (8, 3, 2, 3), (4, 4), (1, 3))
SIZE = 9
_LEFT, _RIGHT, _TOP, _BOTTOM = 78, 12, 44, 34
#: Room for a label under the axis.
_LABEL_LETTERS, _LABEL_ROOM = 12, 68


@dataclass(frozen=True, slots=True)
class Line:
    """A line through points."""

    points: tuple[tuple[float, float], ...]
    colour: str
    width: float
    dashes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Box:
    """A filled rectangle from its upper left corner."""

    x: float
    y: float
    width: float
    height: float
    colour: str


@dataclass(frozen=True, slots=True)
class Words:
    """A text on its base line; `anchor` is `start`, `middle` or `end`."""

    x: float
    y: float
    text: str
    anchor: str = "start"
    bold: bool = False


@dataclass(slots=True)
class Drawing:
    """A chart as it is drawn, and what it shows in words."""

    title: str
    text: str
    marks: list[Line | Box | Words] = field(default_factory=list)
    #: Whether there is nothing to draw.
    empty: bool = False


def drawing(plot: Plot, style: Style) -> Drawing:
    """A chart drawn. Without points it says so."""
    chart, points = plot.chart, plot.points()
    made = Drawing(chart.title, _described(plot, style))
    made.marks.append(Words(_LEFT, 14, chart.title, bold=True))
    scaled = [
        [None if value is None else _scaled(value, kind) for value, kind in zip(values, plot.types, strict=True)]
        for _, values in points
    ]
    known = [value for values in scaled for value in values if value is not None]
    if not known:
        made.marks.append(Words(WIDTH / 2, HEIGHT / 2, gettext("no data"), "middle"))
        made.empty = True
        return made
    known.append(Fraction(0))
    ticks = _ticks(min(known), max(known))
    _legend(made, plot)
    _axes(made, plot, style, ticks, [_label(plot, key, style) for key, _ in points])
    draw = _lines if chart.kind is ChartKind.LINES else _bars
    draw(made, scaled, ticks)
    return made


def _scaled(value: int, kind: Type) -> Fraction:
    """A value as the axis has it: money in minor units, shares in percent, decimals as what they are."""
    return Fraction(value, {Type.DECIMAL: MILLION, Type.SHARE: 100}.get(kind, 1))


def _ticks(least: Fraction | int, most: Fraction | int) -> list[Fraction]:
    """Round numbers from one end of the axis to the other, about six."""
    span = Fraction(most) - Fraction(least) or Fraction(1)
    power = Fraction(10) ** floor(log10(span / 5))
    step = next(power * times for times in (1, 2, 5, 10, 20) if span / (power * times) <= 6)
    first, last = floor(Fraction(least) / step), -floor(-Fraction(most) / step)
    return [step * at for at in range(first, max(last, first + 1) + 1)]


def _y(value: Fraction, ticks: list[Fraction]) -> float:
    share = (value - ticks[0]) / (ticks[-1] - ticks[0])
    return round(float(HEIGHT - _BOTTOM - share * (HEIGHT - _TOP - _BOTTOM)), 2)


def _x(at: int, many: int) -> float:
    """The middle of a point's place."""
    room = Fraction(WIDTH - _LEFT - _RIGHT, many)
    return round(float(_LEFT + room * at + room / 2), 2)


def _axes(made: Drawing, plot: Plot, style: Style, ticks: list[Fraction], labels: list[str]) -> None:
    for tick in ticks:
        y = _y(tick, ticks)
        made.marks.append(Line(((_LEFT, y), (WIDTH - _RIGHT, y)), GRID, 1.0 if tick == 0 else 0.3))
        made.marks.append(Words(_LEFT - 6, y + 3, _amount(tick, plot.types[0], style), "end"))
    made.marks.append(Line(((_LEFT, _TOP), (_LEFT, HEIGHT - _BOTTOM)), GRID, 1.0))
    places = (WIDTH - _LEFT - _RIGHT) // _LABEL_ROOM
    every = -(-len(labels) // places)
    for at, label in enumerate(labels):
        if at % every == 0:
            short = label if len(label) <= _LABEL_LETTERS else label[: _LABEL_LETTERS - 1] + "…"
            made.marks.append(Words(_x(at, len(labels)), HEIGHT - _BOTTOM + 13, short, "middle"))
    made.marks.append(Words(WIDTH - _RIGHT, HEIGHT - 6, plot.x.title, "end"))


def _legend(made: Drawing, plot: Plot) -> None:
    x = float(_LEFT)
    for at, one in enumerate(plot.chart.series):
        colour = COLOURS[at % len(COLOURS)]
        if plot.chart.kind is ChartKind.LINES:
            made.marks.append(Line(((x, 27), (x + 18, 27)), colour, 2.0, DASHES[at % len(DASHES)]))
        else:
            made.marks.append(Box(x + 4, 23, 10, 8, colour))
        made.marks.append(Words(x + 23, 30, one.title))
        x += 40 + 5.2 * len(one.title)


def _lines(made: Drawing, scaled: list[list[Fraction | None]], ticks: list[Fraction]) -> None:
    """A gap where a point has no value; a point by itself is a small square."""
    end: list[Fraction | None] = [None] * len(scaled[0])
    for series in range(len(scaled[0])):
        colour, dashes = COLOURS[series % len(COLOURS)], DASHES[series % len(DASHES)]
        stretch: list[tuple[float, float]] = []
        for at, values in enumerate([*scaled, end]):
            value = values[series]
            if value is not None:
                stretch.append((_x(at, len(scaled)), _y(value, ticks)))
                continue
            if len(stretch) == 1:
                made.marks.append(Box(stretch[0][0] - 2, stretch[0][1] - 2, 4, 4, colour))
            elif stretch:
                made.marks.append(Line(tuple(stretch), colour, 1.6, dashes))
            stretch = []


def _bars(made: Drawing, scaled: list[list[Fraction | None]], ticks: list[Fraction]) -> None:
    room = (WIDTH - _LEFT - _RIGHT) / len(scaled)
    wide = round(min(room * 0.8, 60) / len(scaled[0]), 2)
    zero = _y(Fraction(0), ticks)
    for at, values in enumerate(scaled):
        left = _x(at, len(scaled)) - wide * len(values) / 2
        for series, value in enumerate(values):
            if value:
                y = _y(value, ticks)
                colour = COLOURS[series % len(COLOURS)]
                height = round(abs(y - zero), 2)
                made.marks.append(Box(round(left + wide * series, 2), min(y, zero), wide, height, colour))


def _label(plot: Plot, key: object, style: Style) -> str:
    return style.printed(plot.x, key)  # type: ignore[arg-type]


def _amount(value: Fraction, kind: Type, style: Style) -> str:
    """A value of the axis as it is printed."""
    if kind is Type.MONEY:
        return grouped(style.amount(round(value)))
    words = grouped(style.decimals(round(value * MILLION)))
    return f"{words} %" if kind is Type.SHARE else words


def _described(plot: Plot, style: Style) -> str:
    """What the chart shows, for those who do not see it: of each series where it begins and ends, and its extremes."""
    points, words = plot.points(), [plot.chart.text]
    for place, one in enumerate(plot.chart.series):
        kind = plot.types[place]
        known = [(key, _scaled(values[place], kind)) for key, values in points if values[place] is not None]  # type: ignore[arg-type]
        if known:
            said = [
                words_of % {"amount": _amount(value, kind, style), "at": _label(plot, key, style)}
                for words_of, (key, value) in (
                    (gettext("first %(amount)s at %(at)s"), known[0]),
                    (gettext("last %(amount)s at %(at)s"), known[-1]),
                    (gettext("least %(amount)s at %(at)s"), min(known, key=lambda point: point[1])),
                    (gettext("most %(amount)s at %(at)s"), max(known, key=lambda point: point[1])),
                )
            ]  # fmt: skip
            of_series = {"title": one.title, "count": len(known), "points": ", ".join(said)}
            words.append(gettext("%(title)s, %(count)s points: %(points)s.") % of_series)
    return " ".join(words)
