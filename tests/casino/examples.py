"""An evening on which every operation of the API succeeds, recorded as the examples of the schema.

It begins with the busy evening (`busy.py`), with reads beside its writes; then come what a deal of the house takes
(players' own devices, calls beside the turn), cards read wrongly, a disputed hand, a large bonus paid and one refused,
and a login that is locked.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
from django.test import override_settings
from django.urls import resolve

from casino.api.audit import GZIP
from casino.api.days import ZIP
from casino.api.tiles import BINARY
from casino.audit import archives
from casino.staff.models import Role, TerminalKind
from casino.verification import archiving
from engine.kernel.cards import TELL32
from tests.casino.busy import AFTERWARDS, DAY, REASON, STEPS, Busy
from tests.casino.contract import operation_of
from tests.casino.described import assert_described, media_type
from tests.casino.devices import Device, key_of
from tests.casino.hands.test_variant_hands import ALONE_WITH_41
from tests.casino.kit import ACTOR, FAERBELN, FERBLI, MISDEAL, PIECES, SAMPLE, TRAY, Desk, Kit
from tests.casino.stable import TEXTS, Stable
from tests.casino.transfers.test_transfers import floor_at

#: A bonus that needs an approval where a house has set nothing.
BONUS = 200_000
#: The most lines of an example that is text, and of rows of a list.
MOST_LINES, PAGE = 6, "page_size=2"

#: What is read after which step: whose desk, and the address below the desk's.
READS: dict[str, tuple[tuple[str, str], ...]] = {
    "staff.signed_in": (("manager", "staff/on-duty"),),
    "staff.pin_set": (("newcomer", "sessions"),),
    "staff.passkey_registered": (("newcomer", "passkeys"),),
    "rota.withdrawn": (("manager", f"rota?{PAGE}"),),
    "terminal.revoked": (("office", f"staff?{PAGE}"), ("office", f"terminals?{PAGE}")),
    "player.person_recorded": (("cashier", "/api/v1/players/anna/person"),),
    "player.limit_set": (("cashier", "/api/v1/players/anna/limits"), ("compliance", f"player-limits?{PAGE}")),
    "player.reality_check_due": (("compliance", f"reality-checks/due?{PAGE}"),),
    "player.interaction_logged": (("compliance", f"interactions?{PAGE}"),),
    "log_line.withdrawn": (
        ("compliance", f"transaction-log?{PAGE}"), ("compliance", f"unknown-persons?{PAGE}"),
        ("compliance", "unknown-persons/1"),
    ),
    "return.filed": (("compliance", f"filings?{PAGE}"),),
    "euro_rate.set": (("auditor", f"euro-rates?{PAGE}"),),
    "exclusion.set": (("cashier", "/api/v1/players/bela/admission"),),
    "player.data_copied": (
        ("compliance", "players/dora/personal-data"), ("compliance", "players/dora/personal-data/file"),
    ),
    "exclusion.lifted": (("compliance", f"exclusions?{PAGE}"),),
    "table.sat_down": (("manager", "reality-checks?hours=0"),),
    "drawer.opened": (("cashier", ""), ("auditor", f"shifts?{PAGE}"), ("auditor", f"drawers?{PAGE}")),
    "drawer.skimmed": (("auditor", f"handovers?{PAGE}"),),
    "drawer.closed": (("auditor", "drawers/C1/shifts/1/z"),),
    "cage.chips_found once more": (("auditor", f"found-chips?{PAGE}"),),
    "clearing.settled": (("auditor", f"noncash-buy-ins?{PAGE}"),),
    "cage.payout_held again": (("auditor", f"held-payouts?{PAGE}"),),
    "cage.payout_held of a minor": (("compliance", "minors/1"),),
    "minor.settled": (("compliance", f"minors?{PAGE}"),),
    "winnings.remitted": (("compliance", f"minors/remittances?{PAGE}"),),
    "cage.cash_out_announced again": (("auditor", f"announced-cash-outs?{PAGE}"),),
    "cage.deposit_drawn": (("auditor", f"deposits?{PAGE}"), ("compliance", "players/anna/sums")),
    "variance.offset": (("auditor", f"variance-offsets?{PAGE}"),),
    "cage.foreign_chips": (("auditor", "reports/players"), ("auditor", f"players?{PAGE}")),
    "dealer.took_over again": (("auditor", f"dealers?{PAGE}"), ("auditor", f"dealer-turns?{PAGE}")),
    "waiting.called": (("auditor", f"waiting-list?{PAGE}"), ("auditor", f"waiting-list/display?{PAGE}")),
    "table.exchange": (
        ("dealer", ""), ("auditor", "tables/T1/chips"), ("auditor", f"tables?{PAGE}"),
        ("auditor", f"table-terms?{PAGE}"),
    ),
    "table.template_set": (
        ("auditor", f"templates?{PAGE}"), ("auditor", "templates/proposals"),
        ("auditor", "tables/T1/fill-proposal/C1"),
    ),
    "deal.committed": (("dealer", "deal"),),
    "deal.abandoned": (("auditor", "deals/T1-000001"),),
    "fill.received": (("auditor", f"transfers?{PAGE}"),),
    "hand.acted": (("dealer", "hand"), ("dealer", "hand/legal-actions")),
    "approval.approved": (("auditor", f"approvals?{PAGE}"), ("auditor", "approvals/1")),
    "house.identity_changed": (("auditor", "house/identity"),),
    "house.rules_set": (("auditor", "house/rules"), ("auditor", "house/rules/1")),
    "house.duty_rates_set": (("auditor", "duty/rates"),),
    "limits.changed": (("auditor", "limits"),),
    "tray.confirmed": (("auditor", f"tray-counts?{PAGE}"),),
    "box.received": (("auditor", f"boxes?{PAGE}"),),
    "cage.late_claim_paid": (("auditor", f"late-claims?{PAGE}"),),
    "chips.retired": (("auditor", f"chip-sets?{PAGE}"),),
    "chips.destroyed": (("auditor", f"chip-moves?{PAGE}"),),
    "bank.drawn": (("auditor", f"vault/bags?{PAGE}"),),
    "vault.count_signed_off": (
        ("auditor", f"vault/counts?{PAGE}"), ("auditor", "reports/count-differences?kind=vault"),
    ),
    "tronc.share_paid": (("auditor", f"tronc/pools?{PAGE}"),),
    "complaint.closed": (("auditor", f"complaints?{PAGE}"), ("auditor", "complaints/1")),
    "legal_hold.lifted": (("auditor", f"legal-holds?{PAGE}"), ("auditor", f"retention-runs?{PAGE}")),
    "sealed.entry of a case": (
        ("compliance", "sealed"), ("compliance", "sealed/2"), ("compliance", "sealed/2/file"),
    ),
    "day.package_signed": (("auditor", f"days/{DAY}/package"),),
    "document.printed": (("auditor", f"prints?{PAGE}"), ("auditor", "prints/1/file")),
    "report.schedule_set": (("auditor", "report-schedules"),),
    "webhook.replayed": (("auditor", "webhooks"),),
    "report.delivered": (("auditor", f"report-deliveries?{PAGE}"),),
    "report.made": (
        ("auditor", "reports"), ("auditor", f"report-runs?{PAGE}"), ("auditor", "report-runs/1"),
        ("auditor", "report-runs/1/files/chips-denominations.csv"),
    ),
    "day.closed": (
        ("auditor", f"days?{PAGE}"), ("auditor", f"days/{DAY}"), ("auditor", "house"), ("auditor", "session"),
        ("auditor", "house/readiness"), ("auditor", "house/status"),
        ("auditor", "games"),
        ("auditor", "games/ferbli"), ("auditor", f"hands?{PAGE}"), ("auditor", "hands/T1-000002"),
        ("auditor", "tables/T1/stream"), ("auditor", "tables/T1/changes?wait=0"),
        ("auditor", "drawers/C1/stream"), ("auditor", "drawers/C1/changes?wait=0"),
        ("auditor", "stream"), ("auditor", "changes"),
        ("auditor", "reports/house"), ("auditor", f"reports/hands?{PAGE}"), ("auditor", "reports/verification"),
        ("auditor", f"reports/deals?day={DAY}"),
        ("auditor", f"audit/events?{PAGE}&chain=table/T1"), ("auditor", f"ledger/accounts?{PAGE}"),
        ("auditor", "ledger/export/csv"),
    ),
}  # fmt: skip


@dataclass
class Recording(Kit):
    """A kit that checks every answer against the schema, and records the first success of every write, and the reads
    that `read` asks for."""

    examples: dict[str, dict[str, Any]] = field(default_factory=dict)
    #: Whether answers may be lost. Signing out cannot be repeated then: the token is gone.
    loses_answers: bool = False
    _reading: bool = False

    def __post_init__(self) -> None:
        self.stable = Stable(self.house.code)

    def http(self, token: str | None) -> httpx.Client:
        """A client whose answers are recorded."""
        client = super().http(token)
        client.event_hooks["response"].append(self.record)
        return client

    def record(self, answer: httpx.Response) -> None:
        """Check an answer; keep it and its request as an example, if it is to be one."""
        answer.read()
        assert_described(answer)
        request = answer.request
        operation = operation_of(request.method, request.url.path)
        assert operation is not None
        if answer.is_success and operation.id not in self.examples and (self._reading or request.method != "GET"):
            self.examples[operation.id] = self._example(request, answer)

    def read(self, get: Callable[[str], httpx.Response], path: str) -> httpx.Response:
        """Read something as an example; returns the answer. Raises AssertionError where it is refused."""
        self._reading = True
        try:
            answer = get(path)
        finally:
            self._reading = False
        assert answer.status_code == 200, (path, answer.text)
        return answer

    def _example(self, request: httpx.Request, answer: httpx.Response) -> dict[str, Any]:
        stable = self.stable
        found: dict[str, Any] = {
            "path": stable.value(resolve(request.url.path).kwargs, "path"),
            "query": stable.value({name: _typed(value) for name, value in request.url.params.items()}),
        }
        if request.method == "POST":
            found["request"] = stable.value(_body(request))
        if answer.content:
            found["media"] = media_type(answer)
            found["answer"] = self._content(answer)
        return found

    def _content(self, answer: httpx.Response) -> Any:
        if media_type(answer) == "application/json":
            return self.stable.value(answer.json())
        if media_type(answer) == "application/pdf":
            return "(a PDF file)"
        if media_type(answer) == ZIP:
            return "(a ZIP file)"
        if media_type(answer) == GZIP:
            return "(a file under gzip)"
        if media_type(answer) == BINARY:
            return f"({len(answer.content)} bytes)"
        lines = answer.text.splitlines(keepends=True)[:MOST_LINES]
        return TEXTS[media_type(answer)](self.stable, "".join(lines))


def _typed(value: str) -> Any:
    return int(value) if value.isdigit() else value


def _body(request: httpx.Request) -> Any:
    return json.loads(request.content or b"{}")


class Drawn:
    """Stands for the module `secrets` where the house draws the seed of a deal: the same cards on every evening."""

    @staticmethod
    def token_bytes(size: int) -> bytes:
        """Not random at all."""
        return bytes(range(size))


def play(kit: Recording, undisturbed: Callable[[], None] = lambda: None) -> dict[str, dict[str, Any]]:
    """Play the evening in a house that was only founded; returns the examples by the ids of their operations.
    `undisturbed` is called before somebody changes a hand's log past the house."""
    set_up(kit)
    busy = Busy(kit)
    _steps(busy, STEPS)
    assert kit.settle() == ["settled"]
    _steps(busy, AFTERWARDS)
    asked = busy.manager.http.post("/api/v1/approvals/1/challenge", json={"decision": "approve"})
    assert asked.status_code == 201, asked.text
    busy.manager.ok("days", {"day": "2020-02-29"})
    _deal_of_the_house(kit, busy)
    _at_the_drawer(kit, busy)
    _cards_read_wrongly(kit, busy)
    undisturbed()
    _disputed(kit)
    _bonus(kit)
    _locked(kit, busy)
    kit.close_drawer(busy.cashier)
    _books(kit, busy)
    _another_house(kit)
    _a_sandbox(kit)
    return dict(sorted(kit.examples.items()))


