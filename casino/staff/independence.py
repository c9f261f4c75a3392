"""Who may sign for what another person has done: somebody else, and nobody who hired that person or gave them a
password, nor the other way round. One check for every approval and for every signature that stands for one: the second
count, the witness, the receipt, the sign-off."""

from collections.abc import Iterable

from casino.core.errors import Forbidden
from casino.staff.models import Staff


def require_another(staff: Staff, what: str, before: Iterable[Staff | None]) -> None:
    """Refuse a person who has signed before, or depends on one who has. Raises Forbidden four_eyes."""
    signed = [person for person in before if person is not None]
    if staff.pk in {person.pk for person in signed}:
        raise Forbidden(f"You {what} yourself; a second person must do this.", code="four_eyes")
    for person in signed:
        require_apart(person, staff)


def require_apart(one: Staff, other: Staff) -> None:
    """Refuse two people of whom one hired the other, or is in the line of those who gave the other a password. Raises
    Forbidden four_eyes."""
    for person, by in ((one, other), (other, one)):
        if by.login in (person.hired_by, *person.password_givers):
            raise Forbidden(
                f"{by.login} hired {person.login}, or gave them a password; another person must do this.",
                code="four_eyes",
                giver=by.login,
            )
