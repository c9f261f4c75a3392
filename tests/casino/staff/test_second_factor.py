"""Codes of an authenticator app: RFC 6238's own vectors, enrolment, sign-ins, replays, drift, resets."""

import base64
import io
import json
from collections.abc import Callable, Iterator
from typing import Any

import pyotp
import pytest
from django.db import connection

from casino.api.http import authentication
from casino.audit.models import Event
from casino.core.errors import Forbidden
from casino.staff import second_factor, services
from casino.staff.credentials import Credentials, ask_for_two, two_people
from casino.staff.models import Role, Staff, Terminal, TerminalKind, TerminalToken
from casino.staff.second_factor import PERIOD
from casino.staff.services import enrol_terminal, hire
from casino.verification import auditing
from tests.casino.kit import ACTOR, Desk, Kit
from tests.casino.scene import assert_problem
from tests.casino.written import assert_nowhere

PASSWORD, TERMINAL = "seven-of-acorns-19", "office-codes"
#: RFC 6238, appendix B, for SHA-1: Unix time and the last six digits of the code. The secret is the RFC's.
VECTORS = {
    59: "287082", 1_111_111_109: "081804", 1_111_111_111: "050471", 1_234_567_890: "005924",
    2_000_000_000: "279037", 20_000_000_000: "353130",
}  # fmt: skip


