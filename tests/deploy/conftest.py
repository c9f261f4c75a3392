"""A state folder of the test's own, with the servers in it stopped afterwards."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deploy import embedded


@pytest.fixture
def var() -> Iterator[Path]:
    """A short, empty state folder; whatever runs in it is removed afterwards."""
    parent = Path(tempfile.mkdtemp(prefix="cukassza-d-", dir="/tmp"))
    yield parent / "var"
    embedded.remove(var=parent / "var")
    shutil.rmtree(parent)


@pytest.fixture
def kit(whole_db: None) -> Iterator[Any]:
    """A house of the test's own, in an installation that is ready."""
    # Imported here: this file may be loaded before the root conftest has set Django up.
    from tests.casino.kit import Kit

    found = Kit.found()
    yield found
    found.close()
