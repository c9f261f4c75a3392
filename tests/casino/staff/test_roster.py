"""The roster through HTTP: people, roles, passwords, terminals; what is taken away ends at once, no secret stays."""

import json
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.core.management import CommandError, call_command
from django.utils import timezone

from casino.audit.models import Event
from casino.core import canonical
from casino.core.commands import Command, RequestContext
from casino.core.errors import Forbidden
from casino.staff import roster
from casino.staff.models import AnsweredRequest, Role, Staff, Terminal, TerminalKind, TerminalToken, full_name
from tests.casino.core.test_concurrency import at_once
from tests.casino.kit import Desk, Kit
from tests.casino.scene import assert_problem, last_event, recorded_since
from tests.casino.written import assert_nowhere

PASSWORD = "seven-of-acorns-19"
OTHER = "eight-of-leaves-23"
MINE = "ober-of-hearts-31"


@pytest.fixture
def office(kit: Kit) -> Desk:
    """An administrator at an office terminal, in a house with a table T1."""
    kit.table("T1")
    return kit.office(Role.ADMIN)


def login(kit: Kit, name: str = "anna") -> str:
    """A login of this house."""
    return f"{name}@{kit.house.code}"


def hire(kit: Kit, office: Desk, *roles: str, name: str = "anna") -> str:
    """Take somebody on; returns the login."""
    body = {"login": login(kit, name), "name": f"{name} Kiss", "roles": list(roles) or ["dealer"], "password": PASSWORD}
    assert office.post("staff", body).status_code == 201
    return login(kit, name)


def enrol(office: Desk, code: str = "console-7") -> str:
    """Enrol a terminal at T1; returns its key."""
    answer = office.post("terminals", {"terminal": code, "kind": "table", "location": "T1"})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["key"])


def sign_in(kit: Kit, who: str, key: str, password: str = PASSWORD, terminal: str = "console-7") -> Any:
    """Sign in; returns the answer."""
    form = {"login": who, "password": password, "terminal": terminal, "terminal_key": key}
    return kit.http(None).post("/api/v1/sign-in", json=form)


def at_work(kit: Kit, who: str, key: str) -> str:
    """Sign in for the first time and choose the password OTHER; returns the token."""
    token = str(sign_in(kit, who, key).json()["token"])
    assert own(kit, token, PASSWORD, OTHER).status_code == 200
    return token


def own(kit: Kit, token: str, old: str, new: str, **options: Any) -> Any:
    """Choose a password of one's own; returns the answer."""
    return Desk(kit.http(token), "/api/v1").post("password", {"old": old, "new": new}, **options)


def change(office: Desk, what: str, body: dict[str, Any], *, version: int = 1, **options: Any) -> Any:
    """Write below the roster on a version."""
    return office.post(what, body, version=version, **options)


def test_somebody_is_hired_signs_in_and_works(kit: Kit, office: Desk) -> None:
    last = last_event()
    who, key = hire(kit, office), enrol(office)
    signed_in = sign_in(kit, who, key).json()
    token = signed_in["token"]
    desk = Desk(kit.http(token), "/api/v1/tables/T1")
    # With a password that somebody else knows nothing is done but choosing another.
    assert signed_in["must_change_password"] is True
    for refused in (desk.get(), desk.get("/api/v1/tables"), desk.post("open", version=1)):
        assert assert_problem(refused, 403, "password_change_required")["detail"].startswith(who)
    assert own(kit, token, PASSWORD, OTHER).status_code == 200
    assert sign_in(kit, who, key, OTHER).json()["must_change_password"] is False
    desk.refresh()
    assert desk.ok("open")["state"] == "open"
    hired, enrolled, entered = recorded_since(last, "staff.hired", "terminal.enrolled", "staff.signed_in")[:3]
    assert hired["kind"] == "staff.hired" and len(hired["data"].pop("password_sha256")) == 64
    assert hired["data"] == {"login": who, "roles": ["dealer"]}
    assert hired["role"] == "admin"
    digest = Terminal.objects.get(house=kit.house, code="console-7").key_digest
    location = {"terminal": "console-7", "kind": "table", "location": "T1"}
    assert enrolled["data"] == location | {"key_sha256": canonical.fingerprint(digest)}
    assert (entered["kind"], entered["actor"]) == ("staff.signed_in", who)
    (row,) = office.get(f"staff?login={who}").json()["results"]
    assert (row["name"], row["roles"], row["active"], row["version"]) == ("anna Kiss", ["dealer"], True, 2)
    giver = Staff.objects.get(house=kit.house, roles=[Role.ADMIN]).login
    assert (row["password_by"], row["must_change_password"]) == (giver, False)


