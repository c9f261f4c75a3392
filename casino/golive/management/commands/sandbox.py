"""`manage.py sandbox CODE`: a copy of a house in which programs are tried; `--reset` replaces it by a clean one."""

from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from casino.audit.services import Actor
from casino.core.errors import HouseError
from casino.golive import sandboxes
from casino.houses.cli_arguments import house_named

COMMAND = "sandbox"


class Command(BaseCommand):
    """Make or replace a sandbox."""

    help = (
        "Found a sandbox copy of a house, CODE-S1, CODE-S2 ..., in which one person of each role can sign in with a "
        "password alone. Passwords and keys of terminals are printed once and kept nowhere."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Which house, and whether the sandbox that it has is replaced."""
        parser.add_argument("house", help="its code")
        parser.add_argument("--reset", action="store_true", help="close the one that there is, and make the next")

    def handle(self, *args: Any, house: str, reset: bool = False, **options: Any) -> None:
        """Make it, print the ways in. Raises CommandError."""
        try:
            made = sandboxes.make(house_named(house), Actor.operator(COMMAND), reset=reset)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        except HouseError as error:
            raise CommandError(f"{error.detail} [{error.code}]") from error
        if made.replaced:
            self.stdout.write(f"{made.replaced} is closed.")
        self.stdout.write(f"Sandbox {made.house.code} is founded.")
        for login, password in made.passwords.items():
            self.stdout.write(f"login {login} password {password}")
        for terminal, key in made.keys.items():
            self.stdout.write(f"terminal {terminal} key {key}")
