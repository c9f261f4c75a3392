"""Round trips to PostgreSQL of the operations that consoles repeat all evening, counted on the wire.

libpq writes down every message; each `Query` or `Sync` that the client sends is one round trip. BEGIN and COMMIT count,
authentication and idempotency too.
"""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.db import connection

from casino.audit import guard
from casino.hands import subject
from casino.staff import idleness
from casino.staff.models import Role
from tests.casino.api.test_permissions import routes
from tests.casino.contract import operation_of
from tests.casino.examples import Recording
from tests.casino.kit import SAMPLE, Desk, Kit, as_action

pytestmark = pytest.mark.usefixtures("live_db")

#: Round trips at most, see docs/explanation/how-it-is-built.md.
AN_ACTION = 5
#: Of a hand and a sign-in that this process knows: one statement. Of others: token, lock with hand, event with COMMIT.
A_KNOWN_ACTION = 1
ANOTHER_ACTION = 3
#: With what was secret of the hand, and is shown now.
A_LAST_ACTION = 4
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


def know_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a process asks now and then, however long a test takes, it knows: how the log compares with the checkpoints
    outside, and that people who have just done something are there."""
    monkeypatch.setattr(guard, "GOOD_FOR", 3600.0)
    monkeypatch.setattr(idleness, "SEEN_EVERY", 3600)


@pytest.fixture
def desk(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A dealer's console in the middle of a hand; the process has its accounts and its prepared statements, and has
    just compared the log with the checkpoints outside, as it does twice a minute."""
    know_everything(monkeypatch)
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


def test_an_action_that_this_process_has_not_followed_takes_three(desk: Desk) -> None:
    for line in SAMPLE[:8]:
        subject.forget_all()
        with round_trips() as asked:
            desk.ok("hand/actions", {"actions": [as_action(line)]})
        assert len(asked) <= ANOTHER_ACTION, (line, asked)


