"""What a process remembers of a hand never decides by itself: the database says whether the table is still there."""

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest
from django.db import connection, connections

from casino.bookkeeping import chart
from casino.core import sql, work, write
from casino.hands import services, subject
from casino.staff.models import Terminal
from tests.casino.core.test_concurrency import at_once
from tests.casino.kit import SAMPLE, Desk, Kit, as_action

pytestmark = pytest.mark.usefixtures("live_db")


@pytest.fixture
def desk(kit: Kit) -> Desk:
    """A dealer's console in the middle of a hand that this process remembers."""
    kit.table()
    desk = kit.seated(stacks=(900_000,) * 4)
    desk.ok("hands", {"mode": "physical"})
    for line in SAMPLE[:4]:
        desk.act(line)
    return desk


def _action(number: int) -> dict[str, object]:
    return {"actions": [as_action(SAMPLE[number])]}


@pytest.fixture
def behind(desk: Desk) -> Desk:
    """The same, one action later; what this process remembers is from before it, as if another process had taken it."""
    remembered = subject._known.copy()
    desk.ok("hand/actions", _action(4))
    subject._known.clear()
    subject._known.update(remembered)
    return desk


def test_an_action_on_what_has_moved_on_is_a_conflict_and_not_a_second_line(behind: Desk) -> None:
    before = behind.get("hand").json()
    refused = behind.post("hand/actions", _action(4), version=behind.version - 1)
    assert (refused.status_code, refused.json()["code"]) == (412, "version_conflict")
    assert behind.get("hand").json() == before


def test_an_illegal_action_on_what_has_moved_on_is_a_conflict_too(behind: Desk) -> None:
    refused = behind.post("hand/actions", _action(0), version=behind.version - 1)
    assert (refused.status_code, refused.json()["code"]) == (412, "version_conflict")


def test_the_next_action_goes_on_from_what_the_database_holds(behind: Desk) -> None:
    behind.ok("hand/actions", _action(5))
    assert len(behind.get("hand").json()["view"]["log"]) == 6


def test_a_request_that_another_process_has_answered_gets_the_same_answer(desk: Desk) -> None:
    remembered, version = subject._known.copy(), desk.version
    first = desk.post("hand/actions", _action(4), key="same", version=version)
    subject._known.clear()
    subject._known.update(remembered)
    again = desk.post("hand/actions", _action(4), key="same", version=version)
    assert (again.status_code, again.headers["Idempotency-Replayed"]) == (200, "true")
    assert again.content == first.content


def test_another_request_under_a_key_that_another_process_has_answered_is_refused(desk: Desk) -> None:
    remembered, version = subject._known.copy(), desk.version
    desk.post("hand/actions", _action(4), key="same", version=version)
    subject._known.clear()
    subject._known.update(remembered)
    refused = desk.post("hand/actions", {"actions": [as_action(SAMPLE[8])]}, key="same", version=version)
    assert refused.status_code in (400, 422)
    refused = desk.post("hand/actions", _action(5), key="same", version=version)
    assert (refused.status_code, refused.json()["code"]) == (422, "idempotency_key_reused")


