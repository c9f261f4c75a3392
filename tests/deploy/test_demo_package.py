"""What the demo says of the day's package: which equalities held, and which files are not what the manifest says."""

import hashlib
import json
import zipfile
from pathlib import Path

from deploy.demo import package

HELD = {"equality": "in = out", "one": 7, "other": 7, "holds": True}
BROKEN = {"equality": "here = there", "one": 1_000, "other": 999, "holds": False}


def packed(path: Path, *equalities: dict[str, object], content: bytes = b"as it was made") -> Path:
    """A package of one report and one file, whose bytes are `content` whatever the manifest says."""
    manifest = {
        "files": [{"name": "reports/a.csv", "sha256": hashlib.sha256(b"as it was made").hexdigest()}],
        "verified": True,
        "equalities": [HELD],
        "reports": [{"number": "A0", "title": "Trial", "equalities": list(equalities)}],
        "broken": [one["equality"] for one in equalities if not one["holds"]],
    }
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("reports/a.csv", content)
        archive.writestr(package.MANIFEST, json.dumps(manifest))
    return path


def test_what_held_is_said_by_report(tmp_path: Path) -> None:
    good = package.read(packed(tmp_path / "good.zip", HELD, HELD))
    assert good.ok and good.lines()[1:] == ["  yes the day: 1 of 1", "  yes A0 Trial: 2 of 2"]
    bad = package.read(packed(tmp_path / "bad.zip", HELD, BROKEN))
    assert not bad.ok and bad.lines()[2:] == ["  NO  A0 Trial: 1 of 2", "      here = there: 1,000 <> 999"]


def test_a_file_that_was_altered_is_named(tmp_path: Path) -> None:
    found = package.read(packed(tmp_path / "altered.zip", HELD, content=b"as it is now"))
    assert not found.ok and found.lines()[-1] == "  NO  reports/a.csv is not what the manifest says"
