"""Declarations of the fields of events: JSON types, in words and with checks, and the sentences of `Annotated`."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

#: Whether a value is of a declared type.
Fits = Callable[[Any], bool]

_WORDS = {int: "integer", str: "string", bool: "boolean"}
_PLURALS = {int: "integers", str: "strings", bool: "booleans"}


class Mark(Enum):
    """Marks that a field may declare besides type and sentence."""

    #: None is written as `null`; other fields with None are left out.
    NULL = "null"
    #: None until the unit of work that records the event sets it.
    LATER = "later"


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One declared field: its name, its type in words, whether the payload may lack it, its sentence ("" without one),
    its marks, and the check of a value."""

    name: str
    json_type: str
    optional: bool
    meaning: str
    marks: frozenset[Mark]
    fits: Fits


def declared(declaration: type, names: Iterable[str]) -> tuple[Field, ...]:
    """The fields of a class with these names, in their order. Raises TypeError for a type that has no JSON."""
    hints = get_type_hints(declaration, include_extras=True)
    return tuple(_field(name, hints[name]) for name in names)


def _field(name: str, hint: Any) -> Field:
    plain, notes = _unwrapped(hint)
    marks = frozenset(note for note in notes if isinstance(note, Mark))
    meanings = [note for note in notes if isinstance(note, str)]
    return Field(
        name=name,
        json_type=json_type(plain) + (" or null" if Mark.NULL in marks else ""),
        optional=(plain is Any or _is_optional(plain)) and not marks,
        meaning=meanings[-1] if meanings else "",
        marks=marks,
        fits=fits(plain),
    )


def _unwrapped(hint: Any) -> tuple[Any, list[Any]]:
    """A type without `Annotated`, and its notes; the outermost note comes last."""
    if get_origin(hint) is Annotated:
        plain, *outer = get_args(hint)
        inner_plain, inner = _unwrapped(plain)
        return inner_plain, [*inner, *outer]
    if _is_optional(hint):
        parts = [_unwrapped(part) for part in get_args(hint)]
        plain = Union[tuple(plain for plain, _ in parts)]  # noqa: UP007 - of a tuple, which `|` does not take
        return plain, [note for _, notes in parts for note in notes]
    return hint, []


def _is_optional(hint: Any) -> bool:
    return get_origin(hint) in (Union, UnionType) and NoneType in get_args(hint)


def fits(hint: Any) -> Fits:
    """The check of a type of JSON: integers are no booleans, objects are dicts, arrays lists or tuples. Raises
    TypeError for any other type."""
    if get_origin(hint) is Annotated:
        return fits(get_args(hint)[0])
    if hint is Any:
        return lambda value: True
    if hint is int:
        return lambda value: isinstance(value, int) and not isinstance(value, bool)
    if hint in (str, bool, NoneType):
        return lambda value: isinstance(value, hint)
    return _fits_compound(hint)


def _fits_compound(hint: Any) -> Fits:
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        parts = [fits(part) for part in inner]
        return lambda value: any(part(value) for part in parts)
    if origin is Sequence:
        item = fits(inner[0])
        return lambda value: isinstance(value, (list, tuple)) and all(map(item, value))
    if origin is Mapping and inner[0] is str:
        key, item = fits(str), fits(inner[1])
        return lambda value: isinstance(value, dict) and all(map(key, value)) and all(map(item, value.values()))
    raise TypeError(f"{hint!r} is no type of JSON")


def json_type(hint: Any, *, plural: bool = False) -> str:
    """A type in the words of JSON, without the None that it may allow: `array of objects`. Raises TypeError as
    `fits`."""
    hint, _ = _unwrapped(hint)
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return "JSON"
    if hint in _WORDS:
        return (_PLURALS if plural else _WORDS)[hint]
    if origin in (Union, UnionType):
        return " or ".join(json_type(part, plural=plural) for part in inner if part is not NoneType)
    if origin is Sequence:
        return f"{'arrays' if plural else 'array'} of {json_type(inner[0], plural=True)}"
    if origin is Mapping:
        values = "" if inner[1] is Any else f" of {json_type(inner[1], plural=True)}"
        return f"{'objects' if plural else 'object'}{values}"
    raise TypeError(f"{hint!r} is no type of JSON")
