"""What others make of the schema: a client that plays an evening, and requests that nobody would write by hand."""

import importlib
import json
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

import httpx
import pytest
from django.db import connections
from drf_spectacular.generators import SchemaGenerator

from casino.staff.models import Role, TerminalKind
from tests.casino.contract import assert_promised
from tests.casino.kit import SAMPLE, Kit, application
from tests.words import as_action

#: Signing out ends the run. Streams are text, and the tool takes every event of one for the whole answer; they have
#: tests of their own.
LEFT_OUT = ("signOut", "followTable", "followDrawer", "followHouse")
#: Checks of schemathesis: no error of the server, and every answer is one that the schema has.
CHECKS = (
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance",
    "response_headers_conformance",
)  # fmt: skip


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    """The schema as a file."""
    path = tmp_path / "schema.json"
    path.write_text(json.dumps(SchemaGenerator().get_schema(request=None, public=True), default=str))
    return path


# --- A client made from the schema -----------------------------------------------------------------------------------


class Made:
    """The generated package for one signed-in person; every call's version and key are minded here."""

    def __init__(self, package: str, token: str) -> None:
        self.package = package
        client = importlib.import_module(package).AuthenticatedClient
        self.client = client(
            base_url="http://localhost", token=token, raise_on_unexpected_status=True,
            httpx_args={
                "transport": httpx.WSGITransport(app=application()), "event_hooks": {"response": [assert_promised]},
            },
        )  # fmt: skip
        self.versions: dict[str, int] = {}

    def read(self, operation: str, *path: Any) -> Any:
        """Call a read; returns the parsed answer."""
        return self._call(operation, *path)

    def write(self, operation: str, *path: Any, body: dict[str, Any] | None = None) -> Any:
        """Call a write on the version read or written last at its table or drawer; returns the parsed answer."""
        headers = {"idempotency_key": str(uuid.uuid4()), "if_match": f'"{self.versions[path[0]]}"'}
        if body is not None:
            name = operation.rpartition(".")[2]
            made = "".join(part.title() for part in name.split("_")) + "InputRequest"
            kind = getattr(importlib.import_module(f"{self.package}.models"), made)
            headers["body"] = kind.from_dict(body)
        return self._call(operation, *path, **headers)

    def _call(self, operation: str, *path: Any, **named: Any) -> Any:
        module = importlib.import_module(f"{self.package}.api.{operation}")
        answer = module.sync_detailed(*path, client=self.client, **named)
        assert answer.status_code < 300, (operation, answer.parsed)
        if path and "etag" in answer.headers:
            self.versions[path[0]] = int(answer.headers["etag"].strip('"'))
        return answer.parsed


