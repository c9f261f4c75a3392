"""An evening on which everything is done that the API can write, step by step; each step is one request."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any
from unittest import mock

import httpx
import pyotp
import pytest
from django.conf import settings

from casino.approvals.control_points import set_at_founding
from casino.audit import selectors as audit
from casino.audit.models import Event
from casino.bookkeeping import chart
from casino.cage.contents import in_the_vault
from casino.houses.models import ClockTimestamp
from casino.players.models import Player
from casino.reports import readers, schedules, sending
from casino.reports.frame import registry
from casino.reports.models import Delivery
from casino.safeguards import reality
from casino.staff.models import Role, RotaEntry, TerminalKind
from casino.tables.models import Table, WaitingEntry
from casino.transfers import chip_sets
from casino.transfers.models import Box, ChipMove, Kind, Transfer, TrayCount
from tests.casino.authenticator import Authenticator
from tests.casino.devices import Device
from tests.casino.kit import ACTOR, FERBLI, IDENTITY, MISDEAL, PIECES, RULES, TRAY, Desk, Kit
from tests.casino.transfers.test_transfers import floor_at
from tests.words import as_action

PASSWORD, NEW_PASSWORD = "seven-of-acorns-19", "ober-of-hearts-31"
DAY = "2020-02-28"
#: Last day of a notice that is over.
NOTICE = "2020-12-31"
REASON = {"reason": "so that everything happens"}
PERSON = {"name": "Nobody At All", "born": "1970-01-01", "document": "000000AA"}
#: Terms of a Ferbli table that differ from the kit's by a larger stack.
TERMS = {
    "options": FERBLI, "seat_count": 4, "min_stack": 400, "max_stack": 2_000_000, "carryover_on_close": "split",
}  # fmt: skip
#: The tray, with one chip too few.
WHOLE_TRAY = {str(value): count for value, count in TRAY.items()} | {"500": TRAY[500] - 1}
#: More than there is of 500.
TRAY_TEMPLATE = WHOLE_TRAY | {"500": TRAY[500] + 20}
FLOAT_TEMPLATE = {"cash": 50_000, "pieces": {"500": 40, "100": 100}, "least": {"100": 20}, "ceiling": 400_000}
FLOAT = {str(value): 100 for value in PIECES if value <= 5_000}


#: What a player complains about, and what is sealed.
COMPLAINT = {
    "kind": "hand", "player": "anna", "text": "The pot was counted too fast.",
    "hands": [{"hand": "T1-000002", "video": "camera 3, 20:15"}], "entries": [{"drawer": "C1", "seq": 1}],
}  # fmt: skip
ESCALATION = {"adr": "Arbitration board", "text": "The player asks the board."}
SEALED_CASE = {"what": "case", "player": "anna", "text": "Bills changed up three times."}


class Busy:
    """A house with a table T1 and a drawer C1, somebody at every place, and what later steps need of earlier ones."""

    def __init__(self, kit: Kit) -> None:
        self.kit = kit
        if not Table.objects.filter(house=kit.house, code="T1").exists():
            kit.table()
        kit.players("T1-u1", "T1-u2")
        # Somebody is forgotten on this evening: the house need not keep who players are.
        set_at_founding(house=kit.house, points={"retain_laundering_days": 0}, actor=ACTOR)
        self.dealer, self.reliever, self.cashier = kit.dealer(), kit.dealer(), kit.cashier()
        self.table_floor = floor_at(kit, TerminalKind.TABLE, "T1")
        self.cage_floor = floor_at(kit, TerminalKind.CAGE, "C1")
        self.office, self.manager, self.auditor = kit.office(Role.ADMIN), kit.office(Role.MANAGER), kit.office()
        #: Who signs the difference of the vault off.
        self.other_manager = kit.office(Role.MANAGER)
        self.counters = kit.office(Role.COUNT), kit.office(Role.COUNT)
        self.counter, self.other_counter = self.counters
        #: Who attends a destruction, and a decision on a box.
        self.observer = kit.hire(Role.SURVEILLANCE, TerminalKind.OFFICE, "")[0].staff.login
        self.cage_supervisor, self.runner = kit.office(Role.CAGE_SUPERVISOR), kit.runner()
        self.compliance = kit.office(Role.COMPLIANCE)
        self.supervisor, self.cage_manager = kit.supervisor(), kit.supervisor(role=Role.MANAGER)
        #: Who books duty; another supervisor than the one who receives boxes.
        self.keeper = kit.office(Role.CAGE_SUPERVISOR)
        #: A table that is retired without ever having been opened.
        seats = {"options": {"stake": 100, "players": 4}, "min_stack": 2_000, "max_stack": 50_000}
        self.office.ok("tables", {"table": "T9", "game": "zsiros"} | TERMS | seats)
        #: A drawer that is retired without ever having been opened.
        self.office.ok("drawers", {"drawer": "C9"})
        #: A table to which players move.
        self.office.ok("tables", {"table": "T8", "game": "ferbli", "area": "hall"} | TERMS)
        #: A player's own device at T1, once it has its key.
        self.device: Device
        self.other_dealer = kit.dealer("T8")
        self.other_dealer.ok("open")
        #: A drawer that takes another one over.
        self.office.ok("drawers", {"drawer": "C2"})
        self.other_cashier = kit.cashier("C2")
        #: Who approves, and the number of what was asked for last.
        self.approver, self.approval = kit.office(Role.MANAGER), 0
        self.token, self.terminal, self.terminal_key, self.secret = "", "console-7", "", ""
        #: SHA-256 of the package of the day that was closed.
        self.package = ""
        #: What makes passkeys, and the request with the one that it has made; it says that it has signed before.
        self.authenticator, self.passkey = Authenticator(count=5), {}
        #: How often a second factor was begun again; each time is a version of the person.
        self.factors_lost = 0

    def post(self, desk: Desk, path: str, body: Any = None) -> httpx.Response:
        """Write, on the version of now; the runner carries what is sent."""
        named = {"carrier": self.runner, "observer": self.observer}
        if isinstance(body, dict):
            body = body | {name: named[name] for name in named.keys() & body.keys()}
        if desk.path != "/api/v1":
            desk.refresh()
        return desk.post(path, body)

    def made(self, kind: str) -> int:
        """Number of the fill or credit that was begun last, or of the box of a kind that was taken off a table last."""
        if kind in Kind.values:
            return int(Transfer.objects.filter(house=self.kit.house, kind=kind).latest("id").serial)
        return int(Box.objects.filter(house=self.kit.house, kind=kind).exclude(state="at_table").latest("id").serial)

    @property
    def newcomer(self) -> Desk:
        """The person who is hired on this evening, signed in."""
        return Desk(self.kit.http(self.token), "/api/v1")

    @property
    def login(self) -> str:
        """Of the person who is hired on this evening."""
        return f"new@{self.kit.house.code}"


Step = Callable[[Busy], httpx.Response]


def _at(desk: str, path: str, body: Any = None) -> Step:
    return lambda busy: busy.post(getattr(busy, desk), path, body)


def _on(desk: str, kind: str, what: str, body: Any = None) -> Step:
    """A step with what was begun before."""
    return lambda busy: busy.post(getattr(busy, desk), f"{kind}s/{busy.made(kind)}/{what}", body)


def _box(desk: str, kind: str, what: str, body: Any = None) -> Step:
    """A step in the count room with the box that was taken off last."""
    return lambda busy: busy.post(getattr(busy, desk), f"boxes/{busy.made(kind)}/{what}", body)


def _swaps(kind: str, number: str, **more: Any) -> Step:
    return _at("dealer", "boxes", {"kind": kind, "number": number, **more})


def _swaps_with_count(kind: str, number: str, seal: str) -> Step:
    """The dealer counts the tray at the same time."""
    return lambda busy: _swaps(kind, number, seal=seal, tray=_rack(busy, "9130/T1"))(busy)


def _tray_as_it_is(busy: Busy) -> httpx.Response:
    """The floor counts as the books have it."""
    return _tray(_rack(busy, "9130/T1"))(busy)


def _tray(pieces: dict[str, int]) -> Step:
    """The floor counts the tray as the witness."""

    def step(busy: Busy) -> httpx.Response:
        number = TrayCount.objects.filter(house=busy.kit.house).latest("id").serial
        return busy.post(busy.table_floor, f"tray-counts/{number}/witness", {"pieces": pieces})

    return step


def _accepts(counts: str, decides: str, kind: str) -> Step:
    """Two counts that differ from what was sent, and then a supervisor's."""

    def step(busy: Busy) -> httpx.Response:
        path = f"{kind}s/{busy.made(kind)}"
        for _ in range(2):
            busy.post(getattr(busy, counts), f"{path}/receive", {"pieces": {"500": 1}, "carrier": ""})
        body = {"pieces": {"500": 1}, "carrier": ""} | REASON
        return busy.post(getattr(busy, decides), f"{path}/accept-with-variance", body)

    return step


