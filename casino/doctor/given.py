"""The configuration file and the files of secrets: which are read, and who else may read or write them."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from casino import configuration
from casino.core.setting_sources import Setting, Sources
from casino.doctor.findings import Finding, Level, ok

PART = "settings"


def file() -> Iterator[Finding]:
    """The file that this process has read, and what of it counts for nothing."""
    there = configuration.given()
    if there.file is None:
        yield Finding(PART, Level.NOTE, "no_file", "No configuration file: all settings come from the environment.")
    else:
        yield from _file(there.file)
        yield from _overridden(there)
        yield from _private(there)
    yield from _secrets(there)


def _file(path: Path) -> Iterator[Finding]:
    found = path.stat()
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) or found.st_uid not in (0, os.geteuid()):
        yield Finding(
            PART, Level.FAILURE, "file_open", f"Others may write to {path}, which says what the house does.",
            f"chown root {path} && chmod go-w {path}",
        )  # fmt: skip
    else:
        yield ok(PART, f"settings come from {path}")


def _overridden(there: Sources) -> Iterator[Finding]:
    """Keys for which the environment has another value, or the same once more."""
    keys = [f"{one.key} ({found.where})" for one, found in there.overridden(configuration.declared())]
    if keys:
        words = f"Keys of {there.file} count for nothing here, as the environment has them: {', '.join(keys)}."
        yield Finding(PART, Level.NOTE, "overridden", words, "Take them out of one of the two.")


def _private(there: Sources) -> Iterator[Finding]:
    """What one process alone may know is not in the file of all."""
    keys = [one.key for one in configuration.declared() if one.private and there.of_file(one) is not None]
    if keys:
        words = f"{there.file} leads every process to what one alone may know: {', '.join(keys)}."
        remedy = "Give it to that process as a credential: docs/how-to/install-units.md."
        yield Finding(PART, Level.WARNING, "private_for_all", words, remedy)


def _secrets(there: Sources) -> Iterator[Finding]:
    """Files of secrets; a key that others may read is refused by who reads it, and is said under keys."""
    for one in configuration.declared():
        found = there.find(one) if one.secret and not one.kind.is_key else None
        if found is not None and found.path is not None:
            yield from _secret(one, found.path)


def _secret(one: Setting, path: Path) -> Iterator[Finding]:
    if path.stat().st_mode & (stat.S_IRWXO | stat.S_IWGRP):
        yield Finding(
            PART, Level.FAILURE, "secret_open", f"Others may open {path}, which holds {one.key}.",
            f"Make a new secret, and chmod 0400 {path}.",
        )  # fmt: skip
    else:
        yield ok(PART, f"{path} holds {one.key} for few")
