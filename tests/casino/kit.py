"""A house of a test's own: founded through services, used through HTTP, settled as the worker settles."""

import itertools
import json
import logging
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import httpx
from django.core.handlers.wsgi import WSGIHandler
from django.db import transaction

from casino.approvals import identity
from casino.approvals.control_points import set_at_founding
from casino.audit.events import AuditEvent
from casino.audit.events.staff import StaffHired, TerminalEnrolled
from casino.audit.founding import found_house
from casino.audit.models import SignedCheckpoint
from casino.audit.sequencing import Sequencer
from casino.audit.services import Actor, Receipt, record
from casino.audit.signing import Signer
from casino.audit.verifier import Checkpoint, parse_note
from casino.bookkeeping import chart
from casino.bookkeeping.postings import Posting
from casino.cage.contents import by_the_books
from casino.cage.founding import create_drawer, open_vault
from casino.cage.models import Drawer, Shift
from casino.chips.selectors import in_use
from casino.chips.services import introduce
from casino.core import sql
from casino.core.canonical import fingerprint
from casino.core.commands import Command, RequestContext
from casino.core.denominations import spread
from casino.core.work import Work
from casino.days import packages
from casino.golive import rehearsals, rehearsing
from casino.hands import settlement
from casino.hands.terms import set_up_table
from casino.houses.models import House, OutboxMessage
from casino.players.models import Player
from casino.players.services import create_player
from casino.reports import making, packaging, runs
from casino.staff.models import Role, Staff, Terminal, TerminalKind, TerminalToken
from casino.staff.services import signed_in_event
from casino.tables.models import CarryoverOnClose, Table
from casino.tables.services import Terms, stock_tray
from engine.registry import game_info, resolve
from tests.casino import prepared
from tests.casino.any_event import USUAL, AnyEvent
from tests.casino.contract import assert_promised
from tests.words import as_action

# A line for every request would drown what a failing test has to say.
logging.getLogger("httpx").setLevel(logging.WARNING)

ACTOR = Actor(staff="test", role="system", terminal="", request="test")
FERBLI = {"vizi": 100, "table_max": 100_000, "tax_bps": 500, "tax_cap": 5_000}
FAERBELN = {"ante": 200, "lower": 500, "round2_unit": "lower", "bonus41": 10_000, "tax_bps": 500, "tax_cap": 700}
CHIPS = 100_000_000
#: What a house that goes live says of itself.
#: What guests read.
RULES = {"en": "The house takes 5 % of a pot.\n\nDisputes: the floor decides.", "hu": "A ház 5 %-ot vesz a kasszából."}
IDENTITY = {
    "legal_name": "Test Room Ltd", "tax_id": "12345678-2-41", "licence_number": "SZTFH-1", "address": "1 Main Street",
    "legal_profile": "HU", "languages": ["hu", "en"],
}  # fmt: skip
#: Cash of a drawer's float: so little that it takes more.
CASH = 1_000_000
#: The house's chips, by denomination: worth CHIPS together, and half of them fill a drawer.
PIECES = {
    1: 20_000, 5: 20_000, 25: 20_000, 100: 20_000, 500: 20_000, 1_000: 10_380, 5_000: 2_000, 25_000: 1_000,
    100_000: 420,
}  # fmt: skip
#: What lies in the tray of a table, for change: enough for any tax of an evening.
TRAY = {1: 400, 5: 400, 25: 400, 100: 400, 500: 200, 1_000: 100, 5_000: 20, 25_000: 8, 100_000: 4}

#: The worked hand of the record format: four seats, besszer, a charge, a showdown.
SAMPLE = (
    "p1 po 100", "d dh p1 Kl8b", "d dh p2 Ah7l", "d dh p3 XlOb", "d dh p4 Aa9a", "p2 cc 100", "p3 f", "p4 cc 100",
    "p1 rb 200", "p2 cc 200", "p4 cc 200", "p4 ks 400 p1", "d dh p1 Xb7b", "p1 lk 2", "p1 cc 400", "p2 f",
    "d dh p4 KhOl", "p1 k", "p4 lk 2", "p4 rb 800", "p1 cc 800", "p1 st", "p1 sm Kl8bXb7b", "p4 sm Aa9aKhOl",
)  # fmt: skip
#: Why a hand is voided, in most tests.
MISDEAL = {"cause": "misdeal"}