def _differ_thrice(busy: Busy) -> httpx.Response:
    """Two people count the tax box differently until a supervisor decides."""
    for number in range(3):
        for desk, more in zip(busy.counters, (0, 1), strict=True):
            body = {"cash": 0, "pieces": {"5": number + more}}
            answer = busy.post(desk, f"boxes/{busy.made('tax')}/counts", body)
    return answer


def _relieve(desk: str) -> Step:
    """The table's dealer is relieved by this one."""

    def step(busy: Busy) -> httpx.Response:
        there = busy.dealer.refresh()["dealer"]
        return busy.post(getattr(busy, desk), "dealer/take-over", {"relieves": there})

    return step


def _waiting(what: str, body: Any) -> Step:
    """A step with the last one on the waiting list who has not been seated or removed."""

    def step(busy: Busy) -> httpx.Response:
        entry = WaitingEntry.objects.filter(house=busy.kit.house, state__in=WaitingEntry.OPEN).latest("number")
        path = f"/api/v1/waiting-list/{entry.number}/{what}"
        return busy.table_floor.post(path, body, version=entry.version)

    return step


def _moves(kind: str, pieces: dict[str, int], **more: str) -> Step:
    """Somebody counts out chips of the vault, or writes down a delivery."""
    return _at("cage_supervisor", "chip-moves", {"kind": kind, "paper": "note 4711", "pieces": pieces} | more)


def _move(desk: str, what: str, body: dict[str, Any]) -> Step:
    """A step with the movement of chips that was written down last."""

    def step(busy: Busy) -> httpx.Response:
        number = ChipMove.objects.filter(house=busy.kit.house).latest("id").serial
        return busy.post(getattr(busy, desk), f"chip-moves/{number}/{what}", body)

    return step


def _close_day(busy: Busy) -> httpx.Response:
    """A manager closes the day, which a cage supervisor approves, and the worker makes its package."""
    path = f"days/{DAY}/close"
    answer = busy.manager.post(path, {}, version=1)
    if answer.status_code == 409:
        number = answer.json()["approval"]["approval"]
        busy.keeper.post(f"approvals/{number}/approve", {})
        answer = busy.manager.post(path, {}, version=1, headers={"Approval": str(number)})
    if answer.is_success:
        [busy.package] = busy.kit.package()
    return answer


def _sign_package(busy: Busy) -> httpx.Response:
    """An auditor signs the package of the day."""
    return busy.auditor.post(f"days/{DAY}/package/sign", {"sha256": busy.package})


def _print(busy: Busy) -> httpx.Response:
    """The auditor prints the first buy-in at the cage, which is in the log by then."""
    bought = audit.of_event(busy.kit.house, "drawer/C1", "cage.buy_in")
    player = Event.objects.get(house=busy.kit.house, leaf_hash=bought.hash).doc["data"]["player"]
    answer = busy.auditor.post(
        "prints/documents", {"chain": bought.chain, "seq": bought.seq, "player": player, "form": "slip"}
    )
    if answer.is_success:
        busy.kit.sequence()
    return answer


def _make_reports(busy: Busy) -> httpx.Response:
    """The auditor looks at a run, and the worker makes it."""
    answer = busy.auditor.get("report-runs/1")
    if answer.is_success:
        assert busy.kit.make_reports() == ["made"]
    return answer


def _fail_report(busy: Busy) -> httpx.Response:
    """A report of another version than the one that was asked for is not made."""
    answer = busy.auditor.get("report-runs/3")
    if not answer.is_success:
        return answer
    report = registry.reports()["chips"]
    known = {"chips": replace(report, version=report.version + 1)}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(registry, "reports", lambda: known)
        assert busy.kit.make_reports() == ["failed"]
    return answer


def _fire(busy: Busy) -> httpx.Response:
    """The clock lets a schedule fall due."""
    answer = busy.auditor.get("report-deliveries")
    if answer.is_success:
        assert schedules.fire_due(busy.kit.house) == 1
    return answer


def _sat_long(busy: Busy) -> httpx.Response:
    """The clock raises a reality check, as if hours had passed."""
    answer = busy.compliance.get("reality-checks")
    if answer.is_success:
        there = [replace(one, since=120) for one in reality.sitting(busy.kit.house)]
        with mock.patch.object(reality, "sitting", return_value=there):
            assert reality.raise_due(busy.kit.house) == [1]
    return answer


def _stop(busy: Busy) -> httpx.Response:
    """The clock stops a schedule, as if who has set it had left."""
    answer = busy.auditor.get("report-schedules")
    if answer.is_success:
        with mock.patch.object(readers, "lost", return_value=readers.Lost.SETTER_LEFT):
            assert schedules.stop_lost(busy.kit.house) == 1
    return answer


def _deliver(state: str) -> Step:
    """A worker sends what is due; the folder is there, or is not."""

    def step(busy: Busy) -> httpx.Response:
        answer = busy.auditor.get("report-deliveries")
        if answer.is_success:
            folder = Path(settings.CASINO_DESTINATIONS).with_name("archive")
            shutil.rmtree(folder, ignore_errors=True)
            if state == "sent":
                folder.mkdir()
                Delivery.objects.filter(house=busy.kit.house).update(next_at=ClockTimestamp())
            assert sending.send_due(busy.kit.house) == {1: state}
        return answer

    return step


def _in_vault(busy: Busy, short: int = 5) -> dict[str, Any]:
    """What the vault holds by the books, less so much cash."""
    held = in_the_vault(busy.kit.house).as_json()
    return held | {"cash": held["cash"] - short}


