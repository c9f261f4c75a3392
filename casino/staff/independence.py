"""Who may sign for what another person has done: somebody else, and nobody who hired that person or gave them a
password, nor the other way round. One check for every approval and for every signature that stands for one: the second
count, the witness, the receipt, the sign-off."""

from collections.abc import Collection, Iterable

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
        if _is_above(by, person):
            raise Forbidden(
                f"{by.login} hired {person.login}, or gave them a password; another person must do this.",
                code="four_eyes",
                giver=by.login,
            )


def in_both_lines(one: Staff, other: Staff) -> set[str]:
    """Who may know the passwords of both: logins, and what set the house up."""
    return {one.login, *one.password_givers} & {other.login, *other.password_givers}


def are_independent(one: Staff, other: Staff, logins: Collection[str]) -> bool:
    """Whether one of the two may approve what the other asks for, or approve it beside the other. `logins`: of every
    member of staff that the house ever had; what set it up is none of them."""
    if one.pk == other.pk or _is_above(one, other) or _is_above(other, one):
        return False
    return in_both_lines(one, other).isdisjoint(logins)


def _is_above(one: Staff, other: Staff) -> bool:
    """Whether one hired the other, or is in the line of those who gave the other a password."""
    return one.login in (other.hired_by, *other.password_givers)
