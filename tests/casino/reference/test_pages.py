"""The generated pages are what the code declares, and `manage.py pages` says which are not."""

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from drf_spectacular.generators import SchemaGenerator

from casino.configuration import ELSEWHERE, declared
from casino.core.error_codes import ERROR_CODES
from casino.houses.terms import house_words
from casino.reference import glossary_page, pages
from engine.kernel.rules import describe
from engine.registry import game_info, game_names


def schema() -> dict[str, Any]:
    """The description of the API."""
    found: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return found


def test_the_pages_are_what_the_code_declares() -> None:
    call_command("pages", check=True)


@pytest.mark.slow
def test_a_page_that_differs_is_missing_or_is_generated_no_longer_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "FOLDER", tmp_path)
    (tmp_path / "by_hand.md").write_text("# By hand\n")
    call_command("pages", write=True)
    call_command("pages", check=True)
    events = tmp_path / "events.md"
    events.write_text(events.read_text().replace("A hand has begun", "A hand began"))
    (tmp_path / "settings.md").unlink()
    (tmp_path / "games" / "snap.md").write_text(f"# Snap\n\n{pages.MARK} from nothing.\n")
    with pytest.raises(CommandError, match=r"events\.md, docs/reference/games/snap\.md, docs/reference/settings\.md"):
        call_command("pages", check=True)
    call_command("pages", write=True)
    call_command("pages", check=True)
    assert not (tmp_path / "games" / "snap.md").exists()
    assert (tmp_path / "by_hand.md").exists()


def test_every_page_says_that_it_is_generated_and_is_made_twice_alike() -> None:
    made = pages.render()
    assert made == pages.render()
    assert [name for name, text in made.items() if pages.MARK not in text.split("\n## ")[0]] == []


def test_every_operation_is_on_its_page_with_who_may_use_it() -> None:
    page = pages.render()["operations.md"]
    operations = [(method, path) for path, methods in schema()["paths"].items() for method in methods]
    assert len(re.findall(r"^`[A-Z]+ /\S*`, for .+ \(`\w+`\)\.$", page, re.MULTILINE)) == len(operations) > 80
    assert "`POST /drawers/{drawer}/open`, for cashier (" in page
    assert "`POST /days`, for floor, manager (" in page
    assert "`GET /days`, for auditor, manager, floor, cage_supervisor (" in page
    assert "`GET /seat/hand`, for the key of a seat (" in page
    assert "`POST /sign-in`, for everybody (" in page


def test_every_variable_is_on_the_page_of_settings() -> None:
    page = pages.render()["settings.md"]
    assert re.findall(r"^\| `(\w+)`", page, re.MULTILINE) == [
        *(one.name for one in declared()),
        *ELSEWHERE,
    ]


def test_every_code_of_a_refusal_is_on_the_page_of_errors_once() -> None:
    codes = re.findall(r"^\| `(\w+)` \| [0-9]{3} \|", pages.render()["errors.md"], re.MULTILINE)
    assert sorted(codes) == sorted(ERROR_CODES)


# -- the glossary ------------------------------------------------------------------------------------------------------

#: English words in values of the API and in options of the games. Every other word must be in the glossary.
ENGLISH = frozenset(Path(__file__).with_name("english.txt").read_text().split())
#: Names of the sources of Barbu's scoring.
NAMES = frozenset({"brader", "lagosz", "pagat"})


def spoken() -> Iterator[str]:
    """Every word that the API's enumerations and the games' options and their values are made of; not the codes of
    cards, the verbs of the logs and the names of the games, which the pages of the games explain, nor the codes of
    refusals, each of which has a meaning of its own."""
    texts = [*enumerated(schema())]
    for game in map(game_info, game_names()):
        for option in describe(game.rules):
            texts += [option.name, *(option.values.split(" | ") if " | " in option.values else ())]
    codes = {verb.name for name in game_names() for verb in game_info(name).grammar} | set(game_names())
    codes |= ERROR_CODES.keys()
    for text in (text for text in texts if text not in codes):
        yield from (word for word in re.findall(r"[a-z]+", text.lower()) if len(word) > 2)


def enumerated(part: Any) -> Iterator[str]:
    """The values of every enumeration of a schema."""
    if isinstance(part, dict):
        yield from (value for value in part.get("enum", ()) if isinstance(value, str))
        part = list(part.values())
    if isinstance(part, list):
        for one in part:
            yield from enumerated(one)


def explained() -> set[str]:
    """Every word that the glossary explains, without accents."""
    rows = re.findall(r"^\| ([^|]*) \| ([^|]*) \| ([^|]*) \| [^|]* \| [^|]* \|$", glossary_page.render(), re.MULTILINE)
    named = [*house_words(), *(name for row in rows for name in row)]
    return {word for name in named for word in re.findall(r"[a-z]+", plain(name))}


def plain(text: str) -> str:
    """Lower case, without accents."""
    return "".join(one for one in unicodedata.normalize("NFD", text.lower()) if not unicodedata.combining(one))


def test_every_word_of_the_api_and_the_options_is_english_or_in_the_glossary() -> None:
    words = set(spoken())
    assert sorted(words - explained() - ENGLISH - NAMES) == []
