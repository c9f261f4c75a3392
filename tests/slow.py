"""Cases of a test of which `make test` runs some, and `make slow` the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def some_now(cases: Iterable[Any], every: int) -> list[Any]:
    """The cases for `parametrize`: each `every`-th one, from the first, runs at once; the others are slow."""
    return [case if at % every == 0 else _slow(case) for at, case in enumerate(cases)]


def _slow(case: Any) -> Any:
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=pytest.mark.slow)
