"""Rehearsals over HTTP: asked for, played by the worker, cancelled, refused; workers that die or are too late."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from celery.exceptions import SoftTimeLimitExceeded

from casino.audit.founding import found_house
from casino.core.errors import Conflict
from casino.golive import copying, rehearsals, rehearsing
from casino.golive.playing import Evening
from casino.golive.tasks import rehearse as task
from casino.houses.models import ClockTimestamp, House, HouseStage, OutboxMessage, Rehearsal, RehearsalRun
from casino.staff.models import Role
from casino.verification.auditing import verify_house
from tests.casino.days.test_days import events
from tests.casino.kit import ACTOR, Desk, Kit
from tests.casino.transfers.test_transfers import refusal


class Killed(BaseException):
    """Stands for kill -9: nothing of the worker runs any more."""


@pytest.fixture
def kit(live_db: None) -> Iterator[Kit]:
    """A house that is founded, with one table and one person of every role."""
    kit = Kit.found(sandbox=False)
    kit.table("T1")
    for role in (*Role, Role.ADMIN, Role.COUNT):
        kit.office(role)
    yield kit
    kit.close()


@pytest.fixture
def admin(kit: Kit) -> Desk:
    """Who asks."""
    return kit.office(Role.ADMIN)


def message(kit: Kit) -> int:
    """The outbox message of the house's first rehearsal."""
    return OutboxMessage.objects.get(house=kit.house, task=rehearsals.TASK, subject="1").pk


def read(admin: Desk, number: int = 1) -> dict[str, Any]:
    """A rehearsal as the office reads it."""
    found: dict[str, Any] = admin.get(f"rehearsals/{number}").json()
    return found


def lease_ends(kit: Kit) -> None:
    """So much time passes that the worker that has the rehearsal is taken to be dead."""
    rows = RehearsalRun.objects.filter(house=kit.house, state="waiting")
    assert rows.update(worked_until=ClockTimestamp() - timedelta(seconds=1)) == 1


def at_the_fill(patched: pytest.MonkeyPatch, happens: Callable[[], Any]) -> None:
    """Let something happen once in the middle of the evening, before the fill."""
    real, done = Evening.fill, list[bool]()

    def fill(evening: Evening) -> None:
        if not done:
            done.append(True)
            happens()
        real(evening)

    patched.setattr(Evening, "fill", fill)


def killed(*_: Any, **__: Any) -> None:
    """What runs where a worker is killed."""
    raise Killed


def whole(kit: Kit) -> None:
    """Every row and event of the house is as its trail says."""
    kit.sequence()
    assert verify_house(kit.house).findings == []


def test_it_is_asked_for_played_and_counts_for_going_live(kit: Kit, admin: Desk) -> None:
    lacking = {one["item"]: one for one in admin.get("house/readiness").json()["items"]}["rehearsal"]
    assert (lacking["ready"], lacking["who"]) == (False, ["admin"])
    asked = admin.post("rehearsals")
    assert (asked.status_code, asked.headers["ETag"]) == (202, '"1"')
    assert (asked.json()["rehearsal"], asked.json()["state"], asked.json()["result"]) == (1, "waiting", None)
    again = admin.post("rehearsals")
    assert (refusal(again), again.json()["rehearsal"]) == ((409, "rehearsal_under_way"), 1)
    assert task(str(kit.house.pk), message(kit)) == "played"
    found = read(admin)
    assert (found["state"], found["version"], found["failure"]) == ("played", 2, "")
    result = found["result"]
    assert result["passed"] and result["sandbox"] == f"{kit.house.code}-R1"
    assert [one for one in result["items"] if one["failed"]] == []
    assert found["part_count"] == len(result["items"]) > 5 and result["verified"]["hands"] >= 1
    assert {one["item"]: one["ready"] for one in admin.get("house/readiness").json()["items"]}["rehearsal"]
    assert [one["rehearsal"] for one in admin.get("rehearsals?state=played").json()["results"]] == [1]
    assert task(str(kit.house.pk), message(kit)) == "played"
    assert Rehearsal.objects.filter(house=kit.house).count() == 1
    [event] = events(kit, "house.rehearsed")
    assert (event["actor"], event["role"]) == ("worker", "system")
    whole(kit)


def test_who_may_ask_and_what_is_refused_at_once(kit: Kit, admin: Desk) -> None:
    for role in (Role.MANAGER, Role.AUDITOR, Role.CAGE_SUPERVISOR):
        assert refusal(kit.office(role).post("rehearsals")) == (403, "forbidden")
    assert kit.office(Role.MANAGER).get("rehearsals").status_code == 200
    assert refusal(admin.get("rehearsals/1")) == (404, "not_found")
    assert refusal(admin.post("rehearsals/1/cancel", version=1)) == (404, "not_found")
    bare = Kit.found(bare=True, sandbox=False)
    refused = bare.office(Role.ADMIN).post("rehearsals")
    assert refusal(refused) == (409, "house_not_ready")
    assert refused.json()["missing"] == ["people", "chip_set", "vault", "drawers", "tables"]
    bare.close()
    code = f"{kit.house.code}-{'X' * 16}"
    long = Kit(found_house(code=code, name="Long", currency="HUF", actor=ACTOR, second_factor_required=False))
    assert refusal(long.office(Role.ADMIN).post("rehearsals")) == (409, "house_code_too_long")
    long.close()
    assert not RehearsalRun.objects.filter(house__in=[kit.house, bare.house, long.house]).exists()


