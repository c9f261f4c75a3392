"""Catalogues of messages say all that the sources say, and `manage.py messages` names what is wrong."""

import re
import shutil
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from casino.core.languages import FOLDER
from casino.reference import messages


def test_every_language_says_everything() -> None:
    assert list(messages.problems()) == []


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The catalogues in a folder of the test's own."""
    shutil.copytree(FOLDER, tmp_path / "locale")
    return tmp_path / "locale"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('msgid "Sign out"\nmsgstr "Abmelden"', 'msgid "Sign out"\nmsgstr ""'), "'Sign out' is not translated"),
        (('msgid "Sign out"', '#, fuzzy\nmsgid "Sign out"'), "'Sign out' is fuzzy"),
        (('msgid "Sign out"', 'msgid "Sign away"'), "'Sign away' is said no longer"),
        (('msgid "Sign out"', 'msgid "Sign away"'), "'Sign out' is not in the catalogue"),
        (("%(number)s wurde angefordert", "wurde angefordert"), "has other places to fill in"),
        (('msgstr "Abmelden"', 'msgstr "Ausloggen"'), "the compiled catalogue is out of date"),
    ],
)
def test_what_is_wrong_is_named(copy: Path, change: tuple[str, str], words: str) -> None:
    path = messages.path_of("de", "django", folder=copy)
    text = path.read_text(encoding="utf-8")
    assert change[0] in text
    path.write_text(text.replace(*change), encoding="utf-8")
    assert any(words in line for line in messages.problems(copy))


def test_a_missing_catalogue_is_named(copy: Path) -> None:
    messages.path_of("hu", "djangojs", folder=copy).unlink()
    assert list(messages.problems(copy)) == ["hu/djangojs: missing"]


def test_writing_keeps_what_is_translated_and_is_the_same_each_time(copy: Path) -> None:
    path = messages.path_of("hu", "django", folder=copy)
    before = path.read_bytes()
    assert messages.write(copy) == []
    assert path.read_bytes() == before and path.with_suffix(".mo").exists()
    text = before.decode().replace('msgid "Sign out"', 'msgid "Sign away"')
    path.write_text(text, encoding="utf-8")
    assert messages.write(copy) == [f"{path}: 1 not translated"]
    assert 'msgid "Sign away"' not in path.read_text(encoding="utf-8")


def test_the_command_checks_and_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    call_command("messages", check=True)
    monkeypatch.setattr(messages, "problems", lambda: iter(["de/django: something"]))
    with pytest.raises(CommandError, match=r"1 things are wrong.*make messages"):
        call_command("messages", check=True)


def test_labels_of_verbs_and_jobs_fit_their_places() -> None:
    """At most 14 letters, or two lines of which none is longer."""
    for language in messages.languages():
        catalog = messages._read(messages.path_of(language, "django"), language, "django")
        for one in catalog:
            if one.context and re.match(r"verb .", one.context):
                words = str(one.string)
                assert all(len(part) <= 14 for part in (words.split(" ") if len(words) > 14 else [words])), words
