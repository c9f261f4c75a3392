"""The waiting list: in the order of its numbers, with a reason for every exception, and without names on displays."""

from typing import Any

import pytest

from casino.players.models import Player
from casino.staff.models import Role, TerminalKind
from casino.tables.models import Waiting, WaitingEntry
from casino.verification import auditing
from tests.casino.core.test_concurrency import at_once
from tests.casino.kit import Desk, Kit
from tests.casino.scene import assert_problem, last_event, recorded_since
from tests.casino.transfers.test_transfers import floor_at

REASON = {"reason": "sits with friends"}


class Hall:
    """Two open tables of the same game, a floor, a dealer at T1, and four players with chips."""

    def __init__(self, kit: Kit) -> None:
        self.kit = kit
        for code in ("T1", "T2"):
            kit.table(code)
        kit.players("a", "b", "c", "d", chips=20_000)
        self.floor = Desk(floor_at(kit, TerminalKind.TABLE, "T1").http, "/api/v1/waiting-list")
        self.dealer = kit.dealer("T1")
        self.dealer.ok("open")
        kit.dealer("T2").ok("open")

    def add(self, player: str, **where: str) -> dict[str, Any]:
        """Put a player on the list."""
        return self.floor.ok("", {"player": player} | (where or {"game": "ferbli"}))

    def do(self, ticket: int, what: str, body: Any = None, *, version: int | None = None) -> Any:
        """Change an entry, by default at its version of now."""
        found = WaitingEntry.objects.filter(house=self.kit.house, number=ticket).first()
        return self.floor.post(f"{ticket}/{what}", body, version=version or (found.version if found else 1))

    def sit(self, player: str, ticket: int, seat: int = 1) -> Any:
        """Sit down at T1 with a number."""
        self.dealer.refresh()
        return self.dealer.post("seats", {"seat": seat, "player": player, "amount": 5_000, "ticket": ticket})

    def states(self) -> list[str]:
        """The states of all entries, by number."""
        found = WaitingEntry.objects.filter(house=self.kit.house).order_by("number")
        return list(found.values_list("state", flat=True))

    def whole(self) -> None:
        """The verifier finds nothing."""
        assert auditing.verify_house(self.kit.house).findings == []


@pytest.fixture
def hall(kit: Kit) -> Hall:
    """Two tables and who waits for them."""
    return Hall(kit)


def test_players_are_called_in_their_order_and_sit_down(hall: Hall) -> None:
    last = last_event()
    assert [hall.add(player)["ticket"] for player in "abc"] == [1, 2, 3]
    assert assert_problem(hall.do(2, "call", {"table": "T1"}), 409, "not_first")["ticket"] == 1
    called = hall.do(1, "call", {"table": "T1"}).json()
    assert (called["state"], called["called_to"], called["version"]) == ("called", "T1", 2)
    assert hall.do(2, "call", {"table": "T1"}).is_success
    assert hall.sit("a", 1).json()["last_event"]["ticket"] == 1
    assert hall.do(2, "no-show").json()["state"] == "no_show"
    assert hall.do(3, "remove", REASON).json()["state"] == "removed"
    assert hall.states() == [Waiting.SEATED, Waiting.NO_SHOW, Waiting.REMOVED]
    [first, second] = recorded_since(last, "waiting.called")
    assert (first["data"], second["data"]) == ({"ticket": 1, "table": "T1"}, {"ticket": 2, "table": "T1"})
    assert hall.kit.balance("2020/T1/a") == 5_000
    hall.whole()


def test_who_came_earlier_is_passed_over_with_a_reason_only(hall: Hall) -> None:
    hall.add("a", table="T2")
    hall.add("b")
    hall.add("c")
    # The first waits for another table only, so the second is the first for this one.
    assert hall.do(2, "call", {"table": "T1"} | REASON).is_success
    assert assert_problem(hall.do(3, "call", {"table": "T2"}), 409, "not_first")["ticket"] == 1
    last = last_event()
    assert hall.do(3, "call", {"table": "T2"} | REASON).is_success
    [event] = recorded_since(last, "waiting.called")
    assert event["reason"] == REASON["reason"]
    hall.whole()


def test_a_player_who_was_called_may_be_called_to_another_table(hall: Hall) -> None:
    hall.add("a")
    hall.do(1, "call", {"table": "T2"})
    assert_problem(hall.do(1, "call", {"table": "T2"}), 409, "no_change")
    assert_problem(hall.sit("a", 1), 409, "not_called")
    hall.do(1, "call", {"table": "T1"})
    assert hall.sit("a", 1).is_success
    hall.whole()


