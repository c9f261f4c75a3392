"""Dealers: taking tables over from each other, breaks, one table at a time, and who dealt which hand."""

from typing import Any

import pytest
from django.db import transaction

from casino.audit.services import Actor, record
from casino.staff.models import Role, Staff, TerminalKind, TerminalToken
from casino.staff.services import signed_in_event
from casino.tables.models import DealerTurn
from casino.verification import auditing
from tests.casino.core.test_concurrency import at_once
from tests.casino.kit import Desk, Kit
from tests.casino.scene import assert_problem, last_event, recorded_since
from tests.casino.tables.test_tables import fail_a_deal
from tests.casino.transfers.test_transfers import floor_at


class Room:
    """An open table T1 with players, its dealer and another one, each at the console."""

    def __init__(self, kit: Kit) -> None:
        kit.table()
        self.kit, self.first = kit, kit.seated()
        self.second = kit.dealer()
        self.logins = [
            staff.login for staff in Staff.objects.filter(house=kit.house, auth_token_set__terminal__location="T1")
            .order_by("id")
        ]  # fmt: skip

    def take(self, desk: Desk, relieves: str | None, **body: Any) -> Any:
        """Take the table over."""
        desk.refresh()
        return desk.post("dealer/take-over", {"relieves": relieves} | body)

    def whole(self) -> None:
        """The verifier finds nothing."""
        assert auditing.verify_house(self.kit.house).findings == []


@pytest.fixture
def room(kit: Kit) -> Room:
    """An open table with two dealers."""
    return Room(kit)


def test_a_dealer_relieves_another_and_each_hand_has_one(room: Room) -> None:
    [first, second], last = room.logins, last_event()
    assert room.first.refresh()["dealer"] is None
    assert room.take(room.first, None).json()["dealer"] == first
    fail_a_deal(room.kit, room.first, button=4)
    fail_a_deal(room.kit, room.first)
    relieved = room.take(room.second, first).json()
    assert (relieved["dealer"], relieved["last_event"]["relieved"]) == (second, first)
    assert_problem(room.first.post("hands", {"mode": "physical"}, version=relieved["version"]), 409, "not_the_dealer")
    room.second.refresh()
    fail_a_deal(room.kit, room.second)
    room.second.ok("close")
    begun, took_over = recorded_since(last, "dealer.took_over")
    assert begun["data"] | {"table_version": 0} == {"turn": 1, "dealer": first, "table_version": 0}
    assert took_over["data"] | {"table_version": 0} == {
        "turn": 2, "dealer": second, "relieved": first, "ended_with": "break", "table_version": 0,
    }  # fmt: skip
    assert [took_over["actor"], *(event["actor"] for event in recorded_since(last, "hand.dealt"))] == [
        second, first, first, second,
    ]  # fmt: skip
    rows = room.kit.office(Role.AUDITOR).get("dealer-turns?table=T1").json()["results"]
    names = ("turn", "dealer", "first_hand", "last_hand", "ended_with")
    assert [[row[name] for name in names] for row in rows] == [
        [1, first, 1, 2, "break"], [2, second, 3, 3, "closed"],
    ]  # fmt: skip
    assert room.first.refresh()["dealer"] is None
    room.whole()


def test_everybody_sees_who_is_where(room: Room) -> None:
    [first, second], floor = room.logins, room.kit.office(Role.FLOOR)

    def where() -> dict[str, tuple[Any, Any]]:
        return {row["login"]: (row["table"], row["ended_with"]) for row in floor.get("dealers").json()["results"]}

    assert where()[first] == (None, None)
    room.take(room.first, None)
    assert (where()[first], where()[second]) == (("T1", None), (None, None))
    room.take(room.second, first)
    assert (where()[first], where()[second]) == ((None, "break"), ("T1", None))
    assert [row["login"] for row in floor.get("dealers?ended_with=break").json()["results"]] == [first]
    room.second.ok("dealer/leave", {"then": "done"})
    assert where()[second] == (None, "done")
    room.whole()


def test_a_dealer_has_one_table_at_a_time(kit: Kit, room: Room) -> None:
    kit.table("T2")
    kit.seated("T2", stacks=(5_000, 5_000))
    first = Staff.objects.get(house=kit.house, login=room.logins[0])
    room.take(room.first, None)
    there = second_console(kit, first, "T2")
    there.refresh()
    assert_problem(there.post("dealer/take-over", {"relieves": None}), 409, "dealer_elsewhere")
    room.first.refresh()
    room.first.ok("dealer/leave", {"then": "done"})
    there.ok("dealer/take-over", {"relieves": None})
    room.whole()


