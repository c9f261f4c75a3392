"""Webhooks by the process that sends hints: within about a second, and nothing is lost when it is killed; and the
program in docs/how-to/receive-webhooks.md."""

from __future__ import annotations

import itertools
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from casino.houses.models import ClockTimestamp
from casino.live.models import Webhook, WebhookPosition
from casino.staff.models import Role
from deploy.embedded.process import wait_until
from tests.casino.kit import Kit
from tests.casino.live.readers import happen
from tests.casino.live.receiver import PATIENCE, Receiving, receiver, write
from tests.deploy.web_and_hints import Running, running
from tests.services import TestServices

PAGE = Path(__file__).resolve().parents[3] / "docs" / "how-to" / "receive-webhooks.md"
CHAIN = "table/T1"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the operator's file is."""
    return tmp_path_factory.mktemp("operator")


@pytest.fixture(scope="module")
def up(services: TestServices, django_db_setup: None, folder: Path) -> Iterator[Running]:
    """Web and hints, which know the operator's file, with no broker."""
    write(folder, Receiving("https://scanner.example/"))
    nowhere = "redis://127.0.0.1:1/0"
    file = str(folder / "destinations.toml")
    with running(REDIS_URL=nowhere, CELERY_BROKER_URL=nowhere, CASINO_DESTINATIONS=file) as found:
        yield found


@pytest.fixture
def subscribed(up: Running, kit: Kit, settings: Any, folder: Path) -> Iterator[Kit]:
    """A house whose table T1 is to be sent to `scanner`."""
    settings.CASINO_DESTINATIONS = str(folder / "destinations.toml")
    kit.table()
    kit.office(Role.ADMIN).ok(
        "webhooks", {"destination": "scanner", "chains": [CHAIN], "reason": "the scanner follows"}
    )
    yield kit
    Webhook.objects.filter(house=kit.house, ended_at=None).update(ended_at=ClockTimestamp())


def test_hints_come_within_about_a_second(up: Running, subscribed: Kit, folder: Path) -> None:
    with receiver() as scanner:
        write(folder, scanner)
        times = []
        for number in range(1, 9):
            began = time.monotonic()
            happen(subscribed.house, CHAIN, version=number)
            scanner.until(lambda: len(scanner.taken) == number)  # noqa: B023 - called at once
            times.append(scanner.taken[-1].at - began)
        assert statistics.median(times) < 1.5, times


@pytest.mark.slow
def test_nothing_is_lost_or_overtakes_when_the_process_is_killed(up: Running, subscribed: Kit, folder: Path) -> None:
    with receiver() as scanner:
        scanner.answer = lambda _: time.sleep(0.2) or 204  # type: ignore[func-returns-value]
        write(folder, scanner, timeout=1)
        first = happen(subscribed.house, CHAIN, version=1)
        seqs = [first]
        for number in range(2, 8):
            scanner.until(lambda: len(scanner.posts) >= 1)
            up.processes.kill("hints")
            seqs.append(happen(subscribed.house, CHAIN, version=number))
            # What the dead one had for itself would be free after its lease only.
            WebhookPosition.objects.filter(house=subscribed.house).update(worked_until=ClockTimestamp())
        scanner.until(lambda: scanner.of(CHAIN)[-1:] == seqs[-1:], 60)
        came = scanner.of(CHAIN)
    # Some may have come twice, each after those before it.
    assert list(dict.fromkeys(came)) == seqs
    assert all(later - earlier <= 1 for earlier, later in itertools.pairwise(came))


def test_it_ends_in_good_order_and_notes_what_was_taken(up: Running, subscribed: Kit, folder: Path) -> None:
    with receiver() as scanner:
        scanner.answer = lambda _: time.sleep(1) or 204  # type: ignore[func-returns-value]
        write(folder, scanner)
        seq = happen(subscribed.house, CHAIN, version=1)
        scanner.until(lambda: len(scanner.posts) == 1)
        up.processes.kill("hints", signal.SIGTERM)
        end = time.monotonic() + PATIENCE
        while WebhookPosition.objects.get(house=subscribed.house).position < seq:
            assert time.monotonic() < end
            time.sleep(0.05)
        assert scanner.of(CHAIN) == [seq]


@pytest.mark.slow
def test_the_program_of_the_page_takes_each_hint_once(up: Running, subscribed: Kit, folder: Path) -> None:
    [program] = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    write(folder, Receiving(f"http://127.0.0.1:{port}/"))
    command = [sys.executable, "-c", program, str(port), str(folder / "key"), str(folder / "positions")]

    def lines(running: subprocess.Popen[str], count: int) -> list[int]:
        assert running.stdout is not None
        return [int(running.stdout.readline().split()[1]) for _ in range(count)]

    first = happen(subscribed.house, CHAIN, version=1)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as one:
        seen = lines(one, 1)
        # It notes a hint when it has used it: between the two, the hint would come again.
        assert wait_until((folder / "positions").exists, seconds=PATIENCE)
        one.kill()
    # It has noted nothing in vain: what comes again is not taken again by the next.
    happen(subscribed.house, CHAIN, version=2)
    admin = subscribed.office(Role.ADMIN)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as two:
        seen += lines(two, 1)
        admin.ok("webhooks/1/replay", {"chain": CHAIN, "after": first - 1, "reason": "lost"})
        happen(subscribed.house, CHAIN, version=3)
        seen += lines(two, 1)
        two.kill()
    assert seen == [first, first + 1, first + 2]
