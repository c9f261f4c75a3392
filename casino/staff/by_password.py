"""Changes of one's own sign-in: each takes the password once more, and some a second factor where there is one."""

from collections.abc import Callable
from typing import NoReturn

from django.http import HttpRequest

from casino.core import locks, write
from casino.core.commands import Answer, Command
from casino.core.errors import Forbidden
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.houses.models import House
from casino.staff import second_factor
from casino.staff.credentials import REFUSED_CODE, SIGN_IN_REFUSED, Credentials, check, is_right
from casino.staff.models import Staff


class _Wrong(Exception):
    """The password or the second factor was not right, or the login is locked."""


def change_own(
    command: Command, given: Credentials, request: HttpRequest, change: Callable[[House, Staff], Outcome],
    first: Callable[[Staff], object] = lambda staff: None,
) -> Answer:  # fmt: skip
    """Change one's own row, locked, in exchange for the password. Raises what `first` refuses, Forbidden
    sign_in_refused for a wrong password, or while the login is locked, which is counted and recorded as at signing in,
    TooManyAttempts, and what `change` refuses."""

    def checked(house: House, work: Work) -> Outcome:
        staff = locks.lock(Staff, locks.Rank.STAFF, house=house, login=given.login)
        staff.house = house
        first(staff)
        if not (is_right(staff, given, request) and staff.is_active):
            raise _Wrong
        return change(house, staff)

    try:
        return write.write(command, OfHouse(lock=locks.lock_roster), checked)
    except _Wrong:
        _refuse(command, given, request)


def require_second_factor(staff: Staff, given: Credentials, terminal: str, request: HttpRequest) -> None:
    """Use up the code or passkey that was given, inside `change_own`, where the person has a second factor; what is
    wrong with it is refused, counted and recorded as a wrong password."""
    try:
        second_factor.use(staff, given.factor(terminal), request)
    except Forbidden:
        raise _Wrong from None


def _refuse(command: Command, given: Credentials, request: HttpRequest) -> NoReturn:
    """Count and record what is wrong, outside the transaction, so that this stays. Raises Forbidden sign_in_refused,
    TooManyAttempts, PasskeyCloned."""
    terminal, request_id = command.context.terminal.code, command.context.request_id
    check(house=command.context.house, given=given, request=request, terminal=terminal, request_id=request_id)
    raise Forbidden(SIGN_IN_REFUSED, code=REFUSED_CODE)  # it became right a moment later
