"""Web and hints for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.deploy.web_and_hints import Running, running
from tests.services import TestServices


@pytest.fixture(scope="module")
def up(services: TestServices, django_db_setup: None) -> Iterator[Running]:
    """Both, with no broker: nothing here speaks to it."""
    with running(REDIS_URL="redis://127.0.0.1:1/0", CELERY_BROKER_URL="redis://127.0.0.1:1/0") as found:
        yield found
