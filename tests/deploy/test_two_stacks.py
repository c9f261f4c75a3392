"""Two whole stacks behind one nginx, on one broker: a name leads to one of them, and nothing of one is in the other."""

from __future__ import annotations

import os
import ssl
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from socket import socket
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import httpx
import pytest

from deploy.demo.client import Refused, Terminal
from deploy.demo.logins import Login
from deploy.demo.seed import begin_house
from deploy.embedded.process import wait_until
from deploy.fleet import asking, stacks
from deploy.fleet.__main__ import main as fleet
from deploy.processes import CHECKOUT, Processes, Program, address, application, listen
from tests import debian, template
from tests.casino.metrics.reading import TOKEN, token_file
from tests.deploy import nginx
from tests.deploy.nginx import Nginx
from tests.services import TestServices, with_database

pytestmark = pytest.mark.slow

NAMES = ("ace", "bell")
DATABASES = ("DATABASE_URL", "DATABASE_OWNER_URL", "DATABASE_SEQUENCER_URL")
#: Reports that are made in each at once, each of them by a message on the broker.
REPORTS = 6


@dataclass(frozen=True)
class Begun:
    """A house as the operator's command leaves it, which nobody has set up: its code, and two of its founders."""

    house: str
    admin: Login
    auditor: Login


@dataclass(frozen=True)
class Running:
    """A stack that serves: its environment, its address, its house, and the folder of its processes' logs."""

    name: str
    environ: Mapping[str, str]
    root: str
    house: Begun
    logs: Path

    @property
    def host(self) -> str:
        return f"{self.name}.example"

    def said(self) -> str:
        """All that its processes have logged."""
        return "".join(path.read_text(encoding="utf-8", errors="replace") for path in self.logs.glob("*.log"))


@pytest.fixture(scope="module")
def two(
    services: TestServices, django_db_setup: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[Running]]:
    """Both stacks, each with a database, checkpoints and a house of its own; only the broker is shared."""
    folder = tmp_path_factory.mktemp("stacks")
    worker, process = services.database.rsplit("_", 1)
    databases = [f"{worker}{name}_{process}" for name in NAMES]
    with services.administrator() as connection, ExitStack() as running:
        for database in databases:
            template.create(connection, database, _no_template)
            running.callback(_drop, connection, database)
        up = [
            running.enter_context(_serving(name, database, folder / name))
            for name, database in zip(NAMES, databases, strict=True)
        ]
        founded = []
        for number, (environ, _) in enumerate(up):
            # Commands that are started find this, and nothing else.
            with patch.dict(os.environ, environ, clear=True):
                admin, *_, auditor = begin_house(after=100 * number)
            founded.append(Begun(admin.login.partition("@")[2], admin, auditor))
        yield [
            Running(name, environ, root, house, folder / name / "logs")
            for name, (environ, root), house in zip(NAMES, up, founded, strict=True)
        ]


def _no_template() -> None:
    raise AssertionError("the test's own database was made of a template")


def _drop(connection: Any, database: str) -> None:
    connection.execute(f'DROP DATABASE "{database}" WITH (FORCE)')


@contextmanager
def _serving(name: str, database: str, folder: Path) -> Iterator[tuple[dict[str, str], str]]:
    (folder / "logs").mkdir(parents=True)
    (folder / "checkpoints").mkdir()
    environ = dict(os.environ) | {
        **{key: with_database(os.environ[key], database) for key in DATABASES},
        "CASINO_CHECKPOINT_DIR": str(folder / "checkpoints"),
        "CASINO_SECRET_KEY": f"{name}-secret-key-of-a-test-that-is-long-enough-for-django",
        "CASINO_ALLOWED_HOSTS": f"{name}.example,127.0.0.1",
        "CASINO_METRICS_TOKEN_FILE": str(token_file(folder)),
        "CASINO_PROXY": "127.0.0.1",
    }
    with listen(0) as listener, Processes(_programs(listener), environ=environ, log_dir=folder / "logs") as processes:
        processes.wait_ready(f"{address(listener)}/readyz")
        yield environ, address(listener)


def _programs(listener: socket) -> list[Program]:
    """All that a stack has, but one of its two workers that are alike."""
    return [program for program in application(listener) if program.name != "worker-2"]


def fleet_file(folder: Path, two: list[Running], *, drained: str = "") -> Path:
    """The control plane's file for both."""
    text = ""
    for one in two:
        program = folder / f"manage-{one.name}"
        keys = (*DATABASES, "CASINO_CHECKPOINT_DIR")
        variables = "".join(f"os.environ[{key!r}] = {one.environ[key]!r}\n" for key in keys)
        called = f"os.execv({sys.executable!r}, [{sys.executable!r}, {str(CHECKOUT / 'manage.py')!r}, *sys.argv[1:]])"
        program.write_text(f"#!{sys.executable}\nimport os, sys\n{variables}{called}\n")
        program.chmod(0o700)
        text += (
            f'[stacks.{one.name}]\nhosts = ["{one.host}"]\nweb = "{one.root.removeprefix("http://")}"\n'
            f'command = ["{program}"]\ntoken_file = "{one.environ["CASINO_METRICS_TOKEN_FILE"]}"\n'
        )
        text += "drained = true\n" if one.name == drained else ""
    path = folder / "fleet.toml"
    path.write_text(text, encoding="utf-8")
    return path


Client = Callable[[str, str], httpx.Client]


