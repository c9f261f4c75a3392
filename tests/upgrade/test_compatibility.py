"""The release before runs on the schema of this one: it starts, is ready, plays, settles and verifies.

Its code is taken from the repository (its tag, or the commit that last changed `casino/release.toml`), and runs with
the present requirements.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from deploy.embedded.process import signalled_when_parent_dies
from deploy.processes import CHECKOUT
from tests import template
from tests.services import TestServices, with_database
from tests.upgrade import trees

pytestmark = pytest.mark.slow
DATABASES = ("DATABASE_URL", "DATABASE_OWNER_URL", "DATABASE_SEQUENCER_URL")


@pytest.fixture
def environ(services: TestServices, django_db_setup: None, tmp_path: Path) -> Iterator[dict[str, str]]:
    """A database of its own, as the present migrations make it, and nothing else that another house uses."""
    database = services.database.replace("test_casino_", "test_casino_before_")
    with services.administrator() as connection:
        template.create(connection, database, _no_template)
        try:
            (tmp_path / "checkpoints").mkdir()
            yield trees.environ(CHECKOUT, os.environ) | {
                **{key: with_database(os.environ[key], database) for key in DATABASES},
                "CASINO_CHECKPOINT_DIR": str(tmp_path / "checkpoints"),
                "CASINO_VAR": str(tmp_path / "var"),
                "CASINO_NEWER_RELEASE": str(CHECKOUT),
            }
        finally:
            connection.execute(f'DROP DATABASE "{database}" WITH (FORCE)')


def _no_template() -> None:
    raise AssertionError("the test's own database was made of a template")


@contextmanager
def running(tree: Path, environ: Mapping[str, str], log: Path) -> Iterator[str]:
    """The processes of a tree under its own supervisor, ready; yields their address."""
    with log.open("wb") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "deploy.processes", "--port", "0"],
            cwd=tree, env=dict(environ), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True,
            preexec_fn=signalled_when_parent_dies(15),
        )  # fmt: skip
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert line.startswith("ready: "), log.read_text()
        yield line.split()[1]
    finally:
        process.terminate()
        process.wait(timeout=60)
        process.stdout.close()


def output(tree: Path, environ: Mapping[str, str], *words: str) -> str:
    """What a program of this Python prints, in a tree. Fails where it fails."""
    done = subprocess.run(
        [sys.executable, *words], cwd=tree, env=dict(environ), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{words}: {done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_release_before_plays_on_this_schema(environ: dict[str, str], tmp_path: Path) -> None:
    old = tmp_path / "before"
    old.mkdir()
    source = trees.before(old)
    with running(old, environ, tmp_path / "supervisor.log") as root:
        play = Path(__file__).with_name("play.py")
        played: dict[str, Any] = json.loads(output(old, environ, str(play), root).splitlines()[-1])
    assert (played["hands"], played["refused"], played["repeated"]) == (4, [], {}), source
    for tree in (old, CHECKOUT):
        output(tree, environ, "manage.py", "verify_house", played["house"])