def test_roles_change_at_once_and_the_trail_records_before_after_and_why(kit: Kit, office: Desk) -> None:
    who, key = hire(kit, office), enrol(office)
    desk = Desk(kit.http(at_work(kit, who, key)), "/api/v1/tables/T1")
    desk.refresh()
    last = last_event()
    body = {"roles": ["cashier", "cage_supervisor"], "reason": "moved to the cage"}
    answer = change(office, f"staff/{who}/roles", body, version=2)
    assert (answer.status_code, answer.headers["ETag"]) == (200, '"3"')
    (event,) = recorded_since(last)
    assert (event["kind"], event["reason"]) == ("staff.roles_changed", "moved to the cage")
    assert event["data"] == {"login": who, "before": ["dealer"], "after": ["cage_supervisor", "cashier"]}
    assert_problem(desk.post("open"), 403, "forbidden")
    assert desk.get("/api/v1/drawers").status_code == 200


def test_who_is_let_go_is_out_at_once_and_does_not_come_back_with_an_old_token(kit: Kit, office: Desk) -> None:
    who, key = hire(kit, office), enrol(office)
    desk = Desk(kit.http(at_work(kit, who, key)), "/api/v1/tables/T1")
    assert desk.get().status_code == 200
    last = last_event()
    left = change(office, f"staff/{who}/deactivate", {"reason": "left the house"}, version=2)
    assert left.json()["active"] is False
    assert recorded_since(last)[0]["data"] == {"login": who, "before": True, "after": False, "ended_session_count": 1}
    assert_problem(desk.get(), 401, "not_authenticated")
    assert_problem(sign_in(kit, who, key, OTHER), 403, "sign_in_refused")
    AccessAttempt.objects.filter(username=full_name(kit.house, who)).delete()
    assert change(office, f"staff/{who}/activate", {"reason": "came back"}, version=3).json()["active"] is True
    assert_problem(desk.get(), 401, "not_authenticated")
    assert sign_in(kit, who, key, OTHER).status_code == 201


def test_a_new_password_ends_the_old_one_and_its_tokens(kit: Kit, office: Desk) -> None:
    who, key = hire(kit, office), enrol(office)
    desk = Desk(kit.http(sign_in(kit, who, key).json()["token"]), "/api/v1/tables/T1")
    body = {"password": OTHER, "reason": "forgotten"}
    assert change(office, f"staff/{who}/password", body).status_code == 200
    assert_problem(desk.get(), 401, "not_authenticated")
    assert_problem(sign_in(kit, who, key), 403, "sign_in_refused")
    assert sign_in(kit, who, key, OTHER).status_code == 201


