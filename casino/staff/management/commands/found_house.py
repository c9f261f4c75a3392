"""`manage.py found_house CODE --name NAME --currency HUF --admin LOGIN --admin LOGIN --auditor LOGIN`: a house with its
first people.

Two at least, since what takes two people takes two whom nobody has hired both, each with a password that nobody else
knows. Two administrators, since a person who approves has the password from another one than the person who asks.
Everybody else is hired by an administrator, through the API, at the office terminal that is enrolled here.
"""

import getpass
import re
import sys
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from casino.audit.founding import found_house
from casino.audit.services import Actor
from casino.core.errors import HouseError
from casino.houses.cli_arguments import UNUSABLE
from casino.houses.models import House
from casino.staff.models import CODE, LOGIN, Role, TerminalKind
from casino.staff.services import enrol_terminal, hire

COMMAND = "found_house"
FORMS = {"code": CODE, "currency": r"^[A-Z]{3}\Z", "auditor": LOGIN, "terminal": CODE}


class Command(BaseCommand):
    """Found a house."""

    help = (
        "Found a house, hire its first administrators and its auditor and enrol the terminal in the office, in one "
        "transaction. Each types a password, or all stand on standard input, a line each, administrators first; "
        "the terminal's key is printed once and kept nowhere."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """The house, and who begins to run it."""
        parser.add_argument("code", help="names the house for ever: letters, digits, - and _, at most 32")
        parser.add_argument("--name", required=True)
        parser.add_argument("--currency", required=True, help="ISO 4217; every amount is in its minor unit")
        parser.add_argument(
            "--exponent", type=int, default=0, choices=range(4), help="decimal places of the currency in amounts (0)"
        )
        parser.add_argument("--time-zone", default="UTC", metavar="NAME", help="IANA: Europe/Budapest (UTC)")
        parser.add_argument(
            "--admin", required=True, action="append", metavar="LOGIN",
            help="unique in the house: anna@house; named twice, so that those who approve are hired by the second one",
        )  # fmt: skip
        parser.add_argument("--auditor", required=True, metavar="LOGIN", help="who signs with an administrator")
        parser.add_argument(
            "--no-second-factor", action="store_true", help="a password is enough for everybody: for rehearsals only"
        )
        parser.add_argument(
            "--sandbox", action="store_true", help="for tests: it plays at once, never goes live and can be reset"
        )
        parser.add_argument("--terminal", default="office-1", metavar="CODE", help="of the terminal in the office")

    def handle(self, *args: Any, **options: Any) -> None:
        """Check, ask, found. Raises CommandError with what was refused; then there is no such house."""
        given = [*((name, pattern, options[name]) for name, pattern in FORMS.items())]
        given += [("admin", LOGIN, login) for login in options["admin"]]
        for name, pattern, value in given:
            if not re.match(pattern, value):
                raise CommandError(f"{value!r} does not fit {pattern} ({name}).", returncode=UNUSABLE)
        logins = [*options["admin"], options["auditor"]]
        if len({login.lower() for login in logins}) < len(logins):
            raise CommandError(
                "Administrators and auditor must be two people or more, each with a login.", returncode=UNUSABLE
            )
        if House.objects.filter(code=options["code"]).exists():
            raise CommandError(f"A house {options['code']} already exists. [house_exists]")
        roles = [*((login, Role.ADMIN) for login in options["admin"]), (options["auditor"], Role.AUDITOR)]
        people = [(login, role, _password(login)) for login, role in roles]
        actor = Actor.operator(COMMAND)
        try:
            with transaction.atomic():
                house = found_house(
                    code=options["code"],
                    name=options["name"],
                    currency=options["currency"],
                    currency_exponent=options["exponent"],
                    time_zone=options["time_zone"],
                    actor=actor,
                    second_factor_required=not options["no_second_factor"],
                    sandbox=options["sandbox"],
                )
                for login, role, password in people:
                    hire(house=house, login=login, name=login, roles=[role], password=password, actor=actor)
                terminal, key = enrol_terminal(
                    house=house, code=options["terminal"], kind=TerminalKind.OFFICE, location="", actor=actor
                )
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        except HouseError as error:
            raise CommandError(f"{error.detail} [{error.code}]") from error
        everybody = " and ".join(logins)
        self.stdout.write(f"House {house.code} is founded. {everybody} sign in at {terminal.code} with the key {key}")


def _password(login: str) -> str:
    """Asked for twice at a keyboard, else one line. Raises CommandError."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    password = getpass.getpass(f"Password of {login}: ")
    if getpass.getpass("Again: ") != password:
        raise CommandError("The two passwords are not the same.", returncode=UNUSABLE)
    return password
