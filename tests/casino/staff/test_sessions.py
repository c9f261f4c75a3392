"""Signing in at a terminal and out again, through HTTP, with real passwords and terminal keys."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx
import pytest
from axes.models import AccessAttempt
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from knox.crypto import hash_token

from casino.audit.models import Event
from casino.staff.models import Role, Staff, Terminal, TerminalKind, TerminalToken, full_name
from casino.staff.services import enrol_terminal, hire
from tests.casino.kit import ACTOR, Desk, Kit
from tests.casino.written import assert_nowhere
from tests.faults.crashes import Fault, Way, Wire

PASSWORD = "seven-of-acorns-19"
REFUSED = {"detail": "Login, password, code or terminal is not right.", "code": "sign_in_refused", "status": 403}


@dataclass
class Door:
    """A house with one dealer, one terminal at table T1, and an HTTP client that is not signed in."""

    kit: Kit
    http: httpx.Client
    staff: Staff
    terminal: Terminal
    form: dict[str, str]

    def sign_in(self, **changed: Any) -> httpx.Response:
        """Ask with the right form, changed as said."""
        return self.http.post("/api/v1/sign-in", json=self.form | changed)

    def desk(self, token: str) -> Desk:
        """The console at T1 with this token."""
        return Desk(self.kit.http(token), "/api/v1/tables/T1")

    def events(self) -> list[dict[str, Any]]:
        """Payloads of the house's chain about sessions, in order."""
        chain = f"house/{self.kit.house.code}"
        payloads = Event.objects.filter(chain__house=self.kit.house, chain__name=chain).order_by("seq")
        found = [json.loads(payload) for payload in payloads.values_list("payload", flat=True)]
        return [payload for payload in found if payload["kind"].startswith("staff.sign")]


def attempts(kit: Kit) -> QuerySet[AccessAttempt]:
    """The failed attempts that are counted against logins of a house."""
    return AccessAttempt.objects.filter(username__startswith=full_name(kit.house, ""))


@pytest.fixture
def door(kit: Kit) -> Iterator[Door]:
    """A house where somebody can sign in."""
    kit.table("T1")
    login = f"anna@{kit.house.code}"
    staff = hire(house=kit.house, login=login, name="Anna", roles=[Role.DEALER], password=PASSWORD, actor=ACTOR)
    terminal, key = enrol_terminal(house=kit.house, code="t-1", kind=TerminalKind.TABLE, location="T1", actor=ACTOR)
    form = {"login": login, "password": PASSWORD, "terminal": "t-1", "terminal_key": key}
    yield Door(kit, kit.http(None), staff, terminal, form)
    # Failures are counted by house and login, and every test has a house of its own.
    attempts(kit).delete()


def test_signing_in_gives_a_token_that_works_at_its_table(door: Door) -> None:
    answer = door.sign_in()
    assert answer.status_code == 201
    body = answer.json()
    expires = parse_datetime(body.pop("expires_at"))
    token = body.pop("token")
    assert body.pop("audit")["chain"] == f"house/{door.kit.house.code}"
    assert body == {
        "login": door.form["login"], "name": "Anna", "roles": ["dealer"], "house": door.kit.house.code,
        "terminal": "t-1", "location": "T1", "must_change_password": False,
    }  # fmt: skip
    assert expires is not None
    assert timedelta(hours=11, minutes=59) < expires - timezone.now() <= timedelta(hours=12)
    desk = door.desk(token)
    desk.refresh()
    assert desk.ok("open")["state"] == "open"


def test_only_hashes_of_token_password_and_key_are_kept(door: Door) -> None:
    token = door.sign_in().json()["token"]
    row = TerminalToken.objects.get(user=door.staff)
    assert row.digest == hash_token(token) != token
    assert (row.terminal_id, row.token_key) == (door.terminal.id, token[: len(row.token_key)])
    assert len(token) - len(row.token_key) >= 32
    secrets = (token, PASSWORD, door.form["terminal_key"])
    assert_nowhere(door.kit.house, *secrets)
    assert door.staff.password.startswith("argon2")


def test_every_signing_in_gives_another_token(door: Door) -> None:
    first, second = (door.sign_in().json()["token"] for _ in range(2))
    assert first != second
    assert all(door.desk(token).get().status_code == 200 for token in (first, second))


