"""`manage.py send_hints`: the process that sends consoles and webhooks the hints of what has changed."""

import asyncio
import logging
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from casino.live import delivering, streams

log = logging.getLogger(__name__)


class Command(BaseCommand):
    """Send hints until SIGTERM or SIGINT."""

    help = "Send hints of changes to consoles, whose connections it takes from the web processes, and to webhooks."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        """Run. Raises CommandError where the socket cannot be made."""
        path = Path(settings.CASINO_STREAMS_SOCKET)
        log.info("sending hints; connections come over %s", path)
        try:
            with delivering.running():
                asyncio.run(streams.serve(path, settings.CASINO_MOST_STREAMS))
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from error
