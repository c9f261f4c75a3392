"""Fixtures of the proofs' tests."""

from tests.casino.conftest import kit

__all__ = ["kit"]