def set_up(kit: Kit) -> None:
    """Chip set, vault, drawer C1, and table T1 with its tray."""
    admin, keeper = kit.office(Role.ADMIN), kit.office(Role.CAGE_SUPERVISOR)
    pieces = {str(value): count for value, count in PIECES.items()}
    admin.ok("chip-sets", {"chip_set": "MAIN", "denominations": dict.fromkeys(pieces, "red")})
    keeper.ok("vault/opening", {"capital": 100_000_000, "pieces": pieces})
    admin.ok("drawers", {"drawer": "C1"})
    terms = {"min_stack": 400, "max_stack": 1_000_000, "carryover_on_close": "split"}
    admin.ok("tables", {"table": "T1", "game": "ferbli", "options": FERBLI, "seat_count": 4} | terms)
    keeper.ok("tables/T1/tray", {"pieces": {str(value): count for value, count in TRAY.items()}})


def _steps(busy: Busy, steps: dict[str, Any]) -> None:
    for name, step in steps.items():
        answer = step(busy)
        assert isinstance(busy.kit, Recording)
        gone = busy.kit.loses_answers and (name, answer.status_code) == ("staff.signed_out", 401)
        assert answer.is_success or gone, (name, answer.text)
        for desk, path in READS.get(name, ()):
            busy.kit.read(getattr(busy, desk).get, path)


