"""An evening on which everything is done that the API can write, step by step; each step is one request."""

import json
from collections.abc import Callable
from typing import Any

import httpx

from casino.staff.models import Role, TerminalKind
from casino.transfers.models import SoftCount, Transfer
from tests.casino.kit import PIECES, Desk, Kit
from tests.casino.transfers.test_transfers import floor_at
from tests.words import as_action

PASSWORD = "seven-of-acorns-19"
DAY = "2020-02-28"
REASON = {"reason": "so that everything happens"}
PERSON = {"name": "Nobody At All", "born": "1970-01-01", "document": "000000AA"}
FLOAT = {str(value): 100 for value in PIECES if value <= 5_000}


class Busy:
    """A house with a table T1 and a drawer C1, somebody at every place, and what later steps need of earlier ones."""

    def __init__(self, kit: Kit) -> None:
        self.kit = kit
        kit.table()
        kit.players("T1-u1", "T1-u2")
        self.dealer, self.cashier = kit.dealer(), kit.cashier()
        self.table_floor = floor_at(kit, TerminalKind.TABLE, "T1")
        self.cage_floor = floor_at(kit, TerminalKind.CAGE, "C1")
        self.supervisor, self.cage_manager = kit.supervisor(), kit.supervisor(role=Role.MANAGER)
        self.office, self.manager, self.auditor = kit.office(Role.ADMIN), kit.office(Role.FLOOR), kit.office()
        self.compliance = kit.office(Role.COMPLIANCE)
        self.token, self.terminal, self.terminal_key = "", "console-7", ""

    def post(self, desk: Desk, path: str, body: Any = None) -> httpx.Response:
        """Write, on the version of now."""
        if desk.path != "/api/v1":
            desk.refresh()
        return desk.post(path, body)

    def made(self, kind: str) -> int:
        """Number of the transfer or soft count that was begun last."""
        begun = {"transfer": Transfer, "soft-count": SoftCount}[kind].objects.filter(house=self.kit.house)
        return int(begun.latest("id").pk)

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


def _acts(*lines: str) -> Step:
    return _at("dealer", "hand/actions", {"actions": [as_action(line) for line in lines]})


def _on_person(what: str, version: int, body: dict[str, Any]) -> Step:
    return lambda busy: busy.office.post(f"staff/{busy.login}/{what}", body | REASON, version=version)


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


def _sign_in(busy: Busy) -> httpx.Response:
    form = {"login": busy.login, "password": PASSWORD, "terminal": busy.terminal, "terminal_key": busy.terminal_key}
    answer = busy.kit.http(None).post("/api/v1/sign-in", json=form)
    busy.token = answer.json().get("token", "")
    return answer


def _change_password(busy: Busy) -> httpx.Response:
    body = {"old": PASSWORD, "new": "ober-of-hearts-31"}
    return Desk(busy.kit.http(busy.token), "/api/v1").post("password", body)


def _sign_out(busy: Busy) -> httpx.Response:
    return busy.kit.http(busy.token).post("/api/v1/sign-out", json={})


def _counted(desk: str, path: str) -> Step:
    """A step by which a drawer is counted: five too little in cash."""

    def count(busy: Busy) -> httpx.Response:
        held = busy.kit.held()
        return busy.post(getattr(busy, desk), path, held | {"cash": held["cash"] - 5})

    return count


def _corrected(busy: Busy) -> httpx.Response:
    """The chips that were just bought back were worth something else."""
    newest = busy.auditor.get("audit/events?chain=drawer/C1&sort=newest&kind=cage.bearer_cash_out&page_size=1").json()
    right = {"kind": "cage.bearer_cash_out", "amount": 2_000, "pieces": {"1000": 2}}
    return busy.post(
        busy.supervisor,
        "corrections",
        {"entry": json.loads(newest["results"][0]["payload"])["seq"], "right": right} | REASON,
    )