def _vault_count(desk: str) -> Step:
    return lambda busy: busy.post(getattr(busy, desk), "vault/counts", _in_vault(busy))


def _vault_differs(busy: Busy) -> httpx.Response:
    """The other one counts something else, until somebody decides."""
    for number in range(1, 4):
        if number > 1:
            busy.post(busy.keeper, "vault/counts", _in_vault(busy))
        answer = busy.post(busy.cage_supervisor, "vault/counts", _in_vault(busy, 5 + number))
    return answer


def _share(busy: Busy) -> httpx.Response:
    return busy.post(busy.cage_supervisor, "tronc/share", {"points": {busy.runner: 3}})


def _pay_share(busy: Busy) -> httpx.Response:
    return busy.post(busy.cashier, "tronc-shares", {"pool": 1, "login": busy.runner})


def _acts(*lines: str) -> Step:
    return _at("dealer", "hand/actions", {"actions": [as_action(line) for line in lines]})


def _on_person(what: str, version: int, body: dict[str, Any]) -> Step:
    return lambda busy: busy.office.post(
        f"staff/{busy.login}/{what}", body | REASON, version=version + busy.factors_lost
    )


def _hire(busy: Busy) -> httpx.Response:
    return busy.office.post(
        "staff", {"login": busy.login, "name": "New Person", "roles": ["dealer"], "password": PASSWORD}
    )


def _enrol(busy: Busy) -> httpx.Response:
    answer = busy.office.post("terminals", {"terminal": busy.terminal, "kind": "table", "location": "T1"})
    if answer.is_success and "key" not in answer.json():
        # The answer was lost, and with it the key, which is shown once.
        busy.terminal = "console-7b"
        answer = busy.office.post("terminals", {"terminal": busy.terminal, "kind": "table", "location": "T1"})
    busy.terminal_key = answer.json().get("key", "")
    return answer


def _sign_in(busy: Busy, password: str = PASSWORD) -> httpx.Response:
    here = {"terminal": busy.terminal, "terminal_key": busy.terminal_key}
    asked = busy.kit.http(None).post("/api/v1/sign-in/challenge", json=here)
    assert asked.is_success, asked.text
    answer = busy.kit.http(None).post("/api/v1/sign-in", json={"login": busy.login, "password": password} | here)
    busy.token = answer.json().get("token", "")
    return answer


def _change_password(busy: Busy) -> httpx.Response:
    """And sign in once more: what went before is a session elsewhere."""
    answer = busy.newcomer.post("password", {"old": PASSWORD, "new": NEW_PASSWORD})
    if answer.is_success:
        again = _sign_in(busy, NEW_PASSWORD)
        assert again.is_success, again.text
    return answer


def _set_pin(busy: Busy) -> httpx.Response:
    body = {"password": NEW_PASSWORD, "pin": "2580"}
    return Desk(busy.kit.http(busy.token), "/api/v1").post("pin", body)


def _register_passkey(busy: Busy) -> httpx.Response:
    if not busy.passkey:
        asked = busy.newcomer.http.post("/api/v1/passkeys/begin", json={"password": NEW_PASSWORD})
        busy.passkey = {"name": "Key ring"} | busy.authenticator.make(asked.json())
    return busy.newcomer.post("passkeys", busy.passkey)


def _remove_passkey(busy: Busy) -> httpx.Response:
    asked = busy.newcomer.http.post("/api/v1/passkeys/challenge", json={"purpose": "own"})
    body = {"password": NEW_PASSWORD, "passkey": busy.authenticator.sign(asked.json())}
    return busy.newcomer.post(f"passkeys/{busy.authenticator.name}/remove", body)


def _begin_factor(busy: Busy) -> httpx.Response:
    desk = Desk(busy.kit.http(busy.token), "/api/v1")
    answer = desk.post("second-factor", {"password": NEW_PASSWORD})
    if answer.is_success and "secret" not in answer.json():
        # The answer was lost, and with it the secret, which is shown once.
        busy.factors_lost += 1
        answer = desk.post("second-factor", {"password": NEW_PASSWORD})
    busy.secret = answer.json().get("secret", "")
    return answer


def _confirm_factor(busy: Busy) -> httpx.Response:
    """A code that ran out on its way is entered again, as people do."""
    factor, desk = pyotp.TOTP(busy.secret), Desk(busy.kit.http(busy.token), "/api/v1")
    answer = desk.post("second-factor/confirm", {"code": (code := factor.now())})
    if answer.status_code == 403 and code != factor.now():
        answer = desk.post("second-factor/confirm", {"code": factor.now()})
    return answer


def _reauthenticate(busy: Busy) -> httpx.Response:
    answer = busy.newcomer.http.post("/api/v1/reauthenticate", json={"password": NEW_PASSWORD})
    busy.token = answer.json().get("token", busy.token)
    return answer


def _issue_key(busy: Busy) -> httpx.Response:
    """The device that has the key is remembered."""
    answer = busy.dealer.post("seats/1/key")
    if answer.is_success:  # some tests refuse it
        busy.device = Device(busy.kit, answer.json()["key"])
    return answer


def _enter_rota(busy: Busy) -> httpx.Response:
    where = {"login": busy.login, "role": "dealer", "kind": "table", "location": "T1"}
    return busy.manager.post("rota", where | {"starts_at": f"{DAY}T18:00:00Z", "ends_at": "2020-02-29T02:00:00Z"})


def _withdraw_rota(busy: Busy) -> httpx.Response:
    newest = RotaEntry.objects.filter(house=busy.kit.house).latest("number")
    return busy.manager.post(f"rota/{newest.number}/withdraw", REASON, version=1)


def _sign_out(busy: Busy) -> httpx.Response:
    return busy.kit.http(busy.token).post("/api/v1/sign-out", json={})


def _counted(desk: str, path: str) -> Step:
    """A step by which a drawer is counted: five too little in cash, and a chip of five too many."""

    def count(busy: Busy) -> httpx.Response:
        held = busy.kit.held()
        pieces = held["pieces"] | {"5": held["pieces"].get("5", 0) + 1}
        return busy.post(getattr(busy, desk), path, held | {"cash": held["cash"] - 5, "pieces": pieces})

    return count


def _agrees(desk: str) -> Step:
    """A step by which a drawer is counted as the books have it."""
    return lambda busy: busy.post(getattr(busy, desk), "count", busy.kit.held())


def _takes_over(busy: Busy) -> httpx.Response:
    """The cashier of another drawer counts the first one."""
    return busy.post(busy.other_cashier, "take-over", {"from_drawer": "C1"} | busy.kit.held())


def _corrected(busy: Busy) -> httpx.Response:
    """The chips that were just bought back were worth something else."""
    wrong = Event.objects.filter(house=busy.kit.house, doc__kind="cage.bearer_cash_out").order_by("id").last()
    right = {"kind": "cage.bearer_cash_out", "amount": 2_000, "pieces": {"1000": 2}}
    return busy.post(busy.supervisor, "corrections", {"entry": wrong.seq if wrong else 1, "right": right} | REASON)


def _booking(busy: Busy) -> int:
    """Number of the booking of duty in the house's chain."""
    found = Event.objects.filter(house=busy.kit.house, doc__kind="house.duty").order_by("id").last()
    return found.seq if found else 1


