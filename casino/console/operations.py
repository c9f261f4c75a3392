"""Every operation of the API as the screens offer it: who may use it, its address, what it takes.

The declarations are the API's own (`documented`); a new operation has its page without a line here.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver
from rest_framework import serializers

from casino.api.http.operations import WriteOperation
from casino.api.http.permissions import HasRole
from casino.console.door import ROOT
from casino.core.languages import Kind, said

#: Signing in and out, one's passkeys, and following what happens, have screens of their own.
_OTHERWISE = frozenset({"sessions", "passkeys", "live"})
_PARAMETER = re.compile(r"<(?:(\w+):)?(\w+)>")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A part of an address that names something: its name, and whether it is a whole number."""

    name: str
    is_number: bool


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of the API: `pattern` is its address below the root, with `<parameters>`."""

    id: str
    method: str
    pattern: str
    english: str
    tag: str
    view: type[Any]

    @property
    def summary(self) -> str:
        """What it does, in a few words."""
        return said(Kind.OPERATION, self.english)

    @property
    def roles(self) -> frozenset[str]:
        """The roles that may use it."""
        found = self.view.roles
        if self.method == "get" and getattr(self.view, "readers", None) is not None:
            found = self.view.readers
        return frozenset(map(str, found))

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What its address names."""
        return tuple(Parameter(name, kind == "int") for kind, name in _PARAMETER.findall(self.pattern))

    @property
    def is_write(self) -> bool:
        """Whether it is a write that goes through the house's one way to write."""
        return self.method == "post" and issubclass(self.view, WriteOperation)

    @property
    def is_versioned(self) -> bool:
        """Whether a request names the version that it was decided on."""
        return self.is_write and bool(self.view.versioned)

    @property
    def is_list(self) -> bool:
        """Whether it is a list with pages."""
        return self.method == "get" and hasattr(self.view, "list_parameters")

    @property
    def help(self) -> str:
        """What the operation does, in the words of the API."""
        return " ".join((self.view.__doc__ or "").split())

    def path(self, given: dict[str, str]) -> str:
        """Its address for these parameters. Raises KeyError for one that is missing."""
        return _PARAMETER.sub(lambda found: given[found[2]], self.pattern)

    def input(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """The fields of its body, by name."""
        kind = getattr(self.view, "input", None)
        return dict(kind().fields) if kind is not None and self.method == "post" else {}


@cache
def every() -> dict[str, Operation]:
    """Every operation for people who are signed in, by its id, in the order of the addresses."""
    found = {}
    for pattern in _patterns():
        view: Any = getattr(pattern.callback, "view_class", None)
        if view is None or HasRole not in getattr(view, "permission_classes", ()):
            continue
        for method, one in getattr(view, "operations", {}).items():
            if one.tag in _OTHERWISE:
                continue
            found[one.id] = Operation(one.id, method, str(pattern.pattern), one.summary, one.tag, view)
    return found


def _patterns() -> Iterable[URLPattern]:
    for one in get_resolver().url_patterns:
        if isinstance(one, URLResolver) and f"/{one.pattern}" == ROOT:
            yield from (each for each in one.url_patterns if isinstance(each, URLPattern))


def of(roles: Iterable[str]) -> list[Operation]:
    """The operations that a person with these roles may use."""
    mine = frozenset(roles)
    return [one for one in every().values() if one.roles & mine]


def on_row(acts: Iterable[Operation], row: dict[str, Any]) -> list[tuple[Operation, dict[str, Any]]]:
    """Those of these operations (`of_rows`) that can be begun at a row, each with what its form is to know."""
    version = {"version": row["version"]} if "version" in row else {}
    named = ((act, act.parameters[-1].name) for act in acts)
    return [(act, {name: row[name]} | version) for act, name in named if name in row]


def of_rows(reading: Operation, roles: Iterable[str]) -> list[Operation]:
    """The operations on one row of a list: `boxes` has those at `boxes/<int:box>/...`."""
    start = f"{reading.pattern}/<"
    return [
        one for one in of(roles) if one.pattern.startswith(start) and len(one.parameters) == len(reading.parameters) + 1
    ]
