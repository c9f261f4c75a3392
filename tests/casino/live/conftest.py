"""Web and hints for the tests of this folder, and a receiver of webhooks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.casino.live.receiver import Receiving, receiver, write
from tests.deploy.web_and_hints import Running, running
from tests.services import TestServices

if TYPE_CHECKING:
    from tests.casino.kit import Kit


@pytest.fixture(scope="module")
def up(services: TestServices, django_db_setup: None) -> Iterator[Running]:
    """Both, with no broker: nothing here speaks to it."""
    with running(REDIS_URL="redis://127.0.0.1:1/0", CELERY_BROKER_URL="redis://127.0.0.1:1/0") as found:
        yield found


@pytest.fixture
def scanner(kit: Kit, settings: Any, tmp_path: Path) -> Iterator[Receiving]:
    """A receiver that the operator has set up as `scanner`, for a house with two tables."""
    kit.table()
    kit.table("T2")
    with receiver() as receiving:
        settings.CASINO_DESTINATIONS = write(tmp_path, receiving)
        yield receiving
    from casino.houses.models import ClockTimestamp
    from casino.live.models import Webhook

    # Other tests share the database, and nobody receives any more.
    Webhook.objects.filter(house=kit.house, ended_at=None).update(ended_at=ClockTimestamp())
