"""What a verification sets aside on disk, so that its memory does not grow with the house, and what a later one takes
up again.

A shelf is a file of SQLite: values by space and key. They are pickles that name no class but those of `CLASSES`, all of
them mere data: reading one runs nothing.
"""

import io
import pickle
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, ItemsView, Iterable, Iterator, KeysView, ValuesView
from pathlib import Path
from typing import Any, TypeVar

from .findings import Unusable

V = TypeVar("V")

MOST = 20_000
"""Entries of one space that stay in memory before they are set aside."""
_TABLES = """
CREATE TABLE IF NOT EXISTS entry (
    number INTEGER PRIMARY KEY, space TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL);
CREATE UNIQUE INDEX IF NOT EXISTS entry_key ON entry (space, key);
"""
#: A shelf is made new or copied, never changed where somebody reads it: what is not whole is thrown away.
_QUICKLY = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -16000; PRAGMA temp_store = FILE"
_NEXT = "SELECT number, key, value FROM entry WHERE space = ? AND number > ? ORDER BY number LIMIT 1000"
#: The classes of values, by module and name: `declare` adds them.
CLASSES: dict[tuple[str, str], Any] = {("collections", "Counter"): Counter}


def declare(kind: type) -> type:
    """A class of mere data, whose values may be set aside; a decorator."""
    CLASSES[kind.__module__, kind.__qualname__] = kind
    return kind


class _Reader(pickle.Unpickler):
    def __init__(self, data: bytes, named: Callable[[Any], Any]) -> None:
        super().__init__(io.BytesIO(data))
        self._named = named

    def persistent_load(self, name: Any) -> Any:
        """What was named instead of being written."""
        return self._named(name)

    def find_class(self, module: str, name: str) -> Any:
        """Only what is declared. Raises UnpicklingError."""
        if (module, name) not in CLASSES:
            raise pickle.UnpicklingError(f"a shelf has no {module}.{name}")
        return CLASSES[module, name]


def packed(value: Any) -> bytes:
    """A value as it is set aside."""
    return pickle.dumps(value, protocol=5)


def _unnamed(name: Any) -> Any:
    raise pickle.UnpicklingError(f"nothing is named {name}")


def unpacked(data: bytes, named: Callable[[Any], Any] = _unnamed) -> Any:
    """A value that was set aside; `named` gives what it only names. Raises Unusable."""
    try:
        return _Reader(data, named).load()
    except (pickle.UnpicklingError, EOFError, AttributeError, ValueError, TypeError, KeyError, IndexError) as error:
        raise Unusable(f"what was set aside cannot be read: {error!r}") from error


class Shelf:
    """Values by space and key in a file, or in one that nobody else sees and that goes with this."""

    def __init__(self, path: Path | None = None, *, is_kept: bool = False) -> None:
        """`is_kept`: it is only read. Raises Unusable for a file that is no shelf."""
        self.is_kept = is_kept
        try:
            if path is not None and is_kept:
                self._file = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
            else:
                self._file = sqlite3.connect(str(path or ""), isolation_level=None)
                self._file.executescript(f"{_QUICKLY}; {_TABLES}")
            self._file.execute("BEGIN")
        except sqlite3.Error as error:
            raise Unusable(f"{path} is no shelf: {error}") from error

    def get(self, space: str, key: str) -> tuple[int, Any] | None:
        """The number of an entry, and its value; None where there is none."""
        found = self._rows("SELECT number, value FROM entry WHERE space = ? AND key = ?", space, key)
        return (found[0][0], unpacked(found[0][1])) if found else None

    def put(self, space: str, entries: Iterable[tuple[str, Any]]) -> None:
        """Set these aside, in the place of those of the same keys."""
        self._write(
            "INSERT INTO entry (space, key, value) VALUES (?, ?, ?) "
            "ON CONFLICT (space, key) DO UPDATE SET value = excluded.value",
            ((space, key, packed(value)) for key, value in entries),
        )

    def drop(self, space: str, keys: Iterable[str]) -> None:
        """Entries that are no more."""
        self._write("DELETE FROM entry WHERE space = ? AND key = ?", ((space, key) for key in keys))

    def items(self, space: str) -> Iterator[tuple[int, str, Any]]:
        """Number, key and value of every entry of a space, in the order in which they came."""
        last = 0
        while found := self._rows(_NEXT, space, last):
            last = found[-1][0]
            yield from ((number, key, unpacked(value)) for number, key, value in found)

    def count(self, space: str) -> int:
        """How many entries a space has."""
        found: int = self._rows("SELECT count(*) FROM entry WHERE space = ?", space)[0][0]
        return found

    def last(self) -> int:
        """The highest number that an entry has."""
        found: int = self._rows("SELECT coalesce(max(number), 0) FROM entry")[0][0]
        return found

    def copy(self, path: Path) -> None:
        """Write a copy into a new file, which is whole when this returns."""
        self._file.execute("COMMIT")
        self._file.execute("VACUUM INTO ?", [str(path)])
        self._file.execute("BEGIN")

    def close(self) -> None:
        """Nothing more is read or set aside; what was is whole."""
        self._file.execute("COMMIT")
        self._file.close()

    def _rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        try:
            return self._file.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise Unusable(f"a shelf cannot be read: {error}") from error

    def _write(self, statement: str, rows: Iterable[tuple[Any, ...]]) -> None:
        self._file.executemany(statement, rows)


