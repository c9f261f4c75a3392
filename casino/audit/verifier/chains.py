"""Chains of events: each names the one before it."""

from .events import Row
from .findings import Report
from .times import TOLERANCE, shifted

GENESIS = "0" * 64
"""What the first event of a chain names as the one before it."""


class Chains:
    """Every chain's numbers without gaps, links, and times."""

    KEPT = ("heads", "_backwards")

    def __init__(self, report: Report) -> None:
        self._report = report
        #: Chain -> number, hash (64 hex digits) and moment of its last event.
        self.heads: dict[str, tuple[int, str, str]] = {}
        self._backwards = 0

    def take(self, doc: Row, link: str) -> None:
        """The next event in the order of the log, and its hash."""
        chain, seq, at = doc["chain"], doc["seq"], doc["at"]
        number, wanted, before = self.heads.get(chain) or (0, GENESIS, "")
        if seq != number + 1 or doc["prev"] != wanted or at < before:
            self._wrong(doc, number, wanted, before)
        self.heads[chain] = (seq, link, at)

    def finish(self) -> None:
        """No more events come."""
        self._report.counts["chains"] = len(self.heads)
        if self._backwards > 1:
            self._report.notice(f"the clock went back {self._backwards} times in all")

    def _wrong(self, doc: Row, number: int, wanted: str, before: str) -> None:
        chain, seq, find = doc["chain"], doc["seq"], self._report.find
        if type(seq) is not int or seq > number + 1:
            find("event_missing", f"{chain}#{number + 1}", f"the event is missing, {seq} follows {number}")
        elif seq <= number:
            find("event_out_of_order", f"{chain}#{seq}", f"the event comes after number {number}")
        elif doc["prev"] != wanted and seq == 1:
            find("link_broken", f"{chain}#1", "the first event of a chain names one before it")
        elif doc["prev"] != wanted:
            find("link_broken", f"{chain}#{number}", f"event {seq} was written behind another event {number} than this")
        elif doc["at"] < before:
            self._backwards += 1
            if doc["at"] < shifted(before, -TOLERANCE):
                find("time_went_back", f"{chain}#{seq}", f"it is of {doc['at']}, the event before it of {before}")
            elif self._backwards == 1:
                self._report.notice(f"{chain}#{seq}: the clock went back, from {before} to {doc['at']}")