def test_a_buy_in_at_the_table_ends_the_wait_too(hall: Hall) -> None:
    hall.add("a")
    hall.do(1, "call", {"table": "T1"})
    hall.dealer.refresh()
    bought = hall.dealer.ok("buy-ins", {"seat": 2, "player": "a", "amount": 500, "ticket": 1})
    assert (bought["last_event"]["ticket"], hall.states()) == (1, [Waiting.SEATED])
    hall.dealer.refresh()
    wrong = {"seat": 2, "amount": 500, "ticket": 1}
    assert_problem(hall.dealer.post("buy-ins", wrong), 400, "invalid_request")
    hall.whole()


def test_what_is_refused(hall: Hall) -> None:
    hall.add("a")
    assert assert_problem(hall.floor.post("", {"player": "a", "table": "T1"}), 409, "already_waiting")["ticket"] == 1
    assert_problem(hall.floor.post("", {"player": "nobody", "game": "ferbli"}), 404, "not_found")
    assert_problem(hall.floor.post("", {"player": "b", "game": "poker"}), 404, "not_found")
    assert_problem(hall.floor.post("", {"player": "b", "table": "T9"}), 404, "not_found")
    assert_problem(hall.floor.post("", {"player": "b"}), 400, "invalid_request")
    assert_problem(hall.floor.post("", {"player": "b", "game": "ferbli", "table": "T1"}), 400, "invalid_request")
    assert_problem(hall.do(1, "no-show"), 409, "not_called")
    assert_problem(hall.sit("a", 1), 409, "not_called")
    assert_problem(hall.do(9, "no-show"), 404, "not_found")
    assert_problem(hall.do(1, "call", {"table": "T1"}, version=2), 412, "version_conflict")
    hall.do(1, "call", {"table": "T1"})
    assert_problem(hall.sit("b", 1), 409, "not_called")
    assert_problem(hall.sit("a", 7), 404, "not_found")
    hall.sit("a", 1)
    assert_problem(hall.do(1, "remove", REASON), 409, "waiting_ended")
    assert_problem(hall.floor.post("", {"player": "a", "table": "T1"}), 409, "already_seated")
    hall.add("b", table="T2")
    assert_problem(hall.do(2, "call", {"table": "T1"}), 409, "other_table")
    hall.kit.table("T3")
    assert_problem(hall.do(2, "call", {"table": "T3"}), 409, "table_closed")
    assert hall.states() == [Waiting.SEATED, Waiting.WAITING]
    hall.whole()


def test_a_seat_that_cannot_be_taken_leaves_the_player_on_the_list(hall: Hall) -> None:
    hall.add("a")
    hall.do(1, "call", {"table": "T1"})
    assert_problem(hall.sit("a", 1, seat=9), 422, "no_such_seat")
    assert hall.states() == [Waiting.CALLED]


def test_a_display_names_no_player(hall: Hall) -> None:
    hall.add("a")
    hall.add("b", table="T2")
    hall.do(1, "call", {"table": "T1"})
    hall.add("c")
    hall.do(3, "remove", REASON)
    answer = hall.kit.office(Role.COUNT).get("waiting-list/display")
    assert answer.json()["results"] == [
        {"ticket": 1, "game": "ferbli", "table": None, "state": "called", "called_to": "T1"},
        {"ticket": 2, "game": "ferbli", "table": "T2", "state": "waiting", "called_to": None},
    ]
    refs = Player.objects.filter(house=hall.kit.house).values_list("ref", flat=True)
    assert not any(f'"{ref}"' in answer.text for ref in refs)
    rows = hall.kit.office(Role.FLOOR).get("waiting-list?state=called").json()["results"]
    assert [(row["player"], row["ticket"]) for row in rows] == [("a", 1)]


def test_numbers_are_without_gaps_when_many_come_at_once(hall: Hall) -> None:
    answers = at_once(*(lambda ref=ref: hall.floor.post("", {"player": ref, "game": "ferbli"}) for ref in "abcd"))
    assert sorted(answer.json()["ticket"] for answer in answers) == [1, 2, 3, 4]
    hall.whole()


def test_of_two_who_are_called_with_one_version_one_is(hall: Hall) -> None:
    hall.add("a")
    jobs = [lambda code=code: hall.do(1, "call", {"table": code}, version=1) for code in ("T1", "T2")]
    assert sorted(answer.status_code for answer in at_once(*jobs)) == [200, 412]
    hall.whole()


def test_one_house_knows_nothing_of_another_ones_list(hall: Hall) -> None:
    hall.add("a")
    other = Kit.found()
    other.table("T1")
    floor = other.office(Role.FLOOR)
    assert floor.get("waiting-list").json()["results"] == floor.get("waiting-list/display").json()["results"] == []
    assert_problem(floor.post("waiting-list/1/remove", REASON, version=1), 404, "not_found")
    other.close()
