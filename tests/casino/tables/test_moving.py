"""Changing seats at a table, and moving to another one with the stack: books, seats and chains stay right."""

from collections.abc import Callable
from typing import Any

import pytest

from casino.audit.verifier.findings import Finding
from casino.reports.selectors import custody
from casino.reports.verifying import verification
from casino.staff.models import Role, TerminalKind
from casino.tables.models import CarryoverOnClose, Seating
from casino.verification import auditing
from tests.casino.core.test_concurrency import at_once
from tests.casino.kit import Desk, Kit
from tests.casino.scene import assert_problem, last_event, recorded_since
from tests.casino.tables.test_carryover import barbu, deal
from tests.casino.tables.test_tables import fail_a_deal
from tests.casino.transfers.test_transfers import floor_at


class Two:
    """Tables T1 with four players and T2 with two, a dealer and the floor at each."""

    def __init__(self, kit: Kit) -> None:
        self.kit = kit
        for code in ("T1", "T2"):
            kit.table(code)
        self.dealers = {"T1": kit.seated("T1"), "T2": kit.seated("T2", stacks=(5_000, 6_000))}
        self.floors = {code: floor_at(kit, TerminalKind.TABLE, code) for code in ("T1", "T2")}

    def move(self, seat: int, to_seat: int, *, code: str = "T1", to: str = "T2", **body: Any) -> Any:
        """Let a player move."""
        floor = self.floors[code]
        floor.refresh()
        return floor.post(f"seats/{seat}/move", {"table": to, "to_seat": to_seat} | body)

    def seats(self, code: str) -> dict[int, tuple[str, int]]:
        """Player and stack by seat."""
        return {one["seat"]: (one["player"], one["stack"]) for one in self.dealers[code].refresh()["seats"]}

    def findings(self) -> list[Finding]:
        """What the verifier finds; money and chips agree in any case."""
        assert custody(self.kit.house)["equal"]
        assert verification(self.kit.house)["ok"]
        return list(auditing.verify_house(self.kit.house).findings)


@pytest.fixture
def two(kit: Kit) -> Two:
    """Two tables."""
    return Two(kit)


def test_a_player_moves_with_the_whole_stack(two: Two) -> None:
    last = last_event()
    answer = two.move(1, 4)
    assert answer.is_success, answer.text
    assert two.seats("T1") == {2: ("T1-u2", 15_000), 3: ("T1-u3", 9_000), 4: ("T1-u4", 30_000)}
    assert two.seats("T2") == {1: ("T2-u1", 5_000), 2: ("T2-u2", 6_000), 4: ("T1-u1", 20_000)}
    assert two.kit.balance("2020/T1/T1-u1", "2020/T2/T1-u1") == [0, 20_000]
    [came], [went] = recorded_since(last, "table.moved_in"), recorded_since(last, "table.moved_out")
    assert (came["chain"], went["chain"]) == ("table/T2", "table/T1")
    assert (came["data"]["amount"], went["data"]["amount"]) == (20_000, 20_000)
    assert "postings" in went and "postings" not in came
    assert two.findings() == []


def test_the_player_plays_on_there(two: Two) -> None:
    two.move(1, 4)
    dealer = two.dealers["T2"]
    dealer.refresh()
    dealt = fail_a_deal(two.kit, dealer, button=4)
    assert {seat["player"] for seat in dealt["seats"]} == {"T2-u1", "T2-u2", "T1-u1"}
    assert two.move(4, 1, code="T2", to="T1").is_success
    assert two.kit.balance("2020/T1/T1-u1") == 20_000 - 100
    assert two.findings() == []


def test_a_player_takes_another_seat(two: Two) -> None:
    dealer, last = two.dealers["T2"], last_event()
    dealer.refresh()
    key = dealer.ok("seats/1/key")["key"]
    changed = dealer.ok("seats/1/change", {"to_seat": 3})
    assert changed["last_event"] == {"kind": "table.seat_changed", "seat": 1, "to_seat": 3, "player": "T2-u1"}
    assert two.seats("T2") == {2: ("T2-u2", 6_000), 3: ("T2-u1", 5_000)}
    assert "postings" not in recorded_since(last, "table.seat_changed")[0]
    device = two.kit.http(None)
    device.headers["Authorization"] = f"Seat {key}"
    assert device.get("/api/v1/seat/hand").status_code in (401, 403)
    fail_a_deal(two.kit, dealer, button=3)
    assert two.findings() == []


Refused = Callable[[Two], Any]


