"""What is booked for a day that has passed: it stands beside the day's figures, with its reason, and changes none."""

from dataclasses import replace
from typing import Any

import pytest

from casino.reports.catalogue import a05_daily_revenue
from casino.reports.frame.movements import Turned, turned
from casino.staff.models import Role
from tests.casino.kit import Kit
from tests.casino.reports.test_catalogue import made, rows
from tests.casino.reports.test_catalogue_of_control import broken, rows_of
from tests.casino.superuser import unguarded

FIRST, SECOND = "2024-05-01", "2024-05-02"
REASON = "the video shows another showdown"


def later(found: dict[str, Any]) -> list[dict[str, Any]]:
    """The later adjustments of a report."""
    at = [section["section"] for section in found["sections"]].index("later")
    return rows(found, at)


@pytest.fixture
def late(kit: Kit) -> Kit:
    """A hand of the first day on which the floor has ruled in the second, and a drawer of the first day that was 20
    short when it was counted in the second."""
    office = kit.office(Role.MANAGER)
    office.ok("days", {"day": FIRST})
    kit.worked_hand()
    assert kit.settle() == ["settled"]
    office.ok("days", {"day": SECOND})
    floor = kit.dealer(role=Role.FLOOR)
    remedy = {"tax_refunded": [{"actor": "p1", "amount": 65}], "made_good": [{"actor": "p2", "amount": 300}]}
    kit.approved(floor, "hands/T1-000001/rulings", remedy | {"collected": [], "reason": REASON})
    kit.close_drawer(kit.cashier(), cash=kit.held()["cash"] - 20)
    return kit


def test_a_ruling_of_the_next_day_stands_beside_the_day_of_its_hand(late: Kit) -> None:
    for name in ("table-result", "daily-revenue", "duty-return"):
        closed = made(late, name, **{"from": FIRST, "until": FIRST})
        [tax] = [row for row in later(closed) if row["number"] == "4010"]
        assert (tax["day"], tax["booked_in"], tax["place"], tax["reason"]) == (FIRST, SECOND, "T1", REASON)
        assert (tax["kind"], tax["amount"]) == ("hand.ruled_later", -65)
        assert broken(late, name) == broken(late, name, until=FIRST) == []
    # The figures of the day stay as they were.
    [of_day] = [row for row in rows(made(late, "daily-revenue", until=FIRST)) if row["place"] == "T1"]
    assert (of_day["tax"], of_day["goodwill"]) == (165, 0)
    assert rows(made(late, "duty-return", until=FIRST))[0]["tax"] == 165
    goodwill = [row for row in later(made(late, "daily-revenue")) if row["number"] == "5230"]
    assert [(row["figure"], row["amount"]) for row in goodwill] == [("goodwill and rulings", -300)]


def test_a_drawer_that_is_counted_in_the_next_day_stands_beside_its_own(late: Kit) -> None:
    for name in ("z-slips", "drawer-counts"):
        [short] = later(made(late, name, **{"from": FIRST, "until": FIRST}))
        assert (short["number"], short["day"], short["booked_in"], short["amount"]) == ("5200", FIRST, SECOND, -20)
        assert later(made(late, name, drawer="C1")) == [short]
        assert broken(late, name) == []
    assert later(made(late, "tray-counts")) == later(made(late, "vault-counts")) == []
    summary = made(late, "cage-summary")
    [cover] = rows(summary, 3)
    assert cover["share"] == round(cover["cover"] * 10_000 / cover["owed"]) > 10_000
    free = sum(row["cover"] - row["owed"] for row in rows(summary, 2))
    assert cover["free"] == cover["cover"] - cover["owed"] == free
    moved = later(made(late, "cage-summary", until=FIRST))
    by_number = {number: sum(row["amount"] for row in moved if row["number"] == number) for number in ("1010", "1020")}
    assert by_number["1020"] == -by_number["1010"] - 20 < 0


def test_tax_of_which_a_chip_did_not_come_to_the_box_is_seen(late: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    words = "tax of hands = chips put into tax boxes"
    found = made(late, "daily-revenue")["equalities"]
    assert [one["one"] for one in found if one["equality"] == words] == [165]

    def one_less(*asked: Any) -> list[Turned]:
        return [replace(one, into=max(one.into - 1, 0)) if one.number == "9150" else one for one in turned(*asked)]

    monkeypatch.setattr(a05_daily_revenue, "turned", one_less)
    assert broken(late, "daily-revenue") == [words]


def altered(sql: str, house: int) -> None:
    """The books changed with every trigger switched off."""
    with unguarded("ledger_transaction", "ledger_entry") as cursor:
        cursor.execute(sql, [house])


AS_EVENTS = "later adjustments = those of the events"
SAME = "later adjustments that the events have so = all"
AMOUNTS = "amounts of later adjustments = those of the events"


def test_adjustments_of_the_ledger_are_compared_with_what_later_work_has_recorded(late: Kit) -> None:
    [counted] = [
        one for one in made(late, "z-slips")["equalities"] if one["equality"] == AMOUNTS
    ]  # fmt: skip
    assert (counted["one"], counted["other"], counted["type"]) == (-20, -20, "money")
    [ruled] = [one for one in made(late, "duty-return")["equalities"] if one["equality"] == AMOUNTS]
    assert (ruled["one"], ruled["other"]) == (-65, -65)
    for name in ("cage-summary", "tray-counts", "vault-counts", "drawer-counts", "table-result"):
        said = {one["equality"] for one in made(late, name)["equalities"]}
        assert said >= {AS_EVENTS, SAME, AMOUNTS}, name


def test_a_posting_that_was_moved_to_another_day_is_seen(late: Kit) -> None:
    """The day of the work's beginning stands in the trail, whatever the books say later."""
    altered(
        "UPDATE ledger_transaction SET metadata = metadata - 'for_day' WHERE kind = 'drawer.closed' AND book = %s",
        late.house.id,
    )
    assert broken(late, "drawer-counts") == broken(late, "z-slips") == [AS_EVENTS, AMOUNTS]
    assert rows_of(late, "drawer-counts", 1) == []
    altered(
        'UPDATE ledger_transaction SET metadata = metadata || \'{"for_day": "2024-04-30"}\' '
        "WHERE kind = 'drawer.closed' AND book = %s",
        late.house.id,
    )
    assert broken(late, "drawer-counts") == [SAME]
    # Work of the same day that is said to be for another one.
    altered(
        'UPDATE ledger_transaction SET metadata = metadata || \'{"for_day": "2024-04-30"}\' '
        "WHERE kind = 'hand.settled' AND book = %s",
        late.house.id,
    )
    assert broken(late, "duty-return") == [AS_EVENTS, SAME, AMOUNTS]


def test_an_amount_that_was_altered_is_seen(late: Kit) -> None:
    altered(
        "UPDATE ledger_entry SET amount = amount - 5 * sign(amount) FROM ledger_transaction posted, ledger_account own "
        "WHERE posted.id = transaction_id AND own.id = account_id AND posted.kind = 'hand.ruled_later' "
        "AND own.code = '4010/T1' AND own.book = %s",
        late.house.id,
    )
    assert broken(late, "duty-return")[:2] == [SAME, AMOUNTS]