def test_a_password_of_ones_own_is_known_to_nobody_else(kit: Kit, office: Desk) -> None:
    who, key = hire(kit, office), enrol(office)
    giver = Staff.objects.get(house=kit.house, roles=[Role.ADMIN]).login
    assert Staff.objects.get(login=who).password_by == giver
    here, elsewhere = (sign_in(kit, who, key).json()["token"] for _ in range(2))
    last = last_event()
    answer = own(kit, here, PASSWORD, OTHER, key="my-own")
    assert (answer.status_code, answer.headers["ETag"], answer.json()["login"]) == (200, '"2"', who)
    (event,) = recorded_since(last)
    assert (event["kind"], event["actor"], event["terminal"]) == ("staff.password_changed", who, "console-7")
    me = Staff.objects.get(login=who)
    [kept] = TerminalToken.objects.filter(user=me, expiry__gt=timezone.now())
    assert event["data"] == {
        "ended_session_count": 1,
        "password_sha256": canonical.fingerprint(me.password),
        "kept_token_sha256": canonical.fingerprint(kept.digest),
    }
    assert (me.password_by, me.must_change_password) == (giver, False)
    assert own(kit, here, PASSWORD, OTHER, key="my-own").headers["Idempotency-Replayed"] == "true"
    assert_problem(kit.http(elsewhere).get("/api/v1/tables/T1"), 401, "not_authenticated")
    assert kit.http(here).get("/api/v1/tables/T1").status_code == 200
    assert_problem(sign_in(kit, who, key), 403, "sign_in_refused")
    assert sign_in(kit, who, key, OTHER).status_code == 201
    reset = {"password": PASSWORD, "reason": "forgotten"}
    assert change(office, f"staff/{who}/password", reset, version=2).status_code == 200
    assert Staff.objects.get(login=who).must_change_password
    assert_problem(
        kit.http(sign_in(kit, who, key).json()["token"]).get("/api/v1/tables/T1"), 403, "password_change_required"
    )


def test_a_wrong_old_password_counts_like_a_refused_sign_in(kit: Kit, office: Desk) -> None:
    who, key = hire(kit, office), enrol(office)
    token = sign_in(kit, who, key).json()["token"]
    last = last_event()
    for _ in range(5):
        assert_problem(own(kit, token, "not-the-password-1", OTHER), 403, "sign_in_refused")
    assert_problem(own(kit, token, PASSWORD, OTHER), 429, "too_many_attempts")
    assert_problem(sign_in(kit, who, key), 429, "too_many_attempts")
    refused = recorded_since(last, "staff.sign_in_refused", "staff.locked_out")
    assert [event["kind"] for event in refused].count("staff.sign_in_refused") == 7
    assert {(event["actor"], event["terminal"]) for event in refused} == {(who, "console-7")}
    for event in recorded_since(last, "attempt.refused"):
        assert not {"asked", "body"} & event["data"].keys()
    change(office, f"staff/{who}/unlock", {"reason": "it was her"})
    assert own(kit, token, PASSWORD, OTHER).status_code == 200


def test_what_cannot_be_ones_own_password(kit: Kit, office: Desk) -> None:
    who, key = hire(kit, office), enrol(office)
    token = sign_in(kit, who, key).json()["token"]
    assert_problem(own(kit, token, PASSWORD, PASSWORD), 409, "no_change")
    assert_problem(own(kit, token, PASSWORD, "short"), 400, "invalid_request")
    assert_problem(Desk(kit.http(token), "/api/v1").post("password", {"new": OTHER}), 400, "invalid_request")
    assert Staff.objects.get(login=who).must_change_password
    assert sign_in(kit, who, key).status_code == 201


def test_a_revoked_terminal_is_out_for_good(kit: Kit, office: Desk) -> None:
    who, key = hire(kit, office), enrol(office)
    desk = Desk(kit.http(sign_in(kit, who, key).json()["token"]), "/api/v1/tables/T1")
    last = last_event()
    answer = change(office, "terminals/console-7/revoke", {"reason": "stolen"})
    assert (answer.status_code, answer.json()["revoked"], answer.json()["version"]) == (200, True, 2)
    (event,) = recorded_since(last)
    assert (event["kind"], event["reason"]) == ("terminal.revoked", "stolen")
    assert event["data"] == {"terminal": "console-7", "ended_session_count": 1}
    assert_problem(desk.get(), 401, "not_authenticated")
    assert_problem(sign_in(kit, who, key), 403, "sign_in_refused")
    again = change(office, "terminals/console-7/revoke", {"reason": "stolen"}, version=2)
    assert_problem(again, 409, "no_change")
    rows = office.get("terminals?terminal=console-7").json()["results"]
    assert [row["revoked"] for row in rows] == [True]