def _deal_of_the_house(kit: Recording, busy: Busy) -> None:
    """A table of Zsíros: a fee for its seats, a device with a seed of its player's, a call beside the turn, proofs."""
    kit.table_for("zsiros", {"stake": 100, "players": 4}, code="T2", seats=4, max_stack=50_000)
    desk, floor = kit.seated("T2", stacks=(20_000,) * 4), floor_at(kit, TerminalKind.TABLE, "T2")
    floor.ok("seat-fee", {"amount": 50, "per": "deal"} | REASON)
    floor.ok("device-play", {"allowed": True} | REASON)
    desk.refresh()
    device = Device(kit, key_of(desk, 2), 2)
    desk.ok("deal")
    name = kit.read(device.get, "deal").json()["hand"]
    device.commit(name, "queen-of-acorns")
    desk.refresh()
    desk.ok("deal/close")
    receipt = device.reveal(name, "queen-of-acorns").json()["audit"]
    desk.refresh()
    dealt = desk.deal()
    said = {"actor": "p3", "verb": "cl", "word": "uss"}
    desk.ok("hand/beside", {"hand": name, "line": len(dealt["view"]["log"]), "action": said})
    kit.read(device.get, "hand")
    kit.read(device.get, "table")
    kit.read(device.get, "rules")
    _play_from(device, desk)
    kit.read(device.get, "hands")
    kit.read(device.get, f"hands/{name}/replay")
    kit.read(kit.office(Role.FLOOR).get, f"hands/{name}/replay")
    printed = device.http.post("/api/v1/seat/prints", json={"form": "a4"}).json()["printout"]
    older = kit.sequence().size
    kit.read(device.get, f"prints/{printed}/file")
    kit.read(device.get, f"proofs/inclusion?chain={receipt['chain']}&seq={receipt['seq']}&size={older}")
    desk.refresh()
    kit.approved(floor_at(kit, TerminalKind.TABLE, "T2"), "hand/void", REASON | MISDEAL)
    newer = kit.sequence().size
    for path in (
        f"audit/proofs/inclusion?chain=table/T2&seq={receipt['seq']}&size={newer}",
        f"audit/proofs/consistency?from_size={older}&to_size={newer}",
        "audit/checkpoint", "audit/checkpoints", "audit/key", "audit/export", f"hands/{name}/openings",
        f"receipts/{receipt['hash']}", "audit/log/1/checkpoint", "audit/log/1/tile/0/000.p/2",
    ):  # fmt: skip
        kit.read(busy.auditor.get, path)
    with TemporaryDirectory() as folder, override_settings(CASINO_ARCHIVE_DIRS=[Path(folder)]):
        [section] = archiving.due(kit.house, DAY)
        archiving.make(kit.house, section, ACTOR)
        kit.read(busy.auditor.get, "audit/archives")
        kit.read(busy.auditor.get, f"audit/archives/1/{archives.EVENTS}")


