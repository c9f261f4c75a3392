"""The words of games stand in `engine/` and nowhere else: not a verb, not an option, not the name of a game.

Everything outside reads the games' declarations, so a new game needs no change there. Documents, migrations, fixtures
and tests may name them. Words that mean something else in that place are listed with the reason.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.kernel.rules import describe
from engine.registry import game_info, game_names

ROOT = Path(__file__).resolve().parents[1]

#: Words of games that mean something else outside: word -> why.
INNOCENT = {
    "po": "how the name of a catalogue of messages ends",
    "lower": "letters in lower case",
    "upper": "letters in upper case",
    "limit": "how many rows a page has",
    "players": "an app, and lists of people",
    "in": "a key of OpenAPI",
    "pack": "which pack of cards a check was made with, or an opening belongs to",
    "settlement": "what a hand posts at its end",
    "cut": "where a file of checkpoints ends",
    "rb": "mode in which a file is opened",
    "target": "the seat that an action names, the place where money goes",
    "stake": "kind of a ledger event and reason of a move",
    "points": "reason of a move",
    "up": "a command of the embedded services",
    "rm": "a program of the system",
    "ps": "a program of the system",
}


def words() -> set[str]:
    """Every verb, option and name of the games."""
    found = set(game_names())
    for name in game_names():
        game = game_info(name)
        found |= {verb.name for verb in game.grammar}
        found |= {option.name for option in describe(game.rules)}
    return found


def sources() -> Iterator[Path]:
    """Every module of house and deployment, migrations aside."""
    for folder in ("casino", "ledger", "deploy"):
        yield from (path for path in sorted((ROOT / folder).rglob("*.py")) if "migrations" not in path.parts)


def constants(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Texts of a module, docstrings aside, and the names of attributes and keywords, each with its line."""
    documents = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documents:
            yield node.lineno, node.value
        elif isinstance(node, ast.Attribute):
            yield node.lineno, node.attr
        elif isinstance(node, ast.keyword) and node.arg:
            yield node.lineno, node.arg


def found_in(path: Path, wanted: set[str]) -> list[str]:
    """The words of games that stand in a module as a text of their own, or as a line of a log inside a text."""
    said = re.compile(rf"\b(?:d|p[1-9]) (?:{'|'.join(sorted(map(re.escape, wanted)))})\b")
    names = re.compile(rf"\b(?:{'|'.join(word for word in sorted(wanted) if len(word) > 3 or '_' in word)})\b")
    return [
        f"{path.relative_to(ROOT)}:{line}: {text[:60]!r}"
        for line, text in constants(ast.parse(path.read_text()))
        if text in wanted or said.search(text) or (" " not in text and names.fullmatch(text))
    ]


def test_no_word_of_a_game_stands_outside_the_engine():
    wanted = words() - INNOCENT.keys()
    assert [hit for path in sources() for hit in found_in(path, wanted)] == []


def test_every_innocent_word_is_one_and_is_needed():
    assert INNOCENT.keys() <= words()
    met = {hit.rpartition(": ")[2].strip("'") for path in sources() for hit in found_in(path, set(INNOCENT))}
    assert met == INNOCENT.keys()


@pytest.mark.parametrize("word", ["ferbli", "vizi", "dbl"])
def test_a_word_is_found(word: str, tmp_path: Path):
    """The search sees texts, attributes and keywords, and no docstring."""
    module = f'"""{word}"""\nx = "{word}"\ny.{word}\nz({word}=1)\n'
    hits = [text for _, text in constants(ast.parse(module))]
    assert hits.count(word) == 3


# -- plain words -------------------------------------------------------------------------------------------------------

#: Words that plain English does without: people have no gender here, and events record.
REFUSED = (
    "whoever", "whomever", "told", "tells", "he", "him", "his", "himself", "anew", "stand a player up", "nobody's",
    "somebody who", "merely",
)  # fmt: skip
#: Also as a part of a name: `audit_told`, `test_he_leaves`.
REFUSED_PATTERN = re.compile(rf"(?<![a-z\\])({'|'.join(REFUSED)})(?![a-z])", re.IGNORECASE)
#: Where plain words are required, and the files in it that are read.
WRITTEN = ("casino", "engine", "ledger", "deploy", "docs", "tests", "README.md", "CHANGELOG.md")
SUFFIXES = (".py", ".sql", ".md", ".toml")
#: The places that may keep such a word: quotations of rules, and what waits to be reworded.
KEPT = Path(__file__).with_name("plain_words.txt")


def refused_words() -> Counter[tuple[str, str]]:
    """How often each refused word occurs in each file of code, tests and documents, as (word, file)."""
    found: Counter[tuple[str, str]] = Counter()
    for place in (ROOT / name for name in WRITTEN):
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if path.suffix in SUFFIXES and path != Path(__file__):
                name = str(path.relative_to(ROOT))
                found.update((word.lower(), name) for word in REFUSED_PATTERN.findall(path.read_text()))
    return found


def kept_words() -> Counter[tuple[str, str]]:
    """The places of the list, which may keep such a word so many times."""
    rows = (line.rsplit(" ", 1) for line in KEPT.read_text().splitlines() if line and not line.startswith("#"))
    return Counter({(head.split(" ", 1)[1], name): int(head.split(" ", 1)[0]) for head, name in rows})


def test_no_refused_word_is_added() -> None:
    assert refused_words() - kept_words() == Counter()


def test_no_exception_is_kept_without_need() -> None:
    assert kept_words() - refused_words() == Counter()


@pytest.mark.parametrize("text", ["Whoever asks", "audit_told", "def test_he_leaves", "it is HIS"])
def test_a_refused_word_is_found(text: str) -> None:
    assert REFUSED_PATTERN.search(text)


@pytest.mark.parametrize("text", ["the history", "threshold", "this", "a shelter"])
def test_a_part_of_another_word_is_not_refused(text: str) -> None:
    assert not REFUSED_PATTERN.search(text)
