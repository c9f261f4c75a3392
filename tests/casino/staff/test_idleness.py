"""Terminals that were left alone ask for the password again; remembered sign-ins and half a minute change nothing."""

import threading
from datetime import datetime
from typing import Any

import pytest
from django.db import connection, connections, transaction

from casino.api.http import authentication
from casino.staff import idleness, sessions
from casino.staff.models import Role, Staff, TerminalKind, TerminalToken
from casino.verification import auditing
from tests.casino.core.test_statement_budget import round_trips
from tests.casino.kit import SAMPLE, Desk, Kit, as_action
from tests.casino.scene import assert_problem, last_event, recorded_since

PASSWORD = "seven-of-acorns-19"
#: The seconds for which a terminal may be left alone.
LIMITS = {TerminalKind.CAGE: 300, TerminalKind.TABLE: 900, TerminalKind.OFFICE: 900}
PLACES = {TerminalKind.CAGE: ("C1", Role.CASHIER), TerminalKind.TABLE: ("T1", Role.DEALER)}


def signed_in(kit: Kit, kind: TerminalKind) -> tuple[Desk, TerminalToken]:
    """Somebody with the password PASSWORD at such a terminal."""
    place, role = PLACES.get(kind, ("", Role.AUDITOR))
    context, token = kit.hire(role, kind, place, noted=False)
    context.staff.set_password(PASSWORD)
    context.staff.save()
    row = TerminalToken.objects.get(user=context.staff)
    kit._note_hired(context.staff, context.terminal, row)
    return Desk(kit.http(token), "/api/v1"), row


def left_alone(token: TerminalToken, seconds: float) -> None:
    """So many seconds go by without a request, for the database and for this process."""
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "UPDATE staff_terminaltoken SET last_seen_at = clock_timestamp() - make_interval(secs => %s) "
            "WHERE user_id = %s AND terminal_id = %s",
            [seconds, token.user_id, token.terminal_id],
        )  # fmt: skip
    authentication._remembered.clear()


def last_seen(token: TerminalToken) -> datetime:
    """As it is stored."""
    return TerminalToken.objects.values_list("last_seen_at", flat=True).get(digest=token.digest)


def again(desk: Desk, password: str = PASSWORD) -> Any:
    """The answer to giving the password again."""
    return renewed(desk, {"password": password})


def renewed(desk: Desk, given: dict[str, Any]) -> Any:
    """The answer to giving something again; the desk goes on with the token that it has."""
    answer = desk.http.post("/api/v1/reauthenticate", json=given)
    if answer.status_code == 200:
        desk.http.headers["Authorization"] = f"Bearer {answer.json()['token']}"
    return answer


@pytest.mark.parametrize("kind", TerminalKind)
def test_a_terminal_that_was_left_alone_asks_for_the_password(kit: Kit, kind: TerminalKind) -> None:
    kit.table("T1")
    desk, token = signed_in(kit, kind)
    left_alone(token, LIMITS[kind] - 20)
    assert desk.get("house").status_code == 200
    left_alone(token, LIMITS[kind] + 1)
    last = last_event()
    for _ in range(2):
        assert_problem(desk.get("house"), 403, "reauthentication_required")
    # A console that polls leaves no events; a write does.
    assert recorded_since(last) == []
    assert_problem(desk.post("password", {"old": PASSWORD, "new": "another-one-77"}), 403, "reauthentication_required")
    assert [event["data"]["code"] for event in recorded_since(last)] == ["reauthentication_required"]
    last, before = last_event(), Desk(kit.http(desk.http.headers["Authorization"].removeprefix("Bearer ")), "/api/v1")
    answer = again(desk)
    assert answer.status_code == 200
    [event] = recorded_since(last)
    assert (event["kind"], event["actor"]) == ("staff.reauthenticated", token.user.login)
    assert desk.get("house").status_code == 200
    # Another token from now on, which ends when the first would have ended; the first counts nowhere.
    [now] = TerminalToken.objects.filter(user=token.user)
    assert (now.created, now.expiry) == (token.created, token.expiry) and now.digest != token.digest
    assert event["data"]["token_sha256"] == sessions.name_of(token)
    assert event["data"]["new_token_sha256"] == sessions.name_of(now)
    assert datetime.fromisoformat(answer.json()["expires_at"]) == token.expiry
    assert_problem(before.get("house"), 401, "not_authenticated")
    assert_problem(again(before), 401, "not_authenticated")
    assert auditing.verify_house(kit.house).findings == []


def test_a_wrong_password_wakes_nothing_and_counts(kit: Kit) -> None:
    desk, token = signed_in(kit, TerminalKind.OFFICE)
    left_alone(token, 901)
    for _ in range(5):
        assert_problem(again(desk, "not the password"), 403, "sign_in_refused")
    assert_problem(again(desk), 429, "too_many_attempts")
    assert_problem(desk.get("house"), 403, "reauthentication_required")


