"""Boxes: swapped with a seal, brought to the count room, counted by two blind of each other, received by a third."""

from typing import Any

import pytest
from django.db import connections, transaction

from casino.bookkeeping.postings import posting
from casino.core.denominations import Chips
from casino.reports.selectors import custody, racks
from casino.reports.verifying import verification
from casino.staff.models import Role, Staff, TerminalKind
from casino.transfers.models import Box
from tests.casino.kit import CASH as FLOAT_CASH
from tests.casino.kit import CHIPS, SAMPLE, Desk, Kit, book
from tests.casino.transfers.test_transfers import floor_at, refusal

#: What the worked hand's tax of 165 is made of, and the cash that one player has put down.
TAX, CASH = {"100": 1, "25": 2, "5": 3}, 700


class Boxes:
    """A table whose boxes hold the tax of one hand and some cash, a count team and a cage supervisor."""

    def __init__(self, kit: Kit) -> None:
        self.kit = kit
        self.dealer = kit.worked_hand()
        assert kit.settle() == ["settled"]
        bought = Chips("MAIN", {100: 7})
        places = {"table": "T1", "player": "T1-u1"}
        book(kit.house, "command:bought", posting("buy_in_at_table", places, amount=CASH, chips=bought))
        self.dealer.refresh()
        for kind in ("drop", "tax"):
            self.swap(kind, f"{kind}-1")
        self.one, self.other = kit.office(Role.COUNT), kit.office(Role.COUNT)
        self.supervisor = kit.office(Role.CAGE_SUPERVISOR)
        self.vault, self.chips = kit.balance("1010", "9110")

    def swap(self, kind: str, number: str, seal: str | None = None) -> dict[str, Any]:
        """The dealer puts a box on the table."""
        body = {"kind": kind, "number": number} | ({"seal": seal} if seal else {})
        found: dict[str, Any] = self.dealer.ok("boxes", body)["last_event"]
        return found

    def brought(self, kind: str, seal: str = "S-1") -> int:
        """The dealer takes the box off, the count team brings it; the number of its row."""
        box = self.swap(kind, f"{kind}-{seal}", seal)["taken"]["box"]
        self.one.ok(f"boxes/{box}/bring", {"seal": seal}, version=None)
        return int(box)

    def count(self, desk: Desk, box: int, cash: int, pieces: dict[str, int]) -> Any:
        """One person's count."""
        return desk.post(f"boxes/{box}/counts", {"cash": cash, "pieces": pieces})

    def both(self, box: int, cash: int, pieces: dict[str, int]) -> dict[str, Any]:
        """Both count the same, and the supervisor receives it."""
        for desk in (self.one, self.other):
            assert self.count(desk, box, cash, pieces).status_code == 201
        found: dict[str, Any] = self.supervisor.ok(f"boxes/{box}/receive")["box"]
        return found

    def moved(self) -> list[int]:
        """What came into the vault in cash and in chips, and what is left in the boxes."""
        vault, chips, drop, box = self.kit.balance("1010", "9110", "1050/T1", "9150/T1")
        return [vault - self.vault, chips - self.chips, drop, box]

    def whole(self) -> None:
        """Chips and money agree, nothing is lost, books and chains are whole."""
        assert custody(self.kit.house)["equal"]
        assert all(row["equal"] for row in racks(self.kit.house)["denominations"])
        assert verification(self.kit.house)["ok"]


@pytest.fixture
def boxes(kit: Kit) -> Boxes:
    """Boxes with something in them."""
    return Boxes(kit)


def test_two_persons_count_and_a_third_receives_into_the_vault(boxes: Boxes) -> None:
    drop, tax = boxes.brought("drop"), boxes.brought("tax")
    before = boxes.kit.balance("9120/C1")
    for desk in (boxes.one, boxes.other):
        answer = boxes.count(desk, drop, CASH, {})
        assert (answer.status_code, answer.json()["differs"]) == (201, False)
    assert boxes.moved() == [0, 0, CASH, 165]
    done = boxes.supervisor.ok(f"boxes/{drop}/receive")["box"]
    assert (done["state"], done["cash_variance"], done["chip_variance"]) == ("received", 0, 0)
    assert boxes.both(tax, 0, TAX)["chip_variance"] == 0
    assert boxes.moved() == [CASH, 165, 0, 0]
    # No drawer gets anything.
    assert boxes.kit.balance("9120/C1") == before
    assert boxes.kit.balance("1010") == CHIPS - FLOAT_CASH + CASH
    boxes.whole()


