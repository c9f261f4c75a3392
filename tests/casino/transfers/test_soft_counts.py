"""Soft counts: drop box and tax box counted by a cashier without knowing, signed by the floor, then posted."""

from typing import Any

import pytest
from django.db import connections, transaction

from casino.bookkeeping.postings import posting
from casino.core.denominations import Chips
from casino.reports.selectors import custody, verification
from casino.staff.models import Role, TerminalKind
from casino.transfers.models import SoftCount
from tests.casino.kit import CASH as FLOAT_CASH
from tests.casino.kit import CHIPS, SAMPLE, Desk, Kit, book
from tests.casino.transfers.test_transfers import floor_at, refusal

#: What the worked hand's tax of 165 is made of, and the cash that one player has put down.
TAX, CASH = {"100": 1, "25": 2, "5": 3}, 700


class Boxes:
    """A table whose boxes hold the tax of one hand and some cash, a cashier and a witness."""

    def __init__(self, kit: Kit) -> None:
        self.kit = kit
        kit.worked_hand()
        assert kit.settle() == ["settled"]
        bought = Chips("MAIN", {100: 7})
        places = {"table": "T1", "player": "T1-u1"}
        book(kit.house, "command:bought", posting("buy_in_at_table", places, amount=CASH, chips=bought))
        self.cashier = kit.cashier()
        self.vault, self.cage = kit.balance("1010", "9120/C1")

    def counted(self, cash: int = CASH, pieces: dict[str, int] | None = None) -> int:
        """The cashier's count; returns its number."""
        body = {"table": "T1", "cash": cash, "pieces": TAX if pieces is None else pieces}
        return int(self.cashier.ok("soft-counts", body)["last_event"]["soft_count"]["soft_count"])

    def witness(self) -> Desk:
        """The floor at the cashier's terminal."""
        return floor_at(self.kit, TerminalKind.CAGE, "C1")

    def moved(self) -> list[int]:
        """What came to the vault and to the cage, and what is left in the boxes."""
        vault, cage, drop, box = self.kit.balance("1010", "9120/C1", "1050/T1", "9150/T1")
        return [vault - self.vault, cage - self.cage, drop, box]


@pytest.fixture
def boxes(kit: Kit) -> Boxes:
    """Boxes with something in them."""
    return Boxes(kit)


def test_two_persons_count_and_the_boxes_are_empty(boxes: Boxes) -> None:
    answer = boxes.cashier.ok("soft-counts", {"table": "T1", "cash": CASH, "pieces": TAX})["last_event"]["soft_count"]
    # The cashier does not read what there should be.
    assert not {name for name in answer if "expected" in name or "variance" in name}
    assert boxes.moved() == [0, 0, CASH, 165]
    confirmed = boxes.witness().ok(f"soft-counts/{answer['soft_count']}/confirm", {"cash": CASH, "pieces": TAX})
    assert confirmed["last_event"]["kind"] == "soft_count.confirmed"
    done = confirmed["last_event"]["soft_count"]
    assert (done["cash_variance"], done["chip_variance"]) == (0, 0)
    assert boxes.moved() == [CASH, 165, 0, 0]
    assert boxes.kit.balance("1010") == CHIPS - FLOAT_CASH + CASH
    assert custody(boxes.kit.house)["equal"]
    assert verification(boxes.kit.house)["ok"]


@pytest.mark.some_now(2)
@pytest.mark.parametrize(
    ("cash", "pieces", "cash_short", "chips_short"),
    [
        (650, TAX, 50, 0),
        (720, TAX, -20, 0),
        (CASH, TAX | {"5": 1}, 0, 10),
        (CASH, TAX | {"1": 4}, 0, -4),
        (0, {}, CASH, 165),
        (CASH, {"25": 6, "5": 3}, 0, 0),
    ],
    ids=["cash short", "cash over", "chips short", "chips over", "nothing there", "other chips"],
)
def test_what_is_over_or_short_is_posted_by_table(
    boxes: Boxes, cash: int, pieces: dict[str, int], cash_short: int, chips_short: int
) -> None:
    number = boxes.counted(cash, pieces)
    confirmed = boxes.witness().ok(f"soft-counts/{number}/confirm", {"cash": cash, "pieces": pieces})["last_event"]
    done = confirmed["soft_count"]
    assert (done["cash_variance"], done["chip_variance"]) == (-cash_short, -chips_short)
    assert boxes.moved() == [cash, 165 - chips_short, 0, 0]
    assert boxes.kit.balance("5200/T1", "5210/T1", "2015/T1") == [cash_short, chips_short, chips_short]
    assert custody(boxes.kit.house)["equal"]
    assert verification(boxes.kit.house)["ok"]
    row = boxes.kit.office().get("soft-counts?table=T1").json()["results"][0]
    assert (row["state"], row["expected_cash"], row["expected_pieces"]) == ("confirmed", CASH, TAX)