#: Who asks for what needs an approval.
_ASKING = {
    "duty": "keeper", "limits": "office", "chip-sets/NEXT/use": "office", "chip-sets/MAIN/lapse": "keeper",
    "house/suspend": "manager", "house/resume": "manager",
}  # fmt: skip


def _decided(path: str, body: Any, who: str, decision: str, reason: dict[str, str] | None = None) -> Step:
    """A step that asks in the office for what needs an approval, and then decides it."""

    def step(busy: Busy) -> httpx.Response:
        held: httpx.Response = getattr(busy, _ASKING[path]).post(path, body)
        if held.status_code != 409:
            return held
        busy.approval = held.json()["approval"]["approval"]
        desk: Desk = getattr(busy, who)
        return desk.post(f"approvals/{busy.approval}/{decision}", reason or {})

    return step


def _trade(busy: Busy, kind: str) -> str:
    """What the newest trade of a kind is called."""
    event = Event.objects.filter(house=busy.kit.house, doc__kind=kind).select_related("chain").order_by("id").last()
    assert event is not None
    return f"{event.chain.name}#{event.seq}"


def _approved(path: str, body: Any, asks: str = "keeper", by: str = "approver") -> Step:
    """A step that somebody approves in between: a manager, unless `by` says."""

    def step(busy: Busy) -> httpx.Response:
        desk: Desk = getattr(busy, asks)
        held = busy.post(desk, path, body)
        if held.status_code != 409:
            return held
        asked = held.json()["approval"]
        for one in ("approver", "compliance") if asked["every_role"] else (by,):
            getattr(busy, one).post(f"approvals/{asked['approval']}/approve", {})
        return desk.post(path, body, headers={"Approval": str(asked["approval"])})

    return step


def _lifted(busy: Busy) -> httpx.Response:
    """The hold of a player ends; a manager approves it."""
    held = busy.compliance.post("legal-holds/2/lift", REASON, version=1)
    if held.status_code != 409:
        return held
    number = held.json()["approval"]["approval"]
    busy.approver.post(f"approvals/{number}/approve", {})
    return busy.compliance.post("legal-holds/2/lift", REASON, version=1, headers={"Approval": str(number)})


def _forgets(player: str) -> Step:
    """Compliance asks, the auditor approves; nothing wants the player kept."""

    def step(busy: Busy) -> httpx.Response:
        desk, path = Desk(busy.compliance.http, busy.compliance.path, version=2), f"players/{player}/forget"
        with mock.patch.object(settings, "CASINO_RETENTION_DAYS", 0):
            held = desk.post(path, {"reason": "recorded_wrongly"})
            if held.status_code != 409:
                return held
            number = held.json()["approval"]["approval"]
            busy.auditor.post(f"approvals/{number}/approve")
            return desk.post(path, {"reason": "recorded_wrongly"}, headers={"Approval": str(number)})

    return step


def _found(number: int) -> Step:
    """The runner has found a chip."""

    def step(busy: Busy) -> httpx.Response:
        where = {"finder": busy.runner, "found_where": f"under chair {number}"}
        return busy.post(busy.cashier, "found-chips", where | {"amount": 5_000, "pieces": {"5000": 1}})

    return step


def _at_once(step: Step) -> Step:
    """The same step in a house that waits for no owner."""

    def then(busy: Busy) -> httpx.Response:
        with mock.patch.object(settings, "CASINO_UNCLAIMED_DAYS", 0):
            return step(busy)

    return then


def _with_approval(path: str, body: Any) -> Step:
    """A step in the office with what was approved last."""
    return lambda busy: getattr(busy, _ASKING[path]).post(path, body, headers={"Approval": str(busy.approval)})


def _rack(busy: Busy, code: str) -> dict[str, int]:
    """The chips of the first set in a place."""
    return chart.rack(busy.kit.house, code, "MAIN").as_json()


def _returns_tray(busy: Busy) -> httpx.Response:
    """The dealer sends the whole tray to the cage."""
    return busy.post(busy.dealer, "credits", {"drawer": "C1", "pieces": _rack(busy, "9130/T1")})


def _takes_tray(busy: Busy) -> httpx.Response:
    """The cage receives it."""
    body = {"pieces": _rack(busy, "9140/T1"), "carrier": ""}
    return busy.post(busy.cashier, f"credits/{busy.made('credit')}/receive", body)


def _long_ago(step: Step) -> Step:
    """The same step on a day long ago, by the date of the house."""

    def then(busy: Busy) -> httpx.Response:
        with mock.patch.object(chip_sets, "today", return_value=date.fromisoformat(DAY)):
            return step(busy)

    return then


def _unattribute(busy: Busy) -> httpx.Response:
    """Players who do not come any more."""
    for player in Player.objects.filter(house=busy.kit.house):
        player.house = busy.kit.house
        held = busy.kit.balance(player.wallet)
        if held:
            body = {"place": "C1", "amount": held} | REASON
            answer = busy.post(busy.compliance, f"players/{player.ref}/unattributions", body)
    return answer


def _all_of(kind: str, code: str) -> Step:
    """Somebody counts out all chips of the first set in a place of the vault."""

    def step(busy: Busy) -> httpx.Response:
        body = {"kind": kind, "paper": "the end of it", "pieces": _rack(busy, code), "chip_set": "MAIN"}
        return busy.post(busy.cage_supervisor, "chip-moves", body | ({"observer": ""} if kind == "destruction" else {}))

    return step


def _all_counted(code: str) -> Step:
    return lambda busy: _move("counter", "counts", {"pieces": _rack(busy, code)})(busy)


FAKE_CHIPS = {"pieces": {"500": 1}, "evidence": "E-2"} | REASON
FAKES = {"cash": 500, "pieces": {"100": 1}, "evidence": "E-1"} | REASON
#: A player who is forgotten soon.
DORA = {"name": "Dora", "born": "1990-03-04", "document": "D-1"}
SEEN = {"document": "passport", "age_band": "35-49"}
LIMIT = {"limit": "loss", "span": "week", "most": 90_000_000}
EXCLUSION = {
    "kind": "house", "scope": "play", "asked_by": "house", "in_person": False, "until": None,
    "note": "taken for another",
}  # fmt: skip
ANNOUNCED = {"player": "T1-u1", "amount": 1_000, "minutes": 60}
LATE = {"place": "C1", "amount": 100, "for_day": DAY}
HELD = {"player": "anna", "amount": 1_000, "pieces": {"1000": 1}, "cause": "identity_pending"}
#: What nora is given back, who has lost one of the two chips that she has bought, and then won one.
SETTLED = {"stakes": 1_000, "deposit": 0, "held": 2_000, "refund": 1_000, "kept": 1_000, "borne": 0}
REMITTED = {"minors": [1], "amount": 1_000, "beneficiary": "state", "payee": "Tax office", "note": "N-6"}
CARD = {"player": "anna", "amount": 5_000, "means": "card", "reference": "T-1"}
LINE = {"statement": "S-1", "amount": 5_000, "buy_ins": [1]}
#: So much takes a manager and compliance.
LARGE = {"player": "anna", "amount": 4_000_000}
TO_ACCOUNT = {"player": "anna", "amount": 5_000, "pieces": {"5000": 1}, "account": "**1234"}
FOREIGN = {"issuer": "Casino Wien", "amount": 400, "paid": 390, "note": "N-3"}
#: The duty by law: 30 % of the take beyond an amount, less bonuses.
RATES = {
    "valid_from": "2020-01", "tax_code": "GD-1", "base": "take", "deductions": [{"name": "bonuses", "figure": "bonus"}],
    "bands": [{"above": 0, "rate": 0}, {"above": 1_000, "rate": 3_000}],
}  # fmt: skip
DUTY, MORE_DUTY = {"amount": 40, "for_month": "2026-11", "due_on": "2026-12-20"} | REASON, {"amount": 41} | REASON
USE = {"redeem_until": NOTICE} | REASON
LATE_CLAIM = {"chip_set": "MAIN", "player": "anna", "pieces": {"500": 1}} | REASON
ALL = {str(value): count for value, count in PIECES.items()}
NIGHTLY = {"what": "package", "cadence": "day_close", "destinations": ["archive"]}
LIMITS = {"points": {"exchange_by_supervisor_from": 1_000_000}} | REASON

