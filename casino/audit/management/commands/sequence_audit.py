"""`manage.py sequence_audit`: the one process that grows the audit logs, signs checkpoints, and keeps them outside."""

import logging
import signal
import threading
import time
from typing import Any

import redis
from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError
from django.db import InterfaceError, OperationalError, connections

from casino.audit.sequencing import ALIAS, Sequencer
from casino.audit.signing import Signer
from casino.core import heartbeat, lost
from casino.core.direct import BehindPoolerError
from casino.core.errors import KeyUnavailable

log = logging.getLogger(__name__)

#: Seconds between two looks at the chains, and between two tries to become the one sequencer.
POLL = 0.25
#: Seconds between two tries to reach a database that is away.
AWAY = 1.0
#: Advisory lock of the one sequencer of a database, held by its connection: with the connection it is lost.
LOCK = 0x63756B6173737A61


class SignOfLife:
    """Says on the broker that the sequencer runs. The log does not depend on the broker: one that does not answer is
    asked again only after a while, so that it delays no round."""

    def __init__(self) -> None:
        self._due = 0.0

    def leave(self, refused: int) -> None:
        """Leave a sign if it is time; `refused`: how many houses' logs cannot go on."""
        now = time.monotonic()
        if now < self._due:
            return
        self._due = now + heartbeat.EVERY
        try:
            heartbeat.live(heartbeat.Part.SEQUENCER, refused)
        except redis.RedisError as error:
            log.warning("the broker takes no sign of life: %s", error)
            self._due = time.monotonic() + heartbeat.SILENT


class Command(BaseCommand):
    """Run the sequencer until SIGTERM or SIGINT."""

    help = "Sequence the audit trail: grow the logs, sign checkpoints, append them to the files outside the database."
    requires_system_checks: list[str] = []
    #: Whether it has been said that the database is away.
    _away = False

    def handle(self, *args: Any, **options: Any) -> None:
        """Run; a second sequencer waits until the first has gone, and one that has lost the database until it is back.
        Raises CommandError without a signing key, and behind a pooler, which would lend the lock to others."""
        try:
            signer, old = Signer.from_settings(), Signer.old_from_settings()
        except (ImproperlyConfigured, KeyUnavailable) as error:
            raise CommandError(str(error)) from error
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        while not stop.is_set():
            try:
                self._sequence(stop, Sequencer(signer, old))
            except (OperationalError, InterfaceError) as error:
                if not lost.is_lost(error):
                    raise
                self._without_database(stop, error)
            except BehindPoolerError as error:
                raise CommandError(str(error)) from error
            finally:
                connections[ALIAS].close()

    def _sequence(self, stop: threading.Event, sequencer: Sequencer) -> None:
        """Sequence until asked to stop, as the one that has the lock. Raises what the connection raises, with which the
        lock is lost: what the sequencer knows of the logs is true no more, for another one may have gone on."""
        if not self._alone(stop):
            return
        log.info("sequencing")
        self._away = False
        life = SignOfLife()
        while not stop.wait(POLL):
            sequencer.round()
            life.leave(sequencer.refused)

    def _without_database(self, stop: threading.Event, error: Exception) -> None:
        """Wait a moment; say once why."""
        if not self._away:
            log.warning("the database is away: %s", str(error).partition("\n")[0])
        self._away = True
        stop.wait(AWAY)

    def _alone(self, stop: threading.Event) -> bool:
        """Wait until no other sequencer runs; False if asked to stop before that."""
        waiting = False
        while not stop.is_set():
            with connections[ALIAS].cursor() as cursor:
                cursor.execute("SELECT pg_try_advisory_lock(%s)", [LOCK])
                if cursor.fetchone()[0]:
                    return True
            if not waiting:
                log.warning("another sequencer runs; waiting until it has gone")
                waiting = True
            stop.wait(POLL)
        return False