def test_a_session_that_ends_meanwhile_gets_no_new_token(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    desk, token = signed_in(kit, TerminalKind.OFFICE)
    right = idleness.check

    def late(**options: Any) -> Any:
        TerminalToken.objects.filter(digest=token.digest).update(expiry=token.created)
        return right(**options)

    monkeypatch.setattr(idleness, "check", late)
    assert_problem(again(desk), 403, "sign_in_refused")
    assert_problem(desk.get("house"), 401, "not_authenticated")


def test_a_person_who_left_can_still_sign_out(kit: Kit) -> None:
    desk, token = signed_in(kit, TerminalKind.OFFICE)
    left_alone(token, 901)
    assert desk.http.post("/api/v1/sign-out", json={}).status_code == 204
    assert not TerminalToken.objects.filter(digest=token.digest).exists()


def test_a_deactivated_person_does_not_come_back_by_the_password(kit: Kit) -> None:
    desk, token = signed_in(kit, TerminalKind.OFFICE)
    left_alone(token, 901)
    Staff.objects.filter(id=token.user_id).update(is_active=False)
    assert_problem(again(desk), 401, "not_authenticated")


def test_use_is_written_down_every_half_minute_at_most(kit: Kit) -> None:
    desk, token = signed_in(kit, TerminalKind.OFFICE)
    first = last_seen(token)
    for _ in range(3):
        desk.get("house")
    assert last_seen(token) == first
    left_alone(token, 31)
    stale = last_seen(token)
    desk.get("house")
    fresh = last_seen(token)
    assert (fresh - stale).total_seconds() > 30
    desk.get("house")
    assert last_seen(token) == fresh


def test_a_token_that_is_being_ended_is_not_waited_for(kit: Kit) -> None:
    desk, token = signed_in(kit, TerminalKind.OFFICE)
    left_alone(token, 31)
    stale = last_seen(token)
    answers = []

    def ask() -> None:
        answers.append(desk.get("house"))
        connections.close_all()

    with transaction.atomic(using="owner"):
        with connections["owner"].cursor() as cursor:
            cursor.execute("SELECT FROM staff_terminaltoken WHERE digest = %s FOR UPDATE", [token.digest])
        asking = threading.Thread(target=ask)
        asking.start()
        asking.join(timeout=10)
        assert [answer.status_code for answer in answers] == [200]
    assert last_seen(token) == stale


@pytest.fixture
def playing(kit: Kit) -> tuple[Desk, TerminalToken]:
    """A console in a hand, whose sign-in this process remembers."""
    kit.table()
    desk = kit.seated(stacks=(90_000,) * 4)
    desk.ok("hands", {"mode": "physical"})
    desk.act(*SAMPLE[:5])
    given = desk.http.headers["Authorization"].removeprefix("Bearer ")
    return desk, TerminalToken.objects.get(token_key=given[:15])


def test_a_remembered_sign_in_is_not_taken_once_its_use_is_due_to_be_written(
    playing: tuple[Desk, TerminalToken], monkeypatch: pytest.MonkeyPatch
) -> None:
    """This process's clock goes on by half a minute, and the database says that the terminal was left alone."""
    desk, token = playing
    known = authentication._remembered[token.digest]
    left_alone(token, 901)
    # As another process would have left it: remembered from before, and still thought to be fresh until `read` is old.
    authentication._remembered[token.digest] = known
    real = authentication.monotonic
    monkeypatch.setattr(authentication, "monotonic", lambda: real() + 31)
    answer = desk.post("hand/actions", {"actions": [as_action(SAMPLE[5])]})
    assert_problem(answer, 403, "reauthentication_required")


def test_an_action_is_one_statement_again_after_its_use_was_written(playing: tuple[Desk, TerminalToken]) -> None:
    desk, token = playing
    left_alone(token, 31)
    desk.act(SAMPLE[5])
    connection.ensure_connection()
    with round_trips() as asked:
        desk.act(SAMPLE[6])
    assert len(asked) == 1, asked


def test_a_house_says_for_how_long_a_terminal_may_be_left_alone(kit: Kit) -> None:
    desk, token = signed_in(kit, TerminalKind.OFFICE)
    change(kit, {"idle_minutes_in_office": 2})
    left_alone(token, 100)
    assert desk.get("house").status_code == 200
    left_alone(token, 121)
    problem = assert_problem(desk.get("house"), 403, "reauthentication_required")
    assert "more than 2 minutes" in problem["detail"]
    # What begins later does not count yet.
    change(kit, {"idle_minutes_in_office": 60, "second_factor_required": 1}, valid_from="2999-01-01T00:00:00Z")
    assert_problem(desk.get("house"), 403, "reauthentication_required")
    assert auditing.verify_house(kit.house).findings == []


def test_no_house_leaves_terminals_alone_for_ever(kit: Kit) -> None:
    admin = kit.office(Role.ADMIN)
    for wrong in ({"idle_minutes_in_office": 0}, {"idle_minutes_at_tables": 61}, {"second_factor_required": 2}):
        answer = admin.post("limits", {"points": wrong, "reason": "we trust everybody"})
        assert_problem(answer, 400, "invalid_request")


def change(kit: Kit, points: dict[str, int], **when: str) -> None:
    """Another control point, which a manager approves."""
    kit.approved(kit.office(Role.ADMIN), "limits", {"points": points, "reason": "a quiet office"} | when)


def test_to_follow_keeps_no_token_awake(kit: Kit) -> None:
    desk, token = signed_in(kit, TerminalKind.OFFICE)
    left_alone(token, 31)
    stale = last_seen(token)
    for path in ("changes", "stream"):
        assert desk.get(path).status_code == 200
    assert last_seen(token) == stale
    left_alone(token, 901)
    assert_problem(desk.get("changes"), 403, "reauthentication_required")