SEEN_AT_C1 = {
    "player": "anna", "place": "C1", "kind": "notes_changed", "direction": "in", "amount": 500, "note": "small notes",
}  # fmt: skip
FILED = {"return_number": "CTR-2020/1", "filed_on": "2020-02-28"}
RATE = {"millionths": 395_120_000, "rate_source": "a bank"}

#: In their order: what an event's name is, and the request that brings it. `settle` stands for the worker.
STEPS: dict[str, Step] = {
    "staff.hired": _hire,
    "terminal.enrolled": _enrol,
    "staff.signed_in": _sign_in,
    "staff.password_changed": _change_password,
    "staff.pin_set": _set_pin,
    "staff.sessions_ended": lambda busy: busy.newcomer.post("sessions/end", {"session": None}),
    "staff.reauthenticated": _reauthenticate,
    "staff.passkey_registered": _register_passkey,
    "staff.passkey_removed": _remove_passkey,
    "staff.second_factor_begun": _begin_factor,
    "staff.second_factor_confirmed": _confirm_factor,
    "staff.signed_out": _sign_out,
    "staff.roles_changed": _on_person("roles", 7, {"roles": ["dealer", "floor"]}),
    "staff.deactivated": _on_person("deactivate", 8, {}),
    "staff.activated": _on_person("activate", 9, {}),
    "staff.password_set": _on_person("password", 10, {"password": "eight-of-leaves-23"}),
    "staff.second_factor_reset": _on_person("second-factor/reset", 11, {}),
    "staff.player_linked": _on_person("player", 12, {"player": "new-person"}),
    "rota.entered": _enter_rota,
    "rota.withdrawn": _withdraw_rota,
    "terminal.revoked": lambda busy: busy.office.post("terminals/console-7/revoke", REASON, version=1),
    "house.identity_changed": _at("office", "house/identity", IDENTITY | REASON),
    "house.rules_set": _at("office", "house/rules", {"texts": RULES} | REASON),
    "house.duty_rates_set": _at("office", "duty/rates", RATES | REASON),
    "day.opened": _at("manager", "days", {"day": DAY}),
    "player.registered": _at("cashier", "/api/v1/players/register", {"player": "anna"}),
    "player.person_recorded": lambda busy: busy.cashier.post(
        "/api/v1/players/anna/person", {"person": PERSON, "reason": "first_record"}, version=1
    ),
    "player.admitted": _at("cashier", "/api/v1/players/anna/admission", SEEN),
    "player.limit_set": _at("cashier", "/api/v1/players/anna/limits", LIMIT),
    "player.interaction_logged": _at("compliance", "players/anna/interactions", {"interaction": "talk", "note": "-"}),
    "player.registered again": _at("cashier", "/api/v1/players/register", {"player": "bela"}),
    "exclusion.set": _at("compliance", "players/bela/exclusions", EXCLUSION),
    "exclusion.lift_asked": _at("compliance", "exclusions/1/lift-request"),
    "exclusion.lifted": _approved("exclusions/1/lift", {"cause": "wrong_entry"}, "compliance"),
    "player.registered once more": _at("cashier", "/api/v1/players/register", {"player": "dora"}),
    "exclusion.set by marks": _at("compliance", "exclusions", EXCLUSION | {"person": DORA | {"name": "DORA"}}),
    "exclusion.matched": lambda busy: busy.cashier.post(
        "/api/v1/players/dora/person", {"person": DORA, "reason": "first_record"}, version=1
    ),
    "exclusion.match_cleared": _approved("exclusions/2/matches/dora/clear", {}, "compliance"),
    "player.data_copied": lambda busy: busy.compliance.get("players/dora/personal-data"),
    "exclusion.set of who is forgotten": _at("compliance", "players/dora/exclusions", EXCLUSION),
    "player.erased": _forgets("dora"),
    "handover.offered": _at("supervisor", "handovers", {"kind": "float", "cash": 900_000, "pieces": FLOAT}),
    "handover.withdrawn": _at("supervisor", "handovers/1/withdraw", REASON),
    "handover.offered again": _at("supervisor", "handovers", {"kind": "float", "cash": 1_000_000, "pieces": FLOAT}),
    "handover.signed": _at("cage_manager", "handovers/2/sign"),
    "drawer.opened": _at("cashier", "open", {"cash": 1_000_000, "pieces": FLOAT}),
    "handover.offered to an open drawer": _at(
        "supervisor", "handovers", {"kind": "replenishment", "cash": 5_000, "pieces": {"100": 10}}
    ),
    "drawer.replenished": _at("cashier", "handovers/3/take", {"cash": 5_000, "pieces": {"100": 10}}),
    "handover.offered to the vault": _at("cashier", "handovers", {"kind": "skim", "cash": 2_000, "pieces": {}}),
    "drawer.skimmed": _at("supervisor", "handovers/4/take", {"cash": 2_000, "pieces": {}}),
    "drawer.x_read": lambda busy: busy.auditor.post("drawers/C1/x-readings"),
    "cage.buy_in": _at("cashier", "buy-ins", {"player": "T1-u1", "amount": 20_000}),
    "cage.buy_in again": _at("cashier", "buy-ins", {"player": "T1-u2", "amount": 20_000}),
    "cage.cash_out": _at("cashier", "cash-outs", {"player": "T1-u1", "amount": 5_000}),
    "cage.bearer_buy_in": _at("cashier", "bearer-buy-ins", {"amount": 3_000}),
    "cage.bearer_cash_out": _at("cashier", "bearer-cash-outs", {"amount": 1_000, "pieces": {"1000": 1}}),
    "unknown_person.opened": _at("compliance", "unknown-persons", {"description": "tall, a grey hat"}),
    "log_line.entered": lambda busy: busy.compliance.post(
        "transaction-log", {"unknown_person": 1, "trade": _trade(busy, "cage.bearer_buy_in"), "note": "with Anna"}
    ),
    "log_line.entered of what was seen": _at("compliance", "transaction-log", SEEN_AT_C1),
    "log_line.withdrawn": _at("compliance", "transaction-log/2/withdraw", REASON),
    "unknown_person.identified": _at("compliance", "unknown-persons/1/identify", {"player": "bela"}),
    "return.filed": lambda busy: _approved(
        "filings", FILED | {"trade": _trade(busy, "cage.bearer_cash_out")}, "compliance", "manager"
    )(busy),
    "euro_rate.set": _approved("euro-rates", RATE | REASON, "manager", "compliance"),
    "cage.corrected": _corrected,
    "cage.chips_found": _found(1),
    "cage.chips_claimed": _approved("found-chips/1/claim", {"player": "anna"}, "cashier"),
    "cage.chips_found again": _found(2),
    "cage.chips_found once more": _found(3),
    "unclaimed.kept": _at_once(_approved("found-chips/2/keep", REASON, "manager", "auditor")),
    "cage.noncash_buy_in": _at("cashier", "noncash-buy-ins", CARD),
    "clearing.settled": _at("cage_supervisor", "noncash-buy-ins/settle", LINE),
    "cage.noncash_paid": _approved("noncash-payments", TO_ACCOUNT, "cashier"),
    "cage.table_fee": _at("cashier", "table-fees", {"player": "anna", "table": "T9", "amount": 2_000, "minutes": 120}),
    "cage.deposit_taken": _at("cashier", "deposits", {"player": "anna", "amount": 5_000}),
    "cage.deposit_drawn": _at("cashier", "deposits/draw", {"player": "anna", "amount": 1_000}),
    "cage.deposit_returned": _at("cashier", "deposits/return", {"player": "anna", "amount": 4_000}),
    "cage.deposit_taken of a large amount": _approved("deposits", LARGE, "cashier"),
    "cage.deposit_returned of it": _approved("deposits/return", LARGE, "cashier"),
    "cage.payout_held": _approved("held-payouts", HELD, "cashier", "compliance"),
    "cage.payout_released": _approved("held-payouts/1/release", {}, "cashier", "compliance"),
    "cage.payout_held again": _approved("held-payouts", HELD, "cashier", "compliance"),
    "player.registered who is too young": _at("cashier", "/api/v1/players/register", {"player": "nora"}),
    "cage.buy_in of a minor": _at("cashier", "buy-ins", {"player": "nora", "amount": 2_000, "pieces": {"1000": 2}}),
    "minor.recorded": _at("compliance", "players/nora/minor", {"born": "2015-03-01", "note": "school card"}),
    "chips.unattributed of a minor": _at(
        "compliance", "players/nora/unattributions", {"place": "C1", "amount": 1_000} | REASON
    ),
    "cage.payout_held of a minor": _approved(
        "held-payouts",
        {"player": "nora", "amount": 2_000, "pieces": {"1000": 2}, "cause": "suspension"},
        "cashier",
        "compliance",
    ),
    "minor.settled": _approved("minors/1/settlement", SETTLED, "compliance"),
    "player.registered who is of age": _at("cashier", "/api/v1/players/register", {"player": "otto"}),
    "minor.recorded of the wrong player": _at("compliance", "players/otto/minor", {"born": "2015-03-01"}),
    "minor.cleared": _approved("minors/2/clear", {}, "compliance"),
    "chips.attributed": _at("compliance", "players/T1-u1/attributions", {"place": "C1", "amount": 500} | REASON),
    "chips.unattributed": _at("compliance", "players/T1-u1/unattributions", {"place": "C1", "amount": 200} | REASON),
    "chips.unattributed for a day": _at("compliance", "players/T1-u1/unattributions", LATE | {"amount": 50} | REASON),
    "chips.attributed for a day": _at("compliance", "players/T1-u1/attributions", LATE | REASON),
    "cage.exchange": _at("cashier", "exchanges", {"given": {"5000": 1}, "wanted": {"500": 10}}),
    "cage.foreign_chips": _at("cashier", "foreign-chips", {"amount": 400, "issuer": "Casino Wien"}),
    "cage.cash_out_announced": _at("cashier", "announced-cash-outs", ANNOUNCED),
    "cage.cash_out of what was announced": _at(
        "cashier", "cash-outs", {"player": "T1-u1", "amount": 1_000, "announcement": 1}
    ),
    "cage.cash_out_announced again": _at("cashier", "announced-cash-outs", ANNOUNCED),
    "cage.announcement_withdrawn": _at("cashier", "announced-cash-outs/2/withdraw", REASON),
    "table.terms_changed": lambda busy: busy.office.post(
        "tables/T1/terms", TERMS | REASON, version=busy.dealer.refresh()["version"]
    ),
    "drawer.template_set": lambda busy: busy.office.post("drawers/C9/template", FLOAT_TEMPLATE | REASON),
    "table.template_set": lambda busy: busy.office.post("tables/T1/template", {"pieces": TRAY_TEMPLATE} | REASON),
    "box.swapped": _swaps("drop", "drop-1"),
    "box.swapped for taxes": _swaps("tax", "tax-1"),
    "box.swapped for tips": _swaps("tip", "tip-1"),
    "tray.counted": _at("dealer", "tray-counts", {"purpose": "opener", "pieces": {"500": 200}}),
    "tray.counts_differed": _tray({"500": 201}),
    "tray.counted again": _at("dealer", "tray-counts", {"purpose": "opener", "pieces": WHOLE_TRAY}),
    "tray.confirmed": _tray(WHOLE_TRAY),
    "table.opened": _at("dealer", "open"),
    "dealer.took_over": _at("dealer", "dealer/take-over", {"relieves": None}),
    "dealer.took_over in relief": _relieve("reliever"),
    "dealer.left": _at("reliever", "dealer/leave", {"then": "done"}),
    "dealer.took_over again": _at("dealer", "dealer/take-over", {"relieves": None}),
    "waiting.added": _at("dealer", "/api/v1/waiting-list", {"player": "T1-u1", "game": "ferbli"}),
    "waiting.added again": _at("dealer", "/api/v1/waiting-list", {"player": "T1-u2", "table": "T1"}),
    "waiting.called": _waiting("call", {"table": "T1"} | REASON),
    "waiting.no_show": _waiting("no-show", {}),
    "waiting.removed": _waiting("remove", REASON),
    "table.sat_down": _at("dealer", "seats", {"seat": 1, "player": "T1-u1", "amount": 10_000}),
    "player.reality_check_due": _sat_long,
    "table.seat_changed": _at("dealer", "seats/1/change", {"to_seat": 4}),
    "table.seat_changed back": _at("dealer", "seats/4/change", {"to_seat": 1}),
    "table.chips_added": _at("dealer", "seats/1/chips", {"amount": 500}),
    "table.sat_down again": _at("dealer", "seats", {"seat": 2, "player": "T1-u2", "amount": 10_000}),
    "table.counterfeits_found": _approved("counterfeits", FAKE_CHIPS, "dealer"),
    "table.buy_in": _at("dealer", "buy-ins", {"seat": 2, "amount": 500}),
    "table.exchange": _at("dealer", "exchanges", {"given": {"500": 1}, "wanted": {"100": 5}}),
    "seat.key_issued": _issue_key,
    "seat.device_named": lambda busy: busy.device.name("5e" * 32),
    "deal.committed": _at("dealer", "deal"),
    "seat.key_revoked": _at("table_floor", "seats/1/key/revoke", REASON),
    "deal.seed_taken": _at("dealer", "deal/seeds", {"seat": 1, "seed": "bob"}),
    "deal.commitments_closed": _at("dealer", "deal/close"),
    "deal.abandoned": _at("table_floor", "deal/abandon", REASON),
    "table.client_seeds_changed": _at("table_floor", "client-seeds", {"client_seeds": "all"} | REASON),
    "table.device_play_changed": _at("table_floor", "device-play", {"allowed": True} | REASON),
    "table.time_to_act_changed": _at("table_floor", "time-to-act", {"seconds": 60} | REASON),
    "table.tip": _at("dealer", "tips", {"seat": 1, "amount": 100}),
    "fill.requested": _at("dealer", "fills", {"drawer": "C1", "pieces": {"500": 1}}),
    "fill.sent": _on("cashier", "fill", "send", {"pieces": {"500": 1}}),
    "fill.received": _on("dealer", "fill", "receive", {"pieces": {"500": 1}, "carrier": ""}),
    "fill.sent at once": _at("cashier", "fills", {"table": "T1", "pieces": {"500": 2}}),
    "fill.received with a variance": _accepts("dealer", "table_floor", "fill"),
    "fill.sent in vain": _at("cashier", "fills", {"table": "T1", "pieces": {"500": 2}}),
    "fill.declined": _on("dealer", "fill", "decline", REASON),
    "fill.cancelled when it was declined": _on("cashier", "fill", "cancel", REASON),
    "fill.requested again": _at("dealer", "fills", {"drawer": "C1", "amount": 500}),
    "fill.cancelled": _on("dealer", "fill", "cancel", REASON),
    "credit.requested": _at("cashier", "credits", {"table": "T1", "amount": 500}),
    "credit.sent": _on("dealer", "credit", "send", {"pieces": {"500": 1}}),
    "credit.received": _on("cashier", "credit", "receive", {"pieces": {"500": 1}, "carrier": ""}),
    "credit.sent short": _at("dealer", "credits", {"drawer": "C1", "pieces": {"500": 2}}),
    "credit.received with a variance": _accepts("cashier", "cage_floor", "credit"),
    "credit.sent at once": _at("dealer", "credits", {"drawer": "C1", "pieces": {"500": 1}}),
    "credit.declined": _on("cashier", "credit", "decline", REASON),
    "credit.cancelled": _on("dealer", "credit", "cancel", REASON),
    "hand.dealt": _at("dealer", "hands", {"mode": "physical", "button": 2}),
    "hand.acted": _acts("p1 po 100"),
    "hand.voided": _at("table_floor", "hand/void", REASON | MISDEAL),
    "hand.dealt again": _at("dealer", "hands", {"mode": "physical"}),
    "hand.acted to its end": _acts("p1 po 100", "d dh p1 ????", "d dh p2 ????", "p2 f"),
}
#: Once the hand is settled, the taxes are counted and the house closes.
AFTERWARDS: dict[str, Step] = {
    "table.moved_out": _at("table_floor", "seats/1/move", {"table": "T8", "to_seat": 2}),
    "table.left": _at("other_dealer", "seats/2/leave"),
    "table.closed": _at("dealer", "close"),
    "box.swapped again": _swaps("drop", "drop-2", seal="S-101"),
    "box.swapped for taxes again": _swaps("tax", "tax-2", seal="S-102"),
    "box.swapped for tips again, with a count of the tray": _swaps_with_count("tip", "tip-2", "S-103"),
    "tray.confirmed of the change of boxes": _tray_as_it_is,
    "box.brought": _box("counter", "drop", "bring", {"seal": "S-101"}),
    "box.brought with taxes": _box("counter", "tax", "bring", {"seal": "S-102"}),
    "box.brought with tips": _box("counter", "tip", "bring", {"seal": "S-103"}),
    "box.counted": _box("counter", "drop", "counts", {"cash": 400, "pieces": {}}),
    "box.counted again": _box("other_counter", "drop", "counts", {"cash": 400, "pieces": {}}),
    "box.received": _box("cage_supervisor", "drop", "receive"),
    "box.counts_differed": _differ_thrice,
    "box.count_decided": _box("manager", "tax", "decide", {"cash": 0, "pieces": {"5": 1}, "observer": ""} | REASON),
    "box.received with taxes": _box("cage_supervisor", "tax", "receive"),
    "box.counted with tips": _box("counter", "tip", "counts", {"cash": 50, "pieces": {"100": 1}}),
    "box.counted with tips again": _box("other_counter", "tip", "counts", {"cash": 50, "pieces": {"100": 1}}),
    "box.received with tips": _box("cage_supervisor", "tip", "receive"),
    "chips.noted": _moves("delivery", {"500": 40}),
    "chips.counted": _move("counter", "counts", {"pieces": {"500": 39}}),
    "chips.counts_differed": _move("other_counter", "counts", {"pieces": {"500": 40}}),
    "chips.counted again": _move("counter", "counts", {"pieces": {"500": 39}}),
    "chips.counts_differed from the note": _move("other_counter", "counts", {"pieces": {"500": 39}}),
    "chips.delivered by decision": _move("manager", "accept", {"pieces": {"500": 39}} | REASON),
    "chips.noted once more": _moves("delivery", {"500": 1}),
    "chips.counted once more": _move("counter", "counts", {"pieces": {"500": 1}}),
    "chips.delivered": _move("other_counter", "counts", {"pieces": {"500": 1}}),
    "chips.noted to be set aside": _moves("set_aside", {"500": 20}),
    "chips.set_aside": _move("counter", "counts", {"pieces": {"500": 20}}),
    "chips.noted to be destroyed": _moves("destruction", {"500": 20}, observer=""),
    "chips.destroyed": _move("counter", "counts", {"pieces": {"500": 20}}),
    "tronc.shared": _share,
    "tronc.share_paid": _pay_share,
    "credit.sent of the whole tray": _returns_tray,
    "credit.received of the whole tray": _takes_tray,
    "cage.counterfeits_found": _approved("counterfeits", FAKES, "cashier"),
    "drawer.counted": _counted("cashier", "count"),
    "drawer.recounted": _counted("supervisor", "recount"),
    "drawer.closed": _at("cage_manager", "sign-off", REASON),
    "drawer.reopened": _approved("reopen", REASON, "cashier"),
    "drawer.counted after reopening": _agrees("cashier"),
    "drawer.closed after reopening": _at("cashier", "close"),
    "vault.counterfeits_found": _approved("vault/counterfeits", FAKES),
    "bank.sent": _approved("vault/bags", {"way": "to_bank", "bag": "B-1", "amount": 50_000}),
    "bank.confirmed": _approved("vault/bags/1/confirm", {"amount": 49_900, "note": "N-1"}, "cage_supervisor"),
    "bank.drawn": _approved("vault/bags", {"way": "from_bank", "bag": "B-2", "amount": 20_000}),
    "bank.received": _at("cage_supervisor", "vault/bags/2/receive", {"amount": 20_000, "note": "N-2"}),
    "foreign.redeemed": _approved("vault/foreign-chips", FOREIGN),
    "capital.paid_in": _at("manager", "capital/payments-in", {"amount": 700, "by": "bank", "note": "N-8"}),
    "capital.paid_out": _approved("capital/payments-out", {"amount": 600, "by": "cash", "note": "N-9"}, "manager"),
    "unclaimed.remitted": _at_once(_approved("found-chips/3/remit", {"note": "N-5"}, "manager", "auditor")),
    "payout.paid_by_bank": _approved("held-payouts/2/pay-by-bank", {"note": "N-4"}, by="compliance"),
    "winnings.remitted": _approved("minors/remittances", REMITTED, "compliance"),
    "vault.counted": _vault_count("keeper"),
    "vault.counts_differed": _vault_differs,
    "vault.count_decided": lambda busy: busy.post(busy.manager, "vault/counts/1/decide", _in_vault(busy) | REASON),
    "vault.count_signed_off": _at("other_manager", "vault/counts/1/sign-off", REASON),
    "chips.introduced": _at("office", "chip-sets", {"chip_set": "NEXT", "denominations": dict.fromkeys(ALL, "blue")}),
    "chips.noted of the second set": _moves("delivery", ALL, chip_set="NEXT"),
    "chips.counted of the second set": _move("counter", "counts", {"pieces": ALL}),
    "chips.delivered of the second set": _move("other_counter", "counts", {"pieces": ALL}),
    "approval.approved of the second set": _long_ago(_decided("chip-sets/NEXT/use", USE, "approver", "approve")),
    "chips.put_in_use": _long_ago(_with_approval("chip-sets/NEXT/use", USE)),
    "handover.offered for the second set": _at(
        "supervisor", "handovers", {"kind": "float", "cash": 1_000_000, "pieces": FLOAT}
    ),
    "drawer.opened again": _at("cashier", "open", {"cash": 1_000_000, "pieces": FLOAT}),
    "cage.chips_redeemed": _at("cashier", "redemptions", {"chip_set": "MAIN", "given": {"500": 1}}),
    "chips.noted at a drawer": _moves("withdrawn", {"500": 1}, chip_set="MAIN", drawer="C1"),
    "chips.withdrawn_set_aside": _move("counter", "counts", {"pieces": {"500": 1}}),
    "chips.unattributed again": _unattribute,
    "approval.approved of the end of the first set": _decided("chip-sets/MAIN/lapse", REASON, "approver", "approve"),
    "chips.lapsed": _with_approval("chip-sets/MAIN/lapse", REASON),
    "cage.late_claim_paid": _approved("late-claims", LATE_CLAIM, "cashier"),
    "chips.noted at a drawer again": _moves("withdrawn", {"500": 1}, chip_set="MAIN", drawer="C1"),
    "chips.withdrawn_set_aside again": _move("counter", "counts", {"pieces": {"500": 1}}),
    "chips.noted of the first set": _all_of("set_aside", "9110"),
    "chips.set_aside of the first set": _all_counted("9110"),
    "chips.noted of the first set to be destroyed": _all_of("destruction", "9115"),
    "chips.destroyed of the first set": _all_counted("9115"),
    "chips.retired": _at("office", "chip-sets/MAIN/retire", REASON),
    "drawer.counted again": _agrees("cashier"),
    "handover.offered to another drawer": _at("cashier", "hand-over", {"to_drawer": "C2"} | REASON),
    "drawer.closed by another one": _takes_over,
    "drawer.counted after that": lambda busy: busy.post(busy.other_cashier, "count", busy.kit.held("C2")),
    "drawer.closed again": _at("other_cashier", "close"),
    "drawer.retired": lambda busy: busy.office.post("drawers/C9/retire", REASON, version=1),
    "table.retired": lambda busy: busy.office.post("tables/T9/retire", REASON, version=1),
    "approval.refused": _decided("duty", MORE_DUTY, "approver", "refuse", REASON),
    "approval.withdrawn": _decided("duty", MORE_DUTY, "keeper", "withdraw"),
    "approval.approved": _decided("duty", DUTY, "approver", "approve"),
    "house.duty": _with_approval("duty", DUTY),
    "house.duty_lowered": lambda busy: _approved("duty/lowerings", {"entry": _booking(busy), "amount": 5} | REASON)(
        busy
    ),
    "house.duty_paid": _approved("duty/payments", {"amount": 30, "return_number": "R-11", "for_month": "2026-11"}),
    "approval.approved again": _decided("limits", LIMITS, "auditor", "approve"),
    "limits.changed": _with_approval("limits", LIMITS),
    "approval.approved of a suspension": _decided("house/suspend", REASON, "auditor", "approve"),
    "house.suspended": _with_approval("house/suspend", REASON),
    "approval.approved of its end": _decided("house/resume", REASON, "auditor", "approve"),
    "house.resumed": _with_approval("house/resume", REASON),
    "complaint.opened": _at("compliance", "complaints", COMPLAINT),
    "complaint.answered": lambda busy: busy.compliance.post(
        "complaints/1/answer", {"text": "It was right."}, version=1
    ),
    "complaint.escalated": lambda busy: busy.compliance.post("complaints/1/escalate", ESCALATION, version=2),
    "complaint.closed": lambda busy: busy.manager.post(
        "complaints/1/close", {"outcome": "rejected", "text": "The body agrees."}, version=3
    ),
    "legal_hold.set": _approved("legal-holds", {"scope": "player", "player": "anna"} | REASON, "compliance"),
    "legal_hold.set again": _approved("legal-holds", {"scope": "hand", "hand": "T1-000002"} | REASON, "compliance"),
    "legal_hold.lifted": _lifted,
    "sealed.entry": _at("compliance", "sealed", {"what": "note", "text": "Nothing to report today."}),
    "sealed.entry of a case": _at("compliance", "sealed", SEALED_CASE),
    "report.schedule_set": lambda busy: busy.manager.post("report-schedules/nightly", NIGHTLY | REASON),
    "data.read": lambda busy: busy.auditor.get("ledger/export/csv"),
    "variance.offset": _approved("variance-offsets", {"drawer": "C1", "count": 1, "amount": 5} | REASON, "manager"),
    "day.closed": _close_day,
    "day.package_signed": _sign_package,
    "document.printed": _print,
    "document.printed for a player": _at("auditor", "prints/statements", {"player": "anna", "form": "a4"}),
    "report.requested": _at("auditor", "reports/chips/runs", {"formats": ["csv", "json"], "group_by": "kind"}),
    "report.made": _make_reports,
    "report.requested again": _at("auditor", "reports/trial-balance/runs", {"formats": ["pdf"]}),
    "report.cancelled": lambda busy: busy.auditor.post("report-runs/2/cancel", version=1),
    "report.requested once more": _at("auditor", "reports/chips/runs", {"formats": ["csv"]}),
    "report.failed": _fail_report,
    "report.schedule_fired": _fire,
    "report.delivery_failed": _deliver("waiting"),
    "report.delivered": _deliver("sent"),
    "report.schedule_stopped": _stop,
    "webhook.subscribed": _at("office", "webhooks", {"destination": "scanner", "chains": ["table/T1"]} | REASON),
    "webhook.replayed": _at("office", "webhooks/1/replay", {"chain": "table/T1", "after": 2} | REASON),
    "webhook.ended": _at("office", "webhooks/1/end", REASON),
}