@pytest.fixture
def client(front: Nginx) -> Iterator[Client]:
    """Makes a client of a host, with the token of a sign-in or none."""
    with ExitStack() as open_ones:

        def made(host: str, token: str = "") -> httpx.Client:
            trusted = ssl.create_default_context(cafile=str(front.certificate))
            headers = {"Host": host} | ({"Authorization": token} if token else {})
            transport = httpx.HTTPTransport(verify=trusted)
            root = f"https://127.0.0.1:{front.tls}"
            one = httpx.Client(transport=transport, base_url=root, headers=headers, timeout=30)
            one.event_hooks["request"].append(lambda request: request.extensions.update(sni_hostname="ace.example"))
            return open_ones.enter_context(one)

        yield made


@pytest.fixture
def front(two: list[Running], tmp_path: Path) -> Iterator[Nginx]:
    """One nginx before both."""
    with TemporaryDirectory(prefix="cukassza-n-") as folder:
        try:
            with nginx.running(Path(folder), stacks.read(fleet_file(tmp_path, two))) as up:
                yield up
        except debian.NotUnpacked as error:
            pytest.skip(f"no nginx: {error}")


def token(terminal: Terminal) -> str:
    return terminal._token["Authorization"]


def test_a_name_leads_to_its_stack_and_a_token_counts_in_one(two: list[Running], client: Client) -> None:
    for one, other in (two, two[::-1]):
        with Terminal(one.root, one.house.auditor) as auditor:
            found = client(one.host, token(auditor)).get("/api/v1/house")
            assert found.status_code == 200 and found.json()["house"] == one.house.house
            assert client(other.host, token(auditor)).get("/api/v1/house").status_code == 401
        with pytest.raises(Refused, match="sign_in_refused"):
            Terminal(other.root, one.house.auditor)
    assert client("other.example", "").get("/console/sign-in").status_code == 404
    # Without nginx in between: a stack answers to its own names only.
    assert httpx.get(f"{two[0].root}/console/sign-in", headers={"Host": two[1].host}).status_code == 400


def test_messages_of_one_are_taken_by_its_own_workers(two: list[Running]) -> None:
    """Both at once, on one broker: every report is made, and no worker met a message that was not its own."""

    def made(one: Running) -> list[str]:
        with Terminal(one.root, one.house.auditor) as auditor:
            begun = [
                auditor.post("reports/trial-balance/runs", {"formats": ["json"]}, version=None)["run"]
                for _ in range(REPORTS)
            ]
            states: list[str] = []

            def over() -> bool:
                states[:] = [auditor.get(f"report-runs/{run}")["state"] for run in begun]
                return "waiting" not in states

            wait_until(over, seconds=120)
            return states

    with ThreadPoolExecutor(2) as at_once:
        found = list(at_once.map(made, two))
    assert found == [["made"] * REPORTS] * 2
    for one in two:
        assert "stray" not in one.said().lower()


def test_hints_events_and_checkpoints_are_of_one(two: list[Running]) -> None:
    one, other = two
    with Terminal(one.root, one.house.auditor) as here, Terminal(other.root, other.house.auditor) as there:
        before = there.get("changes?wait=0")["position"]
        own = here.get("changes?wait=0")["position"]
        with Terminal(one.root, one.house.admin):
            pass
        assert wait_until(lambda: here.get("changes?wait=0")["position"] != own, seconds=20)
        assert there.get("changes?wait=0")["position"] == before
    folders = [{path.name for path in Path(each.environ["CASINO_CHECKPOINT_DIR"]).iterdir()} for each in two]
    assert all(folders) and not folders[0] & folders[1]


def test_metrics_of_one_name_no_house_of_the_other(two: list[Running]) -> None:
    for one, other in (two, two[::-1]):
        text = httpx.get(f"{one.root}/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).text
        assert f'house="{one.house.house}"' in text and f'house="{other.house.house}"' not in text


def test_the_fleet_is_asked_worked_on_and_drained(
    two: list[Running], front: Nginx, client: Client, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = fleet_file(tmp_path, two)
    assert all(one.houses == 1 and len(one.versions) == 1 for one in map(asking.health, stacks.read(path)))
    assert fleet([str(path), "status"]) == 0, capfd.readouterr().out
    capfd.readouterr()
    assert fleet([str(path), "each", "--", "migrate", "--check", "--database", "owner"]) == 0
    said = capfd.readouterr().out
    assert said.index("--- ace") < said.index("--- bell")
    assert fleet([str(path), "each", "--only", "bell", "--", "verify_house", two[0].house.house]) == 1
    assert fleet([str(path), "each", "--only", "ace", "--", "verify_house", two[0].house.house]) == 0
    drained = stacks.read(fleet_file(tmp_path, two, drained="bell"))
    nginx.place(front.folder, drained)
    front.reload()
    # Its old process may take some connections more.
    refused: list[httpx.Response] = []

    def drains() -> bool:
        answer = client(two[1].host, "").post("/api/v1/sign-in", json={})
        refused.extend([answer] if answer.status_code == 503 else [])
        return len(refused) > 3

    assert wait_until(drains, seconds=20)
    refusal = refused[-1]
    assert refusal.json()["failed"] == [{"check": "front", "code": "drained"}]
    assert refusal.headers["Retry-After"] == "30"
    assert client(two[0].host, "").get("/console/sign-in").status_code < 400
