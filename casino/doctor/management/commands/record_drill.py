"""`manage.py record_drill`: what the last drill of a backup has found goes into the audit trail of every house, or of
these; the unit `cukassza-restore-drill` runs it after each drill."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from casino.core.errors import HouseError
from casino.doctor import drills
from casino.houses.cli_arguments import house_named
from casino.houses.models import House


class Command(BaseCommand):
    """Record it once in each house."""

    help = "Record what the last drill of a backup has found in the audit trail of every house."

    def add_arguments(self, parser: CommandParser) -> None:
        """Which houses."""
        parser.add_argument("house", nargs="*", help="codes of houses (default: every house)")

    def handle(self, *args: Any, house: list[str], **options: Any) -> None:
        """Record it; a house that may write nothing does not keep the others from it. Raises CommandError."""
        if settings.CASINO_BACKUP_RECORDS is None:
            raise CommandError("CASINO_BACKUP_RECORDS is not set: nobody has noted a drill.")
        refused = []
        chosen = [house_named(code) for code in house] or House.objects.order_by("code")
        for one in chosen:
            try:
                receipt = drills.record_last(settings.CASINO_BACKUP_RECORDS, one)
            except OSError as error:
                raise CommandError(str(error)) from error
            except HouseError as error:
                refused.append(f"{one.code}: {error.detail} [{error.code}]")
                continue
            said = f"recorded, {receipt.chain} {receipt.seq}" if receipt else "nothing new to record"
            self.stdout.write(f"{one.code}: {said}")
        if refused:
            raise CommandError("\n".join(refused))
