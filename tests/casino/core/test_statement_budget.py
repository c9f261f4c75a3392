"""Round trips to PostgreSQL of the operations that consoles repeat all evening, counted on the wire.

libpq writes down every message; each `Query` or `Sync` that the client sends is one round trip. BEGIN and COMMIT count,
authentication and idempotency too.
"""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
from django.db import connection

from casino.audit import guard
from casino.hands import subject
from tests.casino.api.test_permissions import routes
from tests.casino.contract import operation_of
from tests.casino.examples import Recording, play
from tests.casino.kit import SAMPLE, Desk, Kit, as_action

pytestmark = pytest.mark.usefixtures("live_db")

#: Round trips at most, see docs/explanation/how-it-is-built.md.
AN_ACTION = 5
#: Of a hand and a sign-in that this process knows: one statement.
A_KNOWN_ACTION = 1
A_TABLE_READ = 2


@contextmanager
def round_trips() -> Iterator[list[str]]:
    """What the client asks of the server inside: one line of libpq's trace for each round trip, there at the end."""
    connection.ensure_connection()
    server, asked = connection.connection.pgconn, []
    with tempfile.NamedTemporaryFile() as file:
        server.trace(file.fileno())
        try:
            yield asked
        finally:
            server.untrace()
            asked += _asked(Path(file.name).read_text(encoding="utf-8", errors="replace"))


def _asked(trace: str) -> list[str]:
    fields = [line.split("\t") for line in trace.splitlines()]
    return [" ".join(line[3:])[:200] for line in fields if line[1:2] == ["F"] and line[3] in ("Query", "Sync")]