def test_a_token_ends_when_it_expires(door: Door) -> None:
    desk = door.desk(door.sign_in().json()["token"])
    assert desk.get().status_code == 200
    TerminalToken.objects.filter(user=door.staff).update(expiry=timezone.now())
    answer = desk.get()
    assert (answer.status_code, answer.json()["code"]) == (401, "not_authenticated")
    # Refused, not deleted: what was issued stays on record.
    assert TerminalToken.objects.filter(user=door.staff).exists()


def test_a_token_without_an_end_is_refused(door: Door) -> None:
    """The column may be null; the house issues no such token."""
    desk = door.desk(door.sign_in().json()["token"])
    TerminalToken.objects.filter(user=door.staff).update(expiry=None)
    answer = desk.get()
    assert (answer.status_code, answer.json()["code"]) == (401, "not_authenticated")


def test_a_token_ends_with_its_person_and_with_its_terminal(door: Door) -> None:
    desk = door.desk(door.sign_in().json()["token"])
    Staff.objects.filter(id=door.staff.id).update(is_active=False)
    assert desk.get().status_code == 401
    Staff.objects.filter(id=door.staff.id).update(is_active=True)
    assert desk.get().status_code == 200
    Terminal.objects.filter(id=door.terminal.id).update(revoked_at=timezone.now())
    assert desk.get().status_code == 401


def test_whatever_part_is_wrong_the_answer_is_the_same(door: Door) -> None:
    other = Kit.found()
    _, other_key = enrol_terminal(house=other.house, code="t-9", kind=TerminalKind.TABLE, location="T1", actor=ACTOR)
    _, revoked_key = enrol_terminal(
        house=door.kit.house, code="t-2", kind=TerminalKind.TABLE, location="T1", actor=ACTOR
    )
    Terminal.objects.filter(house=door.kit.house, code="t-2").update(revoked_at=timezone.now())
    _, neighbour_key = enrol_terminal(
        house=door.kit.house, code="t-3", kind=TerminalKind.TABLE, location="T1", actor=ACTOR
    )
    gone = hire(
        house=door.kit.house, login=f"gone@{door.kit.house.code}", name="Gone", roles=[Role.DEALER],
        password=PASSWORD, actor=ACTOR,
    )  # fmt: skip
    Staff.objects.filter(id=gone.id).update(is_active=False)
    wrong: dict[str, dict[str, str]] = {
        "password": {"password": "eight-of-acorns-19"},
        "password with a blank": {"password": PASSWORD + " "},
        "login": {"login": f"nobody@{door.kit.house.code}"},
        "terminal": {"terminal": "t-99"},
        "terminal key": {"terminal_key": "0" * 43},
        "another terminal's key": {"terminal_key": neighbour_key},
        "another house's terminal": {"terminal": "t-9", "terminal_key": other_key},
        "revoked terminal": {"terminal": "t-2", "terminal_key": revoked_key},
        "inactive person": {"login": gone.login},
    }
    for name, changed in wrong.items():
        # So many failures would lock the login; that is another test's matter.
        attempts(door.kit).delete()
        answer = door.sign_in(**changed)
        problem = answer.json()
        problem.pop("instance")
        assert problem == {
            "type": "urn:cukassza:problem:sign_in_refused", "title": "Not allowed", **REFUSED
        }, name  # fmt: skip
        assert answer.headers["Content-Type"] == "application/problem+json"
    assert not TerminalToken.objects.filter(terminal__house=door.kit.house).exists()
    # What was tried at a terminal that the house knows is recorded: password twice, login, terminal revoked, person
    # gone.
    recorded = [(event["kind"], event["actor"], event["data"]["code"]) for event in door.events()]
    tried = [door.form["login"]] * 2 + ["unknown", door.form["login"], gone.login]
    codes = ["sign_in_refused"] * 3 + ["terminal_revoked", "sign_in_refused"]
    assert recorded == [("staff.sign_in_refused", login, code) for login, code in zip(tried, codes, strict=True)]


@pytest.mark.parametrize(
    "changed",
    [
        {"login": None}, {"login": ""}, {"login": "a" * 65}, {"password": ""}, {"password": 7}, {"terminal": ["t-1"]},
        {"terminal_key": "k" * 129}, {"login": "anna\x00"}, {"otp": "123456"},
    ],
    ids=str,
)  # fmt: skip
def test_a_form_that_does_not_fit(door: Door, changed: dict[str, Any]) -> None:
    answer = door.sign_in(**changed)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")
    assert [error["pointer"].split("/")[1] for error in answer.json()["errors"]] == [next(iter(changed))]
    assert PASSWORD not in answer.text
    assert not attempts(door.kit).exists()


