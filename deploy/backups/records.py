"""What was backed up and what was drilled, as files in a folder: `/metrics` and `manage.py doctor` read them.

`backup.json` and `restore-drill.json`; times are seconds since 1970. They name no house's people and no money.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from deploy.backups.pgbackrest import Information

BACKUP, DRILL = "backup.json", "restore-drill.json"


def of_backups(information: Information) -> dict[str, Any]:
    """The last good backup of each repository."""
    newest = {repository: information.of(repository)[-1:] for repository in sorted(information.archived)}
    return {
        "repositories": {
            str(repository): {"good_at": found[0].ended, "label": found[0].label, "kind": found[0].kind}
            for repository, found in newest.items()
            if found
        }
    }


def of_drill(folder: Path, report: dict[str, Any], at: float) -> dict[str, Any]:
    """This drill, and when the last good one was: this one, or the one that the folder knows of."""
    good_at = at if report["ok"] else _read(folder / DRILL).get("good_at", 0.0)
    return {"good_at": good_at, "tried_at": at, **report}


def keep(folder: Path, name: str, record: dict[str, Any]) -> None:
    """Put a record in the place of the one before; nobody reads half of one. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor, half = tempfile.mkstemp(dir=folder, prefix=".")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(record, file, indent=1)
    half_file = Path(half)
    half_file.chmod(0o644)  # the application's user reads it
    half_file.replace(folder / name)


def _read(file: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return found
