"""What others make of the schema: a client that plays an evening, and requests that nobody would write by hand."""

import importlib
import json
import socket
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, get_args, get_type_hints
from wsgiref.simple_server import WSGIRequestHandler, make_server

import httpx
import pytest
from django.db import connections

from casino.staff.models import Role, TerminalKind
from deploy.client.__main__ import generate
from tests.casino import described
from tests.casino.api.test_permissions import MATRIX, routes
from tests.casino.contract import assert_promised
from tests.casino.devices import key_of
from tests.casino.kit import SAMPLE, TRAY, Kit, application
from tests.words import as_action

#: Signing out ends the run. Streams are text, and the tool takes every event of one for the whole answer; they have
#: tests of their own.
LEFT_OUT = ("signOut", "followTable", "followDrawer", "followHouse")
#: The operations of devices, and some of the staff's, in which a device is refused.
OF_A_DEVICE = ("--include-path-regex", "/seat/|/receipts/|/tables/{table}/hand|/audit/")
#: Checks of schemathesis: no error of the server, and every answer is one that the schema has.
CHECKS = (
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance",
    "response_headers_conformance",
)  # fmt: skip


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    """The schema as a file."""
    path = tmp_path / "schema.json"
    path.write_text(json.dumps(described.schema(), default=str))
    return path


# --- A client made from the schema -----------------------------------------------------------------------------------


