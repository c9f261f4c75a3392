"""Forms out of the API's declarations: each field of a body becomes what a person fills in, and back.

What was typed is only turned into the types of the API here; whether it is allowed is for the operation to say.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext
from rest_framework import serializers

from casino.api.http.operations import Amount, Pieces, PiecesOfSets, Reason, StrictBoolean
from casino.api.passkey_parts import PasskeyAnswer
from casino.console import said
from casino.console.money import Money
from casino.core import languages
from casino.core.languages import Kind

#: Names of fields that hold money although they are plain numbers, or plain numbers although they are amounts.
_PASSWORDS = frozenset({"password", "old", "new"})


@dataclass(frozen=True, slots=True)
class Piece:
    """A row of a tray table: a face value, its name in the form, how many were typed."""

    value: int
    name: str
    typed: str


@dataclass(frozen=True, slots=True)
class Box:
    """A field as a form shows it. `kind` is the template's: text, number, money, choice, choices, yes, pieces, sets,
    passkey, json."""

    name: str
    kind: str
    label: str
    help: str
    required: bool
    value: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    pieces: tuple[Piece, ...] = ()
    values: tuple[str, ...] = ()
    secret: bool = False
    #: Pieces that are counted: every row is typed.
    counted: bool = False
    #: The field whose amount the pieces make; they are proposed for it.
    makes: str = ""
    #: The field with the pieces that the amount follows from.
    follows: str = ""
    #: Chips of several sets: a table for each.
    sets: tuple["Box", ...] = ()


class Unreadable(Exception):
    """Something typed is of no use: which field, and what it should be."""

    def __init__(self, field: str, detail: str) -> None:
        self.field, self.detail = field, detail
        super().__init__(f"{field}: {detail}")


def has_pieces(fields: "Fields") -> bool:
    """Whether a form asks for chips by their face values."""
    return any(isinstance(one, Pieces) for one in fields.values())


def has_sets(fields: "Fields") -> bool:
    """Whether a form asks for chips of other sets than the one in use."""
    return any(isinstance(one, PiecesOfSets) for one in fields.values())


Fields = Mapping[str, serializers.Field[Any, Any, Any, Any]]
#: Face values of chip sets by their codes.
Sets = Mapping[str, Iterable[int]]


def boxes(fields: Fields, typed: QueryDict, denominations: Iterable[int], sets: Sets) -> list[Box]:
    """The fields of a form, with what was typed in them. `denominations` are those of the chips in use, `sets` those of
    others; a field for others is absent where there are none."""
    values = tuple(denominations)
    return [
        _box(name, field, typed, values, sets) for name, field in fields.items()
        if sets or not isinstance(field, PiecesOfSets)
    ]  # fmt: skip


def _rows(name: str, typed: QueryDict, values: Iterable[int]) -> tuple[Piece, ...]:
    return tuple(Piece(value, f"{name}.{value}", typed.get(f"{name}.{value}", "")) for value in values)


def _box(
    name: str, field: serializers.Field[Any, Any, Any, Any], typed: QueryDict, values: tuple[int, ...], sets: Sets
) -> Box:
    given: dict[str, Any] = {
        "name": name, "label": said.label(name), "help": languages.said(Kind.HELP, str(field.help_text or "")),
        "required": field.required, "value": typed.get(name, ""), "secret": name in _PASSWORDS,
    }  # fmt: skip
    kind = _kind(field)
    if kind == "pieces":
        return Box(kind=kind, pieces=_rows(name, typed, values), **given)
    if kind == "sets":
        tables = tuple(
            Box(f"{name}.{code}", "pieces", code, "", field.required, pieces=_rows(f"{name}.{code}", typed, worths))
            for code, worths in sets.items()
        )
        return Box(kind=kind, sets=tables, **given)
    if kind in ("choice", "choices"):
        source: Any = field.child if isinstance(field, serializers.ListField) else field
        choices = tuple((str(code), said.choice(code, words)) for code, words in source.choices.items())
        return Box(kind=kind, choices=choices, values=tuple(typed.getlist(name)), **given)
    return Box(kind=kind, **given)


#: Kinds of fields by their classes; the first that fits counts.
_KINDS: tuple[tuple[type[serializers.Field[Any, Any, Any, Any]], str], ...] = (
    (PasskeyAnswer, "passkey"), (Pieces, "pieces"), (PiecesOfSets, "sets"), (Amount, "money"), (StrictBoolean, "yes"),
    (serializers.ChoiceField, "choice"), (serializers.IntegerField, "number"), (Reason, "reason"),
    (serializers.BaseSerializer, "json"), (serializers.ListField, "json"), (serializers.DictField, "json"),
    (serializers.CharField, "text"), (serializers.DateTimeField, "text"),
)  # fmt: skip


def _kind(field: serializers.Field[Any, Any, Any, Any]) -> str:
    if isinstance(field, serializers.ListField) and isinstance(field.child, serializers.ChoiceField):
        return "choices"
    return next((kind for of, kind in _KINDS if isinstance(field, of)), "json")


def body(
    fields: Fields, typed: QueryDict, money: Money, denominations: Iterable[int], *, whole: bool = False
) -> dict[str, Any]:
    """What was typed, as the body of a request; a field that was left empty is absent. `whole`: chips are counted, and
    every face value is typed, also where there is none. Raises Unreadable."""
    denominations = tuple(denominations)
    found = {}
    for name, field in fields.items():
        if whole and isinstance(field, Pieces):
            _require_all(name, typed, denominations)
        value = _value(name, field, typed, money, denominations)
        if value is not None:
            found[name] = value
    return found


def _require_all(name: str, typed: QueryDict, values: tuple[int, ...]) -> None:
    if any(not typed.get(f"{name}.{value}", "").strip() for value in values):
        raise Unreadable(name, gettext("Every row is counted: type 0 where there is none."))


def _value(
    name: str, field: serializers.Field[Any, Any, Any, Any], typed: QueryDict, money: Money, values: tuple[int, ...]
) -> Any:
    kind, text = _kind(field), typed.get(name, "").strip()
    if kind == "pieces":
        pieces = {str(value): _number(name, typed.get(f"{name}.{value}", "")) for value in values}
        counted = {value: count for value, count in pieces.items() if count is not None}
        return counted or ({} if field.required else None)
    if kind == "sets":
        return _of_sets(name, typed) or ({} if field.required else None)
    if kind == "choices":
        return typed.getlist(name) or None
    if kind == "yes":
        return {"yes": True, "no": False}.get(text)
    if not text:
        return None
    if kind == "money":
        try:
            return money.typed(text)
        except ValueError:
            raise Unreadable(
                name, gettext("This is an amount with at most %(digits)s decimals.") % {"digits": money.exponent}
            ) from None
    if kind == "number":
        return _number(name, text)
    if kind in ("json", "passkey"):
        return _json(name, field, text)
    return typed.get(name, "")


def _of_sets(name: str, typed: QueryDict) -> dict[str, dict[str, int]]:
    """Chips of several sets: what was typed as `name.SET.VALUE`."""
    found: dict[str, dict[str, int]] = {}
    for key, text in typed.items():
        start, _, value = key.rpartition(".")
        field, _, code = start.partition(".")
        count = _number(name, str(text)) if field == name and code else None
        if count:  # a set without a chip is as one that is not named
            found.setdefault(code, {})[value] = count
    return found


def _number(name: str, text: str) -> int | None:
    text = text.strip()
    if not text:
        return None
    if not text.isascii() or not text.removeprefix("-").isdecimal():
        raise Unreadable(name, gettext("This is a whole number."))
    return int(text)


def _json(name: str, field: serializers.Field[Any, Any, Any, Any], text: str) -> Any:
    """A list may be typed with commas; anything else that has parts is typed as JSON."""
    if text[0] not in "[{" and isinstance(field, serializers.ListField):
        parts = [one.strip() for one in text.split(",") if one.strip()]
        numbers = isinstance(field.child, serializers.IntegerField)
        return [_number(name, one) for one in parts] if numbers else parts
    try:
        return json.loads(text)
    except ValueError:
        raise Unreadable(name, gettext("This is JSON.")) from None
