"""One's own sessions: seen, ended one by one or all at once, and ended by a change of the factors."""

from typing import Any

import pytest

from casino.staff.models import Role, TerminalKind, TerminalToken
from casino.staff.services import enrol_terminal
from casino.verification import auditing
from tests.casino.kit import ACTOR, Desk, Kit
from tests.casino.scene import assert_problem, last_event, recorded_since
from tests.casino.staff.test_passkeys import Holder
from tests.casino.staff.test_second_factor import PASSWORD, Person, clock  # noqa: F401 - a fixture


def at_another(kit: Kit, ann: Person) -> Desk:
    """The person, signed in at a table too."""
    kit.table("T1")
    key = enrol_terminal(house=kit.house, code="table-7", kind=TerminalKind.TABLE, location="T1", actor=ACTOR)[1]
    form = {"login": ann.login, "password": PASSWORD, "terminal": "table-7", "terminal_key": key}
    answer = kit.http(None).post("/api/v1/sign-in", json=form)
    assert answer.status_code == 201, answer.text
    return Desk(kit.http(answer.json()["token"]), "/api/v1")


def listed(desk: Desk) -> list[dict[str, Any]]:
    """The sessions, as one of them sees them."""
    found: list[dict[str, Any]] = desk.get("sessions").json()["sessions"]
    return found


def test_a_person_sees_the_own_sessions_and_ends_one(kit: Kit) -> None:
    ann, bea = Person(kit, role=Role.FLOOR), Person(kit, "bea", Role.FLOOR)
    here, there, other = ann.desk(), at_another(kit, ann), bea.desk()
    first, second = listed(here)
    assert [(one["terminal"], one["kind"], one["location"], one["current"]) for one in (first, second)] == [
        ("office-codes", "office", "", True), ("table-7", "table", "T1", False),
    ]  # fmt: skip
    assert first["signed_in_at"] <= second["signed_in_at"] <= second["last_used_at"] < second["expires_at"]
    assert [one["current"] for one in listed(there)] == [False, True]
    assert_problem(here.post("sessions/end", {"session": first["session"]}), 409, "own_session")
    # Those of others are not there.
    assert_problem(other.post("sessions/end", {"session": second["session"]}), 404, "not_found")
    last = last_event()
    answer = here.post("sessions/end", {"session": second["session"]}, key="one")
    assert (answer.status_code, answer.json()["ended_session_count"]) == (200, 1)
    [event] = recorded_since(last)
    assert (event["kind"], event["actor"], event["terminal"]) == ("staff.sessions_ended", ann.login, "office-codes")
    assert event["data"] == {
        "token_sha256": second["session"], "kept_token_sha256": first["session"], "ended_session_count": 1,
    }  # fmt: skip
    assert_problem(there.get("house"), 401, "not_authenticated")
    assert here.get("house").status_code == other.get("house").status_code == 200
    # Asked once more under the same key, it is answered as before; under another, it is not there any more.
    assert here.post("sessions/end", {"session": second["session"]}, key="one").json() == answer.json()
    assert_problem(here.post("sessions/end", {"session": second["session"]}), 404, "not_found")
    assert auditing.verify_house(kit.house).findings == []


def test_a_person_ends_all_other_sessions(kit: Kit) -> None:
    ann, bea = Person(kit, role=Role.FLOOR), Person(kit, "bea", Role.FLOOR)
    here, there, again, other = ann.desk(), at_another(kit, ann), ann.desk(), bea.desk()
    assert here.ok("sessions/end", {"session": None})["ended_session_count"] == 2
    assert [one["current"] for one in listed(here)] == [True]
    assert there.get("house").status_code == again.get("house").status_code == 401
    assert other.get("house").status_code == 200
    assert_problem(here.post("sessions/end", {"session": None}), 409, "no_change")
    assert auditing.verify_house(kit.house).findings == []


def test_a_session_that_was_ended_in_the_name_of_another_is_found(kit: Kit) -> None:
    """The verifier takes the end of a session from an event only."""
    ann = Person(kit, role=Role.FLOOR)
    here, there = ann.desk(), at_another(kit, ann)
    token = TerminalToken.objects.get(user=ann.row, terminal__code="table-7")
    TerminalToken.objects.filter(digest=token.digest).update(expiry=token.created)
    assert there.get("house").status_code == 401 and here.get("house").status_code == 200
    assert [one.code for one in auditing.verify_house(kit.house).findings] == ["state_differs"]


def test_a_new_app_ends_the_other_sessions(kit: Kit) -> None:
    ann = Person(kit, role=Role.FLOOR)
    here, there = ann.desk(), at_another(kit, ann)
    ann.begun(here)
    assert there.get("house").status_code == 200
    last = last_event()
    here.ok("second-factor/confirm", {"code": ann.code()})
    [event] = recorded_since(last)
    assert (event["data"]["ended_session_count"], event["data"]["kept_token_sha256"]) == (1, listed(here)[0]["session"])
    assert there.get("house").status_code == 401 and here.get("house").status_code == 200
    assert auditing.verify_house(kit.house).findings == []


@pytest.mark.parametrize("change", ["registered", "removed"])
def test_a_passkey_that_comes_or_goes_ends_the_other_sessions(kit: Kit, change: str) -> None:
    ann = Holder(kit, role=Role.FLOOR)
    if change == "registered":
        there = at_another(kit, ann)
        here = ann.enrolled()
    else:
        here = ann.enrolled()
        there = Desk(kit.http(ann.come().json()["token"]), "/api/v1")
        body = {"password": PASSWORD, "passkey": ann.own(here)}
        here.ok(f"passkeys/{ann.authenticator.name}/remove", body)
    assert there.get("house").status_code == 401 and here.get("house").status_code == 200
    assert auditing.verify_house(kit.house).findings == []
