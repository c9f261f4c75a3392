"""Reality checks come by themselves: after hours on seats, once each, until somebody has spoken to the player."""

from collections.abc import Iterator

import pytest

from casino.approvals.control_points import set_at_founding
from casino.audit.models import Event
from casino.reports import tasks
from casino.safeguards.models import RealityCheck
from casino.staff.models import Role
from casino.verification.auditing import verify_house
from tests.casino.devices import device
from tests.casino.kit import ACTOR, Desk, Kit
from tests.casino.superuser import unguarded

TALK = {"interaction": "reality_check", "note": "two hours; goes home soon"}


@pytest.fixture
def table(kit: Kit) -> Iterator[Desk]:
    """A table with two players."""
    kit.table()
    yield kit.seated(stacks=(20_000, 15_000))


def pass_time(kit: Kit, minutes: int, seat: int = 1) -> None:
    """As if a player had sat so much longer."""
    with unguarded("tables_seating") as cursor:
        cursor.execute(
            "UPDATE tables_seating SET sat_at = sat_at - %s * interval '1 minute' WHERE house_id = %s AND seat = %s",
            [minutes, kit.house.id, seat],
        )


def raised(kit: Kit) -> bool:
    return tasks.raise_reality_checks(str(kit.house.id))


def due(kit: Kit, role: Role = Role.FLOOR) -> list[tuple[str, str, int, int]]:
    rows = kit.office(role).get("reality-checks/due").json()["results"]
    return [(row["player"], row["table"], row["seat"], row["minutes"]) for row in rows]


def test_the_house_says_so_once_and_again_after_as_long(kit: Kit, table: Desk) -> None:
    assert not raised(kit) and due(kit) == []
    pass_time(kit, 121)
    assert raised(kit) and not raised(kit)
    assert due(kit) == [("T1-u1", "T1", 1, 121)]
    [event] = Event.objects.filter(house=kit.house, doc__kind="player.reality_check_due")
    assert event.doc["data"] == {"number": 1, "player": "T1-u1", "table": "T1", "seat": 1, "minutes": 121}
    with unguarded("safeguards_realitycheck") as cursor:
        cursor.execute("UPDATE safeguards_realitycheck SET raised_at = raised_at - interval '121 minutes'")
    assert raised(kit) and RealityCheck.objects.filter(house=kit.house).count() == 2
    assert len(due(kit)) == 1, "the newest of a player"


def test_it_is_done_once_somebody_has_spoken_to_the_player(kit: Kit, table: Desk) -> None:
    pass_time(kit, 180)
    assert raised(kit)
    assert table.refresh()["reality_checks"] == [1]
    kit.office(Role.FLOOR).ok("players/T1-u1/interactions", {"interaction": "talk", "note": "a joke"})
    assert len(due(kit)) == 1, "any talk will not do"
    kit.office(Role.FLOOR).ok("players/T1-u1/interactions", TALK)
    assert due(kit) == [] and not raised(kit)
    assert table.refresh()["reality_checks"] == []


def test_the_players_own_device_says_so(kit: Kit, table: Desk) -> None:
    own = device(kit, table, 1)
    before = own.get("table").json()
    assert (before["reality_check"], before["minutes_in_24_h"]) == (False, 0)
    pass_time(kit, 130)
    raised(kit)
    after = own.get("table").json()
    assert (after["reality_check"], after["minutes_in_24_h"]) == (True, 130)
    assert device(kit, table, 2).get("table").json()["reality_check"] is False, "it is another player's"


def test_a_check_of_yesterday_waits_no_longer(kit: Kit, table: Desk) -> None:
    own = device(kit, table, 1)
    pass_time(kit, 130)
    raised(kit)
    with unguarded("safeguards_realitycheck") as cursor:
        cursor.execute("UPDATE safeguards_realitycheck SET raised_at = raised_at - interval '1 day'")
    assert due(kit) == [] and table.refresh()["reality_checks"] == []
    assert own.get("table").json()["reality_check"] is False


def test_who_has_left_is_not_spoken_to(kit: Kit, table: Desk) -> None:
    pass_time(kit, 130)
    raised(kit)
    table.refresh()
    table.ok("seats/1/leave")
    assert due(kit) == []


def test_the_hours_are_the_houses_and_may_be_never(kit: Kit, table: Desk) -> None:
    pass_time(kit, 130)
    set_at_founding(house=kit.house, points={"reality_check_hours": 0}, actor=ACTOR)
    assert not raised(kit)
    set_at_founding(house=kit.house, points={"reality_check_hours": 3}, actor=ACTOR)
    assert not raised(kit)
    pass_time(kit, 60)
    assert raised(kit) and due(kit)[0][3] == 190


def test_a_cashier_reads_no_list_of_who_sits_long(kit: Kit, table: Desk) -> None:
    assert kit.office(Role.CASHIER).get("reality-checks/due").status_code == 403
    assert due(kit, Role.DEALER) == []


def test_a_check_that_was_deleted_or_made_up_is_found(kit: Kit, table: Desk) -> None:
    from casino.audit.verifier.findings import Report
    from casino.audit.verifier.state import State

    docs = [one.doc for one in Event.objects.filter(house=kit.house).order_by("id")]
    made_up = docs[-1] | {
        "chain": kit.house.chain, "kind": "player.reality_check_due", "actor": "clock:reality_checks", "role": "system",
        "terminal": "", "data": {"number": 1, "player": "T1-u1", "table": "T1", "seat": 1, "minutes": 121},
    }  # fmt: skip
    report = Report()
    state = State(report)
    for doc in [*docs, made_up]:
        state.take(doc)
    assert [one.code for one in report.findings] == ["safeguard_differs"]
    assert verify_house(kit.house).findings == []
