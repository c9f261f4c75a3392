"""What management commands are given, houses by their codes and reasons: one message and one exit code for what cannot
be used."""

from django.core.management.base import CommandError

from casino.houses.models import House

#: Exit code of a command that was given what it cannot use.
UNUSABLE = 2
#: Characters of a reason, which the audit trail keeps for ever.
REASON = range(3, 201)


def house_named(code: str) -> House:
    """The house with this code. Raises CommandError, exit code 2."""
    return houses_named(code)[0]


def houses_named(code: str | None) -> list[House]:
    """The house with this code, or all houses by their codes where none is named. Raises CommandError, exit code 2."""
    houses = House.objects.order_by("code")
    found = list(houses if code is None else houses.filter(code=code))
    if not found:
        raise CommandError(
            "There is no house yet." if code is None else f"There is no house {code}.", returncode=UNUSABLE
        )
    return found


def reason_of(text: str) -> str:
    """A reason, without blanks around it. Raises CommandError, exit code 2."""
    reason = text.strip()
    if len(reason) not in REASON:
        raise CommandError(f"A reason has {REASON[0]} to {REASON[-1]} characters.", returncode=UNUSABLE)
    return reason
