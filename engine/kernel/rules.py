"""Options of a table's rules: declared once as fields of a frozen dataclass, read strictly from a record's
``opt``.

A field is declared with :func:`option`; its docstring below it names the sentence of the rules that it
settles. Nothing is ignored: an unknown name, a wrong type (a bool is not an int), an impossible value, a
missing required option and a variant that is known but not built each raise their own error.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import marshal
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, ClassVar, Self, TypeVar, cast

from engine.errors import OptionMissing, OptionOutOfRange, UnknownOption, UnsupportedVariant
from engine.kernel.canonical import canonical_json
from engine.kernel.setup import Setup

MAX_MONEY = 10**15
"""No single amount of money may be larger: sums over a table still fit a signed 64-bit integer with room to
spare."""


@dataclass(frozen=True, slots=True)
class Spec:
    """What one option accepts.

    ``choices`` are the values that are built (none listed: any value between ``low`` and ``high``);
    ``unbuilt`` are named variants of the game that are not, and ``variant`` says so of every well-typed value
    outside ``choices``.
    """

    kind: type
    required: bool = False
    low: int = 0
    high: int = MAX_MONEY
    choices: tuple[object, ...] = ()
    unbuilt: tuple[object, ...] = ()
    variant: bool = False


def option(kind: type, default: object = dataclasses.MISSING, **spec: Any) -> Any:
    """Declare an option of type ``kind``; without a default the table must set it. ``spec`` as in
    :class:`Spec`."""
    required = default is dataclasses.MISSING
    return dataclasses.field(
        default=None if required else default, metadata={"spec": Spec(kind, required=required, **spec)}
    )


@dataclass(frozen=True)
class Rules:
    """Base of every game's options."""

    GAME: ClassVar[str] = ""
    RULES_ID: ClassVar[str] = ""
    STAKE: ClassVar[str] = ""
    """Name of the option that says how high is played, in minor units."""

    @classmethod
    def parse(cls, opt: Mapping[str, object], seats: int) -> Self:
        """Read ``opt`` for a hand of ``seats`` seats; raises a subclass of ``OptionError``."""
        specs: dict[str, Spec] = {f.name: f.metadata["spec"] for f in dataclasses.fields(cls)}
        for name in opt:
            if name not in specs:
                raise UnknownOption(f"{cls.GAME} has no option {name!r}", options=sorted(specs))
        for name, spec in specs.items():
            if spec.required and name not in opt:
                raise OptionMissing(f"option {name!r} must be set by the table", option=name)
        rules = cls(**{name: _accept(name, specs[name], value) for name, value in opt.items()})
        rules.validate(seats)
        return rules

    @property
    def least_stack(self) -> int:
        """What a stack must hold for its seat to be dealt in, in minor units: its forced payments."""
        return 0

    def validate(self, seats: int) -> None:
        """Check what one option demands of another; ``seats`` is the number of seats dealt in."""

    @cached_property
    def non_default(self) -> dict[str, object]:
        """The options that differ from their default, as a record's ``opt`` holds them."""
        found = {}
        for f in dataclasses.fields(self):
            value = getattr(self, f.name)
            if f.metadata["spec"].required or value != f.default:
                found[f.name] = value
        return found

    @cached_property
    def canonical(self) -> str:
        """:attr:`non_default` as canonical JSON."""
        return canonical_json(self.non_default)


@dataclass(frozen=True, slots=True)
class Described:
    """An option as people read it: ``values`` is what it accepts, ``default`` is None where the table must set it or
    where the default is none; ``meaning`` names the sentence of the rules."""

    name: str
    values: str
    required: bool
    default: object
    meaning: str

    def as_dict(self) -> dict[str, object]:
        """JSON-able form."""
        default = list(self.default) if isinstance(self.default, tuple) else self.default
        found: dict[str, object] = {"name": self.name, "values": self.values, "required": self.required}
        return found | ({} if self.required else {"default": default}) | {"meaning": self.meaning}


def describe(rules: type[Rules]) -> tuple[Described, ...]:
    """Every option of a game in the order of its declaration."""
    meanings: dict[str, str] = {}
    for kind in reversed(rules.__mro__):
        if issubclass(kind, Rules):
            meanings |= _meanings(kind)
    found = []
    for f in dataclasses.fields(rules):
        spec: Spec = f.metadata["spec"]
        found.append(Described(f.name, _values(spec), spec.required, f.default, meanings.get(f.name, "")))
    return tuple(found)


