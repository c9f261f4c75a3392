"""A second reading of Barbu, made from the rules alone, to judge records of the engine by. It knows no engine.

``judge`` replays a record strictly; ``legal_lines`` says what may stand next. Chance is in ``barbu_random``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.model.barbu_course import End, Offer, course
from tests.model.barbu_head import Head, HeaderFault, read_head, same
from tests.model.barbu_scores import SEATS, contracts, with_side_bets

DERIVED = ("net", "tax", "carry_out", "series_out")


@dataclass(frozen=True)
class Verdict:
    """What the model finds: the result of a legal deal, else the index of the first fault and its reason.

    ``index`` is -1 for a fault of the header, the number of a wrong line from 0, and the number of lines for a log
    that is too short or whose recorded result differs. ``net`` (minor units, seat order), ``tax``, ``carry_out``
    and ``series_out`` are None where the record is refused.
    """

    ok: bool
    index: int | None = None
    net: list[int] | None = None
    tax: int | None = None
    carry_out: int | None = None
    series_out: dict[str, Any] | None = None
    reason: str = ""


class Run:
    """A deal in progress: the offer that stands, whether the clock has run out, and the end once it is reached."""

    def __init__(self, head: Head) -> None:
        self.course = course(head)
        self.offer: Offer | None = next(self.course)
        self.clock = False
        self.end: End | None = None

    def legal(self) -> set[str]:
        """Every line that may stand next; raises ValueError before a deal from an unknown pack."""
        if not self.offer:
            return set()
        if self.offer.unseen:
            raise ValueError("an unknown pack deals any cards")
        if self.clock:
            return {self.offer.lines[0]}
        timeout = {f"p{self.offer.seat} au"} if self.offer.seat else set()
        return set(self.offer.lines) | timeout

    def say(self, line: object) -> bool:
        """Goes on by one line; False, and nothing changes, if it may not stand here."""
        if not self.offer:
            return False
        if not self.clock and self.offer.seat and line == f"p{self.offer.seat} au":
            self.clock = True
            return True
        if not self.offer.fits(line) or (self.clock and line != self.offer.lines[0]):
            return False
        assert isinstance(line, str)
        self.clock = False
        try:
            self.offer = self.course.send(line)
        except StopIteration as stop:
            self.offer, self.end = None, stop.value
        return True


def judge(record: Mapping[str, Any]) -> Verdict:
    """Replays a decoded record without repairing anything."""
    try:
        head = read_head(record)
    except HeaderFault as fault:
        return Verdict(False, -1, reason=str(fault))
    run = Run(head)
    for index, line in enumerate(record["acts"]):
        if not run.say(line):
            return Verdict(False, index, reason="illegal line" if run.offer else "line after the end")
    if not run.end:
        return Verdict(False, len(record["acts"]), reason="the log is too short")
    found = result(head, run.end)
    for key in DERIVED:
        if key in record and not same(record[key], found[key]):
            return Verdict(False, len(record["acts"]), reason=f"{key} is {found[key]}")
    return Verdict(True, **found)


def legal_lines(record: Mapping[str, Any]) -> set[str]:
    """Every line that may stand after the record's (partial) log, ``pN au`` included; none after the end.

    Raises ValueError for a faulty header, a log with a wrong line, and before a deal from an unknown pack.
    """
    *_, last = offered(record)
    return last


def offered(record: Mapping[str, Any]) -> Iterator[set[str]]:
    """What might have stood in place of each line, and at last after them all; raises as ``legal_lines`` does.

    A deal from an unknown pack is yielded as the one line that the record has.
    """
    run = Run(read_head(record))
    for line in record["acts"]:
        yield {line} if run.offer and run.offer.unseen else run.legal()
        if not run.say(line):
            raise ValueError(f"illegal line: {line!r}")
    yield run.legal()


def result(head: Head, end: End) -> dict[str, Any]:
    """The derived keys of a finished deal."""
    points, declarer, unit = head.points, head.declarer, head.opt["unit"]
    paper = with_side_bets(end.raw, end.doubled)
    series = next_series(head, end, paper)
    net = [0] * 4
    if not head.score:
        net = [each * unit for each in paper]
        net[declarer - 1] -= points.total(end.contract) * unit
    elif not any(series["left"].values()):
        net = [(series["score"][seat] - points.set_total()) * unit for seat in head.seats]
    if not any(series["left"].values()):
        series = new_series(head.opt, head.seats)
    return {"net": net, "tax": 0, "carry_out": 0, "series_out": series}


def next_series(head: Head, end: End, paper: list[int]) -> dict[str, Any]:
    """The sheet after this deal, before a new session begins."""
    her = head.name(head.declarer)
    left = head.left | {her: [contract for contract in head.left[her] if contract != end.contract]}
    doubled = {head.name(seat): head.doubled[head.name(seat)] for seat in SEATS}
    for seat in SEATS:
        doubled[head.name(seat)] += head.declarer in end.doubled[seat]
    if not left[her]:
        doubled = dict.fromkeys(head.seats, 0)
    series: dict[str, Any] = {"left": left, "doubled": doubled}
    if head.score:
        series["score"] = {seat: head.score[seat] + add for seat, add in zip(head.seats, paper, strict=True)}
    return series


def new_series(opt: Mapping[str, Any], seats: list[str]) -> dict[str, Any]:
    """``series`` of a session's first deal."""
    order = contracts(opt.get("ravage_city", 0))
    series: dict[str, Any] = {"left": {seat: list(order) for seat in seats}, "doubled": dict.fromkeys(seats, 0)}
    if opt.get("settlement") == "paper":
        series["score"] = dict.fromkeys(seats, 0)
    return series