@pytest.mark.some_now(2)
@pytest.mark.parametrize(
    ("kind", "cash", "pieces", "cash_short", "chips_short"),
    [
        ("drop", 650, {}, 50, 0),
        ("drop", 720, {}, -20, 0),
        ("drop", 0, {}, CASH, 0),
        ("drop", CASH, {"5": 1}, 0, -5),
        ("tax", 0, TAX | {"5": 1}, 0, 10),
        ("tax", 0, TAX | {"1": 4}, 0, -4),
        ("tax", 0, {}, 0, 165),
        ("tax", 0, {"25": 6, "5": 3}, 0, 0),
    ],
    ids=["cash short", "over", "no cash", "a chip", "chips short", "chips over", "no chips", "other chips"],
)
def test_what_is_over_or_short_is_posted_by_table(
    boxes: Boxes, kind: str, cash: int, pieces: dict[str, int], cash_short: int, chips_short: int
) -> None:
    done = boxes.both(boxes.brought(kind), cash, pieces)
    assert (done["cash_variance"], done["chip_variance"]) == (-cash_short, -chips_short)
    assert boxes.kit.balance("5200/T1", "5210/T1", "2015/T1") == [cash_short, chips_short, chips_short]
    assert boxes.moved()[2:] == ([0, 165] if kind == "drop" else [CASH, 0])
    boxes.whole()
    [row] = boxes.kit.office().get(f"boxes?kind={kind}&state=received").json()["results"]
    assert (row["expected_cash"], row["expected_pieces"]) == ((CASH, {}) if kind == "drop" else (0, TAX))


def test_no_counter_reads_what_the_other_has_counted_or_the_books_expect(boxes: Boxes) -> None:
    drop = boxes.brought("drop")
    figures = {"cash", "pieces", "value"}
    readers = [boxes.one, boxes.other, boxes.supervisor, boxes.kit.office(Role.FLOOR)]

    def seen() -> set[str]:
        found = [row for desk in readers for row in desk.get("boxes?kind=drop").json()["results"]]
        return {name for row in found for name in row if name in figures or "expected" in name or "variance" in name}

    answers = [boxes.count(boxes.one, drop, 691, {"5": 3}), boxes.count(boxes.other, drop, 683, {"5": 7})]
    # It says that the two differ, and has no figure at all: neither of the first nor of what is expected.
    assert [answer.json()["differs"] for answer in answers] == [False, True]
    for answer in answers:
        assert not figures & answer.json()["box"].keys()
        assert not {name for name in answer.json()["box"] if "expected" in name or "variance" in name}
    assert "691" not in answers[1].json()["box"].values()
    assert seen() == set()
    for desk in (boxes.one, boxes.other):
        for path in ("audit/events", "reports/house", "ledger/accounts", "tables/T1/chips"):
            assert desk.get(path).status_code == 403
    again = boxes.count(boxes.other, drop, CASH, {})
    assert (again.json()["box"]["differing_rounds"], seen()) == (1, set())
    boxes.count(boxes.one, drop, CASH, {})
    # Both counts are in: what was counted may be read, what was expected not before it was received.
    assert seen() == figures
    boxes.supervisor.ok(f"boxes/{drop}/receive")
    assert "expected_cash" in seen()
    boxes.whole()


def test_after_three_pairs_that_differ_a_supervisor_decides(boxes: Boxes) -> None:
    drop = boxes.brought("drop")
    decision = {"cash": CASH, "pieces": {}, "reason": "both notes lay folded in half"}
    decision["observer"] = watching = boxes.kit.hire(Role.SURVEILLANCE, TerminalKind.OFFICE, "")[0].staff.login
    for number in range(1, 4):
        assert refusal(boxes.supervisor.post(f"boxes/{drop}/decide", decision)) == (409, "recount_needed")
        assert boxes.count(boxes.one, drop, CASH, {}).json()["differs"] is False
        found = boxes.count(boxes.other, drop, CASH - number, {}).json()
        assert (found["differs"], found["box"]["differing_rounds"]) == (True, number)
    assert refusal(boxes.count(boxes.one, drop, CASH, {})) == (409, "supervisor_needed")
    counter = Staff.objects.get(
        house=boxes.kit.house, login=Box.objects.get(house=boxes.kit.house, serial=drop).brought_by.login
    )  # type: ignore[union-attr]
    # Somebody of surveillance watches, who is at work here.
    floor = boxes.kit.hire(Role.FLOOR, TerminalKind.OFFICE, "")[0].staff.login
    for login in (floor, "nobody"):
        refused = boxes.supervisor.post(f"boxes/{drop}/decide", decision | {"observer": login})
        assert refusal(refused) == (422, "unknown_observer")
    decided = boxes.supervisor.ok(f"boxes/{drop}/decide", decision)["box"]
    assert decided["observer"] == watching
    assert (decided["state"], decided["reason"], decided["cash"]) == ("counted", decision["reason"], CASH)
    # Who has decided does not receive, nor does who has counted.
    assert refusal(boxes.supervisor.post(f"boxes/{drop}/receive")) == (403, "four_eyes")
    boxes.kit.office(Role.CAGE_SUPERVISOR).ok(f"boxes/{drop}/receive")
    boxes.whole()
    tax = boxes.brought("tax", "S-2")
    for desk in (boxes.one, boxes.other):
        boxes.count(desk, tax, 0, TAX)
    # The counter has become a supervisor since.
    counter.roles = [Role.CAGE_SUPERVISOR]
    counter.save()
    assert refusal(boxes.one.post(f"boxes/{tax}/receive")) == (403, "four_eyes")
    boxes.supervisor.ok(f"boxes/{tax}/receive")