def _play_from(device: Device, desk: Desk) -> None:
    """The dealer enters what those before the device play, then it plays its own card."""
    desk.refresh()
    while (hand := device.get("hand").json())["actor"] != hand["you"]:
        desk.ok("hand/actions", {"actions": [{"actor": hand["actor"], "verb": "pl", "places": [0]}]})
    played = device.act(hand["hand"], len(hand["view"]["log"]), verb="pl", places=[0])
    assert played.status_code == 200, played.text


def _at_the_drawer(kit: Recording, busy: Busy) -> None:
    """Chips that are not wanted after all."""
    busy.cashier.refresh()
    busy.cashier.ok("credits", {"table": "T2", "amount": 500})
    busy.cashier.ok(f"credits/{busy.made('credit')}/cancel", REASON)


def _cards_read_wrongly(kit: Recording, busy: Busy) -> None:
    """A table of Ferbli: a deck that is whole and one that is not, a card entered, one corrected."""
    kit.table("T3")
    desk = kit.seated("T3")
    desk.ok("deck-check", {"cards": "".join(TELL32.cards)})
    assert desk.post("deck-check", {"cards": "".join(TELL32.cards[1:])}).status_code == 422
    listed = kit.read(busy.auditor.get, f"exceptions/cards?{PAGE}").json()
    [found] = [row["exception"] for row in listed["results"]]
    floor = floor_at(kit, TerminalKind.TABLE, "T3")
    floor.ok(f"exceptions/{found}/clear", {"reason": "the ace of acorns lay under the tray"})
    desk.refresh()
    desk.ok("hands", {"mode": "physical", "button": 4})
    desk.act("p1 po 100", "d dh p1 ??8b")
    desk.ok("hand/cards", {"entries": [{"actor": "p1", "index": 0, "card": "Kl"}]})
    desk.act("d dh p2 Ah7l", "d dh p3 XlOa")
    floor.refresh()
    floor.ok("hand/corrections", {"line": 4, "cards": "XlOb", "reason": "misread the suit"})


