"""Versions of the record format, and how a record of an older one becomes one of the next.

A migration is a pure function from the decoded object of its version to that of the next, ``v`` included; it
leaves its argument as it is. :func:`migrated` applies as many as it takes, so each function knows two versions
only and is never touched again. ``chr/1`` is the first version: nothing is older.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine.errors import MalformedRecord, UnknownVersion

VERSION = "chr/1"
"""The version that records are written in."""

Migration = Callable[[dict[str, Any]], dict[str, Any]]

MIGRATIONS: Mapping[str, Migration] = {}
"""Old version -> what makes the next one of it."""


def migrated(fields: dict[str, Any]) -> dict[str, Any]:
    """The object of a record in the current version.

    Raises :class:`MalformedRecord` without a version, :class:`UnknownVersion` for one that is newer or never was.
    What an old record holds is checked only once it is of the current version; a migration leaves alone what it
    does not know.
    """
    if "v" not in fields:
        raise MalformedRecord("key 'v' is missing", v=VERSION)
    while (version := fields["v"]) != VERSION:
        migrate = MIGRATIONS.get(version) if type(version) is str else None
        if migrate is None:
            readable = [*MIGRATIONS, VERSION]
            raise UnknownVersion(f"records are read in {', '.join(readable)}, not {version!r:.80}", v=readable)
        fields = migrate(fields)
    return fields
