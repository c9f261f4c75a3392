"""A process of the release before, on the schema of the release after it: ready, as long as that one promises it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import Settings

import casino
from casino.configuration import BASE_DIR
from casino.core import release
from casino.reports.verifying import verification
from casino.verification import auditing, catalogue, newer
from tests.casino.kit import Kit
from tests.casino.verification.test_catalogue import changed

MADE = "CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'", "DROP FUNCTION mine()"
WEAKER = "ALTER TABLE audit_leaf ENABLE ROW LEVEL SECURITY", "ALTER TABLE audit_leaf DISABLE ROW LEVEL SECURITY"


@pytest.fixture
def tree(tmp_path: Path, settings: Settings) -> Iterator[Path]:
    """A tree of the next release as a process sees it: what it declares, and what it promises."""
    for file in (*newer.FILES, release.PLACE):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_bytes((BASE_DIR / file).read_bytes())
    settings.CASINO_NEWER_RELEASE = tmp_path
    catalogue.forget()
    yield tmp_path
    catalogue.forget()


def declare(tree: Path, statement: str, undo: str) -> None:
    """Let the tree's release declare the catalogue as it is after this statement."""
    with changed(statement, undo):
        there = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in catalogue.now().objects.items()}
    more = {name: digits for name, digits in there.items() if catalogue.declared().get(name) != digits}
    file = tree / "casino/verification/catalogue.txt"
    kept = [line for line in file.read_text().splitlines() if line.partition("  ")[2] not in more]
    file.write_text("".join(f"{line}\n" for line in [*kept, *(f"{digits}  {name}" for name, digits in more.items())]))


def promise(tree: Path, before: str) -> None:
    """Let the tree's release bear this version and no other."""
    own = release.own()
    text = (tree / release.PLACE).read_text()
    text = text.replace(f'before = "{own.before}"', f'before = "{before}"').replace(own.moved, "later")
    (tree / release.PLACE).write_text(text)


@pytest.mark.usefixtures("all_running")
def test_a_process_is_ready_on_the_schema_of_the_next_release(kit: Kit, tree: Path) -> None:
    declare(tree, *MADE)
    promise(tree, casino.__version__)
    kit.sequence()
    with changed(*MADE):
        assert kit.http(None).get("/readyz").status_code == 200
        assert auditing.verify_house(kit.house).findings == []
        assert verification(kit.house)["book_findings"] == []
        catalogue.forget()
        with changed("CREATE FUNCTION other() RETURNS int LANGUAGE sql AS 'SELECT 1'", "DROP FUNCTION other()"):
            named = {one.subject for one in catalogue.lately()}
            assert named == {"function other()", "rights on function other()"}, "what neither release declares"


def test_a_schema_half_way_to_the_next_release_is_accepted(kit: Kit, tree: Path) -> None:
    """Migrations are a transaction each; between two of them some objects are as the old release has them."""
    declare(tree, *MADE)
    promise(tree, casino.__version__)
    assert catalogue.now().differences() == []


@pytest.mark.parametrize("before", ["0.0.9", "9.0.0"])
def test_a_release_that_is_not_the_next_one_promises_nothing(kit: Kit, tree: Path, before: str) -> None:
    declare(tree, *MADE)
    promise(tree, before)
    with changed(*MADE):
        assert "function mine()" in {one.subject for one in catalogue.lately()}


@pytest.mark.parametrize("file", [*newer.FILES, str(release.PLACE)])
def test_a_promise_that_cannot_be_read_is_none(
    kit: Kit, tree: Path, file: str, caplog: pytest.LogCaptureFixture
) -> None:
    declare(tree, *MADE)
    promise(tree, casino.__version__)
    (tree / file).unlink()
    with changed(*MADE):
        assert "function mine()" in {one.subject for one in catalogue.lately()}
    assert "no newer release is accepted" in caplog.text


def test_nothing_that_this_release_wants_is_missing_with_leave(kit: Kit, tree: Path) -> None:
    """A newer release that declares less than this one takes nothing away from it: guards stand until it is gone."""
    promise(tree, casino.__version__)
    for file in newer.FILES:
        (tree / file).write_text("")
    assert catalogue.now().differences() == []
    with changed(*WEAKER):
        assert [one.subject for one in catalogue.lately()] == ["table audit_leaf"]


def test_without_a_newer_release_the_own_catalogue_is_all(kit: Kit, tree: Path) -> None:
    """The folder of the running code, as long as it has the same release: what it declares now is not asked."""
    declare(tree, *MADE)
    assert release.of(tree) == release.own()
    assert newer.declared() == {}
    with changed(*MADE):
        assert "function mine()" in {one.subject for one in catalogue.lately()}


def test_an_older_schema_is_not_ready_and_a_newer_one_is(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    first = ("houses", "0001_initial")
    wanted = release.migrations()
    assert first in wanted
    applied = dict.fromkeys([*wanted, ("houses", "0002_later"), ("later", "0001_initial")])
    assert release.missing(applied) == []
    del applied[first]
    assert release.missing(applied) == ["houses.0001_initial"]
    monkeypatch.setattr(release, "migrations", lambda: wanted | {("houses", "0002_here")})
    catalogue.forget()
    refused = kit.http(None).get("/readyz")
    assert refused.status_code == 503
    assert {"check": "migrations", "code": "migrations_missing"} in refused.json()["failed"]


def test_a_tree_that_says_nothing_of_its_promise_is_refused(tmp_path: Path) -> None:
    with pytest.raises(release.NoRelease, match=r"release\.toml cannot be read"):
        release.of(tmp_path)
    (tmp_path / "casino").mkdir()
    (tmp_path / release.PLACE).write_text('before = "0.1.0"\n')
    with pytest.raises(release.NoRelease, match="moved"):
        release.of(tmp_path)
    assert release.of().tag == f"v{release.of().before}"