@cache
def application() -> WSGIHandler:
    """The application of this process; making it reads every static file's properties."""
    return WSGIHandler()


def command_of(context: RequestContext) -> Command:
    """A command with a key of its own, which no request has sent."""
    return Command(context=context, key=str(uuid.uuid4()), request_hash="", expected_version=None)


def record_work(work: Work) -> Receipt:
    """Record what a test has posted past the services, so that it can commit."""
    return work.record(chain=work.house.chain, event=AnyEvent(kind="house.duty", content=USUAL["house.duty"]))


def book(house: House, key: str, *postings: Posting) -> None:
    """Post something past the services, with an event that records it."""
    with transaction.atomic():
        work = Work(house, ACTOR)
        work.post(key=key, kind="test", postings=postings, metadata={})
        record_work(work)


def claim(work: Work, transaction_id: int, legs: Sequence[tuple[str, str, int]] = ()) -> None:
    """Let the work's next event record a ledger transaction that the work has not posted."""
    work._posted.append({"tx": transaction_id, "legs": [list(leg) for leg in legs], "about": ""})


@dataclass
class Desk:
    """A signed-in person at a terminal, speaking HTTP to the application."""

    http: httpx.Client
    path: str
    version: int = 0

    def get(self, path: str = "", **headers: str) -> httpx.Response:
        """Read below this desk's path; an absolute path starts with /."""
        return self.http.get(self._url(path), headers=headers)

    def post(
        self, path: str, body: Any = None, *, key: str | None = None, version: int | str | None = None,
        content: bytes | None = None, headers: dict[str, str] | None = None,
    ) -> httpx.Response:  # fmt: skip
        """Write below this desk's path on the version it has seen last, under a new key unless one is given."""
        sent = {"Idempotency-Key": key or str(uuid.uuid4()), "If-Match": f'"{self.version}"'}
        if version is not None:
            sent["If-Match"] = version if isinstance(version, str) else f'"{version}"'
        sent |= headers or {}
        if content is None:
            content = json.dumps(body if body is not None else {}).encode()
        answer = self.http.post(self._url(path), content=content, headers={"Content-Type": "application/json"} | sent)
        if answer.is_success and "ETag" in answer.headers:
            self.version = int(answer.headers["ETag"].strip('"'))
        return answer

    def ok(self, path: str, body: Any = None, **options: Any) -> dict[str, Any]:
        """Write and insist on success; returns the body."""
        answer = self.post(path, body, **options)
        assert answer.is_success, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def refresh(self) -> dict[str, Any]:
        """Read this desk and remember its version."""
        found: dict[str, Any] = self.get().json()
        self.version = found["version"]
        return found

    def deal(self, **dealt_in: Any) -> dict[str, Any]:
        """Prepare an electronic deal with these members of the request, unless one is, and deal it; the hand."""
        if dealt_in or self.get("deal").status_code == 409:
            self.ok("deal", dealt_in)
        return self.ok("hands", {"mode": "electronic"})

    def act(self, *lines: str) -> dict[str, Any]:
        """Take these lines of a hand in one request."""
        return self.ok("hand/actions", {"actions": [as_action(line) for line in lines]})

    def say(self, game: str, *lines: str) -> dict[str, Any]:
        """Take these lines of a hand of any game in one request."""
        grammar = game_info(game).grammar
        return self.ok("hand/actions", {"actions": [grammar.fields_of(line) for line in lines]})

    def _url(self, path: str) -> str:
        return path if path.startswith("/") else f"{self.path}/{path}".rstrip("/")