def _disputed(kit: Recording) -> None:
    """The worked hand at a table of its own, which the floor disputes before it is settled; it withdraws that, disputes
    the hand again, and rules on it."""
    kit.table("T4")
    desk = kit.seated("T4")
    desk.ok("hands", {"mode": "physical", "button": 4})
    desk.act(*SAMPLE[:12])
    desk.act(*SAMPLE[12:])
    awards = [{"actor": "p1", "amount": 2_000}, {"actor": "p4", "amount": 1_135}]
    claimed = [{"line": 20, "text": "p4 rb 400"}, {"line": 21, "text": "p1 cc 400"}]
    ruling = {"awards": awards, "tax": 165, "claimed": claimed, "reason": "both had shown the same hand"}
    floor, name = floor_at(kit, TerminalKind.TABLE, "T4"), "T4-000001"
    floor.ok("hand/dispute", {"hand": name, "reason": "p4 says that the last raise was p4's"})
    floor.ok("hand/dispute/withdraw", {"hand": name, "reason": "p4 has taken that back"})
    floor.ok("hand/dispute", {"hand": name, "reason": "p4 says again that the last raise was p4's"})
    words = "20 p4 rb 400%0A21 p1 cc 400"
    kit.read(kit.office(Role.FLOOR).get, f"hands/{name}/readings?claimed={words.replace(' ', '%20')}")
    kit.approved(floor, "hand/ruling", {"hand": name} | ruling)
    remedy = {
        "tax_refunded": [{"actor": "p4", "amount": 65}],
        "made_good": [{"actor": "p2", "amount": 200}],
        "collected": [{"loser": "p1", "winner": "p4", "amount": 400, "consent": "signed slip 17"}],
    }
    kit.approved(floor, f"hands/{name}/rulings", remedy | {"reason": "the video shows the last raise"})
    kit.read(kit.office().get, f"hands/{name}/rulings")


