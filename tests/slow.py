"""Cases of a test of which `make test` runs some, and `make slow` the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def some_now(cases: Iterable[Any], every: int, *, ids: Callable[[Any], str] | None = None) -> list[Any]:
    """The cases for `parametrize`: each `every`-th one, from the first, runs at once; the others are slow."""
    return [_case(case, slow=at % every > 0, name=ids(case) if ids else None) for at, case in enumerate(cases)]


def _case(case: Any, *, slow: bool, name: str | None) -> Any:
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=[pytest.mark.slow] if slow else [], id=name)
