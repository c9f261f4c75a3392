"""Passkeys: registered, listed and removed, and sign-ins with them; what is replayed, forged, foreign or copied."""

import json
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from html import unescape
from typing import Any

import pytest
from django.test import override_settings

from casino.api.http import authentication
from casino.audit.models import Event
from casino.audit.verifier import state_passkeys
from casino.metrics import state
from casino.metrics.declared import PASSKEYS_CLONED as CLONED
from casino.reports import alarms
from casino.staff import passkeys, registering
from casino.staff.models import Passkey, PasskeyChallenge, Role, Staff, TerminalToken
from casino.verification.auditing import verify_house
from tests.casino.authenticator import PRESENT, VERIFIED, Authenticator
from tests.casino.console.browser import Browser
from tests.casino.core.test_concurrency import at_once
from tests.casino.kit import Desk, Kit
from tests.casino.reports.test_exceptions import at_later, by_source
from tests.casino.scene import assert_problem
from tests.casino.staff.test_idleness import renewed
from tests.casino.staff.test_second_factor import PASSWORD, TERMINAL, Person, clock  # noqa: F401 - a fixture


class Holder(Person):
    """Somebody with a passkey, and perhaps an app."""

    def __init__(self, kit: Kit, name: str = "ann", role: Role = Role.AUDITOR) -> None:
        super().__init__(kit, name, role)
        self.authenticator = Authenticator()

    def with_app(self) -> Desk:
        """With an app and no passkey."""
        return super().enrolled()

    def asks(self, desk: Desk, **given: Any) -> Any:
        """The answer to a passkey that is begun."""
        return desk.http.post("/api/v1/passkeys/begin", json={"password": PASSWORD} | given)

    def register(self, desk: Desk, **given: Any) -> Authenticator:
        """Register one more; the newest signs from then on."""
        begun = self.asks(desk, **given)
        assert begun.status_code == 201, begun.text
        made = Authenticator()
        desk.ok("passkeys", {"name": "key"} | made.make(begun.json()))
        self.authenticator = made
        return made

    def enrolled(self) -> Desk:
        """With a passkey and no app."""
        desk = self.desk()
        self.register(desk)
        return desk

    def asked(self) -> dict[str, Any]:
        """A challenge to sign in."""
        form = {"terminal": TERMINAL, "terminal_key": self.kit.key}  # type: ignore[attr-defined]
        answer = self.kit.http(None).post("/api/v1/sign-in/challenge", json=form)
        assert answer.status_code == 201, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def come(self, answer: dict[str, Any] | None = None, password: str = PASSWORD) -> Any:
        """The answer to a sign-in with this answer of a passkey."""
        form = {"login": self.login, "password": password, "terminal": TERMINAL}
        form["terminal_key"] = self.kit.key  # type: ignore[attr-defined]
        form["passkey"] = answer if answer is not None else self.authenticator.sign(self.asked())  # type: ignore[assignment]
        return self.kit.http(None).post("/api/v1/sign-in", json=form)

    def own(self, desk: Desk, purpose: str = "own") -> dict[str, Any]:
        """An answer of the passkey for a change of one's own."""
        asked = desk.http.post("/api/v1/passkeys/challenge", json={"purpose": purpose})
        assert asked.status_code == 201, asked.text
        return self.authenticator.sign(asked.json())


def events(kit: Kit, *kinds: str) -> list[dict[str, Any]]:
    """Events of these kinds."""
    found = Event.objects.filter(house=kit.house).order_by("id").values_list("doc", flat=True)
    return [one for one in found if one["kind"] in kinds]


