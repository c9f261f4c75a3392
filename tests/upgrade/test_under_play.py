"""An installation is upgraded while its tables play: no request fails or is sent again, and streams go on."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import casino
from deploy.embedded.process import wait_until
from deploy.processes import CHECKOUT
from tests.casino.metrics.reading import token_file
from tests.load.room import Room, Table, opened
from tests.services import TestServices
from tests.upgrade import trees
from tests.upgrade.test_compatibility import environ, output, running

pytestmark = pytest.mark.long
__all__ = ["environ"]
#: In the order in which an upgrade restarts them.
PROCESSES = ("web", "worker", "worker-2", "worker-files", "hints", "beat", "sequencer")
#: Of the release that is made up.
VERSION = "99.0.0"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of this tree, in which a later version can take its place."""
    found = tmp_path / "srv"
    trees.present(found)
    return found


def fleet_file(folder: Path, tree: Path, environ: dict[str, str], root: str) -> Path:
    """The control plane's file, whose commands find the installation's environment and nothing else."""
    program = folder / "manage"
    called = f"os.execve({sys.executable!r}, [{sys.executable!r}, *sys.argv[1:]], {environ!r})"
    program.write_text(f"#!{sys.executable}\nimport os, sys\nos.chdir({str(tree)!r})\n{called}\n")
    program.chmod(0o700)
    restart = ", ".join(f'["{program}", "-m", "deploy.processes", "--restart", "{name}"]' for name in PROCESSES)
    path = folder / "fleet.toml"
    path.write_text(
        f'[stacks.ace]\nhosts = ["127.0.0.1"]\nweb = "{root.removeprefix("http://")}"\n'
        f'command = ["{program}", "manage.py"]\ntoken_file = "{environ["CASINO_METRICS_TOKEN_FILE"]}"\n'
        f"[stacks.ace.upgrade]\nrestart = [{restart}]\n"
    )
    return path


def keep_playing(room: Room, ended: threading.Event) -> list[threading.Thread]:
    """Every table plays hand after hand, until the event; what goes wrong is raised by `join`."""
    found = [threading.Thread(target=_play, args=(table, ended), name=table.code) for table in room.tables]
    for one in found:
        one.start()
    return found


def _play(table: Table, ended: threading.Event) -> None:
    while not ended.is_set():
        table.play(time.monotonic())
        table.make_ready()


def _follows(table: Table) -> bool:
    """Whether the table's stream has come to its last event."""
    return wait_until(lambda: table.hints.last >= table._seq, seconds=20)


@pytest.fixture
def failures(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What ended a thread."""
    found: list[str] = []
    monkeypatch.setattr(threading, "excepthook", lambda args: found.append(f"{args.thread.name}: {args.exc_value!r}"))
    yield found


def test_play_goes_on_during_an_upgrade(
    services: TestServices, environ: dict[str, str], tree: Path, tmp_path: Path, failures: list[str]
) -> None:
    environ |= {"CASINO_METRICS_TOKEN_FILE": str(token_file(tmp_path)), "CASINO_NEWER_RELEASE": str(tree)}
    ended = threading.Event()
    with running(tree, environ, tmp_path / "supervisor.log") as root:
        file = fleet_file(tmp_path, tree, environ, root)
        with pytest.MonkeyPatch.context() as patched:
            # The house is founded by commands that find this.
            for name, value in environ.items():
                patched.setenv(name, value)
            found = opened(root, 3, ["ferbli", "faerbeln"], ["physical", "electronic"], 11)
            room = found.__enter__()
        try:
            room.think(0.1)
            taken = room.take()
            players = keep_playing(room, ended)
            assert wait_until(lambda: len(taken.hands) > 2, seconds=120), failures
            trees.make_later(tree, VERSION)
            done = subprocess.run(
                [sys.executable, "-m", "deploy.fleet", str(file), "upgrade"],
                cwd=tree, env=environ, capture_output=True, text=True, check=False,
            )  # fmt: skip
            hands = len(taken.hands)
            assert done.returncode == 0, f"{done.stdout}\n{done.stderr}\n{failures}"
            assert wait_until(lambda: len(taken.hands) > hands + 3, seconds=120), failures
            ended.set()
            for one in players:
                one.join()
            assert failures == []
            assert dict(taken.repeated) == {}, "no console has sent a request again"
            refused = {one.code for one in taken.samples if one.code}
            assert refused <= {"wrong_cards", "cards_differ"}, refused
            assert all(_follows(table) for table in room.tables), "no stream has lost anything"
            longest = max(one.seconds for one in taken.samples)
            print(f"{len(taken.hands)} hands, {len(taken.samples)} requests, the longest took {longest:.1f} s")
            assert f"ace is at {VERSION}: ready, and every house verified" in done.stdout
            assert f"to version {VERSION}" in done.stdout and casino.__version__ != VERSION
            house = room.credentials.house
        finally:
            ended.set()
            found.__exit__(None, None, None)
        output(tree, environ, "manage.py", "verify_house", house)
        # The code of before bears what is there now, beside the new one.
        output(CHECKOUT, environ, "manage.py", "verify_house", house)