def test_a_terminal_cannot_revoke_itself(kit: Kit, office: Desk) -> None:
    mine = Terminal.objects.get(house=kit.house, kind=TerminalKind.OFFICE, revoked_at=None)
    answer = change(office, f"terminals/{mine.code}/revoke", {"reason": "not any more"}, version=mine.version)
    assert_problem(answer, 409, "own_terminal")
    mine.refresh_from_db()
    assert mine.revoked_at is None
    assert office.get("terminals").status_code == 200


@pytest.mark.parametrize("what", ["roles", "deactivate", "activate", "password"])
def test_no_one_changes_their_own_entry(kit: Kit, office: Desk, what: str) -> None:
    me = Staff.objects.get(house=kit.house, roles=[Role.ADMIN])
    bodies = {"roles": {"roles": ["admin", "cashier"]}, "password": {"password": OTHER}}
    body = bodies.get(what, {}) | {"reason": "because I can"}
    assert_problem(change(office, f"staff/{me.login}/{what}", body), 403, "four_eyes")
    assert list(Staff.objects.filter(id=me.id).values_list("roles", "version")) == [([Role.ADMIN], 1)]


@pytest.mark.parametrize(
    ("what", "body", "version", "status", "code"),
    [
        ("staff/{who}/roles", {"roles": ["dealer"]}, 1, 409, "no_change"),
        ("staff/{who}/roles", {"roles": ["floor"]}, 2, 412, "version_conflict"),
        ("staff/{who}/roles", {"roles": []}, 1, 400, "invalid_request"),
        ("staff/{who}/roles", {"roles": ["boss"]}, 1, 400, "invalid_request"),
        ("staff/{who}/roles", {"roles": ["floor", "floor"]}, 1, 400, "invalid_request"),
        ("staff/{who}/activate", {}, 1, 409, "no_change"),
        ("staff/{who}/password", {"password": "short"}, 1, 400, "invalid_request"),
        ("staff/nobody/deactivate", {}, 1, 404, "not_found"),
        ("staff/{other}/deactivate", {}, 1, 404, "not_found"),
        ("terminals/nowhere/revoke", {}, 1, 404, "not_found"),
    ],
)
def test_what_cannot_be_changed(
    kit: Kit, office: Desk, what: str, body: dict[str, Any], version: int, status: int, code: str
) -> None:
    other = Kit.found()
    stranger = hire(other, other.office(Role.ADMIN))
    address = what.format(who=hire(kit, office), other=stranger)
    assert_problem(change(office, address, body | {"reason": "a good reason"}, version=version), status, code)
    assert Staff.objects.filter(login__in=[stranger, login(kit)], version=1, is_active=True).count() == 2
    other.close()


@pytest.mark.parametrize(
    ("changed", "status", "code"),
    [
        ({"login": "a b"}, 400, "invalid_request"),
        ({"login": "é@h"}, 400, "invalid_request"),
        ({"password": "1234567890123"}, 400, "invalid_request"),
        ({"roles": "admin"}, 400, "invalid_request"),
        ({"name": ""}, 400, "invalid_request"),
    ],
)
def test_who_cannot_be_hired(kit: Kit, office: Desk, changed: dict[str, Any], status: int, code: str) -> None:
    body = {"login": login(kit), "name": "Anna", "roles": ["dealer"], "password": PASSWORD} | changed
    answer = office.post("staff", body)
    assert_problem(answer, status, code)
    assert PASSWORD not in answer.text
    assert not Staff.objects.filter(login=login(kit)).exists()


