"""A process takes an action under a sign-in that it remembers, without reading the token. Whatever has happened to the
sign-in since counts for the very next request, as if nothing had been remembered."""

import threading
import uuid
from collections.abc import Callable

import pytest
from django.db import connection, connections, transaction

from casino.api.http import authentication
from casino.audit.models import Event
from casino.hands.models import HandLine
from casino.staff.models import Role, Staff, Terminal, TerminalToken
from casino.tables.models import Table
from tests.casino.core.test_statement_budget import round_trips
from tests.casino.kit import SAMPLE, Desk, Kit, as_action
from tests.casino.scene import assert_problem, last_event, recorded_since

pytestmark = pytest.mark.usefixtures("live_db")

NEXT = {"actions": [as_action(SAMPLE[6])]}
#: What can be wrong with a request besides its sender.
BAD = {
    "malformed_json": {"content": b"{"},
    "invalid_request": {"body": {"actions": []}},
    "version_conflict": {"version": 1},
    "not_your_turn": {"body": {"actions": [as_action("p4 cc 100")]}},
}


@pytest.fixture
def desk(kit: Kit) -> Desk:
    """A dealer's console in a hand that this process knows, with a sign-in that it remembers."""
    kit.table()
    desk = kit.seated(stacks=(90_000,) * 4)
    desk.ok("hands", {"mode": "physical"})
    for line in SAMPLE[:6]:
        desk.act(line)
    assert _token(desk).digest in authentication._remembered
    return desk


def _token(desk: Desk) -> TerminalToken:
    given = desk.http.headers["Authorization"].removeprefix("Bearer ")
    return TerminalToken.objects.get(token_key=given[:15])


def _dealer(desk: Desk) -> Staff:
    return Staff.objects.get(id=_token(desk).user_id)


def _signed_out(kit: Kit, desk: Desk) -> None:
    assert desk.post("/api/v1/sign-out", key=str(uuid.uuid4())).status_code == 204


def _expired(kit: Kit, desk: Desk) -> None:
    # Not by a service: an hour passes.
    with connections["owner"].cursor() as cursor:
        cursor.execute("UPDATE staff_terminaltoken SET expiry = clock_timestamp() - interval '1 second'")


def _deactivated(kit: Kit, desk: Desk) -> None:
    kit.office(Role.ADMIN).ok(f"staff/{_dealer(desk).login}/deactivate", {"reason": "left the house"}, version=1)


def _terminal_revoked(kit: Kit, desk: Desk) -> None:
    terminal = Terminal.objects.get(id=_token(desk).terminal_id)
    kit.office(Role.ADMIN).ok(f"terminals/{terminal.code}/revoke", {"reason": "stolen"}, version=1)


def _password_given(kit: Kit, desk: Desk) -> None:
    kit.office(Role.ADMIN).ok(
        f"staff/{_dealer(desk).login}/password", {"password": "another long one", "reason": "forgotten"}, version=1
    )


def _role_taken(kit: Kit, desk: Desk) -> None:
    body = {"roles": ["cashier"], "reason": "moves to the cage"}
    kit.office(Role.ADMIN).ok(f"staff/{_dealer(desk).login}/roles", body, version=1)


OUT: dict[str, tuple[Callable[[Kit, Desk], None], int, str]] = {
    "signed out": (_signed_out, 401, "not_authenticated"),
    "expired": (_expired, 401, "not_authenticated"),
    "deactivated": (_deactivated, 401, "not_authenticated"),
    "terminal revoked": (_terminal_revoked, 401, "not_authenticated"),
    "password given": (_password_given, 401, "not_authenticated"),
    "role taken": (_role_taken, 403, "forbidden"),
}


def _written(kit: Kit) -> tuple[int, int]:
    """Version of the table, and lines of hands."""
    return Table.objects.get(house=kit.house).version, HandLine.objects.count()


@pytest.mark.some_now(2)
@pytest.mark.parametrize("what", OUT)
def test_a_sign_in_that_has_ended_is_refused_at_once(kit: Kit, desk: Desk, what: str) -> None:
    end, status, code = OUT[what]
    end(kit, desk)
    before = _written(kit)
    assert_problem(desk.post("hand/actions", NEXT), status, code)
    assert _written(kit) == before


@pytest.mark.some_now(2)
@pytest.mark.parametrize("what", OUT)
def test_no_other_refusal_is_answered_to_one(kit: Kit, desk: Desk, what: str) -> None:
    known = authentication._remembered.copy()
    end, status, code = OUT[what]
    end(kit, desk)
    for wrong in BAD.values():
        authentication._remembered.update(known)
        assert_problem(desk.post("hand/actions", **({"body": NEXT} | wrong)), status, code)


def test_a_refusal_is_recorded_as_ever(desk: Desk) -> None:
    for code, wrong in BAD.items():
        last = last_event()
        answer = desk.post("hand/actions", **({"body": NEXT} | wrong))
        [event] = recorded_since(last, "attempt.refused")
        assert (answer.json()["code"], event["data"]["code"]) == (code, code)
        assert (event["actor"], event["role"]) == (_dealer(desk).login, "dealer")


def test_the_refusal_of_a_sender_that_is_out_is_recorded_under_its_name(kit: Kit, desk: Desk) -> None:
    _deactivated(kit, desk)
    last = last_event()
    desk.post("hand/actions", NEXT)
    [event] = recorded_since(last, "attempt.refused")
    assert (event["actor"], event["data"]["code"]) == (_dealer(desk).login, "not_authenticated")


def test_a_token_that_was_deleted_leaves_no_event(desk: Desk) -> None:
    """As with any token that no house knows."""
    TerminalToken.objects.all().delete()
    before = Event.objects.count()
    assert_problem(desk.post("hand/actions", NEXT), 401, "not_authenticated")
    assert Event.objects.count() == before


def test_a_role_that_is_added_does_not_stop_the_console(kit: Kit, desk: Desk) -> None:
    body = {"roles": ["dealer", "floor"], "reason": "promoted"}
    kit.office(Role.ADMIN).ok(f"staff/{_dealer(desk).login}/roles", body, version=1)
    desk.ok("hand/actions", NEXT)
    connection.ensure_connection()
    with round_trips() as asked:
        desk.act(SAMPLE[7])
    assert len(asked) == 1, asked


def test_what_ends_a_sign_in_while_its_action_waits_for_the_table_counts(kit: Kit, desk: Desk) -> None:
    """The statement proves the sign-in when it has the table's lock, not when it began."""
    answers = []

    def act() -> None:
        answers.append(desk.post("hand/actions", NEXT))
        connections.close_all()

    waiting = threading.Thread(target=act)
    before = _written(kit)
    with transaction.atomic():
        Table.objects.select_for_update().get(house=kit.house)
        waiting.start()
        _until_one_waits()
        TerminalToken.objects.using("owner").all().delete()
    waiting.join()
    assert_problem(answers[0], 401, "not_authenticated")
    assert _written(kit) == before


def _until_one_waits() -> None:
    with connections["owner"].cursor() as cursor:
        for _ in range(200):
            cursor.execute(
                "SELECT count(*), pg_sleep(0.02) FROM pg_stat_activity"
                " WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
            if cursor.fetchone()[0]:
                return
    raise AssertionError("nobody waits for the table")
