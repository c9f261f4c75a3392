"""Fixtures of the house's tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pytest_django import DjangoDbBlocker

    from tests.casino.core.test_statement_budget import Examined
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


@pytest.fixture(scope="session")
def played_evening(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Examined]:
    """The evening of the examples, whose answers were held against the schema and whose writes were counted. To play it
    takes a quarter of a minute: one will do for all that is asked of it."""
    from django.db import connections

    from casino.hands import deals
    from casino.metrics import status
    from casino.metrics.status import Condition, Part
    from tests.casino.core.test_statement_budget import Examined, know_everything
    from tests.casino.examples import Drawn, play

    with django_db_blocker.unblock():
        with pytest.MonkeyPatch.context() as patched:
            know_everything(patched)
            patched.setattr(deals, "secrets", Drawn)
            # Whether worker and beat run is not of the evening.
            patched.setattr(status, "parts", lambda house: [status.Found(part, Condition.IN_ORDER) for part in Part])
            kit = Examined.found(bare=True)
            assert isinstance(kit, Examined)
            play(kit)
        connections.close_all()
    yield kit
    kit.close()


@pytest.fixture
def whole_evening(played_evening: Examined, live_db: None) -> Examined:
    """The same, with database access for this test."""
    return played_evening


@pytest.fixture(scope="session")
def everything_done(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[tuple[Kit, dict[str, Any]]]:
    """A house in which everything was done once, and the answer to each step by its name. One will do for all tests
    that only read it."""
    from django.db import connections

    from tests.casino.busy import AFTERWARDS, STEPS, Busy
    from tests.casino.kit import Kit

    answers = {}
    with django_db_blocker.unblock():
        kit = Kit.found()
        busy = Busy(kit)
        for steps in (STEPS, AFTERWARDS):
            for name, step in steps.items():
                answers[name] = answer = step(busy)
                assert answer.is_success, f"{name}: {answer.text}"
            kit.settle()
        # However long the tests take that read it, none of its events waits for a checkpoint too long.
        kit.sequence()
        connections.close_all()
    yield kit, answers
    kit.close()


@pytest.fixture
def evening(everything_done: tuple[Kit, dict[str, Any]], live_db: None) -> Kit:
    """The house in which everything was done, with database access for this test. What is changed in it is put back."""
    return everything_done[0]
