"""Chips and cash that somebody took between two counts are named by place, denomination and time, with what moved."""

from datetime import datetime
from typing import Any

from casino.reports.narrowing import where
from casino.staff.models import Role
from casino.transfers.models import TrayCount
from tests.casino.cage.test_taking_over import FOREIGN, Windows
from tests.casino.cage.test_vault import Vault
from tests.casino.chips.test_narrowing import altered
from tests.casino.kit import Kit
from tests.casino.transfers.test_soft_counts import CASH, TAX, Boxes
from tests.casino.transfers.test_transfers import FILL
from tests.casino.transfers.test_tray_counts import HELD, Trays

REPORT = "reports/count-differences"


def read(kit: Kit, query: str = "", role: Role = Role.AUDITOR) -> list[dict[str, Any]]:
    """The report's counts; everything between two counts is explained by entries."""
    answer = kit.office(role).get(f"{REPORT}?{query}").json()
    assert not answer["more"]
    found: list[dict[str, Any]] = answer["counts"]
    assert {row["unexplained"] for one in found for row in one["differences"]} <= {0}
    return found


def figures(row: dict[str, Any]) -> list[Any]:
    """What a difference says."""
    names = ("what", "denomination", "before", "came", "went", "expected", "counted", "difference")
    return [row[name] for name in names]


def test_a_tray_from_which_chips_are_taken_between_two_counts(kit: Kit) -> None:
    trays = Trays(kit)
    assert read(kit) == []
    trays.both(HELD)
    first = TrayCount.objects.get(house=kit.house)
    trays.dealer.refresh()
    trays.ends.credited()
    left = {value: count - FILL.get(value, 0) for value, count in HELD.items()}
    trays.both(left | {"100": left["100"] - 3})
    [found] = read(kit, "place=T1", Role.MANAGER)
    assert [found[name] for name in ("kind", "place", "count", "previous_count")] == ["tray", "T1", 2, 1]
    assert datetime.fromisoformat(found["since"]) == first.counted_at < datetime.fromisoformat(found["until"])
    [row] = found["differences"]
    assert figures(row) == ["chips", 100, 400, 0, 20, 380, 377, -3]
    assert [(one["number"], one["came"], one["went"]) for one in row["movements"]] == [(1, 0, 20)]
    # What the count has posted is no movement of the time after it.
    left["100"] -= 3
    over = left | {"5": left["5"] + 1}
    trays.both(over)
    newest, before = read(kit)
    assert before == found
    assert figures(newest["differences"][0]) == ["chips", 5, 360, 0, 0, 360, 361, 1]
    trays.both(over | {"100": left["100"] - 1})
    assert figures(read(kit)[0]["differences"][0]) == ["chips", 100, 377, 0, 0, 377, 376, -1]


def test_a_drawer_from_which_chips_and_cash_are_taken(kit: Kit) -> None:
    kit.players("anna")
    desk = kit.cashier()
    for short in (0, 2):
        kit.open_drawer(desk, cash=100_000, pieces={"500": 10, "100": 50})
        desk.ok("buy-ins", {"player": "anna", "amount": 1_500, "pieces": {"500": 3}})
        held = kit.held()
        pieces = held["pieces"] | {"500": held["pieces"]["500"] - short}
        kit.close_drawer(desk, cash=held["cash"] - 300 * (short > 0), pieces=pieces)
    [found] = read(kit, "kind=drawer")
    assert [found[name] for name in ("kind", "place", "count", "previous_count")] == ["drawer", "C1", 2, None]
    cash, chips = found["differences"]
    assert figures(cash) == ["cash", None, 100_000, 1_500, 0, 101_500, 101_200, -300]
    assert figures(chips) == ["chips", 500, 10, 0, 3, 7, 5, -2]
    assert read(kit, "kind=tray") == read(kit, "place=T1") == read(kit, f"until={found['until'][:-1]}Z") == []


def test_a_drawer_that_was_taken_over_began_with_what_came_with_it(kit: Kit) -> None:
    windows = Windows(kit)
    windows.count()
    windows.offer()
    windows.taking.refresh()
    windows.taking.ok("take-over", windows.takes())
    kit.close_drawer(windows.taking, foreign=FOREIGN - 400)
    [found] = read(kit)
    assert (found["place"], [figures(row) for row in found["differences"]]) == (
        "C2", [["foreign", None, FOREIGN, 0, 0, FOREIGN, FOREIGN - 400, -400]],
    )  # fmt: skip


def test_boxes_from_which_cash_and_chips_are_taken(kit: Kit) -> None:
    boxes = Boxes(kit)
    boxes.both(boxes.brought("drop"), CASH - 50, {})
    tax = boxes.brought("tax")
    assert boxes.both(tax, 0, TAX | {"25": 1})["chip_variance"] == -25
    chips, cash = read(kit, "kind=box")
    assert figures(cash["differences"][0]) == ["cash", None, 0, CASH, 0, CASH, CASH - 50, -50]
    assert figures(chips["differences"][0]) == ["chips", 25, 0, 2, 0, 2, 1, -1]
    assert cash["since"] is None
    # The next box holds what fell since the last was taken off; what the soft count moved is none of it.
    boxes.both(boxes.brought("tax", "S-3"), 0, {"5": 1})
    [found] = read(kit, "kind=box")[:1]
    assert figures(found["differences"][0]) == ["chips", 5, 0, 0, 0, 0, 1, 1]
    assert (found["previous_count"], found["since"] is None) == (chips["count"], False)


def test_a_vault_from_which_chips_are_taken(kit: Kit) -> None:
    vault = Vault(kit)
    vault.both()
    vault.both(c500=-2, cash=-70)
    vault.manager.ok("vault/counts/2/sign-off", {"reason": "counted three times"})
    [found] = read(kit)
    assert [found[name] for name in ("kind", "place", "count", "previous_count")] == ["vault", "vault", 2, 1]
    cash, chips = found["differences"]
    assert (cash["what"], cash["difference"], chips["denomination"], chips["difference"]) == ("cash", -70, 500, -2)
    assert cash["before"] == cash["expected"] and chips["movements"] == []
    # What was signed off is no movement; what a supervisor decided is compared with the books of that moment.
    for more in range(3):
        vault.count(vault.one)
        vault.count(vault.other, cash=more + 1)
    decision = vault.held(c500=1) | {"reason": "both were tired"}
    vault.deputy.ok("vault/counts/3/decide", decision)
    vault.manager.ok("vault/counts/3/sign-off", {"reason": "one lay under the shelf"})
    newest = read(kit)[0]
    assert figures(newest["differences"][0])[2:] == [chips["counted"], 0, 0, chips["counted"], chips["counted"] + 1, 1]
    # A vault that holds what no entry brought is dated by its counts too.
    place = [kit.house.id, "9110", "HUF.MAIN.500"]
    statement = "UPDATE ledger_account SET balance = balance + %s WHERE book = %s AND code = %s AND commodity = %s"
    with altered(statement, [2, *place], [-2, *place]):
        [broken] = where(kit.house)["places"]
        assert broken["counted_before"] is not None


def test_who_may_read_it_and_what_may_be_asked(kit: Kit) -> None:
    assert kit.office(Role.CAGE_SUPERVISOR).get(REPORT).status_code == 403
    answer = kit.office().get(f"{REPORT}?kind=pocket")
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_parameter")