def test_nobody_counts_twice_or_brings_the_own_box(boxes: Boxes) -> None:
    drop = boxes.brought("drop")
    boxes.count(boxes.one, drop, CASH, {})
    assert refusal(boxes.count(boxes.one, drop, CASH, {})) == (403, "four_eyes")
    assert refusal(boxes.supervisor.post(f"boxes/{drop}/receive")) == (409, "box_brought")
    taken = boxes.swap("tax", "tax-2", "S-9")["taken"]
    dealer = Staff.objects.get(house=boxes.kit.house, login=taken["taken_by"])
    dealer.roles = [Role.DEALER, Role.COUNT]
    dealer.save()
    ids = dict(Box.objects.filter(house=boxes.kit.house).values_list("serial", "id"))
    for alias in ("default", "owner"):
        for statement in (
            f"UPDATE transfers_box SET state = 'brought', seal_read = 'S', brought_by_id = taken_by_id "
            f"WHERE id = {ids[taken['box']]}",
            f"UPDATE transfers_box SET expected_cash = 0 WHERE id = {ids[drop]}",
            f"UPDATE transfers_box SET seal = 'S-10' WHERE id = {ids[taken['box']]}",
            f"DELETE FROM transfers_box WHERE id = {ids[drop]}",
            f"UPDATE transfers_boxcount SET cash = 0 WHERE box_id = {ids[drop]}",
        ):
            with (
                pytest.raises(
                    Exception, match=r"box_brought_by_another|keeps its|permission denied|append|refuse|no row"
                ),
                transaction.atomic(using=alias),
                connections[alias].cursor() as cursor,
            ):
                cursor.execute(statement)


def test_a_seal_that_differs_is_seen(boxes: Boxes) -> None:
    taken = boxes.swap("drop", "drop-2", "S-77")["taken"]
    assert (taken["seal"], taken["state"]) == ("S-77", "taken")
    assert not {name for name in taken if "expected" in name}
    found = boxes.one.ok(f"boxes/{taken['box']}/bring", {"seal": "S-78"})["box"]
    assert (found["seal"], found["seal_read"], found["state"]) == ("S-77", "S-78", "brought")
    assert refusal(boxes.one.post(f"boxes/{taken['box']}/bring", {"seal": "S-77"})) == (409, "box_brought")


def test_boxes_that_cannot_be_put(boxes: Boxes) -> None:
    for body, status, code in (
        ({"kind": "drop", "number": "drop-2"}, 422, "seal_missing"),
        ({"kind": "drop", "number": "tax-1", "seal": "S-1"}, 409, "box_in_use"),
        ({"kind": "tip", "number": "tip-1", "seal": "S-1"}, 422, "seal_without_box"),
        ({"kind": "shoe", "number": "x"}, 400, "invalid_request"),
        ({"kind": "drop", "number": "a b"}, 400, "invalid_request"),
    ):
        assert refusal(boxes.dealer.post("boxes", body)) == (status, code)
    counts: list[tuple[dict[str, Any], int, str]] = [
        ({"cash": -1, "pieces": {}}, 400, "invalid_request"),
        ({"cash": 0, "pieces": {"7": 1}}, 422, "unknown_denomination"),
    ]
    for count, status, code in counts:
        answer = boxes.one.post(f"boxes/{boxes.brought('drop', f'S-{status}')}/counts", count)
        assert refusal(answer) == (status, code)
    assert refusal(boxes.one.post("boxes/999999/counts", {"cash": 0, "pieces": {}})) == (404, "not_found")
    serials = [row["box"] for row in boxes.kit.office().get("boxes").json()["results"]]
    assert serials == list(range(1, len(serials) + 1))


def test_what_falls_into_the_next_box_is_for_the_next_count(boxes: Boxes) -> None:
    first = boxes.brought("tax")
    boxes.dealer.ok("hands", {"mode": "physical"})
    boxes.dealer.act(*SAMPLE[:12])
    swapped = boxes.dealer.post("boxes", {"kind": "tax", "number": "tax-9", "seal": "S-2"})
    assert refusal(swapped) == (409, "table_playing")
    boxes.dealer.act(*SAMPLE[12:])
    assert boxes.kit.settle() == ["settled"]
    boxes.dealer.refresh()
    second = boxes.brought("tax", "S-2")
    # In whatever order they are counted.
    for box in (second, first):
        assert boxes.both(box, 0, TAX)["chip_variance"] == 0
    assert boxes.moved() == [0, 330, CASH, 0]
    boxes.whole()


def test_the_floor_swaps_boxes_too(boxes: Boxes) -> None:
    floor = floor_at(boxes.kit, TerminalKind.TABLE, "T1")
    floor.ok("boxes", {"kind": "drop", "number": "drop-7", "seal": "S-7"})
    assert refusal(boxes.one.post("tables/T1/boxes", {"kind": "drop", "number": "drop-8"})) == (403, "forbidden")
