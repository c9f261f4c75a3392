"""What a seat can lose stays in its stack from the deal to the settlement: the state of the table, read under its lock,
refuses everything else that lowers a stack. No hold of the ledger is needed for it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from casino.bookkeeping.postings import EVENTS
from casino.reports.verifying import verification
from casino.staff.models import Role, TerminalKind
from casino.tables.models import TableState
from tests.casino.core.test_concurrency import at_once
from tests.casino.kit import FERBLI, SAMPLE, Desk, Kit
from tests.casino.scene import assert_problem, fingerprint
from tests.casino.transfers.test_transfers import floor_at
from tests.casino.trick_hands import four

#: Rows of the table of postings that take from a stack. Those of the hand itself are what the stack is there for.
OF_THE_HAND = {"stake", "missing_stake", "kitty_stake", "kitty_paid", "points_paid", "table_fee"}
#: And those of other writes, each of which WRITES tries; closing the table pays a session that ends by `points_paid`.
OF_OTHERS = {"left", "tip", "pairs_settled"}
REASON = {"reason": "as the house rules say"}
CLAIM = {"loser": "p1", "winner": "p4", "amount": 400, "consent": "signed slip 17"}
STACKS = ("2020/T1/T1-u1", "2020/T1/T1-u2", "2020/T1/T1-u3", "2020/T1/T1-u4")


@dataclass
class Tables:
    """T1, where one hand was settled and another is at hand, and T2; the dealer and the floor at T1."""

    kit: Kit
    dealer: Desk
    floor: Desk


@pytest.fixture
def tables(kit: Kit) -> Tables:
    """Both, before the second hand."""
    dealer = kit.worked_hand()
    kit.settle()
    kit.table("T2")
    kit.seated("T2", stacks=(5_000, 6_000))
    dealer.refresh()
    floor = floor_at(kit, TerminalKind.TABLE, "T1")
    floor.refresh()
    return Tables(kit, dealer, floor)


def deal(tables: Tables) -> None:
    """The second hand."""
    tables.dealer.ok("hands", {"mode": "physical"})


def to_its_end(tables: Tables) -> None:
    """It is over, and nobody has settled it."""
    deal(tables)
    tables.dealer.act(*SAMPLE[:5], "p2 f", "p3 f", "p4 f")


def disputed(tables: Tables) -> None:
    """The floor stops it after some bets."""
    deal(tables)
    tables.dealer.act(*SAMPLE[:5])
    tables.floor.refresh()
    tables.floor.ok("hand/dispute", {"hand": "T1-000002"} | REASON)


#: How a table comes into each state in which money of a hand is at stake.
STATES: dict[TableState, Callable[[Tables], None]] = {
    TableState.PLAYING: deal,
    TableState.SETTLING: to_its_end,
    TableState.DISPUTED: disputed,
}
#: Every write besides those of the hand that can take from a stack.
WRITES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("dealer", "seats/1/leave", {}),
    ("dealer", "seats/1/change", {"to_seat": 5}),
    ("floor", "seats/1/move", {"table": "T2", "to_seat": 4}),
    ("dealer", "tips", {"seat": 1, "amount": 100}),
    ("dealer", "close", {}),
    ("floor", "hands/T1-000001/rulings", REASON | {"collected": [CLAIM]}),
)


def test_every_row_that_takes_from_a_stack_is_one_of_these() -> None:
    """A row that is added comes here, and with it the question what refuses it during a hand."""
    taking = {name for name, row in EVENTS.items() if any(line.debit.startswith("2020/") for line in row.lines)}
    assert taking == OF_THE_HAND | OF_OTHERS


@pytest.mark.parametrize("state", STATES)
def test_nothing_else_takes_from_a_stack_until_the_hand_is_settled(tables: Tables, state: TableState) -> None:
    STATES[state](tables)
    before = tables.kit.balance(*STACKS), fingerprint()
    for by, path, body in WRITES:
        desk: Desk = getattr(tables, by)
        desk.refresh()
        assert_problem(desk.post(path, body), 409, f"table_{state}")
        assert (tables.kit.balance(*STACKS), fingerprint()) == before, path


def test_who_leaves_at_the_moment_of_the_deal_is_not_dealt_in_or_does_not_leave(tables: Tables) -> None:
    """Both hold the table's lock, one after the other."""
    version, floor = tables.dealer.version, tables.floor
    floor.refresh()
    moved = {"table": "T2", "to_seat": 4}
    dealt, left = at_once(
        lambda: tables.dealer.post("hands", {"mode": "physical"}, version=version).status_code,
        lambda: floor.post("seats/1/move", moved, version=version).status_code,
    )
    assert sorted((dealt < 300, left < 300)) == [False, True], (dealt, left)
    there = tables.kit.balance("2020/T1/T1-u1") > 0
    assert there == (dealt < 300)
    assert verification(tables.kit.house)["ok"]


def test_a_game_that_settles_at_its_end_pays_out_of_stacks_that_nobody_has_touched(kit: Kit) -> None:
    """Zsíros books nothing before its end: the worst loss is in every stack at the deal, and still there then."""
    desk = four(kit)
    before = kit.balance(*STACKS)
    desk.deal()
    for path, body in (("seats/1/leave", {}), ("tips", {"seat": 1, "amount": 100}), ("close", {})):
        assert_problem(desk.post(path, body), 409, "table_playing")
    assert kit.balance(*STACKS) == before
    floor = kit.dealer(role=Role.FLOOR)
    floor.refresh()
    floor.ok("hand/void", REASON | {"cause": "misdeal"})
    desk.refresh()
    assert desk.ok("seats/1/leave", {})["last_event"]["amount"] == before[0]


def test_who_cannot_pay_the_largest_vizi_of_a_fist_is_not_dealt_in(kit: Kit) -> None:
    """Majzli: how much is in the fist is said only later, so every stack has the maximum at the deal."""
    kit.table_for("ferbli", FERBLI | {"majzli_max": 800}, code="T1", seats=4, max_stack=50_000)
    desk = kit.seated(stacks=(20_000, 800, 20_000))
    desk.ok("tips", {"seat": 2, "amount": 100})
    problem = assert_problem(desk.post("hands", {"mode": "physical", "button": 1}), 422, "stack_too_short")
    assert problem["min"] == 800
    desk.ok("seats/2/chips", {"amount": 100})
    desk.ok("hands", {"mode": "physical", "button": 1})
    assert_problem(desk.post("tips", {"seat": 2, "amount": 100}), 409, "table_playing")
