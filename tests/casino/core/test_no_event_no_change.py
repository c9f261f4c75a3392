"""If the event of a write cannot be written, nothing has happened: every write of the API, and the worker's."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import DataError, connections

from casino.audit.models import ChainHead, Event
from casino.hands.models import Hand, HandState
from casino.reports import tasks
from casino.staff import idleness
from ledger.models import Snapshot
from tests.casino.busy import AFTERWARDS, STEPS, Busy, Step
from tests.casino.kit import Kit
from tests.casino.scene import fingerprint

#: The largest bigint: no event can have a number after it.
LAST = 2**63 - 1


@contextmanager
def chains_at_their_end(kit: Kit) -> Iterator[None]:
    """While every chain of this house, and of no other, is such that PostgreSQL fails to append an event to it."""
    heads = list(ChainHead.objects.filter(house=kit.house).values_list("seq", "id"))
    _number([(LAST, head) for _, head in heads])
    try:
        yield
    finally:
        _number(heads)


def _number(heads: list[tuple[int, int]]) -> None:
    with connections["owner"].cursor() as cursor:
        cursor.executemany("UPDATE audit_chainhead SET seq = %s WHERE id = %s", heads)


def events(kit: Kit) -> int:
    """How many events the house has."""
    return Event.objects.filter(chain__house=kit.house).count()


def refused(busy: Busy, name: str, step: Step) -> None:
    """Try a step while no event can be written: an error on our side, no row of any table changed."""
    before, recorded = fingerprint(), events(busy.kit)
    with chains_at_their_end(busy.kit):
        answer = step(busy)
    assert (answer.status_code, answer.json()["code"]) == (500, "server_error"), name
    assert (fingerprint(), events(busy.kit)) == (before, recorded), name


def done(busy: Busy, name: str, step: Step) -> None:
    """The same step goes through as soon as events can be written."""
    answer = step(busy)
    assert answer.is_success, f"{name}: {answer.text}"


@pytest.mark.slow
def test_no_write_happens_without_its_event(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    # That a token was used is written without an event, when it was not used for a while: not on this evening.
    monkeypatch.setattr(idleness, "SEEN_EVERY", 3_600)
    busy = Busy(kit)
    for name, step in STEPS.items():
        refused(busy, name, step)
        done(busy, name, step)
    before = fingerprint()
    with pytest.raises(DataError), chains_at_their_end(kit):
        kit.settle()
    assert fingerprint() == before
    assert kit.settle() == [HandState.SETTLED]
    for name, step in AFTERWARDS.items():
        refused(busy, name, step)
        done(busy, name, step)
    assert not Hand.objects.filter(house=kit.house).exclude(state__in=[HandState.SETTLED, HandState.VOIDED]).exists()


def test_no_snapshot_is_taken_without_its_event(kit: Kit) -> None:
    with pytest.raises(DataError), chains_at_their_end(kit):
        tasks.take_snapshot(kit.house, "daily")
    assert not Snapshot.objects.filter(book=kit.house.id).exists()
    assert tasks.take_snapshot(kit.house, "daily")
    assert not tasks.take_snapshot(kit.house, "daily")
    assert Snapshot.objects.filter(book=kit.house.id).count() == 1