def test_the_action_that_ends_a_hand_takes_one_more(desk: Desk) -> None:
    for line in SAMPLE[:-1]:
        desk.act(line)
    with round_trips() as asked:
        desk.act(SAMPLE[-1])
    assert len(asked) <= A_LAST_ACTION, asked


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
#: them; what needs more may not grow.
WRITES: dict[int, tuple[str, ...]] = {
    2 * AN_ACTION: (
        "abandonDeal", "acceptCreditWithVariance", "acceptDelivery", "acceptFillWithVariance", "act", "activateStaff",
        "addChips", "addClientSeed", "addToWaitingList", "admitPlayer", "announceCashOut", "answerComplaint",
        "approve", "askToLiftExclusion", "attributeChips", "bearerBuyIn", "bearerCashOut", "beginSecondFactor",
        "bookDuty", "bringBox", "buyIn", "buyInAtTable", "callFromWaitingList", "cancelCreditAtDrawer",
        "cancelCreditAtTable", "cancelFillAtDrawer", "cancelFillAtTable", "cancelRehearsal", "cancelReportRun",
        "cashOut", "changeIdentity", "changeLimits", "changePassword", "changeRoles", "changeSeat", "changeTerms",
        "checkDeck", "claimFoundChips", "clearCardException", "clearExclusionMatch",
        "closeCommitments", "closeComplaint", "closeDay",
        "closeDrawer", "closeHouse", "closeTable", "commitToSeatSeed", "confirmBag", "confirmBonus",
        "confirmSecondFactor", "correctCards", "correctEntry", "countBox", "countChipMove", "countDrawer", "countTray",
        "countVault", "createDrawer", "createTable", "deactivateStaff", "dealHand", "decideCount", "decideVaultCount",
        "declineCredit", "declineFill", "demandClientSeeds", "disputeHand", "drawDeposit", "enrolTerminal",
        "enterCards", "enterLogLine", "enterRota", "escalateComplaint", "exchangeAtCage", "exchangeAtTable",
        "excludePlayer", "findCounterfeits", "findCounterfeitsAtTable", "findCounterfeitsInVault", "handOverDrawer",
        "hireStaff", "holdPayout", "identifyUnknownPerson", "introduceChipSet", "issueSeatKey", "keepUnclaimed",
        "lapseChipSet", "leaveSeat", "leaveTable", "liftExclusion", "liftLegalHold", "linkPlayer", "logInteraction",
        "lowerDuty", "movePlayer", "nonCashBuyIn", "nonCashPayment", "noShow", "noteChipMove", "noteFiling",
        "offerHandover", "offsetVariances", "openComplaint", "openDay", "openDrawer", "openTable", "openUnknownPerson",
        "openVault", "payDuty", "payHeldByBank", "payInCapital", "payLateClaim", "payOutCapital", "payTableFee",
        "payTroncShare", "prepareDeal", "reauthenticate", "receiveBag", "receiveBox", "receiveCredit", "receiveFill",
        "recordPerson", "recountDrawer", "redeemChips", "redeemForeignChips", "refuseApproval", "refuseBonus",
        "registerPasskey",
        "beginPasskey", "challengeForApproval", "challengeForOwn", "challengeForSignIn",
        "registerPlayer", "releasePayout", "remitUnclaimed", "removeFromWaitingList", "reopenDrawer", "requestCredit",
        "requestFill", "requestRehearsal", "resetSecondFactor", "resumeHouse", "retireChipSet", "retireDrawer",
        "retireTable", "returnDeposit", "revealSeatSeed", "revokeSeatKey", "revokeTerminal", "ruleOnHand",
        "ruleOnHandLater", "runReport", "sayBeside", "sendBag", "sendCredit", "sendFill", "sendRequestedCredit",
        "sendRequestedFill", "setEuroRate", "setFloatTemplate", "setLegalHold", "setPassword", "setPin",
        "setPlayerLimit",
        "setReportSchedule", "setSeatFee", "setTimeToAct", "settleClearing", "setTrayTemplate", "shareTronc",
        "allowDevicePlay", "actAtSeat", "nameSeatDevice", "setDutyRates", "setHouseRules",
        "signDayPackage", "signGoLive", "signHandover", "signIn", "signOffDrawer", "signOffVaultCount", "signOut",
        "sitDown", "stockTray", "suspendHouse", "swapBox", "takeDeposit", "takeForeignChips", "takeFoundChips",
        "takeHandover", "takeOverDrawer", "takeOverTable", "takeXReading", "tip", "unattributeChips", "unlockStaff",
        "useChipSet", "voidHand", "withdrawAnnouncement", "withdrawApproval", "withdrawDispute", "withdrawHandover",
        "withdrawLogLine", "withdrawRota", "witnessTrayCount", "writeSealed", "printDocument",
        "recordMinor", "settleMinor", "clearMinor", "subscribeWebhook", "replayWebhook", "endWebhook", "endSessions",
        "remitWinnings",
    ),
    # One checks a password and a passkey, removes one, and ends other sessions; the other compares marks of
    # every person that is recorded, a few hundred at a time, with those that it keeps.
    12: ("removePasskey", "excludePerson"),
    # It reads everything that may keep a player.
    29: ("forgetPlayer",),
    # They read all that a player has moved once the books are at rest, and what protects the player.
    31: ("printAtSeat", "printStatement"),
    # It founds a house, in one transaction.
    88: ("resetSandbox",),
}  # fmt: skip


#: Writes of which not only the fewest of an evening are counted, because they take different ways: a box is put on a
#: table, taken off it, and taken off with a count of the tray.
EVERY = ("swapBox",)


def ways_of(request: httpx.Request, operation: str) -> list[str]:
    """The operation, and the same with an approval where the request uses one: that takes more reads."""
    return [operation, f"{operation}, approved"] if "Approval" in request.headers else [operation]


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
                for way in ways_of(answer.request, operation.id):
                    self.trips.setdefault(way, []).append(asked[-1])

        client.event_hooks["request"].append(begin)
        client.event_hooks["response"] += [end, self.record]
        return client

    def record(self, answer: httpx.Response) -> None:
        """Nothing."""


class Examined(Counted):
    """The same with every answer checked against the schema, and the examples of the schema."""

    def record(self, answer: httpx.Response) -> None:
        """As every recording does."""
        Recording.record(self, answer)


