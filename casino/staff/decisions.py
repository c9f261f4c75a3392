"""A code of the second factor with a decision: who approves shows, at that moment, to be the person who signed in."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.http import HttpRequest

from casino.core.errors import Forbidden
from casino.staff import limits, second_factor
from casino.staff.models import Role, Staff


@dataclass(frozen=True, slots=True)
class WithCode:
    """What was sent with a decision: the code, empty without one; whether the house asks people with privileged roles
    for a second factor; the request, whose address failures are counted by."""

    code: str
    asked_for: bool
    request: HttpRequest

    def use(self, staff: Staff, role: Role) -> bool:
        """Use the code up, in the caller's transaction; says whether one was. One is due where the house asks for it
        and the role is privileged. Raises Forbidden second_factor_required, code_required, and code_refused for a wrong
        code, or one that was used."""
        due = self.asked_for and role in second_factor.ROLES
        second_factor.require(staff, due)
        if staff.totp_since is None or not (due or self.code):
            return False
        if not self.code:
            raise Forbidden("Give the code that your app shows now (`code`).", code="code_required")
        step = second_factor.matching_step(staff, self.code)
        if step is None or not second_factor.used_now(staff, step):
            raise Forbidden("The code is wrong, too old, or was used before.", code="code_refused")
        return True

    @contextmanager
    def counted(self, staff: Staff) -> Iterator[None]:
        """Inside, outside a transaction, a refused code counts as a wrong password does. Raises TooManyAttempts while
        the login is locked from this address."""
        if self.code:
            limits.require_open(self.request, staff.get_username())
        try:
            yield
        except Forbidden as error:
            if error.code == "code_refused":
                limits.count_failure(self.request, staff.get_username())
            raise