def test_two_tables_at_the_same_moment(kit: Kit, room: Room) -> None:
    kit.table("T2")
    kit.seated("T2", stacks=(5_000, 5_000))
    first = Staff.objects.get(house=kit.house, login=room.logins[0])
    desks = [room.first, second_console(kit, first, "T2")]
    for desk in desks:
        desk.refresh()
    answers = at_once(*(lambda desk=desk: desk.post("dealer/take-over", {"relieves": None}) for desk in desks))
    assert sorted(answer.status_code for answer in answers) == [200, 409]
    assert DealerTurn.objects.filter(house=kit.house, ended_at=None).count() == 1
    room.whole()


def second_console(kit: Kit, dealer: Staff, code: str) -> Desk:
    """The same dealer, signed in at another table too."""
    context, _ = kit.hire(Role.DEALER, TerminalKind.TABLE, code)
    return Desk(kit.http(token_of(kit, dealer, context.terminal)), f"/api/v1/tables/{code}")


def token_of(kit: Kit, dealer: Staff, terminal: Any) -> str:
    """A token of this person at this terminal, with its event."""
    row, token = TerminalToken.objects.create(dealer, terminal=terminal, house=kit.house)
    actor = Actor(staff=dealer.login, role="", terminal=terminal.code, request="test")
    with transaction.atomic():
        record(chain=kit.house.chain, house=kit.house, actor=actor, event=signed_in_event(row))
    return str(token)


def test_what_is_refused(room: Room) -> None:
    [first, second] = room.logins
    room.first.refresh()
    assert_problem(room.first.post("dealer/leave", {"then": "done"}), 409, "no_dealer")
    assert assert_problem(room.take(room.first, second), 409, "dealer_differs")["dealer"] is None
    assert_problem(room.take(room.first, None, then="closed"), 400, "invalid_request")
    assert_problem(room.first.post("dealer/take-over", {}), 400, "invalid_request")
    room.take(room.first, None)
    assert_problem(room.take(room.first, first), 409, "no_change")
    assert assert_problem(room.take(room.second, None), 409, "dealer_differs")["dealer"] == first
    assert_problem(room.second.post("dealer/leave", {"then": "done"}), 409, "not_the_dealer")
    room.first.refresh()
    room.first.ok("hands", {"mode": "physical", "button": 4})
    assert_problem(room.take(room.second, first), 409, "table_playing")
    assert_problem(room.second.post("dealer/leave", {"then": "done"}), 409, "table_playing")
    action = {"actions": [{"actor": "p1", "verb": "po", "amount": 100}]}
    room.second.refresh()
    assert_problem(room.second.post("hand/actions", action), 409, "not_the_dealer")
    assert DealerTurn.objects.filter(house=room.kit.house).count() == 1
    room.whole()


def test_the_floor_plays_on_and_sends_the_dealer_away(room: Room) -> None:
    floor = floor_at(room.kit, TerminalKind.TABLE, "T1")
    room.take(room.first, None)
    floor.refresh()
    fail_a_deal(room.kit, floor, button=4)
    floor.refresh()
    assert floor.ok("dealer/leave", {"then": "break"})["dealer"] is None
    room.second.refresh()
    fail_a_deal(room.kit, room.second)
    room.whole()


def test_a_closed_table_is_taken_over_by_nobody(kit: Kit) -> None:
    kit.table()
    assert_problem(kit.dealer().post("dealer/take-over", {"relieves": None}), 409, "table_closed")


def test_the_same_request_again_changes_nothing(room: Room) -> None:
    room.first.refresh()
    version = room.first.version
    answers = [room.first.post("dealer/take-over", {"relieves": None}, key="k", version=version) for _ in range(2)]
    assert answers[0].json() == answers[1].json()
    assert DealerTurn.objects.filter(house=room.kit.house).count() == 1


def test_one_house_knows_nothing_of_another_ones_dealers(room: Room) -> None:
    other = Kit.found()
    room.take(room.first, None)
    office = other.office(Role.MANAGER)
    assert office.get("dealer-turns").json()["results"] == office.get("dealers").json()["results"] == []
    other.close()