def test_the_budget_of_every_write_is_known() -> None:
    writes = {view.operations["post"].id for (method, _), view in routes().items() if method == "POST"}  # type: ignore[attr-defined]
    assert sorted(writes) == sorted(name for names in WRITES.values() for name in names)


@pytest.mark.slow
def test_no_write_takes_more_than_its_budget(whole_evening: Examined) -> None:
    kit = whole_evening
    budgets = {name: budget for budget, names in WRITES.items() for name in names}
    approved = {name: budgets[name.removesuffix(", approved")] for name in kit.trips if name.endswith(", approved")}
    assert approved and kit.trips.keys() == budgets.keys() | approved.keys()
    budgets |= approved
    taken = {name: (max if name in EVERY else min)(found, key=len) for name, found in kit.trips.items()}
    over = {name: (len(asked), asked) for name, asked in taken.items() if len(asked) > budgets[name]}
    print({name: len(asked) for name, asked in taken.items() if len(asked) > 2 * AN_ACTION})
    assert over == {}


@pytest.fixture
def counted(live_db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Counted]:
    """A house that receives guests, whose writes are counted."""
    know_everything(monkeypatch)
    kit = Counted.found()
    assert isinstance(kit, Counted)
    yield kit
    kit.close()


def _require_few(kit: Counted, operation: str) -> None:
    """The newest of these writes has kept to the budget; those before have made its process know what it needs."""
    asked = kit.trips[operation][-1]
    assert len(asked) <= 2 * AN_ACTION, (operation, len(asked), asked)


def test_a_buy_in_that_seats_a_new_player_keeps_to_the_budget(counted: Counted) -> None:
    counted.table()
    counted.players("anna", "bela", "cili", chips=0)
    dealer = counted.dealer()
    dealer.ok("open")
    for seat, player in enumerate(("anna", "bela", "cili"), 1):
        dealer.ok("buy-ins", {"seat": seat, "player": player, "amount": 5_000})
    _require_few(counted, "buyInAtTable")


def test_a_buy_in_that_seats_a_player_who_waited_keeps_to_the_budget(counted: Counted) -> None:
    counted.table()
    counted.players("anna", "bela", chips=0)
    dealer, floor = counted.dealer(), counted.office(Role.FLOOR)
    dealer.ok("open")
    for seat, player in enumerate(("anna", "bela"), 1):
        dealer.refresh()
        listed = dealer.ok("/api/v1/waiting-list", {"player": player, "table": "T1"})
        ticket = listed["ticket"]
        floor.ok(f"/api/v1/waiting-list/{ticket}/call", {"table": "T1", "reason": "a free seat"}, version=1)
        dealer.refresh()
        dealer.ok("buy-ins", {"seat": seat, "player": player, "amount": 5_000, "ticket": ticket})
    _require_few(counted, "buyInAtTable")


@pytest.mark.parametrize("right", [{}, {"right": {"kind": "cage.buy_in", "player": "anna", "amount": 900}}])
@pytest.mark.parametrize("held", [5_000, 400])
def test_a_correction_of_a_sale_to_a_player_keeps_to_the_budget(
    counted: Counted, held: int, right: dict[str, Any]
) -> None:
    """With chips that the player still has, and with chips that are gone by then, which are booked first."""
    counted.players("anna", chips=held)
    cashier = counted.cashier()
    supervisor = counted.supervisor()
    for _ in range(2):
        cashier.refresh()
        sold = cashier.ok("buy-ins", {"player": "anna", "amount": 1_000})
        cashier.refresh()
        supervisor.refresh()
        cashier.ok("cash-outs", {"player": "anna", "amount": 600})
        supervisor.refresh()
        supervisor.ok("corrections", {"entry": sold["audit"]["seq"], "reason": "keyed wrong"} | right)
    _require_few(counted, "correctEntry")


def test_a_count_that_replaces_another_keeps_to_the_budget(counted: Counted) -> None:
    counted.table()
    dealer = counted.dealer()
    for pieces in (200, 201, 202):
        dealer.refresh()
        dealer.ok("tray-counts", {"purpose": "opener", "pieces": {"500": pieces}})
    _require_few(counted, "countTray")
