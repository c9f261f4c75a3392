"""PINs: a dealer goes on at the table without the password; nothing else is got by one."""

import pytest

from casino.staff.models import Role, Staff, TerminalKind, TerminalToken
from casino.verification import auditing
from tests.casino.kit import Desk, Kit
from tests.casino.scene import assert_problem, last_event, recorded_since
from tests.casino.staff.test_idleness import LIMITS, PASSWORD, again, change, left_alone, renewed, signed_in

PIN = "2580"


def with_pin(kit: Kit, kind: TerminalKind = TerminalKind.TABLE) -> tuple[Desk, TerminalToken]:
    """Somebody with a PIN, at such a terminal that was left alone."""
    kit.table("T1")
    desk, token = signed_in(kit, kind)
    desk.ok("pin", {"password": PASSWORD, "pin": PIN})
    left_alone(token, LIMITS[kind] + 1)
    return desk, token


def by_pin(desk: Desk, pin: str = PIN):  # type: ignore[no-untyped-def]
    """The answer to giving a PIN."""
    return renewed(desk, {"pin": pin})


def test_a_dealer_goes_on_by_the_pin(kit: Kit) -> None:
    desk, token = with_pin(kit)
    assert desk.get("session").json() | {"must": "password", "takes_pin": True} == desk.get("session").json()
    last = last_event()
    assert by_pin(desk).status_code == 200
    [event] = recorded_since(last)
    assert (event["kind"], event["data"]["by_pin"]) == ("staff.reauthenticated", True)
    session = desk.get("session").json()
    assert (session["must"], session["takes_pin"]) == ("", False)
    assert desk.get("house").status_code == 200
    assert PIN not in Staff.objects.get(id=token.user_id).pin
    assert auditing.verify_house(kit.house).findings == []


def test_after_three_wrong_pins_only_the_password_wakes_the_terminal(kit: Kit) -> None:
    desk, token = with_pin(kit)
    last = last_event()
    for left in (2, 1, 0):
        assert assert_problem(by_pin(desk, "9999"), 403, "pin_wrong")["tries_left"] == left
    assert_problem(by_pin(desk), 403, "pin_not_taken")
    assert desk.get("session").json()["takes_pin"] is False
    refused = [event["data"]["code"] for event in recorded_since(last) if event["kind"] == "staff.sign_in_refused"]
    assert refused == ["pin_wrong"] * 3
    assert again(desk).status_code == 200
    left_alone(token, 901)
    assert by_pin(desk).status_code == 200
    assert auditing.verify_house(kit.house).findings == []


def test_a_right_pin_forgets_wrong_ones_before_it(kit: Kit) -> None:
    desk, token = with_pin(kit)
    for _ in range(2):
        assert_problem(by_pin(desk, "9999"), 403, "pin_wrong")
        assert_problem(by_pin(desk, "9998"), 403, "pin_wrong")
        assert by_pin(desk).status_code == 200
        left_alone(token, 901)


def test_a_house_says_how_many_wrong_pins_and_none_at_all(kit: Kit) -> None:
    desk, _ = with_pin(kit)
    change(kit, {"pin_tries": 1})
    assert_problem(by_pin(desk, "9999"), 403, "pin_wrong")
    assert_problem(by_pin(desk), 403, "pin_not_taken")
    change(kit, {"pin_tries": 0})
    assert again(desk).status_code == 200
    assert_problem(by_pin(desk), 403, "pin_not_taken")


@pytest.mark.parametrize("kind", [TerminalKind.CAGE, TerminalKind.OFFICE])
def test_a_pin_is_for_tables(kit: Kit, kind: TerminalKind) -> None:
    kit.table("T1")
    context, token = kit.hire(Role.FLOOR if kind == TerminalKind.OFFICE else Role.CASHIER, kind,
                              "C1" if kind == TerminalKind.CAGE else "", noted=False)  # fmt: skip
    context.staff.set_password(PASSWORD)
    context.staff.save()
    row = TerminalToken.objects.get(user=context.staff)
    kit._note_hired(context.staff, context.terminal, row)
    desk = Desk(kit.http(token), "/api/v1")
    desk.ok("pin", {"password": PASSWORD, "pin": PIN})
    left_alone(row, 901)
    assert desk.get("session").json()["takes_pin"] is False
    assert_problem(by_pin(desk), 403, "pin_not_taken")


@pytest.mark.parametrize("role", [Role.MANAGER, Role.AUDITOR, Role.ADMIN, Role.CAGE_SUPERVISOR, Role.COMPLIANCE])
def test_who_approves_or_judges_has_none(kit: Kit, role: Role) -> None:
    desk, token = with_pin(kit)
    Staff.objects.filter(id=token.user_id).update(roles=[role])
    assert_problem(by_pin(desk), 403, "pin_not_taken")


def test_a_pin_is_chosen_with_the_password_and_is_not_simple(kit: Kit) -> None:
    desk, token = signed_in(kit, TerminalKind.OFFICE)
    assert_problem(desk.post("pin", {"password": PASSWORD, "pin": PIN}), 403, "pin_not_taken")
    Staff.objects.filter(id=token.user_id).update(roles=[Role.FLOOR])
    for simple in ("1111", "1234", "987654"):
        assert_problem(desk.post("pin", {"password": PASSWORD, "pin": simple}), 400, "pin_too_simple")
    for wrong in ("123", "123456789", "12a4", ""):
        assert_problem(desk.post("pin", {"password": PASSWORD, "pin": wrong}), 400, "invalid_request")
    assert_problem(desk.post("pin", {"password": "not this one", "pin": PIN}), 403, "sign_in_refused")
    assert_problem(desk.post("pin", {"password": PASSWORD, "pin": None}), 409, "no_change")
    assert Staff.objects.get(id=token.user_id).pin is None
    assert_problem(desk.http.post("/api/v1/reauthenticate", json={}), 400, "invalid_request")
    both = {"pin": PIN, "password": PASSWORD}
    assert_problem(desk.http.post("/api/v1/reauthenticate", json=both), 400, "invalid_request")


def test_a_pin_is_taken_away(kit: Kit) -> None:
    desk, token = with_pin(kit)
    assert by_pin(desk).status_code == 200
    last = last_event()
    desk.ok("pin", {"password": PASSWORD, "pin": None})
    assert [event["kind"] for event in recorded_since(last)] == ["staff.pin_set"]
    left_alone(token, 901)
    assert_problem(by_pin(desk), 403, "pin_not_taken")
    assert auditing.verify_house(kit.house).findings == []


def test_a_password_from_the_office_ends_the_pin(kit: Kit) -> None:
    _, token = with_pin(kit)
    person = Staff.objects.get(id=token.user_id)
    body = {"password": "nine-of-bells-51", "reason": "forgotten"}
    kit.office(Role.ADMIN).ok(f"staff/{person.login}/password", body, version=person.version)
    person.refresh_from_db()
    assert person.pin is None
    assert auditing.verify_house(kit.house).findings == []


def test_a_pin_that_no_event_has_is_found(kit: Kit) -> None:
    _, token = with_pin(kit)
    Staff.objects.filter(id=token.user_id).update(pin="another hash")
    assert [finding.code for finding in auditing.verify_house(kit.house).findings] == ["state_differs"]
