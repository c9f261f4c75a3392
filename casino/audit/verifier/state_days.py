"""The closing of gaming days, judged: nothing of the day was left undone, and what goes over is named."""

from datetime import datetime, timedelta
from typing import Any

from .state_boxes import BOX
from .state_cage import SHIFT, TRANSFER
from .state_ledger import PERIOD
from .state_rows import TOLERANCE, Handler, Row, Rows

_NAMED = ("serial", "table", "kind", "number", "state", "for_day")
_WAITING = ("taken", "brought", "counted")


class Days:
    """What a day that is closed may leave behind."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self.handlers: dict[str, Handler] = {"day.closed": self._closed}

    def _closed(self, doc: Row) -> None:
        day = doc["data"]["day"]
        until = self._until(day)
        for key, row in self._rows.of(SHIFT).items():
            if row["closed_at"] is None and _is_of(row["opened_at"], until):
                self._find(doc, f"drawer and shift {key} are not closed")
        for key, row in self._rows.of(TRANSFER).items():
            if row["state"] in ("sent", "declined") and _is_of(row["sent_at"], until):
                self._find(doc, f"transfer {key} is in transit")
        self._boxes(doc, day, doc["data"]["carried"]["boxes"])

    def _boxes(self, doc: Row, day: str, named: list[dict[str, Any]]) -> None:
        """Every box of the day that waits to be counted or received is named, in the state in which it is."""
        for key, row in self._rows.of(BOX).items():
            found = [one for one in named if str(one["box"]) == key]
            if row["state"] in _WAITING and row["for_day"] <= day and len(found) != 1:
                self._find(doc, f"box {key}, which is {row['state']}, is named {len(found)} times")
            for one in found:
                if any((one[name] or "") != row[name] for name in _NAMED):
                    self._find(doc, f"box {key} is {row['state']}, and named as {one['state']}, or otherwise")
        for one in named:
            if self._rows.seek(BOX, str(one["box"])) is None:
                self._find(doc, f"there is no box {one['box']}")

    def _until(self, day: str) -> str | None:
        """When the next day was opened; None where there is none."""
        later = [row["opened_at"] for name, row in self._rows.of(PERIOD).items() if name > day]
        return min(later, default=None)

    def _find(self, doc: Row, problem: str) -> None:
        self._rows.find("day_differs", f"{doc['chain']}#{doc['seq']}", problem)


def _is_of(begun: str, until: str | None) -> bool:
    """Whether something was begun before the next day was opened, beyond doubt: events are written later than rows."""
    if until is None:
        return True
    return datetime.fromisoformat(begun) + timedelta(seconds=TOLERANCE) < datetime.fromisoformat(until)
