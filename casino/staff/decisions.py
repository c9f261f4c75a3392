"""A code or a passkey of the second factor with a decision: who approves shows, at that moment, to be the person who
signed in."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.http import HttpRequest

from casino.audit.services import Actor, record
from casino.core import locks
from casino.core.errors import Forbidden
from casino.staff import limits, passkeys, second_factor
from casino.staff.credentials import cloned
from casino.staff.models import Role, Staff
from casino.staff.passkeys import Assertion, PasskeyCloned, PasskeyRefused


@dataclass(frozen=True, slots=True)
class Shown:
    """What was shown with a decision: a code, or the passkey that the trail calls so; neither where none was due."""

    factor: bool = False
    passkey: str = ""


@dataclass(frozen=True, slots=True)
class WithCode:
    """What was sent with a decision: the code, empty without one; whether the house asks people with privileged roles
    for a second factor; the request, whose address failures are counted by; the answer of a passkey, if there is one;
    who acts at which terminal."""

    code: str
    asked_for: bool
    request: HttpRequest
    passkey: Assertion | None
    actor: Actor

    def use(self, staff: Staff, role: Role, bound_to: str) -> Shown:
        """Use the code up, or the passkey's challenge, which must be for this (`bound_to`), in the caller's
        transaction; says what was shown. One is due where the house asks for it and the role is privileged. Raises
        Forbidden second_factor_required, code_required, and code_refused for a wrong code, or one that was used;
        PasskeyRefused."""
        due = self.asked_for and role in second_factor.ROLES
        second_factor.require(staff, due)
        given = second_factor.Given(self.code, self.passkey, self.actor.terminal, bound_to)
        if not staff.has_second_factor or (given.is_empty and not due):
            return Shown()
        if given.is_empty:
            raise Forbidden(
                "Give the code that your app shows now (`code`), or show a passkey (`passkey`).", code="code_required"
            )
        return Shown(True, second_factor.use(staff, given, self.request))

    @contextmanager
    def counted(self, staff: Staff) -> Iterator[None]:
        """Inside, outside a transaction, a refused code or passkey counts as a wrong password does; the challenge of
        the passkey is used up, and a copy of it is recorded. Raises TooManyAttempts while the login is locked from this
        address."""
        if self.code or self.passkey is not None:
            limits.require_open(self.request, staff.get_username())
        try:
            yield
        except Forbidden as error:
            if error.code == "code_refused" or isinstance(error, PasskeyRefused):
                limits.count_failure(self.request, staff.get_username())
                if self.passkey is not None:
                    passkeys.forget(staff.house_id, self.passkey.client_data)
            if isinstance(error, PasskeyCloned):
                house, event, name = staff.house, cloned(error), error.passkey

                def seen() -> None:
                    passkeys.note_clone(house, staff.login, name)
                    record(chain=house.chain, house=house, actor=self.actor, event=event)

                locks.in_transaction(seen)
            raise
