"""An installation whose processes are given one file and their credentials, and no variable. Every process writes JSON,
as the file says, from its first line on, and no secret."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from deploy.embedded.process import wait_until
from deploy.processes import CHECKOUT, Processes, address, application, listen
from tests.services import TestServices

#: The files of secrets by the variable that has the secret, those of all processes and those of one.
SHARED = {
    "DATABASE_URL": "database_url", "REDIS_URL": "redis_url", "CELERY_BROKER_URL": "celery_broker_url",
    "CASINO_SECRET_KEY": "secret_key",
}  # fmt: skip
PRIVATE = {"DATABASE_SEQUENCER_URL": "database_sequencer_url", "DATABASE_OWNER_URL": "database_owner_url"}


def configured(folder: Path) -> tuple[dict[str, str], Path]:
    """A file with what the tests' environment has; returns an environment that has the file alone, and the folder of
    credentials."""
    secrets, credentials = folder / "secrets", folder / "credentials"
    for place, names in ((secrets, SHARED), (credentials, PRIVATE)):
        place.mkdir()
        for variable, name in names.items():
            (place / name).write_text(f"{os.environ[variable]}\n")
            (place / name).chmod(0o400)
    (credentials / "log_key").write_bytes(Path(os.environ["CASINO_LOG_KEY"].removeprefix("file:")).read_bytes())
    (credentials / "log_key").chmod(0o400)
    file = folder / "cukassza.toml"
    file.write_text(f"""
        [database]
        url_file = "{secrets}/database_url"
        [broker]
        url_file = "{secrets}/redis_url"
        celery_url_file = "{secrets}/celery_broker_url"
        [keys]
        secret_key_file = "{secrets}/secret_key"
        seal_key = "{os.environ["CASINO_SEAL_KEY"]}"
        [checkpoints]
        folders = {json.dumps(os.environ["CASINO_CHECKPOINT_DIR"].split(os.pathsep))}
        [web]
        allowed_hosts = ["house.example"]
        proxy = "127.0.0.1"
        [logging]
        format = "json"
        [metrics]
        from = ["203.0.113.9"]
    """)
    return {"PATH": os.environ["PATH"], "CASINO_CONFIG": str(file)}, credentials


def lines(path: Path) -> list[dict[str, Any]]:
    """The lines of a process, without what Celery's signal handler prints when a worker is asked to stop."""
    found = path.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in found if line and not re.fullmatch(r"worker: \w+ shutdown .*", line)]


def settled(logs: Path) -> list[dict[str, Any]]:
    """What the workers say of the task that the last act has led to."""
    found = [line for name in ("worker", "worker-2") for line in lines(logs / f"{name}.log")]
    return [line for line in found if line.get("request") == "the-last-act"]


@pytest.mark.slow
def test_a_house_is_run_of_the_file_alone(services: TestServices, kit: Any, tmp_path: Path) -> None:
    from tests.casino.kit import SAMPLE, Desk
    from tests.words import as_action

    kit.table()
    dealer = kit.seated()
    token = dealer.http.headers["Authorization"]
    environ, credentials = configured(tmp_path)
    # Before a worker has read its settings it warns of a user that is root.
    environ["PYTHONWARNINGS"] = "ignore"
    logs = tmp_path / "log"
    secret = {"CREDENTIALS_DIRECTORY": str(credentials)}
    with listen(0) as listener:
        programs = [
            dataclasses.replace(one, environ=secret) if one.name == "sequencer" else one
            for one in application(listener)
        ]
        headers = {"Authorization": token, "Host": "house.example"}
        with (
            Processes(programs, environ=environ, log_dir=logs) as processes,
            httpx.Client(base_url=address(listener), headers=headers, timeout=20) as http,
        ):
            assert wait_until(lambda: ready(http) or bool(processes.restarts_of("web")), seconds=90)
            assert ready(http), (logs / "web.log").read_text()
            desk = Desk(http, dealer.path, dealer.version)
            desk.ok("hands", {"mode": "physical", "button": 4})
            desk.act(*SAMPLE[:12])
            body = {"actions": [as_action(line) for line in SAMPLE[12:]]}
            desk.ok("hand/actions", body, headers={"X-Request-Id": "the-last-act"})
            assert wait_until(lambda: open_messages() == 0, seconds=30), "the hand was not settled"
            assert wait_until(lambda: len(settled(logs)) > 0, seconds=30)
            assert all(line["task"] == "hands.resolve_hand" for line in settled(logs))
            assert {line["house"] for line in settled(logs) if "house" in line} <= {kit.house.code}
            # The proxy's word on a client's address counts, and no other host is answered.
            assert http.get("/metrics", headers={"X-Forwarded-For": "203.0.113.9"}).status_code == 200
            assert http.get("/metrics").status_code == 403
            assert http.get("/api/v1/tables/T1", headers={"Host": "other.example"}).status_code == 400
            assert [processes.restarts_of(one.name) for one in programs] == [0] * len(programs)
    written = sorted(logs.glob("*.log"))
    assert {path.stem for path in written} == {one.name for one in programs}
    for path in written:
        assert {"time", "level", "logger", "message"} <= set.intersection(*(set(line) for line in lines(path))), path
        assert token.partition(" ")[2] not in path.read_text(encoding="utf-8"), path
    [acted] = [line for line in lines(logs / "web.log") if line.get("request") == "the-last-act"]
    assert (acted["operation"], acted["table"], acted["house"], acted["status"]) == (
        "act", "T1", kit.house.code, 200,
    )  # fmt: skip


def open_messages() -> int:
    """Messages of the outbox that no worker has worked off."""
    from casino.houses.models import OutboxMessage

    return OutboxMessage.objects.filter(done_at=None, house__code__startswith="H").count()


def ready(http: httpx.Client) -> bool:
    """Whether every part runs."""
    try:
        return http.get("/readyz").status_code == 200
    except httpx.TransportError:
        return False


@pytest.mark.parametrize(
    "command", [["migrate", "--database", "owner", "--check"], ["verify_house", "CODE"], ["doctor"]]
)
def test_commands_read_it_too(services: TestServices, kit: Any, tmp_path: Path, command: list[str]) -> None:
    environ, credentials = configured(tmp_path)
    environ["CREDENTIALS_DIRECTORY"] = str(credentials)
    done = subprocess.run(
        [sys.executable, "manage.py", *(kit.house.code if word == "CODE" else word for word in command)],
        cwd=CHECKOUT,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    if command == ["doctor"]:
        assert f"settings come from {tmp_path / 'cukassza.toml'}" in done.stdout, done.stderr
        assert "the log key signs" in done.stdout and "[overridden]" not in done.stdout
    else:
        assert done.returncode == 0, done.stderr + done.stdout