def _bonus(kit: Recording) -> None:
    """Two hands at a table of Färbeln, each won with a 41 that waits for an approval: one is paid, one refused."""
    kit.table_for(
        "faerbeln", FAERBELN | {"bonus41": BONUS, "bonus41_for": "uncontested"}, code="F1", seats=3, tray=5 * BONUS
    )
    desk = kit.seated("F1", stacks=(9_000,) * 3)
    floor = floor_at(kit, TerminalKind.TABLE, "F1")
    for refused in (False, True):
        desk.refresh()
        name = desk.ok("hands", {"mode": "physical"})["hand"]
        desk.act(*ALONE_WITH_41)
        desk.act("p1 sm AaKaOaUa")
        assert kit.settle() == ["awaiting_approval"]
        floor.refresh()
        if refused:
            floor.ok("hand/bonus/refuse", {"reason": "the shown cards are no 41"})
        else:
            kit.approved(floor, "hand/bonus", {"hand": name, "bonus": BONUS})
            assert kit.settle() == ["settled"]


def _locked(kit: Recording, busy: Busy) -> None:
    """A person whose password somebody tries, and who is let in again."""
    login = f"locked@{kit.house.code}"
    busy.office.ok(
        "staff", {"login": login, "name": "Locked Out", "roles": ["dealer"], "password": "seven-of-leaves-5"}
    )
    terminal = "console-8"
    key = busy.office.ok("terminals", {"terminal": terminal, "kind": "table", "location": "T4"}).get("key")
    if key is None:  # its answer was lost
        terminal = "console-9"
        key = busy.office.ok("terminals", {"terminal": terminal, "kind": "table", "location": "T4"})["key"]
    form = {"login": login, "password": "not-the-password", "terminal": terminal, "terminal_key": key}
    assert kit.http(None).post("/api/v1/sign-in", json=form).status_code == 403
    busy.office.ok(f"staff/{login}/unlock", {"reason": "a new keyboard"}, version=1)


def _another_house(kit: Recording) -> None:
    """A house that is rehearsed, signed by three, live, and closed again."""
    house = Kit.found(sandbox=False).house
    other = replace(kit, house=house)
    other.table()
    desks = {role: other.office(role) for role in (*Role, Role.ADMIN, Role.COUNT)}
    other.hire(Role.DEALER, TerminalKind.TABLE, "T1")
    other.hire(Role.CASHIER, TerminalKind.CAGE, "C1")
    other.sequence()
    admin = desks[Role.ADMIN]
    admin.ok("rehearsals")
    admin.ok("rehearsals/1/cancel", version=1)
    admin.ok("rehearsals")
    assert other.rehearse() == ["played"]
    assert other.read(admin.get, "rehearsals/2").json()["result"]["passed"]
    other.read(admin.get, f"rehearsals?{PAGE}")
    for role in (Role.ADMIN, Role.AUDITOR, Role.MANAGER):
        found = desks[role].get("house/readiness").json()["signatures"]
        desks[role].ok("house/go-live", {"digest": found["digest"]})
    other.approved(desks[Role.MANAGER], "house/close", REASON, by=Role.AUDITOR)


def _a_sandbox(kit: Recording) -> None:
    """A sandbox that is replaced by a clean one."""
    sandbox = replace(kit, house=Kit.found().house)
    sandbox.table()
    sandbox.office(Role.ADMIN).ok("house/reset", REASON)


def _books(kit: Recording, busy: Busy) -> None:
    """Balance and statement of a drawer's cash."""
    kit.read(busy.auditor.get, "ledger/accounts/1020/C1/balance")
    kit.read(busy.auditor.get, f"ledger/accounts/1020/C1/statement?{PAGE}")
