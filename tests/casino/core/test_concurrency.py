"""Many consoles at once: one wins, nobody deadlocks, nothing is lost."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connections, transaction

from casino.core import locks
from casino.reports.selectors import custody
from casino.reports.verifying import verification
from casino.staff.models import TerminalKind
from casino.tables.models import Table
from tests.casino.kit import Kit
from tests.casino.transfers.test_transfers import floor_at


def at_once(*jobs: Callable[[], Any]) -> list[Any]:
    """Run jobs at the same moment, each in a thread with connections of its own; returns their results in order."""
    results: list[Any] = [None] * len(jobs)
    start = threading.Barrier(len(jobs))

    def run(place: int, job: Callable[[], Any]) -> None:
        start.wait()
        try:
            results[place] = job()
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(place, job)) for place, job in enumerate(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_of_two_actions_on_one_version_only_one_is_taken(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    dealer.ok("hands", {"mode": "physical", "button": 4})
    body = {"actions": [{"actor": "p1", "verb": "po", "amount": 100}]}
    version = dealer.version
    answers = at_once(*[lambda: dealer.post("hand/actions", body, version=version)] * 8)
    assert sorted(answer.status_code for answer in answers) == [200] + [412] * 7
    assert kit.balance("2030/T1") == 100


def test_one_key_sent_many_times_at_once_acts_once_and_everybody_gets_the_answer(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    dealer.ok("hands", {"mode": "physical", "button": 4})
    body = {"actions": [{"actor": "p1", "verb": "po", "amount": 100}]}
    version = dealer.version
    answers = at_once(*[lambda: dealer.post("hand/actions", body, key="same", version=version)] * 8)
    assert [answer.status_code for answer in answers] == [200] * 8
    assert all(answer.json() == answers[0].json() for answer in answers)
    assert sum("Idempotency-Replayed" in answer.headers for answer in answers) == 7
    assert kit.balance("2030/T1") == 100


def test_many_cashiers_and_tables_at_once_keep_the_books(kit: Kit) -> None:
    kit.table("T1")
    kit.table("T2")
    kit.players("anna", "bela", chips=100_000)
    first, second = kit.dealer("T1"), kit.dealer("T2")
    first.ok("open")
    second.ok("open")
    cashier = kit.cashier()

    def sit_and_leave(desk: Any, player: str) -> int:
        done = 0
        for _ in range(10):
            done += desk.post("seats", {"seat": 1, "player": player, "amount": 1_000}).is_success
            done += desk.post("seats/1/leave").is_success
        return done

    def exchange() -> int:
        done = 0
        for _ in range(10):
            done += cashier.post("buy-ins", {"player": "anna", "amount": 500}).is_success
            done += cashier.post("cash-outs", {"player": "anna", "amount": 500}).is_success
        return done

    # Anna's chips are asked for by two tables and the cage at the same time.
    done = at_once(lambda: sit_and_leave(first, "anna"), lambda: sit_and_leave(second, "anna"), exchange)
    assert done == [20, 20, 20]
    assert kit.balance("2010/anna", "2020/T1/anna", "2020/T2/anna") == [100_000, 0, 0]
    assert custody(kit.house)["equal"]
    assert verification(kit.house)["ok"]


def test_both_ends_start_transfers_at_once_and_nobody_waits_for_the_other(
    kit: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit.table()
    dealer, cashier = kit.dealer(), kit.cashier()
    kit.open_drawer(cashier, cash=0, pieces={"100": 100})
    # A deadlock would be tried again; here it is to be seen.
    monkeypatch.setattr(locks, "MAX_ATTEMPTS", 1)

    def asks() -> list[int]:
        body = {"drawer": "C1", "pieces": {"100": 1}}
        return [dealer.post("fills", body).status_code for _ in range(20)]

    def sends() -> list[int]:
        body = {"table": "T1", "pieces": {"100": 1}}
        return [cashier.post("fills", body).status_code for _ in range(20)]

    assert at_once(asks, sends) == [[201] * 20] * 2
    assert kit.balance("9140/T1") == 2_000


def test_a_fill_is_either_received_or_cancelled(kit: Kit) -> None:
    kit.table()
    dealer, cashier, runner = kit.dealer(), kit.cashier(), kit.runner()
    kit.open_drawer(cashier, cash=0, pieces={"100": 100})
    floor = floor_at(kit, TerminalKind.CAGE, "C1")
    for _ in range(5):
        sent = cashier.ok("fills", {"table": "T1", "pieces": {"100": 1}})
        number = sent["last_event"]["transfer"]["serial"]
        floor.refresh()
        received, cancelled = at_once(
            lambda path=f"fills/{number}": dealer.post(f"{path}/receive", {"pieces": {"100": 1}, "carrier": runner}),
            lambda path=f"fills/{number}": floor.post(f"{path}/cancel", {"reason": "not needed"}),
        )
        assert {received.status_code, cancelled.status_code} == {200, 409}
        refused = received if received.is_error else cancelled
        assert refused.json()["code"] in ("transfer_received", "transfer_cancelled")
        cashier.refresh()
    assert kit.balance("9140/T1") == 0
    assert custody(kit.house)["equal"]
    assert verification(kit.house)["ok"]


def test_locks_out_of_order_are_a_programming_error(kit: Kit) -> None:
    table = kit.table()
    with pytest.raises(locks.LockOrderError), transaction.atomic():
        locks.begin()
        locks.lock(Table, locks.Rank.HAND, id=table.id)
        locks.lock(Table, locks.Rank.DESK, id=table.id)


def test_a_lock_outside_a_transaction_is_a_programming_error(kit: Kit) -> None:
    table = kit.table()
    with pytest.raises(locks.LockOrderError):
        locks.lock(Table, locks.Rank.DESK, id=table.id)