def test_a_passkey_is_registered_signs_in_and_is_removed(kit: Kit) -> None:
    ann = Holder(kit)
    desk = ann.enrolled()
    assert desk.get("session").json()["passkey_count"] == 1
    (row,) = desk.get("passkeys").json()["passkeys"]
    assert (row["passkey"], row["name"], row["last_used_at"]) == (ann.authenticator.name, "key", None)
    # The password alone is not enough any more.
    assert_problem(ann.sign_in(), 403, "sign_in_refused")
    answer = ann.come()
    assert answer.status_code == 201, answer.text
    desk = Desk(kit.http(answer.json()["token"]), "/api/v1")
    assert desk.get("passkeys").json()["passkeys"][0]["last_used_at"] is not None
    assert events(kit, "staff.signed_in")[-1]["data"]["passkey_sha256"] == ann.authenticator.name
    (listed,) = kit.office(Role.ADMIN).get(f"staff?login={ann.login}").json()["results"]
    assert (listed["passkey_count"], listed["second_factor_since"]) == (1, None)
    desk.ok(f"passkeys/{row['passkey']}/remove", {"password": PASSWORD, "passkey": ann.own(desk)})
    assert desk.get("passkeys").json() == {"passkeys": []} and ann.sign_in().status_code == 201
    assert [one["kind"] for one in events(kit, "staff.passkey_registered", "staff.passkey_removed")] == [
        "staff.passkey_registered", "staff.passkey_removed"
    ]  # fmt: skip
    assert verify_house(kit.house).findings == []
    assert state_passkeys.MOST == registering.MOST


def test_what_a_browser_is_asked_for_with(kit: Kit) -> None:
    ann = Holder(kit)
    desk = ann.desk()
    begun = ann.asks(desk).json()
    assert (begun["host"], begun["timeout_seconds"], begun["user_verification"]) == ("localhost", 120, "required")
    assert (begun["login"], begun["credentials"], begun["algorithms"]) == (ann.login, [], [-7, -8, -257])
    ann.register(desk)
    again = ann.asks(desk, passkey=ann.own(desk)).json()
    assert again["credentials"] == [ann.authenticator.credential] and again["user"] == begun["user"]
    # Of a sign-in it says nothing: who has which passkeys is not said.
    assert ann.asked()["credentials"] == []


def test_who_has_an_app_signs_in_with_either(kit: Kit) -> None:
    ann = Holder(kit)
    desk = ann.with_app()
    assert_problem(ann.asks(desk), 403, "sign_in_refused")
    assert_problem(ann.asks(desk, code="000000"), 403, "sign_in_refused")
    ann.register(desk, code=ann.code())
    assert ann.sign_in(ann.code(1)).status_code == 201
    assert ann.come().status_code == 201
    # One of the two is enough to change them, also to remove the passkey.
    remove = f"passkeys/{ann.authenticator.name}/remove"
    assert_problem(desk.post(remove, {"password": PASSWORD}), 403, "sign_in_refused")
    desk.ok(remove, {"password": PASSWORD, "passkey": ann.own(desk)})
    assert_problem(ann.sign_in(), 403, "sign_in_refused")