def test_a_login_and_a_terminal_are_taken_once(kit: Kit, office: Desk) -> None:
    hire(kit, office)
    other = Kit.found()
    body = {"login": login(kit), "name": "Anna", "roles": ["dealer"], "password": PASSWORD}
    # In its house: another one may use the same login.
    assert other.office(Role.ADMIN).post("staff", body).status_code == 201
    for same in (login(kit, "Anna"), login(kit).lower(), login(kit).upper()):
        assert_problem(office.post("staff", body | {"login": same}), 409, "login_taken")
    # Signing in takes a login exactly as it was given.
    key = enrol(office, "console-9")
    assert_problem(sign_in(kit, login(kit, "Anna"), key, terminal="console-9"), 403, "sign_in_refused")
    assert sign_in(kit, login(kit), key, terminal="console-9").status_code == 201
    enrol(office)
    again = office.post("terminals", {"terminal": "console-7", "kind": "office"})
    assert_problem(again, 409, "terminal_exists")
    other.close()


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"kind": "table", "location": "T9"}, 404), ({"kind": "cage", "location": "T1"}, 404), ({"kind": "table"}, 400),
        ({"kind": "office", "location": "T1"}, 400), ({"kind": "roof", "location": "T1"}, 400),
    ],
)  # fmt: skip
def test_a_terminal_stands_somewhere(kit: Kit, office: Desk, body: dict[str, Any], status: int) -> None:
    assert office.post("terminals", {"terminal": "x", **body}).status_code == status
    assert not Terminal.objects.filter(house=kit.house, code="x").exists()


def test_the_roster_is_changed_in_the_office_only(kit: Kit, office: Desk) -> None:
    who = hire(kit, office)
    at_table = kit.dealer(role=Role.ADMIN)
    for path in (f"/api/v1/staff/{who}/deactivate", "/api/v1/terminals/table-1/revoke"):
        assert_problem(at_table.post(path, {"reason": "a good reason"}, version=1), 403, "wrong_terminal")


def test_a_key_is_recorded_once_and_a_replay_comes_without_it(kit: Kit, office: Desk) -> None:
    body = {"terminal": "console-8", "kind": "table", "location": "T1"}
    first = office.post("terminals", body, key="enrol-8")
    again = office.post("terminals", body, key="enrol-8")
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.status_code == 201
    recorded = first.json()
    key = recorded.pop("key")
    assert again.json() == recorded
    assert Terminal.objects.filter(house=kit.house, code="console-8").count() == 1
    assert sign_in(kit, hire(kit, office), key, terminal="console-8").status_code == 201


