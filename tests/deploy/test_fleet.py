"""The file of stacks, what of it stands in nginx's configuration, and commands for all of them."""

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from deploy.fleet import asking, front, stacks
from deploy.fleet.__main__ import main
from deploy.fleet.stacks import FleetError
from deploy.processes import CHECKOUT
from tests.services import free_port

Captured = pytest.CaptureFixture[str]
EXAMPLE = CHECKOUT / "deploy" / "fleet" / "fleet.toml"
STACK = """
[stacks.{name}]
hosts = ["{name}.example"]
web = "127.0.0.1:{port}"
command = [{command}]
"""


def written(folder: Path, *names: str, more: str = "", command: str = '"true"', port: int = 8000) -> Path:
    """A file with stacks of these names, at ports from `port` on; `more` belongs to the last."""
    text = "".join(STACK.format(name=name, port=port + at, command=command) for at, name in enumerate(names))
    path = folder / "fleet.toml"
    path.write_text(text + more, encoding="utf-8")
    return path


def test_the_part_of_nginx_beside_the_configuration_is_that_of_the_example() -> None:
    made = (CHECKOUT / "deploy" / "nginx" / "cukassza-stacks.conf").read_text(encoding="utf-8")
    assert made == front.nginx(stacks.read(EXAMPLE))


def test_names_lead_to_their_stacks_and_those_of_a_drained_one_to_nginx(tmp_path: Path) -> None:
    text = front.nginx(stacks.read(written(tmp_path, "ace", "bell", more="drained = true\n")))
    assert "    ace.example ace;\n    bell.example drained;\n" in text
    assert "server 127.0.0.1:8000 max_fails=0;" in text and "server 127.0.0.1:8001 max_fails=0;" in text
    assert '    default "";\n' in text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "at least one"),
        ("[other]\n", "nothing else"),
        ("stacks = 3\n", "nothing else"),
        ("[stacks.Ace]\n", "a small letter"),
        ("[stacks.drained]\n", "not 'drained'"),
        ("[stacks.ace]\nweb = '1:1'\ncommand = ['true']\n", "hosts is a list"),
        ("[stacks.ace]\nhosts = ['a b']\nweb = '1:1'\ncommand = ['true']\n", "no host name"),
        ("[stacks.ace]\nhosts = ['ACE.example']\nweb = '1:1'\ncommand = ['true']\n", "small letters"),
        ("[stacks.ace]\nhosts = ['a;}']\nweb = '1:1'\ncommand = ['true']\n", "no host name"),
        ("[stacks.ace]\nhosts = ['a']\nweb = '1:1;'\ncommand = ['true']\n", "HOST:PORT"),
        ("[stacks.ace]\nhosts = ['a']\nweb = 'a:70000'\ncommand = ['true']\n", "HOST:PORT"),
        ("[stacks.ace]\nhosts = ['a']\nweb = 'a:1'\ncommand = 'true'\n", "command is a list"),
        ("[stacks.ace]\nhosts = ['a']\nweb = 'a:1'\ncommand = ['true']\nhost = 'a'\n", "there is no host"),
        ("[stacks.ace]\nhosts = ['a']\nweb = 'a:1'\ncommand = ['true']\ndrained = 1\n", "true or false"),
        ("[stacks.ace\n", "fleet.toml"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path: Path, text: str, said: str, capsys: Captured) -> None:
    path = tmp_path / "fleet.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FleetError, match=said.replace("(", r"\(")):
        stacks.read(path)
    assert main([str(path), "nginx"]) == 2
    said_of_it = capsys.readouterr()
    assert said_of_it.out == "" and said_of_it.err.startswith("fleet: ")


def test_a_house_lives_in_one_stack(tmp_path: Path) -> None:
    path = written(tmp_path, "ace", "bell")
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("bell.example", "ace.example"), encoding="utf-8")
    with pytest.raises(FleetError, match=r"host name ace\.example stands in ace and in bell"):
        stacks.read(path)
    path.write_text(text.replace("8001", "8000"), encoding="utf-8")
    with pytest.raises(FleetError, match=r"address 127\.0\.0\.1:8000 stands in ace and in bell"):
        stacks.read(path)


def test_a_command_is_run_in_each_until_one_fails(tmp_path: Path, capfd: Captured) -> None:
    program = tmp_path / "manage"
    program.write_text(f"#!{sys.executable}\nimport sys\nprint(sys.argv[1:])\nsys.exit(int(sys.argv[-1]))\n")
    program.chmod(0o755)
    path = str(written(tmp_path, "ace", "bell", "acorn", command=f'"{program}", "of", "it"'))
    assert main([path, "each", "--", "migrate", "--database", "0"]) == 0
    said = capfd.readouterr().out
    assert said.count("['of', 'it', 'migrate', '--database', '0']") == 3
    assert said.index("--- ace") < said.index("--- bell") < said.index("--- acorn")
    assert main([path, "each", "--", "migrate", "3"]) == 1
    found = capfd.readouterr()
    assert found.out.count("migrate") == 1
    assert "migrate ended with 3 in ace; done in none; not run in bell, acorn" in found.err
    assert main([path, "each", "--only", "bell", "--", "check", "0"]) == 0
    assert capfd.readouterr().out.splitlines()[0] == "--- bell"
    assert main([path, "each", "--only", "leaf", "--", "check", "0"]) == 2
    assert "there is no stack leaf; there are ace, acorn, bell" in capfd.readouterr().err


def test_what_cannot_be_started_has_failed(tmp_path: Path, capfd: Captured) -> None:
    path = str(written(tmp_path, "ace", command=f'"{tmp_path}/none"'))
    assert main([path, "each", "--", "check"]) == 1
    assert "check ended with 2 in ace" in capfd.readouterr().err


class _Web(BaseHTTPRequestHandler):
    """Answers as the web processes of a stack."""

    answers: ClassVar[dict[str, tuple[int, str]]] = {}

    def do_GET(self) -> None:
        status, body = self.answers[self.path]
        if self.path == "/metrics" and self.headers["Authorization"] != "Bearer secret":
            status = 403
        self.send_response(status)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def web() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Web) as server:
        threading.Thread(target=server.serve_forever).start()
        yield server.server_address[1]
        server.shutdown()