WRONG: dict[str, Callable[[Holder, dict[str, Any]], dict[str, Any]]] = {
    "origin": lambda ann, asked: ann.authenticator.sign(asked, origin="https://localhost.evil.example"),
    "origin with another port": lambda ann, asked: ann.authenticator.sign(asked, origin="http://localhost:81"),
    "host": lambda ann, asked: ann.authenticator.sign(asked, host="evil.example"),
    "no user verification": lambda ann, asked: ann.authenticator.sign(asked, flags=PRESENT),
    "nobody there": lambda ann, asked: ann.authenticator.sign(asked, flags=VERIFIED),
    "kind": lambda ann, asked: ann.authenticator.sign(asked, kind="webauthn.create"),
    "another page around it": lambda ann, asked: ann.authenticator.sign(asked, cross=True),
    "user": lambda ann, asked: ann.authenticator.sign(asked, user="c29tZWJvZHk"),
    "signature": lambda ann, asked: ann.authenticator.sign(asked, signature="MEUCIQ"),
    "a passkey that nobody has registered": lambda ann, asked: Authenticator().sign(asked),
    "another key under the same name": lambda ann, asked: Authenticator(id=ann.authenticator.id).sign(asked),
    "client data that are none": lambda ann, asked: ann.authenticator.sign(asked) | {"client_data": "e30"},
    "authenticator data that are none": lambda ann, asked: (
        ann.authenticator.sign(asked) | {"authenticator_data": "e30"}
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_answer_is_refused_in_the_same_words_and_counted(kit: Kit, wrong: str) -> None:
    ann = Holder(kit)
    ann.enrolled()
    assert_problem(ann.come(WRONG[wrong](ann, ann.asked())), 403, "sign_in_refused")
    code = "passkey_challenge_refused" if wrong == "client data that are none" else "passkey_refused"
    assert events(kit, "staff.sign_in_refused")[-1]["data"]["code"] == code
    assert ann.come().status_code == 201
    assert verify_house(kit.house).findings == []


def test_a_challenge_counts_once_also_in_vain(kit: Kit) -> None:
    ann = Holder(kit)
    ann.enrolled()
    answer = ann.authenticator.sign(ann.asked())
    assert ann.come(answer).status_code == 201
    assert_problem(ann.come(answer), 403, "sign_in_refused")
    asked = ann.asked()
    assert_problem(ann.come(ann.authenticator.sign(asked, flags=PRESENT)), 403, "sign_in_refused")
    assert_problem(ann.come(ann.authenticator.sign(asked)), 403, "sign_in_refused")
    assert events(kit, "staff.sign_in_refused")[-1]["data"]["code"] == "passkey_challenge_refused"
    assert not PasskeyChallenge.objects.filter(house=kit.house).exists()


def test_a_challenge_is_for_one_thing_at_one_terminal_for_two_minutes(kit: Kit) -> None:
    ann = Holder(kit)
    desk = ann.enrolled()
    # Made up, for something else, from another terminal, too old.
    assert_problem(ann.come(ann.authenticator.sign(ann.asked(), challenge="A" * 43)), 403, "sign_in_refused")
    assert_problem(ann.come(ann.own(desk)), 403, "sign_in_refused")
    asked = ann.asked()
    other = kit.office(Role.ADMIN).http.post("/api/v1/passkeys/challenge", json={"purpose": "own"})
    PasskeyChallenge.objects.filter(bound_to__startswith="own/").update(bound_to=passkeys.SIGN_IN)
    assert_problem(ann.come(ann.authenticator.sign(other.json())), 403, "sign_in_refused")
    for row in PasskeyChallenge.objects.filter(house=kit.house):
        PasskeyChallenge.objects.filter(digest=row.digest).update(expires_at=row.expires_at - timedelta(seconds=121))
    assert_problem(ann.come(ann.authenticator.sign(asked)), 403, "sign_in_refused")
    codes = [one["data"]["code"] for one in events(kit, "staff.sign_in_refused")]
    assert codes == ["passkey_challenge_refused"] * 4


def test_a_terminal_has_a_few_challenges_and_no_old_ones(kit: Kit) -> None:
    ann = Holder(kit)
    ann.desk()
    for _ in range(passkeys.MOST_OPEN + 3):
        ann.asked()
    assert PasskeyChallenge.objects.filter(house=kit.house).count() == passkeys.MOST_OPEN
    PasskeyChallenge.objects.update(expires_at=TerminalToken.objects.earliest("created").created)
    ann.asked()
    assert PasskeyChallenge.objects.filter(house=kit.house).count() == 1


def test_a_passkey_of_another_person_is_none(kit: Kit) -> None:
    ann, bea = Holder(kit), Holder(kit, "bea")
    ann.enrolled(), bea.enrolled()
    assert_problem(ann.come(bea.authenticator.sign(ann.asked())), 403, "sign_in_refused")
    assert_problem(ann.come(bea.authenticator.sign(ann.asked(), user=ann.authenticator.user)), 403, "sign_in_refused")
    assert_problem(bea.come(bea.authenticator.sign(ann.asked()), password="wrong"), 403, "sign_in_refused")
    assert ann.come().status_code == 201 and bea.come().status_code == 201


def test_a_count_that_goes_back_is_a_copy(kit: Kit) -> None:
    ann = Holder(kit)
    ann.enrolled()
    assert ann.come(ann.authenticator.sign(ann.asked(), count=7)).status_code == 201
    for count in (7, 3, 0):
        assert_problem(ann.come(ann.authenticator.sign(ann.asked(), count=count)), 403, "passkey_cloned")
    seen = [one["data"] for one in events(kit, "staff.passkey_clone_seen")]
    assert [(one["stored_count"], one["given_count"]) for one in seen] == [(7, 7), (7, 3), (7, 0)]
    assert events(kit, "staff.sign_in_refused")[-1]["data"]["code"] == "passkey_cloned"
    assert ann.come(ann.authenticator.sign(ann.asked(), count=8)).status_code == 201
    assert verify_house(kit.house).findings == []


def cloned(kit: Kit) -> list[str]:
    """The alarms of copies, which the metric counts."""
    found = [one.name for one in alarms.alarms(kit.house) if one.kind == "passkey_cloned"]
    [count] = [value for one, labels, value in state.read() if (one, labels[:1]) == (CLONED, (kit.house.code,))]
    assert count == len(found)
    return found


def clone_seen_at(kit: Kit, ann: Holder) -> str | None:
    """As the list of people has it."""
    [row] = kit.office(Role.ADMIN).get(f"staff?login={ann.login}").json()["results"]
    found: str | None = row["passkey_clone_seen_at"]
    return found


@pytest.mark.parametrize("ended_by", ["its person", "an administrator"])
def test_a_copy_is_an_alarm_until_the_passkey_goes(kit: Kit, ended_by: str) -> None:
    ann = Holder(kit)
    ann.enrolled()
    assert ann.come(ann.authenticator.sign(ann.asked(), count=7)).status_code == 201
    assert cloned(kit) == []
    assert_problem(ann.come(ann.authenticator.sign(ann.asked(), count=7)), 403, "passkey_cloned")
    assert cloned(kit) == [f"passkey of {ann.login}"]
    # The manager has it among the alarms, the administrator beside the person, with what to do.
    page = unescape(Browser.of(kit, Role.MANAGER).open("days").text)
    assert f"passkey of {ann.login}" in page.split('aria-label="Alarms"')[1].split("</section>")[0]
    assert clone_seen_at(kit, ann) is not None
    assert "Passkey clone seen at" in unescape(Browser.of(kit, Role.ADMIN).open("people").text)
    assert by_source(at_later(kit, 0))["passkey_cloned"] == ["staff.passkey_clone_seen: staff.passkey_clone_seen"]
    # The right one signs in as before: that the house has seen a copy does not lock its person out.
    assert ann.come(ann.authenticator.sign(ann.asked(), count=8)).status_code == 201
    assert cloned(kit) == [f"passkey of {ann.login}"]
    if ended_by == "its person":
        ann.authenticator.count = 20
        desk = Desk(kit.http(ann.come().json()["token"]), "/api/v1")
        body = {"password": PASSWORD, "passkey": ann.own(desk)}
        desk.ok(f"passkeys/{ann.authenticator.name}/remove", body)
    else:
        office = kit.office(Role.ADMIN)
        office.ok(f"staff/{ann.login}/second-factor/reset", {"reason": "a copy was seen"}, version=ann.row.version)
    assert cloned(kit) == [] and clone_seen_at(kit, ann) is None
    assert verify_house(kit.house).findings == []


def test_an_authenticator_need_not_count(kit: Kit) -> None:
    ann = Holder(kit)
    ann.enrolled()
    ann.authenticator.counts = False
    assert ann.come().status_code == 201 and ann.come().status_code == 201


def test_wrong_passkeys_lock_the_login(kit: Kit) -> None:
    ann = Holder(kit)
    ann.enrolled()
    for _ in range(5):
        assert_problem(ann.come(ann.authenticator.sign(ann.asked(), flags=PRESENT)), 403, "sign_in_refused")
    assert_problem(ann.come(), 429, "too_many_attempts")
    assert events(kit, "staff.locked_out")


def test_of_two_at_once_one_signs_in(kit: Kit) -> None:
    """The same answer twice; and two challenges that a copy has signed under the same count."""
    ann = Holder(kit)
    ann.enrolled()
    answer = ann.authenticator.sign(ann.asked())
    assert sorted(statuses(ann, answer, answer)) == [201, 403]
    copies = [ann.authenticator.sign(ann.asked(), count=9) for _ in range(2)]
    assert sorted(statuses(ann, *copies)) == [201, 403]
    assert len(events(kit, "staff.passkey_clone_seen")) == 1
    assert verify_house(kit.house).findings == []


def statuses(ann: Holder, *answers: dict[str, Any]) -> list[int]:
    """The statuses of sign-ins at the same moment."""
    return [found.status_code for found in at_once(*(partial(ann.come, answer) for answer in answers))]


def test_a_copy_is_seen_by_the_count_that_stands_now(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another signature may have counted since the row was read."""
    ann = Holder(kit)
    ann.enrolled()
    verified = passkeys._verified

    def overtaken(key: Passkey, *given: Any) -> int:
        count = verified(key, *given)
        Passkey.objects.filter(id=key.pk).update(sign_count=count)
        return count

    monkeypatch.setattr(passkeys, "_verified", overtaken)
    assert ann.come(ann.authenticator.sign(ann.asked(), count=9)).status_code == 403
    [seen] = events(kit, "staff.passkey_clone_seen")
    assert (seen["data"]["stored_count"], seen["data"]["given_count"]) == (9, 9)
    assert verify_house(kit.house).findings == []


def test_a_sign_in_counts_no_more_when_the_passkeys_have_changed(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    ann = Holder(kit)
    accepted = passkeys.accepted

    def late(*given: Any) -> str:
        found = accepted(*given)
        Staff.objects.filter(login=ann.login).update(passkey_count=2)
        return found

    ann.enrolled()
    monkeypatch.setattr(passkeys, "accepted", late)
    assert_problem(ann.come(), 403, "sign_in_refused")


# --- Registering and removing -----------------------------------------------------------------------------------------


NOT_TAKEN: dict[str, tuple[dict[str, Any], str]] = {
    "origin": ({"origin": "https://evil.example"}, "passkey_refused"),
    "host": ({"host": "evil.example"}, "passkey_refused"),
    "no user verification": ({"flags": PRESENT}, "passkey_refused"),
    "made up": ({"challenge": "A" * 43}, "passkey_challenge_refused"),
    "another page around it": ({"cross": True}, "passkey_refused"),
}


@pytest.mark.parametrize("wrong", NOT_TAKEN)
def test_a_wrong_passkey_is_not_registered(kit: Kit, wrong: str) -> None:
    ann = Holder(kit)
    desk = ann.desk()
    asked = ann.asks(desk).json()
    how, code = NOT_TAKEN[wrong]
    assert_problem(desk.post("passkeys", {"name": "key"} | Authenticator().make(asked, **how)), 403, code)
    assert not Passkey.objects.filter(staff=ann.row).exists() and ann.row.passkey_count == 0
    if code == "passkey_refused":  # the challenge is used up
        right = desk.post("passkeys", {"name": "key"} | Authenticator().make(asked))
        assert_problem(right, 403, "passkey_challenge_refused")


@pytest.mark.parametrize("attestation", ["e30", "oA", "_" * 40, "o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YUA"])
def test_an_attestation_that_is_none_is_refused(kit: Kit, attestation: str) -> None:
    ann = Holder(kit)
    desk = ann.desk()
    sent = Authenticator().make(ann.asks(desk).json()) | {"attestation": attestation, "name": "key"}
    assert_problem(desk.post("passkeys", sent), 403, "passkey_refused")


def test_a_passkey_is_begun_with_the_password_and_the_second_factor(kit: Kit) -> None:
    ann = Holder(kit)
    desk = ann.desk()
    assert_problem(ann.asks(desk, password="wrong password"), 403, "sign_in_refused")
    ann.register(desk)
    assert_problem(ann.asks(desk), 403, "sign_in_refused")
    first = ann.authenticator
    second = ann.register(desk, passkey=ann.own(desk))
    assert [one["passkey"] for one in desk.get("passkeys").json()["passkeys"]] == [first.name, second.name]
    # An app takes the passkey too.
    assert_problem(desk.post("second-factor", {"password": PASSWORD}), 403, "sign_in_refused")
    ann.secret = str(desk.ok("second-factor", {"password": PASSWORD, "passkey": ann.own(desk)})["secret"])
    # A code of an app that was not confirmed is none.
    assert_problem(ann.sign_in(ann.code()), 403, "sign_in_refused")
    desk.ok("second-factor/confirm", {"code": ann.code()})
    assert ann.sign_in(ann.code(1)).status_code == 201
    assert verify_house(kit.house).findings == []


def test_a_registration_is_answered_once_and_the_same_again(kit: Kit) -> None:
    ann = Holder(kit)
    desk = ann.desk()
    asked = ann.asks(desk).json()
    body = {"name": "key"} | Authenticator().make(asked)
    first = desk.post("passkeys", body, key="once")
    assert first.status_code == 201 and desk.post("passkeys", body, key="once").json() == first.json()
    assert_problem(desk.post("passkeys", body), 403, "passkey_challenge_refused")
    assert_problem(desk.post("passkeys", body | {"name": "  "}), 400, "invalid_request")
    assert ann.row.passkey_count == 1


def test_a_passkey_is_registered_by_one_person_and_so_many(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    ann, bea = Holder(kit), Holder(kit, "bea")
    ann.enrolled()
    desk = bea.desk()
    taken = desk.post("passkeys", {"name": "key"} | ann.authenticator.make(bea.asks(desk).json()))
    assert_problem(taken, 409, "passkey_exists")
    monkeypatch.setattr(registering, "MOST", 1)
    bea.register(desk)
    assert_problem(bea.asks(desk), 409, "too_many_passkeys")


def test_the_last_second_factor_stays_where_a_role_needs_one(strict: Kit) -> None:
    ann = Holder(strict)
    desk = ann.desk()
    assert_problem(desk.get("house"), 403, "second_factor_required")
    ann.register(desk)
    authentication._remembered.clear()
    assert desk.get("house").status_code == 200
    remove = f"passkeys/{ann.authenticator.name}/remove"
    left = desk.post(remove, {"password": PASSWORD, "passkey": ann.own(desk)})
    assert_problem(left, 409, "last_second_factor")
    assert ann.row.passkey_count == 1 and ann.come().status_code == 201
    first = ann.authenticator
    ann.register(desk, passkey=ann.own(desk))
    desk.ok(f"passkeys/{first.name}/remove", {"password": PASSWORD, "passkey": ann.own(desk)})
    assert_problem(desk.post(remove, {"password": PASSWORD, "passkey": ann.own(desk)}), 404, "not_found")
    assert verify_house(strict.house).findings == []


def test_who_needs_none_may_remove_the_last(strict: Kit) -> None:
    ann = Holder(strict, role=Role.DEALER)
    desk = ann.enrolled()
    desk.ok(f"passkeys/{ann.authenticator.name}/remove", {"password": PASSWORD, "passkey": ann.own(desk)})
    assert ann.sign_in().status_code == 201


def test_another_persons_passkey_is_not_removed(kit: Kit) -> None:
    ann, bea = Holder(kit), Holder(kit, "bea")
    ann.enrolled()
    desk = bea.enrolled()
    body = {"password": PASSWORD, "passkey": bea.own(desk)}
    assert_problem(desk.post(f"passkeys/{ann.authenticator.name}/remove", body), 404, "not_found")
    assert ann.come().status_code == 201


def test_the_office_takes_all_of_them_away(kit: Kit) -> None:
    ann = Holder(kit)
    desk = ann.enrolled()
    admin = kit.office(Role.ADMIN)
    reset = f"staff/{ann.login}/second-factor/reset"
    admin.ok(reset, {"reason": "lost the key"}, version=ann.row.version)
    assert desk.get("house").status_code == 401
    assert (ann.row.passkey_count, ann.row.passkeys.count()) == (0, 0)
    assert ann.sign_in().status_code == 201
    assert_problem(admin.post(reset, {"reason": "once more"}, version=ann.row.version), 409, "no_change")
    assert verify_house(kit.house).findings == []


def test_who_is_deactivated_and_comes_back_still_needs_the_passkey(kit: Kit) -> None:
    """As with an app: otherwise who activates a person could take the second factor away."""
    ann = Holder(kit)
    ann.enrolled()
    admin = kit.office(Role.ADMIN)
    admin.ok(f"staff/{ann.login}/deactivate", {"reason": "on leave"}, version=ann.row.version)
    assert_problem(ann.come(), 403, "sign_in_refused")
    admin.ok(f"staff/{ann.login}/activate", {"reason": "back again"}, version=ann.row.version)
    assert_problem(ann.sign_in(), 403, "sign_in_refused")
    assert ann.come().status_code == 201


def test_a_terminal_that_was_left_alone_takes_a_passkey(kit: Kit) -> None:
    ann = Holder(kit)
    desk = ann.enrolled()
    token = TerminalToken.objects.get(user=ann.row)
    TerminalToken.objects.filter(user=ann.row).update(last_seen_at=token.created - timedelta(days=1))
    authentication._remembered.clear()
    assert_problem(desk.get("house"), 403, "reauthentication_required")
    again = "/api/v1/reauthenticate"
    assert_problem(desk.http.post(again, json={"password": PASSWORD}), 403, "sign_in_refused")
    for_own = ann.own(desk)
    assert_problem(desk.http.post(again, json={"password": PASSWORD, "passkey": for_own}), 403, "sign_in_refused")
    right = ann.own(desk, "reauthenticate")
    assert renewed(desk, {"password": PASSWORD, "passkey": right}).status_code == 200
    assert desk.get("house").status_code == 200
    assert events(kit, "staff.reauthenticated")[-1]["data"]["passkey_sha256"] == ann.authenticator.name
    assert verify_house(kit.house).findings == []


# --- Where ------------------------------------------------------------------------------------------------------------


def test_host_and_origins_are_those_of_the_settings(kit: Kit) -> None:
    ann = Holder(kit)
    desk = ann.desk()
    with override_settings(CASINO_PASSKEY_HOST="house.example", CASINO_PASSKEY_ORIGINS=("https://cage.house.example",)):
        asked = ann.asks(desk).json()
        assert asked["host"] == "house.example"
        sent = {"name": "key"} | ann.authenticator.make(asked, origin="https://cage.house.example")
        desk.ok("passkeys", sent)
        assert_problem(ann.come(), 403, "sign_in_refused")
        right = ann.authenticator.sign(ann.asked(), origin="https://cage.house.example")
        assert ann.come(right).status_code == 201
    # At another host it is not taken.
    wrong = ann.authenticator.sign(ann.asked(), host="house.example")
    assert_problem(ann.come(wrong), 403, "sign_in_refused")


def test_nothing_of_a_passkey_but_its_hashes_is_in_the_trail(kit: Kit) -> None:
    ann = Holder(kit)
    ann.enrolled()
    ann.come()
    for payload in Event.objects.filter(house=kit.house).values_list("payload", flat=True):
        assert ann.authenticator.credential not in payload and "signature" not in json.loads(payload)["data"]


ALTERED = {
    "name": ("other", []), "sign_count": (7, []), "public_key": (b"other", ["state_differs"]),
    "credential_id": ("b3RoZXI", ["state_extra", "state_missing"]),
}  # fmt: skip


@pytest.mark.parametrize("column", ALTERED)
def test_a_passkey_that_was_altered_past_the_house_is_found(kit: Kit, column: str) -> None:
    Holder(kit).enrolled()
    value, found = ALTERED[column]
    Passkey.objects.filter(house=kit.house).update(**{column: value})
    assert sorted(one.code for one in verify_house(kit.house).findings) == found


def test_a_passkey_that_was_deleted_past_the_house_is_found(kit: Kit) -> None:
    ann, bea = Holder(kit), Holder(kit, "bea")
    ann.enrolled(), bea.enrolled()
    Passkey.objects.filter(staff=ann.row).delete()
    Passkey.objects.filter(staff=bea.row).update(staff=ann.row)
    assert sorted(one.code for one in verify_house(kit.house).findings) == ["state_differs", "state_missing"]


def test_a_terminal_that_no_house_knows_gets_no_challenge(kit: Kit) -> None:
    ann = Holder(kit)
    answer = kit.http(None).post("/api/v1/sign-in/challenge", json={"terminal": TERMINAL, "terminal_key": "no"})
    assert_problem(answer, 403, "sign_in_refused")
    assert ann.asked()["challenge"]
