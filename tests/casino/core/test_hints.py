"""Hints to the broker: no request waits for them, and none that is lost loses more than time."""

import os
import threading
from collections.abc import Iterator

import pytest

from casino.core import hints, outbox
from casino.core.hints import Hints
from casino.houses.models import OutboxMessage
from tests.casino.kit import Kit

#: Seconds that a test waits for what must come.
PATIENCE = 60


@pytest.fixture
def release() -> Iterator[threading.Event]:
    """Lets a waiting thread go on; set at the latest when the test ends."""
    found = threading.Event()
    yield found
    found.set()


def message(number: int) -> OutboxMessage:
    """A message that is in no database."""
    return OutboxMessage(id=number, task="hands.resolve_hand", subject=str(number))


def test_a_hand_ends_while_the_broker_does_not_answer(
    kit: Kit, monkeypatch: pytest.MonkeyPatch, release: threading.Event
) -> None:
    asked = threading.Event()

    def frozen(*_: object, **__: object) -> None:
        asked.set()
        assert release.wait(PATIENCE)

    monkeypatch.setattr(outbox.app, "send_task", frozen)
    desk = kit.worked_hand()
    assert asked.wait(PATIENCE)
    assert desk.refresh()["state"] == "settling"
    assert not outbox.HINTS.drain(0), "the hint is still under way"
    release.set()
    assert outbox.HINTS.drain(PATIENCE)


def test_hints_are_sent_in_their_order() -> None:
    sent: list[int] = []
    found = Hints(lambda one: sent.append(one.id))
    for number in range(100):
        found.leave(message(number))
    assert found.drain(PATIENCE)
    assert sent == list(range(100))


def test_an_error_costs_one_hint_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    sent: list[int] = []

    def send(one: OutboxMessage) -> None:
        if one.id == 1:
            raise RuntimeError("no such exchange")
        sent.append(one.id)

    found = Hints(send)
    for number in (0, 1, 2):
        found.leave(message(number))
    assert found.drain(PATIENCE)
    assert sent == [0, 2]
    assert "the sweeper will send it" in caplog.text and "no such exchange" in caplog.text


def test_more_than_can_wait_are_left_to_the_sweeper(
    monkeypatch: pytest.MonkeyPatch, release: threading.Event, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(hints, "MOST", 2)
    begun, sent = threading.Event(), []

    def send(one: OutboxMessage) -> None:
        begun.set()
        assert release.wait(PATIENCE)
        sent.append(one.id)

    found = Hints(send)
    found.leave(message(0))
    assert begun.wait(PATIENCE)
    for number in (1, 2, 3):
        found.leave(message(number))
    assert "2 hints wait for the broker; the sweeper will send hands.resolve_hand(3)" in caplog.text
    release.set()
    assert found.drain(PATIENCE)
    assert sent == [0, 1, 2]


def test_a_process_that_forks_has_a_thread_of_its_own(release: threading.Event) -> None:
    """What waited in the parent is the parent's to send."""
    mine = os.getpid()
    reading, writing = os.pipe()

    def send(one: OutboxMessage) -> None:
        if os.getpid() == mine:
            assert release.wait(PATIENCE)
        else:
            os.write(writing, b"%d " % one.id)

    found = Hints(send)
    found.leave(message(1))
    child = os.fork()
    if child == 0:
        found.leave(message(2))
        os._exit(0 if found.drain(PATIENCE) else 1)
    _, status = os.waitpid(child, 0)
    os.close(writing)
    with os.fdopen(reading, "rb") as received:
        assert (os.waitstatus_to_exitcode(status), received.read()) == (0, b"2 ")
    release.set()
    assert found.drain(PATIENCE)