@pytest.fixture
def package(schema: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Name of the package that openapi-python-client makes from the schema."""
    name, config = "made_of_the_schema", tmp_path / "config.json"
    config.write_text(json.dumps({"post_hooks": []}))
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--path", str(schema), "--meta", "none"]
    made = subprocess.run(
        [*command, "--output-path", str(tmp_path / name), "--config", str(config)],
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert made.returncode == 0, made.stdout + made.stderr
    monkeypatch.syspath_prepend(tmp_path)
    yield name
    for module in [module for module in sys.modules if module.partition(".")[0] == name]:
        del sys.modules[module]


@pytest.mark.slow
def test_a_client_made_from_the_schema_plays_an_evening(kit: Kit, package: str) -> None:
    kit.table("T1")
    players = [f"u{number}" for number in range(1, 5)]
    kit.players(*players, chips=30_000)
    dealer = Made(package, kit.token(Role.DEALER, TerminalKind.TABLE, "T1"))
    assert dealer.read("dealer.read_table", "T1").state == "closed"
    dealer.write("dealer.open_table", "T1")
    for seat, (player, stack) in enumerate(zip(players, (20_000, 15_000, 9_000, 30_000), strict=True), start=1):
        dealer.write("dealer.sit_down", "T1", body={"seat": seat, "player": player, "amount": stack})
    dealt = dealer.write("dealer.deal_hand", "T1", body={"mode": "physical", "button": 4})
    assert (dealt.hand, dealt.view.button, dealt.balances.stacks["p1"]) == ("T1-000001", "p4", 20_000)
    for line in SAMPLE:
        hand = dealer.write("dealer.act", "T1", body={"actions": [as_action(line)]})
        assert hand.audit.chain == "table/T1"
    assert hand.state == "ended" and hand.result.tax > 0 and sum(hand.result.net) == -hand.result.tax
    assert kit.settle() == ["settled"]
    table = dealer.read("dealer.read_table", "T1")
    assert (table.state, table.hand_count, table.next_button) == ("open", 1, 1)
    closed = dealer.write("dealer.close_table", "T1")
    assert (closed.state, closed.last_event.kind, closed.seats) == ("closed", "table.closed", [])


# --- Requests made out of the schema ---------------------------------------------------------------------------------


class Quiet(WSGIRequestHandler):
    """Writes no line for each of thousands of requests."""

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


@contextmanager
def serving() -> Iterator[str]:
    """The application at an address of this machine, one request at a time."""
    with make_server("127.0.0.1", 0, application(), handler_class=Quiet) as server:

        def serve() -> None:
            try:
                server.serve_forever(poll_interval=0.05)
            finally:
                connections.close_all()

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


#: Where people sign in who do not work in the office.
AT_A_PLACE = {
    Role.DEALER: (TerminalKind.TABLE, "T1"), Role.FLOOR: (TerminalKind.TABLE, "T1"),
    Role.CASHIER: (TerminalKind.CAGE, "C1"), Role.CAGE_SUPERVISOR: (TerminalKind.CAGE, "C1"),
}  # fmt: skip


def something_of_everything(kit: Kit) -> None:
    """A hand in play, an open drawer to which a handover is offered, and one of each that is begun and waits: a
    dealer's turn, a ticket, a transfer, a tray count, a box, a movement of chips, an approval."""
    kit.table("T1")
    kit.table("T2")
    kit.players("waiting")
    dealer, supervisor, keeper = kit.seated("T1"), kit.supervisor(), kit.office(Role.CAGE_SUPERVISOR)
    dealer.ok("dealer/take-over", {"relieves": None})
    dealer.ok("/api/v1/waiting-list", {"player": "waiting", "game": "ferbli"})
    dealer.refresh()
    dealer.ok("transfers", {"kind": "fill", "drawer": "C1", "amount": 500})
    dealer.refresh()
    dealer.ok("boxes", {"kind": "drop", "number": "drop-1"})
    kit.dealer("T2").ok("tray-counts", {"purpose": "opener", "pieces": {"500": 1}})
    supervisor.ok("handovers", {"kind": "replenishment", "cash": 5_000, "pieces": {}})
    keeper.ok("chip-moves", {"kind": "set_aside", "paper": "note 1", "pieces": {"500": 1}})
    assert keeper.post("duty", {"amount": 40, "reason": "of last month"}).json()["code"] == "approval_required"
    kit.office(Role.MANAGER).ok("days", {"day": "2020-02-29"})
    dealer.refresh()
    dealer.ok("hands", {"mode": "physical", "button": 4})


#: Those who write most are tried in every way, five minutes each; the others, to whom most is forbidden, in some.
WRITES_MOST = (Role.DEALER, Role.FLOOR, Role.CASHIER, Role.CAGE_SUPERVISOR)
THOROUGH, BRIEF = ("examples,coverage,fuzzing,stateful", "5"), ("examples,fuzzing", "1")


@pytest.mark.slow
@pytest.mark.parametrize("role", list(Role))
def test_no_request_breaks_the_server_or_its_description(kit: Kit, schema: Path, role: Role, tmp_path: Path) -> None:
    something_of_everything(kit)
    token = kit.token(role, *AT_A_PLACE.get(role, (TerminalKind.OFFICE, "")))
    phases, most = THOROUGH if role in WRITES_MOST else BRIEF
    with serving() as address:
        ran = subprocess.run(
            [
                sys.executable, "-c", "from schemathesis.cli import schemathesis; schemathesis()", "run", str(schema),
                "--url", address, "--header", f"Authorization: Bearer {token}", "--phases", phases,
                "--checks", ",".join(CHECKS), "--max-examples", most,
                "--seed", "1", *(part for name in LEFT_OUT for part in ("--exclude-operation-id", name)),
                "--suppress-health-check", "all", "--no-color",
            ],
            capture_output=True, text=True, check=False, timeout=1_800, cwd=tmp_path,
        )  # fmt: skip
    assert ran.returncode == 0, ran.stdout[-20_000:] + ran.stderr[-2_000:]
