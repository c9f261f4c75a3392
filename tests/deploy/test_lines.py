"""Every process of an installation writes JSON where that is set, from its first line on, and no secret."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from deploy.embedded.process import wait_until
from deploy.processes import Processes, address, application, listen
from tests.services import TestServices

pytestmark = pytest.mark.slow


def lines(path: Path) -> list[dict[str, Any]]:
    """The lines of a process, without what Celery's signal handler prints when a worker is asked to stop."""
    found = path.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in found if line and not re.fullmatch(r"worker: \w+ shutdown .*", line)]


def test_a_hand_is_followed_from_its_request_to_its_settlement(
    services: TestServices, kit: Any, tmp_path: Path
) -> None:
    from tests.casino.kit import SAMPLE, Desk
    from tests.words import as_action

    kit.table()
    dealer = kit.seated()
    token = dealer.http.headers["Authorization"]
    # Before a worker has read its settings it warns of a user that is root.
    environ = dict(os.environ) | {"CASINO_LOG_FORMAT": "json", "PYTHONWARNINGS": "ignore"}
    with listen(0) as listener:
        programs = application(listener)
    with (
        listen(0) as listener,
        Processes(application(listener), environ=environ, log_dir=tmp_path) as processes,
        httpx.Client(base_url=address(listener), headers={"Authorization": token}, timeout=20) as http,
    ):
        processes.wait_ready(f"{address(listener)}/readyz")
        desk = Desk(http, dealer.path, dealer.version)
        desk.ok("hands", {"mode": "physical", "button": 4})
        desk.act(*SAMPLE[:12])
        body = {"actions": [as_action(line) for line in SAMPLE[12:]]}
        desk.ok("hand/actions", body, headers={"X-Request-Id": "the-last-act"})

        def settled() -> list[dict[str, Any]]:
            found = [line for name in ("worker", "worker-2") for line in lines(tmp_path / f"{name}.log")]
            return [line for line in found if line.get("request") == "the-last-act"]

        assert wait_until(lambda: len(settled()) > 0, seconds=30)
        assert all(line["task"] == "hands.resolve_hand" for line in settled())
        assert {line["house"] for line in settled() if "house" in line} <= {kit.house.code}
    logs = sorted(tmp_path.glob("*.log"))
    assert {path.stem for path in logs} == {one.name for one in programs}
    for path in logs:
        assert {"time", "level", "logger", "message"} <= set.intersection(*(set(line) for line in lines(path))), path
        assert token.partition(" ")[2] not in path.read_text(encoding="utf-8"), path
    [acted] = [line for line in lines(tmp_path / "web.log") if line.get("request") == "the-last-act"]
    assert (acted["operation"], acted["table"], acted["house"], acted["status"]) == (
        "act", "T1", kit.house.code, 200,
    )  # fmt: skip
