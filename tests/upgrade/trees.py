"""Trees of code: the release before, out of the repository, and a release after this one, which is made up."""

from __future__ import annotations

import re
import subprocess
import tarfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

import pytest

from casino.core import release
from deploy.processes import CHECKOUT

#: What a tree of code consists of; the environment is the present one's.
FOLDERS = ("casino", "deploy", "engine", "ledger", "tests")
#: Settings that the release before does not know, and refuses.
NEW_SETTINGS: tuple[str, ...] = ()
FILES = ("manage.py", "pyproject.toml", "requirements.lock")


def _git(*words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["git", "-C", str(CHECKOUT), *words], capture_output=True, check=False)


def before(folder: Path) -> str:
    """Lay the code of the release before into this folder; returns what it was taken from. Skips, with the reason,
    where there is no repository, or not enough of it."""
    if _git("rev-parse", "--git-dir").returncode:
        pytest.skip("no repository here: the code of the release before is nowhere")
    tag = release.of(CHECKOUT).tag
    tagged = _git("rev-parse", "--quiet", "--verify", f"refs/tags/{tag}^{{commit}}").returncode == 0
    found = tag if tagged else _last_moved()
    packed = _git("archive", found, *FOLDERS, *FILES)
    if packed.returncode:
        pytest.fail(packed.stderr.decode())
    with tarfile.open(fileobj=BytesIO(packed.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return found


def _last_moved() -> str:
    """The commit that last changed the promise."""
    place = str(release.PLACE)
    if _git("diff", "--quiet", "HEAD", "--", place).returncode:
        pytest.skip(f"{place} is changed and not committed: the release before is the code that will be")
    found = _git("log", "-1", "--format=%H", "--", place).stdout.decode().strip()
    ends = CHECKOUT / _git("rev-parse", "--git-path", "shallow").stdout.decode().strip()
    if ends.is_file() and found in ends.read_text().split():
        pytest.skip(f"this clone is shallow: the commit that last changed {place} is not in it")
    assert found, f"no commit has {place}"
    return found


def present(folder: Path) -> None:
    """Copy this tree, as it is now: what the repository knows of it, or would take in."""
    listed = _git("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *FOLDERS, *FILES)
    if listed.returncode:
        pytest.skip("no repository here: it says which files the tree consists of")
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (CHECKOUT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((CHECKOUT / name).read_bytes())


def environ(tree: Path, given: Mapping[str, str]) -> dict[str, str]:
    """What a process of a tree finds: this environment, and nothing of another tree's modules."""
    unknown = ("PYTHONPATH", "PYTEST_CURRENT_TEST", *NEW_SETTINGS)
    found = {name: value for name, value in given.items() if name not in unknown}
    return found | {"PWD": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}


def make_later(tree: Path, version: str) -> None:
    """Turn a tree into the release after it: another version, and a column of a table that is written to in every hand.

    As a release is made: migration, catalogue, and the promise to the release before.
    """
    file = tree / "casino" / "__init__.py"
    own = re.search(r'__version__ = "(.*)"', file.read_text())
    assert own is not None
    file.write_text(file.read_text().replace(own[0], f'__version__ = "{version}"'))
    (tree / "casino" / "tables" / "migrations" / "0002_table_noted.py").write_text(
        '"""A column of the next release."""\n\nfrom django.db import migrations, models\n\n\n'
        "class Migration(migrations.Migration):\n"
        '    dependencies = [("tables", "0001_initial")]\n'
        '    operations = [migrations.AddField("table", "noted", models.IntegerField(null=True))]\n'
    )
    promise = tree / release.PLACE
    text = promise.read_text()
    text = text.replace(f'before = "{release.of(tree).before}"', f'before = "{own[1]}"')
    promise.write_text(text.replace(release.of(tree).moved, "later"))
    declared = tree / "casino" / "verification" / "catalogue.txt"
    lines = declared.read_text().splitlines()
    [digits] = [line.split()[0] for line in lines if line.endswith(f"  column {NULLABLE}")]
    added = f"{digits}  column tables_table.noted"
    declared.write_text("".join(f"{line}\n" for line in sorted([*lines, added], key=lambda line: line[66:])))


#: A column of the same sort as the one that is added.
NULLABLE = "live_webhook.approval"
