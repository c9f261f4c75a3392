"""Two people who sign together: two passwords, two persons, the right roles, and the same lock as at signing in."""

import io
import json
from typing import Any

import pytest
from axes.models import AccessAttempt

from casino.audit.models import Event
from casino.core.errors import BadRequest, Forbidden, HouseError, TooManyAttempts
from casino.staff.credentials import Credentials, ask_for_two, two_people
from casino.staff.models import Role, Staff, full_name
from casino.staff.services import hire
from tests.casino.kit import ACTOR, Kit

PASSWORDS = {"ann": "seven-of-acorns-19", "bea": "eight-of-leaves-23", "cia": "ober-of-hearts-31"}
OFFICE = (Role.ADMIN, Role.AUDITOR)


@pytest.fixture
def people(kit: Kit) -> dict[str, Credentials]:
    """An admin, an auditor and a dealer with their passwords."""
    roles = {"ann": Role.ADMIN, "bea": Role.AUDITOR, "cia": Role.DEALER}
    for name, role in roles.items():
        login = f"{name}@{kit.house.code}"
        hire(house=kit.house, login=login, name=name, roles=[role], password=PASSWORDS[name], actor=ACTOR)
    return {name: Credentials(f"{name}@{kit.house.code}", PASSWORDS[name]) for name in roles}


def recorded(kit: Kit) -> list[tuple[str, str, str | None]]:
    """Kind, actor and code of what the house's chain says about refused passwords."""
    payloads = Event.objects.filter(chain__house=kit.house).order_by("id").values_list("payload", flat=True)
    events: list[dict[str, Any]] = [json.loads(payload) for payload in payloads]
    kinds = ("staff.sign_in_refused", "staff.locked_out")
    return [(event["kind"], event["actor"], event["data"].get("code")) for event in events if event["kind"] in kinds]


def sign(kit: Kit, first: Credentials, second: Credentials, **options: Any) -> tuple[Staff, Staff]:
    """Both sign, for the office unless said otherwise."""
    return two_people(house=kit.house, first=first, second=second, **{"roles": OFFICE} | options)


def wrong(person: Credentials) -> Credentials:
    """The person with another password."""
    return Credentials(person.login, "not-the-password-1")


def test_two_people_sign_in_the_order_named(kit: Kit, people: dict[str, Credentials]) -> None:
    found = sign(kit, people["bea"], people["ann"], one_of_them=[Role.AUDITOR])
    assert [staff.login for staff in found] == [people["bea"].login, people["ann"].login]
    assert all(staff.last_login is not None for staff in Staff.objects.filter(id__in=[staff.id for staff in found]))
    assert recorded(kit) == []


def test_one_person_does_not_sign_twice(kit: Kit, people: dict[str, Credentials]) -> None:
    with pytest.raises(Forbidden) as caught:
        sign(kit, people["ann"], people["ann"])
    assert caught.value.code == "four_eyes"


@pytest.mark.parametrize("first", [True, False], ids=["first", "second"])
def test_both_passwords_count(kit: Kit, people: dict[str, Credentials], first: bool) -> None:
    pair = (wrong(people["ann"]), people["bea"]) if first else (people["bea"], wrong(people["ann"]))
    with pytest.raises(Forbidden) as caught:
        sign(kit, *pair)
    assert caught.value.code == "sign_in_refused"
    assert recorded(kit) == [("staff.sign_in_refused", people["ann"].login, "sign_in_refused")]


def test_who_is_not_of_this_house_or_gone_does_not_sign(kit: Kit, people: dict[str, Credentials]) -> None:
    other = Kit.found()
    stranger = f"ann@{other.house.code}"
    hire(house=other.house, login=stranger, name="x", roles=[Role.ADMIN], password=PASSWORDS["ann"], actor=ACTOR)
    Staff.objects.filter(login=people["ann"].login).update(is_active=False)
    for person in (Credentials(stranger, PASSWORDS["ann"]), people["ann"]):
        with pytest.raises(Forbidden) as caught:
            sign(kit, people["bea"], person)
        assert caught.value.code == "sign_in_refused"
    # What was typed as a login is recorded only if it is one of this house.
    assert [actor for _, actor, _ in recorded(kit)] == ["unknown", people["ann"].login]


def test_roles_of_both_and_of_one(kit: Kit, people: dict[str, Credentials]) -> None:
    with pytest.raises(Forbidden) as caught:
        sign(kit, people["ann"], people["cia"])
    assert caught.value.extra["allowed_roles"] == list(OFFICE)
    with pytest.raises(Forbidden) as caught:
        sign(kit, people["ann"], people["cia"], roles=list(Role), one_of_them=[Role.AUDITOR])
    assert caught.value.extra["allowed_roles"] == [Role.AUDITOR]


def test_after_five_failures_the_right_password_has_to_wait_too(kit: Kit, people: dict[str, Credentials]) -> None:
    for _ in range(5):
        with pytest.raises(Forbidden):
            sign(kit, people["bea"], wrong(people["ann"]))
    with pytest.raises(TooManyAttempts):
        sign(kit, people["bea"], people["ann"])
    ann = people["ann"].login
    assert recorded(kit) == [
        *[("staff.sign_in_refused", ann, "sign_in_refused")] * 5,
        ("staff.locked_out", ann, None),
        ("staff.sign_in_refused", ann, "too_many_attempts"),
    ]
    AccessAttempt.objects.filter(username=full_name(kit.house, ann)).delete()
    assert sign(kit, people["bea"], people["ann"])[1].login == ann


def test_a_house_that_may_write_no_events_is_not_recorded(kit: Kit, people: dict[str, Credentials]) -> None:
    with pytest.raises(Forbidden):
        sign(kit, wrong(people["ann"]), people["bea"], recorded=False)
    assert recorded(kit) == []
    AccessAttempt.objects.filter(username=full_name(kit.house, people["ann"].login)).delete()


def test_a_command_reads_four_lines(capsys: pytest.CaptureFixture[str]) -> None:
    first, second = ask_for_two(io.StringIO("a@h\nsecret one\nb@h\nsecret two\n"))
    assert (first, second) == (Credentials("a@h", "secret one"), Credentials("b@h", "secret two"))
    assert "secret" not in repr(first) + "".join(capsys.readouterr())


@pytest.mark.parametrize("text", ["", "a@h\n", "a@h\nsecret\nb@h\n", "a@h\n\nb@h\nsecret\n"])
def test_a_command_refuses_fewer(text: str) -> None:
    with pytest.raises(BadRequest) as caught:
        ask_for_two(io.StringIO(text))
    assert isinstance(caught.value, HouseError)
