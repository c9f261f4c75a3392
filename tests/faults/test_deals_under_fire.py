"""Web processes killed with -9 amid electronic hands that players have added seeds to: every hand goes on with the deck
that was committed to, and players' devices notice nothing."""

from __future__ import annotations

import json
import os
import random
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import redis

from deploy.demo import evening
from deploy.demo.client import Terminal
from deploy.demo.dealer import Console
from deploy.demo.logins import Credentials
from deploy.demo.play import DRAWER_CASH, Cashier
from deploy.demo.seed import DRAWER_OF_EACH, chips_worth, found_house
from deploy.processes import Processes, address, application, listen
from engine.deal.rebuild import rebuilt
from engine.record.format import parse_record
from engine.record.replay import replay
from tests.faults.test_under_fire import kill_web
from tests.services import TestServices

#: At least so many electronic hands, and as many more as it takes until the web was killed three times.
HANDS = 12
SESSION = 6
STACK = 10_000
CHIPS = 1_200_000


@pytest.mark.long
def test_hands_go_on_with_the_deck_that_was_committed_to(services: TestServices, whole_db: None) -> None:
    from casino.hands.models import ClientSeed, Hand, HandState
    from casino.houses.models import House

    table = evening.load(evening.HERE / "variants.jsonl")["V2"]
    stop = threading.Event()
    broker = redis.Redis.from_url(os.environ["REDIS_URL"])
    with (
        listen(0) as listener,
        Processes(application(listener), environ=dict(os.environ)) as processes,
        ThreadPoolExecutor(1) as pool,
    ):
        processes.wait_ready(f"{address(listener)}/readyz")
        credentials = found_house(address(listener), [table]).credentials
        saboteur = pool.submit(kill_web, processes, broker, stop)
        try:
            checked = play(address(listener), credentials, table, saboteur.done)
        finally:
            stop.set()
        assert saboteur.result() == 3
        processes.wait_ready(f"{address(listener)}/readyz")
        with Terminal(address(listener), credentials.auditor) as auditor:
            records = [auditor.get(f"hands/{row['hand']}") for row in auditor.pages("hands")]
            openings = {record["hand"]: auditor.get(f"hands/{record['hand']}/openings") for record in records}
    assert checked > 4 * len(records)
    for record in records:
        stored = parse_record(json.dumps(record))
        assert replay(stored).ok
        assert len(stored.client_seeds) == len(record["seats"])
        assert list(rebuilt(stored).roots) == openings[record["hand"]]["cards_roots"]
    house = House.objects.get(code=credentials.house)
    states = Counter(Hand.objects.filter(house=house).values_list("state", flat=True))
    assert states == {HandState.SETTLED: len(records)} and len(records) >= HANDS
    seats = len(table.hands[0]["seats"])
    assert ClientSeed.objects.filter(deal__house=house).count() == seats * len(records)


def play(base_url: str, credentials: Credentials, table: Any, enough: Callable[[], bool]) -> int:
    """Electronic hands until there were enough kills; how many cards devices have checked."""
    refs, checked, hands = table.hands[0]["seats"], 0, 0
    with (
        Terminal(base_url, credentials.cashier) as window,
        Terminal(base_url, credentials.cage_supervisor) as supervisor,
        Terminal(base_url, credentials.cage_manager) as manager,
        Terminal(base_url, credentials.dealers["V2"]) as dealer,
    ):
        cashier = Cashier(window, supervisor, manager)
        cashier.open(cash=DRAWER_CASH, pieces=chips_worth(CHIPS, DRAWER_OF_EACH))
        cashier.register(refs)
        console, choice = Console(dealer, "V2", cashier.buy_in), random.Random(7)
        while hands < HANDS or not enough():
            # New sessions now and then, so that nobody runs out of chips.
            console.seat_players(refs, [STACK] * len(refs))
            devices = console.give_keys()
            for _ in range(SESSION):
                console.play_electronic(devices, choice)
            console.close()
            hands += SESSION
            checked += sum(device.checked for device in devices)
            for device in devices:
                device.close()
    return checked