def test_no_password_and_no_key_is_kept_anywhere(kit: Kit, office: Desk, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("DEBUG"):
        who, key = hire(kit, office), enrol(office)
        change(office, f"staff/{who}/password", {"password": OTHER, "reason": "forgotten"})
        change(office, f"staff/{who}/password", {"password": OTHER, "reason": "forgotten"}, version=1)
        office.post("staff", {"login": who, "name": "x", "roles": ["dealer"], "password": PASSWORD})
        token = sign_in(kit, who, key, OTHER).json()["token"]
        own(kit, token, "not-the-password-1", MINE)
        own(kit, token, OTHER, MINE)
        own(kit, token, OTHER, MINE)
        sign_in(kit, who, key, "not-the-password-1")
    AccessAttempt.objects.filter(username=full_name(kit.house, who)).delete()
    secrets = (PASSWORD, OTHER, MINE, key, "not-the-password-1")
    assert_nowhere(kit.house, *secrets)
    assert not [record for record in caplog.records if any(secret in record.getMessage() for secret in secrets)]


def test_the_stored_hash_of_a_request_with_a_password_is_keyed(kit: Kit, office: Desk) -> None:
    body = {"login": login(kit), "name": "Anna", "roles": ["dealer"], "password": PASSWORD}
    office.ok("staff", body, key="hire-anna")
    row = AnsweredRequest.objects.get(terminal__house=kit.house, key="hire-anna")
    plain = canonical.sha256({"method": "POST", "path": "/api/v1/staff", "body": body})
    assert len(row.request_hash) == 64 and row.request_hash != plain
    assert office.post("staff", body, key="hire-anna").headers["Idempotency-Replayed"] == "true"
    other = body | {"password": OTHER}
    assert_problem(office.post("staff", other, key="hire-anna"), 422, "idempotency_key_reused")
    payloads = Event.objects.filter(chain__house=kit.house).values_list("payload", flat=True)
    refusals = [json.loads(payload)["data"] for payload in payloads if '"attempt.refused"' in payload]
    assert refusals and not any({"asked", "body"} & data.keys() for data in refusals)


def test_a_lock_is_opened_by_the_office_and_recorded(kit: Kit, office: Desk) -> None:
    who, key = hire(kit, office), enrol(office)
    assert_problem(change(office, f"staff/{who}/unlock", {"reason": "nothing there"}), 409, "no_change")
    for _ in range(5):
        assert sign_in(kit, who, key, "wrong-and-wrong-again").status_code == 403
    assert_problem(sign_in(kit, who, key), 429, "too_many_attempts")
    last = last_event()
    assert change(office, f"staff/{who}/unlock", {"reason": "it was her"}).status_code == 200
    (event,) = recorded_since(last)
    assert (event["kind"], event["data"]) == ("staff.unlocked", {"login": who, "failure_count": 5})
    assert sign_in(kit, who, key).status_code == 201


def test_the_operator_opens_a_lock_and_it_is_recorded(kit: Kit, office: Desk) -> None:
    who, key = hire(kit, office), enrol(office)
    for _ in range(5):
        assert sign_in(kit, who, key, "wrong-and-wrong-again").status_code == 403
    # axes' own ways would write no event.
    for command in ("axes_reset", "axes_reset_ip", "axes_reset_ip_username", "axes_reset_username"):
        for arguments in ([], [who]):
            with pytest.raises(CommandError, match="unlock_login"):
                call_command(command, *arguments)
    assert_problem(sign_in(kit, who, key), 429, "too_many_attempts")
    last = last_event()
    reason = "the only administrator"
    for house, login_, code in (("nowhere", who, "no house"), (kit.house.code, "nobody", "not_found")):
        with pytest.raises(CommandError, match=code):
            call_command("unlock_login", house, login_, reason=reason)
    call_command("unlock_login", kit.house.code, who, reason=reason)
    (event,) = recorded_since(last)
    assert (event["kind"], event["actor"], event["reason"]) == ("staff.unlocked", "operator", reason)
    assert event["data"] == {"login": who, "failure_count": 5}
    assert sign_in(kit, who, key).status_code == 201
    with pytest.raises(CommandError, match="no_change"):
        call_command("unlock_login", kit.house.code, who, reason=reason)


def test_two_administrators_do_not_let_each_other_go(kit: Kit) -> None:
    offices = [kit.office(Role.ADMIN) for _ in range(2)]
    logins = list(Staff.objects.filter(house=kit.house).order_by("-id").values_list("login", flat=True))

    def let_go(number: int) -> int:
        answer = change(offices[number], f"staff/{logins[number]}/deactivate", {"reason": "first come"})
        return int(answer.status_code)

    found = sorted(at_once(lambda: let_go(0), lambda: let_go(1)))
    # The later one is refused: before the request was let in, or by then.
    assert found in ([200, 401], [200, 403])
    assert Staff.objects.filter(house=kit.house, is_active=True).count() == 1


def test_a_person_who_is_no_longer_an_administrator_when_their_turn_comes(kit: Kit, office: Desk) -> None:
    who = hire(kit, office)
    me = Staff.objects.get(house=kit.house, roles=[Role.ADMIN])
    for now in ({"is_active": False}, {"is_active": True, "roles": [Role.CASHIER]}):
        acting = RequestContext(
            house=kit.house, staff=me, role=Role.ADMIN, terminal=Terminal.objects.get(house=kit.house, kind="office"),
            request_id="late",
        )  # fmt: skip
        command = Command(context=acting, key=f"late-{now['is_active']}", request_hash="0" * 64, expected_version=1)
        Staff.objects.filter(id=me.id).update(**now)
        with pytest.raises(Forbidden) as caught:
            roster.deactivate(command=command, login=who, reason="too late")
        assert caught.value.code == "forbidden"
    assert Staff.objects.get(login=who).is_active
