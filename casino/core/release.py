"""What a version promises to the release before it: `casino/release.toml`, in this tree or in another one.

An upgrade makes the new schema first and starts the processes one after the other: until the last one, processes of
the release before run on the schema of the new one. `make check` (`casino/reference/migrations.py`) and
`make compatibility` hold a tree to the promise; `/readyz` of an old process relies on it
(`casino/verification/newer.py`).
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from django.db.migrations.loader import MigrationLoader

from casino.configuration import BASE_DIR

#: Where the file is in a tree.
PLACE = Path("casino") / "release.toml"


class NoRelease(Exception):
    """A tree does not say what it promises, or not in this form."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """What a migration, `APP.NAME`, that is not ours does on purpose although `make check` refuses it with this code,
    and why it harms neither play nor the release before. Ours say so themselves."""

    migration: str
    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class Release:
    """The promise of a tree: it makes a schema on which the release `before` runs.

    `moved` says when that release was moved to what its code is now, as long as it has no tag; `migrations` is the
    newest migration of each of its apps.
    """

    before: str
    moved: str
    migrations: Mapping[str, str]
    allowed: tuple[Allowed, ...] = ()

    @property
    def tag(self) -> str:
        """The tag of the release before."""
        return f"v{self.before}"


def of(tree: Path = BASE_DIR) -> Release:
    """The promise of a tree. Raises NoRelease."""
    try:
        found: dict[str, Any] = tomllib.loads((tree / PLACE).read_text(encoding="utf-8"))
        allowed = tuple(Allowed(**each) for each in found.get("allowed", ()))
        return Release(str(found["before"]), str(found["moved"]), dict(found["migrations"]), allowed)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NoRelease(f"{tree / PLACE} cannot be read: {error}") from error


@cache
def own() -> Release:
    """The promise of this process's code, as it was when it was first asked for. Raises NoRelease."""
    return of()


@cache
def migrations() -> frozenset[tuple[str, str]]:
    """App and name of every migration that this process needs: those that its tree had when they were first asked for.

    Read once and before anything else comes into the tree: a process that goes on while a new version is laid in its
    place needs what it was started with, no more.
    """
    return frozenset(MigrationLoader(None).graph.nodes)


def missing(applied: Mapping[tuple[str, str], object]) -> list[str]:
    """The migrations that this process needs and the database does not have, `APP.NAME`. Others, of a newer release, do
    not matter here."""
    return sorted(f"{app}.{name}" for app, name in migrations() - applied.keys())