@pytest.fixture
def desk(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A dealer's console in the middle of a hand; the process has its accounts and its prepared statements, and has
    just compared the log with the checkpoints outside, as it does twice a minute."""
    monkeypatch.setattr(guard, "GOOD_FOR", 3600.0)
    kit.table()
    desk = kit.seated(stacks=(900_000,) * 4)
    for known in (True, False):
        desk.ok("hands", {"mode": "physical"})
        for line in SAMPLE:
            if not known:
                subject.forget_all()
            desk.act(line)
        kit.settle()
        desk.refresh()
    desk.ok("hands", {"mode": "physical"})
    return desk


def test_an_accepted_action_takes_one_round_trip(desk: Desk) -> None:
    for line in SAMPLE[:-1]:
        with round_trips() as asked:
            desk.ok("hand/actions", {"actions": [as_action(line)]})
        assert len(asked) <= A_KNOWN_ACTION, (line, asked)


def test_an_action_that_this_process_has_not_followed_takes_as_many(desk: Desk) -> None:
    for line in SAMPLE[:8]:
        subject.forget_all()
        with round_trips() as asked:
            desk.ok("hand/actions", {"actions": [as_action(line)]})
        assert len(asked) <= AN_ACTION, (line, asked)


def test_a_repeated_request_takes_no_more(desk: Desk) -> None:
    version = desk.version
    action = {"actions": [as_action(SAMPLE[0])]}
    first = desk.post("hand/actions", action, key="same", version=version)
    with round_trips() as asked:
        again = desk.post("hand/actions", action, key="same", version=version)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.content == first.content
    assert len(asked) <= AN_ACTION, asked


def test_a_table_is_read_in_two_round_trips(desk: Desk) -> None:
    for _ in range(6):
        with round_trips() as asked:
            desk.refresh()
    assert len(asked) <= A_TABLE_READ, asked


# --- Every write -----------------------------------------------------------------------------------------------------


#: Round trips that a write takes at most, once its process is warm. Twice the budget of an action is the aim for all of
#: them; those that need more today may not grow.
WRITES: dict[int, tuple[str, ...]] = {
    2 * AN_ACTION: (
        "abandonDeal", "acceptDelivery", "acceptDrawerTransferWithVariance", "acceptTableTransferWithVariance", "act",
        "activateStaff", "addChips", "addClientSeed", "addToWaitingList", "announceCashOut", "approve",
        "attributeChips", "bearerBuyIn", "bearerCashOut", "beginSecondFactor", "bookDuty", "bringBox", "buyIn",
        "buyInAtTable", "callFromWaitingList", "cancelDrawerTransfer", "cancelRehearsal", "cancelReportRun",
        "cancelTableTransfer", "cashOut", "changeLimits", "changePassword", "changeRoles", "changeSeat", "changeTerms",
        "checkDeck", "claimFoundChips", "clearCardException", "closeCommitments", "closeDrawer", "closeTable",
        "confirmBag", "confirmBonus", "confirmSecondFactor", "correctCards", "countBox", "countChipMove",
        "countDrawer", "countTray", "countVault", "createDrawer", "deactivateStaff", "dealHand", "decideCount",
        "decideVaultCount", "declineDrawerTransfer", "declineTableTransfer", "demandClientSeeds", "disputeHand",
        "drawDeposit", "enrolTerminal", "enterCards", "enterRota", "exchangeAtCage", "exchangeAtTable",
        "findCounterfeits", "findCounterfeitsAtTable", "findCounterfeitsInVault", "handOverDrawer", "hireStaff",
        "holdPayout", "introduceChipSet", "issueSeatKey", "keepUnclaimed", "leaveSeat", "leaveTable", "linkPlayer",
        "lowerDuty", "noShow", "nonCashBuyIn", "nonCashPayment", "noteChipMove", "offerHandover", "offsetVariances",
        "openDay", "openDrawer", "openTable", "openVault", "payDuty", "payHeldByBank", "payInCapital", "payOutCapital",
        "payTableFee", "payTroncShare", "prepareDeal", "receiveBag", "receiveBox", "receiveDrawerTransfer",
        "receiveTableTransfer", "recordPerson", "recountDrawer", "redeemChips", "redeemForeignChips", "refuseApproval",
        "refuseBonus", "registerPlayer", "releasePayout", "remitUnclaimed", "removeFromWaitingList", "reopenDrawer",
        "resetSecondFactor", "resumeHouse", "retireChipSet", "retireDrawer", "retireTable", "returnDeposit",
        "revokeSeatKey", "revokeTerminal", "ruleOnHand", "runReport", "sayBeside", "sendBag", "sendDrawerTransfer",
        "sendTableTransfer", "setPassword", "setSeatFee", "setTimeToAct", "settleClearing", "shareTronc",
        "signDayPackage", "signHandover", "signOffDrawer", "signOffVaultCount", "signOut", "sitDown",
        "startDrawerTransfer", "startTableTransfer", "stockTray", "suspendHouse", "swapBox", "takeDeposit",
        "takeForeignChips", "takeFoundChips", "takeHandover", "takeOverTable", "takeXReading", "tip",
        "unattributeChips", "unlockStaff", "voidHand", "withdrawAnnouncement", "withdrawApproval", "withdrawHandover",
        "withdrawRota", "witnessTrayCount",
    ),
    12: (
        "commitToSeatSeed", "correctEntry", "lapseChipSet", "movePlayer", "revealSeatSeed", "ruleOnHandLater",
        "setTrayTemplate",
    ),
    15: (
        "changeIdentity", "closeHouse", "reauthenticate", "setFloatTemplate", "signIn", "takeOverDrawer",
    ),
    20: (
        "useChipSet",
    ),
    30: (
        "closeDay",
    ),
    35: (
        "createTable",
    ),
    45: (
        "requestRehearsal", "signGoLive",
    ),
    190: (
        "resetSandbox",
    ),
}  # fmt: skip


@dataclass
class Counted(Recording):
    """A house whose writes are counted: round trips of every success, by operation."""

    trips: dict[str, list[list[str]]] = field(default_factory=dict)

    def http(self, token: str | None) -> httpx.Client:
        """A client whose writes are counted."""
        client, counting = Kit.http(self, token), ExitStack()
        asked: list[list[str]] = []

        def begin(request: httpx.Request) -> None:
            asked.append(counting.enter_context(round_trips()))

        def end(answer: httpx.Response) -> None:
            counting.close()
            operation = operation_of(answer.request.method, answer.request.url.path)
            if operation is not None and answer.is_success and answer.request.method == "POST":
                self.trips.setdefault(operation.id, []).append(asked[-1])

        client.event_hooks["request"].append(begin)
        client.event_hooks["response"].append(end)
        return client

    def record(self, answer: httpx.Response) -> None:
        """Nothing."""


def test_the_budget_of_every_write_is_known() -> None:
    writes = {view.operations["post"].id for (method, _), view in routes().items() if method == "POST"}  # type: ignore[attr-defined]
    assert sorted(writes) == sorted(name for names in WRITES.values() for name in names)


@pytest.mark.slow
def test_no_write_takes_more_than_its_budget(live_db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "GOOD_FOR", 3600.0)
    kit = Counted.found(bare=True)
    assert isinstance(kit, Counted)
    play(kit)
    kit.close()
    budgets = {name: budget for budget, names in WRITES.items() for name in names}
    assert kit.trips.keys() == budgets.keys()
    fewest = {name: min(found, key=len) for name, found in kit.trips.items()}
    over = {name: (len(asked), asked) for name, asked in fewest.items() if len(asked) > budgets[name]}
    print({name: found for name, (found, _) in over.items()})
    assert over == {}
