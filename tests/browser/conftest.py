"""A real house in real processes, and a Chromium that lets nothing pass: no error of a script, no breach of the policy,
no request to anywhere else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.services import TestServices

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.browser.screens import Screens
    from tests.casino.kit import Kit
    from tests.deploy.web_and_hints import Running


@pytest.fixture(scope="session", autouse=True)
def _beside_a_loop() -> None:
    # Playwright's loop runs in this thread, beside it and not around it; Django cannot know.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"


@pytest.fixture(scope="module")
def up(services: TestServices, django_db_setup: None) -> Iterator[Running]:
    """Web and hints, with no broker: the tests settle as the worker settles."""
    from tests.deploy.web_and_hints import running

    with running(REDIS_URL="redis://127.0.0.1:1/0", CELERY_BROKER_URL="redis://127.0.0.1:1/0") as found:
        yield found


@pytest.fixture
def kit(live_db: None) -> Iterator[Kit]:
    """A house of the test's own."""
    from tests.casino.kit import Kit

    found = Kit.found()
    yield found
    found.close()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The browser."""
    from playwright.sync_api import sync_playwright

    from tests.browser import chromium as program

    found = program.found()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(found.program), args=["--no-sandbox"] if os.geteuid() == 0 else [],
            env={**os.environ, **found.environ},
        )  # fmt: skip
        yield browser
        browser.close()


@pytest.fixture
def screens(up: Running, kit: Kit, chromium: Browser) -> Iterator[Screens]:
    """Signed-in pages of the house; whatever they complained of fails the test."""
    from tests.browser.screens import Screens

    found = Screens(up.root, kit, chromium)
    yield found
    found.close()
    assert found.complaints == []
