"""The rows that events have made so far, and their comparison with the rows that were read."""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from .events import MOMENT
from .shelf import CLASSES, Seen, Shelf, Shelved, declare
from .state_columns import Model

Row = dict[str, Any]
Find = Callable[[str, str, str], None]
"""Takes the code, the place and the problem of a finding."""
Handler = Callable[[Row], None]
"""Takes an event and changes the rows as the write that it records did."""

TOLERANCE = 60.0
"""Seconds by which the time in a row may differ from that of the event that records the write: a write's statements and
its event have times of their own, and a transaction lasts no longer."""


@declare
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

    def __reduce__(self) -> str:
        return "UNKNOWN"


UNKNOWN = _Unknown()
CLASSES[__name__, "UNKNOWN"] = UNKNOWN


class NotRecorded(Exception):
    """An event changes a row that no event has made."""


class Rows:
    """Rows by model and key, as events have recorded them."""

    KEPT = ("_may_be_gone",)

    def __init__(self, models: Mapping[str, Model], find: Find, shelf: Shelf) -> None:
        self._models, self.find, self.shelf = models, find, shelf
        self._rows: dict[str, Shelved[Row]] = {
            name: Shelved(shelf, name) for name, model in models.items() if model.is_compared
        }
        #: By model and column: spans of time (UTC, the end not in it); rows with a moment in one may have been deleted.
        self._may_be_gone: dict[tuple[str, str], list[tuple[str, str]]] = {}
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

    def get(self, model: str, key: str) -> Row:
        """The columns of a row. Raises NotRecorded."""
        row: Row | None = self._rows[model].get(key)
        if row is None:
            raise NotRecorded(f"{model} {key}")
        return row

    def seek(self, model: str, key: str) -> Row | None:
        """The columns of a row, None where no event has made it."""
        row: Row | None = self._rows[model].get(key)
        return row

    def remove(self, model: str, key: str) -> None:
        """A row was deleted."""
        self._rows[model].pop(key, None)

    def let_go(self, model: str, column: str, begin: str, end: str) -> None:
        """Rows whose column is a moment in this span may be deleted from now on: one that is missing is no finding."""
        spans = self._may_be_gone.setdefault((model, column), [])
        if spans and spans[-1][0] <= begin <= spans[-1][1]:
            begin, end = spans[-1][0], max(end, spans.pop()[1])
        spans.append((begin, end))

    def of(self, model: str) -> Mapping[str, Row]:
        """All rows of a model by their keys."""
        return self._rows[model]

    def shelve(self, models: Iterable[str]) -> None:
        """Set aside the rows of these models, where there are many; nobody may hold one and change it."""
        for model in models:
            self._rows[model].shelve()

    def kept(self) -> Mapping[str, Shelved[Row]]:
        """By model what it takes to go on from here later."""
        return self._rows

    def compare(self, stored: Iterable[Row]) -> int:
        """Compare with rows as they were read: `{"key": ..., "model": ..., "row": {column: value}}`, in any order;
        returns how many there were. What events have made is gone afterwards."""
        count, seen = 0, Seen(self.shelf.last())
        for line in stored:
            count += 1
            model, key, row = line["model"], line["key"], line["row"]
            expected = self._rows[model].take(key, seen) if model in self._rows else None
            self._judge(f"{model} {key}", expected, row)
        for model, rows in self._rows.items():
            for key, row in rows.left(seen):
                if not self._may_be_missing(model, row):
                    self.find("state_missing", f"{model} {key}", "events have made it, and it is not there")
            rows.clear()
        return count

    def compare_changed(self, changed: Iterable[Row], counts: Mapping[str, int]) -> int:
        """The same with those rows alone that were written since the rows on the shelf were found to be right, and how
        many there are of each model; returns how many were compared."""
        found = set[tuple[str, str]]()
        for line in changed:
            model, key = line["model"], line["key"]
            if (model, key) in found:
                self.find("state_extra", f"{model} {key}", "it is there twice")
            found.add((model, key))
            self._judge(f"{model} {key}", self._rows[model].get(key) if model in self._rows else None, line["row"])
        for model, rows in self._rows.items():
            self._judge_unread(model, rows, found)
            self._judge_count(model, rows, counts.get(model, 0))
        return len(found)

    def _judge_unread(self, model: str, rows: Shelved[Row], found: set[tuple[str, str]]) -> None:
        """What events have made or changed, and nobody has written."""
        for key, row in rows.held():
            if (model, key) in found or (original := rows.original(key)) == row or self._may_be_missing(model, row):
                continue
            problem = "made" if original is None else "changed"
            code = "state_missing" if original is None else "state_differs"
            self.find(code, f"{model} {key}", f"events have {problem} it, and nothing was written there")

    def _judge_count(self, model: str, rows: Shelved[Row], count: int) -> None:
        """A row that was deleted was not written either."""
        expected = rows.expected()
        may_go = self._models[model].may_go or any(name == model for name, _ in self._may_be_gone)
        if count > expected or (count < expected and not may_go):
            problem = f"{count} rows are there, events have made {expected} that are to be there"
            self.find("state_missing" if count < expected else "state_extra", model, problem)

    def _judge(self, place: str, expected: Row | None, row: Row) -> None:
        if expected is None:
            self.find("state_extra", place, f"it is there, and no event has made it: {_brief(row)}")
        else:
            self._compare(place, expected, row)

    def _may_be_missing(self, model: str, row: Row) -> bool:
        return self._models[model].may_go or any(
            name == model and row[column] is not None and any(begin <= row[column] < end for begin, end in spans)
            for (name, column), spans in self._may_be_gone.items()
        )

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
