"""What clients and the network between do: idle, slow, answers lost, requests sent twice."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from tests.faults.declared import fault
from tests.faults.players import BeforeSending, Client
from tests.faults.scene import Scene
from tests.faults.test_idle_clients import hangers_on

SECONDS = 8.0


@contextmanager
def meddling(before: BeforeSending) -> Iterator[None]:
    """Have every write of every client meddled with before it is sent, for `SECONDS`."""
    Client.before = before
    try:
        yield
        time.sleep(SECONDS)
    finally:
        Client.before = None


@fault("500 idle connections and 50 that send a byte every half second")
def idle_and_slow_clients(scene: Scene) -> float | None:
    """Nobody notices."""
    port = urlsplit(scene.at.root).port
    assert port is not None
    with hangers_on(port):
        time.sleep(SECONDS)
        scene.until_written()
    return None


@fault("the answer of every third write lost, and the request sent again")
def answers_lost(scene: Scene) -> float | None:
    """Exactly once, whatever the client has seen."""
    choice = random.Random(41)

    def before(client: Client, method: str, path: str, content: bytes | None, headers: dict[str, str]) -> None:
        if choice.random() < 1 / 3:
            client.send_and_hang_up(method, path, content, headers)

    with meddling(before):
        pass
    return None


@fault("every write sent three times under its key, at once")
def requests_doubled(scene: Scene) -> float | None:
    """Two of the three carry nothing out."""

    def before(client: Client, method: str, path: str, content: bytes | None, headers: dict[str, str]) -> None:
        client.send_and_hang_up(method, path, content, headers)
        client.send_and_hang_up(method, path, content, headers)

    with meddling(before):
        pass
    return None


@fault("every accepted key used again for another request")
def keys_reused(scene: Scene) -> float | None:
    """Refused with idempotency_key_reused, and nothing is changed."""
    wrong: list[tuple[int, str]] = []

    def before(client: Client, method: str, path: str, content: bytes | None, headers: dict[str, str]) -> None:
        last = getattr(client, "last_key", None)
        if last is not None and content is not None:
            other = json.dumps({"another": "request"}).encode()
            status, _ = client.raw(method, path, other, headers | {"Idempotency-Key": last})
            if status < 400:
                wrong.append((status, path))
        client.last_key = headers["Idempotency-Key"]  # type: ignore[attr-defined]

    with meddling(before):
        pass
    assert not wrong, f"accepted under a used key: {wrong[:5]}"
    return None