@pytest.mark.parametrize(
    ("asked", "status", "code"),
    [
        (lambda two: two.move(1, 2), 409, "seat_taken"),
        (lambda two: two.move(1, 9), 422, "no_such_seat"),
        (lambda two: two.move(1, 3, to="T1"), 409, "no_change"),
        (lambda two: two.move(1, 3, to="T7"), 404, "not_found"),
        (lambda two: two.move(9, 3), 404, "not_found"),
        (lambda two: two.move(1, 3, ticket=1), 404, "not_found"),
        (lambda two: two.floors["T1"].post("seats/1/move", {"table": "T2", "to_seat": 3}, version=1), 412,
         "version_conflict"),
        (lambda two: two.dealers["T1"].post("seats/1/move", {"table": "T2", "to_seat": 3}), 403, "forbidden"),
        (lambda two: two.floors["T2"].post("/api/v1/tables/T1/seats/1/move", {"table": "T2", "to_seat": 3}), 403,
         "wrong_terminal"),
        (lambda two: two.dealers["T1"].post("seats/1/change", {"to_seat": 2}), 409, "seat_taken"),
        (lambda two: two.dealers["T1"].post("seats/1/change", {"to_seat": 1}), 409, "no_change"),
        (lambda two: two.dealers["T1"].post("seats/1/change", {"to_seat": 5}), 422, "no_such_seat"),
    ],
)  # fmt: skip
def test_what_is_refused_changes_nothing(two: Two, asked: Refused, status: int, code: str) -> None:
    two.dealers["T1"].refresh()
    before = two.seats("T1"), two.seats("T2")
    assert_problem(asked(two), status, code)
    assert (two.seats("T1"), two.seats("T2")) == before
    assert two.findings() == []


def test_nobody_changes_seats_during_a_hand(two: Two) -> None:
    two.dealers["T1"].ok("hands", {"mode": "physical", "button": 4})
    assert_problem(two.move(1, 4), 409, "table_playing")
    assert_problem(two.dealers["T1"].post("seats/1/change", {"to_seat": 4}), 409, "table_playing")
    assert two.findings() == []


def test_a_player_arrives_while_a_hand_is_played(two: Two) -> None:
    dealer = two.dealers["T2"]
    dealer.ok("hands", {"mode": "physical", "button": 2})
    assert two.move(1, 4).is_success
    dealer.refresh()
    dealer.act("p1 po 100", "d dh p1 Kl8b", "d dh p2 Ah7l", "p2 f")
    two.kit.settle()
    assert two.seats("T2")[4] == ("T1-u1", 20_000)
    assert two.findings() == []


def test_nobody_arrives_at_a_closed_table(two: Two) -> None:
    two.dealers["T2"].ok("close")
    assert_problem(two.move(1, 4), 409, "table_closed")
    assert two.findings() == []


def test_nobody_changes_seats_in_a_session_that_goes_by_seats(kit: Kit) -> None:
    desk = barbu(kit, CarryoverOnClose.SPLIT)
    deal(kit, desk, 1)
    assert_problem(desk.post("seats/1/change", {"to_seat": 4}), 409, "session_under_way")


def test_a_stack_keeps_to_other_limits_and_is_free_of_the_same(kit: Kit) -> None:
    kit.table("T1")
    small = kit.table_for("ferbli", kit.table("T5").options, code="T2", seats=4, max_stack=10_000)
    assert small.max_stack == 10_000
    two = object.__new__(Two)
    two.kit, two.dealers, two.floors = kit, {}, {}
    for code, stacks in (("T1", (20_000, 9_000)), ("T2", (5_000, 6_000))):
        two.dealers[code] = kit.seated(code, stacks=stacks)
        two.floors[code] = floor_at(kit, TerminalKind.TABLE, code)
    assert_problem(two.move(1, 4), 422, "stack_out_of_range")
    assert two.move(2, 4).is_success
    assert two.findings() == []


def test_a_ticket_ends_with_the_move(two: Two) -> None:
    office = two.kit.office(Role.FLOOR)
    office.ok("waiting-list", {"player": "T1-u1", "table": "T2"})
    assert_problem(two.move(1, 4, ticket=1), 409, "not_called")
    office.ok("waiting-list/1/call", {"table": "T2"}, version=1)
    assert two.move(1, 4, ticket=1).is_success
    assert office.get("waiting-list").json()["results"][0]["state"] == "seated"
    assert two.findings() == []


def test_two_players_change_tables_at_the_same_moment(two: Two) -> None:
    for _ in range(3):
        for floor in two.floors.values():
            floor.refresh()
        jobs = [
            lambda: two.floors["T1"].post("seats/1/move", {"table": "T2", "to_seat": 4}),
            lambda: two.floors["T2"].post("seats/1/move", {"table": "T1", "to_seat": 1}),
        ]
        # The second has seen an older version of the own table, or finds a seat taken or left: it is refused whole.
        assert {answer.status_code for answer in at_once(*jobs)} <= {200, 404, 409, 412}
        everybody = sorted(player for code in ("T1", "T2") for player, _ in two.seats(code).values())
        assert everybody == ["T1-u1", "T1-u2", "T1-u3", "T1-u4", "T2-u1", "T2-u2"]
    assert Seating.objects.filter(house=two.kit.house, left_at=None).count() == 6
    assert two.findings() == []


def test_the_same_request_again_moves_nobody(two: Two) -> None:
    floor: Desk = two.floors["T1"]
    floor.refresh()
    version, body = floor.version, {"table": "T2", "to_seat": 4}
    answers = [floor.post("seats/1/move", body, key="once", version=version) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].json() == answers[1].json()
    assert two.kit.balance("2020/T2/T1-u1") == 20_000
