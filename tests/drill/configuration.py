"""The files of deploy/pgbackrest for servers on one machine: other places and the passes, everything else as it is."""

from __future__ import annotations

import re
import secrets
from pathlib import Path

from deploy.processes import CHECKOUT

FOLDER = CHECKOUT / "deploy" / "pgbackrest"
PGBACKREST, SECRETS, POSTGRESQL = (FOLDER / f"{name}.conf" for name in ("pgbackrest", "secrets", "postgresql"))


def replaced(text: str, replacements: dict[str, str]) -> str:
    """The text with each line that begins so replaced by another. Raises AssertionError where there is none."""
    for old, new in replacements.items():
        text, count = re.subn(rf"(?m)^{re.escape(old)}.*\n", new and f"{new}\n", text)
        assert count == 1, f"{old} is on {count} lines"
    return text


def pgbackrest(folder: Path, *, repositories: Path, data: Path, socket: Path, port: int, passes: list[str]) -> Path:
    """Make a folder of configuration; the object store is another folder."""
    own = {one: folder / one for one in ("spool", "log", "lock")}
    for path in (folder / "conf.d", repositories, *own.values()):
        path.mkdir(parents=True, exist_ok=True)
    text = replaced(PGBACKREST.read_text(encoding="utf-8"), {
        "repo1-path=": f"repo1-path={repositories / 'near'}",
        "repo2-type=": "repo2-type=posix",
        "repo2-path=": f"repo2-path={repositories / 'away'}",
        "repo2-s3-bucket=": "", "repo2-s3-endpoint=": "", "repo2-s3-region=": "",
        "spool-path=": f"spool-path={own['spool']}",
        "lock-path=": f"lock-path={own['lock']}",
        "log-path=": f"log-path={own['log']}",
        "pg1-path=": f"pg1-path={data}",
        "pg1-socket-path=": f"pg1-socket-path={socket}",
        "pg1-port=": f"pg1-port={port}",
    })  # fmt: skip
    (folder / "pgbackrest.conf").write_text(text, encoding="utf-8")
    kept = replaced(SECRETS.read_text(encoding="utf-8"), {
        "repo1-cipher-pass=": f"repo1-cipher-pass={passes[0]}", "repo2-cipher-pass=": f"repo2-cipher-pass={passes[1]}",
        "repo2-s3-key=": "", "repo2-s3-key-secret=": "",
    })  # fmt: skip
    (folder / "conf.d" / "secrets.conf").write_text(kept, encoding="utf-8")
    return folder


def postgresql(program: Path, configuration: Path) -> dict[str, str]:
    """PostgreSQL's settings, with the program and the configuration of a trial."""
    text = POSTGRESQL.read_text(encoding="utf-8")
    found = {name: value.strip("'") for name, value in re.findall(r"(?m)^(\w+) = (.+)$", text)}
    assert found["archive_command"].startswith("pgbackrest --stanza=")
    known = f"{program} --config-path={configuration} --stanza="
    return found | {"archive_command": found["archive_command"].replace("pgbackrest --stanza=", known)}


def new_pass() -> str:
    """A pass for a repository."""
    return secrets.token_urlsafe(48)