#: In their order: what an event's name is, and the request that brings it. `settle` stands for the worker.
STEPS: dict[str, Step] = {
    "staff.hired": _hire,
    "terminal.enrolled": _enrol,
    "staff.signed_in": _sign_in,
    "staff.password_changed": _change_password,
    "staff.signed_out": _sign_out,
    "staff.roles_changed": _on_person("roles", 2, {"roles": ["dealer", "cashier"]}),
    "staff.deactivated": _on_person("deactivate", 3, {}),
    "staff.activated": _on_person("activate", 4, {}),
    "staff.password_set": _on_person("password", 5, {"password": "eight-of-leaves-23"}),
    "terminal.revoked": lambda busy: busy.office.post("terminals/console-7/revoke", REASON, version=1),
    "day.opened": _at("office", "days", {"day": DAY}),
    "player.registered": _at("cashier", "/api/v1/players/register", {"player": "anna"}),
    "player.person_recorded": lambda busy: busy.cashier.post(
        "/api/v1/players/anna/person", {"person": PERSON, "reason": "first_record"}, version=1
    ),
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
    "cage.corrected": _corrected,
    "chips.attributed": _at("compliance", "players/T1-u1/attributions", {"place": "C1", "amount": 500} | REASON),
    "chips.unattributed": _at("compliance", "players/T1-u1/unattributions", {"place": "C1", "amount": 200} | REASON),
    "cage.exchange": _at("cashier", "exchanges", {"given": {"5000": 1}, "wanted": {"500": 10}}),
    "cage.foreign_chips": _at("cashier", "foreign-chips", {"amount": 400, "issuer": "Casino Wien"}),
    "table.opened": _at("dealer", "open"),
    "table.sat_down": _at("dealer", "seats", {"seat": 1, "player": "T1-u1", "amount": 10_000}),
    "table.chips_added": _at("dealer", "seats/1/chips", {"amount": 500}),
    "table.sat_down again": _at("dealer", "seats", {"seat": 2, "player": "T1-u2", "amount": 10_000}),
    "table.buy_in": _at("dealer", "buy-ins", {"seat": 2, "amount": 500}),
    "table.exchange": _at("dealer", "exchanges", {"given": {"500": 1}, "wanted": {"100": 5}}),
    "seat.key_issued": _at("dealer", "seats/1/key"),
    "deal.committed": _at("dealer", "deal"),
    "seat.key_revoked": _at("table_floor", "seats/1/key/revoke", REASON),
    "deal.seed_taken": _at("dealer", "deal/seeds", {"seat": 1, "seed": "bob"}),
    "deal.commitments_closed": _at("dealer", "deal/close"),
    "deal.abandoned": _at("table_floor", "deal/abandon", REASON),
    "table.client_seeds_changed": _at("table_floor", "client-seeds", {"client_seeds": "all"} | REASON),
    "table.time_to_act_changed": _at("table_floor", "time-to-act", {"seconds": 60} | REASON),
    "table.tip": _at("dealer", "tips", {"seat": 1, "amount": 100}),
    "cage.tronc_paid": _at("cashier", "tronc-payouts", {"table": "T1"}),
    "fill.requested": _at("dealer", "transfers", {"kind": "fill", "drawer": "C1", "amount": 500}),
    "fill.sent": _on("cashier", "transfer", "send", {"pieces": {"500": 1}}),
    "fill.received": _on("dealer", "transfer", "receive", {"pieces": {"500": 1}}),
    "fill.sent at once": _at("cashier", "transfers", {"kind": "fill", "table": "T1", "pieces": {"500": 2}}),
    "fill.received with a variance": _on(
        "table_floor", "transfer", "accept-with-variance", {"pieces": {"500": 1}} | REASON
    ),
    "fill.requested again": _at("dealer", "transfers", {"kind": "fill", "drawer": "C1", "amount": 500}),
    "fill.cancelled": _on("dealer", "transfer", "cancel", REASON),
    "credit.requested": _at("cashier", "transfers", {"kind": "credit", "table": "T1", "amount": 500}),
    "credit.sent": _on("dealer", "transfer", "send", {"pieces": {"500": 1}}),
    "credit.received": _on("cashier", "transfer", "receive", {"pieces": {"500": 1}}),
    "credit.sent at once": _at("dealer", "transfers", {"kind": "credit", "drawer": "C1", "pieces": {"500": 1}}),
    "credit.cancelled": _on("dealer", "transfer", "cancel", REASON),
    "hand.dealt": _at("dealer", "hands", {"mode": "physical", "button": 2}),
    "hand.acted": _acts("p1 po 100"),
    "hand.voided": _at("table_floor", "hand/void", REASON),
    "hand.dealt again": _at("dealer", "hands", {"mode": "physical"}),
    "hand.acted to its end": _acts("p1 po 100", "d dh p1 ????", "d dh p2 ????", "p2 f"),
}
#: Once the hand is settled, the taxes are counted and the house closes.
AFTERWARDS: dict[str, Step] = {
    "table.left": _at("dealer", "seats/1/leave"),
    "table.closed": _at("dealer", "close"),
    "soft_count.counted": _at("cashier", "soft-counts", {"table": "T1", "cash": 500, "pieces": {}}),
    "soft_count.voided": _on("cashier", "soft-count", "void", {}),
    "soft_count.counted again": _at("cashier", "soft-counts", {"table": "T1", "cash": 400, "pieces": {}}),
    "soft_count.confirmed": _on("cage_floor", "soft-count", "confirm", {"cash": 400, "pieces": {}}),
    "drawer.counted": _counted("cashier", "count"),
    "drawer.recounted": _counted("supervisor", "recount"),
    "drawer.closed": _at("cage_manager", "sign-off", REASON),
    "house.duty": _at("office", "duty", {"amount": 40} | REASON),
    "data.read": lambda busy: busy.auditor.get("ledger/export/csv"),
    "day.closed": lambda busy: busy.manager.post(f"days/{DAY}/close", {}, version=1),
}
