"""A state folder of the test's own, with the servers in it stopped afterwards."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy import embedded


@pytest.fixture
def var() -> Iterator[Path]:
    """A short, empty state folder; whatever runs in it is removed afterwards."""
    parent = Path(tempfile.mkdtemp(prefix="cukassza-d-", dir="/tmp"))
    yield parent / "var"
    embedded.remove(var=parent / "var")
    shutil.rmtree(parent)
