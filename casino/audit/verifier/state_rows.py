"""The rows that events have made so far, and their comparison with the rows that were read."""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from .events import MOMENT
from .state_columns import Model

Row = dict[str, Any]
Find = Callable[[str, str, str], None]
"""Takes the code, the place and the problem of a finding."""
Handler = Callable[[Row], None]
"""Takes an event and changes the rows as the write that it records did."""

TOLERANCE = 60.0
"""Seconds by which the time in a row may differ from that of the event that records the write: a write's statements and
its event have times of their own, and a transaction lasts no longer."""


class Near(str):
    """A moment in a row that the event of this time records: at most TOLERANCE from it."""

    __slots__ = ()


class _Unknown:
    """What no event has recorded yet: any value is right."""

    def __eq__(self, other: Any) -> bool:
        return True

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "anything"


UNKNOWN = _Unknown()


class NotRecorded(Exception):
    """An event changes a row that no event has made."""


class Rows:
    """Rows by model and key, as events have recorded them."""

    def __init__(self, models: Mapping[str, Model], find: Find) -> None:
        self._models, self.find = models, find
        self._rows: dict[str, dict[str, Row]] = {name: {} for name, model in models.items() if model.is_compared}
        #: Rows that may have been deleted.
        self._may_be_gone: set[tuple[str, str]] = set()
        self._columns = {
            name: frozenset(column for column, declared in model.columns.items() if declared.compared)
            for name, model in models.items()
        }

    def add(self, model: str, key: str, **columns: Any) -> None:
        """A row was made, with every column that is proved of its model."""
        if columns.keys() != self._columns[model]:
            raise AssertionError(f"{model} has {sorted(self._columns[model] ^ columns.keys())} that do not fit")
        if key in self._rows[model]:
            self.find("state_made_twice", f"{model} {key}", "an event records that it was made, and it was there")
        self._rows[model][key] = columns

    def change(self, model: str, key: str, **columns: Any) -> None:
        """Columns of a row were changed. Raises NotRecorded."""
        self.get(model, key).update(columns)
        self._may_be_gone -= {(model, key)}

    def get(self, model: str, key: str) -> Row:
        """The columns of a row. Raises NotRecorded."""
        row = self._rows[model].get(key)
        if row is None:
            raise NotRecorded(f"{model} {key}")
        return row

    def seek(self, model: str, key: str) -> Row | None:
        """The columns of a row, None where no event has made it."""
        return self._rows[model].get(key)

    def remove(self, model: str, key: str) -> None:
        """A row was deleted."""
        self._rows[model].pop(key, None)

    def let_go(self, model: str, key: str) -> None:
        """A row may be deleted from now on, unless it changes again: one that is missing is no finding."""
        self._may_be_gone.add((model, key))

    def of(self, model: str) -> Mapping[str, Row]:
        """All rows of a model by their keys."""
        return self._rows[model]

    def compare(self, stored: Iterable[Row]) -> int:
        """Compare with rows as they were read: `{"key": ..., "model": ..., "row": {column: value}}`, in any order;
        returns how many there were. What events have made is gone afterwards."""
        count = 0
        for line in stored:
            count += 1
            model, key, row = line["model"], line["key"], line["row"]
            expected = self._rows[model].pop(key, None) if model in self._rows else None
            place = f"{model} {key}"
            if expected is None:
                self.find("state_extra", place, f"it is there, and no event has made it: {_brief(row)}")
            else:
                self._compare(place, expected, row)
        for model, left in self._rows.items():
            for key in left if not self._models[model].may_go else ():
                if (model, key) in self._may_be_gone:
                    continue
                self.find("state_missing", f"{model} {key}", "events have made it, and it is not there")
            left.clear()
        return count

    def _compare(self, place: str, expected: Row, row: Row) -> None:
        for column in sorted(expected.keys() | row.keys()):
            if column not in row or column not in expected:
                self.find("state_differs", f"{place}, {column}", "the row that was read does not have this column")
            elif not is_same(expected[column], row[column]):
                problem = f"it is {row[column]!r}, events record {_in_words(expected[column])}"
                self.find("state_differs", f"{place}, {column}", problem)


_IS_MOMENT = re.compile(MOMENT).fullmatch


def is_same(recorded: Any, found: Any) -> bool:
    """Whether a value of a row is what events record: the same, and of the same type; a moment near enough."""
    if isinstance(recorded, Near):
        return isinstance(found, str) and seconds_between(recorded, found) <= TOLERANCE
    if isinstance(recorded, bool) or isinstance(found, bool):
        return recorded is found
    return bool(recorded == found)


def seconds_between(one: str, other: str) -> float:
    """Seconds between two moments (UTC, to the microsecond); infinite for what is no moment."""
    try:
        if not (_IS_MOMENT(one) and _IS_MOMENT(other)):
            return float("inf")
        return abs((datetime.fromisoformat(one) - datetime.fromisoformat(other)).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return float("inf")


def _in_words(recorded: Any) -> str:
    return f"a time near {str(recorded)!r}" if isinstance(recorded, Near) else repr(recorded)


def _brief(row: Row) -> str:
    text = ", ".join(f"{name} {value!r}" for name, value in sorted(row.items()))
    return text if len(text) <= 200 else f"{text[:200]}..."