def test_a_change_that_asks_the_database_is_decided_under_the_lock(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, take = [], services._take

    def asking(*arguments: object) -> work.Outcome:
        begun.append(write.connection.in_atomic_block)
        sql.rows("SELECT 1", [])
        return take(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(services, "_take", asking)
    desk.ok("hand/actions", _action(4))
    assert begun == [False, True]
    assert len(desk.get("hand").json()["view"]["log"]) == 5


def test_an_error_of_the_silence_that_is_swallowed_is_seen_all_the_same(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, take = [], services._take

    def swallowing(*arguments: object) -> work.Outcome:
        begun.append(write.connection.in_atomic_block)
        with contextlib.suppress(sql.NotSilentError):
            sql.rows("SELECT 1", [])
        return take(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(services, "_take", swallowing)
    desk.ok("hand/actions", _action(4))
    assert begun == [False, True]
    assert len(desk.get("hand").json()["view"]["log"]) == 5


def test_what_another_thread_forgets_meanwhile_changes_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    take = services._take

    def forgotten_meanwhile(*arguments: object) -> work.Outcome:
        subject.forget_all()
        return take(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(services, "_take", forgotten_meanwhile)
    monkeypatch.setattr(subject.AtHand, "remembered", lambda *_: None)
    desk.ok("hand/actions", _action(4))
    assert len(desk.get("hand").json()["view"]["log"]) == 5


def test_what_another_thread_learns_meanwhile_changes_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    older, take = subject._known.copy(), services._take
    desk.act(SAMPLE[4])

    def remembered_late(*arguments: object) -> work.Outcome:
        subject._known.update(older)
        return take(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(services, "_take", remembered_late)
    monkeypatch.setattr(subject.AtHand, "remembered", lambda *_: None)
    desk.ok("hand/actions", _action(5))
    assert len(desk.get("hand").json()["view"]["log"]) == 6


def test_a_new_connection_may_lead_to_a_restored_database_of_which_nothing_is_known(behind: Desk) -> None:
    # The same version with other lines: a restored database gives versions out again.
    for key, known in subject._known.items():
        subject._known[key] = replace(known, version=behind.version)
    assert chart._ids
    connection.close()
    behind.ok("hand/actions", _action(5))
    assert len(behind.get("hand").json()["view"]["log"]) == 6
    connection.close()
    connection.ensure_connection()
    assert not subject._known
    assert not chart._ids


def test_an_answered_request_gets_its_answer_although_the_terminal_was_moved(desk: Desk, kit: Kit) -> None:
    remembered, version = subject._known.copy(), desk.version
    first = desk.post("hand/actions", _action(4), key="same", version=version)
    Terminal.objects.filter(house=kit.house, location="T1").update(location="T2")
    for known in (remembered, {}):
        subject._known.clear()
        subject._known.update(known)
        again = desk.post("hand/actions", _action(4), key="same", version=version)
        assert (again.status_code, again.content) == (200, first.content)


@pytest.fixture
def refusing() -> Iterator[None]:
    """The database refuses every line of a log, as late as the commit."""
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION refuse_at_the_commit() RETURNS trigger LANGUAGE plpgsql AS "
            "$$BEGIN RAISE EXCEPTION 'refused at the commit'; END$$"
        )
        cursor.execute(
            "CREATE CONSTRAINT TRIGGER refused AFTER INSERT ON hands_handline DEFERRABLE INITIALLY DEFERRED "
            "FOR EACH ROW EXECUTE FUNCTION refuse_at_the_commit()"
        )
    yield
    with connections["owner"].cursor() as cursor:
        cursor.execute("DROP FUNCTION refuse_at_the_commit() CASCADE")


_KEEP_CONNECTIONS = "DROP FUNCTION IF EXISTS end_the_connection() CASCADE"


@pytest.fixture
def ending() -> Iterator[None]:
    """The database ends every connection that adds a line to a log."""
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION end_the_connection() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS "
            "$$BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(1); RETURN NULL; END$$"
        )
        cursor.execute(
            "CREATE TRIGGER ending AFTER INSERT ON hands_handline FOR EACH ROW EXECUTE FUNCTION end_the_connection()"
        )
    yield
    with connections["owner"].cursor() as cursor:
        cursor.execute(_KEEP_CONNECTIONS)


def test_what_is_refused_at_the_commit_is_neither_answered_nor_remembered(
    desk: Desk, request: pytest.FixtureRequest
) -> None:
    before, known = desk.get("hand").json(), dict(subject._known)
    request.getfixturevalue("refusing")
    assert desk.post("hand/actions", _action(4)).status_code == 500
    assert desk.get("hand").json() == before
    assert dict(subject._known) == known


def test_a_connection_lost_in_the_statement_has_written_nothing_and_the_request_may_be_sent_again(
    desk: Desk, request: pytest.FixtureRequest
) -> None:
    before, version = desk.get("hand").json(), desk.version
    request.getfixturevalue("ending")
    lost = desk.post("hand/actions", _action(4), key="same", version=version)
    assert (lost.status_code, lost.json()["code"], lost.headers["Retry-After"]) == (503, "outcome_unknown", "1")
    with connections["owner"].cursor() as cursor:
        cursor.execute(_KEEP_CONNECTIONS)
    assert desk.get("hand").json() == before
    again = desk.post("hand/actions", _action(4), key="same", version=version)
    assert (again.status_code, again.headers.get("Idempotency-Replayed")) == (200, None)


def test_a_connection_lost_after_the_commit_is_an_error_and_the_same_request_gets_its_answer(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    version, bound = desk.version, sql.bound

    def lost(statement: str, *arguments: object) -> object:
        found = bound(statement, *arguments)  # type: ignore[arg-type]
        if "hands_unmoved" in statement:
            monkeypatch.setattr(sql, "bound", bound)
            connection.connection.close()
            sql.rows("SELECT 1", [])
        return found

    monkeypatch.setattr(sql, "bound", lost)
    lost_answer = desk.post("hand/actions", _action(4), key="same", version=version)
    assert (lost_answer.status_code, lost_answer.json()["code"]) == (503, "outcome_unknown")
    again = desk.post("hand/actions", _action(4), key="same", version=version)
    assert (again.status_code, again.headers["Idempotency-Replayed"]) == (200, "true")
    assert len(desk.get("hand").json()["view"]["log"]) == 5


def test_of_many_actions_on_the_same_version_one_is_taken(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    known, version, silent = subject._known.copy(), desk.version, []
    clients, real = 4, services._take
    ready = threading.Barrier(clients, action=lambda: subject._known.update(known))

    def noted(*arguments: object) -> work.Outcome:
        silent.append(not connection.in_atomic_block)
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(services, "_take", noted)

    def act() -> int:
        connection.ensure_connection()
        ready.wait()
        return desk.post("hand/actions", _action(4), version=version).status_code

    assert sorted(at_once(*[act] * clients)) == [200, 412, 412, 412]
    assert silent.count(True) > 1, "they decided by what was remembered"
    assert len(desk.get("hand").json()["view"]["log"]) == 5
