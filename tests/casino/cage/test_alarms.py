"""What has waited too long is named in the house's report."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from casino.approvals.control_points import set_at_founding
from casino.cage.models import Shift
from casino.core.sql import database_time
from casino.hands.models import Hand
from casino.reports.alarms import alarms, bank_time
from casino.staff.models import Role, TerminalKind
from tests.casino.cage.test_vault import Vault
from tests.casino.days.test_days import close
from tests.casino.hands.test_settlement import dispute
from tests.casino.kit import ACTOR, Desk, Kit
from tests.casino.superuser import unguarded
from tests.casino.transfers.test_soft_counts import CASH, TAX, Boxes
from tests.casino.transfers.test_transfers import floor_at
from tests.casino.transfers.test_tray_counts import HELD, Trays

BUDAPEST = ZoneInfo("Europe/Budapest")


def found(kit: Kit, **later: int) -> list[tuple[str, str]]:
    """Alarms so much later, by what waits and its name."""
    return [(one.kind.value, one.name) for one in alarms(kit.house, database_time() + timedelta(**later))]


def moment(text: str) -> datetime:
    """A moment of the wall clock in Budapest."""
    return datetime.fromisoformat(text).replace(tzinfo=BUDAPEST)


@pytest.mark.parametrize(
    ("since", "until", "hours"),
    [
        ("2026-06-01T12:00", "2026-06-04T12:00", 72),  # Monday to Thursday
        ("2026-06-05T12:00", "2026-06-08T12:00", 24),  # Friday to Monday
        ("2026-06-06T00:00", "2026-06-08T00:00", 0),  # a weekend
        ("2026-06-05T23:00", "2026-06-06T05:00", 1),
        ("2026-03-27T12:00", "2026-03-30T12:00", 24),  # clocks go forward on the Sunday
        ("2026-06-01T12:00", "2026-06-01T12:00", 0),
    ],
)
def test_bank_time_leaves_saturdays_and_sundays_out(since: str, until: str, hours: int) -> None:
    assert bank_time(moment(since), moment(until), BUDAPEST) == timedelta(hours=hours)


def test_the_weekend_is_that_of_the_house() -> None:
    """23:00 on a Sunday in UTC is a Monday in Budapest."""
    since, until = datetime(2026, 6, 7, 22, tzinfo=UTC), datetime(2026, 6, 7, 23, tzinfo=UTC)
    assert bank_time(since, until, BUDAPEST) == timedelta(hours=1)
    assert bank_time(since, until, ZoneInfo("UTC")) == timedelta(0)


def test_a_transfer_that_is_under_way_for_half_an_hour(kit: Kit) -> None:
    kit.table()
    kit.players("anna")
    cashier = kit.cashier()
    kit.open_drawer(cashier, cash=1_000, chips=5_000)
    cashier.ok("fills", {"table": "T1", "pieces": {"500": 1}})
    assert found(kit, minutes=29) == [] and found(kit, minutes=31) == [("transfer", "fill 1")]
    with unguarded("transfers_transfer") as cursor:
        cursor.execute(
            "UPDATE transfers_transfer SET sent_at = sent_at - interval '31 min' WHERE house_id = %s", [kit.house.id]
        )
    [alarm] = kit.office().get("reports/house").json()["alarms"]
    assert (alarm["alarm"], alarm["name"]) == ("transfer", "fill 1")
    floor_at(kit, TerminalKind.CAGE, "C1").ok("fills/1/cancel", {"reason": "nobody came"})
    assert found(kit, minutes=31) == []


def test_a_bag_that_the_bank_has_not_confirmed_for_three_bank_days(kit: Kit) -> None:
    office = kit.office(Role.CAGE_SUPERVISOR)
    kit.approved(office, "vault/bags", {"way": "to_bank", "bag": "B-1", "amount": 500})
    with unguarded("cage_bankbag") as cursor:
        since = moment("2026-06-05T12:00")
        cursor.execute("UPDATE cage_bankbag SET sent_at = %s WHERE house_id = %s", [since, kit.house.id])
    at = moment("2026-06-10T12:00")
    assert alarms(kit.house, at) == []
    [alarm] = alarms(kit.house, at + timedelta(seconds=1))
    assert (alarm.kind, alarm.name, alarm.since) == ("bank_bag", "bag 1", moment("2026-06-05T12:00"))
    other = kit.office(Role.CAGE_SUPERVISOR)
    other.ok("vault/bags/1/confirm", {"amount": 500, "note": "N-1"})
    assert alarms(kit.house, at + timedelta(days=9)) == []


def test_chips_that_are_set_aside_for_ninety_days_and_not_destroyed(kit: Kit) -> None:
    noting, counting = kit.office(Role.CAGE_SUPERVISOR), kit.office(Role.COUNT)
    watching = kit.hire(Role.SURVEILLANCE, TerminalKind.OFFICE, "")[0].staff.login

    def moved(kind: str, count: int, **more: str) -> None:
        body = {"kind": kind, "paper": "worn", "pieces": {"500": count}} | more
        number = noting.ok("chip-moves", body)["move"]["move"]
        counting.ok(f"chip-moves/{number}/counts", {"pieces": {"500": count}})

    moved("set_aside", 3)
    with unguarded("transfers_chipmove") as cursor:
        ended = "UPDATE transfers_chipmove SET ended_at = ended_at - interval '91 days' WHERE house_id = %s"
        cursor.execute(ended, [kit.house.id])
    moved("set_aside", 2)
    assert found(kit) == [("set_aside", "chips of set MAIN")]
    moved("destruction", 2, observer=watching)
    assert found(kit) == [("set_aside", "chips of set MAIN")]
    moved("destruction", 1, observer=watching)
    assert found(kit) == [] and found(kit, days=91) == [("set_aside", "chips of set MAIN")]


def test_a_dispute_that_nobody_has_ruled_on_for_an_hour(kit: Kit) -> None:
    kit.worked_hand()
    dispute(kit, Hand.objects.get(house=kit.house))
    assert found(kit, minutes=59) == []
    assert [kind for kind, _ in found(kit, minutes=61)] == ["dispute"]


# --- Counts and approvals --------------------------------------------------------------------------------------------


def closed(kit: Kit, desk: Desk, **over: int) -> str:
    """A shift of a cashier's drawer that is closed with a difference of cash; its cashier's login."""
    kit.open_drawer(desk, cash=1_000_000, pieces={"500": 10})
    held = kit.held()
    kit.close_drawer(desk, cash=held["cash"] + over.get("cash", 0), pieces=held["pieces"] | {"500": 10 + over["c500"]})
    shift = Shift.objects.filter(house=kit.house).select_related("opened_by").latest("number")
    return shift.opened_by.login


def points(kit: Kit, **changed: int) -> None:
    """Set control points."""
    set_at_founding(house=kit.house, points=changed, actor=ACTOR)


def test_a_large_difference_of_one_person_in_one_count(kit: Kit) -> None:
    points(kit, difference_alarm_from=2_000)
    desk = kit.cashier()
    closed(kit, desk, cash=-1_999, c500=0)
    assert found(kit) == []
    login = closed(kit, desk, cash=-1_500, c500=1)
    name = f"{login}, drawer C1, shift 2"
    assert found(kit) == [("difference", name)] == found(kit, days=29) and found(kit, days=31) == []
    [alarm] = kit.office().get("reports/house").json()["alarms"]
    assert (alarm["name"], alarm["amount"]) == (name, -2_000)
    assert kit.office(Role.MANAGER).get("reports/house").json()["alarms"] == [alarm]
    assert kit.office(Role.FLOOR).get("reports/house").json()["alarms"] == []
    # One wrong entry that was found later is no difference any more, as far as it cancels.
    kit.approved(
        kit.office(Role.MANAGER), "variance-offsets", {"drawer": "C1", "count": 2, "amount": 500, "reason": "one chip"}
    )
    assert found(kit) == []


def test_differences_of_one_person_in_one_direction(kit: Kit) -> None:
    desk = kit.cashier()
    for cash in (-5, 10, -5):
        closed(kit, desk, cash=cash, c500=0)
    assert found(kit) == []
    login = closed(kit, desk, cash=-10, c500=0)
    assert found(kit) == [("differences_of_one_sign", f"{login}, 3 counts short")]
    [alarm] = alarms(kit.house)
    assert alarm.amount == -20
    points(kit, differences_of_one_sign=4)
    assert found(kit) == []


def test_a_tray_that_differs(kit: Kit) -> None:
    points(kit, tray_difference_alarm_from=500, tray_difference_reported_from=1_000)
    trays = Trays(kit)
    for left in (396, 391, 381):
        trays.both(HELD | {"100": left})
    assert [(one.kind.value, one.name, one.amount) for one in alarms(kit.house)] == [
        ("tray_difference", "table T1, tray count 2", -500),
        ("tray_difference", "table T1, tray count 3", -1_000),
        ("tray_difference_to_report", "table T1, tray count 3", -1_000),
    ]


def test_a_box_that_nobody_has_counted_when_two_gaming_days_have_ended(kit: Kit) -> None:
    boxes = Boxes(kit)
    manager = kit.office(Role.MANAGER)
    drop = boxes.brought("drop")
    boxes.both(drop, CASH, {})
    kit.close_drawer(kit.cashier())
    for day in ("2026-01-01", "2026-01-02"):
        assert [one for one in found(kit) if one[0] == "uncounted_box"] == []
        manager.ok("days", {"day": day})
        close(kit, manager, day)
    # The tax box has something in it; the new drop box is empty, the old one was received.
    assert [one for one in found(kit) if one[0] == "uncounted_box"] == [("uncounted_box", "tax box tax-1 of table T1")]
    manager.ok("days", {"day": "2026-01-03"})
    boxes.both(boxes.brought("tax"), 0, TAX)
    assert [one for one in found(kit) if one[0] == "uncounted_box"] == []


def test_a_counted_drawer_that_is_not_closed(kit: Kit) -> None:
    desk = kit.cashier()
    kit.open_drawer(desk, cash=1_000, pieces={"500": 1})
    desk.ok("count", kit.held())
    assert found(kit, minutes=29) == [] and found(kit, minutes=31) == [("drawer_not_closed", "drawer C1")]
    desk.ok("close")
    assert found(kit, minutes=31) == []


def test_a_vault_that_was_not_counted_for_a_gaming_day(kit: Kit) -> None:
    vault, manager = Vault(kit), kit.office(Role.MANAGER)
    kit.close_drawer(kit.cashier())
    manager.ok("days", {"day": "2026-01-01"})
    vault.both()
    close(kit, manager, "2026-01-01")
    assert found(kit) == []
    manager.ok("days", {"day": "2026-01-02"})
    close(kit, manager, "2026-01-02")
    assert found(kit) == [("uncounted_vault", "the vault")]
    vault.both()
    assert found(kit) == []


def test_two_people_who_approve_each_other(kit: Kit) -> None:
    points(kit, reverse_pair_least=2, transfer_approved_from=1)
    kit.table()
    kit.open_drawer(kit.cashier(), cash=1_000, pieces={"100": 50})
    one, other, third = (kit.supervisor() for _ in range(3))

    def asks(asking: Desk, deciding: Desk, number: int) -> None:
        asking.refresh()
        held = asking.post("fills", {"table": "T1", "pieces": {"100": number}})
        approval = held.json()["approval"]["approval"]
        deciding.ok(f"/api/v1/approvals/{approval}/approve", version=None)

    asks(one, other, 1)
    assert found(kit) == []
    asks(other, one, 2)
    [(kind, name)] = found(kit)
    assert (kind, name.endswith("2 of 2 approvals")) == ("reverse_pair", True)
    assert found(kit, days=31) == []
    for number in range(3, 11):
        asks(one, third, number)
    assert found(kit) == []
    points(kit, reverse_pair_percent=19)
    assert [kind for kind, _ in found(kit)] == ["reverse_pair"]
