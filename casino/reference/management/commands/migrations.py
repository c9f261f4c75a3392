"""`manage.py migrations`: whether play can go on during the new migrations, see `casino.reference.migration_rules`."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from casino.core import release
from casino.reference import migration_rules, new_migrations


class Command(BaseCommand):
    """Check every migration that came after the release before."""

    help = "Check that play and the release before can go on during the migrations that came after it."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        """Exit 1 where something is refused. Raises CommandError."""
        own = release.own()
        try:
            found = list(new_migrations.read(own.migrations))
        except KeyError as error:
            raise CommandError(f"{error.args[0]} was in the release {own.before} and is not here any more.") from error
        except new_migrations.NotMigrated as error:
            raise CommandError(f"Migrate the database to the release before first: {error}") from error
        refused = migration_rules.refusals(found, own.allowed)
        if refused:
            lines = "\n".join(map(str, refused))
            raise CommandError(f"{len(refused)} refusals (docs/how-to/upgrade.md):\n{lines}")
        self.stdout.write(f"{len(found)} migrations after {own.before}")
