"""Fixtures of the house's tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.casino.kit import Kit


@pytest.fixture
def all_running(monkeypatch: pytest.MonkeyPatch) -> None:
    """For /readyz worker and beat run, and what other tests have left in the outbox does not count."""
    from casino.api import health
    from casino.core import heartbeat

    for part in heartbeat.Part:
        heartbeat.live(part)
    for worker in heartbeat.silent_workers():
        heartbeat.left(worker)
    monkeypatch.setattr(health, "STANDS_STILL", 1e9)


@pytest.fixture
def strict(live_db: None) -> Iterator[Kit]:
    """A house that asks for second factors."""
    from tests.casino.kit import Kit

    found = Kit.found(second_factor_required=True)
    yield found
    found.close()


@pytest.fixture
def kit(live_db: None) -> Iterator[Kit]:
    """A house of the test's own."""
    # Imported here: this file may be loaded before the root conftest has set Django up.
    from axes.models import AccessAttempt

    from casino.staff.limits import SEAT_KEY
    from tests.casino.kit import Kit

    found = Kit.found()
    yield found
    found.close()
    # Wrong keys of seats count by address, and all tests have the same one.
    AccessAttempt.objects.filter(username=SEAT_KEY).delete()
