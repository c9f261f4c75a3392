"""`verify.pyz`: the same bytes from everywhere, written beside an export, run by itself."""

import hashlib
import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from casino.audit import zipapp
from tests.proof.model import World

CHECKOUT = Path(__file__).parents[3]


def built_elsewhere(folder: Path, umask: int, **environment: str) -> bytes:
    """The archive as another process builds it."""
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "casino.audit.zipapp", str(folder / "verify.pyz")],
        cwd=CHECKOUT, env={**os.environ, **environment}, umask=umask, capture_output=True, text=True, check=True,
    )  # fmt: skip
    raw = (folder / "verify.pyz").read_bytes()
    assert done.stdout.split() == [hashlib.sha256(raw).hexdigest(), str(folder / "verify.pyz")]
    return raw


def test_the_same_sources_give_the_same_bytes(tmp_path: Path) -> None:
    one = built_elsewhere(tmp_path / "one", 0o022, TZ="UTC", PYTHONHASHSEED="1", LC_ALL="C")
    other = built_elsewhere(
        tmp_path / "other", 0o077, TZ="Pacific/Kiritimati", PYTHONHASHSEED="2", SOURCE_DATE_EPOCH="1700000000"
    )
    assert one == other == zipapp.built()


def test_the_bytes_of_an_archive_do_not_depend_on_the_version_of_python() -> None:
    """Of fixed sources; a version of Python that writes zip archives in another way fails here."""
    raw = zipapp.packed({"b.py": b"print(2)\n", "a/__init__.py": b"", "__main__.py": b"print(1)\n"})
    assert hashlib.sha256(raw).hexdigest() == "9d4875dca0db31b295a60539c73228dcc09d4f88c15b57aa616879bb242ee299"
    assert raw == zipapp.packed({"__main__.py": b"print(1)\n", "a/__init__.py": b"", "b.py": b"print(2)\n"})


def test_an_archive_holds_the_sources_and_nothing_else() -> None:
    with zipfile.ZipFile(io.BytesIO(zipapp.built())) as files:
        entries = files.infolist()
    sources = sorted(f"verifier/{path.name}" for path in (CHECKOUT / "casino/audit/verifier").glob("*.py"))
    assert [entry.filename for entry in entries] == ["__main__.py", *sources]
    assert {(entry.date_time, entry.external_attr, entry.compress_type) for entry in entries} == {
        ((1980, 1, 1, 0, 0, 0), 0o100644 << 16, zipfile.ZIP_STORED)
    }


def test_it_is_written_beside_a_folder_and_never_over_another_copy(tmp_path: Path) -> None:
    beside = tmp_path / "verify.pyz"
    assert zipapp.write_beside(tmp_path / "export") == (beside, True)
    assert beside.read_bytes() == zipapp.built()
    assert zipapp.write_beside(tmp_path / "another") == (beside, True)
    beside.write_bytes(b"the copy that an auditor trusts")
    assert zipapp.write_beside(tmp_path / "third") == (beside, False)
    assert beside.read_bytes() == b"the copy that an auditor trusts"
    assert [path.name for path in tmp_path.iterdir()] == ["verify.pyz"]


@pytest.mark.parametrize("name", ["secrets.py", "hashlib.py", "json.py", "verifier.py"])
def test_no_file_that_lies_around_is_executed(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    for place in (tmp_path, folder):
        (place / name).write_text('raise SystemExit("executed")\n')
    zipapp.write_beside(folder)
    for where in (tmp_path, folder):
        done = subprocess.run(
            [sys.executable, "-I", str(tmp_path / "verify.pyz"), str(folder)],
            cwd=where, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stdout) == (2, "")
        assert "manifest.json" in done.stderr, "it looked for an export, and there is none"


def test_a_reader_that_goes_away_leaves_no_traceback(tmp_path: Path) -> None:
    program, _ = zipapp.write_beside(tmp_path / "export")
    World().evening(hands=2).write(tmp_path / "export")
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-I", str(program), str(tmp_path / "export")],
        stdout=writing, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    os.close(writing)
    assert (done.returncode, done.stderr) == (2, "")