def test_after_five_failures_even_the_right_password_has_to_wait(door: Door) -> None:
    for _ in range(5):
        assert door.sign_in(password="wrong-and-wrong-again").status_code == 403
    answer = door.sign_in()
    assert (answer.status_code, answer.json()["code"]) == (429, "too_many_attempts")
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert 840 < int(answer.headers["Retry-After"]) <= 900
    assert not TerminalToken.objects.filter(user=door.staff).exists()
    # Somebody else is not locked out with her.
    bela = hire(
        house=door.kit.house, login=f"bela@{door.kit.house.code}", name="Bela", roles=[Role.DEALER],
        password=PASSWORD, actor=ACTOR,
    )  # fmt: skip
    assert door.sign_in(login=bela.login).status_code == 201


def test_a_sign_in_that_succeeds_forgets_the_failures_before_it(door: Door) -> None:
    for _ in range(2):
        for _ in range(4):
            assert door.sign_in(password="wrong").status_code == 403
        assert door.sign_in().status_code == 201


@pytest.mark.parametrize("revoked", [True, False], ids=["terminal", "password"])
@pytest.mark.parametrize("way", [Way.SERIALIZATION, Way.DEADLOCK])
def test_a_refusal_that_meets_another_transaction_is_recorded_and_counted_once(
    door: Door, way: Way, revoked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server refuses one statement of it after another with 40001 or 40P01."""
    if revoked:
        Terminal.objects.filter(id=door.terminal.id).update(revoked_at=timezone.now())
    hits = 0
    with (wire := Wire()).tapped(monkeypatch):
        for point in range(100):
            attempts(door.kit).delete()
            with wire.armed(Fault(point, way)):
                answer = door.sign_in(password="eight-of-acorns-19")
            assert answer.json()["code"] == "sign_in_refused", f"at exchange {point}"
            assert [event["kind"] for event in door.events()] == ["staff.sign_in_refused"] * (point + 1)
            counted = sum(attempts(door.kit).values_list("failures_since_start", flat=True))
            assert counted == (0 if revoked else 1), f"at exchange {point}"
            hits += wire.hit
            if wire.passed <= point:
                break
    assert hits >= 1, "the event is written in a transaction"


def test_nobody_without_a_terminal_key_can_lock_a_person_out(door: Door) -> None:
    for _ in range(7):
        assert door.sign_in(terminal_key="wrong", password="wrong").json()["code"] == "sign_in_refused"
    assert door.sign_in().status_code == 201


def test_the_lock_opens_after_a_while(door: Door) -> None:
    for _ in range(5):
        door.sign_in(password="wrong-and-wrong-again")
    assert door.sign_in().status_code == 429
    longer_ago = timezone.now() - timedelta(minutes=15, seconds=1)
    assert attempts(door.kit).update(attempt_time=longer_ago) == 1
    assert door.sign_in().status_code == 201


def test_signing_out_revokes_this_token_and_no_other(door: Door) -> None:
    first, second = (door.sign_in().json()["token"] for _ in range(2))
    answer = door.desk(first).post("/api/v1/sign-out")
    assert (answer.status_code, answer.content) == (204, b"")
    assert door.desk(first).get().status_code == 401
    assert door.desk(first).post("/api/v1/sign-out").status_code == 401
    assert door.desk(second).get().status_code == 200


def test_signing_out_is_nothing_to_read(door: Door) -> None:
    desk = door.desk(door.sign_in().json()["token"])
    for method in ("GET", "HEAD"):
        assert desk.http.request(method, "/api/v1/sign-out").status_code == 405
    assert desk.get().status_code == 200


def test_signing_in_and_out_stand_in_the_audit_trail(door: Door) -> None:
    entered = door.http.post("/api/v1/sign-in", json=door.form, headers={"X-Request-Id": "morning-1"})
    desk = door.desk(entered.json()["token"])
    desk.post("/api/v1/sign-out", headers={"X-Request-Id": "evening-1"})
    recorded = [(event["kind"], event["actor"], event["terminal"], event["request"]) for event in door.events()]
    login = door.form["login"]
    assert recorded == [
        ("staff.signed_in", login, "t-1", "morning-1"),
        ("staff.signed_out", login, "t-1", "evening-1"),
    ]
