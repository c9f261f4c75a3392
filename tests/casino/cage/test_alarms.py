"""What has waited too long is named in the house's report."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from casino.approvals.selectors import database_time
from casino.hands.models import Hand
from casino.reports.alarms import alarms, bank_time
from casino.staff.models import Role, TerminalKind
from tests.casino.hands.test_settlement import dispute
from tests.casino.kit import Kit
from tests.casino.superuser import unguarded
from tests.casino.transfers.test_transfers import floor_at

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
    sent = cashier.ok("transfers", {"kind": "fill", "table": "T1", "pieces": {"500": 1}})
    transfer = sent["last_event"]["transfer"]["transfer"]
    assert found(kit, minutes=29) == [] and found(kit, minutes=31) == [("transfer", "fill 1")]
    with unguarded("transfers_transfer") as cursor:
        cursor.execute("UPDATE transfers_transfer SET sent_at = sent_at - interval '31 min' WHERE id = %s", [transfer])
    [alarm] = kit.office().get("reports/house").json()["alarms"]
    assert (alarm["alarm"], alarm["name"]) == ("transfer", "fill 1")
    floor_at(kit, TerminalKind.CAGE, "C1").ok(f"transfers/{transfer}/cancel", {"reason": "nobody came"})
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