class Seen:
    """Numbers of entries, a bit for each."""

    def __init__(self, last: int) -> None:
        self._bits = bytearray(last // 8 + 1)

    def add(self, number: int) -> bool:
        """Note a number; False where it was noted before."""
        at, bit = number // 8, 1 << number % 8
        if self._bits[at] & bit:
            return False
        self._bits[at] |= bit
        return True

    def __contains__(self, number: int) -> bool:
        return bool(self._bits[number // 8] & 1 << number % 8)


class Shelved(dict[str, V]):
    """A dictionary of which most may lie on a shelf. What is looked up comes back into memory; to go through all of it
    brings all of it back. None is no value."""

    __slots__ = ("_gone", "_lies_there", "_shelf", "_whole", "space")

    def __init__(self, shelf: Shelf, space: str) -> None:
        super().__init__()
        self._shelf, self.space = shelf, space
        #: Whether anything of it lies there, and whether all of that is in memory too.
        self._lies_there = shelf.count(space) > 0
        self._whole = not self._lies_there
        #: Keys that lie there and are no more.
        self._gone: set[str] = set()

    def shelve(self, most: int = MOST) -> None:
        """Set all aside, where it is more than this. Who holds a value of it and changes it, changes nothing."""
        if dict.__len__(self) <= most or self._shelf.is_kept:
            return
        self._shelf.put(self.space, dict.items(self))
        self._shelf.drop(self.space, self._gone)
        dict.clear(self)
        self._gone.clear()
        self._lies_there, self._whole = True, False

    def held(self) -> ItemsView[str, V]:
        """What is in memory."""
        return dict.items(self)

    def gone(self) -> Collection[str]:
        """What lies on the shelf and is no more."""
        return self._gone

    def __missing__(self, key: str) -> V:
        if self._lies_there and key not in self._gone and (found := self._shelf.get(self.space, key)) is not None:
            value: V = found[1]
            dict.__setitem__(self, key, value)
            return value
        raise KeyError(key)

    def get(self, key: str, default: Any = None) -> Any:
        """As of any dictionary."""
        try:
            return self[key]
        except KeyError:
            return default

    def __contains__(self, key: object) -> bool:
        return self.get(key) is not None if isinstance(key, str) else False

    def __setitem__(self, key: str, value: V) -> None:
        self._gone -= {key}
        dict.__setitem__(self, key, value)

    def pop(self, key: str, *default: Any) -> Any:
        """As of any dictionary."""
        value = self.get(key)
        if value is None:
            if default:
                return default[0]
            raise KeyError(key)
        del self[key]
        return value

    def __delitem__(self, key: str) -> None:
        self[key]  # raises KeyError for what is not there
        dict.__delitem__(self, key)
        if self.original(key) is not None:
            self._gone.add(key)

    def original(self, key: str) -> V | None:
        """What lies on the shelf under this key, whatever became of it since."""
        found = self._shelf.get(self.space, key) if self._lies_there else None
        return None if found is None else found[1]

    def expected(self) -> int:
        """How many entries there are, without bringing any back."""
        lying = self._shelf.count(self.space) - len(self._gone) if self._lies_there else 0
        return lying + sum(self.original(key) is None or key in self._gone for key in dict.keys(self))

    def take(self, key: str, seen: Seen) -> V | None:
        """What is there under a key, once; None for the second time, and where there is nothing."""
        value = dict.pop(self, key, None)
        if not self._lies_there or key in self._gone:
            return value
        found = self._shelf.get(self.space, key)
        if found is None:
            return value
        if not seen.add(found[0]):
            return None
        return found[1] if value is None else value

    def left(self, seen: Seen) -> Iterator[tuple[str, V]]:
        """What was not taken."""
        yield from dict.items(self)
        if self._lies_there:
            for number, key, value in self._shelf.items(self.space):
                if number not in seen and key not in self._gone:
                    yield key, value

    def __len__(self) -> int:
        return dict.__len__(self._all())

    def __bool__(self) -> bool:
        return len(self) > 0

    def __iter__(self) -> Iterator[str]:
        return dict.__iter__(self._all())

    def keys(self) -> KeysView[str]:  # type: ignore[override]
        """As of any dictionary."""
        return dict.keys(self._all())

    def values(self) -> ValuesView[V]:  # type: ignore[override]
        """As of any dictionary."""
        return dict.values(self._all())

    def items(self) -> ItemsView[str, V]:  # type: ignore[override]
        """As of any dictionary."""
        return dict.items(self._all())

    def _all(self) -> "Shelved[V]":
        if self._whole:
            return self
        # In the order in which entries came, whatever has been looked up since.
        self._whole, mine = True, dict(dict.items(self))
        dict.clear(self)
        for _, key, value in self._shelf.items(self.space):
            if key not in self._gone:
                dict.__setitem__(self, key, mine.pop(key, value))
        dict.update(self, mine)
        return self
