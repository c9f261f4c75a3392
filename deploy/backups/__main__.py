"""`python -m deploy.backups back-up` makes the backup that is due in every repository; `drill` restores the newest one
into a cluster of its own and verifies it; `show` says what there is.

Exit code 0 if all is well, 1 if a drill found that a backup cannot be relied on, 2 for what cannot be done.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from types import FrameType

from django.core.exceptions import ImproperlyConfigured

from casino import configuration
from deploy.backups import records
from deploy.backups.drill import MOST_LOST, Drill
from deploy.backups.pgbackrest import BackupError, Information, PgBackRest, due
from deploy.embedded.account import choose_account
from deploy.embedded.errors import EmbeddedError

PROBLEM, UNUSABLE = 1, 2
CONFIGURATION = Path("/etc/pgbackrest")
STANZA = "cukassza"


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        options = _parser().parse_args(arguments)
        pgbackrest = _pgbackrest(options)
        if options.command == "back-up":
            return back_up(pgbackrest, options.type, options.records)
        if options.command == "drill":
            return drill(pgbackrest, options)
        show(pgbackrest.information())
    except (BackupError, EmbeddedError, ImproperlyConfigured, OSError) as error:
        code = "settings_refused" if isinstance(error, ImproperlyConfigured) else getattr(error, "code", "system_error")
        print(f"backups: {error} [{code}]", file=sys.stderr)
        return UNUSABLE
    except KeyboardInterrupt:
        return UNUSABLE
    return 0


def back_up(pgbackrest: PgBackRest, kind: str, folder: Path | None) -> int:
    """Make a backup in every repository, also where one of them has failed. Raises BackupError for the first that
    did."""
    failed = None
    for repository in pgbackrest.repositories():
        wanted = kind if kind != "due" else due(pgbackrest.information().of(repository), time.time())
        began = time.monotonic()
        try:
            pgbackrest.back_up(wanted, repository)
            print(f"repository {repository}: {wanted}, {time.monotonic() - began:.1f} s", flush=True)
        except BackupError as error:
            print(f"backups: repository {repository}: {error}", file=sys.stderr)
            failed = failed or error
    if folder is not None:
        records.keep(folder, records.BACKUP, records.of_backups(pgbackrest.information()))
    if failed is not None:
        raise failed
    return 0


def drill(pgbackrest: PgBackRest, options: argparse.Namespace) -> int:
    """Drill; the report is printed and recorded, also where a backup could not even be tried."""
    environ = configuration.as_environ(os.environ)
    if "DATABASE_URL" not in environ:
        raise BackupError("DATABASE_URL is not set: run this with the settings of the application's processes")
    folder = Path(tempfile.mkdtemp(prefix="restore-drill-", dir=options.folder))
    try:
        programs = options.programs or Path(f"/usr/lib/postgresql/{pgbackrest.information().version}/bin")
        if not (programs / "pg_ctl").is_file():
            raise BackupError(f"{programs} has no pg_ctl of the version that was backed up: name it with --programs")
        report = Drill(pgbackrest, programs, folder, environ, options.most_lost).run()
        found = report.as_json()
    except BackupError as error:
        _record(options.records, {"ok": False, "problems": [f"{error} [{error.code}]"]})
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    _record(options.records, found)
    print(*([json.dumps(found, indent=1)] if options.json else report.lines()), sep="\n")
    return 0 if report.ok else PROBLEM


def show(information: Information) -> None:
    """Every backup, and how far WAL is archived."""
    for one in information.backups:
        ended = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(one.ended))
        print(f"repository {one.repository}: {one.kind:4} {one.label}, ended {ended} UTC")
    for repository, name in sorted(information.archived.items()):
        print(f"repository {repository}: WAL is archived up to {name or 'nothing'}")


def _record(folder: Path | None, found: dict[str, object]) -> None:
    if folder is not None:
        records.keep(folder, records.DRILL, records.of_drill(folder, found, time.time()))


def _pgbackrest(options: argparse.Namespace) -> PgBackRest:
    program = options.pgbackrest or shutil.which("pgbackrest")
    if program is None:
        raise BackupError("pgbackrest is not installed")
    account = choose_account(nobody_before=False)
    if account.uid is not None:
        raise BackupError("PostgreSQL refuses root, who may not enter a user namespace here: run this as another user")
    return PgBackRest(Path(program), options.configuration, options.stanza, account)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m deploy.backups", description=__doc__)
    parser.add_argument("--configuration", type=Path, default=CONFIGURATION, help="the folder of pgbackrest.conf")
    parser.add_argument("--stanza", default=STANZA)
    parser.add_argument("--pgbackrest", type=Path, help="the program, where it is not on PATH")
    known = configuration.read_one("backup_records", os.environ)
    parser.add_argument(
        "--records", type=Path, default=Path(known) if known else None,
        help="the folder of records for /metrics and doctor (default: CASINO_BACKUP_RECORDS)",
    )  # fmt: skip
    commands = parser.add_subparsers(dest="command", required=True)
    made = commands.add_parser("back-up", help="make a backup in every repository")
    made.add_argument("--type", choices=["due", "full", "diff", "incr"], default="due")
    tried = commands.add_parser("drill", help="restore the newest backup into a cluster of its own and verify it")
    tried.add_argument(
        "--folder", type=Path, help="where there is room for the database (default: the temporary folder)"
    )
    tried.add_argument("--programs", type=Path, help="the folder with postgres and pg_ctl of the version backed up")
    tried.add_argument("--most-lost", type=float, default=MOST_LOST, help="seconds that may be cut off (%(default)s)")
    tried.add_argument("--json", action="store_true", help="the report as JSON")
    commands.add_parser("show", help="say what there is")
    return parser


def _interrupt(number: int, frame: FrameType | None) -> None:
    """SIGTERM ends us as Ctrl-C does: the cluster of a drill is stopped."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