@dataclass
class Kit:
    """One house with a vault, a drawer C1 and as many tables and players as a test asks for."""

    house: House
    clients: list[httpx.Client] = field(default_factory=list)
    #: Whether logins name the house, so that each is in one house only.
    logins_with_house: bool = True
    #: Cashiers at drawers by their ids, with their tokens.
    cashiers: dict[Any, tuple[RequestContext, str]] = field(default_factory=dict)
    _numbers: Any = field(default_factory=lambda: itertools.count(1))

    @classmethod
    def found(
        cls, *, bare: bool = False, second_factor_required: bool = False, sandbox: bool = True, exponent: int = 0,
        name: str = "Test house",
    ) -> "Kit":  # fmt: skip
        """Found a house; `bare`: without chips, vault and drawer. A sandbox plays at once; `exponent`: decimal
        places of its currency."""
        code = f"H{uuid.uuid4().hex[:12]}"
        with transaction.atomic():
            house = found_house(
                code=code, name=name, currency="HUF", actor=ACTOR, second_factor_required=second_factor_required,
                sandbox=sandbox, currency_exponent=exponent,
            )  # fmt: skip
            # Drawers of tests begin with half of all chips: nobody has to approve that.
            # Tables open with what was stocked: who tests trays counts them. Nobody asks who a player is.
            names = (
                "float_by_manager_above",
                "float_most",
                "identity_from",
                "no_buy_in_above",
                "opener_required_above",
            )
            set_at_founding(house=house, points=dict.fromkeys(names, CHIPS), actor=ACTOR)
            if not sandbox:
                identity.set_at_founding(house=house, parts=IDENTITY, actor=ACTOR)
            if not bare:
                introduce(house=house, code="MAIN", denominations=dict.fromkeys(PIECES, ""), actor=ACTOR)
                open_vault(house=house, capital=CHIPS, chips=PIECES, actor=ACTOR)
                create_drawer(house=house, code="C1", actor=ACTOR)
        return cls(house)

    def close(self) -> None:
        """Close every client."""
        for client in self.clients:
            client.close()

    # --- Setting up ------------------------------------------------------------------------------------------------

    def table(
        self,
        code: str = "T1",
        *,
        seats: int = 4,
        carryover_on_close: CarryoverOnClose = CarryoverOnClose.SPLIT,
        **options: Any,
    ) -> Table:
        """Set up a Ferbli table; options are added to the usual ones."""
        agreed = FERBLI | options
        return self.table_for("ferbli", agreed, code=code, seats=seats, carryover_on_close=carryover_on_close)

    def table_for(
        self, game: str, agreed: dict[str, Any], *, code: str, seats: int,
        carryover_on_close: CarryoverOnClose = CarryoverOnClose.HOUSE,
        tray: int | None = None, max_stack: int = 1_000_000,
    ) -> Table:  # fmt: skip
        """Set up a table of any game with exactly these options, and as little a stack as they allow; its tray holds
        chips for change, or worth `tray`."""
        least = game_info(game).rules.parse(resolve(game, agreed, seats), seats).least_stack
        terms = Terms(
            game=game,
            options=agreed,
            seats=seats,
            min_stack=least,
            max_stack=max_stack,
            carryover_on_close=carryover_on_close,
        )
        table = set_up_table(house=self.house, code=code, terms=terms, actor=ACTOR)
        if tray != 0:
            stock_tray(table=table, amount=tray, pieces=TRAY if tray is None else None, actor=ACTOR)
        return table

    def token(self, role: Role, kind: TerminalKind, location: str) -> str:
        """The token of a newly hired person, at a separate terminal."""
        return self.hire(role, kind, location)[1]

    def hire(self, role: Role, kind: TerminalKind, location: str, *, noted: bool = True) -> tuple[RequestContext, str]:
        """Hire somebody, enrol a terminal, and issue a token for the two without spending a password hash; `noted`:
        with the events of it."""
        number = next(self._numbers)
        at_house = f"@{self.house.code}" if self.logins_with_house else ""
        with transaction.atomic():
            staff = Staff.objects.create(
                house=self.house, login=f"{role}{number}{at_house}", name=str(role), roles=[role],
                password_givers=[ACTOR.staff],
            )  # fmt: skip
            terminal = Terminal.objects.create(
                house=self.house, code=f"{kind}-{number}", kind=kind, location=location, key_digest="0" * 64
            )
            row, token = TerminalToken.objects.create(staff, terminal=terminal, house=self.house)
            if noted:
                self._note_hired(staff, terminal, row)
        context = RequestContext(house=self.house, staff=staff, role=role, terminal=terminal, request_id="test")
        return context, str(token)

    def _note_hired(self, staff: Staff, terminal: Terminal, token: TerminalToken) -> None:
        """Record a person, a device and a token that were made past the services."""
        at_it = Actor(staff=staff.login, role="", terminal=terminal.code, request="test")
        noted: list[tuple[Actor, AuditEvent]] = [
            (
                ACTOR,
                StaffHired(
                    login=staff.login, roles=list(staff.roles), password_sha256=fingerprint(staff.password)
                ),
            ),
            (
                ACTOR,
                TerminalEnrolled(
                    terminal=terminal.code, kind=str(terminal.kind), location=terminal.location,
                    key_sha256=fingerprint(terminal.key_digest),
                ),
            ),
            (at_it, signed_in_event(token)),
        ]  # fmt: skip
        with sql.joined():
            for actor, event in noted:
                record(chain=self.house.chain, house=self.house, actor=actor, event=event)

    def http(self, token: str | None) -> httpx.Client:
        """An HTTP client on the real WSGI application, with or without a token, which checks every answer."""
        client = httpx.Client(
            transport=httpx.WSGITransport(app=application(), raise_app_exceptions=False), base_url="http://localhost",
            event_hooks={"response": [assert_promised]},
        )  # fmt: skip
        if token is not None:
            client.headers["Authorization"] = f"Bearer {token}"
        self.clients.append(client)
        return client

    def dealer(self, code: str = "T1", *, role: Role = Role.DEALER) -> Desk:
        """A dealer's console at a table, with the table's version read."""
        return self._at_table(code, self.token(role, TerminalKind.TABLE, code))

    def _at_table(self, code: str, token: str) -> Desk:
        """The console of who has this token. Its version is read past the API, whose answer costs much more."""
        version = Table.objects.values_list("version", flat=True).get(house=self.house, code=code)
        return Desk(self.http(token), f"/api/v1/tables/{code}", version)

    def _at_cage(self, code: str, token: str) -> Desk:
        """The same at a drawer's terminal."""
        version = Drawer.objects.values_list("version", flat=True).get(house=self.house, code=code)
        return Desk(self.http(token), f"/api/v1/drawers/{code}", version)

    def cashier(self, code: str = "C1", *, another: bool = False) -> Desk:
        """A cashier's terminal at a drawer, with the drawer's version read: of the person who has opened it, if anybody
        has and `another` is not wanted."""
        return self._at_cage(code, self._at_drawer(code, another=another)[1])

    def _at_drawer(self, code: str, *, another: bool = False) -> tuple[RequestContext, str]:
        """The cashier who has opened a drawer, otherwise a new one, with a token."""
        opened = Shift.objects.filter(house=self.house, drawer__code=code, closed_at=None).first()
        if opened is not None and not another and opened.opened_by_id in self.cashiers:
            return self.cashiers[opened.opened_by_id]
        hired = self.hire(Role.CASHIER, TerminalKind.CAGE, code)
        self.cashiers[hired[0].staff.pk] = hired
        return hired

    def runner(self) -> str:
        """The login of a person who carries chips, and neither sends nor receives them."""
        return self.hire(Role.DEALER, TerminalKind.OFFICE, "")[0].staff.login

    def supervisor(self, code: str = "C1", *, role: Role = Role.CAGE_SUPERVISOR) -> Desk:
        """Somebody else at a drawer's terminal, with the drawer's version read: a supervisor, unless `role` says."""
        return self._at_cage(code, self.token(role, TerminalKind.CAGE, code))

    def open_drawer(
        self, cashier: Desk, *, cash: int, chips: int | None = None, pieces: Mapping[str, int] | None = None
    ) -> dict[str, Any]:
        """Open a cashier's drawer: a manager counts out the float, by pieces or a spread of chips worth so much, and
        the cashier counts the same and takes it."""
        if pieces is None:
            pieces = spread(chips or 0, chart.rack(self.house, "9110", in_use(self.house).code)).as_json()
        manager = self.supervisor(cashier.path.rpartition("/")[2], role=Role.MANAGER)
        manager.ok("handovers", {"kind": "float", "cash": cash, "pieces": pieces})
        cashier.version = manager.version
        return cashier.ok("open", {"cash": cash, "pieces": pieces})

    def held(self, code: str = "C1") -> dict[str, Any]:
        """What a drawer must hold by the books, as a count names it. No answer of the house says so."""
        drawer = Drawer.objects.select_related("house").get(house=self.house, code=code)
        return by_the_books(drawer).as_json()

    def close_drawer(self, cashier: Desk, **counted: Any) -> dict[str, Any]:
        """Count a drawer (what the books say, but for what is named) and close it; a count that differs is counted
        again, and signed off by a manager. Returns the closing's answer."""
        code = cashier.path.rpartition("/")[2]
        count = self.held(code) | counted
        cashier.refresh()
        if cashier.ok("count", count)["last_event"]["agrees"]:
            return cashier.ok("close")
        self.supervisor(code).ok("recount", count)
        closed = self.supervisor(code, role=Role.MANAGER).ok("sign-off", {"reason": "counted twice"})
        cashier.refresh()
        return closed

    def office(self, role: Role = Role.AUDITOR) -> Desk:
        """An office terminal; its path is the API's root."""
        return Desk(self.http(self.token(role, TerminalKind.OFFICE, "")), "/api/v1")

    def players(self, *refs: str, chips: int = 0, pieces: Mapping[int, int] | None = None) -> list[Player]:
        """Register players, each with `chips` bought at the cage, in the largest chips there are or in these pieces."""
        with transaction.atomic():
            players = [create_player(house=self.house, ref=ref, actor=ACTOR) for ref in refs]
        if pieces:
            chips = sum(value * count for value, count in pieces.items())
        if chips and players:
            context, _ = self._at_drawer("C1")
            if not Shift.objects.filter(house=self.house, drawer__code="C1", closed_at=None).exists():
                manager, _ = self.hire(Role.MANAGER, TerminalKind.CAGE, "C1")
                halves = {str(value): count // 2 for value, count in PIECES.items()}
                prepared.open_drawer(command_of(manager), command_of(context), "C1", cash=CASH, pieces=halves)
            commands = [command_of(context) for _ in players]
            prepared.sell_chips(commands, "C1", players, amount=chips, pieces=pieces)
        return players

    def seated(self, code: str = "T1", *, stacks: tuple[int, ...] = (20_000, 15_000, 9_000, 30_000)) -> Desk:
        """An open table with players u1, u2 ... on seats 1, 2 ... and these stacks; returns the dealer's console."""
        refs = [f"{code}-u{number}" for number in range(1, len(stacks) + 1)]
        return self.sit_down(self.players(*refs, chips=max(stacks)), stacks, code)

    def sit_down(self, players: Sequence[Player], stacks: Sequence[int], code: str = "T1") -> Desk:
        """Open a table and seat these players on seats 1, 2 ... with these stacks; returns the dealer's console."""
        context, token = self.hire(Role.DEALER, TerminalKind.TABLE, code)
        dealer = self._at_table(code, token)
        dealer.ok("open")
        prepared.seat([command_of(context) for _ in players], code, players, stacks=stacks)
        dealer.version += len(stacks)
        return dealer

    def worked_hand(self) -> Desk:
        """The worked hand, played to its end at a table T1 of its own, waiting for its settlement; returns the dealer's
        console."""
        self.table()
        dealer = self.seated()
        dealer.ok("hands", {"mode": "physical", "button": 4})
        dealer.act(*SAMPLE[:12])
        dealer.act(*SAMPLE[12:])
        return dealer

    def approved(
        self, desk: Desk, path: str, body: Any = None, *, by: Role = Role.MANAGER, key: str | None = None
    ) -> dict[str, Any]:
        """Write at a desk what somebody of this role, in the office, or of every role where all must, approves in
        between; returns the answer."""
        return desk.ok(path, body, key=key, headers=self.approval(desk, path, body, by=by, key=key))

    def approval(
        self, desk: Desk, path: str, body: Any = None, *, by: Role = Role.MANAGER, key: str | None = None
    ) -> dict[str, str]:
        """Ask at a desk for what somebody of this role, in the office, or of every role where all must, approves;
        returns the header that names it."""
        held = desk.post(path, body, key=key)
        assert (held.status_code, held.json()["code"]) == (409, "approval_required"), held.text
        asked = held.json()["approval"]
        for role in map(Role, asked["roles"]) if asked["every_role"] else (by,):
            self.office(role).ok(f"approvals/{asked['approval']}/approve")
        return {"Approval": str(asked["approval"])}

    def close_day(self, desk: Desk, name: str, *, version: int = 1, key: str | None = None) -> dict[str, Any]:
        """Close a gaming day at a manager's desk; a cage supervisor approves it."""
        path = f"days/{name}/close"
        held = desk.post(path, {}, version=version, key=key)
        assert (held.status_code, held.json()["code"]) == (409, "approval_required"), held.text
        number = held.json()["approval"]["approval"]
        self.office(Role.CAGE_SUPERVISOR).ok(f"approvals/{number}/approve")
        return desk.ok(path, {}, version=version, key=key, headers={"Approval": str(number)})

    # --- The worker's part -----------------------------------------------------------------------------------------

    def settle(self) -> list[str]:
        """Work off the outbox as the worker does; returns the states of the hands."""
        others = (packages.TASK, runs.TASK, rehearsals.TASK)
        waiting = OutboxMessage.objects.filter(house=self.house, done_at=None).exclude(task__in=others)
        return [settlement.resolve(message_id) for message_id in waiting.order_by("id").values_list("id", flat=True)]

    def package(self) -> list[str]:
        """Make the packages of closed days as the worker does; returns the SHA-256 of each."""
        waiting = OutboxMessage.objects.filter(house=self.house, done_at=None, task=packages.TASK).order_by("id")
        return [packaging.work_off(message_id) for message_id in waiting.values_list("id", flat=True)]

    def rehearse(self) -> list[str]:
        """Play the rehearsals that were asked for as the worker does; returns the state of each."""
        waiting = OutboxMessage.objects.filter(house=self.house, done_at=None, task=rehearsals.TASK).order_by("id")
        return [rehearsing.work_off(message_id) for message_id in waiting.values_list("id", flat=True)]

    def keep_nobody(self, settings: Any) -> None:
        """Let players be forgotten as soon as they are gone, whatever the law says."""
        settings.CASINO_RETENTION_DAYS = 0
        set_at_founding(house=self.house, points={"retain_laundering_days": 0}, actor=ACTOR)

    def make_reports(self) -> list[str]:
        """Make the reports that were asked for as the worker does; returns the state of each run."""
        waiting = OutboxMessage.objects.filter(house=self.house, done_at=None, task=runs.TASK).order_by("id")
        return [making.work_off(message_id) for message_id in waiting.values_list("id", flat=True)]

    def sequence(self) -> Checkpoint:
        """Bring the house's audit log up to date as the sequencer does, in this process; returns its newest checkpoint.

        Each call is a sequencer that has just been started. The files outside lie in CASINO_CHECKPOINT_DIR
        (`casino.audit.outside`), the key of the run is `settings.CASINO_LOG_KEY`.
        """
        sequencer = Sequencer(Signer.from_settings())
        while sequencer.publish(self.house.id) is not None:
            pass
        newest = SignedCheckpoint.objects.filter(house=self.house).order_by("-epoch", "-size").first()
        assert newest is not None, "a house has events from its beginning"
        return parse_note(newest.note).checkpoint

    def balance(self, *codes: str) -> Any:
        """Ledger balances by account code, a rack's in value: one number for one code, else a list."""
        money = [code for code in codes if not chart.kind_of(code).custody]
        found = {code: chart.rack_value(self.house, code) for code in codes} | chart.balances(self.house, money)
        return found[codes[0]] if len(codes) == 1 else [found[code] for code in codes]
