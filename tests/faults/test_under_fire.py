"""Workers killed and the broker flushed while an evening is played over HTTP: no hand lost, none settled twice."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
import redis

from deploy.demo import evening
from deploy.demo.client import Terminal
from deploy.demo.play import ELECTRONIC_HANDS, play_evening
from deploy.demo.report import collect
from deploy.demo.seed import found_house
from deploy.processes import Processes
from tests.installation import Installation

#: Recorded hands played at each of two tables, and all hands of the evening: the kills are over before these are.
HANDS = 10
ALL_HANDS = 2 * HANDS + ELECTRONIC_HANDS


def kill_workers(processes: Processes, broker: redis.Redis, stop: threading.Event) -> int:
    """kill -9 the workers' parents at once, let them come back, and again; returns how often."""
    return _kill(["worker", "worker-2"], processes, stop)


def kill_web(processes: Processes, broker: redis.Redis, stop: threading.Event) -> int:
    """kill -9 the web processes; consoles repeat what got no answer under the same key. Returns how often."""
    return _kill(["web"], processes, stop)


def flush_broker(processes: Processes, broker: redis.Redis, stop: threading.Event) -> int:
    """Empty the broker again and again, with whatever tasks are in it; returns how often."""
    flushes = 0
    while not stop.wait(0.2):
        broker.flushall()
        flushes += 1
    return flushes


def _kill(names: list[str], processes: Processes, stop: threading.Event) -> int:
    kills = 0
    while kills < 3:
        for name in names:
            processes.pid_of(name)  # waits until it is back; then it may work for a moment
        if stop.wait(1.5):
            break
        for name in names:
            processes.kill(name, signal.SIGKILL)
        kills += 1
    return kills


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault",
    [kill_workers, pytest.param(kill_web, marks=pytest.mark.long), pytest.param(flush_broker, marks=pytest.mark.long)],
)
def test_every_hand_is_settled_exactly_once(
    installed: Installation,
    fault: Callable[[Processes, redis.Redis, threading.Event], int],
) -> None:
    from casino.hands.models import Hand, HandState
    from casino.houses.models import House
    from ledger.models import Transaction

    recorded = evening.load(evening.HERE / "evening.jsonl")
    tables = {code: recorded[code] for code in ("T1", "T2")}
    for table in tables.values():
        table.hands = table.hands[:HANDS]
    broker = redis.Redis.from_url(os.environ["REDIS_URL"])
    stop = threading.Event()
    processes, root = installed.up()
    credentials = found_house(root, tables.values()).credentials
    with ThreadPoolExecutor(1) as pool:
        saboteur = pool.submit(fault, processes, broker, stop)
        try:
            played = play_evening(root, credentials, tables, lambda *_: None)
        finally:
            stop.set()
        assert saboteur.result() >= 2
    processes.wait_ready(f"{root}/readyz")
    with Terminal(root, credentials.auditor) as auditor:
        report = collect(auditor, tables, played)
        deadline = time.monotonic() + 30
        while not report.ok and time.monotonic() < deadline:
            time.sleep(0.5)
            report = collect(auditor, tables, played)
    missed = [check for check, holds in report.checks.items() if not holds]
    found = {name: said for name, said in report.verification.items() if said}
    assert not missed, (missed, report.differences, found)
    house = House.objects.get(code=credentials.house)
    hands = Hand.objects.filter(house=house)
    # The hand that was disputed in play is ruled on.
    assert Counter(hands.values_list("state", flat=True)) == {HandState.SETTLED: ALL_HANDS, HandState.RULED: 1}
    assert Transaction.objects.filter(book=house.id, kind="hand.settled").count() == ALL_HANDS
