"""What lies outside the database: folders of checkpoints, witnesses, the time-stamp authority, destinations."""

import os
import shutil
import stat
import urllib.error
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError

from casino.audit import archives, guard, outside, timestamping, witnessing
from casino.audit.models import Archive
from casino.core import outward
from casino.core.errors import LogRefused
from casino.doctor.findings import Finding, Level, ok
from casino.doctor.houses import looked_at
from casino.live import receivers
from casino.reports import destinations

PART = "outside"
#: Bytes that a folder of checkpoints has free at the least: those of a year of a busy house.
LEAST_FREE = 1 << 30
PATIENCE = 5.0


def folders() -> Iterator[Finding]:
    """Folders of checkpoints: there, nobody else's to write, with room, and not all on one disk."""
    found = outside.folders()
    for folder in found:
        yield from _folder(folder)
    there = [folder for folder in found if folder.is_dir()]
    if len({folder.stat().st_dev for folder in there}) < 2:
        yield Finding(
            PART, Level.WARNING, "one_disk", "All folders of checkpoints are on one disk of this machine.",
            "Add a folder on another machine to CASINO_CHECKPOINT_DIR: who can write to all can roll the log back.",
        )  # fmt: skip


def _folder(folder: Path) -> Iterator[Finding]:
    if not folder.is_dir():
        yield _failure("folder_missing", f"{folder} is no folder.", "Create it, or mend CASINO_CHECKPOINT_DIR.")
        return
    if not os.access(folder, os.R_OK | os.X_OK):
        yield _failure("folder_unreadable", f"{folder} cannot be read by this user.", "Give this user the right to.")
        return
    if settings.CASINO_LOG_KEY and not os.access(folder, os.W_OK):
        yield _failure("folder_not_writable", f"The sequencer cannot write to {folder}.", "Give its user the right to.")
    if folder.stat().st_mode & stat.S_IWOTH:
        yield _failure("folder_open", f"Everybody on this machine may write to {folder}.", f"chmod o-w {folder}")
    free = shutil.disk_usage(folder).free
    if free < LEAST_FREE:
        yield Finding(
            PART, Level.WARNING, "folder_full", f"{folder} has {free / 2**20:.0f} MiB left.", "Make room on its disk."
        )
    yield ok(PART, f"{folder} keeps checkpoints")


def logs(house: str | None) -> Iterator[Finding]:
    """The log of this house, or of each, fits what was kept outside."""
    try:
        for one in looked_at(house):
            try:
                guard.examine(one)
            except LogRefused as error:
                yield _failure(error.code, f"House {one.code}: {error.detail}", "See docs/how-to/restore.md.")
            else:
                yield ok(PART, f"the log of house {one.code} fits its checkpoints")
    except DatabaseError as error:
        yield _failure("database_unreachable", f"The houses cannot be read: {error}", "Mend the database first.")


def archived(house: str | None) -> Iterator[Finding]:
    """Every archive of this house, or of all, has copies: two at least where texts of its events lie nowhere else."""
    try:
        codes = {one.id: one.code for one in looked_at(house)}
        there = [folder.stat().st_dev for folder in archives.folders() if folder.is_dir()]
        if len(there) > len({*there}):
            yield Finding(
                PART, Level.WARNING, "one_disk", "Folders of archives are on one disk of this machine.",
                "Name folders in CASINO_ARCHIVE_DIR that do not fail together: docs/how-to/archive.md.",
            )  # fmt: skip
        for archive in Archive.objects.filter(house__in=codes).select_related("house").order_by("house", "number"):
            name, found = f"archive {archive.number} of {codes[archive.house_id]}", len(archives.copies(archive))
            if archive.is_put_away and not found:
                yield _failure("archive_unreadable", f"No folder has {name}.", "Bring a copy of it back at once.")
            elif found < archives.LEAST_COPIES:
                yield Finding(
                    PART, Level.WARNING, "archive_copies", f"{found} folders have {name}.",
                    "Have two copies of each, in folders of CASINO_ARCHIVE_DIR: docs/how-to/archive.md.",
                )  # fmt: skip
            else:
                yield ok(PART, f"{name} has {found} copies")
    except DatabaseError as error:
        yield _failure("database_unreachable", f"The archives cannot be read: {error}", "Mend the database first.")


def witnesses() -> Iterator[Finding]:
    """Witnesses are named, and answer."""
    try:
        configured = witnessing.configured()
    except ImproperlyConfigured as error:
        yield _failure("witness_wrong", str(error), "Write it as `python -m deploy.witness` prints it.")
        return
    if not configured:
        yield Finding(
            PART, Level.WARNING, "no_witness", "No witness cosigns the checkpoints.",
            "Have somebody outside the house run one: docs/how-to/run-a-witness.md.",
        )  # fmt: skip
    for one in configured:
        words = _silent(one.url)
        if words:
            yield Finding(
                PART, Level.WARNING, "witness_silent", f"The witness {one.url} does not answer: {words}.",
                "Tell who runs it; play goes on without.",
            )  # fmt: skip
        else:
            yield ok(PART, f"the witness {one.url} answers")


def authority() -> Iterator[Finding]:
    """The time-stamp authority's certificates can be read, and it can be reached."""
    if not settings.CASINO_TIMESTAMP_URL:
        yield Finding(PART, Level.NOTE, "no_authority", "No time-stamp authority stamps the checkpoints.")
        return
    try:
        url = timestamping.configured().url
    except (ImproperlyConfigured, OSError, ValueError) as error:
        yield _failure("authority_wrong", str(error), "Mend CASINO_TIMESTAMP_URL and CASINO_TIMESTAMP_CERTIFICATES.")
        return
    if words := _silent(url):
        yield Finding(PART, Level.WARNING, "authority_silent", f"{url} does not answer: {words}.", "Ask who runs it.")
    else:
        yield ok(PART, f"the authority {url} answers")


def files(house: str | None) -> Iterator[Finding]:
    """Destinations of this house's files of reports and hints, or of all houses', are well written; folders are
    there."""
    if not settings.CASINO_DESTINATIONS:
        yield Finding(PART, Level.NOTE, "no_destinations", "No destinations: schedules can send nothing.")
        return
    try:
        codes = [one.code for one in looked_at(house)]
        named = {name: destinations.named(code, name) for code in codes for name in destinations.names(code)}
        webhooks = {name: receivers.named(code, name) for code in codes for name in receivers.names(code)}
    except (ImproperlyConfigured, DatabaseError) as error:
        yield _failure("destination_wrong", str(error), "See docs/how-to/send-reports.md and receive-webhooks.md.")
        return
    for name, one in named.items():
        if isinstance(one, destinations.Folder) and not os.access(one.path, os.W_OK | os.X_OK):
            yield _failure("destination_missing", f"{name}: {one.path} cannot be written.", "Create it for the worker.")
        else:
            yield ok(PART, f"files can be sent to {name}")
    for name in webhooks:
        yield ok(PART, f"the webhook {name} is well written")


def _silent(url: str) -> str:
    """Why nothing answers there; empty if something does, whatever it says."""
    try:
        with outward.sent(url, PATIENCE):
            return ""
    except urllib.error.HTTPError as error:
        error.close()
        return ""
    except OSError as error:
        return str(error)


def _failure(code: str, words: str, remedy: str) -> Finding:
    return Finding(PART, Level.FAILURE, code, words, remedy)