class Person:
    """Somebody hired with a password of their own, an office terminal, and perhaps a second factor."""

    def __init__(self, kit: Kit, name: str = "ann", role: Role = Role.AUDITOR) -> None:
        self.kit, self.login = kit, f"{name}@{kit.house.code}"
        hire(house=kit.house, login=self.login, name=name, roles=[role], password=PASSWORD, actor=ACTOR)
        if not Terminal.objects.filter(house=kit.house, code=TERMINAL).exists():
            kit.key = enrol_terminal(  # type: ignore[attr-defined]
                house=kit.house, code=TERMINAL, kind=TerminalKind.OFFICE, location="", actor=ACTOR
            )[1]
        self.secret = ""

    @property
    def row(self) -> Staff:
        """As it is now."""
        return Staff.objects.get(house=self.kit.house, login=self.login)

    def sign_in(self, code: str | None = None, password: str = PASSWORD) -> Any:
        """The answer to a sign-in."""
        form = {"login": self.login, "password": password, "terminal": TERMINAL}
        form["terminal_key"] = self.kit.key  # type: ignore[attr-defined]
        return self.kit.http(None).post("/api/v1/sign-in", json=form | ({} if code is None else {"code": code}))

    def desk(self, code: str | None = None) -> Desk:
        """Signed in."""
        answer = self.sign_in(code)
        assert answer.status_code == 201, answer.text
        return Desk(self.kit.http(answer.json()["token"]), "/api/v1")

    def begun(self, desk: Desk) -> str:
        """Begin a second factor; the secret."""
        self.secret = str(desk.ok("second-factor", {"password": PASSWORD})["secret"])
        return self.secret

    def enrolled(self) -> Desk:
        """With a second factor, begun and confirmed by the code of one step ago."""
        desk = self.desk()
        self.begun(desk)
        desk.ok("second-factor/confirm", {"code": self.code(-1)})
        return desk

    def code(self, steps: int = 0) -> str:
        """The code of so many steps from now, which the house takes for now until the next call: a code counts once,
        and no test waits for the next half minute."""
        _clock["steps"] = steps
        return self.shown(steps)

    def shown(self, steps: int) -> str:
        """The code of so many steps from now, by the database's clock."""
        return pyotp.TOTP(self.secret).generate_otp(now() // PERIOD + steps)


#: By how many steps the house's clock is ahead of the database's.
_clock = {"steps": 0}


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock by which codes are judged: the database's, and what `Person.code` says."""
    real = second_factor.current_step
    _clock["steps"] = 0
    monkeypatch.setattr(second_factor, "current_step", lambda: real() + _clock["steps"])


def now() -> int:
    """Unix time by the database's clock; waits for the next step where this one is about to end."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_sleep(CASE WHEN extract(epoch FROM clock_timestamp())::numeric % 30 > 27 THEN 3.1 ELSE 0 END)"
        )
        cursor.execute("SELECT floor(extract(epoch FROM clock_timestamp()))::bigint")
        return int(cursor.fetchone()[0])


def kinds(kit: Kit) -> list[str]:
    """Kinds of the events of the house's chain about second factors and sign-ins."""
    events = (json.loads(payload) for payload in Event.objects.filter(house=kit.house).order_by("id").values_list(
        "payload", flat=True
    ))  # fmt: skip
    return [one["kind"] for one in events if "factor" in one["kind"] or "sign" in one["kind"]]


@pytest.mark.parametrize(("at", "code"), VECTORS.items())
def test_codes_are_those_of_the_rfc(at: int, code: str) -> None:
    secret = base64.b32encode(b"12345678901234567890").decode()
    assert pyotp.TOTP(secret, interval=PERIOD).generate_otp(at // PERIOD) == code


def test_a_second_factor_is_shown_once_confirmed_and_asked_for_from_then_on(kit: Kit) -> None:
    ann = Person(kit)
    desk = ann.desk()
    begun = desk.post("second-factor", {"password": PASSWORD}, key="one")
    ann.secret = begun.json()["secret"]
    assert begun.status_code == 201 and len(base64.b32decode(ann.secret)) == 20
    assert begun.json()["uri"].startswith("otpauth://totp/") and ann.secret in begun.json()["uri"]
    repeated = desk.post("second-factor", {"password": PASSWORD}, key="one")
    assert repeated.status_code == 201 and not {"secret", "uri"} & repeated.json().keys()
    # It counts only when a code was given.
    assert ann.sign_in().status_code == 201
    assert_problem(desk.post("second-factor/confirm", {"code": "000000"}), 403, "code_refused")
    desk.ok("second-factor/confirm", {"code": ann.code()})
    for code in (None, ann.code()):
        assert_problem(ann.sign_in(code), 403, "sign_in_refused")
    assert ann.sign_in(ann.code(1)).status_code == 201
    (row,) = kit.office(Role.ADMIN).get(f"staff?login={ann.login}").json()["results"]
    assert row["second_factor_since"] is not None
    assert auditing.verify_house(kit.house).findings == []


def test_the_secret_is_sealed_and_stands_nowhere_in_the_clear(kit: Kit) -> None:
    ann = Person(kit)
    ann.enrolled()
    assert_nowhere(kit.house, ann.secret)
    sealed = bytes(ann.row.totp_sealed or b"")
    assert ann.secret.encode() not in sealed and len(sealed) > 32


def test_the_sealed_secret_of_another_person_opens_nothing(kit: Kit) -> None:
    ann, bea = Person(kit), Person(kit, "bea")
    ann.enrolled(), bea.enrolled()
    Staff.objects.filter(login=bea.login).update(totp_sealed=ann.row.totp_sealed)
    bea.secret = ann.secret
    assert_problem(bea.sign_in(bea.code()), 500, "proof_failed")
    assert [(one.code, ann.login in str(one) or bea.login in str(one)) for one in auditing.verify_house(
        kit.house
    ).findings if one.code == "state_differs"] == [("state_differs", True)]  # fmt: skip


def test_a_code_is_accepted_once(kit: Kit) -> None:
    ann = Person(kit)
    ann.enrolled()
    code = ann.code()
    assert ann.sign_in(code).status_code == 201
    assert_problem(ann.sign_in(code), 403, "sign_in_refused")


@pytest.mark.parametrize(("steps", "status"), [(-2, 403), (-1, 403), (0, 201), (1, 403), (2, 403)])
def test_a_code_counts_in_its_own_half_minute_only(kit: Kit, steps: int, status: int) -> None:
    ann = Person(kit)
    ann.enrolled()
    Staff.objects.filter(login=ann.login).update(totp_step=0)
    _clock["steps"] = 0
    assert ann.sign_in(ann.shown(steps)).status_code == status


@pytest.mark.parametrize("steps", [-1, 1])
def test_an_app_whose_clock_is_wrong_is_refused_as_it_is_set_up(kit: Kit, steps: int) -> None:
    ann = Person(kit)
    desk = ann.desk()
    ann.begun(desk)
    refused = assert_problem(desk.post("second-factor/confirm", {"code": ann.shown(steps)}), 403, "code_refused")
    assert "clock" in refused["detail"]
    desk.ok("second-factor/confirm", {"code": ann.code()})


def test_an_older_code_than_the_last_is_refused(kit: Kit) -> None:
    ann = Person(kit)
    ann.enrolled()
    assert ann.sign_in(ann.code(1)).status_code == 201
    assert_problem(ann.sign_in(ann.code()), 403, "sign_in_refused")


@pytest.mark.parametrize("wrong", [lambda ann: ann.sign_in("000000"), lambda ann: ann.sign_in()])
def test_wrong_codes_lock_the_login(kit: Kit, wrong: Callable[[Person], Any]) -> None:
    ann = Person(kit)
    ann.enrolled()
    for _ in range(5):
        assert_problem(wrong(ann), 403, "sign_in_refused")
    assert_problem(ann.sign_in(ann.code()), 429, "too_many_attempts")
    assert kinds(kit).count("staff.sign_in_refused") == 6


def test_wrong_first_codes_lock_the_login(kit: Kit) -> None:
    ann = Person(kit)
    desk = ann.desk()
    ann.begun(desk)
    for _ in range(5):
        assert_problem(desk.post("second-factor/confirm", {"code": "000000"}), 403, "code_refused")
    assert_problem(desk.post("second-factor/confirm", {"code": ann.code()}), 429, "too_many_attempts")
    assert ann.row.totp_since is None


def test_a_second_factor_is_begun_with_the_password_only(kit: Kit) -> None:
    ann = Person(kit)
    desk = ann.desk()
    assert_problem(desk.post("second-factor", {"password": "wrong password"}), 403, "sign_in_refused")
    assert ann.row.totp_sealed is None
    assert_problem(desk.post("second-factor/confirm", {"code": "000000"}), 409, "second_factor_missing")
    ann.begun(desk)
    first = ann.code()
    ann.begun(desk)
    assert_problem(desk.post("second-factor/confirm", {"code": first}), 403, "code_refused")
    desk.ok("second-factor/confirm", {"code": ann.code()})
    for again in (
        desk.post("second-factor", {"password": PASSWORD}), desk.post("second-factor/confirm", {"code": ann.code(1)}),
    ):  # fmt: skip
        assert_problem(again, 409, "second_factor_set")


def test_another_person_resets_it_and_counts_as_a_giver(kit: Kit) -> None:
    ann = Person(kit)
    desk = ann.enrolled()
    office = kit.office(Role.ADMIN)
    admin = Staff.objects.get(house=kit.house, roles=[Role.ADMIN])
    reset = f"staff/{ann.login}/second-factor/reset"
    office.ok(reset, {"reason": "lost the telephone"}, version=ann.row.version)
    assert desk.get("house").status_code == 401
    assert (ann.row.totp_sealed, ann.row.totp_since) == (None, None)
    assert admin.login in ann.row.password_givers
    assert ann.sign_in().status_code == 201
    assert_problem(office.post(reset, {"reason": "once more"}, version=ann.row.version), 409, "no_change")
    mine = office.post(f"staff/{admin.login}/second-factor/reset", {"reason": "my own"}, version=1)
    assert_problem(mine, 403, "four_eyes")
    assert kinds(kit)[-2:] == ["staff.second_factor_reset", "staff.signed_in"]
    assert auditing.verify_house(kit.house).findings == []


@pytest.fixture
def strict(live_db: None) -> Iterator[Kit]:
    """A house that requires second factors, as houses do that are founded without saying otherwise."""
    kit = Kit.found(second_factor_required=True)
    yield kit
    kit.close()


@pytest.mark.parametrize("role", Role)
def test_who_approves_or_judges_does_nothing_without_one(strict: Kit, role: Role) -> None:
    needs = role in {Role.CAGE_SUPERVISOR, Role.MANAGER, Role.COMPLIANCE, Role.AUDITOR, Role.ADMIN}
    ann = Person(strict, role=role)
    desk = ann.desk()
    if not needs:
        assert desk.get("house").status_code == 200
        return
    assert_problem(desk.get("house"), 403, "second_factor_required")
    assert_problem(desk.post("duty", {"amount": 1, "reason": "November"}), 403, "second_factor_required")
    ann.begun(desk)
    desk.ok("second-factor/confirm", {"code": ann.code()})
    assert desk.get("house").status_code == 200


def test_two_who_sign_together_give_their_codes(strict: Kit) -> None:
    ann, bea = Person(strict), Person(strict, "bea", Role.ADMIN)
    roles = (Role.AUDITOR, Role.ADMIN)
    without = [Credentials(one.login, PASSWORD) for one in (ann, bea)]
    with pytest.raises(Forbidden) as refused:
        two_people(house=strict.house, first=without[0], second=without[1], roles=roles)
    assert refused.value.code == "second_factor_required"
    ann.enrolled(), bea.enrolled()
    with pytest.raises(Forbidden) as refused:
        two_people(house=strict.house, first=without[0], second=without[1], roles=roles)
    assert refused.value.code == "sign_in_refused"
    typed = "".join(f"{one.login}\n{PASSWORD}\n{one.code()}\n" for one in (ann, bea))
    first, second = ask_for_two(io.StringIO(typed))
    assert "seven" not in repr(first) and ann.code() not in repr(first)
    found = two_people(house=strict.house, first=first, second=second, roles=roles)
    assert [one.login for one in found] == [ann.login, bea.login]


def test_a_token_that_was_given_meanwhile_is_not(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the check of the password and the token, the person confirms a second factor."""
    ann = Person(kit)
    issue = services._issue

    def late(**options: Any) -> Any:
        Staff.objects.filter(login=ann.login).update(totp_since=ann.row.hired_at)
        return issue(**options)

    monkeypatch.setattr(services, "_issue", late)
    assert_problem(ann.sign_in(), 403, "sign_in_refused")
    assert not TerminalToken.objects.filter(user=ann.row).exists()


def test_a_house_can_ask_for_one_from_now_on(kit: Kit) -> None:
    ann = Person(kit, role=Role.MANAGER)
    desk = ann.desk()
    assert desk.get("house").status_code == 200
    points = {"points": {"second_factor_required": 1}, "reason": "as the authority has asked"}
    kit.approved(kit.office(Role.ADMIN), "limits", points)
    # For half a minute at most a sign-in is taken as it was read; then it counts.
    authentication._remembered.clear()
    assert_problem(desk.get("house"), 403, "second_factor_required")
    ann.begun(desk)
    desk.ok("second-factor/confirm", {"code": ann.code()})
    assert desk.get("house").status_code == 200
