"""Two people who sign what a management command does to the keys or the log of their house."""

from collections.abc import Iterator
from contextlib import contextmanager

from casino.audit import guard
from casino.audit.services import Actor
from casino.houses.models import House
from casino.staff.credentials import ask_for_two, refusals_recorded, role_for, two_people
from casino.staff.models import Role

ROLES = (Role.AUDITOR, Role.ADMIN)
ONE_OF_THEM = (Role.AUDITOR,)


@contextmanager
def two_signers(house: House, command: str) -> Iterator[tuple[Actor, str]]:
    """An auditor and another auditor or administrator of the house, asked for their passwords: the first person as the
    actor of an event, and the login of the second as its approver. What is refused inside is recorded.

    Use it outside a transaction. Raises what `ask_for_two` and `two_people` refuse: BadRequest; Forbidden `four_eyes`,
    `forbidden`, `sign_in_refused`, `password_change_required`; TooManyAttempts.
    """
    first, second = ask_for_two()
    one, other = two_people(
        house=house,
        first=first,
        second=second,
        roles=ROLES,
        one_of_them=ONE_OF_THEM,
        request_id=command,
        subject=house.code,
        # A refused password is not recorded where the house may write no event until the two have signed.
        recorded=guard.refusal(house) is None,
    )
    actor = Actor(staff=one.login, role=role_for(one, ROLES), terminal="", request=command)
    with refusals_recorded(house=house, signer=one, request_id=command, subject=house.code):
        yield actor, other.login
