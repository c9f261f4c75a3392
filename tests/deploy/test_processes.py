"""The supervisor: with small programs of the test's own, and with the application's command lines."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy import embedded
from deploy.embedded.process import command_line, wait_until
from deploy.processes import (
    NotReady,
    PortTaken,
    Processes,
    Program,
    address,
    application,
    listen,
    main,
    restart,
    web_workers,
)

CHECKOUT = Path(__file__).parents[2]
# A master with one pool child, which survives its master's death like those of Celery and gunicorn can.
MASTER = """
import pathlib, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
pathlib.Path(sys.argv[1]).write_text(str(child.pid))
time.sleep(600)
"""
HTTP = """
import http.server, socket, sys
class Ready(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/readyz" else 503)
        self.end_headers()
        if self.path != "/readyz":
            self.wfile.write(b'{"failed":\\n  ["beat"]}')
server = http.server.HTTPServer(("127.0.0.1", 0), Ready, bind_and_activate=False)
server.socket.close()
server.socket = socket.socket(fileno=int(sys.argv[1]))
server.serve_forever()
"""


@pytest.fixture
def child_file(tmp_path: Path) -> Path:
    """Where MASTER writes the pid of its child."""
    return tmp_path / "child"


@pytest.fixture
def master(tmp_path: Path, child_file: Path) -> Iterator[Processes]:
    """A supervisor of one MASTER."""
    program = Program("master", (sys.executable, "-c", MASTER, str(child_file)))
    with Processes((program,), log_dir=tmp_path / "log") as processes:
        assert wait_until(lambda: child_file.exists() and child_file.read_text() != "", seconds=5)
        yield processes


def test_killed_child_comes_back_and_leaves_no_orphan(master: Processes, child_file: Path) -> None:
    orphan = int(child_file.read_text())
    before = time.monotonic()
    old = master.kill("master", signal.SIGKILL)
    assert master.pid_of("master") != old
    assert time.monotonic() - before < 2
    assert wait_until(lambda: command_line(orphan) == "", seconds=2)
    assert master.restarts_of("master") == 1
    assert "ended with code -9" in (master.log_dir / "master.log").read_text()


def test_stop_ends_the_whole_group(master: Processes, child_file: Path) -> None:
    pids = (master.pid_of("master"), int(child_file.read_text()))
    master.stop()
    assert wait_until(lambda: [command_line(pid) for pid in pids] == ["", ""], seconds=2)


def test_child_that_keeps_dying_is_started_less_and_less_often(tmp_path: Path) -> None:
    with Processes((Program("broken", ("false",)),), log_dir=tmp_path) as processes:
        time.sleep(1.2)  # pauses of 0.1, 0.2, 0.4 and 0.8 s
        assert 2 <= processes.restarts_of("broken") <= 4


def test_program_that_does_not_exist_does_not_end_the_others(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    programs = (Program("missing", ("/no/such/program",)), Program("sleeper", ("sleep", "600")))
    with Processes(programs, log_dir=tmp_path) as processes:
        assert command_line(processes.pid_of("sleeper")) == "sleep 600"
    assert "missing cannot be started" in capfd.readouterr().err


def test_wait_ready_and_requests_during_a_restart(tmp_path: Path) -> None:
    """The supervisor keeps the port: a request sent while the server is dead is answered by the next one."""
    with listen(0) as listener:
        file = listener.fileno()
        program = Program("web", (sys.executable, "-c", HTTP, str(file)), (file,))
        url = f"{address(listener)}/readyz"
        with Processes((program,), log_dir=tmp_path) as processes:
            processes.wait_ready(url, seconds=5)
            processes.kill("web", signal.SIGKILL)
            with urllib.request.urlopen(url, timeout=5) as answer:
                assert answer.status == 200
            with pytest.raises(NotReady, match=r'HTTP 503 {"failed": \["beat"\]}'):
                processes.wait_ready(f"{address(listener)}/else", seconds=0.2)


def test_taken_port_is_a_typed_error(capsys: pytest.CaptureFixture[str]) -> None:
    with listen(0) as listener, pytest.raises(PortTaken):
        listen(listener.getsockname()[1])
    assert PortTaken.code == "port_taken"


def test_killed_supervisor_takes_its_children_along(tmp_path: Path) -> None:
    """kill -9 of the supervisor: the kernel sends the children SIGTERM."""
    script = (
        "import sys, time, pathlib; from deploy.processes import Processes, Program;"
        "p = Processes((Program('sleeper', ('sleep', '600')),), log_dir=pathlib.Path(sys.argv[1]));"
        "p.start(); print(p.pid_of('sleeper'), flush=True); time.sleep(600)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, cwd=CHECKOUT
    ) as supervisor:
        assert supervisor.stdout is not None
        sleeper = int(supervisor.stdout.readline())
        assert wait_until(lambda: command_line(sleeper) == "sleep 600", seconds=2)
        os.kill(supervisor.pid, signal.SIGKILL)
    assert wait_until(lambda: command_line(sleeper) == "", seconds=2)


def test_a_child_of_another_process_is_restarted(
    master: Processes, child_file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an upgrade does it, which does not run in the supervisor's process."""
    old = master.pid_of("master")
    new = restart("master", master.log_dir)
    assert new == master.pid_of("master") != old
    assert master.restarts_of("master") == 1
    with pytest.raises(NotReady, match="none is not running"):
        restart("none", master.log_dir)
    monkeypatch.setattr(embedded, "var_dir", lambda: master.log_dir.parent)
    assert main(["--restart", "none"]) == 2
    assert "none is not running" in capsys.readouterr().err
    assert main(["--restart", "master"]) == 0
    assert capsys.readouterr().out == f"master: {master.pid_of('master')}\n"


def test_only_the_sequencer_knows_the_key_of_the_log(tmp_path: Path) -> None:
    script = "import os, sys, time; print(sorted(set(os.environ) & set(sys.argv[1:])), flush=True); time.sleep(600)"
    names = ("CASINO_LOG_KEY", "DATABASE_OWNER_URL", "DATABASE_SEQUENCER_URL", "PATH")
    command = (sys.executable, "-c", script, *names)
    with listen(0) as listener:
        private = {program.name: program.private for program in application(listener)}
    programs = [Program(name, command, private=private[name]) for name in private]
    environ = {**os.environ, "CASINO_LOG_KEY": "1", "DATABASE_SEQUENCER_URL": "2", "DATABASE_OWNER_URL": "3"}
    with Processes(programs, environ=environ, log_dir=tmp_path):
        found = {name: tmp_path / f"{name}.log" for name in private}
        assert wait_until(lambda: all(log.exists() and log.read_text() for log in found.values()), seconds=5)
    said = {name: log.read_text().strip() for name, log in found.items()}
    assert said.pop("sequencer") == str(sorted(names))
    assert set(said.values()) == {"['PATH']"}


@pytest.mark.parametrize(("cores", "workers"), [(None, 2), (1, 2), (2, 2), (3, 3), (4, 4), (64, 4)])
def test_there_is_a_web_process_for_each_core(cores: int | None, workers: int) -> None:
    assert web_workers(cores) == workers


def test_application_is_web_hints_three_workers_beat_and_sequencer() -> None:
    with listen(0) as listener:
        commands = {program.name: " ".join(program.command) for program in application(listener)}
        assert f"--bind fd://{listener.fileno()}" in commands["web"]
    assert list(commands) == ["web", "hints", "worker", "worker-2", "worker-files", "beat", "sequencer"]
    assert "--concurrency 1" in commands["worker"] and "--hostname worker-2@%h" in commands["worker-2"]
    assert "--queues files " in commands["worker-files"] and "files" not in commands["worker"]
    assert " -E" not in commands["worker"], "task events are off"


def test_command_line_names_the_problem(
    var: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CASINO_VAR", str(var))
    monkeypatch.setenv("DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1")
    with listen(0) as listener:
        assert main(["--port", str(listener.getsockname()[1])]) == 2
    assert "[port_taken]" in capsys.readouterr().err
