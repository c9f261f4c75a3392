"""Work by two processes: in order, with a connection each, and nothing of the child is left."""

import os
import signal
import threading
from contextlib import closing

import pytest
from django.db import connection, transaction

from casino.reports import deal_hands, halves
from casino.reports.catalogue import a07_tax_check
from casino.staff.models import Role
from tests.casino.evenings import play_electronically
from tests.casino.kit import Kit
from tests.casino.reports.test_catalogue import made, rows


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with two cores, on which the second piece is the child's; the threads of the test runner are idle."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1}, raising=False)
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    monkeypatch.setattr(halves, "ALONE", 0)


def by_whom(number: int) -> tuple[int, int]:
    """The piece, and the process that has it."""
    return number, os.getpid()


def backend(number: int) -> int:
    """The connection's process in the database."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def gone(process: int) -> bool:
    """Whether there is no such process."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.parametrize("count", [0, 1, 2, 5, 8])
def test_results_are_in_order_and_every_second_one_is_the_childs(count: int) -> None:
    found = list(halves.in_order(by_whom, range(count)))
    assert [number for number, _ in found] == list(range(count))
    pairs = count - count % 2
    assert {process for number, process in found if number % 2 == 0 or number >= pairs} <= {os.getpid()}
    others = {process for number, process in found if number % 2 and number < pairs}
    assert len(others) == (1 if pairs else 0) and os.getpid() not in others
    assert all(map(gone, others))


def test_few_pieces_and_one_core_need_no_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(halves, "ALONE", 4)
    assert {process for _, process in halves.in_order(by_whom, range(5))} == {os.getpid()}
    assert len({process for _, process in halves.in_order(by_whom, range(6))}) == 2
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0})
    assert {process for _, process in halves.in_order(by_whom, range(9))} == {os.getpid()}


def test_a_process_with_threads_makes_no_child(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a thread of the web: another one may hold a lock, which nobody would open in the child."""
    monkeypatch.setattr(threading, "active_count", lambda: 2)
    assert {process for _, process in halves.in_order(by_whom, range(9))} == {os.getpid()}


def test_what_the_child_raises_is_raised_and_a_child_that_dies_is_missed() -> None:
    def refuse(number: int) -> int:
        if number == 3:
            raise ValueError("three")
        return number

    def die(number: int) -> int:
        if number == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    with pytest.raises(ValueError, match="three"):
        list(halves.in_order(refuse, range(6)))
    with pytest.raises(halves.HalfLost):
        list(halves.in_order(die, range(6)))


def test_who_stops_in_the_middle_leaves_no_child() -> None:
    with closing(halves.in_order(by_whom, range(100))) as found:
        child = [process for _, process in (next(found), next(found))][1]
        assert child != os.getpid() and not gone(child)
    assert gone(child)


def test_each_has_a_connection_of_its_own(kit: Kit) -> None:
    mine = backend(0)
    with transaction.atomic():
        found = list(halves.in_order(backend, range(4)))
        assert backend(0) == mine
    assert found[0] == found[2] == mine and found[1] == found[3] != mine
    assert backend(0) == mine


def test_reports_are_the_same_by_two(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    kit.office(Role.MANAGER).ok("days", {"day": "2024-05-01"})
    kit.worked_hand()
    assert kit.settle() == ["settled"]
    kit.table("T2")
    play_electronically(kit, kit.seated("T2"), hands=3, seed=3)
    asked = {"tax-check": {"show": "all"}, "deal-statistics": {}}
    monkeypatch.setattr(halves, "ALONE", 100)
    alone = {name: made(kit, name, **filters)["sections"] for name, filters in asked.items()}
    assert len(rows({"sections": alone["tax-check"]})) == 4
    begun = []
    monkeypatch.setattr(halves, "_Half", lambda work: begun.append(work) or half(work))
    monkeypatch.setattr(halves, "ALONE", 0)
    monkeypatch.setattr(a07_tax_check, "CHUNK", 1)
    monkeypatch.setattr(deal_hands, "CHUNK", 1)
    for name, filters in asked.items():
        assert made(kit, name, **filters)["sections"] == alone[name], name
    assert len(begun) == 2


half = halves._Half
