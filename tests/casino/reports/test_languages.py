"""Reports in every language: the same figures, the reader's words, the same bytes each time."""

import json

import pytest

from casino.core import languages
from casino.reports.frame import registry
from casino.reports.frame.language import in_words
from casino.reports.render.style import style_of
from casino.staff.models import Role
from tests.casino.kit import Kit
from tests.casino.reports.test_runs import asked, downloaded


@pytest.fixture
def busy(kit: Kit) -> Kit:
    """A house with chips in a drawer, a tray, and with players."""
    kit.table()
    kit.seated()
    return kit


def test_a_run_names_its_language(busy: Kit) -> None:
    office = busy.office(Role.AUDITOR)
    heads, figures = {}, {}
    formats = ["json", "csv", "pdf", "xlsx"]
    first = asked(office, formats=formats)
    busy.make_reports()
    runs = {
        language: asked(office, formats=formats, language=language, repeats=first["run"]) for language in ("hu", "de")
    }
    again = asked(office, formats=formats, language="hu", repeats=first["run"])
    busy.make_reports()
    for language, run in [("en", first), *runs.items()]:
        made = office.get(f"report-runs/{run['run']}").json()
        assert made["state"] == "made" and made["style"]["language"] == language
        files = downloaded(office, made)
        body = json.loads(files["chips.json"])
        heads[language] = body["head"]["title"]
        figures[language] = [section["rows"] for section in body["sections"]]
        words = [one["equality"] for one in body["equalities"]]
        # What is kept of a run and recorded is the same in every language.
        assert [one["equality"] for one in made["equalities"]] == [
            one["equality"] for one in office.get(f"report-runs/{first['run']}").json()["equalities"]
        ]
        assert (words == [one["equality"] for one in made["equalities"]]) == (language == "en")
        assert files["chips-places.csv"].decode().replace(";", ",").startswith("commodity,number,kind,place,")
    assert heads == {
        "en": "Chip inventory and liability",
        "hu": "Zsetonleltár és -tartozás",
        "de": "Jetonbestand und -schuld",
    }
    assert figures["en"] == figures["hu"] == figures["de"]
    one = office.get(f"report-runs/{runs['hu']['run']}").json()
    other = office.get(f"report-runs/{again['run']}").json()
    hashes = [
        {file["name"]: file["sha256"] for file in run["files"] if file["name"].endswith(".csv")} for run in (one, other)
    ]
    assert hashes[0] == hashes[1] != {}


@pytest.mark.parametrize("language", ["hu", "de"])
def test_every_report_has_all_of_its_texts(language: str) -> None:
    for report in registry.reports().values():
        with languages.speaking(language):
            said = in_words(report)
        assert said.text != report.text, report.id
        assert [one.name for one in said.sections] == [one.name for one in report.sections]


def test_marks_follow_the_language() -> None:
    assert style_of("en", None, None) == {"separator": "comma", "decimal": "point", "language": "en"}
    assert style_of("hu", None, None) == {"separator": "semicolon", "decimal": "comma", "language": "hu"}
    assert style_of("de", "tab", None) == {"separator": "tab", "decimal": "comma", "language": "de"}
    assert style_of("de", None, "point") == {"separator": "comma", "decimal": "point", "language": "de"}


def test_an_unknown_language_is_refused(busy: Kit) -> None:
    office = busy.office(Role.AUDITOR)
    answer = office.post("reports/chips/runs", {"formats": ["json"], "language": "fr"})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (400, "#/language")
