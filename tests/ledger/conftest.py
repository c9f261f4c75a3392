"""Fixtures of the ledger's tests."""

import pytest

from tests.ledger.support import Shop, open_shop


@pytest.fixture
def shop(live_db: None) -> Shop:
    """A fresh book with a till, two deposits and a shelf of apples."""
    return open_shop()
