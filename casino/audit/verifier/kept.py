"""A verification that is kept, so that a later one goes on from there.

What was read is not read again: the next verification takes up where every chain, account, hand and row stood, and
reads what came since. What somebody alters of the older is found by a verification of the whole.
"""

import io
import pickle
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .findings import Unusable
from .shelf import Shelf, Shelved, unpacked

if TYPE_CHECKING:
    from .verification import Verifier

HEAD = "head"
_ABOUT, _PARTS = "about", "parts"


def keep(verifier: "Verifier", path: Path, about: Mapping[str, Any]) -> None:
    """Write where a verification stands, and what its caller has to know `about` it, into a new file."""
    verifier.shelf.copy(path)
    shelf = Shelf(path)
    for space, shelved in _spaces(verifier).items():
        shelf.drop(space, shelved.gone())
        shelf.put(space, shelved.held())
    shelf.put(HEAD, [(_ABOUT, dict(about)), (_PARTS, _Writer.of(verifier))])
    shelf.close()


def note(shelf: Shelf, about: Mapping[str, Any]) -> None:
    """Say something else about what was kept."""
    shelf.put(HEAD, [(_ABOUT, dict(about))])


def about(shelf: Shelf) -> dict[str, Any]:
    """What its caller has to know of what was kept. Raises Unusable."""
    found = shelf.get(HEAD, _ABOUT)
    if found is None or not isinstance(found[1], dict):
        raise Unusable("no verification was kept there")
    return found[1]


def take_up(verifier: "Verifier") -> None:
    """Go on from what lies on the verifier's shelf. Raises Unusable."""
    found = verifier.shelf.get(HEAD, _PARTS)
    parts = _parts(verifier)
    data = _load(found[1], verifier) if found is not None else {}
    if data.keys() != parts.keys():
        raise Unusable("another program has kept it")
    for name, part in parts.items():
        for attribute, value in data[name].items():
            setattr(part, attribute, value)
    verifier.hands.go_on()


def _parts(verifier: "Verifier") -> dict[str, object]:
    """Everything that remembers something from one event to the next, by a name of its own."""
    parts = [
        *(verifier.report, verifier.chains, verifier.times, verifier.trees, verifier.books),
        *(*verifier.hands.parts, verifier.state.rows, *verifier.state.parts),
    ]
    return {f"{number} {type(part).__name__}": part for number, part in enumerate(parts)}


def _data(part: object, parts: set[int]) -> Iterator[tuple[str, Any]]:
    """What a part remembers: neither others, nor what it does, nor what lies in a space of its own."""
    declared = getattr(part, "KEPT", None)
    for name, value in vars(part).items() if declared is None else ((name, getattr(part, name)) for name in declared):
        does = callable(value) or (isinstance(value, dict) and value and all(map(callable, value.values())))
        spaces = isinstance(value, dict) and any(isinstance(one, Shelved) for one in value.values())
        if id(value) not in parts and not (does or spaces or isinstance(value, Shelved)):
            yield name, value


def _spaces(verifier: "Verifier") -> dict[str, Shelved[Any]]:
    """The spaces of the shelf."""
    found = dict[str, Shelved[Any]](verifier.state.rows.kept())
    for part in _parts(verifier).values():
        for value in vars(part).values():
            if isinstance(value, Shelved):
                found[value.space] = value
    return found


class _Writer(pickle.Pickler):
    """Rows that somebody holds are named, so that who takes them up holds the same again."""

    def __init__(self, file: io.BytesIO, rows: Mapping[str, Shelved[Any]]) -> None:
        super().__init__(file, protocol=5)
        self._held = {id(row): (model, key) for model, shelved in rows.items() for key, row in shelved.held()}

    def persistent_id(self, value: Any) -> tuple[str, str] | None:
        """Model and key of a row."""
        return self._held.get(id(value)) if type(value) is dict else None

    @classmethod
    def of(cls, verifier: "Verifier") -> bytes:
        """All parts."""
        parts, file = _parts(verifier), io.BytesIO()
        others = {id(one) for one in (*parts.values(), *_surroundings(verifier))}
        cls(file, verifier.state.rows.kept()).dump({name: dict(_data(part, others)) for name, part in parts.items()})
        return file.getvalue()


def _surroundings(verifier: "Verifier") -> Iterable[object]:
    """What parts have and nobody keeps."""
    rows = verifier.state.rows
    return verifier, verifier.shelf, verifier.state, *vars(rows).values()


def _load(data: bytes, verifier: "Verifier") -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = unpacked(data, lambda name: verifier.state.rows.get(*name))
    return found
