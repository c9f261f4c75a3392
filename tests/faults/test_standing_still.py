"""Beat and the workers stopped under the real services: /readyz says which one stands still, and that it goes on."""

from __future__ import annotations

import os
import signal
import time

import httpx
import pytest
import redis

from deploy.embedded.process import wait_until
from tests.installation import Installation


def failed(root: str) -> set[str]:
    """The codes of the failed checks."""
    return {one["code"] for one in httpx.get(f"{root}/readyz", timeout=10).json().get("failed", ())}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "code"), [(["beat"], "beat_silent"), (["worker", "worker-2"], "worker_silent")], ids=["beat", "workers"]
)
def test_a_part_that_stands_still_is_named(installed: Installation, names: list[str], code: str) -> None:
    from casino.core.heartbeat import EVERY, SILENT

    with redis.Redis.from_url(os.environ["REDIS_URL"]) as broker:
        for key in broker.keys("*alive:*"):  # of another test
            broker.delete(key)
    processes, root = installed.up()
    before = [processes.restarts_of(name) for name in names]
    for name in names:
        processes.kill(name, signal.SIGSTOP)
    stopped = time.monotonic()
    try:
        assert wait_until(lambda: failed(root) == {code}, seconds=SILENT + 15)
        assert time.monotonic() - stopped >= SILENT - 2 * EVERY
        assert httpx.get(f"{root}/healthz").status_code == 200
    finally:
        for name in names:
            processes.kill(name, signal.SIGCONT)
    assert wait_until(lambda: not failed(root), seconds=SILENT)
    assert [processes.restarts_of(name) for name in names] == before