class Made:
    """The generated package for one signed-in person; every call's version and key are minded here."""

    def __init__(self, package: str, token: str, versions: dict[str, int]) -> None:
        self.package, self.versions = package, versions
        client = importlib.import_module(package).AuthenticatedClient
        self.client = client(
            base_url="http://localhost", token=token, raise_on_unexpected_status=True,
            httpx_args={
                "transport": httpx.WSGITransport(app=application()), "event_hooks": {"response": [assert_promised]},
            },
        )  # fmt: skip

    def read(self, operation: str, *path: Any) -> Any:
        """Call a read; returns the parsed answer."""
        return self._call(operation, *path)

    def write(self, operation: str, *path: Any, body: dict[str, Any] | None = None) -> Any:
        """Call a write, where it names a version on the one that anybody has read or written last at its table, drawer
        or day; returns the parsed answer."""
        return self._call(operation, *path, **self._named(operation, *path, body=body))

    def write_approved(self, approver: "Made", operation: str, *path: Any) -> Any:
        """Ask for a write that somebody else approves, and send it again with the approval; the parsed answer."""
        named = self._named(operation, *path)
        held = self._module(operation).sync_detailed(*path, client=self.client, **named)
        assert held.parsed.code == "approval_required", held.parsed
        number = held.parsed.approval.approval
        approver.read("approvals.read_approval", number)
        approver.write("approvals.approve", number, body={})
        return self._call(operation, *path, **named | {"approval": str(number)})

    def _named(self, operation: str, *path: Any, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """What a write is sent with beside its address."""
        takes = get_type_hints(self._module(operation).sync_detailed)
        headers: dict[str, Any] = {"idempotency_key": str(uuid.uuid4())}
        if "if_match" in takes:
            headers["if_match"] = f'"{self.versions[path[0]]}"'
        if body is not None:
            kind = next(one for one in get_args(takes["body"]) or [takes["body"]] if hasattr(one, "from_dict"))
            headers["body"] = kind.from_dict(body)
        return headers

    def _call(self, operation: str, *path: Any, **named: Any) -> Any:
        answer = self._module(operation).sync_detailed(*path, client=self.client, **named)
        assert answer.status_code < 300, (operation, answer.parsed)
        if path and "etag" in answer.headers:
            self.versions[path[0]] = int(answer.headers["etag"].strip('"'))
        return answer.parsed

    def _module(self, operation: str) -> Any:
        return importlib.import_module(f"{self.package}.api.{operation}")


@pytest.fixture
def package(schema: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Name of the package that openapi-python-client makes from the schema."""
    name = "made_of_the_schema"
    generate(schema, tmp_path / name)
    monkeypatch.syspath_prepend(tmp_path)
    yield name
    for module in [module for module in sys.modules if module.partition(".")[0] == name]:
        del sys.modules[module]


#: What a drawer is opened with, and the day.
FLOAT, DAY = (
    {"cash": 200_000, "pieces": {"5000": 20, "1000": 40, "500": 20, "100": 50, "25": 40, "5": 40}},
    "2020-02-29",
)
#: What is missing in the drawer when it is counted.
MISSING = 5


@pytest.mark.slow
def test_a_client_made_from_the_schema_plays_an_evening(kit: Kit, package: str) -> None:
    """From the opening of the day to its closing, everybody with the same package and no other word of the API."""
    kit.table("T1")
    evening = Evening(kit, package)
    evening.opens()
    evening.plays()
    evening.ends()


class Evening:
    """Everybody who works on the evening, with clients made from the schema that know each other's versions."""

    players = {"anna": 20_000, "bela": 15_000, "cili": 9_000, "dora": 30_000}

    def __init__(self, kit: Kit, package: str) -> None:
        self.kit = kit
        versions: dict[str, int] = {}

        def made(role: Role, kind: TerminalKind = TerminalKind.OFFICE, place: str = "") -> Made:
            return Made(package, kit.token(role, kind, place), versions)

        self.dealer, self.floor = (made(role, TerminalKind.TABLE, "T1") for role in (Role.DEALER, Role.FLOOR))
        self.cashier, self.supervisor, self.cage_manager = (
            made(role, TerminalKind.CAGE, "C1") for role in (Role.CASHIER, Role.CAGE_SUPERVISOR, Role.MANAGER)
        )
        self.manager = made(Role.MANAGER)

    def opens(self) -> None:
        """The day, the drawer with its float, the tray and the table; players buy chips and sit down."""
        day = self.manager.write("days.open_day", body={"day": DAY})
        self.manager.versions[DAY] = day.version
        assert self.cashier.read("cage.read_drawer", "C1").state == "closed"
        offered = self.supervisor.write("cage.offer_handover", "C1", body={"kind": "float"} | FLOAT)
        assert offered.last_event.handover.state == "offered"
        assert self.cashier.write("cage.open_drawer", "C1", body=FLOAT).state == "open"
        for player, amount in self.players.items():
            assert self.cashier.write("cage.register_player", body={"player": player}).chips == 0
            bought = self.cashier.write("cage.buy_in", "C1", body={"player": player, "amount": amount})
            assert bought.last_event.player_chips == amount
        assert self.dealer.read("dealer.read_table", "T1").state == "closed"
        tray = {"pieces": {str(value): count for value, count in TRAY.items()}}
        counted = self.dealer.write("count_room.count_tray", "T1", body={"purpose": "opener"} | tray)
        number = counted.last_event.tray_count.tray_count
        self.floor.write("count_room.witness_tray_count", "T1", number, body=tray)
        assert self.dealer.write("dealer.open_table", "T1").state == "open"
        for seat, (player, stack) in enumerate(self.players.items(), start=1):
            self.dealer.write("dealer.sit_down", "T1", body={"seat": seat, "player": player, "amount": stack})

    def plays(self) -> None:
        """The worked hand; the floor limits the time to act. Then the table is closed."""
        limited = {"seconds": 60, "reason": "slow play"}
        self.floor.write("dealer.set_time_to_act", "T1", body=limited)
        dealt = self.dealer.write("dealer.deal_hand", "T1", body={"mode": "physical", "button": 4})
        assert (dealt.hand, dealt.view.button, dealt.balances.stacks["p1"]) == ("T1-000001", "p4", 20_000)
        for line in SAMPLE:
            hand = self.dealer.write("dealer.act", "T1", body={"actions": [as_action(line)]})
            assert hand.audit.chain == "table/T1"
        assert hand.state == "ended" and hand.result.tax > 0 and sum(hand.result.net) == -hand.result.tax
        assert self.kit.settle() == ["settled"]
        self.tax = hand.result.tax
        table = self.dealer.read("dealer.read_table", "T1")
        assert (table.state, table.hand_count, table.next_button) == ("open", 1, 1)
        self.left = {seat.player: seat.stack for seat in table.seats}
        closed = self.dealer.write("dealer.close_table", "T1")
        assert (closed.state, closed.last_event.kind, closed.seats) == ("closed", "table.closed", [])

    def ends(self) -> None:
        """Everybody is paid; the drawer is short, which a supervisor counts again and a manager signs off; Z; the
        day is closed."""
        for player, amount in self.left.items():
            paid = self.cashier.write("cage.cash_out", "C1", body={"player": player, "amount": amount})
            assert paid.last_event.player_chips == 0
        held = self.kit.held()
        found = held | {"cash": held["cash"] - MISSING}
        assert not self.cashier.write("cage.count_drawer", "C1", body=found).last_event.agrees
        assert not self.supervisor.write("cage.recount_drawer", "C1", body=found).last_event.agrees
        reason = {"reason": "a coin is missing"}
        assert self.cage_manager.write("cage.sign_off_drawer", "C1", body=reason).state == "closed"
        slip = self.manager.read("cage.read_z_slip", "C1", 1)
        assert slip.variance == -MISSING and all(row.equal for row in slip.equalities)
        assert self.manager.write_approved(self.supervisor, "days.close_day", DAY).closed_at is not None
        day = self.manager.read("days.read_day", DAY)
        assert (day.turnover.tax, day.turnover.hand_count, day.trial_balance.balanced) == (self.tax, 1, True)


# --- Requests made out of the schema ---------------------------------------------------------------------------------


class Quiet(WSGIRequestHandler):
    """Writes no line for each of thousands of requests, and closes a connection only when the client has the answer."""

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""

    def finish(self) -> None:
        """Read on until the client closes: a request that is refused is answered before its body is read, and to close
        with bytes that nobody has read resets the connection, which can take the answer with it."""
        super().finish()
        with suppress(OSError):  # the client has closed first
            self.connection.shutdown(socket.SHUT_WR)
            while self.connection.recv(1 << 16):
                pass


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
    dealer.ok("fills", {"drawer": "C1", "amount": 500})
    dealer.refresh()
    dealer.ok("boxes", {"kind": "drop", "number": "drop-1"})
    kit.dealer("T2").ok("tray-counts", {"purpose": "opener", "pieces": {"500": 1}})
    supervisor.ok("handovers", {"kind": "replenishment", "cash": 5_000, "pieces": {}})
    keeper.ok("chip-moves", {"kind": "set_aside", "paper": "note 1", "pieces": {"500": 1}})
    assert keeper.post("duty", {"amount": 40, "reason": "of last month"}).json()["code"] == "approval_required"
    kit.office(Role.MANAGER).ok("days", {"day": "2020-02-29"})
    dealer.refresh()
    dealer.ok("hands", {"mode": "physical", "button": 4})


#: What is tried: the examples of the schema, each value at its edges and beyond, requests at random, and chains of
#: requests along the links of answers.
PHASES = "examples,coverage,fuzzing,stateful"
#: Where a role is refused, whatever it sends; what the schema shows is sent by `test_permissions.py`, too.
REFUSED, REFUSED_SOON = "examples,fuzzing", "fuzzing"
#: Those who write most are tried longest, minutes each, and with everything; the others with few examples.
WRITES_MOST = (Role.DEALER, Role.FLOOR, Role.CASHIER, Role.CAGE_SUPERVISOR)
THOROUGH, BRIEF = 5, 1
#: The role that `make slow` tries; `make long` tries the others, for half an hour.
TRIED_SOON = (Role.COMPLIANCE,)
#: Seconds that the tool waits for an answer: as long as the whole run has. How fast an answer comes, others measure.
PATIENCE = 1_800


def tried(schema: Path, authorization: str, most: int, *chosen: str, phases: str = PHASES) -> None:
    """The operations chosen, or all, with requests made out of the schema, at most so many examples each; no answer is
    an error of the server's, or one that the schema does not have."""
    left_out = [part for name in LEFT_OUT for part in ("--exclude-operation-id", name)]
    with serving() as address:
        ran = subprocess.run(
            [
                sys.executable, "-c", "from schemathesis.cli import schemathesis; schemathesis()", "run", str(schema),
                "--url", address, "--header", f"Authorization: {authorization}", "--phases", phases,
                "--checks", ",".join(CHECKS), "--max-examples", str(most), "--seed", "1", *left_out, *chosen,
                "--request-timeout", str(PATIENCE),
                "--suppress-health-check", "all", "--no-color",
            ],
            capture_output=True, text=True, check=False, timeout=PATIENCE, cwd=schema.parent,
        )  # fmt: skip
    assert ran.returncode == 0, ran.stdout[-20_000:] + ran.stderr[-2_000:]


def open_to(role: Role) -> list[str]:
    """Ids of the operations that a role may carry out."""
    return [
        view.operations[method.lower()].id  # type: ignore[attr-defined]
        for (method, route), view in routes().items()
        if role in MATRIX.get((method, route), ())
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "role", [role if role in TRIED_SOON else pytest.param(role, marks=pytest.mark.long) for role in Role]
)
def test_no_request_breaks_the_server_or_its_description(kit: Kit, schema: Path, role: Role) -> None:
    something_of_everything(kit)
    token = f"Bearer {kit.token(role, *AT_A_PLACE.get(role, (TerminalKind.OFFICE, '')))}"
    if role in WRITES_MOST:
        tried(schema, token, THOROUGH)
        return
    own = [name for name in open_to(role) if name not in LEFT_OUT]
    tried(schema, token, BRIEF, *(part for name in own for part in ("--include-operation-id", name)))
    others = (part for name in own for part in ("--exclude-operation-id", name))
    tried(schema, token, BRIEF, *others, phases=REFUSED_SOON if role in TRIED_SOON else REFUSED)


@pytest.mark.slow
def test_no_request_of_a_players_device_does_either(kit: Kit, schema: Path) -> None:
    """The deal of the table is prepared, and takes commitments and seeds; of the staff's operations some are tried."""
    kit.table("T1")
    desk = kit.seated("T1")
    key = key_of(desk, 1)
    desk.ok("deal")
    tried(schema, f"Seat {key}", BRIEF, *OF_A_DEVICE)
