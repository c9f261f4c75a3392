"""The package for programs: it is made, and its examples play a hand and enter cards at a running house."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest

from casino.staff.models import Role, TerminalKind
from casino.staff.services import enrol_terminal, hire
from deploy.client import __main__ as client
from tests.casino.api.test_device_play import allow
from tests.casino.devices import events, key_of
from tests.casino.hands.test_cards import UNKNOWN_CARDS
from tests.casino.kit import ACTOR, SAMPLE, Kit
from tests.deploy.web_and_hints import Running, running

pytestmark = pytest.mark.slow

PASSWORD = "seven-of-acorns-19"
#: What a reader sees of a hand whose packets were dealt face down: each card twice, one of them in a later run again.
READ = "p1 0 Ua\np1 3 Aa\n\np1 0 Ua\np2 2 Xa\n"


@pytest.fixture(scope="module")
def made(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the package, with its wheel."""
    folder = tmp_path_factory.mktemp("client")
    assert client.main([str(folder)]) == 0
    return folder


@pytest.fixture
def package(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The installed package: what lies in the wheel, and nothing else of ours."""
    [wheel] = (made / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as files:
        files.extractall(tmp_path / "installed")
    monkeypatch.syspath_prepend(tmp_path / "installed")
    yield tmp_path / "installed"
    for module in [module for module in sys.modules if module.partition(".")[0] == client.PACKAGE]:
        del sys.modules[module]


@pytest.fixture(scope="module")
def up(django_db_setup: None) -> Iterator[Running]:
    with running() as found:
        yield found


def example(made: Path, package: Path, name: str, *arguments: str, read: str = "") -> str:
    """Run an example as somebody does who has installed the package; what it says."""
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(package)}
    command = [sys.executable, str(made / "examples" / f"{name}.py"), *arguments]
    done = subprocess.run(command, env=environ, input=read, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def operation(name: str) -> ModuleType:
    return importlib.import_module(f"{client.PACKAGE}.api.{name}")


def house() -> Any:
    return importlib.import_module(f"{client.PACKAGE}.house")


def test_two_bots_play_a_hand(kit: Kit, up: Running, made: Path, package: Path) -> None:
    kit.table()
    desk = kit.seated(stacks=(20_000, 15_000))
    keys = [key_of(desk, seat) for seat in (1, 2)]
    allow(kit)
    desk.refresh()
    desk.deal()
    with ThreadPoolExecutor(2) as at_once:
        list(at_once.map(lambda key: example(made, package, "bot", up.root, key), keys))
    assert kit.settle() == ["settled"]
    acted = events(kit, "hand.acted")
    assert {(one["role"], one["actor"]) for one in acted} == {("player", "T1-u1"), ("player", "T1-u2")}


def test_a_scanner_enters_each_card_once(kit: Kit, up: Running, made: Path, package: Path, tmp_path: Path) -> None:
    kit.table()
    desk = kit.seated(stacks=(5_000, 5_000))
    desk.ok("hands", {"mode": "physical"})
    for line in UNKNOWN_CARDS:
        desk.act(line)
    login = f"dealer@{kit.house.code}"
    hire(house=kit.house, login=login, name="Dealer", roles=[Role.DEALER], password=PASSWORD, actor=ACTOR)
    _, key = enrol_terminal(house=kit.house, code="reader", kind=TerminalKind.TABLE, location="T1", actor=ACTOR)
    form = {"login": login, "password": PASSWORD, "terminal": "reader", "terminal_key": key}
    (tmp_path / "login.json").write_text(json.dumps(form))
    said = [example(made, package, "scanner", up.root, "T1", str(tmp_path / "login.json"), read=READ) for _ in range(2)]
    assert said[0].splitlines() == ["p1 0 Ua: entered", "p1 3 Aa: entered", "p1 0 Ua: card_known", "p2 2 Xa: entered"]
    assert {line.partition(": ")[2] for line in said[1].splitlines()} == {"card_known"}
    assert len(events(kit, "hand.cards_entered")) == 3


class Breaks(httpx.BaseTransport):
    """Carries requests on, and loses the answers of the next ones: `before` they arrive, or after."""

    def __init__(self) -> None:
        self.real, self.lost, self.sent = httpx.HTTPTransport(), list[str](), list[httpx.Request]()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        how = self.lost.pop(0) if self.lost else ""
        if how == "before":
            raise httpx.ConnectError("no way to the house")
        answer = self.real.handle_request(request)
        if how == "after":
            answer.read()
            raise httpx.ReadError("the answer was lost")
        return answer

    def close(self) -> None:
        self.real.close()


def test_a_write_counts_once_and_what_is_unknown_is_said(kit: Kit, up: Running, package: Path) -> None:
    kit.table()
    kit.players("anna", chips=50_000)
    desk = kit.dealer()
    desk.ok("open")
    found, lossy = house(), Breaks()
    token = kit.token(Role.DEALER, TerminalKind.TABLE, "T1")
    sit, read = operation("dealer.sit_down"), operation("dealer.read_table")
    with found.House(up.root, f"Bearer {token}", patience=20.0, transport=lossy) as dealer:
        with pytest.raises(ValueError, match="read T1 first"):
            dealer.write(sit, "T1", body={"seat": 1, "player": "anna", "amount": 10_000})
        assert dealer.read(read, "T1").seats == []
        lossy.lost, lossy.sent = ["before", "after", "after"], []
        dealer.write(sit, "T1", body={"seat": 1, "player": "anna", "amount": 10_000})
        assert len({request.headers["Idempotency-Key"] for request in lossy.sent}) == 1 and len(lossy.sent) == 4
        assert [seat.player for seat in dealer.read(read, "T1").seats] == ["anna"]
        with pytest.raises(found.Refused) as refused:
            dealer.write(sit, "T1", body={"seat": 1, "player": "anna", "amount": 10_000})
        assert refused.value.problem["status"] in (409, 422)
        before = dealer.versions["T1"]
        with pytest.raises(found.Refused) as stale:
            dealer.write(operation("dealer.leave_seat"), "T1", 1, version=before - 1)
        assert (stale.value.code, stale.value.problem["current_version"]) == ("version_conflict", before)
        dealer.patience = 0.0
        lossy.lost = ["after"]
        with pytest.raises(found.OutcomeUnknown) as unknown:
            dealer.write(operation("dealer.leave_seat"), "T1", 1)
        again = dealer.write(operation("dealer.leave_seat"), "T1", 1, key=unknown.value.key)
        assert again.seats == []


def test_hints_are_followed_over_a_break(kit: Kit, up: Running, package: Path) -> None:
    kit.table()
    desk = kit.seated()
    token = kit.token(Role.FLOOR, TerminalKind.TABLE, "T1")
    floor = house().House(up.root, f"Bearer {token}")
    with floor, closing(floor.follow("tables/T1")) as follower, ThreadPoolExecutor(1) as beside:
        first = beside.submit(next, follower)
        desk.ok("hands", {"mode": "physical", "button": 4})
        hint = first.result(timeout=30)
    assert hint["chain"] == "table/T1" and hint["kind"]
    desk.act(*SAMPLE[:2])
    with house().House(up.root, f"Bearer {token}") as floor:
        with closing(floor.follow("tables/T1", last=hint["id"])) as follower:
            assert next(follower)["seq"] == hint["seq"] + 1
        with pytest.raises(house().Refused, match="not_found"):
            next(floor.follow("tables/T9"))