def _meanings(kind: type[Rules]) -> dict[str, str]:
    """The texts below the fields of a class, by field."""
    return {
        field.target.id: _plain_text(text)
        for field, text in texts_below(kind)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
    }


def texts_below(kind: type) -> Iterator[tuple[ast.stmt, str]]:
    """Every statement of a class that has a text below it, as documentation pages read them, with that text."""
    body = ast.parse(inspect.getsource(kind)).body[0]
    if not isinstance(body, ast.ClassDef):
        raise TypeError(f"{kind.__name__} is not declared as a class")
    for statement, text in pairwise(body.body):
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
            yield statement, str(text.value.value)


def _plain_text(docstring: str) -> str:
    """One line without the marks that only a documentation page shows."""
    return " ".join(re.sub(r":\w+:`(\w+)`", r"\1", docstring).replace("``", "").split())


def _values(spec: Spec) -> str:
    if spec.choices:
        return " | ".join(str(choice).lower() if isinstance(choice, bool) else str(choice) for choice in spec.choices)
    if spec.kind is int:
        return f"{spec.low}..{spec.high}"
    if spec.kind is bool:
        return "true | false"
    return "list of cards" if spec.kind is tuple else spec.kind.__name__


_KINDS = {int: "a whole number", str: "a word", bool: "true or false", tuple: "a list"}


def _accept(name: str, spec: Spec, value: object) -> object:
    """Return ``value`` if the option accepts it; the type must match exactly, so True is not 1."""
    if isinstance(value, list):
        value = tuple(value)
    if type(value) is not spec.kind:
        kind = _KINDS[spec.kind]
        raise OptionOutOfRange(f"option {name!r} must be {kind}", type=kind)
    if isinstance(value, tuple) and not {str}.issuperset(map(type, value)):
        raise OptionOutOfRange(f"option {name!r} must be a list of texts", type="list")
    if value in spec.choices:
        return value
    if spec.variant or value in spec.unbuilt:
        raise UnsupportedVariant(f"{name}={value!r} is a variant that is not built yet", option=name)
    if spec.choices:
        raise OptionOutOfRange(f"option {name!r} cannot be {value!r}", choices=list(spec.choices))
    if isinstance(value, int) and not spec.low <= value <= spec.high:
        raise OptionOutOfRange(f"option {name!r} must lie in {spec.low}..{spec.high}", min=spec.low, max=spec.high)
    return value


_R = TypeVar("_R", bound=Rules)


def parse_rules(kind: type[_R], setup: Setup) -> _R:
    """The set-up's options as rules; raises a subclass of ``OptionError``."""
    return parse_options(kind, setup.opt, setup.seats)


def parse_options(kind: type[_R], opt: Mapping[str, object], seats: int) -> _R:
    """What ``kind.parse`` makes of ``opt``, once for all hands that are played with the same; raises a subclass of
    ``OptionError``."""
    try:
        key = marshal.dumps(dict(opt), 2)
    except ValueError as error:  # an object of no plain type, or nested too deep
        raise OptionOutOfRange("options must be plain values or lists of them") from error
    known: Rules = _parse_rules(kind, key, seats)  # type: ignore[arg-type]  # mypy: a class is not hashable
    return cast(_R, known)


def _is_plain(value: object) -> bool:
    """Whether JSON holds ``value`` by itself: anything nested could be too deep to write, a float NaN."""
    if type(value) is int:
        return value.bit_length() < 64
    return value is None or type(value) in (str, bool)


@lru_cache(maxsize=256)
def _parse_rules(kind: type[Rules], key: bytes, seats: int) -> Rules:
    """Tables play thousands of hands with one set of options. The key is what marshal makes of them, which
    distinguishes True from 1 and 1 from "1" and is made faster than any text."""
    opt = marshal.loads(key)  # noqa: S302 - bytes made a moment ago, by the caller
    for name, value in opt.items():
        if not all(map(_is_plain, value if isinstance(value, list | tuple) else (value,))):
            raise OptionOutOfRange(f"option {name!r} must be a plain value or a list of them")
    return kind.parse(opt, seats)