def test_the_witness_must_have_counted_the_same(boxes: Boxes) -> None:
    number = boxes.counted()
    witness = boxes.witness()
    for cash, pieces in ((CASH - 1, TAX), (CASH, TAX | {"5": 2})):
        answer = witness.post(f"soft-counts/{number}/confirm", {"cash": cash, "pieces": pieces})
        assert refusal(answer) == (409, "counts_differ")
        assert answer.json()["second"] == {"cash": cash, "pieces": pieces}
    assert boxes.moved() == [0, 0, CASH, 165]
    again = {"table": "T1", "cash": CASH, "pieces": TAX}
    assert refusal(boxes.cashier.post("soft-counts", again)) == (409, "count_under_way")
    boxes.cashier.ok(f"soft-counts/{number}/void")
    assert refusal(witness.post(f"soft-counts/{number}/confirm", {"cash": CASH, "pieces": TAX})) == (
        412, "version_conflict",
    )  # fmt: skip
    witness.refresh()
    answer = witness.post(f"soft-counts/{number}/confirm", {"cash": CASH, "pieces": TAX})
    assert refusal(answer) == (409, "count_voided")
    boxes.counted()


def test_a_drawer_with_a_count_that_waits_does_not_close(boxes: Boxes) -> None:
    number = boxes.counted()
    found = boxes.kit.held()
    refused = boxes.cashier.post("count", found)
    assert refusal(refused) == (409, "drawer_pending")
    assert (refused.json()["soft_counts"], refused.json()["transfers"]) == ([number], [])
    boxes.cashier.ok(f"soft-counts/{number}/void")
    assert boxes.cashier.ok("count", found)["state"] == "counted"
    assert boxes.cashier.ok("close")["state"] == "closed"


def test_a_cashier_lists_the_counts_of_the_own_drawer(boxes: Boxes) -> None:
    kit, number = boxes.kit, boxes.counted()
    other = Desk(kit.http(kit.token(Role.CASHIER, TerminalKind.CAGE, "C2")), "/api/v1")
    [row] = boxes.cashier.get("/api/v1/soft-counts").json()["results"]
    assert (row["soft_count"], row["state"], row["ended_at"]) == (number, "counted", None)
    assert not {name for name in row if "expected" in name or "variance" in name}
    assert other.get("soft-counts").json()["results"] == []
    floor = kit.office(Role.FLOOR)
    assert len(floor.get("soft-counts?state=counted&table=T1").json()["results"]) == 1
    assert floor.get(f"soft-counts?until={row['counted_at']}").json()["results"] == []
    assert refusal(floor.get("soft-counts?state=withdrawn")) == (400, "invalid_parameter")


def test_the_counter_cannot_be_the_witness(boxes: Boxes) -> None:
    number = boxes.counted()
    person = SoftCount.objects.get(id=number).counted_by
    person.roles = [Role.CASHIER, Role.FLOOR]
    person.save()
    answer = boxes.cashier.post(f"soft-counts/{number}/confirm", {"cash": CASH, "pieces": TAX})
    assert refusal(answer) == (403, "four_eyes")
    for alias in ("default", "owner"):
        with pytest.raises(Exception, match="soft_count_two_persons"), transaction.atomic(using=alias):
            connections[alias].cursor().execute(
                "UPDATE transfers_softcount SET state = 'confirmed', ended_by_id = counted_by_id WHERE id = %s",
                [number],
            )
        with pytest.raises(Exception, match="was counted as it was"), transaction.atomic(using=alias):
            connections[alias].cursor().execute(
                "UPDATE transfers_softcount SET counted_cash = 0 WHERE id = %s", [number]
            )


def test_what_falls_into_the_boxes_after_the_count_is_for_the_next_one(boxes: Boxes) -> None:
    number = boxes.counted()
    dealer = boxes.kit.dealer()
    dealer.ok("hands", {"mode": "physical"})
    dealer.act(*SAMPLE[:12])
    dealer.act(*SAMPLE[12:])
    assert boxes.kit.settle() == ["settled"]
    confirmed = boxes.witness().ok(f"soft-counts/{number}/confirm", {"cash": CASH, "pieces": TAX})["last_event"]
    done = confirmed["soft_count"]
    assert done["chip_variance"] == 0
    assert boxes.moved() == [CASH, 165, 0, 165]
    assert verification(boxes.kit.house)["ok"]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"table": "T9"}, 404, "not_found"),
        ({"cash": -1}, 400, "invalid_request"),
        ({"pieces": {"7": 1}}, 422, "unknown_denomination"),
    ],
)
def test_counts_that_cannot_be(boxes: Boxes, body: dict[str, Any], status: int, code: str) -> None:
    answer = boxes.cashier.post("soft-counts", {"table": "T1", "cash": CASH, "pieces": TAX} | body)
    assert refusal(answer) == (status, code)


def test_boxes_are_counted_into_an_open_drawer(kit: Kit) -> None:
    kit.table()
    cashier = kit.cashier()
    body: dict[str, Any] = {"table": "T1", "cash": 0, "pieces": {}}
    assert refusal(cashier.post("soft-counts", body)) == (409, "drawer_closed")
    kit.open_drawer(cashier, cash=0, chips=0)
    # Empty boxes are counted too: that they are empty is worth two signatures.
    number = cashier.ok("soft-counts", body)["last_event"]["soft_count"]["soft_count"]
    floor_at(kit, TerminalKind.CAGE, "C1").ok(f"soft-counts/{number}/confirm", {"cash": 0, "pieces": {}})
