"""`manage.py migrate`: Django's, which waits briefly for locks and tries again (`casino/core/migrating.py`)."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.core.management.commands import migrate
from django.db import connections

from casino.core import migrating


class Command(migrate.Command):
    """Bring the database to the schema of this version, while a house plays."""

    help = "Bring the database to the schema of this version; play goes on meanwhile."

    def add_arguments(self, parser: CommandParser) -> None:
        """Django's, and how long to wait for locks."""
        super().add_arguments(parser)
        parser.add_argument(
            "--lock-seconds",
            type=float,
            default=migrating.LOCK_SECONDS,
            help="seconds to wait for a lock, while others wait behind (default: %(default)s)",
        )
        parser.add_argument(
            "--lock-tries", type=int, default=migrating.TRIES, help="how often to try in all (default: %(default)s)"
        )

    def handle(self, *args: Any, lock_seconds: float, lock_tries: int, **options: Any) -> None:
        """Migrate. Raises CommandError where a lock was not free, too often."""
        if lock_seconds <= 0 or lock_tries < 1:
            raise CommandError("Wait for locks for more than 0 seconds, and try once at least.")
        connection = connections[options["database"]]
        try:
            migrating.patiently(
                connection,
                lambda: super(Command, self).handle(*args, **options),
                say=self.stderr.write,
                seconds=lock_seconds,
                tries=lock_tries,
            )
        except migrating.LocksNotFree as error:
            raise CommandError(str(error)) from error