READY = (200, json.dumps({"status": "ready"}))
METRICS = """
# TYPE cukassza_build_info gauge
cukassza_build_info{version="1.2"} 1
# TYPE cukassza_house_read_only gauge
cukassza_house_read_only{house="ACE",sandbox="0"} 0
cukassza_house_read_only{house="BELL",sandbox="0"} 1
cukassza_house_read_only{house="TRY",sandbox="1"} 1
"""


def test_status_says_what_is_to_be_done(tmp_path: Path, web: int, capsys: Captured) -> None:
    token = tmp_path / "token"
    token.write_text("secret\n")
    path = str(written(tmp_path, "ace", port=web, more=f'token_file = "{token}"\n'))
    _Web.answers = {
        "/readyz": READY,
        "/metrics": (200, METRICS.replace('BELL",sandbox="0"} 1', 'BELL",sandbox="0"} 0')),
    }
    assert main([path, "status"]) == 0
    said = capsys.readouterr().out
    assert "ready" in said and "1.2" in said and "2 houses" in said and "ace.example" in said
    _Web.answers["/metrics"] = 200, METRICS
    assert main([path, "status"]) == 1
    assert "1 houses read-only" in capsys.readouterr().out
    token.write_text("another")
    assert main([path, "status"]) == 1
    assert "no metrics: status 403" in capsys.readouterr().out
    token.unlink()
    assert main([path, "status"]) == 1
    assert "no metrics: " in capsys.readouterr().out


def test_a_stack_that_is_not_ready_or_silent_is_named(tmp_path: Path, web: int, capsys: Captured) -> None:
    path = written(tmp_path, "ace", port=web)
    failed = {"status": 503, "failed": [{"check": "broker", "code": "broker_unreachable"}]}
    _Web.answers = {"/readyz": (503, json.dumps(failed))}
    assert main([str(path), "status"]) == 1
    assert "NOT READY" in (said := capsys.readouterr().out) and "not ready: broker" in said
    _Web.answers = {"/readyz": (200, json.dumps({"status": "read_only"}))}
    assert asking.health(stacks.read(path)[0]).problems == ("read_only",)
    _Web.answers = {"/readyz": (200, "[]")}
    assert not asking.health(stacks.read(path)[0]).well
    silent = written(tmp_path, "ace", port=free_port(), more="drained = true\n")
    assert "no answer: ConnectionRefusedError" in asking.health(stacks.read(silent)[0]).problems[0]
    assert main([str(path), "check"]) == 0
    assert capsys.readouterr().out.endswith("drained  ace.example\n")


def test_versions_that_differ_are_said(tmp_path: Path, web: int, capsys: Captured) -> None:
    token = tmp_path / "token"
    token.write_text("secret")
    two = 'cukassza_build_info{version="1.2"} 1\ncukassza_build_info{version="1.3"} 1\n'
    _Web.answers = {"/readyz": READY, "/metrics": (200, two)}
    path = str(written(tmp_path, "ace", port=web, more=f'token_file = "{token}"\n'))
    assert main([path, "status"]) == 0
    assert "versions differ: 1.2, 1.3" in capsys.readouterr().out
