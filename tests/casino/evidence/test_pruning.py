"""Answers and messages of the outbox are deleted all day, a share at a time, when their days are over."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import DatabaseError, transaction

from casino.houses.models import OutboxMessage
from casino.reports import due, retention
from casino.reports.tasks import prune
from casino.staff.models import AnsweredRequest, Role
from tests.casino.evidence.test_complaints import findings, held
from tests.casino.evidence.test_expiry import DAY, older
from tests.casino.hands.test_disputes import DISPUTE
from tests.casino.kit import Kit
from tests.casino.scene import last_event, recorded_since
from tests.casino.superuser import unguarded

ANSWERS, MESSAGES = "staff_answeredrequest", "houses_outboxmessage"


@pytest.fixture
def settled(kit: Kit) -> Kit:
    """A house with a settled hand."""
    kit.worked_hand()
    kit.settle()
    return kit


def counted(kit: Kit) -> tuple[int, int]:
    """How many answers and messages the house has."""
    return (
        AnsweredRequest.objects.filter(house=kit.house).count(), OutboxMessage.objects.filter(house=kit.house).count(),
    )  # fmt: skip


def pruned(kit: Kit) -> list[dict[str, Any]]:
    """What the runs of beat have deleted, until nothing was left to delete."""
    last = last_event()
    while prune(str(kit.house.id)):
        pass
    return [item for event in recorded_since(last, "retention.ran") for item in event["data"]["items"]]


def test_nothing_young_goes(settled: Kit) -> None:
    before = counted(settled)
    older(settled, ANSWERS, "at", "89 days")
    older(settled, MESSAGES, "done_at", "89 days")
    assert min(before) > 0 and pruned(settled) == []
    assert counted(settled) == before


def test_both_go_when_their_days_are_over(settled: Kit) -> None:
    [hand] = OutboxMessage.objects.filter(house=settled.house)
    older(settled, ANSWERS, "at", "92 days")
    older(settled, MESSAGES, "done_at", "92 days")
    items = pruned(settled)
    assert {item["kind"] for item in items} == {"answers", "messages"}
    assert {len(item["name"]) for item in items if item["kind"] == "answers"} == {len("2026-01-31T18:20")}
    assert counted(settled) == (0, 0)
    # The message went by its row, which this test has made older than the event of the settlement.
    assert {code for code, place in findings(settled.house)} == {"state_missing"}
    assert hand.task == "hands.resolve_hand"


def test_an_open_message_stays_and_that_of_a_disputed_hand(kit: Kit) -> None:
    kit.worked_hand()
    older(kit, MESSAGES, "created_at", "92 days")
    assert [item["kind"] for item in pruned(kit)] == []
    kit.dealer(role=Role.FLOOR).ok("hand/dispute", DISPUTE)
    older(kit, MESSAGES, "done_at", "92 days")
    assert pruned(kit) == []
    assert counted(kit)[1] == 1


def test_a_run_takes_a_share_and_the_next_one_goes_on(settled: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    older(settled, ANSWERS, "at", "92 days")
    older(settled, ANSWERS, "at", "1 day", "id %% 2 = 0")
    monkeypatch.setattr(due, "ROWS", 1)
    before = counted(settled)[0]
    made = retention.prune(settled.house, "clock:prune")
    assert made is not None and made.deleted.keys() == {"answers"}
    assert 0 < counted(settled)[0] < before
    pruned(settled)
    assert counted(settled)[0] == 0


def test_what_is_held_does_not_stand_in_the_way_of_the_rest(settled: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    settled.office(Role.MANAGER).ok("days", {"day": DAY})
    held(settled, {"scope": "days", "first_day": DAY, "last_day": DAY, "reason": "the authority asks"})
    begin = datetime.fromisoformat(DAY).replace(tzinfo=UTC)
    with unguarded(ANSWERS) as cursor:
        moved = f"UPDATE {ANSWERS} SET at = %s WHERE house_id = %s AND id %% 2 = %s"
        cursor.execute(moved, [begin + timedelta(hours=1), settled.house.id, 0])
        cursor.execute(moved, [begin + timedelta(days=2), settled.house.id, 1])
    monkeypatch.setattr(due, "ROWS", 1)
    items = pruned(settled)
    assert [item["name"][:10] for item in items] == [(begin + timedelta(days=2)).date().isoformat()]
    left = AnsweredRequest.objects.filter(house=settled.house)
    assert {one.at.date().isoformat() for one in left if one.at < begin + timedelta(days=3)} == {DAY}


@pytest.mark.parametrize("older_by", ["0 days", "6 days"])
def test_the_database_refuses_to_delete_what_may_still_be_asked_for(settled: Kit, older_by: str) -> None:
    older(settled, ANSWERS, "at", older_by)
    older(settled, MESSAGES, "done_at", older_by)
    for rows in (AnsweredRequest.objects, OutboxMessage.objects):
        with pytest.raises(DatabaseError, match="is kept"), transaction.atomic():
            rows.filter(house=settled.house).delete()


def test_the_database_keeps_what_is_still_to_be_done(kit: Kit) -> None:
    kit.worked_hand()
    older(kit, MESSAGES, "created_at", "92 days")
    with pytest.raises(DatabaseError, match="is kept"), transaction.atomic():
        OutboxMessage.objects.filter(house=kit.house).delete()


def test_beat_prunes_all_day() -> None:
    entry = settings.CELERY_BEAT_SCHEDULE["prune"]
    assert entry["args"] == ["reports.prune"] and len(entry["schedule"].hour) == 24