def test_a_cancelled_one_is_not_played(kit: Kit, admin: Desk) -> None:
    admin.ok("rehearsals")
    assert refusal(admin.post("rehearsals/1/cancel", version=2)) == (412, "version_conflict")
    done = admin.ok("rehearsals/1/cancel", version=1)
    assert (done["state"], done["version"]) == ("cancelled", 2)
    assert rehearsing.work_off(message(kit)) == "cancelled"
    assert refusal(admin.post("rehearsals/1/cancel", version=2)) == (409, "rehearsal_ended")
    assert admin.ok("rehearsals")["rehearsal"] == 2
    assert not House.objects.filter(code=f"{kit.house.code}-R1").exists()
    whole(kit)


def test_one_that_is_cancelled_while_it_is_played_ends_and_its_copy_is_closed(
    kit: Kit, admin: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin.ok("rehearsals")
    at_the_fill(monkeypatch, lambda: admin.ok("rehearsals/1/cancel", version=1))
    assert kit.rehearse() == ["cancelled"]
    assert House.objects.get(code=f"{kit.house.code}-R1").stage == HouseStage.CLOSED
    assert not Rehearsal.objects.filter(house=kit.house).exists()
    whole(kit)


def test_the_next_worker_plays_what_a_killed_one_has_left(
    kit: Kit, admin: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin.ok("rehearsals")
    at_the_fill(monkeypatch, killed)
    with pytest.raises(Killed):
        rehearsing.work_off(message(kit))
    assert read(admin)["part_count"] == 2
    assert rehearsing.work_off(message(kit)) == "taken"
    lease_ends(kit)
    assert rehearsing.work_off(message(kit)) == "played"
    assert read(admin)["result"]["sandbox"] == f"{kit.house.code}-R2"
    first = House.objects.get(code=f"{kit.house.code}-R1")
    assert first.stage == HouseStage.CLOSED
    whole(kit)


def test_one_whose_workers_are_killed_again_and_again_is_given_up(
    kit: Kit, admin: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin.ok("rehearsals")
    monkeypatch.setattr(Evening, "open_day", killed)
    for _ in range(rehearsing.TRIES):
        with pytest.raises(Killed):
            rehearsing.work_off(message(kit))
        lease_ends(kit)
    assert rehearsing.work_off(message(kit)) == "failed"
    assert read(admin)["failure"] == "given_up"
    copies = House.objects.filter(code__startswith=f"{kit.house.code}-R")
    assert [one.stage for one in copies] == [HouseStage.CLOSED] * rehearsing.TRIES
    assert admin.post("rehearsals").status_code == 202
    whole(kit)


def test_a_worker_that_comes_back_too_late_records_nothing(
    kit: Kit, admin: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def another_one_plays() -> None:
        lease_ends(kit)
        assert rehearsing.work_off(message(kit)) == "played"

    admin.ok("rehearsals")
    at_the_fill(monkeypatch, another_one_plays)
    assert rehearsing.work_off(message(kit)) == "played"
    assert [one["data"]["sandbox"] for one in events(kit, "house.rehearsed")] == [f"{kit.house.code}-R2"]
    whole(kit)


@pytest.mark.parametrize(
    ("where", "error", "failure"),
    [
        ((Evening, "fill"), SoftTimeLimitExceeded(), "took_too_long"),
        ((copying, "copy"), Conflict("The house has no chip set.", code="no_chip_set"), "no_chip_set"),
    ],
    ids=["too long", "no copy"],
)
def test_one_that_cannot_be_played_fails_with_a_code(
    kit: Kit, admin: Desk, monkeypatch: pytest.MonkeyPatch, where: tuple[Any, str], error: Exception, failure: str
) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise error

    admin.ok("rehearsals")
    monkeypatch.setattr(*where, fails)
    assert kit.rehearse() == ["failed"]
    found = read(admin)
    assert (found["state"], found["failure"], found["result"]) == ("failed", failure, None)
    whole(kit)


def test_errors_of_the_server_are_tried_again_a_few_times(
    kit: Kit, admin: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError

    admin.ok("rehearsals")
    with monkeypatch.context() as patched:
        patched.setattr(copying, "copy", fails)
        for _ in range(rehearsing.TRIES - 1):
            with pytest.raises(ZeroDivisionError):
                task(str(kit.house.pk), message(kit))
        assert "ZeroDivisionError" in OutboxMessage.objects.get(id=message(kit)).last_error
        assert rehearsing.work_off(message(kit)) == "failed"
    assert read(admin)["failure"] == "given_up"
    admin.ok("rehearsals")
    assert kit.rehearse() == ["played"]
    whole(kit)


def test_a_house_that_changes_while_it_is_copied_has_rehearsed_nothing(
    kit: Kit, admin: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = copying.copy

    def changed_meanwhile(*arguments: Any, **named: Any) -> Any:
        made = real(*arguments, **named)
        admin.ok("drawers", {"drawer": "C7"})
        return made

    admin.ok("rehearsals")
    monkeypatch.setattr(copying, "copy", changed_meanwhile)
    assert kit.rehearse() == ["failed"]
    assert read(admin)["failure"] == "house_changed"
    assert House.objects.get(code=f"{kit.house.code}-R1").stage == HouseStage.CLOSED
    whole(kit)


def test_a_command_that_is_killed_leaves_its_rehearsal_to_the_worker(
    kit: Kit, admin: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_the_fill(monkeypatch, killed)
    with pytest.raises(Killed):
        rehearsing.rehearse(kit.house, ACTOR)
    assert refusal(admin.post("rehearsals")) == (409, "rehearsal_under_way")
    assert kit.rehearse() == ["taken"]
    lease_ends(kit)
    assert kit.rehearse() == ["played"]
    assert read(admin)["requested_by"] == ACTOR.staff
    whole(kit)
