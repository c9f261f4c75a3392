"""Texts that declarations say to people: operations, fields, codes, games, terms, reports. Each with its context."""

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from django.db.models import TextChoices
from drf_spectacular.generators import SchemaGenerator

from casino.api.http.problems import TITLES
from casino.bookkeeping.flows import Direction
from casino.console import operations
from casino.console.templatetags.console import CARD, RANKS, SUITS
from casino.core.error_codes import ERROR_CODES
from casino.core.languages import Kind
from casino.hands import verbs
from casino.hands.reference_pages import game_words
from casino.houses.terms import house_words
from casino.reports.catalogue.a03_drawer_history import LAST_RUNNING
from casino.reports.exceptions import SOURCES, Severity
from casino.reports.printing import documents, statements

ROOT = Path(__file__).resolve().parents[2]
#: A context, a text, and what says it.
Text = tuple[str, str, str]


def every() -> Iterator[Text]:
    """All of them, sorted within each source."""
    yield from _operations()
    yield from ((Kind.FIELD, name, "casino/api") for name in sorted(names()))
    yield from ((Kind.CODE, code, "choices") for code in sorted(codes() - {""}))
    yield from ((Kind.ERROR, ERROR_CODES[code].meaning, f"error {code}") for code in sorted(ERROR_CODES))
    yield from ((Kind.PROBLEM, text, "casino/api/http/problems.py") for text in sorted(set(TITLES.values())))
    yield from _games()
    yield from _tables()
    yield from _reports()


def _operations() -> Iterator[Text]:
    every_one = operations.every().values()
    for tag in sorted({one.tag for one in every_one}):
        yield Kind.TAG, tag, "casino/api"
    for one in sorted(every_one, key=lambda one: one.id):
        yield Kind.OPERATION, one.english, f"operation {one.id}"
    helps = {str(field.help_text or "") for one in every_one for field in one.input().values()}
    yield from ((Kind.HELP, text, "fields") for text in sorted(helps - {""}))


@cache
def names() -> frozenset[str]:
    """The names of all members of answers and bodies, and of what addresses name."""
    generator: Any = SchemaGenerator
    schema = generator().get_schema(request=None, public=True)
    return frozenset(name for name in _names(schema) if re.fullmatch(r"[a-z][a-z_]*", name))


def _names(part: Any) -> Iterator[str]:
    if isinstance(part, Mapping):
        if isinstance(properties := part.get("properties"), Mapping):
            yield from properties
        if "in" in part and isinstance(part.get("name"), str):
            yield part["name"]
        for inner in part.values():
            yield from _names(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from _names(inner)


def codes() -> set[str]:
    """The values of all declared choices."""
    kinds = (kind for kind in _subclasses(TextChoices) if kind.__module__.startswith("casino."))
    found: Iterator[Any] = (value for kind in kinds for value in kind.values)
    return {str(value) for value in found} | {
        *map(str, Direction),
        *map(str, Severity),
        *LAST_RUNNING,
        *(one.name for one in SOURCES),
    }


def _subclasses(kind: type[Any]) -> Iterator[type[Any]]:
    for one in kind.__subclasses__():
        yield one
        yield from _subclasses(one)


def _games() -> Iterator[Text]:
    for game in verbs.games():
        yield Kind.GAME, str(game["title"]), "engine"
    labels: dict[tuple[str, str], None] = {}
    meanings: dict[str, None] = {}
    phases: dict[str, None] = {}
    for game in verbs.games():
        declared: Any = verbs.declaration(str(game["game"]))
        for verb in declared["verbs"]:
            labels[f"{Kind.VERB} {verb['verb']}", verb["label"]] = None
            meanings |= dict.fromkeys(filter(None, (verb["meaning"], verb["only"])))
        phases |= dict.fromkeys(phase["meaning"] for phase in declared["phases"])
    yield from ((context, label, "engine") for context, label in sorted(labels))
    yield from ((Kind.VERB, meaning, "engine") for meaning in sorted(meanings))
    yield from ((Kind.PHASE, text, "engine") for text in sorted(phases))
    yield from ((Kind.TERM, term[3], "engine") for term, _ in game_words())
    yield from ((Kind.TERM, text, "casino/houses/terms.toml") for pair in house_words().items() for text in pair)
    yield from ((Kind.TABLE, text, "cards") for text in (*SUITS.values(), *(f"rank {one}" for one in RANKS), CARD))


def _tables() -> Iterator[Text]:
    """What a table says of itself: phases, states of seats, facts."""
    found = {"sits out"}
    for path in sorted((ROOT / "engine").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("view_of"):
                found |= {text for text in _texts_of(node) if text not in ("active", "")}
            if isinstance(node, ast.Call) and _called(node) == "enter":
                found |= {text for one in node.args[:1] for text in _texts(one)}
    yield from ((Kind.TABLE, text.replace("_", " "), "engine") for text in sorted(found))


def _texts_of(function: ast.FunctionDef) -> Iterator[str]:
    """The names that a view has, and the states that it may say."""
    for node in ast.walk(function):
        if isinstance(node, ast.Dict):
            yield from (text for key in node.keys if key is not None for text in _texts(key))
        elif isinstance(node, ast.IfExp):
            yield from _texts(node)


# --- Reports --------------------------------------------------------------------------------------------------------

_COLUMNS = ("Column", "money", "pieces", "count", "decimal", "flag", "day", "ref", "text", "coded", "time")
#: Which arguments of what is declared of a report are said to people, by place and by name.
_SAID: Mapping[str, tuple[int | str, ...]] = {
    **dict.fromkeys(_COLUMNS, (1,)),
    "Section": (1, "title"), "Filter": (2, "text"), "Report": ("title", "text"), "Chart": ("title", "text"),
    "Series": (0, "title"), "Equality": (0, "words"),
}  # fmt: skip


def _reports() -> Iterator[Text]:
    found: dict[str, str] = {}
    for path in sorted((ROOT / "casino" / "reports").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                for text in _said(node):
                    found.setdefault(text, str(path.relative_to(ROOT)))
    for text in (*documents.texts(), *statements.texts()):
        found.setdefault(text, "casino/reports/printing")
    yield from ((Kind.REPORT, text, where) for text, where in found.items())


def _said(call: ast.Call) -> Iterator[str]:
    wanted = _SAID.get(_called(call), ())
    given: list[ast.expr] = [call.args[at] for at in wanted if isinstance(at, int) and at < len(call.args)]
    given += [one.value for one in call.keywords if one.arg in wanted]
    for one in given:
        yield from (text for text in _texts(one) if text)


def _texts(given: ast.expr) -> Iterator[str]:
    """The texts that an argument may be."""
    if isinstance(given, ast.Constant) and isinstance(given.value, str):
        yield given.value
    elif isinstance(given, ast.IfExp):
        yield from _texts(given.body)
        yield from _texts(given.orelse)


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
