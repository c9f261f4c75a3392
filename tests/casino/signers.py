"""Two people who sign together: an administrator and an auditor."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from casino.audit.services import Actor
from casino.staff.models import Role, Staff
from casino.staff.services import hire
from tests.casino.kit import ACTOR, Kit

PASSWORD = "seven-of-acorns-19"
#: The actor and the approver of what they do together.
TWO, APPROVER = Actor(staff="alma", role="admin", terminal="", request="two people"), "bea"
#: What they type.
LINES = ("alma", PASSWORD, "bea", PASSWORD)


def two_people(kit: Kit) -> None:
    """Hire them, once."""
    for login, role in (("alma", Role.ADMIN), ("bea", Role.AUDITOR)):
        if not Staff.objects.filter(house=kit.house, login=login).exists():
            hire(house=kit.house, login=login, name=login, roles=[role], password=PASSWORD, actor=ACTOR)


@contextmanager
def typed(*lines: str) -> Iterator[None]:
    """Standard input has these lines, those of the two people where none are given."""
    with patch("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines or LINES))):
        yield
