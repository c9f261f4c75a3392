"""Workers of which the broker cuts every connection at once, as one that is failed over does: they go on."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from deploy.embedded.process import wait_until
from deploy.processes import Processes, application, listen
from tests.brokers import BrokersUser
from tests.services import TestServices


@pytest.mark.slow
def test_a_worker_goes_on_when_its_connections_are_cut(
    services: TestServices, django_db_setup: None, tmp_path: Path
) -> None:
    """Of a broker with a password, which subscriptions come back to before queues do."""
    user = BrokersUser(os.environ["REDIS_URL"])
    log = tmp_path / "worker.log"

    def worked() -> int:
        """Tasks that the worker has ended."""
        return log.read_text().count("succeeded in") if log.exists() else 0

    try:
        with listen(0) as listener:
            programs = [one for one in application(listener) if one.name in ("worker", "beat")]
            with Processes(programs, environ=dict(os.environ) | user.addresses(0), log_dir=tmp_path) as processes:
                assert wait_until(lambda: worked() > 2, seconds=60)
                for _ in range(3):
                    user.cut()
                    before = worked()
                    assert wait_until(lambda before=before: worked() > before + 3, seconds=40), log.read_text()[-2_000:]
                assert processes.restarts_of("worker") == 0
    finally:
        user.end()
